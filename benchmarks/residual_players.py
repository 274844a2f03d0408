"""Sampled Shapley residuals of 20 to 200 players, with dials for order and correlation.

    python benchmarks/residual_players.py

Model: Σ a_i x_i + dial · Σ_T Π_{i∈T} x_i, the T being disjoint groups of features, one group for
every five features. The order of interaction is the size of a group; features of a group are normal
with one correlation. Absent features come from background rows. Worths of a group are a table of
2^order, from which a Walsh transform gives exact residuals for any number of players. The figure is
the residual share, ‖r_i‖² over ‖∇_i v‖² summed over players and rows. Both samplers spend the same
number of evaluations; entries of edges are themselves estimated, as in Ngo (2020).
"""

import functools
import itertools
import pathlib
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import report
from jaxtyping import Array, Bool, Float, Key
from scipy.linalg import hadamard
from scipy.stats import spearmanr

import jaxshap
from jaxshap.plots.style import LINES

PLAYERS, CORRELATIONS, ORDERS = (20, 60, 200), (0.0, 0.5, 0.9), (2, 3, 4)
DIALS = (0.0, 0.5, 1.0, 2.0, 4.0)
KEYS, DRAWS, EXPLAINED, BACKGROUND = 20, 128, 4, 16
DRAWS_PER_ENTRY = 8
EDGES = functools.partial(jaxshap.residuals.edge_norms, draws_per_entry=DRAWS_PER_ENTRY)
SAMPLERS = ("noise stability", f"edges, {DRAWS_PER_ENTRY} draws per entry")


