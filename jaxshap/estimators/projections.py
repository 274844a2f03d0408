"""Projection onto the values that sum to the total and lie within a ball."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int

NUM_ROUNDINGS = 16  # how far the arithmetic of a projection may be off, in units of rounding


class DykstraPoint(NamedTuple):
    """Where Dykstra's alternating projections ended.

    Attributes:
        values: the last point; it sums to the total, and lies in the ball if it has `converged`.
        converged: whether the last round moved the point by no more than the tolerance, and left it
            within the ball to that tolerance.
        num_rounds: how many rounds it took.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> far = jnp.array([3.0, 0.0])
        >>> nearest = jaxshap.estimators.dykstra(far, jnp.array(1.0), jnp.array(1.0))
        >>> nearest.values.round(3).tolist(), bool(nearest.converged)
        ([1.0, 0.0], True)
    """

    values: Float[Array, "n"]
    converged: Bool[Array, ""]
    num_rounds: Int[Array, ""]


def project(
    values: Float[Array, "n"], total: Float[Array, ""], radius: Float[Array, ""]
) -> Float[Array, "n"]:
    """The nearest point with Σφ = total and ‖φ‖ ≤ radius, in closed form.

    The point is projected onto the hyperplane, then shrunk towards the equal split.

    Args:
        values: the point to project.
        total: what the values must sum to.
        radius: what their norm must not exceed.

    Returns:
        The nearest such point, or NaN where there is none, the hyperplane missing the ball: pass a
        radius of |total|/√n or more.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> far = jnp.array([3.0, 0.0])
        >>> jaxshap.estimators.project(far, jnp.array(1.0), jnp.array(1.0)).tolist()
        [1.0, 0.0]
        >>> jaxshap.estimators.project(far, jnp.array(2.0), jnp.array(1.0)).tolist()  # ‖(1, 1)‖ > 1
        [nan, nan]
    """
    num_players = len(values)
    mean = values.mean()
    room = radius**2 - total**2 / num_players
    misses = room < -NUM_ROUNDINGS * jnp.finfo(values.dtype).eps * radius**2
    room = jnp.maximum(room, 0)
    square = jnp.vdot(values, values) - num_players * mean**2
    shrink = jnp.where(square > room, jnp.sqrt(room / jnp.where(square > room, square, 1)), 1)
    return jnp.where(misses, jnp.nan, total / num_players + shrink * (values - mean))


def dykstra(
    values: Float[Array, "n"],
    total: Float[Array, ""],
    radius: Float[Array, ""],
    *,
    tolerance: float = 1e-6,
    max_rounds: int = 1000,
) -> DykstraPoint:
    """The point of `project` by Dykstra's alternating projections, as Grah & Thouvenot (2020) do.

    Each round projects onto the ball and then onto the hyperplane. They stop when a round moves the
    point by no more than a tolerance; this goes on until the point is also within the ball to that
    tolerance, since where the hyperplane all but touches the ball, rounds move the point little
    long before it is near. `converged` says whether both were reached.

    Args:
        values: the point to project.
        total: what the values must sum to.
        radius: what their norm must not exceed.
        tolerance: how far the last round may move the point, in units of the radius; 1e-6 by
            default. No less than 16 roundings of ‖values‖ are asked for.
        max_rounds: after how many rounds it gives up, 1,000 by default.

    Returns:
        The `DykstraPoint`, which says whether it is one to use.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> far, total = jnp.array([3.0, 0.0]), jnp.array(1.41421)  # at √2 the hyperplane touches
        >>> bool(jaxshap.estimators.dykstra(far, total, jnp.array(1.0)).converged)
        False
    """
    ones = jnp.ones_like(values)
    rounding = NUM_ROUNDINGS * jnp.finfo(values.dtype).eps * jnp.linalg.norm(values)
    limit = jnp.maximum(tolerance * radius, rounding)

    def has_converged(point, moved):
        return (moved <= limit) & (jnp.linalg.norm(point) <= radius + limit)

    def goes_on(state):
        point, _, _, moved, num_rounds = state
        return ~has_converged(point, moved) & (num_rounds < max_rounds)

    def turn(state):
        point, from_ball, from_plane, _, num_rounds = state
        in_ball = optax.projections.projection_l2_ball(point + from_ball, radius)
        from_ball = point + from_ball - in_ball
        shifted = in_ball + from_plane
        on_plane = optax.projections.projection_hyperplane(shifted, ones, total)
        moved = jnp.linalg.norm(on_plane - point)
        return on_plane, from_ball, shifted - on_plane, moved, num_rounds + 1

    zeros, unmoved = jnp.zeros_like(values), jnp.asarray(jnp.inf, values.dtype)
    start = (values, zeros, zeros, unmoved, jnp.zeros((), jnp.int32))
    point, _, _, moved, num_rounds = jax.lax.while_loop(goes_on, turn, start)
    return DykstraPoint(point, has_converged(point, moved), num_rounds)


def project_dykstra(
    values: Float[Array, "n"], total: Float[Array, ""], radius: Float[Array, ""]
) -> Float[Array, "n"]:
    """The point of `dykstra`, or NaN where it has not converged; for `ProjectedSGD(projection=)`.

    Args:
        values: the point to project.
        total: what the values must sum to.
        radius: what their norm must not exceed.

    Returns:
        The nearest such point, or NaN.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> far = jnp.array([3.0, 0.0])
        >>> point = jaxshap.estimators.project_dykstra(far, jnp.array(1.0), jnp.array(1.0))
        >>> point.round(3).tolist()
        [1.0, 0.0]
    """
    nearest = dykstra(values, total, radius)
    return jnp.where(nearest.converged, nearest.values, jnp.nan)
