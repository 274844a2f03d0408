"""OddGP and its parts: kernels and read-outs against brute force, the design, the fit, and what it
is good for.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import brute_force_shapley, membership, random_table

import jaxshap
from jaxshap.estimators.least_squares import debiased_odd_fit
from jaxshap.estimators.odd import calibration
from jaxshap.estimators.odd import fit as sign_fit
from jaxshap.estimators.odd import kernels as sign_kernels
from jaxshap.estimators.odd import process as sign_process
from jaxshap.estimators.odd import read_out as odd_read_out
from jaxshap.estimators.odd.design import balanced_pairs
from jaxshap.estimators.odd.fit import fit
from jaxshap.estimators.odd.mixture import SignMixture
from jaxshap.estimators.odd.priors import first_prior, smooth_start, start
from jaxshap.estimators.odd.process import Rows

N = 5
SIGNS = np.where(membership(N), 1.0, -1.0)
THETA, NU, W = np.array([0.3, 0.05, 0.9, 0.4, 0.2]), 0.03, 0.2
SIZE, LOW = 0.2, 0.4  # of the part that depends on size alone, and of that of low order
BOTH = pytest.mark.parametrize("odd", [True, False], ids=["odd", "even"])


def sets(odd):
    """The sets of players of odd or even size, as indices of coalitions."""
    return [index for index in range(2**N) if index.bit_count() % 2 == odd]


def products(signs, odd):
    """χ_T(z) = Π_{r∈T} z_r for every such set T, one column each."""
    return np.stack(
        [np.where(membership(N)[index], signs, 1).prod(1) for index in sets(odd)], axis=1
    )


def spectrum(theta, odd):
    """sinh or cosh of Σ θ z z' expands in products of signs weighed by Π_T sinh θ Π_rest cosh θ."""
    weights = np.where(membership(N)[sets(odd)], np.sinh(theta), np.cosh(theta)).prod(1)
    return weights / (np.sinh if odd else np.cosh)(theta.sum())


def low_spectrum(theta, odd):
    """Products of one and of three signs, weighed by their θ, as shares of all; or a constant, half
    of all, and products of two.
    """
    inside = membership(N)[sets(odd)]
    weights = np.where(inside, theta, 1).prod(1) * (inside.sum(1) <= 3)
    if not odd:
        weights[0] = weights[1:].sum()
    return weights / weights.sum()


def rows_of(signs, targets=None, live=None):
    targets = np.ones((len(signs), 1)) if targets is None else targets
    live = np.ones(len(signs), bool) if live is None else live
    return Rows(jnp.asarray(signs), jnp.asarray(live), jnp.asarray(targets))


def mixture(odd):
    theta, nu, w = (jnp.asarray(np.log(number)) for number in (THETA, NU, W))
    return SignMixture(
        log_theta=theta,
        log_nu=nu,
        log_w=w,
        log_size=jnp.log(jnp.asarray(SIZE)),
        low_odds=jnp.log(jnp.asarray(LOW / (1 - LOW))),
        odd=odd,
    )


@BOTH
def test_the_kernel_is_the_covariance_of_random_products_of_signs(odd):
    with jax.enable_x64(True):
        signs = SIGNS[[3, 6, 9, 12, 31]]
        columns = products(signs, odd)
        weights = spectrum(THETA, odd) + W * spectrum(8 * THETA, odd)
        expected = (columns * weights) @ columns.T + NU * np.eye(5)
        low = (columns * low_spectrum(THETA, odd)) @ columns.T
        expected = (1 - LOW) * expected + LOW * low
        if odd:
            size = signs.sum(1)
            same, opposite = size[:, None] == size, size[:, None] == -size
            expected = expected + SIZE * (same * 1.0 - opposite)
        covariance = mixture(odd).covariance(jnp.asarray(signs))
        np.testing.assert_allclose(covariance, expected, rtol=1e-10)


