"""Experiments, figures and theorems of the five sources: where each is, and whether it agrees.

Numbers are read from the tables beside this script; theorems are tests, which it runs. A line whose
table is missing, or names no commit, says so and gets no verdict.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import NamedTuple
from xml.etree import ElementTree

from all import ORIGIN, state
from report import read_measured, write_table

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent
OWEN, SGD = "Okhrati & Lipani: Owen sampling", "Grah & Thouvenot: projected SGD"
RESIDUALS, NOTES = "Ngo; Kumar et al.: residuals", "Lecture notes"
COURSE = "Interpretable machine learning"
NOTEBOOK = "the authors' notebook"

Rows = list[dict[str, str]]
Outcome = tuple[str, bool | None]  # what came out, and whether it agrees, where that can be said


class Experiment(NamedTuple):
    """A line whose numbers stand in a table: `read` says what came out, and whether it agrees."""

    source: str
    what: str
    script: str
    read: Callable[[Rows], Outcome]


class Theorem(NamedTuple):
    """A line that is a test of the suite."""

    source: str
    what: str
    test: str


def owen_ratio(method: str, published: float) -> Callable[[Rows], Outcome]:
    """The authors' set-up, by the spread of networks; and the readings of what the paper says."""

    def read(rows: Rows) -> Outcome:
        cells = {row["network"]: row[method] for row in rows}
        mean, error = read_measured(cells["mean of networks"])
        spread = (float(cells["spread of networks"]) ** 2 + error**2) ** 0.5
        of_method = [
            row
            for row in table_of(FOLDER / "owen_paper.md")
            if row["method"] == method and row["published"] != "–"
        ]
        others = [row["ratio to Castro's"] for row in of_method]
        ratios = [read_measured(cell)[0] for cell in others]
        text = (
            f"{cells['mean of networks']} of Castro's squared error in the authors' set-up, "
            f"published {published} of one network (spread {spread:.2g}), "
            f"{cells[NOTEBOOK]} in their notebook; read from the paper alone {others[0]}, "
            f"{min(ratios):.2f} to {max(ratios):.2f} in {len(others)} readings (owen_paper.md)"
        )
        return text, abs(mean - published) <= 2 * spread

    return read


def owen_order(rows: Rows) -> Outcome:
    """The published order, halved Owen below Owen below Castro, in every reading."""
    found = {}
    for row in rows:
        if row["published"] != "–" and row["method"] != "Castro":
            found.setdefault((row["setting"], row["evaluations"]), []).append(
                read_measured(row["ratio to Castro's"])
            )
    in_order = [
        owen + 2 * owen_error < 1 and halved + 2 * halved_error < owen - 2 * owen_error
        for (owen, owen_error), (halved, halved_error) in found.values()
    ]
    return f"by two standard errors in {sum(in_order)} of {len(in_order)} readings", all(in_order)


def mnist_below_castro(rows: Rows) -> Outcome:
    own = {row["method"]: row for row in rows if row["setting"].startswith("MNIST")}
    names = "Owen", "halved Owen"
    ratios = [read_measured(own[name]["ratio to Castro's"]) for name in names]
    shown = [own[name]["ratio to Castro's"] for name in names]
    text = f"variance over Castro's: Owen {shown[0]}, halved {shown[1]}; {own['Owen']['setting']}"
    return text, all(ratio + 2 * error < 1 for ratio, error in ratios)


def sgd_below_classical(game: str, what: str) -> Callable[[Rows], Outcome]:
    def read(rows: Rows) -> Outcome:
        own = {r["method"]: r for r in rows if r["game"] == game and r["error"] == what}
        last = [name for name, cell in own["SGD, root"].items() if " ± " in cell][-1]
        names = "classical Monte Carlo", "optimised Monte Carlo", "SGD, constant", "SGD, root"
        text = ", ".join(f"{name} {own[name][last]}" for name in names)
        classical, error = read_measured(own[names[0]][last])
        below = [
            classical - mean > 2 * (error**2 + own_error**2) ** 0.5
            for mean, own_error in (read_measured(own[name][last]) for name in names[1:])
        ]
        return f"at {last}: {text}", all(below)

    return read


