"""A Gaussian process on the odd or the even part of a game: how likely worths are, and what they
say.

The prior covariance is s² (k_θ + w k_{8θ} + ν 1[z = z']), `sign_kernels` having k. ν belongs to the
game, not to noise, so that enumerating everything is exact. Rows that are not live are padding:
they stand apart with variance 1.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Array, Bool, Float

from jaxshap.estimators.odd.kernels import kernel, shrinkage

ROUGH = 8.0  # how much rougher the second component is
AT_ONCE = 256  # other points, to bound memory


class Parameters(NamedTuple):
    """Hyperparameters, in logarithms."""

    log_theta: Float[Array, "n"]
    log_nu: Float[Array, ""]
    log_w: Float[Array, ""]


class Rows(NamedTuple):
    """What was observed: signs, whether a row is meant, and targets of unit size, one column an
    output.
    """

    signs: Float[Array, "m n"]
    live: Bool[Array, "m"]
    targets: Float[Array, "m out"]


class Posterior(NamedTuple):
    """Means and variances in units of the targets; each row's error when left out, and its expected
    size.

    `means` are those of the rows, from which jitter keeps them a little apart, and of other points
    that were asked for.
    """

    values: Float[Array, "k out"]
    variance: Float[Array, "k out"]
    left_out: Float[Array, "m out"]
    expected: Float[Array, "m out"]
    means: Float[Array, "m+r out"]


class Prior(NamedTuple):
    """Where the hyperparameters are expected, and how far off they may be: log θ together and each
    by itself.
    """

    centre: Parameters
    spread_mean: float | Float[Array, ""]
    spread_each: float | Float[Array, ""]
    spread_nu: float | Float[Array, ""]
    spread_w: float | Float[Array, ""]


def posterior(
    rows: Rows,
    parameters: Parameters,
    cross: Float[Array, "m k"],
    prior_variance: Float[Array, "k"],
    elsewhere: Float[Array, "r n"],
    *,
    odd: bool,
    jitter: float,
) -> Posterior:
    """Of what has covariance `cross` with the rows, and at other points; linear in the targets for
    given parameters.
    """
    theta, nu, w = (jnp.exp(part) for part in parameters)
    covariance = _covariance(rows, theta, nu, w, odd, jitter)[0]
    factor = jnp.linalg.cholesky(covariance)
    whole = jnp.isfinite(jnp.diag(factor)).all()  # or broken by rounding
    more = jnp.where(
        whole, 0, 30 * jitter
    )  # under vmap both are made: this keeps one after the other, or XLA may hang
    again = covariance + more * jnp.eye(len(covariance), dtype=theta.dtype)
    factor = jax.lax.cond(whole, lambda: factor, lambda: jnp.linalg.cholesky(again))
    half = solve_triangular(factor, jnp.where(rows.live[:, None], cross, 0), lower=True)
    solved = solve_triangular(factor, rows.targets, lower=True)
    inverse = solve_triangular(factor, jnp.eye(len(factor), dtype=factor.dtype), lower=True)
    scale = (solved**2).sum(0) / rows.live.sum().astype(factor.dtype)
    remaining = jnp.maximum(prior_variance - (half**2).sum(0), 0)
    precision = (inverse**2).sum(0)[:, None]
    weights = jnp.where(rows.live[:, None], inverse.T @ solved, 0)

    @jax.checkpoint
    def mean(point):
        inner, total = rows.signs @ (theta * point), theta.sum()
        smooth, rough = (kernel(part * inner, part * total, odd)[0] for part in (1.0, ROUGH))
        return (smooth + w * rough) @ weights

    values, means = half.T @ solved, covariance @ weights - jitter * weights
    if len(elsewhere):
        means = jnp.concatenate([means, jax.lax.map(mean, elsewhere, batch_size=AT_ONCE)])
        values = (
            cross.T @ weights
        )  # values of just these means, whatever rounding did to the weights
    return Posterior(
        values, remaining[:, None] * scale, weights / precision, jnp.sqrt(scale / precision), means
    )


def objective(
    rows: Rows, parameters: Parameters, prior: Prior, *, odd: bool, jitter: float
) -> tuple[Array, Parameters]:
    """Minus the log posterior of the hyperparameters with the scale of each column profiled out,
    and its gradient.

    Columns share one covariance; together they count for at most four, since they are not
    independent. Columns of zeros do not count.
    """
    theta, nu, w = (jnp.exp(part) for part in parameters)
    count = rows.live.sum().astype(theta.dtype)
    covariance, kernels, slopes = _covariance(rows, theta, nu, w, odd, jitter)
    factor = jnp.linalg.cholesky(covariance)
    inverse = cho_solve((factor, True), jnp.eye(len(factor), dtype=factor.dtype))
    weights = inverse @ rows.targets
    column = (rows.targets * weights).sum(0) / count
    used = column > 0
    columns = jnp.maximum(used.sum(), 1).astype(theta.dtype)
    column = jnp.where(used, column, 1)
    likelihood = 0.5 * count * jnp.log(column).sum() / columns + jnp.log(jnp.diag(factor)).sum()
    slope = 0.5 * (inverse - (weights / (column * columns)) @ weights.T)
    slope = jnp.where(rows.live[:, None] & rows.live, slope, 0)
    scales, parts = jnp.asarray([1, ROUGH], theta.dtype), jnp.stack([jnp.ones_like(w), w])
    along = slope * (slopes[0] + ROUGH * w * slopes[1])
    by_part = (slope * kernels).sum((1, 2))
    shrink = (
        scales * parts * jax.vmap(shrinkage, (0, None))(scales * theta.sum(), odd) * by_part
    ).sum()
    by_theta = ((along @ rows.signs) * rows.signs).sum(0) - shrink
    gradient = Parameters(by_theta * theta, jnp.trace(slope) * nu, by_part[1] * w)
    share = jnp.minimum(4, used.sum()).astype(theta.dtype)
    penalty, pull = _penalty(parameters, prior)
    return share * likelihood + penalty, jax.tree.map(lambda g, p: share * g + p, gradient, pull)


def _penalty(parameters: Parameters, prior: Prior) -> tuple[Array, Parameters]:
    """Minus the log prior, and its gradient."""
    off = jax.tree.map(jnp.subtract, parameters, prior.centre)
    mean = off.log_theta.mean()
    each = (off.log_theta - mean) / prior.spread_each
    rest = jnp.stack(
        [mean / prior.spread_mean, off.log_nu / prior.spread_nu, off.log_w / prior.spread_w]
    )
    by_theta = each / prior.spread_each + mean / prior.spread_mean**2 / len(each)
    pull = Parameters(by_theta, off.log_nu / prior.spread_nu**2, off.log_w / prior.spread_w**2)
    return 0.5 * ((each**2).sum() + (rest**2).sum()), pull


def _covariance(
    rows: Rows, theta, nu, w, odd: bool, jitter: float
) -> tuple[Float[Array, "m m"], Float[Array, "2 m m"], Float[Array, "2 m m"]]:
    """The prior covariance of the rows without its scale, and its two smooth components with their
    slopes.
    """
    inner, scales = (rows.signs * theta) @ rows.signs.T, jnp.asarray([1, ROUGH], theta.dtype)
    kernels, slopes = jax.vmap(lambda scale: kernel(scale * inner, scale * theta.sum(), odd))(
        scales
    )
    covariance = jnp.where(rows.live[:, None] & rows.live, kernels[0] + w * kernels[1], 0)
    alone = jnp.where(rows.live, nu + jitter, 1) * jnp.eye(len(covariance), dtype=theta.dtype)
    return covariance + alone, kernels, slopes
