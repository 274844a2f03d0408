"""OddInteractions: balanced pairs, and Gaussian processes on both halves of the game."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from jaxshap.estimators.least_squares import sequence_after
from jaxshap.estimators.odd.balanced import BalancedPairs, unit_rows
from jaxshap.estimators.odd.calibration import widened_error
from jaxshap.estimators.odd.fit import fitted, has_all_twos
from jaxshap.estimators.odd.gaussian_process import (
    MAX_ENUMERABLE_PLAYERS,
    OddGP,
    spread_of,
)
from jaxshap.estimators.odd.process import Rows
from jaxshap.estimators.odd.read_out import determines_low, left_out_squares
from jaxshap.estimators.odd.search import Search, search_among
from jaxshap.estimators.odd.sets import SetsOf
from jaxshap.estimators.odd.sparse import Sparse, searched
from jaxshap.estimators.odd.unseen import doubt_of_sets
from jaxshap.estimators.protocol import Estimate, Plan
from jaxshap.estimators.stating import stated
from jaxshap.games import num_sets, starts

MAX_PROCESS_ROWS = 4000  # of one process, which cannot use more
MAX_LEFT_OUT_RATIO = 0.1  # of squares left out, below which few signs explain the game better
MAX_MISSED_RATIO = 2.0  # of squares left out, above which no process can make up for a search
MAX_SPARSE_RATIO = 0.5  # of squares left out, below which a search is believed; 0.8 did harm
MAX_FORM_RATIO = 0.8  # the same of a quadratic form of low rank
EFFICIENT = ("k-SII", "STII", "FSII")  # indices that sum to v(N) − v(∅) at every order
_Half = tuple[Rows, Float[Array, "out"]]  # in units of the size of each output, and these sizes


@dataclasses.dataclass(frozen=True)
class OddInteractions(BalancedPairs):
    """An interaction index of all sets of 1 to `order` players: one value for each set, smaller
    ones first and then in lexicographic order.

    A pair {S, N∖S} tells the odd part of a game by its difference and the even part by its sum.
    Each has a Gaussian process like that of `OddGP`, and every index is read out of the two
    posteriors in closed form: of the Shapley and Banzhaf index, sets of odd size belong to the odd
    part and sets of even size to the even one. From ten players on, a search for a few interactions
    among many comes first: all pairs, triples that go best with what single players leave (of all),
    and sets of four that unite two strong pairs; or all pairs at once in a quadratic form of one or
    two directions, such as functions of one sum have. It is taken where it predicts left-out pairs
    with less than half the squared error (four fifths for a form), with a process on what it misses
    of them. Errors hold what an interaction that no pair shows could do. Of outputs by the hundred
    nothing is searched. Where a game with interactions of three players at most (four in the odd
    part) predicts left-out pairs far better, it is taken instead. Biased like OddGP, exact when all
    pairs are enumerated; short of that it asks about `MAX_PROCESS_ROWS` pairs at most. Shapley
    values among them are those of OddGP. `jaxshap.estimate_interactions` gives the result its sets.

    Args:
        index: the index, one of `jaxshap.interactions`.
        order: the number of players in the largest sets.

    Example:
        >>> import jaxshap, numpy as np
        >>> from jaxshap.estimators import OddInteractions
        >>> worths = [0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0]  # players 0 and 1 add 2 together
        >>> estimate = jaxshap.estimate(0, jaxshap.table(worths), OddInteractions(), budget=8)
        >>> print(abs(np.asarray(estimate.values).round(3)))
        [2. 3. 3. 2. 0. 0.]
    """

    index: str = "SII"
    order: int = 2

    @property
    def kind(self) -> str:
        return f"interaction ({self.index})"

    def search(self, num_coalitions: int, num_players: int, num_outputs: int) -> Search | None:
        """What the search tries where a plan has so many coalitions; None where there is none."""
        return search_among(
            min(num_coalitions // 2 + 1, MAX_PROCESS_ROWS), num_players, num_outputs
        )

    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        usable = budget if 2**num_players <= budget else min(budget, 2 * MAX_PROCESS_ROWS)
        return super().plan(key, num_players, usable)

    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        num_players = plan.coalitions.shape[1]
        middle = (full + empty) / 2  # a constant has no interactions; without it, less is unknown
        odd = unit_rows(plan, (worths[::2] - worths[1::2]) / 2, (full - empty) / 2)
        sums = (worths[::2] + worths[1::2]) / 2
        even = unit_rows(plan, sums - middle, jnp.zeros_like(middle))
        reach = spread_of(plan, worths, empty, full) / 2
        halves = [
            self._half(plan, half, SetsOf(self.index, self.order, num_players, is_odd))
            for half, is_odd in ((odd, True), (even, False))
        ]
        (values, error), (more, other) = (half[:2] for half in halves)
        values, error = values + more, jnp.hypot(error, other)
        error = jnp.hypot(error, self._doubt(odd, even, reach, values))
        if self.index == "SII":
            singles = OddGP(self.fit_each).solve(plan, worths, empty, full)
            flat = (array.reshape(num_players, -1) for array in singles[:2])
            values, error = (
                array.at[:num_players].set(own)
                for array, own in zip((values, error), flat, strict=True)
            )
        if self.index in EFFICIENT:
            missing = (full - empty).reshape(-1) - values.sum(0)  # what jitter left
            values = values.at[:num_players].add(missing / num_players)
        shape = (len(values), *empty.shape)
        complete = _is_complete(plan)
        return stated(values.reshape(shape), error.reshape(shape), exact=complete)

    def _half(self, plan: Plan, half: _Half, asked: SetsOf) -> Estimate:
        """What one half of the game adds to each set's index; 0 where it says nothing."""
        rows, scale = half
        number = num_sets(asked.num_players, self.order) - 1
        values = error = jnp.zeros((number, len(scale)), scale.dtype)
        if not self._tells(asked):
            return Estimate(values, error)
        used = Rows(*(array[:MAX_PROCESS_ROWS] for array in rows))
        own, own_error = (array * scale for array in self._read(used, scale > 0, asked))
        if _can_be_complete(plan):
            own = jnp.where(_is_complete(plan), asked.exact(rows.signs, rows.targets) * scale, own)
        places = _places(asked)
        return Estimate(values.at[places].set(own), error.at[places].set(own_error))

    def _tells(self, asked: SetsOf) -> bool:
        """Whether this half tells anything but Shapley values, which are those of OddGP."""
        return any(not (self.index == "SII" and size == 1) for size in asked.sizes)

    def _doubt(
        self, odd: _Half, even: _Half, reach: Float[Array, "out"], values: Float[Array, "sets out"]
    ) -> Float[Array, "sets out"]:
        """What an interaction that no pair shows could do to each set; known after the values."""
        num_players = odd[0].signs.shape[1]
        signs, squares = sequence_after(values, odd[0].signs), jnp.zeros_like(values)
        for (rows, scale), is_odd in ((odd, True), (even, False)):
            asked = SetsOf(self.index, self.order, num_players, is_odd)
            if self._tells(asked):
                of_game = rows._replace(signs=signs, targets=rows.targets * scale)
                more = doubt_of_sets(of_game, reach, asked)
                squares = squares.at[_places(asked)].add(more**2)
        return jnp.sqrt(squares)

    def _read(self, rows: Rows, informative: Bool[Array, "out"], asked: SetsOf) -> tuple:
        """Values and errors in units of the targets: of the process alone, or of the sparse
        polynomial of `searched` and a process on what that misses of rows that it has not seen,
        where this predicts them far better.
        """
        found = self._searched(rows, asked)
        missed = (found.left_out**2).sum(0)
        unit = jnp.sqrt(jax.lax.stop_gradient(missed) / rows.live.sum().astype(missed.dtype))
        unit = jnp.where(unit > 0, unit, 1)
        targets = jnp.stack([rows.targets, found.left_out / unit])

        def fit(known, target):  # once more only where that can help; compiled once
            needed = (missed < MAX_MISSED_RATIO * known).any()
            read = jax.lax.cond(
                needed,
                lambda: self._of_process(rows._replace(targets=target), informative, asked),
                lambda: (*jnp.zeros((2, *found.values.shape), missed.dtype), jnp.inf * known),
            )
            return jax.lax.stop_gradient(read[2]), read

        _, (values, errors, squares) = jax.lax.scan(fit, jnp.full_like(missed, jnp.inf), targets)
        most = jnp.where(found.is_form, MAX_FORM_RATIO, MAX_SPARSE_RATIO)
        better = unit**2 * squares[1] < most.astype(unit.dtype) * squares[0]
        return (
            jnp.where(better, found.values + unit * values[1], values[0]),
            jnp.where(better, unit * errors[1], errors[0]),
        )

    def _searched(self, rows: Rows, asked: SetsOf) -> Sparse:
        """What a search finds, where there is one."""
        outputs = rows.targets.shape[1]
        if search_among(len(rows.signs), asked.num_players, outputs) is not None:
            found = searched(rows, asked)
            return found._replace(values=found.values[_places(asked)])
        shape = (len(_places(asked)), outputs)
        nothing = jnp.zeros(shape, rows.targets.dtype)
        return Sparse(nothing, rows.targets, jnp.zeros(outputs, bool))

    def _of_process(self, rows: Rows, informative: Bool[Array, "out"], asked: SetsOf) -> tuple:
        """Values, errors and squares left out: of the process, or of one with products of few
        signs only where that predicts pairs left out far better: it has no part for what it does
        not explain, which near enumeration is most of what the process knows.

        The error is the larger of both unless the rows determine such a game.
        """
        process, low = fitted(
            rows, informative, rows.signs[:0], odd=asked.odd, fit_each=self.fit_each, asked=asked
        )
        errors = widened_error(rows, process), widened_error(rows, low)
        squares, low_squares = (left_out_squares(one, rows.live) for one in (process, low))
        better = low_squares < MAX_LEFT_OUT_RATIO * squares
        better = better & has_all_twos(rows) if asked.odd else better
        low_error = jnp.where(determines_low(rows, asked.odd), errors[1], jnp.maximum(*errors))
        values = jnp.where(better, low.values, process.values)
        error = jnp.where(better, low_error, errors[0])
        return values, error, jnp.where(better, low_squares, squares)


def _places(asked: SetsOf) -> np.ndarray:
    """Where the sets that were asked stand among all, ∅ not counted."""
    begins = [*starts(asked.num_players, asked.order), num_sets(asked.num_players, asked.order)]
    return np.concatenate([np.arange(begins[size], begins[size + 1]) for size in asked.sizes]) - 1


def _can_be_complete(plan: Plan) -> bool:
    """Whether a plan of so many rows can hold every pair."""
    num_players = plan.coalitions.shape[1]
    return num_players <= MAX_ENUMERABLE_PLAYERS and len(plan.live) + 2 >= 2**num_players


def _is_complete(plan: Plan) -> Array | bool:
    if not _can_be_complete(plan):
        return False
    return plan.live.sum() + 2 == 2 ** plan.coalitions.shape[1]