def test_the_read_out_of_the_mixture_is_that_of_its_parts():
    """Products of signs by 2/|T|, the pair itself by the exact sums, sizes through v(N) − v(∅)."""
    with jax.enable_x64(True):
        signs = SIGNS[[3, 6, 9, 12, 31]]
        inside = membership(N)[sets(odd=True)]
        read = 2 * inside / inside.sum(1, keepdims=True)
        smooth = spectrum(THETA, True) + W * spectrum(8 * THETA, True)
        weights = (1 - LOW) * smooth + LOW * low_spectrum(THETA, odd=True)
        own = np.asarray(sign_kernels.white_value_cross(jnp.asarray(signs)))
        whole = np.where(np.abs(signs.sum(1, keepdims=True)) == N, 2 / N, 0) * np.ones(N)
        cross, variance = mixture(True).read_out(jnp.asarray(signs))
        expected = (products(signs, True) * weights) @ read + (1 - LOW) * NU * own + SIZE * whole
        np.testing.assert_allclose(cross, expected, rtol=1e-10, atol=1e-14)
        of_own = (1 - LOW) * NU * sign_kernels.white_value_variance(N)
        expected = (weights[:, None] * read**2).sum(0) + of_own + SIZE * (2 / N) ** 2
        np.testing.assert_allclose(variance, expected, rtol=1e-10)


def test_values_are_read_out_of_the_odd_products():
    """y = Σ_T c_T χ_T has φ_i = 2 Σ_{T∋i} c_T/|T|: every covariance follows by summing over T."""
    with jax.enable_x64(True):
        signs, theta = SIGNS[[3, 6, 9, 12, 31]], jnp.asarray(THETA)
        inside = membership(N)[sets(odd=True)]
        read = 2 * inside / inside.sum(1, keepdims=True)  # (sets, players)
        cross = sign_kernels.value_cross(jnp.asarray(signs), theta)
        weighted = products(signs, odd=True) * spectrum(THETA, odd=True)
        np.testing.assert_allclose(cross, weighted @ read, rtol=1e-10, atol=1e-14)
        variance = (spectrum(THETA, odd=True)[:, None] * read**2).sum(0)
        np.testing.assert_allclose(sign_kernels.value_variance(theta), variance, rtol=1e-10)


def test_what_no_kernel_predicts_is_read_out_by_the_exact_sums():
    """With all pairs of a game, one side of each and N with ∅: Σ A_i y is φ_i."""
    with jax.enable_x64(True):
        worths, sides = random_table(2, N), np.arange(16, 32)  # those with the last player
        odd = (worths[sides] - worths[31 - sides]) / 2
        weights = np.array(sign_kernels.white_value_cross(jnp.asarray(SIGNS[sides])))
        np.testing.assert_allclose(odd @ weights, brute_force_shapley(worths), atol=1e-12)
        np.testing.assert_allclose(
            sign_kernels.white_value_variance(N), (weights[:, 0] ** 2).sum(), rtol=1e-10
        )


@BOTH
def test_the_gradient_of_the_objective_is_its_derivative_and_padding_changes_neither(odd):
    with jax.enable_x64(True):
        targets = np.random.default_rng(0).normal(size=(12, 3))
        targets[:, 2] = 0  # padding among the outputs
        live = np.arange(12) < 10
        rows = rows_of(SIGNS[4:16], np.where(live[:, None], targets, 0), live)
        prior = first_prior(N, jnp.float64, odd)
        value, gradient = sign_process.objective(rows, mixture(odd), prior, jitter=1e-6)
        derivative = jax.grad(
            lambda mixture: sign_process.objective(rows, mixture, prior, jitter=1e-6)[0]
        )(mixture(odd))
        pairs = zip(jax.tree.leaves(gradient), jax.tree.leaves(derivative), strict=True)
        for analytic, expected in pairs:
            np.testing.assert_allclose(analytic, expected, rtol=1e-6, atol=1e-8)
        short = rows_of(SIGNS[4:14], targets[:10, :2])
        alone = sign_process.objective(short, mixture(odd), prior, jitter=1e-6)[0]
        np.testing.assert_allclose(value, alone, rtol=1e-10)


