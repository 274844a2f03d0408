"""Peak memory of `explain` for a large table, in a process of its own.

1,000 rows and 100 features with a linear model and a sigmoid. With a `budget` every background row
is asked about every coalition, 10,000 of them in about ten minutes; by default 128 rows are, which
fill the memory that worths may take all the same. `model_rows=` asks 10,000 background rows about
an ordering each, 2 million model rows per explained row, or 20,000 by default.
"""

import argparse
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
import report

FEATURES, ROWS, BACKGROUND = 100, 1000, 10_000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--full", action="store_true", help="10,000 background rows in both calls")
    options.add_argument("--rows", type=int, default=ROWS)
    options.add_argument("--call", nargs=2, help="used by the script itself: its keyword and rows")
    options = options.parse_args()
    if options.call:
        _explain(options.call[0], int(options.call[1]), options)
        return
    calls = ("budget", BACKGROUND if options.full else 128), ("model_rows", BACKGROUND)
    lines = []
    for keyword, background in calls:
        command = [sys.executable, __file__, "--rows", str(options.rows)]
        command += ["--call", keyword, str(background), *(["--full"] if options.full else [])]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(run.stderr)
        lines.append([options.rows, background, *run.stdout.strip().splitlines()[-1].split("|")])
        print(*lines[-1], flush=True)
    header = ["rows", "background rows", "call", "peak memory, GB", "seconds"]
    report.write_table(__file__, f"Peak memory of explain, {FEATURES} features", header, lines)


def _explain(keyword: str, background: int, options: argparse.Namespace) -> None:
    import jax
    import jax.numpy as jnp

    import jaxshap

    rng = np.random.default_rng(0)
    sizes = options.rows, background
    rows, references = (rng.normal(size=(size, FEATURES)).astype(np.float32) for size in sizes)
    slopes = jnp.asarray(rng.normal(size=FEATURES) / 5, jnp.float32)
    spent: dict[str, Any] = {"budget": 2 * FEATURES + 2 if options.full else 1000}
    if keyword == "model_rows":
        spent = {"model_rows": 2_000_000 if options.full else 20_000}
    begin = time.perf_counter()
    jaxshap.explain(lambda x: jax.nn.sigmoid(x @ slopes), rows, references, progress=False, **spent)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    arguments = ", ".join(f"{name}={number:,}" for name, number in spent.items())
    print(f"{arguments}|{peak:.2f}|{seconds:.0f}")


if __name__ == "__main__":
    main()
