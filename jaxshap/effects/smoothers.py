"""A smooth function of one variable through noisy points."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.errors import InputError
from jaxshap.games import as_numbers, read_number

MIN_DISTINCT = 10  # values of x, below which their means are joined: a fold leaves out a fifth
NUM_FOLDS = 5
PENALTIES = 10.0 ** np.arange(-9, 3)  # from a curve through all points to a straight line


@dataclasses.dataclass(frozen=True, eq=False)
class _Curve:
    """A function between the smallest and the largest value, and a straight line beyond."""

    function: Any  # of values from 0 to 1
    low: float
    width: float
    slopes: tuple[float, float]  # at both ends
    penalty: float | None  # that a spline has

    def __call__(self, values: Any) -> Float[np.ndarray, "*points"]:
        place = (np.asarray(values, np.float64) - self.low) / self.width
        inside = np.clip(place, 0, 1)
        beyond = np.where(place < 0, self.slopes[0], self.slopes[1]) * (place - inside)
        return np.asarray(self.function(inside) + beyond)


def smoothing_spline(x: Any, y: Any, penalty: float | Any = None) -> Any:
    """The natural cubic spline that balances closeness to the points against its curvature.

    The penalty on curvature is chosen by cross-validation, unless it is given. Of fewer than ten
    distinct values of x, such as those of a flag, the means of y are joined instead.
    Beyond the points the function goes on as a straight line.

    Args:
        x: the values of the variable, (points,).
        y: the target at each.
        penalty: how much the integral of the squared second derivative counts, for x from 0 to 1;
            by default the best of powers of ten in five folds.

    Returns:
        A function of values, of any shape.

    Raises:
        InputError: the shapes differ, or numbers are missing.

    Example:
        >>> import jaxshap, numpy as np
        >>> x = np.linspace(0, 6, 100)
        >>> curve = jaxshap.effects.smoothing_spline(x, np.sin(x))
        >>> bool(abs(curve(1.0) - np.sin(1.0)) < 1e-3)
        True
    """
    places, target = (np.asarray(as_numbers(part, "x and y"), np.float64) for part in (x, y))
    if places.ndim != 1 or places.shape != target.shape or not places.size:
        raise InputError(
            f"x has shape {places.shape} and y {target.shape}: pass as many numbers of both."
        )
    if not (np.isfinite(places).all() and np.isfinite(target).all()):
        raise InputError("x or y is NaN or infinite somewhere: omit those points.")
    if penalty is not None:
        penalty = read_number(penalty, "penalty", least=0)
    distinct, which, counts = np.unique(places, return_inverse=True, return_counts=True)
    means = np.bincount(which.ravel(), target) / counts
    low, width = float(distinct[0]), float(distinct[-1] - distinct[0]) or 1.0
    steps = (distinct - low) / width
    if len(distinct) < MIN_DISTINCT:
        return _Curve(lambda place: np.interp(place, steps, means), low, width, (0.0, 0.0), None)
    centre, unit = means.mean(), float(np.ptp(means)) or 1.0
    points = steps, (means - centre) / unit, counts.astype(np.float64)
    penalty = _best_penalty(*points) if penalty is None else penalty
    spline = _spline(*points, penalty)
    first, last = spline.derivative()(np.array([0.0, 1.0])) * unit
    slopes = float(first), float(last)
    return _Curve(lambda place: centre + unit * spline(place), low, width, slopes, penalty)


def _best_penalty(
    steps: Float[np.ndarray, "points"],
    means: Float[np.ndarray, "points"],
    counts: Float[np.ndarray, "points"],
) -> float:
    """The penalty whose splines without every fifth point miss these points least."""
    fold = np.arange(len(steps)) % NUM_FOLDS
    losses = np.zeros(len(PENALTIES))
    for number, penalty in enumerate(PENALTIES):
        for left_out in range(NUM_FOLDS):
            kept = fold != left_out
            spline = _spline(steps[kept], means[kept], counts[kept], penalty)
            losses[number] += counts[~kept] @ (spline(steps[~kept]) - means[~kept]) ** 2
    return float(PENALTIES[losses.argmin()])


def _spline(steps, means, counts, penalty: float) -> Any:
    from scipy.interpolate import make_smoothing_spline  # slow to import, so only where needed

    return make_smoothing_spline(steps, means, counts, penalty)
