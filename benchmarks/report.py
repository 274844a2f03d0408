"""What the benchmarks share: a table printed and stored beside its script, and data files."""

import argparse
import pathlib
import shlex
import subprocess
import sys
from collections.abc import Sequence


def write_table(
    script: str,
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence],
    notes: Sequence[str] = (),
    *,
    store: bool = True,
) -> str:
    """Print a Markdown table and store it beside the script, with its command and its commit."""
    path = pathlib.Path(script)
    origin = f"Made by `{command(path.name)}` at {commit(path.parent)}."
    text = "\n".join([f"# {title}", "", table(header, rows), "", *notes, "", origin, ""])
    if store:
        path.with_suffix(".md").write_text(text)
    print(text)
    return text


def table(header: Sequence[str], rows: Sequence[Sequence]) -> str:
    """In Markdown."""
    cells = [
        [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row]
        for row in [header, *rows]
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def command(script: str) -> str:
    """The command that runs, without the places of folders and files, which differ by machine."""

    def shown(word: str) -> str:
        path = pathlib.Path(word)
        if not path.exists() or word.isdigit():
            return word
        return "FOLDER" if path.is_dir() else "FILE"

    return shlex.join(["python", f"benchmarks/{script}", *map(shown, sys.argv[1:])])


def commit(folder: pathlib.Path) -> str:
    """The commit of the code that runs, and whether the library or a script has changed since."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder.resolve()), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        name = git("rev-parse", "--short", "HEAD")
        changes = git("status", "--porcelain", "--", ":/jaxshap", ":/benchmarks/*.py")
    except (OSError, subprocess.CalledProcessError):
        return "an unknown commit"
    return f"commit {name}" + (", with uncommitted changes" if changes else "")


def data_file(options: argparse.Namespace, name: str) -> pathlib.Path:
    """A data file in the folder of --data; where it is missing, says so and ends with status 2."""
    path = pathlib.Path(options.data) / name if options.data else None
    if path is None or not path.exists():
        print(
            f"{name} is needed: pass --data FOLDER, the folder that holds it (looked at: {path}).",
            file=sys.stderr,
        )
        raise SystemExit(2)
    return path
