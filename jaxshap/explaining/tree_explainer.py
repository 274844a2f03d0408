"""Tree ensembles from the fitted model to an Explanation, exactly and without evaluations."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxshap.explaining.explanation import Explanation
from jaxshap.explaining.interacting import check_interactions
from jaxshap.explaining.source import Source
from jaxshap.inputs import (
    read_background,
    read_output_names,
    read_table,
    read_weights,
)
from jaxshap.interactions import tree_interactions
from jaxshap.trees import (
    Ensemble,
    base_margin,
    check_reading,
    interventional,
    path_dependent,
    read_trees,
)
from jaxshap.values import marginal

INTERVENTIONAL = (
    "an absent feature takes its values from the background rows, whatever the other features are"
)
PATH_DEPENDENT = (
    "an absent feature follows the training counts in the trees, so two models with the same "
    "predictions can have different values"
)


def explain_trees(
    model: Any,
    X: Any,
    background: Any,
    feature_names: Sequence[str] | None,
    output_names: Sequence[str] | None,
    interactions: int | None = None,
) -> Explanation:
    """Exact values of the raw margin: interventional with a background, path-dependent without."""
    ensemble = read_trees(model)
    names = ensemble.structure.conversion.columns.names_for(X, feature_names)
    table = read_table(ensemble.numbers(X), "X", names)
    check_reading(ensemble, model, X)
    rows, source = np.asarray(table.array), None
    references = weights = sets = None
    if background is None:
        values, base, name = path_dependent(ensemble, rows), base_margin(ensemble), "path-dependent"
        absent = PATH_DEPENDENT
    else:
        background, options = read_weights(background)
        references = read_background(ensemble.numbers(background), table)
        weights = options.get("weights")
        check_reading(ensemble, model, background)
        values, name = interventional(ensemble, rows, references, weights), "interventional"
        base = jnp.average(ensemble.predict(references), axis=0, weights=weights)
        margin = jax.tree_util.Partial(_margin, ensemble)
        game = functools.partial(marginal, margin, rows, references, weights=weights)
        source, absent = Source(game, np.arange(len(rows))), INTERVENTIONAL
    if interactions is not None:
        check_interactions(interactions, rows.shape[1])
        how = {"order": interactions, "weights": weights}
        sets = tree_interactions(ensemble, rows, references, **how)
    values, base = np.asarray(values), np.broadcast_to(np.asarray(base), (len(rows), len(base)))
    if values.shape[2] == 1:
        values, base = values[..., 0], base[:, 0]
        sets = sets and sets.at(np.arange(len(rows)), 0)
        source = source and source.pick(source.rows.tolist(), 0)
    elif output_names is None and len(classes := getattr(model, "classes_", ())) == values.shape[2]:
        output_names = tuple(map(str, classes))
    link = ensemble.structure.link
    return Explanation(
        values=values,
        std_error=np.zeros_like(values),
        exact=True,
        base_values=base,
        data=rows,
        feature_names=table.names,
        output_names=read_output_names(output_names, None, values.shape[2:]),
        num_evaluations=0,
        value_function=name if link == "identity" else f"{name} ({link} margin)",
        estimator="trees",
        absent=absent,
        source=source,
        interactions=sets and sets.at(np.arange(len(rows))),
    )


def _margin(ensemble: Ensemble, rows):
    return ensemble.predict(rows)
