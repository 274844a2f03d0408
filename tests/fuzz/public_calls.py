"""Every public function with arguments that work, small and on the host where that is possible."""

import functools
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from matplotlib import pyplot as plt
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import jaxshap

RNG = np.random.default_rng(0)
ROWS, BACKGROUND = RNG.normal(size=(2, 3)), RNG.normal(size=(4, 3))
FOLDER = tempfile.TemporaryDirectory()  # removed when the process ends


def predict(rows):
    return rows[:, 0] * rows[:, 1] + rows.sum(1)


def classes(rows):
    exponentials = np.exp(rows - rows.max(1, keepdims=True))
    return exponentials / exponentials.sum(1, keepdims=True)


def score_texts(texts):
    return [2.0 * ("good" in text) - ("not" in text) for text in texts]


MODEL, CLASSES = jaxshap.host(predict), jaxshap.host(classes)
WORTHS = RNG.normal(size=8)
GAME = jaxshap.table(WORTHS)
HOST_GAME = jaxshap.marginal(MODEL, ROWS, BACKGROUND)
CLASS_GAME = jaxshap.marginal(CLASSES, ROWS, BACKGROUND)
EXPLAINED = jaxshap.explain(MODEL, ROWS, BACKGROUND, progress=False)
SAMPLED = jaxshap.explain(MODEL, ROWS, BACKGROUND, estimator=jaxshap.Kernel(), budget=8)
OF_CLASSES = jaxshap.explain(CLASSES, ROWS, BACKGROUND, output_names=["a", "b", "c"])
ESTIMATE = jaxshap.estimate(0, GAME, jaxshap.Permutation(), 14)
TREE = DecisionTreeRegressor(max_depth=2, random_state=0).fit(BACKGROUND, predict(BACKGROUND))
TREES = jaxshap.trees.read_trees(TREE)
GRAPH = [("x0", "x1"), ("x1", "x2"), ("x0", "x2")]
HIERARCHY = jaxshap.hierarchies.hierarchy([[0, 1], 2])
TEXTS = jaxshap.texts.explain_texts(score_texts, ["not good"])
PDP = jaxshap.effects.pdp(MODEL, BACKGROUND, 0)
ICE = jaxshap.effects.ice(MODEL, BACKGROUND, 0)
ALE = jaxshap.effects.ale(MODEL, BACKGROUND, 0, bins=2)
INTERACTIONS = jaxshap.interactions.exact_interactions(GAME)
DECOMPOSITION = jaxshap.interactions.decompose(GAME)
POSTERIOR = jaxshap.trust.bayes_shap(0, GAME, 8)
DISPARITY = jaxshap.causal.disparity(EXPLAINED, ["a", "b"])
DIAGNOSIS = EXPLAINED.diagnose(budget=8, progress=False)
STABILITY = jaxshap.lime.width_stability(0, MODEL, ROWS, BACKGROUND, num_samples=20)
PATH = EXPLAINED.save(pathlib.Path(FOLDER.name) / "saved.npz")
MADE = jaxshap.make_game(lambda coalition: jnp.where(coalition.all(), 1.0, 0.0), 3)


class Call(NamedTuple):
    """A public function and arguments by name that work."""

    function: Callable
    arguments: dict[str, Any]

    def __call__(self, /, **others: Any) -> Any:
        """Its answer, with some arguments exchanged; pictures are closed."""
        try:
            return self.function(**self.arguments | others)
        finally:
            plt.close("all")


def call(function, /, **arguments):
    return Call(function, arguments)


def estimated(estimator_class, /, budget=8, **hyperparameters):
    """Make an estimator and use it: what is wrong with a hyperparameter may show later."""
    return jaxshap.estimate(0, GAME, estimator_class(**hyperparameters), budget)


def estimator(estimator_class, /, **hyperparameters):
    return Call(functools.partial(estimated, estimator_class), hyperparameters)


def adjusted(surrogate_class, /, **hyperparameters):
    surrogate = surrogate_class(**hyperparameters)
    return estimated(jaxshap.RegressionAdjusted, budget=22, surrogate=surrogate)


