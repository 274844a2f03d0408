"""Whether the default's 95 % intervals cover, on random games of 31 kinds drawn anew by --seed.

Kinds × numbers of players × budgets; two thirds of the kinds are ordinary, in the others much of
what matters is seldom seen. For each kind and budget: the share of values within 1.96 standard
errors (an unknown error, NaN, covers), the root mean square of error over standard error, and the
median over games of the stated over the true size of the error.
"""

import argparse
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from hidden_games import ALL_KINDS, drawn_game, exact_values
from jaxtyping import Float
from report import write_table

import jaxshap

BUDGETS = (3, 5, 10, 20, 50)


class Measured(NamedTuple):
    """The errors of some runs, and what was stated of them, each `(runs, n)`."""

    error: Float[np.ndarray, "runs n"]
    stated: Float[np.ndarray, "runs n"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--players", type=int, nargs="+", default=[8, 12, 16])
    parser.add_argument("--budgets", type=int, nargs="+", default=BUDGETS, help="in units of n")
    parser.add_argument("--games", type=int, default=4, help="of each kind and number of players")
    parser.add_argument("--keys", type=int, default=2, help="for each game")
    parser.add_argument("--kinds", nargs="+", default=list(ALL_KINDS))
    parser.add_argument("--write", action="store_true", help="store the table beside this script")
    options = parser.parse_args()
    cells = {}
    for num_players in options.players:
        start = time.perf_counter()
        for kind in options.kinds:
            games = [drawn_game(kind, num_players, options.seed, i) for i in range(options.games)]
            for budget in options.budgets:
                runs = _runs(games, num_players, budget * num_players, options.keys)
                cells.setdefault((kind, budget), []).extend(runs)
        print(f"{num_players} players: {time.perf_counter() - start:.0f} s", flush=True)
    _show(cells, options)


def _runs(games, num_players: int, budget: int, keys: int) -> list[Measured]:
    """One per game; nothing where the default enumerates all coalitions."""
    if 2**num_players <= budget:
        return []
    runs = []
    with jax.enable_x64(True):
        for worths in games:
            game, truth = jaxshap.table(jnp.asarray(worths)), exact_values(worths)
            found = [jaxshap.estimate(key, game, budget=budget) for key in range(keys)]
            error = np.stack([np.asarray(estimate.values) - truth for estimate in found])
            stated = np.stack([np.asarray(estimate.std_error) for estimate in found])
            runs.append(Measured(error, stated))
    return runs


def _show(cells: dict, options) -> None:
    header = ["kind", *(f"{budget}n" for budget in options.budgets)]
    lines = [
        [kind, *(_cell(cells[kind, budget]) for budget in options.budgets)]
        for kind in options.kinds
    ]
    every = [_cell([r for kind in options.kinds for r in cells[kind, b]]) for b in options.budgets]
    lines.append(["all", *every])
    notes = [
        f"Seed {options.seed}, {options.players} players, {options.games} games of each kind and "
        f"number of players, {options.keys} keys each. Each cell: share of values within 1.96 "
        "standard errors · rms of error over standard error · median over games of the stated "
        "over the true rms error · shares of errors stated as 0 and as unknown, if there are any.",
    ]
    title = "Coverage of the default's 95 % intervals on random games"
    write_table(__file__, title, header, lines, notes, store=options.write)


def _cell(runs: list[Measured]) -> str:
    if not runs:
        return "exact"
    floor = 1e-9  # worths have a spread of 1: nothing below counts as an error
    covered, scores, zero, unknown, ratios = [], [], [], [], []
    for error, stated in runs:
        known = np.isfinite(stated)
        covered.append((~known | (np.abs(error) <= 1.96 * stated + floor)).mean())
        scores.append((error[known] / np.maximum(stated[known], floor)) ** 2)
        zero.append((stated < 1e-12).mean())
        unknown.append((~known).mean())
        true = np.sqrt((error**2).mean())
        if known.all() and true > floor:
            ratios.append(np.sqrt((stated**2).mean()) / true)
    rms = np.sqrt(np.concatenate(scores).mean()) if np.concatenate(scores).size else np.nan
    middle = np.median(ratios) if ratios else np.nan
    text = f"{np.mean(covered):.2f} · {rms:.2g} · {middle:.2g}"
    if np.mean(zero) or np.mean(unknown):
        text += f" · {np.mean(zero):.2f}, {np.mean(unknown):.2f}"
    return text


if __name__ == "__main__":
    main()
