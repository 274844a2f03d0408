"""Memory that a new lambda per call takes: resident megabytes by the number of calls.

    python benchmarks/memory_growth.py

Every call compiles programs for a function that JAX has not seen, as in a loop over models.
"""

import argparse
import resource
import time

import jax
import numpy as np
import report

import jaxshap

MEGABYTE = 2**20


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=500)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    rows, background = rng.normal(size=(5, 6)), rng.normal(size=(10, 6))
    lines, begin = [], time.monotonic()
    for call in range(1, options.calls + 1):
        weights = rng.normal(size=6).astype(np.float32)
        jaxshap.explain(
            lambda x, w=weights: jax.nn.sigmoid(x @ w), rows, background, progress=False
        )
        if call == 1 or call % 50 == 0:
            lines.append([call, _resident(), (time.monotonic() - begin) / call])
            print(*lines[-1], flush=True)
    growth = (lines[-1][1] - lines[2][1]) / (lines[-1][0] - lines[2][0])
    notes = [
        f"From call {lines[2][0]} on memory grows by {growth:.3f} MB per call. Programs of the "
        "models used last are kept, for each function that is compiled with a model."
    ]
    header = ["calls", "resident MB", "seconds per call"]
    report.write_table(__file__, "Memory by calls with a new lambda each", header, lines, notes)


def _resident() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / MEGABYTE


if __name__ == "__main__":
    main()
