"""Options that make the compiler quicker, where it has them."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from jaxshap.engine import compilation


@pytest.fixture
def fresh():
    for cached in (compilation._jitted, compilation._options):
        cached.cache_clear()
    yield
    for cached in (compilation._jitted, compilation._options):
        cached.cache_clear()


def test_static_arguments_and_results_are_those_of_jit():
    power = compilation.compiled(lambda exponent, x: x**exponent, static_argnums=0)
    assert power(3, jnp.asarray(2.0)) == 8


def test_a_compiler_without_these_options_is_used_without_them(fresh, monkeypatch):
    monkeypatch.setattr(compilation, "FAST_COMPILE_OPTIONS", {"xla_cpu_no_such_option": True})
    assert compilation._options() is None
    assert compilation.compiled(lambda x: x + 1, static_argnums=())(1) == 2


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="the options are for CPUs")
def test_this_compiler_has_them(fresh):
    assert compilation._options() == compilation.FAST_COMPILE_OPTIONS


def test_import_brings_in_nothing_that_is_only_needed_later():
    script = "import jax, sys; before = set(sys.modules); import jaxshap; print(*(set(sys.modules) - before))"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"scipy.special", "matplotlib", "shap", "pandas", "sklearn"} & set(loaded)
