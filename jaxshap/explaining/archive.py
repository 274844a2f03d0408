"""Explanations in .npz files, without pickle."""

import dataclasses
import os
from typing import Any

import numpy as np

from jaxshap.errors import InputError
from jaxshap.explaining.archive_members import DATA, SEARCHED, order_of, read_members
from jaxshap.games import read_path
from jaxshap.interactions import Interactions, Search

OPTIONAL = {
    "output_names",
    "shared_draws",
    "absent",
    "num_model_rows",
    "kind",
    "source",
    "features_are_columns",
    "exact",
    "degrees",
    "row_outputs",
    "words",
    "owner",
    "interactions",
    "interactions_error",
}
OF_SETS = {"interactions_error", SEARCHED}
KINDS = {
    "num_evaluations": int,
    "num_model_rows": int,
    "value_function": str,
    "estimator": str,
    "absent": str,
    "kind": str,
    "shared_draws": bool,
    "exact": bool,
    "features_are_columns": bool,
}


def save(self: Any, path: str | os.PathLike) -> None:
    """Write everything but the model to an .npz file, without pickle; `jaxshap.load` reads it.

    Args:
        path: the file to write.

    Example:
        >>> import jaxshap, tempfile
        >>> X, background = [[1.0, 2.0]], [[0.0, 0.0]]
        >>> explanation = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, background)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     explanation.save(f"{folder}/explanation.npz")
        ...     jaxshap.load(f"{folder}/explanation.npz").values.tolist()
        [[2.0, 2.0]]
    """
    path = read_path(path, "path")
    names = [field.name for field in dataclasses.fields(self) if field.name != "source"]
    fields: dict[str, Any] = {name: getattr(self, name) for name in names}
    if isinstance(self.data, dict):
        fields |= {f"{DATA}{name}": array for name, array in fields.pop("data").items()}
    pairs = [(name, word) for name, words in self.words.items() for word in words]
    fields["words"] = np.array(pairs, str) if pairs else None
    if self.interactions is not None:
        sets = self.interactions
        fields |= {"interactions": sets.values, "interactions_error": sets.std_error}
        fields |= {SEARCHED: sets.searched}
    arrays = {name: _storable(field) for name, field in fields.items() if field is not None}
    with open(path, "wb") as file:
        np.savez_compressed(file, **arrays)  # pyright: ignore[reportArgumentType]


def read_fields(path: str | os.PathLike, names: set[str]) -> dict[str, Any]:
    """The fields of the Explanation that `save` wrote."""
    path = read_path(path, "path")
    fields: dict[str, Any] = read_members(path, names | OF_SETS, names - OPTIONAL)
    tried = fields.pop(SEARCHED, None)
    if "interactions" in fields:
        values, error = fields["interactions"], fields.pop("interactions_error")
        number = fields["values"].shape[1]
        order = order_of(number, len(values))
        fields["interactions"] = Interactions(
            values,
            error,
            fields["base_values"],
            "SII",
            number,
            order,
            None if tried is None else Search(*tried.tolist()),
        )
    several = {name: fields.pop(name) for name in list(fields) if name.startswith(DATA)}
    if several:
        fields["data"] = {name.removeprefix(DATA): array for name, array in several.items()}
    for name in ("feature_names", "output_names"):
        fields[name] = tuple(map(str, fields[name])) if name in fields else None
    words: dict[str, tuple[str, ...]] = {}
    for name, word in fields.pop("words", ()):
        words[str(name)] = (*words.get(str(name), ()), str(word))
    fields["words"] = words
    if "exact" not in fields:  # zeros do not say so, but these two estimators do
        fields["exact"] = str(fields["estimator"]) in ("Exact()", "trees")
    if np.ndim(fields.get("degrees", np.inf)) == 0:
        fields["degrees"] = float(fields.get("degrees", np.inf))
    return fields | {name: kind(fields[name]) for name, kind in KINDS.items() if name in fields}


def _storable(field: Any) -> np.ndarray:
    """Half precision that numpy has no name for becomes float32."""
    array = np.asarray(field)
    if array.dtype.kind == "O":
        raise InputError(f"an explanation with {field!r} cannot be saved: it holds objects.")
    return array.astype(np.float32) if array.dtype.kind == "V" else array
