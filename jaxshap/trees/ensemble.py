"""A tree ensemble as arrays: structure on the host, leaf values as data, raw prediction in JAX."""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jaxshap.trees.structure import MISSING, Category, Conversion, Structure


class Tree(NamedTuple):
    """One fitted tree, as libraries store it; leaves have left −1.

    A row goes left where x ≤ threshold, or where x is one of the categories that the node has.
    """

    left: Int[np.ndarray, "nodes"]
    right: Int[np.ndarray, "nodes"]
    feature: Int[np.ndarray, "nodes"]
    threshold: Float[np.ndarray, "nodes"]
    missing_left: Bool[np.ndarray, "nodes"]
    cover: Float[np.ndarray, "nodes"]
    value: Float[np.ndarray, "nodes leaf_outputs"]
    output: int | None = None  # that the tree belongs to; None where leaves have a value for each
    categories: Mapping[int, frozenset[int]] = MappingProxyType({})  # of a node: those going left


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Ensemble:
    """Trees that are summed: leaf values and base are data, the structure is static.

    A pytree, so that values and predictions can be jitted, and differentiated by leaf values.
    `read_trees` makes it from a fitted model.

    Attributes:
        values: the value of each leaf, per output or for the one output that its tree belongs to.
        base: what is added to the sum of the leaves, per output.
        structure: the splits, how rows become codes for them, and the link of the margin.

    Example:
        >>> import jaxshap, numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X = np.array([[0.0], [1.0], [2.0]])
        >>> trees = jaxshap.trees.read_trees(DecisionTreeRegressor().fit(X, [0.0, 3.0, 3.0]))
        >>> trees.predict(X)[:, 0].tolist(), trees.structure.link
        ([0.0, 3.0, 3.0], 'identity')
    """

    values: Float[Array, "leaves leaf_outputs"]
    base: Float[Array, "outputs"]
    structure: Structure = dataclasses.field(metadata={"static": True})

    def predict(self, rows: Any) -> Float[Array, "rows outputs"]:
        """The raw margin: the sum of the leaves and the base, before any link.

        Args:
            rows: a table (rows, features), on the host or traced by JAX; columns of a DataFrame
                are matched by name.

        Returns:
            The margin of each row, per output.
        """
        structure = self.structure
        names = "left", "right", "column", "bin", "missing_left", "leaf"
        nodes = {name: jnp.asarray(getattr(structure, name)) for name in names}
        codes = jnp.asarray(structure.encode(rows))
        trees = structure.roots, structure.outputs, self.values, self.base
        return _summed_leaves(structure.depth, nodes, *trees, codes)

    def numbers(self, table: Any) -> Any:
        """The numbers that the splits compare: columns in the model's order, categories as codes.

        Args:
            table: rows to explain or to compare with, as the model takes them.

        Returns:
            A DataFrame of numbers for a DataFrame; any other table as it is.
        """
        return self.structure.conversion.columns.numbers(table)


@functools.partial(jax.jit, static_argnums=0)
def _summed_leaves(
    depth: int,
    nodes: dict[str, Array],
    roots: Int[Array, "trees"],
    outputs: Int[Array, "trees"] | None,
    values: Float[Array, "leaves leaf_outputs"],
    base: Float[Array, "outputs"],
    codes: Int[Array, "rows columns"],
) -> Float[Array, "rows outputs"]:
    """The base and the leaf that each row reaches in each tree, tree by tree."""

    def step(_, node):
        code = jnp.take_along_axis(codes, nodes["column"][node][:, None], axis=1)[:, 0]
        is_missing, missing_left = code == MISSING, nodes["missing_left"][node]
        goes_left = jnp.where(is_missing, missing_left, code <= nodes["bin"][node])
        child = jnp.where(goes_left, nodes["left"][node], nodes["right"][node])
        return jnp.where(nodes["leaf"][node] >= 0, node, child)

    def of_tree(total, tree):
        root, output = tree
        node = jax.lax.fori_loop(0, depth, step, jnp.full(len(codes), root))
        reached = values[nodes["leaf"][node]]
        if outputs is None:
            return total + reached, None
        return total.at[:, output].add(reached[:, 0]), None

    start = jnp.zeros((len(codes), len(base)), values.dtype)
    trees = roots, jnp.zeros_like(roots) if outputs is None else outputs
    return jax.lax.scan(of_tree, start, trees)[0] + base


