"""explain(..., interactions=): the interactions come with the values, and go where these go."""

import numpy as np
import pytest

import jaxshap

RNG = np.random.default_rng(0)
X, BACKGROUND = (RNG.normal(size=(count, 11)).astype(np.float32) for count in (3, 4))


def model(rows):
    first = rows[:, 0] * rows[:, 1] + rows[:, 2] * rows[:, 3] * rows[:, 4] + rows[:, 10]
    return np.stack([first, rows[:, 5] - rows[:, 6] * rows[:, 7]], axis=1)


@pytest.fixture(scope="module")
def explained():
    asked = []

    def counted(rows):
        asked.append(len(rows))
        return model(rows)

    how = {"budget": 300, "interactions": 2, "output_names": ("up", "down")}
    found = jaxshap.explain(jaxshap.host(counted), X, BACKGROUND, **how)
    return found, sum(asked)


def test_they_cost_no_more_evaluations_and_the_values_stay_the_same(explained):
    found, asked = explained
    assert found.interaction_matrix.shape == (3, 11, 11, 2)
    assert found.num_evaluations <= 300
    assert asked <= 300 * len(X) * len(BACKGROUND) + 100  # and the checks of the model
    own = jaxshap.Scattered(jaxshap.OddGP())
    same = jaxshap.explain(jaxshap.host(model), X, BACKGROUND, estimator=own, budget=300)
    np.testing.assert_allclose(found.values, same.values, atol=1e-5)
    diagonal = found.interaction_matrix[:, np.arange(11), np.arange(11)]
    np.testing.assert_allclose(diagonal, found.values, atol=1e-5)


def test_they_are_those_of_the_marginal_game_within_their_errors(explained):
    found, _ = explained
    second = np.mean(
        X[:, None, 6] * X[:, None, 7] * 0
        + [(x[6] - BACKGROUND[:, 6]) * (x[7] - BACKGROUND[:, 7]) for x in X],
        axis=1,
    )
    np.testing.assert_allclose(found.interaction_matrix[:, 6, 7, 1], -second, atol=1e-3)
    np.testing.assert_allclose(found.interaction_matrix[:, 2, 7, 1], 0, atol=1e-3)
    assert (found.interactions.std_error[11:] > 0).all()


def test_background_rows_with_coalitions_of_their_own_average_their_errors_out():
    """Of a smooth model with interactions of all orders, against those of a shared plan."""
    random = np.random.default_rng(4)
    first, second = random.normal(size=(11, 12)) / 2, random.normal(size=12)

    def network(rows):
        return np.tanh(rows @ first) @ second

    background = random.normal(size=(8, 11)).astype(np.float32)
    how = jaxshap.host(network), X[:1], background
    truth = jaxshap.interactions.exact_interactions(jaxshap.marginal(*how), order=2).values
    errors, scores = {}, []
    for estimator in (None, jaxshap.OddGP()):
        explained = [
            jaxshap.explain(*how, interactions=2, budget=60, estimator=estimator, key=key)
            for key in range(2)
        ]
        off = np.stack([found.interactions.values - truth for found in explained])
        scores.append(off / np.stack([found.interactions.std_error for found in explained]))
        errors[estimator] = (off[:, 11:] ** 2).mean()
    assert errors[None] < 0.6 * errors[jaxshap.OddGP()]
    assert (np.abs(scores[0]) < 4).all()


def test_exact_values_have_exact_interactions():
    how = X[:, :3], BACKGROUND[:, :3]
    found = jaxshap.explain(lambda rows: rows.prod(1), *how, interactions=3)
    game = jaxshap.marginal(lambda rows: rows.prod(1), *how)
    expected = jaxshap.interactions.exact_interactions(game, order=3)
    np.testing.assert_allclose(found.interactions.values, expected.values, atol=1e-5)
    np.testing.assert_array_equal(found.interactions.std_error, 0)


def test_they_are_picked_saved_and_loaded(explained, tmp_path):
    found, _ = explained
    picked = found[[2, 0], ["x7", "x1", "x6"], "down"]
    whole = found.interaction_matrix[[2, 0]][:, [7, 1, 6]][:, :, [7, 1, 6], 1]
    np.testing.assert_array_equal(picked.interaction_matrix, whole)
    for explanation in (found, picked):
        explanation.save(tmp_path / "saved.npz")
        loaded = jaxshap.load(tmp_path / "saved.npz")
        np.testing.assert_array_equal(loaded.interaction_matrix, explanation.interaction_matrix)
        np.testing.assert_array_equal(
            loaded.interactions.std_error, explanation.interactions.std_error
        )
        assert loaded.interactions.searched == (55, 165, 990)
    assert found[:, "x3"].interactions.order == 1


def test_trees_have_them_exactly():
    ensemble = pytest.importorskip("sklearn.ensemble")
    few = slice(0, 4)
    fitted = ensemble.RandomForestRegressor(3, max_depth=3, random_state=0)
    fitted.fit(BACKGROUND[:, few], model(BACKGROUND)[:, 0])
    found = jaxshap.explain(fitted, X[:, few], BACKGROUND[:, few], interactions=2)
    game = jaxshap.marginal(jaxshap.host(fitted.predict), X[:, few], BACKGROUND[:, few])
    expected = np.asarray(jaxshap.interactions.exact_interactions(game).matrix())
    np.testing.assert_allclose(found.interaction_matrix, np.moveaxis(expected, 2, 0), atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interactions": 1}, "pass 2 for pairs"),
        ({"interactions": 12}, "between 1 and 11"),
        ({"interactions": 2, "separate_draws": True}, "separate_draws"),
        ({"interactions": 2, "estimator": jaxshap.Kernel()}, "pass OddGP"),
    ],
)
def test_what_does_not_go_together_is_named(options, message):
    with pytest.raises(jaxshap.InputError, match=message):
        jaxshap.explain(jaxshap.host(model), X, BACKGROUND, budget=100, **options)