def compas_figure(rows: Rows) -> Outcome:
    """Unbiased estimates agree with exact values: few of many are beyond two standard errors."""
    methods = "classical Monte Carlo", "optimised Monte Carlo"
    z = []
    for row in rows:
        for method in methods:
            mean, error = read_measured(row[method])
            z.append(abs(mean - float(row["exact"])) / error)
    first = {row["target"]: row["feature"] for row in reversed(rows)}
    leaders = "; ".join(f"{target}: {feature} first" for target, feature in first.items())
    return f"{leaders}; largest gap of Monte Carlo {max(z):.1f} standard errors", max(z) < 4


def nhanes(rows: Rows) -> Outcome:
    six = {row["what"]: row["value"] for row in rows if row["reading"].startswith("six")}
    pairs = {what: cell for what, cell in six.items() if what.startswith("…")}
    first = max(pairs, key=lambda what: read_measured(pairs[what])[0])
    partner = first.rpartition(" ")[2]
    others = [read_measured(cell) for what, cell in pairs.items() if what != first]
    mean, error = read_measured(pairs[first])
    clear = all(mean - other > 2 * (error**2 + e**2) ** 0.5 for other, e in others)
    whole = six["residual share of Sex"]
    text = f"residual share of sex {whole}, most of it with {partner}: {pairs[first]}"
    return text, partner == "Age" and clear


def bayes_figure(rows: Rows) -> Outcome:
    last = max(int(row["evaluations"]) for row in rows)
    of_last = {row["regression"]: row for row in rows if int(row["evaluations"]) == last}
    printed, constrained = of_last["as printed"], of_last["constrained"]
    column = "cover the Shapley value, %"
    text = (
        f"at {last} evaluations 95 % intervals as printed cover the Shapley value in "
        f"{printed[column]} %, their own limit in {printed['cover their limit, %']} %; "
        f"constrained ones cover it in {constrained[column]} %"
    )
    mean, error = read_measured(constrained[column])
    return text, abs(mean - 95) < max(2 * error, 3)


def race_first(panel: str, published: float, column: str = "first") -> Callable[[Rows], Outcome]:
    """One published run against the spread of single runs; the authors' code decides."""

    def read(rows: Rows) -> Outcome:
        own = [row for row in rows if row["panel"] == panel and row["feature"] == "race"]
        texts = [f"{row[f'{column}, %']} % {row['reading']}" for row in own]
        released = next(row for row in own if row["reading"] == "as released")
        mean, error = read_measured(released[f"{column}, %"])
        spread = (error**2 + float(released[f"spread of {column.split()[0]}"]) ** 2) ** 0.5
        text = f"{', '.join(texts)}; published {published} %, of one run (spread {spread:.2g})"
        return text, abs(mean - published) <= 2 * spread + 0.5  # published in whole percents

    return read


def two_decoys_hide_less(rows: Rows) -> Outcome:
    """In every reading race is first more often with two decoys than with one, less than openly."""
    texts, agrees = [], True
    for reading in dict.fromkeys(row["reading"] for row in rows):
        own = [r for r in rows if r["reading"] == reading and r["feature"] == "race"]
        firsts = {row["panel"]: row["first, %"] for row in own}
        one, two = firsts["one decoy"], firsts["two decoys, exclusive or"]
        (low, low_error), (high, high_error) = read_measured(one), read_measured(two)
        error = (low_error**2 + high_error**2) ** 0.5
        agrees &= high - low > 2 * error and high + 2 * high_error < 100
        texts.append(f"{reading} race is first in {one} % with one, {two} % with two")
    return "; ".join(texts), agrees


def residual_dial(rows: Rows) -> Outcome:
    usual = [row["Spearman"] for row in rows if row["rows"] != "300"]
    least = min(usual, key=lambda cell: read_measured(cell)[0])
    low, high = (rows[0][column] for column in ("share at 0", "at 4"))
    text = f"rank correlation with the dial: {least} or more in {len(usual)} settings; "
    mean, error = read_measured(least)
    agrees = mean + 2 * error >= 0.9
    return f"{text}shares in the first of them: {low} at 0, {high} at 4", agrees


