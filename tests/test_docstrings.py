"""Docstrings of public names agree with signatures: arguments, what is returned, an example."""

import dataclasses
import inspect
import re

import pytest
from rooms import ROOMS

import jaxshap


def listed(room):
    module = getattr(jaxshap, room)
    names = getattr(module, "__all__", None) or [n for n in vars(module) if n.endswith("Error")]
    return {f"{room}.{name}": getattr(module, name) for name in names}


def methods(name, kind):
    """Public methods that a class defines itself, not functions that are the default of a field."""
    fields = getattr(kind, "__dataclass_fields__", {})
    own = {n: t for n, t in vars(kind).items() if not n.startswith("_") and n not in fields}
    return {f"{name}.{n}": t for n, t in own.items() if inspect.isfunction(t)}


PUBLIC = {name: thing for room in ROOMS if room != "cli" for name, thing in listed(room).items()}
FUNCTIONS = {name: thing for name, thing in PUBLIC.items() if inspect.isfunction(thing)}
CLASSES = {name: thing for name, thing in PUBLIC.items() if inspect.isclass(thing)}
METHODS = {n: t for name, kind in CLASSES.items() for n, t in methods(name, kind).items()}


def section(docstring, title):
    """The names that a section lists, or None where there is no such section."""
    found = re.search(
        rf"^{title}:\n((?:    .*\n|\n)+)", inspect.cleandoc(docstring or "") + "\n", re.M
    )
    return None if found is None else re.findall(r"^    \*{0,2}(\w+):", found[1], re.M)


def arguments(function):
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


@pytest.mark.parametrize("name", sorted(FUNCTIONS | METHODS))
def test_the_arguments_in_the_docstring_are_those_of_the_signature(name):
    """A method without a docstring has that of its base class, such as `Estimator.plan`."""
    function = (FUNCTIONS | METHODS)[name]
    assert (section(inspect.getdoc(function), "Args") or []) == arguments(function)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_says_what_it_returns_and_shows_an_example(name):
    docstring = inspect.cleandoc(FUNCTIONS[name].__doc__ or "")
    assert re.search(r"^Returns:\n    \S", docstring, re.M)
    assert re.search(r"^Example:\n    >>> ", docstring, re.M)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_the_fields_in_the_docstring_of_a_class_are_those_it_has(name):
    kind = CLASSES[name]
    if dataclasses.is_dataclass(kind):
        wanted = [
            field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")
        ]
    else:
        wanted = list(getattr(kind, "_fields", ()))
        if not wanted and "__init__" in vars(kind) and not getattr(kind, "_is_protocol", False):
            wanted = arguments(kind)
    found = section(kind.__doc__, "Args") or section(kind.__doc__, "Attributes") or []
    assert found == wanted
    assert ">>> " in (kind.__doc__ or "")
