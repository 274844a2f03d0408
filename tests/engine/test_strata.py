"""Games as weighted means of strata, each of which can be asked about coalitions of its own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import membership

import jaxshap
from jaxshap.engine import runner
from jaxshap.engine.defaults import default_estimator
from jaxshap.estimators import BalancedFirst

PLAYERS = 5
COALITIONS = membership(PLAYERS)
rng = np.random.default_rng(0)
ROWS = rng.normal(size=(3, PLAYERS)).astype(np.float32)
BACKGROUND = rng.normal(size=(7, PLAYERS)).astype(np.float32)
WEIGHTS = np.arange(1.0, 8.0)
SLOPES = rng.normal(size=(PLAYERS, 2)).astype(np.float32)
KEYS = jax.random.split(jax.random.key(5), 200)


def model(rows):
    return jnp.exp(0.5 * jnp.tanh(rows @ SLOPES)) + rows[:, :1] * rows[:, 1:2] * rows[:, 2:3]


def host_model(rows):
    hidden = np.exp(0.5 * np.tanh(rows @ SLOPES))
    return hidden + rows[:, :1] * rows[:, 1:2] * rows[:, 2:3]


GAMES = {
    "marginal": lambda: jaxshap.marginal(model, ROWS, BACKGROUND),
    "weighted": lambda: jaxshap.marginal(model, ROWS, BACKGROUND, weights=WEIGHTS),
    "host": lambda: jaxshap.marginal(jaxshap.host(host_model), ROWS, BACKGROUND, weights=WEIGHTS),
    "grouped": lambda: jaxshap.grouped(GAMES["weighted"](), [[0, 3], [1], [2, 4]]),
    "grouped host": lambda: jaxshap.grouped(GAMES["host"](), [[0, 3], [1], [2, 4]]),
    "gaussian": lambda: jaxshap.conditional(
        model, ROWS, BACKGROUND, how=jaxshap.values.Gaussian(8, shrinkage=0.5)
    ),
    "gaussian host": lambda: jaxshap.conditional(
        jaxshap.host(host_model), ROWS, BACKGROUND, how=jaxshap.values.Gaussian(8, shrinkage=0.5)
    ),
    "parts stay": lambda: jaxshap.marginal(
        model, ROWS, BACKGROUND, players=jaxshap.segments([0, 1, -1, 2, 2]), weights=WEIGHTS
    ),
}


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("name", sorted(GAMES))
def test_the_parts_of_the_strata_add_up_to_the_game(name, size):
    game = GAMES[name]()
    game = game.with_strata(-(-game.num_strata // size))
    coalitions = membership(game.num_players)
    asked = np.repeat(coalitions[:, None], game.num_strata, axis=1)
    parts = jaxshap.evaluate(game, asked)
    assert parts.shape == (*asked.shape[:2], *game.empty.shape)
    np.testing.assert_allclose(parts.sum(1), jaxshap.evaluate(game, coalitions), atol=1e-5)
    empties, fulls = game.strata_ends()
    np.testing.assert_allclose(empties, parts[0], atol=1e-6)
    np.testing.assert_allclose(fulls, parts[-1], atol=1e-6)


def test_the_strata_of_a_marginal_game_are_baseline_games_with_their_weights():
    game = GAMES["weighted"]()
    shares = WEIGHTS / WEIGHTS.sum()
    assert game.num_strata == len(BACKGROUND)
    asked = np.repeat(COALITIONS[:, None], game.num_strata, axis=1)
    parts = jaxshap.evaluate(game, asked)
    for number, row in enumerate(BACKGROUND):
        expected = jaxshap.evaluate(jaxshap.baseline(model, ROWS, row), COALITIONS)
        np.testing.assert_allclose(parts[:, number], shares[number] * expected, atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 5, "auto"])
def test_batches_do_not_change_the_parts(batch_size):
    game = GAMES["weighted"]()
    asked = np.random.default_rng(1).random((6, game.num_strata, PLAYERS)) < 0.5
    whole = jaxshap.evaluate(game, asked, batch_size=1000)
    np.testing.assert_allclose(
        jaxshap.evaluate(game, asked, batch_size=batch_size), whole, atol=1e-6
    )


def test_games_without_strata_are_one_stratum():
    game = jaxshap.table(np.arange(8.0, dtype=np.float32))
    assert game.num_strata == 1
    assert jaxshap.rewards.reward(GAMES["marginal"](), jnp.tanh).num_strata == 1
    plain = jaxshap.estimate(0, game, jaxshap.Scattered(jaxshap.Permutation()), 8)
    np.testing.assert_allclose(plain.values, jaxshap.shapley_values(game), atol=1e-6)


@pytest.mark.parametrize("name", ["weighted", "host", "grouped", "gaussian"])
def test_all_pairs_of_every_stratum_are_exact_with_error_zero(name):
    game = GAMES[name]()
    budget = 2**game.num_players
    estimate = jaxshap.estimate(3, game, jaxshap.Scattered(), budget)
    np.testing.assert_allclose(estimate.values, jaxshap.shapley_values(game), atol=1e-5)
    np.testing.assert_array_equal(estimate.std_error, 0)


def test_padding_of_strata_tells_nothing_of_errors():
    """Seventeen strata are solved as eighteen, one of which holds zeros: what no worth tells the
    error of is not there, and the spread between strata does not stand in for the errors of all.
    """
    background = np.random.default_rng(3).normal(size=(18, PLAYERS)).astype(np.float32)
    many, one_fewer = (
        jaxshap.estimate(
            0,
            jaxshap.marginal(model, ROWS, background[:count]),
            jaxshap.Scattered(jaxshap.OddGP()),
            24,
        ).std_error
        for count in (18, 17)
    )
    assert (np.asarray(one_fewer) > 0).all()
    assert (one_fewer < 1.5 * np.asarray(many).max(0)).all()


@pytest.mark.parametrize("inner", [jaxshap.Balanced(), jaxshap.Leverage(), jaxshap.Permutation()])
def test_host_and_device_agree_inside_and_outside_of_jit(inner):
    estimator, budget = jaxshap.Scattered(inner), 14
    outside = jaxshap.estimate(2, GAMES["weighted"](), estimator, budget)
    on_host = jaxshap.estimate(2, GAMES["host"](), estimator, budget)
    np.testing.assert_allclose(outside.values, on_host.values, atol=1e-5)
    np.testing.assert_allclose(outside.std_error, on_host.std_error, rtol=1e-2, atol=1e-5)
    total = np.asarray(GAMES["weighted"]().full - GAMES["weighted"]().empty)
    np.testing.assert_allclose(outside.values.sum(0), total, atol=1e-5)


def factorisations(jaxpr):
    """The dimensions of all matrices that are factored or solved with, in inner programs too."""
    for equation in jaxpr.eqns:
        if equation.primitive.name in (
            "cholesky",
            "triangular_solve",
            "svd",
            "lu",
            "geqrf",
            "eigh",
        ):
            yield max(len(variable.aval.shape) for variable in equation.invars)
        for leaf in jax.tree.leaves(equation.params):
            inner = getattr(leaf, "jaxpr", leaf)
            if hasattr(inner, "eqns"):
                yield from factorisations(inner)


@pytest.mark.parametrize("inner", [jaxshap.OddGP(), jaxshap.Leverage(), jaxshap.OddLinear()])
def test_no_factorisation_is_batched_on_a_cpu(inner):
    """Two batched ones at a time hang XLA's CPU threads."""
    estimator = jaxshap.Scattered(inner)
    plan = estimator.plan(jax.random.key(0), 7, 60, 5)
    worths, ends = jnp.ones((58, 5, 3)), jnp.zeros((5, 3))
    solve = jax.make_jaxpr(lambda *args: tuple(estimator.solve(plan, *args)))
    assert set(factorisations(solve(worths, ends, ends + 1).jaxpr)) == {2}


