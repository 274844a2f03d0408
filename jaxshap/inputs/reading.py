"""What people pass in, checked at the door: tables with or without names, other inputs, models,
groups of columns.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxshap.errors import InputError, InputTypeError, MissingExtraError
from jaxshap.games import Host
from jaxshap.inputs.background import WeightedRows
from jaxshap.inputs.players import Players

Groups = Mapping[str, Sequence[str | int]] | Sequence[Sequence[str | int]]


class Inputs(NamedTuple):
    """Rows and references, who plays, and what the result shows of them."""

    rows: Any
    references: Any
    options: dict[
        str, Any
    ]  # of the value function: weights of the references, players, where there are any
    groups: list[list[int]] | None  # of columns
    names: tuple[str, ...]  # of the players
    columns: tuple[str, ...] | None  # of a table that has names
    data: Any


class Table(NamedTuple):
    """A numeric table and the names of its columns."""

    array: Any
    names: tuple[str, ...]
    named: bool  # whether the names came with the data


class Model(NamedTuple):
    """A function of a batch of rows, in JAX or on the host, and the names of its outputs where it
    has them.
    """

    predict: Callable
    output_names: tuple[str, ...] | None


def read_inputs(
    X, background, groups: Groups | Players | None, feature_names: Sequence[str] | None
) -> Inputs:
    """A table, whose columns or groups of columns play, or anything that `Players` divide."""
    background, options = read_weights(background)
    if isinstance(groups, Players):
        rows, references = (jax.tree.map(_as_leaf, part) for part in (X, background))
        groups.check(rows, "X")
        groups.check(references, "the background")
        if feature_names is not None and len(feature_names) != len(groups):
            raise InputError(
                f"there are {len(feature_names)} feature_names for {len(groups)} players."
            )
        names = groups.names if feature_names is None else tuple(map(str, feature_names))
        return Inputs(
            rows, references, options | {"players": groups}, None, names, None, _shown(rows)
        )
    table = read_table(X, "X", feature_names)
    references = read_background(background, table)
    columns, names = read_groups(groups, table.names) or (None, table.names)
    named = table.names if table.named else None
    return Inputs(table.array, references, options, columns, names, named, np.asarray(table.array))


def read_weights(background) -> tuple[Any, dict[str, Any]]:
    """A background and the weights that may come with it, as from `kmeans`."""
    if isinstance(background, WeightedRows):
        return background.rows, {"weights": background.weights}
    return background, {}


def read_table(data, what: str, columns: Sequence[str] | None = None) -> Table:
    """A table from a DataFrame, an array or a list of rows; a DataFrame's columns are matched to
    `columns` by name.
    """
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        present = [str(name) for name in data.columns]
        if len(set(present)) < len(present):
            raise InputError(
                f"{what} has several columns of one name: {_repeated(present)}. Rename them."
            )
        wanted = present if columns is None else list(columns)
        if missing := [name for name in wanted if name not in present]:
            raise InputError(f"{what} lacks the columns {missing}; it has {present}.")
        if extra := [name for name in present if name not in wanted]:
            raise InputError(f"{what} has columns that are not expected: {extra}. Leave them out.")
        data = data.to_numpy()[:, [present.index(name) for name in wanted]]
        return Table(_numeric(data, what, wanted), tuple(wanted), True)
    array = data if isinstance(data, jax.Array) else np.asarray(data)
    if array.ndim != 2 or 0 in array.shape:
        hint = " A single row is X[None]." if array.ndim == 1 and array.size else ""
        raise InputError(
            f"{what} must be a non-empty table (rows, features), not of shape {array.shape}.{hint}"
        )
    if columns is not None and array.shape[1] != len(columns):
        raise InputError(
            f"{what} has {array.shape[1]} columns, and {len(columns)} are expected: {list(columns)}."
        )
    names = tuple(columns) if columns is not None else tuple(f"x{i}" for i in range(array.shape[1]))
    return Table(_numeric(array, what, names), names, columns is not None)


def read_background(background, table: Table):
    """Reference rows with the columns of the table, matched by name where both have names."""
    if not table.named and hasattr(background, "columns"):
        raise InputError(
            "the background has column names and X has none: pass both as DataFrames, or both as arrays."
        )
    return read_table(background, "the background", table.names).array


def read_model(model, inputs: Inputs) -> Model:
    """A traceable function as it is; a fitted estimator or a function JAX cannot trace, on the
    host.
    """
    if isinstance(model, Host):
        return Model(model, None)
    if _is_torch(model):
        return Model(Host(_torch_call(model)), None)
    if not callable(model):
        method = getattr(model, "predict_proba", None) or getattr(model, "predict", None)
        if method is None:
            raise InputTypeError(
                f"a model is a function of rows or has predict or predict_proba: {type(model).__name__} is not."
            )
        classes = getattr(model, "classes_", None) if hasattr(model, "predict_proba") else None
        output_names = None if classes is None else tuple(map(str, classes))
        return Model(Host(_by_name(model, method, inputs.columns)), output_names)
    on_host = _by_name(getattr(model, "__self__", None), model, inputs.columns)
    return Model(model if _is_traceable(model, on_host, inputs) else Host(on_host), None)


def own_columns(model: Any, X: Any, feature_names: Sequence[str] | None) -> Sequence[str] | None:
    """The columns a model was fitted with, in its order, where X has names."""
    columns = getattr(model, "feature_names_in_", None)
    if columns is None or (feature_names is None and not hasattr(X, "columns")):
        return feature_names
    return list(map(str, columns))


def read_output_names(
    output_names: Sequence[str] | None, classes: tuple[str, ...] | None, shape: tuple[int, ...]
) -> tuple[str, ...] | None:
    """Names of outputs of this shape, checked: those given, or those of the model's classes."""
    names = classes if output_names is None else tuple(map(str, output_names))
    if names is not None and shape != (len(names),):
        raise InputError(f"there are {len(names)} output_names for outputs of shape {shape}.")
    return names


