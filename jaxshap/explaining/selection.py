"""What of an explanation is picked: by name, number, slice, list or mask along its axes."""

from types import EllipsisType
from typing import Any

import numpy as np

from jaxshap.errors import SelectionError
from jaxshap.games import as_array, shown

Index = int | str | slice | list | np.ndarray | np.integer | EllipsisType


def picked_fields(explanation: Any, index: Any) -> dict[str, Any]:
    """The fields of an explanation that change when rows, features and outputs are picked."""
    indices = index if isinstance(index, tuple) else (index,)
    shape, names = explanation.values.shape, explanation.feature_names
    if any(one is ... for one in indices):
        place = next(place for place, one in enumerate(indices) if one is ...)
        rest = (slice(None),) * (min(len(shape), 3) - len(indices) + 1)
        indices = (*indices[:place], *rest, *indices[place + 1 :])
    if len(indices) > min(len(shape), 3):
        raise SelectionError(
            f"{len(indices)} indices for values of shape {shape}: (rows, features, *outputs)."
        )
    row, feature, output = (*indices, *(slice(None),) * 3)[:3]
    rows = positions(row, None, shape[0], "row")
    features = positions(feature, names, len(names), "feature")
    fields = _at_rows(explanation, rows, features)
    outputs: Any = None
    if len(shape) > 2:
        outputs = positions(output, explanation.output_names, shape[2], "output")
        outputs = outputs[0] if isinstance(output, int | str | np.integer) else outputs
        for name in ("values", "std_error", "degrees", "base_values"):
            if np.ndim(fields[name]) > 0:
                fields[name] = fields[name][..., outputs]
        single, known = isinstance(outputs, int), explanation.output_names
        chosen = [outputs] if single else outputs
        kept = None if known is None else tuple(known[number] for number in chosen)
        fields["output_names"] = kept
        if explanation.row_outputs is not None:
            fields["row_outputs"] = explanation.row_outputs[rows][:, outputs]
    whole = features == list(range(len(names)))
    if not whole:
        fields["owner"] = None
    if explanation.interactions is not None:
        players = None if features == list(range(len(names))) else features
        fields["interactions"] = explanation.interactions.at(rows, outputs, players)
    if explanation.source is not None:
        fields["source"] = explanation.source.pick(rows, outputs) if whole else None
    return fields


def _at_rows(explanation: Any, rows: list[int], features: list[int]) -> dict[str, Any]:
    """Values, errors, base values, data and names of some rows and features."""
    data, degrees = explanation.data, explanation.degrees
    if isinstance(data, dict):
        data = {name: array[rows] for name, array in data.items()}
    elif explanation.data_of_features is not None:
        data = data[rows][:, features]
    else:
        data = data[rows]
    return {
        "values": explanation.values[rows][:, features],
        "std_error": explanation.std_error[rows][:, features],
        "degrees": degrees if np.ndim(degrees) == 0 else degrees[rows][:, features],
        "base_values": explanation.base_values[rows],
        "data": data,
        "feature_names": tuple(explanation.feature_names[number] for number in features),
    }


def positions(index: Any, names: tuple[str, ...] | None, length: int, what: str) -> list[int]:
    """Positions along an axis, by name, number, slice, list or mask."""
    if isinstance(index, slice):
        return list(range(length))[index]
    single = isinstance(index, int | str | np.integer) and not isinstance(index, bool)
    if not single and not isinstance(index, list | tuple | range | np.ndarray):
        raise SelectionError(
            f"{shown(index)} picks no {what}: pass a name, a number, a slice, or a list of them."
        )
    if not single and (mask := np.asarray(as_array(index, f"what picks a {what}"))).dtype == bool:
        if mask.shape != (length,):
            raise SelectionError(
                f"a mask of {what}s has shape {mask.shape}: it must be ({length},)."
            )
        return np.flatnonzero(mask).tolist()
    given: Any = np.atleast_1d(index).tolist() if isinstance(index, np.ndarray) else index
    many: list[Any] = [given] if single else list(given)
    for entry in many:
        if isinstance(entry, bool) or not isinstance(entry, int | str | np.integer):
            raise SelectionError(f"{shown(entry)} is no {what}: pass its name or number.")
        if isinstance(entry, str) and (names is None or entry not in names):
            raise SelectionError(f"there is no {what} {entry!r}{_remedy(entry, names, what)}")
        if isinstance(entry, str) and names is not None and names.count(entry) > 1:
            raise SelectionError(f"several {what}s are called {entry!r}: pick one by its number.")
        if not isinstance(entry, str) and not -length <= entry < length:
            raise SelectionError(f"{what} {entry} is out of range: there are {length}.")
    return [
        names.index(entry) if isinstance(entry, str) and names else int(entry) % length
        for entry in many
    ]


def _remedy(entry: str, names: tuple[str, ...] | None, what: str) -> str:
    """What there is instead of a name that is not there."""
    if names is not None:
        return f": there are {list(names)}."
    remedy = f"; ex[:, {entry!r}] is a feature." if what == "row" else "."
    return f": {what}s have numbers here{remedy}"
