"""What a picture takes from an Explanation: one output, one row or the mean over rows, labels, and
maps of pixels.
"""

import numpy as np
from jaxtyping import Float, Int

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation
from jaxshap.inputs import STAYS
from jaxshap.plots.style import SURE, WIDEST, smaller_not_shown, told_apart


def one_output(explanation: Explanation, picture: str) -> None:
    """Refuse several outputs, and nothing."""
    if explanation.values.ndim > 2:
        names = explanation.output_names
        pick = "0" if names is None else f'"{names[0]}"'
        raise InputError(
            f"{picture} draws one output and there are {explanation.values.shape[2]}: pick one, "
            "such as "
            f"ex[:, :, {pick}]."
        )
    something(explanation, picture)


def one_row(explanation: Explanation, picture: str) -> None:
    if len(explanation) != 1:
        raise InputError(
            f"{picture} draws one row and there are {len(explanation)}: pick one, such as ex[0]."
        )


def something(explanation: Explanation, picture: str) -> None:
    if not explanation.values.size:
        raise InputError(
            f"{picture} has nothing to draw: the values have shape {explanation.values.shape}."
        )


def drawn_values(
    explanation: Explanation,
) -> tuple[Float[np.ndarray, "features *outputs"], Float[np.ndarray, "features *outputs"]]:
    """The values of a single row, or mean |value| over rows, with 1.96 standard errors of the
    estimation.

    Where rows share their draws, their errors do not average out: the mean of the errors is a
    bound.
    """
    values, errors = explanation.values, SURE * explanation.std_error
    if len(values) == 1:
        return values[0], errors[0]
    shared = (
        errors.mean(0) if explanation.shared_draws else np.sqrt((errors**2).sum(0)) / len(errors)
    )
    return np.abs(values).mean(0), shared


def what_is_drawn(explanation: Explanation) -> str:
    return (
        "Shapley value"
        if len(explanation) == 1
        else f"mean |Shapley value| over {len(explanation):,} rows"
    )


def labels(explanation: Explanation, features: Int[np.ndarray, "k"]) -> list[str]:
    """Names, and of a single row also what each feature was."""
    names = told_apart([explanation.feature_names[feature] for feature in features])
    data = explanation.data_of_features
    if len(explanation) > 1 or data is None:
        return names
    return [
        f"{name} = {_in_full(what)}"
        for name, what in zip(names, data[0, features].tolist(), strict=True)
    ]


def _in_full(number: float) -> str:
    """Four digits, and all of those before the point, as in a postal code or an income."""
    return (f"{number:.0f}" if 1e3 <= abs(number) < 1e9 else f"{number:.4g}").replace("-", "−")


def footnote(explanation: Explanation, shown: int | None = None) -> str:
    """How the values were made, and how many features are not shown."""
    rest = "" if shown is None else smaller_not_shown(len(explanation.feature_names) - shown)
    parts = list(filter(None, [f"{explanation.value_function}, {explanation.estimator}", rest]))
    return "; ".join(parts) if sum(map(len, parts)) < WIDEST else "\n".join(parts)


def checked_owner(
    explanation: Explanation, owner: Int[np.ndarray, "height width"]
) -> Int[np.ndarray, "height width"]:
    """A map of pixels to the players of this explanation."""
    found, number = np.asarray(owner), len(explanation.feature_names)
    if found.ndim != 2 or not np.issubdtype(found.dtype, np.integer):
        raise InputError(
            "the owner of each pixel is a whole number in an array (height, width), and this has "
            f"shape {found.shape} "
            f"and dtype {found.dtype}: pass jaxshap.patches(...).owner."
        )
    if found.min() < STAYS or found.max() != number - 1:
        raise InputError(
            f"owners go from {found.min()} to {found.max()}, and there are {number} players: pass "
            "the owner of the "
            "players that were explained."
        )
    return found


def on_pixels(
    values: Float[np.ndarray, "rows players *outputs"], owner: Int[np.ndarray, "height width"]
) -> Float[np.ndarray, "rows height width *outputs"]:
    """The value of each pixel's owner; NaN where nobody owns it."""
    padded = np.concatenate([values, np.full_like(values[:, :1], np.nan)], axis=1)  # −1 is the last
    return padded[:, owner]


def grey_images(
    explanation: Explanation, owner: Int[np.ndarray, "height width"]
) -> Float[np.ndarray, "rows height width"]:
    """The pictures that were explained, the mean over colours."""
    data = explanation.data
    if isinstance(data, dict) or data[0].size % owner.size:
        shape = (
            {name: part.shape for name, part in data.items()}
            if isinstance(data, dict)
            else data.shape
        )
        raise InputError(
            f"the data of shape {shape} are not images of {owner.shape[0]} × {owner.shape[1]} "
            "pixels."
        )
    return np.asarray(data, float).reshape(len(data), *owner.shape, -1).mean(-1)
