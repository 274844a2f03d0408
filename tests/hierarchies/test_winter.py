"""Owen and Winter values against their definition, and what they must add up to."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxshap
from jaxshap.hierarchies import (
    Winter,
    hierarchy,
    hierarchy_of_blocks,
    hierarchy_of_labels,
    hierarchy_of_linkage,
)

TREES = {
    "flat": [0, 1, 2, 3, 4],
    "partition": [[0, 3], [1, 2, 4]],
    "deep": [[0, [3, 4]], 1, 2],
    "binary": [[[0, 1], [2, 3]], 4],
}
TABLE = np.random.default_rng(0).normal(size=(32, 2))


@pytest.fixture(scope="module")
def game():
    return jaxshap.table(TABLE)


def orderings(node):
    """Every ordering in which the members of each group stand together."""
    if isinstance(node, int):
        yield (node,)
        return
    for parts in itertools.permutations(node):
        for inner in itertools.product(*(list(orderings(part)) for part in parts)):
            yield tuple(itertools.chain(*inner))


def by_definition(groups, table):
    everyone = list(orderings(hierarchy(groups).root))
    values = np.zeros((5, *table.shape[1:]))
    for order in everyone:
        worths = table[[0, *np.cumsum(2 ** np.array(order))]]
        values[list(order)] += np.diff(worths, axis=0) / len(everyone)
    return values


@pytest.mark.parametrize("groups", TREES.values(), ids=TREES)
def test_exact_values_are_those_of_the_definition(groups, game):
    found = jaxshap.estimate(0, game, Winter(hierarchy(groups)))
    np.testing.assert_allclose(found.values, by_definition(groups, TABLE), atol=1e-6)
    assert (np.asarray(found.std_error) == 0).all()


def test_without_groups_they_are_shapley_values(game):
    found = jaxshap.estimate(0, game, Winter(hierarchy(list(range(5)))))
    np.testing.assert_allclose(found.values, jaxshap.shapley_values(game), atol=1e-6)


@pytest.mark.parametrize("groups", TREES.values(), ids=TREES)
def test_sampled_values_are_unbiased_and_their_errors_hold(groups, game):
    """400 keys; |z| < 4.5 for 10 numbers and 4 trees: a false alarm in 4,000 runs."""
    tree, budget = hierarchy(groups), 18  # two orderings, both ways
    estimator = Winter(tree)
    keys = jax.random.split(jax.random.key(1), 400)
    plans = jax.jit(jax.vmap(lambda key: estimator.plan(key, 5, budget)))(keys)
    worths = TABLE[np.asarray(plans.coalitions) @ 2 ** np.arange(5)]
    solve = jax.vmap(estimator.solve, in_axes=(0, 0, None, None))
    plans = plans._replace(num_live=np.full(400, plans.coalitions.shape[1]))
    found = solve(plans, jnp.asarray(worths), jnp.asarray(TABLE[0]), jnp.asarray(TABLE[-1]))
    errors = np.asarray(found.values) - by_definition(groups, TABLE)
    deviation = errors.std(0, ddof=1)
    assert (np.abs(errors.mean(0)) <= 4.5 * deviation / 20 + 1e-6).all()
    stated = np.sqrt((np.asarray(found.std_error) ** 2).mean(0))
    np.testing.assert_allclose(stated, deviation, rtol=0.25, atol=1e-6)
    np.testing.assert_allclose(
        np.asarray(found.values).sum(1), np.tile(TABLE[-1] - TABLE[0], (400, 1)), atol=1e-5
    )


def test_the_values_of_a_group_sum_to_its_value_among_its_neighbours(game):
    values = np.asarray(jaxshap.estimate(0, game, Winter(hierarchy([[0, 3], [1, 2, 4]]))).values)
    quotient = jaxshap.table(TABLE[[0, 2**0 + 2**3, 2**1 + 2**2 + 2**4, 31]])
    of_groups = np.asarray(jaxshap.shapley_values(quotient))
    np.testing.assert_allclose(values[[0, 3]].sum(0), of_groups[0], atol=1e-5)
    np.testing.assert_allclose(values[[1, 2, 4]].sum(0), of_groups[1], atol=1e-5)


@pytest.mark.parametrize("groups", TREES.values(), ids=TREES)
def test_the_cost_of_exact_values_is_known_beforehand(groups):
    tree = hierarchy(groups)
    met = {frozenset(order[:size]) for order in orderings(tree.root) for size in range(6)}
    assert tree.num_coalitions == len(met)


def test_binary_trees_cost_about_the_square_of_the_players():
    assert hierarchy_of_blocks((64,)).num_coalitions == 2732


def test_jit_and_grad_pass_through_exact_and_sampled_values():
    tree = hierarchy([[0, 1], [2, 3]])

    def first(scale, budget):
        game = jaxshap.make_game(lambda s: jnp.where(s[0] & s[1], scale, 0.0), 4)
        return jaxshap.estimate(0, game, Winter(tree), budget=budget).values[0]

    for budget in (8, 100):  # one pair of orderings; everything
        slope = jax.jit(jax.grad(first), static_argnums=1)(2.0, budget)
        assert slope == pytest.approx(0.5)


def test_an_explanation_says_what_its_values_are():
    X, background = np.ones((2, 4), np.float32), np.zeros((3, 4), np.float32)
    groups = {"Owen": [[0, 1], [2, 3]], "Winter": [[0, [1, 2]], 3]}
    for name, nested in groups.items():
        estimator = Winter(hierarchy(nested))
        explained = jaxshap.explain(lambda r: r.prod(1), X, background, estimator=estimator)
        assert explained.kind == f"{name} value"
        assert f"{name} value" in str(explained)
        np.testing.assert_allclose(explained.values.sum(1), 1, atol=1e-6)


def test_a_thousand_players_are_sampled():
    tree = hierarchy_of_blocks((1000,))
    game = jaxshap.make_game(lambda s: jnp.tanh(s.mean(dtype=jnp.float32) * 2), 1000)
    found = jaxshap.estimate(0, game, Winter(tree), budget=4000)
    assert float(found.values.sum()) == pytest.approx(np.tanh(2), abs=1e-4)


def test_the_default_budget_buys_standard_errors_however_many_players_there_are():
    game = jaxshap.make_game(lambda s: jnp.tanh(s.mean(dtype=jnp.float32) * 2), 1100)
    for estimator in (Winter(hierarchy_of_labels(np.arange(1100) // 10)), jaxshap.Permutation()):
        found = jaxshap.estimate(0, game, estimator)
        assert np.isfinite(found.std_error).all()


def test_linkage_matrices_of_scipy_are_read():
    from scipy.cluster.hierarchy import linkage

    tree = hierarchy_of_linkage(linkage(np.random.default_rng(0).normal(size=(9, 2))))
    assert tree.num_players == 9


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([[0, 1], [1, 2]], "once"),
        ([[0, 2]], "once"),
        ([0], "two or more"),
        ([[0, 1], []], "without players"),
    ],
)
def test_wrong_groups_are_refused(groups, words):
    with pytest.raises(jaxshap.InputError, match=words):
        hierarchy(groups)


def test_names_in_place_of_numbers_are_refused():
    with pytest.raises(jaxshap.errors.InputTypeError, match="numbers"):
        hierarchy([["age", "sex"], ["income"]])


def test_a_tree_of_other_players_is_refused(game):
    with pytest.raises(jaxshap.InputError, match="4 players and the game 5"):
        jaxshap.estimate(0, game, Winter(hierarchy([[0, 1], [2, 3]])))


@pytest.mark.parametrize("matrix", [[[0, 1, 2]], [[0, 5, 1, 2]], []])
def test_what_is_no_linkage_matrix_is_refused(matrix):
    with pytest.raises(jaxshap.InputError, match="linkage"):
        hierarchy_of_linkage(matrix)


def test_labels_make_groups_and_groups_of_groups():
    coarse, fine = [["sky", "sky", "sea"], ["sky", "sea", "sea"]], [[0, 1, 2], [1, 3, 3]]
    made = hierarchy_of_labels(coarse, fine)
    assert made == hierarchy([[2, [4, 5]], [0, [1, 3]]])
    for labels in ((), (coarse, [0, 1])):
        with pytest.raises(jaxshap.InputError, match="one per player"):
            hierarchy_of_labels(*labels)