def residual_players(rows: Rows) -> Outcome:
    own = [row for row in rows if row["sampler"] == "noise stability"]
    edges = [row for row in rows if row["sampler"] != "noise stability"]
    z = [float(row["largest z"]) for row in own]
    ranks = [
        min((row["Spearman"] for row in part), key=lambda cell: read_measured(cell)[0])
        for part in (own, edges)
    ]
    errors = [[read_measured(r["dial 4"].split("; ")[1])[1] for r in part] for part in (own, edges)]
    times = statistics.geometric_mean(e / o for o, e in zip(*errors, strict=True))
    text = (
        f"{len(own)} settings of 20 to 200 players: rank correlation with the dial {ranks[0]} or "
        f"more (edges {ranks[1]}); gap to exact values at most {max(z):.1f} standard errors; the "
        f"errors of random edges are {times:.1f} times as large"
    )
    mean, error = read_measured(ranks[0])
    return text, mean + 2 * error >= 0.9 and max(z) < 4.5


def sampler_bias(rows: Rows) -> Outcome:
    own = [row for row in rows if row["sampler"] == "noise stability"]
    largest = max(read_measured(r["bias"])[0] / read_measured(r["error"])[0] for r in own)
    text = f"bias of noise stability: at most {largest:.2f} of its error over 200 keys"
    return f"{text}, of which chance leaves 0.07", largest < 4 / 200**0.5


def fooled(rows: Rows) -> Outcome:
    def share(cell: str) -> float:
        return float(cell.rstrip(" %"))

    texts, apart = [], True
    for people in sorted({row["people"] for row in rows}):
        group = [row for row in rows if row["people"] == people]
        mean = next(row["mean"] for row in group if row["model"] == "attacked")
        attacked = min(share(r["least credit moved"]) for r in group if r["model"] == "attacked")
        honest = max(share(r["most"]) for r in group if r["model"] != "attacked")
        texts.append(
            f"{people}: attacked {mean} %, from {attacked:.0f} %; others up to {honest:.0f} %"
        )
        apart &= attacked > honest
    return "; ".join(texts), apart


def leverage_alike(rows: Rows) -> Outcome:
    means = next(row for row in rows if row["game"] == "geometric mean")
    cells = {budget: means[budget] for budget in ("5n", "10n", "20n")}
    text = ", ".join(f"{cell} at {budget}" for budget, cell in cells.items())
    gaps = [(abs(mean - 1), error) for mean, error in map(read_measured, cells.values())]
    text = f"squared errors over the published code's, {len(rows) - 1} games: {text}"
    return text, all(gap < 2.5 * error for gap, error in gaps)


CAUSAL, DECOMPOSED = (
    "tests/causal/test_interventions.py",
    "tests/interactions/test_decomposition.py",
)
THEORY, TRUST = "tests/theory/test_theory.py", "tests/trust/test_intervals.py"
LIME, FAMILIES = "tests/lime/test_players_and_one_hot.py", "tests/estimators/test_families.py"
ALE, NORMS = "tests/effects/test_accumulated.py", "tests/residuals/test_residuals.py"

