"""Tiny fitted models of every library, one per option that changes a prediction."""

from collections.abc import Callable
from typing import Any, NamedTuple

import catboost
import lightgbm
import numpy as np
import pandas as pd
import xgboost
from sklearn import ensemble, tree

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3
POSITIVE, SHARE = np.exp(Y / 2), 1 / (1 + np.exp(-Y))
YES, CLASSES = Y > 0.3, np.digitize(Y, [-0.3, 0.8])
TWO, TWO_LABELS = np.stack([Y, Y**2], 1), np.stack([YES, X[:, 0] > 0], 1).astype(int)
HOLES = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
ZEROS = np.where(RNG.random(X.shape) < 0.3, 0.0, X)
CODED = np.column_stack([X[:, 0], RNG.integers(0, 5, 60), X[:, 2:]])
OF_CODE = Y + np.array([2.0, -1.0, 0.0, 3.0, -2.0])[CODED[:, 1].astype(int)]
FRACTIONS = CODED + np.array([0, 1, 0, 0]) * np.resize([0.0, 0.4, 0.9, -0.3, -1.6], 60)[:, None]
NAMED = pd.DataFrame(X, columns=["first one", "b", "c", "d"])
LETTERS = np.array(["z", "x", "y", "w", "v"])[CODED[:, 1].astype(int)]
NUMBERS = np.array([30, 10, -1, 20, 5])[CODED[:, 1].astype(int)]
ORDER = ["z", "x", "y", "w", "v"]  # not the order of the alphabet
FEW = {"n_estimators": 3, "max_depth": 2, "random_state": 0}
HIST = {"max_iter": 3, "max_depth": 2, "min_samples_leaf": 3, "random_state": 0}
XGB = {"n_estimators": 3, "max_depth": 2, "n_jobs": 1}
LGB = {"n_estimators": 3, "num_leaves": 4, "min_child_samples": 3, "verbose": -1, "n_jobs": 1}
CATEGORICAL = {"min_data_per_group": 1, "cat_smooth": 0.1, "max_cat_to_onehot": 1}
CAT = {"iterations": 3, "depth": 2, "verbose": 0, "thread_count": 1, "allow_writing_files": False}


class Case(NamedTuple):
    """How to fit a model, the table it is explained on, its raw prediction, and the link of it."""

    fit: Callable[[], Any]
    rows: Any
    raw: Callable[[Any, Any], Any]
    link: str


def column(values, **options):
    """A frame like NAMED, with categories in its second column."""
    return NAMED.assign(b=pd.Categorical(values, **options))


def fitted(model, rows, target, raw, link="identity", *, explained=None, **options):
    rows_to_explain = rows if explained is None else explained
    return Case(lambda: model.fit(rows, target, **options), rows_to_explain, raw, link)


def predictions(model, rows):
    return model.predict(rows)


def log_predictions(model, rows):
    return np.log(model.predict(rows))


def probabilities(model, rows):
    return model.predict_proba(rows)


def decisions(model, rows):
    return model.decision_function(rows)


def xgb_margins(model, rows):
    return model.predict(rows, output_margin=True)


def lgb_margins(model, rows):
    return model.predict(rows, raw_score=True)


def cat_margins(model, rows):
    return model.predict(rows, prediction_type="RawFormulaVal")


def sklearn_forests():
    regressor, classifier = tree.DecisionTreeRegressor, tree.DecisionTreeClassifier
    forest, voters = ensemble.RandomForestRegressor, ensemble.RandomForestClassifier
    shallow = {"max_depth": 2, "random_state": 0}
    weights = np.linspace(0.1, 3, 60)
    return {
        "tree": fitted(regressor(**shallow), X, Y, predictions),
        "tree, poisson": fitted(
            regressor(**shallow, criterion="poisson"), X, POSITIVE, predictions
        ),
        "tree, absolute error": fitted(
            regressor(**shallow, criterion="absolute_error"), X, Y, predictions
        ),
        "tree of classes": fitted(classifier(**shallow), X, CLASSES, probabilities),
        "tree of one leaf": fitted(regressor(max_depth=1, min_samples_leaf=60), X, Y, predictions),
        "extra tree": fitted(tree.ExtraTreeRegressor(**shallow), X, Y, predictions),
        "forest": fitted(forest(**FEW), X, Y, predictions),
        "forest, weights": fitted(forest(**FEW), X, Y, predictions, sample_weight=weights),
        "forest, two outputs": fitted(forest(**FEW), X, TWO, predictions),
        "forest, missing": fitted(forest(**FEW), HOLES, Y, predictions),
        "forest, missing unseen": fitted(forest(**FEW), X, Y, predictions, explained=HOLES),
        "forest, reordered": fitted(forest(**FEW), NAMED, Y, predictions),
        "forest, numeric categories": fitted(forest(**FEW), column(NUMBERS), Y, predictions),
        "forest of classes": fitted(
            voters(**FEW, class_weight="balanced"), X, CLASSES, probabilities
        ),
        "extra trees": fitted(ensemble.ExtraTreesClassifier(**FEW), X, YES, probabilities),
    }


