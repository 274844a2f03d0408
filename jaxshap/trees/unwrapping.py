"""The tree ensemble inside a search, or at the end of a pipeline that only selects columns."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from jaxshap.inputs import names_of_step
from jaxshap.trees.readers.registry import is_tree_model

Places = Int[np.ndarray, "k"] | None  # of columns, in the order in which they go on; None: all


class Unwrapped(NamedTuple):
    """A tree model, and which columns of the table it gets; None where it gets all of them."""

    model: Any
    columns: Places = None


def unwrap(model: Any) -> Unwrapped | None:
    """A tree model as it is, or from inside what changes nothing; None for other models."""
    if is_tree_model(model):
        return Unwrapped(model)
    if hasattr(model, "best_estimator_"):  # a search over hyperparameters
        return unwrap(model.best_estimator_)
    steps = getattr(model, "steps", None)
    if not steps or not hasattr(model, "named_steps"):
        return None
    last = unwrap(steps[-1][1])
    columns = None
    for _, step in steps[:-1]:
        is_selection, chosen = _selection(step)
        if last is None or not is_selection:
            return None
        columns = _after(columns, chosen)
    return None if last is None else Unwrapped(last.model, _after(columns, last.columns))


def _after(first: Places, second: Places) -> Places:
    if first is None or second is None:
        return second if first is None else first
    return first[second]


def _selection(step: Any) -> tuple[bool, Places]:
    """Whether a fitted step only selects columns, and which."""
    if _passes_through(step):
        return True, None
    if hasattr(step, "get_support"):
        return True, np.asarray(step.get_support(indices=True))
    if not hasattr(step, "transformers_") or not hasattr(step, "output_indices_"):
        return False, None
    names = [str(name) for name in getattr(step, "feature_names_in_", ())]
    names = names or [f"x{place}" for place in range(step.n_features_in_)]
    chosen: list[int] = []
    for _, inner, columns in step.transformers_:
        if isinstance(inner, str) and inner == "drop":
            continue
        if not _passes_through(inner):
            return False, None
        chosen += _places(names_of_step(step, columns), names)
    return True, np.array(chosen, int)


def _places(columns: Sequence[str], names: Sequence[str]) -> list[int]:
    return [names.index(column) for column in columns]


def _passes_through(step: Any) -> bool:
    """Nothing, or a FunctionTransformer without a function."""
    if step is None or isinstance(step, str):
        return step in (None, "passthrough")
    return hasattr(step, "func") and hasattr(step, "inverse_func") and step.func is None
