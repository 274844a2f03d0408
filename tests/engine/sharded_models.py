"""Run by test_sharding.py with eight simulated devices: what the compiled programs hold."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import jaxshap
from jaxshap.engine import batches
from jaxshap.engine.sharding import place

FEATURES, HIDDEN, OUTPUTS = 12, 64, 3
rng = np.random.default_rng(0)
X, BACKGROUND = (rng.normal(size=(k, FEATURES)).astype(np.float32) for k in (3, 5))
FIRST = (rng.normal(size=(FEATURES, HIDDEN)) / 4).astype(np.float32)
LAST = (rng.normal(size=(HIDDEN, OUTPUTS)) / 4).astype(np.float32)
DEVICES = np.array(jax.devices())
SETTINGS = {"estimator": jaxshap.Leverage(), "budget": 150}


def network(first, last, rows):
    return jnp.tanh(rows @ first) @ last


def sharded(mesh, *specs):
    """The network with its parameters sharded."""
    pairs = zip((FIRST, LAST), specs, strict=True)
    shards = [jax.device_put(array, NamedSharding(mesh, spec)) for array, spec in pairs]
    return jax.tree_util.Partial(network, *shards)


def program(game, mesh):
    """The text of the program that evaluates batches of 16 coalitions, and their sharding."""
    game, placement = place(game, mesh)
    some = jax.device_put(np.ones((2, 16, FEATURES), bool), placement.shared_out)
    count = jax.device_put(np.int32(2), placement.replicated)
    lowered = jax.jit(batches._gathered(placement.mesh)).lower(game, some, None, count)
    return lowered.compile().as_text(), placement


def check(mesh, specs, given, free):
    """Parameters stay in shards, coalitions take the free axes, and values are the same."""
    model = sharded(mesh, *specs)
    explanation = jaxshap.explain(model, X, BACKGROUND, mesh=given, **SETTINGS)
    np.testing.assert_allclose(explanation.values, ALONE.values, atol=1e-5)
    text, placement = program(jaxshap.marginal(model, X, BACKGROUND), given)
    assert placement.axes == free, placement
    for parameter in (FIRST, LAST):
        assert f"f32[{parameter.shape[0]},{parameter.shape[1]}]" not in text, "a full copy"
    for shape in re.findall(r"= \w+\[([\d,]*)\]\S* all-gather", text):
        assert str(HIDDEN) not in shape.split(","), "parameters are gathered"
    share = 16 // placement.num_shares  # coalitions × rows × background rows on one device
    assert f"f32[{share * 15},{HIDDEN // mesh.shape['model']}]" in text.replace(
        f"[{share},15,", f"[{share * 15},"
    ), "work is not shared out"


assert len(DEVICES) == 8
ALONE = jaxshap.explain(jax.tree_util.Partial(network, FIRST, LAST), X, BACKGROUND, **SETTINGS)
SPECS = PartitionSpec(None, "model"), PartitionSpec("model", None)
both = Mesh(DEVICES.reshape(2, 4), ("data", "model"))
check(both, SPECS, both, ("data",))
check(both, SPECS, Mesh(DEVICES, ("x",)), ("data",))  # the parameters' own mesh is taken
all_taken = Mesh(DEVICES, ("model",))
check(all_taken, SPECS, all_taken, ())
elsewhere = sharded(Mesh(DEVICES[:4], ("model",)), *SPECS)
with pytest.raises(jaxshap.InputError, match="sharded over 4 devices"):
    jaxshap.explain(elsewhere, X, BACKGROUND, mesh=all_taken, **SETTINGS)
print("stayed in shards")
