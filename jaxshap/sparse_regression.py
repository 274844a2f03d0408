"""Weighted ridge regression, on all columns or on those that forward selection or the lasso picks."""

import dataclasses
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Bool, Float


class Line(NamedTuple):
    """target ≈ intercept + design @ coefficients; `score` is the weighted share of variance that this explains.

    Columns that are left out have the coefficient 0 and no standard error (NaN).
    """

    coefficients: Float[Array, "n"]
    std_error: Float[Array, "n"]
    intercept: Float[Array, ""]
    score: Float[Array, ""]


class Selection(Protocol):
    """Which columns to keep, from the weighted covariances of the columns with each other and with the target."""

    num_features: int

    def __call__(self, gram: Float[Array, "n n"], moments: Float[Array, "n"]) -> Bool[Array, "n"]: ...


@dataclasses.dataclass(frozen=True)
class ForwardSelection:
    """Columns one at a time, each time the one that with those before it explains most.

    Example:
        >>> import jaxshap
        >>> jaxshap.ForwardSelection(3)
        ForwardSelection(num_features=3)
    """

    num_features: int

    def __post_init__(self):
        _check_count(self.num_features)

    def __call__(self, gram: Float[Array, "n n"], moments: Float[Array, "n"]) -> Bool[Array, "n"]:
        least = 64 * jnp.finfo(gram.dtype).eps * jnp.diag(gram)  # below it a column is a copy of those chosen

        def add(_, state):
            gram, moments, chosen = state
            own = jnp.diag(gram)
            free = ~chosen & (own > least)
            gain = jnp.where(free, moments**2 / jnp.where(free, own, 1), -1)
            best = gain.argmax()
            share = jnp.where(free[best], gram[best] / jnp.where(free[best], own[best], 1), 0)
            rest = gram - jnp.outer(share, gram[best]), moments - share * moments[best]  # what the new one leaves
            return *rest, chosen.at[best].set(chosen[best] | free[best])

        none = jnp.zeros(len(moments), bool)
        return jax.lax.fori_loop(0, min(self.num_features, len(moments)), add, (gram, moments, none))[2]


@dataclasses.dataclass(frozen=True)
class LassoPath:
    """The columns with coefficients other than 0 at the smallest penalty of the lasso that leaves at most this many.

    The path is followed exactly from knot to knot, by least angle regression. Efron et al. (2004).

    Example:
        >>> import jaxshap
        >>> jaxshap.LassoPath(3)
        LassoPath(num_features=3)
    """

    num_features: int

    def __post_init__(self):
        _check_count(self.num_features)

    def __call__(self, gram: Float[Array, "n n"], moments: Float[Array, "n"]) -> Bool[Array, "n"]:
        first = jnp.abs(moments).argmax()
        start = _Knot(
            jnp.zeros_like(moments), jnp.zeros(len(moments), bool).at[first].set(True), jnp.abs(moments[first]),
            jnp.array(-1), jnp.array(0), jnp.zeros(len(moments), bool),
        )  # fmt: skip
        smallest = 64 * jnp.finfo(gram.dtype).eps * start.penalty

        def goes_on(knot: _Knot):
            return (knot.penalty > smallest) & (knot.turns < 8 * len(moments))

        def step(knot: _Knot) -> _Knot:
            after = _next_knot(knot, gram, moments)
            used = after.coefficients != 0
            return after._replace(chosen=jnp.where(used.sum() <= self.num_features, used, knot.chosen))

        return jax.lax.while_loop(goes_on, step, start).chosen


