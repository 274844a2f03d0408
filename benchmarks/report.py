"""What the benchmarks share: a table printed and stored beside its script, and data files."""

import argparse
import math
import pathlib
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def write_table(
    script: str,
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence],
    notes: Sequence[str] = (),
    *,
    store: bool = True,
    variant: str = "",
) -> str:
    """Print a Markdown table and store it beside the script, with its command and its commit.

    Under the name of the script, and that of a `variant` where one script has several tables.
    """
    path = pathlib.Path(script)
    origin = f"Made by `{command(path.name)}` at {commit(path.parent)}."
    text = "\n".join([f"# {title}", "", table(header, rows), "", *notes, "", origin, ""])
    if store:
        path.with_name(path.stem + variant + ".md").write_text(text)
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


ORIGINS = {
    "credit_default.npz": "UCI, Default of Credit Card Clients (Yeh & Lien 2009)",
    "mnist.npz": "MNIST (LeCun, Cortes & Burges), all 70,000 digits with the array names of Keras",
    "compas.csv.gz": "compas-scores-two-years.csv of github.com/propublica/compas-analysis",
    "nhanes.npz": "NHANES I (CDC), the 18 features kept in data/ of github.com/shap/shap",
    "reference.json": "errors that published code made on games.npz, worths with known values; "
    "neither is part of this repository",
}


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """--data, the folder of the data files; by default `data` beside the folder of benchmarks."""
    folder = pathlib.Path(__file__).resolve().parents[1] / "data"
    parser.add_argument("--data", type=pathlib.Path, default=folder, help="folder of data files")


def data_file(folder: pathlib.Path, name: str, option: str = "--data") -> pathlib.Path:
    """A data file; where it is missing, says so and where it comes from, and ends with status 2."""
    path = folder / name
    if not path.exists():
        print(
            f"{name} is not in {folder}: pass {option} FOLDER, the folder that holds it. "
            f"It comes from {ORIGINS[name]}.",
            file=sys.stderr,
        )
        raise SystemExit(2)
    return path


def measured(mean: float, error: float, digits: int = 2) -> str:
    """A mean and its standard error, with as many decimals as the error leaves."""
    if not math.isfinite(error):
        return f"{mean:.3g}"
    if error <= 1e-12 * abs(mean):  # the same each time, but for rounding
        return f"{mean:.3g} ± 0"
    decimals = max(0, digits - 1 - math.floor(math.log10(error)))
    if decimals > 6:
        return f"{mean:.3e} ± {error:.1e}"
    return f"{mean:.{decimals}f} ± {error:.{decimals}f}"


def jackknife(statistic: Callable[..., Any], *samples: np.ndarray) -> np.ndarray:
    """The standard error of a statistic of samples, their first axis: leaving out one at a time."""
    count = len(samples[0])
    without = np.array(
        [statistic(*(np.delete(sample, k, axis=0) for sample in samples)) for k in range(count)]
    )
    return np.sqrt((count - 1) * without.var(0))


def read_measured(cell: str) -> tuple[float, float]:
    """The mean and the standard error in a cell that `measured` wrote."""
    mean, error = cell.split(" ± ")
    return float(mean), float(error)