def sklearn_boosting():
    regressor, classifier = ensemble.GradientBoostingRegressor, ensemble.GradientBoostingClassifier
    histogram, voters = (
        ensemble.HistGradientBoostingRegressor,
        ensemble.HistGradientBoostingClassifier,
    )
    stopped = {"n_iter_no_change": 2, "tol": 0.05}
    losses = {
        f"boosting, {loss}": fitted(regressor(**FEW, loss=loss), X, Y, predictions)
        for loss in ("squared_error", "absolute_error", "huber", "quantile")
    }
    histogram_losses = {
        f"histograms, {loss}": fitted(histogram(**HIST, loss=loss), HOLES, POSITIVE, raw, link)
        for loss, raw, link in (
            ("squared_error", predictions, "identity"),
            ("absolute_error", predictions, "identity"),
            ("poisson", log_predictions, "log"),
            ("gamma", log_predictions, "log"),
        )
    }
    labelled = histogram(**HIST)
    return {
        **losses,
        "boosting, init zero": fitted(regressor(**FEW, init="zero"), X, Y, predictions),
        "boosting, stopped early": fitted(
            regressor(n_estimators=50, max_depth=2, random_state=0, **stopped), X, Y, predictions
        ),
        "boosting, two classes": fitted(classifier(**FEW), X, YES, decisions, "logit"),
        "boosting, three classes": fitted(classifier(**FEW), X, CLASSES, decisions, "softmax"),
        "boosting, exponential": fitted(
            classifier(**FEW, loss="exponential"), X, YES, decisions, "half logit"
        ),
        **histogram_losses,
        "histograms, quantile": fitted(
            histogram(**HIST, loss="quantile", quantile=0.3), X, Y, predictions
        ),
        "histograms, two classes": fitted(voters(**HIST), X, YES, decisions, "logit"),
        "histograms, three classes": fitted(voters(**HIST), X, CLASSES, decisions, "softmax"),
        "histograms, codes": fitted(
            histogram(**HIST, categorical_features=[1]), CODED, OF_CODE, predictions
        ),
        "histograms, fractions": fitted(
            histogram(**HIST, categorical_features=[1]),
            CODED,
            OF_CODE,
            predictions,
            explained=FRACTIONS,
        ),
        "histograms, categories of numbers": fitted(
            labelled, column(NUMBERS), OF_CODE, predictions
        ),
        "histograms, categories of letters": fitted(
            histogram(**HIST),
            column(LETTERS, categories=ORDER),
            OF_CODE,
            predictions,
            explained=column(np.where(CODED[:, 0] < 0, "unseen", LETTERS)),
        ),
    }


def xgboost_objectives():
    targets = {
        "reg:squarederror": (Y, "identity"),
        "reg:squaredlogerror": (POSITIVE, "identity"),
        "reg:logistic": (SHARE, "logit"),
        "reg:pseudohubererror": (Y, "identity"),
        "reg:absoluteerror": (Y, "identity"),
        "reg:gamma": (POSITIVE, "log"),
        "reg:tweedie": (POSITIVE, "log"),
        "count:poisson": (POSITIVE, "log"),
        "survival:cox": (POSITIVE, "log"),
        "binary:logistic": (YES, "logit"),
        "binary:logitraw": (YES, "logit"),
        "binary:hinge": (YES, "hinge"),
    }
    return {
        f"xgboost, {objective}, {base}": fitted(
            xgboost.XGBRegressor(**XGB, objective=objective, base_score=base),
            HOLES,
            target.astype(float),
            xgb_margins,
            link,
        )
        for objective, (target, link) in targets.items()
        for base in (None, 0.3)
    }


