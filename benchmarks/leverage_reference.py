"""Our Leverage against the published Leverage SHAP: errors on games with known values, over those in reference.json.

--games names a folder with games.npz and reference.json: tables of 2**n worths (`v`, index Σ_j S_j 2**j), or
conjunctions (`A`, `B`, `w`, `c`): v(S) = c + Σ_k w_k [A_k within S][B_k disjoint from S], with their values `phi`.
"""

import argparse
import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import report

import jaxshap


def read_games(folder: pathlib.Path):
    archive = np.load(folder / "games.npz")
    for name in map(str, archive["names"]):
        fields = {key.split("/", 1)[1]: archive[key] for key in archive.files if key.startswith(name + "/")}
        if "v" in fields:
            yield name, jaxshap.table(jnp.asarray(fields["v"], jnp.float32)), fields["phi"]
        else:
            parts = (jnp.asarray(fields[key], jnp.float32) for key in "ABwc")
            yield name, jaxshap.make_game(jax.tree_util.Partial(conjunctions, *parts), int(fields["d"])), fields["phi"]


def conjunctions(inside, outside, weights, constant, coalition):
    member = coalition.astype(weights.dtype)
    holds = (inside @ (1 - member) == 0) & (outside @ member == 0)
    return constant + weights @ holds.astype(weights.dtype)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=pathlib.Path, required=True)
    parser.add_argument("--keys", type=int, default=32)
    options = parser.parse_args()
    if not (options.games / "reference.json").exists():
        parser.error(f"{options.games} holds no reference.json: pass the folder with games.npz and reference.json.")
    reference = json.loads((options.games / "reference.json").read_text())
    keys, multiples, rows = jax.random.split(jax.random.key(0), options.keys), ("5", "10", "20"), []
    run = jax.jit(jax.vmap(jaxshap.estimate, in_axes=(0, None, None, None)), static_argnums=(2, 3))
    for name, game, truth in read_games(options.games):
        ratios = []
        for multiple in multiples:
            values = run(keys, game, jaxshap.Leverage(), int(multiple) * game.num_players).values
            error = ((np.asarray(values, float) - truth) ** 2).sum(1).mean() / (truth**2).sum()
            ratios.append(error / reference[name][multiple]["leverage"])
        rows.append((name, *ratios))
        jax.clear_caches()
    rows.append(("geometric mean", *np.exp(np.log([row[1:] for row in rows]).mean(0)).tolist()))
    title = "Leverage: mean squared error over that of the published implementation"
    notes = [f"{options.keys} keys of ours; budgets in multiples of the number of players, v(∅) and v(N) included."]
    report.write_table(__file__, title, ("game", *(f"{multiple}n" for multiple in multiples)), rows, notes)


if __name__ == "__main__":
    main()
