"""Hundreds of players and a cheap model: errors at the default budget, and what a later call takes
beside the bare model.

Networks with two hidden layers of 64, four rows, one background row. The error is that of the
values of a row, as a share of their size, over rows, keys and networks; the truth is the mean of
six runs of `Leverage` with 60,000 evaluations.
"""

import argparse
import time

import jax
import numpy as np
import report
from networks import Network

import jaxshap

ROWS, KEYS, NETWORKS, REPEATS = 4, 2, 2, 3
ESTIMATORS = jaxshap.OddGP(), jaxshap.Balanced(), jaxshap.Leverage()


def seconds(call) -> float:
    """The best of a few, compiled before."""
    call()
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def measured(num_players: int, seed: int) -> list[tuple[float, float]]:
    """Squared relative error and time over that of the model, for each estimator."""
    rng, network = (
        np.random.default_rng(seed),
        Network.drawn(1000 * seed + num_players, num_players),
    )
    rows, background = (
        rng.normal(size=(count, num_players)).astype(np.float32) for count in (ROWS, 1)
    )
    game, budget = jaxshap.marginal(network, rows, background), 2 * num_players + 2048
    runs = (jaxshap.estimate(100 + k, game, jaxshap.Leverage(), 60_000).values for k in range(6))
    truth = np.mean([np.asarray(values) for values in runs], axis=0)
    inputs = jax.device_put(np.resize(rows, (budget * ROWS, num_players)))
    bare = jax.jit(network)
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
    for num_players in options.players:
        all_found = [measured(num_players, seed) for seed in range(1, NETWORKS + 1)]
        for estimator, each in zip(ESTIMATORS, zip(*all_found, strict=True), strict=True):
            squares, ratios = zip(*each, strict=True)
            error, ratio = f"{np.sqrt(np.mean(squares)):.1%}", f"{min(ratios):.1f}"
            lines.append((num_players, 2 * num_players + 2048, repr(estimator), error, ratio))
            print(*lines[-1], sep="  ", flush=True)
    header = "players", "evaluations", "estimator", "error", "all of a later call / bare model"
    notes = ["Goal: plan and solve of the default at most 1.5 times the bare model."]
    report.write_table(__file__, "Hundreds of players", header, lines, notes)


if __name__ == "__main__":
    main()
