"""The splits of all trees as one list of nodes, and the codes by which they compare rows."""

import dataclasses
from types import ModuleType
from typing import Any, Literal, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int

from jaxshap.errors import InputError
from jaxshap.games import as_numbers
from jaxshap.inputs import library_of, read_table
from jaxshap.trees.columns import Columns

TABLE = "the table"
MISSING = 2**31 - 1  # the code of a missing value: above every bin


class Category(NamedTuple):
    """A column of codes made from a categorical feature: 0 for these categories, 1 for others.

    A missing value has code 0 where `missing_inside`; an unknown category always has code 1.
    """

    feature: int
    inside: frozenset[int]
    missing_inside: bool


class Conversion(NamedTuple):
    """What a library makes of its inputs before its splits compare them."""

    dtype: Any = np.float64  # to which inputs are rounded
    missing: float = np.nan  # a number that counts as missing, beside NaN
    category: Literal["floor", "trunc"] | None = (
        None  # how a fraction becomes a category, if it does
    )
    columns: Columns = Columns()  # how a DataFrame becomes numbers


@dataclasses.dataclass(frozen=True, eq=False)
class Structure:
    """Everything but the leaf values, for all trees together: code ≤ bin goes left.

    The code of a number is how many thresholds of its feature lie below it, so that nothing depends
    on the width of floats. Categorical splits compare columns of their own, which come after the
    features.
    """

    left: Int[np.ndarray, "nodes"]
    right: Int[np.ndarray, "nodes"]
    column: Int[np.ndarray, "nodes"]
    bin: Int[np.ndarray, "nodes"]
    missing_left: Bool[np.ndarray, "nodes"]
    cover: Float[np.ndarray, "nodes"]
    leaf: Int[np.ndarray, "nodes"]  # the number of a leaf, −1 for inner nodes
    roots: Int[np.ndarray, "trees"]
    outputs: Int[np.ndarray, "trees"] | None  # None where leaves have a value for each output
    tree_of_leaf: Int[np.ndarray, "leaves"]
    depth: int
    num_features: int
    num_outputs: int
    thresholds: tuple[np.ndarray, ...]  # of each feature, sorted
    categories: tuple[Category, ...]
    conversion: Conversion
    link: str

    def encode(self, rows: Any) -> Int[Array | np.ndarray, "rows columns"]:
        """Codes of rows: exactly on the host, or in JAX for arrays that are being traced."""
        if isinstance(rows, Tracer):
            self._check(rows.shape)
            return self._encode_traced(rows)
        table = self.conversion.columns.numbers(rows)
        is_named = library_of(table) is not None
        table = np.asarray(read_table(table, TABLE).array if is_named else as_numbers(table, TABLE))
        self._check(table.shape)
        table = table.astype(self.conversion.dtype)
        table[table == np.asarray(self.conversion.missing, table.dtype)] = np.nan
        codes = np.zeros((len(table), self.num_features + len(self.categories)), np.int32)
        for feature in self._split_features():
            codes[:, feature] = np.searchsorted(self.thresholds[feature], table[:, feature])
        codes[:, : self.num_features][np.isnan(table)] = MISSING
        for column, category in enumerate(self.categories, self.num_features):
            values = self._whole(table[:, category.feature], np)
            codes[:, column] = ~np.isin(values, sorted(category.inside))
            codes[np.isnan(values), column] = not category.missing_inside
        return codes

    def encode_narrow(self, rows: Any) -> Int[Array | np.ndarray, "rows columns"]:
        """The same in 16 bits where they suffice, which are faster to compare.

        The largest number of the integer type then stands for a missing value.
        """
        codes = self.encode(rows)
        largest = np.iinfo(np.int16).max
        if max(map(len, self.thresholds), default=0) >= largest:
            return codes
        return codes.clip(max=largest).astype(np.int16)

    def _check(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2 or shape[1] != self.num_features:
            raise InputError(
                f"the trees know {self.num_features} features; the rows have shape {shape}."
            )
        if not shape[0]:
            raise InputError("the table has no rows: pass one or more.")

    def _split_features(self) -> list[int]:
        """The features with thresholds; the code of any number of another feature is 0."""
        return [feature for feature, levels in enumerate(self.thresholds) if len(levels)]

    def _whole(self, values: Any, namespace: ModuleType) -> Any:
        """The categories that the library takes these numbers for."""
        how = self.conversion.category
        return values if how is None else getattr(namespace, how)(values)

    def _encode_traced(self, rows: Float[Array, "rows features"]) -> Int[Array, "rows columns"]:
        rows = jnp.where(rows == jnp.asarray(self.conversion.missing, rows.dtype), jnp.nan, rows)
        numbers = jnp.zeros(rows.shape, jnp.int32)
        for feature in self._split_features():
            rounded = jnp.asarray(round_down(self.thresholds[feature], rows.dtype))
            code = jnp.searchsorted(rounded, rows[:, feature]).astype(jnp.int32)
            numbers = numbers.at[:, feature].set(code)
        columns = [jnp.where(jnp.isnan(rows), MISSING, numbers)]
        for category in self.categories:
            values = self._whole(rows[:, category.feature], jnp)
            inside = jnp.isin(values, jnp.asarray(sorted(category.inside), rows.dtype))
            inside = jnp.where(jnp.isnan(values), category.missing_inside, inside)
            columns.append(jnp.where(inside, 0, 1)[:, None])
        return jnp.concatenate(columns, axis=1)


def round_down(thresholds: Float[np.ndarray, "k"], dtype: Any) -> Float[np.ndarray, "k"]:
    """Thresholds as narrow numbers, none above its wide one: x ≤ t holds for the same narrow x."""
    narrow = thresholds.astype(dtype)
    below = np.nextafter(narrow, np.asarray(-np.inf, dtype))
    return np.where(narrow.astype(np.float64) > thresholds, below, narrow)