LINES: list[Experiment | Theorem] = [
    Experiment(OWEN, "credit data: Owen", "owen_released", owen_ratio("Owen", 0.57)),
    Experiment(OWEN, "credit data: halved Owen", "owen_released", owen_ratio("halved Owen", 0.22)),
    Experiment(OWEN, "credit data: the order of the methods", "owen_paper", owen_order),
    Experiment(OWEN, "MNIST: variance", "owen_paper", mnist_below_castro),
    Theorem(OWEN, "Owen sampling converges to the Shapley value",
            f"{FAMILIES}::test_owen_converges_to_the_values_for_any_number_of_levels"),
    Theorem(OWEN, "halved: every mask with its complement",
            f"{FAMILIES}::test_halved_owen_takes_every_mask_with_its_complement"),
    *(
        Experiment(
            SGD, f"{game}: {what} error", "projected_sgd_paper", sgd_below_classical(game, what)
        )
        for game in ("classification, d = 16", "regression, d = 16", "classification, d = 300")
        for what in ("squared", "relative")
    ),
    Experiment(SGD, "figure 1: COMPAS", "compas_figure", compas_figure),
    Theorem(SGD, "bounds on the expected error",
            f"{THEORY}::test_the_expected_error_is_within_its_bound_and_not_far_below_it"),
    Theorem(SGD, "bound on the gradient",
            f"{THEORY}::test_no_stochastic_gradient_is_longer_than_the_bound"),
    Theorem(SGD, "constant steps: the theorem as stated", f"{THEORY}::"
            "test_the_last_iterate_of_constant_steps_is_within_the_theorem_as_it_is_stated"),
    Theorem(SGD, "averages as printed", "tests/estimators/test_sgd.py::"
            "test_averages_weigh_iterates_as_they_are_printed"),
    Theorem(SGD, "strong convexity: the eigenvalues",
            f"{THEORY}::test_the_eigenvalues_are_those_of_the_sum_over_all_coalitions"),
    Theorem(SGD, "Dykstra's projection",
            "tests/estimators/test_sgd.py::"
            "test_dykstra_and_the_closed_form_agree_and_nothing_feasible_is_nearer"),
    Theorem(SGD, "optimised Monte Carlo: algorithm 1",
            f"{FAMILIES}::test_optimised_monte_carlo_is_algorithm_one_with_the_recursion_put_right"),
    Experiment(RESIDUALS, "stress test: interaction put in", "residual_stress", residual_dial),
    Experiment(RESIDUALS, "stress test: 20 to 200 players, order, correlation",
               "residual_players", residual_players),
    Experiment(RESIDUALS, "sampled residuals", "residual_sampling", sampler_bias),
    Experiment(RESIDUALS, "figure of age × sex: NHANES", "nhanes_residuals", nhanes),
    Experiment(RESIDUALS, "figure of BayesSHAP's intervals: COMPAS", "bayes_shap_compas",
               bayes_figure),
    Experiment(RESIDUALS, "fooling SHAP (COMPAS): race first, no attack", "fooling_ranks",
               race_first("no attack", 100)),
    Experiment(RESIDUALS, "fooling SHAP (COMPAS): race first, one decoy", "fooling_ranks",
               race_first("one decoy", 16)),
    Experiment(RESIDUALS, "fooling SHAP (COMPAS): race first, two decoys", "fooling_ranks",
               race_first("two decoys, exclusive or", 33)),
    Experiment(RESIDUALS, "fooling SHAP (COMPAS): two decoys hide race from fewer than one",
               "fooling_ranks", two_decoys_hide_less),
    Experiment(RESIDUALS, "fooling SHAP (COMPAS): people still decided by race", "fooling_ranks",
               race_first("one decoy", 91, "decided by race")),
    Experiment(RESIDUALS, "fooling SHAP is found out", "fooling", fooled),
    Theorem(RESIDUALS, "residuals by least squares", f"{NORMS}::"
            "test_norms_are_those_of_least_squares"),
    Theorem(RESIDUALS, "potentials end at the Shapley values", f"{NORMS}::"
            "test_potentials_end_at_the_shapley_values_and_flows_are_what_is_left"),
    Theorem(RESIDUALS, "inessential games and products", f"{NORMS}::"
            "test_additive_games_leave_nothing_and_a_product_leaves_its_known_residue"),
    Theorem(RESIDUALS, "BayesSHAP: the posterior", f"{TRUST}::test_the_posterior_is_the_formula"),
    Theorem(RESIDUALS, "BayesSHAP: intervals that cover", "tests/trust/test_intervals.py::"
            "test_efficient_intervals_cover_the_shapley_values_and_unconstrained_ones_do_not"),
    Theorem(RESIDUALS, "the (1 + ε) guarantee of leverage sampling", f"{THEORY}::"
            "test_a_regression_on_rows_drawn_by_leverage_is_within_one_plus_epsilon_of_the_best"),
    Theorem(RESIDUALS, "BayesSHAP: samples for a width", f"{TRUST}::"
            "test_more_evaluations_reach_the_width_asked_for"),
    Experiment(NOTES, "leverage scores", "leverage_reference", leverage_alike),
    Theorem(NOTES, "Monte Carlo without replacement: variance and Chebyshev", f"{THEORY}::"
            "test_chebyshev_holds_without_replacement_and_so_does_the_variance_it_stands_on"),
    Theorem(NOTES, "Monte Carlo without replacement, drawn by p_S",
            "tests/estimators/test_distinct.py::"
            "test_first_draws_come_by_their_shapley_weight_and_later_ones_by_what_is_left"),
    Theorem(NOTES, "tail bounds: Markov and deviation", f"{THEORY}::"
            "test_tail_probabilities_are_within_markov_and_deviation_bounds"),
    Theorem(COURSE, "functional decomposition: x1 + x2 + 2 x1 x2", f"{DECOMPOSED}::"
            "test_components_of_a_product_of_correlated_features_are_the_known_ones"),
    Theorem(COURSE, "component form of Shapley values", f"{DECOMPOSED}::"
            "test_components_add_up_to_predictions_partial_dependences_and_shapley_values"),
    Theorem(COURSE, "component form for S and its complement", f"{DECOMPOSED}::"
            "test_a_set_against_the_rest_owns_its_components_and_half_of_those_across"),
    Theorem(COURSE, "ALE of the same function, first order", f"{ALE}::"
            "test_first_order_of_a_product_of_correlated_features_is_known"),
    Theorem(COURSE, "ALE, second order", f"{ALE}::"
            "test_second_order_of_a_product_of_correlated_features_is_known"),
    Theorem(COURSE, "marginal plots", "tests/effects/test_marginal_means.py::"
            "test_a_feature_that_the_model_ignores_gets_what_goes_along_with_it"),
    Theorem(COURSE, "observational and interventional values of two equal flags",
            "tests/values/test_conditional.py::"
            "test_two_binary_features_that_go_together_share_the_credit_of_one"),
    Theorem(COURSE, "backfitting: components are the decomposition",
            "tests/effects/test_additive.py::"
            "test_its_components_are_its_functional_decomposition_in_every_view"),
    Theorem(COURSE, "path-dependent expectation of a tree",
            "tests/trees/test_path_dependent_game.py::test_worths_are_those_of_the_definition"),
    Theorem(COURSE, "LIME with one-hot categories", f"{LIME}::"
            "test_one_hot_columns_have_units_and_distances_of_their_own"),
    Theorem(COURSE, "LIME over parts of an input", f"{LIME}::"
            "test_the_regression_is_that_of_the_definition"),
    Theorem(COURSE, "adjustment formula, by intervention", f"{CAUSAL}::"
            "test_adjustment_is_the_mean_outcome_under_intervention_and_regression_alone_is_not"),
    Theorem(COURSE, "PDP is the natural direct effect (no causes among others)", f"{CAUSAL}::"
            "test_partial_dependence_is_the_natural_direct_effect_of_features_without_causes"),
    Theorem(COURSE, "… up to a constant (no effects among others)", f"{CAUSAL}::"
            "test_partial_dependence_is_the_natural_direct_effect_up_to_a_constant"),
    Theorem(COURSE, "… and not between others", f"{CAUSAL}::"
            "test_a_feature_between_others_has_another_natural_direct_effect_than_partial_dependence"),
    Theorem(COURSE, "fair predictor: height, gender, accidents", "tests/causal/test_causal.py::"
            "test_a_model_without_gender_pays_by_height_and_the_fair_predictor_does_not"),
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-tests", action="store_true", help="read the tables alone")
    parser.add_argument(
        "--outcomes",
        type=pathlib.Path,
        metavar="FILE",
        help="what pytest --junitxml=FILE wrote of the whole suite, instead of running the tests",
    )
    options = parser.parse_args()
    tests = [line.test for line in LINES if isinstance(line, Theorem) and is_there(line.test)]
    outcomes = {} if options.no_tests else run(tests, options.outcomes)
    rows = []
    for line in LINES:
        if isinstance(line, Theorem):
            where, _ = line.test.split("::")
            became = outcomes.get(line.test, "was not run")
            became = became if is_there(line.test) else "is not in the repository"
            cells = where, f"python -m pytest {line.test}", f"the test {became}"
            rows.append((line.source, line.what, *cells, VERDICTS.get(became, "unknown")))
        else:
            rows.append((line.source, line.what, *of_table(line)))
    agree = sum(row[-1] == "yes" for row in rows)
    header = "source", "what", "where", "command", "what came out", "agrees"
    notes = [
        f"{agree} of {len(rows)} lines agree. Numbers are read from the tables of the scripts, "
        "with standard errors (±), and the commit that each was made at; a table that names none "
        "gives no verdict. Theorems are tests. FOLDER holds the data files; where one is missing, "
        "the script names it and where it comes from.",
    ]
    write_table(__file__, "The five sources, line by line", header, rows, notes)


VERDICTS = {"passes": "yes", "fails": "NO"}


def of_table(line: Experiment) -> tuple[str, str, str, str]:
    """Where an experiment is, its command, what came out and whether that agrees."""
    script = FOLDER / f"{line.script}.py"
    where = f"benchmarks/{script.name}"
    if not script.exists():
        return where, "–", "there is no such script", "unknown"
    command, stale = state(script)
    command = f"python {command}"
    if not script.with_suffix(".md").exists():
        return where, command, "its table is missing", "unknown"
    try:
        text, agrees = line.read(table_of(script.with_suffix(".md")))
    except (KeyError, ValueError, IndexError) as error:
        return where, command, f"its table has other columns or rows ({error})", "unknown"
    origin = ORIGIN.search(script.with_suffix(".md").read_text())
    if origin is None or origin[2] is None or origin[3]:
        return where, command, f"{text}; the table {stale}", "unknown"
    since = ", before later changes of the code" if stale else ""
    text = f"{text} (made at {origin[2]}{since})"
    return where, command, text, {True: "yes", False: "NO", None: "unknown"}[agrees]


def table_of(path: pathlib.Path) -> Rows:
    """The rows of the first table of a Markdown file, by the names of its columns."""
    lines = [line for line in path.read_text().split("\n\n")[1].splitlines() if line[:1] == "|"]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def is_there(test: str) -> bool:
    """Whether the file has such a test: pytest runs nothing at all where one is missing."""
    file, name = test.split("::")
    return (ROOT / file).exists() and f"def {name}(" in (ROOT / file).read_text()


def run(tests: list[str], known: pathlib.Path | None) -> dict[str, str]:
    """Whether each test passes, all of its cases; what does not load hinders no other file."""
    if known is not None:
        cases = list(ElementTree.parse(known).iter("testcase"))
        return {test: outcome(test, cases) for test in tests}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "outcomes.xml"
        words = ["-q", "-n", "0", "--continue-on-collection-errors", f"--junitxml={path}"]
        command = [sys.executable, "-m", "pytest", *words, *tests]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        cases = list(ElementTree.parse(path).iter("testcase")) if path.exists() else []
    return {test: outcome(test, cases) for test in tests}


def outcome(test: str, cases: list[ElementTree.Element]) -> str:
    """What became of all cases of a test."""
    file, name = test.split("::")
    module = file.removesuffix(".py").replace("/", ".")
    own = [
        case
        for case in cases
        if case.get("classname") == module and str(case.get("name")).partition("[")[0] == name
    ]
    if any(case.find(kind) is not None for case in own for kind in ("failure", "error")):
        return "fails"
    skipped = any(case.find("skipped") is not None for case in own)
    return "passes" if own and not skipped else "was not run"


if __name__ == "__main__":
    main()
