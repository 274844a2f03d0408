"""Which outputs of a model are asked about: some of them by name or number, or each row's top."""

import dataclasses
from typing import Any

import numpy as np

from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import read_whole, shown
from jaxshap.inputs.tables import is_list, repeated

MAX_NAMES_SHOWN = 10


@dataclasses.dataclass(frozen=True)
class Top:
    """The largest outputs of each row, for `explain(outputs=jaxshap.Top(3))`.

    Args:
        count: how many of them, in decreasing order.

    Example:
        >>> import jaxshap, jax.numpy as jnp
        >>> weights = jnp.array([[1.0, 2.0, 0.0], [3.0, 1.0, 0.0]])
        >>> rows, background = [[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0]]
        >>> ex = jaxshap.explain(lambda x: x @ weights, rows, background, outputs=jaxshap.Top(1))
        >>> ex.row_outputs.tolist(), ex.values[..., 0].tolist()
        ([['output 1'], ['output 0']], [[2.0, 0.0], [0.0, 3.0]])
    """

    count: int

    def __post_init__(self):
        object.__setattr__(self, "count", read_whole(self.count, "count"))


def read_choice(outputs: Any, names: tuple[str, ...] | None) -> tuple[int, ...]:
    """Positions of the outputs that are named by text or number; one of them, or several."""
    single = isinstance(outputs, str | int | np.integer)
    if not single and not is_list(outputs):
        raise InputTypeError(
            f"outputs={shown(outputs)}: pass names or numbers of outputs, jaxshap.Top(k), or a "
            "function of the outputs."
        )
    chosen = [outputs] if single else list(outputs)
    numbers = tuple(_position(choice, names) for choice in chosen)
    if not numbers or repeated(numbers):
        raise InputError(f"outputs={chosen}: pass at least one output, and each once.")
    return numbers


def name_outputs(numbers: Any, names: tuple[str, ...] | None) -> np.ndarray:
    """The names of outputs by number, of the same shape."""
    numbers = np.asarray(numbers)
    if names is not None:
        return np.asarray(names)[numbers]
    return np.char.add("output ", numbers.astype(str))


def check_columns(shape: tuple[int, ...], needed: int, num_names: int | None) -> None:
    """Refuse outputs that have no such columns: JAX would silently clamp the numbers."""
    if len(shape) != 2:
        raise InputError(
            f"the model returned shape {shape}, and outputs= chooses columns of (rows, outputs): "
            "omit it, or pass a function of the outputs."
        )
    if num_names is not None and shape[1] != num_names:
        raise InputError(
            f"there are {num_names} output_names for {shape[1]} outputs: name all of the model's, "
            "of which outputs= chooses."
        )
    if needed > shape[1]:
        raise InputError(f"outputs= asks for {needed} outputs, and the model has {shape[1]}.")


def _position(choice: Any, names: tuple[str, ...] | None) -> int:
    if isinstance(choice, str):
        if names is None:
            raise InputError(
                f"outputs={choice!r}, and the model does not name its outputs: pass output_names=, "
                "one for each of them, or choose by number."
            )
        if names.count(choice) != 1:
            shown = ", ".join(names[:MAX_NAMES_SHOWN]) + ", …" * (len(names) > MAX_NAMES_SHOWN)
            raise InputError(f"outputs={choice!r} is not the name of one output: they are {shown}.")
        return names.index(choice)
    if not isinstance(choice, int | np.integer) or isinstance(choice, bool):
        raise InputTypeError(f"outputs={choice!r}: pass the name of an output or its number.")
    if choice < 0:
        raise InputError(f"outputs={choice}: count from 0; the last is the number of outputs − 1.")
    return int(choice)
