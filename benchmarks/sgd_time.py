"""How long 10,000 steps of projected SGD take, over the time of their 10,000 model evaluations, at
300 players.

The model is a network with two hidden layers of 64; both are timed in one run, in turns, compiled
before, best of 15.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
import report

import jaxshap

NUM_PLAYERS, NUM_STEPS = 300, 10_000


def main():
    keys = jax.random.split(jax.random.key(0), 4)
    shapes = ((NUM_PLAYERS, 64), (64, 64), (64, 1))
    layers = [
        jax.random.normal(key, shape) / np.sqrt(shape[0])
        for key, shape in zip(keys, shapes, strict=False)
    ]

    def model(rows):
        return (jnp.tanh(jnp.tanh(rows @ layers[0]) @ layers[1]) @ layers[2])[:, 0]

    row, reference = jax.random.normal(keys[3], (2, NUM_PLAYERS))
    game = jaxshap.baseline(model, row[None], reference)
    estimator = jaxshap.ProjectedSGD(jaxshap.estimators.RootStep(0.005))
    plan = estimator.plan(jax.random.key(1), NUM_PLAYERS, NUM_STEPS + 2)
    worths = jaxshap.evaluate(game, plan.coalitions)
    inputs = jnp.where(plan.coalitions, row, reference)
    bare, descend = jax.jit(model), jax.jit(estimator.solve)
    contestants = {
        "the bare model on 10,000 rows": lambda: bare(inputs),
        "evaluate, masking included": lambda: jaxshap.evaluate(game, plan.coalitions),
        "10,000 projected steps": lambda: descend(plan, worths, game.empty, game.full),
    }
    best = dict.fromkeys(contestants, np.inf)
    for _ in range(16):
        for name, run in contestants.items():
            start = time.perf_counter()
            jax.block_until_ready(run())
            best[name] = min(best[name], time.perf_counter() - start)
    first = next(iter(best.values()))
    rows = [(name, 1e3 * seconds, seconds / first) for name, seconds in best.items()]
    report.write_table(
        __file__, "Projected SGD at 300 players", ("", "ms", "over the bare model"), rows
    )


if __name__ == "__main__":
    main()