def test_the_fit_descends_to_where_the_gradient_vanishes():
    with jax.enable_x64(True):
        rng = np.random.default_rng(1)
        rows = rows_of(SIGNS[16:], np.tanh(SIGNS[16:] @ rng.normal(size=(N, 2)) / 2))
        prior, begin = first_prior(N, jnp.float64, True), start(N, jnp.float64, True)
        fitted = jax.jit(lambda count: fit(rows, begin, prior, count, jitter=1e-7))
        mixtures = [fitted(count) for count in (1, 5, 10, 40, 200)]
        evaluated = jax.jit(
            lambda mixture: sign_process.objective(rows, mixture, prior, jitter=1e-7)
        )
        objectives = [evaluated(mixture) for mixture in mixtures]
        values = [value for value, _ in objectives]
        assert values[0] > values[1] > values[2] >= values[3]
        slopes = jax.tree.map(
            lambda slope, fitted, low, high: jnp.where((fitted > low) & (fitted < high), slope, 0),
            objectives[-1][1],
            mixtures[-1],
            *sign_fit.bounds(N, jnp.float64, True),
        )
        assert max(float(jnp.abs(slope).max()) for slope in jax.tree.leaves(slopes)) < 1e-3


def test_gradients_are_those_of_the_linear_map_with_hyperparameters_held(monkeypatch):
    """Central differences of `solve` with the fitted hyperparameters put back by hand."""
    with jax.enable_x64(True):
        upstream, plan = jnp.arange(1.0, 7.0), jaxshap.OddGP().plan(jax.random.key(1), 6, 40)
        table = smooth_worths(6, 3)
        worths = jnp.asarray(table[np.asarray(plan.coalitions) @ 2 ** np.arange(6)])
        empty, full = jnp.asarray(table[0]), jnp.asarray(table[-1])
        kept = []

        def keeping(*args, **kwargs):
            kept.append(fit(*args, **kwargs))
            return kept[-1]

        def objective(worths):
            return upstream @ jaxshap.OddGP().solve(plan, worths, empty, full).values

        monkeypatch.setattr(sign_fit, "fit", keeping)
        gradient, mixture = jax.jit(lambda worths: (jax.grad(objective)(worths), kept[0]))(worths)
        monkeypatch.setattr(sign_fit, "fit", lambda *args, **kwargs: mixture)
        held = jax.jit(objective)
        for index in (0, 7, 20, 37):
            step = jnp.zeros_like(worths).at[index].set(1e-4)
            difference = (held(worths + step) - held(worths - step)) / 2e-4
            np.testing.assert_allclose(gradient[index], difference, rtol=1e-6, atol=1e-8)
        assert np.abs(gradient).max() > 0.1


@pytest.mark.parametrize("num_players", [3, 4, 8])
def test_all_pairs_give_the_exact_values_with_no_error(num_players):
    worths = random_table(num_players, num_players)
    result = jaxshap.estimate(
        0, jaxshap.table(jnp.asarray(worths, jnp.float32)), jaxshap.OddGP(), 2**num_players
    )
    np.testing.assert_allclose(result.values, brute_force_shapley(worths), atol=1e-5)
    np.testing.assert_array_equal(result.std_error, 0)


@pytest.mark.parametrize("num_players", [8, 40])
def test_designs_begin_with_single_players_repeat_nothing_and_grow(num_players):
    small, large = (
        np.asarray(
            jaxshap.OddGP().plan(jax.random.key(3), num_players, multiple * num_players).coalitions
        )
        for multiple in (4, 22)
    )
    np.testing.assert_array_equal(
        np.sort(small[: 2 * num_players : 2].argmax(1)), np.arange(num_players)
    )
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


def test_the_design_does_not_ask_about_halves_alone():
    """Counting the single players in full would leave nothing else (46 of 48)."""
    sizes = np.asarray(balanced_pairs(jax.random.key(2), 12, 60)).sum(1)
    assert (np.minimum(sizes, 12 - sizes)[12:] < 6).mean() > 0.3


