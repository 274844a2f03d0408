"""Paths to leaves, merged into one condition per feature, from which all Shapley values are read.

A leaf is reached when each of the k features on its path meets its condition. Which of them a row
meets is a pattern of k bits; two sibling leaves that part on a feature new to the path share a
pattern but for its last bit.
"""

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from jaxshap.errors import InputError
from jaxshap.trees.structure import MISSING, Category, Structure

WIDTHS = (4, 6, 8, 10)  # to which numbers of features are padded, since each is compiled once
WIDTH_STEP = 4  # beyond, they are padded to multiples of this
MAX_TABLE_FEATURES = WIDTHS[-1]
MAX_PATH_FEATURES = 32  # the bits of a pattern


class Paths(NamedTuple):
    """Leaves, or pairs of siblings, with k features each: bit j is 1 where low < code ≤ high.

    `rates` are the shares of training rows that meet each condition given the ones above it; all
    rows meet padding.
    """

    column: Int[np.ndarray, "paths k"]
    player: Int[np.ndarray, "paths k"]
    low: Int[np.ndarray, "paths k"]
    high: Int[np.ndarray, "paths k"]
    missing: Bool[np.ndarray, "paths k"]
    rates: Float[np.ndarray, "paths k"]
    sibling_rate: Float[np.ndarray, "paths"]
    leaf: Int[np.ndarray, "paths"]
    sibling: Int[np.ndarray, "paths"]  # the leaf where the last bit is 0 instead; −1 for none


class Merged(NamedTuple):
    """Paths by number of features, siblings first, and the structure with merged categories."""

    groups: tuple[Paths, ...]
    structure: Structure


@functools.lru_cache(maxsize=32)
def merged_paths(structure: Structure) -> Merged:
    """All paths, level by level for all trees at once."""
    depth = max(structure.depth, 1)
    nodes = structure.roots.astype(np.int64)
    shape = len(nodes), depth
    player, column, low, high = (np.full(shape, start) for start in (-1, 0, -1, MISSING - 1))
    state = _Frontier(
        player, column, low, high, np.ones(shape, bool), np.ones(shape), np.zeros(len(nodes), int)
    )
    sets = _Sets(structure)
    by_width: dict[int, list[Paths]] = {}
    while len(nodes):
        at_leaf = structure.leaf[nodes] >= 0
        _collect(by_width, state.take(at_leaf), structure.leaf[nodes[at_leaf]], None, None)
        nodes, state = nodes[~at_leaf], state.take(~at_leaf)
        left, right, is_new = state.split(nodes, structure, sets)
        first, second = structure.left[nodes], structure.right[nodes]
        siblings = is_new & (structure.leaf[first] >= 0) & (structure.leaf[second] >= 0)
        rate = _rate(structure, second, nodes)
        own, other = (structure.leaf[side[siblings]] for side in (first, second))
        _collect(by_width, left.take(siblings), own, other, rate[siblings])
        nodes = np.concatenate([first[~siblings], second[~siblings]]).astype(np.int64)
        state = left.take(~siblings).join(right.take(~siblings))
    groups = [
        Paths(*map(np.concatenate, zip(*by_width[width], strict=True)))
        for width in sorted(by_width)
    ]
    return Merged(tuple(map(_siblings_first, groups)), sets.extended())


def _siblings_first(group: Paths) -> Paths:
    order = np.argsort(group.sibling < 0, kind="stable")
    return Paths(*(part[order] for part in group))


class _Frontier(NamedTuple):
    """Conditions so far on the way to each node of a level; slots beyond `used` are free."""

    player: Int[np.ndarray, "nodes depth"]
    column: Int[np.ndarray, "nodes depth"]
    low: Int[np.ndarray, "nodes depth"]
    high: Int[np.ndarray, "nodes depth"]
    missing: Bool[np.ndarray, "nodes depth"]
    rates: Float[np.ndarray, "nodes depth"]
    used: Int[np.ndarray, "nodes"]

    def take(self, which: Bool[np.ndarray, "nodes"]) -> "_Frontier":
        return _Frontier(*(part[which] for part in self))

    def join(self, other: "_Frontier") -> "_Frontier":
        return _Frontier(*(np.concatenate(parts) for parts in zip(self, other, strict=True)))

    def split(
        self, nodes: Int[np.ndarray, "nodes"], structure: Structure, sets: "_Sets"
    ) -> tuple["_Frontier", "_Frontier", Bool[np.ndarray, "nodes"]]:
        """The conditions on the way to both children, and whether the feature was new."""
        column, at = structure.column[nodes], structure.bin[nodes]
        player = sets.player_of(column)
        matches = self.player == player[:, None]
        is_new = ~matches.any(1)
        slot = np.where(is_new, self.used, matches.argmax(1))
        every = np.arange(len(nodes))
        sides = []
        for goes_left in (True, False):
            child = structure.left[nodes] if goes_left else structure.right[nodes]
            side = _Frontier(*(part.copy() for part in self))
            side.player[every, slot] = player
            side.rates[every, slot] *= _rate(structure, child, nodes)
            side.missing[every, slot] &= structure.missing_left[nodes] == goes_left
            if goes_left:
                side.high[every, slot] = np.minimum(side.high[every, slot], at)
            else:
                side.low[every, slot] = np.maximum(side.low[every, slot], at)
            for node in np.flatnonzero(~is_new & (column >= structure.num_features)):
                sets.merge(self, side, int(node), int(slot[node]), int(column[node]), goes_left)
            plain = is_new | (column < structure.num_features)
            side.column[every[plain], slot[plain]] = column[plain]
            side.used[:] += is_new
            sides.append(side)
        return sides[0], sides[1], is_new


