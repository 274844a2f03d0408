"""The search from the top down: what it finds, what it costs, what it says of itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import jaxshap
from jaxshap.hierarchies import Parts, Winter, hierarchy, hierarchy_of_blocks, top_down

LARGE = hierarchy_of_blocks((1024,))
IMPORTANT = [100, 101, 700]


@pytest.fixture(scope="module")
def needles():
    def worth(coalition):
        s = coalition.astype(jnp.float32)
        gains = 3.0 * s[100] * s[101] + 2.0 * s[700] + 0.5 * s[100] * s[700]
        return gains + 0.001 * s.sum()

    return jaxshap.make_game(worth, 1024)


def test_with_enough_budget_it_is_exact_on_small_trees():
    game = jaxshap.table(np.random.default_rng(1).normal(size=(64, 2)))
    tree = hierarchy([[0, 1], [2, [3, 4]], 5])
    parts = top_down(0, game, tree, budget=64, draws=40)
    exact = np.asarray(jaxshap.estimate(0, game, Winter(tree)).values)
    assert all(len(part) == 1 for part in parts.players)
    np.testing.assert_allclose(parts.shares(), exact, atol=1e-5)
    assert (parts.std_error == 0).all()
    assert parts.num_evaluations <= tree.num_coalitions


def test_few_players_among_a_thousand_are_found(needles):
    parts = top_down(0, needles, LARGE, budget=1000)
    found = [part[0] for part in parts.players[:3] if len(part) == 1]
    assert sorted(found) == IMPORTANT
    assert parts.num_evaluations <= 1000
    assert sorted(player for part in parts.players for player in part) == list(range(1024))


def test_values_sum_to_the_difference_of_the_ends(needles):
    parts = top_down(3, needles, LARGE, budget=500)
    total = float(needles.full - needles.empty)
    assert parts.values.sum() == pytest.approx(total, abs=1e-4)
    assert parts.shares().sum() == pytest.approx(total, abs=1e-4)


def test_errors_hold():
    """40 keys, parts of a rough game divided by 4 draws: z of each has 3 to 30 degrees of freedom;
    mean z² of what was sampled stays below 3 unless a part's error is far too small.
    """
    table = np.random.default_rng(2).normal(size=2**16)
    game = jaxshap.table(table)
    tree = hierarchy_of_blocks((16,))
    exact = np.asarray(jaxshap.estimate(0, game, Winter(tree)).values)
    z = []
    for key in range(40):
        parts = top_down(key, game, tree, budget=400, draws=4)
        for part, value, error in zip(parts.players, parts.values, parts.std_error, strict=True):
            if error > 0:
                z.append((value - exact[list(part)].sum()) / error)
            else:
                assert value == pytest.approx(exact[list(part)].sum(), abs=1e-5)
    assert len(z) > 100
    assert 0.3 < np.mean(np.square(z)) < 3
    assert np.mean(np.abs(z) < 3) > 0.93


def test_no_coalition_is_asked_twice():
    asked = []

    def model(rows):
        asked.extend(map(tuple, rows.tolist()))
        return rows.prod(1) + rows[:, 0]

    X, background = np.ones((1, 6)), np.zeros((1, 6))
    game = jaxshap.marginal(jaxshap.host(model), X, background)
    asked.clear()
    parts = top_down(0, game, hierarchy_of_blocks((6,)), budget=60)
    assert len(asked) == len(set(asked)) == parts.num_evaluations - 2


def test_it_prints_parts_with_their_names_and_intervals_of_95_percent(needles):
    text = str(top_down(0, needles, LARGE, budget=300, names=[f"gene {i}" for i in range(1024)]))
    assert "Winter values ± error (95 %)" in text
    assert "{gene " in text
    parts = Parts(((2,), (0, 1)), np.array([3.0, 1.0]), np.array([0.2, 0.0]), 40, 7, tuple("abc"))
    half = 0.2 * scipy.stats.t.ppf(0.975, 7)
    assert f"{{c}}  3. ± {half:.4f}" in str(parts)
    assert "{a, b}  1. ± 0." in str(parts)
    assert "±" in text
    assert "more parts" in text


def test_keys_decide(needles):
    first, again, other = (top_down(key, needles, LARGE, budget=300) for key in (0, 0, 1))
    np.testing.assert_array_equal(first.values, again.values)
    assert first.players != other.players or (first.values != other.values).any()
    typed = top_down(jax.random.key(0), needles, LARGE, budget=300)
    np.testing.assert_array_equal(first.values, typed.values)


def test_what_makes_no_sense_is_refused(needles):
    with pytest.raises(jaxshap.InputError, match="draws=1"):
        top_down(0, needles, LARGE, draws=1)
    with pytest.raises(jaxshap.InputError, match="8 players and the game 1024"):
        top_down(0, needles, hierarchy_of_blocks((8,)))
    with pytest.raises(jaxshap.InputError, match="names"):
        top_down(0, needles, LARGE, names=["only one"])
    with pytest.raises(jaxshap.BudgetError, match="pass 4"):
        top_down(0, needles, LARGE, budget=3)


def test_several_outputs_are_divided_together():
    game = jaxshap.make_game(
        lambda s: jnp.where(s[np.array([0, 7])], jnp.array([1.0, 5.0]), 0.0), 8
    )
    parts = top_down(0, game, hierarchy_of_blocks((8,)), budget=60)
    assert parts.players[0] == (7,)
    np.testing.assert_allclose(parts.values.sum(0), [1, 5], atol=1e-5)
