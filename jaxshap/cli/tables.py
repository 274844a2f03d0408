"""Tables from files, and the columns of them that are features."""

import difflib
import pathlib
from collections.abc import Sequence
from typing import Any

from jaxshap.cli.exits import UsageError
from jaxshap.cli.models import Saved


def read_frame(name: str, role: str) -> Any:
    """A pandas DataFrame from a CSV or Parquet file; messages call it by its role."""
    path = pathlib.Path(name)
    try:
        import pandas as pd
    except ImportError as error:
        raise UsageError('reading tables needs pandas: pip install "jaxshap[examples]"') from error
    if not path.is_file():
        raise UsageError(f"there is no file {name!r}: check the path of {role}.")
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise UsageError(f"{role} {name!r} must end in .csv or .parquet.")
    try:
        frame = pd.read_csv(path) if path.suffix.lower() == ".csv" else pd.read_parquet(path)
    except ImportError as error:
        raise UsageError(f"reading {name} needs pyarrow: pip install pyarrow") from error
    except Exception as error:
        raise UsageError(f"{role} {name!r} cannot be read: {error}") from error
    if not len(frame) or not len(frame.columns):
        raise UsageError(f"{role} {name!r} is empty.")
    return frame.rename(columns=str)


def without(frame: Any, columns: Sequence[str], role: str) -> Any:
    """The frame less these columns, all of which it must have."""
    for column in columns:
        if column not in frame.columns:
            near = difflib.get_close_matches(column, frame.columns, 1)
            hint = f" Did you mean {near[0]!r}?" if near else f" It has {list(frame.columns)}."
            raise UsageError(f"{role} has no column {column!r}.{hint}")
    return frame.drop(columns=list(columns))


def features_of(frame: Any, saved: Saved, role: str) -> Any:
    """The columns that the model knows, in its order; all of them where it knows no names."""
    if saved.columns is None:
        if saved.num_columns not in (None, len(frame.columns)):
            raise UsageError(
                f"the model expects {saved.num_columns} columns and {role} has "
                f"{len(frame.columns)}: {list(frame.columns)}. Name those that are not features "
                "with --target or --drop."
            )
        return frame
    # LightGBM writes blanks in names as underscores
    columns = {column.replace(" ", "_"): column for column in frame.columns}
    columns |= {column: column for column in frame.columns}
    if missing := [column for column in saved.columns if column not in columns]:
        raise UsageError(f"{role} lacks the columns {missing} that the model was fitted with.")
    return frame[[columns[column] for column in saved.columns]]
