"""The search for a few interactions among many: which sets are tried, and what they add."""

import itertools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jaxshap.estimators.least_squares import sequence_after
from jaxshap.estimators.odd.greedy import MAX_CHOSEN, NUM_FOLDS, choose, fit_chosen
from jaxshap.estimators.odd.low_rank import MAX_LOW_RANK_FLOPS, low_rank, low_rank_flops
from jaxshap.estimators.odd.nodes import sign_weight
from jaxshap.estimators.odd.process import Rows
from jaxshap.estimators.odd.search import (
    MAX_SMALL_SETS,
    STRONG_PAIRS,
    num_larger,
    num_steps,
)
from jaxshap.estimators.odd.sets import SetsOf
from jaxshap.games import mapped, num_sets, sets_of_size, starts


class Sparse(NamedTuple):
    """The index of each set in the games that were found, the errors of rows left out, and whether
    it is a form of low rank, which has fewer unknowns.
    """

    values: Float[Array, "sets out"]
    left_out: Float[Array, "m out"]
    is_form: Bool[Array, "out"]


class _Sets(NamedTuple):
    """Sets of one size, those that are `real`."""

    members: Int[Array, "k size"]
    real: Bool[Array, "k"]


def searched(rows: Rows, asked: SetsOf) -> Sparse:
    """A sparse polynomial for each output, cross-fitted.

    In the odd half the sets tried are all single players and the `MAX_LARGER_SETS` of all sets of
    three players that go best with what single players leave; in the even half all pairs (the
    `MAX_SMALL_SETS` best of them with more than 91 players), and the sets of four that unite two
    of the `STRONG_PAIRS` strongest; or all pairs at once in a quadratic form of low rank, where
    that predicts left-out rows better. Not tried are larger sets, sets of four players of whom no
    two pairs show, and what is in no row: that is left to the estimate of the rest, and to its
    error.
    """

    flops = rows.targets.shape[1] * low_rank_flops(*rows.signs.shape)
    with_forms = not asked.odd and flops <= MAX_LOW_RANK_FLOPS

    def of_output(target):
        found = _of_output(rows.signs, rows.live, target, asked)
        few = Sparse(*found, jnp.zeros((), bool))
        return _better(few, rows, target, asked) if with_forms else few

    size = len(rows.signs) * (MAX_SMALL_SETS + NUM_FOLDS * MAX_CHOSEN) * rows.targets.dtype.itemsize
    return jax.tree.map(jnp.transpose, mapped(of_output, rows.targets.T, 3 * size))


def _of_output(
    signs: Float[Array, "m n"], live: Bool[Array, "m"], target: Float[Array, "m"], asked: SetsOf
) -> tuple[Float[Array, "sets"], Float[Array, "m"]]:
    known, steps = jax.lax.stop_gradient(target), num_steps(len(signs))
    small = _small_sets(signs, live, known, asked.odd)
    own = _products(signs, small)
    count, unit = own.shape[1], own.shape[1] ** -0.5
    alike = unit * own.sum(1, keepdims=True)  # all of them at once
    constant = jnp.full_like(alike, not asked.odd)
    begin = jnp.concatenate([constant, alike, own], axis=1)

    def wave(larger, _):
        products = jnp.concatenate([begin, _products(signs, larger)], axis=1)
        chosen = choose(products, known, live, steps)
        coefficients, rest = fit_chosen(chosen, products.shape[1], known, live)
        return _larger_sets(signs, rest, small, coefficients[2 : 2 + count], asked.odd), (
            chosen,
            larger,
        )

    none = _no_sets(*_shape_of_larger(asked.num_players, count, asked.odd))
    _, waves = jax.lax.scan(wave, none, length=2)  # without larger sets, and with those found
    best = jnp.argmin(waves[0].squares.min(1))
    chosen, larger = jax.tree.map(lambda array: array[best], waves)
    coefficients, left_out = fit_chosen(chosen, 2 + count + len(larger.real), target, live)
    of_small = coefficients[2 : 2 + count] + unit * coefficients[1]
    values = jnp.zeros(num_sets(asked.num_players, asked.order) - 1, target.dtype)
    values = _added(values, small, of_small, asked)
    return _added(values, larger, coefficients[2 + count :], asked), left_out


def _better(few: Sparse, rows: Rows, target: Float[Array, "m"], asked: SetsOf) -> Sparse:
    """The sparse polynomial or a quadratic form of low rank, by the errors of left-out rows."""
    signs = sequence_after(few.left_out, rows.signs)
    form = low_rank(signs, rows.live, target)
    pairs = jnp.asarray(sets_of_size(asked.num_players, 2))
    sets = _Sets(pairs, jnp.ones(len(pairs), bool))
    of_form = _added(jnp.zeros_like(few.values), sets, form.coefficients, asked)
    squares = ((jax.lax.stop_gradient(each.left_out)[1:] ** 2).sum() for each in (form, few))
    better = jnp.less(*squares)
    left_out = jnp.where(better, form.left_out, few.left_out)
    return Sparse(jnp.where(better, of_form, few.values), left_out, better)


