"""An ONNX model as a function of rows, through onnxruntime."""

from typing import Any

import numpy as np

from jaxshap.cli.exits import UsageError
from jaxshap.games import Host

DTYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64}
CLASS_MAPS = "seq(map("  # a dictionary of classes per row: its type begins with this


def read_onnx(path: str) -> tuple[Host, int | None]:
    """The function and how many columns it takes, None where the file does not say.

    A model has one input of rows. Of its outputs the first of floating-point numbers is explained:
    for a classifier these are the probabilities, which stand beside the labels.
    """
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    if len(inputs) != 1 or inputs[0].type not in DTYPES or len(inputs[0].shape) != 2:
        taken = ", ".join(f"{node.name} {node.type} {node.shape}" for node in inputs)
        raise UsageError(
            f"{path} takes {taken}: export it with one input (rows, columns) of floating-point "
            "numbers."
        )
    rows, columns = inputs[0].shape
    if isinstance(rows, int):
        raise UsageError(
            f"{path} takes {rows} row(s) at a time: export it with a free number of rows."
        )
    outputs = [
        node.name
        for node in session.get_outputs()
        if node.type in DTYPES or node.type.startswith(CLASS_MAPS)
    ]
    if not outputs:
        raise UsageError(
            f"{path} returns no floating-point numbers: export it with probabilities or scores."
        )
    name, dtype = inputs[0].name, DTYPES[inputs[0].type]

    def predict(batch: np.ndarray) -> np.ndarray:
        (scores,) = session.run(outputs[:1], {name: np.asarray(batch, dtype)})
        return _as_array(scores)

    return Host(predict), columns if isinstance(columns, int) else None


def _as_array(scores: Any) -> np.ndarray:
    """(rows,) or (rows, outputs); a dictionary of classes per row becomes columns in its order."""
    if isinstance(scores, list):
        scores = np.array([list(classes.values()) for classes in scores], np.float32)
    return scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores
