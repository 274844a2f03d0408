"""What a caller can catch: every error and warning that jaxshap raises is one of these types.

Each is also the built-in error that one would expect (ValueError, TypeError, ImportError, …), so
plain habits work. Decide by the type and its fields; messages are for people.
"""

from typing import Any

import numpy as np
from jaxtyping import Float


class JaxshapError(Exception):
    """The common base of the errors below, for `except jaxshap.errors.JaxshapError`.

    Example:
        >>> import jaxshap
        >>> issubclass(jaxshap.BudgetError, jaxshap.errors.JaxshapError)
        True
    """


class InputError(JaxshapError, ValueError):
    """An argument, its shape or a combination cannot be used; the message names the remedy.

    Example:
        >>> import jaxshap
        >>> try:
        ...     jaxshap.table([1.0, 2.0, 3.0])
        ... except jaxshap.InputError as error:
        ...     print(error)
        a table of worths has 2**n rows with n ≥ 1, not 3.
    """


class InputTypeError(InputError, TypeError):
    """An argument is not of the kind that is needed: a model in place of a game, text in place of
    numbers.

    Example:
        >>> import jaxshap
        >>> issubclass(jaxshap.errors.InputTypeError, TypeError)
        True
    """


class BudgetError(InputError):
    """The budget is too small for the estimator; `needed` is the least that would do, where known.

    Args:
        message: what is wrong and what to do.
        needed: the least budget that would do, or None.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0, 8.0])
        >>> try:
        ...     jaxshap.estimate(0, game, jaxshap.Permutation(), budget=4)
        ... except jaxshap.BudgetError as error:
        ...     print(error.needed)
        6
    """

    def __init__(self, message: str, needed: int | None = None):
        super().__init__(message)
        self.needed = needed

    def __reduce__(self):
        return type(self), (str(self), self.needed)


class SelectionError(InputError, IndexError, KeyError):
    """There is no such row, feature, output or set of players to pick.

    Example:
        >>> import jaxshap
        >>> explanation = jaxshap.explain(lambda x: x.sum(1), [[1.0, 2.0]], [[0.0, 0.0]])
        >>> try:
        ...     explanation[:, "x7"]
        ... except jaxshap.errors.SelectionError as error:
        ...     print(error)
        there is no feature 'x7': there are ['x0', 'x1'].
    """

    __str__ = Exception.__str__  # that of KeyError would quote the message


class CheckpointError(InputError):
    """A checkpoint file is damaged, in use, or of another run.

    Example:
        >>> import jaxshap
        >>> issubclass(jaxshap.errors.CheckpointError, ValueError)
        True
    """


class ModelOutputError(JaxshapError, ValueError, TypeError):
    """The model returned what cannot be shared out: a wrong shape, whole numbers, NaN or infinity.

    Example:
        >>> import jaxshap
        >>> try:
        ...     jaxshap.explain(lambda rows: rows.sum(), [[1.0, 2.0]], [[0.0, 0.0]])
        ... except jaxshap.ModelOutputError as error:
        ...     print(str(error)[:40])
        the model returned shape () for 2 rows:
    """


class UnsupportedModelError(JaxshapError, TypeError, ValueError):
    """A model, or an option of a model, that jaxshap does not read or cannot explain.

    Example:
        >>> import jaxshap
        >>> issubclass(jaxshap.UnsupportedModelError, TypeError)
        True
    """


class MissingExtraError(JaxshapError, ImportError):
    """An optional package is needed; the message names the extra that installs it.

    Example:
        >>> import jaxshap
        >>> issubclass(jaxshap.MissingExtraError, ImportError)
        True
    """


class EvaluationError(JaxshapError, RuntimeError):
    """The model failed part of the way; `worths` and `explanation` hold what came before.

    Args:
        message: what happened.
        worths: those of the first coalitions, in the order of the plan.

    Example:
        >>> import jaxshap, numpy as np
        >>> def worths(coalitions):
        ...     assert not (coalitions == [True, False]).all(1).any(), "no such row"
        ...     return coalitions.sum(1, dtype=float)
        >>> game = jaxshap.make_game(jaxshap.host(worths), 2)
        >>> try:
        ...     jaxshap.evaluate(game, np.array([[False, True], [True, False]]), batch_size=1)
        ... except jaxshap.EvaluationError as failed:
        ...     failed.worths.tolist()
        [1.0]
    """

    def __init__(self, message: str, worths: Float[np.ndarray, "done *out"]):
        super().__init__(message)
        self.worths = worths
        self.explanation: Any = None

    def __reduce__(self):
        return type(self), (str(self), self.worths), {"explanation": self.explanation}


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during evaluation. Nothing is lost: `worths` holds those of the first coalitions, in
    order.

    From `explain`, `explanation` is what they amount to, or None where they are too few.

    Args:
        worths: those of the first coalitions, in the order of the plan.
        planned: how many coalitions were to be evaluated.

    Example:
        >>> import jaxshap, numpy as np
        >>> try:
        ...     raise jaxshap.Interrupted(np.array([1.0, 2.0]), planned=8)  # as on Ctrl-C
        ... except jaxshap.Interrupted as stopped:
        ...     print(stopped.worths, stopped.explanation)
        [1. 2.] None
    """

    def __init__(self, worths: Float[np.ndarray, "done *out"], planned: int):
        super().__init__(
            f"interrupted after {len(worths)} of {planned} coalitions; their worths are in "
            "`.worths`."
        )
        self.worths = worths
        self.planned = planned
        self.explanation: Any = None

    def __reduce__(self):
        return type(self), (self.worths, self.planned), {"explanation": self.explanation}


class ToleranceWarning(UserWarning):
    """`tol=` was not met within the budget; the explanation is what the budget bought.

    Example:
        >>> import jaxshap
        >>> issubclass(jaxshap.ToleranceWarning, UserWarning)
        True
    """


class TimeWarning(UserWarning):
    """`seconds=` were too few even for the smallest round, whose explanation is returned, or were
    exceeded by far, as where programs had to be compiled; or a `tol=` is expected to take minutes.

    Example:
        >>> import jaxshap
        >>> issubclass(jaxshap.TimeWarning, UserWarning)
        True
    """


class HostFallbackWarning(UserWarning):
    """A model made of JAX operations cannot be traced and runs on the host, batch by batch.

    Example:
        >>> import jaxshap
        >>> issubclass(jaxshap.errors.HostFallbackWarning, UserWarning)
        True
    """


class ClosureWarning(UserWarning):
    """A model closes over large arrays, which JAX then copies into every program.

    Example:
        >>> import jaxshap
        >>> issubclass(jaxshap.errors.ClosureWarning, UserWarning)
        True
    """


class PrecisionWarning(UserWarning):
    """Columns whose numbers differ by less than float32, in which JAX has them, can hold.

    Example:
        >>> import jaxshap
        >>> issubclass(jaxshap.errors.PrecisionWarning, UserWarning)
        True
    """


class LayoutWarning(UserWarning):
    """Inputs of two axes that may be an image in stripes or a series with channels in front.

    Example:
        >>> import jaxshap
        >>> issubclass(jaxshap.errors.LayoutWarning, UserWarning)
        True
    """
