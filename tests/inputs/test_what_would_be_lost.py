"""Inputs whose meaning an array of numbers would lose are refused, or read with their meaning."""

import datetime

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from jax.experimental import sparse as jax_sparse

import jaxshap

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = (RNG.normal(size=(count, 3)) for count in (2, 4))
DATES = np.array([["2020-01-01", "2021-01-01", "2022-01-01"]], "datetime64[D]")
pytestmark = pytest.mark.usefixtures("unchecked")


def model(rows):
    return rows @ jnp.array([1.0, 2.0, 4.0], rows.dtype)


def on_host(rows):
    return np.asarray(rows, float) @ [1.0, 2.0, 4.0]


LOSSY = {
    "masked": np.ma.masked_array(ROWS, mask=ROWS > 0),
    "masked rows": [np.ma.masked_array(row, mask=row > 0) for row in ROWS],
    "dates": DATES,
    "durations": DATES - DATES[:, :1],
    "durations of several units": [[np.timedelta64(3, "s"), np.timedelta64(3, "m"), 1.0]],
    "dates as objects": [[datetime.datetime(2020, 1, 1), 1.0, 2.0]],
    "complex": ROWS + 1j,
    "complex in JAX": jnp.asarray(ROWS + 1j),
    "complex as objects": np.array([[1.0, 2.0, 1j]], object),
    "text": np.array([["1", "2", "3"]]),
    "ragged": [[1.0, 2.0], [1.0, 2.0, 3.0]],
    "keys": jax.random.split(jax.random.key(0), (1, 3)),
}


@pytest.mark.parametrize("case", LOSSY)
@pytest.mark.parametrize("predict", [model, jaxshap.host(on_host)])
def test_rows_and_backgrounds_that_would_lose_their_meaning_are_refused(case, predict):
    lossy, players = LOSSY[case], jaxshap.tokens(3)
    for arguments in ((lossy, BACKGROUND), (ROWS, lossy)):
        with pytest.raises(jaxshap.InputError):
            jaxshap.explain(predict, *arguments)
        with pytest.raises(jaxshap.InputError):
            jaxshap.marginal(predict, *arguments)
        with pytest.raises(jaxshap.InputError):
            jaxshap.explain(predict, *arguments, groups=players)


@pytest.mark.parametrize("case", LOSSY)
def test_other_functions_of_tables_refuse_them_too(case):
    lossy = LOSSY[case]
    for call in (
        lambda: jaxshap.kmeans(lossy, 1),
        lambda: jaxshap.effects.pdp(model, lossy, 0),
        lambda: jaxshap.conditional(model, lossy, BACKGROUND),
        lambda: jaxshap.manifold(model, ROWS, lossy),
        lambda: jaxshap.baseline(model, ROWS, lossy),
        lambda: jaxshap.table(lossy),
        lambda: jaxshap.rewards.loss(lossy),
        lambda: jaxshap.trust.redundant_features(lossy),
        lambda: jaxshap.lime.local_surrogate(0, model, lossy, BACKGROUND, num_samples=20),
    ):
        with pytest.raises(jaxshap.InputError):
            call()


@pytest.mark.parametrize(
    "weights",
    [
        np.ma.masked_array(np.ones(4), mask=[True, False, False, False]),
        np.ones(4) + 1j,
        ["1", "1", "1", "1"],
        np.ones(4, "timedelta64[s]"),
        np.array([1.0, 1.0, 1.0, -1.0]),
        np.zeros(4),
        np.full(4, np.nan),
    ],
)
def test_weights_that_are_none_are_refused(weights):
    rows = jaxshap.WeightedRows(BACKGROUND, weights)
    for call in (
        lambda: jaxshap.explain(model, ROWS, rows),
        lambda: jaxshap.marginal(model, ROWS, BACKGROUND, weights=weights),
        lambda: jaxshap.kmeans(BACKGROUND, 2, weights=weights),
    ):
        with pytest.raises(jaxshap.InputError):
            call()


def test_weights_of_trees_are_checked_like_all_others():
    ensemble = pytest.importorskip("sklearn.ensemble")
    forest = ensemble.RandomForestRegressor(3, random_state=0).fit(BACKGROUND, BACKGROUND[:, 0])
    trees = jaxshap.trees.read_trees(forest)
    with pytest.raises(jaxshap.InputError, match="non-negative"):
        jaxshap.trees.interventional(trees, ROWS, BACKGROUND, [1.0, 1.0, 1.0, -1.0])
    with pytest.raises(jaxshap.InputError, match="masked"):
        jaxshap.trees.path_dependent(trees, LOSSY["masked"])


def test_a_masked_array_without_masked_entries_is_an_array():
    plain = jaxshap.explain(model, ROWS, BACKGROUND).values
    masked = jaxshap.explain(model, np.ma.masked_array(ROWS), BACKGROUND).values
    np.testing.assert_array_equal(masked, plain)


