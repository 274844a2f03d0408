"""An ONNX model as a function of rows, through onnxruntime."""

from typing import Any

import numpy as np

from jaxshap.errors import InputError
from jaxshap.games import Host

NUMBERS = {"tensor(float)": np.float32, "tensor(double)": np.float64}


def read_onnx(path: str) -> tuple[Host, int | None]:
    """The function and how many columns it takes, None where the file does not say.

    A model has one input of rows. Of its outputs the first of floating-point numbers is explained:
    of a classifier that is the probabilities, beside the labels.
    """
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    if len(inputs) != 1 or inputs[0].type not in NUMBERS or len(inputs[0].shape) != 2:
        found = ", ".join(f"{one.name} {one.type} {one.shape}" for one in inputs)
        raise InputError(
            f"it takes {found}: export it with one input (rows, columns) of floating-point numbers."
        )
    rows, columns = inputs[0].shape
    if isinstance(rows, int):
        raise InputError(f"it takes {rows} row(s) at a time: export it with a free number of rows.")
    outputs = [
        one
        for one in session.get_outputs()
        if one.type in NUMBERS or one.type.startswith("seq(map")
    ]
    if not outputs:
        raise InputError(
            "it returns no floating-point numbers: export it with probabilities or scores."
        )
    name, dtype = inputs[0].name, NUMBERS[inputs[0].type]

    def predict(batch: np.ndarray) -> np.ndarray:
        return _table(session.run([outputs[0].name], {name: np.asarray(batch, dtype)})[0])

    return Host(predict), columns if isinstance(columns, int) else None


def _table(found: Any) -> np.ndarray:
    """(rows,) or (rows, outputs); a dictionary of classes for each row becomes columns in their
    order.
    """
    if isinstance(found, list):
        found = np.array([list(one.values()) for one in found], np.float32)
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
