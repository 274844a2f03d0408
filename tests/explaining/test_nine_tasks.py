"""Nine tasks of somebody who comes from shap: each runs, in no more lines than with shap."""

import types

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import jaxshap

RNG = np.random.default_rng(0)


def people(count=80):
    """A table like Adult: texts, numbers, categories, missing values."""
    frame = pd.DataFrame(
        {
            "Age": RNG.integers(18, 80, count),
            "Work class": RNG.choice(["Private", "State-gov", "?"], count),
            "Hours per week": RNG.normal(40, 8, count),
            "Sex": RNG.choice(["Male", "Female"], count),
        }
    )
    score = (frame["Age"] > 40) * 1.0 + (frame["Sex"] == "Male") + RNG.normal(0, 0.3, count)
    return frame, (score > 1).astype(int)


def adult():
    compose = pytest.importorskip("sklearn.compose")
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    X, y = people()
    coded = compose.make_column_transformer(
        (OneHotEncoder(), ["Work class", "Sex"]), remainder="passthrough"
    )
    return {"X": X, "model": make_pipeline(coded, LogisticRegression(max_iter=500)).fit(X, y)}


def categories():
    xgboost = pytest.importorskip("xgboost")
    X, y = people()
    X = X.astype({"Work class": "category", "Sex": "category"})
    X.loc[3, "Hours per week"] = np.nan
    X.loc[4, "Sex"] = None
    model = xgboost.XGBClassifier(n_estimators=5, max_depth=3, enable_categorical=True)
    return {"X": X, "model": model.fit(X, y)}


def classes():
    lightgbm = pytest.importorskip("lightgbm")
    X, _ = people(200)
    X = X.astype({"Work class": "category", "Sex": "category"})
    y = pd.cut(X["Age"], 3, labels=["young", "grown", "old"]).astype(str)
    model = lightgbm.LGBMClassifier(n_estimators=4, num_leaves=4, verbose=-1)
    return {"X": X, "model": model.fit(X, y)}


def housing():
    nnx = pytest.importorskip("flax.nnx")

    class Network(nnx.Module):
        def __init__(self, rngs):
            self.first, self.second = nnx.Linear(8, 4, rngs=rngs), nnx.Linear(4, 1, rngs=rngs)

        def __call__(self, x):
            return self.second(jnp.tanh(self.first(x)))[:, 0]

    names = ["MedInc", "HouseAge", "Rooms", "Bedrooms", "People", "Occupants", "North", "East"]
    X = pd.DataFrame(RNG.normal(size=(60, 8)), columns=names)
    return {"X": X, "model": Network(nnx.Rngs(0))}


def digits():
    weights = jnp.asarray(RNG.normal(size=(3, 8, 8)), jnp.float32)

    def model(images):  # channels in front
        return jnp.tanh((images * weights).sum((1, 2, 3)))

    return {"images": RNG.random((4, 3, 8, 8)).astype(np.float32), "model": model}


def sentence():
    table = jnp.asarray(RNG.normal(size=(30, 4)), jnp.float32)

    def model(tokens):
        vectors = table[tokens]
        scores = jax.nn.softmax(vectors @ vectors.swapaxes(1, 2))
        return (scores @ vectors).mean((1, 2))

    words = ["a", "dull", "film", "with", "superb", "acting"]
    return {"words": words, "tokens": np.array([[3, 7, 9, 2, 21, 14]]), "model": model}


def series():
    wave = jnp.asarray(np.sin(np.arange(60)), jnp.float32)
    return {
        "series": RNG.normal(size=(3, 60)).astype(np.float32),
        "model": lambda x: jnp.tanh(x @ wave),
    }


def network():
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    return {"X": RNG.normal(size=(40, 5)).astype(np.float32), "model": model.eval()}


def large():
    weights = jnp.asarray(RNG.normal(size=(50, 2)) / 7, jnp.float32)
    X = RNG.normal(size=(1000, 50)).astype(np.float32)
    return {"X": X, "model": lambda x: jnp.tanh(x @ weights).sum(1)}