def test_outputs_that_would_lose_their_meaning_are_refused():
    output = np.ma.masked_array(np.ones(8), mask=True)
    with pytest.raises(jaxshap.ModelOutputError, match="did not return an array"):
        jaxshap.explain(jaxshap.host(lambda rows: output), ROWS, BACKGROUND)


@pytest.mark.parametrize("sparse", [sp.csr_matrix, sp.coo_array, jax_sparse.BCOO.fromdense])
def test_the_zeros_of_sparse_tables_are_numbers_like_others(sparse):
    zeros = np.where(BACKGROUND > 0, BACKGROUND, 0)
    expected = jaxshap.explain(model, ROWS, zeros).values
    np.testing.assert_allclose(jaxshap.explain(model, ROWS, sparse(zeros)).values, expected, 1e-6)


def test_a_sparse_table_that_has_no_room_as_a_dense_one_is_refused():
    with pytest.raises(jaxshap.InputError, match="fewer rows"):
        jaxshap.explain(model, sp.csr_matrix((10**6, 10**4)), BACKGROUND)


@pytest.mark.parametrize("kind", ["class_probability", "class_rank", "log_odds", "agreement"])
def test_a_class_of_minus_one_is_no_class(kind):
    def classes(rows):
        return jax.nn.softmax(rows)

    make = getattr(jaxshap.rewards, kind)
    for labels in ([-1, 0], jnp.array([0, -1]), -1, 3):
        with pytest.raises(jaxshap.InputError, match="from 0 to 2"):
            jaxshap.explain(classes, ROWS, BACKGROUND, reward=make(labels))
    reward = jaxshap.rewards.loss([-1, 0], "cross_entropy")
    with pytest.raises(jaxshap.InputError, match="from 0 to 2"):
        jaxshap.explain(classes, ROWS, BACKGROUND, reward=reward)


@pytest.mark.parametrize(
    ("coalitions", "message"),
    [
        ([True, False, True], r"coalition\[None\]"),
        ([[0, 2, 1]], "other numbers than 0 and 1"),
        ([[0.5, 0.0, 1.0]], "other numbers than 0 and 1"),
        ([["in", "", "in"]], "real numbers"),
        (np.zeros((1, 9, 3), bool), "strata"),
    ],
)
def test_coalitions_are_a_table_of_who_is_in(coalitions, message):
    game = jaxshap.marginal(model, ROWS, BACKGROUND)
    with pytest.raises(jaxshap.InputError, match=message):
        jaxshap.evaluate(game, coalitions)


def test_known_worths_fit_the_coalitions():
    game = jaxshap.marginal(model, ROWS, BACKGROUND)
    asked = np.array([[True, False, True]])
    np.testing.assert_array_equal(jaxshap.evaluate(game, asked, known=np.ones((1, 2))), 1)
    for known in (np.ones((2, 2)), np.ones(3)):
        with pytest.raises(jaxshap.InputError, match="known="):
            jaxshap.evaluate(game, asked, known=known)


class TestColumnsOfFeatures:
    def explained(self, players):
        rows = np.array([[10.0, 20.0, 30.0]])
        return jaxshap.explain(lambda x: x.sum(1), rows, np.zeros((1, 3)), groups=players)

    def test_each_value_stands_beside_the_column_of_its_own_player(self, tmp_path):
        """Features that are summed have their data for values."""
        explanation = self.explained(jaxshap.segments([2, 0, 1]))
        np.testing.assert_allclose(explanation.values, explanation.data_of_features)
        picked = explanation[:, ["2", "0"]]
        np.testing.assert_allclose(picked.values, picked.data_of_features)
        explanation.save(tmp_path / "saved.npz")
        loaded = jaxshap.load(tmp_path / "saved.npz")
        np.testing.assert_allclose(loaded.values, loaded.data_of_features)

    @pytest.mark.parametrize("players", [[[2, 0]], jaxshap.segments([1, 0, 1])])
    def test_players_of_several_columns_have_no_column_though_shapes_agree(self, players, tmp_path):
        explanation = self.explained(players)[:, [0, 1, 0]]
        assert explanation.values.shape == explanation.data.shape
        assert explanation.data_of_features is None
        explanation.save(tmp_path / "saved.npz")
        assert jaxshap.load(tmp_path / "saved.npz").data_of_features is None

    def test_arrays_whose_names_meet_are_both_kept(self):
        inputs = {"a": {"b": np.ones((1, 2))}, "a.b": np.full((1, 2), 2.0)}
        none = jax.tree.map(np.zeros_like, inputs)
        players = jaxshap.leaves(jax.tree.map(lambda leaf: leaf[0], inputs))

        def total(tree):
            return sum(leaf.sum(1) for leaf in jax.tree.leaves(tree))

        assert len(jaxshap.explain(total, inputs, none, groups=players).data) == 2


