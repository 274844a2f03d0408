"""Tree ensembles from the fitted model to an Explanation, exactly and without evaluations."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxshap.errors import InputError
from jaxshap.explaining.explanation import Explanation
from jaxshap.explaining.interacting import check_interactions
from jaxshap.explaining.source import Source
from jaxshap.inputs import (
    Table,
    class_names,
    library_of,
    read_background,
    read_output_names,
    read_table,
    read_weights,
    shown_table,
)
from jaxshap.interactions import tree_interactions
from jaxshap.trees import (
    Ensemble,
    Unwrapped,
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
    found: Unwrapped,
    X: Any,
    background: Any,
    feature_names: Sequence[str] | None,
    output_names: Sequence[str] | None,
    interactions: int | None = None,
) -> Explanation:
    """Exact values of the raw margin: interventional with a background, path-dependent without.

    Columns that are not selected for the trees have values of 0.
    """
    if found.columns is None:
        return _explain(found.model, X, background, feature_names, output_names, interactions)
    if interactions is not None:
        raise InputError(
            "interactions= goes with the trees themselves, and here a pipeline selects columns for "
            "them: pass its last step and the columns that it gets."
        )
    table, words = shown_table(X, feature_names)
    references, options = read_weights(background)
    inner = _chosen(X, found.columns), _chosen(references, found.columns)
    if options:
        inner = inner[0], background._replace(rows=inner[1])
    names = [table.names[column] for column in found.columns] if table.named else None
    names = None if library_of(X) is not None else names
    return _spread(_explain(found.model, *inner, names, output_names), found.columns, table, words)


def _explain(
    model: Any,
    X: Any,
    background: Any,
    feature_names: Sequence[str] | None,
    output_names: Sequence[str] | None,
    interactions: int | None = None,
) -> Explanation:
    ensemble = read_trees(model)
    columns = ensemble.structure.conversion.columns
    numbers = ensemble.numbers(X)
    table = read_table(numbers, "X", columns.names_for(X, feature_names))
    is_frame = library_of(X) is not None
    words = shown_table(numbers, None)[1] | columns.words(X) if is_frame else {}
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
        asked = margin, rows, np.asarray(references)
        source, absent = Source(game, np.arange(len(rows)), asked=asked), INTERVENTIONAL
    if interactions is not None:
        check_interactions(interactions, rows.shape[1])
        how = {"order": interactions, "weights": weights}
        sets = tree_interactions(ensemble, rows, references, **how)
    values, base = np.asarray(values), np.broadcast_to(np.asarray(base), (len(rows), len(base)))
    if values.shape[2] == 1:
        values, base = values[..., 0], base[:, 0]
        sets = sets and sets.at(np.arange(len(rows)), 0)
        source = source and source.pick(source.rows.tolist(), 0)
    elif output_names is None:
        classes = class_names(model)
        output_names = classes if len(classes or ()) == values.shape[2] else None
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
        words=words,
    )


def _chosen(table: Any, columns: np.ndarray) -> Any:
    """Some columns of a table, in this order."""
    if table is None:
        return None
    if library_of(table) is not None:
        names = list(table.columns)
        return table[[names[column] for column in columns]]
    return np.asarray(table)[:, columns]


def _spread(
    explained: Explanation, columns: np.ndarray, table: Table, words: dict[str, tuple[str, ...]]
) -> Explanation:
    """The explanation of all columns of the table: those that were not selected count for nothing.

    There is no game of them all to diagnose.
    """
    shape = len(explained), len(table.names), *explained.values.shape[2:]
    values = np.zeros(shape, explained.values.dtype)
    values[:, columns] = explained.values
    return dataclasses.replace(
        explained,
        values=values,
        std_error=np.zeros_like(values),
        data=np.asarray(table.array),
        feature_names=table.names,
        source=None,
        words=words,
    )


def _margin(ensemble: Ensemble, rows):
    return ensemble.predict(rows)
