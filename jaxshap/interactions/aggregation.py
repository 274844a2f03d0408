"""k-SII from SII: interactions that add up to the prediction."""

import dataclasses
import itertools

import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from jaxshap.errors import InputError
from jaxshap.games import bernoulli, check_kind, sets_of_size, starts
from jaxshap.interactions.index_values import Interactions


def aggregated(interactions: Interactions) -> Interactions:
    """The k-SII of Shapley interactions, such as those of an explanation: they sum to v(N) − v(∅).

    k-SII(S) = Σ_{T⊇S} B_{|T|−|S|} SII(T) over sets T of up to `order` players, with Bernoulli
    numbers B (Bordt & von Luxburg, 2023): of order two a player keeps its value less half of all
    its interactions.

    Args:
        interactions: those of index "SII", of any order, rows and outputs.

    Returns:
        The `Interactions` of index "k-SII". Their standard errors are upper bounds, the sums of
        those of what they are made of, whatever the correlations of these.

    Raises:
        InputError: the index is not "SII".

    Example:
        >>> import jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 6.0])
        >>> shapley = jaxshap.interactions.exact_interactions(game, "SII")
        >>> jaxshap.interactions.aggregated(shapley).values.tolist()
        [1.0, 2.0, 3.0]
    """
    check_kind(interactions, Interactions, "interactions", "what exact_interactions returned")
    if interactions.index != "SII":
        raise InputError(
            f'these interactions are of index "{interactions.index}", and k-SII is made of "SII": '
            'pass index="SII".'
        )
    number, order = interactions.num_players, interactions.order
    values, error = jnp.asarray(interactions.values), jnp.asarray(interactions.std_error)
    of_sets, of_errors = values, error
    for large in range(2, order + 1):
        sets = sets_of_size(number, large)
        whole = _places(sets, number, order)
        for size in range(1, large):
            weight = float(bernoulli(large - size))
            for inside in itertools.combinations(range(large), size) if weight else ():
                part = _places(sets[:, inside], number, order)
                values = values.at[part].add(weight * of_sets[whole])
                error = error.at[part].add(abs(weight) * of_errors[whole])
    return dataclasses.replace(interactions, values=values, std_error=error, index="k-SII")


def _places(sets: Int[np.ndarray, "k size"], num_players: int, order: int) -> Int[np.ndarray, "k"]:
    """Where sets of one size stand among all, ∅ not counted."""
    size = sets.shape[1]
    digits = num_players ** np.arange(size)[::-1]
    every = sets_of_size(num_players, size) @ digits  # in lexicographic order
    return starts(num_players, order)[size] - 1 + np.searchsorted(every, sets @ digits)