def xgboost_options():
    regressor, classifier = xgboost.XGBRegressor, xgboost.XGBClassifier
    stopping = {"n_estimators": 40, "max_depth": 2, "n_jobs": 1, "early_stopping_rounds": 1}
    held_out = {"eval_set": [(X[40:], Y[40:])], "verbose": False}
    coded = {"enable_categorical": True, "max_cat_to_onehot": 1}
    types = ["q", "c", "q", "q"]
    letters = column(LETTERS, categories=ORDER)
    alphas = {"objective": "reg:quantileerror", "quantile_alpha": [0.2, 0.7]}
    aft = xgboost.DMatrix(X, label_lower_bound=POSITIVE, label_upper_bound=POSITIVE)
    groups = np.repeat([0, 1, 2], 20)
    return {
        "xgboost, stopped early": fitted(
            regressor(**stopping), X[:40], Y[:40], xgb_margins, **held_out
        ),
        "xgboost, stopped early in parallel": fitted(
            regressor(**stopping, num_parallel_tree=2), X[:40], Y[:40], xgb_margins, **held_out
        ),
        "xgboost, missing 0": fitted(regressor(**XGB, missing=0.0), ZEROS, Y, xgb_margins),
        "xgboost, missing -999": fitted(
            regressor(**XGB, missing=-999), np.nan_to_num(HOLES, nan=-999), Y, xgb_margins
        ),
        "xgboost, dart": fitted(
            regressor(**XGB, booster="dart", rate_drop=0.6, seed=1), X, Y, xgb_margins
        ),
        "xgboost, dart of classes": fitted(
            classifier(**XGB, booster="dart", rate_drop=0.6, seed=1),
            X,
            CLASSES,
            xgb_margins,
            "softmax",
        ),
        "xgboost, forest": fitted(xgboost.XGBRFRegressor(**XGB), X, Y, xgb_margins),
        "xgboost, no trees": fitted(regressor(n_estimators=0), X, Y, xgb_margins),
        "xgboost, classes": fitted(classifier(**XGB), X, CLASSES, xgb_margins, "softmax"),
        "xgboost, labels": fitted(
            classifier(**XGB, objective="multi:softmax"), X, CLASSES, xgb_margins, "softmax"
        ),
        "xgboost, two outputs": fitted(regressor(**XGB), X, TWO, xgb_margins),
        "xgboost, two labels": fitted(classifier(**XGB), X, TWO_LABELS, xgb_margins, "logit"),
        "xgboost, quantiles": fitted(regressor(**XGB, **alphas), X, Y, xgb_margins),
        "xgboost, almost certain base": fitted(
            classifier(**XGB, base_score=1 - 1e-6), X, YES, xgb_margins, "logit"
        ),
        "xgboost, ranks": fitted(xgboost.XGBRanker(**XGB), X, CLASSES, xgb_margins, qid=groups),
        "xgboost, aft": Case(
            lambda: xgboost.train({"objective": "survival:aft", "max_depth": 2}, aft, 3),
            X,
            xgb_booster_margins,
            "log",
        ),
        "xgboost, booster": Case(
            lambda: xgboost.train({"max_depth": 2}, xgboost.DMatrix(NAMED, Y), 3),
            NAMED,
            xgb_booster_margins,
            "identity",
        ),
        "xgboost, codes": fitted(
            regressor(**XGB, **coded, feature_types=types), CODED, OF_CODE, xgb_margins
        ),
        "xgboost, fractions": fitted(
            regressor(**XGB, **coded, feature_types=types),
            CODED,
            OF_CODE,
            xgb_margins,
            explained=FRACTIONS,
        ),
        "xgboost, categories of letters": fitted(
            regressor(**XGB, **coded),
            letters,
            OF_CODE,
            xgb_margins,
            explained=column(np.where(CODED[:, 0] < 0, "v", LETTERS)),
        ),
        "xgboost, missing categories": fitted(
            regressor(**XGB, **coded),
            letters,
            OF_CODE,
            xgb_margins,
            explained=column(LETTERS, categories=["x", "z"]),
        ),
        "xgboost, categories of numbers": fitted(
            regressor(**XGB, **coded), column(NUMBERS), OF_CODE, xgb_margins
        ),
    }


