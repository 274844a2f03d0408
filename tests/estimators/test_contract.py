"""What every estimator promises: one list × every promise. A new estimator is one line in it."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import (
    DUMMY,
    OUTPUTS,
    TWINS,
    asymmetric_parameters,
    asymmetric_value,
    brute_force_shapley,
    many_sided_worths,
    random_table,
)

import jaxshap
from jaxshap.engine.plans import make_plan
from jaxshap.errors import BudgetError
from jaxshap.estimators import (
    MSR,
    Balanced,
    BalancedFirst,
    BoostedTrees,
    Castro,
    DistinctGains,
    Estimator,
    Exact,
    Kernel,
    Leverage,
    OddGP,
    OddLinear,
    Owen,
    Permutation,
    ProjectedSGD,
    RegressionAdjusted,
    Scattered,
    Stratified,
    UnbiasedKernel,
    WithoutReplacement,
)

NUM_KEYS = 400
KEYS = jax.random.split(jax.random.key(7), NUM_KEYS)
WORTHS = many_sided_worths()
TRUTH = brute_force_shapley(WORTHS)
ROUNDING = 64 * np.finfo(np.float32).eps * np.abs(WORTHS).max()  # of sums of a few dozen worths


@dataclasses.dataclass(frozen=True)
class Promise:
    """An estimator and what it promises beyond the contract."""

    estimator: Estimator
    budget: int = 71  # of the 8-player tests; not on the grid of buckets, so that plans are padded
    exact: bool = False  # always exact, with a standard error of 0, and 2**n is the least budget
    unbiased: bool = True  # otherwise its bias is well within its standard error
    efficient: bool = True  # values sum to v(N) − v(∅) for every draw
    dummy_is_zero: bool = (
        True  # exactly 0 for a player who adds nothing; otherwise within its error
    )
    exact_for: tuple[str, ...] = ("additive",)  # outputs of `many_sided_worths` that are exact
    linear: bool = True  # `solve` is linear in the worths
    std_errors: bool = True  # otherwise NaN
    model_based: bool = False  # its standard error covers a bias that keys do not average out
    doubts: bool = False  # errors hold what no coalition showed: not 0 for an additive game
    smooth_errors: bool = False  # calibrated for smooth games, which its own tests check
    exhausts: bool = False  # exact once the budget covers every coalition, or every gain
    held: bool = False  # gradients hold fitted hyperparameters fixed, which its own tests check

    def budget_for(self, num_players, budget):
        """This budget, or the least that the estimator takes if that is more."""
        try:
            jax.eval_shape(lambda key: self.estimator.plan(key, num_players, budget), KEYS[0])
        except BudgetError as refusal:
            return refusal.needed
        return budget


ESTIMATORS = [
    Promise(Exact(), budget=256, exact=True, exact_for=OUTPUTS, exhausts=True),
    Promise(Permutation(), exact_for=("additive", "pairwise")),
    Promise(
        Balanced(),
        dummy_is_zero=False,
        exact_for=("additive", "pairwise"),
        smooth_errors=True,
        exhausts=True,
    ),
    Promise(
        BalancedFirst(),
        dummy_is_zero=False,
        exact_for=("additive", "pairwise"),
        smooth_errors=True,
        exhausts=True,
    ),
    Promise(Permutation(antithetic=False)),
    Promise(
        Kernel(),
        unbiased=False,
        dummy_is_zero=False,
        exact_for=("additive", "pairwise"),
        exhausts=True,
    ),
    Promise(
        Leverage(),
        unbiased=False,
        dummy_is_zero=False,
        exact_for=("additive", "pairwise"),
        exhausts=True,
    ),
    Promise(
        OddGP(),
        unbiased=False,
        dummy_is_zero=False,
        exact_for=("additive", "pairwise"),
        linear=False,
        model_based=True,
        doubts=True,
        exhausts=True,
        held=True,
    ),
    Promise(
        OddLinear(),
        unbiased=False,
        dummy_is_zero=False,
        exact_for=("additive", "pairwise"),
        model_based=True,
    ),
    Promise(UnbiasedKernel(), dummy_is_zero=False, exact_for=()),
    Promise(MSR(), dummy_is_zero=False, exact_for=()),
    Promise(MSR(paired=False), dummy_is_zero=False, exact_for=()),
    Promise(RegressionAdjusted(), dummy_is_zero=False, exact_for=()),
    Promise(
        RegressionAdjusted(BoostedTrees(num_trees=10)),
        dummy_is_zero=False,
        exact_for=(),
        linear=False,
    ),
    Promise(Castro(), budget=151, efficient=False),
    Promise(DistinctGains(), budget=151, efficient=False),
    Promise(Owen(), budget=151, efficient=False),
    Promise(Owen(halved=True), budget=151, efficient=False, exact_for=("additive", "pairwise")),
    Promise(Stratified(), budget=231, efficient=False),
    Promise(WithoutReplacement(), budget=231, efficient=False, exhausts=True),
    Promise(
        ProjectedSGD(),
        unbiased=False,
        dummy_is_zero=False,
        exact_for=(),
        linear=False,
        std_errors=False,
    ),
]
every_estimator = pytest.mark.parametrize(
    "promise", ESTIMATORS, ids=lambda promise: repr(promise.estimator)
)
jitted = jax.jit(jaxshap.estimate, static_argnums=(2, 3))
_samples = {}


def game_of(worths, dtype=np.float32):
    return jaxshap.table(jnp.asarray(worths, dtype))


def samples(promise, times=1):
    """Estimates of the many-sided game, computed once: float64 arrays (keys, players, outputs)."""
    if (promise, times) not in _samples:
        run = jax.vmap(jitted, in_axes=(0, None, None, None))
        estimate = run(KEYS, game_of(WORTHS), promise.estimator, times * promise.budget)
        _samples[promise, times] = jaxshap.Estimate(
            *(np.asarray(numbers, np.float64) for numbers in estimate)
        )
    return _samples[promise, times]


def z_scores(draws, truth):
    """Of the mean over keys; a difference by rounding alone counts as none."""
    deviation = draws.mean(0) - truth
    spread = draws.std(0, ddof=1) / np.sqrt(len(draws))
    return np.where(np.abs(deviation) < ROUNDING, 0, deviation / np.maximum(spread, 1e-30))


def test_every_estimator_that_is_exported_is_registered_and_held_to_its_promises():
    room = jaxshap.estimators
    exported = {getattr(room, name) for name in room.__all__} - {Estimator, room.ESTIMATORS}
    classes = {kind for kind in exported if isinstance(kind, type)}
    kinds = {kind for kind in classes if issubclass(kind, Estimator)}
    assert set(room.ESTIMATORS) == kinds
    # Scattered plans for strata, and has tests of its own
    assert {type(promise.estimator) for promise in ESTIMATORS} == kinds - {Scattered}


@every_estimator
def test_values_share_out_the_whole_gain_for_every_key(promise):
    if not promise.efficient:
        pytest.skip("does not promise it")
    total = samples(promise).values.sum(1)
    np.testing.assert_allclose(
        total, np.broadcast_to(WORTHS[-1] - WORTHS[0], total.shape), atol=ROUNDING
    )


@every_estimator
def test_a_player_who_adds_nothing_gets_nothing(promise):
    """Exactly; or |z| < 4 on average, and beyond 3 own errors for hardly any of 400 keys."""
    output = OUTPUTS.index("dummy")
    values, error = (numbers[:, DUMMY, output] for numbers in samples(promise)[:2])
    if promise.dummy_is_zero:
        np.testing.assert_array_equal(values, 0)
    elif promise.std_errors:
        assert promise.smooth_errors or (np.abs(values) > 3 * error + ROUNDING).mean() < 0.05
        assert promise.model_based or np.abs(z_scores(values, 0)) < 4
    else:
        pytest.skip("has no standard error to be within")


@every_estimator
def test_players_who_are_alike_get_the_same_on_average(promise):
    """|z| < 4 over keys: a false alarm in 16,000; exact estimators must agree to rounding."""
    output = OUTPUTS.index("symmetric")
    first, second = (samples(promise).values[:, player, output] for player in TWINS)
    assert abs(z_scores(first - second, 0)) < 4
    assert np.abs(TRUTH[TWINS[0], output] - TRUTH[TWINS[1], output]) < 1e-12
    difference = np.abs(TRUTH[TWINS[0], 0] - TRUTH[TWINS[1], 0])
    assert difference > 0.1  # they are not alike in the game that the symmetric one was made from


@every_estimator
def test_games_it_promises_to_get_right_are_right_for_every_key(promise):
    for output in map(OUTPUTS.index, promise.exact_for):
        values, error = (numbers[:, :, output] for numbers in samples(promise)[:2])
        truth = np.broadcast_to(TRUTH[:, output], values.shape)
        np.testing.assert_allclose(values, truth, atol=ROUNDING)
        if promise.doubts:  # rows that agree with a simple game do not prove it
            assert (error > ROUNDING).all()
        else:
            np.testing.assert_allclose(error, 0, atol=ROUNDING)


@every_estimator
def test_the_mean_over_keys_is_the_shapley_value(promise):
    """|z| < 4 for 8 players × 5 outputs: a false alarm in 400. A bias must be within the error."""
    values, error = samples(promise)[:2]
    if promise.unbiased:
        assert np.abs(z_scores(values, TRUTH)).max() < 4
    elif promise.std_errors:
        noise = values.std(0, ddof=1) / np.sqrt(NUM_KEYS)
        allowed = error.mean(0) * (1.96 if promise.model_based else 1 / 2)
        assert (np.abs(values.mean(0) - TRUTH) <= allowed + 4 * noise + ROUNDING).all()
        if promise.model_based:  # half of this game is noise, which no model foresees
            covered = (np.abs(values - TRUTH) <= 1.96 * error + ROUNDING).mean((0, 1))
            assert (covered > 0.88).all()
    else:
        small, large = (np.abs(samples(promise, t).values - TRUTH)[:, :, 0].mean() for t in (1, 3))
        assert large < small  # it converges


@every_estimator
def test_the_standard_error_is_the_spread_over_keys(promise):
    """Within 25 % for every player, seven times the noise of a spread over 400 keys.

    A model's errors, bias included, may be up to 15 % larger than it says for a player, or less
    than half.
    """
    values, error = (numbers[:, :, 0] for numbers in samples(promise)[:2])
    if promise.exact or not promise.std_errors:
        np.testing.assert_array_equal(error, 0 if promise.exact else np.nan)
        return
    spread = np.sqrt(((values - TRUTH[:, 0]) ** 2).mean(0))
    stated = np.sqrt((error**2).mean(0))
    if promise.smooth_errors:  # half of this game is noise, of which left-out pairs tell too little
        assert (stated > 0.5 * spread).all()
        return
    if promise.model_based:
        assert (stated > 0.85 * spread).all()
        assert (stated < 2.2 * spread).all()
    else:
        np.testing.assert_allclose(stated, spread, rtol=0.25)


def check_statements(estimate, exact):
    """An error of 0 means exact and nothing else does; degrees of freedom go with the errors."""
    fields = [np.asarray(field) for field in estimate]
    assert {field.shape for field in fields} == {fields[0].shape}
    _, error, stated, degrees = fields
    np.testing.assert_array_equal(stated, exact)
    np.testing.assert_array_equal(error == 0, exact)
    unknown = np.isnan(error)
    np.testing.assert_array_equal(degrees[unknown], 0)
    assert (degrees[~unknown] >= 1).all()
    assert (degrees[error == 0] == np.inf).all()


@every_estimator
def test_it_is_exact_where_it_says_so_and_has_no_error_of_0_elsewhere(promise):
    """Not even in games that are additive, or have a player who adds nothing."""
    check_statements(samples(promise), promise.exact)
    outside = jaxshap.estimate(KEYS[3], game_of(WORTHS), promise.estimator, promise.budget)
    check_statements(outside, promise.exact)


@every_estimator
def test_it_is_exact_once_nothing_is_left_to_ask_and_says_so(promise):
    worths = random_table(4, 4)
    estimate = jaxshap.estimate(1, game_of(worths), promise.estimator, 64)
    check_statements(estimate, promise.exhausts)
    if promise.exhausts:
        np.testing.assert_allclose(estimate.values, brute_force_shapley(worths), atol=1e-5)


@every_estimator
def test_few_draws_give_no_error_of_0(promise):
    """With the least budget, and with the next one that buys more: a single draw has no spread, two
    may agree by coincidence.
    """
    least = promise.budget_for(8, 2)
    for budget in (least, 2 * least - 2) if not promise.exact else (least,):
        estimate = jaxshap.estimate(2, game_of(WORTHS), promise.estimator, budget)
        check_statements(estimate, promise.exact)


@every_estimator
def test_a_spike_that_was_not_seen_leaves_an_error(promise):
    """Every worth that was asked for fits an additive game: no error of 0 may come of that."""
    spike = np.zeros((2**8, 2))
    spike[[0b01101100, 0b11100001], [0, 1]] = 1.0
    estimate = jaxshap.estimate(0, game_of(spike), promise.estimator, promise.budget)
    check_statements(estimate, promise.exact)


@every_estimator
def test_the_standard_error_shrinks_with_the_budget(promise):
    """Three times the budget: by 1/√3 = 0.58 for independent draws, by more without replacement."""
    if promise.exact or not promise.std_errors:
        pytest.skip("has no errors to shrink")
    small, large = (
        np.sqrt((samples(promise, times).std_error[:, :, 0] ** 2).mean()) for times in (1, 3)
    )
    assert large < 0.7 * small


@every_estimator
def test_solve_is_linear_in_the_worths(promise):
    """The third output is a combination of the first two, so its values are too."""
    if not promise.linear:
        pytest.skip("does not promise it")
    first, second, *rest = WORTHS.T
    game = game_of(np.stack([first, second, 2 * first - 3 * second, *rest[1:]], axis=1))
    values = np.asarray(jaxshap.estimate(KEYS[0], game, promise.estimator, promise.budget).values)
    np.testing.assert_allclose(values[:, 2], 2 * values[:, 0] - 3 * values[:, 1], atol=5 * ROUNDING)


@every_estimator
def test_a_padded_plan_outside_jit_gives_what_an_exact_one_gives_inside(promise):
    outside = jaxshap.estimate(KEYS[3], game_of(WORTHS), promise.estimator, promise.budget)
    assert outside.values.shape == outside.std_error.shape == (8, len(OUTPUTS))
    np.testing.assert_allclose(outside.values, samples(promise).values[3], atol=ROUNDING)
    np.testing.assert_allclose(
        outside.std_error, samples(promise).std_error[3], rtol=1e-3, atol=ROUNDING
    )


@every_estimator
def test_batches_and_the_shape_of_outputs_change_nothing_and_two_runs_are_bitwise_equal(promise):
    game, shaped = game_of(WORTHS), game_of(WORTHS.reshape(256, 1, -1, 1))
    runs = [
        jaxshap.estimate(5, game, promise.estimator, promise.budget, batch_size=b)
        for b in (7, 64, "auto", "auto")
    ]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.values, runs[0].values)
        np.testing.assert_array_equal(run.std_error, runs[0].std_error)
    columns = jaxshap.estimate(5, shaped, promise.estimator, promise.budget)
    assert columns.values.shape == columns.std_error.shape == (8, 1, len(OUTPUTS), 1)
    np.testing.assert_array_equal(columns.values[:, 0, :, 0], runs[0].values)


@every_estimator
def test_one_and_two_players_are_exact(promise):
    one = jaxshap.estimate(0, game_of([1.0, 4.0]), promise.estimator, 2)
    np.testing.assert_allclose(one.values, [3])
    np.testing.assert_array_equal(one.std_error, [0])
    two = jaxshap.estimate(0, game_of([1.0, 2.0, 4.0, 9.0]), promise.estimator, 4)
    np.testing.assert_allclose(two.values, [3, 5], rtol=1e-6)


@every_estimator
def test_gradients_agree_with_finite_differences(promise):
    """Central differences in float64 with step 1e-6 are good to about 1e-9."""
    if promise.held:
        pytest.skip("differences would move the hyperparameters that gradients hold")
    with jax.enable_x64(True):
        slopes, scale = asymmetric_parameters(5, np.float64)
        upstream = jnp.asarray(np.arange(1.0, 6.0))
        key, budget = jax.random.key(3), promise.budget_for(5, 26)

        @jax.jit
        @jax.value_and_grad
        def objective(slopes):
            value = jax.tree_util.Partial(asymmetric_value, (slopes, scale))
            game = jaxshap.make_game(value, 5)
            return upstream @ jaxshap.estimate(key, game, promise.estimator, budget).values

        gradient = objective(slopes)[1]
        differences = [
            (objective(slopes + step)[0] - objective(slopes - step)[0]) / 2e-6
            for step in 1e-6 * np.eye(5)
        ]
        np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-6)


@every_estimator
def test_float32_is_close_to_float64_and_asks_the_same_coalitions(promise):
    def run(dtype):
        game = game_of(WORTHS, dtype)
        return (
            jaxshap.estimate(KEYS[3], game, promise.estimator, promise.budget),
            make_plan(KEYS[3], 8, promise.estimator, promise.budget)[1],
        )

    single, coalitions = run(np.float32)
    with jax.enable_x64(True):
        double, wide_coalitions = run(np.float64)
        assert double.values.dtype == double.std_error.dtype == np.float64
    assert single.values.dtype == single.std_error.dtype == np.float32
    np.testing.assert_array_equal(coalitions, wide_coalitions)
    np.testing.assert_allclose(single.values, double.values, atol=ROUNDING)
    np.testing.assert_allclose(single.std_error, double.std_error, rtol=1e-3, atol=ROUNDING)
