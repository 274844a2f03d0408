"""LIME for tables: a linear model of the model, fitted to what it says near a row. Ribeiro et al.
(2016).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from jaxshap.engine import bucket, byte_limit, bytes_of_call, compiled
from jaxshap.errors import InputError, InputTypeError
from jaxshap.lime.neighbourhood import Neighbourhood, neighbourhood
from jaxshap.lime.sparse_regression import Line, Selection, weighted_ridge

SPREAD_OF_WIDTHS = (0.5, 0.7, 1.0, 1.4, 2.0)  # times the usual width


class LocalSurrogate(NamedTuple):
    """Near row x the model is about intercept + Σ_k coefficients_k (z_k − x_k) / units_k.

    A categorical feature adds −coefficients_k wherever z_k is not x_k. `score` is the share of the
    model's weighted variance that this explains, `effective_samples` how many equally weighted
    samples the kernel leaves.

    Example:
        >>> import jaxshap, numpy as np
        >>> background = np.random.default_rng(0).normal(size=(500, 3))
        >>> found = jaxshap.lime.local_surrogate(0, lambda x: 2 * x[:, 0] - x[:, 2], background[:2], background, ridge=0.0)
        >>> found.feature_names, found.coefficients.shape, found.score.round(2).tolist()
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


class WidthStability(NamedTuple):
    """Surrogates of the same samples for several kernel widths.

    `agreement` is the mean rank correlation of the coefficients between any two widths: 1 where the
    width does not matter for their order. `same_sign` says which coefficients do not change sign.
    """

    widths: Float[np.ndarray, "widths"]
    coefficients: Float[np.ndarray, "widths rows features *outputs"]
    std_error: Float[np.ndarray, "widths rows features *outputs"]
    score: Float[np.ndarray, "widths rows *outputs"]
    agreement: Float[np.ndarray, "rows *outputs"]
    same_sign: Bool[np.ndarray, "rows features *outputs"]
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None


def local_surrogate(
    key: Key[Array, ""] | int,
    model: Any,
    X: Any,
    background: Any,
    *,
    num_samples: int = 5_000,
    kernel_width: float | None = None,
    ridge: float = 1.0,
    selection: Selection | None = None,
    categorical: Sequence[str | int] = (),
    feature_names: Sequence[str] | None = None,
) -> LocalSurrogate:
    """LIME: weighted ridge regression of the model on samples around the background, weighted by
    nearness to the row.

    Samples have independent columns: normal with the background's mean and standard deviation, so
    that a constant one stays and gets no coefficient; those that are `categorical` are drawn by
    frequency and coded as the same as in the row or not. Weights are exp(−|z − x|²/kernel_width²)
    in standard deviations, with a width of 0.75 √features where none is given; the `lime` package
    halves the exponent, so that our width is √2 times its. All rows share the samples: it takes
    num_samples + rows evaluations, and errors of rows go together. Standard errors are those of the
    sampling, given the `selection`. The same regression on coalitions with the Shapley kernel gives
    Shapley values: `jaxshap.Kernel`.

    Example:
        >>> import jaxshap, numpy as np
        >>> background = np.random.default_rng(0).normal(size=(500, 3))
        >>> found = jaxshap.lime.local_surrogate(0, lambda x: 2 * x[:, 0] - x[:, 2], background[:2], background, ridge=0.0)
        >>> print((found.coefficients / found.units).round(3) + 0.0)
        [[ 2.  0. -1.]
         [ 2.  0. -1.]]
    """
    near = neighbourhood(key, model, X, background, num_samples, categorical, feature_names)
    width = 0.75 * np.sqrt(len(near.units)) if kernel_width is None else kernel_width
    found = _fit(near, np.array([width]), ridge, selection)
    parts = {name: part[0] for name, part in found._asdict().items()}
    return LocalSurrogate(
        **parts, units=near.units, feature_names=near.feature_names, output_names=near.output_names
    )


def width_stability(
    key: Key[Array, ""] | int,
    model: Any,
    X: Any,
    background: Any,
    *,
    widths: Sequence[float] | None = None,
    num_samples: int = 5_000,
    ridge: float = 1.0,
    selection: Selection | None = None,
    categorical: Sequence[str | int] = (),
    feature_names: Sequence[str] | None = None,
) -> WidthStability:
    """What `lime` says for several kernel widths, half to twice the usual one, and how far they
    agree.

    All widths share their samples, so that the model is evaluated no more often than for one.

    Example:
        >>> import jaxshap, numpy as np
        >>> background = np.random.default_rng(0).normal(size=(500, 3))
        >>> found = jaxshap.lime.width_stability(0, lambda x: 2 * x[:, 0] - x[:, 2], background[:2], background)
        >>> found.coefficients.shape, found.agreement.round(1).tolist()
        ((5, 2, 3), [1.0, 1.0])
    """
    near = neighbourhood(key, model, X, background, num_samples, categorical, feature_names)
    usual = 0.75 * np.sqrt(len(near.units))
    chosen = usual * np.asarray(SPREAD_OF_WIDTHS) if widths is None else np.asarray(widths, float)
    if chosen.ndim != 1 or len(chosen) < 2:
        raise InputError(f"widths={widths}: stability compares two widths or more.")
    found = _fit(near, chosen, ridge, selection)
    signs = np.sign(found.coefficients)
    return WidthStability(
        chosen,
        found.coefficients,
        found.std_error,
        found.score,
        _agreement(found.coefficients),
        (signs == signs[0]).all(0),
        near.feature_names,
        near.output_names,
    )


