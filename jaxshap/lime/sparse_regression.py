"""Weighted ridge regression, on all columns or on those that forward selection or the lasso picks."""

import dataclasses
from typing import NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Bool, Float, Int

from jaxshap.errors import InputError


class Line(NamedTuple):
    """target ≈ intercept + design @ coefficients; `score` is the weighted share of variance that
    this explains.

    Columns that are left out or do not vary have the coefficient 0 and no standard error (NaN).
    """

    coefficients: Float[Array, "n"]
    std_error: Float[Array, "n"]
    intercept: Float[Array, ""]
    score: Float[Array, ""]


@runtime_checkable
class Selection(Protocol):
    """Which columns to keep, from the weighted covariances of the columns with each other and with
    the target.
    """

    num_features: int

    def __call__(
        self, gram: Float[Array, "n n"], moments: Float[Array, "n"]
    ) -> Bool[Array, "n"]: ...


@dataclasses.dataclass(frozen=True)
class ForwardSelection:
    """Columns one at a time, each time the one that with those before it explains most.

    Example:
        >>> import jaxshap
        >>> jaxshap.lime.ForwardSelection(3)
        ForwardSelection(num_features=3)
    """

    num_features: int

    def __post_init__(self):
        _check_count(self.num_features)

    def __call__(self, gram: Float[Array, "n n"], moments: Float[Array, "n"]) -> Bool[Array, "n"]:
        least = (
            64 * jnp.finfo(gram.dtype).eps * jnp.diag(gram)
        )  # below it a column is a copy of those chosen

        def add(_, state):
            gram, moments, chosen = state
            own = jnp.diag(gram)
            free = ~chosen & (own > least)
            gain = jnp.where(free, moments**2 / jnp.where(free, own, 1), -1)
            best = gain.argmax()
            share = jnp.where(free[best], gram[best] / jnp.where(free[best], own[best], 1), 0)
            rest = (
                gram - jnp.outer(share, gram[best]),
                moments - share * moments[best],
            )  # what the new one leaves
            return *rest, chosen.at[best].set(chosen[best] | free[best])

        none = jnp.zeros(len(moments), bool)
        return jax.lax.fori_loop(
            0, min(self.num_features, len(moments)), add, (gram, moments, none)
        )[2]


@dataclasses.dataclass(frozen=True)
class LassoPath:
    """The columns with coefficients other than 0 at the smallest penalty of the lasso that leaves
    at most this many.

    The path is followed exactly from knot to knot, by least angle regression. Efron et al. (2004).

    Example:
        >>> import jaxshap
        >>> jaxshap.lime.LassoPath(3)
        LassoPath(num_features=3)
    """

    num_features: int

    def __post_init__(self):
        _check_count(self.num_features)

    def __call__(self, gram: Float[Array, "n n"], moments: Float[Array, "n"]) -> Bool[Array, "n"]:
        first = jnp.abs(moments).argmax()
        start = _Knot(
            jnp.zeros_like(moments),
            jnp.zeros(len(moments), bool).at[first].set(True),
            jnp.abs(moments[first]),
            jnp.array(-1),
            jnp.array(0),
            jnp.zeros(len(moments), bool),
        )
        smallest = 64 * jnp.finfo(gram.dtype).eps * start.penalty

        def goes_on(knot: _Knot):
            return (knot.penalty > smallest) & (knot.turns < 8 * len(moments))

        def step(knot: _Knot) -> _Knot:
            after = _next_knot(knot, gram, moments)
            used = after.coefficients != 0
            return after._replace(
                chosen=jnp.where(used.sum() <= self.num_features, used, knot.chosen)
            )

        return jax.lax.while_loop(goes_on, step, start).chosen


