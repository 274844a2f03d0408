"""Explanation: the result a person looks at."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from jaxshap.engine import default_budget, evaluate
from jaxshap.errors import InputError, MissingExtraError
from jaxshap.estimators import Estimate
from jaxshap.explaining import display
from jaxshap.explaining.source import Source
from jaxshap.trust import (
    Diagnosis,
    Stability,
    diluted,
    measure_additivity,
    off_manifold_share,
    sample_pairs,
    stability,
)

LEAST_REFERENCES = 20  # to say what the data look like
Index = int | str | slice | list | np.ndarray


class Summary(NamedTuple):
    """Means over rows and their standard errors, (features, *outputs), with groups of rows in front
    where asked for.

    Example:
        >>> import jaxshap
        >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0]])
        >>> found = explained.summary()
        >>> found.feature_names, found.values.tolist(), found.std_error.round(3).tolist()
        (('x0', 'x1'), [4.0, 3.0], [2.0, 1.0])
    """

    values: Float[np.ndarray, "..."]
    std_error: Float[np.ndarray, "..."]
    groups: np.ndarray | None
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What each player contributed to each prediction: base_values + values.sum(1) is the model's
    output.

    Arrays are numpy. Where rows share their draws (`shared_draws`), their errors are correlated:
    the standard error of a mean over rows then does not fall with the number of rows. `data` is the
    table, or the array that was explained, or several of them by name.

    Example:
        >>> import jaxshap
        >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0]])
        >>> explained.values.tolist(), explained[1, "x0"].values.tolist()
        ([[2.0, 2.0], [6.0, 4.0]], [[6.0]])
        >>> print(explained[0])
        Explanation of 1 row × 2 features: marginal Shapley values by Exact() (exact), 4 evaluations
        feature  value ± error
        x0               2 ± 0
        x1               2 ± 0
    """

    values: Float[np.ndarray, "rows features *outputs"]
    std_error: Float[np.ndarray, "rows features *outputs"]
    base_values: Float[np.ndarray, "rows *outputs"]
    data: Float[np.ndarray, "rows ..."] | dict[str, np.ndarray]
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None
    num_evaluations: int
    value_function: str
    estimator: str
    shared_draws: bool = True
    source: Source | None = None

    def __getitem__(self, index: Index | tuple[Index, ...]) -> "Explanation":
        """By row, feature and output: `ex[3]`, `ex[:, "age"]`, `ex[:10, ["age", "sex"], "yes"]`.

        Rows and features keep their axes, so the result is an Explanation like any other; a single
        output loses its.
        """
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) > min(self.values.ndim, 3):
            raise IndexError(
                f"{len(indices)} indices for values of shape {self.values.shape}: (rows, features, *outputs)."
            )
        row, feature, output = (*indices, slice(None), slice(None))[:3]
        rows = _positions(row, None, len(self.values), "row")
        features = _positions(feature, self.feature_names, len(self.feature_names), "feature")
        parts: dict[str, Any] = {
            name: getattr(self, name)[rows] for name in ("values", "std_error", "base_values")
        }
        parts |= {name: parts[name][:, features] for name in ("values", "std_error")}
        if isinstance(self.data, dict):
            parts["data"] = {name: array[rows] for name, array in self.data.items()}
        else:
            parts["data"] = (
                self.data[rows][:, features]
                if self.data_of_features is not None
                else self.data[rows]
            )
        output_names, picked = self.output_names, None
        if self.values.ndim > 2:
            outputs = _positions(output, output_names, self.values.shape[2], "output")
            single = isinstance(output, int | str | np.integer)
            picked = outputs[0] if single else outputs
            parts |= {
                name: parts[name][..., outputs] for name in ("values", "std_error", "base_values")
            }
            if single:
                parts |= {
                    name: parts[name][..., 0] for name in ("values", "std_error", "base_values")
                }
            output_names = (
                None if single or output_names is None else tuple(output_names[i] for i in outputs)
            )
        names = tuple(self.feature_names[i] for i in features)
        if self.source is not None:
            whole = features == list(range(len(self.feature_names)))
            parts["source"] = self.source.pick(rows, picked) if whole else None
        return dataclasses.replace(self, feature_names=names, output_names=output_names, **parts)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def data_of_features(self) -> Float[np.ndarray, "rows features"] | None:
        """The table of what each feature was, where features are its columns.

        Example:
            >>> import jaxshap
            >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 2.0]], [[0.0, 0.0]])
            >>> explained.data_of_features.tolist()
            [[1.0, 2.0]]
        """
        if isinstance(self.data, dict) or self.data.shape != self.values.shape[:2]:
            return None
        return self.data

    def summary(
        self, by: Sequence | np.ndarray | None = None, *, absolute: bool = True
    ) -> "Summary":
        """The mean over rows of |values|, or of values, for each feature and output; within each
        group that `by` names.

        Standard errors say how far off the mean over all rows like these may be: by the rows that
        happened to be there, and by the errors of their values, in full where rows share their
        draws. A mean of |values| is too large by what the errors add to it: mind it where they are
        not small.

        Example:
            >>> import jaxshap
            >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0]])
            >>> found = explained.summary(by=["child", "adult"])
            >>> found.groups.tolist(), found.values.tolist()
            (['adult', 'child'], [[6.0, 4.0], [2.0, 2.0]])
        """
        labels = np.zeros(len(self), int) if by is None else np.asarray(by)
        if labels.shape != (len(self),):
            raise InputError(
                f"by= has shape {labels.shape} for {len(self)} rows: pass one label a row."
            )
        names = np.unique(labels)
        parts = [self._mean_over(labels == name, absolute) for name in names]
        means, errors = (np.stack(part) for part in zip(*parts, strict=True))
        if by is None:
            return Summary(means[0], errors[0], None, self.feature_names, self.output_names)
        return Summary(means, errors, names, self.feature_names, self.output_names)

    def _mean_over(
        self, rows: Bool[np.ndarray, "rows"], absolute: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        values = np.abs(self.values[rows]) if absolute else self.values[rows]
        count = len(values)
        between = (
            values.std(0, ddof=1) / np.sqrt(count)
            if count > 1
            else np.full(values.shape[1:], np.nan)
        )
        shared = (
            self.std_error[rows].mean(0) if self.shared_draws else 0
        )  # separate errors spread the rows already
        return values.mean(0), np.hypot(between, shared)

    def stability(self, *, top: int = 3, level: float = 0.95) -> Stability:
        """Whether the `top` largest |values| of each row are certain, and how far ranks and signs
        would repeat.

        Example:
            >>> import jaxshap
            >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 1.0]], [[0.0, 0.0]])
            >>> found = explained.stability(top=1)
            >>> found.certain.tolist(), found.order.tolist()
            ([True], [1.0])
        """
        return stability(self.values, self.std_error, top=top, level=level)

    def diagnose(
        self,
        *,
        budget: int | None = None,
        key: int = 0,
        top: int = 3,
        level: float = 0.95,
        progress: bool | None = None,
    ) -> Diagnosis:
        """What the values leave out and how far to believe them: additive, pairwise or beyond, and
        more.

        It evaluates `budget` other coalitions for all rows of the explanation that this was picked
        from (by default as many as `explain` does), so that the values are judged by worths they
        have not seen. See `Diagnosis`.

        Example:
            >>> import jaxshap
            >>> explained = jaxshap.explain(lambda x: x[:, 0] * x[:, 1] + x[:, 2], [[2.0, 3.0, 1.0]], [[0.0, 0.0, 0.0]])
            >>> explained.diagnose(budget=100).additivity.verdict
            'pairwise'
        """
        if self.source is None:
            raise InputError(
                "diagnose needs the model, and this explanation was loaded, or features were picked from it, or its "
                "values have no game (path-dependent trees): diagnose the result of explain(model, X, background)."
            )
        game, picked = self.source.game(), self.source.picked
        number = game.num_players
        budget = default_budget(number) if budget is None else budget
        sample = sample_pairs(
            jax.random.fold_in(jax.random.key(key), 1), number, budget
        )  # not the draws of explain
        worths = np.asarray(evaluate(game, sample.coalitions, progress=progress))
        found = Estimate(*(jnp.moveaxis(part, 1, 0) for part in (self.values, self.std_error)))
        additivity = measure_additivity(
            sample, picked(worths), picked(np.asarray(game.empty)[None])[0], found
        )
        outside = spread = None
        if (
            background := self.source.background
        ) is not None and self.source.num_references >= LEAST_REFERENCES:
            groups = self.source.groups
            if not any(np.isnan(part).any() for part in jax.tree.leaves((self.data, background))):
                outside = off_manifold_share(self.data, background, groups=groups, key=key)
            spread = diluted(self.values, background, self.feature_names) if groups is None else []
        ranking = self.stability(top=min(top, number - 1), level=level)
        return Diagnosis(additivity, ranking, outside, spread, self.feature_names, len(worths))

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"source": None}  # a model may not be picklable, and need not be

    def __repr__(self) -> str:
        return display.as_text(self)

    def _repr_html_(self) -> str:
        return display.as_html(self)

    def to_shap(self):
        """A `shap.Explanation`, which all of shap's plots draw.

        Example:
            >>> import jaxshap
            >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 2.0]], [[0.0, 0.0]])
            >>> explained.to_shap().values.tolist()
            [[2.0, 2.0]]
        """
        try:
            import shap
        except ImportError as error:
            raise MissingExtraError('to_shap needs shap: pip install "jaxshap[plots]".') from error
        data = self.data_of_features
        return shap.Explanation(
            values=self.values,
            base_values=self.base_values,
            data=data,
            feature_names=list(self.feature_names),
            output_names=None if self.output_names is None else list(self.output_names),
            error_std=self.std_error,
        )

    def to_frame(self):
        """A pandas DataFrame with one line for each row, feature and output.

        Example:
            >>> import jaxshap
            >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 2.0]], [[0.0, 0.0]])
            >>> explained.to_frame()
               row feature  value  std_error
            0    0      x0    2.0        0.0
            1    0      x1    2.0        0.0
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError(
                'to_frame needs pandas: pip install "jaxshap[examples]".'
            ) from error
        rows, features, *outputs = (part.ravel() for part in np.indices(self.values.shape))
        columns: dict[str, Any] = {"row": rows, "feature": np.asarray(self.feature_names)[features]}
        for axis, output in enumerate(outputs):
            name = "output" if len(outputs) == 1 else f"output {axis}"
            columns[name] = (
                output if self.output_names is None else np.asarray(self.output_names)[output]
            )
        return pd.DataFrame(
            columns | {"value": self.values.ravel(), "std_error": self.std_error.ravel()}
        )

    def save(self, path) -> None:
        """Write everything to an .npz file, without pickle; `jaxshap.load` reads it back.

        Example:
            >>> import jaxshap, tempfile
            >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 2.0]], [[0.0, 0.0]])
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     explained.save(f"{folder}/explained.npz")
            ...     jaxshap.load(f"{folder}/explained.npz").values.tolist()
            [[2.0, 2.0]]
        """
        fields = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name != "source"
        }
        if isinstance(self.data, dict):
            fields |= {f"data {name}": array for name, array in fields.pop("data").items()}
        arrays: dict[str, Any] = {
            name: np.asarray(part) for name, part in fields.items() if part is not None
        }
        with open(path, "wb") as file:
            np.savez_compressed(file, **arrays)


def load(path) -> Explanation:
    """The Explanation that `Explanation.save` wrote.

    Example:
        >>> import jaxshap, tempfile
        >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], [[1.0, 2.0]], [[0.0, 0.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     explained.save(f"{folder}/explained.npz")
        ...     jaxshap.load(f"{folder}/explained.npz").feature_names
        ('x0', 'x1')
    """
    with np.load(path, allow_pickle=False) as archive:
        parts: dict[str, Any] = {name: archive[name] for name in archive.files}
    several = {name: parts.pop(name) for name in list(parts) if name.startswith("data ")}
    if several:
        parts["data"] = {name.removeprefix("data "): array for name, array in several.items()}
    names = {field.name for field in dataclasses.fields(Explanation)}
    if missing := names - {"output_names", "shared_draws", "source"} - parts.keys():
        raise InputError(f"{path} is not a saved Explanation: it lacks {sorted(missing)}.")
    for name in ("feature_names", "output_names"):
        parts[name] = tuple(map(str, parts[name])) if name in parts else None
    parts["shared_draws"] = parts.get("shared_draws", True)
    for name, kind in (
        ("num_evaluations", int),
        ("value_function", str),
        ("estimator", str),
        ("shared_draws", bool),
    ):
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
            raise KeyError(
                f"there is no {what} {entry!r}"
                + ("." if names is None else f": there are {list(names)}.")
            )
        if not isinstance(entry, str) and not -length <= entry < length:
            raise IndexError(f"{what} {entry} is out of range: there are {length}.")
    return [
        names.index(entry) if isinstance(entry, str) and names else int(entry) % length
        for entry in many
    ]
