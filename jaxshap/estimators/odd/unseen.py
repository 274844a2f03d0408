"""What an interaction that no row shows could do to an index, as a standard error."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from jaxshap.estimators.least_squares import least_squares
from jaxshap.estimators.odd.calibration import (
    MAX_BLOCK_FACTOR,
    MAX_ROUNDING,
    beyond_single,
    largest_beside_sizes,
    share_of_repeats,
)
from jaxshap.estimators.odd.process import Rows
from jaxshap.estimators.odd.sets import SetsOf


def doubt_of_sets(
    rows: Rows, reach: Float[Array, "out"], asked: SetsOf
) -> Float[Array, "sets out"]:
    """For one half of a game, in units of its worths.

    As `calibration.doubt` has it for values: of K rows drawn at random beyond the single players
    none showed more, so one more does with a chance of 1/(K + 1), and shows `reach`, half the
    spread of the worths, at worst. Where this half shows no interaction at all, being one of sizes
    alone or, in the odd half, additive, nothing vouches for the rows not seen, and their departures
    have that variance. Otherwise the process has an error of its own for what it saw something of,
    and `reach` with that chance is for rare events, which no row shows. Departures are taken as
    independent, but where differences repeat in the odd half: then whole blocks of coalitions
    depart together. Sums repeat in any game of few interactions, and tell nothing of blocks.
    """
    rows, reach = jax.lax.stop_gradient((rows, reach))
    count = 1 + beyond_single(rows).sum().astype(reach.dtype)
    rounding = MAX_ROUNDING * reach
    departure = jnp.where(
        _shows_nothing(rows, rounding, asked.odd), reach / jnp.sqrt(count), reach / count
    )
    if asked.odd:
        departure = departure * (1 + MAX_BLOCK_FACTOR * share_of_repeats(rows, rounding))
    return departure * asked.unseen(rows.signs, rows.live)[:, None]


def _shows_nothing(rows: Rows, rounding: Float[Array, "out"], odd: bool) -> Bool[Array, "out"]:
    """Whether no interaction is needed to explain the rows."""
    of_sizes = largest_beside_sizes(rows, odd) <= rounding
    if not odd:
        return of_sizes
    additive = least_squares(rows.signs, rows.targets, rows.live)
    residual = rows.targets - rows.signs @ additive.coefficients
    return of_sizes | (jnp.abs(jnp.where(rows.live[:, None], residual, 0)).max(0) <= rounding)
