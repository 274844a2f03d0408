"""The arguments of `python -m jaxshap`, and how its errors end."""

import argparse
import os
import pathlib
import sys

from jaxshap.cli.demo import run_demo
from jaxshap.cli.exits import REFUSALS, ExitCode
from jaxshap.cli.run import ESTIMATOR_NAMES, run_explain

EXAMPLES = """\
examples:
  # a scikit-learn pipeline; the column "churned" is shown beside the rows and is not a feature
  python -m jaxshap explain model.joblib customers.csv --target churned --background train.csv

  # a tree ensemble, exactly and in seconds; without --background its values are path-dependent
  python -m jaxshap explain booster.ubj customers.parquet --out churn-report

  # a function of rows in network.py in this directory, JAX or numpy; one class of many
  python -m jaxshap explain network:predict digits.csv --rows 100 --output 7

  # more accurate: spend until every standard error is at most 1 % of the spread of the output
  python -m jaxshap explain model.onnx houses.csv --tol 0.01 --budget 20000

DIR then holds report.html (open it in any browser; it needs no network), values.parquet or
values.csv (one line for each row, feature and output) and explanation.npz, which jaxshap.load
reads.

exit codes: 0 done; 1 the model failed (values from before the failure are written); 2 wrong usage,
or a file or package is missing; 130 interrupted (values from before the interrupt are written);
141 the reader of the printed text went away."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command of `python -m jaxshap`; errors become messages and an exit code.

    Args:
        arguments: the words after `python -m jaxshap`; by default those of this process.

    Returns:
        The exit code: 0, 1, 2, 130 or 141, which `python -m jaxshap explain --help` explains.

    Raises:
        SystemExit: where argparse prints help or refuses the arguments.

    Example:
        >>> from jaxshap.cli import main
        >>> main(["explain", "model.joblib", "none.csv"])  # says that there is no none.csv
        2
    """
    given = sys.argv[1:] if arguments is None else arguments
    try:
        try:
            return int(_run(given))
        finally:
            sys.stdout.flush()  # a closed pipe shows here, not when the interpreter ends
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the interpreter's end
        return int(ExitCode.BROKEN_PIPE)


def _run(given: list[str]) -> int:
    options = _parser().parse_args(given)
    try:
        if options.command == "demo":
            return run_demo(options.out, options.rows, options.seed)
        return run_explain(options, given)
    except REFUSALS as error:
        print(f"error: {error}", file=sys.stderr)
        return ExitCode.WRONG_USAGE
    except KeyboardInterrupt:
        print("interrupted before there was anything to write.", file=sys.stderr)
        return ExitCode.INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m jaxshap", description="Shapley values for JAX.")
    commands = parser.add_subparsers(dest="command", required=True)
    about = "train a network on scikit-learn's breast cancer data and explain its predictions"
    demo = commands.add_parser("demo", help=about, description=about + ".")
    demo.add_argument("--out", type=pathlib.Path, default="jaxshap-demo", help="picture folder")
    demo.add_argument("--rows", type=_count, default=100, help="how many test rows to explain")
    demo.add_argument("--seed", type=int, default=0, help="of the split and the network")
    about = "explain the predictions of a saved model for the rows of a table, and write a report"
    explain = commands.add_parser(
        "explain",
        help=about,
        description=about + ".",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_inputs(explain)
    _add_settings(explain)
    _add_outputs(explain)
    return parser


def _add_inputs(command: argparse.ArgumentParser) -> None:
    """What to explain: the model, the rows, the background."""
    add = command.add_argument
    add(
        "model",
        metavar="MODEL",
        help="module:callable, importable from here; or a file: scikit-learn .joblib or .pkl "
        "(unpickling runs code that the file holds: only open files you trust), "
        "XGBoost .json or .ubj, LightGBM .txt, ONNX .onnx",
    )
    add(
        "data",
        metavar="DATA",
        help="the table to explain, .csv or .parquet; columns the model does not know are omitted",
    )
    add(
        "--background",
        metavar="B",
        help="a table that absent features take their values from, such as training rows (default: "
        "none for tree ensembles, which are then path-dependent; else a random sample of DATA)",
    )
    add(
        "--background-rows",
        type=_count,
        metavar="N",
        help="at most N random rows of the background (default: all of B, 100 of DATA)",
    )
    add(
        "--target",
        metavar="COL",
        help="a column that is not a feature: shown as the true label of each row",
    )
    add(
        "--drop",
        metavar="COL",
        action="append",
        default=[],
        help="another column that is not a feature; may be repeated",
    )
    add("--rows", type=_count, metavar="N", help="explain the first N rows (default: all)")


def _add_settings(command: argparse.ArgumentParser) -> None:
    """How to compute the values."""
    add, names = command.add_argument, sorted(ESTIMATOR_NAMES)
    add(
        "--estimator",
        type=str.lower,
        choices=names,
        metavar="NAME",
        help=f"one of {', '.join(names)} (default: exact for tree ensembles and where 2**features "
        "is within the budget, else oddgp); with one, a tree ensemble's predictions are sampled",
    )
    add(
        "--budget",
        type=_count,
        help="coalitions to evaluate, each for all rows (default: 20 per feature, but not below "
        "512 nor above 2048 + 2 per feature)",
    )
    add(
        "--tol",
        type=float,
        help="stop when every standard error is at most this share of the output's spread, "
        "say 0.01",
    )
    add(
        "--seconds",
        type=float,
        help="spend this time instead, for slow models, and report the values and errors it bought",
    )
    add(
        "--key",
        type=int,
        default=0,
        help="of the random draws: the same key, the same report (default: 0)",
    )
    add(
        "--no-diagnose",
        action="store_true",
        help="omit the diagnostics, which evaluate as many coalitions again",
    )


def _add_outputs(command: argparse.ArgumentParser) -> None:
    """What to write and where."""
    add = command.add_argument
    add(
        "--output",
        metavar="NAME",
        help="one of several outputs, by name or number (default: all, to pick in the report)",
    )
    add("--title", help="of the report")
    add(
        "--what-if",
        type=_count,
        default=0,
        metavar="N",
        help="let a reader move features of the first N rows, about 200 model rows each (default: "
        "0)",
    )
    add(
        "--out",
        type=pathlib.Path,
        default="jaxshap-report",
        metavar="DIR",
        help="where to write (default: jaxshap-report)",
    )
    add("--force", action="store_true", help="overwrite a report that is in DIR")
    add("--quiet", action="store_true", help="print errors alone, and no progress bar")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)
