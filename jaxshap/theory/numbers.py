"""Bounds and counts that floating point cannot hold are refused."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from jaxshap.errors import InputError

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def within_floats(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """A function that refuses arguments whose powers or quotients floating point cannot hold."""

    @functools.wraps(function)
    def checked(*arguments: Arguments.args, **named: Arguments.kwargs) -> Answer:
        try:
            with np.errstate(over="raise", invalid="raise", divide="raise"):
                return function(*arguments, **named)
        except ArithmeticError as error:
            raise InputError(
                f"floating point does not hold what {function.__name__} comes to here ({error}): "
                "its arguments are too large or too small, so measure worths in another unit."
            ) from error

    return checked
