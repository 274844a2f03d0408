"""Rewards about one class of each row: its probability, its log-odds, its rank."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Integer

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import as_array, is_real, read_flag


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ClassReward:
    """A reward about one class of each row, for `reward` and for `explain(reward=…)`.

    Made by `class_probability`, `log_odds`, `agreement` and `class_rank`; a pytree.

    Attributes:
        classes: the class of every row, or one for all; None for the class that the model puts
            each row in.
        logits: whether the model returns logits rather than probabilities.

    Example:
        >>> import jaxshap
        >>> by_class = jaxshap.rewards.class_probability(1)
        >>> isinstance(by_class, jaxshap.rewards.ClassReward), by_class.classes, by_class.name
        (True, 1, 'class probability')
    """

    classes: Any
    logits: bool = dataclasses.field(default=False, metadata={"static": True})
    name = "class"

    def for_rows(self, full: Float[Array, "..."]) -> "ClassReward":
        """This reward with a class for every row.

        Args:
            full: the outputs v(N) of the model, of shape (rows, classes).

        Returns:
            A reward whose `classes` has one number per row.
        """
        if full.ndim != 2 or full.shape[1] < 2:
            raise InputError(
                "this reward is about classes: the model's outputs must be (rows, classes), "
                f"not {full.shape}."
            )
        classes = full.argmax(1) if self.classes is None else read_labels(self.classes, "classes")
        if classes.shape not in ((), (len(full),)):
            raise InputError(
                f"classes have shape {classes.shape} for {len(full)} rows: pass one a row, or one "
                "for all."
            )
        check_classes(classes, full.shape[1], "classes")
        return dataclasses.replace(self, classes=jnp.broadcast_to(classes, len(full)))


def class_probability(classes: Any = None, *, logits: bool = False) -> ClassReward:
    """The probability of a class, for a model of probabilities or of logits.

    Args:
        classes: the number of the class of every row, or one for all; by default the class that
            the model puts each row in.
        logits: whether the model returns logits, of which softmax makes probabilities; by default
            it returns probabilities.

    Returns:
        A `ClassReward`.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([[[0.2, 0.8]], [[0.6, 0.4]], [[0.4, 0.6]], [[0.8, 0.2]]])  # a row
        >>> of_first = jaxshap.rewards.reward(game, jaxshap.rewards.class_probability(0))
        >>> print(np.asarray(jaxshap.shapley_values(of_first))[:, 0].round(3))
        [0.4 0.2]
    """
    return _Probability(classes, read_flag(logits, "logits"))


def log_odds(classes: Any = None, *, logits: bool = False) -> ClassReward:
    """log p/(1 − p) of a class, for a model of probabilities or of logits.

    Args:
        classes: the number of the class of every row, or one for all; by default the class that
            the model puts each row in.
        logits: whether the model returns logits; by default it returns probabilities.

    Returns:
        A `ClassReward`.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([[[0.2, 0.8]], [[0.6, 0.4]], [[0.4, 0.6]], [[0.8, 0.2]]])  # a row
        >>> of_first = jaxshap.rewards.reward(game, jaxshap.rewards.log_odds(0))
        >>> print(np.asarray(jaxshap.shapley_values(of_first))[:, 0].round(2))
        [1.79 0.98]
    """
    return _LogOdds(classes, read_flag(logits, "logits"))


def agreement(classes: Any = None) -> ClassReward:
    """1 where the largest output is that of the class, else 0.

    Args:
        classes: the number of the class of every row, or one for all; by default the class that
            the model puts each row in.

    Returns:
        A `ClassReward`.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([[[0.2, 0.8]], [[0.6, 0.4]], [[0.4, 0.6]], [[0.8, 0.2]]])  # a row
        >>> with_first = jaxshap.rewards.reward(game, jaxshap.rewards.agreement(0))
        >>> jaxshap.shapley_values(with_first)[:, 0].tolist()
        [1.0, 0.0]
    """
    return _Agreement(classes)


def class_rank(classes: Any = None) -> ClassReward:
    """The place of a class among all classes, 1 for the largest output.

    Args:
        classes: the number of the class of every row, or one for all; by default the class that
            the model puts each row in.

    Returns:
        A `ClassReward`.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([[[0.2, 0.8]], [[0.6, 0.4]], [[0.4, 0.6]], [[0.8, 0.2]]])  # a row
        >>> of_first = jaxshap.rewards.reward(game, jaxshap.rewards.class_rank(0))
        >>> jaxshap.shapley_values(of_first)[:, 0].tolist()
        [-1.0, 0.0]
    """
    return _Rank(classes)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Probability(ClassReward):
    name = "class probability"

    def __call__(self, outputs: Float[Array, "rows classes"]) -> Float[Array, "rows"]:
        return at_class(jax.nn.softmax(outputs) if self.logits else outputs, self.classes)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _LogOdds(ClassReward):
    name = "log-odds"

    def __call__(self, outputs: Float[Array, "rows classes"]) -> Float[Array, "rows"]:
        own = at_class(outputs, self.classes)
        if not self.logits:
            return jnp.log(own) - jnp.log1p(-own)
        is_own = jnp.arange(outputs.shape[1]) == self.classes[:, None]
        return own - jax.nn.logsumexp(jnp.where(is_own, -jnp.inf, outputs), axis=1)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Agreement(ClassReward):
    name = "class agreement"

    def __call__(self, outputs: Float[Array, "rows classes"]) -> Float[Array, "rows"]:
        agrees = (outputs.argmax(1) == self.classes).astype(outputs.dtype)
        return jnp.where(jnp.isnan(at_class(outputs, self.classes)), jnp.nan, agrees)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Rank(ClassReward):
    name = "class rank"

    def __call__(self, outputs: Float[Array, "rows classes"]) -> Float[Array, "rows"]:
        own = at_class(outputs, self.classes)
        rank = 1 + (outputs > own[:, None]).sum(1).astype(outputs.dtype)
        return jnp.where(jnp.isnan(own), jnp.nan, rank)


def at_class(
    outputs: Float[Array, "rows classes"], classes: Integer[Array | np.ndarray, "rows"]
) -> Float[Array, "rows"]:
    """The output of each row's class; NaN for a class out of range, as only a traced one can be."""
    count, index = outputs.shape[1], jnp.asarray(classes).astype(int)
    index = jnp.where(index < 0, count, index)  # JAX would read −1 as the last class
    return outputs.at[jnp.arange(len(outputs)), index].get(mode="fill", fill_value=jnp.nan)


