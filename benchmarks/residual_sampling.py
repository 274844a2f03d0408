"""Sampled Shapley residuals at equal budgets: by noise stability, and by random edges.

    python benchmarks/residual_sampling.py

Games of 10 players with all worths known: a network on coalitions, votes with a quota, products of
two players, and independent worths. The entries at random edges are themselves estimated. The error
is that of ‖r_i‖² relative to its root mean square over players; z is (estimate − exact) over the
standard error: its mean should be 0 and its spread 1, of those estimates whose draws varied; where
they did not, the stated error is rounding. How often 1.96 standard errors hold the exact value
counts all estimates. All figures have standard errors over keys.
"""

import jax
import jax.numpy as jnp
import numpy as np
import report

import jaxshap

PLAYERS, KEYS, BUDGETS = 10, 200, (550, 3300)


def games() -> dict[str, jaxshap.Game]:
    rng = np.random.default_rng(0)
    players = np.arange(2**PLAYERS)[:, None] >> np.arange(PLAYERS) & 1
    weights = rng.integers(1, 9, PLAYERS)
    tables = {
        "network": np.tanh(players @ rng.normal(size=(PLAYERS, 4))) @ rng.normal(size=4),
        "votes": (players @ weights * 2 > weights.sum()).astype(float),
        "products": players @ rng.normal(size=PLAYERS) + 2 * players[:, 0] * players[:, 1],
        "independent": rng.normal(size=2**PLAYERS),
    }
    return {
        name: jaxshap.table(jnp.asarray(worths, jnp.float32)) for name, worths in tables.items()
    }


def samplers():
    yield "noise stability", jaxshap.residuals.estimate_norms
    for draws in (1, 4, 16):
        yield (
            f"edges, {draws} draws per entry",
            lambda key, game, budget, draws=draws: jaxshap.residuals.edge_norms(
                key, game, budget, draws_per_entry=draws
            ),
        )


def figures(gap: np.ndarray, z: np.ndarray, holds: np.ndarray) -> tuple[float, ...]:
    """Error, bias, mean z, spread of z and percent that hold, over keys and players."""
    error, bias = np.sqrt((gap**2).mean()), np.sqrt((gap.mean(0) ** 2).mean())
    return tuple(map(float, (error, bias, np.nanmean(z), np.nanstd(z), 100 * holds.mean())))


def main() -> None:
    keys = jax.random.split(jax.random.key(0), KEYS)
    lines = []
    for name, game in games().items():
        exact = np.asarray(jaxshap.residuals.norms(game))
        size = np.sqrt((exact**2).mean())
        for how, sampler in samplers():
            for budget in BUDGETS:
                run = jax.vmap(lambda key, game=game, f=sampler, b=budget: f(key, game, b))
                try:
                    estimates = jax.jit(run)(keys)
                except jaxshap.BudgetError:  # it buys fewer than two draws
                    continue
                gap = np.asarray(estimates.values, float) - exact
                std_error = np.asarray(estimates.std_error, float)
                live = std_error > 1e-4 * size  # elsewhere the error is rounding
                z = np.divide(gap, std_error, out=np.full_like(gap, np.nan), where=live)
                holds = np.abs(gap) <= 1.96 * std_error + 1e-6 * size
                numbers = figures(gap / size, z, holds)
                errors = report.jackknife(figures, gap / size, z, holds)
                lines.append([name, how, budget, *map(report.measured, numbers, errors)])
                print(*lines[-1], flush=True)
    header = ["game", "sampler", "budget", "error", "bias", "mean z", "spread of z", "hold, %"]
    notes = [
        f"{KEYS} keys; ± standard errors over them (jackknife). A bias of error / √{KEYS} is what "
        "chance leaves.",
    ]
    report.write_table(__file__, "Sampled Shapley residuals", header, lines, notes)


if __name__ == "__main__":
    main()
