"""Causal models of tokens: the log-probability of a continuation is the worth of a prompt."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jaxshap.engine import byte_limit
from jaxshap.errors import ModelOutputError
from jaxshap.games import Game, Host, as_pytree, at_least_float32
from jaxshap.texts.absences import Absence
from jaxshap.texts.presence_game import presence_game
from jaxshap.texts.token_game import Inputs, TokenCalls, fitting, masked_tokens
from jaxshap.texts.token_rows import TokenRow


@dataclasses.dataclass(frozen=True, eq=False)
class Prompt:
    """The tokens of a prompt and of its continuation, which are the last ones and always stay."""

    row: TokenRow
    num_continued: int

    def inputs(self, coalitions: Bool[np.ndarray, "m n"], absent: Absence, pad: int) -> Inputs:
        """What the model takes, and the places of the continuation.

        The last place is repeated up to a power of two, so that continuations share programs.
        """
        inputs = masked_tokens(self.row, self.row.present(coalitions), absent, pad)
        step = np.minimum(
            np.arange(2 ** (self.num_continued - 1).bit_length()), self.num_continued - 1
        )
        first = inputs[1].sum(1) - self.num_continued
        return *inputs, (first[:, None] + step).astype(np.int32)


def prompt_game(
    calls: TokenCalls, prompt: Prompt, absent: Absence, pad: int, words: str, per_token: bool
) -> Game:
    """v(S) = log p(the continuation | the parts of S), in total or for each of its tokens."""

    everyone = np.ones((1, len(prompt.row.players)), bool)

    def example(row: TokenRow) -> Inputs:
        return Prompt(row, prompt.num_continued).inputs(everyone, absent, pad)

    fitted = Prompt(fitting(prompt.row, calls, example), prompt.num_continued)

    def worths(coalitions: Bool[np.ndarray, "m n"]) -> Any:
        scores = calls(fitted.inputs(coalitions, absent, pad))[:, : fitted.num_continued]
        return scores if per_token else scores.sum(1)

    per_item = byte_limit() // calls.size(example(fitted.row))
    return presence_game(worths, everyone.shape[1], words, per_item)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Scored:
    """A model that returns logits as one that returns log-probabilities of tokens at places."""

    model: Callable

    def __call__(self, *inputs: Array) -> Float[Array, "rows places"]:
        *given, places = inputs
        return log_probabilities(self.model(*given), given[0], places)


def scored(model: Callable) -> Callable:
    """The model that says how probable the continuation is, on the device or on the host."""
    if not isinstance(model, Host):
        return Scored(as_pytree(model))

    def on_host(*inputs: np.ndarray) -> np.ndarray:
        *given, places = inputs
        return np.asarray(log_probabilities(np.asarray(model.function(*given)), given[0], places))

    return Host(on_host, model.bytes_per_item)


def log_probabilities(
    logits: Any, ids: Int[Any, "rows length"], places: Int[Any, "rows places"]
) -> Float[Array, "rows places"]:
    """Of the token at each place, given those before it; the sum over the vocabulary is float32 or
    better, whatever the model returns.
    """
    if getattr(logits, "ndim", None) != 3 or logits.shape[:2] != ids.shape:
        raise ModelOutputError(
            f"the model returned shape {getattr(logits, 'shape', None)} for tokens of shape "
            f"{ids.shape}: return logits (rows, length, vocabulary), those of the token that "
            "follows each place."
        )
    tokens = jnp.take_along_axis(jnp.asarray(ids), jnp.asarray(places), 1)
    before = jnp.take_along_axis(jnp.asarray(logits), jnp.asarray(places)[..., None] - 1, 1)
    logs = jax.nn.log_softmax(before.astype(at_least_float32(before.dtype)))
    return jnp.take_along_axis(logs, tokens[..., None], 2)[..., 0]  # NaN: not in the vocabulary
