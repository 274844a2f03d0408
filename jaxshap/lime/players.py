"""LIME over players: a linear model of a game, near the coalition of all players."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from jaxshap.engine import compiled, evaluate, read_key, unit_over_first
from jaxshap.errors import InputError
from jaxshap.games import Game, check_game, full_precision, read_number, read_whole
from jaxshap.lime.fits import check_selection
from jaxshap.lime.ridge import Line, weighted_ridge
from jaxshap.lime.selections import Selection

DEFAULT_WIDTH = 0.25 * np.sqrt(2)  # 0.25 in the `lime` package, which halves the exponent


class PlayerSurrogate(NamedTuple):
    """With players S present the worth is about intercept − Σ coefficients of absent players.

    Attributes:
        coefficients: what each player adds to the worth, of shape (players, *out); 0 for players
            that are not selected.
        std_error: standard errors of the coefficients from the sampling, given the selection; NaN
            for players that are not selected.
        intercept: the surrogate where all players are present, of shape (*out).
        score: the share of the weighted variance of worths that the surrogate explains.
        effective_samples: how many equally weighted samples the kernel leaves.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> gains = jnp.array([2.0, 0.0, -1.0, 0.0])
        >>> game = jaxshap.make_game(lambda inside: jnp.where(inside, gains, 0).sum(), 4)
        >>> line = jaxshap.lime.player_surrogate(0, game, num_samples=100, ridge=1e-3)
        >>> (line.coefficients.round(2) + 0.0).tolist(), line.score.round(2).tolist()
        ([2.0, 0.0, -1.0, 0.0], 1.0)
    """

    coefficients: Float[np.ndarray, "players *out"]
    std_error: Float[np.ndarray, "players *out"]
    intercept: Float[np.ndarray, "*out"]
    score: Float[np.ndarray, "*out"]
    effective_samples: float


def player_surrogate(
    key: Key[Array, ""] | int | np.integer,
    game: Game | Any,
    *,
    num_samples: int | Any = 1_000,
    kernel_width: float | Any = None,
    ridge: float | Any = 1.0,
    selection: Selection | Any = None,
) -> PlayerSurrogate:
    """LIME over players, such as patches of an image or tokens of a text.

    A sample leaves out players: how many is uniform from 1 to all, and which of them too. Its
    weight is exp(−d²/kernel_width²), where d = 1 − √(|S|/n) is the cosine distance to all players;
    the `lime` package halves the exponent, so that our width is √2 times its. Coefficients, unlike
    Shapley values, need not add up to the prediction. Ribeiro et al. (2016).

    Args:
        key: a JAX key, or a seed.
        game: the game, for example
            `marginal(model, X, background, players=patches((28, 28), 4))`.
        num_samples: how many coalitions to ask about, 1,000 by default.
        kernel_width: the width of the kernel; 0.25 √2 by default.
        ridge: the penalty on squared coefficients, 1 by default; 0 for plain least squares.
        selection: `ForwardSelection` or `LassoPath` for a sparse surrogate; by default all players
            are kept.

    Returns:
        A `PlayerSurrogate` with a line for every row and output of the game.

    Raises:
        InputTypeError: a model or a function was passed in place of a game.
        InputError: there are too few samples, or the options cannot be used.

    Example:
        >>> import jaxshap, numpy as np
        >>> image, grey = np.arange(16.0).reshape(1, 4, 4), np.zeros((1, 4, 4))
        >>> game = jaxshap.marginal(
        ...     lambda x: x.sum((1, 2)), image, grey, players=jaxshap.patches((4, 4), 2)
        ... )
        >>> line = jaxshap.lime.player_surrogate(0, game, num_samples=100, ridge=1e-3)
        >>> line.coefficients[:, 0].round(1).tolist()
        [10.0, 18.0, 42.0, 50.0]
    """
    check_game(game)
    num_samples = read_whole(num_samples, "num_samples")
    if num_samples < game.num_players + 2:
        raise InputError(
            f"num_samples={num_samples} for {game.num_players} players: a regression needs many "
            "more samples."
        )
    width = DEFAULT_WIDTH if kernel_width is None else kernel_width
    width = read_number(width, "kernel_width", above=0)
    check_selection(selection)
    penalty = read_number(ridge, "ridge", least=0)
    coalitions = drawn_coalitions(read_key(key), num_samples, game.num_players)
    worths = np.asarray(evaluate(game, coalitions, progress=False))
    full = np.asarray(game.full)
    gains = np.concatenate([worths - full, np.zeros_like(full)[None]])
    flat = gains.reshape(len(gains), -1)
    unit = unit_over_first(flat.astype(np.float64))
    dtype = jax.dtypes.canonicalize_dtype(flat.dtype)
    numbers = (jnp.asarray(part, dtype) for part in (flat / unit, width, penalty))
    line, effective = _lines(selection, coalitions, *numbers)

    def shaped(array: Array, shape: tuple[int, ...] = ()) -> np.ndarray:
        return np.moveaxis(np.asarray(array, np.float64), 0, -1).reshape((*shape, *full.shape))

    scale = unit.reshape(full.shape)
    players = (game.num_players,)
    return PlayerSurrogate(
        coefficients=(shaped(line.coefficients, players) * scale).astype(dtype),
        std_error=(shaped(line.std_error, players) * scale).astype(dtype),
        intercept=np.asarray(shaped(line.intercept) * scale + full, dtype),
        score=shaped(line.score).astype(dtype),
        effective_samples=float(effective),
    )


@functools.partial(jax.jit, static_argnums=(1, 2))
def drawn_coalitions(
    key: Key[Array, ""], count: int, num_players: int
) -> Bool[Array, "count players"]:
    """Coalitions of 0 to n − 1 players, each size as often; draw i comes from `fold_in(key, i)`."""

    def draw(number):
        first, second = jax.random.split(jax.random.fold_in(key, number))
        size = jax.random.randint(first, (), 0, num_players)
        return jax.random.permutation(second, num_players) < size

    return jax.vmap(draw)(jnp.arange(count))


@full_precision
def _lines_of(
    selection: Selection | Any,
    coalitions: Bool[Array, "samples players"],
    gains: Float[Array, "samples_and_all outputs"],
    width: Float[Array, ""],
    ridge: Float[Array, ""],
) -> tuple[Line, Float[Array, ""]]:
    """A line for each output, where all players are a sample too, of weight 1."""
    absent = coalitions.astype(gains.dtype) - 1
    apart = 1 - jnp.sqrt(coalitions.mean(1, dtype=gains.dtype))
    weights = jnp.exp(-((apart / width) ** 2))
    design = jnp.concatenate([absent, jnp.zeros_like(absent[:1])])
    drawn = jnp.arange(len(design)) < len(absent)
    everyone = jnp.append(weights, 1)

    def line(target):
        return weighted_ridge(design, target, everyone, ridge, selection, drawn)

    return jax.lax.map(line, gains.T), weights.sum() ** 2 / (weights**2).sum()


_lines = compiled(_lines_of, static_argnums=0)
