"""The folder of a report: whether it may be written, and the values in it."""

import csv
import importlib.util
import pathlib

from jaxshap.cli.exits import UsageError
from jaxshap.explaining import Explanation

OWN_FILES = ("report.html", "explanation.npz", "values.parquet", "values.csv")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for a formula


def check_folder(folder: pathlib.Path, force: bool) -> None:
    """Refuse a folder whose report would be overwritten unasked."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: pass another --out.")
    if not force and any((folder / name).exists() for name in OWN_FILES):
        raise UsageError(
            f"{folder} has a report already: pass --force to overwrite it, or another --out."
        )


def write_values(explanation: Explanation, folder: pathlib.Path) -> str:
    """Write the values, which took the evaluations, before the report; returns the table's name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in OWN_FILES:
        (folder / name).unlink(missing_ok=True)
    explanation.save(folder / "explanation.npz")
    frame = explanation.to_frame()
    if importlib.util.find_spec("pyarrow") is None:
        texts = frame.select_dtypes(exclude="number")
        frame[texts.columns] = texts.map(_as_text)
        frame.to_csv(folder / "values.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
        return "values.csv"
    frame.to_parquet(folder / "values.parquet", index=False)
    return "values.parquet"


def _as_text(name: str) -> str:
    """A name that a spreadsheet would run as a formula gets an apostrophe in front."""
    return f"'{name}" if name.startswith(FORMULA_STARTS) else name
