"""What is expected of the hyperparameters of a process before any worth is seen."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jaxshap.estimators.odd.mixture import SignMixture
from jaxshap.estimators.odd.process import Prior

LOW_ODDS, NO_LOW_ODDS = 2.0, -6.0  # expected with all sets of two players among the rows, or not


def start(
    num_players: int, dtype, odd: bool, low: float | Float[Array, ""] = NO_LOW_ODDS
) -> SignMixture:
    """Where the first fit begins: interactions that fade within a few players, however many there
    are.

    A sum of θ far above that of the game (it was 1 to 2 for networks of 100 to 784 players) takes
    more steps to leave than there are.
    """
    theta = float(np.log(min(0.3, 2 / num_players)))
    return _mixture(num_players, dtype, odd, theta, nu=-4.0, w=-3.0, size=-4.0, low=low)


def smooth_start(
    num_players: int, dtype, odd: bool, low: float | Float[Array, ""] = NO_LOW_ODDS
) -> SignMixture:
    """Where the fit of a smooth game of hundreds of players ends, in all but single players."""
    theta = float(np.log(1.2 / num_players))
    return _mixture(num_players, dtype, odd, theta, nu=-11.0, w=-6.0, size=-11.0, low=low)


def first_prior(
    num_players: int, dtype, odd: bool, low: float | Float[Array, ""] = NO_LOW_ODDS
) -> Prior:
    """Interactions fade with the number of players; θ, ν and w are known to an order of magnitude
    or two.
    """
    theta = -0.5 * float(np.log(num_players))
    centre = _mixture(num_players, dtype, odd, theta, nu=-5.0, w=-3.0, size=-7.0, low=low)
    return Prior(
        centre,
        _mixture(
            num_players,
            dtype,
            odd,
            1.0,
            nu=4.0,
            w=2.0,
            size=3.0,
            low=3.0,
        ),
        2.0,
    )


def prior_around(mixture: SignMixture) -> Prior:
    """For one output, about the mixture that fits all of them."""
    num_players, dtype = len(mixture.log_theta), mixture.log_theta.dtype
    return Prior(
        mixture,
        _mixture(num_players, dtype, mixture.odd, 1.0, nu=3.0, w=2.0, size=2.0, low=3.0),
        1.0,
    )


def bounds(num_players: int, dtype, odd: bool) -> tuple[SignMixture, SignMixture]:
    """The least and the greatest hyperparameters that a fit may take."""
    return (
        _mixture(num_players, dtype, odd, -7.0, nu=-16.0, w=-12.0, size=-16.0, low=-12.0),
        _mixture(num_players, dtype, odd, float(np.log(3)), nu=3.0, w=3.0, size=5.0, low=30.0),
    )


def _mixture(
    num_players: int,
    dtype,
    odd: bool,
    theta: float,
    *,
    nu: float,
    w: float,
    size: float,
    low: float | Float[Array, ""],
) -> SignMixture:
    """A mixture from numbers, all of them logarithms."""
    return SignMixture(
        log_theta=jnp.full(num_players, theta, dtype),
        log_nu=jnp.asarray(nu, dtype),
        log_w=jnp.asarray(w, dtype),
        log_size=jnp.asarray(size, dtype),
        low_odds=jnp.asarray(low, dtype),
        odd=odd,
    )
