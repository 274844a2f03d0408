"""What a call needs, read from its jaxpr."""

import jax
import jax.numpy as jnp
import pytest

from jaxshap.engine.memory import bucket, byte_limit, bytes_of_call


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 31, 33, 100, 1000, 12345, 10**6])
def test_a_bucket_is_at_most_an_eighth_larger_and_a_fixed_point(count):
    assert count <= bucket(count) <= count * 9 / 8 + 1
    assert bucket(bucket(count)) == bucket(count)


def test_there_are_few_buckets():
    assert len({bucket(count) for count in range(1025, 2049)}) == 8
    assert all(bucket(count) <= bucket(count + 1) for count in range(1, 3000))


def test_bytes_count_the_largest_intermediate():
    def outer(x):
        return (x[:, None] * x).sum()

    assert (
        2 * 4 * 1000**2
        <= bytes_of_call(outer, jax.ShapeDtypeStruct((1000,), jnp.float32))
        <= 4 * 4 * 1000**2
    )


def test_bytes_look_inside_jit_scan_and_map():
    def inner(x):
        return jax.lax.map(lambda row: jax.jit(lambda r: (r[:, None] * r).sum())(row), x)

    needed = bytes_of_call(inner, jax.ShapeDtypeStruct((3, 500), jnp.float32))
    assert needed >= 4 * 500**2


def test_parameters_do_not_count():
    parameters = jnp.ones((1000, 1000))
    small = bytes_of_call(lambda x: parameters[0, :2] + x, jax.ShapeDtypeStruct((2,), jnp.float32))
    assert small < 10**5


def test_the_limit_is_a_share_of_a_small_machine():
    assert 2**20 <= byte_limit() <= 2**30
