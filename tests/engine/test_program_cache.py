"""Programs are kept on disk when asked for, and found again."""

import os
import subprocess
import sys

import pytest

import jaxshap

SCRIPT = """
import sys, jax, jax.numpy as jnp, jaxshap
hits = []
jax.monitoring.register_event_listener(lambda event, **_: hits.append(event))
jax.jit(lambda x: x + 1)(jnp.ones(3))  # compiled before the cache is switched on
jaxshap.cache_programs(sys.argv[1])
game = jaxshap.table(jnp.arange(16.0) ** 2)
print(float(jaxshap.shapley_values(game)[0]))
print(sum(event.endswith("/cache_hits") for event in hits))
"""


def run(folder):
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    value, hits = answer.stdout.split()
    return value, int(hits)


def test_a_second_process_finds_the_programs_of_the_first(tmp_path):
    folder = tmp_path / "made" / "by it"
    first, second = run(folder), run(folder)
    assert list(folder.iterdir())
    assert first[0] == second[0]
    assert second[1] > first[1]


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(jaxshap.InputError, match=r"file.*Pass a folder"):
        jaxshap.cache_programs(tmp_path / "file" / "below")
