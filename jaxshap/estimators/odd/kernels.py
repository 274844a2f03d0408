"""Kernels on coalitions as signs z = ±1, one for the odd and one for the even part of a game, and
their read-outs.

k_θ(z, z') = sinh(Σ θ_r z_r z'_r)/sinh(Σ θ_r) weighs products of an odd number of signs, the larger
the less; cosh the even ones. Shapley values need the odd part only; `sets` has the read-outs of
interactions. Everything here is a closed form or a Gauss–Legendre integral that is exact up to 78
players.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.games import gain_weights


def sign_kernel(
    inner: Float[Array, "m k"], total: Float[Array, ""], odd: bool
) -> Float[Array, "m k"]:
    """sinh(inner)/sinh(total), or cosh for both; |inner| = |Σ θ z z'| ≤ total: none overflows."""
    near, far = jnp.exp(inner - total), jnp.exp(-inner - total)
    return (near - far) / _difference(total) if odd else (near + far) / _sum(total)


def value_cross(signs: Float[Array, "m n"], theta: Float[Array, "n"]) -> Float[Array, "m n"]:
    """Covariance of φ_i and the odd part at z: c ρ_i z_i ∫₋₁¹ Π_{r≠i} (1 + t ρ_r z_r) dt, ρ = tanh
    θ.

    A sign has two values, so that logarithms of factors, and factors left out, are matrix products.
    """
    rho, (positions, weights) = jnp.tanh(theta), _nodes(len(theta), theta.dtype)
    apart = positions[:, None] * rho
    plus, minus = 1 + apart, 1 - apart  # factors of players with z = 1 and z = −1, for each node
    logs = signs @ jnp.log(plus / minus).T / 2 + jnp.log(plus * minus).sum(1) / 2
    products = weights * jnp.exp(logs + log_constant(theta, odd=True))
    without = jnp.where(signs > 0, products @ (1 / plus), products @ (1 / minus))
    return signs * rho * without


def value_variance(theta: Float[Array, "n"]) -> Float[Array, "n"]:
    """Variance of φ_i: c ρ_i ∬ Π_{r≠i} (1 + t u ρ_r) dt du."""
    factors, products = _squared_nodes(theta)
    return jnp.tanh(theta) * (products @ (1 / factors))


def low_kernel(
    inner: Float[Array, "m k"],
    signs: Float[Array, "m n"],
    others: Float[Array, "k n"],
    theta: Float[Array, "n"],
    odd: bool,
) -> Float[Array, "m k"]:
    """Products of one and of three signs, Σ_i a_i + Σ_{i<j<k} a_i a_j a_k with a_i = θ_i z_i z'_i,
    or a constant and products of two; over its value at z = z'. `inner` is Σ_i a_i.
    """
    if not odd:
        return (1 + pairs_among(inner, theta) / pairs_among(theta.sum(), theta)) / 2
    cubes = (signs * theta**3) @ others.T
    return _up_to_three(inner, cubes, theta) / low_size(theta, odd)


def low_value_cross(signs: Float[Array, "m n"], theta: Float[Array, "n"]) -> Float[Array, "m n"]:
    """Covariance of φ_i and such products at z: one of k signs gives 2/k to each of its players."""
    scaled = signs * theta
    others = scaled.sum(1, keepdims=True) - scaled
    return 2 * scaled * (1 + _pairs_of(others, theta) / 3) / low_size(theta, odd=True)


def low_value_variance(theta: Float[Array, "n"]) -> Float[Array, "n"]:
    pairs = _pairs_of(theta.sum() - theta, theta)
    return 4 * theta * (1 + pairs / 9) / low_size(theta, odd=True)


def _pairs_of(others: Float[Array, "*m n"], theta: Float[Array, "n"]) -> Float[Array, "*m n"]:
    """Σ_{j<k≠i} a_j a_k for each i, from Σ_{j≠i} a_j, where a_j² = θ_j²."""
    return (others**2 - ((theta**2).sum() - theta**2)) / 2


