"""Marginal plots: the mean prediction of the rows that have about the same value of a feature."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from jaxshap.effects.binning import quantile_edges
from jaxshap.effects.grids import Feature, Sample, numbers_of, read_sample, read_targets
from jaxshap.effects.records import PartialDependence
from jaxshap.errors import InputError, ModelOutputError
from jaxshap.games import read_whole
from jaxshap.inputs import column_numbers, read_output_names
from jaxshap.values import predictions


def marginal_means(
    model: Any,
    X: Any,
    features: Any,
    *,
    bins: int | Any = 20,
    categorical: Sequence[Feature] | Any = (),
    weights: Any = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
) -> Any:
    """The marginal plot, or M-plot: E[f(X) | X_j = x], the mean prediction of rows alike in x.

    No row is moved, so that nothing is asked far from the data; but a feature is credited with what
    others that go along with it do, as partial dependence and ALE do not. Rows are taken together
    in bins of about as many each, or by their categories. Apley & Zhu (2020).

    Args:
        model: what `explain` takes: a function of a batch of rows, or a fitted model.
        X: the rows, (rows, features); may be `WeightedRows`.
        features: a feature, by name or number, or a list of these.
        bins: how many bins of about as many rows each, 20 by default.
        categorical: features that are categories.
        weights: one weight per row; equal by default.
        feature_names: the names of the features where X has none.
        output_names: the names of the outputs.

    Returns:
        A `PartialDependence` of the kind "marginal plot", or a list of them for a list of features.
        Its grid is the mean of the feature in each bin, its `support` the share of rows there.
        `jaxshap.plots.pdp` draws it.

    Raises:
        InputError: where features, bins or weights do not fit the table.
        ModelOutputError: where the model returns NaN or infinity for a row.

    Example:
        >>> import jaxshap
        >>> rows = [[0.0, 0.0], [0.0, 2.0], [1.0, 4.0], [1.0, 6.0]]
        >>> effect = jaxshap.effects.marginal_means(lambda x: x[:, 1], rows, 0, categorical=[0])
        >>> effect.grids[0].tolist(), effect.values.tolist(), effect.std_error.tolist()
        ([0.0, 1.0], [1.0, 5.0], [1.0, 1.0])
    """
    sample = read_sample(model, X, weights, feature_names)
    read_whole(bins, "bins")
    targets = read_targets(features, sample.names)
    if any(len(target) > 1 for target in targets):
        raise InputError("marginal_means takes single features: leave pairs out.")
    levels = set(column_numbers(categorical, sample.names, "categorical="))
    outputs = predictions(sample.predict, sample.rows).astype(np.float64)
    if not np.isfinite(outputs).all():
        raise ModelOutputError("the model returns NaN or infinity for a row: mend it.")
    names = read_output_names(output_names, sample.classes, outputs.shape[1:])
    effects = [
        _effect(sample, column, column in levels, bins, outputs, names) for (column,) in targets
    ]
    return effects if isinstance(features, list) else effects[0]


def _effect(
    sample: Sample,
    column: int,
    is_categorical: bool,
    bins: int,
    outputs: Float[np.ndarray, "rows *out"],
    output_names: tuple[str, ...] | None,
) -> PartialDependence:
    numbers, weights = numbers_of(sample, column), sample.weights
    if is_categorical:
        _, which = np.unique(numbers, return_inverse=True)
    else:
        inner = quantile_edges(sample, column, bins)[1:-1]
        which = np.unique(np.searchsorted(inner, numbers), return_inverse=True)[1]
    which = which.ravel()
    support = np.bincount(which, weights)
    grid = np.bincount(which, weights * numbers) / support
    shares = weights / support[which]
    means = _sums(which, shares, outputs)
    apart = _sums(which, shares**2, (outputs - means[which]) ** 2)
    spare = (1 - np.bincount(which, shares**2)).reshape(-1, *(1,) * (outputs.ndim - 1))
    with np.errstate(invalid="ignore", divide="ignore"):  # a bin of a single row has no error
        errors = np.where(spare > 1e-12, np.sqrt(apart / np.maximum(spare, 1e-12)), np.nan)
    return PartialDependence(
        values=means,
        std_error=errors,
        support=support,
        kind="marginal plot",
        grids=(grid,),
        data=sample.rows[:, [column]],
        feature_names=(sample.names[column],),
        output_names=output_names,
        categorical=(is_categorical,),
    )


def _sums(
    which: Int[np.ndarray, "rows"],
    shares: Float[np.ndarray, "rows"],
    outputs: Float[np.ndarray, "rows *out"],
) -> Float[np.ndarray, "bins *out"]:
    """Weighted sums of the outputs in each bin."""
    weighted = shares.reshape(-1, *(1,) * (outputs.ndim - 1)) * outputs
    totals = np.zeros((which.max() + 1, *outputs.shape[1:]))
    np.add.at(totals, which, weighted)
    return totals
