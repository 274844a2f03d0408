"""A working directory for the tests of the command line."""

import sys

import pytest
from command_line import MODULE, NUMBERS, customers


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with tables and a module."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    sys.modules.pop("scoring", None)
    frame = customers()
    frame.to_csv("customers.csv", index=False)
    frame[[*NUMBERS, "churned"]].to_csv("numbers.csv", index=False)
    frame[20:50].to_csv("train.csv", index=False)
    (tmp_path / "scoring.py").write_text(MODULE)
    return tmp_path
