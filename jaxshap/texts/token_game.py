"""Models of token numbers and an attention mask: absent tokens are masked, hidden or removed."""

import dataclasses
import math
from collections.abc import Callable, Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jaxshap.engine import BatchSize, byte_limit
from jaxshap.errors import InputError, JaxshapError
from jaxshap.games import Host, as_pytree, at_least_float32
from jaxshap.inputs import check_outputs
from jaxshap.texts.absences import Absence, Embedded, Hidden, MaskToken, Removed
from jaxshap.texts.chosen import Chosen, Pick, Played
from jaxshap.texts.presence_game import presence_game
from jaxshap.texts.remembering import ask_once
from jaxshap.texts.token_rows import TokenRow
from jaxshap.values import bytes_per_point_of

Inputs = tuple[np.ndarray, ...]  # arrays (m, length) that the model takes


def token_game(
    calls: "TokenCalls", row: TokenRow, absent: Absence, pad: int, chosen: Chosen
) -> Played:
    """v(S) = model(the tokens of S, the others absent)."""

    everyone = np.ones((1, len(row.players)), bool)

    def example(row: TokenRow) -> Inputs:
        return masked_tokens(row, row.present(everyone), absent, pad)

    row = fitting(row, calls, example)
    calls, row_outputs = chosen.for_text(calls, example(row))

    def worths(coalitions: Bool[np.ndarray, "m n"]) -> Any:
        return calls(masked_tokens(row, row.present(coalitions), absent, pad))

    per_item = byte_limit() // calls.size(example(row))
    return Played(presence_game(worths, len(row.players), absent.words, per_item), row_outputs)


def fitting(row: TokenRow, calls: "TokenCalls", example: Callable[[TokenRow], Inputs]) -> TokenRow:
    """The row, without its padding where the model takes no input as long as with it."""
    try:
        calls.size(example(row))
    except InputError:
        row = row.unpadded()
        calls.size(example(row))
    return row


def masked_tokens(
    row: TokenRow, present: Bool[np.ndarray, "m length"], absent: Absence, pad: int
) -> Inputs:
    """Token numbers and attention mask; in embedding space also which tokens are present."""
    there = present & row.live
    ids = np.broadcast_to(row.ids, present.shape)
    mask = np.broadcast_to(row.live, present.shape)
    if isinstance(absent, MaskToken):
        assert absent.token is not None  # `read_absence` asks the tokeniser for it
        return np.where(present, ids, absent.token).astype(np.int32), mask.astype(np.int32)
    if isinstance(absent, Hidden):
        return np.where(there, ids, pad).astype(np.int32), there.astype(np.int32)
    if isinstance(absent, Removed):
        order = np.argsort(~there, axis=1, kind="stable")
        kept = np.arange(there.shape[1]) < there.sum(1, keepdims=True)
        ids = np.where(kept, np.take_along_axis(ids, order, 1), pad)
        return ids.astype(np.int32), kept.astype(np.int32)
    if isinstance(absent, Embedded):
        return ids.astype(np.int32), mask.astype(np.int32), present
    raise InputError(
        f"absent={absent!r} is for models of strings: pass MaskToken(), Hidden(), Removed() or "
        "Embedded(embed) with a tokeniser, or omit tokenizer=."
    )


@dataclasses.dataclass(frozen=True, eq=False)
class TokenCalls:
    """A model of tokens that is asked about no input twice, in batches of one size per length.

    What `pick` keeps of its outputs is in `known`, and the size of a batch for inputs of a length
    in `sizes`.
    """

    model: Callable
    batch_size: BatchSize = "auto"
    pick: Pick | None = None
    known: dict[Hashable, Any] = dataclasses.field(default_factory=dict)
    sizes: dict[int, int] = dataclasses.field(default_factory=dict)

    def __call__(self, inputs: Inputs) -> Any:
        contents = [_content(*row) for row in zip(*inputs, strict=True)]

        def ask(new: list[int]) -> np.ndarray:
            return self._outputs(tuple(part[new] for part in inputs))

        return ask_once(self.known, contents, ask)

    def size(self, inputs: Inputs) -> int:
        """How many rows of this length go into one call: a power of two that fits the memory."""
        length = inputs[0].shape[1]
        if length not in self.sizes:
            self.sizes[length] = self._chosen_size(inputs)
        return self.sizes[length]

    def _chosen_size(self, inputs: Inputs) -> int:
        if self.batch_size != "auto":
            return int(self.batch_size)
        if isinstance(self.model, Host):
            return 64
        try:
            per_row = bytes_per_point_of(OfTuple(as_pytree(self.model)), inputs)
        except JaxshapError:
            raise
        except (TypeError, ValueError) as error:  # shapes that do not go together
            raise InputError(
                f"the model fails on an input of {inputs[0].shape[1]} tokens: {error} If that is "
                "longer than it takes, pass max_length=, the most tokens that it takes."
            ) from error
        return 2 ** int(math.log2(max(1, byte_limit() // per_row)))

    def _outputs(self, inputs: Inputs) -> np.ndarray:
        size, count = self.size(inputs), len(inputs[0])
        starts = range(0, count, size)
        return np.concatenate(
            [self._kept(tuple(part[i : i + size] for part in inputs), size) for i in starts]
        )

    def _kept(self, inputs: Inputs, size: int) -> np.ndarray:
        outputs = self._call(inputs, size)
        check_outputs(outputs.shape, outputs.dtype, len(inputs[0]))
        outputs = outputs.astype(at_least_float32(outputs.dtype))
        return outputs if self.pick is None else self.pick(outputs)

    def _call(self, inputs: Inputs, size: int) -> np.ndarray:
        """One call; of a JAX model with the last row repeated up to the size: one program."""
        if isinstance(self.model, Host):
            return np.asarray(self.model.function(*map(np.copy, inputs)))
        count = len(inputs[0])
        filled = [np.concatenate([part, part[-1:].repeat(size - count, 0)]) for part in inputs]
        return np.asarray(jax.device_get(_called(as_pytree(self.model), *filled)))[:count]


def _content(ids: np.ndarray, mask: np.ndarray, *others: np.ndarray) -> Hashable:
    """What an input says, whatever padding follows it."""
    end = len(mask) - int(np.argmax(mask[::-1] > 0))
    parts = ids[:end], mask[:end], *others
    return tuple(part.tobytes() for part in parts)


@jax.jit
def _called(model: Callable, *inputs: Array) -> Array:
    return model(*inputs)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class OfTuple:
    """A model of several arrays as one of a tuple of them; its parameters stay its arguments."""

    model: Callable

    def __call__(self, inputs: tuple[Array, ...]) -> Any:
        return self.model(*inputs)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class FromVectors:
    """A model of vectors and a mask as one of tokens: absent ones have a vector of their own."""

    model: Callable
    embed: Callable
    vector: Any

    def __call__(
        self,
        ids: Int[Array, "rows length"],
        mask: Int[Array, "rows length"],
        present: Bool[Array, "rows length"],
    ) -> Float[Array, "rows *out"]:
        vectors = self.embed(ids)
        absent = jnp.asarray(self.vector, vectors.dtype)
        return self.model(jnp.where(present[..., None], vectors, absent), mask)


def from_vectors(model: Callable, absent: Embedded) -> FromVectors:
    return FromVectors(as_pytree(model), as_pytree(absent.embed), np.asarray(absent.vector))
