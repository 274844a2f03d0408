"""All rows with some features set to given values, and the mean of what a model makes of them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.engine import byte_limit
from jaxshap.errors import InputError
from jaxshap.games import as_numbers
from jaxshap.inputs import column_numbers
from jaxshap.values import predictions


def listed_columns(features: Any, names: Sequence[str], what: str) -> list[int]:
    """The numbers of the columns listed, at least one."""
    columns = column_numbers(features, names, what)
    if not columns:
        raise InputError(f"{what} names no column: pass one or more.")
    return columns


def read_settings(values: Any, count: int, what: str) -> Float[np.ndarray, "*points features"]:
    """Values of the features, which are the last axis."""
    settings = np.asarray(as_numbers(values, what), np.float64)
    settings = settings[None] if settings.ndim == 0 and count == 1 else settings
    if not settings.size or settings.ndim == 0 or settings.shape[-1] != count:
        hint = " A grid of one feature is grid[:, None]." if count == 1 else ""
        raise InputError(
            f"{what} has shape {settings.shape}, and the last axis must hold {count} "
            f"features.{hint}"
        )
    return settings


def outputs_with(
    predict: Callable,
    rows: Float[np.ndarray, "rows features"],
    columns: list[int],
    settings: Float[np.ndarray, "points columns"],
) -> Float[np.ndarray, "points rows *out"]:
    """The model for all rows with the columns set to each of the settings."""
    changed = np.repeat(rows[None], len(settings), axis=0)
    changed[:, :, columns] = settings[:, None]
    outputs = predictions(predict, changed.reshape(-1, rows.shape[1])).astype(np.float64)
    return outputs.reshape(len(settings), len(rows), *outputs.shape[1:])


def mean_changes(
    predict: Callable,
    rows: Float[np.ndarray, "rows features"],
    columns: list[int],
    points: Float[np.ndarray, "*points columns"],
    before: Float[np.ndarray, "rows *out"] | None,
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """Means over rows of the outputs at each point, less `before`, and their standard errors."""
    settings = points.reshape(-1, len(columns)).astype(rows.dtype)
    size = max(1, byte_limit() // rows.nbytes)  # as many settings at once as memory holds
    means, errors = [], []
    for first in range(0, len(settings), size):
        change = outputs_with(predict, rows, columns, settings[first : first + size])
        change = change if before is None else change - before
        means.append(change.mean(1))
        errors.append(_error_of_mean(change))
    shape = points.shape[:-1] + means[0].shape[1:]
    return np.concatenate(means).reshape(shape), np.concatenate(errors).reshape(shape)


def _error_of_mean(
    outputs: Float[np.ndarray, "points rows *out"],
) -> Float[np.ndarray, "points *out"]:
    count = outputs.shape[1]
    if count < 2:
        return np.full_like(outputs[:, 0], np.nan)
    return outputs.std(1, ddof=1) / np.sqrt(count)
