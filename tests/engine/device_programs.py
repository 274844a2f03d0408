"""What the library runs on a device: pure functions of arrays, by name, for tests of their
programs.

Models have no products of their own, so that every product in a program is the library's.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

import jaxshap
from jaxshap import interactions, residuals, trees, trust
from jaxshap.estimators import (
    ESTIMATORS,
    MSR,
    BoostedTrees,
    LinearSurrogate,
    OddGP,
    OddInteractions,
    Owen,
    PairwiseSurrogate,
    ProjectedSGD,
    RegressionAdjusted,
    Scattered,
)
from jaxshap.gradients.calls import weighted_gains
from jaxshap.hierarchies import Winter, hierarchy
from jaxshap.lime.fits import fits_of
from jaxshap.trees.ensemble import Tree, make_ensemble
from jaxshap.values import Copula, Gaussian, Nearby

PLAYERS, OUTPUTS, STRATA = 6, 2, 3
rng = np.random.default_rng(0)
ROWS, BACKGROUND = (jnp.asarray(rng.normal(size=(k, 5)), np.float32) for k in (2, 12))
WORTHS = (np.tanh(rng.normal(size=(2**PLAYERS, OUTPUTS))) + 1).astype(np.float32)
WINTER = Winter(hierarchy([[0, 1], [2, [3, 4]], 5]))
VARIANTS = [
    RegressionAdjusted(BoostedTrees(num_trees=4)),
    RegressionAdjusted(LinearSurrogate()),
    RegressionAdjusted(PairwiseSurrogate()),
    OddGP(fit_each=True),
    OddInteractions(),
    Owen(halved=True),
    MSR(paired=False),
    ProjectedSGD(batch=2),
    Scattered(jaxshap.Leverage()),
    WINTER,
    WINTER.affordable(PLAYERS, 2**PLAYERS),
]
ESTIMATORS_ON_DEVICE = [kind() for kind in ESTIMATORS] + VARIANTS
BUDGET = 45


def budget_of(estimator):
    if isinstance(estimator, jaxshap.Exact):
        return 2**PLAYERS
    plan = functools.partial(estimator.plan, num_players=PLAYERS, budget=BUDGET)
    try:
        jax.eval_shape(plan, jax.random.key(0))
    except jaxshap.errors.BudgetError as refusal:
        return refusal.needed
    return BUDGET


def planned(estimator):
    """The plan as a function of the key."""

    def plan(key):
        strata = (STRATA,) if isinstance(estimator, Scattered) else ()
        plan = estimator.plan(key, PLAYERS, budget_of(estimator), *strata)
        return plan.coalitions, plan.detail

    return plan, (jax.random.key(0),)


def solved(estimator):
    """The estimate as a function of worths and endpoints, for one plan."""
    strata = (STRATA,) if isinstance(estimator, Scattered) else ()
    plan = jax.jit(lambda key: estimator.plan(key, PLAYERS, budget_of(estimator), *strata))(
        jax.random.key(1)
    )
    plan = plan._replace(num_live=int(plan.num_live))
    worths = WORTHS[np.asarray(plan.coalitions) @ 2 ** np.arange(PLAYERS)]
    empty, full = (np.broadcast_to(WORTHS[i], (*strata, OUTPUTS)) for i in (0, -1))
    if strata:
        worths, empty, full = (part / np.float32(STRATA) for part in (worths, empty, full))

    def solve(worths, empty, full):
        return estimator.solve(plan, worths, empty, full)

    return solve, (worths, empty, full)


def model(rows):
    return jnp.stack([jnp.sin(rows).sum(1), jnp.tanh(rows).prod(1)], axis=1)


def worth_of(value, model=model, **options):
    """The worth of one coalition, from the making of the game on."""

    def worth(rows, background):
        background = background[:1] if value is jaxshap.baseline else background
        game = value(model, rows, background, **options)
        coalition = jnp.arange(game.num_players) % 2 == 0
        whole = game(coalition), game.empty, game.full
        if game.num_strata == 1:
            return whole
        return *whole, game.in_stratum(jnp.asarray(1), coalition), game.strata_ends()

    return worth, (ROWS, BACKGROUND)


def of_ensemble(method):
    branch = [-1, -1, 0, 0.0, False, 25.0, 0.0]
    nodes = [[1, 4, 0, 0.1, True, 100.0, 0.0], [2, 3, 1, -0.2, True, 50.0, 0.0]]
    nodes += [[*branch[:-1], leaf] for leaf in (1.0, -2.0)]
    nodes += [[5, 6, 2, 0.3, True, 50.0, 0.0], *([*branch[:-1], leaf] for leaf in (0.5, 3.0))]
    left, right, feature, threshold, missing, cover, value = zip(*nodes, strict=True)
    columns = (np.array(column) for column in (left, right, feature, threshold, missing, cover))
    ensemble = make_ensemble([Tree(*columns, np.array(value)[:, None], 0, {})], np.zeros(1), 5)
    others = (BACKGROUND,) if "interventional" in method.__name__ else ()

    def of_values(values):
        return method(dataclasses.replace(ensemble, values=values), ROWS, *others)

    return of_values, (ensemble.values,)


def of_effect(method, **options):
    def effect(scale):
        of_rows = jax.tree_util.Partial(lambda scale, rows: scale * model(rows)[:, 0], scale)
        record = method(of_rows, BACKGROUND, **options)
        return [record.values, record.std_error] if hasattr(record, "std_error") else record.values

    return effect, (jnp.ones(()),)


def of_table(function):
    return lambda worths: function(jaxshap.table(worths)), (jnp.asarray(WORTHS),)


def surrogate(selection):
    def fit(samples, outputs):
        coded = jnp.zeros(5, bool)
        return fits_of(
            selection, coded, samples, outputs, ROWS, outputs[:2], jnp.ones(2), jnp.ones(())
        )

    return fit, (BACKGROUND, jnp.tanh(BACKGROUND[:, :2]))


def posterior(worths):
    coalitions = jnp.asarray(np.arange(2**PLAYERS)[:, None] >> np.arange(PLAYERS) & 1 == 1)
    found = trust.bayesian.posterior(coalitions, worths)
    return found, found.draw(jax.random.key(0), 2)


VALUES = {
    "marginal": worth_of(jaxshap.marginal),
    "baseline": worth_of(jaxshap.baseline),
    "conditional, Gaussian": worth_of(jaxshap.conditional, how=Gaussian(num_samples=4)),
    "conditional, Copula": worth_of(jaxshap.conditional, how=Copula(num_samples=4)),
    "conditional, Nearby": worth_of(jaxshap.conditional, how=Nearby()),
    "manifold": worth_of(jaxshap.manifold),
}
METHODS = (trees.path_dependent, trees.path_dependent_interactions)
METHODS += (trees.interventional, trees.interventional_interactions)
TREES = {method.__name__: of_ensemble(method) for method in METHODS}
EFFECTS = {
    "pdp": of_effect(jaxshap.effects.pdp, features=0, grid_resolution=3),
    "ice": of_effect(jaxshap.effects.ice, features=0, grid_resolution=3),
    "ale": of_effect(jaxshap.effects.ale, features=0, bins=3),
    "ale of two": of_effect(jaxshap.effects.ale, features=(0, 1), bins=2),
}
OTHERS = {
    "exact interactions": of_table(lambda game: interactions.exact_interactions(game).values),
    "shapley values": of_table(jaxshap.shapley_values),
    "residual norms": of_table(residuals.norms),
    "residual flows": of_table(residuals.flows),
    "component": (interactions.component(model, BACKGROUND, (0, 1)), (ROWS[:, :2],)),
    "integrated gradients": (weighted_gains, (jnp.ones((3, 2, 5, 2)), jnp.ones(3))),
    "mean over rows": of_table(lambda game: jaxshap.rewards.averaged(game).full),
    "ridge": surrogate(None),
    "forward selection": surrogate(jaxshap.lime.ForwardSelection(2)),
    "lasso path": surrogate(jaxshap.lime.LassoPath(2)),
    "posterior": (posterior, (jnp.asarray(WORTHS),)),
}


def programs():
    """Names, and functions with their arguments."""
    for estimator in ESTIMATORS_ON_DEVICE:
        yield f"plan of {estimator!r}", functools.partial(planned, estimator)
        yield f"solve of {estimator!r}", functools.partial(solved, estimator)
    for name, program in (VALUES | TREES | EFFECTS | OTHERS).items():
        yield name, lambda program=program: program


_made = dict(programs())
PROGRAMS = tuple(_made)


@functools.cache
def program(name):
    """A function, its arguments, and its trace."""
    function, arguments = _made[name]()
    return function, arguments, jax.jit(function).trace(*arguments)
