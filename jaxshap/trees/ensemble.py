"""A tree ensemble as arrays: structure on the host, leaf values as data, and its raw prediction in
JAX.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int

from jaxshap.errors import InputError

MISSING = 2**31 - 1  # the code of a missing value: above every bin


class Tree(NamedTuple):
    """One fitted tree, as libraries store it: x ≤ threshold goes left, or x in the categories;
    leaves have left −1.
    """

    left: Int[np.ndarray, "nodes"]
    right: Int[np.ndarray, "nodes"]
    feature: Int[np.ndarray, "nodes"]
    threshold: Float[np.ndarray, "nodes"]
    missing_left: Bool[np.ndarray, "nodes"]
    cover: Float[np.ndarray, "nodes"]
    value: Float[np.ndarray, "nodes leaf_outputs"]
    output: int | None = (
        None  # the output a tree belongs to; None where its leaves have a value for each
    )
    categories: dict[int, frozenset[int]] = {}  # noqa: RUF012  of a node: those that go left


class Category(NamedTuple):
    """A column of codes made from a categorical feature: 0 for these categories, 1 for others;
    missing as said.
    """

    feature: int
    inside: frozenset[int]
    missing_inside: bool


@dataclasses.dataclass(frozen=True, eq=False)
class Structure:
    """Everything but the leaf values, for all trees in one list of nodes. Splits compare codes:
    code ≤ bin goes left.

    The code of a number is how many thresholds of its feature lie below it, so that nothing depends
    on the width of floats; categorical splits compare columns of their own, appended after the
    features.
    """

    left: Int[np.ndarray, "nodes"]
    right: Int[np.ndarray, "nodes"]
    column: Int[np.ndarray, "nodes"]
    bin: Int[np.ndarray, "nodes"]
    missing_left: Bool[np.ndarray, "nodes"]
    cover: Float[np.ndarray, "nodes"]
    leaf: Int[np.ndarray, "nodes"]  # the number of a leaf, −1 for others
    roots: Int[np.ndarray, "trees"]
    outputs: Int[np.ndarray, "trees"] | None
    tree_of_leaf: Int[np.ndarray, "leaves"]
    depth: int
    num_features: int
    num_outputs: int
    thresholds: tuple[Float[np.ndarray, "bins"], ...]
    categories: tuple[Category, ...]
    input_dtype: np.dtype  # to which the library rounds its inputs before it compares
    link: str

    def encode(self, rows) -> Int[Array | np.ndarray, "rows columns"]:
        """Codes of rows: exactly on the host, or in JAX for arrays that are being traced."""
        if isinstance(rows, Tracer):
            return self._encode_traced(rows)
        table = np.asarray(rows)
        if table.ndim != 2 or table.shape[1] != self.num_features:
            raise InputError(
                f"the trees know {self.num_features} features; the rows have shape {table.shape}."
            )
        table = table.astype(self.input_dtype)
        codes = np.empty((len(table), self.num_features + len(self.categories)), np.int32)
        for feature, thresholds in enumerate(self.thresholds):
            codes[:, feature] = np.searchsorted(thresholds, table[:, feature])
        for column, category in enumerate(self.categories, self.num_features):
            values = table[:, category.feature]
            codes[:, column] = ~np.isin(values, sorted(category.inside))
            codes[np.isnan(values) | (values < 0), column] = not category.missing_inside
        codes[:, : self.num_features][np.isnan(table)] = MISSING
        return codes

    def encode_narrow(self, rows) -> Int[Array | np.ndarray, "rows columns"]:
        """The same in 16 bits where they suffice, with their largest number for a missing value:
        faster to compare.
        """
        codes = self.encode(rows)
        largest = np.iinfo(np.int16).max
        if max(map(len, self.thresholds), default=0) >= largest:
            return codes
        return codes.clip(max=largest).astype(np.int16)

    def _encode_traced(self, rows: Float[Array, "rows features"]) -> Int[Array, "rows columns"]:
        if rows.shape[1] != self.num_features:
            raise InputError(
                f"the trees know {self.num_features} features; the rows have shape {rows.shape}."
            )
        columns = []
        for feature, thresholds in enumerate(self.thresholds):
            rounded = jnp.asarray(round_down(thresholds, rows.dtype))
            codes = jnp.searchsorted(rounded, rows[:, feature]).astype(jnp.int32)
            columns.append(jnp.where(jnp.isnan(rows[:, feature]), MISSING, codes))
        for category in self.categories:
            values = rows[:, category.feature]
            inside = jnp.isin(values, jnp.asarray(sorted(category.inside), rows.dtype))
            missing = jnp.isnan(values) | (values < 0)
            columns.append(jnp.where(jnp.where(missing, category.missing_inside, inside), 0, 1))
        return jnp.stack(columns, axis=1)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Ensemble:
    """Trees that are summed: leaf values and base are data, the structure is static."""

    values: Float[Array, "leaves leaf_outputs"]
    base: Float[Array, "outputs"]
    structure: Structure = dataclasses.field(metadata={"static": True})

    def predict(self, rows: Float[Array, "rows features"]) -> Float[Array, "rows outputs"]:
        """The raw margin: the sum of the leaves and the base, before any link."""
        return self.predict_codes(jnp.asarray(self.structure.encode(rows)))

    def predict_codes(self, codes: Int[Array, "rows columns"]) -> Float[Array, "rows outputs"]:
        structure = self.structure
        left, right, column, at, missing, leaf = (
            jnp.asarray(part)
            for part in (
                structure.left,
                structure.right,
                structure.column,
                structure.bin,
                structure.missing_left,
                structure.leaf,
            )
        )

        def of_tree(total, tree):
            root, output = tree

            def step(_, node):
                code = jnp.take_along_axis(codes, column[node][:, None], axis=1)[:, 0]
                goes_left = jnp.where(code == MISSING, missing[node], code <= at[node])
                return jnp.where(
                    leaf[node] >= 0, node, jnp.where(goes_left, left[node], right[node])
                )

            node = jax.lax.fori_loop(0, structure.depth, step, jnp.full(len(codes), root))
            values = self.values[leaf[node]]
            return (
                total + values
                if structure.outputs is None
                else total.at[:, output].add(values[:, 0])
            ), None

        outputs = (
            jnp.zeros_like(structure.roots)
            if structure.outputs is None
            else jnp.asarray(structure.outputs)
        )
        start = jnp.zeros((len(codes), structure.num_outputs), self.values.dtype)
        total, _ = jax.lax.scan(of_tree, start, (jnp.asarray(structure.roots), outputs))
        return total + self.base


def make_ensemble(
    trees: Sequence[Tree],
    base: Float[np.ndarray, "outputs"],
    num_features: int,
    *,
    input_dtype: Any = np.float64,
    link: str = "identity",
) -> Ensemble:
    """From trees as libraries store them, thresholds in float64."""
    thresholds = tuple(
        np.unique(
            np.concatenate(
                [tree.threshold[_numeric(tree) & (tree.feature == feature)] for tree in trees]
            )
        )
        for feature in range(num_features)
    )
    categories: dict[Category, int] = {}
    parts = [_coded(tree, thresholds, categories, num_features) for tree in trees]
    starts = np.cumsum([0] + [len(tree.left) for tree in trees])
    leaves = [tree.left < 0 for tree in trees]
    is_leaf = np.concatenate(leaves)
    leaf = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)
    children = [
        np.concatenate(
            [
                np.where(side < 0, 0, side + start)
                for side, start in zip(sides, starts, strict=False)
            ]
        )
        for sides in ([tree.left for tree in trees], [tree.right for tree in trees])
    ]
    outputs = (
        None if trees[0].output is None else np.array([tree.output for tree in trees], np.int32)
    )
    structure = Structure(
        left=children[0].astype(np.int32),
        right=children[1].astype(np.int32),
        column=np.concatenate([column for column, _ in parts]).astype(np.int32),
        bin=np.concatenate([at for _, at in parts]).astype(np.int32),
        missing_left=np.concatenate([tree.missing_left for tree in trees]).astype(bool),
        cover=np.concatenate([tree.cover for tree in trees]).astype(np.float64),
        leaf=leaf.astype(np.int32),
        roots=starts[:-1].astype(np.int32),
        outputs=outputs,
        tree_of_leaf=np.repeat(np.arange(len(trees)), [part.sum() for part in leaves]),
        depth=max(map(_depth, trees)),
        num_features=num_features,
        num_outputs=len(base),
        thresholds=thresholds,
        categories=tuple(categories),
        input_dtype=np.dtype(input_dtype),
        link=link,
    )
    values = np.concatenate([tree.value[part] for tree, part in zip(trees, leaves, strict=True)])
    return Ensemble(_canonical(values), _canonical(np.asarray(base)), structure)


def round_down(thresholds: Float[np.ndarray, "k"], dtype) -> Float[np.ndarray, "k"]:
    """As narrow numbers, none above what it was: x ≤ t holds for the same narrow x."""
    narrow = thresholds.astype(dtype)
    return np.where(
        narrow.astype(np.float64) > thresholds,
        np.nextafter(narrow, np.asarray(-np.inf, dtype)),
        narrow,
    )


def _canonical(array: np.ndarray) -> Array:
    return jnp.asarray(array, jax.dtypes.canonicalize_dtype(np.float64))


def _numeric(tree: Tree) -> Bool[np.ndarray, "nodes"]:
    numeric = tree.left >= 0
    numeric[list(tree.categories)] = False
    return numeric


def _coded(tree: Tree, thresholds, categories: dict[Category, int], num_features: int):
    """The column each node looks at, and up to which code it goes left."""
    column, at = np.where(tree.left < 0, 0, tree.feature), np.zeros(len(tree.left), int)
    for feature in np.unique(tree.feature[_numeric(tree)]):
        here = _numeric(tree) & (tree.feature == feature)
        at[here] = np.searchsorted(thresholds[feature], tree.threshold[here])
    for node, inside in tree.categories.items():
        category = Category(int(tree.feature[node]), inside, bool(tree.missing_left[node]))
        column[node] = num_features + categories.setdefault(category, len(categories))
    return column, at


def _depth(tree: Tree) -> int:
    depth, level = 0, np.array([0])
    while (level := level[tree.left[level] >= 0]).size:
        level = np.concatenate([tree.left[level], tree.right[level]])
        depth += 1
    return depth