def test_additive_odd_parts_are_exact_beside_outputs_that_are_not():
    """They go by least squares, and do not pull the lengths of the others."""
    players = membership(8)
    additive = players @ np.linspace(-1, 2, 8) + 3 * players[:, 0] * players[:, 5]
    worths = np.stack([additive, smooth_worths(8, 0)], axis=1)
    alone = jaxshap.estimate(
        1, jaxshap.table(jnp.asarray(worths[:, 1:], jnp.float32)), jaxshap.OddGP(), 70
    )
    both = jaxshap.estimate(1, jaxshap.table(jnp.asarray(worths, jnp.float32)), jaxshap.OddGP(), 70)
    np.testing.assert_allclose(both.values[:, 0], brute_force_shapley(additive), atol=1e-5)
    doubt = np.asarray(both.std_error[:, 0]) / np.ptp(additive)  # rare events are seen in no row
    assert (doubt > 0).all()
    assert (doubt < 0.01).all()
    assert (
        np.abs(both.values[:, 1] - alone.values[:, 0]) < np.asarray(alone.std_error[:, 0])
    ).all()


def smooth_worths(num_players, seed):
    rng = np.random.default_rng(seed)
    return np.tanh(membership(num_players) @ rng.normal(size=(num_players, 6))) @ rng.normal(size=6)


def test_smooth_games_have_a_fraction_of_the_error_of_leverage():
    """Four games of 9 players at 10n, 4 keys each; the error is several times smaller, so half is a
    safe claim.
    """
    errors = {}
    for estimator in (jaxshap.OddGP(), jaxshap.Leverage()):
        squares = []
        for seed in range(4):
            worths = smooth_worths(9, seed)
            game, truth = (
                jaxshap.table(jnp.asarray(worths, jnp.float32)),
                brute_force_shapley(worths),
            )
            squares += [
                ((jaxshap.estimate(key, game, estimator, 90).values - truth) ** 2).sum()
                for key in range(4)
            ]
        errors[estimator] = np.exp(np.mean(np.log(squares)))
    assert errors[jaxshap.OddGP()] < 0.5 * errors[jaxshap.Leverage()]


def test_length_scales_of_their_own_help_outputs_that_differ():
    """Each of three games looks at three of nine players; lengths shared by all of them see
    interactions of nine. Over twelve keys the error is 0.72 of the shared one.
    """
    worths = np.sin(membership(9).reshape(-1, 3, 3) @ np.array([2.0, -3.0, 1.5]))
    game, truth = jaxshap.table(jnp.asarray(worths, jnp.float32)), brute_force_shapley(worths)
    errors = []
    for fit_each in (True, False):
        found = [
            jaxshap.estimate(key, game, jaxshap.OddGP(fit_each=fit_each), 160) for key in range(8)
        ]
        errors.append(np.mean([np.abs(one.values - truth).mean() for one in found]))
    assert errors[0] < 0.9 * errors[1]


def test_outputs_that_do_not_vary_get_zero_and_do_not_disturb_the_others():
    worths = np.stack([smooth_worths(7, 0), np.full(128, 3.0), smooth_worths(7, 1)], axis=1)
    result = jaxshap.estimate(
        0, jaxshap.table(jnp.asarray(worths, jnp.float32)), jaxshap.OddGP(), 60
    )
    np.testing.assert_array_equal(result.values[:, 1], 0)
    assert np.isfinite(result.values).all()
    assert np.isfinite(result.std_error).all()
    np.testing.assert_allclose(result.values, brute_force_shapley(worths), atol=0.2)


def test_two_thirds_and_one_third_are_exact_for_four_players_at_a_time_on_an_orthogonal_array():
    """All 16 halves-of-the-cube rows of five signs with product 1 balance any four of them:
    strength 4.
    """
    with jax.enable_x64(True):
        rng = np.random.default_rng(5)
        inside = np.array([index for index in range(2**N) if index.bit_count() <= 4])
        weights = rng.normal(size=len(inside))
        worths = np.array([weights[(inside & index) == inside].sum() for index in range(2**N)])
        odd = (worths - worths[::-1]) / 2
        single, array = 2 ** np.arange(N), np.flatnonzero(SIGNS.prod(1) == 1)
        rows = np.concatenate([single, array])
        live = jnp.ones(len(rows), bool)
        found = debiased_odd_fit(
            jnp.asarray(SIGNS[rows]), jnp.asarray(odd[rows, None]), live, jnp.asarray(odd[-1:])
        )
        np.testing.assert_allclose(
            2 * found.coefficients[:, 0], brute_force_shapley(worths), atol=1e-12
        )


