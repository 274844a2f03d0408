"""Columns of text in tables from files: who takes them, and in which dtype."""

from typing import Any

from jaxshap.cli.exits import UsageError
from jaxshap.trees import unwrap


def text_columns(table: Any) -> list[str]:
    """The columns of a DataFrame that do not hold numbers."""
    return [name for name in table.columns if not _holds_numbers(table[name].dtype)]


def as_fitted(model: Any, table: Any) -> Any:
    """The table with columns of text as the model takes them: categories for trees, as a file
    cannot say so itself.
    """
    if table is None or not (names := text_columns(table)):
        return table
    if unwrap(model) is not None:
        return table.astype(dict.fromkeys(names, "category"))
    if not any(hasattr(model, known) for known in ("feature_names_in_", "feature_names_")):
        raise UsageError(
            f"the columns {names} are not numbers, and only a pickled model that was fitted on a "
            "DataFrame, such as a scikit-learn pipeline, takes them as they are: encode them "
            "first, or leave them out with --drop."
        )
    return table


def _holds_numbers(dtype: Any) -> bool:
    """Whether a column is numeric, by numpy's kinds or pandas' own numbers with missing entries."""
    is_nullable = getattr(dtype, "_is_numeric", False) or getattr(dtype, "_is_boolean", False)
    return dtype.kind in "biuf" or bool(is_nullable)
