"""Masked games of models in numpy: a batch of coalitions in one call of the model."""

import dataclasses
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float, Int, PyTree

from jaxshap.engine import Distinct, byte_limit, distinct_rows
from jaxshap.games import Host, as_worths
from jaxshap.inputs import check_outputs
from jaxshap.values.mixing import masks, num_rows_of, padded

ROOM = 8  # bytes that a model may need per byte of its input


def split_bytes(rows: PyTree, count: int) -> tuple[int, int]:
    """How many points fit in one call of the model, and the bytes that one coalition needs."""
    per_point = ROOM * sum(leaf.nbytes for leaf in jax.tree.leaves(rows)) // num_rows_of(rows)
    block = max(1, byte_limit() // per_point)
    return block, min(block, num_rows_of(rows) * count) * per_point


@dataclasses.dataclass(frozen=True, eq=False)
class HostMasked:
    """The weighted mean of a numpy model over references, at most `block` points per call."""

    model: Host
    rows: PyTree[np.ndarray]
    references: PyTree[np.ndarray]
    weights: Float[np.ndarray, "references"]
    owner: PyTree[Int[np.ndarray, "..."]] | None
    num_players: int
    block: int
    ends: np.ndarray | None = None  # outputs for the references, if v(∅) is their mean
    stratum_size: int = 1

    def __call__(self, coalitions: Bool[np.ndarray, "m n"]) -> Float[np.ndarray, "m rows *out"]:
        points = max(1, self.block // len(coalitions))
        references = _split((self.references, self.weights), points)
        blocks = _split(self.rows, points // len(self.weights))
        sums = [sum(self._sum(coalitions, rows, *some) for some in references) for rows in blocks]
        return np.concatenate(sums, axis=1)

    @property
    def strata(self) -> "HostMasked":
        return self

    @property
    def num_strata(self) -> int:
        return -(-len(self.weights) // self.stratum_size)

    def merged(self, size: int) -> "HostMasked":
        return dataclasses.replace(self, stratum_size=self.stratum_size * size)

    def in_stratum(
        self, strata: Int[np.ndarray, "m"], coalitions: Bool[np.ndarray, "m n"]
    ) -> Float[np.ndarray, "m rows *out"]:
        """Coalition k in stratum strata[k], weights included."""
        references, weights = self._by_stratum()
        rows_at_once = max(1, self.block // (len(coalitions) * self.stratum_size))
        own = jax.tree.map(lambda leaf: leaf[strata], references)
        sums = [
            self._sum(coalitions, rows, own, weights[strata])
            for rows in _split(self.rows, rows_at_once)
        ]
        return np.concatenate(sums, axis=1)

    def weights_of_strata(self) -> Float[np.ndarray, "strata"]:
        return self._by_stratum()[1].sum(1)

    def empties(self) -> Float[np.ndarray, "strata rows *out"]:
        count = self.num_strata
        if self.ends is None:
            nobody = np.zeros((1, self.num_players), bool)
            each = [self.in_stratum(np.array([stratum]), nobody) for stratum in range(count)]
            return np.concatenate(each)
        ends, weights = padded(self.ends, self.weights, count * self.stratum_size)
        shares = weights.reshape(-1, *(1,) * (ends.ndim - 1)) * ends
        sums = shares.reshape(count, self.stratum_size, *ends.shape[1:]).sum(1)
        return np.broadcast_to(sums[:, None], (count, num_rows_of(self.rows), *ends.shape[1:]))

    def _by_stratum(self) -> tuple[Any, Any]:
        """References and weights with an axis of strata in front."""
        length = self.num_strata * self.stratum_size
        return jax.tree.map(
            lambda leaf: leaf.reshape(-1, self.stratum_size, *leaf.shape[1:]),
            padded(self.references, self.weights, length),
        )

    def _sum(self, coalitions, rows, references, weights):
        """References are shared by all coalitions (k, …), or one set per coalition (m, k, …)."""
        per_coalition = weights.ndim == 2

        def mix(mask, row, reference):
            reference = reference[:, None] if per_coalition else reference
            return np.where(mask[:, None, None], row[:, None], reference)

        inputs = jax.tree.map(mix, masks(coalitions, self.owner, rows), rows, references)
        shape = len(coalitions), num_rows_of(rows), weights.shape[-1]
        inputs = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[3:]), inputs)
        first, rank = distinct_inputs(inputs)
        outputs = self.model(jax.tree.map(lambda leaf: leaf[first], inputs))
        check_outputs(outputs.shape, outputs.dtype, len(first))
        outputs = outputs[rank]
        outputs = outputs.reshape(*shape, *outputs.shape[1:])
        letters = "mk,mrk...->mr..." if per_coalition else "k,mrk...->mr..."
        return np.einsum(letters, weights, as_worths(outputs))


def distinct_inputs(inputs: PyTree[np.ndarray]) -> Distinct:
    """Identical inputs, as where a row agrees with its reference, are asked about once."""
    if any(leaf.dtype.hasobject for leaf in jax.tree.leaves(inputs)):
        everything = np.arange(num_rows_of(inputs))
        return Distinct(everything, everything)
    each = [np.ascontiguousarray(leaf).reshape(len(leaf), -1) for leaf in jax.tree.leaves(inputs)]
    return distinct_rows(np.concatenate([leaf.view(np.uint8) for leaf in each], axis=1))


def _split(tree: PyTree, length: int) -> list:
    length = max(1, length)
    starts = range(0, num_rows_of(tree), length)
    return [
        jax.tree.map(lambda leaf, start=start: leaf[start : start + length], tree)
        for start in starts
    ]
