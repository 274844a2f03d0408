"""What it means for a part of a text to be absent: values to pass as `absent=`."""

import dataclasses
from collections.abc import Callable
from typing import Any

from jaxshap.games import check_kind


@dataclasses.dataclass(frozen=True)
class Removed:
    """Absent parts are taken out, and the text closes up; for models of strings and of tokens.

    Example:
        >>> import jaxshap
        >>> def model(texts):
        ...     return [float("not bad" in text) for text in texts]
        >>> absent = jaxshap.texts.Removed()
        >>> (one,) = jaxshap.texts.explain_texts(model, ["not so bad"], absent=absent)
        >>> one.values.round(2).tolist()
        [[0.17, -0.33, 0.17]]
    """

    words = "an absent part is taken out of the text"


@dataclasses.dataclass(frozen=True)
class Replaced:
    """A string stands in the place of each absent part; for models of strings.

    Args:
        by: the string.

    Example:
        >>> import jaxshap
        >>> def model(texts):
        ...     return [float(len(text)) for text in texts]
        >>> absent = jaxshap.texts.Replaced("_")
        >>> jaxshap.texts.explain_texts(model, ["not bad"], absent=absent)[0].values.tolist()
        [[2.0, 2.0]]
    """

    by: str

    def __post_init__(self):
        check_kind(self.by, str, "by", "a string")

    @property
    def words(self) -> str:
        return f"{self.by!r} stands in the place of an absent part"


@dataclasses.dataclass(frozen=True)
class MaskToken:
    """The mask token stands in the place of each absent token; for models of tokens.

    Args:
        token: its number; by default that of the tokeniser.

    Example:
        >>> import jaxshap
        >>> jaxshap.texts.MaskToken(103)
        MaskToken(token=103)
    """

    token: int | None = None
    words = "the mask token stands in the place of an absent one"


@dataclasses.dataclass(frozen=True)
class Hidden:
    """Absent tokens become padding, which the attention mask hides; for models of tokens.

    The tokens that stay keep their positions.

    Example:
        >>> import jaxshap
        >>> jaxshap.texts.Hidden()
        Hidden()
    """

    words = "an absent token is padding, which the attention mask hides"


@dataclasses.dataclass(frozen=True, eq=False)
class Embedded:
    """A vector stands in the place of each absent token's; for models of vectors and a mask.

    Args:
        embed: a JAX function from token numbers `(rows, length)` to vectors
            `(rows, length, width)`, which the model then takes in their place.
        vector: the vector `(width,)` of an absent token, such as the mean of all; zeros by
            default.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> table = jnp.eye(4)
        >>> jaxshap.texts.Embedded(lambda ids: table[ids], vector=table.mean(0)).vector.tolist()
        [0.25, 0.25, 0.25, 0.25]
    """

    embed: Callable[[Any], Any]
    vector: Any = 0.0
    words = "a given vector stands in the place of an absent token's"


Absence = Removed | Replaced | MaskToken | Hidden | Embedded