def test_a_thousand_players_are_no_trouble():
    slopes = np.random.default_rng(0).normal(size=1000)
    game = jaxshap.make_game(
        jaxshap.host(lambda s: np.tanh(s @ slopes / 40) + s @ slopes / 10), 1000
    )
    for estimator in (jaxshap.OddGP(), jaxshap.OddLinear()):
        result = jaxshap.estimate(0, game, estimator, 4100)
        assert np.isfinite(result.values).all()
        assert np.corrcoef(result.values, slopes)[0, 1] > 0.99


@pytest.mark.parametrize("kind", ["smooth", "rough"])
def test_more_pairs_than_a_process_takes_correct_it_and_its_errors_hold(monkeypatch, kind):
    """40 keys, 8 players, a process on 40 of 91 pairs: spread of z within what 320 dependent
    numbers leave.

    Smaller than that of regression alone where the game is smooth, and no larger where it is not.
    """
    monkeypatch.setattr(odd_read_out, "MAX_PROCESS_ROWS", 40)
    worths = smooth_worths(8, 0) if kind == "smooth" else random_table(0, 8)
    game, truth = jaxshap.table(jnp.asarray(worths, jnp.float32)), brute_force_shapley(worths)

    def run(estimator):
        def of_key(key):
            plan = estimator.plan(key, 8, 184)
            return estimator.solve(plan, jax.vmap(game)(plan.coalitions), game.empty, game.full)

        found = jax.jit(jax.vmap(of_key))(jax.random.split(jax.random.key(0), 40))
        return np.asarray(found.values) - truth, np.asarray(found.std_error)

    (gaps, errors), (others, _) = run(jaxshap.OddGP()), run(jaxshap.Leverage())
    assert 0.6 < (gaps / errors).std() < 1.25
    assert np.abs((gaps / errors).mean(0)).max() < 1
    assert (gaps**2).mean() < (0.8 if kind == "smooth" else 1.2) * (others**2).mean()


def test_a_budget_beyond_the_process_is_no_step_back_and_has_gradients(monkeypatch):
    """The same pairs, and a process that may take all of them or all but a few."""
    game = jaxshap.table(jnp.asarray(smooth_worths(8, 0), jnp.float32))
    plan = jaxshap.OddGP().plan(jax.random.key(0), 8, 122)
    worths = jax.vmap(game)(plan.coalitions)

    def solve(seen):
        estimate = jaxshap.OddGP().solve(plan, seen, game.empty, game.full)
        return estimate.values, estimate

    whole = jax.jit(solve)(worths)[1]
    monkeypatch.setattr(odd_read_out, "MAX_PROCESS_ROWS", 50)
    by_worths, part = map(
        jax.device_get, jax.jit(jax.jacrev(lambda seen: solve(seen), has_aux=True))(worths)
    )
    assert np.abs(by_worths).max() > 1e-3
    np.testing.assert_allclose(
        by_worths.sum(0), 0, atol=1e-5
    )  # all of them share v(N) − v(∅), whatever was seen
    truth = np.asarray(jaxshap.shapley_values(game))
    assert (np.abs(part.values - truth) < 4 * part.std_error).all()
    assert (part.std_error**2).mean() < 4 * (whole.std_error**2).mean()


def test_the_errors_of_the_linear_rule_hold_its_bias():
    """Where the budget is so large that only the bias is left; 20 keys."""
    worths = random_table(2, 9)
    game, truth = jaxshap.table(jnp.asarray(worths, jnp.float32)), brute_force_shapley(worths)
    found = [jaxshap.estimate(key, game, jaxshap.OddLinear(), 450) for key in range(20)]
    z = np.array([(one.values - truth) / one.std_error for one in found])
    assert 0.5 < z.std() < 1.5


