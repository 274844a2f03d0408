"""Estimated Shapley interactions (SII) against those of shapiq 1.8 at equal budgets.

Games are those that ship with shapiq (stored by `shapiq_games.py --make FILE`), random games of
`random_games.py`, of kinds that nothing was chosen on, and sums of unanimity games of many players,
whose interactions are known. A budget counts distinct coalitions, ∅ and N among them. An error is
the squared error of all sets of the named size over the sum of their squares, its mean over seeds.
"""

import argparse
import json
import math
import pathlib
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

sys.path.append(sys.path.pop(0))  # this folder last: a script is named like shapiq's package

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float
from peers import CountedGame, table_worths
from random_games import NEW, random_games
from report import write_table

import jaxshap
from jaxshap.games import sets_of_size

MULTIPLES = (5, 10, 20, 50, 100)  # budgets, in players
MIN_ERROR = 1e-12  # smaller relative errors are rounding, and count as this one
MAX_RATIO = 1.2  # our error over that of the best peer, above which a game is listed
MIN_SPREAD = 1e-6  # a game whose interactions of an order are smaller, relative to it, has none
FEW_PLAYERS = 16
Members = Bool[np.ndarray, "m n"]


class KnownGame(NamedTuple):
    """A game for both sides, and its interactions of one order, in lexicographic order."""

    name: str
    game: Any
    worths: Callable[[Members], Float[np.ndarray, "m"]]
    truth: Float[np.ndarray, "sets"]
    order: int

    @property
    def num_players(self) -> int:
        return self.game.num_players


class Peer(NamedTuple):
    approximator: str
    options: dict
    most_players: int = 1000  # beyond which one call takes too long for this benchmark


class Row(NamedTuple):
    game: str
    players: int
    multiple: int
    error: float
    covered: float  # share of interactions within 1.96 standard errors
    best: str  # the peer with the smallest error
    best_error: float

    @property
    def ratio(self) -> float:
        return max(self.error, MIN_ERROR) / max(self.best_error, MIN_ERROR)


PEERS = {
    "KernelSHAPIQ": Peer("KernelSHAPIQ", {"pairing_trick": True}, 30),
    "KernelSHAPIQ, unpaired": Peer("KernelSHAPIQ", {}, 30),
    "InconsistentKernelSHAPIQ": Peer("InconsistentKernelSHAPIQ", {"pairing_trick": True}, 30),
    "SVARMIQ": Peer("SVARMIQ", {"top_order": True}, 30),
    "SVARMIQ, paired": Peer("SVARMIQ", {"top_order": True, "pairing_trick": True}, 30),
    "SHAPIQ": Peer("SHAPIQ", {"top_order": True}, 30),
    "PermutationSamplingSII": Peer("PermutationSamplingSII", {"top_order": True}),
    "ProxySHAP": Peer("ProxySHAP", {}),
    "ProxySHAP, adjusted": Peer("ProxySHAP", {"adjustment": True}),
    "ProxySPEX": Peer("ProxySPEX", {"pairing_trick": True}),
}


def shapiq_games(path: pathlib.Path, order: int) -> Iterator[KnownGame]:
    """The games that `shapiq_games.py` stored, by number of players."""
    archive = np.load(path)
    for name in sorted(map(str, archive["names"]), key=lambda name: len(archive[f"{name}/v"])):
        yield from tabled(name, archive[f"{name}/v"], order)


def own_games(order: int) -> Iterator[KnownGame]:
    """Random tables of 12 players, two of each kind."""
    for kind, worths in random_games(20, 12, 2, (*NEW, "tanh network", "trees, background")):
        yield from tabled(f"{kind} {zlib.crc32(worths.tobytes()):08x}", worths, order)


def tabled(name: str, worths: Float[np.ndarray, "size"], order: int) -> Iterator[KnownGame]:
    """A game of all its worths, unless it has no interactions of this order."""
    with jax.enable_x64(True):
        exact = jaxshap.interactions.exact_interactions(jaxshap.table(worths), "SII", order)
        truth = np.asarray(exact.values)[-math.comb(exact.num_players, order) :]
        game = jaxshap.table(worths)
    if np.abs(truth).max() > MIN_SPREAD * np.ptp(worths):
        yield KnownGame(name, game, table_worths(worths), truth, order)


def many_player_games(order: int, sizes: tuple[int, ...]) -> Iterator[KnownGame]:
    """Sums of n unanimity games of up to four players, a third of them with one player feared; and
    networks with products of two and of three players, all of whom interact a little.
    """
    for n in sizes:
        rng = np.random.default_rng(n)
        terms = [rng.choice(n, rng.choice([1, 2, 2, 3, 4]), replace=False) for _ in range(n)]
        yield _of_terms(f"sparse unanimity {n}", n, terms, rng.normal(size=n), order)
        slopes = rng.normal(size=n) / np.sqrt(n)
        yield _sum_of_squares(f"smooth {n}", n, slopes, rng.normal(size=n) / np.sqrt(n), order)


