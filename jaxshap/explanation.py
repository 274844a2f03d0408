"""Explanation: the result a person looks at."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap import display

Index = int | str | slice | list | np.ndarray


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What each player contributed to each prediction: base_values + values.sum(1) is the model's output.

    Arrays are numpy. Rows were explained with the same coalitions, so their errors are correlated: the standard
    error of a mean over rows does not fall with the number of rows.
    """

    values: Float[np.ndarray, "rows features *outputs"]
    std_error: Float[np.ndarray, "rows features *outputs"]
    base_values: Float[np.ndarray, "rows *outputs"]
    data: Float[np.ndarray, "rows columns"]
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None
    num_evaluations: int
    value_function: str
    estimator: str

    def __getitem__(self, index: Index | tuple[Index, ...]) -> "Explanation":
        """By row, feature and output: `ex[3]`, `ex[:, "age"]`, `ex[:10, ["age", "sex"], "yes"]`.

        Rows and features keep their axes, so the result is an Explanation like any other; a single output loses its.
        """
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) > min(self.values.ndim, 3):
            raise IndexError(
                f"{len(indices)} indices for values of shape {self.values.shape}: (rows, features, *outputs)."
            )
        row, feature, output = (*indices, slice(None), slice(None))[:3]
        rows = _positions(row, None, len(self.values), "row")
        features = _positions(feature, self.feature_names, len(self.feature_names), "feature")
        parts = {name: getattr(self, name)[rows] for name in ("values", "std_error", "base_values", "data")}
        parts |= {name: parts[name][:, features] for name in ("values", "std_error")}
        if self.data.shape[1] == len(self.feature_names):
            parts["data"] = parts["data"][:, features]
        output_names = self.output_names
        if self.values.ndim > 2:
            outputs = _positions(output, output_names, self.values.shape[2], "output")
            single = isinstance(output, int | str | np.integer)
            parts |= {name: parts[name][..., outputs] for name in ("values", "std_error", "base_values")}
            if single:
                parts |= {name: parts[name][..., 0] for name in ("values", "std_error", "base_values")}
            output_names = None if single or output_names is None else tuple(output_names[i] for i in outputs)
        names = tuple(self.feature_names[i] for i in features)
        return dataclasses.replace(self, feature_names=names, output_names=output_names, **parts)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return display.as_text(self)

    def _repr_html_(self) -> str:
        return display.as_html(self)

    def to_shap(self):
        """A `shap.Explanation`, which all of shap's plots draw."""
        try:
            import shap
        except ImportError as error:
            raise ImportError('to_shap needs shap: pip install "jaxshap[plots]".') from error
        data = self.data if self.data.shape[1] == len(self.feature_names) else None
        return shap.Explanation(
            values=self.values, base_values=self.base_values, data=data, feature_names=list(self.feature_names),
            output_names=None if self.output_names is None else list(self.output_names), error_std=self.std_error,
        )  # fmt: skip

    def to_frame(self):
        """A pandas DataFrame with one line for each row, feature and output."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas.") from error
        rows, features, *outputs = (part.ravel() for part in np.indices(self.values.shape))
        columns: dict[str, Any] = {"row": rows, "feature": np.asarray(self.feature_names)[features]}
        for axis, output in enumerate(outputs):
            name = "output" if len(outputs) == 1 else f"output {axis}"
            columns[name] = output if self.output_names is None else np.asarray(self.output_names)[output]
        return pd.DataFrame(columns | {"value": self.values.ravel(), "std_error": self.std_error.ravel()})

    def save(self, path) -> None:
        """Write everything to an .npz file, without pickle; `jaxshap.load` reads it back."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        arrays: dict[str, Any] = {name: np.asarray(part) for name, part in fields.items() if part is not None}
        with open(path, "wb") as file:
            np.savez_compressed(file, **arrays)


def load(path) -> Explanation:
    """The Explanation that `Explanation.save` wrote."""
    with np.load(path, allow_pickle=False) as archive:
        parts: dict[str, Any] = {name: archive[name] for name in archive.files}
    names = {field.name for field in dataclasses.fields(Explanation)}
    if missing := names - {"output_names"} - parts.keys():
        raise ValueError(f"{path} is not a saved Explanation: it lacks {sorted(missing)}.")
    for name in ("feature_names", "output_names"):
        parts[name] = tuple(map(str, parts[name])) if name in parts else None
    for name, kind in (("num_evaluations", int), ("value_function", str), ("estimator", str)):
        parts[name] = kind(parts[name])
    return Explanation(**parts)


def _positions(index: Index, names: tuple[str, ...] | None, length: int, what: str) -> list[int]:
    """Positions along an axis, by name, number, slice, list or mask."""
    if isinstance(index, slice):
        return list(range(length))[index]
    if not isinstance(index, str) and np.asarray(index).dtype == bool:
        index = np.asarray(index)
        if index.shape != (length,):
            raise IndexError(f"a mask of {what}s has shape {index.shape}: it must be ({length},).")
        return np.flatnonzero(index).tolist()
    many = [index] if isinstance(index, int | str | np.integer) else list(index)
    for entry in many:
        if isinstance(entry, str) and (names is None or entry not in names):
            raise KeyError(f"there is no {what} {entry!r}" + ("." if names is None else f": there are {list(names)}."))
        if not isinstance(entry, str) and not -length <= entry < length:
            raise IndexError(f"{what} {entry} is out of range: there are {length}.")
    return [names.index(entry) if isinstance(entry, str) and names else int(entry) % length for entry in many]
