"""Exact values of tree ensembles, against brute force over all coalitions in float64."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import trees_oracle as oracle

import jaxshap
from jaxshap.interactions import exact_interactions, tree_interactions
from jaxshap.trees import attribution
from jaxshap.trees.ensemble import Tree, make_ensemble
from jaxshap.trees.interventional_values import interventional, interventional_interactions
from jaxshap.trees.path_dependent_values import (
    base_margin,
    path_dependent,
    path_dependent_interactions,
)
from jaxshap.trees.paths import merged_paths
from jaxshap.trees.structure import round_down

FEATURES = 5


def random_tree(
    rng, depth, *, output=0, leaf_outputs=1, categorical=(), chance=0.9, features=FEATURES
):
    """Splits at random to this depth, some branches ending before; covers are only consistent."""
    columns, categories = [], {}

    def grow(level, cover):
        number = len(columns)
        columns.append(None)
        if level == depth or (level and rng.random() > chance):
            columns[number] = (-1, -1, 0, 0.0, False, cover, rng.normal(size=leaf_outputs))
            return number
        share = rng.uniform(0.1, 0.9)
        left, right = grow(level + 1, cover * share), grow(level + 1, cover * (1 - share))
        feature = int(rng.integers(features))
        if feature in categorical:
            categories[number] = frozenset(rng.choice(6, size=3, replace=False).tolist())
        split = feature, rng.normal(), rng.random() < 0.5, cover
        columns[number] = (left, right, *split, np.zeros(leaf_outputs))
        return number

    grow(0, 100.0)
    left, right, feature, threshold, missing, cover, value = map(
        np.array, zip(*columns, strict=True)
    )
    return Tree(left, right, feature, threshold, missing, cover, value, output, categories)


def random_rows(rng, count, categorical=(), missing=0.15, features=FEATURES):
    rows = rng.normal(size=(count, features))
    for feature in categorical:
        rows[:, feature] = rng.integers(0, 8, count)
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows


KINDS = {
    "one output": {"depths": (1, 3, 4), "outputs": 1},
    "a class each": {"depths": (3, 4, 2, 3), "outputs": 2, "each": True},
    "vector leaves": {"depths": (3, 4), "outputs": 3, "vector": True},
    "categories": {"depths": (4, 5, 4), "outputs": 1, "categorical": (1, 3)},
    "repeated features": {"depths": (6,), "outputs": 1, "features": 3},
    "stumps and constants": {"depths": (0, 1), "outputs": 1},
}


def make_trees(rng, depths, outputs, each=False, vector=False, categorical=(), features=FEATURES):
    return [
        random_tree(
            rng,
            depth,
            output=None if vector else (number % outputs if each else 0),
            leaf_outputs=outputs if vector else 1,
            categorical=categorical,
            features=features,
        )
        for number, depth in enumerate(depths)
    ]


def case(kind, seed=0, count=4):
    rng = np.random.default_rng(seed)
    settings = KINDS[kind]
    trees = make_trees(rng, **settings)
    features = settings.get("features", FEATURES)
    ensemble = make_ensemble(trees, np.arange(settings["outputs"], dtype=float), features)
    rows, background = (
        random_rows(rng, size, settings.get("categorical", ()), features=features)
        for size in (count, 6)
    )
    return trees, ensemble, rows, background


def tables_of(trees, ensemble, rows, background=None):
    structure = ensemble.structure
    return [
        oracle.worths(trees, structure.num_outputs, structure.num_features, row, background)
        for row in rows
    ]


@pytest.fixture(params=["tables", "directly"])
def way(request, monkeypatch):
    """Few rows would always go without tables, which must be right as well."""
    monkeypatch.setattr(attribution, "TABLE_COST", 0 if request.param == "tables" else np.inf)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_brute_force(kind, wide):
    with jax.enable_x64(wide):
        trees, ensemble, rows, background = case(kind)
        tolerance = {"atol": 1e-10 if wide else 1e-5}
        for others, values in ((None, path_dependent(ensemble, rows)), (background, None)):
            values = interventional(ensemble, rows, others) if values is None else values
            expected = [oracle.shapley(table) for table in tables_of(trees, ensemble, rows, others)]
            np.testing.assert_allclose(values, expected, **tolerance)


@pytest.mark.parametrize(
    ("kind", "has_background"),
    [("vector leaves", True), ("categories", True), ("a class each", False)],
)
def test_indices_of_any_order_are_those_of_the_game_of_each_row(kind, has_background):
    with jax.enable_x64(True):
        trees, ensemble, rows, background = case(kind, count=2)
        others = background if has_background else None
        tables = np.stack(tables_of(trees, ensemble, rows, others), axis=1)
        game = jaxshap.table(jnp.asarray(tables))
        for index, order in (("SII", 3), ("k-SII", 2), ("BV", 1)):
            found = tree_interactions(ensemble, rows, others, index=index, order=order)
            expected = exact_interactions(game, index, order)
            np.testing.assert_allclose(found.values, expected.values, atol=1e-10)
            base = tables[0] + np.asarray(ensemble.base)  # brute force leaves the base score out
            np.testing.assert_allclose(found.base_values, base, atol=1e-10)


def test_weights_of_the_background_count_in_indices():
    with jax.enable_x64(True):
        _, ensemble, rows, background = case("one output", count=2)
        weights = np.arange(1.0, 7.0)
        found = tree_interactions(ensemble, rows, background, weights=weights)
        halves = interventional_interactions(ensemble, rows, background, weights)
        pairs = 2 * np.moveaxis(np.asarray(halves), 0, 2)
        off = ~np.eye(ensemble.structure.num_features, dtype=bool)
        np.testing.assert_allclose(found.matrix()[off], pairs[off], atol=1e-10)
        weighted = tree_interactions(ensemble, rows, jaxshap.WeightedRows(background, weights))
        np.testing.assert_array_equal(weighted.values, found.values)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("kind", KINDS)
def test_interactions_are_those_of_brute_force(kind):
    with jax.enable_x64(True):
        trees, ensemble, rows, background = case(kind, count=2)
        expected = [oracle.interactions(table) for table in tables_of(trees, ensemble, rows)]
        np.testing.assert_allclose(
            path_dependent_interactions(ensemble, rows), expected, atol=1e-10
        )
        expected = [
            oracle.interactions(table) for table in tables_of(trees, ensemble, rows, background)
        ]
        np.testing.assert_allclose(
            interventional_interactions(ensemble, rows, background), expected, atol=1e-10
        )


@pytest.mark.parametrize("kind", KINDS)
def test_margins_are_those_of_walking_down_and_values_sum_to_them(kind):
    with jax.enable_x64(True):
        trees, ensemble, rows, background = case(kind, count=30)
        walked = np.stack(
            [
                oracle.worths(trees, len(ensemble.base), rows.shape[1], row, row[None])[0]
                for row in rows
            ]
        )
        margins = ensemble.predict(rows)
        np.testing.assert_allclose(margins, walked + np.asarray(ensemble.base), atol=1e-12)
        total = path_dependent(ensemble, rows).sum(1) + base_margin(ensemble)
        np.testing.assert_allclose(total, margins, atol=1e-10)
        base = ensemble.predict(background).mean(0)
        total = interventional(ensemble, rows, background).sum(1) + base
        np.testing.assert_allclose(total, margins, atol=1e-10)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("width", "seed"), [(9, 1), (12, 2)])
def test_deep_paths_agree_with_the_marginal_game_and_with_brute_force(width, seed):
    """A chain of `width` different features: beyond tables of one product, and beyond tables."""
    with jax.enable_x64(True):
        rng = np.random.default_rng(seed)
        number = 2 * width + 1
        left, right = np.full(number, -1), np.full(number, -1)
        left[:width], right[:width] = np.arange(width) + 1, width + 1 + np.arange(width)
        feature = np.where(np.arange(number) < width, np.arange(number), 0)
        cover = np.ones(number)
        for node in range(width - 1, -1, -1):
            cover[node] = cover[left[node]] + rng.uniform(0.2, 0.5) * (node + 1)
            cover[right[node]] = cover[node] - cover[left[node]]
        missing = rng.random(number) < 0.5
        threshold, value = np.full(number, 0.3), rng.normal(size=(number, 1))
        tree = Tree(left, right, feature, threshold, missing, cover, value, 0)
        ensemble = make_ensemble([tree], np.zeros(1), width)
        rows, background = (random_rows(rng, count, features=width) for count in (3, 8))
        groups = merged_paths(ensemble.structure).groups
        assert max(group.column.shape[1] for group in groups) >= width
        game = jaxshap.marginal(ensemble.predict, np.nan_to_num(rows), np.nan_to_num(background))
        values = interventional(ensemble, np.nan_to_num(rows), np.nan_to_num(background))
        np.testing.assert_allclose(
            values, np.moveaxis(jaxshap.shapley_values(game), 0, 1), atol=1e-10
        )
        tables = tables_of([tree], ensemble, rows[:1]) if width < 10 else []
        for row, table in zip(path_dependent(ensemble, rows), tables, strict=False):
            np.testing.assert_allclose(row, oracle.shapley(table), atol=1e-10)
        total = path_dependent(ensemble, rows).sum(1) + base_margin(ensemble)
        np.testing.assert_allclose(total, ensemble.predict(rows), atol=1e-10)


@pytest.mark.usefixtures("way")
def test_long_paths_have_the_values_of_short_ones_with_features_that_never_matter():
    """A deep chain, without tables, and by a table after all but five splits are undone."""
    with jax.enable_x64(True):
        rng = np.random.default_rng(4)
        deep, short = (
            _chain(rng=np.random.default_rng(7), width=width, real=5) for width in (11, 5)
        )
        rows = random_rows(rng, 3, features=11, missing=0)
        deep, short = (make_ensemble([tree], np.zeros(1), 11) for tree in (deep, short))
        expected = path_dependent(short, rows)
        np.testing.assert_allclose(path_dependent(deep, rows), expected, atol=1e-10)
        assert np.abs(expected).max() > 0.1
        pairs, of_short = (path_dependent_interactions(trees, rows) for trees in (deep, short))
        np.testing.assert_allclose(pairs, of_short, atol=1e-10)
        background = random_rows(rng, 5, features=11, missing=0)
        pairs, of_short = (
            interventional_interactions(trees, rows, background) for trees in (deep, short)
        )
        np.testing.assert_allclose(pairs, of_short, atol=1e-10)


def _chain(rng, width, real):
    """Splits on features 0, 1, …; those after the first `real` have one value on both sides."""
    number = 2 * width + 1
    left, right = np.full(number, -1), np.full(number, -1)
    left[:width], right[:width] = np.arange(width) + 1, width + 1 + np.arange(width)
    value = np.zeros((number, 1))
    value[width + 1 : width + 1 + real, 0] = rng.normal(size=real)
    value[[width, *range(width + 1 + real, number)], 0] = 1.5
    cover = np.empty(number)
    cover[: width + 1] = 0.7 ** np.arange(width + 1)
    cover[width + 1 :] = cover[:width] - cover[1 : width + 1]
    feature = np.where(np.arange(number) < width, np.arange(number), 0)
    return Tree(left, right, feature, np.full(number, 0.1), np.zeros(number, bool), cover, value, 0)


def test_path_dependent_values_depend_on_the_tree_and_not_only_on_its_function():
    """Exclusive or, asked first about a or first about b: one function, two answers.

    Interventional values agree. With covers that are not those of independent features, what an
    absent feature is taken to be depends on where in the tree it is asked about.
    """
    value = np.array([0, 0, 0, 0, 1, 1, 0], float)[:, None]  # of leaves 00, 01, 10, 11: 3 to 6
    shape = np.array([1, 3, 5, -1, -1, -1, -1]), np.array([2, 4, 6, -1, -1, -1, -1])
    covers = {(0, 0): 4.0, (0, 1): 1.0, (1, 0): 1.0, (1, 1): 2.0}

    def tree(first):
        leaves = [
            covers[pair if first == 0 else pair[::-1]] for pair in ((0, 0), (0, 1), (1, 0), (1, 1))
        ]
        cover = np.array([8.0, leaves[0] + leaves[1], leaves[2] + leaves[3], *leaves])
        feature = np.array([first, 1 - first, 1 - first, 0, 0, 0, 0])
        return Tree(*shape, feature, np.full(7, 0.5), np.zeros(7, bool), cover, value, 0)

    rows = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    ensembles = [make_ensemble([tree(first)], np.zeros(1), 2) for first in (0, 1)]
    np.testing.assert_array_equal(*(ensemble.predict(rows) for ensemble in ensembles))
    same = [
        interventional(ensemble, rows, np.repeat(rows, [4, 1, 1, 2], axis=0))
        for ensemble in ensembles
    ]
    np.testing.assert_allclose(*same, atol=1e-6)
    first, second = (path_dependent(ensemble, rows) for ensemble in ensembles)
    assert np.abs(np.asarray(first - second)).max() > 0.05


def test_weights_of_the_background_count_like_copies():
    _, ensemble, rows, background = case("one output")
    weights = np.array([1, 2, 3, 1, 1, 2])
    copies = interventional(ensemble, rows, np.repeat(background, weights, axis=0))
    np.testing.assert_allclose(
        interventional(ensemble, rows, background, weights), copies, atol=1e-6
    )
    weighted = jaxshap.WeightedRows(background, weights)
    np.testing.assert_allclose(interventional(ensemble, rows, weighted), copies, atol=1e-6)
    with pytest.raises(ValueError, match="weights have shape"):
        interventional(ensemble, rows, background, weights[:3])


def test_jit_vmap_and_gradients_by_leaf_values():
    _, ensemble, rows, background = case("a class each")
    rows, background = np.float32(rows), np.float32(background)
    for of in (path_dependent, lambda model, x: interventional(model, x, background)):
        plain = of(ensemble, rows)
        np.testing.assert_allclose(jax.jit(of)(ensemble, rows), plain, atol=1e-6)
        each = jax.vmap(lambda row, of=of: of(ensemble, row[None])[0])(jnp.asarray(rows))
        np.testing.assert_allclose(each, plain, atol=1e-6)
        upstream = jnp.arange(1.0, plain.size + 1).reshape(plain.shape) / plain.size
        slope = jax.grad(lambda model, of=of, up=upstream: (of(model, rows) * up).sum())(ensemble)
        moved = dataclasses.replace(ensemble, values=ensemble.values.at[0, 0].add(1))
        np.testing.assert_allclose(
            ((of(moved, rows) - plain) * upstream).sum(), slope.values[0, 0], atol=1e-5
        )
        assert np.abs(slope.values[0]) > 1e-3


def test_narrow_thresholds_send_the_same_rows_left():
    thresholds = np.array([0.1, 0.3, 1 / 3, -2.7])
    narrow = round_down(thresholds, np.float32)
    near = np.concatenate(
        [np.nextafter(np.float32(thresholds), np.float32(side)) for side in (-9, 9)]
    )
    for x in np.concatenate([near, np.float32(thresholds)]):
        np.testing.assert_array_equal(x <= narrow, np.float64(x) <= thresholds)


def test_rows_and_paths_in_many_parts_are_those_in_one(monkeypatch):
    _, ensemble, rows, background = case("categories", count=23)
    whole = path_dependent(ensemble, rows), interventional(ensemble, rows, background)
    monkeypatch.setattr(attribution, "ROWS_AT_ONCE", 5)
    monkeypatch.setattr(attribution, "MAX_TABLE_BYTES", 1)
    jax.clear_caches()
    parts = path_dependent(ensemble, rows), interventional(ensemble, rows, background)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_rows_with_other_features_are_refused():
    _, ensemble, rows, _ = case("one output")
    with pytest.raises(ValueError, match="the trees know 5 features"):
        path_dependent(ensemble, rows[:, :3])
