"""What a picture takes from an Explanation: one output, one row or the mean over rows, labels."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation, shown_output
from jaxshap.games import check_kind
from jaxshap.plots.style import (
    INTERVALS,
    MAX_LINE_CHARACTERS,
    error_words,
    shortened,
    smaller_not_shown,
    told_apart,
)

MAX_WORD_CHARACTERS = 20  # of what a feature was, beside its name


def one_output(explanation: Explanation, picture: str) -> Explanation:
    """The only output, or the second of two classes, whose first mirrors it; several other outputs
    are refused, and an explanation of nothing.
    """
    check_kind(explanation, Explanation, "explanation", "what jaxshap.explain returned")
    explanation = shown_output(explanation)
    if explanation.values.ndim > 2:
        names = explanation.output_names
        pick = "0" if names is None else f'"{names[0]}"'
        raise InputError(
            f"{picture} draws one output and there are {explanation.values.shape[2]}: pick one, "
            f"such as ex[:, :, {pick}]."
        )
    check_not_empty(explanation, picture)
    return explanation


def ordering(given: Any, number: int, what: str) -> Int[np.ndarray, "number"]:
    """Places from first to last: those of the values of an explanation, or as they are given."""
    if isinstance(given, Explanation):
        places = np.argsort(-shown_output(given).values.ravel(), kind="stable")
    else:
        places = np.asarray(given)
    if not np.array_equal(np.sort(places, axis=None), np.arange(number)):
        raise InputError(
            f"{what} must put all {number} in an order: pass each of their numbers once, or an "
            "explanation that holds a value for each, such as ex.abs.max(0) or ex.sum(1)."
        )
    return places.astype(int)


def check_one_row(explanation: Explanation, picture: str) -> None:
    """Refuse several rows."""
    check_kind(explanation, Explanation, "explanation", "what jaxshap.explain returned")
    if len(explanation) != 1:
        raise InputError(
            f"{picture} draws one row and there are {len(explanation)}: pick one, such as ex[0]."
        )


def check_not_empty(explanation: Explanation, picture: str) -> None:
    """Refuse an explanation of nothing."""
    check_kind(explanation, Explanation, "explanation", "what jaxshap.explain returned")
    if not explanation.values.size:
        raise InputError(
            f"{picture} has nothing to draw: the values have shape {explanation.values.shape}."
        )


def interval_words(errors: Float[np.ndarray, "..."], *explanations: Explanation) -> str:
    """What the error bars of Shapley values are, or why there are none."""
    exact = all(explanation.exact for explanation in explanations)
    if exact:
        return "exact"
    return error_words(errors) if errors.any() else INTERVALS


def what_is_drawn(explanation: Explanation) -> str:
    """The quantity that `shown_values` returns, in words."""
    what = explanation.kind
    if len(explanation) > 1:
        what = f"mean |{explanation.kind}| over {len(explanation):,} rows"
    return f"{what}, {explained_output(explanation)}" if explained_output(explanation) else what


def explained_output(explanation: Explanation) -> str:
    """The name of the single output that is drawn, where it has one."""
    names = explanation.output_names
    return names[0] if names is not None and explanation.values.ndim == 2 else ""


def labels(
    explanation: Explanation, features: Int[np.ndarray, "k"], with_data: bool = True
) -> list[str]:
    """Names of features, with what each feature was where there is a single row."""
    names = told_apart([explanation.feature_names[feature] for feature in features])
    data = explanation.display_data
    if len(explanation) > 1 or data is None or not with_data:
        return names
    numbers = map(_in_full, data[0, features].tolist())
    return [f"{name} = {number}" for name, number in zip(names, numbers, strict=True)]


def footnote(explanation: Explanation, shown: int | None = None) -> str:
    """How the values were made, and how many features are not shown."""
    rest = "" if shown is None else smaller_not_shown(len(explanation.feature_names) - shown)
    made = explanation.estimator.partition("(")[0]  # its name without its options
    notes = list(filter(None, [f"{explanation.value_function}, {made}", rest]))
    return "; ".join(notes) if sum(map(len, notes)) < MAX_LINE_CHARACTERS else "\n".join(notes)


def _in_full(number: float | int | str) -> str:
    """Four digits, and all of those before the point, as in a postal code or an income; words."""
    if isinstance(number, str):
        return shortened(number, MAX_WORD_CHARACTERS)
    return (f"{number:.0f}" if 1e3 <= abs(number) < 1e9 else f"{number:.4g}").replace("-", "−")


def what_of_rows(explanation: Explanation) -> str:
    """What the value of each row is, with the output that it belongs to."""
    output = explained_output(explanation)
    return f"{explanation.kind}, {output}" if output else explanation.kind
