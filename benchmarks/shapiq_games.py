"""The default of jaxshap on the games that ship with shapiq 1.8, against shapiq's approximators.

`--make` stores each game as a table of 2**n worths with its Shapley values. Without it, the script
reads that file and scores the default, and also each peer that has no score in the cache yet.

A budget counts distinct coalitions, ∅ and N among them, as shapiq's samplers do. An error is
‖φ̂ − φ‖² / ‖φ‖², its mean over seeds.
"""

import argparse
import functools
import importlib.util
import json
import math
import pathlib
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

sys.path.append(sys.path.pop(0))  # this folder last: the script is named like shapiq's package

import jax
import numpy as np
import shapiq.approximator
import shapiq_games
from jaxtyping import Float
from peers import CountedGame, Values, shapiq_estimator, table_worths
from report import write_table
from shapiq_benchmark.datasets import load_curthvds_synthetic
from sklearn import datasets, ensemble, linear_model, neighbors, neural_network, svm, tree
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import jaxshap

MULTIPLES = (5, 10, 20, 50)  # budgets, in players
MIN_ERROR = 1e-12  # smaller relative errors are rounding, and count as this one
MAX_RATIO = 1.2  # our error over that of the best peer, above which a game is listed
SEED = 42  # of the games, as in shapiq's own setups
NUM_BACKGROUND = 100  # rows that stand in for absent features, as in shapiq's own setups
Table = Float[np.ndarray, "size"]


class StoredGame(NamedTuple):
    name: str
    worths: Table
    values: Values


class Peer(NamedTuple):
    values: Callable[..., Values]
    needs: str = "shapiq"  # without this module shapiq takes a weaker model, or fails
    most_budget: int = 10**6  # evaluations, beyond which one call takes too long


class Ours(NamedTuple):
    error: float
    covered: float  # share of values within 1.96 standard errors
    certain: float  # share of standard errors that are 0


class Row(NamedTuple):
    game: str
    players: int
    multiple: int
    ours: Ours
    best: str  # the peer with the smallest error
    best_error: float

    @property
    def ratio(self) -> float:
        return max(self.ours.error, MIN_ERROR) / max(self.best_error, MIN_ERROR)

    def cell(self) -> str:
        return f"{self.ratio:.3g} {self.best}"

    def line(self) -> str:
        return (
            f"{self.game}, {self.players} players, {self.multiple}n: {self.ratio:.3g}"
            f" ({self.ours.error:.1e} / {self.best_error:.1e} {self.best}),"
            f" covered {self.ours.covered:.2f}, std_error 0 {self.ours.certain:.2f}"
        )


def make_games(path: pathlib.Path) -> None:
    """Write `names`, and for each game its worths (index Σ_j S_j 2^j) and its Shapley values."""
    arrays = {}
    for name, build in GAMES.items():
        start = time.perf_counter()
        game = build()
        n = game.n_players
        worths = np.asarray(game(_coalitions(n)), float)
        arrays |= {f"{name}/v": worths, f"{name}/phi": shapley_values(worths)}
        seconds = time.perf_counter() - start
        spread = f"worths {worths.min():.3g} to {worths.max():.3g}"
        print(f"{name}: {n} players, {spread}, {seconds:.0f} s", file=sys.stderr, flush=True)
    np.savez_compressed(path, names=np.array(list(GAMES)), **arrays)


def shapley_values(worths: Table) -> Float[np.ndarray, "n"]:
    """The mean gain of each player, coalitions of each size sharing one weight."""
    n = len(worths).bit_length() - 1
    index = np.arange(len(worths))
    sizes = _coalitions(n).sum(1)
    weights = np.array([1 / (n * math.comb(n - 1, size)) for size in range(n)])
    without = [index[index >> player & 1 == 0] for player in range(n)]
    gains = [worths[rest | 1 << player] - worths[rest] for player, rest in enumerate(without)]
    pairs = zip(gains, without, strict=True)
    return np.array([gain @ weights[sizes[rest]] for gain, rest in pairs])


