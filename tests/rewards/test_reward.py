"""Rewards: against the worths of the game below, put through the same function in numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_games import brute_force_shapley, membership

import jaxshap

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = RNG.normal(size=(4, 3)), RNG.normal(size=(6, 3))
WEIGHTS = RNG.normal(size=(3, 3))
LABELS = np.array([0, 2, 1, 2])


def logits(x):
    xp = jnp if isinstance(x, jax.Array) else np
    return xp.tanh(x @ xp.asarray(WEIGHTS, x.dtype)) * 2


def probabilities(x):
    return jax.nn.softmax(logits(x))


def number(x):
    return logits(x)[:, 0]


def softmax(outputs):
    shifted = np.exp(outputs - outputs.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True)


def picked(outputs, classes):
    classes = np.broadcast_to(classes, outputs.shape[:2])[..., None]
    return np.take_along_axis(outputs, classes, axis=2)[..., 0]


def worths(game):
    return np.asarray(jaxshap.evaluate(game, membership(game.num_players)), np.float64)


OWN = np.argmax(np.asarray(logits(jnp.asarray(ROWS, jnp.float32))), axis=1)
TARGETS = np.array([0.3, -1, 2, 0.5])
CASES = {
    "class probability": (
        probabilities,
        jaxshap.rewards.class_probability(LABELS),
        lambda v: picked(v, LABELS),
    ),
    "class probability, of logits": (
        logits,
        jaxshap.rewards.class_probability(1, logits=True),
        lambda v: softmax(v)[:, :, 1],
    ),
    "class probability, own class": (
        probabilities,
        jaxshap.rewards.class_probability(),
        lambda v: picked(v, OWN),
    ),
    "log-odds": (
        probabilities,
        jaxshap.rewards.log_odds(LABELS),
        lambda v: np.log(picked(v, LABELS) / (1 - picked(v, LABELS))),
    ),
    "log-odds, of logits": (
        logits,
        jaxshap.rewards.log_odds(0, logits=True),
        lambda v: np.log(softmax(v)[:, :, 0] / (1 - softmax(v)[:, :, 0])),
    ),
    "class agreement": (
        logits,
        jaxshap.rewards.agreement(),
        lambda v: (v.argmax(2) == OWN).astype(float),
    ),
    "class rank": (
        logits,
        jaxshap.rewards.class_rank(LABELS),
        lambda v: 1.0 + (v > picked(v, LABELS)[..., None]).sum(2),
    ),
    "squared loss": (
        number,
        jaxshap.rewards.loss(np.float32(TARGETS)),
        lambda v: (v - TARGETS) ** 2,
    ),
    "absolute loss": (
        number,
        jaxshap.rewards.loss(np.float32(TARGETS), "absolute"),
        lambda v: np.abs(v - TARGETS),
    ),
    "cross entropy loss": (
        probabilities,
        jaxshap.rewards.loss(LABELS, "cross_entropy"),
        lambda v: -np.log(picked(v, LABELS)),
    ),
    "cross entropy loss, of logits": (
        logits,
        jaxshap.rewards.loss(LABELS, "cross_entropy", logits=True),
        lambda v: -np.log(picked(softmax(v), LABELS)),
    ),
    "any function": (number, lambda v: v**3, lambda v: v**3),
}


@pytest.mark.parametrize("case", CASES)
def test_rewards_are_functions_of_the_worths_below(case):
    model, function, expected = CASES[case]
    game = jaxshap.marginal(model, ROWS, BACKGROUND)
    below = worths(game)
    found = jaxshap.rewards.reward(game, function)
    np.testing.assert_allclose(worths(found), expected(below), atol=2e-5)
    truth = brute_force_shapley(expected(below))
    np.testing.assert_allclose(jaxshap.shapley_values(found), truth, atol=2e-5)
    result = jaxshap.explain(model, ROWS, BACKGROUND, reward=function)
    np.testing.assert_allclose(result.values.T, truth, atol=2e-5)
    name = case.split(", ")[0]
    assert result.value_function.startswith("marginal, ")
    assert case == "any function" or result.value_function == f"marginal, {name}"


def test_rewards_stand_on_host_models_and_other_value_functions():
    traced = jaxshap.rewards.reward(
        jaxshap.marginal(logits, ROWS, BACKGROUND), jaxshap.rewards.agreement()
    )
    on_host = jaxshap.rewards.reward(
        jaxshap.marginal(jaxshap.host(logits), ROWS, BACKGROUND), jaxshap.rewards.agreement()
    )
    np.testing.assert_allclose(worths(traced), worths(on_host), atol=1e-5)
    game = jaxshap.conditional(logits, ROWS, BACKGROUND, how=jaxshap.values.Nearby())
    found = jaxshap.rewards.reward(game, jaxshap.rewards.class_probability(LABELS, logits=True))
    np.testing.assert_allclose(worths(found), picked(softmax(worths(game)), LABELS), atol=1e-5)
    assert found.name == "conditional (nearby), class probability"


def test_the_mean_loss_over_rows_has_the_values_of_sage():
    game = jaxshap.rewards.reward(
        jaxshap.marginal(probabilities, ROWS, BACKGROUND),
        jaxshap.rewards.loss(LABELS, "cross_entropy"),
    )
    each = jaxshap.shapley_values(game)
    mean = jaxshap.shapley_values(jaxshap.rewards.averaged(game))
    np.testing.assert_allclose(mean, each.mean(1), atol=1e-5)
    weighted = jaxshap.shapley_values(jaxshap.rewards.averaged(game, np.float32([1, 0, 0, 3])))
    np.testing.assert_allclose(weighted, (each[:, 0] + 3 * each[:, 3]) / 4, atol=1e-5)


def test_gradients_go_through_rewards():
    with jax.enable_x64(True):

        def total(weights, power=1):
            game = jaxshap.marginal(
                jax.tree_util.Partial(lambda w, x: jnp.tanh(x @ w), weights), ROWS, BACKGROUND
            )
            found = jaxshap.rewards.reward(
                game, jaxshap.rewards.loss(LABELS, "cross_entropy", logits=True)
            )
            return jaxshap.estimate(0, found, jaxshap.Exact(), 8).values[1].sum()

        start = jnp.asarray(WEIGHTS)
        slope = jax.grad(total)(start)
        step = jnp.zeros_like(start).at[1, 2].set(1e-5)
        np.testing.assert_allclose(
            slope[1, 2], (total(start + step) - total(start - step)) / 2e-5, rtol=1e-5
        )


@pytest.mark.parametrize(
    ("model", "function", "message"),
    [
        (number, jaxshap.rewards.agreement(), r"must be \(rows, classes\)"),
        (logits, jaxshap.rewards.class_probability(np.zeros(3, int)), "for 4 rows"),
        (logits, jaxshap.rewards.class_probability(3), "numbers from 0 to 2"),
        (number, jaxshap.rewards.loss(np.float32(TARGETS[:2])), "2 labels for 4 rows"),
        (logits, jaxshap.rewards.loss(np.float32(TARGETS)), "they must be the same"),
        (logits, jaxshap.rewards.loss(TARGETS, "cross_entropy"), "whole labels"),
        (number, lambda v: v.astype(int), "floating-point"),
        (number, lambda v: v / 0, "not finite"),
        (number, "squared", "reward='squared' is not a function: pass"),
        (number, jaxshap.rewards.loss(LABELS, "cross_entropy"), r"outputs \(rows, classes\)"),
    ],
)
def test_rewards_that_do_not_fit_say_so(model, function, message):
    with pytest.raises((ValueError, TypeError), match=message):
        jaxshap.rewards.reward(jaxshap.marginal(model, ROWS, BACKGROUND), function)


ABOUT_CLASSES = {
    "class_probability": jaxshap.rewards.class_probability,
    "log_odds": jaxshap.rewards.log_odds,
    "agreement": jaxshap.rewards.agreement,
    "class_rank": jaxshap.rewards.class_rank,
    "cross entropy": lambda labels: jaxshap.rewards.loss(labels, "cross_entropy", logits=True),
}


@pytest.mark.parametrize("name", ABOUT_CLASSES)
@pytest.mark.parametrize("classes", [[-1, 0, 1, 2], [0, 1, 2, 3], np.uint8([0, 1, 2, 255])])
def test_classes_that_the_model_does_not_have_are_refused_inside_jit_too(name, classes):
    game = jaxshap.marginal(logits, ROWS, BACKGROUND)

    def rewarded(classes):
        return jaxshap.rewards.reward(game, ABOUT_CLASSES[name](classes)).full

    with pytest.raises(jaxshap.InputError, match="numbers from 0 to 2, not"):
        rewarded(classes)
    with pytest.raises(jaxshap.InputError, match="numbers from 0 to 2, not"):
        jax.jit(lambda: rewarded(classes))()


@pytest.mark.parametrize("name", ABOUT_CLASSES)
def test_a_traced_class_that_the_model_does_not_have_gives_nan(name):
    game = jaxshap.marginal(probabilities, ROWS, BACKGROUND)

    @jax.jit
    def ends(classes):
        rewarded = jaxshap.rewards.reward(game, ABOUT_CLASSES[name](classes))
        return jnp.stack([rewarded.empty, rewarded.full])

    unknown = np.isnan(ends(jnp.array([-1, 0, 3, 2])))
    np.testing.assert_array_equal(unknown, [[True, False, True, False]] * 2)


@pytest.mark.parametrize("name", ABOUT_CLASSES)
@pytest.mark.parametrize(
    ("classes", "error", "message"),
    [
        (np.complex64(LABELS), TypeError, "real numbers, not complex64"),
        (np.array(["2020-01-01"] * 4, "datetime64[D]"), TypeError, "real numbers, not datetime64"),
        (["cat", "dog", "cat", "dog"], TypeError, "encode them first"),
        (np.float32(LABELS), TypeError, "whole"),
        (np.array([True, False, True, False]), TypeError, "whole"),
        (LABELS + 2**32, ValueError, "overflow int32"),
    ],
)
def test_classes_that_are_no_whole_numbers_are_refused(name, classes, error, message):
    game = jaxshap.marginal(logits, ROWS, BACKGROUND)
    with pytest.raises(jaxshap.InputError, match=message) as caught:
        jaxshap.rewards.reward(game, ABOUT_CLASSES[name](classes))
    assert isinstance(caught.value, error)


@pytest.mark.parametrize("kind", ["squared", "absolute", lambda outputs, labels: outputs])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.complex64(TARGETS), "real numbers, not complex64"),
        (np.array([1, 2, 3, 4], "timedelta64[s]"), "real numbers, not timedelta64"),
        (np.array([1, 2, 3, None]), "real numbers, not object"),
        (3.0, "pass one label per row"),
    ],
)
def test_labels_that_are_no_real_numbers_are_refused(kind, labels, message):
    with pytest.raises(jaxshap.InputError, match=message):
        jaxshap.rewards.loss(labels, kind)


def test_labels_of_any_real_type_are_taken_as_those_of_the_outputs():
    game = jaxshap.marginal(number, ROWS, BACKGROUND)
    wanted = jaxshap.rewards.reward(game, jaxshap.rewards.loss(np.float32(LABELS))).full
    for labels in (LABELS, LABELS.tolist(), np.uint8(LABELS), np.float64(LABELS)):
        found = jaxshap.rewards.reward(game, jaxshap.rewards.loss(labels)).full
        assert found.dtype == game.full.dtype
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), "one a row"),
        ([1.0, -1.0, 1.0, 1.0], "non-negative"),
        (np.zeros(4), "not all of them 0"),
        ([1.0, np.nan, 1.0, 1.0], "non-negative"),
    ],
)
def test_weights_of_rows_that_make_no_mean_are_refused(weights, message):
    game = jaxshap.marginal(number, ROWS, BACKGROUND)
    with pytest.raises(jaxshap.InputError, match=message):
        jaxshap.rewards.averaged(game, weights)


def test_a_game_without_rows_has_no_mean_over_them():
    with pytest.raises(jaxshap.InputError, match="no rows to average"):
        jaxshap.rewards.averaged(jaxshap.table([0.0, 1.0, 2.0, 4.0]))


def test_a_loss_that_is_not_known_is_named():
    with pytest.raises(ValueError, match="'cubic': pass one of"):
        jaxshap.rewards.loss(TARGETS, "cubic")
