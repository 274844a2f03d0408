"""What the command line was asked to explain, read from its options."""

import argparse
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxshap.cli.categories import encode, text_columns
from jaxshap.cli.files import Saved, UsageError, features_of, read_frame, read_saved, without
from jaxshap.trees import is_tree_model

SAMPLE = 100  # rows of DATA that stand for a background


class Request(NamedTuple):
    """A model and tables for `explain`, and what the report says of them.

    `exact` are tree ensembles, `by_position` models that know how many columns they take and not
    their names.
    """

    model: Any
    rows: Any
    background: Any
    exact: bool
    by_position: bool
    output_names: tuple[str, ...] | None
    labels: np.ndarray | None
    texts: dict[str, list[str]]
    packages: tuple[str, ...]
    facts: dict[str, str]
    notes: list[str]


def read_request(options: argparse.Namespace, given: Sequence[str]) -> Request:
    """Read the model and the tables, and settle what is a feature and what the background is."""
    if options.tol is not None and not options.tol > 0:
        raise UsageError(f"--tol {options.tol}: pass a positive share of the spread, such as 0.01.")
    frame = read_frame(options.data, "DATA")
    saved = read_saved(options.model)
    features = without(
        frame, [options.target] * (options.target is not None) + options.drop, "DATA"
    )
    table = features_of(features, saved, "DATA")
    exact = is_tree_model(saved.model) and options.estimator is None and not text_columns(table)
    background, named = _background(options, saved, table, exact)
    model = saved.model if exact or saved.predict is None else saved.predict
    rows = table.iloc[: options.rows]
    encoded = encode(model, rows, background)
    left_out = [name for name in features.columns if name not in table.columns]
    part = (
        f"the first {len(rows):,} of {len(frame):,}"
        if len(rows) < len(frame)
        else f"all {len(frame):,}"
    )
    facts = {
        "Model": f"{options.model} ({saved.kind})",
        "Data": f"{part} rows of {options.data}"
        + (f"; left out: {', '.join(left_out)}" if left_out else ""),
        "Background": named,
    }
    if encoded.texts:
        how = "codes in explanation.npz, sorted; the off-manifold share takes these for numbers"
        facts["Columns of text"] = f"{', '.join(encoded.texts)} ({how})"
    if options.target is not None:
        facts["True labels"] = f"column {options.target}"
    facts["Command"] = shlex.join(["python", "-m", "jaxshap", *given])
    return Request(
        *encoded[:3],
        exact=exact,
        by_position=saved.columns is None and saved.num_columns is not None,
        output_names=encoded.output_names,
        labels=None if options.target is None else frame[options.target].to_numpy()[: len(rows)],
        texts=encoded.texts,
        packages=saved.packages,
        facts=facts,
        notes=_notes(options, exact, left_out, named),
    )


def _background(
    options: argparse.Namespace, saved: Saved, table: Any, exact: bool
) -> tuple[Any, str]:
    """The table that absent features come from, or None for path-dependent trees; and what to call
    it.
    """
    if options.background is not None:
        other = read_frame(options.background, "the background")
        known = saved if saved.columns is not None else saved._replace(columns=tuple(table.columns))
        found, name, most = (
            features_of(other, known, "the background"),
            options.background,
            options.background_rows,
        )
        found = found.set_axis(table.columns, axis=1)
    elif exact and options.background_rows is None:
        return None, "none: the training counts in the trees"
    else:
        found, name, most = table, options.data, options.background_rows or SAMPLE
    if most is None or most >= len(found):
        return found, f"all {len(found):,} rows of {name}"
    chosen = np.sort(np.random.default_rng(options.key).choice(len(found), most, replace=False))
    return found.iloc[chosen], f"a random sample of {most:,} of the {len(found):,} rows of {name}"


def _notes(options: argparse.Namespace, exact: bool, left_out: list[str], named: str) -> list[str]:
    """What a reader must know first."""
    notes = []
    if left_out:
        notes.append(f"Left out, since the model does not know them: {', '.join(left_out)}.")
    if options.background is None and not named.startswith("none"):
        notes.append(f"The background is {named}: pass --background to choose it.")
    if exact and (options.budget is not None or options.tol is not None):
        notes.append("Tree ensembles are explained exactly: --budget and --tol were not needed.")
    return notes