def test_games_without_roughness_do_not_break_the_factor_in_float32():
    """Products of up to three signs: the most probable roughness is too small to be represented."""
    players = np.where(membership(10), 1.0, -1.0)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        triples = [rng.permutation(10)[:3] for _ in range(12)]
        worths = players @ rng.normal(size=10) + sum(
            rng.normal() * players[:, three].prod(1) for three in triples
        )
        game = jaxshap.table(jnp.asarray(worths, jnp.float32))
        for key in range(3):
            result = jaxshap.estimate(key, game, jaxshap.OddGP(), 104)
            assert np.isfinite(result.values).all()
            assert np.isfinite(result.std_error).all()


def test_errors_in_float32_do_not_cancel_to_zero():
    """A logistic model, where half of all pairs tell nearly everything: 24 values."""
    rng = np.random.default_rng(0)
    rows, background = rng.normal(size=(2, 12)), rng.normal(size=(50, 12))
    slopes = rng.normal(size=12) * np.linspace(2, 0.1, 12)
    players = membership(12)
    inside = (players[:, None] * rows) @ slopes  # (coalitions, rows)
    outside = (~players[:, None] * background) @ slopes  # (coalitions, background rows)
    worths = (1 / (1 + np.exp(-inside[:, :, None] - outside[:, None]))).mean(2)
    truth = brute_force_shapley(worths)
    plan = jaxshap.OddGP().plan(jax.random.key(0), 12, 2072)
    known = jnp.asarray(worths[np.asarray(plan.coalitions) @ 2 ** np.arange(12)], jnp.float32)
    ends = jnp.asarray(worths[[0, -1]], jnp.float32)
    values, std_error, *_ = jax.jit(jaxshap.OddGP().solve)(plan, known, *ends)
    assert (std_error > 0).all()
    assert (np.abs(values - truth) <= 2 * std_error).mean() >= 0.9


@pytest.mark.parametrize("num_players", [9, 12, 16])
def test_all_sets_of_two_players_are_asked_about_in_time(num_players):
    """By 20 n evaluations up to 12 players; later, half of the pairs at least are others."""
    count = 10 * num_players - 1 if num_players <= 12 else 18 * num_players
    sides = np.asarray(balanced_pairs(jax.random.key(0), num_players, count, all_twos=True))
    sizes = np.minimum(sides.sum(1), num_players - sides.sum(1))
    assert (sizes == 2).sum() == math.comb(num_players, 2)
    assert len({min(tuple(side), tuple(~side)) for side in sides}) == count
    fewer = balanced_pairs(jax.random.key(0), num_players, 5 * num_players, all_twos=True)
    np.testing.assert_array_equal(fewer, sides[: 5 * num_players])


def low_order_table(seed, num_players, order):
    """A sum of unanimity games of at most `order` players each."""
    rng, players = np.random.default_rng(seed), membership(num_players)
    worths = np.zeros(len(players))
    for _ in range(40):
        needed = rng.permutation(num_players)[: rng.integers(1, order + 1)]
        worths += rng.uniform(-1, 1) * players[:, needed].all(1)
    return worths


def test_games_with_interactions_of_at_most_four_players_become_exact():
    """9 + C(9, 3) = 93 unknowns and 4 sizes: 110 pairs determine the odd part, of 255."""
    worths = low_order_table(3, 9, 4)
    exact = brute_force_shapley(worths)
    estimate = jaxshap.estimate(0, jaxshap.table(worths), jaxshap.OddGP(), 222)
    size = np.abs(exact).max()
    np.testing.assert_allclose(estimate.values, exact, atol=2e-6 * size)
    assert (np.asarray(estimate.std_error) < 1e-2 * size).all()
    assert (np.asarray(estimate.std_error) > 0).all()  # it cannot know that it is exact
    beyond = low_order_table(3, 9, 9)  # the same budget does not determine this one
    estimate = jaxshap.estimate(0, jaxshap.table(beyond), jaxshap.OddGP(), 222)
    assert np.abs(estimate.values - brute_force_shapley(beyond)).max() > 1e-4


