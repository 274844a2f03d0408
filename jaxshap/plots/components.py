"""Pictures of functional decompositions, of one row and output."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from jaxshap.games import check_kind
from jaxshap.interactions import Decomposition
from jaxshap.plots.sets import one_number_per_set, player_names
from jaxshap.plots.style import (
    Axes,
    colours_by_sign,
    given_axes,
    largest,
    new_axes,
    shortened,
    tidy,
    wrapped,
)

MAX_LABEL_CHARACTERS = 44  # beside a bar
MIN_SIZE = 1e-3  # of the largest component, below which a component has no bar of its own
ORDER_HATCHES = ("", "///", "...", "xxx")  # of one player, of two, of three, of more


def component_bars(
    decomposition: Decomposition,
    *,
    names: Sequence[str] | None = None,
    max_display: int = 15,
    ax: Axes | None = None,
) -> Axes:
    """Draw the largest components of one prediction, order by order, and the sum of all others.

    Components below a thousandth of the largest have no bar of their own.

    Args:
        decomposition: the decomposition of one row and output.
        names: the names of the players, x0, x1, … by default.
        max_display: how many components to draw on their own, the largest first; 15 by default.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several rows or outputs, or not one name per player.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> game = jaxshap.make_game(lambda inside: jnp.where(inside.all(), 6.0, 0.0), 3)
        >>> ax = jaxshap.plots.component_bars(jaxshap.interactions.decompose(game), max_display=1)
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['x0 × x1 × x2', '6 other components']
    """
    check_kind(
        decomposition,
        Decomposition,
        "decomposition",
        "what jaxshap.interactions.decompose returned",
    )
    decomposition = one_number_per_set(decomposition)
    values = np.asarray(decomposition.values, np.float64)
    labels = list(map(shortened, player_names(names, decomposition.num_players)))
    orders = decomposition.members.sum(1)
    shown = _shown(values, orders, max_display)
    prediction = float(decomposition.full)
    hidden = 2**decomposition.num_players - 1 - len(shown)
    lengths = np.r_[values[shown], [prediction - values[0] - values[shown].sum()] * bool(hidden)]
    ax = given_axes(ax) or new_axes(7.5, 1.2 + 0.32 * len(lengths))
    colours = colours_by_sign(values[shown]) + ["0.7"] * bool(hidden)
    hatches = [ORDER_HATCHES[min(order, 4) - 1] for order in orders[shown]] + [""] * bool(hidden)
    rows = np.arange(len(lengths))
    ax.barh(rows, lengths, color=colours, hatch=hatches, edgecolor="white", height=0.75, lw=0)
    _mark_orders(ax, orders[shown])
    sets = [_set_label(labels, decomposition.members[place]) for place in shown]
    ax.set_yticks(rows, sets + [_others_label(hidden)] * bool(hidden))
    ax.invert_yaxis()
    ax.axvline(0, color="black", lw=0.8)
    total = f"with the constant {values[0]:.4g} they sum to the prediction {prediction:.4g}"
    ax.set_xlabel(wrapped("component", total))
    return tidy(ax)


def _shown(
    values: Float[np.ndarray, "sets"], orders: Int[np.ndarray, "sets"], max_display: int
) -> Int[np.ndarray, "k"]:
    """The places of the largest components, by order and then from the largest down."""
    sizes = np.abs(values)
    sizes[0] = 0  # the constant has no bar
    shown = largest(sizes, max_display)
    shown = shown[sizes[shown] > MIN_SIZE * sizes.max()]
    return shown[np.argsort(orders[shown], kind="stable")]


def _set_label(names: Sequence[str], inside: Bool[np.ndarray, "n"]) -> str:
    """All names where there is room, or those of absent players; else the first and the last."""
    members, others = (
        [names[player] for player in np.flatnonzero(mask).tolist()] for mask in (inside, ~inside)
    )
    whole = " × ".join(members)
    if len(whole) <= MAX_LABEL_CHARACTERS or len(members) < 3:
        return shortened(whole, MAX_LABEL_CHARACTERS)
    rest = "all but " + ", ".join(others) if others else "all players"
    if len(rest) <= MAX_LABEL_CHARACTERS:
        return rest
    return f"{shortened(members[0], 18)} × … × {shortened(members[-1], 18)}"


def _others_label(hidden: int) -> str:
    if hidden > 10**6:
        return "all other components"
    return f"{hidden:,} other components" if hidden > 1 else "1 other component"


def _mark_orders(ax: Axes, orders: Int[np.ndarray, "k"]) -> None:
    """Draw a line between orders and write the name of each on the right."""
    beside = ax.get_yaxis_transform()
    for order in np.unique(orders):
        rows = np.flatnonzero(orders == order)
        ax.text(1.01, rows.mean(), f"order {order}", transform=beside, va="center", fontsize=9)
        ax.axhline(rows[-1] + 0.5, color="0.8", lw=0.8, ls=":", zorder=0)