@pytest.mark.slow
def test_scattered_values_are_unbiased_and_their_errors_calibrated():
    """|z| < 4 for each of 30 numbers over 200 keys: a false alarm in 1 of 500 choices of keys."""
    game = GAMES["weighted"]()
    estimate = jax.jit(jax.vmap(lambda key: jaxshap.estimate(key, game, jaxshap.Scattered(), 26)))
    values, errors = (np.asarray(field, np.float64) for field in estimate(KEYS)[:2])
    truth = np.asarray(jaxshap.shapley_values(game), np.float64)
    spread = values.std(0, ddof=1) / np.sqrt(len(KEYS))
    assert (np.abs(values.mean(0) - truth) < 4 * spread + 1e-6).all()
    scores = (values - truth) / errors
    assert 0.7 < np.sqrt((scores**2).mean()) < 1.4  # few strata: the errors themselves are noisy


def test_the_error_is_unknown_where_no_stratum_shows_a_spread():
    game = jaxshap.marginal(lambda rows: jnp.zeros(len(rows)), np.ones((1, 4)), np.zeros((3, 4)))
    estimate = jaxshap.estimate(
        0, game, jaxshap.Scattered(), budget=8
    )  # an ordering: no error of its own
    assert np.isnan(estimate.std_error).all()
    assert (np.asarray(estimate.degrees) == 0).all()


