"""Rows at the points of many targets at once: what is asked, and the answers of all rows or their
means.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Bool, Float, Int

from jaxshap.effects.grids import (
    Sample,
    Target,
    check_resolution,
    even_grids,
    given_grids,
    read_sample,
    read_targets,
)
from jaxshap.effects.moving import Moves, batches_of, is_best_alone, over_batches, points_at_once
from jaxshap.engine import BatchSize, bucket
from jaxshap.errors import ModelOutputError
from jaxshap.games import Host
from jaxshap.inputs import column_numbers, read_output_names
from jaxshap.values import Score, learn_support


class Asked(NamedTuple):
    """Rows, targets, and the points of each."""

    sample: Sample
    targets: list[Target]
    grids: dict[int, Float[np.ndarray, "points"]]  # by column
    points: list[
        Float[np.ndarray, "points 2"]
    ]  # by target; for one feature both columns are its own
    levels: set[int]  # columns of categories

    def about(
        self, target: Target, output_names: Sequence[str] | None, outputs: tuple[int, ...]
    ) -> dict[str, Any]:
        """What every record says."""
        return {
            "grids": tuple(self.grids[column] for column in target),
            "data": self.sample.rows[:, list(target)],
            "feature_names": tuple(self.sample.names[column] for column in target),
            "output_names": read_output_names(output_names, self.sample.classes, outputs),
            "categorical": tuple(column in self.levels for column in target),
        }


def read_asked(
    model, X, features, grids, resolution, percentiles, categorical, weights, feature_names
) -> Asked:
    sample = read_sample(model, X, weights, feature_names)
    targets = read_targets(features, sample.names)
    levels = set(column_numbers(categorical, sample.names, "categorical="))
    check_resolution(resolution, percentiles)
    found = given_grids(grids, sample)
    columns = sorted({column for target in targets for column in target} - found.keys())
    found |= even_grids(sample, columns, resolution, percentiles, levels)
    points = [crossed([found[column] for column in target]) for target in targets]
    return Asked(sample, targets, found, points, levels)


def crossed(grids: list[Float[np.ndarray, "points"]]) -> Float[np.ndarray, "points 2"]:
    both = np.meshgrid(*grids, indexing="ij")
    return np.stack([both[0].ravel(), both[-1].ravel()], axis=1)


def over_points(
    asked: Asked, points: list, reduce: Callable, within: Any, batch_size: BatchSize
) -> list:
    """What `reduce` makes of all rows, at the points of all targets, one target behind the other."""
    sample = asked.sample
    rows, weights = sample.rows, sample.weights
    if not isinstance(sample.predict, Host):  # nearby numbers of rows share one compiled program
        missing = bucket(len(rows)) - len(rows)
        rows, weights = (
            np.concatenate([rows, rows[:1].repeat(missing, axis=0)]),
            np.pad(weights, (0, missing)),
        )
        within = None if within is None else np.pad(within, ((0, 0), (0, missing)))
    at_once = points_at_once(sample.predict, rows, batch_size)
    moves, which = _moves(asked, points, rows, at_once, is_best_alone(sample.predict, len(rows)))
    detail = None if within is None else within[which]
    found = over_batches(sample.predict, rows, moves, reduce, detail, weights, points=at_once)
    traced = isinstance(found[0], Tracer)
    found = (
        found if traced else map(np.asarray, found)
    )  # to be cut up, which JAX would compile piece by piece
    found = [part.reshape(-1, *part.shape[2:])[: sum(map(len, points))] for part in found]
    if not traced:
        _check_finite(found[0], points, asked, within)
    return found


def _moves(
    asked: Asked, points: list, rows: Any, at_once: int, alone: bool
) -> tuple[Moves, Int[np.ndarray, "batches moves"]]:
    """For all targets, and which of them make up each batch."""
    width = max(map(len, asked.targets))
    columns = np.repeat(
        [(target[0], target[-1]) for target in asked.targets], list(map(len, points)), axis=0
    )
    columns, values = columns[:, :width], np.concatenate(points)[:, None, :width]
    which = batches_of(len(columns), len(rows), at_once, alone=alone)
    return Moves(columns[which], values[which]), which


def rows_within(
    asked: Asked, score: Score | None, inside: float, neighbours: int
) -> Bool[np.ndarray, "points rows"]:
    """Whether each row, moved to each point, still looks like the data."""
    with (
        jax.ensure_compile_time_eval()
    ):  # of the rows alone, so it is known even where the model is traced
        rows, weights = jnp.asarray(asked.sample.rows), jnp.asarray(asked.sample.weights)
        support = learn_support(rows, weights, score, inside, neighbours)
        at_once = points_at_once(support.score, rows, "auto")
        moves, _ = _moves(asked, asked.points, rows, at_once, alone=False)
        moves = Moves(moves.columns, moves.values.astype(rows.dtype))
        within = np.asarray(
            over_batches(
                support.score, rows, moves, _no_lower, None, support.lowest, points=at_once
            )
        )
    return within.reshape(-1, len(rows))[: sum(map(len, asked.points))]


def every_row(outputs, detail, weights):
    return (outputs,)


def _no_lower(scores, detail, lowest):
    return scores >= lowest


def split(found: Any, points: list, axis: int = 0) -> list:
    ends = np.cumsum(list(map(len, points)))
    before = (slice(None),) * axis
    return [found[*before, end - len(one) : end] for one, end in zip(points, ends, strict=True)]


def _check_finite(found: np.ndarray, points: list, asked: Asked, within: Any) -> None:
    bad = np.asarray((~np.isfinite(found)).reshape(len(found), -1).any(1))
    if within is not None:
        bad &= within.any(1)
    if bad.any():
        target = asked.targets[
            np.repeat(np.arange(len(points)), list(map(len, points)))[bad.argmax()]
        ]
        names, place = (
            [asked.sample.names[column] for column in target],
            np.concatenate(points)[bad.argmax()],
        )
        raise ModelOutputError(
            f"the model returns NaN or infinity at {bad.sum()} of {len(bad)} points, first where {' and '.join(names)} "
            f"= {', '.join(f'{value:.4g}' for value in place[: len(names)])}: mend the model, or pass other grids=."
        )
