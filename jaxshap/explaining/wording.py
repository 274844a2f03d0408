"""Numbers with their errors in words, alike in texts, pictures and reports."""

import math
from typing import Any

import numpy as np
from jaxtyping import Float

SMALLEST_FIXED = 1e-6  # a value with an error below it is written with a power of ten
MIRRORED = 1e-4  # of the largest value: by how much two outputs that add up to 1 may differ in size


def number_text(
    value: float | np.floating, error: float | np.floating = 0.0, *, signed: bool = False
) -> str:
    """Three digits of a value, or as many places as two digits of its known error have."""
    sign, known = "+" if signed else "", error > 0
    size = max(abs(value), error if known else 0)
    if not known or not SMALLEST_FIXED <= size < 1e7:
        text = f"{value:{sign}z,.0f}" if 1e3 <= size < 1e7 else f"{value:{sign}.3g}"
        return (text + (f" ± {error:.1g}" if known else "")).replace("-", "−")
    digits, error_digits = (math.floor(math.log10(number)) for number in (size, error))
    places = max(0, min(3 - digits, 1 - error_digits))  # no more than four digits of the value
    spread = f"{error:,.{places}f}"
    if not spread.strip("0.,"):  # smaller than the last digit of the value
        spread = f"{error:.{-error_digits}f}" if error >= SMALLEST_FIXED else f"{error:.1g}"
    return f"{value:{sign}z,.{places}f} ± {spread}".replace("-", "−")


def plural(kind: str) -> str:
    """Values of this kind, in words; sizes such as |Shapley value| stay as they are."""
    return kind if kind.endswith("|") else f"{kind}s"


def shown_values(
    explanation: Any,
) -> tuple[Float[np.ndarray, "features *outputs"], Float[np.ndarray, "features *outputs"]]:
    """The values of a single row, or mean |value| over rows, with half of their 95 % intervals.

    Texts, pictures and reports show these. The intervals are those of the estimates for these very
    rows. Where rows share their draws, their errors do not average out: the mean of the errors is a
    bound.
    """
    values, errors = explanation.values, half_intervals(explanation)
    if len(values) == 1:
        return values[0], errors[0]
    count = max(1, len(values))
    means = np.abs(values).sum(0) / count
    if explanation.shared_draws:
        return means, errors.sum(0) / count
    return means, np.sqrt((errors**2).sum(0)) / count


def half_intervals(explanation: Any) -> Float[np.ndarray, "rows features *outputs"]:
    """Half of the 95 % interval of each value: NaN where unknown, 0 where exact."""
    return np.asarray(explanation.interval().upper) - explanation.values


def shown_output(explanation: Any) -> Any:
    """The only output, or the second of two where the first only mirrors it, as of two classes;
    else all.
    """
    values, base = explanation.values, explanation.base_values
    if values.ndim != 3 or explanation.row_outputs is not None:
        return explanation
    if values.shape[2] == 1:
        return explanation[:, :, 0]
    if values.shape[2] != 2 or not values.size:
        return explanation
    both = values[..., 0] + values[..., 1]
    sums_known = np.isfinite(base).all()
    if not sums_known:  # sizes, which add up to nothing
        both = values[..., 0] - values[..., 1]
    if np.abs(both).max() > MIRRORED * np.abs(values).max():
        return explanation
    if sums_known and np.abs(base.sum(1) - 1).max() > MIRRORED:
        return explanation
    return explanation[:, :, 1]