def test_gradients_go_through_scattered_values():
    def first(scale):
        game = jaxshap.marginal(lambda rows: model(scale * rows), ROWS, BACKGROUND)
        return jaxshap.estimate(0, game, jaxshap.Scattered(), 14).values[0].sum()

    slope = jax.grad(first)(1.0)
    step = 1e-2
    np.testing.assert_allclose(slope, (first(1 + step) - first(1 - step)) / (2 * step), rtol=2e-2)


def test_a_larger_budget_keeps_what_was_paid_for():
    key, estimator = jax.random.key(0), jaxshap.Scattered()
    small, _ = runner.make_plan(key, PLAYERS, estimator, 12, 7)
    large, _ = runner.make_plan(key, PLAYERS, estimator, 20, 7)
    count = int(small.num_live)
    kept = np.asarray(large.coalitions)[:count, :7]
    np.testing.assert_array_equal(kept, np.asarray(small.coalitions)[:count, :7])


def test_strata_are_merged_where_memory_is_short(monkeypatch):
    game = GAMES["weighted"]()
    monkeypatch.setattr(runner, "MAX_WORTH_BYTES", 256 * 3 * (PLAYERS + 24))
    merged = runner.strata_for(game, jaxshap.Scattered(), 14)
    assert merged.num_strata == 3
    estimate = runner.run(jax.random.key(0), game, jaxshap.Scattered(), 2**PLAYERS).estimate
    np.testing.assert_allclose(estimate.values, jaxshap.shapley_values(game), atol=1e-5)


