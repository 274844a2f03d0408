"""Random games in which much of what matters is seldom seen: spikes, thresholds, interactions of
many players. `random_games` has the ordinary ones.
"""

import numpy as np
from jaxtyping import Bool, Float
from random_games import KINDS, Members, Table


def _needle(rng: np.random.Generator, players: Members) -> Table:
    """One coalition, neither small nor large, is worth something."""
    n = players.shape[1]
    return _is(players, rng.permutation(n) < rng.integers(3, n - 2)).astype(float)


def _glove(rng: np.random.Generator, players: Members) -> Table:
    """Pairs of a left and a right glove, of which there may be few of one."""
    left = rng.permutation(players.shape[1]) < rng.integers(1, players.shape[1])
    return np.minimum(players[:, left].sum(1), players[:, ~left].sum(1)).astype(float)


def _high_order(rng: np.random.Generator, players: Members) -> Table:
    """An additive game and a few interactions of five players and more."""
    n, total = players.shape[1], players @ rng.normal(size=players.shape[1])
    for _ in range(rng.integers(1, 5)):
        chosen = rng.permutation(n)[: rng.integers(5, n - 1)]
        total = total + 2 * rng.normal() * players[:, chosen].all(1)
    return total


def _xor(rng: np.random.Generator, players: Members) -> Table:
    """An additive game and whether the number of members among seven is odd."""
    seven = rng.permutation(players.shape[1])[:7]
    additive = players @ rng.normal(size=players.shape[1])
    return additive + rng.choice([0.3, 1, 3]) * (players[:, seven].sum(1) % 2)


def _weakest_link(rng: np.random.Generator, players: Members) -> Table:
    """Each player works on one of a few stages, and the stage with the least done decides."""
    n = players.shape[1]
    stage = rng.integers(rng.integers(2, 5), size=n)
    done = [
        (players[:, stage == one] @ rng.gamma(2, size=(stage == one).sum())) for one in set(stage)
    ]
    return np.min(done, axis=0)


def _additive_orders(rng: np.random.Generator, players: Members) -> Table:
    """Dividends of all coalitions of at most two, three or four players."""
    n, most = players.shape[1], rng.integers(2, 5)
    dividends = np.where(players.sum(1) <= most, rng.normal(size=2**n), 0)
    for player in range(n):
        halves = dividends.reshape(-1, 2, 2**player)
        halves[:, 1] += halves[:, 0]
    return dividends


def _bankruptcy(rng: np.random.Generator, players: Members) -> Table:
    """What is left of an estate when all others have been paid."""
    claims = rng.gamma(1, size=players.shape[1])
    return np.maximum(rng.uniform(0.2, 0.8) * claims.sum() - ~players @ claims, 0)


def _size_steep(rng: np.random.Generator, players: Members) -> Table:
    """Costs that fall steeply with size, a little by who is there."""
    size, quality = np.maximum(players.sum(1), 1), players @ rng.gamma(1, size=players.shape[1])
    steep = 300 / size ** rng.choice([1.0, 1.5, 2.0]) * (1 + 0.3 * np.tanh(quality / size - 1))
    return np.where(players.any(1), steep, 0)


def _rare_event(rng: np.random.Generator, players: Members) -> Table:
    """An additive game that jumps where four given players are there and three others are not."""
    order = rng.permutation(players.shape[1])
    event = players[:, order[:4]].all(1) & ~players[:, order[4:7]].any(1)
    return players @ rng.normal(size=players.shape[1]) + 3 * rng.normal() * event


def _is(players: Members, wanted: Bool[np.ndarray, "n"]) -> Bool[np.ndarray, "size"]:
    return (players == wanted).all(1)


HIDDEN = {
    "needle": _needle,
    "glove": _glove,
    "sparse high-order": _high_order,
    "additive and XOR of seven": _xor,
    "weakest link": _weakest_link,
    "k-additive": _additive_orders,
    "airport": lambda rng, s: (s * rng.gamma(1, size=s.shape[1])).max(1),
    "bankruptcy": _bankruptcy,
    "size-steep": _size_steep,
    "rare event": _rare_event,
    "additive": lambda rng, s: s @ rng.normal(size=s.shape[1]),
}
ALL_KINDS = {**KINDS, **HIDDEN}


def drawn_game(kind: str, num_players: int, seed: int, number: int) -> Table:
    """One game of a kind, a table of 2**n worths of spread 1; drawn anew where it is constant."""
    players = (np.arange(2**num_players)[:, None] >> np.arange(num_players)) & 1 == 1
    for turn in range(100):
        rng = np.random.default_rng([seed, num_players, list(ALL_KINDS).index(kind), number, turn])
        worths = np.asarray(ALL_KINDS[kind](rng, players), float)
        if np.ptp(worths - worths[::-1]) > 0:
            return worths / worths.std()
    raise RuntimeError(
        f"all games of the kind {kind!r} came out the same for S and its complement."
    )


def exact_values(worths: Table) -> Float[np.ndarray, "n"]:
    """Shapley values by the Möbius transform: each dividend is shared alike."""
    num_players = len(worths).bit_length() - 1
    dividends, codes = worths.copy(), np.arange(len(worths))
    for player in range(num_players):
        halves = dividends.reshape(-1, 2, 2**player)
        halves[:, 1] -= halves[:, 0]
    share = dividends / np.maximum(np.bitwise_count(codes), 1)
    return np.array([share[codes >> player & 1 == 1].sum() for player in range(num_players)])