def sgd(schedule_class, /, **hyperparameters):
    return jaxshap.estimate(0, GAME, jaxshap.ProjectedSGD(schedule_class(**hyperparameters)), 8)


def conditional(how_class, /, **hyperparameters):
    how = how_class(**hyperparameters)
    return jaxshap.conditional(MODEL, ROWS, BACKGROUND, how=how)


def selected(selection_class, /, **hyperparameters):
    selection = selection_class(**hyperparameters)
    return jaxshap.lime.local_surrogate(
        0, MODEL, ROWS, BACKGROUND, num_samples=20, selection=selection
    )


def component(at):
    return jaxshap.interactions.component(MODEL, BACKGROUND, [0, 2])(at)


def fair(rows):
    return jaxshap.causal.fair_predictor(MODEL, BACKGROUND, [1])(rows)


def rewarded(make, /, **arguments):
    return jaxshap.explain(CLASSES, ROWS, BACKGROUND, reward=make(**arguments))


def rewards(make, /, **arguments):
    return Call(functools.partial(rewarded, make), arguments)


def explained_top(count):
    return jaxshap.explain(CLASSES, ROWS, BACKGROUND, outputs=jaxshap.Top(count))


def weighted(rows, weights):
    return jaxshap.explain(MODEL, ROWS, jaxshap.WeightedRows(rows, weights))


def picked(index):
    return OF_CLASSES[index]


TABLES = {"model": MODEL, "X": ROWS, "background": BACKGROUND}
SAMPLES = {"key": 0, "num_samples": 20, "ridge": 1.0, "selection": None, "categorical": ()}
NAMES = ["x0", "x1", "x2"]
STEPS = {"num_players": 3, "radius": 1.0, "bound": 1.0, "importance": True}
TRANSFORMER = ColumnTransformer([("all", StandardScaler(), [0, 1, 2])]).fit(ROWS)
RUN = {"batch_size": "auto", "progress": False}
WALKS = {"key": 0, "game": GAME, "budget": 16}

