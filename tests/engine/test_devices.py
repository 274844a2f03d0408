"""Many devices and hosts: the same answer on all of them, in processes that pretend to be eight or
two.
"""

import os
import pathlib
import re
import socket
import subprocess
import sys

import jax.numpy as jnp
import numpy as np

import jaxshap

SCRIPT = """
import jax, jax.numpy as jnp, numpy as np, jaxshap
from jax.sharding import Mesh
rng = np.random.default_rng(0)
sizes = ((3, 12), (5, 12), (12, 2))
X, background, weights = (rng.normal(size=s).astype(np.float32) for s in sizes)
predict = lambda rows: jnp.tanh(rows @ weights)
settings = {"estimator": jaxshap.Leverage(), "budget": 150}
alone = jaxshap.explain(predict, X, background, **settings)
strata = {"estimator": jaxshap.Scattered(), "budget": 90}
own = jaxshap.explain(predict, X, background, **strata)
assert len(jax.devices()) == 8
for shape in ((1,), (2,), (4,), (8,), (2, 4)):
    mesh = Mesh(np.array(jax.devices()[: np.prod(shape)]).reshape(shape), ("a", "b")[: len(shape)])
    for batch_size in ("auto", 7):
        ex = jaxshap.explain(predict, X, background, mesh=mesh, batch_size=batch_size, **settings)
        np.testing.assert_allclose(ex.values, alone.values, atol=1e-5)
        np.testing.assert_allclose(ex.std_error, alone.std_error, atol=1e-5)
    ex = jaxshap.explain(predict, X, background, mesh=mesh, batch_size=7, **strata)
    np.testing.assert_allclose(ex.values, own.values, atol=1e-5)
    np.testing.assert_allclose(ex.std_error, own.std_error, rtol=1e-2, atol=1e-5)
game = jaxshap.marginal(predict, X, background)
found = jaxshap.estimate(0, game, jaxshap.Leverage(), 150, mesh=mesh)
np.testing.assert_allclose(np.moveaxis(found.values, 0, 1), alone.values, atol=1e-5)
from jax.sharding import NamedSharding, PartitionSpec
from jaxshap.engine.batches import _gathered
spread = NamedSharding(mesh, PartitionSpec(None, ("a", "b")))
batches = jax.device_put(np.ones((2, 16, 12), bool), spread)
text = jax.jit(_gathered(mesh)).lower(game, batches, None, 2).compile().as_text()
assert "all-gather" in text  # the work was shared out, or there would be nothing to gather
many = np.repeat(X, 8, axis=0)
rows = jax.device_put(many, NamedSharding(mesh, PartitionSpec(("a", "b"))))
game = jaxshap.marginal(predict, rows, background)
found = jaxshap.estimate(0, game, jaxshap.Leverage(), 150)
np.testing.assert_allclose(np.moveaxis(found.values, 0, 1)[::8], alone.values, atol=1e-5)
assert len(game.full.sharding.device_set) == 8  # worths stay where their rows are
program = jax.jit(lambda game, s: jax.vmap(game)(s))
text = program.lower(game, np.ones((16, 12), bool)).compile().as_text()
# each device holds the worths of its own three rows
assert "f32[16,3,2]" in text and "f32[16,24,2]" not in text
print("same on all")
"""


def test_the_answer_is_the_same_on_one_two_four_and_eight_devices():
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=os.environ | flags, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert "same on all" in run.stdout


EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "multihost.py"
LOOPBACK = {"JAX_PLATFORMS": "cpu", "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo"}


def start(process, port, *command):
    place = [
        "--coordinator",
        f"127.0.0.1:{port}",
        "--processes",
        "2",
        "--process",
        str(process),
        "--patience",
        "10",
    ]
    return subprocess.Popen(
        [sys.executable, *command, *place],
        env=os.environ | LOOPBACK,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_two_processes_share_one_explanation():
    port = free_port()
    first, second = (start(process, port, str(EXAMPLE)) for process in (0, 1))
    output = first.communicate(timeout=300)[0]
    assert second.wait(60) == first.returncode == 0, output
    assert "2 processes, 2 devices" in output
    rng = np.random.default_rng(0)
    rows, background, weights = (
        rng.normal(size=size).astype(np.float32) for size in ((4, 20), (50, 20), (20, 3))
    )
    alone = jaxshap.explain(lambda x: jnp.tanh(x @ weights), rows, background, budget=1000)
    shown = dict(re.findall(r"^(x\d+) +(-?[\d.]+) ±", output, re.MULTILINE))
    values = dict(zip(alone.feature_names, np.asarray(alone.values[0, :, 0]), strict=True))
    assert len(shown) >= 10
    for name, value in shown.items():
        assert abs(float(value) - values[name]) < 1e-3


DYING = "import os, runpy, sys, jaxshap; jaxshap.explain = lambda *a, **k: os._exit(3); " + (
    f"sys.argv[0] = 'multihost'; runpy.run_path({str(EXAMPLE)!r}, run_name='__main__')"
)


def test_a_process_that_dies_ends_the_others_with_an_error():
    port = free_port()
    survivor, dying = start(0, port, str(EXAMPLE)), start(1, port, "-c", DYING)
    assert dying.wait(120) == 3
    output = survivor.communicate(timeout=240)[0]  # raises if it hangs
    assert survivor.returncode != 0, output
