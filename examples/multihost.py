"""One explanation on many hosts: start this script once on each, all with the same --coordinator.

    python examples/multihost.py --coordinator host0:1234 --processes 2 --process 0  # on host 0
    python examples/multihost.py --coordinator host0:1234 --processes 2 --process 1  # on host 1

Under Slurm, `srun python examples/multihost.py` finds all three by itself; under Kubernetes an
indexed job knows them as JOB_COMPLETION_INDEX, the number of completions and the address of its
first pod. Every process makes the same call; the coalitions are shared out over the devices of all
of them, and each gets the whole explanation.
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

import jaxshap


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--coordinator", help="host:port of process 0; found by itself under Slurm")
    parser.add_argument("--processes", type=int)
    parser.add_argument("--process", type=int)
    parser.add_argument(
        "--patience",
        type=int,
        default=60,
        help="seconds after which a silent process counts as dead",
    )
    options = parser.parse_args()
    jax.distributed.initialize(
        options.coordinator,
        options.processes,
        options.process,
        initialization_timeout=options.patience,
        heartbeat_timeout_seconds=options.patience,
    )
    rng = np.random.default_rng(0)  # the same table and weights on every host
    rows, background, weights = (
        rng.normal(size=size).astype(np.float32) for size in ((4, 20), (50, 20), (20, 3))
    )
    mesh = Mesh(np.array(jax.devices()), ("hosts",))
    explanation = jaxshap.explain(
        lambda x: jnp.tanh(x @ weights), rows, background, budget=1000, mesh=mesh
    )
    if jax.process_index() == 0:
        print(f"{jax.process_count()} processes, {len(jax.devices())} devices")
        print(explanation[0, :, 0])


if __name__ == "__main__":
    main()
