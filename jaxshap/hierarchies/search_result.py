"""What a search from the top down found: parts of a tree and their values."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float

MOST_LINES = 12


@dataclasses.dataclass(frozen=True, eq=False)
class Parts:
    """Groups that together hold every player once, largest value first.

    Attributes:
        players: who is in each part; a single player where the search went down to it.
        values: the Winter value of each part in the tree that was divided so far, `(parts, *out)`.
        std_error: their standard errors, 0 where all coalitions that matter were asked about.
        num_evaluations: how many coalitions were asked about, ∅ and N among them.
        degrees: degrees of freedom of the standard errors, at least; texts show intervals of 95 %
            by Student's t.
        names: of the players, which are printed in place of their numbers, or None.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> game = jaxshap.make_game(lambda s: jnp.where(s[5], 3.0, 0.0), 8)
        >>> tree = jaxshap.hierarchies.hierarchy_of_blocks((8,))
        >>> parts = jaxshap.hierarchies.top_down(0, game, tree, budget=24)
        >>> parts.players[0], float(parts.values[0])
        ((5,), 3.0)
    """

    players: tuple[tuple[int, ...], ...]
    values: Float[np.ndarray, "parts *out"]
    std_error: Float[np.ndarray, "parts *out"]
    num_evaluations: int
    degrees: int
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.players)

    def shares(self) -> Float[np.ndarray, "n *out"]:
        """Each part's value in equal shares for its players: for pictures, no value of theirs.

        Returns:
            One number per player and output.
        """
        sizes = np.array([len(part) for part in self.players])
        order = np.argsort(np.concatenate(self.players))
        widths = sizes.reshape(-1, *(1,) * (self.values.ndim - 1))
        return np.repeat(self.values / widths, sizes, axis=0)[order]

    def __str__(self) -> str:
        from scipy.special import stdtrit  # slow to import, and not needed before

        halves = stdtrit(self.degrees, 0.975) * self.std_error
        lines = zip(self.players[:MOST_LINES], self.values, halves, strict=False)
        shown = [
            f"{self._named(part):>24}  {_numbers(value)} ± {_numbers(half)}"
            for part, value, half in lines
        ]
        left = len(self) - len(shown)
        more = [f"{'':>24}  and {left} more parts"] if left > 0 else []
        title = (
            f"{len(self)} parts of a tree, Winter values ± error (95 %), {self.num_evaluations} "
            "evaluations"
        )
        return "\n".join([title, *shown, *more])

    def _named(self, part: tuple[int, ...]) -> str:
        first = part[:4] if self.names is None else [self.names[player] for player in part[:4]]
        shown = ", ".join(map(str, first))
        return "{" + shown + (f", … {len(part)} players" if len(part) > 4 else "") + "}"


def _numbers(values: Any) -> str:
    return np.array2string(np.asarray(values), precision=4, suppress_small=True, threshold=4)
