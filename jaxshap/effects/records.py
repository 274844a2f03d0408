"""What effects are: curves of rows, their means, and accumulated local effects, each with its grids
and its data.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

Numbers = Array | np.ndarray  # numpy, unless jit or grad is looking


def _static():
    return dataclasses.field(metadata={"static": True})


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Effect:
    """Of one feature or two: the points it is known at, the columns of the data, and what they are
    called.

    Records are pytrees, so that jit and grad can return them.
    """

    grids: tuple[Float[Numbers, "points"], ...]
    data: Float[Numbers, "rows features"]
    feature_names: tuple[str, ...] = _static()
    output_names: tuple[str, ...] | None = _static()
    categorical: tuple[bool, ...] = _static()
    kind: str = _static()


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class PartialDependence(Effect):
    """The mean prediction where the features take the values of their grids and all others stay as
    they are.

    `std_error` is that of a mean over rows like these. `support` is the share of the rows that
    counts at a point; where none does, the values are NaN.

    Example:
        >>> import jaxshap
        >>> effect = jaxshap.effects.pdp(lambda x: x[:, 0] * x[:, 1], [[0.0, 1.0], [1.0, 3.0]], 0)
        >>> effect.feature_names, effect.grids[0].tolist(), effect.values.tolist()
        (('x0',), [0.0, 1.0], [0.0, 2.0])
    """

    values: Float[Numbers, "grid ..."]
    std_error: Float[Numbers, "grid ..."]
    support: Float[Numbers, "*grid"]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class IndividualCurves(Effect):
    """The prediction of each row where the features take the values of their grids.

    Example:
        >>> import jaxshap
        >>> curves = jaxshap.effects.ice(lambda x: x[:, 0] * x[:, 1], [[0.0, 1.0], [1.0, 3.0]], 0)
        >>> curves.values.tolist(), curves.average().values.tolist()
        ([[0.0, 1.0], [0.0, 3.0]], [0.0, 2.0])
    """

    values: Float[Numbers, "rows grid ..."]
    weights: Float[Numbers, "rows"]

    def average(self) -> PartialDependence:
        """The mean of the curves, which is the PDP, without another call of the model."""
        shape, outputs = tuple(map(len, self.grids)), self.values.shape[1 + len(self.grids) :]
        points = self.values.reshape(len(self.values), -1, *outputs).swapaxes(0, 1)
        mean, error, support = _weighted_mean(points, None, self.weights)
        return PartialDependence(
            values=mean.reshape(*shape, *outputs),
            std_error=error.reshape(*shape, *outputs),
            support=support.reshape(shape),
            grids=self.grids,
            data=self.data,
            feature_names=self.feature_names,
            output_names=self.output_names,
            categorical=self.categorical,
            kind=self.kind.replace("ICE", "PDP"),
        )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class AccumulatedEffect(Effect):
    """Local effects added up from point to point, centred: at the ends of bins, at corners of
    cells, or at categories.

    `counts` are the rows in each bin, cell or category; a bin without any is `filled` with the mean
    local effect, for its size, of the nearest that has some. `std_error` is from a jackknife that
    leaves out groups of rows.

    Example:
        >>> import jaxshap
        >>> rows = [[0.0, 5.0], [1.0, 7.0], [2.0, 9.0], [3.0, 8.0]]
        >>> effect = jaxshap.effects.ale(lambda x: 2 * x[:, 0] + x[:, 1], rows, 0, bins=3)
        >>> effect.counts.tolist(), effect.filled.tolist()
        ([2, 1, 1], [False, False, False])
    """

    values: Float[Numbers, "grid ..."]
    std_error: Float[Numbers, "grid ..."]
    counts: Int[Numbers, "*bins"]
    filled: Bool[Numbers, "*bins"]


def weighted_mean(
    outputs: Float[Array, "points rows *out"],
    within: Bool[Array, "points rows"] | None,
    weights: Float[Array, "rows"],
) -> tuple[Float[Array, "points *out"], Float[Array, "points *out"], Float[Array, "points"]]:
    """Means over the rows that count at each point, their standard errors, and the share of the
    weights that counts.

    The error is the jackknife's for a ratio of means, to first order; without weights it is s/√rows
    exactly. Rows that do not count may be NaN.
    """
    share = jnp.broadcast_to(weights.astype(outputs.dtype), outputs.shape[:2])
    share = share if within is None else jnp.where(within, share, 0)
    support = share.sum(1)
    share = (share / support[:, None]).reshape(*share.shape, *(1,) * (outputs.ndim - 2))
    outputs = outputs if within is None else jnp.where(share > 0, outputs, 0)
    mean = (share * outputs).sum(1)
    mean += (share * (outputs - mean[:, None])).sum(
        1
    )  # a long sum of like numbers in float32 loses digits
    square = ((share * (outputs - mean[:, None])) ** 2).sum(1) / (1 - (share**2).sum(1))
    error = jnp.where(
        square > 0, jnp.sqrt(jnp.where(square > 0, square, 1)), square
    )  # a gradient at 0 stays finite
    return mean, error, support


_weighted_mean = jax.jit(weighted_mean)
