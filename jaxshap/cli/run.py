"""python -m jaxshap explain: read, explain, diagnose, write."""

import argparse
import dataclasses
import importlib.util
import pathlib
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxshap.cli.files import UsageError
from jaxshap.cli.request import Request, read_request
from jaxshap.errors import EvaluationError, Interrupted
from jaxshap.estimators import (
    MSR,
    Castro,
    Exact,
    Kernel,
    Leverage,
    OddGP,
    OddLinear,
    Owen,
    Permutation,
    RegressionAdjusted,
    Stratified,
    UnbiasedKernel,
    WithoutReplacement,
)
from jaxshap.explaining import Explanation, explain
from jaxshap.report import report_html
from jaxshap.trust import Diagnosis

ESTIMATORS = {
    kind.__name__.lower(): kind
    for kind in (
        Castro,
        Exact,
        Kernel,
        Leverage,
        MSR,
        OddGP,
        OddLinear,
        Owen,
        Permutation,
        RegressionAdjusted,
        Stratified,
        UnbiasedKernel,
        WithoutReplacement,
    )
}
OURS = ("report.html", "explanation.npz", "values.parquet", "values.csv")
DIAGNOSED = 100  # rows of a tree ensemble: its values need no evaluations, but their diagnosis does
CHECKS_OF_OUTPUTS = {"check_outputs", "check_finite", "_check_alike"}
PATH_DEPENDENT = (
    "Path-dependent values come from training counts in the trees, not from a game that the model can be asked about: "
    "pass --background to have a diagnosis."
)

MARGIN = (
    "The output is the raw margin of the trees (log-odds), not a probability: pass --estimator to explain "
    "probabilities by sampling."
)


class Outcome(NamedTuple):
    """What there is, the exit code, and why it is not all."""

    explanation: Explanation | None
    code: int = 0
    reason: str = ""


def run_explain(options: argparse.Namespace, given: Sequence[str]) -> int:
    """The exit code: 0, or 1 where the model failed, 2 for wrong usage, 130 after Ctrl-C."""
    try:
        _check_folder(options.out, options.force)
        task = read_request(options, given)
        if not options.quiet:
            print(f"Explaining {task.facts['Data']}. Background: {task.facts['Background']}.")
        outcome = _explained(task, options)
        if outcome.explanation is None:
            print(f"error: {outcome.reason} Nothing was written.", file=sys.stderr)
            return outcome.code
        return _finished(task, outcome, options)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted before there was anything to write.", file=sys.stderr)
        return 130


