"""The command line: `python -m jaxshap demo` and `python -m jaxshap explain`."""

from jaxshap.cli.command import main as main

__all__ = [
    "main",
]
