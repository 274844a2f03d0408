"""What the benchmarks share: a table printed and written beside its script, and paths that may be
missing.
"""

import argparse
import pathlib
import sys
from collections.abc import Sequence


def write_table(
    script: str,
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence],
    notes: Sequence[str] = (),
) -> str:
    """Print a Markdown table and write it next to the script, with the command that makes it."""
    cells = [
        [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row]
        for row in [header, *rows]
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    path = pathlib.Path(script)
    text = "\n".join(
        [f"# {title}", "", *lines, "", *notes, "", f"Made by `python benchmarks/{path.name}`.", ""]
    )
    path.with_suffix(".md").write_text(text)
    print(text)
    return text


def data_file(options: argparse.Namespace, name: str) -> pathlib.Path:
    """A data file in the folder given as --data; says what is missing and ends with status 2
    otherwise.
    """
    path = pathlib.Path(options.data) / name if options.data else None
    if path is None or not path.exists():
        print(
            f"{name} is needed: pass --data FOLDER, the folder that holds it (looked at: {path}).",
            file=sys.stderr,
        )
        raise SystemExit(2)
    return path
