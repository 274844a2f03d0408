"""What a model returned, checked: one finite floating-point result per row."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxshap.errors import ModelOutputError


def check_outputs(shape: tuple[int, ...], dtype, num_rows: int) -> None:
    if len(shape) == 0 or shape[0] != num_rows:
        raise ModelOutputError(
            f"the model returned shape {shape} for {num_rows} rows: it must return one result a "
            "row, "
            "(rows,) or (rows, outputs)."
        )
    if not any(jnp.issubdtype(dtype, kind) for kind in (jnp.bool_, jnp.integer, jnp.floating)):
        raise ModelOutputError(
            f"the model returned {dtype}: Shapley values share out a real number. Return "
            "probabilities or scores rather than labels."
        )


def check_alike(full: np.ndarray, ends: np.ndarray) -> None:
    if full.shape[1:] != ends.shape[1:]:
        raise ModelOutputError(
            f"the model returned outputs of shape {full.shape[1:]} for rows of X and "
            f"{ends.shape[1:]} for the "
            "background: the shape must not depend on what is masked. Pad its outputs to one shape."
        )


def check_finite(outputs: Any, count: int, what: str) -> None:
    """A NaN in the background would spoil every value; under jit there is nothing to look at."""
    if isinstance(outputs, Tracer):
        return
    bad = np.asarray((~np.isfinite(np.asarray(outputs)[:count])).reshape(count, -1).any(axis=1))
    if bad.any():
        raise ModelOutputError(
            f"the model returns NaN or infinity for {bad.sum()} {what}(s), the first is {what} "
            f"{bad.argmax()}: "
            "mend the model or leave them out."
        )