class TestExplain:
    wide = np.random.default_rng(3).normal(size=(40, 14)).astype(np.float32)

    def predict(self, rows):
        return jnp.tanh(rows @ np.linspace(-1, 1, 14).astype(np.float32))

    @pytest.mark.parametrize(
        ("background", "budget", "expected"),
        [
            (40, 40, jaxshap.Scattered()),
            (40, 28, jaxshap.Scattered()),
            (5, 28, jaxshap.Scattered()),
            (15, 40, jaxshap.Scattered()),  # a process needs a larger budget to be worth it here
            (14, 40, jaxshap.Scattered(jaxshap.OddGP())),
            (40, 120, jaxshap.Scattered(jaxshap.OddGP())),
            (5, 40, jaxshap.Scattered(jaxshap.OddGP())),
            (1, 40, jaxshap.OddGP()),
            (1, 28, jaxshap.Permutation()),
            (40, 2_000, jaxshap.Scattered()),  # a process for each would take long
            (5, 16_000, jaxshap.OddGP()),
        ],
    )
    def test_the_default_goes_by_background_rows_and_budget(self, background, budget, expected):
        game = jaxshap.marginal(self.predict, self.wide[:2], self.wide[:background])
        assert default_estimator(game, budget) == expected

    @pytest.mark.parametrize(
        ("players", "background", "budget", "expected"),
        [
            (199, 1, 2446, jaxshap.OddGP()),
            (200, 1, 2448, BalancedFirst()),
            (341, 9, 2730, jaxshap.Scattered()),
            (341, 3, 2730, jaxshap.OddGP()),  # few rows, which may have few players who matter
            (1024, 1, 4096, BalancedFirst()),
            (1025, 1, 4098, jaxshap.OddGP()),  # which makes more of few evaluations
            (300, 1, 8194, jaxshap.OddGP()),  # and learns from many
            (300, 1, 601, jaxshap.Permutation()),
        ],
    )
    def test_many_players_have_a_linear_read_out(self, players, background, budget, expected):
        rows = np.ones((background, players), np.float32)
        game = jaxshap.marginal(lambda x: x.sum(1), rows[:1], rows)
        assert default_estimator(game, budget) == expected

    def test_the_default_has_no_error_of_zero(self):
        for count in (1, 5, 40):
            explanation = jaxshap.explain(self.predict, self.wide[:2], self.wide[:count], budget=40)
            assert (explanation.std_error > 0).all()

    def test_an_interrupt_hands_back_what_whole_coalitions_amount_to(self):
        calls = []

        def failing(rows):
            calls.append(len(rows))
            if len(calls) > 40:
                raise KeyboardInterrupt
            return np.asarray(self.predict(rows))

        with pytest.raises(jaxshap.Interrupted) as stopped:
            jaxshap.explain(
                jaxshap.host(failing), self.wide[:1], self.wide, budget=80, batch_size=50
            )
        explanation = stopped.value.explanation
        assert explanation is not None
        assert 28 <= explanation.num_evaluations < 80
        total = explanation.values.sum(1) + explanation.base_values
        np.testing.assert_allclose(total, self.predict(self.wide[:1]), atol=1e-5)

    def test_a_checkpoint_goes_on_where_it_ended(self, tmp_path):
        calls = []

        def counted(rows):
            calls.append(len(rows))
            return np.asarray(self.predict(rows))

        settings = {"budget": 40, "checkpoint": tmp_path / "worths", "batch_size": 100}
        first = jaxshap.explain(jaxshap.host(counted), self.wide[:1], self.wide, **settings)
        evaluated = sum(calls)
        again = jaxshap.explain(jaxshap.host(counted), self.wide[:1], self.wide, **settings)
        assert sum(calls) - evaluated < 100  # the ends, a check of the model and a probe
        np.testing.assert_array_equal(first.values, again.values)

    def test_a_tolerance_is_met_in_rounds(self):
        explanation = jaxshap.explain(self.predict, self.wide[:2], self.wide, tol=0.02)
        assert explanation.estimator.startswith("Scattered")
        outputs = np.asarray(self.predict(self.wide))
        assert explanation.std_error.max() <= 0.02 * np.ptp(outputs) * 1.5


def test_rounds_keep_their_strata_where_memory_merges_them(monkeypatch):
    """Strata that changed from one round to the next would mix up worths."""
    monkeypatch.setattr(runner, "MAX_WORTH_BYTES", 2**15)
    rng = np.random.default_rng(0)
    rows, background = rng.normal(size=(1, 14)), rng.normal(size=(64, 14))

    def model(x):
        return np.tanh(x[:, :5].sum(1)) * x[:, 5] + x[:, 6:].prod(1)

    how = {"estimator": jaxshap.Scattered(jaxshap.Leverage()), "budget": 1000}
    with pytest.warns(jaxshap.ToleranceWarning):
        in_rounds = jaxshap.explain(jaxshap.host(model), rows, background, tol=1e-9, **how)
    at_once = jaxshap.explain(jaxshap.host(model), rows, background, **how)
    np.testing.assert_allclose(in_rounds.values, at_once.values, atol=1e-6)
