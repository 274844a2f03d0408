"""What people pass in, as hypothesis strategies: one for each kind of argument.

Shapes are few and small, so that little is compiled; numbers are of all sizes.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from oracles import bits

import jaxshap
from jaxshap.estimators import BoostedTrees, PairwiseSurrogate

NUM_PLAYERS = (3, 4)
ROWS = (1, 2)
ENTRIES = (0.0, 1.0, -1.0, 0.5, 2.0, -3.25, 1e-3, 40.0)  # few, so that entries coincide
UNITS = (1.0, 2.0**-100, 2.0**60, 1e-3, 1e6)


@dataclasses.dataclass(frozen=True)
class Polynomial:
    """A model with terms for sets of columns and for several outputs, in numpy or JAX."""

    sets: tuple[tuple[int, ...], ...]
    factors: np.ndarray  # (terms, outputs)
    single: bool  # whether outputs are (rows,)
    unit: float
    offset: float

    def __call__(self, rows: Any) -> Any:
        terms = [rows[:, list(columns)].prod(1) for columns in self.sets]
        total = sum(
            term[:, None] * factor for term, factor in zip(terms, self.factors, strict=True)
        )
        outputs = total * self.unit + self.offset
        return outputs[:, 0] if self.single else outputs

    def size(self, rows: Any) -> float:
        """No less than any number that comes up on the way to the outputs."""
        terms = [np.abs(rows[:, list(columns)]).prod(1).max() for columns in self.sets]
        largest = sum(terms) * np.abs(self.factors).max(initial=1) * self.unit
        return float(largest + abs(self.offset))

    def exactly(self, rows: Any) -> np.ndarray:
        """In float64, outputs last."""
        outputs = self(np.asarray(rows, np.float64))
        return outputs[:, None] if self.single else outputs


@dataclasses.dataclass(frozen=True)
class Steps(Polynomial):
    """The same with jumps, in numpy alone."""

    def __call__(self, rows: Any) -> Any:
        return super().__call__(np.where(np.asarray(rows) > 0.25, 1.0, -0.5))


@st.composite
def models(draw: Callable, num_columns: int) -> Polynomial:
    number = draw(st.integers(1, 4))
    columns = st.lists(st.integers(0, num_columns - 1), max_size=3, unique=True).map(tuple)
    sets = draw(st.lists(columns, min_size=number, max_size=number))
    single = draw(st.booleans())
    factor = st.sampled_from((1.0, -2.0, 0.3, 5.0, 0.0))
    factors = draw(st.lists(factor, min_size=2 * number, max_size=2 * number))
    unit, offset = draw(st.sampled_from(UNITS)), draw(st.sampled_from((0.0, 0.0, 7.0, -1e4)))
    kind = draw(st.sampled_from((Polynomial, Steps)))
    outputs = np.reshape(factors, (number, 2))[:, : 1 if single else 2]
    return kind(tuple(sets), outputs, single, unit, offset * unit)


@st.composite
def tables(draw: Callable, num_rows: int, num_columns: int) -> np.ndarray:
    size = num_rows * num_columns
    entries = draw(st.lists(st.sampled_from(ENTRIES), min_size=size, max_size=size))
    return np.reshape(entries, (num_rows, num_columns))


def as_passed(kind: str, table: np.ndarray) -> Any:
    """The same numbers in one of the forms that people have them in."""
    columns = [f"x{number}" for number in range(table.shape[1])]
    return {
        "array": table,
        "float32": table.astype(np.float32),
        "list": table.tolist(),
        "frame": pd.DataFrame(table, columns=columns),
        "columns in memory": np.asfortranarray(table),
        "objects": table.astype(object),
    }[kind]


forms = st.sampled_from(["array", "float32", "list", "frame", "columns in memory", "objects"])
keys = st.sampled_from([0, 1, 2**31, -5, 2**63 - 1, np.int64(3)])
batch_sizes = st.sampled_from(["auto", "auto", 1, 3, np.int32(5)])
budgets = st.sampled_from([None, 2, 5, 8, np.int64(12), 12.0, 16, 30, 60])
weights = st.lists(st.sampled_from((0.0, 0.25, 1.0, 1.0, 3.0)), min_size=3, max_size=3)
SHARED = (None, jaxshap.Exact(), jaxshap.Kernel(), jaxshap.Permutation(), jaxshap.Scattered())
OTHERS = (
    jaxshap.Balanced(),
    jaxshap.Castro(),
    jaxshap.Leverage(),
    jaxshap.MSR(),
    jaxshap.OddGP(),
    jaxshap.OddLinear(),
    jaxshap.Owen(),
    jaxshap.Permutation(antithetic=False),
    jaxshap.ProjectedSGD(),
    jaxshap.RegressionAdjusted(num_folds=2),
    jaxshap.RegressionAdjusted(PairwiseSurrogate(), num_folds=2),
    jaxshap.RegressionAdjusted(BoostedTrees(num_trees=2), num_folds=2),
    jaxshap.Scattered(jaxshap.Kernel()),
    jaxshap.Stratified(),
    jaxshap.UnbiasedKernel(),
    jaxshap.WithoutReplacement(),
)
estimators = st.sampled_from(SHARED + OTHERS)
few_estimators = st.sampled_from(SHARED)


@st.composite
def groups(draw: Callable, num_columns: int) -> tuple[Any, list[list[int]]]:
    """Groups in one of their forms, and the columns of each player."""
    alone = [[column] for column in range(num_columns)]
    first = [[0, num_columns - 1], *alone[1:-1]]
    names = [[f"x{column}" for column in group] for group in first]
    named = {"first": first[0]}
    owner = np.zeros(num_columns, int)
    for number, members in enumerate(first):
        owner[members] = number
    return draw(
        st.sampled_from(
            [
                (None, alone),
                ([first[0]], first),
                (np.array([first[0]]), first),
                (named, first),
                ({"by name": names[0]}, first),
                (jaxshap.tokens(num_columns), alone),
                (jaxshap.segments(owner + 5), first),
            ]
        )
    )


@st.composite
def worths(draw: Callable, num_players: int) -> np.ndarray:
    """A table of worths with a few outputs, in any unit: entries coincide often."""
    members = bits(num_players)
    kind = draw(st.sampled_from(["random", "additive", "pairwise", "constant", "spike", "steps"]))
    rng = np.random.default_rng(draw(st.integers(0, 50)))
    slopes = rng.normal(size=num_players)
    table = {
        "random": lambda: rng.normal(size=len(members)),
        "additive": lambda: members @ slopes + 3,
        "pairwise": lambda: (members @ slopes) ** 2,
        "constant": lambda: np.full(len(members), 2.5),
        "spike": lambda: (np.arange(len(members)) == rng.integers(len(members))) * 1.0,
        "steps": lambda: np.round(members @ slopes),
    }[kind]()
    unit, offset = draw(st.sampled_from(UNITS)), draw(st.sampled_from((0.0, 0.0, 10.0)))
    shape = draw(st.sampled_from([(), (), (2,)]))
    if shape:
        table = np.stack([table, 2 * table + 1], axis=1)
    return (table + offset) * unit
