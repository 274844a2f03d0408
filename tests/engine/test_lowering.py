"""Every program of the library lowers for CUDA and TPU, and asks only for calls that both have."""

import re

import jax
import jax.export
import pytest
from device_programs import PROGRAMS, program

OLDEST_JAX = 0, 10  # before it programs were lowered to other calls
pytestmark = pytest.mark.skipif(
    tuple(map(int, jax.__version__.split(".")[:2])) < OLDEST_JAX,
    reason="the list is of the calls of newer versions of JAX",
)

CHOLESKY = {"cusolver_potrf_ffi"}  # on TPU an operation of XLA itself
SVD = {"Eigh", "ProductOfElementaryHouseholderReflectors", "Qr", "cusolver_gesvdj_ffi"}
CALLS = {
    "conditional, Copula": CHOLESKY,
    "conditional, Gaussian": CHOLESKY,
    "forward selection": CHOLESKY,
    "lasso path": CHOLESKY,
    "manifold": {"Eigh", "cusolver_syevd_ffi"},
    "posterior": CHOLESKY,
    "ridge": CHOLESKY,
    "solve of Kernel()": CHOLESKY,
    "solve of Leverage()": CHOLESKY,
    "solve of OddGP(fit_each=None)": CHOLESKY | SVD,
    "solve of OddGP(fit_each=True)": CHOLESKY | SVD,
    "solve of OddInteractions(fit_each=None, index='SII', order=2)": CHOLESKY | SVD,
    "solve of OddLinear()": CHOLESKY,
    "solve of RegressionAdjusted(surrogate=LinearSurrogate(ridge=1e-06), num_folds=5)": CHOLESKY,
    "solve of RegressionAdjusted(surrogate=PairwiseSurrogate(ridge=0.01), num_folds=5)": CHOLESKY,
    "solve of Scattered(estimator=Leverage())": CHOLESKY,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_lowers_for_cuda_and_tpu_with_the_custom_calls_that_are_known(name):
    function, arguments, _ = program(name)
    lowered = jax.export.export(jax.jit(function), platforms=["cuda", "tpu"])(*arguments)
    assert lowered.platforms == ("cuda", "tpu")
    assert set(re.findall(r"custom_call @(\w+)", lowered.mlir_module())) == CALLS.get(name, set())


def test_every_name_in_the_list_is_a_program():
    assert set(CALLS) <= set(PROGRAMS)
