"""Explanations in .npz files, without pickle."""

import dataclasses
import os
from typing import Any

import numpy as np

from jaxshap.errors import InputError

OPTIONAL = {"output_names", "shared_draws", "absent", "source"}
KINDS = {
    "num_evaluations": int,
    "value_function": str,
    "estimator": str,
    "absent": str,
    "shared_draws": bool,
}
DATA = "data "  # begins the names of several arrays that were explained together


def save(explanation: Any, path: str | os.PathLike) -> None:
    """See `Explanation.save`."""
    names = [field.name for field in dataclasses.fields(explanation) if field.name != "source"]
    fields: dict[str, Any] = {name: getattr(explanation, name) for name in names}
    if isinstance(explanation.data, dict):
        fields |= {f"{DATA}{name}": array for name, array in fields.pop("data").items()}
    arrays = {name: np.asarray(field) for name, field in fields.items() if field is not None}
    with open(path, "wb") as file:
        np.savez_compressed(file, **arrays)


def read_fields(path: str | os.PathLike, names: set[str]) -> dict[str, Any]:
    """The fields of the Explanation that `save` wrote."""
    with np.load(path, allow_pickle=False) as archive:
        fields: dict[str, Any] = {name: archive[name] for name in archive.files}
    several = {name: fields.pop(name) for name in list(fields) if name.startswith(DATA)}
    if several:
        fields["data"] = {name.removeprefix(DATA): array for name, array in several.items()}
    if missing := names - OPTIONAL - fields.keys():
        raise InputError(f"{path} is not a saved Explanation: it lacks {sorted(missing)}.")
    for name in ("feature_names", "output_names"):
        fields[name] = tuple(map(str, fields[name])) if name in fields else None
    return fields | {name: kind(fields[name]) for name, kind in KINDS.items() if name in fields}