def read_groups(
    groups: Groups | None, names: Sequence[str]
) -> tuple[list[list[int]], tuple[str, ...]] | None:
    """Column numbers and a name for each player; columns that no group names stay players of their
    own.
    """
    if groups is None:
        return None
    pairs = (
        list(groups.items())
        if isinstance(groups, Mapping)
        else [(_joined(group), group) for group in groups]
    )
    if empty := [name for name, columns in pairs if not columns]:
        raise InputError(f"the groups {empty} cover no column: leave them out.")
    members = {
        name: [column_number(column, names, "a group") for column in columns]
        for name, columns in pairs
    }
    listed = [column_number(column, names, "a group") for _, columns in pairs for column in columns]
    if repeated := _repeated(listed):
        raise InputError(
            f"columns {[names[column] for column in repeated]} are in more than one group: groups must not overlap."
        )
    alone = {names[column]: [column] for column in range(len(names)) if column not in listed}
    if clash := sorted(alone.keys() & members.keys()):
        raise InputError(
            f"the groups {clash} have the names of columns that are in no group: rename the groups."
        )
    members |= alone
    order = sorted(members, key=lambda name: members[name][0])
    return [members[name] for name in order], tuple(order)


def column_number(column: str | int, names: Sequence[str], what: str) -> int:
    """Of a column given by name or number; `what` is who gave it."""
    if isinstance(column, str):
        if column not in names:
            raise InputError(
                f"{what} names the column {column!r}, which the table does not have: it has {list(names)}."
            )
        return list(names).index(column)
    if isinstance(column, bool) or not isinstance(column, int | np.integer):
        raise InputError(f"{what} has {column!r} for a column: pass a name or a number.")
    if not 0 <= column < len(names):
        raise InputError(
            f"{what} names column {column}, but the table has columns 0..{len(names) - 1}."
        )
    return int(column)


def column_numbers(
    columns: str | int | Sequence[str | int], names: Sequence[str], what: str
) -> list[int]:
    """Of one column or several, each of them once."""
    several = (
        list(columns)
        if isinstance(columns, Iterable) and not isinstance(columns, str)
        else [columns]
    )
    found = [column_number(one, names, what) for one in several]
    if repeated := _repeated(found):
        raise InputError(
            f"{what} names the columns {[names[column] for column in repeated]} more than once."
        )
    return found


def column_groups(transformer) -> dict[str, list[int]]:
    """Groups for `explain` from a fitted ColumnTransformer: the output columns that each input
    column became.

    One-hot columns are one player; columns that a step mixes (a projection, say) are one player
    together.

    Example:
        >>> import jaxshap
        >>> from sklearn.compose import ColumnTransformer
        >>> from sklearn.preprocessing import OneHotEncoder
        >>> steps = [("coded", OneHotEncoder(), [0]), ("same", "passthrough", [1])]
        >>> jaxshap.column_groups(ColumnTransformer(steps).fit([[0, 1.5], [1, 2.5], [2, 0.5]]))
        {'x0': [0, 1, 2], 'x1': [3]}
    """
    steps = getattr(transformer, "transformers_", None)
    if steps is None:
        raise InputTypeError(
            f"column_groups needs a fitted ColumnTransformer, not {type(transformer).__name__}."
        )
    found: dict[str, list[int]] = {}
    for name, step, columns in steps:
        where = transformer.output_indices_[name]
        outputs = list(range(where.start, where.stop))
        if not outputs:
            continue
        names = _input_names(transformer, columns)
        counts = _outputs_of_each(step, len(names), len(outputs))
        if counts is None:
            names, counts = ["+".join(names)], [len(outputs)]
        for column, count in zip(names, counts, strict=True):
            found.setdefault(column, []).extend(outputs[:count])
            outputs = outputs[count:]
    return found