CALLS: dict[str, Call] = {
    "explain": call(
        jaxshap.explain,
        **TABLES,
        estimator=jaxshap.Kernel(),
        budget=8,
        tol=None,
        seconds=None,
        model_rows=None,
        key=0,
        groups=None,
        value=None,
        reward=None,
        separate_draws=False,
        feature_names=NAMES,
        outputs=None,
        output_names=None,
        checkpoint=None,
        mesh=None,
        **RUN,
    ),
    "explain, outputs": call(
        jaxshap.explain, model=CLASSES, X=ROWS, background=BACKGROUND, outputs=[0, 2]
    ),
    "explain, trees": call(jaxshap.explain, model=TREE, X=ROWS, background=BACKGROUND),
    "explain, players": call(
        jaxshap.explain, **TABLES, groups=jaxshap.tokens(3), feature_names=NAMES
    ),
    "explain, weights": call(weighted, rows=BACKGROUND, weights=[1.0, 2.0, 3.0, 0.0]),
    "Top": call(explained_top, count=2),
    "picked": call(picked, index=(0, "x1", "b")),
    "interval of an explanation": call(EXPLAINED.interval, level=0.9),
    "summary": call(EXPLAINED.summary, by=["a", "b"], absolute=True),
    "stability of an explanation": call(EXPLAINED.stability, top=2, level=0.9),
    "diagnose": call(EXPLAINED.diagnose, budget=8, key=0, top=2, level=0.9, progress=False),
    "save": call(EXPLAINED.save, path=pathlib.Path(FOLDER.name) / "other.npz"),
    "load": call(jaxshap.load, path=pathlib.Path(FOLDER.name) / "saved.npz"),
    "write_report": call(
        jaxshap.write_report,
        explanation=EXPLAINED,
        path=pathlib.Path(FOLDER.name) / "report.html",
        diagnosis=None,
        title="title",
        labels=["a", "b"],
    ),
    "estimate": call(
        jaxshap.estimate, key=0, game=GAME, estimator=jaxshap.MSR(), budget=8, mesh=None, **RUN
    ),
    "evaluate": call(
        jaxshap.evaluate,
        game=HOST_GAME,
        coalitions=np.eye(3, dtype=bool),
        known=None,
        checkpoint=None,
        mesh=None,
        **RUN,
    ),
    "shapley_values": call(jaxshap.shapley_values, game=GAME),
    "make_game": call(jaxshap.make_game, value=MADE.value, num_players=3, name="game"),
    "table": call(jaxshap.table, worths=WORTHS),
    "minus": call(jaxshap.minus, game=GAME, other=GAME),
    "grouped": call(jaxshap.grouped, game=GAME, groups=[[0, 1], [2]]),
    "marginal": call(jaxshap.marginal, **TABLES, weights=None, players=None),
    "baseline": call(
        jaxshap.baseline, model=MODEL, X=ROWS, background=BACKGROUND[0], weights=None, players=None
    ),
    "conditional": call(jaxshap.conditional, **TABLES, weights=None, players=None, how=None),
    "manifold": call(
        jaxshap.manifold,
        **TABLES,
        weights=None,
        players=None,
        score=None,
        inside=0.95,
        neighbours=2,
    ),
    "host": call(jaxshap.host, predict=predict),
    "kmeans": call(jaxshap.kmeans, background=BACKGROUND, count=2, weights=None, key=0),
    "column_groups": call(jaxshap.column_groups, transformer=TRANSFORMER),
    "patches": call(jaxshap.patches, shape=(4, 4), size=2),
    "segments": call(jaxshap.segments, label_map=[0, 1, 1], names=["a", "b"]),
    "tokens": call(jaxshap.tokens, length=3, names=NAMES),
    "leaves": call(jaxshap.leaves, tree={"a": np.zeros(2), "b": np.zeros(3)}),
    "together": call(jaxshap.together, parts={"a": jaxshap.tokens(2), "b": None}),
    "Gaussian": Call(
        functools.partial(conditional, jaxshap.values.Gaussian),
        {"num_samples": 4, "shrinkage": 0.1, "key": 0},
    ),
    "Copula": Call(
        functools.partial(conditional, jaxshap.values.Copula),
        {"num_samples": 4, "shrinkage": 0.1, "key": 0},
    ),
    "Nearby": Call(functools.partial(conditional, jaxshap.values.Nearby), {"bandwidth": 0.1}),
    "Permutation": estimator(jaxshap.Permutation, antithetic=True),
    "MSR": estimator(jaxshap.MSR, paired=True),
    "Owen": estimator(jaxshap.Owen, budget=14, num_levels=2, samples_per_level=None, halved=False),
    "Scattered": estimator(jaxshap.Scattered, estimator=jaxshap.Kernel()),
    "Stratified": estimator(jaxshap.Stratified, budget=20, allocation=None),
    "RegressionAdjusted": estimator(
        jaxshap.RegressionAdjusted,
        budget=10,
        surrogate=jaxshap.estimators.LinearSurrogate(),
        num_folds=2,
    ),
    "BoostedTrees": Call(
        lambda **options: estimated(
            jaxshap.RegressionAdjusted,
            budget=22,
            surrogate=jaxshap.estimators.BoostedTrees(**options),
        ),
        {"num_trees": 2, "depth": 2, "learning_rate": 0.2, "ridge": 1.0},
    ),
    "LinearSurrogate": Call(
        lambda **options: estimated(
            jaxshap.RegressionAdjusted,
            budget=22,
            surrogate=jaxshap.estimators.LinearSurrogate(**options),
        ),
        {"ridge": 0.1},
    ),
    "PairwiseSurrogate": Call(
        lambda **options: estimated(
            jaxshap.RegressionAdjusted,
            budget=22,
            surrogate=jaxshap.estimators.PairwiseSurrogate(**options),
        ),
        {"ridge": 0.1},
    ),
    "ProjectedSGD": estimator(
        jaxshap.ProjectedSGD,
        schedule=jaxshap.estimators.ConstantStep(),
        radius=None,
        bound=None,
        importance=True,
        batch=1,
    ),
    "ConstantStep": Call(functools.partial(sgd, jaxshap.estimators.ConstantStep), {"size": None}),
    "RootStep": Call(functools.partial(sgd, jaxshap.estimators.RootStep), {"size": None}),
}
