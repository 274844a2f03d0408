"""Which bytes give away the type of a file: a network with trained weights on the host, magika.

The network and its labels come inside the PyPI package `magika` and run in ONNX Runtime. It reads
the first and the last 1,024 bytes of a file. Players are stretches of bytes, wherever the network
sees them, and its padding token stands in the place of absent ones:

    pip install "jaxshap[magika]"
    python examples/file_types.py
"""

import importlib.util
import json
import pathlib
import re
from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

import jaxshap

ENDS = 1024  # bytes that the network reads at the beginning, and as many at the end
PADDING = 256  # the token after those of the 256 bytes
Network = Callable[[Int[np.ndarray, "files 2048"]], Float[np.ndarray, "files labels"]]


def load() -> tuple[Network, list[str]]:
    """The network, from tokens to the probability of each label, and the labels."""
    import onnxruntime

    found = importlib.util.find_spec("magika")
    if found is None or found.origin is None:
        raise ModuleNotFoundError('pip install "jaxshap[magika]"')
    (folder,) = (pathlib.Path(found.origin).parent / "models").glob("standard_*")
    session = onnxruntime.InferenceSession(
        folder / "model.onnx", providers=["CPUExecutionProvider"]
    )
    labels = json.loads((folder / "config.min.json").read_text())["target_labels_space"]
    return lambda tokens: session.run(None, {"bytes": tokens.astype(np.int32)})[0], labels


def tokens(content: bytes) -> Int[np.ndarray, "2048"]:
    """What the network reads of a short file: its two ends, without spaces around them."""
    seen = _places(content)
    text = np.frombuffer(content, np.uint8).astype(np.int32)
    return np.where(seen < 0, PADDING, text[seen])


def players(content: bytes, pattern: bytes = rb"\S+") -> jaxshap.Players:
    """One player per match of a regular expression; all other bytes always stay."""
    owner = np.full(len(content) + 1, -1)  # the last is that of padding
    names = []
    for match in re.finditer(pattern, content):
        owner[match.start() : match.end()] = len(names)
        names.append(match.group().decode(errors="backslashreplace"))
    read = owner[_places(content)]
    kept = np.unique(read[read >= 0])  # the network does not read the middle of a long file
    return jaxshap.segments(read, [f"{names[number]} ({number})" for number in kept])


def _places(content: bytes) -> Int[np.ndarray, "2048"]:
    """Where in the file each token stands; −1 for padding."""
    first = np.arange(len(content))[len(content) - len(content.lstrip()) :][:ENDS]
    last = np.arange(len(content.rstrip()))[-ENDS:]
    front, back = (np.full(ENDS - len(part), -1) for part in (first, last))
    return np.concatenate([first, front, back, last])


def explain(content: bytes, pattern: bytes = rb"\S+") -> jaxshap.Explanation:
    """Why the network finds its most probable label for this file."""
    network, labels = load()
    return jaxshap.explain(
        jaxshap.host(network),
        tokens(content)[None],
        np.full((1, 2 * ENDS), PADDING),
        groups=players(content, pattern),
        outputs=jaxshap.Top(1),
        output_names=labels,
    )


SCRIPT = b"""import csv
rows = list(csv.reader(open("prices.csv")))
print(len(rows), "rows")
"""

if __name__ == "__main__":
    explained = explain(SCRIPT)
    print("label:", explained.row_outputs[0, 0])
    print(explained)
