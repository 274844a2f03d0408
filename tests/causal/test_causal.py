"""Graphs against networkx; direct effects and fair predictors where both are known."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import jaxshap
from jaxshap.causal import (
    d_separated,
    direct_effect,
    fair_predictor,
    identifies_direct_effect,
    satisfies_backdoor,
)

FORK = [("gender", "height"), ("gender", "accidents")]


def drivers(rows=3_000, seed=0):
    """Men (1) are 13 cm taller; gender and age bring about accidents, and height does not."""
    rng = np.random.default_rng(seed)
    gender = (rng.uniform(size=rows) < 0.5).astype(float)
    height = 166 + 13 * gender + 7 * rng.normal(size=rows)
    age = rng.uniform(18, 78, rows)
    frame = pd.DataFrame({"gender": gender, "height": height, "age": age})
    return frame, rng.poisson(truth(frame.to_numpy()))


def truth(x):
    """Expected accidents: 0.5 for a woman of 48, one more for a man, and fewer with age."""
    return 0.5 + x[:, 0] - 0.005 * (x[:, 2] - 48) * (1 + x[:, 0])


def random_graph(rng, nodes):
    """Edges from earlier to later nodes of a random order, which their names do not tell."""
    order = rng.permutation(nodes)
    pairs = itertools.combinations(order, 2)
    return [(f"n{a}", f"n{b}") for a, b in pairs if rng.uniform() < 0.35]


def test_d_separation_is_that_of_networkx_on_random_graphs():
    networkx = pytest.importorskip("networkx")
    rng = np.random.default_rng(0)
    separated = 0
    for _ in range(400):
        edges = random_graph(rng, 7)
        graph = networkx.DiGraph(edges)
        graph.add_nodes_from(f"n{i}" for i in range(7))
        sides = rng.integers(0, 4, 7)
        a, b, given = ({f"n{i}" for i in range(7) if sides[i] == side} for side in (0, 1, 2))
        if not a or not b:
            continue
        expected = networkx.is_d_separator(graph, a, b, given)
        assert d_separated(graph, a, b, given) == expected
        separated += expected
        if a | b | given <= {node for edge in edges for node in edge}:
            assert d_separated(edges, a, b, given) == expected
    assert separated > 20


def open_backdoors(edges, treatment, outcome, adjustment):
    """Paths that start with an edge into the treatment and are not blocked, by the definition."""
    nodes = {node for edge in edges for node in edge}
    below = {node: {node} for node in nodes}
    for _ in nodes:
        for cause, effect in edges:
            below[cause] = below[cause] | below[effect]
    if any(node in below[treatment] for node in adjustment):
        return None

    def paths(trail):
        if trail[-1] == outcome:
            yield trail
            return
        for node in nodes - set(trail):
            if (node, trail[-1]) in edges or (len(trail) > 1 and (trail[-1], node) in edges):
                yield from paths([*trail, node])

    def is_open(trail):
        for left, middle, right in zip(trail, trail[1:], trail[2:], strict=False):
            collides = (left, middle) in edges and (right, middle) in edges
            if collides and not below[middle] & set(adjustment):
                return False
            if not collides and middle in adjustment:
                return False
        return True

    return [trail for trail in paths([treatment]) if is_open(trail)]


def test_the_backdoor_criterion_is_that_of_its_definition():
    rng = np.random.default_rng(1)
    satisfied = 0
    for _ in range(150):
        edges = random_graph(rng, 6)
        nodes = sorted({node for edge in edges for node in edge})
        if len(nodes) < 4:
            continue
        treatment, outcome, *others = rng.permutation(nodes).tolist()
        adjustment = [node for node in others if rng.uniform() < 0.4]
        found = satisfies_backdoor(edges, treatment, outcome, adjustment)
        assert found == (open_backdoors(edges, treatment, outcome, adjustment) == [])
        satisfied += found
        parents = jaxshap.causal.parent_adjustment(edges, treatment)
        assert parents == {cause for cause, effect in edges if effect == treatment}
        assert outcome in parents or satisfies_backdoor(edges, treatment, outcome, parents)
    assert 20 < satisfied < 130


def test_textbook_graphs():
    assert not satisfies_backdoor(FORK, "height", "accidents")
    assert satisfies_backdoor(FORK, "height", "accidents", "gender")
    assert satisfies_backdoor(FORK, "gender", "accidents")
    # Height is an effect of the treatment:
    assert not satisfies_backdoor(FORK, "gender", "accidents", "height")
    bow = [("a", "m"), ("b", "m"), ("a", "x"), ("b", "y"), ("x", "y")]
    assert satisfies_backdoor(bow, "x", "y")
    assert not satisfies_backdoor(bow, "x", "y", "m")  # a collider opens the path
    assert satisfies_backdoor(bow, "x", "y", ["m", "a"])
    chain = [((0, 1), (0, 2)), ((0, 2), (0, 3))]  # a node may be a tuple
    assert d_separated(chain, (0, 1), (0, 3), (0, 2))


def test_a_direct_effect_is_identified_unless_a_feature_stands_between_others():
    chain = [("gender", "height"), ("height", "car"), ("car", "accidents"), ("gender", "accidents")]
    inputs = {"gender", "height", "car"}
    assert identifies_direct_effect(chain, "gender", inputs)
    assert identifies_direct_effect(chain, "car", inputs)
    assert not identifies_direct_effect(chain, "height", inputs)
    assert identifies_direct_effect(chain, ["gender", "height"], inputs)
    assert identifies_direct_effect(chain, ["height", "car"], inputs)
    assert not identifies_direct_effect(chain, "car")  # without others=, accidents are an input too
    hidden = [("gender", "muscle"), ("muscle", "height"), ("height", "shoe"), ("shoe", "car")]
    # Through nodes that are no inputs:
    assert not identifies_direct_effect(hidden, "height", ["gender", "car"])


def test_gender_has_the_direct_effect_it_was_given_and_height_none():
    X, _ = drivers()
    effect = direct_effect(
        truth, X, "gender", at=1.0, reference=0.0, graph=[*FORK, ("age", "accidents")]
    )
    expected = 1 - 0.005 * (X.age - 48)
    np.testing.assert_allclose(effect.values, expected.mean(), rtol=1e-5)
    np.testing.assert_allclose(effect.std_error, expected.std() / np.sqrt(len(X)), rtol=1e-4)
    assert effect.features == ("gender",)
    heights = np.linspace(150, 200, 5)[:, None]
    none = direct_effect(truth, X, ["height"], at=heights, reference=170.0)
    assert none.values.shape == (5,)
    np.testing.assert_array_equal(none.values, 0)
    both = direct_effect(
        truth, X, ["age", "gender"], at=[[58.0, 1.0], [48.0, 0.0]], reference=[48.0, 0.0]
    )
    np.testing.assert_allclose(both.values, [0.9, 0], atol=1e-6)
    np.testing.assert_allclose(both.std_error, 0, atol=1e-6)


def test_direct_effects_are_differences_of_the_game_where_the_features_are_present():
    X, _ = drivers(50)
    rows = X.to_numpy().astype(np.float32)

    def model(x):
        return jnp.stack([jnp.sin(x[:, 0] + x[:, 1] / 10), x[:, 1] * x[:, 2] / 1000], axis=1)

    ends = np.array([[1.0, 180.0, 0.0], [0.0, 165.0, 0.0]], np.float32)
    worths = jaxshap.marginal(model, ends, rows)(jnp.array([True, True, False]))
    found = direct_effect(model, rows, [0, 1], at=ends[0, :2], reference=ends[1, :2])
    np.testing.assert_allclose(found.values, worths[0] - worths[1], rtol=1e-4)
    on_host = jaxshap.host(lambda x: np.asarray(model(jnp.asarray(x))))
    again = direct_effect(on_host, rows, [0, 1], at=ends[0, :2], reference=ends[1, :2])
    np.testing.assert_allclose(again.values, found.values, rtol=1e-5)


def test_the_standard_error_is_that_of_the_mean_over_rows():
    """300 samples of 100 rows: the spread of z is off by 0.04, its mean by 0.06."""
    runs = [
        direct_effect(truth, drivers(100, seed)[0], "gender", at=1.0, reference=0.0)
        for seed in range(300)
    ]
    z = np.array([(run.values - 1) / run.std_error for run in runs])
    assert abs(z.mean()) < 0.25
    assert 0.85 < z.std() < 1.15


def test_a_grid_in_several_blocks_is_the_same(monkeypatch):
    X, _ = drivers(40)
    ages = np.linspace(18, 78, 7)[:, None]
    whole = direct_effect(truth, X, "age", at=ages, reference=48.0)
    monkeypatch.setattr("jaxshap.causal.moving.byte_limit", lambda: 2 * 40 * 3 * 4)
    parts = direct_effect(truth, X, "age", at=ages, reference=48.0)
    np.testing.assert_allclose(parts.values, whole.values, atol=1e-6)
    np.testing.assert_allclose(parts.std_error, whole.std_error, atol=1e-6)


def test_a_model_without_gender_pays_by_height_and_the_fair_predictor_does_not():
    """A man is 13 cm taller, so 1 cm stands for 0.5² 13 / (0.5² 13² + 7²) = 0.0356 accidents."""
    X, _ = drivers(20_000)
    target = truth(X.to_numpy())
    unaware = LinearRegression().fit(X[["height"]], target)
    assert abs(unaware.coef_[0] - 0.0356) < 0.002
    fair = fair_predictor(truth, X, "gender")
    rows = X.to_numpy()[:50].astype(np.float32)
    taller, other = (rows + np.asarray(change, np.float32) for change in ([0, 20, 0], [1, 0, 0]))
    np.testing.assert_array_equal(fair(taller), fair(rows))
    np.testing.assert_array_equal(fair(other), fair(rows))
    share = X.gender.mean()
    np.testing.assert_allclose(
        fair(rows), 0.5 + share - 0.005 * (rows[:, 2] - 48) * (1 + share), atol=1e-5
    )


def test_the_fair_predictor_is_the_mean_over_the_protected_features_of_the_background():
    X, _ = drivers(30)
    rows = X.to_numpy().astype(np.float32)

    def model(x):
        return jnp.stack([jnp.sin(x[:, 0] * x[:, 1]), x[:, 2] * x[:, 0]], axis=1)

    for protected in ([0], [0, 2], [1]):
        expected = np.zeros((5, 2))
        for reference in rows:
            mixed = rows[:5].copy()
            mixed[:, protected] = reference[protected]
            expected += np.asarray(model(mixed)) / len(rows)
        fair = fair_predictor(model, rows, protected)
        np.testing.assert_allclose(fair(rows[:5]), expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(jax.jit(fair)(rows[:5]), expected, rtol=1e-4, atol=1e-5)
        on_host = fair_predictor(
            jaxshap.host(lambda x: np.asarray(model(jnp.asarray(x)))), rows, protected
        )
        np.testing.assert_allclose(on_host(rows[:5]), expected, rtol=1e-4, atol=1e-5)


def test_the_fair_predictor_is_a_pytree_with_gradients_in_inputs_and_parameters():
    rows = drivers(30)[0].to_numpy().astype(np.float32)
    model = jax.tree_util.Partial(
        lambda slopes, x: x @ slopes + x[:, 0] * x[:, 2], jnp.array([1.0, 2.0, 3.0])
    )
    fair = fair_predictor(model, rows, "x0")
    assert len(jax.tree.leaves(fair)) == 4
    slope = jax.grad(lambda x: fair(x[None])[0])(jnp.asarray(rows[0]))
    np.testing.assert_allclose(slope, [0, 2, 3 + rows[:, 0].mean()], rtol=1e-5)
    by_parameters = jax.grad(lambda fair: fair(rows[:1])[0], allow_int=True)(fair)
    np.testing.assert_allclose(
        by_parameters.model.args[0], [rows[:, 0].mean(), *rows[0, 1:]], rtol=1e-5
    )
    assert not jax.make_jaxpr(lambda fair, x: fair(x))(fair, rows).consts


def test_the_fair_predictor_takes_scikit_learn_frames_and_weights_and_can_be_explained():
    X, accidents = drivers(200)
    model = LinearRegression().fit(X, accidents)
    fair = fair_predictor(model, X, "gender")
    expected = model.predict(X.assign(gender=X.gender.mean()))
    np.testing.assert_allclose(fair(X.to_numpy()), expected, rtol=1e-6)
    turned = X[["age", "gender", "height"]]
    np.testing.assert_allclose(fair(turned), expected, rtol=1e-6)
    np.testing.assert_allclose(fair_predictor(model, turned, "gender")(turned), expected, rtol=1e-6)
    np.testing.assert_allclose(
        fair_predictor(truth, X, "gender")(turned), fair_predictor(truth, X, 0)(X), rtol=1e-6
    )
    effect = direct_effect(model, turned, "age", at=1.0, reference=0.0)
    np.testing.assert_allclose(effect.values, model.coef_[2], rtol=1e-6)
    explained = jaxshap.explain(fair, X.iloc[:3], X.iloc[:20])
    np.testing.assert_allclose(explained[:, "gender"].values, 0, atol=1e-6)
    assert (np.abs(explained[:, "age"].values) > 1e-4).all()
    weighted = jaxshap.WeightedRows(X.to_numpy()[:3], np.array([0.0, 0.25, 0.75]))
    mean = np.average(X.gender[:3], weights=weighted.weights)
    found = fair_predictor(truth, weighted, 0)(X.to_numpy(np.float32)[:4])
    np.testing.assert_allclose(found, truth(X.assign(gender=mean).to_numpy()[:4]), rtol=1e-4)


CHAIN = [("gender", "height"), ("height", "age")]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda X: direct_effect(truth, X, "height", at=1.0, reference=0.0, graph=CHAIN),
            r"causes \['gender'\]",
        ),
        (
            lambda X: direct_effect(truth, X, "gender", at=1.0, reference=0.0, graph=FORK),
            r"has no \['age'\]",
        ),
        (
            lambda X: direct_effect(truth, X, "weight", at=1.0, reference=0.0),
            "names the column 'weight'",
        ),
        (lambda X: direct_effect(truth, X, "age", at=[1.0, 2.0], reference=0.0), "grid"),
        (lambda X: direct_effect(truth, X, "age", at=np.zeros((0, 1)), reference=0.0), "shape"),
        (
            lambda X: direct_effect(truth, X, "age", at=1.0, reference=[[1.0], [2.0]]),
            "one value for each",
        ),
        (lambda X: direct_effect(truth, X, [], at=1.0, reference=0.0), "names no column"),
        (
            lambda X: direct_effect(truth, X, ["age", 2], at=[1.0, 2.0], reference=[0.0, 0.0]),
            "more than once",
        ),
        (lambda X: fair_predictor(truth, X, 7), "names column 7"),
        (lambda X: fair_predictor(truth, X, 0)(X.to_numpy()[:, :2]), r"pass \(rows, 3\)"),
        (
            lambda X: fair_predictor(truth, X, 0)(X[["age", "gender"]]),
            r"lacks the columns \['height'\]",
        ),
        (lambda X: d_separated([("a", "b"), ("b", "a")], "a", "b"), "circle"),
        (lambda X: d_separated(FORK, "height", "weight"), r"has no \['weight'\]"),
        (lambda X: d_separated(FORK, "height", ["height", "gender"]), "must not overlap"),
        (lambda X: d_separated([("a", "b", "c")], "a", "b"), "pair"),
    ],
)
def test_what_cannot_be_done_says_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call(drivers(20)[0])