def _no_sets(count: int, size: int) -> _Sets:
    return _Sets(jnp.zeros((count, size), jnp.int32), jnp.zeros(count, bool))


def _shape_of_larger(num_players: int, num_small: int, odd: bool) -> tuple[int, int]:
    """How many larger sets are tried, and their size."""
    return num_larger(num_players if odd else num_small, odd), 3 if odd else 4


def _products(signs: Float[Array, "m n"], sets: _Sets) -> Float[Array, "m k"]:
    return jnp.where(sets.real, signs[:, sets.members].prod(2), 0)


def _small_sets(
    signs: Float[Array, "m n"], live: Bool[Array, "m"], target: Float[Array, "m"], odd: bool
) -> _Sets:
    """All single players, or the pairs that go best with what sizes alone do not explain."""
    num_players = signs.shape[1]
    sets = jnp.asarray(sets_of_size(num_players, 1 if odd else 2))
    if len(sets) > MAX_SMALL_SETS and not odd:
        place = jnp.abs(signs.sum(1)).astype(int)
        sizes = jnp.where(live[:, None], jax.nn.one_hot(place, num_players + 1), 0)
        sizes = sizes.astype(signs.dtype)
        rest = target - sizes @ (sizes.T @ target / jnp.maximum(sizes.sum(0), 1))
        fit = jnp.abs((signs * rest[:, None]).T @ signs)[sets[:, 0], sets[:, 1]]
        sets = sets[jax.lax.top_k(fit, MAX_SMALL_SETS)[1]]
    return _Sets(sets, jnp.ones(len(sets), bool))


def _larger_sets(
    signs: Float[Array, "m n"],
    rest: Float[Array, "m"],
    small: _Sets,
    coefficients: Float[Array, "k"],
    odd: bool,
) -> _Sets:
    """Sets of three players that go best with the rest, or unions of the strongest pairs."""
    return _triples(signs, rest) if odd else _unions(small, coefficients)


def _triples(signs: Float[Array, "m n"], rest: Float[Array, "m"]) -> _Sets:
    num_players = signs.shape[1]
    count, _ = _shape_of_larger(num_players, num_players, odd=True)
    kept, player = min(count, num_players**2), jnp.arange(num_players)

    def of_first(first):
        fit = jnp.abs((signs * (signs[:, first] * rest)[:, None]).T @ signs)
        ordered = (first < player[:, None]) & (player[:, None] < player)
        best, place = jax.lax.top_k(jnp.where(ordered, fit, -1).ravel(), kept)
        others = jnp.stack(jnp.divmod(place, num_players), axis=1)
        return best, jnp.pad(others, ((0, 0), (1, 0)), constant_values=first)

    fit, members = jax.lax.map(of_first, player)
    best, place = jax.lax.top_k(fit.ravel(), count)
    return _Sets(members.reshape(-1, 3)[place].astype(jnp.int32), best >= 0)


def _unions(pairs: _Sets, coefficients: Float[Array, "k"]) -> _Sets:
    strong = min(len(pairs.members), STRONG_PAIRS)
    if strong < 2:
        return _no_sets(1, 4)
    size, place = jax.lax.top_k(jnp.abs(coefficients), strong)
    best = pairs.members[place]
    first, second = np.triu_indices(strong, 1)
    members = jnp.sort(jnp.concatenate([best[first], best[second]], axis=1), axis=1)
    apart = (jnp.diff(members, axis=1) > 0).all(1)
    return _Sets(members, apart & (size[second] > 0))


def _added(
    values: Float[Array, "sets"], sets: _Sets, coefficients: Float[Array, "k"], asked: SetsOf
) -> Float[Array, "sets"]:
    """With what products of these signs add to the index of every set within them."""
    large = sets.members.shape[1]
    coefficients = jnp.where(sets.real, coefficients, 0)
    for size in range(1, min(asked.order, large) + 1):
        weight = float(sign_weight(asked.index, asked.order, size, large - size))
        for inside in itertools.combinations(range(large), size) if weight else ():
            place = _position(sets.members[:, inside], asked.num_players)
            values = values.at[place].add(weight * coefficients)
    return values


def _position(members: Int[Array, "k size"], num_players: int) -> Int[Array, "k"]:
    """Where sets stand among all sets, ∅ not counted."""
    size = members.shape[1]
    after = jnp.zeros(len(members), jnp.int32)
    for turn in range(size):
        ways = [math.comb(num_players - 1 - player, size - turn) for player in range(num_players)]
        after = after + jnp.asarray(ways, jnp.int32)[members[:, turn]]
    return starts(num_players, size)[size] + math.comb(num_players, size) - 2 - after
