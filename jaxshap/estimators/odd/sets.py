"""Interactions as read-outs of a mixture: an index of all sets of players up to a size."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jaxshap.estimators.odd.kernels import log_constant, low_size
from jaxshap.estimators.odd.mixture import ReadOut, SignMixture
from jaxshap.estimators.odd.nodes import has_weight, node_weights, sign_weight
from jaxshap.estimators.odd.process import Told
from jaxshap.games import sets_of_size, worth_weights

MAX_BLOCK_NUMBERS = 2**23  # rows times sets that are read out at once, to bound memory
MAX_BLOCK_SETS = 2048

Members = Int[Array, "k size"]


@dataclasses.dataclass(frozen=True)
class SetsOf:
    """The index of all sets of up to `order` players, as far as one half of a game tells it.

    A posterior is asked it: the answer is about sets of these `sizes`, the others being 0.
    """

    index: str
    order: int
    num_players: int
    odd: bool

    @property
    def sizes(self) -> tuple[int, ...]:
        """Those to which this half of a game matters."""
        sizes = range(1, self.order + 1)
        return tuple(s for s in sizes if has_weight(*self._of(s), self.odd))

    def unseen(self, signs: Float[Array, "m n"], live: Bool[Array, "m"]) -> Float[Array, "sets"]:
        """Standard deviations of the index where worths are independent and of variance 1, but for
        those at the rows, which are known.
        """

        def of_size(size):
            def known(block):
                return ((jnp.where(live[:, None], self._worths(signs, block), 0) ** 2).sum(0),)

            every = worth_weights(*self._of(size)).squares[self.odd]
            (seen,) = self._in_blocks(size, len(signs), known)
            return jnp.sqrt(jnp.maximum(every - seen, 0))

        return jnp.concatenate([of_size(size) for size in self.sizes])

    def __call__(
        self, mixture: SignMixture, signs: Float[Array, "m n"], told: Told
    ) -> tuple[Float[Array, "sets out"], Float[Array, "sets out"]]:
        """Means and variances, from smaller to larger sets."""

        def of_size(size):
            return self._in_blocks(
                size, len(signs), lambda block: told(self.read_out(mixture, signs, block))
            )

        means, variances = zip(*map(of_size, self.sizes), strict=True)
        return jnp.concatenate(means), jnp.concatenate(variances)

    def exact(
        self, signs: Float[Array, "m n"], targets: Float[Array, "m out"]
    ) -> Float[Array, "sets out"]:
        """What this half adds to the index, from all its pairs: one side each."""

        def of_block(block):
            return (self._worths(signs, block).T @ targets,)

        return jnp.concatenate(
            [self._in_blocks(size, len(signs), of_block)[0] for size in self.sizes]
        )

    def read_out(
        self, mixture: SignMixture, signs: Float[Array, "m n"], members: Members
    ) -> ReadOut:
        """Covariance of the index of these sets, all of one size, with the rows."""
        _, size = members.shape
        worths = worth_weights(*self._of(size))
        cross = mixture.white * self._worths(signs, members)
        variance = mixture.white * worths.squares[self.odd]
        for theta, weight in mixture.components():
            smooth = self._smooth(theta, signs, members)
            cross, variance = cross + weight * smooth.cross, variance + weight * smooth.variance
        if mixture.has_low:
            low = self._low(jnp.exp(mixture.log_theta), signs, members)
            share = jax.nn.sigmoid(mixture.low_odds)
            cross, variance = cross + share * low.cross, variance + share * low.variance
        if self.odd:  # a function of the size alone
            of_sizes = worths.of_sizes - worths.of_sizes[::-1]
            by_row = jnp.asarray(of_sizes, signs.dtype)[_count(signs)]
            weight = jnp.exp(mixture.log_size)
            cross = cross + weight * by_row[:, None]
            variance = variance + weight * float((of_sizes**2).sum() / 2)
        return ReadOut(cross, variance)

    def _of(self, size: int) -> tuple[str, int, int, int]:
        return self.index, self.order, size, self.num_players

    def _smooth(
        self, theta: Float[Array, "n"], signs: Float[Array, "m n"], members: Members
    ) -> ReadOut:
        """Of sinh or cosh: c Π_{i∈S} ρ_i z_i ∫ Π_{r∉S} (1 + t ρ_r z_r) dμ(t), ρ = tanh θ."""
        nodes = node_weights(*self._of(members.shape[1]), self.odd)
        rho, offset = jnp.tanh(theta), log_constant(theta, self.odd)
        scaled = signs * rho
        positions, crosses, variances = (jnp.asarray(part, rho.dtype) for part in nodes)

        def products(position, rows):
            factors = 1 + position * rows
            whole = jnp.exp(jnp.log(factors).sum(1) + offset)
            return whole[:, None] * _members(rows / factors, members).prod(0)

        def node(total, point):
            position, weight = point
            return total + weight * products(position, scaled), None

        start = jnp.zeros((len(signs), len(members)), signs.dtype)
        cross = jax.lax.scan(node, start, (positions, crosses))[0]
        of_nodes = jax.lax.map(lambda position: products(position, rho[None])[0], positions)
        return ReadOut(cross, jnp.maximum(variances @ of_nodes, 0))

    def _low(
        self, theta: Float[Array, "n"], signs: Float[Array, "m n"], members: Members
    ) -> ReadOut:
        """Of the products of few signs in `low_kernel`: one and three, or two."""
        size = members.shape[1]
        squares = (theta**2).sum() - (theta[members] ** 2).sum(1)
        counts = [k for k in ((1, 3) if self.odd else (2,)) if k >= size]
        weights = {
            k - size: float(sign_weight(self.index, self.order, size, k - size)) for k in counts
        }

        def sums(rows, power):
            """Over products with S in them, each with a power of its g."""
            rest = rows.sum(1, keepdims=True) - _members(rows, members).sum(0)
            of_rest = jnp.ones_like(rest), rest, (rest**2 - squares) / 2
            total = sum((weights[k] ** power * of_rest[k] for k in weights), jnp.zeros_like(rest))
            return _members(rows, members).prod(0) * total

        unit = low_size(theta, self.odd)
        return ReadOut(sums(signs * theta, 1) / unit, sums(theta[None], 2)[0] / unit)

    def _worths(self, signs: Float[Array, "m n"], members: Members) -> Float[Array, "m k"]:
        """What each pair counts in the exact sum: the read-out of what no kernel predicts."""
        size = members.shape[1]
        weights = worth_weights(*self._of(size)).of_worths
        other = weights[::-1, ::-1]
        of_pairs = jnp.asarray(weights - other if self.odd else weights + other, signs.dtype)
        inside = (signs > 0)[:, members].sum(2)
        return of_pairs[inside, _count(signs)[:, None]]

    def _in_blocks(self, size: int, num_rows: int, of_block: Callable) -> tuple[Array, ...]:
        """`of_block` of all sets of this size, so many at a time as memory allows."""
        sets = sets_of_size(self.num_players, size)
        at_once = int(np.clip(MAX_BLOCK_NUMBERS // num_rows, 1, MAX_BLOCK_SETS))
        if len(sets) <= at_once:
            return of_block(jnp.asarray(sets))
        spare = -len(sets) % at_once
        blocks = np.concatenate([sets, sets[:1].repeat(spare, 0)]).reshape(-1, at_once, size)
        parts = jax.lax.map(of_block, jnp.asarray(blocks))
        return jax.tree.map(lambda part: part.reshape(-1, *part.shape[2:])[: len(sets)], parts)


def _members(rows: Float[Array, "m n"], members: Members) -> Float[Array, "size m k"]:
    """The columns of the members of each set."""
    return jnp.moveaxis(rows[:, members], 2, 0)


def _count(signs: Float[Array, "m n"]) -> Int[Array, "m"]:
    return (signs > 0).sum(1)
