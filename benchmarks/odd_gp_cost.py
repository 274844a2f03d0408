"""OddGP's own cost and precision: time of fit and read-out once compiled, and its error in float32
over float64.

--games names a folder with games.npz (see `peers.stored_games`); without it only the times are
shown.
"""

import argparse
import pathlib
import time

import jax
import jax.numpy as jnp
import numpy as np
import report
from peers import stored_games

import jaxshap
from jaxshap.engine import Answers, make_plan, solve

SETTINGS = (
    (16, 20, 1.0),
    (100, 10, 20.0),
)  # players, budget over players, seconds that 100 rows may take
MULTIPLES = (5, 10, 20)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=pathlib.Path)
    parser.add_argument("--keys", type=int, default=6)
    options = parser.parse_args()
    rows = [
        (
            f"{n} players, budget {multiple}n, 100 rows",
            f"{_seconds(n, multiple * n):.2f} s",
            f"{most:g} s",
            "",
        )
        for n, multiple, most in SETTINGS
    ]
    for name, worths, truth in stored_games(options.games) if options.games else ():
        rows.append(
            (
                name,
                *(f"{_ratio(worths, truth, m * len(truth), options.keys):.2f}" for m in MULTIPLES),
            )
        )
        print(*rows[-1], flush=True)
        jax.clear_caches()
    header = ("fit and read-out; or float32 over float64 at", "measured; 5n", "goal; 10n", "20n")
    notes = [
        "Times: best of three on this machine. Ratios of mean squared errors over the same keys;",
        "the goal is 1.2.",
    ]
    report.write_table(
        __file__, "OddGP: time of the solve, and error in float32 over float64", header, rows, notes
    )


def _seconds(num_players: int, budget: int) -> float:
    """The best of three solves of 100 rows of a network with random weights."""
    rng = np.random.default_rng(0)
    first, second = (
        rng.normal(size=(num_players, 64)) / np.sqrt(num_players) * 2,
        rng.normal(size=(64, 100)) / 8,
    )

    def worths(coalitions):
        return np.tanh(coalitions @ first) @ second

    game = jaxshap.make_game(jaxshap.host(worths), num_players)
    plan, coalitions = make_plan(jax.random.key(0), num_players, jaxshap.OddGP(), budget)
    known = worths(coalitions).astype(np.float32)
    times = []
    for _ in range(4):  # the first compiles
        begin = time.perf_counter()
        jax.block_until_ready(solve(jaxshap.OddGP(), Answers(plan, known), game))
        times.append(time.perf_counter() - begin)
    return min(times[1:])


def _ratio(worths, truth, budget: int, keys: int) -> float:
    errors = []
    for wide in (False, True):
        with jax.enable_x64(wide):
            dtype = jnp.float64 if wide else jnp.float32
            game = jaxshap.make_game(
                jaxshap.host(lambda s, dtype=dtype: worths(s).astype(dtype)), len(truth)
            )
            found = [
                jaxshap.estimate(key, game, jaxshap.OddGP(), budget).values for key in range(keys)
            ]
            errors.append(((np.asarray(found, float) - truth) ** 2).sum())
    return errors[0] / errors[1]


if __name__ == "__main__":
    main()
