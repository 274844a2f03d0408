"""How far to trust the standard errors of a process."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from jaxshap.estimators.odd.process import Posterior, Rows

MIN_LEFT_OUT_SIZE = 0.6  # of standardised left-out errors: fewer rows cannot vouch for less


def widened_error(rows: Rows, posterior: Posterior) -> Float[Array, "k out"]:
    """The posterior's standard errors, widened by how well it predicts rows left out.

    By (1.1 + 3/√m) r² (κ/3)^0.4 for m rows: r is the size of standardised left-out errors beyond
    the single players, not below 0.6, and κ the kurtosis of all of them, not below 3. The posterior
    is too sure of itself with few rows, of games that jump (κ large), and not sure enough of sparse
    ones (r small). The form and its numbers were chosen on random games of seventeen kinds.
    """
    count = rows.live.sum().astype(posterior.values.dtype)
    standard = posterior.left_out / jnp.maximum(posterior.expected, 1e-30)
    standard = jnp.where(rows.live[:, None], standard, 0)
    beyond = rows.live & (jnp.abs(rows.signs.sum(1)) < rows.signs.shape[1] - 2)
    num_beyond = jnp.maximum(beyond.sum(), 1).astype(count.dtype)
    square = (jnp.where(beyond[:, None], standard, 0) ** 2).sum(0) / num_beyond
    fourth, second = ((standard**power).sum(0) / count for power in (4, 2))
    kurtosis = fourth / jnp.maximum(second**2, 1e-30)
    size = jnp.where(beyond.any(), jnp.maximum(jnp.sqrt(square), MIN_LEFT_OUT_SIZE), 1)
    factor = (1.1 + 3 / jnp.sqrt(count)) * size**2 * jnp.maximum(kurtosis / 3, 1) ** 0.4
    return factor * jnp.sqrt(posterior.variance)
