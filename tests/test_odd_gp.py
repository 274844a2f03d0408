"""OddGP: its process against brute force, its design, and how much better it is than what it replaces."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from games import brute_force_shapley, membership, random_table

import jaxshap
from jaxshap import odd_process
from jaxshap.odd_process import Parameters, Rows, first_prior, start

N = 5
SIGNS = np.where(membership(N), 1.0, -1.0)
ODD_SETS = [index for index in range(2**N) if index.bit_count() % 2]
THETA, NU, W = np.array([0.3, 0.05, 0.9, 0.4, 0.2]), 0.03, 0.2


def products(signs):
    """χ_T(z) = Π_{r∈T} z_r for every odd set T, one column each."""
    return np.stack([np.where(membership(N)[index], signs, 1).prod(1) for index in ODD_SETS], axis=1)


def spectrum(theta):
    """sinh(Σ θ z z') expands in products of signs with weights Π_T sinh θ Π_rest cosh θ."""
    inside = membership(N)[ODD_SETS]
    return np.where(inside, np.sinh(theta), np.cosh(theta)).prod(1) / np.sinh(theta.sum())


def rows_of(signs, targets=None, live=None):
    targets = np.ones((len(signs), 1)) if targets is None else targets
    live = np.ones(len(signs), bool) if live is None else live
    return Rows(jnp.asarray(signs), jnp.asarray(live), jnp.asarray(targets))


def parameters():
    return Parameters(jnp.asarray(np.log(THETA)), jnp.asarray(np.log(NU)), jnp.asarray(np.log(W)))


def test_the_covariance_and_its_read_out_are_those_of_random_products_of_signs():
    """y = Σ_T c_T χ_T with variance λ_T has φ_i = 2 Σ_{T∋i} c_T/|T|: every covariance follows by summing over T."""
    with jax.enable_x64(True):
        signs = SIGNS[[3, 6, 9, 12, 31]]
        weights = spectrum(THETA) + W * spectrum(8 * THETA)
        columns = products(signs)
        covariance, _, _ = odd_process._covariance(rows_of(signs), jnp.asarray(THETA), NU, W, 0.0)
        np.testing.assert_allclose(covariance, (columns * weights) @ columns.T + NU * np.eye(5), rtol=1e-10)
        inside = membership(N)[ODD_SETS]
        read = 2 * inside / inside.sum(1, keepdims=True)  # (sets, players)
        cross = odd_process._cross(jnp.asarray(signs), jnp.asarray(THETA)) + W * odd_process._cross(
            jnp.asarray(signs), jnp.asarray(8 * THETA)
        )
        np.testing.assert_allclose(cross, (columns * weights) @ read, rtol=1e-10, atol=1e-14)
        variance = odd_process._prior_variance(jnp.asarray(THETA))
        np.testing.assert_allclose(variance, (spectrum(THETA)[:, None] * read**2).sum(0), rtol=1e-10)


def test_what_no_kernel_predicts_is_read_out_by_the_shapley_sum():
    """With all pairs of a game, Σ_pairs A_i y is the Shapley value; one side of each pair, and N with ∅."""
    with jax.enable_x64(True):
        worths = random_table(2, N)
        sides = np.arange(16, 32)  # those with the last player, N among them
        odd = (worths[sides] - worths[31 - sides]) / 2
        weights = odd_process._white_cross(jnp.asarray(SIGNS[sides]))
        np.testing.assert_allclose(odd @ np.asarray(weights), brute_force_shapley(worths), atol=1e-12)
        variance = odd_process._white_variance(jnp.asarray(THETA))
        np.testing.assert_allclose(variance, (np.asarray(weights)[:, 0] ** 2).sum(), rtol=1e-10)


def test_the_gradient_of_the_objective_is_its_derivative():
    with jax.enable_x64(True):
        targets = np.random.default_rng(0).normal(size=(12, 3))
        targets[:, 2] = 0  # padding among the outputs
        live = np.arange(12) < 10
        rows = rows_of(SIGNS[4:16], np.where(live[:, None], targets, 0), live)
        prior = first_prior(N, jnp.float64)
        value, gradient = odd_process._objective(rows, parameters(), prior, 1e-6)
        derivative = jax.grad(lambda point: odd_process._objective(rows, point, prior, 1e-6)[0])(parameters())
        for found, expected in zip(gradient, derivative, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
        short = rows_of(SIGNS[4:14], targets[:10, :2])
        np.testing.assert_allclose(value, odd_process._objective(short, parameters(), prior, 1e-6)[0], rtol=1e-10)


def test_the_fit_descends():
    with jax.enable_x64(True):
        rng = np.random.default_rng(1)
        rows = rows_of(SIGNS[16:], np.tanh(SIGNS[16:] @ rng.normal(size=(N, 2)) / 2))
        prior, begin = first_prior(N, jnp.float64), start(N, jnp.float64)
        values = [
            float(odd_process._objective(rows, odd_process.fit(rows, begin, prior, count, 1e-7), prior, 1e-7)[0])
            for count in (1, 5, 10, 40)
        ]
        assert values[0] > values[1] > values[2] >= values[3]
        gradient = odd_process._objective(rows, odd_process.fit(rows, begin, prior, 200, 1e-7), prior, 1e-7)[1]
        free = odd_process._free(odd_process.fit(rows, begin, prior, 200, 1e-7), gradient)
        assert max(float(jnp.abs(part).max()) for part in free) < 1e-3


@pytest.mark.parametrize("num_players", [3, 4, 8])
def test_all_pairs_give_the_exact_values_with_no_error(num_players):
    worths = random_table(num_players, num_players)
    result = jaxshap.estimate(0, jaxshap.table(jnp.asarray(worths, jnp.float32)), jaxshap.OddGP(), 2**num_players)
    np.testing.assert_allclose(result.values, brute_force_shapley(worths), atol=2e-3)  # a jitter of 1e-5 remains
    np.testing.assert_array_equal(result.std_error, 0)


@pytest.mark.parametrize("num_players", [8, 16, 40])
def test_designs_begin_with_single_players_repeat_nothing_and_grow(num_players):
    small, large = (
        np.asarray(jaxshap.OddGP().plan(jax.random.key(3), num_players, multiple * num_players).coalitions)
        for multiple in (4, 22)
    )
    np.testing.assert_array_equal(np.sort(small[: 2 * num_players : 2].argmax(1)), np.arange(num_players))
    assert len(np.unique(large, axis=0)) == len(large)
    np.testing.assert_array_equal(large[: len(small)], small)


def test_the_design_is_more_balanced_than_a_random_one():
    """Σ (z·z'/n)⁴ over pairs of rows beyond the single players."""

    def imbalance(estimator):
        side = np.asarray(estimator.plan(jax.random.key(0), 12, 98).coalitions)[::2]
        signs = np.where(side[np.minimum(side.sum(1), (~side).sum(1)) > 1], 1, -1)
        overlap = (signs @ signs.T / 12) ** 4
        return (overlap.sum() - len(signs)) / len(signs) ** 2

    assert imbalance(jaxshap.OddGP()) < 0.7 * imbalance(jaxshap.Leverage())


def smooth_worths(num_players, seed):
    rng = np.random.default_rng(seed)
    return np.tanh(membership(num_players) @ rng.normal(size=(num_players, 6))) @ rng.normal(size=6)


def test_smooth_games_have_a_fraction_of_the_error_of_leverage():
    """Four games of 9 players at 10n, 4 keys each; the error is several times smaller, so half is a safe claim."""
    errors = {}
    for estimator in (jaxshap.OddGP(), jaxshap.Leverage()):
        squares = []
        for seed in range(4):
            worths = smooth_worths(9, seed)
            game, truth = jaxshap.table(jnp.asarray(worths, jnp.float32)), brute_force_shapley(worths)
            squares += [((jaxshap.estimate(key, game, estimator, 90).values - truth) ** 2).sum() for key in range(4)]
        errors[estimator] = np.exp(np.mean(np.log(squares)))
    assert errors[jaxshap.OddGP()] < 0.5 * errors[jaxshap.Leverage()]


def test_outputs_that_do_not_vary_get_zero_and_do_not_disturb_the_others():
    worths = np.stack([smooth_worths(7, 0), np.full(128, 3.0), smooth_worths(7, 1)], axis=1)
    result = jaxshap.estimate(0, jaxshap.table(jnp.asarray(worths, jnp.float32)), jaxshap.OddGP(), 60)
    np.testing.assert_array_equal(result.values[:, 1], 0)
    assert np.isfinite(result.values).all()
    assert np.isfinite(result.std_error).all()
    np.testing.assert_allclose(result.values, brute_force_shapley(worths), atol=0.2)
