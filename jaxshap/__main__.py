"""The command line: python -m jaxshap demo, python -m jaxshap explain."""

import argparse
import pathlib
import sys

from jaxshap.cli import ESTIMATORS, run_demo, run_explain

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

DIR then holds report.html (open it in any browser; it needs no network), values.parquet or values.csv (one line for
each row, feature and output) and explanation.npz, which jaxshap.load reads.

exit codes: 0 done; 1 the model failed (what came before is written); 2 wrong usage, a file or a package is missing;
130 interrupted (what came before is written)."""


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser("python -m jaxshap", description="Shapley values for JAX.")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_demo(commands)
    _add_explain(commands)
    options = parser.parse_args(given)
    if options.command == "demo":
        return run_demo(options.out, options.rows, options.seed)
    return run_explain(options, given)


def _add_demo(commands) -> None:
    about = "train a small network on the breast cancer data of scikit-learn and explain its predictions"
    command = commands.add_parser("demo", help=about, description=about)
    command.add_argument(
        "--out", type=pathlib.Path, default="jaxshap-demo", help="folder for the pictures"
    )
    command.add_argument("--rows", type=int, default=100, help="how many test rows to explain")
    command.add_argument("--seed", type=int, default=0)


def _add_explain(commands) -> None:
    about = "explain the predictions of a saved model for the rows of a table, and write a report"
    command = commands.add_parser(
        "explain",
        help=about,
        description=about + ".",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = command.add_argument
    add(
        "model",
        metavar="MODEL",
        help="module:callable, importable from here; or a file: scikit-learn .joblib or .pkl "
        "(unpickling runs code that the file holds: only open files you trust), XGBoost .json or .ubj, LightGBM .txt, "
        "ONNX .onnx",
    )
    add(
        "data",
        metavar="DATA",
        help="the table to explain, .csv or .parquet; columns the model does not know are left out",
    )
    add(
        "--background",
        metavar="B",
        help="a table that absent features take their values from, such as training rows "
        "(default: none for tree ensembles, which are then path-dependent; else a random sample of DATA)",
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
    add(
        "--output",
        metavar="NAME",
        help="one of several outputs, by name or number (default: all, to pick in the report)",
    )
    add(
        "--estimator",
        type=str.lower,
        choices=sorted(ESTIMATORS),
        metavar="NAME",
        help="one of "
        + ", ".join(sorted(ESTIMATORS))
        + " (default: exact for tree ensembles and where 2**features is "
        "within the budget, else oddgp); with one, a tree ensemble's predictions are sampled",
    )
    add(
        "--budget",
        type=_count,
        help="coalitions to evaluate, each for all rows (default: 2 features + 2048)",
    )
    add(
        "--tol",
        type=float,
        help="stop when every standard error is at most this share of the output's spread, say 0.01",
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
        help="leave out the diagnostics, which evaluate as many coalitions again",
    )
    add("--title", help="of the report")
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


if __name__ == "__main__":
    sys.exit(main())
