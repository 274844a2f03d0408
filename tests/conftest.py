"""Strict dtypes for every test, caches cleared between modules, and a count of compiled programs."""

import contextlib

import jax
import matplotlib
import pytest

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_disable_most_optimizations", True)  # compiling dominates the time of these tests
matplotlib.use("Agg")

COMPILED = "/jax/core/compile/backend_compile_duration"


@pytest.fixture(autouse=True, scope="module")
def _clear_caches():
    """A long-lived process that keeps every compiled program runs out of memory maps."""
    yield
    jax.clear_caches()


@pytest.fixture
def compilations():
    """`with compilations() as names:` lists the programs that XLA compiles inside, those of eager operations too."""

    @contextlib.contextmanager
    def record():
        names = []

        def listen(event, duration, fun_name="?", **_):
            if event == COMPILED:
                names.append(fun_name)

        jax.monitoring.register_event_duration_secs_listener(listen)
        try:
            yield names
        finally:
            jax.monitoring.unregister_event_duration_listener(listen)

    return record
