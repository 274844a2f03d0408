"""What masked games share, in numpy and in JAX: masks of entries, padding, counting rows."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, PyTree


def masks(coalitions: Any, owner: PyTree | None, rows: PyTree) -> PyTree[Bool[Array, "..."]]:
    """For each leaf of the input, which entries keep the row's value; coalition axes in front."""
    if owner is None:
        return coalitions
    xp: Any = np if isinstance(coalitions, np.ndarray) else jnp
    front = coalitions.shape[:-1]
    # the owner −1 finds the last entry, which is always present
    kept = xp.concatenate([coalitions, xp.ones((*front, 1), bool)], axis=-1)

    def mask(owner, leaf):
        trailing = (1,) * (leaf.ndim - 1 - owner.ndim)
        return kept[..., owner].reshape(*front, *owner.shape, *trailing)

    return jax.tree.map(mask, owner, rows)


def padded(references: PyTree, weights: Any, length: int) -> tuple[Any, Any]:
    """References up to this length, those added having weight 0."""
    missing = length - len(weights)

    def longer(leaf):
        xp: Any = np if isinstance(leaf, np.ndarray) else jnp
        return xp.concatenate([leaf, xp.repeat(leaf[-1:], missing, axis=0)])

    if not missing:
        return references, weights
    xp: Any = np if isinstance(weights, np.ndarray) else jnp
    return jax.tree.map(longer, references), xp.pad(weights, (0, missing))


def num_rows_of(tree: PyTree) -> int:
    return len(jax.tree.leaves(tree)[0])
