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


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="the options are for CPUs")
def test_options_that_a_compiler_lacks_are_omitted(fresh, monkeypatch):
    level = {"xla_backend_optimization_level": 1}
    some = {"xla_cpu_no_such_option": True, **level}
    monkeypatch.setattr(compilation, "FAST_COMPILE_OPTIONS", some)
    assert compilation._options() == level
    assert compilation.compiled(lambda x: x + 1, static_argnums=())(1) == 2


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="the options are for CPUs")
def test_this_compiler_has_the_one_that_matters_most(fresh):
    assert "xla_backend_optimization_level" in compilation._options()


def test_import_brings_in_nothing_that_is_only_needed_later():
    script = (
        "import jax, sys; before = set(sys.modules); import jaxshap; "
        "print(*(set(sys.modules) - before))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"scipy.special", "matplotlib", "shap", "pandas", "sklearn"} & set(loaded)


def test_programs_of_old_models_are_forgotten_and_those_of_late_ones_kept(compilations):
    @compilation.jitted_with_model
    def at(model, number):
        return model(number)

    models = [
        jax.tree_util.Partial(lambda number, i=i: number + i)
        for i in range(compilation.MAX_MODELS + 3)
    ]
    assert [float(at(model, 1.0)) for model in models] == [1.0 + i for i in range(len(models))]
    for model, programs in ((models[-1], 0), (models[0], 1)):
        with compilations() as names:
            at(model, 2.0)
        assert len(names) == programs