def weighted_ridge(
    design: Float[Array, "rows n"],
    target: Float[Array, "rows"],
    weights: Float[Array, "rows"],
    ridge: Float[Array, ""],
    selection: Selection | None = None,
    drawn: Bool[Array, "rows"] | None = None,
) -> Line:
    """Coefficients minimising Σ weights (target − intercept − design b)² + ridge |b|²; the intercept is not penalised.

    Standard errors are jackknifed over the rows that were `drawn`, given the selection: they say how far b would move
    with other rows from the same source, not how far the ridge pulls it to 0.
    """
    total = weights.sum()
    centre, middle = weights @ design / total, weights @ target / total
    columns, rest = design - centre, target - middle
    weighted = columns * weights[:, None]
    gram, moments = columns.T @ weighted, weighted.T @ rest
    kept = jnp.ones(len(gram), bool) if selection is None else selection(gram, moments)
    gram = jnp.where(kept[:, None] & kept, gram, 0) + ridge * jnp.eye(len(gram), dtype=gram.dtype)
    # Units are taken out before the factorisation, and a few rounding errors put in: columns of zeros stay solvable.
    unit = jnp.sqrt(jnp.where(jnp.diag(gram) > 0, jnp.diag(gram), 1))
    tiny = 16 * jnp.finfo(gram.dtype).eps * jnp.eye(len(gram), dtype=gram.dtype)
    factor = cho_factor(
        gram / jnp.outer(unit, unit) + tiny + jnp.diag(jnp.where(jnp.diag(gram) > 0, 0, 1).astype(gram.dtype))
    )

    def solve(right):
        return jnp.where(kept, cho_solve(factor, right / unit) / unit, 0)

    coefficients = solve(moments)
    residuals = rest - columns @ coefficients
    coefficients = coefficients + solve(weighted.T @ residuals - ridge * coefficients)  # undoes what was put in
    residuals = rest - columns @ coefficients
    influence = jax.vmap(solve)(weighted)
    spare = 1 - (influence * columns).sum(1) - weights / total
    left_out = residuals / jnp.maximum(spare, 64 * jnp.finfo(gram.dtype).eps)
    left_out = left_out if drawn is None else jnp.where(drawn, left_out, 0)
    error = jnp.sqrt((influence**2).T @ left_out**2)
    score = 1 - weights @ residuals**2 / (weights @ rest**2)
    return Line(coefficients, jnp.where(kept, error, jnp.nan), middle - centre @ coefficients, score)


class _Knot(NamedTuple):
    """Where the lasso path bends: a column joins those in use, or leaves them."""

    coefficients: Float[Array, "n"]
    active: Bool[Array, "n"]
    penalty: Float[Array, ""]
    left: Array  # the column that has just left, which may not come back at once; −1 for none
    turns: Array
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
    outside = ~active & (jnp.arange(len(moments)) != knot.left)

    def first(lengths, allowed):
        lengths = jnp.where(allowed & (lengths >= 0), lengths, jnp.inf)
        return lengths.min(), lengths.argmin()

    def safe(number):
        return jnp.where(jnp.abs(number) > jnp.finfo(gram.dtype).eps, number, 1)

    up, down = ((knot.penalty - side * correlation) / safe(1 - side * slope) for side in (1, -1))
    up, down = (jnp.where(length < 0, jnp.inf, length) for length in (up, down))
    join, newcomer = first(jnp.minimum(up, down), outside)
    shrinks = active & (knot.coefficients * direction < 0)
    leave, leaver = first(-knot.coefficients / safe(direction), shrinks)
    length = jnp.minimum(jnp.minimum(join, leave), knot.penalty)
    coefficients = knot.coefficients + length * direction
    leaves, joins = leave < jnp.minimum(join, knot.penalty), join < jnp.minimum(leave, knot.penalty)
    coefficients = jnp.where(leaves & (jnp.arange(len(moments)) == leaver), 0, coefficients)
    active = active.at[newcomer].set(active[newcomer] | joins).at[leaver].set(active[leaver] & ~leaves)
    left = jnp.where(leaves, leaver, -1)
    return _Knot(coefficients, active, knot.penalty - length, left, knot.turns + 1, knot.chosen)


def _check_count(num_features: int) -> None:
    if num_features < 1:
        raise ValueError(f"num_features={num_features}: a selection keeps 1 feature or more.")
