"""The regressions of LIME: one for every kernel width, row and output, in batches."""

from collections.abc import Hashable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from jaxshap.engine import bucket, byte_limit, bytes_of_call, compiled, unit_over_first
from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import check_function, full_precision, read_number, shown
from jaxshap.lime.neighbourhood import Neighbourhood
from jaxshap.lime.ridge import Line, weighted_ridge
from jaxshap.lime.selections import Selection


class Lines(NamedTuple):
    """The surrogates of all rows for each kernel width."""

    coefficients: Float[np.ndarray, "widths rows features *outputs"]
    std_error: Float[np.ndarray, "widths rows features *outputs"]
    intercept: Float[np.ndarray, "widths rows *outputs"]
    score: Float[np.ndarray, "widths rows *outputs"]
    effective_samples: Float[np.ndarray, "widths rows"]


def default_width(num_features: int) -> float:
    """In standard deviations."""
    return 0.75 * float(np.sqrt(num_features))


def check_ridge(ridge: Any, one_hot: bool) -> None:
    """Refuse columns of categories, which sum to 1 as the intercept does, without a penalty."""
    if read_number(ridge, "ridge", least=0) == 0 and one_hot:
        raise InputError(
            "ridge=0.0 with one_hot=True: columns of all categories sum to 1, so that only their "
            "differences are known. Pass a small ridge, such as ridge=1e-3."
        )


def check_selection(selection: Any) -> None:
    """Refuse what selects no features, or cannot be the key of a compiled program."""
    if selection is None:
        return
    remedy = "ForwardSelection or LassoPath with how many features to keep"
    check_function(selection, "selection", remedy, 2)
    if not isinstance(selection, Hashable):
        raise InputTypeError(f"selection={shown(selection)} has no hash: pass {remedy}.")


def fit(
    near: Neighbourhood,
    widths: Float[np.ndarray, "widths"],
    ridge: float,
    selection: Selection | Any,
) -> Lines:
    """Check what the user chose, and fit all surrogates."""
    if not ((widths > 0) & (widths < np.inf)).all():
        raise InputError(
            f"a kernel width is a positive number of standard deviations, not {widths.min()}."
        )
    check_selection(selection)
    ridge = read_number(ridge, "ridge", least=0)
    count = len(near.rows)
    padding = [(0, bucket(count) - count), (0, 0)]  # nearby numbers of rows share a program
    rows, own = (np.pad(table, padding, mode="edge") for table in (near.rows, near.row_outputs))
    dtype = jax.dtypes.canonicalize_dtype(near.dtype)
    unit = unit_over_first(np.concatenate([near.outputs, near.row_outputs]).astype(np.float64))
    arrays = near.samples, near.outputs / unit, rows, own / unit, widths, np.asarray(ridge)
    line, effective = _fits(
        selection, jnp.asarray(near.coded), *(jnp.asarray(array, dtype) for array in arrays)
    )

    line = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), line)
    intercept = line.intercept * unit + near.offset
    units = unit[:, None]

    def shaped(array) -> np.ndarray:
        """From (widths, rows, outputs, ...) to (widths, rows, ..., *outputs)."""
        moved = np.moveaxis(np.asarray(array, dtype)[:, :count], 2, -1)
        return moved.reshape(*moved.shape[:-1], *near.output_shape)

    return Lines(
        coefficients=shaped(line.coefficients * units),
        std_error=shaped(line.std_error * units),
        intercept=shaped(intercept),
        score=shaped(line.score),
        effective_samples=np.asarray(effective)[:, :count],
    )


@full_precision
def fits_of(
    selection: Selection | Any,
    coded: Bool[Array, "features"],
    samples: Float[Array, "samples features"],
    outputs: Float[Array, "samples outputs"],
    rows: Float[Array, "rows features"],
    row_outputs: Float[Array, "rows outputs"],
    widths: Float[Array, "widths"],
    ridge: Float[Array, ""],
) -> tuple[Line, Float[Array, "widths rows"]]:
    """Lines with leading axes (widths, rows, outputs), and the effective numbers of samples."""
    shape = len(widths), len(rows), outputs.shape[1]
    drawn = jnp.arange(len(samples) + 1) < len(samples)

    def fit_at(index):
        width, row, output = jnp.unravel_index(index, shape)
        differs = jnp.where(samples == rows[row], 0, -1).astype(samples.dtype)
        steps = jnp.where(coded, differs, samples - rows[row])
        weights = jnp.exp(-(steps**2).sum(1) / widths[width] ** 2)
        total = weights.sum()
        effective = jnp.where(total > 0, total**2 / (weights**2).sum(), 0)
        # The row itself is a sample too, of weight 1:
        design = jnp.concatenate([steps, jnp.zeros_like(steps[:1])])
        target = jnp.append(outputs[:, output], row_outputs[row, output])
        line = weighted_ridge(design, target, jnp.append(weights, 1), ridge, selection, drawn)
        return line, effective

    batch = max(1, byte_limit() // bytes_of_call(fit_at, jax.ShapeDtypeStruct((), int)))
    number = int(np.prod(shape))
    line, effective = jax.lax.map(fit_at, jnp.arange(number), batch_size=min(batch, number))
    line = Line(*(array.reshape(*shape, *array.shape[1:]) for array in line))
    return line, effective.reshape(shape)[..., 0]


_fits = compiled(fits_of, static_argnums=0)
