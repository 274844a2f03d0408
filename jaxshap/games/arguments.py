"""Numbers, switches and paths among arguments: read as they are meant or refused by name."""

import math
import numbers
import os
import reprlib
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from jaxshap.errors import InputError, InputTypeError

MAX_COUNT = 2**31 - 1  # counts are held in int32


def read_whole(value: Any, what: str, least: int = 1, most: int = MAX_COUNT) -> int:
    """A whole number between two others; `what` is the name of the argument.

    The upper limit is the largest int32 by default, in which counts are held.
    """
    number = _scalar(value)
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if isinstance(number, float | np.floating) and math.isfinite(number):
        whole = float(number).is_integer()
    limits = f", {least} or more" if most == MAX_COUNT else f" from {least} to {most}"
    if not whole:
        raise InputTypeError(f"{what}={shown(value)}: pass a whole number{limits}.")
    if not least <= number <= most:
        raise InputError(f"{what}={shown(value)}: pass a whole number{limits}.")
    return int(number)


def read_number(
    value: Any,
    what: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    above: float = -math.inf,
    below: float = math.inf,
) -> float:
    """A finite number from `least` to `most`, larger than `above` and smaller than `below`."""
    scalar: Any = _scalar(value)
    is_number = isinstance(scalar, numbers.Real) and not isinstance(scalar, bool | np.bool_)
    if not is_number or not math.isfinite(scalar):
        raise InputTypeError(f"{what}={shown(value)}: pass a finite number.")
    number = float(scalar)
    if not (least <= number <= most and above < number < below):
        limits = _range(least, most, above, below)
        raise InputError(f"{what}={shown(value)}: pass a number {limits}.")
    return number


def read_flag(value: Any, what: str) -> bool:
    """True or False, also numpy's."""
    if not isinstance(value, bool | np.bool_):
        raise InputTypeError(f"{what}={shown(value)}: pass True or False.")
    return bool(value)


def read_path(value: Any, what: str) -> str:
    """The path of a file; a whole number would be an open file of this process."""
    if not isinstance(value, str | os.PathLike):
        raise InputTypeError(f"{what}={shown(value)}: pass the path of a file.")
    path = os.fspath(value)
    if not isinstance(path, str) or not path or "\0" in path:
        raise InputTypeError(f"{what}={shown(value)}: pass the path of a file, as text.")
    return path


def check_kind(value: Any, kind: type | tuple[type, ...], what: str, remedy: str) -> None:
    """Refuse what is not of a kind, its class included."""
    if not isinstance(value, kind):
        raise InputTypeError(f"{what}={shown(value)}: pass {remedy}.")


def shown(value: Any) -> str:
    """A value in a message, cut where it is long."""
    return _short.repr(value)


def _scalar(value: Any) -> Any:
    """A numpy or JAX array without dimensions as the number it holds."""
    if isinstance(value, Tracer):
        return value
    if isinstance(value, np.ndarray | jax.Array) and value.shape == ():
        return value[()] if isinstance(value, np.ndarray) else _of_jax(value)
    return value


def _of_jax(value: jax.Array) -> Any:
    real = not jax.numpy.issubdtype(value.dtype, jax.dtypes.extended)
    return np.asarray(value)[()] if real else value


def _range(least: float, most: float, above: float, below: float) -> str:
    ends = {"of at least": least, "above": above, "of at most": most, "below": below}
    return " and ".join(f"{word} {end:g}" for word, end in ends.items() if math.isfinite(end))


_short = reprlib.Repr()
_short.maxother = _short.maxstring = 60
