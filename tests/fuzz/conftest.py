"""Prints how many inputs were tried, and lets the library's own checks answer."""

import contextlib

import jaxtyping
import pytest
from profiles import tried


@pytest.fixture(autouse=True, scope="module")
def _own_checks():
    """The library's own checks answer, not those of its annotations."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(autouse=True, scope="module")
def _scratch_folder(tmp_path_factory):
    """Some odd arguments are names of files that a call may write."""
    with contextlib.chdir(tmp_path_factory.mktemp("fuzz")):
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    """Put down in the report what a test has tried, also where it ran in another process."""
    if call.when == "call" and item.originalname in tried:
        item.user_properties.append(("inputs tried", tried[item.originalname]))


def pytest_terminal_summary(terminalreporter):
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    counts = [dict(each.user_properties).get("inputs tried") for each in reports]
    if counts := [count for count in counts if count is not None]:
        asked, answered = map(sum, zip(*counts, strict=True))
        line = f"{asked} fuzzed calls: {answered} answers that pass, {asked - answered} refusals"
        terminalreporter.write_line(line)
