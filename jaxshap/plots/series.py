"""What windows of a series contributed, drawn behind it."""

from typing import Any

import numpy as np

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation, half_intervals
from jaxshap.games import as_array, shown
from jaxshap.plots.pixels import without_channels
from jaxshap.plots.selection import check_one_row, one_output, what_of_rows
from jaxshap.plots.style import Axes, finished, given_axes, new_axes, signed_colours, tidy


def series(
    explanation: Explanation, owner: Any = None, *, show: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw one series over the values of its windows: orange for, blue against.

    A window is hatched where the 95 % interval of its value holds 0.

    Args:
        explanation: the explanation of one row and output whose players are windows of a series,
            as of `jaxshap.patches((length,), size)`.
        owner: the player that owns each point in time; by default what the explanation remembers.
        show: whether to show the figure at once.
        ax: the axes to draw in; by default new ones.

    Returns:
        The axes.

    Raises:
        InputError: there are several rows or outputs, or players that are no windows of a series.
        MissingExtraError: matplotlib is not installed.

    Example:
        >>> import jaxshap, numpy as np
        >>> windows, rows = jaxshap.patches((6,), 2), np.arange(6.0)[None]
        >>> ex = jaxshap.explain(lambda x: x[:, :3].sum(1), rows, 0 * rows, groups=windows)
        >>> len(jaxshap.plots.series(ex).lines)
        1
    """
    explanation = one_output(explanation, "series")
    check_one_row(explanation, "series")
    given = explanation.owner if owner is None else owner
    owner = without_channels(np.asarray([] if given is None else as_array(given, "owner")), 1)
    data = explanation.data
    if owner.ndim != 1 or isinstance(data, dict) or len(owner) not in data.shape[1:]:
        raise InputError(
            f"series draws windows of a series, and owners have shape {owner.shape}: explain it "
            "with groups=jaxshap.patches((length,), size), or of several channels that share their "
            "windows, jaxshap.patches((length, channels), (size, channels))."
        )
    number = explanation.shape[1]
    if not np.issubdtype(owner.dtype, np.integer) or owner.max() >= number:
        raise InputError(
            f"owner={shown(owner)}: pass the number of the player that owns each point in time, "
            f"below {number}, or a negative one where nobody does."
        )
    values, errors = explanation.values[0], half_intervals(explanation)[0]
    lines = np.asarray(data[0], float).reshape(-1, len(owner)).T
    if data.ndim == 3 and data.shape[1] == len(owner):  # channels behind
        lines = np.asarray(data[0], float)
    ax = given_axes(ax) or new_axes(9, 3.2)
    extent = float(np.abs(values).max()) or 1.0
    colours = signed_colours()
    starts = np.flatnonzero(np.diff(owner, prepend=owner[0] - 1))
    ends = np.append(starts[1:], len(owner))
    for start, end in zip(starts, ends, strict=True):
        player = owner[start]
        if player < 0:
            continue
        unsure = abs(values[player]) < errors[player]
        look: dict[str, Any] = {"hatch": "//" if unsure else None, "edgecolor": "0.5", "lw": 0}
        shade = colours((values[player] / extent + 1) / 2)
        ax.axvspan(start - 0.5, end - 0.5, facecolor=shade, **look)
    ax.plot(np.arange(len(owner)), lines, color="black", lw=1.2)
    ax.set(xlim=(-0.5, len(owner) - 0.5), xlabel="time", ylabel="series")
    scale = _scale(extent)
    ax.figure.colorbar(scale, ax=ax, label=what_of_rows(explanation))
    return finished(tidy(ax), show)


def _scale(extent: float) -> Any:
    """The colours of values from −extent to extent, for a colour bar."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    return ScalarMappable(Normalize(-extent, extent), signed_colours())
