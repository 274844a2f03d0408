"""How far to trust the standard errors of a process."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from jaxshap.estimators.odd.kernels import white_value_cross, white_value_variance
from jaxshap.estimators.odd.process import Posterior, Rows

MIN_LEFT_OUT_SIZE = 0.8  # of standardised left-out errors: no number of rows can vouch for less
AS_EXPECTED = 8.0  # rows of the expected size that left-out errors are averaged with
MAX_ROUNDING = 1e-5  # relative departure from a simpler game that rounding may explain
MAX_PRODUCTS = 300  # of two signs that are fitted, to bound the time it takes
MAX_BLOCK_FACTOR = 3.0  # by which doubt grows where all worths repeat
BLOCK_FACTOR = 4.0  # by which errors grow where many rows have the same worth


def widened_error(rows: Rows, posterior: Posterior) -> Float[Array, "k out"]:
    """The posterior's standard errors, widened by how well it predicts rows left out.

    By (1 + 5/√m) r² (κ/3)^⅔ (1 + 4q² (1 − 5/√m)) for m rows: r is the size of standardised left-out
    errors beyond the single players, averaged with eight of size 1 and not below 0.8, κ the
    kurtosis of all of them, not below 3, and q the chance that two rows have worths alike. The
    posterior is too sure of itself with few rows, of games that jump (κ large), of games of two
    worths, where whole blocks of coalitions are off together, which more rows do not average out (q
    large), and not sure enough of sparse ones (r small). The form was chosen on random games of
    seventeen kinds, its first factor on the games of `benchmarks/shapiq_games.py`, the eight rows,
    the 0.8 and 4q² on `benchmarks/interval_coverage.py` with seeds of their own.
    """
    count = rows.live.sum().astype(posterior.values.dtype)
    standard = posterior.left_out / jnp.maximum(posterior.expected, 1e-30)
    standard = jnp.where(rows.live[:, None], standard, 0)
    beyond = beyond_single(rows)
    squares = (jnp.where(beyond[:, None], standard, 0) ** 2).sum(0)
    square = (squares + AS_EXPECTED) / (beyond.sum().astype(count.dtype) + AS_EXPECTED)
    fourth, second = ((standard**power).sum(0) / count for power in (4, 2))
    kurtosis = fourth / jnp.maximum(second**2, 1e-30)
    size = jnp.where(beyond.any(), jnp.maximum(jnp.sqrt(square), MIN_LEFT_OUT_SIZE), 1)
    few = 5 / jnp.sqrt(count)
    factor = (1 + few) * size**2 * jnp.maximum(kurtosis / 3, 1) ** (2 / 3)
    alike = jax.lax.stop_gradient(_chance_alike(rows))
    blocks = 1 + BLOCK_FACTOR * alike**2 * jnp.maximum(1 - few, 0)
    return factor * blocks * jnp.sqrt(posterior.variance)


def doubt(
    rows: Rows,
    farthest: Float[Array, "out"],
    reach: Float[Array, "out"],
    settled: Bool[Array, "out"],
) -> Float[Array, "n out"]:
    """What an interaction that no row shows could do to the values, as a standard error.

    Of K rows drawn at random beyond the single players none showed more than what was seen, so one
    more does with a chance of 1/(K + 1). Where an additive game, or one of sizes alone, explains
    all rows, nothing tells how much it would show: at worst `reach`, half the spread of the worths.
    Otherwise √2 times `farthest`, the farthest that any row is from an additive game, and `reach`
    with that chance once more. The departures of rows not seen are taken as independent, but for
    worths that repeat: then whole blocks of coalitions depart together, and the error is up to
    four times as large. Where a simple game with interactions is `settled` by more rows than it has
    unknowns, a departure is `reach` times that chance: rare events are seen in no row at all.
    """
    count = 1 + beyond_single(rows).sum().astype(rows.targets.dtype)
    rounding = MAX_ROUNDING * jnp.abs(rows.targets).max(0)
    of_sizes = largest_beside_sizes(rows) <= rounding
    seen = 2 * farthest**2 / count + (reach / count) ** 2
    blind = of_sizes | (farthest <= rounding)
    departure = jnp.sqrt(jnp.where(blind, reach**2 / count, seen))
    departure = jnp.where(settled & ~of_sizes, reach / count, departure)
    blocks = 1 + MAX_BLOCK_FACTOR * share_of_repeats(rows, rounding)
    known = (jnp.where(rows.live[:, None], white_value_cross(rows.signs), 0) ** 2).sum(0)
    unseen = jnp.maximum(white_value_variance(rows.signs.shape[1]) - known, 0)
    return departure * blocks * jnp.sqrt(unseen)[:, None]


def is_of_pairs(
    rows: Rows, farthest: Float[Array, "out"], even: Float[Array, "m out"]
) -> Bool[Array, "out"]:
    """Whether the rows are those of a game with interactions of two players and no more.

    Its odd part is additive, and its even part a sum of products of two signs, not 0, with more
    rows than products. A game that is additive altogether, as far as seen, shows no interaction
    that could vouch for it.
    """
    num_rows, num_players = rows.signs.shape
    first, second = np.triu_indices(num_players, 1)
    if not 0 < len(first) < min(num_rows, MAX_PRODUCTS):
        return jnp.zeros(farthest.shape, bool)
    products = rows.signs[:, first] * rows.signs[:, second] - 1  # 0 at {∅, N}, as the even part is
    products, even = (jnp.where(rows.live[:, None], array, 0) for array in (products, even))
    residual = even - products @ jnp.linalg.lstsq(products, even)[0]
    size = jnp.abs(even).max(0)
    rounding = MAX_ROUNDING * jnp.maximum(size, jnp.abs(rows.targets).max(0))
    quadratic = (jnp.abs(residual).max(0) <= rounding) & (size > rounding)
    more = rows.live.sum() > len(first) + len(first) // 10 + 1
    return more & quadratic & (farthest <= rounding)


def largest_beside_sizes(rows: Rows, odd: bool = True) -> Float[Array, "out"]:
    """How far rows are at most from the odd or even part of a game of sizes alone."""
    excess = rows.signs.sum(1)
    num_players = rows.signs.shape[1]
    place = ((num_players - jnp.abs(excess)) / 2).astype(int)
    sizes = jax.nn.one_hot(place, num_players // 2 + 1, dtype=excess.dtype)
    sizes = sizes * jnp.sign(excess)[:, None] if odd else sizes
    sizes = jnp.where(rows.live[:, None], sizes, 0)
    means = sizes.T @ rows.targets / jnp.maximum((sizes**2).sum(0), 1)[:, None]
    return jnp.abs(rows.targets - sizes @ means).max(0)


def share_of_repeats(rows: Rows, rounding: Float[Array, "out"]) -> Float[Array, "out"]:
    """Of the rows beyond the single players, how many have a worth that another of them has."""
    worths = _sorted_worths(rows)
    alike = (jnp.diff(worths, axis=0) <= rounding).astype(worths.dtype)
    either = jnp.maximum(jnp.pad(alike, ((1, 0), (0, 0))), jnp.pad(alike, ((0, 1), (0, 0))))
    return either.sum(0) / jnp.maximum(beyond_single(rows).sum(), 1).astype(worths.dtype)


def _sorted_worths(rows: Rows) -> Float[Array, "m out"]:
    """Sizes of the worths beyond the single players, below them numbers that are alike no other."""
    apart = -1.0 - jnp.arange(len(rows.live), dtype=rows.targets.dtype)
    beyond = beyond_single(rows)[:, None]
    return jnp.sort(jnp.where(beyond, jnp.abs(rows.targets), apart[:, None]), axis=0)


def _chance_alike(rows: Rows) -> Float[Array, "out"]:
    """That two of the rows beyond the single players have the same worth, but for its sign."""
    worths = _sorted_worths(rows)
    rounding = MAX_ROUNDING * jnp.abs(rows.targets).max(0)

    def alike(column, rounding):
        first = jnp.searchsorted(column, column - rounding)
        return jnp.searchsorted(column, column + rounding, side="right") - first - 1

    others = jax.vmap(alike, in_axes=(1, 0))(worths, rounding).astype(worths.dtype).sum(1)
    count = beyond_single(rows).sum().astype(worths.dtype)
    return others / jnp.maximum(count * (count - 1), 1)


def beyond_single(rows: Rows) -> Bool[Array, "m"]:
    """Which live rows are neither {∅, N} nor a single player against the others."""
    return rows.live & (jnp.abs(rows.signs.sum(1)) < rows.signs.shape[1] - 2)