class _Lines(NamedTuple):
    """What a LocalSurrogate holds, for each width."""

    coefficients: Float[np.ndarray, "widths rows features *outputs"]
    std_error: Float[np.ndarray, "widths rows features *outputs"]
    intercept: Float[np.ndarray, "widths rows *outputs"]
    score: Float[np.ndarray, "widths rows *outputs"]
    effective_samples: Float[np.ndarray, "widths rows"]


def _fit(
    near: Neighbourhood,
    widths: Float[np.ndarray, "widths"],
    ridge: float,
    selection: Selection | None,
) -> _Lines:
    if not (widths > 0).all():
        raise InputError(
            f"a kernel width is a positive number of standard deviations, not {widths.min()}."
        )
    if selection is not None and not callable(selection):
        raise InputTypeError(
            f"selection={selection!r}: pass ForwardSelection or LassoPath with how many features to keep."
        )
    if not ridge >= 0:
        raise InputError(f"ridge={ridge}: pass a penalty of 0 or more.")
    count = len(near.rows)
    padding = [(0, bucket(count) - count), (0, 0)]  # nearby numbers of rows share a program
    rows, own = np.pad(near.rows, padding, mode="edge"), np.pad(near.own, padding, mode="edge")
    dtype = jax.dtypes.canonicalize_dtype(near.dtype)
    arrays = (
        jnp.asarray(part, dtype)
        for part in (near.samples, near.outputs, rows, own, widths, np.asarray(ridge))
    )
    line, effective = _fits(selection, jnp.asarray(near.coded), *arrays)

    def shaped(part) -> np.ndarray:
        """From (widths, rows, outputs, ...) to (widths, rows, ..., *outputs)."""
        moved = np.moveaxis(np.asarray(part)[:, :count], 2, -1)
        return moved.reshape(*moved.shape[:-1], *near.shape)

    intercept = np.asarray(line.intercept) + near.offset
    return _Lines(
        shaped(line.coefficients),
        shaped(line.std_error),
        shaped(intercept.astype(dtype)),
        shaped(line.score),
        np.asarray(effective)[:, :count],
    )


def _fits_of(
    selection: Selection | None,
    coded: Bool[Array, "features"],
    samples: Float[Array, "samples features"],
    outputs: Float[Array, "samples outputs"],
    rows: Float[Array, "rows features"],
    own: Float[Array, "rows outputs"],
    widths: Float[Array, "widths"],
    ridge: Float[Array, ""],
) -> tuple[Line, Float[Array, "widths rows"]]:
    shape = len(widths), len(rows), outputs.shape[1]
    drawn = jnp.arange(len(samples) + 1) < len(samples)

    def of_one(item):
        width, row, output = jnp.unravel_index(item, shape)
        steps = jnp.where(
            coded, jnp.where(samples == rows[row], 0, -1).astype(samples.dtype), samples - rows[row]
        )
        weights = jnp.exp(-(steps**2).sum(1) / widths[width] ** 2)
        total = weights.sum()
        effective = jnp.where(total > 0, total**2 / (weights**2).sum(), 0)
        design = jnp.concatenate(
            [steps, jnp.zeros_like(steps[:1])]
        )  # the row itself is a sample too, of weight 1
        target = jnp.append(outputs[:, output], own[row, output])
        line = weighted_ridge(design, target, jnp.append(weights, 1), ridge, selection, drawn)
        return line, effective

    size = max(1, byte_limit() // bytes_of_call(of_one, jax.ShapeDtypeStruct((), int)))
    number = int(np.prod(shape))
    line, effective = jax.lax.map(of_one, jnp.arange(number), batch_size=min(size, number))
    line = Line(*(part.reshape(*shape, *part.shape[1:]) for part in line))
    return line, effective.reshape(shape)[..., 0]


_fits = compiled(_fits_of, static_argnums=0)


def _agreement(
    coefficients: Float[np.ndarray, "widths rows features *outputs"],
) -> Float[np.ndarray, "rows *outputs"]:
    """The mean of Spearman's rank correlations over all pairs of widths; NaN for a single feature."""
    from scipy.stats import rankdata

    ranks = rankdata(coefficients, axis=2)
    ranks = ranks - ranks.mean(2, keepdims=True)
    length = np.sqrt((ranks**2).sum(2, keepdims=True))
    unit = np.divide(ranks, length, out=np.full_like(ranks, np.nan), where=length > 0)
    first, second = np.triu_indices(len(ranks), 1)
    return (unit[first] * unit[second]).sum(2).mean(0)
