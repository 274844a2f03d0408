"""Projection onto the values that sum to the total and lie within a ball."""

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float


def project(
    values: Float[Array, "n"], total: Float[Array, ""], radius: Float[Array, ""]
) -> Float[Array, "n"]:
    """The nearest point with Σφ = total and ‖φ‖ ≤ radius, in closed form.

    The point is projected onto the hyperplane, then shrunk towards the equal split. If the
    hyperplane misses the ball (|total| > radius √n), it is the equal split itself.
    """
    num_players = len(values)
    mean = values.mean()
    room = jnp.maximum(radius**2 - total**2 / num_players, 0)
    square = jnp.vdot(values, values) - num_players * mean**2
    shrink = jnp.where(square > room, jnp.sqrt(room / jnp.where(square > room, square, 1)), 1)
    return total / num_players + shrink * (values - mean)


def project_dykstra(
    values: Float[Array, "n"],
    total: Float[Array, ""],
    radius: Float[Array, ""],
    num_rounds: int = 100,
) -> Float[Array, "n"]:
    """The same point by Dykstra's alternating projections, as in Grah & Thouvenot (2020)."""
    ones = jnp.ones_like(values)

    def turn(_, state):
        point, plane, ball = state
        on_plane = optax.projections.projection_hyperplane(point + plane, ones, total)
        plane = point + plane - on_plane
        point = optax.projections.projection_l2_ball(on_plane + ball, radius)
        return point, plane, on_plane + ball - point

    start = (values, jnp.zeros_like(values), jnp.zeros_like(values))
    point, *_ = jax.lax.fori_loop(0, num_rounds, turn, start)
    return optax.projections.projection_hyperplane(point, ones, total)
