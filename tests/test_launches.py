"""The counter of `benchmarks/launches.py` reads compiled programs as they are."""

import pathlib
import sys

import jax
import jax.numpy as jnp
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "benchmarks"))
from launches import launches


def counted(function, *arguments):
    return launches(jax.jit(function).lower(*arguments).compile().as_text())


@pytest.fixture(scope="module")
def once():
    """Launches of a body, and of what surrounds its loop."""
    x = jnp.ones((4, 4))
    few, many = (
        counted(lambda x, k=k: jax.lax.fori_loop(0, k, lambda _, y: jnp.sin(y @ y), x), x)
        for k in (10, 30)
    )
    return few, many


def test_a_loop_counts_as_often_as_it_turns(once):
    (few, _), (many, _) = once
    body = (many - few) / 20
    assert body >= 2  # a product and a sine at least, and the counter
    assert body == int(body)
    assert 10 * body <= few < 11 * body + 10


def test_a_loop_whose_end_only_data_know_is_told():
    def until(x):
        return jax.lax.while_loop(lambda y: y.sum() < 1e3, lambda y: jnp.sin(y) + y, x)

    assert counted(until, jnp.ones(4))[1] == 1
    assert counted(jnp.sin, jnp.ones(4)) == (1, 0)


def test_of_two_branches_the_longer_one_counts():
    def either(flag, x):
        return jax.lax.cond(flag, lambda x: x, lambda x: jnp.sort(x @ x) @ x, x)

    flag, x = jnp.ones((), bool), jnp.ones((4, 4))
    assert counted(either, flag, x)[0] >= counted(lambda x: jnp.sort(x @ x) @ x, x)[0]
