"""Interactions from background rows that were each asked about coalitions of their own."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from jaxshap.games import sets_of_size, worth_weights

NUM_FOLDS = 5  # of background rows; a row's polynomial is fitted to the other folds
WORTHS_PER_PRODUCT = 3  # that each coefficient of the polynomial needs
MAX_PRODUCTS = 1500  # in the polynomial
MAX_FIT_FLOPS = 5e10  # of its equations; above, they are made of fewer background rows
RIDGE = 3.0  # worths that say each coefficient is 0
MAX_WEIGHTS = 2**24  # of worths in sets, that are held at once


class Asked(NamedTuple):
    """What each background row was asked about, ∅ and N left out, and what it answered.

    Worths are those of its own game less its v(∅), which for N is `total`; `known` is what else is
    known of it.
    """

    coalitions: Bool[np.ndarray, "b m n"]
    gains: Float[np.ndarray, "b m out"]
    total: Float[np.ndarray, "b out"]
    known: Float[np.ndarray, "b k"]


def sets_of_rows(asked: Asked, order: int) -> Float[np.ndarray, "b sets out"]:
    """The Shapley interactions of each row's own game, of all sets of 2 to `order` players.

    Unbiased for every game. Players are relabelled at random for each row, so that a coalition of s
    players is any of its size with the same chance: each worth is weighed as in the exact sum, by
    one over that chance (Horvitz & Thompson, 1952). What is weighed is what a polynomial of single
    players and pairs, fitted to other rows, misses; what it holds is added exactly. Rows differ by
    chance alone, so that their spread tells the error of their mean.
    """
    num_players = asked.coalitions.shape[2]
    asked, of_pairs = _without_polynomial(asked)
    counts = np.bincount(asked.coalitions[0].sum(1), minlength=num_players + 1)
    between = np.arange(1, num_players)
    chance = counts[between] / [math.comb(num_players, int(size)) for size in between]
    values = []
    for size in range(2, order + 1):
        weights = worth_weights("SII", order, size, num_players).of_worths.copy()
        weights[:, between] /= chance
        sets = sets_of_size(num_players, size)
        own = [_weighed(*row, weights, sets) for row in zip(*asked[:2], strict=True)]
        values.append(np.stack(own) + weights[size, num_players] * asked.total[:, None])
    values[0] += of_pairs
    return np.concatenate(values, axis=1)


def _weighed(
    coalitions: Bool[np.ndarray, "m n"],
    gains: Float[np.ndarray, "m out"],
    weights: Float[np.ndarray, "inside sizes"],
    sets: Int[np.ndarray, "sets size"],
) -> Float[np.ndarray, "sets out"]:
    """Σ of weight × worth for each set, by how many of its players each coalition holds."""
    total, at_once = coalitions.sum(1)[:, None], max(1, MAX_WEIGHTS // len(coalitions))
    blocks = [sets[start : start + at_once] for start in range(0, len(sets), at_once)]
    inside = (coalitions[:, block].sum(2) for block in blocks)
    return np.concatenate([weights[have, total].T @ gains for have in inside])


def _without_polynomial(asked: Asked) -> tuple[Asked, Float[np.ndarray, "b pairs out"]]:
    """What the polynomial of other rows misses of each row's worths, and its interactions."""
    number, _, num_players = asked.coalitions.shape
    found = np.zeros((number, math.comb(num_players, 2), asked.gains.shape[2]))
    known, with_pairs = _terms(asked)
    if not known.size:
        return asked, found
    left, total = asked.gains.copy(), asked.total.copy()
    num_single = num_players * known.shape[1]
    for fold, coefficients in enumerate(_fitted(asked, known, with_pairs)):
        own = coefficients[:num_single].reshape(num_players, known.shape[1], -1).sum(0)
        for row in range(fold, number, NUM_FOLDS):
            products = _products(asked.coalitions[row], known[row], with_pairs)
            left[row] -= products @ coefficients
            total[row] -= known[row] @ own  # products of two signs are 1 for N as for ∅
            if with_pairs:
                found[row] = 4 * coefficients[num_single:]
    return asked._replace(gains=left, total=total), found


def _terms(asked: Asked) -> tuple[Float[np.ndarray, "b terms"], bool]:
    """1 and what is known of each row, by which single players are multiplied, and whether there
    are pairs: as far as there are worths to fit them to.
    """
    number, size, num_players = asked.coalitions.shape
    most = min(MAX_PRODUCTS, number * size // WORTHS_PER_PRODUCT)
    one = np.ones((number, 1))
    spread = asked.known.std(0)
    varied = asked.known[:, spread > 0] / spread[spread > 0]
    several = np.concatenate([one, varied - varied.mean(0)], axis=1)
    pairs = math.comb(num_players, 2)
    if number <= NUM_FOLDS or num_players > most:
        return one[:, :0], False
    known = several if several.shape[1] * num_players <= most else one
    return known, known.shape[1] * num_players + pairs <= most


def _fitted(
    asked: Asked, known: Float[np.ndarray, "b terms"], with_pairs: bool
) -> Iterator[Float[np.ndarray, "products out"]]:
    """The coefficients that the rows outside each fold have."""
    number, size, num_players = asked.coalitions.shape
    width = known.shape[1] * num_players + with_pairs * math.comb(num_players, 2)
    few = max(WORTHS_PER_PRODUCT * width, int(MAX_FIT_FLOPS / width**2)) // size + NUM_FOLDS
    squares = np.zeros((NUM_FOLDS, width, width))
    inner = np.zeros((NUM_FOLDS, width, asked.gains.shape[2]))
    for row in range(min(number, few)):
        products = _products(asked.coalitions[row], known[row], with_pairs)
        squares[row % NUM_FOLDS] += products.T @ products
        inner[row % NUM_FOLDS] += products.T @ asked.gains[row]
    mean = np.diag(squares.sum(0)) / (min(number, few) * size)
    ridge = np.diag(RIDGE * mean + np.finfo(float).tiny)
    for own, own_inner in zip(squares, inner, strict=True):
        yield np.linalg.solve(squares.sum(0) - own + ridge, inner.sum(0) - own_inner)


def _products(
    coalitions: Bool[np.ndarray, "m n"], known: Float[np.ndarray, "terms"], with_pairs: bool
) -> Float[np.ndarray, "m products"]:
    """Players times what is known of a row, and products of two signs less 1; 0 for ∅."""
    single = (coalitions[:, :, None] * known).reshape(len(coalitions), -1)
    if not with_pairs:
        return single
    first, second = np.triu_indices(coalitions.shape[1], 1)
    signs = 2.0 * coalitions - 1
    return np.concatenate([single, signs[:, first] * signs[:, second] - 1], axis=1)
