"""Quadratic forms of low rank, for games that bend along a few directions of all players."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Bool, Float

from jaxshap.estimators.odd.greedy import NUM_FOLDS, fold_rows

CANDIDATES = ((1, 30.0), (2, 3.0), (2, 30.0))  # rank, and rows that say each coefficient is 0
MAX_RANK = 2
NUM_TURNS = 8  # of alternating least squares
MAX_LOW_RANK_FLOPS = 4e11  # for all outputs together; above, no form is fitted


class LowRank(NamedTuple):
    """The coefficient of each product of two signs, a mean over folds, and the errors of rows left
    out.
    """

    coefficients: Float[Array, "pairs"]
    left_out: Float[Array, "m"]


def low_rank_flops(num_rows: int, num_players: int) -> float:
    """Of the forms of one output."""
    solves = NUM_FOLDS * (NUM_TURNS + 1) * len(CANDIDATES)
    return 2.0 * solves * num_rows * (MAX_RANK * num_players) ** 2


def low_rank(
    signs: Float[Array, "m n"], live: Bool[Array, "m"], target: Float[Array, "m"]
) -> LowRank:
    """A constant and Σ_k (u_k·z)(v_k·z) without its squares, of one or two directions u_k: of a few
    ranks and penalties the one that predicts left-out rows best.

    (b·z)² is the even part of (b·s)², of (b·s)³ and, to second order, of any function of b·s: such
    a game has interactions among all pairs of players and no more unknowns than players. By
    alternating least squares from the directions in which the rows' second moments are largest.
    Linear in the target for the directions found.
    """
    seen = fold_rows(live, target.dtype)
    apart = (seen == 0) & live

    def of_candidate(candidate):
        rank, ridge = candidate
        used = (jnp.arange(MAX_RANK) < rank).astype(target.dtype)

        def of_fold(weights):
            return _fit(signs, target, weights, used, ridge)

        forms, constants = jax.lax.map(of_fold, seen)
        rest = target - constants[:, None] - jax.vmap(_worths, (None, 0))(signs, forms)
        alone, mean = jnp.where(apart, rest, 0).sum(0), rest.mean(0)
        left_out = jnp.where(live, jnp.where(apart.any(0), alone, mean), 0)
        return forms.mean(0), left_out

    ranks, ridges = (np.array(column) for column in zip(*CANDIDATES, strict=True))
    every = jnp.asarray(ranks), jnp.asarray(ridges, target.dtype)
    forms, left_out = jax.lax.map(of_candidate, every)
    best = jnp.argmin((jax.lax.stop_gradient(left_out)[:, 1:] ** 2).sum(1))
    first, second = np.triu_indices(signs.shape[1], 1)
    return LowRank(2 * forms[best][first, second], left_out[best])


def _fit(
    signs: Float[Array, "m n"],
    target: Float[Array, "m"],
    weights: Float[Array, "m"],
    used: Float[Array, "rank"],
    ridge: Float[Array, ""],
) -> tuple[Float[Array, "n n"], Float[Array, ""]]:
    """The symmetric form, 0 on its diagonal, and the constant."""
    known, size = jax.lax.stop_gradient(target), signs.shape[1] ** 0.5
    mean = weights @ known / weights.sum()
    moments = _hollow((signs * (weights * (known - mean))[:, None]).T @ signs)
    sizes, axes = jnp.linalg.eigh(moments)
    begin = size * used * axes[:, jnp.argsort(-jnp.abs(sizes))[:MAX_RANK]]

    def turn(directions, _):
        others, _ = _regress(signs, known, weights, directions, ridge)
        return size * used * jnp.linalg.qr(others)[0], None

    directions, _ = jax.lax.scan(turn, begin, length=NUM_TURNS)
    directions = jax.lax.stop_gradient(directions)
    others, constant = _regress(signs, target, weights, directions, ridge)
    form = directions @ others.T
    return _hollow(form + form.T) / 2, constant


def _regress(
    signs: Float[Array, "m n"],
    target: Float[Array, "m"],
    weights: Float[Array, "m"],
    directions: Float[Array, "n rank"],
    ridge: Float[Array, ""],
) -> tuple[Float[Array, "n rank"], Float[Array, ""]]:
    """v_k for given u_k, and the constant, by ridge regression."""
    along = signs @ directions
    products = signs[:, :, None] * along[:, None] - directions  # without the squares z_i² = 1
    design = jnp.concatenate([jnp.ones_like(signs[:, :1]), products.reshape(len(signs), -1)], 1)
    weighed = design * weights[:, None]
    square = weighed.T @ design
    scale = jnp.diag(square)
    penalty = jnp.where(scale > 0, ridge * scale / weights.sum(), 1).at[0].set(0)
    factor = cho_factor(square + jnp.diag(penalty), lower=True)
    coefficients = cho_solve(factor, weighed.T @ target)
    return coefficients[1:].reshape(directions.shape), coefficients[0]


def _hollow(form: Float[Array, "n n"]) -> Float[Array, "n n"]:
    return form - jnp.diag(jnp.diag(form))


def _worths(signs: Float[Array, "m n"], form: Float[Array, "n n"]) -> Float[Array, "m"]:
    return ((signs @ form) * signs).sum(1)
