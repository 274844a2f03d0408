"""Hundreds of players and a cheap model: errors at the default budget, and what a later call takes
beside the bare model.

Networks with two hidden layers of 64, four rows, one background row; all features weigh alike, or
nine in ten of them next to nothing. The error is that of the values of a row, as a share of their
size, over rows, keys and networks; the truth is the mean of six runs of `Leverage` with 60,000
evaluations.
"""

import argparse
import itertools
import time

import jax
import numpy as np
import report
from networks import Network

import jaxshap
from jaxshap.estimators import BalancedFirst

ROWS, KEYS, NETWORKS, REPEATS = 4, 2, 2, 3
ESTIMATORS = BalancedFirst(), jaxshap.OddGP(), jaxshap.Balanced(), jaxshap.Leverage()
KINDS = {"all": (1.0, 1.0), "one in ten": (3.0, 0.05)}  # weights of one in ten, and of the others


def seconds(call) -> float:
    """The best of a few, compiled before."""
    call()
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def weighted(network: Network, weights, x):
    return network(x * weights)


def measured(num_players: int, scales: tuple[float, float], seed: int) -> list[tuple[float, float]]:
    """Squared relative error and time over that of the model, for each estimator."""
    rng, network = (
        np.random.default_rng(seed),
        Network.drawn(1000 * seed + num_players, num_players),
    )
    rows, background = (
        rng.normal(size=(count, num_players)).astype(np.float32) for count in (ROWS, 1)
    )
    weights = np.where(np.arange(num_players) % 10 == 0, *scales).astype(np.float32)
    model = jax.tree_util.Partial(weighted, network, weights)
    game, budget = jaxshap.marginal(model, rows, background), 2 * num_players + 2048
    runs = (jaxshap.estimate(100 + k, game, jaxshap.Leverage(), 60_000).values for k in range(6))
    truth = np.mean([np.asarray(values) for values in runs], axis=0)
    inputs = jax.device_put(np.resize(rows, (budget * ROWS, num_players)))
    bare = jax.jit(model)
    alone = seconds(lambda: bare(inputs).block_until_ready())
    found = []
    for estimator in ESTIMATORS:
        values = (jaxshap.estimate(k, game, estimator, budget).values for k in range(KEYS))
        squares = [((np.asarray(v) - truth) ** 2).sum(0) / (truth**2).sum(0) for v in values]
        later = seconds(lambda own=estimator: jaxshap.estimate(0, game, own, budget))
        found.append((float(np.mean(squares)), later / alone))
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--players", type=int, nargs="+", default=[200, 300])
    options = options.parse_args()
    lines = []
    for num_players, (who, scales) in itertools.product(options.players, KINDS.items()):
        all_found = [measured(num_players, scales, seed) for seed in range(1, NETWORKS + 1)]
        for estimator, each in zip(ESTIMATORS, zip(*all_found, strict=True), strict=True):
            squares, ratios = zip(*each, strict=True)
            error, ratio = f"{np.sqrt(np.mean(squares)):.1%}", f"{min(ratios):.1f}"
            budget = 2 * num_players + 2048
            lines.append((num_players, who, budget, repr(estimator), error, ratio))
            print(*lines[-1], sep="  ", flush=True)
    header = (
        "players",
        "who matter",
        "evaluations",
        "estimator",
        "error",
        "all of a later call / bare model",
    )
    notes = ["Goal: plan and solve of the default at most 1.5 times the bare model."]
    report.write_table(__file__, "Hundreds of players", header, lines, notes)


if __name__ == "__main__":
    main()