def read_labels(labels: Any, what: str) -> Array | np.ndarray:
    """Labels as real numbers, as wide as JAX is set to; text, dates and complex are refused.

    They stay in numpy unless traced, so that they can be checked even inside jit.
    """
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(labels)):
        return jnp.asarray(labels)
    array = as_array(labels, what)
    if not is_real(array.dtype):
        raise InputTypeError(f"{what} must be real numbers, not {array.dtype}: encode them first.")
    given = np.asarray(array)
    read = given.astype(jax.dtypes.canonicalize_dtype(given.dtype))
    if given.dtype.kind in "iu" and (read != given).any():
        raise InputError(f"{what} overflow {read.dtype}: pass smaller numbers, or enable x64.")
    return read


def check_classes(classes: Array | np.ndarray, num_classes: int, what: str) -> None:
    """Refuse what is no class of the model, where that is known."""
    if not jnp.issubdtype(classes.dtype, jnp.integer):
        raise InputTypeError(f"{what} must be whole numbers, not {classes.dtype}.")
    if isinstance(classes, Tracer) or not classes.size:
        return
    known = np.asarray(classes)  # jnp would trace it inside jit
    least, largest = known.min(), known.max()
    if least < 0 or largest >= num_classes:
        raise InputError(
            f"{what} are numbers from 0 to {num_classes - 1}, not {least} to {largest}."
        )