def stored_games(path: pathlib.Path) -> Iterator[StoredGame]:
    """The games that `make_games` wrote, by number of players, so that programs are shared."""
    archive = np.load(path)
    names = sorted(map(str, archive["names"]), key=lambda name: len(archive[f"{name}/phi"]))
    for name in names:
        yield StoredGame(name, archive[f"{name}/v"], archive[f"{name}/phi"])


def our_score(game: StoredGame, budget: int, num_seeds: int) -> Ours:
    runs = []
    for seed in range(num_seeds):
        estimate = jaxshap.estimate(seed, jaxshap.table(game.worths), None, budget)
        std_error = np.asarray(estimate.std_error, float)
        miss = np.abs(np.asarray(estimate.values, float) - game.values)
        rounding = 1e-6 * np.abs(game.values).max()
        covered = miss <= 1.96 * std_error + rounding
        runs.append((_relative(miss, game), covered.mean(), (std_error == 0).mean()))
    return Ours(*map(float, np.mean(runs, 0)))


def peer_score(game: StoredGame, peer: Peer, budget: int, num_seeds: int) -> list[float] | None:
    """The error and the share of the budget spent; None where the peer refuses the budget."""
    runs, n = [], len(game.values)
    for seed in range(num_seeds):
        counted = CountedGame(table_worths(game.worths), n)
        try:
            with warnings.catch_warnings(action="ignore"):
                values = peer.values(shapiq.approximator, counted, budget, seed)
        except ValueError:
            return None
        runs.append((_relative(values - game.values, game), len(counted.seen) / budget))
    return np.mean(runs, 0).tolist()


def peer_scores(game: StoredGame, num_seeds: int, cache: dict) -> dict[tuple[str, int], list]:
    """Of every peer that is installed and every budget, from the cache where it has them."""
    n, scores = len(game.values), {}
    for name, peer in PEERS.items():
        installed = importlib.util.find_spec(peer.needs) is not None
        for multiple in budgets(n):
            key = f"{game.name}|{zlib.crc32(game.worths):08x}|{name}|{multiple}n|{num_seeds}"
            if key not in cache and installed and multiple * n <= peer.most_budget:
                cache[key] = peer_score(game, peer, multiple * n, num_seeds)
            if cache.get(key):
                scores[name, multiple] = cache[key]
    return scores


def budgets(n: int) -> list[int]:
    """As multiples of n, without those that buy every coalition."""
    return [multiple for multiple in MULTIPLES if multiple * n < 2**n]


def _relative(miss: Values, game: StoredGame) -> float:
    return float((miss**2).sum() / (game.values**2).sum())


def _coalitions(n: int) -> np.ndarray:
    return np.arange(2**n)[:, None] >> np.arange(n) & 1 == 1


@functools.cache
def _data(name: str, num_features: int):
    """Rows and targets for training, then for testing: the first features, standardised."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    X = StandardScaler().fit_transform(X[:, :num_features])
    classes = None if name == "diabetes" else y
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.2, random_state=SEED, stratify=classes
    )
    return X, y, X_test, y_test


def _soum(n: int, order: int, num_terms: int, seed: int = SEED):
    return lambda: shapiq_games.SOUM(
        n, num_terms, min_interaction_size=1, max_interaction_size=order, random_state=seed
    )


def _local(model, data: str, num_features: int, row: int = 0, **options):
    def build():
        X, y, X_test, _ = _data(data, num_features)
        return shapiq_games.TabularLocalExplanation(
            model.fit(X, y), _some_rows(X), X_test[row], sample_size=NUM_BACKGROUND, **options
        )

    return build


def _uncertainty(kind: str, data: str, num_features: int):
    def build():
        X, y, X_test, _ = _data(data, num_features)
        forest = _forest_classifier(num_trees=10).fit(X, y)
        return shapiq_games.TabularUncertaintyExplanation(
            forest, _some_rows(X), X_test[0], uncertainty=kind, sample_size=NUM_BACKGROUND
        )

    return build


def _interventional(model, data: str, num_features: int):
    def build():
        X, y, X_test, _ = _data(data, num_features)
        return shapiq_games.InterventionalTreeGame(model.fit(X, y), _some_rows(X), X_test[0])

    return build


def _path_dependent(model, data: str, num_features: int):
    def build():
        X, y, X_test, _ = _data(data, num_features)
        return shapiq_games.PathDependentTreeGame(model.fit(X, y), X_test[0])

    return build


def _global(model, data: str, num_features: int, **options):
    def build():
        X, y, X_test, _ = _data(data, num_features)
        return shapiq_games.TabularGlobalExplanation(model.fit(X, y), X_test, **options)

    return build


def _cluster(data: str, num_features: int, **options):
    return lambda: shapiq_games.ClusterExplanation(_data(data, num_features)[0], **options)


def _unsupervised(data: str, num_features: int, num_bins: int):
    return lambda: shapiq_games.UnsupervisedData(_data(data, num_features)[0], n_bins=num_bins)


def _selection(model, data: str, num_features: int):
    return lambda: shapiq_games.FeatureSelection(model, *_data(data, num_features))


def _data_valuation(model, data: str, num_players: int, seed: int = SEED):
    def build():
        X, y, X_test, y_test = _data(data, 13)
        rows = _some_rows(np.arange(len(X)), num_players, seed)
        return shapiq_games.DataValuation(model, X[rows], y[rows], X_test, y_test)

    return build


def _dataset_valuation(model, data: str, num_players: int, sizes: str):
    def build():
        X, y, X_test, y_test = _data(data, 13)
        return shapiq_games.DatasetValuation(
            model, X, y, X_test, y_test, n_players=num_players, player_sizes=sizes
        )

    return build


def _ensemble(data: str):
    def build():
        X, y, X_test, y_test = _data(data, 10)
        members = [
            linear_model.LinearRegression(),
            svm.SVR(),
            *(neighbors.KNeighborsRegressor(k) for k in (3, 10)),
            *(tree.DecisionTreeRegressor(max_depth=depth, random_state=SEED) for depth in (2, 4)),
            *(ensemble.RandomForestRegressor(10, random_state=seed) for seed in range(4)),
            *(_boosting(depth) for depth in (2, 3)),
        ]
        members = [member.fit(X, y) for member in members]
        return shapiq_games.EnsembleSelection(members, X_test, y_test)

    return build


def _forest_selection(data: str, num_trees: int):
    def build():
        X, y, X_test, y_test = _data(data, 10)
        forest = _forest_classifier(num_trees).fit(X, y)
        return shapiq_games.RandomForestEnsembleSelection(forest, X_test, y_test)

    return build


def _confounding(kind, num_players: int, mode: str, regressor: Callable):
    def build():
        frame = load_curthvds_synthetic(n=300, d=num_players, random_state=SEED, setting="ii")
        treatment, outcome = frame.pop("Treatment"), frame.pop("Outcome")
        return kind(frame.to_numpy(float), treatment, outcome, mode=mode, regressor=regressor)

    return build


def _neighbours(kind, model, data: str, num_players: int, **options):
    def build():
        X, y, X_test, _ = _data(data, 13)
        rows = _some_rows(np.arange(len(X)), num_players)
        return kind(model.fit(X[rows], y[rows]), X_test[0], **options)

    return build


def _product_kernel(model, data: str, num_features: int):
    def build():
        X, y, X_test, _ = _data(data, num_features)
        return shapiq_games.ProductKernelGame(model.fit(X, y), X_test[0])

    return build


def _some_rows(rows: np.ndarray, count: int = NUM_BACKGROUND, seed: int = SEED) -> np.ndarray:
    return rows[np.sort(np.random.default_rng(seed).choice(len(rows), count, replace=False))]


def _boosting(depth: int):
    return ensemble.GradientBoostingRegressor(max_depth=depth, random_state=SEED)


def _boosting_classifier(depth: int):
    return ensemble.GradientBoostingClassifier(max_depth=depth, random_state=SEED)


def _forest(num_trees: int):
    return ensemble.RandomForestRegressor(num_trees, random_state=SEED)


def _forest_classifier(num_trees: int):
    return ensemble.RandomForestClassifier(num_trees, random_state=SEED)


GAMES = {
    "SOUM 10, order 2": _soum(10, 2, 60),
    "SOUM 12, order 3": _soum(12, 3, 100),
    "SOUM 14, order 4": _soum(14, 4, 100),
    "SOUM 12, order 6": _soum(12, 6, 50),
    "SOUM 12, order 12": _soum(12, 12, 50),
    "SOUM 16, order 16": _soum(16, 16, 100, seed=1),
    "local boosting 3, diabetes": _local(_boosting(3), "diabetes", 10),
    "local boosting 4, wine": _local(_boosting_classifier(4), "wine", 13),
    "local boosting 4, cancer": _local(_boosting_classifier(4), "breast_cancer", 14, row=2),
    "local forest, diabetes": _local(_forest(10), "diabetes", 10, row=1),
    "local forest, cancer": _local(_forest_classifier(10), "breast_cancer", 16, row=1),
    "local network, wine": _local(
        neural_network.MLPClassifier(max_iter=500, random_state=SEED), "wine", 13
    ),
    "local network, diabetes": _local(
        neural_network.MLPRegressor(max_iter=500, random_state=SEED), "diabetes", 10, row=1
    ),
    "local 5-NN, cancer": _local(neighbors.KNeighborsClassifier(5), "breast_cancer", 11),
    "interventional tree, cancer": _interventional(
        tree.DecisionTreeClassifier(random_state=SEED), "breast_cancer", 12
    ),
    "path-dependent forest, diabetes": _path_dependent(_forest(10), "diabetes", 10),
    "global forest, diabetes": _global(_forest(10), "diabetes", 10),
    "global boosting 3, wine": _global(_boosting_classifier(3), "wine", 12, loss="mae"),
    "k-means score, wine": _cluster("wine", 10),
    "k-means score, cancer": _cluster("breast_cancer", 9),
    "agglomerative silhouette, wine": _cluster(
        "wine", 11, method="agglomerative", score="silhouette"
    ),
    "unsupervised, wine": _unsupervised("wine", 12, 20),
    "unsupervised, cancer": _unsupervised("breast_cancer", 13, 5),
    "feature selection tree, wine": _selection(
        tree.DecisionTreeClassifier(random_state=SEED), "wine", 11
    ),
    "feature selection linear, diabetes": _selection(
        linear_model.LinearRegression(), "diabetes", 10
    ),
    "data valuation tree, wine": _data_valuation(
        tree.DecisionTreeClassifier(random_state=SEED), "wine", 12
    ),
    "data valuation 3-NN, cancer": _data_valuation(
        neighbors.KNeighborsClassifier(3), "breast_cancer", 10, seed=1
    ),
    "dataset valuation tree, diabetes": _dataset_valuation(
        tree.DecisionTreeRegressor(max_depth=4, random_state=SEED), "diabetes", 10, "increasing"
    ),
    "ensemble selection, diabetes": _ensemble("diabetes"),
    "forest selection, cancer": _forest_selection("breast_cancer", 12),
    "uncertainty total, wine": _uncertainty("total", "wine", 11),
    "uncertainty epistemic, cancer": _uncertainty("epistemic", "breast_cancer", 10),
    "confounding global, linear": _confounding(
        shapiq_games.GlobalConfoundingXAI, 10, "signed", linear_model.LinearRegression
    ),
    "confounding local, trees": _confounding(
        shapiq_games.LocalConfoundingXAI,
        10,
        "sq",
        functools.partial(tree.DecisionTreeRegressor, max_depth=4, random_state=SEED),
    ),
    "kNN value, wine": _neighbours(
        shapiq_games.KNNGame, neighbors.KNeighborsClassifier(5), "wine", 14
    ),
    "weighted kNN value, wine": _neighbours(
        shapiq_games.WeightedKNNGame,
        neighbors.KNeighborsClassifier(5, weights="distance"),
        "wine",
        14,
    ),
    "threshold NN value, cancer": _neighbours(
        shapiq_games.ThresholdNNGame,
        neighbors.RadiusNeighborsClassifier(radius=7.2),
        "breast_cancer",
        14,
    ),
    "product kernel SVR, diabetes": _product_kernel(svm.SVR(C=100), "diabetes", 10),
    "product kernel SVC, cancer": _product_kernel(svm.SVC(), "breast_cancer", 14),
    "random table 10": lambda: shapiq_games.RandomTableGame(10),
    "random table 12": lambda: shapiq_games.RandomTableGame(12, random_state=1),
}


def _lightgbm(multiple: float) -> dict:
    """On one thread: the proxy that shapiq makes from its name uses all, and takes 100 times as
    long on a busy machine.
    """
    from lightgbm import LGBMRegressor

    proxy = LGBMRegressor(n_jobs=1, verbose=-1, random_state=SEED)
    return {"index": "SV", "max_order": 1, "adjustment": True, "proxy_model": proxy}


def _shapleig(multiple: float) -> dict:
    """Refits become rarer after 64 evaluations: even so, 160 take 40 s."""
    return {"refit": "decaying", "warmstart": True, "show_progress": False}


def _peer(name: str, needs: str = "shapiq", **options) -> Peer:
    return Peer(shapiq_estimator(name, lambda multiple: options), needs)


def _paired(name: str, **options) -> Peer:
    return _peer(name, pairing_trick=True, **options)


def _proxy(name: str, **options) -> Peer:
    return _peer(name, "xgboost", index="SV", **options)


PEERS = {
    "KernelSHAP": _paired("KernelSHAP"),
    "LeverageSHAP": _peer("LeverageSHAP"),
    "kADDSHAP(2)": _paired("kADDSHAP", max_order=2),
    "kADDSHAP(2), unpaired": _peer("kADDSHAP", max_order=2),
    "kADDSHAP(3)": _paired("kADDSHAP", max_order=3),
    "kADDSHAP(3), unpaired": _peer("kADDSHAP", max_order=3),
    "PolySHAP(2)": _paired("PolySHAP", max_order=2),
    "PolySHAP(2), unpaired": _peer("PolySHAP", max_order=2),
    "PolySHAP(3)": _paired("PolySHAP", max_order=3),
    "PolySHAP(3), unpaired": _peer("PolySHAP", max_order=3),
    "KernelSHAPIQ(2)": _paired("KernelSHAPIQ", index="SII", max_order=2),
    "RegressionMSR": _proxy("RegressionMSR"),
    "RegressionMSR, linear": _proxy("RegressionMSR", proxy_model="linear"),
    "RegressionMSR, 5 folds": _proxy("RegressionMSR", k_folds=5),
    "ProxySHAP": _proxy("ProxySHAP", max_order=1),
    "ProxySHAP, adjusted": _proxy("ProxySHAP", max_order=1, adjustment=True),
    "ProxySHAP, LightGBM": Peer(shapiq_estimator("ProxySHAP", _lightgbm), "lightgbm"),
    "OddSHAP": _peer("OddSHAP", "lightgbm"),
    "OddSHAP(5)": _peer("OddSHAP", "lightgbm", interaction_factor=5),
    "UnbiasedKernelSHAP": _paired("UnbiasedKernelSHAP"),
    "SVARM": _peer("SVARM"),
    "SVARM, paired": _paired("SVARM"),
    "PermutationSamplingSV": _peer("PermutationSamplingSV"),
    "OwenSamplingSV": _peer("OwenSamplingSV", n_anchor_points=3),
    "StratifiedSamplingSV": _peer("StratifiedSamplingSV"),
    "ShaplEIG": Peer(shapiq_estimator("ShaplEIG", _shapleig), "botorch", most_budget=100),
}


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    options.add_argument("--make", type=pathlib.Path, metavar="FILE", help="store the games")
    options.add_argument("--games", type=pathlib.Path, metavar="FILE", help="what --make stored")
    options.add_argument("--cache", type=pathlib.Path, metavar="FILE", help="peers' scores, JSON")
    options.add_argument("--seeds", type=int, default=5, help="per game and budget (5)")
    options.add_argument("--write", action="store_true", help="store the table as Markdown")
    args = options.parse_args()
    if args.make:
        make_games(args.make)
    if args.games:
        rows = score_games(args.games, args.cache, args.seeds)
        report(rows, args.seeds, args.write)


def score_games(path: pathlib.Path, cache_path: pathlib.Path | None, num_seeds: int) -> list[Row]:
    """A row per game and budget, printed as soon as it is there."""
    cache = json.loads(cache_path.read_text()) if cache_path and cache_path.exists() else {}
    missing = {peer.needs for peer in PEERS.values() if not importlib.util.find_spec(peer.needs)}
    if missing:
        print(f"Not installed, so some peers are left out: {missing}", file=sys.stderr)
    rows, players = [], 0
    for game in stored_games(path):
        n, start = len(game.values), time.perf_counter()
        if n != players:
            jax.clear_caches()  # several hundred live programs exhaust the memory maps of a process
        players, known = n, len(cache)
        peers = peer_scores(game, num_seeds, cache)
        if cache_path and len(cache) > known:
            cache_path.write_text(json.dumps(cache, indent=0))
        middle = time.perf_counter()
        for multiple in budgets(n):
            errors = {name: score[0] for (name, m), score in peers.items() if m == multiple}
            best = min(errors, key=lambda name: np.nan_to_num(errors[name], nan=np.inf))
            ours = our_score(game, multiple * n, num_seeds)
            rows.append(Row(game.name, n, multiple, ours, best, errors[best]))
            print(rows[-1].line(), flush=True)
        seconds = f"{middle - start:.0f} s for the peers, {time.perf_counter() - middle:.0f} s"
        print(f"{game.name}: {seconds} for the default", file=sys.stderr, flush=True)
    return rows


def report(rows: list[Row], num_seeds: int, write: bool) -> None:
    """The mean ratio and the games above `MAX_RATIO` for each budget, then the table if wanted."""
    means, medians, above = [], [], []
    for multiple in MULTIPLES:
        ratios = {row.game: row.ratio for row in rows if row.multiple == multiple}
        means.append(float(np.exp(np.mean(np.log(list(ratios.values()))))))
        medians.append(float(np.median(list(ratios.values()))))
        above.append([f"{name} {ratio:.3g}" for name, ratio in ratios.items() if ratio > MAX_RATIO])
        print(
            f"{multiple}n: geometric mean {means[-1]:.3f}, median {medians[-1]:.3f} over"
            f" {len(ratios)} games, {len(above[-1])} above {MAX_RATIO}:"
            f" {', '.join(above[-1]) or 'none'}"
        )
    if not write:
        return
    table = []
    for name in dict.fromkeys(row.game for row in rows):
        own = {row.multiple: row for row in rows if row.game == name}
        cells = [own[m].cell() if m in own else "" for m in MULTIPLES]
        covered = " ".join(f"{100 * row.ours.covered:.0f}" for row in own.values())
        certain = " ".join(f"{100 * row.ours.certain:.0f}" for row in own.values())
        table.append([name, next(iter(own.values())).players, *cells, covered, certain])
    table.append(["geometric mean", "", *(f"{mean:.3f}" for mean in means), "", ""])
    table.append(["median", "", *(f"{median:.3f}" for median in medians), "", ""])
    table.append([f"games above {MAX_RATIO}", "", *map(len, above), "", ""])
    notes = [
        "Our error over that of the best peer, which is named, for budgets of 5 to 50 evaluations",
        f"per player; a mean over {num_seeds} seeds, and at least {MIN_ERROR:g}. The best peer is",
        f"chosen for each game and budget among {len(PEERS)} settings of shapiq's approximators,",
        "after the fact. ShaplEIG ran for 100 evaluations at most (a call of 160 took 40 s), so it",
        "is missing from larger budgets. It chooses each coalition by the",
        "worths before it; no other peer does, nor the default. Then the percentage of values",
        "within ±1.96 std_error and of standard errors that are 0, budget by budget.",
    ]
    header = ["game", "players", *(f"{m}n" for m in MULTIPLES), "covered, %", "std_error 0, %"]
    write_table(__file__, "shapiq's games", header, table, notes)


if __name__ == "__main__":
    main()
