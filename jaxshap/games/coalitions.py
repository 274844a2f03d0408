"""Coalitions: all of them, pairs of them, and the weights of their sizes."""

import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int


def all_coalitions(num_players: int) -> Bool[Array, "2**{num_players} {num_players}"]:
    """Every coalition; S stands at index Σ_{i∈S} 2**i."""
    index = jnp.arange(2**num_players, dtype=jnp.uint32)
    return (index[:, None] >> jnp.arange(num_players, dtype=jnp.uint32)) & 1 == 1


def paired(side: Bool[Array, "m n"]) -> Bool[Array, "2*m n"]:
    """Each coalition followed by its complement."""
    return jnp.stack([side, ~side], axis=1).reshape(-1, side.shape[1])


def affordable_pairs(num_players: int, budget: int) -> int:
    """How many pairs {S, N∖S} a budget buys beside {∅, N}; never more than exist."""
    return min((budget - 2) // 2, 2 ** (num_players - 1) - 1)


def without_ends(coalitions: Bool[Array, "m n"]) -> Bool[Array, "m n"]:
    """Replace ∅ and N by {0}, which may be evaluated; `with_ends` puts the known worths back."""
    ends = coalitions.all(1) | ~coalitions.any(1)
    return jnp.where(ends[:, None], jnp.arange(coalitions.shape[1]) == 0, coalitions)


def with_ends(
    worths: Float[Array, "m *out"],
    coalitions: Bool[Array, "m n"],
    empty: Float[Array, "*out"],
    full: Float[Array, "*out"],
) -> Float[Array, "m *out"]:
    """The worths, with v(∅) and v(N) wherever the coalition is ∅ or N."""
    shape = (len(worths),) + (1,) * empty.ndim
    is_empty, is_full = (~coalitions.any(1)).reshape(shape), coalitions.all(1).reshape(shape)
    return jnp.where(is_empty, empty, jnp.where(is_full, full, worths))


def gain_weights(num_players: int) -> Float[np.ndarray, "{num_players}"]:
    """Shapley's weight of a gain v(S∪i) − v(S), 1 / (n C(n−1, |S|)), for |S| = 0..n−1."""
    sizes = np.arange(num_players)
    return np.exp(-log_binomial(num_players - 1, sizes)) / num_players


def kernel_mass(num_players: int) -> Float[np.ndarray, "{num_players}-1"]:
    """The Shapley kernel summed over the coalitions of each size 1..n−1: (n−1) / (s (n−s))."""
    sizes = np.arange(1, num_players)
    return (num_players - 1) / (sizes * (num_players - sizes))


def reuse_mass(num_players: int) -> Float[np.ndarray, "{num_players}-1"]:
    """How often to draw each size 1..n−1 when every worth counts for all players: ∝ 1/√(s(n−s)).

    Among all choices this one has the least variance for worths of constant square.
    """
    return np.sqrt(kernel_mass(num_players))


def reuse_weights(coalitions: Bool[Array, "m n"], dtype: np.dtype) -> Float[Array, "m n"]:
    """The weight of each worth for each player over the chance of its size in `reuse_mass`."""
    num_players = coalitions.shape[1]
    mass = reuse_mass(num_players)
    size = coalitions.sum(1)
    over_chance = jnp.asarray(mass.sum() / mass, dtype)[size - 1][:, None]
    size = size.astype(dtype)[:, None]
    return over_chance * jnp.where(coalitions, 1 / size, -1 / (num_players - size))


def log_binomial(total: int, chosen: Int[np.ndarray, "k"]) -> Float[np.ndarray, "k"]:
    """log C(total, chosen)."""
    log_factorial = np.array([math.lgamma(number + 1) for number in range(total + 1)])
    return log_factorial[total] - log_factorial[chosen] - log_factorial[total - chosen]
