"""What is to be explained, as a game of all rows or of each by itself."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from jaxshap.engine import BatchSize, bucket, estimate
from jaxshap.estimators import Estimate, Estimator
from jaxshap.explaining.source import Source
from jaxshap.games import Game, Host, as_pytree, grouped
from jaxshap.inputs import Inputs, Players, WeightedRows
from jaxshap.rewards import reward as rewarded
from jaxshap.values import marginal


class Task(NamedTuple):
    """What is to be explained: a model, its inputs, what absent means and what counts."""

    predict: Callable
    inputs: Inputs
    value: Callable[..., Game]
    reward: Callable | None

    def game(self) -> Game:
        """For all rows; of JAX models up to the next bucket, so that nearby numbers of rows share a
        program.
        """
        rows, references = self.inputs.rows, self.inputs.references
        if self.reward is None and not isinstance(self.predict, Host):
            rows = jax.tree.map(_pad_rows, rows, references)
        game = self._game(rows)
        return game if self.reward is None else rewarded(game, self.reward)

    def source(self, game: Callable[[], Game]) -> Source:
        """Where the explanation comes from; rows that only fill up a bucket are not shown."""
        rows = np.arange(len(jax.tree.leaves(self.inputs.rows)[0]))
        background = None
        if self.value is marginal and "players" not in self.inputs.options:
            background = self.inputs.references
            if "weights" in self.inputs.options:
                background = WeightedRows(background, self.inputs.options["weights"])
        return Source(game, rows, (), background, self.inputs.groups)

    def _game(self, rows: Any) -> Game:
        game = self.value(self.predict, rows, self.inputs.references, **self.inputs.options)
        return game if self.inputs.groups is None else grouped(game, self.inputs.groups)

    def separately(
        self, key: Key[Array, ""], estimator: Estimator, budget: int, batch_size: BatchSize
    ) -> tuple[Estimate, Any, str]:
        """Each row with a key of its own: one compiled loop over rows, or one row after the other
        on the host.

        With the worth of nobody for each row, and the name of the game.
        """
        rows, references = self.inputs.rows, self.inputs.references
        first = self._game(
            jax.tree.map(lambda part: part[:1], rows)
        )  # shows what is wrong, if anything is
        if isinstance(self.predict, Host):
            each = []
            for number in range(len(jax.tree.leaves(rows)[0])):
                game = self._game(jax.tree.map(lambda part, at=number: part[at : at + 1], rows))
                own = jax.random.fold_in(key, number)
                each.append(
                    (estimate(own, game, estimator, budget, batch_size=batch_size), game.empty)
                )
            found = Estimate(
                *(
                    jnp.concatenate(parts, axis=1)
                    for parts in zip(*(one for one, _ in each), strict=True)
                )
            )
            return found, np.concatenate([empty for _, empty in each]), first.name
        rows = jax.tree.map(_pad_rows, rows, references)
        options = dict(self.inputs.options)
        players, groups = options.pop("players", None), self.inputs.groups
        groups = None if groups is None else tuple(map(tuple, groups))
        how = self.value, players, groups, estimator, budget, batch_size
        found, empty = _row_by_row(*how, key, as_pytree(self.predict), rows, references, options)
        return found, empty, first.name


@functools.partial(jax.jit, static_argnums=range(6))
def _row_by_row(
    value: Callable[..., Game],
    players: Players | None,
    groups: Any,
    estimator: Estimator,
    budget: int,
    batch_size: BatchSize,
    key: Key[Array, ""],
    predict: Callable,
    rows: Any,
    references: Any,
    options: dict[str, Any],
) -> tuple[Estimate, Any]:
    if players is not None:
        options = options | {"players": players}

    def of_row(item):
        number, row = item
        game = value(predict, jax.tree.map(lambda part: part[None], row), references, **options)
        game = game if groups is None else grouped(game, groups)
        found = estimate(
            jax.random.fold_in(key, number), game, estimator, budget, batch_size=batch_size
        )
        return Estimate(*(part[:, 0] for part in found)), game.empty[0]

    found, empty = jax.lax.map(of_row, (jnp.arange(len(jax.tree.leaves(rows)[0])), rows))
    return Estimate(*(jnp.moveaxis(part, 0, 1) for part in found)), empty


def _pad_rows(rows, references):
    """Up to the next bucket with a background row, so that nearby numbers of rows share one
    compiled program.
    """
    missing = bucket(len(rows)) - len(rows)
    return np.concatenate([rows, np.repeat(references[:1], missing, axis=0)]).astype(rows.dtype)