def make_ensemble(
    trees: Sequence[Tree],
    base: Float[np.ndarray, "outputs"],
    num_features: int,
    *,
    conversion: Conversion = Conversion(),  # noqa: B008  it is immutable
    link: str = "identity",
) -> Ensemble:
    """From trees as libraries store them, thresholds in float64; without any, the base alone."""
    trees = trees or [_CONSTANT]
    thresholds = _thresholds(trees, num_features)
    categories: dict[Category, int] = {}
    coded = [_coded(tree, thresholds, categories, num_features) for tree in trees]
    starts = np.cumsum([0] + [len(tree.left) for tree in trees])[:-1]
    leaves = [tree.left < 0 for tree in trees]
    is_leaf = np.concatenate(leaves)
    outputs = None if trees[0].output is None else np.array([tree.output for tree in trees])
    structure = Structure(
        left=_children([tree.left for tree in trees], starts),
        right=_children([tree.right for tree in trees], starts),
        column=np.concatenate([column for column, _ in coded]),
        bin=np.concatenate([at for _, at in coded]),
        missing_left=np.concatenate([tree.missing_left for tree in trees]).astype(bool),
        cover=np.concatenate([tree.cover for tree in trees]).astype(np.float64),
        leaf=np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32),
        roots=starts.astype(np.int32),
        outputs=outputs if outputs is None else outputs.astype(np.int32),
        tree_of_leaf=np.repeat(np.arange(len(trees)), [here.sum() for here in leaves]),
        depth=max(map(_depth, trees)),
        num_features=num_features,
        num_outputs=len(base),
        thresholds=thresholds,
        categories=tuple(categories),
        conversion=conversion,
        link=link,
    )
    values = np.concatenate([tree.value[here] for tree, here in zip(trees, leaves, strict=True)])
    return Ensemble(_canonical(values), _canonical(base), structure)


_CONSTANT = Tree(  # a leaf that adds nothing
    left=np.array([-1]),
    right=np.array([-1]),
    feature=np.array([0]),
    threshold=np.zeros(1),
    missing_left=np.zeros(1, bool),
    cover=np.ones(1),
    value=np.zeros((1, 1)),
    output=0,
)


def _canonical(array: np.ndarray) -> Array:
    return jnp.asarray(array, jax.dtypes.canonicalize_dtype(np.float64))


def _children(sides: list[np.ndarray], starts: np.ndarray) -> Int[np.ndarray, "nodes"]:
    """Numbers of children among the nodes of all trees; 0 for leaves, which have none."""
    pairs = zip(sides, starts, strict=True)
    return np.concatenate([np.where(side < 0, 0, side + start) for side, start in pairs]).astype(
        np.int32
    )


def _is_numeric(tree: Tree) -> Bool[np.ndarray, "nodes"]:
    """Whether a node splits by a threshold."""
    numeric = tree.left >= 0
    numeric[list(tree.categories)] = False
    return numeric


def _thresholds(trees: Sequence[Tree], num_features: int) -> tuple[Float[np.ndarray, "k"], ...]:
    """Of each feature, sorted; most of the features of a wide table have none."""
    numeric = [_is_numeric(tree) for tree in trees]
    feature = np.concatenate([tree.feature[at] for tree, at in zip(trees, numeric, strict=True)])
    level = np.concatenate([tree.threshold[at] for tree, at in zip(trees, numeric, strict=True)])
    thresholds = [np.zeros(0)] * num_features
    for used in np.unique(feature):
        thresholds[used] = np.unique(level[feature == used])
    return tuple(thresholds)


def _coded(
    tree: Tree,
    thresholds: tuple[np.ndarray, ...],
    categories: dict[Category, int],
    num_features: int,
) -> tuple[Int[np.ndarray, "nodes"], Int[np.ndarray, "nodes"]]:
    """The column each node looks at, and up to which code it goes left."""
    column, at = np.where(tree.left < 0, 0, tree.feature), np.zeros(len(tree.left), int)
    for feature in np.unique(tree.feature[_is_numeric(tree)]):
        here = _is_numeric(tree) & (tree.feature == feature)
        at[here] = np.searchsorted(thresholds[feature], tree.threshold[here])
    for node, inside in tree.categories.items():
        category = Category(int(tree.feature[node]), inside, bool(tree.missing_left[node]))
        column[node] = num_features + categories.setdefault(category, len(categories))
    return column.astype(np.int32), at.astype(np.int32)


def _depth(tree: Tree) -> int:
    depth, level = 0, np.array([0])
    while (level := level[tree.left[level] >= 0]).size:
        level = np.concatenate([tree.left[level], tree.right[level]])
        depth += 1
    return depth
