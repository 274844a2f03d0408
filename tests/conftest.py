"""Strict dtypes for every test, caches and pictures cleared between modules, and a count of
compiled programs.
"""

import contextlib

import jax
import jax.experimental
import jaxtyping
import matplotlib.pyplot as plt
import pytest
from jax._src import monitoring

# annotated types and shapes are checked in every test; before the library is imported
jaxtyping.install_import_hook("jaxshap", "typechecking.typechecked")

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update(
    "jax_disable_most_optimizations", True
)  # compiling dominates the time of these tests
plt.switch_backend("Agg")

if not hasattr(jax, "enable_x64"):  # in the oldest JAX that we name
    jax.enable_x64 = jax.experimental.enable_x64

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
def unchecked():
    """For wrong arguments: the library's own checks answer, not those of its annotations."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


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
            _unregister(listen)

    return record


def _unregister(listener):
    """The oldest JAX that we name has no public function for it."""
    try:
        unregister = jax.monitoring.unregister_event_duration_listener
    except AttributeError:
        unregister = monitoring._unregister_event_duration_listener_by_callback
    unregister(listener)
