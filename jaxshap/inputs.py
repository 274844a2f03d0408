"""What people pass in, checked at the door: tables with or without names, models of any make, groups of columns."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxshap.game import Host

Groups = Mapping[str, Sequence[str | int]] | Sequence[Sequence[str | int]]


class Table(NamedTuple):
    """A numeric table and the names of its columns."""

    array: Any
    names: tuple[str, ...]
    named: bool  # whether the names came with the data


class Model(NamedTuple):
    """A function of a batch of rows, in JAX or on the host, and the names of its outputs where it has them."""

    predict: Callable
    output_names: tuple[str, ...] | None


def read_table(data, what: str, columns: Sequence[str] | None = None) -> Table:
    """A table from a DataFrame, an array or a list of rows; a DataFrame's columns are matched to `columns` by name."""
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        present = [str(name) for name in data.columns]
        if len(set(present)) < len(present):
            raise ValueError(f"{what} has several columns of one name: {_repeated(present)}. Rename them.")
        wanted = present if columns is None else list(columns)
        if missing := [name for name in wanted if name not in present]:
            raise ValueError(f"{what} lacks the columns {missing}; it has {present}.")
        if extra := [name for name in present if name not in wanted]:
            raise ValueError(f"{what} has columns that are not expected: {extra}. Leave them out.")
        data = data.to_numpy()[:, [present.index(name) for name in wanted]]
        return Table(_numeric(data, what, wanted), tuple(wanted), True)
    array = data if isinstance(data, jax.Array) else np.asarray(data)
    if array.ndim != 2 or 0 in array.shape:
        hint = " A single row is X[None]." if array.ndim == 1 and array.size else ""
        raise ValueError(f"{what} must be a non-empty table (rows, features), not of shape {array.shape}.{hint}")
    if columns is not None and array.shape[1] != len(columns):
        raise ValueError(f"{what} has {array.shape[1]} columns, and {len(columns)} are expected: {list(columns)}.")
    names = tuple(columns) if columns is not None else tuple(f"x{i}" for i in range(array.shape[1]))
    return Table(_numeric(array, what, names), names, columns is not None)


def read_background(background, table: Table):
    """Reference rows with the columns of the table, matched by name where both have names."""
    if not table.named and hasattr(background, "columns"):
        raise ValueError("the background has column names and X has none: pass both as DataFrames, or both as arrays.")
    return read_table(background, "the background", table.names).array


def read_model(model, rows: np.ndarray, names: Sequence[str], named: bool) -> Model:
    """A traceable function as it is; a fitted estimator or a function JAX cannot trace, on the host."""
    if isinstance(model, Host):
        return Model(model, None)
    if not callable(model):
        method = getattr(model, "predict_proba", None) or getattr(model, "predict", None)
        if method is None:
            raise TypeError(
                f"a model is a function of rows or has predict or predict_proba: {type(model).__name__} is not."
            )
        classes = getattr(model, "classes_", None) if hasattr(model, "predict_proba") else None
        output_names = None if classes is None else tuple(map(str, classes))
        return Model(Host(_by_name(model, method, names, named)), output_names)
    on_host = _by_name(getattr(model, "__self__", None), model, names, named)
    return Model(model if _is_traceable(model, on_host, rows) else Host(on_host), None)


def read_groups(groups: Groups | None, names: Sequence[str]) -> tuple[list[list[int]], tuple[str, ...]] | None:
    """Column numbers and a name for each player; columns that no group names stay players of their own."""
    if groups is None:
        return None
    pairs = list(groups.items()) if isinstance(groups, Mapping) else [(_joined(group), group) for group in groups]
    if empty := [name for name, columns in pairs if not columns]:
        raise ValueError(f"the groups {empty} cover no column: leave them out.")
    members = {name: [_column(column, names) for column in columns] for name, columns in pairs}
    listed = [_column(column, names) for _, columns in pairs for column in columns]
    if repeated := _repeated(listed):
        raise ValueError(
            f"columns {[names[column] for column in repeated]} are in more than one group: groups must not overlap."
        )
    alone = {names[column]: [column] for column in range(len(names)) if column not in listed}
    if clash := sorted(alone.keys() & members.keys()):
        raise ValueError(f"the groups {clash} have the names of columns that are in no group: rename the groups.")
    members |= alone
    order = sorted(members, key=lambda name: members[name][0])
    return [members[name] for name in order], tuple(order)


def _numeric(array, what: str, names: Sequence[str]):
    if array.shape[0] == 0:
        raise ValueError(f"{what} has no rows.")
    if array.dtype.kind in "biuf" or (array.dtype.kind == "V" and isinstance(array, jax.Array)):  # V: bfloat16
        return array
    bad = [name for name, column in zip(names, array.T, strict=True) if not _is_numeric(column)]
    if bad:
        raise TypeError(
            f"{what} has columns that are not numbers: {bad}. Encode them first; "
            "one-hot columns can be one player (groups=)."
        )
    return array.astype(np.float64)


def _is_numeric(column: np.ndarray) -> bool:
    """Whether a column of objects holds numbers; text that looks like a number is still text."""
    if column.dtype.kind in "US" or any(isinstance(entry, str) for entry in column):
        return False
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _is_traceable(model: Callable, on_host: Callable, rows: np.ndarray) -> bool:
    """Whether JAX can trace it. A model that fails both ways has a fault of its own, and that is shown."""
    try:
        jax.eval_shape(model, jax.ShapeDtypeStruct((2, rows.shape[1]), jax.numpy.result_type(float)))
    except Exception:
        on_host(rows[:2])
        return False
    return True


def _by_name(owner, method: Callable, names: Sequence[str], named: bool) -> Callable:
    """A model fitted on a DataFrame gets DataFrames with the same columns, as it expects."""
    if not named or not hasattr(owner, "feature_names_in_"):
        return method
    import pandas as pd

    return lambda rows: method(pd.DataFrame(rows, columns=list(names)))


def _column(column: str | int, names: Sequence[str]) -> int:
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"a group names the column {column!r}, which X does not have: it has {list(names)}.")
        return list(names).index(column)
    if not 0 <= column < len(names):
        raise ValueError(f"a group names column {column}, but X has columns 0..{len(names) - 1}.")
    return int(column)


def _joined(group: Sequence[str | int]) -> str:
    return "+".join(map(str, group))


def _repeated(items: Sequence) -> list:
    return sorted({item for item in items if items.count(item) > 1})