def _input_names(transformer, columns) -> list[str]:
    """Names of the columns that a step takes, given by name, number, slice or mask."""
    known = getattr(transformer, "feature_names_in_", None)
    if known is None:
        known = np.array([f"x{number}" for number in range(transformer.n_features_in_)])
    if isinstance(columns, str):
        return [columns]
    if isinstance(columns, slice) or np.asarray(columns).dtype.kind in "biu":
        return list(map(str, np.atleast_1d(known[columns])))
    return list(map(str, columns))


def _outputs_of_each(step, inputs: int, outputs: int) -> list[int] | None:
    """How many columns a step makes of each of its own; None where it cannot be told."""
    last = (
        step[-1] if hasattr(step, "steps") else step
    )  # of a pipeline: what comes before must keep the columns
    categories = getattr(last, "categories_", None)
    if categories is not None and len(categories) == inputs and outputs != inputs:
        counts = [len(one) for one in categories]
        for number, rare in enumerate(getattr(last, "infrequent_categories_", [None] * inputs)):
            counts[number] -= 0 if rare is None else len(rare) - 1
        dropped = getattr(last, "drop_idx_", None)
        for number, gone in enumerate([None] * inputs if dropped is None else dropped):
            counts[number] -= gone is not None
        return counts if sum(counts) == outputs else None
    return [1] * inputs if inputs == outputs else None


def _as_leaf(part):
    return part if isinstance(part, jax.Array) else np.asarray(part)


def _shown(rows) -> Any:
    """One array as it is; several by name."""
    paths, _ = jax.tree_util.tree_flatten_with_path(rows)
    named = {
        jax.tree_util.keystr(path, simple=True, separator="."): np.asarray(leaf)
        for path, leaf in paths
    }
    return next(iter(named.values())) if len(named) == 1 else named


def _numeric(array, what: str, names: Sequence[str]):
    if array.shape[0] == 0:
        raise InputError(f"{what} has no rows.")
    if array.dtype.kind in "biuf" or (
        array.dtype.kind == "V" and isinstance(array, jax.Array)
    ):  # V: bfloat16
        return array
    bad = [name for name, column in zip(names, array.T, strict=True) if not _is_numeric(column)]
    if bad:
        raise InputTypeError(
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


def _is_traceable(model: Callable, on_host: Callable, inputs: Inputs) -> bool:
    """Whether JAX can trace it. A model that fails both ways has a fault of its own, and that is
    shown.
    """

    def two(part):  # tables become floating-point numbers, other inputs stay what they are
        dtype = part.dtype if "players" in inputs.options else jax.numpy.result_type(float)
        return jax.ShapeDtypeStruct((2, *part.shape[1:]), jax.dtypes.canonicalize_dtype(dtype))

    try:
        jax.eval_shape(model, jax.tree.map(two, inputs.rows))
    except Exception:
        on_host(jax.tree.map(lambda part: np.asarray(part[:2]), inputs.rows))
        return False
    return True


def _is_torch(model) -> bool:
    return any(kind.__module__ == "torch.nn.modules.module" for kind in type(model).__mro__)


def _torch_call(module) -> Callable:
    """A torch module on numpy batches, without gradients; in the mode that it is in."""

    torch = sys.modules["torch"]  # imported by whoever made the module

    def call(batch):
        weights = next(module.parameters(), None)

        def tensor(part):
            found = torch.as_tensor(part)
            if weights is None:
                return found
            return found.to(weights.device, weights.dtype if found.is_floating_point() else None)

        with torch.no_grad():
            return module(jax.tree.map(tensor, batch)).cpu().numpy()

    return call


def _by_name(owner, method: Callable, names: Sequence[str] | None) -> Callable:
    """A model fitted on a DataFrame gets DataFrames with the same columns, as it expects."""
    if names is None or not hasattr(owner, "feature_names_in_"):
        return method
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(
            "a model that was fitted on named columns gets DataFrames, which need pandas: "
            'pip install "jaxshap[examples]".'
        ) from error
    return lambda rows: method(pd.DataFrame(rows, columns=list(names)))


def _joined(group: Sequence[str | int]) -> str:
    return "+".join(map(str, group))


def _repeated(items: Sequence) -> list:
    return sorted({item for item in items if items.count(item) > 1})
