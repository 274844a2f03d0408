"""The tokens of a text, the player that owns each of them, and the room they take with padding."""

import dataclasses
import math
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from jaxshap.errors import InputError
from jaxshap.inputs import STAYS, Players
from jaxshap.texts.dividing import Divided
from jaxshap.texts.encoding import Encoded

SHORTEST = 8  # tokens: shorter texts share this length


@dataclasses.dataclass(frozen=True, eq=False)
class TokenRow:
    """One text for a model of tokens; special tokens and padding belong to nobody."""

    ids: Int[np.ndarray, "length"]
    players: Players
    num_tokens: int  # those that are no padding

    @property
    def live(self) -> Bool[np.ndarray, "length"]:
        return np.arange(len(self.ids)) < self.num_tokens

    def present(self, coalitions: Bool[np.ndarray, "m n"]) -> Bool[np.ndarray, "m length"]:
        """Which tokens are there: those of players who are in, and those that always stay."""
        owner: Any = self.players.owner
        return np.where(owner == STAYS, True, coalitions[:, owner])

    def padded(self, length: int, pad: int) -> "TokenRow":
        """With padding up to this length."""
        owner: Any = self.players.owner
        missing = (0, length - len(owner))
        ids = np.pad(self.ids, missing, constant_values=pad)
        owner = np.pad(owner, missing, constant_values=STAYS)
        return TokenRow(ids, Players(owner, self.players.names), self.num_tokens)

    def unpadded(self) -> "TokenRow":
        """Without padding."""
        owner: Any = self.players.owner
        own = Players(owner[: self.num_tokens], self.players.names)
        return TokenRow(self.ids[: self.num_tokens], own, self.num_tokens)


def token_row(encoded: Encoded, divided: Divided, where: str) -> tuple[TokenRow, Divided]:
    """The tokens with their owners, and the text with those players that own tokens.

    A token belongs to the player with whom it shares most characters. Players that no token stands
    for, which the model never sees, are no players.
    """
    first_end = np.minimum.outer(encoded.offsets[:, 1], divided.spans[:, 1])
    last_begin = np.maximum.outer(encoded.offsets[:, 0], divided.spans[:, 0])
    shared = np.where(encoded.special[:, None], 0, np.maximum(first_end - last_begin, 0))
    owner = np.where(shared.any(1), shared.argmax(1), STAYS)
    owning = np.isin(np.arange(len(divided.names)), owner)
    robbed = shared.any(0) & ~owning
    if robbed.any():
        name = divided.names[int(robbed.argmax())]
        raise InputError(
            f"{name!r} in {where} has no token of its own, since one token holds it and its "
            "neighbour: divide the text into larger players."
        )
    if not owning.any():
        raise InputError(f"the tokeniser makes no tokens of the players of {where}.")
    numbers = np.cumsum(owning) - 1
    owner = np.where(owner == STAYS, STAYS, numbers[owner])
    kept = divided.only(np.flatnonzero(owning))
    return TokenRow(encoded.ids, Players(owner, kept.names), len(owner)), kept


def roomy(num_tokens: int, max_length: int | None) -> int:
    """The next length on a grid of two steps an octave, so that texts share programs."""
    octave = 2 ** math.ceil(math.log2(max(SHORTEST, num_tokens)))
    length = octave * 3 // 4 if octave > SHORTEST and num_tokens <= octave * 3 // 4 else octave
    return length if max_length is None else max(num_tokens, min(length, max_length))


def check_length(encoded: Encoded, max_length: int | None, where: str) -> None:
    if max_length is not None and len(encoded.ids) > max_length:
        raise InputError(
            f"{where} has {len(encoded.ids)} tokens, special ones included, and the model takes "
            f"max_length={max_length}: shorten it."
        )
