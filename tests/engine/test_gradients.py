"""Gradients of Shapley values in parameters, rows and background, against finite differences in
float64.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = RNG.normal(size=(2, 5)), RNG.normal(size=(9, 5))
WEIGHTS = RNG.normal(size=(5, 3)), RNG.normal(size=3)
PULL = RNG.normal(size=(5, 2))  # which function of the values is differentiated


def network(weights, x):
    return jnp.tanh(x @ weights[0]) @ weights[1]


VALUES = {
    "baseline": lambda model, x, b: jaxshap.baseline(model, x, b[0]),
    "marginal": jaxshap.marginal,
    "conditional, gaussian": lambda m, x, b: jaxshap.conditional(
        m, x, b, how=jaxshap.values.Gaussian(6)
    ),
    "conditional, copula": lambda m, x, b: jaxshap.conditional(
        m, x, b, how=jaxshap.values.Copula(6)
    ),
    "conditional, nearby": lambda m, x, b: jaxshap.conditional(
        m, x, b, how=jaxshap.values.Nearby(0.5)
    ),
}


def check_slopes(function, *arguments, steps=3):
    """Each argument's gradient along random directions, to 1e-3 of it: float64 gives 1e-6."""
    rng = np.random.default_rng(1)
    slopes = jax.jit(jax.grad(function, argnums=tuple(range(len(arguments)))))(*arguments)
    run = jax.jit(function)
    for number, (argument, slope) in enumerate(zip(arguments, slopes, strict=True)):
        for _ in range(steps):
            along = jax.tree.map(lambda part: jnp.asarray(rng.normal(size=part.shape)), argument)
            ends = []
            for sign in (1e-5, -1e-5):
                moved = jax.tree.map(
                    lambda part, step, sign=sign: part + sign * step, argument, along
                )
                ends.append(run(*arguments[:number], moved, *arguments[number + 1 :]))
            expected = (ends[0] - ends[1]) / 2e-5
            found = sum(
                jax.tree.leaves(jax.tree.map(lambda s, step: (s * step).sum(), slope, along))
            )
            np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-7)
            assert abs(expected) > 1e-6


@pytest.mark.parametrize("value", VALUES)
def test_values_of_every_game_have_the_slopes_of_finite_differences(value):
    with jax.enable_x64(True):

        def pulled(weights, rows, background):
            game = VALUES[value](jax.tree_util.Partial(network, weights), rows, background)
            return (jaxshap.estimate(0, game, jaxshap.Exact(), 32).values * PULL).sum()

        check_slopes(
            pulled, jax.tree.map(jnp.asarray, WEIGHTS), jnp.asarray(ROWS), jnp.asarray(BACKGROUND)
        )


def test_a_model_that_is_a_pytree_with_functions_in_it_has_gradients():
    equinox = pytest.importorskip("equinox")
    module = equinox.nn.MLP(5, "scalar", 4, 1, key=jax.random.key(0))
    arrays, rest = equinox.partition(module, equinox.is_array)

    def pulled(arrays):
        whole = equinox.combine(arrays, rest)
        game = jaxshap.marginal(
            jax.vmap(whole), jnp.asarray(ROWS, jnp.float32), jnp.asarray(BACKGROUND, jnp.float32)
        )
        return (jaxshap.estimate(0, game, budget=32).values[0] ** 2).sum()

    slopes = jax.tree.leaves(jax.grad(pulled)(arrays))
    assert all(np.isfinite(slope).all() for slope in slopes)
    assert max(np.abs(slope).max() for slope in slopes) > 1e-3


@pytest.mark.parametrize("grow", ["budget", "background"])
def test_a_gradient_keeps_no_more_than_a_batch(grow):
    """Four times the coalitions or references: the memory of a batch, and of the worths, but not of
    the network.
    """
    width = 256
    weights = jnp.ones((12, width)) / 12, jnp.ones(width) / width

    def memory(budget, references):
        def pulled(weights, rows, background):
            game = jaxshap.marginal(jax.tree_util.Partial(network, weights), rows, background)
            return (jaxshap.estimate(0, game, jaxshap.Permutation(), budget).values[0] ** 2).sum()

        arguments = weights, jnp.ones((2, 12)), jnp.ones((references, 12))
        return (
            jax.jit(jax.grad(pulled))
            .lower(*arguments)
            .compile()
            .memory_analysis()
            .temp_size_in_bytes
        )

    budget, references = (1762, 500) if grow == "budget" else (442, 2000)
    large = memory(budget, references)
    assert large < 2 * memory(442, 500)
    assert large < 0.02 * 4 * width * budget * 2 * references  # of keeping all hidden units
