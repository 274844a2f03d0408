"""How far LIME depends on the width of its kernel."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float, Key

from jaxshap.errors import InputError
from jaxshap.games import as_numbers
from jaxshap.lime.fits import default_width, fit
from jaxshap.lime.neighbourhood import neighbourhood
from jaxshap.lime.selections import Selection

WIDTH_FACTORS = (0.5, 0.7, 1.0, 1.4, 2.0)  # times the default width


class WidthStability(NamedTuple):
    """Surrogates of the same samples for several kernel widths.

    Attributes:
        widths: the kernel widths, in standard deviations.
        coefficients: as in `LocalSurrogate`, of shape (widths, rows, features, *outputs).
        std_error: the standard errors of the coefficients.
        score: the share of the weighted variance explained, of shape (widths, rows, *outputs).
        agreement: the mean rank correlation of the coefficients between any two widths, 1 where
            the width does not matter for their order; of shape (rows, *outputs).
        same_sign: which coefficients have one sign at all widths, of shape (rows, features,
            *outputs).
        feature_names: the names of the features.
        output_names: the names of the outputs, or None.

    Example:
        >>> import jaxshap, numpy as np
        >>> background = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = lambda x: 2 * x[:, 0] - x[:, 1]
        >>> stability = jaxshap.lime.width_stability(0, model, background[:1], background)
        >>> stability.widths.round(2).tolist(), stability.same_sign.tolist()
        ([0.53, 0.74, 1.06, 1.48, 2.12], [[True, True]])
    """

    widths: Float[np.ndarray, "widths"]
    coefficients: Float[np.ndarray, "widths rows features *outputs"]
    std_error: Float[np.ndarray, "widths rows features *outputs"]
    score: Float[np.ndarray, "widths rows *outputs"]
    agreement: Float[np.ndarray, "rows *outputs"]
    same_sign: Bool[np.ndarray, "rows features *outputs"]
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None


def width_stability(
    key: Key[Array, ""] | int | np.integer,
    model: Any,
    X: Any,
    background: Any,
    *,
    widths: Sequence[float] | np.ndarray | None = None,
    num_samples: int = 5_000,
    ridge: float = 1.0,
    selection: Selection | Any = None,
    categorical: str | int | Sequence[str | int] = (),
    feature_names: Sequence[str] | None = None,
) -> WidthStability:
    """`local_surrogate` for several kernel widths, and how far they agree.

    All widths share their samples, so that the model is evaluated no more often than for one.

    Args:
        key: a JAX key, or a seed.
        model: what `explain` takes: a function of a batch of rows, or a fitted model.
        X: the rows to explain, (rows, features); a DataFrame is matched by name.
        background: the rows whose means and standard deviations the samples have.
        widths: two or more kernel widths in standard deviations; five from half to twice the
            default width of `local_surrogate` by default.
        num_samples: how many samples to draw, 5,000 by default.
        ridge: the penalty on squared coefficients, 1 by default.
        selection: `ForwardSelection` or `LassoPath` for sparse surrogates; by default all features
            are kept.
        categorical: names or numbers of the features that are categories.
        feature_names: the names of the features where X has none.

    Returns:
        A `WidthStability`; `jaxshap.plots.lime_stability` draws it.

    Raises:
        InputError: where the options or the tables cannot be used, for example a single width.

    Example:
        >>> import jaxshap, numpy as np
        >>> background = np.random.default_rng(0).normal(size=(500, 3))
        >>> model = lambda x: 2 * x[:, 0] - x[:, 2]
        >>> stability = jaxshap.lime.width_stability(0, model, background[:2], background)
        >>> stability.coefficients.shape, stability.agreement.round(1).tolist()
        ((5, 2, 3), [1.0, 1.0])
    """
    near = neighbourhood(key, model, X, background, num_samples, categorical, feature_names)
    usual = default_width(len(near.units)) * np.asarray(WIDTH_FACTORS)
    chosen = usual if widths is None else np.asarray(as_numbers(widths, "widths"), float)
    if chosen.ndim != 1 or len(chosen) < 2:
        raise InputError(f"widths={widths}: stability compares two widths or more.")
    lines = fit(near, chosen, ridge, selection)
    signs = np.sign(lines.coefficients)
    return WidthStability(
        widths=chosen,
        coefficients=lines.coefficients,
        std_error=lines.std_error,
        score=lines.score,
        agreement=_agreement(lines.coefficients),
        same_sign=(signs == signs[0]).all(0),
        feature_names=near.feature_names,
        output_names=near.output_names,
    )


def _agreement(
    coefficients: Float[np.ndarray, "widths rows features *outputs"],
) -> Float[np.ndarray, "rows *outputs"]:
    """The mean of Spearman's correlations over all pairs of widths; NaN for a single feature."""
    from scipy.stats import rankdata  # slow to import, so only where needed

    ranks = rankdata(coefficients, axis=2)
    ranks = ranks - ranks.mean(2, keepdims=True)
    length = np.sqrt((ranks**2).sum(2, keepdims=True))
    unit = np.divide(ranks, length, out=np.full_like(ranks, np.nan), where=length > 0)
    first, second = np.triu_indices(len(ranks), 1)
    return (unit[first] * unit[second]).sum(2).mean(0)
