"""Greedy regression on a few of many products of signs, as many as predict left-out rows best."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Bool, Float, Int

NUM_FOLDS = 5  # of rows, each left out once
MAX_CHOSEN = 400  # products in one fit, and a third of the rows at most
MIN_NEW_SHARE = 1e-3  # of a product's square that others leave over, below which it tells no more


class Chosen(NamedTuple):
    """What each fold's fit chose, one product after the other.

    `basis` holds the products made orthonormal on the fold's rows, but known on all rows, and
    `mixing` the triangle that takes coefficients of products to those of the basis.
    """

    places: Int[Array, "folds steps"]
    basis: Float[Array, "folds steps m"]
    mixing: Float[Array, "folds steps steps"]
    squares: Float[Array, "steps"]  # of the errors of left-out rows, by the number of products


def fold_rows(live: Bool[Array, "m"], dtype) -> Float[Array, "folds m"]:
    """1 for the rows that each fold's fit sees. The first row, {∅, N}, is in all of them."""
    number = jnp.arange(len(live))
    seen = (number % NUM_FOLDS != jnp.arange(NUM_FOLDS)[:, None]) | (number == 0)
    return (seen & live).astype(dtype)


def choose(
    products: Float[Array, "m p"], target: Float[Array, "m"], live: Bool[Array, "m"], steps: int
) -> Chosen:
    """Add the product that explains most of what is left, `steps` times, in each fold.

    This is orthogonal least squares (Chen, Cowan & Grant, 1991), on all folds in turn.
    """
    products, target = map(jax.lax.stop_gradient, (products, target))
    seen = fold_rows(live, target.dtype)
    left_out = (1 - seen) * live.astype(seen.dtype)
    whole = seen @ products**2
    folds = jnp.arange(NUM_FOLDS)

    def step(carry, turn):
        rest, square, basis = carry
        explained = ((rest * seen) @ products) ** 2 / jnp.maximum(square, 1e-30)
        open_ = square > MIN_NEW_SHARE * whole
        best = jnp.argmax(jnp.where(open_, explained, -1), axis=1)
        column, before = products[:, best].T, jnp.zeros((NUM_FOLDS, steps), target.dtype)
        for _ in range(2):  # once more for what rounding left
            inner = jnp.einsum("fsm,fm->fs", basis, column * seen)
            column, before = column - jnp.einsum("fs,fsm->fm", inner, basis), before + inner
        size = jnp.sqrt((seen * column**2).sum(1))
        any_left = open_.any(1)
        column = jnp.where(any_left, 1 / jnp.where(any_left, size, 1), 0)[:, None] * column
        rest = rest - (column * seen * rest).sum(1, keepdims=True) * column
        square = square - ((column * seen) @ products) ** 2
        square = square.at[folds, best].set(0)
        before = before.at[:, turn].set(jnp.where(any_left, size, 1))
        carry = rest, square, basis.at[:, turn].set(column)
        return carry, (best, before, (left_out * rest**2).sum())

    basis = jnp.zeros((NUM_FOLDS, steps, len(live)), target.dtype)
    begin = jnp.broadcast_to(target, (NUM_FOLDS, len(live))), whole, basis
    (_, _, basis), (best, mixing, squares) = jax.lax.scan(step, begin, jnp.arange(steps))
    return Chosen(best.T, basis, jnp.transpose(mixing, (1, 2, 0)), squares)


def fit_chosen(
    chosen: Chosen, num_products: int, target: Float[Array, "m"], live: Bool[Array, "m"]
) -> tuple[Float[Array, "p"], Float[Array, "m"]]:
    """The coefficient of each product, a mean over folds, and the errors of rows left out.

    Linear in the target for what was chosen.
    """
    seen = fold_rows(live, target.dtype)
    steps = chosen.basis.shape[1]
    used = jnp.arange(steps) <= jnp.argmin(chosen.squares)
    rest, inner = jnp.broadcast_to(target, seen.shape), jnp.zeros_like(chosen.basis[:, :, 0])
    for _ in range(2):
        more = jnp.where(used, jnp.einsum("fsm,fm->fs", chosen.basis, rest * seen), 0)
        inner, rest = inner + more, rest - jnp.einsum("fs,fsm->fm", more, chosen.basis)
    own = jax.lax.map(lambda one: solve_triangular(one[0], one[1]), (chosen.mixing, inner))
    coefficients = jnp.zeros(num_products, target.dtype).at[chosen.places].add(own / NUM_FOLDS)
    apart = (1 - seen) * live.astype(seen.dtype)
    mean = rest.sum(0) / NUM_FOLDS  # of a row that every fold saw
    return coefficients, jnp.where(apart.any(0), (apart * rest).sum(0), mean) * live.astype(
        seen.dtype
    )