def xgb_booster_margins(booster, rows):
    return booster.inplace_predict(rows, predict_type="margin")


def lightgbm_cases():
    regressor, classifier = lightgbm.LGBMRegressor, lightgbm.LGBMClassifier
    targets = {
        "regression": (Y, "identity"),
        "regression_l1": (Y, "identity"),
        "huber": (Y, "identity"),
        "fair": (Y, "identity"),
        "quantile": (Y, "identity"),
        "mape": (POSITIVE, "identity"),
        "poisson": (POSITIVE, "log"),
        "gamma": (POSITIVE, "log"),
        "tweedie": (POSITIVE, "log"),
        "cross_entropy": (SHARE, "logit"),
        "cross_entropy_lambda": (SHARE, "inverse softplus"),
    }
    stopping = {"callbacks": [lightgbm.early_stopping(1, verbose=False)]}
    letters = column(LETTERS, categories=ORDER)

    def raw_of_residual(truth, predicted):
        return predicted - truth, np.ones_like(truth)

    def stopped_booster():
        sets = [lightgbm.Dataset(X[40:], Y[40:])]
        options = {"verbose": -1, "num_leaves": 4, "min_data_in_leaf": 3}
        data = lightgbm.Dataset(X[:40], Y[:40])
        kept = {"valid_sets": sets, "keep_training_booster": True}
        return lightgbm.train(options, data, 40, **kept, **stopping)

    return {
        **{
            f"lightgbm, {objective}": fitted(
                regressor(**LGB, objective=objective), HOLES, target, lgb_margins, link
            )
            for objective, (target, link) in targets.items()
        },
        "lightgbm, square roots": fitted(
            regressor(**LGB, reg_sqrt=True), X, Y, lgb_margins, "signed square root"
        ),
        "lightgbm, own objective": fitted(
            regressor(**LGB, objective=raw_of_residual), X, Y, lgb_margins
        ),
        "lightgbm, from zero": fitted(
            regressor(**LGB, boost_from_average=False), X, Y, lgb_margins
        ),
        "lightgbm, dart": fitted(
            regressor(**LGB, boosting_type="dart", drop_rate=0.6), X, Y, lgb_margins
        ),
        "lightgbm, goss": fitted(regressor(**LGB, data_sample_strategy="goss"), X, Y, lgb_margins),
        "lightgbm, one leaf": fitted(regressor(verbose=-1), X[:5], Y[:5], lgb_margins, explained=X),
        "lightgbm, two classes": fitted(classifier(**LGB), X, YES, lgb_margins, "logit"),
        "lightgbm, steep sigmoid": fitted(
            classifier(**LGB, sigmoid=2.0), X, YES, lgb_margins, "logit/2"
        ),
        "lightgbm, three classes": fitted(classifier(**LGB), X, CLASSES, lgb_margins, "softmax"),
        "lightgbm, one against all": fitted(
            classifier(**LGB, objective="multiclassova"), X, CLASSES, lgb_margins, "logit"
        ),
        "lightgbm, ranks": fitted(
            lightgbm.LGBMRanker(**LGB), X, CLASSES, lgb_margins, group=[20, 20, 20]
        ),
        "lightgbm, stopped early": fitted(
            regressor(**{**LGB, "n_estimators": 40}),
            X[:40],
            Y[:40],
            lgb_margins,
            eval_set=[(X[40:], Y[40:])],
            **stopping,
        ),
        "lightgbm, stopped booster": Case(stopped_booster, X, lgb_margins, "identity"),
        "lightgbm, names": fitted(regressor(**LGB), NAMED, Y, lgb_margins),
        "lightgbm, codes": fitted(
            regressor(**LGB, **CATEGORICAL), CODED, OF_CODE, lgb_margins, categorical_feature=[1]
        ),
        "lightgbm, fractions": fitted(
            regressor(**LGB, **CATEGORICAL),
            CODED,
            OF_CODE,
            lgb_margins,
            explained=FRACTIONS,
            categorical_feature=[1],
        ),
        "lightgbm, categories of letters": fitted(
            regressor(**LGB, **CATEGORICAL),
            letters,
            OF_CODE,
            lgb_margins,
            explained=column(np.where(CODED[:, 0] < 0, "unseen", LETTERS)),
        ),
        "lightgbm, categories of numbers": fitted(
            regressor(**LGB, **CATEGORICAL), column(NUMBERS), OF_CODE, lgb_margins
        ),
        "lightgbm, ordered categories": fitted(
            regressor(**LGB, **CATEGORICAL),
            column(LETTERS, categories=ORDER, ordered=True),
            OF_CODE,
            lgb_margins,
        ),
    }