class _Sets:
    """Columns for sets of categories: of splits, and of several splits on one feature together."""

    def __init__(self, structure: Structure):
        self.structure = structure
        self.known = {category: number for number, category in enumerate(structure.categories)}

    def player_of(self, column: Int[np.ndarray, "nodes"]) -> Int[np.ndarray, "nodes"]:
        of_sets = np.array([category.feature for category in self.known], int)
        return np.concatenate([np.arange(self.structure.num_features), of_sets])[column]

    def merge(
        self,
        before: _Frontier,
        after: _Frontier,
        node: int,
        slot: int,
        column: int,
        goes_left: bool,
    ) -> None:
        """What is left of the slot's set after one more split: a set, or everything but a set."""
        names = list(self.known)
        old, new = (
            names[number - self.structure.num_features]
            for number in (before.column[node, slot], column)
        )
        was_inside = before.high[node, slot] == 0
        if was_inside and goes_left:
            inside = old.inside & new.inside
            missing_inside = old.missing_inside and new.missing_inside
        elif was_inside:
            inside = old.inside - new.inside
            missing_inside = old.missing_inside and not new.missing_inside
        elif goes_left:
            inside = new.inside - old.inside
            missing_inside = new.missing_inside and not old.missing_inside
        else:
            inside = old.inside | new.inside
            missing_inside = old.missing_inside or new.missing_inside
        category = Category(old.feature, inside, missing_inside)
        number = self.known.setdefault(category, len(self.known))
        is_set = was_inside or goes_left
        after.column[node, slot] = self.structure.num_features + number
        after.low[node, slot], after.high[node, slot] = (-1, 0) if is_set else (0, MISSING - 1)

    def extended(self) -> Structure:
        return dataclasses.replace(self.structure, categories=tuple(self.known))


def _rate(
    structure: Structure, child: Int[np.ndarray, "nodes"], node: Int[np.ndarray, "nodes"]
) -> Float[np.ndarray, "nodes"]:
    """The share of a node's training rows that went on to a child; a half where it had none."""
    cover = structure.cover[node]
    return np.where(cover > 0, structure.cover[child] / np.where(cover > 0, cover, 1), 0.5)


def _collect(
    by_width: dict[int, list[Paths]],
    state: _Frontier,
    leaf: Int[np.ndarray, "paths"],
    sibling: Int[np.ndarray, "paths"] | None,
    sibling_rate: Float[np.ndarray, "paths"] | None,
) -> None:
    """Add finished paths to those of their width; padding comes first: the last bit stays last."""
    if sibling is None or sibling_rate is None:
        sibling, sibling_rate = np.full(len(leaf), -1), np.ones(len(leaf))
    for count in np.unique(state.used[state.used > 0]):  # a tree of one leaf moves nothing
        here = state.used == count
        if count > MAX_PATH_FEATURES:
            raise InputError(
                f"a path with {count} features is too long: at most {MAX_PATH_FEATURES} are read."
            )
        beyond = WIDTH_STEP * -(-int(count) // WIDTH_STEP)
        width = next((width for width in WIDTHS if width >= count), beyond)
        spare = width - int(count)

        def padded(array, filler, here=here, count=count, spare=spare):
            return np.pad(array[here][:, :count], ((0, 0), (spare, 0)), constant_values=filler)

        by_width.setdefault(width, []).append(
            Paths(
                column=padded(state.column, 0).astype(np.int32),
                player=padded(state.player, 0).astype(np.int32),
                low=padded(state.low, -1).astype(np.int32),
                high=padded(state.high, MISSING - 1).astype(np.int32),
                missing=padded(state.missing, True),
                rates=padded(state.rates, 1.0),
                sibling_rate=sibling_rate[here],
                leaf=leaf[here].astype(np.int32),
                sibling=sibling[here].astype(np.int32),
            )
        )
