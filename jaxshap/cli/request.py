"""What the command line was asked to explain, read from its options."""

import argparse
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxshap.cli.categories import as_fitted, text_columns
from jaxshap.cli.exits import UsageError
from jaxshap.cli.models import Saved, read_saved
from jaxshap.cli.tables import features_of, read_frame, without
from jaxshap.trees import unwrap

SAMPLE_ROWS = 100  # of DATA, which stand in for a background where none is named


class Request(NamedTuple):
    """A model and tables for `explain`, and what the report says about them.

    `exact` marks a tree ensemble, and `by_position` a model that knows how many columns it takes
    but not their names.
    """

    model: Any
    rows: Any
    background: Any
    exact: bool
    by_position: bool
    labels: np.ndarray | None
    packages: tuple[str, ...]
    facts: dict[str, str]
    notes: list[str]


class Background(NamedTuple):
    """The table that absent features come from, None for path-dependent trees, and its name."""

    table: Any
    description: str


def read_request(options: argparse.Namespace, given: Sequence[str]) -> Request:
    """Read the model and the tables, and settle the features and the background."""
    if options.tol is not None and not options.tol > 0:
        raise UsageError(f"--tol {options.tol}: pass a positive share of the spread, such as 0.01.")
    if options.seconds is not None and not options.seconds > 0:
        raise UsageError(f"--seconds {options.seconds}: pass a positive number, such as 60.")
    frame = read_frame(options.data, "DATA")
    saved = read_saved(options.model)
    target = [] if options.target is None else [options.target]
    candidates = without(frame, target + options.drop, "DATA")
    table = features_of(candidates, saved, "DATA")
    exact = unwrap(saved.model) is not None and options.estimator is None
    background = _read_background(options, saved, table, exact)
    model = saved.model if exact or saved.predict is None else saved.predict
    rows = table.iloc[: options.rows]
    texts = text_columns(table)
    omitted = [name for name in candidates.columns if name not in table.columns]
    count = (
        f"the first {len(rows):,} of {len(frame):,}"
        if len(rows) < len(frame)
        else f"all {len(frame):,}"
    )
    facts = {
        "Model": f"{options.model} ({saved.kind})",
        "Data": f"{count} rows of {options.data}"
        + (f"; left out: {', '.join(omitted)}" if omitted else ""),
        "Background": background.description,
    }
    if texts:
        coding = "codes in explanation.npz, sorted; the off-manifold share takes these for numbers"
        facts["Columns of text"] = f"{', '.join(texts)} ({coding})"
    if options.target is not None:
        facts["True labels"] = f"column {options.target}"
    facts["Command"] = shlex.join(["python", "-m", "jaxshap", *given])
    return Request(
        model=model,
        rows=as_fitted(model, rows),
        background=as_fitted(model, background.table),
        exact=exact,
        by_position=saved.columns is None and saved.num_columns is not None,
        labels=None if options.target is None else frame[options.target].to_numpy()[: len(rows)],
        packages=saved.packages,
        facts=facts,
        notes=_notes(options, exact, omitted, background),
    )


def _read_background(
    options: argparse.Namespace, saved: Saved, table: Any, exact: bool
) -> Background:
    """From its own file, or a sample of the rows to explain, or none for a tree ensemble."""
    if options.background is not None:
        own = read_frame(options.background, "the background")
        known = saved if saved.columns is not None else saved._replace(columns=tuple(table.columns))
        rows = features_of(own, known, "the background").set_axis(table.columns, axis=1)
        file, limit = options.background, options.background_rows
    elif exact and options.background_rows is None:
        return Background(None, "none: the training counts in the trees")
    else:
        rows, file, limit = table, options.data, options.background_rows or SAMPLE_ROWS
    if limit is None or limit >= len(rows):
        return Background(rows, f"all {len(rows):,} rows of {file}")
    chosen = np.sort(np.random.default_rng(options.key).choice(len(rows), limit, replace=False))
    description = f"a random sample of {limit:,} of the {len(rows):,} rows of {file}"
    return Background(rows.iloc[chosen], description)


def _notes(
    options: argparse.Namespace, exact: bool, omitted: list[str], background: Background
) -> list[str]:
    """What a reader must know first."""
    notes = []
    if omitted:
        notes.append(f"Left out, since the model does not know them: {', '.join(omitted)}.")
    if options.background is None and background.table is not None:
        notes.append(f"The background is {background.description}: pass --background to choose it.")
    spending = options.budget, options.tol, options.seconds
    if exact and any(option is not None for option in spending):
        notes.append(
            "Tree ensembles are explained exactly: --budget, --tol and --seconds were not needed."
        )
    return notes
