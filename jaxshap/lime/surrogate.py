"""LIME for tables: a linear model of the model, fitted to its outputs near a row."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Float, Key

from jaxshap.games import read_number
from jaxshap.lime.fits import default_width, fit
from jaxshap.lime.neighbourhood import neighbourhood
from jaxshap.lime.selections import Selection


class LocalSurrogate(NamedTuple):
    """Near row x the model is about intercept + Σ_k coefficients_k (z_k − x_k) / units_k.

    A categorical feature adds −coefficients_k wherever z_k is not x_k.

    Attributes:
        coefficients: change of the output per unit of each feature, of shape (rows, features,
            *outputs); 0 for features that are constant or not selected.
        std_error: standard errors of the coefficients from the sampling, given the selection; NaN
            for features that are constant or not selected.
        intercept: the surrogate at the row itself, of shape (rows, *outputs).
        score: the share of the model's weighted variance that the surrogate explains.
        effective_samples: how many equally weighted samples the kernel leaves each row.
        units: the standard deviation of each feature, 1 for constants and categories.
        feature_names: the names of the features.
        output_names: the names of the outputs, or None.

    Example:
        >>> import jaxshap, numpy as np
        >>> background = np.random.default_rng(0).normal(size=(500, 3))
        >>> model = lambda x: 2 * x[:, 0] - x[:, 2]
        >>> line = jaxshap.lime.local_surrogate(0, model, background[:2], background, ridge=0.0)
        >>> line.feature_names, line.coefficients.shape, line.score.round(2).tolist()
        (('x0', 'x1', 'x2'), (2, 3), [1.0, 1.0])
    """

    coefficients: Float[np.ndarray, "rows features *outputs"]
    std_error: Float[np.ndarray, "rows features *outputs"]
    intercept: Float[np.ndarray, "rows *outputs"]
    score: Float[np.ndarray, "rows *outputs"]
    effective_samples: Float[np.ndarray, "rows"]
    units: Float[np.ndarray, "features"]
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None


def local_surrogate(
    key: Key[Array, ""] | int | np.integer,
    model: Any,
    X: Any,
    background: Any,
    *,
    num_samples: int = 5_000,
    kernel_width: float | None = None,
    ridge: float = 1.0,
    selection: Selection | Any = None,
    categorical: str | int | Sequence[str | int] = (),
    feature_names: Sequence[str] | None = None,
) -> LocalSurrogate:
    """LIME: ridge regression of the model on samples weighted by nearness to a row.

    Samples have independent columns: normal with the background's mean and standard deviation, or
    categories by their frequency, coded as the same as in the row or not. Weights are
    exp(−|z − x|²/kernel_width²) in standard deviations; the `lime` package halves the exponent, so
    that our width is √2 times its. All rows share the samples, so that errors of rows go together.
    The same regression on coalitions with the Shapley kernel gives Shapley values, as
    `jaxshap.Kernel` does. Ribeiro et al. (2016).

    Args:
        key: a JAX key, or a seed.
        model: what `explain` takes: a function of a batch of rows, or a fitted model.
        X: the rows to explain, (rows, features); a DataFrame is matched by name.
        background: the rows whose means and standard deviations the samples have.
        num_samples: how many samples to draw, 5,000 by default; the model is evaluated on them
            and on the rows.
        kernel_width: the width of the kernel in standard deviations; 0.75 √features by default.
        ridge: the penalty on squared coefficients, 1 by default; 0 for plain least squares.
        selection: `ForwardSelection` or `LassoPath` for a sparse surrogate; by default all features
            are kept.
        categorical: names or numbers of the features that are categories.
        feature_names: the names of the features where X has none.

    Returns:
        A `LocalSurrogate` with a line for every row and output.

    Raises:
        InputError: where the options or the tables cannot be used, for example a background whose
            rows are all the same.

    Example:
        >>> import jaxshap, numpy as np
        >>> background = np.random.default_rng(0).normal(size=(500, 3))
        >>> model = lambda x: 2 * x[:, 0] - x[:, 2]
        >>> line = jaxshap.lime.local_surrogate(0, model, background[:2], background, ridge=0.0)
        >>> print((line.coefficients / line.units).round(3) + 0.0)
        [[ 2.  0. -1.]
         [ 2.  0. -1.]]
    """
    if kernel_width is not None:
        kernel_width = read_number(kernel_width, "kernel_width", above=0)
    near = neighbourhood(key, model, X, background, num_samples, categorical, feature_names)
    width = default_width(len(near.units)) if kernel_width is None else kernel_width
    lines = fit(near, np.array([width]), ridge, selection)
    of_width = {name: array[0] for name, array in lines._asdict().items()}
    return LocalSurrogate(
        **of_width,
        units=near.units,
        feature_names=near.feature_names,
        output_names=near.output_names,
    )
