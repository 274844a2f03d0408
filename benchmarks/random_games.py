"""Random games of many kinds, as tables of 2**n worths: on the first seventeen kinds the width of
OddGP's errors was
chosen (9 and 12 players, seed 1); the others, and other numbers of players and seeds, are there to
check it.
"""

from collections.abc import Callable, Iterator

import numpy as np
from jaxtyping import Bool, Float

Table = Float[np.ndarray, "size"]
Members = Bool[np.ndarray, "size n"]


def random_games(
    seed: int, num_players: int, count: int, kinds: tuple[str, ...]
) -> Iterator[tuple[str, Table]]:
    """`count` games of each kind; a game that came out constant is left out."""
    players = (np.arange(2**num_players)[:, None] >> np.arange(num_players)) & 1 == 1
    for kind in kinds:
        for number in range(count):
            rng = np.random.default_rng([seed, num_players, list(KINDS).index(kind), number])
            worths = np.asarray(KINDS[kind](rng, players), float)
            if np.ptp(worths) > 0:
                yield kind, worths


def _network(
    rng,
    players: Members,
    scales=(1.0,),
    rectified=False,
    backgrounds=(1, 1, 8),
    end=lambda out: out,
) -> Table:
    """Two hidden layers of 24 at random, absent features from random background rows."""
    n, scale, width = players.shape[1], rng.choice(scales), 24
    first = rng.normal(size=(n, width)) * 2 * scale / np.sqrt(n), rng.normal(size=width) * scale / 2
    second = (
        rng.normal(size=(width, width)) * 2 * scale / np.sqrt(width),
        rng.normal(size=width) * scale / 2,
    )
    last, row = rng.normal(size=width) * scale / np.sqrt(width), rng.normal(size=n)

    def predict(hidden):
        for weights, shift in (first, second):
            hidden = hidden @ weights + shift
            hidden = np.maximum(hidden, 0) if rectified else np.tanh(hidden)
        return end(hidden @ last)

    background = rng.normal(size=(rng.choice(backgrounds), n))
    return np.mean([predict(np.where(players, row, other)) for other in background], axis=0)


