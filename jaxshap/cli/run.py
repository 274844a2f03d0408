"""python -m jaxshap explain: read, explain, diagnose, write."""

import argparse
import dataclasses
import pathlib
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxshap.cli.exits import REFUSALS, ExitCode
from jaxshap.cli.request import Request, read_request
from jaxshap.cli.writing import check_folder, write_values
from jaxshap.errors import EvaluationError, Interrupted, TimeWarning, ToleranceWarning
from jaxshap.estimators import ESTIMATORS
from jaxshap.explaining import Explanation, explain
from jaxshap.report import report_html
from jaxshap.trees import read_trees, unwrap
from jaxshap.trust import Diagnosis

ESTIMATOR_NAMES = {estimator.__name__.lower(): estimator for estimator in ESTIMATORS}
MAX_DIAGNOSED_TREE_ROWS = 100  # exact values take no evaluations, but their diagnosis does
MIN_DIAGNOSIS_BUDGET = 16  # coalitions
PATH_DEPENDENT = (
    "Path-dependent values come from training counts in the trees, not from a game that the model "
    "can be asked about: pass --background to have a diagnosis."
)
MARGIN = (
    "The output is the raw margin of the trees (log-odds), not a probability: pass --estimator to "
    "explain probabilities by sampling."
)


class Outcome(NamedTuple):
    """The values there are, the exit code, why they are not all, and warnings for the reader."""

    explanation: Explanation | None
    code: ExitCode = ExitCode.DONE
    reason: str = ""
    notes: tuple[str, ...] = ()


def run_explain(options: argparse.Namespace, given: Sequence[str]) -> int:
    """The exit code; refused input raises one of `REFUSALS`, and an early Ctrl-C goes through."""
    check_folder(options.out, options.force)
    request = read_request(options, given)
    if not options.quiet:
        print(f"Explaining {request.facts['Data']}. Background: {request.facts['Background']}.")
    outcome = _attempt(request, options)
    if outcome.explanation is None:
        print(f"error: {outcome.reason} Nothing was written.", file=sys.stderr)
        return outcome.code
    return _finish(request, outcome, outcome.explanation, options)


