"""Inputs that were asked about once are not asked about again."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Shaped


def ask_once(
    known: dict[Hashable, Any],
    contents: Sequence[Hashable],
    ask: Callable[[list[int]], np.ndarray],
) -> Shaped[np.ndarray, "m *out"]:
    """The outputs for these contents; `ask` gets the positions of those not known yet, each once.

    What it returns is kept in `known`.
    """
    first = {content: place for place, content in reversed(list(enumerate(contents)))}
    new = [place for content, place in first.items() if content not in known]
    if new:
        new.sort()
        outputs = ask(new)
        known.update({contents[place]: output for place, output in zip(new, outputs, strict=True)})
    return np.stack([known[content] for content in contents])
