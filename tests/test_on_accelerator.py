"""The report for people with an accelerator compares with values that this library finds now."""

import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "benchmarks"))
from on_accelerator import CHECKS, STORED, check

NAMES = "default", "default, one background row", "Leverage", "Permutation", "gradient"


@pytest.fixture(scope="module")
def stored():
    return json.loads(STORED.read_text())


def test_every_check_has_stored_values(stored):
    assert set(stored) == set(CHECKS)


@pytest.mark.parametrize("name", NAMES)
def test_the_stored_values_are_those_of_this_library(name, stored):
    assert check(name, stored[name])[-1] == "right"


def test_values_that_moved_further_than_their_errors_allow_are_wrong(stored):
    values, errors = stored["Leverage"]
    moved = [value + 0.01 * error for value, error in zip(values, errors, strict=True)]
    assert check("Leverage", [moved, errors])[-1] == "WRONG"
    assert check("Leverage", [values, [1.02 * error for error in errors]])[-1] == "WRONG"