def catboost_cases():
    regressor, classifier = catboost.CatBoostRegressor, catboost.CatBoostClassifier
    targets = {
        "RMSE": (Y, "identity"),
        "MAE": (Y, "identity"),
        "Quantile:alpha=0.3": (Y, "identity"),
        "Expectile:alpha=0.3": (Y, "identity"),
        "Huber:delta=1": (Y, "identity"),
        "MultiRMSE": (TWO, "identity"),
        "MultiQuantile:alpha=0.2,0.7": (Y, "identity"),
        "RMSEWithUncertainty": (Y, "mean and log standard deviation"),
        "Poisson": (POSITIVE, "log"),
        "Tweedie:variance_power=1.5": (POSITIVE, "log"),
        "LogLinQuantile": (POSITIVE, "log"),
        "Cox": (POSITIVE, "log"),
    }
    classes = {
        "Logloss": (YES, "logit"),
        "CrossEntropy": (YES.astype(float), "logit"),
        "Focal:focal_alpha=0.3;focal_gamma=2": (YES, "logit"),
        "MultiClass": (CLASSES, "softmax"),
        "MultiClassOneVsAll": (CLASSES, "logit"),
        "MultiLogloss": (TWO_LABELS, "logit"),
    }
    constant = np.column_stack([X[:, :3], np.ones(60)])

    def summed():
        halves = [regressor(**CAT).fit(X, Y), regressor(**CAT).fit(X, -Y)]
        return catboost.sum_models(halves, weights=[0.7, 0.2])

    return {
        f"catboost, {loss}": fitted(
            kind(**CAT, loss_function=loss), HOLES, target, cat_margins, link
        )
        for kind, losses in ((regressor, targets), (classifier, classes))
        for loss, (target, link) in losses.items()
    } | {
        "catboost, largest missing": fitted(
            regressor(**CAT, nan_mode="Max"), HOLES, Y, cat_margins
        ),
        "catboost, constant column": fitted(regressor(**CAT), constant, Y, cat_margins),
        "catboost, ignored column": fitted(
            regressor(**CAT, ignored_features=[3]), X, Y, cat_margins
        ),
        "catboost, ordered": fitted(regressor(**CAT, boosting_type="Ordered"), X, Y, cat_margins),
        "catboost, names": fitted(regressor(**CAT), NAMED, Y, cat_margins),
        "catboost, stopped early": fitted(
            regressor(**{**CAT, "iterations": 40}),
            X[:40],
            Y[:40],
            cat_margins,
            eval_set=(X[40:], Y[40:]),
            early_stopping_rounds=1,
        ),
        "catboost, aft": fitted(
            catboost.CatBoost({**CAT, "loss_function": "SurvivalAft:dist=Normal"}),
            X,
            np.stack([POSITIVE, POSITIVE], 1),
            cat_margins,
            "log",
        ),
        "catboost, ranks": fitted(
            catboost.CatBoostRanker(**CAT, loss_function="YetiRank"),
            X,
            CLASSES,
            predictions,
            group_id=np.repeat([0, 1, 2], 20),
        ),
        "catboost, sum of models": Case(summed, X, cat_margins, "identity"),
    }


CASES: dict[str, Case] = {
    **sklearn_forests(),
    **sklearn_boosting(),
    **xgboost_objectives(),
    **xgboost_options(),
    **lightgbm_cases(),
    **catboost_cases(),
}