def _trees(rng, players: Members, numbers, depths, backgrounds) -> Table:
    n, depth, row = players.shape[1], rng.choice(depths), rng.normal(size=players.shape[1])
    background, total = rng.normal(size=(backgrounds, n)), np.zeros(len(players))
    for _ in range(rng.choice(numbers)):
        used = rng.permutation(n)[: n if rng.random() < 0.5 else max(2, n // 3)]
        feature, split = rng.choice(used, 2**depth - 1), rng.normal(size=2**depth - 1) * 0.7
        leaf = rng.normal(size=2**depth)
        for other in background:
            rows, node = np.where(players, row, other), np.zeros(len(players), int)
            for _ in range(depth):
                node = 2 * node + 1 + (rows[np.arange(len(rows)), feature[node]] > split[node])
            total += leaf[node - (2**depth - 1)]
    return total / backgrounds


def _votes(rng, players: Members, bodies: int) -> Table:
    total = np.zeros(len(players))
    for _ in range(bodies):
        weights = rng.gamma(rng.choice([0.5, 1, 4, 30]), size=players.shape[1])
        passed = players @ weights >= rng.uniform(0.25, 0.75) * weights.sum()
        total += passed * (1 if bodies == 1 else rng.normal())
    return total


def _unanimity(rng, players: Members) -> Table:
    n, most, total = players.shape[1], rng.choice([3, 5, 7]), np.zeros(len(players))
    for _ in range(rng.choice([5, 15, 40])):
        needed, feared = (
            rng.permutation(n)[: rng.integers(1, most + 1)],
            rng.permutation(n)[: rng.integers(0, 2)],
        )
        feared = feared[~np.isin(feared, needed)]
        total += rng.normal() * (players[:, needed].all(1) & ~players[:, feared].any(1))
    return total


def _polynomial(rng, players: Members) -> Table:
    signs = np.where(players, 1.0, -1.0 if rng.random() < 0.5 else 0.0)
    order, decay, total = (
        rng.choice([2, 3, 4, 6]),
        rng.choice([0.5, 1]),
        signs @ rng.normal(size=players.shape[1]),
    )
    for _ in range(rng.choice([10, 40])):
        chosen = rng.permutation(players.shape[1])[: rng.integers(1, order + 1)]
        total += rng.normal() * decay ** len(chosen) * signs[:, chosen].prod(1)
    return total


def _concave(rng, players: Members) -> Table:
    n, kind = players.shape[1], rng.integers(4)
    if kind == 0:
        return np.sqrt(players @ rng.gamma(1, size=n))
    if kind == 1:
        return (players * rng.gamma(2, size=n)).max(1)
    if kind == 2:
        return (players.astype(float) @ (rng.random((n, 40)) < 0.15) > 0) @ rng.gamma(1, size=40)
    edges = np.triu(rng.random((n, n)) < 0.3, 1)
    return np.einsum("si,ij,sj->s", players, edges, ~players) + np.einsum(
        "si,ij,sj->s", ~players, edges, players
    )


def _sparse(rng, players: Members) -> Table:
    few = players[:, rng.permutation(players.shape[1])[:4]]
    return np.tanh(2 * few @ rng.normal(size=4)) * (1 + few[:, 0]) + 0.01 * players @ rng.normal(
        size=players.shape[1]
    )


def _noisy(rng, players: Members) -> Table:
    slopes, bends = rng.normal(size=(2, players.shape[1]))
    return (
        players @ slopes
        + np.tanh(players @ bends)
        + rng.choice([0.05, 0.3, 1]) * rng.normal(size=len(players))
    )


def _parity(rng, players: Members) -> Table:
    few = players[:, rng.permutation(players.shape[1])[: rng.integers(3, 6)]]
    return few.sum(1) % 2 + 0.5 * (players @ rng.normal(size=players.shape[1]))


def _connected(rng, players: Members) -> Table:
    """Whether the first player reaches the last along edges between members: a game that jumps."""
    n = players.shape[1]
    edges = rng.random((n, n)) < 0.4
    edges = edges | edges.T
    reached = np.zeros_like(players)
    reached[:, 0] = players[:, 0]
    for _ in range(n):
        reached |= (reached.astype(int) @ edges > 0) & players
    return reached[:, 1:] @ rng.gamma(1, size=n - 1)


def _ranked(rng, players: Members) -> Table:
    """The rank of a score among random rivals, as of a search result: many small jumps."""
    score = (
        players @ rng.normal(size=players.shape[1])
        + 0.3 * (players @ rng.normal(size=players.shape[1])) ** 2
    )
    return (score[:, None] > rng.normal(size=30) * score.std() + score.mean()).sum(1)


def _saturating(rng, players: Members) -> Table:
    """Learning from data sets: accuracy grows with a power of what was pooled, with synergies
    between some.
    """
    amount = players @ rng.gamma(2, size=players.shape[1])
    pairs = players[:, ::2][:, : players.shape[1] // 2] & players[:, 1::2]
    return 1 - (1 + amount + pairs @ rng.gamma(1, size=pairs.shape[1])) ** -rng.choice(
        [0.3, 0.7, 1.5]
    )


KINDS: dict[str, Callable[[np.random.Generator, Members], Table]] = {
    "tanh network": lambda rng, s: _network(rng, s, (0.5, 1, 1.5, 2.5)),
    "relu network": lambda rng, s: _network(rng, s, rectified=True),
    "probability": lambda rng, s: _network(
        rng, s, (0.7, 1.2, 2), backgrounds=(1, 8), end=lambda o: 1 / (1 + np.exp(-3 * o))
    ),
    "class": lambda rng, s: _network(rng, s, (0.7, 1.2), True, (1, 8), lambda out: out > 0),
    "trees": lambda rng, s: _trees(rng, s, (1, 5, 30), (2, 3, 5), 1),
    "trees, background": lambda rng, s: _trees(rng, s, (5, 30), (2, 4), 10),
    "vote": lambda rng, s: _votes(rng, s, 1),
    "votes": lambda rng, s: _votes(rng, s, rng.integers(2, 6)),
    "unanimity": _unanimity,
    "polynomial": _polynomial,
    "product": lambda rng, s: np.where(
        s, 1 + rng.choice([0.2, 0.5, 1]) * rng.normal(size=s.shape[1]), 1
    ).prod(1),
    "noisy": _noisy,
    "concave": _concave,
    "sparse": _sparse,
    "maximum": lambda rng, s: (s @ rng.normal(size=(s.shape[1], 3)) + 0.3 * rng.normal(size=3)).max(
        1
    ),
    "steps": lambda rng, s: np.round(s @ rng.normal(size=s.shape[1]) * rng.choice([0.7, 1.5, 4])),
    "parity": _parity,
    "connected": _connected,
    "ranked": _ranked,
    "saturating": _saturating,
}
NEW = ("connected", "ranked", "saturating")  # kinds that nothing was chosen on
