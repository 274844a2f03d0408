"""The spectrum of the regression, and bounds that hold in simulation without being too wide."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import brute_force_shapley, random_table

import jaxshap
from jaxshap import theory
from jaxshap.games import draw_independent, kernel_mass

NUM_PLAYERS = 5
WORTHS = random_table(3, NUM_PLAYERS)
WORTHS = WORTHS / np.abs(WORTHS - WORTHS[0]).max()  # |v(S) − v(∅)| ≤ 1
TRUTH = brute_force_shapley(WORTHS)
BOUND, RADIUS = 1.0, 1.25 * float(np.linalg.norm(TRUTH))


@pytest.mark.parametrize("num_players", range(2, 15))
def test_the_eigenvalues_are_those_of_the_sum_over_all_coalitions(num_players):
    smaller, larger = theory.spectrum(num_players)
    found = np.linalg.eigvalsh(theory.gram_matrix(num_players))
    np.testing.assert_allclose(found, [*[smaller] * (num_players - 1), larger], rtol=1e-10)
    assert smaller == 1 - 1 / num_players


def test_the_eigenvalue_holds_in_a_sample_of_thirty_players():
    """X'WX is the kernel's mass times E[z z']. Along a direction with Σ = 0 the sample mean must be
    within four standard errors of it.
    """
    direction = np.where(np.arange(30) < 15, 1, -1) * np.linspace(0.5, 1.5, 30)
    direction = (direction - direction.mean()) / np.linalg.norm(direction - direction.mean())
    members = np.asarray(draw_independent(jax.random.key(0), 30, 20_000, kernel_mass(30)), float)
    squares = kernel_mass(30).sum() * (members @ direction) ** 2
    error = squares.std() / math.sqrt(len(squares))
    assert error < 0.02
    assert abs(squares.mean() - (1 - 1 / 30)) < 4 * error


@pytest.mark.parametrize("importance", [True, False])
def test_no_stochastic_gradient_is_longer_than_the_bound(importance):
    members = (np.arange(1, 31)[:, None] >> np.arange(5)) & 1
    sizes = members.sum(1)
    weights = kernel_mass(5)[sizes - 1] / np.array([math.comb(5, size) for size in sizes])
    own_bound = weights * np.sqrt(sizes) * (RADIUS * np.sqrt(sizes) + BOUND)
    chance = own_bound / own_bound.sum() if importance else np.full(30, 1 / 30)
    values = np.random.default_rng(0).normal(size=(500, 5))
    values *= RADIUS / np.linalg.norm(values, axis=1, keepdims=True)
    residual = values @ members.T - (WORTHS[1:-1] - WORTHS[0])
    length = 2 * weights * np.abs(residual) * np.sqrt(sizes) / chance
    limit = theory.gradient_bound(5, RADIUS, BOUND, importance)
    assert 0.3 * limit < length.max() <= limit


def squared_errors(schedule, num_steps, importance=True, num_keys=200, average=True):
    """‖φ̄ − φ‖² of projected SGD for many keys."""
    estimator = jaxshap.ProjectedSGD(
        schedule, radius=RADIUS, bound=BOUND, importance=importance, average=average
    )
    game = jaxshap.table(jnp.asarray(WORTHS, jnp.float32))
    run = jax.jit(
        jax.vmap(lambda key: jaxshap.estimate(key, game, estimator, num_steps + 2).values)
    )
    return ((np.asarray(run(jax.random.split(jax.random.key(1), num_keys))) - TRUTH) ** 2).sum(1)


SCHEDULES = {
    "inverse": (jaxshap.estimators.InverseStep(), theory.inverse_step_bound),
    "root": (jaxshap.estimators.RootStep(), theory.root_step_bound),
    "constant": (
        jaxshap.estimators.ConstantStep(0.02),
        lambda steps, *rest: theory.constant_step_bound(steps, 0.02, *rest),
    ),
}


@pytest.mark.parametrize("importance", [True, False])
@pytest.mark.parametrize("name", SCHEDULES)
def test_the_expected_error_is_within_its_bound_and_not_far_below_it(name, importance):
    """Within four standard errors of the mean over 200 keys. With importance sampling, a bound that
    is 3,000 times too wide fails.
    """
    schedule, bound = SCHEDULES[name]
    for num_steps in (50, 800):
        errors = squared_errors(schedule, num_steps, importance)
        limit = bound(num_steps, NUM_PLAYERS, RADIUS, BOUND, importance)
        assert errors.mean() + 4 * errors.std() / math.sqrt(len(errors)) <= limit
        assert errors.mean() > limit / 3000 or not importance


def test_the_last_iterate_of_constant_steps_is_within_the_theorem_as_it_is_stated():
    """(1−γμ)^T ‖φ_0 − φ‖² + γB²/μ, from the true distance of the equal split. After 3 steps the
    first part rules, and after 800 the second: each is within its bound, and not 3,000 times below.
    """
    distance = float(np.linalg.norm(TRUTH - TRUTH.mean()))
    rest = (NUM_PLAYERS, RADIUS, BOUND)
    for num_steps in (3, 800):
        errors = squared_errors(jaxshap.estimators.ConstantStep(0.02), num_steps, average=False)
        limit = theory.constant_step_bound(num_steps, 0.02, *rest, average=False, distance=distance)
        shrunk = (1 - 0.02 * theory.strong_convexity(5)) ** num_steps * distance**2
        noise = 0.02 * theory.gradient_bound(*rest) ** 2 / theory.strong_convexity(5)
        assert limit == pytest.approx(shrunk + noise)
        assert limit / 3000 < errors.mean() + 4 * errors.std() / math.sqrt(len(errors)) <= limit


def test_the_inverse_schedule_falls_like_one_over_steps():
    """Four times the steps, a fourth of the error: a wrong step or average would show."""
    few, many = (
        squared_errors(jaxshap.estimators.InverseStep(), steps).mean() for steps in (400, 1600)
    )
    assert 3 < few / many < 5.3


def test_tail_probabilities_are_within_markov_and_deviation_bounds():
    errors = squared_errors(jaxshap.estimators.RootStep(), 400)
    expected = errors.mean()
    for epsilon in np.quantile(errors, [0.5, 0.9]):
        assert (errors >= epsilon).mean() <= theory.markov(epsilon, expected) + 1e-12
    limit = theory.root_step_bound(400, NUM_PLAYERS, RADIUS, BOUND)
    assert theory.deviation(2 * limit, limit) == 1
    assert theory.deviation(10 * limit, limit) == pytest.approx(2 * math.exp(-4))
    assert (errors >= 10 * limit).mean() <= theory.deviation(10 * limit, limit)


def test_chebyshev_holds_without_replacement_and_so_does_the_variance_it_stands_on():
    """A draw of player 0 has variance Σ p_S gain²; the mean of m draws has at most 1/m of it."""
    members = (np.arange(32) >> 0) & 1 == 0
    sizes = np.bitwise_count(np.arange(32)[members].astype(np.uint8))
    gains = WORTHS[np.arange(32)[members] + 1] - WORTHS[members]
    variance = (gains**2 / (5 * np.array([math.comb(4, size) for size in sizes]))).sum()
    game = jaxshap.table(jnp.asarray(WORTHS, jnp.float32))
    budget, draws = 72, 2 + 6  # sizes 0 and 4 exactly, and 6 gains in between
    run = jax.jit(
        jax.vmap(
            lambda key: jaxshap.estimate(key, game, jaxshap.WithoutReplacement(), budget).values[0]
        )
    )
    errors = np.abs(np.asarray(run(jax.random.split(jax.random.key(2), 500))) - TRUTH[0])
    for epsilon in (0.05, 0.1, 0.2):
        share = (errors >= epsilon).mean()
        assert share <= theory.chebyshev(epsilon, variance, draws)
    assert variance / draws / 50 < (errors**2).mean() <= variance / draws


def test_the_calculators_ask_for_just_enough():
    rest = (NUM_PLAYERS, RADIUS, BOUND)
    draws = theory.chebyshev_draws(0.1, 0.05, 2.0)
    assert theory.chebyshev(0.1, 2.0, draws) <= 0.05 < theory.chebyshev(0.1, 2.0, draws - 1)
    steps = theory.inverse_steps(0.5, 0.1, *rest)
    assert theory.markov(0.5, theory.inverse_step_bound(steps, *rest)) <= 0.1
    assert theory.markov(0.5, theory.inverse_step_bound(steps - 2, *rest)) > 0.1
    for delta in (0.3, 1e-3):  # Markov asks for fewer steps for the first, deviation for the second
        steps = theory.root_steps(0.5, delta, *rest)

        def best(steps, delta=delta):
            expected = theory.root_step_bound(steps, *rest)
            return min(theory.markov(0.5, expected), theory.deviation(0.5, expected))

        assert best(steps) <= delta * (1 + 1e-9) < best(int(0.99 * steps))


def test_constant_steps_are_just_enough_for_their_bound_and_reach_what_they_promise():
    """With the sizes of one sixth: nearly no error of 100 keys is above ε, where 10 % may be."""
    rest, far = (NUM_PLAYERS, RADIUS, BOUND), 2 * RADIUS
    for epsilon, delta in ((0.5, 0.1), (1e-3, 0.2), (100.0, 0.5)):
        step, num_steps = theory.constant_steps(epsilon, delta, *rest)
        limit = theory.constant_step_bound(num_steps, step, *rest, average=False)
        assert limit <= delta * epsilon * (1 + 1e-9)
        fewer = int(0.97 * num_steps)
        for other in np.geomspace(step / 3, min(step * 3, 0.6), 50 if fewer else 0):
            bound = theory.constant_step_bound(fewer, other, *rest, average=False)
            assert bound > delta * epsilon  # no other step does with 3 % fewer
    fewer = theory.constant_steps(0.5, 0.1, *rest, distance=far / 10).num_steps
    assert fewer < theory.constant_steps(0.5, 0.1, *rest).num_steps
    step, num_steps = theory.constant_steps(20.0, 0.1, *rest)
    schedule = jaxshap.estimators.ConstantStep(step)
    errors = squared_errors(schedule, num_steps, num_keys=100, average=False)
    assert (errors >= 20.0).mean() <= 0.1


def shapley_regression():
    """Rows, targets and leverages of the Shapley regression of the test game on Σφ = 0."""
    members = ((np.arange(1, 31)[:, None] >> np.arange(5)) & 1).astype(float)
    sizes = members.sum(1)
    weights = kernel_mass(5)[sizes.astype(int) - 1] / [math.comb(5, int(size)) for size in sizes]
    centred = members - sizes[:, None] / 5
    rows = np.sqrt(weights)[:, None] * centred @ np.linalg.svd(np.ones((1, 5)))[2][1:].T
    gains = WORTHS[1:-1] - WORTHS[0] - sizes / 5 * (WORTHS[-1] - WORTHS[0])
    leverage = (np.linalg.qr(rows)[0] ** 2).sum(1)
    return rows, np.sqrt(weights) * gains, leverage, sizes


def edge_regression():
    """The gains of player 0 along the edges of a cube, as the gradient of a game of 3 players."""
    edges = [(code, code | 1 << i) for i in range(3) for code in range(8) if not code >> i & 1]
    rows = np.zeros((len(edges), 8))
    for number, (tail, head) in enumerate(edges):
        rows[number, [tail, head]] = -1, 1
    gains = np.array(
        [WORTHS[head] - WORTHS[tail] if head - tail == 1 else 0 for tail, head in edges]
    )
    leverage = (np.linalg.svd(rows, full_matrices=False)[0][:, :7] ** 2).sum(1)
    return rows[:, 1:], gains, leverage, None


@pytest.mark.parametrize("problem", [shapley_regression, edge_regression])
def test_a_regression_on_rows_drawn_by_leverage_is_within_one_plus_epsilon_of_the_best(problem):
    """300 tries at δ = 0.3; with a fiftieth of the rows most tries fail, so the bound says enough.
    Leverages are as the docstring says: even over sizes, or over edges.
    """
    rows, targets, leverage, sizes = problem()
    columns = rows.shape[1]
    assert leverage.sum() == pytest.approx(columns)
    if sizes is None:
        np.testing.assert_allclose(leverage, columns / len(rows))
    else:
        by_size = [leverage[sizes == size].sum() for size in range(1, 5)]
        np.testing.assert_allclose(by_size, 1)
    best = np.linalg.lstsq(rows, targets, rcond=None)[0]
    least = ((rows @ best - targets) ** 2).sum()
    rng = np.random.default_rng(0)

    def share_failing(count, epsilon):
        failed = 0
        for _ in range(300):
            drawn = rng.choice(len(rows), size=count, p=leverage / columns)
            scale = 1 / np.sqrt(leverage[drawn])
            solved = np.linalg.lstsq(
                rows[drawn] * scale[:, None], targets[drawn] * scale, rcond=None
            )
            failed += ((rows @ solved[0] - targets) ** 2).sum() > (1 + epsilon) * least
        return failed / 300

    for epsilon in (0.5, 0.05):
        enough = theory.leverage_draws(epsilon, 0.3, columns)
        assert share_failing(enough, epsilon) <= 0.3
        assert share_failing(enough // 50 + 1, epsilon) > 0.3


def test_a_guarantee_that_cannot_be_asked_for_is_refused():
    refusals = (
        ((0.0, 0.1, 3), "epsilon=0.0: pass a number above 0"),
        ((0.1, 1.0, 3), "delta=1.0: pass a number above 0 and below 1"),
        ((0.1, 0.1, 0), "num_columns=0: pass a whole number, 1 or more"),
    )
    for numbers, message in refusals:
        with pytest.raises(jaxshap.InputError, match=message):
            theory.leverage_draws(*numbers)


def test_steps_outside_the_theory_are_refused_with_the_bound():
    with pytest.raises(ValueError, match=r"1/μ = 0\.625"):
        theory.constant_step_bound(10, 0.7, 5, 1.0, 1.0)
    game = jaxshap.table(jnp.asarray(WORTHS, jnp.float32))
    with pytest.raises(ValueError, match=r"1/μ = 0\.625"):
        jaxshap.estimate(0, game, jaxshap.ProjectedSGD(jaxshap.estimators.ConstantStep(0.7)), 20)


def test_numbers_of_players_outside_the_theory_are_refused():
    for function in (theory.spectrum, theory.gram_matrix, theory.strong_convexity):
        with pytest.raises(jaxshap.InputError, match="two players or more"):
            function(1)
    with pytest.raises(jaxshap.InputError, match="at most 20 players, or see spectrum"):
        theory.gram_matrix(30)
