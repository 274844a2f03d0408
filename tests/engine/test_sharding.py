"""Sharded parameters stay sharded, with `mesh=` too; arrays that a model closes over do not."""

import os
import pathlib
import subprocess
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap

SCRIPT = pathlib.Path(__file__).with_name("sharded_models.py")


def test_sharded_parameters_stay_in_shards_and_coalitions_take_the_free_axes():
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    run = subprocess.run(
        [sys.executable, str(SCRIPT)], env=os.environ | flags, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert "stayed in shards" in run.stdout


def test_large_arrays_that_a_model_closes_over_are_named_with_the_remedy():
    table_of_weights = jnp.zeros((5, 2**20))
    rows = np.ones((2, 5), np.float32)

    def apply(weights, rows):
        return jnp.tanh(rows @ weights[:, :3])

    named = pytest.warns(
        jaxshap.errors.ClosureWarning,
        match=r"table_of_weights \(float32\[5, 1048576\], 20 MB\).*jax\.tree_util\.Partial",
    )
    for model in (
        lambda rows: apply(table_of_weights, rows),
        jax.jit(lambda rows: apply(table_of_weights, rows)),
    ):
        with named:
            jaxshap.marginal(model, rows, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jaxshap.marginal(jax.tree_util.Partial(apply, table_of_weights), rows, rows)
        jaxshap.marginal(lambda rows: apply(jnp.ones((5, 3)), rows), rows, rows)