def data(number: int, order: int, correlation: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, rows to explain, background rows; the first features of every five are a group."""
    rng = np.random.default_rng(0)
    count = EXPLAINED + BACKGROUND
    shared = np.repeat(rng.normal(size=(count, number // 5)), 5, axis=1)
    rows = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.normal(
        size=(count, number)
    )
    outside = np.arange(number) % 5 >= order
    rows[:, outside] = rng.normal(size=(count, outside.sum()))
    return rng.uniform(0.5, 1.5, number), rows[:EXPLAINED], rows[EXPLAINED:]


def worth(
    order: int,
    weights: Float[Array, "n"],
    rows: Float[Array, "rows n"],
    background: Float[Array, "b n"],
    coalition: Bool[Array, "n"],
) -> Float[Array, "dials rows"]:
    """Of all dials and rows at once."""
    mixed = jnp.where(coalition, rows[:, None], background)
    groups = mixed.reshape(*mixed.shape[:2], -1, 5)[..., :order]
    products = groups.prod(-1).sum(-1).mean(1)
    return (mixed @ weights).mean(1) + jnp.asarray(DIALS)[:, None] * products


def exact(
    weights: np.ndarray, rows: np.ndarray, background: np.ndarray, order: int
) -> tuple[np.ndarray, np.ndarray]:
    """‖r_i‖² and ‖∇_i v‖² by dial, row and player, both over 2^(n + 1): from Walsh coefficients."""
    members = np.arange(2**order)[:, None] >> np.arange(order) & 1 == 1
    players = np.arange(rows.shape[1]).reshape(-1, 5)[:, :order]  # (groups, order)
    mixed = np.where(
        members[:, None, None, None], rows[:, players][:, None], background[:, players]
    )  # (coalitions, rows, background, groups, order)
    main = (mixed * weights[players]).sum(-1).mean(2)
    tables = main + np.asarray(DIALS)[:, None, None, None] * mixed.prod(-1).mean(2)
    coefficients = np.einsum("ts,dsrg->dtrg", hadamard(2**order), tables) / 2**order
    sizes = members.sum(1)
    left = np.where(sizes > 0, 1 - 1 / np.maximum(sizes, 1), 0)
    squares = coefficients**2
    alone = (weights * (rows - background.mean(0)) / 2) ** 2  # of players without a group
    gradients = np.broadcast_to(alone, (len(DIALS), *alone.shape)).copy()
    residuals = np.zeros_like(gradients)
    gradients[:, :, players] = np.einsum("dtrg,tk->drgk", squares, members)
    residuals[:, :, players] = np.einsum("dtrg,t,tk->drgk", squares, left, members)
    return residuals, gradients


@functools.partial(jax.jit, static_argnums=(0, 1))
def sampled(sampler: Callable, order: int, keys: Key[Array, "keys"], *parts: Array) -> Array:
    """What a sampler says for each key, in one compiled loop."""
    number = parts[0].size
    value = jax.tree_util.Partial(functools.partial(worth, order), *parts)
    game = jaxshap.make_game(value, number, "products")
    return jax.lax.map(lambda key: sampler(key, game, DRAWS * (2 * number + 2)).values, keys)


def estimates(
    number: int, order: int, correlation: float
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Exact shares by dial, and those of each sampler by key and dial."""
    parts = data(number, order, correlation)
    residuals, gradients = exact(*parts, order)
    total = gradients.sum((1, 2))
    keys = jax.random.split(jax.random.key(0), KEYS)
    shares, norms = (
        np.moveaxis(np.asarray(sampled(sampler, order, keys, *parts)), 1, -1)
        for sampler in (jaxshap.residuals.estimate_shares, EDGES)
    )  # (keys, dials, rows, n)
    shares = (shares * gradients).sum((2, 3)) / total
    norms = norms.sum((2, 3)) / 2.0 ** (number + 1) / total
    return residuals.sum((1, 2)) / total, dict(zip(SAMPLERS, (shares, norms), strict=True))


def line(setting: tuple, name: str, truth: np.ndarray, shares: np.ndarray) -> list:
    """A row of the table."""
    mean, error = shares.mean(0), shares.std(0, ddof=1) / np.sqrt(KEYS)
    cells = ["0" if mean[0] < 1e-9 else report.measured(float(mean[0]), float(error[0]))]
    cells += [f"{truth[i]:.3f}; {report.measured(float(mean[i]), float(error[i]))}" for i in (2, 4)]
    z = np.abs(mean - truth)[1:] / error[1:]  # at 0 an unbiased estimate of 0 is rounding
    ranks = np.array([spearmanr(DIALS, of_key).statistic for of_key in shares])
    rank = report.measured(float(ranks.mean()), float(ranks.std(ddof=1) / np.sqrt(KEYS)))
    return [*setting, name, *cells, float(z.max()), rank]


def draw(curves: dict[tuple, tuple[np.ndarray, dict[str, np.ndarray]]]) -> None:
    """Shares against the dial, a panel for every number of players and order."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, grid = plt.subplots(
        len(ORDERS), len(PLAYERS), figsize=(12, 8), sharex=True, sharey=True, layout="constrained"
    )
    place = np.arange(len(DIALS))
    for (number, correlation, order), (truth, by_sampler) in curves.items():
        axis = grid[ORDERS.index(order), PLAYERS.index(number)]
        colour = LINES[CORRELATIONS.index(correlation)]
        for name, mark, shift in zip(SAMPLERS, ("o", "s"), (-0.06, 0.06), strict=True):
            mean = by_sampler[name].mean(0)
            error = 1.96 * by_sampler[name].std(0, ddof=1) / np.sqrt(KEYS)
            label = f"{name}, correlation {correlation:g}"
            look = {"fmt": mark, "color": colour, "markersize": 4, "capsize": 2, "label": label}
            look |= {"markerfacecolor": colour if mark == "o" else "white"}
            axis.errorbar(place + shift, mean, error, **look)
        axis.plot(place, truth, color=colour, linewidth=1)
        axis.set_title(f"{number} players, order {order}", fontsize=10)
        axis.set_xticks(place, [f"{dial:g}" for dial in DIALS])
        axis.spines[["top", "right"]].set_visible(False)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    figure.supxlabel("interaction put in (dial)")
    figure.supylabel("residual share, 95 % intervals; lines are exact")
    figure.savefig(pathlib.Path(__file__).with_suffix(".png"), dpi=110)


def main() -> None:
    lines, curves = [], {}
    for setting in itertools.product(PLAYERS, CORRELATIONS, ORDERS):
        number, correlation, order = setting
        curves[setting] = truth, by_sampler = estimates(number, order, correlation)
        for name, shares in by_sampler.items():
            lines.append(line(setting, name, truth, shares))
            print(*lines[-1], flush=True)
        jax.clear_caches()
    notes = [
        f"Shares, exact; estimated ± standard error over {KEYS} keys. Both samplers spend "
        f"{DRAWS} · (2n + 2) evaluations on {EXPLAINED} rows at once, with {BACKGROUND} background "
        "rows. What is below 1e-9 is shown as 0. z is |mean − exact| over the standard error, the "
        "largest of the dials above 0. Spearman is between the dial and the estimates of "
        "one key, mean ± standard error over keys.",
    ]
    header = ["players", "correlation", "order", "sampler", "dial 0 (exact: 0)", "dial 1", "dial 4"]
    title = "Sampled residuals by players, correlation and order of interaction"
    report.write_table(__file__, title, [*header, "largest z", "Spearman"], lines, notes)
    draw(curves)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)  # squared norms of 200 players overflow float32
    main()