def weighted_ridge(
    design: Float[Array, "rows n"],
    target: Float[Array, "rows"],
    weights: Float[Array, "rows"],
    ridge: Float[Array, ""],
    selection: Selection | None = None,
    drawn: Bool[Array, "rows"] | None = None,
) -> Line:
    """Coefficients minimising Σ weights (target − intercept − design b)² + ridge |b|²; the
    intercept is not penalised.

    Standard errors are jackknifed over the rows that were `drawn`, given the selection: they say
    how far b would move with other rows from the same source, not how far the ridge pulls it to 0.
    """
    total = weights.sum()
    centre, middle = weights @ design / total, weights @ target / total
    columns, rest = design - centre, target - middle
    weighted = columns * weights[:, None]
    gram, moments = columns.T @ weighted, weighted.T @ rest
    kept = jnp.ones(len(gram), bool) if selection is None else selection(gram, moments)
    inverse = _inverse(gram, kept, ridge)
    coefficients = inverse @ moments
    residuals = rest - columns @ coefficients
    coefficients = coefficients + inverse @ (
        weighted.T @ residuals - ridge * coefficients
    )  # undoes rounding
    residuals = rest - columns @ coefficients
    influence = weighted @ inverse
    spare = 1 - (influence * columns).sum(1) - weights / total
    left_out = residuals / jnp.maximum(spare, 64 * jnp.finfo(gram.dtype).eps)
    left_out = left_out if drawn is None else jnp.where(drawn, left_out, 0)
    error = jnp.sqrt((influence**2).T @ left_out**2)
    score = 1 - weights @ residuals**2 / (weights @ rest**2)
    known = kept & (jnp.diag(gram) > 0)
    return Line(
        coefficients, jnp.where(known, error, jnp.nan), middle - centre @ coefficients, score
    )


def _inverse(
    gram: Float[Array, "n n"], kept: Bool[Array, "n"], ridge: Float[Array, ""]
) -> Float[Array, "n n"]:
    """Of gram + ridge among the columns kept, 0 elsewhere; with a few rounding errors put in, in
    their units.
    """
    own = jnp.diag(gram) + ridge
    kept = kept & (own > 0)
    unit = jnp.sqrt(jnp.where(kept, own, 1))
    identity = jnp.eye(len(gram), dtype=gram.dtype)
    scaled = jnp.where(
        kept[:, None] & kept, (gram + ridge * identity) / jnp.outer(unit, unit), identity
    )
    factor = cho_factor(scaled + 16 * jnp.finfo(gram.dtype).eps * identity)
    return jnp.where(kept[:, None] & kept, cho_solve(factor, identity) / jnp.outer(unit, unit), 0)


class _Knot(NamedTuple):
    """Where the lasso path bends: a column joins those in use, or leaves them."""

    coefficients: Float[Array, "n"]
    active: Bool[Array, "n"]
    penalty: Float[Array, ""]
    left: Int[Array, ""]  # the column that has just left; −1 for none
    turns: Int[Array, ""]
    chosen: Bool[Array, "n"]


def _next_knot(knot: _Knot, gram: Float[Array, "n n"], moments: Float[Array, "n"]) -> _Knot:
    active = knot.active
    correlation = moments - gram @ knot.coefficients
    signs = jnp.where(active, jnp.sign(correlation), 0)
    identity = jnp.eye(len(gram), dtype=gram.dtype)
    unit = 16 * jnp.finfo(gram.dtype).eps * jnp.trace(gram) / len(gram)
    inner = jnp.where(active[:, None] & active, gram + unit * identity, identity)
    direction = jnp.where(active, cho_solve(cho_factor(inner), signs), 0)
    slope = gram @ direction
    column = jnp.arange(len(moments))

    def first(lengths, allowed):
        lengths = jnp.where(allowed & (lengths >= 0), lengths, jnp.inf)
        return lengths.min(), column == lengths.argmin()

    def over(number, by):
        return jnp.where(jnp.abs(by) > jnp.finfo(gram.dtype).eps, number / by, jnp.inf)

    def met(
        side,
    ):  # the column that has just left is still where it was, but may come back from the other side
        length = over(knot.penalty - side * correlation, 1 - side * slope)
        away = (column != knot.left) | (side * correlation < 0)
        return jnp.where(away & (length >= 0), length, jnp.inf)

    join, newcomer = first(jnp.minimum(met(1), met(-1)), ~active)
    leave, leaver = first(
        over(-knot.coefficients, direction), active & (knot.coefficients * direction < 0)
    )
    length = jnp.minimum(jnp.minimum(join, leave), knot.penalty)
    joins, leaves = newcomer & (join == length), leaver & (leave == length) & (join > length)
    coefficients = jnp.where(leaves, 0, knot.coefficients + length * direction)
    left = jnp.where(leaves.any(), leaves.argmax(), -1)
    return _Knot(
        coefficients,
        (active | joins) & ~leaves,
        knot.penalty - length,
        left,
        knot.turns + 1,
        knot.chosen,
    )


def _check_count(num_features: int) -> None:
    if num_features < 1:
        raise InputError(f"num_features={num_features}: a selection keeps 1 feature or more.")
