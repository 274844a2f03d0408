"""What the wheel does where nothing but its own dependencies is installed; `tests/matrix wheel`
runs it.
"""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile

import jax.numpy as jnp
import numpy as np

import jaxshap

EXTRAS = ["matplotlib", "pandas", "polars", "shap", "shapiq", "sklearn", "torch"]
there = [name for name in EXTRAS if importlib.util.find_spec(name)]
assert not there, f"{there} are installed: this says nothing of the core alone."
assert "site-packages" in jaxshap.__file__, f"{jaxshap.__file__} is not the wheel."
assert (pathlib.Path(jaxshap.__file__).parent / "py.typed").exists()

random = np.random.default_rng(0)
X, background = random.normal(size=(3, 6)), random.normal(size=(10, 6))
explained = jaxshap.explain(lambda rows: jnp.tanh(rows).sum(1), X, background)
assert explained.exact, "six players are not enumerated"
wanted = np.tanh(X) - np.tanh(background).mean(0)
np.testing.assert_allclose(explained.values, wanted, atol=1e-5)
print(explained[0])

on_host = jaxshap.explain(lambda rows: np.tanh(rows).sum(1), X, background, budget=40)
assert (abs(on_host.values - wanted) <= 4 * on_host.std_error + 1e-5).all()
try:
    explained.to_frame()
except jaxshap.MissingExtraError as error:
    print(error)
else:
    raise AssertionError("to_frame works without a library of tables")

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "explanation.npz"
    explained.save(path)
    np.testing.assert_array_equal(jaxshap.load(path).values, explained.values)
    jaxshap.write_report(explained, pathlib.Path(folder) / "report.html")
subprocess.run([sys.executable, "-I", "-m", "jaxshap", "--help"], check=True, capture_output=True)
print(f"jaxshap {jaxshap.__version__} works without any extra")
