"""Additive models by backfitting: a model whose effects and decomposition are known by design."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.effects.smoothers import smoothing_spline
from jaxshap.errors import InputError
from jaxshap.games import as_numbers, check_function, read_number, read_whole
from jaxshap.inputs import read_inputs, read_table

ADAPTIVE_ROUNDS = 3  # in which penalties are chosen; then they stay, so that rounds converge
Smoother = Callable[[Any, Any], Callable[[Any], Any]]  # (x, y) to a function of x


@dataclasses.dataclass(frozen=True, eq=False)
class AdditiveModel:
    """y ≈ intercept + Σ_j f_j(x_j), as `additive_model` fits it; `explain` takes it as it is.

    Every component has mean 0 over the rows it was fitted to. With these as background the
    components are its functional decomposition and its Shapley values: a check of every view.

    Attributes:
        intercept: the mean of the target.
        components: one function per feature, from values (rows,) to (rows,).
        feature_names: the names of the features.
        columns: the names of the columns of the table, or None where it had none.
        rounds: how many rounds of backfitting there were.
        change: how far a component still moved in the last round, at most, in standard deviations
            of the target.
        converged: whether that is within the tolerance.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> model = jaxshap.effects.additive_model(X, np.sin(X[:, 0]) + X[:, 1])
        >>> model.feature_names, model.converged
        (('x0', 'x1'), True)
        >>> shown = jaxshap.explain(model, X[:3], X)
        >>> bool(np.allclose(shown.values, model.contributions(X[:3]), atol=1e-5))
        True
    """

    intercept: float
    components: tuple[Callable[[Any], Any], ...]
    feature_names: tuple[str, ...]
    columns: tuple[str, ...] | None
    rounds: int
    change: float
    converged: bool

    def contributions(self, rows: Any) -> Float[np.ndarray, "rows features"]:
        """The value of each component at each row.

        Args:
            rows: a table (rows, features); columns of a DataFrame are matched by name.

        Returns:
            What each feature adds to the prediction.

        Raises:
            InputError: the table has other features.
        """
        named = self.columns is not None and hasattr(rows, "columns")
        table = read_table(rows, "the table", self.columns).array if named else rows
        table = np.asarray(as_numbers(table, "the table"), np.float64)
        if table.ndim != 2 or table.shape[1] != len(self.components):
            raise InputError(
                f"the rows have shape {table.shape}: pass (rows, {len(self.components)})."
            )
        parts = zip(self.components, table.T, strict=True)
        return np.stack([component(column) for component, column in parts], axis=1)

    def predict(self, rows: Any) -> Float[np.ndarray, "rows"]:
        """The sum of the intercept and all components.

        Args:
            rows: a table (rows, features); columns of a DataFrame are matched by name.

        Returns:
            One prediction per row.

        Raises:
            InputError: the table has other features.
        """
        return self.intercept + self.contributions(rows).sum(1)


def additive_model(
    X: Any,
    y: Any,
    *,
    smoother: Smoother | Any = None,
    max_rounds: int | Any = 100,
    tolerance: float | Any = 1e-6,
    feature_names: Sequence[str] | None = None,
) -> AdditiveModel:
    """Fit an additive model by backfitting: each feature in turn is smoothed against what is left.

    It shows what a method makes of a model without interactions, and how much of a target such a
    model explains. Other models are fitted by libraries made for it. Hastie & Tibshirani (1986).

    Args:
        X: the rows, (rows, features).
        y: the target, one number per row.
        smoother: a function of the values of a feature and of a target, both (rows,), that returns
            a function of new values; by default `smoothing_spline`, whose penalties are chosen in
            the first three rounds.
        max_rounds: when to stop at the latest, 100 rounds by default.
        tolerance: rounds end where no component moves by more than this many standard deviations
            of the target, 1e-6 by default.
        feature_names: the names of the features where X has none.

    Returns:
        An `AdditiveModel`, which says whether it converged.

    Raises:
        InputError: the target does not fit the table, a number is missing, or the smoother returns
            another shape.

    Example:
        >>> import jaxshap, numpy as np
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> line = lambda x, y: np.poly1d(np.polyfit(x, y, 1))
        >>> model = jaxshap.effects.additive_model(X, 3 * X[:, 0] - X[:, 1], smoother=line)
        >>> (model.predict([[1.0, 1.0]]) - model.predict([[0.0, 0.0]])).round(3).tolist()
        [2.0]
    """
    if smoother is not None:
        check_function(
            smoother, "smoother", "one of values and a target, as smoothing_spline is", 2
        )
    max_rounds = read_whole(max_rounds, "max_rounds")
    tolerance = read_number(tolerance, "tolerance", least=0)
    inputs = read_inputs(X, X, None, feature_names)
    rows = np.asarray(inputs.rows, np.float64)
    target = np.asarray(as_numbers(y, "y"), np.float64)
    if target.shape != (len(rows),):
        raise InputError(f"y has shape {target.shape} for {len(rows)} rows: pass one per row.")
    if not (np.isfinite(rows).all() and np.isfinite(target).all()):
        raise InputError("X or y is NaN or infinite somewhere: omit those rows.")
    intercept, unit = float(target.mean()), float(target.std()) or 1.0
    rest = target - intercept
    values, components = np.zeros_like(rows), [_Centred(np.zeros_like, 0.0)] * rows.shape[1]
    rounds, change = 0, np.inf
    while rounds < max_rounds and change > tolerance:
        before = values.copy()
        for column, name in enumerate(inputs.names):
            left = rest - values.sum(1) + values[:, column]
            chosen = smoother or _own_spline(components[column], rounds)
            components[column] = _smoothed(chosen, rows[:, column], left, name)
            values[:, column] = components[column](rows[:, column])
        rounds, change = rounds + 1, float(np.abs(values - before).max()) / unit
    names = inputs.names, inputs.columns
    return AdditiveModel(intercept, tuple(components), *names, rounds, change, change <= tolerance)


@dataclasses.dataclass(frozen=True)
class _Centred:
    function: Callable[[Any], Any]
    mean: float

    def __call__(self, values: Any) -> Float[np.ndarray, "rows"]:
        return np.asarray(self.function(np.asarray(values, np.float64)), np.float64) - self.mean


def _own_spline(component: _Centred, rounds: int) -> Smoother:
    """A spline with a penalty of its own choice at first, and then with that of the last round."""
    kept = getattr(component.function, "penalty", None) if rounds >= ADAPTIVE_ROUNDS else None
    return functools.partial(smoothing_spline, penalty=kept)


def _smoothed(
    smoother: Smoother,
    values: Float[np.ndarray, "rows"],
    left: Float[np.ndarray, "rows"],
    name: str,
) -> _Centred:
    """A function of the values that follows what is left, less its mean."""
    function = smoother(values, left)
    check_function(function, "what smoother returned", "a function of new values")
    smooth = np.asarray(as_numbers(function(values), "what the smooth function returned"))
    if smooth.shape != values.shape or not np.isfinite(smooth).all():
        raise InputError(
            f"the smoother of {name!r} returned shape {smooth.shape} for {values.shape} values, or "
            "NaN: return a function from values to as many finite numbers."
        )
    return _Centred(function, float(smooth.mean()))