OURS = {
    adult: """
ex = jaxshap.explain(model, X[:3], X[:20])
jaxshap.plots.waterfall(ex[0])
""",
    categories: """
ex = jaxshap.explain(model, X[:5], X)
jaxshap.plots.waterfall(ex[4])
""",
    classes: """
ex = jaxshap.explain(model, X[:5], X[:50])
jaxshap.plots.bar(ex[:, :, "old"])
""",
    housing: """
ex = jaxshap.explain(model, X[:5], X[:10])
jaxshap.plots.beeswarm(ex)
""",
    digits: """
players = jaxshap.patches((3, 8, 8), (3, 4, 4))
ex = jaxshap.explain(model, images[:1], 0 * images[:1], groups=players)
jaxshap.plots.patches(ex)
""",
    sentence: """
players = jaxshap.tokens(6, words)
ex = jaxshap.explain(model, tokens, 0 * tokens, groups=players)
html = jaxshap.plots.text(ex)
""",
    series: """
players = jaxshap.patches((60,), 10)
ex = jaxshap.explain(model, series[:1], 0 * series[:1], groups=players)
jaxshap.plots.series(ex)
""",
    network: """
ex = jaxshap.explain(model, X[:3], X[:10])
jaxshap.plots.bar(ex)
""",
    large: """
ex = jaxshap.explain(model, X, X[:5], tol=0.01)
jaxshap.plots.beeswarm(ex.sample(100))
""",
}
SHAPS = {
    adult: """
codes = X.apply(lambda column: pd.factorize(column)[0] if column.dtype == "str" else column)
words = {name: pd.factorize(X[name])[1] for name in X if X[name].dtype == "str"}
def predict(rows):
    frame = pd.DataFrame(rows, columns=X.columns)
    entries = {name: each[frame[name].astype(int)] for name, each in words.items()}
    return model.predict_proba(frame.assign(**entries))
explainer = shap.Explainer(predict, codes[:20])
ex = explainer(codes[:3])
shap.plots.waterfall(ex[0, :, 1])
""",
    categories: """
explainer = shap.TreeExplainer(model)
ex = explainer(X[:5])
shap.plots.waterfall(ex[4])
""",
    classes: """
explainer = shap.TreeExplainer(model)
ex = explainer(X[:5])
shap.plots.bar(ex[:, :, list(model.classes_).index("old")])
""",
    housing: """
explainer = shap.Explainer(lambda rows: np.asarray(model(jnp.asarray(rows))), X[:10].to_numpy())
ex = explainer(X[:5].to_numpy())
ex.feature_names = list(X.columns)
shap.plots.beeswarm(ex)
""",
    digits: """
def predict(rows):
    return np.asarray(model(rows.transpose(0, 3, 1, 2)))
masker = shap.maskers.Image(np.zeros((8, 8, 3)), (8, 8, 3))
ex = shap.PartitionExplainer(predict, masker)(images[:1].transpose(0, 2, 3, 1))
shap.plots.image(ex)
""",
    sentence: """
explainer = shap.Explainer(lambda rows: np.asarray(model(rows.astype(int))), 0 * tokens)
ex = explainer(tokens)
ex.data = np.array([words])
shap.plots.text(ex)
""",
    series: """
windows = np.arange(60) // 10
def predict(present):
    return np.asarray(model(series[:1] * present[:, windows]))
ex = shap.Explainer(predict, np.zeros((1, 6)))(np.ones((1, 6)))
shap.plots.bar(ex[0])
""",
    network: """
explainer = shap.DeepExplainer(model, torch.as_tensor(X[:10]))
ex = explainer(torch.as_tensor(X[:3]))
shap.plots.bar(ex)
""",
    large: """
explainer = shap.Explainer(model, X[:5])
ex = explainer(X)
shap.plots.beeswarm(ex.sample(100))
""",
}


@pytest.mark.parametrize("task", OURS, ids=lambda task: task.__name__)
def test_the_task_takes_no_more_lines_than_with_shap_and_its_values_add_up(task):
    ours, theirs = (text.strip().splitlines() for text in (OURS[task], SHAPS[task]))
    assert len(ours) <= len(theirs)
    given = task()
    names = types.SimpleNamespace(**given)
    scope = given | {"jaxshap": jaxshap}
    exec(OURS[task], scope)
    ex = scope["ex"]
    plt.close("all")
    assert np.isfinite(ex.values).all()
    total = ex.base_values + ex.values.sum(1)
    rows = next(part for name, part in given.items() if name not in ("model", "words"))[: len(ex)]
    np.testing.assert_allclose(total, prediction(names.model, rows, ex), atol=2e-4)


def prediction(model, rows, ex):
    """What the values add up to: probabilities, margins or outputs."""
    if ex.estimator == "trees":
        if ex.value_function.count("logit"):
            return model.predict(rows, output_margin=True)
        return model.predict(rows, raw_score=True)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(rows)
    if type(model).__module__.startswith("torch"):
        import torch

        return model(torch.as_tensor(rows)).detach().numpy()
    return np.asarray(model(np.asarray(rows)))


def test_the_explanation_shows_what_people_know():
    given = adult()
    ex = jaxshap.explain(given["model"], given["X"][:2], given["X"][:20])
    assert ex.display_data[:, 1].tolist() == given["X"]["Work class"][:2].tolist()
    assert "Sex = " + given["X"]["Sex"][0] in [
        label.get_text() for label in jaxshap.plots.waterfall(ex[0]).get_yticklabels()
    ]