def test_worths_that_depend_steeply_on_size_do_not_mislead_it():
    """More evaluations made such games worse before sizes had a part of their own."""
    players = membership(9)
    size, quality = players.sum(1), np.random.default_rng(5).gamma(1, size=9)
    mean_quality = players @ quality / np.maximum(size, 1)
    worths = np.where(size > 0, 300 / np.maximum(size, 1) ** 1.5, 0) * (
        1 + 0.3 * np.tanh(mean_quality - 1)
    )
    exact = brute_force_shapley(worths)

    def error(budget):
        each = [
            jaxshap.estimate(key, jaxshap.table(worths), jaxshap.OddGP(), budget)
            for key in range(4)
        ]
        return np.mean([np.sum((one.values - exact) ** 2) for one in each]) / np.sum(exact**2)

    few, many = error(60), error(180)
    assert many < 0.02
    assert many < few / 3


def test_errors_say_what_an_interaction_that_no_pair_shows_could_do():
    """One coalition of 2**9 is worth something: unseen, nothing tells; beside an additive game, the
    error is more than rounding; an interaction of two players that is seen vouches in part.
    """
    players = membership(9)
    needle = (players == (np.arange(9) % 2 == 0)).all(1)
    additive = players @ np.linspace(-1, 2, 9)

    def errors(worths):
        estimate = jaxshap.estimate(0, jaxshap.table(worths), jaxshap.OddGP(), 90)
        return np.abs(estimate.values - brute_force_shapley(worths)), estimate.std_error

    assert np.isnan(errors(0 * additive)[1]).all()
    gap, stated = errors(additive + needle)
    assert (np.asarray(stated) > 1e-3).all()
    assert (gap < 1.96 * np.asarray(stated)).all()
    pairwise = np.asarray(errors(additive + 3 * players[:, 0] * players[:, 5])[1])
    assert (pairwise > 0).all()
    assert (pairwise < np.asarray(stated) / 2).all()


@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_a_fit_begins_at_the_likelier_of_two_places(noise):
    """An additive game is smooth; beside noise of three times its size, nearby worths differ."""
    with jax.enable_x64(True):
        rng = np.random.default_rng(1)
        signs = rng.choice([-1.0, 1.0], (60, 20))
        targets = signs @ rng.normal(size=(20, 1)) / 4 + noise * rng.normal(size=(60, 1))
        rows = Rows(jnp.asarray(signs), jnp.ones(60, bool), jnp.asarray(targets))
        rough, smooth = (make(20, jnp.float64, True) for make in (start, smooth_start))
        prior = first_prior(20, jnp.float64, True)
        for order in ((rough, smooth), (smooth, rough)):
            begin = sign_fit._likelier(rows, *order, prior, 1e-12)
            expected = smooth if noise == 0 else rough
            assert begin.log_nu == expected.log_nu
            assert begin.log_w == expected.log_w


def test_products_of_few_signs_are_left_out_where_no_plan_can_have_all_twos():
    few, many = (start(count, jnp.float32, True) for count in (48, 49))
    assert few.has_low
    assert not many.has_low
    assert start(49, jnp.float32, False).has_low


def test_the_chance_that_worths_repeat_is_counted_but_for_their_signs():
    signs = np.where(membership(5), 1.0, -1.0)
    signs = signs[np.abs(signs.sum(1)) < 3]  # beyond single players
    votes, distinct = np.where(signs[:, 0] > 0, 0.5, -0.5), np.arange(1.0, len(signs) + 1)
    half = np.where(np.arange(len(signs)) < len(signs) // 2, 1.0, distinct + 1)
    found = calibration._chance_alike(rows_of(signs, np.stack([votes, distinct, half], 1)))
    pairs = len(signs) // 2 * (len(signs) // 2 - 1) / (len(signs) * (len(signs) - 1))
    np.testing.assert_allclose(found, [1.0, 0.0, pairs], atol=1e-6)
