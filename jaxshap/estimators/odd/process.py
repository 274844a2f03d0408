"""A Gaussian process on the odd or the even part of a game: how likely worths are, and what they
tell about the rest.

Its prior covariance is a `SignMixture` times a scale of each output. Rows that are not live are
padding: they stand apart with variance 1.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Array, Bool, Float

from jaxshap.estimators.odd.mixture import ReadOut, SignMixture

POINTS_PER_BATCH = 256  # of those predicted elsewhere, to bound memory
VARIANCE_ROUNDING = 16  # units in the last place of a prior variance: the error of its reduction
MAX_INDEPENDENT_OUTPUTS = 4  # that all outputs together count for: they are not independent


class Rows(NamedTuple):
    """Observations: signs, which rows are live, and targets of unit size, one column per output."""

    signs: Float[Array, "m n"]
    live: Bool[Array, "m"]
    targets: Float[Array, "m out"]


class Posterior(NamedTuple):
    """Means and variances in units of the targets; each row's error when left out, and its expected
    size.

    `means` are those at the rows, from which jitter keeps them a little apart, and then those at
    other points.
    """

    values: Float[Array, "k out"]
    variance: Float[Array, "k out"]
    left_out: Float[Array, "m out"]
    expected: Float[Array, "m out"]
    means: Float[Array, "m+r out"]


class Prior(NamedTuple):
    """Where hyperparameters are expected and how far off each may be; log θ also on average."""

    centre: SignMixture
    spread: SignMixture
    spread_mean: float | Float[Array, ""]


Told = Callable[[ReadOut], tuple[Float[Array, "k out"], Float[Array, "k out"]]]
Asked = Callable[[SignMixture, Float[Array, "m n"], Told], tuple[Array, Array]]


def player_values(
    mixture: SignMixture, signs: Float[Array, "m n"], told: Told
) -> tuple[Float[Array, "n out"], Float[Array, "n out"]]:
    """What a posterior is asked by default: the Shapley values and their variances."""
    return told(mixture.read_out(signs))


def posterior(
    rows: Rows,
    mixture: SignMixture,
    elsewhere: Float[Array, "r n"],
    *,
    jitter: float,
    asked: Asked = player_values,
) -> Posterior:
    """Of what is asked and at other points; linear in the targets for a given mixture.

    `asked` passes read-outs on to the function that it is given, which says what the rows tell of
    them: many of them in turns, if memory is short.
    """
    covariance = _covariance(rows, mixture, jitter)
    factor = _factor(covariance, jitter)
    solved = solve_triangular(factor, rows.targets, lower=True)
    inverse = solve_triangular(factor, jnp.eye(len(factor), dtype=factor.dtype), lower=True)
    scale = (solved**2).sum(0) / rows.live.sum().astype(factor.dtype)
    precision = (inverse**2).sum(0)[:, None]
    weights = jnp.where(rows.live[:, None], inverse.T @ solved, 0)

    @jax.checkpoint
    def mean(point):
        return (mixture.between(point[None], rows.signs) @ weights)[0]

    def told(read_out):
        cross, prior_variance = read_out
        half = solve_triangular(factor, jnp.where(rows.live[:, None], cross, 0), lower=True)
        rounding = VARIANCE_ROUNDING * jnp.finfo(factor.dtype).eps * prior_variance
        remaining = jnp.maximum(prior_variance - (half**2).sum(0), rounding)
        # where there are means elsewhere: of just these means, whatever rounding did to the weights
        values = cross.T @ weights if len(elsewhere) else half.T @ solved
        return values, remaining[:, None] * scale

    means = covariance @ weights - jitter * weights
    if len(elsewhere):
        means = jnp.concatenate([means, jax.lax.map(mean, elsewhere, batch_size=POINTS_PER_BATCH)])
    values, variance = asked(mixture, rows.signs, told)
    return Posterior(values, variance, weights / precision, jnp.sqrt(scale / precision), means)


def objective(
    rows: Rows, mixture: SignMixture, prior: Prior, *, jitter: float
) -> tuple[Array, SignMixture]:
    """Minus the log posterior of the hyperparameters with the scale of each column profiled out,
    and its gradient.

    Columns share one covariance. Columns of zeros do not count.
    """
    count = rows.live.sum().astype(rows.targets.dtype)
    covariance, pull_back = jax.vjp(lambda mixture: _covariance(rows, mixture, jitter), mixture)
    factor = _cholesky(covariance)
    inverse = cho_solve((factor, True), jnp.eye(len(factor), dtype=factor.dtype))
    weights = inverse @ rows.targets
    column = (rows.targets * weights).sum(0) / count
    used = column > 0
    columns = jnp.maximum(used.sum(), 1).astype(count.dtype)
    column = jnp.where(used, column, 1)
    likelihood = 0.5 * count * jnp.log(column).sum() / columns + jnp.log(jnp.diag(factor)).sum()
    slope = 0.5 * (inverse - (weights / (column * columns)) @ weights.T)
    (gradient,) = pull_back(slope)
    share = jnp.minimum(MAX_INDEPENDENT_OUTPUTS, used.sum()).astype(count.dtype)
    penalty, pull = jax.value_and_grad(_penalty)(mixture, prior)
    return share * likelihood + penalty, jax.tree.map(lambda g, p: share * g + p, gradient, pull)


def _penalty(mixture: SignMixture, prior: Prior) -> Float[Array, ""]:
    """Minus the log prior."""
    apart = jax.tree.map(jnp.subtract, mixture, prior.centre)
    mean = apart.log_theta.mean()
    apart = dataclasses.replace(apart, log_theta=apart.log_theta - mean)
    ratios = ravel_pytree(jax.tree.map(jnp.divide, apart, prior.spread))[0]
    return 0.5 * ((ratios**2).sum() + (mean / prior.spread_mean) ** 2)


def _covariance(rows: Rows, mixture: SignMixture, jitter: float) -> Float[Array, "m m"]:
    """The prior covariance of the rows without its scale."""
    both_live = rows.live[:, None] & rows.live
    apart = jnp.where(rows.live, jitter, 1).astype(rows.signs.dtype)
    return jnp.where(both_live, mixture.covariance(rows.signs), 0) + jnp.diag(apart)


def _factor(covariance: Float[Array, "m m"], jitter: float) -> Float[Array, "m m"]:
    """Its Cholesky factor; with thirty times the jitter where rounding breaks it."""
    factor = _cholesky(covariance)
    whole = jnp.isfinite(jnp.diag(factor)).all()
    # Under vmap both factors are computed: `more` depends on the first one, since XLA's CPU threads
    # may hang on two batched factorisations at the same time.
    more = jnp.where(whole, 0, 30 * jitter).astype(factor.dtype)

    def again(covariance, _):
        return _cholesky(covariance + more * jnp.eye(len(covariance), dtype=covariance.dtype))

    # An operand of the branch is kept in memory; what it closes over may be computed once more.
    return jax.lax.cond(whole, lambda _, factor: factor, again, covariance, factor)


def _cholesky(covariance: Float[Array, "m m"]) -> Float[Array, "m m"]:
    """Of a matrix that is symmetric as it is made: to add its transpose, as JAX does unasked, makes
    XLA compute every kernel twice, element by element.
    """
    return jax.lax.linalg.cholesky(covariance, symmetrize_input=False)