class TestNames:
    def test_numbers_serve_as_names(self):
        explanation = jaxshap.explain(model, ROWS, BACKGROUND, feature_names=[0, 1, 2])
        assert explanation.feature_names == ("0", "1", "2")
        assert "Explanation of" in str(explanation)
        frames = pd.DataFrame(ROWS), pd.DataFrame(BACKGROUND)
        named = jaxshap.explain(model, *frames, feature_names=[0, 1, 2])
        np.testing.assert_array_equal(named.values, explanation.values)

    @pytest.mark.parametrize("names", ["abc", 3, ["a", "a", "b"]])
    def test_what_are_no_names_of_columns_is_refused(self, names):
        with pytest.raises(jaxshap.InputError, match="feature_names"):
            jaxshap.explain(model, ROWS, BACKGROUND, feature_names=names)

    def test_outputs_of_one_name_are_refused(self):
        with pytest.raises(jaxshap.InputError, match="output_names"):
            jaxshap.explain(lambda x: x, ROWS, BACKGROUND, output_names=["a", "a", "b"])

    def test_words_may_repeat_and_are_then_picked_by_number(self):
        words = jaxshap.tokens(3, ["the", "cat", "the"])
        explanation = jaxshap.explain(model, ROWS, BACKGROUND, groups=words)
        with pytest.raises(KeyError, match="several features are called 'the'"):
            explanation[:, "the"]
        np.testing.assert_array_equal(explanation[:, 2].values[:, 0], explanation.values[:, 2])

    def test_groups_of_one_name_are_refused(self):
        names = ["a+b", "a", "b"]
        with pytest.raises(jaxshap.InputError, match=r"names \['a\+b'\]"):
            jaxshap.explain(
                model, ROWS, BACKGROUND, groups=[["a+b"], ["a", "b"]], feature_names=names
            )


class TestPrecision:
    """What JAX has in float32 and int32 unless told otherwise."""

    times = np.array([1.7e9, 0, 0]) + 0.1 * ROWS  # seconds since 1970

    def test_columns_whose_differences_float32_loses_are_named(self):
        background = np.array([1.7e9, 0, 0]) + 0.1 * BACKGROUND
        with pytest.warns(jaxshap.errors.PrecisionWarning, match="columns number 0 by"):
            jaxshap.explain(model, self.times, background)
        explained = jaxshap.explain(jaxshap.host(on_host), self.times, background)
        expected = (self.times - background.mean(0)) * [1.0, 2.0, 4.0]
        np.testing.assert_allclose(explained.values, expected, atol=1e-5)

    @pytest.mark.filterwarnings("error::jaxshap.errors.PrecisionWarning")
    def test_other_columns_are_not(self):
        constant = np.broadcast_to([0.1, 1e9 + 0.1, np.nan], (2, 3))
        for rows in (ROWS, 1e30 * ROWS, 1_000_000_007 * np.arange(6).reshape(2, 3)):
            jaxshap.marginal(model, rows, rows)
        jaxshap.marginal(lambda rows: jnp.nan_to_num(rows).sum(1), constant, constant)

    def test_whole_numbers_that_do_not_fit_are_refused(self):
        numbers, table = np.array([[1, 2, 3]]), jnp.arange(50.0)
        for groups in (jaxshap.tokens(3), None):
            with pytest.raises(jaxshap.InputError, match="to 1099511627779, and JAX is set to int"):
                jaxshap.explain(lambda x: table[x].sum(1), numbers + 2**40, numbers, groups=groups)

    def test_whole_outputs_too_large_for_their_differences_are_refused(self):
        def whole(rows, offset):
            return (10 * rows[:, 0]).astype(jnp.int32) + offset

        with pytest.raises(jaxshap.ModelOutputError, match="returns whole numbers of up to 1073"):
            jaxshap.explain(lambda rows: whole(rows, 2**30), ROWS, BACKGROUND)
        for offset in (1000, 0):
            jaxshap.marginal(lambda rows, offset=offset: whole(rows, offset), ROWS, BACKGROUND)
        jaxshap.marginal(lambda rows: whole(1e7 * rows, 0), ROWS, BACKGROUND)


@pytest.mark.parametrize("predict", [model, jaxshap.host(on_host)])
def test_numbers_in_the_order_of_bytes_of_other_machines_are_the_same(predict):
    foreign = jaxshap.explain(predict, ROWS.astype(">f8"), BACKGROUND.astype(">f4"))
    usual = jaxshap.explain(predict, ROWS, BACKGROUND.astype("f4"))
    np.testing.assert_array_equal(foreign.values, usual.values)
