"""Rewards on top of a game: what is shared out is a function of the model's mean output, not the
output itself.

They act after absent features are averaged out. To average rewards instead, put the reward into the
model.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import Game, Host, as_pytree

Reward = Callable[[Float[Array, "rows *out"]], Float[Array, "rows *reward"]]
LossKind = Literal["squared", "absolute", "cross_entropy"]


def reward(game: Game, function: "Reward | OfClass", name: str | None = None) -> Game:
    """The game v'(S) = function(v(S)), for a function of the outputs of all rows; the result calls
    it `name`.

    Example:
        >>> import jax.numpy as jnp, jaxshap, numpy as np
        >>> game = jaxshap.rewards.reward(jaxshap.table([1.0, 2.0, 4.0, 8.0]), jnp.log2, "doublings")
        >>> print(game.name, np.asarray(jaxshap.shapley_values(game)).round(3))
        table, doublings [1. 2.]
    """
    settled: Any = function.for_rows(game.full) if isinstance(function, OfClass) else function
    name = name or getattr(settled, "name", getattr(settled, "__name__", "reward"))
    settled = as_pytree(settled)
    empty, full = (jnp.asarray(settled(end)) for end in (game.empty, game.full))
    if not jnp.issubdtype(full.dtype, jnp.floating):
        raise InputTypeError(
            f"a reward is a floating-point number, not {full.dtype}: cast it in the function."
        )
    if not isinstance(full, Tracer) and not np.isfinite(np.stack([empty, full])).all():
        raise InputError(
            f"the reward {name} is not finite with all players, or with none: bound it in the function."
        )
    value = game.value
    if isinstance(value, Host):
        wrapped: Any = Host(
            lambda coalitions: jax.vmap(settled)(value(coalitions)), value.bytes_per_item
        )
    else:
        wrapped = _Rewarded(value, settled)
    return Game(wrapped, empty, full, game.num_players, f"{game.name}, {name}")


def averaged(game: Game, weights: Float[Array, "rows"] | None = None) -> Game:
    """The mean of the game over rows: with `loss`, minus its values are those of SAGE. Covert et
    al. (2020).

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([[0.0, 0.0], [1.0, 3.0], [2.0, 0.0], [3.0, 5.0]])  # of two rows
        >>> jaxshap.shapley_values(jaxshap.rewards.averaged(game)).tolist()
        [2.5, 1.5]
    """
    count = game.full.shape[0]
    shares = (
        jnp.full(count, 1 / count, game.full.dtype)
        if weights is None
        else jnp.asarray(weights) / np.sum(weights)
    )
    if shares.shape != (count,):
        raise InputError(f"weights have shape {shares.shape} for {count} rows: pass one a row.")
    return reward(game, _Mean(shares), "mean over rows")


def class_probability(
    classes: Int[Array, "rows"] | int | None = None, *, logits: bool = False
) -> "OfClass":
    """The probability of a class, for a model of probabilities or of logits. None: the class each
    row is put in.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([[[0.2, 0.8]], [[0.6, 0.4]], [[0.4, 0.6]], [[0.8, 0.2]]])  # one row, two classes
        >>> print(np.asarray(jaxshap.shapley_values(jaxshap.rewards.reward(game, jaxshap.rewards.class_probability(0)))[:, 0]).round(3))
        [0.4 0.2]
    """
    return _Probability(classes, logits)


def log_odds(classes: Int[Array, "rows"] | int | None = None, *, logits: bool = False) -> "OfClass":
    """log p/(1−p) of a class. None: the class each row is put in.

    Example:
        >>> import jaxshap, numpy as np
        >>> game = jaxshap.table([[[0.2, 0.8]], [[0.6, 0.4]], [[0.4, 0.6]], [[0.8, 0.2]]])  # one row, two classes
        >>> print(np.asarray(jaxshap.shapley_values(jaxshap.rewards.reward(game, jaxshap.rewards.log_odds(0)))[:, 0]).round(2))
        [1.79 0.98]
    """
    return _LogOdds(classes, logits)


def agreement(classes: Int[Array, "rows"] | int | None = None) -> "OfClass":
    """1 where the largest output is that of the class, else 0. None: the class each row is put in.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([[[0.2, 0.8]], [[0.6, 0.4]], [[0.4, 0.6]], [[0.8, 0.2]]])  # one row, two classes
        >>> jaxshap.shapley_values(jaxshap.rewards.reward(game, jaxshap.rewards.agreement(0)))[:, 0].tolist()
        [1.0, 0.0]
    """
    return _Agreement(classes)


def class_rank(classes: Int[Array, "rows"] | int | None = None) -> "OfClass":
    """The place of a class among all classes, 1 for the largest output. None: the class each row is
    put in.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([[[0.2, 0.8]], [[0.6, 0.4]], [[0.4, 0.6]], [[0.8, 0.2]]])  # one row, two classes
        >>> jaxshap.shapley_values(jaxshap.rewards.reward(game, jaxshap.rewards.class_rank(0)))[:, 0].tolist()
        [-1.0, 0.0]
    """
    return _Rank(classes)


def loss(
    labels: Float[Array, "rows *out"],
    kind: LossKind | Callable = "squared",
    *,
    logits: bool = False,
) -> Reward:
    """The loss of each row against its label: negative values are those of features that help.

    "squared" and "absolute" for numbers, summed over outputs; "cross_entropy" for the number of the
    right class; or a function of (outputs, labels) that returns one number a row.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([[0.0], [1.0], [2.0], [3.0]])  # of one row, whose label is 3
        >>> jaxshap.shapley_values(jaxshap.rewards.reward(game, jaxshap.rewards.loss([3.0])))[:, 0].tolist()
        [-3.0, -6.0]
    """
    if kind not in _LOSSES and not callable(kind):
        raise InputError(
            f"kind={kind!r}: pass one of {list(_LOSSES)}, or a function of (outputs, labels)."
        )
    name = f"{kind.replace('_', ' ')} loss" if isinstance(kind, str) else "loss"
    return _Loss(jnp.asarray(labels), _LOSSES.get(kind, kind), logits, name)  # pyright: ignore[reportArgumentType]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Rewarded:
    value: Callable
    function: Callable

    def __call__(self, coalition):
        return self.function(self.value(coalition))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Mean:
    shares: Float[Array, "rows"]

    def __call__(self, outputs):
        return jnp.tensordot(self.shares.astype(outputs.dtype), outputs, 1)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class OfClass:
    """A reward about one class of each row; None stands for the class that the model gives the row."""

    classes: Any
    logits: bool = dataclasses.field(default=False, metadata={"static": True})
    name = "class"

    def for_rows(self, full: Float[Array, "rows classes"]) -> "OfClass":
        if full.ndim != 2 or full.shape[1] < 2:
            raise InputError(
                f"this reward is about classes: the model's outputs must be (rows, classes), not {full.shape}."
            )
        classes = full.argmax(1) if self.classes is None else jnp.asarray(self.classes)
        if classes.shape not in ((), (len(full),)):
            raise InputError(
                f"classes have shape {classes.shape} for {len(full)} rows: pass one a row, or one for all."
            )
        if not isinstance(classes, Tracer) and not (
            0 <= classes.min() <= classes.max() < full.shape[1]
        ):
            raise InputError(f"classes are numbers from 0 to {full.shape[1] - 1}.")
        return dataclasses.replace(self, classes=jnp.broadcast_to(classes, len(full)))

    def of(self, outputs: Float[Array, "rows classes"]) -> Float[Array, "rows 1"]:
        return jnp.take_along_axis(outputs, self.classes[:, None], axis=1)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Probability(OfClass):
    name = "class probability"

    def __call__(self, outputs):
        return self.of(jax.nn.softmax(outputs) if self.logits else outputs)[:, 0]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _LogOdds(OfClass):
    name = "log-odds"

    def __call__(self, outputs):
        if not self.logits:
            chance = self.of(outputs)[:, 0]
            return jnp.log(chance) - jnp.log1p(-chance)
        own = jnp.arange(outputs.shape[1]) == self.classes[:, None]
        return self.of(outputs)[:, 0] - jax.nn.logsumexp(jnp.where(own, -jnp.inf, outputs), axis=1)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Agreement(OfClass):
    name = "class agreement"

    def __call__(self, outputs):
        return (outputs.argmax(1) == self.classes).astype(outputs.dtype)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Rank(OfClass):
    name = "class rank"

    def __call__(self, outputs):
        return 1 + (outputs > self.of(outputs)).sum(1).astype(outputs.dtype)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Loss:
    labels: Any
    kind: Callable = dataclasses.field(metadata={"static": True})
    logits: bool = dataclasses.field(metadata={"static": True})
    name: str = dataclasses.field(metadata={"static": True})

    def __call__(self, outputs):
        if self.labels.shape[0] != outputs.shape[0]:
            raise InputError(
                f"there are {self.labels.shape[0]} labels for {outputs.shape[0]} rows: pass one a row."
            )
        if self.kind is _cross_entropy:
            return _cross_entropy(outputs, self.labels, self.logits)
        return self.kind(outputs, self.labels)


def _squared(outputs, labels):
    _check_labels(outputs, labels)
    return ((outputs - labels) ** 2).reshape(len(outputs), -1).sum(1)


def _absolute(outputs, labels):
    _check_labels(outputs, labels)
    return jnp.abs(outputs - labels).reshape(len(outputs), -1).sum(1)


def _cross_entropy(outputs, labels, logits):
    if outputs.ndim != 2 or not jnp.issubdtype(labels.dtype, jnp.integer):
        raise InputError(
            f"cross entropy needs outputs (rows, classes) and whole labels, not {outputs.shape} and {labels.dtype}."
        )
    chances = jax.nn.log_softmax(outputs) if logits else jnp.log(outputs)
    return -jnp.take_along_axis(chances, labels[:, None], axis=1)[:, 0]


def _check_labels(outputs, labels) -> None:
    if outputs.shape != labels.shape:
        raise InputError(
            f"labels have shape {labels.shape} and outputs {outputs.shape}: they must be the same."
        )


_LOSSES: dict[Any, Callable] = {
    "squared": _squared,
    "absolute": _absolute,
    "cross_entropy": _cross_entropy,
}