def pairs_among(total: Float[Array, "*m"], theta: Float[Array, "n"]) -> Float[Array, "*m"]:
    """Σ_{i<j} a_i a_j from Σ a_i, where a_i² = θ_i²."""
    return (total**2 - (theta**2).sum()) / 2


def low_size(theta: Float[Array, "n"], odd: bool) -> Float[Array, ""]:
    """By what the products in `low_kernel` are divided."""
    if odd:
        return _up_to_three(theta.sum(), (theta**3).sum(), theta)
    return 2 * pairs_among(theta.sum(), theta)


def _up_to_three(
    inner: Float[Array, "*m"], cubes: Float[Array, "*m"], theta: Float[Array, "n"]
) -> Float[Array, "*m"]:
    """e₁ + e₃ by Newton's identities, from Σ a, Σ a³ and Σ a² = Σ θ²."""
    return inner + (inner**3 - 3 * inner * (theta**2).sum() + 2 * cubes) / 6


def size_kernel(signs: Float[Array, "m n"], others: Float[Array, "k n"]) -> Float[Array, "m k"]:
    """1 for coalitions of one size, −1 for opposite sizes: any odd function of the size."""
    size, other = signs.sum(1)[:, None], others.sum(1)
    return (size == other).astype(signs.dtype) - (size == -other).astype(signs.dtype)


def size_value_cross(signs: Float[Array, "m n"]) -> Float[Array, "m n"]:
    """Covariance of φ_i and a function of the size at z: all players get the same share of
    v(N) − v(∅), and sizes between tell nothing.
    """
    num_players = signs.shape[1]
    size = signs.sum(1, keepdims=True)
    ends = (size == num_players).astype(signs.dtype) - (size == -num_players).astype(signs.dtype)
    return jnp.broadcast_to(ends * (2 / num_players), signs.shape)


def white_value_cross(signs: Float[Array, "m n"]) -> Float[Array, "m n"]:
    """What a pair counts for φ_i in the exact sum: the read-out of the part that no kernel
    predicts.
    """
    gain = jnp.asarray(np.append(gain_weights(signs.shape[1]), 0), signs.dtype)
    size = (signs > 0).sum(1)
    inside, outside = 2 * gain[jnp.maximum(size - 1, 0)][:, None], -2 * gain[size][:, None]
    return jnp.where(signs > 0, inside, outside)


def white_value_variance(num_players: int) -> float:
    return float(4 * (gain_weights(num_players) / num_players).sum())


def _difference(total: Float[Array, ""]) -> Float[Array, ""]:
    return -jnp.expm1(-2 * total)


def _sum(total: Float[Array, ""]) -> Float[Array, ""]:
    return 1 + jnp.exp(-2 * total)


def log_constant(theta: Float[Array, "n"], odd: bool) -> Float[Array, ""]:
    """log c: c = Π cosh θ / sinh Σθ, or / cosh Σθ."""
    denominator = _difference(theta.sum()) if odd else _sum(theta.sum())
    halves = (len(theta) - 1) * float(np.log(2))
    return jnp.log1p(jnp.exp(-2 * theta)).sum() - halves - jnp.log(denominator)


def _nodes(num_players: int, dtype) -> tuple[Array, Array]:
    positions, weights = np.polynomial.legendre.leggauss(min(num_players // 2 + 1, 40))
    return jnp.asarray(positions, dtype), jnp.asarray(weights, dtype)


def _squared_nodes(theta: Float[Array, "n"]) -> tuple[Array, Array]:
    """1 + t u ρ_r at every pair of nodes t, u, and c times their product over players with the
    nodes' weights.
    """
    positions, weights = _nodes(len(theta), theta.dtype)
    factors = 1 + (positions[:, None] * positions).reshape(-1, 1) * jnp.tanh(theta)
    logs = jnp.log(factors).sum(1) + log_constant(theta, odd=True)
    return factors, (weights[:, None] * weights).reshape(-1) * jnp.exp(logs)
