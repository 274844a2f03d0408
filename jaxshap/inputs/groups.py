"""Columns by name or number, and groups of columns that play together."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import shown
from jaxshap.inputs.tables import is_list, repeated

Groups = Mapping[str, Sequence[str | int]] | Sequence[Sequence[str | int]]


def read_groups(
    groups: Groups | None, names: Sequence[str]
) -> tuple[list[list[int]], tuple[str, ...]] | None:
    """Column numbers and a name for each player; columns that no group names stay players of their
    own.
    """
    if groups is None:
        return None
    pairs = _named_groups(groups)
    if empty := [name for name, columns in pairs if not columns]:
        raise InputError(f"the groups {empty} cover no column: leave them out.")
    members = {
        name: [column_number(column, names, "a group") for column in columns]
        for name, columns in pairs
    }
    listed = [column_number(column, names, "a group") for _, columns in pairs for column in columns]
    if listed_twice := repeated(listed):
        raise InputError(
            f"columns {[names[column] for column in listed_twice]} are in more than one group: "
            "groups must not overlap."
        )
    if same := repeated([name for name, _ in pairs]):
        raise InputError(f"several groups have the names {same}: rename them.")
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
                f"{what} names the column {column!r}, which the table does not have: it has "
                f"{list(names)}."
            )
        return list(names).index(column)
    if isinstance(column, bool) or not isinstance(column, int | np.integer):
        raise InputError(f"{what} has {shown(column)} for a column: pass a name or a number.")
    if not 0 <= column < len(names):
        raise InputError(
            f"{what} names column {column}, but the table has columns 0..{len(names) - 1}."
        )
    return int(column)


def column_numbers(columns: Any, names: Sequence[str], what: str) -> list[int]:
    """Of one column or several, each of them once."""
    several = list(columns) if is_list(columns) and not isinstance(columns, str) else [columns]
    found = [column_number(one, names, what) for one in several]
    if listed_twice := repeated(found):
        raise InputError(
            f"{what} names the columns {[names[column] for column in listed_twice]} more than once."
        )
    return found


def column_groups(transformer) -> dict[str, list[int]]:
    """Groups for `explain` from a fitted ColumnTransformer.

    They are the output columns that each input column became: one-hot columns are one player, and
    columns that a step mixes, such as a projection, are one player together.

    Args:
        transformer: a fitted scikit-learn ColumnTransformer.

    Returns:
        The numbers of the output columns by the name of the input column.

    Raises:
        InputTypeError: it is no fitted ColumnTransformer.

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
        names = names_of_step(transformer, columns)
        counts = _outputs_of_each(step, len(names), len(outputs))
        if counts is None:
            names, counts = ["+".join(names)], [len(outputs)]
        for column, count in zip(names, counts, strict=True):
            found.setdefault(column, []).extend(outputs[:count])
            outputs = outputs[count:]
    return found


def names_of_step(transformer: Any, columns: Any) -> list[str]:
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


def _named_groups(groups: Any) -> list[tuple[str, list]]:
    """A name and the columns of each group; arrays are lists of columns."""
    if isinstance(groups, str) or not is_list(groups):
        raise InputTypeError(
            f"groups={shown(groups)}: pass lists of columns, or a dict of them by name."
        )
    named = isinstance(groups, Mapping)
    pairs = list(groups.items()) if named else [(None, group) for group in groups]
    for _, columns in pairs:
        if isinstance(columns, str) or not is_list(columns):
            raise InputTypeError(
                f"a group is {shown(columns)}: pass a list of columns, such as [{shown(columns)}]."
            )
    lists = [(name, list(columns)) for name, columns in pairs]
    return [
        (str(name) if named else "+".join(map(str, columns)), columns) for name, columns in lists
    ]
