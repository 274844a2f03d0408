"""Strict dtypes for every test, caches and pictures cleared between modules, and a count of
compiled programs.
"""

import contextlib

import jax
import matplotlib.pyplot as plt
import pytest
from jaxtyping import install_import_hook

# annotated types and shapes are checked in every test; before the library is imported
install_import_hook("jaxshap", "typechecking.typechecked")

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update(
    "jax_disable_most_optimizations", True
)  # compiling dominates the time of these tests
plt.switch_backend("Agg")

COMPILED = "/jax/core/compile/backend_compile_duration"


@pytest.fixture(autouse=True, scope="module")
def _leave_nothing_behind():
    """A long-lived process that keeps every compiled program runs out of memory maps; open pictures
    are counted.
    """
    yield
    jax.clear_caches()
    plt.close("all")


@pytest.fixture
def compilations():
    """`with compilations() as names:` lists the programs that XLA compiles inside, those of eager
    operations too.
    """

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
