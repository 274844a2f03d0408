"""Functions among arguments: those that cannot be called as they will be are refused by name."""

import inspect
from typing import Any

from jaxshap.errors import InputTypeError
from jaxshap.games.arguments import shown
from jaxshap.games.game import Game


def check_function(value: Any, what: str, remedy: str, arguments: int = 1) -> None:
    """Refuse what cannot be called, or is the class of something that can, or does not take this
    many arguments by position.
    """
    if not callable(value) or isinstance(value, type):
        raise InputTypeError(f"{what}={shown(value)} is not a function: pass {remedy}.")
    check_arguments(value, what, remedy, arguments)


def check_arguments(function: Any, what: str, remedy: str, count: int = 1) -> None:
    """Refuse a function that cannot be called with this many arguments by position, and a game,
    which is a function of coalitions.
    """
    if isinstance(function, Game):
        raise InputTypeError(f"{what} is a game, a function of coalitions: pass {remedy}.")
    if hasattr(function, "__signature__"):
        return  # it may be that of another function, as of what `jax.jit` makes of a wrapper
    try:
        signature = inspect.signature(function, follow_wrapped=False)  # of what is called itself
    except (TypeError, ValueError):
        return  # it does not tell
    try:
        signature.bind(*range(count))
    except TypeError:
        raise InputTypeError(
            f"{what}={shown(function)} takes arguments {signature}, and is called with {count} "
            f"by position: pass {remedy}."
        ) from None