def _check_folder(folder: pathlib.Path, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: pass another --out.")
    if not force and any((folder / name).exists() for name in OURS):
        raise UsageError(
            f"{folder} has a report already: pass --force to overwrite it, or another --out."
        )


def _explained(task: Request, options: argparse.Namespace) -> Outcome:
    """Values of all rows, or what the evaluations so far amount to."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = Outcome(_explain(task, options))
        except Interrupted as stop:
            outcome = Outcome(stop.explanation, 130, f"{str(stop).partition(';')[0]}.")
        except EvaluationError as stop:
            outcome = Outcome(_finite(stop.explanation), 1, f"{str(stop).rstrip('.')}.")
        except Exception as error:
            if _is_refusal(error):
                raise UsageError(str(error)) from error
            traceback.print_exception(error, chain=False)
            outcome = Outcome(None, 1, f"the model failed: {error!r}.")
    for one in caught:
        if str(one.message).startswith("tol="):
            task.notes.append(str(one.message))
            print(f"warning: {one.message}", file=sys.stderr)
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if outcome.reason:
        task.notes.append(f"This is not all of it: {outcome.reason}")
    return outcome


def _explain(task: Request, options: argparse.Namespace, count: int | None = None) -> Explanation:
    """Of the first `count` rows, or all; features by the names they have in the table."""
    tables = task.rows.iloc[:count], task.background
    if task.by_position:
        tables = [None if table is None else table.to_numpy() for table in tables]
    how: dict[str, Any] = {}
    if not task.exact:
        estimator = None if options.estimator is None else ESTIMATORS[options.estimator]()
        how = {
            "estimator": estimator,
            "budget": options.budget,
            "tol": options.tol,
            "key": options.key,
        }
        how |= {"output_names": task.output_names, "progress": False if options.quiet else None}
    return dataclasses.replace(
        explain(task.model, *tables, **how), feature_names=tuple(task.rows.columns)
    )


def _finite(explanation: Explanation | None) -> Explanation | None:
    return (
        explanation if explanation is not None and np.isfinite(explanation.values).any() else None
    )


def _is_refusal(error: Exception) -> bool:
    """Whether jaxshap itself refused the input, rather than the model failing or returning what it
    must not.
    """
    if not isinstance(error, ValueError | TypeError) or error.__traceback__ is None:
        return False
    last = traceback.extract_tb(error.__traceback__)[-1]
    ours = pathlib.Path(last.filename).is_relative_to(pathlib.Path(__file__).parent.parent)
    return ours and last.name not in CHECKS_OF_OUTPUTS


def _finished(task: Request, outcome: Outcome, options: argparse.Namespace) -> int:
    """Pick the output, write the values at once, diagnose, write the report."""
    assert outcome.explanation is not None
    explanation, refused = _picked(outcome.explanation, options.output)
    code = outcome.code or (2 if refused else 0)
    if refused:
        print(f"error: {refused}", file=sys.stderr)
        task.notes.append(refused)
    elif options.output is not None:
        task.facts["Output"] = options.output
    if task.exact and _is_margin(task.model, outcome.explanation):
        task.notes.append(MARGIN)
    values = _write_values(explanation, options.out)
    diagnosis, why = None, outcome.reason
    if not outcome.code:
        try:
            diagnosis, why = _diagnosed(task, explanation, options)
        except KeyboardInterrupt:
            why, code = "The diagnosis was interrupted.", 130
            print(f"{why} The values are written.", file=sys.stderr)
        except Exception as error:
            why = f"The diagnosis failed: {error!r}."
            print(f"warning: {why} The values are written.", file=sys.stderr)
    title = (
        options.title
        or f"{pathlib.Path(options.model).name} explained on {pathlib.Path(options.data).name}"
    )
    page = report_html(
        explanation,
        diagnosis,
        title=title,
        labels=task.labels,
        facts=task.facts,
        notes=task.notes,
        undiagnosed=why,
        texts=task.texts,
        packages=task.packages,
    )
    (options.out / "report.html").write_text(page, encoding="utf-8")
    if outcome.reason:
        print(f"{outcome.reason} What there was is written.", file=sys.stderr)
    if not options.quiet:
        print(f"\n{explanation}\n\n{diagnosis or why}\n")
        print(f"Written to {options.out}: report.html, {values}, explanation.npz.")
    return code


def _is_margin(model: Any, explanation: Explanation) -> bool:
    """Whether the trees are added up before a sigmoid or softmax; those of forests are
    probabilities.
    """
    averaged = any(word in type(model).__name__ for word in ("Forest", "Tree"))
    return not averaged and ("margin" in explanation.value_function or explanation.values.ndim > 2)


def _picked(explanation: Explanation, output: str | None) -> tuple[Explanation, str]:
    """The output that was asked for, by name or number; all, and why, where there is none of that
    name.
    """
    if output is None:
        return explanation, ""
    if explanation.values.ndim < 3:
        return explanation, f"--output {output}: the model has one output, which was written."
    names = explanation.output_names or ()
    if output in names:
        return explanation[:, :, output], ""
    if output.isdecimal() and int(output) < explanation.values.shape[2]:
        return explanation[:, :, int(output)], ""
    known = (
        f"they are {', '.join(names)}"
        if names
        else f"they are 0 to {explanation.values.shape[2] - 1}"
    )
    return (
        explanation,
        f"--output {output}: there is no such output ({known}), so all of them were written.",
    )


def _diagnosed(
    task: Request, explanation: Explanation, options: argparse.Namespace
) -> tuple[Diagnosis | None, str]:
    """A diagnosis for as many evaluations as the values took, or why there is none."""
    if options.no_diagnose:
        return None, "It was left out (--no-diagnose)."
    if len(explanation.feature_names) < 2:
        return None, "With one feature there is nothing to diagnose."
    if explanation.source is None:
        return None, PATH_DEPENDENT
    if task.exact and len(explanation) > DIAGNOSED:
        explanation, _ = _picked(_explain(task, options, DIAGNOSED), options.output)
        task.facts["Diagnosed"] = f"the first {DIAGNOSED} rows"
    budget = max(16, explanation.num_evaluations) if explanation.num_evaluations else None
    return explanation.diagnose(
        budget=budget, key=options.key, progress=False if options.quiet else None
    ), ""


def _write_values(explanation: Explanation, folder: pathlib.Path) -> str:
    """What cannot be had again without evaluating, before anything else; the name of the table."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in OURS:
        (folder / name).unlink(missing_ok=True)
    explanation.save(folder / "explanation.npz")
    frame = explanation.to_frame()
    if importlib.util.find_spec("pyarrow") is None:
        frame.to_csv(folder / "values.csv", index=False)
        return "values.csv"
    frame.to_parquet(folder / "values.parquet", index=False)
    return "values.parquet"
