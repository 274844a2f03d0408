"""Which features a sparse surrogate keeps: forward selection, or the path of the lasso."""

import abc
import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Bool, Float, Int

from jaxshap.games import read_whole

ROUNDING = 64  # times the precision of the dtype: differences below it are rounding


@dataclasses.dataclass(frozen=True)
class Selection(abc.ABC):
    """A rule that picks the features of a surrogate; subclass it to write your own.

    A selection is called, under jit, with the weighted covariances of the columns with each other
    (n, n) and with the target (n,), and returns a mask (n,) of the columns to keep. It must be
    hashable, which frozen dataclasses are.

    Args:
        num_features: how many features to keep at most, 1 or more.

    Example:
        >>> import dataclasses, jax.numpy as jnp, jaxshap
        >>> @dataclasses.dataclass(frozen=True)
        ... class Strongest(jaxshap.lime.Selection):
        ...     def __call__(self, gram, moments):
        ...         rank = (jnp.abs(moments) > jnp.abs(moments)[:, None]).sum(1)
        ...         return rank < self.num_features
        >>> Strongest(2)(jnp.eye(3), jnp.array([1.0, -3.0, 2.0])).tolist()
        [False, True, True]
    """

    num_features: int

    def __post_init__(self):
        object.__setattr__(self, "num_features", read_whole(self.num_features, "num_features"))

    @abc.abstractmethod
    def __call__(self, gram: Float[Array, "n n"], moments: Float[Array, "n"]) -> Bool[Array, "n"]:
        """Which columns to keep."""


@dataclasses.dataclass(frozen=True)
class ForwardSelection(Selection):
    """Columns one at a time, each time the one that explains most together with those before it.

    A column that is a copy of those already chosen is never added.

    Args:
        num_features: how many features to keep at most, 1 or more.

    Example:
        >>> import jaxshap
        >>> jaxshap.lime.ForwardSelection(3)
        ForwardSelection(num_features=3)
    """

    def __call__(self, gram: Float[Array, "n n"], moments: Float[Array, "n"]) -> Bool[Array, "n"]:
        # A column with less variance than this left is a copy of those chosen:
        least = ROUNDING * jnp.finfo(gram.dtype).eps * jnp.diag(gram)

        def add(_, state):
            gram, moments, chosen = state
            variance = jnp.diag(gram)
            free = ~chosen & (variance > least)
            gain = jnp.where(free, moments**2 / jnp.where(free, variance, 1), -1)
            best = gain.argmax()
            slopes = gram[best] / jnp.where(free[best], variance[best], 1)
            slopes = jnp.where(free[best], slopes, 0)
            chosen = chosen.at[best].set(chosen[best] | free[best])
            # What the new column leaves of the others and of the target:
            return gram - jnp.outer(slopes, gram[best]), moments - slopes * moments[best], chosen

        none = jnp.zeros(len(moments), bool)
        count = min(self.num_features, len(moments))
        return jax.lax.fori_loop(0, count, add, (gram, moments, none))[2]


@dataclasses.dataclass(frozen=True)
class LassoPath(Selection):
    """The columns that the lasso uses at the smallest penalty that leaves at most this many.

    The path of the lasso is followed exactly from knot to knot, by least angle regression. Efron et
    al. (2004).

    Args:
        num_features: how many features to keep at most, 1 or more.

    Example:
        >>> import jaxshap
        >>> jaxshap.lime.LassoPath(3)
        LassoPath(num_features=3)
    """

    def __call__(self, gram: Float[Array, "n n"], moments: Float[Array, "n"]) -> Bool[Array, "n"]:
        first = jnp.abs(moments).argmax()
        none = jnp.zeros(len(moments), bool)
        start = _Knot(
            coefficients=jnp.zeros_like(moments),
            active=none.at[first].set(True),
            penalty=jnp.abs(moments[first]),
            leaver=jnp.array(-1),
            num_knots=jnp.array(0),
            chosen=none,
        )
        smallest = ROUNDING * jnp.finfo(gram.dtype).eps * start.penalty

        def goes_on(knot: _Knot) -> Bool[Array, ""]:
            return (knot.penalty > smallest) & (knot.num_knots < 8 * len(moments))

        def step(knot: _Knot) -> _Knot:
            following = _next_knot(knot, gram, moments)
            used = following.coefficients != 0
            few = used.sum() <= self.num_features
            return following._replace(chosen=jnp.where(few, used, knot.chosen))

        return jax.lax.while_loop(goes_on, step, start).chosen


class _Knot(NamedTuple):
    """Where the lasso path bends: a column joins those in use, or leaves them."""

    coefficients: Float[Array, "n"]
    active: Bool[Array, "n"]
    penalty: Float[Array, ""]
    leaver: Int[Array, ""]  # the column that has just left; −1 for none
    num_knots: Int[Array, ""]  # so far
    chosen: Bool[Array, "n"]


def _next_knot(knot: _Knot, gram: Float[Array, "n n"], moments: Float[Array, "n"]) -> _Knot:
    active, column = knot.active, jnp.arange(len(moments))
    correlation = moments - gram @ knot.coefficients
    direction = _direction(gram, jnp.where(active, jnp.sign(correlation), 0), active)
    slope = gram @ direction

    def nearest(lengths, allowed):
        lengths = jnp.where(allowed & (lengths >= 0), lengths, jnp.inf)
        return lengths.min(), column == lengths.argmin()

    def ratio(number, divisor):
        return jnp.where(jnp.abs(divisor) > jnp.finfo(gram.dtype).eps, number / divisor, jnp.inf)

    def length_to(side):
        length = ratio(knot.penalty - side * correlation, 1 - side * slope)
        # The column that has just left still has the largest correlation on the side it was on:
        away = (column != knot.leaver) | (side * correlation < 0)
        return jnp.where(away & (length >= 0), length, jnp.inf)

    join, joiner = nearest(jnp.minimum(length_to(1), length_to(-1)), ~active)
    shrinks = active & (knot.coefficients * direction < 0)
    leave, leaver = nearest(ratio(-knot.coefficients, direction), shrinks)
    length = jnp.minimum(jnp.minimum(join, leave), knot.penalty)
    joins, leaves = joiner & (join == length), leaver & (leave == length) & (join > length)
    return _Knot(
        coefficients=jnp.where(leaves, 0, knot.coefficients + length * direction),
        active=(active | joins) & ~leaves,
        penalty=knot.penalty - length,
        leaver=jnp.where(leaves.any(), leaves.argmax(), -1),
        num_knots=knot.num_knots + 1,
        chosen=knot.chosen,
    )


def _direction(
    gram: Float[Array, "n n"], signs: Float[Array, "n"], active: Bool[Array, "n"]
) -> Float[Array, "n"]:
    """In which active coefficients move so that all their correlations fall alike."""
    identity = jnp.eye(len(gram), dtype=gram.dtype)
    jitter = 16 * jnp.finfo(gram.dtype).eps * jnp.trace(gram) / len(gram)
    inner = jnp.where(active[:, None] & active, gram + jitter * identity, identity)
    return jnp.where(active, cho_solve(cho_factor(inner), signs), 0)