def _attempt(request: Request, options: argparse.Namespace) -> Outcome:
    """The values of all rows, or those that the evaluations before a failure amount to."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = Outcome(_explain(request, options))
        except REFUSALS:
            raise
        except Interrupted as stop:
            reason = f"interrupted after {len(stop.worths)} of {stop.planned} coalitions."
            outcome = Outcome(stop.explanation, ExitCode.INTERRUPTED, reason)
        except EvaluationError as stop:
            finite = stop.explanation is not None and np.isfinite(stop.explanation.values).any()
            salvaged = stop.explanation if finite else None
            reason = f"{stop}".rstrip(".") + "."
            outcome = Outcome(salvaged, ExitCode.MODEL_FAILED, reason)
        except Exception as error:
            traceback.print_exception(error, chain=False)
            outcome = Outcome(None, ExitCode.MODEL_FAILED, f"the model failed: {error!r}.")
    notes = []
    for warning in caught:
        if issubclass(warning.category, ToleranceWarning | TimeWarning):
            notes.append(f"{warning.message}")
            print(f"warning: {warning.message}", file=sys.stderr)
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if outcome.reason:
        notes.append(f"This is not all of it: {outcome.reason}")
    return outcome._replace(notes=tuple(notes))


def _explain(request: Request, options: argparse.Namespace, rows: int | None = None) -> Explanation:
    """Of the first `rows` rows, or all; features have the names they have in the table."""
    tables = request.rows.iloc[:rows], request.background
    if request.by_position:
        tables = [None if table is None else table.to_numpy() for table in tables]
    settings: dict[str, Any] = {}
    if not request.exact:
        settings = {
            "estimator": None
            if options.estimator is None
            else ESTIMATOR_NAMES[options.estimator](),
            "budget": options.budget,
            "tol": options.tol,
            "seconds": options.seconds,
            "key": options.key,
            "progress": _progress(options),
        }
    explanation = explain(request.model, *tables, **settings)
    return dataclasses.replace(explanation, feature_names=tuple(request.rows.columns))


def _finish(
    request: Request, outcome: Outcome, everything: Explanation, options: argparse.Namespace
) -> int:
    """Pick the output, write the values at once, diagnose, write the report."""
    explanation, refusal = _pick_output(everything, options.output)
    code = outcome.code or (ExitCode.WRONG_USAGE if refusal else ExitCode.DONE)
    notes, facts = [*request.notes, *outcome.notes], dict(request.facts)
    if refusal:
        print(f"error: {refusal}", file=sys.stderr)
        notes.append(refusal)
    elif options.output is not None:
        facts["Output"] = options.output
    if request.exact and _is_margin(request.model, everything):
        notes.append(MARGIN)
    table = write_values(explanation, options.out)
    diagnosis, undiagnosed = None, outcome.reason
    if outcome.code is ExitCode.DONE:
        try:
            diagnosis, undiagnosed = _diagnose(request, explanation, options)
        except KeyboardInterrupt:
            undiagnosed, code = "The diagnosis was interrupted.", ExitCode.INTERRUPTED
            print(f"{undiagnosed} The values are written.", file=sys.stderr)
        except Exception as error:
            undiagnosed = f"The diagnosis failed: {error!r}."
            print(f"warning: {undiagnosed} The values are written.", file=sys.stderr)
    if diagnosis is not None and _is_cut(request, explanation):
        facts["Diagnosed"] = f"the first {MAX_DIAGNOSED_TREE_ROWS} rows"
    model, data = pathlib.Path(options.model).name, pathlib.Path(options.data).name
    fields = {
        "title": options.title or f"{model} explained on {data}",
        "labels": request.labels,
        "facts": facts,
        "undiagnosed": undiagnosed,
        "packages": request.packages,
    }
    moved = options.what_if if outcome.code is ExitCode.DONE else 0
    page = _page(explanation, diagnosis, moved, notes, fields)
    (options.out / "report.html").write_text(page, encoding="utf-8")
    if outcome.reason:
        print(f"{outcome.reason} What there was is written.", file=sys.stderr)
    if not options.quiet:
        print(f"\n{explanation}\n\n{diagnosis or undiagnosed}\n")
        print(f"Written to {options.out}: report.html, {table}, explanation.npz.")
    return code


def _page(
    explanation: Explanation,
    diagnosis: Diagnosis | None,
    what_if: int,
    notes: list[str],
    fields: dict[str, Any],
) -> str:
    """The report; where the model cannot be asked as features move, without that, saying why."""
    try:
        return report_html(explanation, diagnosis, notes=notes, what_if=what_if, **fields)
    except Exception as error:
        if not what_if:
            raise
        reason = f"No feature can be moved in this report: {error}"
        print(f"warning: {reason}", file=sys.stderr)
        return report_html(explanation, diagnosis, notes=[*notes, reason], **fields)


def _is_margin(model: Any, explanation: Explanation) -> bool:
    """Whether a sigmoid, softmax or exponential turns the sum of the trees into the prediction.

    Boosted trees of several classes have one tree per class and round. Where a leaf has a value for
    each class instead, the sum is a margin unless its outputs are probabilities, which add up to 1.
    """
    trees = unwrap(model)
    if trees is None:
        return False
    structure = read_trees(trees.model).structure
    if structure.link != "identity" or structure.num_outputs == 1:
        return structure.link != "identity"
    if structure.outputs is not None:
        return True
    is_classifier = len(getattr(model, "classes_", ())) > 0
    return is_classifier and not np.allclose(explanation.base_values.sum(axis=1), 1, atol=1e-4)


def _pick_output(explanation: Explanation, output: str | None) -> tuple[Explanation, str]:
    """The output of this name or number; or all of them, and why, where there is no such output."""
    if output is None:
        return explanation, ""
    if explanation.values.ndim < 3:
        return explanation, f"--output {output}: the model has one output, which was written."
    names, count = explanation.output_names or (), explanation.values.shape[2]
    if output in names:
        return explanation[:, :, output], ""
    if output.isdecimal() and int(output) < count:
        return explanation[:, :, int(output)], ""
    known = ", ".join(names) if names else f"0 to {count - 1}"
    return (
        explanation,
        f"--output {output}: there is no such output (they are {known}), so all of them were "
        "written.",
    )


def _is_cut(request: Request, explanation: Explanation) -> bool:
    """Whether only the first rows are diagnosed."""
    return request.exact and len(explanation) > MAX_DIAGNOSED_TREE_ROWS


def _diagnose(
    request: Request, explanation: Explanation, options: argparse.Namespace
) -> tuple[Diagnosis | None, str]:
    """A diagnosis for as many evaluations as the values took, or why there is none."""
    if options.no_diagnose:
        return None, "It was left out (--no-diagnose)."
    if len(explanation.feature_names) < 2:
        return None, "With one feature there is nothing to diagnose."
    if explanation.source is None:
        return None, PATH_DEPENDENT
    if _is_cut(request, explanation):
        first_rows = _explain(request, options, MAX_DIAGNOSED_TREE_ROWS)
        explanation, _ = _pick_output(first_rows, options.output)
    spent = explanation.num_evaluations
    budget = max(MIN_DIAGNOSIS_BUDGET, spent) if spent else None
    diagnosis = explanation.diagnose(budget=budget, key=options.key, progress=_progress(options))
    return diagnosis, ""


def _progress(options: argparse.Namespace) -> bool | None:
    """Whether to show a bar: never, or (None) on a terminal."""
    return False if options.quiet else None