def _of_terms(name: str, n: int, terms: list, weights: Float[np.ndarray, "terms"], order: int):
    needed = np.zeros((len(terms), n), np.float32)
    for row, term in zip(needed, terms, strict=True):
        row[term] = 1
    sizes = needed.sum(1)

    def worth(coalition):
        have = jnp.asarray(needed) @ coalition.astype(jnp.float32)
        return jnp.asarray(weights, jnp.float32) @ (have == jnp.asarray(sizes)).astype(jnp.float32)

    sets = sets_of_size(n, order)
    truth = np.zeros(len(sets))
    for row, size, weight in zip(needed, sizes, weights, strict=True):
        truth += weight * row[sets].all(1) / max(size - order + 1, 1)
    game = jaxshap.make_game(worth, n)
    return KnownGame(name, game, lambda s: (s @ needed.T == sizes) @ weights, truth, order)


def _sum_of_squares(name: str, n: int, first, second, order: int):
    """(a·s)² + (b·s)³: I_ij = 2 a_i a_j + …, from the Möbius coefficients of the polynomial."""

    def worth(coalition):
        inside = coalition.astype(jnp.float32)
        return (jnp.asarray(first, jnp.float32) @ inside) ** 2 + (
            jnp.asarray(second, jnp.float32) @ inside
        ) ** 3

    def worths(members):
        return (members @ first) ** 2 + (members @ second) ** 3

    sets = sets_of_size(n, order)
    b = second[sets]
    triple = 6 * b.prod(1)
    if order == 3:
        truth = triple
    else:
        pair = 2 * first[sets].prod(1) + 3 * (b.prod(1) * b.sum(1))
        truth = pair + triple * (second.sum() - b.sum(1)) / 2
    return KnownGame(name, jaxshap.make_game(worth, n), worths, truth, order)


def our_score(known: KnownGame, budget: int, num_seeds: int) -> tuple[float, float]:
    runs, count = [], len(known.truth)
    for seed in range(num_seeds):
        with jax.enable_x64(True):  # peers are in float64
            estimate = jaxshap.estimate_interactions(seed, known.game, "SII", known.order, budget)
        miss = np.asarray(estimate.values, float)[-count:] - known.truth
        std_error = np.asarray(estimate.std_error, float)[-count:]
        rounding = 1e-6 * np.abs(known.truth).max()
        runs.append((_relative(miss, known), (np.abs(miss) <= 1.96 * std_error + rounding).mean()))
    error, covered = np.mean(runs, 0)
    return float(error), float(covered)


def peer_score(known: KnownGame, peer: Peer, budget: int, num_seeds: int) -> list[float] | None:
    """The error and the share of the budget spent; None where the peer refuses the budget."""
    import shapiq.approximator

    n, runs, sets = known.num_players, [], sets_of_size(known.num_players, known.order)
    for seed in range(num_seeds):
        counted = CountedGame(known.worths, n)
        options = dict(peer.options)
        if peer.approximator == "ProxySPEX":  # that which it makes itself warns at every tree
            options |= {"hpo": False, "proxy_model": _lightgbm(seed)}
        approximator = getattr(shapiq.approximator, peer.approximator)(
            n=n, max_order=known.order, index="SII", random_state=seed, **options
        )
        try:
            with warnings.catch_warnings(action="ignore"):
                found = approximator.approximate(budget, counted)
        except ValueError:
            return None
        values = np.array([found[tuple(row)] for row in sets.tolist()])
        runs.append((_relative(values - known.truth, known), len(counted.seen) / budget))
    return np.mean(runs, 0).tolist()


def _lightgbm(seed: int) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(verbose=-1, n_jobs=1, random_state=seed)


def peer_errors(known: KnownGame, budget: int, num_seeds: int, cache: dict) -> dict[str, float]:
    errors = {}
    for name, peer in PEERS.items():
        probe = known.worths(np.eye(known.num_players, dtype=bool))
        print_of_game = f"{zlib.crc32(np.round(probe, 9).tobytes()):08x}"
        key = f"{known.name}|{print_of_game}|{known.order}|{name}|{budget}|{num_seeds}"
        if key not in cache and known.num_players <= peer.most_players:
            start = time.perf_counter()
            cache[key] = peer_score(known, peer, budget, num_seeds)
            seconds = time.perf_counter() - start
            if seconds > 20:
                print(f"{name} took {seconds:.0f} s", file=sys.stderr, flush=True)
        if cache.get(key):
            errors[name] = cache[key][0]
    return errors


