"""All rows at the points of many targets at once, and what is made of the outputs."""

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

Points = list[Float[np.ndarray, "_ 2"]]  # by target; for one feature both columns are its own


class Query(NamedTuple):
    """What is asked for: rows, targets, and the points of each target."""

    sample: Sample
    targets: list[Target]
    grids: dict[int, Float[np.ndarray, "_"]]  # by column
    points: Points
    levels: set[int]  # columns of categories

    def common_fields(
        self, target: Target, output_names: Sequence[str] | None, outputs: tuple[int, ...]
    ) -> dict[str, Any]:
        """The fields of `Effect` apart from its kind."""
        return {
            "grids": tuple(self.grids[column] for column in target),
            "data": self.sample.rows[:, list(target)],
            "feature_names": tuple(self.sample.names[column] for column in target),
            "output_names": read_output_names(output_names, self.sample.classes, outputs),
            "categorical": tuple(column in self.levels for column in target),
        }


def read_query(
    model, X, features, grids, resolution, percentiles, categorical, weights, feature_names
) -> Query:
    """Read and check what both `ice` and `pdp` take."""
    sample = read_sample(model, X, weights, feature_names)
    targets = read_targets(features, sample.names)
    levels = set(column_numbers(categorical, sample.names, "categorical="))
    check_resolution(resolution, percentiles)
    by_column = given_grids(grids, sample)
    columns = sorted({column for target in targets for column in target} - by_column.keys())
    by_column |= even_grids(sample, columns, resolution, percentiles, levels)
    points = [crossed([by_column[column] for column in target]) for target in targets]
    return Query(sample, targets, by_column, points, levels)


def crossed(grids: list[Float[np.ndarray, "_"]]) -> Float[np.ndarray, "points 2"]:
    """All points of one grid, or of two."""
    both = np.meshgrid(*grids, indexing="ij")
    return np.stack([both[0].ravel(), both[-1].ravel()], axis=1)


def over_points(
    query: Query, points: Points, reduce: Callable, within: Any, batch_size: BatchSize
) -> list:
    """What `reduce` makes of all rows at the points of all targets, one target after the other."""
    sample = query.sample
    rows, weights = sample.rows, sample.weights
    if not isinstance(sample.predict, Host):  # nearby numbers of rows share one compiled program
        missing = bucket(len(rows)) - len(rows)
        rows = np.concatenate([rows, rows[:1].repeat(missing, axis=0)])
        weights = np.pad(weights, (0, missing))
        within = None if within is None else np.pad(within, ((0, 0), (0, missing)))
    at_once = points_at_once(sample.predict, rows, batch_size)
    alone = is_best_alone(sample.predict, len(rows))
    moves, which = _moves(query, points, len(rows), at_once, alone)
    detail = None if within is None else within[which]
    reduced = over_batches(sample.predict, rows, moves, reduce, detail, weights, points=at_once)
    traced = isinstance(reduced[0], Tracer)
    if not traced:  # in numpy, since JAX would compile a program for every slice
        reduced = map(np.asarray, reduced)
    count = sum(map(len, points))
    flat = [array.reshape(-1, *array.shape[2:])[:count] for array in reduced]
    if not traced:
        _check_finite(flat[0], points, query, within)
    return flat


def _moves(
    query: Query, points: Points, num_rows: int, at_once: int, alone: bool
) -> tuple[Moves, Int[np.ndarray, "batches moves"]]:
    """The moves of all targets in batches, and the number of each."""
    width = max(map(len, query.targets))
    pairs = [(target[0], target[-1]) for target in query.targets]
    columns = np.repeat(pairs, list(map(len, points)), axis=0)[:, :width]
    values = np.concatenate(points)[:, None, :width]
    which = batches_of(len(columns), num_rows, at_once, alone=alone)
    return Moves(columns[which], values[which]), which


def rows_within(
    query: Query, score: Score | None, inside: float, neighbours: int
) -> Bool[np.ndarray, "points rows"]:
    """Whether each row, moved to each point, still looks like the data."""
    with jax.ensure_compile_time_eval():  # only the model may be traced, and it is not asked
        rows, weights = jnp.asarray(query.sample.rows), jnp.asarray(query.sample.weights)
        support = learn_support(rows, weights, score, inside, neighbours)
        at_once = points_at_once(support.score, rows, "auto")
        moves, _ = _moves(query, query.points, len(rows), at_once, alone=False)
        moves = Moves(moves.columns, moves.values.astype(rows.dtype))
        within = over_batches(
            support.score, rows, moves, _no_lower, None, support.lowest, points=at_once
        )
    return np.asarray(within).reshape(-1, len(rows))[: sum(map(len, query.points))]


def every_row(outputs, detail, weights):
    """A reduction that keeps the outputs of all rows."""
    return (outputs,)


def _no_lower(scores, detail, lowest):
    return scores >= lowest


def split(flat: Any, points: Points, axis: int = 0) -> list:
    """Cut an array of all points into one per target."""
    ends = np.cumsum(list(map(len, points)))
    before = (slice(None),) * axis
    return [flat[*before, end - len(grid) : end] for grid, end in zip(points, ends, strict=True)]


def _check_finite(outputs: np.ndarray, points: Points, query: Query, within: Any) -> None:
    bad = np.asarray((~np.isfinite(outputs)).reshape(len(outputs), -1).any(1))
    if within is not None:
        bad &= within.any(1)
    if bad.any():
        first = bad.argmax()
        target = query.targets[np.repeat(np.arange(len(points)), list(map(len, points)))[first]]
        names = " and ".join(query.sample.names[column] for column in target)
        place = np.concatenate(points)[first][: len(target)]
        raise ModelOutputError(
            f"the model returns NaN or infinity at {bad.sum()} of {len(bad)} points, first where "
            f"{names} = {', '.join(f'{value:.4g}' for value in place)}: mend the model, or pass "
            "other grids=."
        )
