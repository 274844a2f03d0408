"""How a command ends: its exit codes, and the types of error that decide between them."""

import enum

from jaxshap.errors import InputError, MissingExtraError, UnsupportedModelError


class ExitCode(enum.IntEnum):
    """What the shell sees; 130 and 141 are the codes of a program that SIGINT or SIGPIPE ended."""

    DONE = 0
    MODEL_FAILED = 1
    WRONG_USAGE = 2
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class UsageError(InputError):
    """What the command line asks for cannot be done; the message says what to do instead."""


REFUSALS = (InputError, UnsupportedModelError, MissingExtraError)  # all end with WRONG_USAGE