def score(games: Iterator[KnownGame], args: argparse.Namespace) -> list[Row]:
    """A row per game and budget, printed as soon as it is there."""
    path: pathlib.Path | None = args.cache
    cache = json.loads(path.read_text()) if path and path.exists() else {}
    rows, players = [], 0
    for known in games:
        if known.num_players != players:
            jax.clear_caches()  # many live programs exhaust the memory maps of a process
        players = known.num_players
        for multiple in args.multiples:
            if multiple * players >= min(2**players, args.most_budget + 1):
                continue
            errors = peer_errors(known, multiple * players, args.seeds, cache)
            if path:  # what peers did is kept, whatever comes after
                path.write_text(json.dumps(cache, indent=0))
            best = min(errors, key=lambda name: np.nan_to_num(errors[name], nan=np.inf))
            error, covered = our_score(known, multiple * players, args.seeds)
            rows.append(Row(known.name, players, multiple, error, covered, best, errors[best]))
            row = rows[-1]
            print(
                f"{row.game}, {players} players, {multiple}n: {row.ratio:.3g} ({error:.1e} / "
                f"{row.best_error:.1e} {best}), covered {covered:.2f}",
                flush=True,
            )
    return rows


def summary(rows: list[Row], multiples: tuple[int, ...]) -> list[list]:
    """The geometric mean of ratios, how many games are above `MAX_RATIO`, and the coverage."""
    lines = [["geometric mean", ""], [f"games above {MAX_RATIO}", ""], ["covered, %", ""]]
    for multiple in multiples:
        own = [row for row in rows if row.multiple == multiple]
        ratios = [row.ratio for row in own]
        lines[0].append(f"{np.exp(np.mean(np.log(ratios))):.3f}" if own else "")
        lines[1].append(str(sum(ratio > MAX_RATIO for ratio in ratios)) if own else "")
        lines[2].append(f"{100 * np.mean([row.covered for row in own]):.0f}" if own else "")
    return lines


def report(rows: list[Row], args: argparse.Namespace) -> None:
    lines = summary(rows, args.multiples)
    for line in lines:
        print(*line)
    if not args.write:
        return
    table = []
    for name in dict.fromkeys(row.game for row in rows):
        own = {row.multiple: row for row in rows if row.game == name}
        cells = [f"{own[m].ratio:.3g} {own[m].best}" if m in own else "" for m in args.multiples]
        covered = " ".join(f"{100 * row.covered:.0f}" for row in own.values())
        table.append([name, next(iter(own.values())).players, *cells, covered])
    notes = [
        f"Our error of the Shapley interactions of order {args.order} over that of the best peer,",
        f"which is named: a mean over {args.seeds} seeds, and at least {MIN_ERROR:g}. The best",
        f"peer is chosen for each game and budget among {len(PEERS)} settings of shapiq's",
        "approximators, after the fact; above 30 players only permutation sampling, ProxySHAP and",
        "ProxySPEX are asked.",
        "The last column has the percentage of interactions within ±1.96 std_error, by budget.",
    ]
    if any(args.most_budget < m * row.players for m in args.multiples for row in rows):
        notes.append(f"Budgets above {args.most_budget} coalitions were not run.")
    header = ["game", "players", *(f"{m}n" for m in args.multiples), "covered, %"]
    title = f"Interactions of order {args.order}, {args.games_of}"
    variant = "" if args.games_of == "shapiq" else f"_{args.games_of}"
    variant += "" if args.order == 2 else f"_order_{args.order}"
    lines = [[*line, ""] for line in lines]
    write_table(__file__, title, header, [*table, *lines], notes, variant=variant)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    options.add_argument("--games", type=pathlib.Path, metavar="FILE", help="of shapiq_games.py")
    options.add_argument("--games-of", default="shapiq", choices=["shapiq", "own", "many"])
    options.add_argument("--order", type=int, default=2)
    options.add_argument("--players", type=int, nargs="+", default=[30, 60, 100])
    options.add_argument("--multiples", type=int, nargs="+", default=MULTIPLES)
    options.add_argument(
        "--most-budget", type=int, default=10**6, help="larger budgets are omitted: they take long"
    )
    options.add_argument("--cache", type=pathlib.Path, metavar="FILE", help="peers' scores, JSON")
    options.add_argument("--seeds", type=int, default=2, help="per game and budget (2)")
    options.add_argument("--write", action="store_true", help="store the table as Markdown")
    args = options.parse_args()
    if args.games_of == "shapiq" and args.games is None:
        options.error("--games FILE is missing: make it by shapiq_games.py --make FILE.")
    games = {
        "shapiq": lambda: shapiq_games(args.games, args.order),
        "own": lambda: own_games(args.order),
        "many": lambda: many_player_games(args.order, tuple(args.players)),
    }
    report(score(games[args.games_of](), args), args)


def _relative(miss: Float[np.ndarray, "sets"], known: KnownGame) -> float:
    return float((miss**2).sum() / (known.truth**2).sum())


if __name__ == "__main__":
    main()
