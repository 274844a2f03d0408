"""A thousand rows stay within the memory of a small machine."""

import subprocess
import sys

import pytest

SCRIPT = """
import re
import jax.numpy as jnp
import numpy as np
import jaxshap

rng = np.random.default_rng(0)
rows, background = (rng.normal(size=(count, 20)).astype(np.float32) for count in (1000, 100))
hidden, out = (jnp.asarray(rng.normal(size=shape), jnp.float32) for shape in ((20, 32), (32, 3)))
predict = {predict}
explanation = jaxshap.explain(predict, rows, background, budget=64)
assert explanation.values.shape == (1000, 20, 3)
total = explanation.base_values + explanation.values.sum(1)
np.testing.assert_allclose(total, predict(rows), rtol=1e-3, atol=1e-3)
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""
MODELS = {
    "traced": "lambda x: jnp.tanh(x @ hidden) @ out",
    "host": "jaxshap.host(lambda x: np.tanh(x @ np.asarray(hidden)) @ np.asarray(out))",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", MODELS)
def test_a_thousand_rows_with_three_outputs_and_a_background_of_a_hundred_stay_under_2_gb(kind):
    script = SCRIPT.format(predict=MODELS[kind])
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 2 * 2**20  # kilobytes
