"""The records of effects: curves of rows, their means, and accumulated local effects."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jaxshap.engine import unit_over_first

Numbers = Array | np.ndarray  # numpy, unless traced by jit or grad


def _static():
    return dataclasses.field(metadata={"static": True})


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Effect:
    """What all effects of one or two features have in common.

    Effects are pytrees, so that jit and grad can return them.

    Attributes:
        grids: the points of each feature at which the effect is known.
        data: the columns of these features, of shape (rows, features).
        feature_names: the name of the feature, or of both.
        output_names: the names of the outputs, or None.
        categorical: whether each feature is categorical.
        kind: what the effect is, in words.

    Example:
        >>> import jaxshap
        >>> effect = jaxshap.effects.pdp(lambda x: x[:, 0] * x[:, 1], [[0.0, 1.0], [1.0, 3.0]], 0)
        >>> isinstance(effect, jaxshap.effects.Effect), effect.kind, effect.data.tolist()
        (True, 'PDP', [[0.0], [1.0]])
    """

    grids: tuple[Float[Numbers, "_"], ...]
    data: Float[Numbers, "rows features"]
    feature_names: tuple[str, ...] = _static()
    output_names: tuple[str, ...] | None = _static()
    categorical: tuple[bool, ...] = _static()
    kind: str = _static()


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class PartialDependence(Effect):
    """The mean prediction where the features take the values of their grids, as `pdp` returns it.

    Attributes:
        grids: the points of each feature at which the effect is known.
        data: the columns of these features, of shape (rows, features).
        feature_names: the name of the feature, or of both.
        output_names: the names of the outputs, or None.
        categorical: whether each feature is categorical.
        kind: "PDP", "PDP within the support", or "centred PDP".
        values: the means, of shape (points, *outputs), or (points, points, *outputs) for a pair;
            NaN where no row counts.
        std_error: their standard errors, for a mean over rows like these.
        support: the share of the rows that counts at each point.

    Example:
        >>> import jaxshap
        >>> effect = jaxshap.effects.pdp(lambda x: x[:, 0] * x[:, 1], [[0.0, 1.0], [1.0, 3.0]], 0)
        >>> effect.feature_names, effect.grids[0].tolist(), effect.values.tolist()
        (('x0',), [0.0, 1.0], [0.0, 2.0])
    """

    values: Float[Numbers, "grid ..."]
    std_error: Float[Numbers, "grid ..."]
    support: Float[Numbers, "grid ..."]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class IndividualCurves(Effect):
    """The prediction of each row where the features take the values of their grids; from `ice`.

    Attributes:
        grids: the points of each feature at which the effect is known.
        data: the columns of these features, of shape (rows, features).
        feature_names: the name of the feature, or of both.
        output_names: the names of the outputs, or None.
        categorical: whether each feature is categorical.
        kind: "ICE" or "centred ICE".
        values: the predictions, of shape (rows, points, *outputs), or (rows, points, points,
            *outputs) for a pair.
        weights: the weight of each row, summing to 1.

    Example:
        >>> import jaxshap
        >>> curves = jaxshap.effects.ice(lambda x: x[:, 0] * x[:, 1], [[0.0, 1.0], [1.0, 3.0]], 0)
        >>> curves.values.tolist(), curves.average().values.tolist()
        ([[0.0, 1.0], [0.0, 3.0]], [0.0, 2.0])
    """

    values: Float[Numbers, "rows grid ..."]
    weights: Float[Numbers, "rows"]

    def average(self) -> PartialDependence:
        """The mean of the curves, which is the PDP, without another call of the model.

        Returns:
            A `PartialDependence` at the same points.
        """
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
    """Local effects added up from point to point and centred, as `ale` returns them.

    Attributes:
        grids: the ends of the bins of each feature, or its categories in their order.
        data: the columns of these features, of shape (rows, features).
        feature_names: the name of the feature, or of both.
        output_names: the names of the outputs, or None.
        categorical: whether each feature is categorical.
        kind: "ALE" or "ALE by derivatives".
        values: the effects at the points of the grids, of shape (points, *outputs), or (points,
            points, *outputs) for a pair.
        std_error: their standard errors, from a jackknife that omits groups of rows.
        counts: how many rows are in each bin, cell or category.
        filled: which bins or cells have no rows, and were filled with the mean local effect of the
            nearest that has some, scaled to their size.

    Example:
        >>> import jaxshap
        >>> rows = [[0.0, 5.0], [1.0, 7.0], [2.0, 9.0], [3.0, 8.0]]
        >>> effect = jaxshap.effects.ale(lambda x: 2 * x[:, 0] + x[:, 1], rows, 0, bins=3)
        >>> effect.counts.tolist(), effect.filled.tolist()
        ([2, 1, 1], [False, False, False])
    """

    values: Float[Numbers, "grid ..."]
    std_error: Float[Numbers, "grid ..."]
    counts: Int[Numbers, "..."]
    filled: Bool[Numbers, "..."]


def weighted_mean(
    outputs: Float[Numbers, "points rows *out"],
    within: Bool[Numbers, "points rows"] | None,
    weights: Float[Numbers, "rows"],
) -> tuple[Float[Array, "points *out"], Float[Array, "points *out"], Float[Array, "points"]]:
    """Means over the rows that count at each point, standard errors, and shares of the weights.

    The error is the jackknife's for a ratio of means, to first order; without weights it is s/√rows
    exactly. Rows that do not count may be NaN.
    """
    share = jnp.broadcast_to(weights.astype(outputs.dtype), outputs.shape[:2])
    share = share if within is None else jnp.where(within, share, 0)
    support = share.sum(1)
    share = (share / support[:, None]).reshape(*share.shape, *(1,) * (outputs.ndim - 2))
    outputs = outputs if within is None else jnp.where(share > 0, outputs, 0)
    mean = (share * outputs).sum(1)
    # A long sum of like numbers in float32 loses digits, which its residuals give back:
    mean += (share * (outputs - mean[:, None])).sum(1)
    apart = jnp.where(share > 0, outputs - mean[:, None], 0)
    unit = unit_over_first(apart.swapaxes(0, 1))  # squares neither overflow nor vanish
    square = ((share * apart / unit[:, None]) ** 2).sum(1) / (1 - (share**2).sum(1))
    return mean, safe_sqrt(square) * unit, support


def safe_sqrt(square: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """√square with a finite gradient where it is 0."""
    return jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1)), square)


_weighted_mean = jax.jit(weighted_mean)
