"""The estimator protocol: plan which coalitions to ask about, then solve for the values."""

import abc
import inspect
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, PyTree

from jaxshap.games import array_library, full_precision, mapped

MATRICES_OF_SOLVE = 4  # of all coalitions by all coalitions, held while a stratum is solved


class Plan(NamedTuple):
    """The coalitions to evaluate, without ∅ and N, and what `solve` needs to know about them.

    Only the first `num_live` rows are real; the rest is padding, so that nearby budgets share one
    compiled program.

    Args:
        coalitions: who is in each coalition, one row per evaluation.
        num_live: how many rows are real.
        detail: whatever else the estimator's `solve` needs, a pytree; nothing by default.
        constants: what depends on the sizes of the plan alone, see `Estimator.constants`.

    Example:
        >>> import jax, jaxshap
        >>> plan = jaxshap.Permutation().plan(jax.random.key(0), 3, budget=8)
        >>> plan.coalitions.shape, plan.num_live
        ((4, 3), 4)
    """

    coalitions: Bool[Array, "m *strata n"]
    num_live: int | Int[Array, ""]
    detail: PyTree = ()
    constants: PyTree = ()

    @property
    def live(self) -> Bool[Any, "m"]:
        """Which coalitions are real, not padding."""
        return array_library(self.coalitions).arange(len(self.coalitions)) < self.num_live


class Estimate(NamedTuple):
    """Shapley values, their standard errors, and what the estimator knows about these.

    Read the fields by name. All of them have one shape, so `jax.tree.map` picks from all at once.
    Made by hand, an estimate is not exact and its errors are normal.

    Attributes:
        values: the value of each player, with shape `(n, *out)`.
        std_error: their standard errors: 0 where exact and nowhere else, NaN where unknown.
        exact: whether values are exact by design, no coalition that matters being left out. The
            estimator states it; it is never read off zeros.
        degrees: degrees of freedom of the standard errors, for Student's t; infinite where errors
            are normal or 0, and 0 where they are unknown.

    Example:
        >>> import jaxshap
        >>> estimate = jaxshap.estimate(0, jaxshap.table([0.0, 1.0, 2.0, 6.0]))
        >>> estimate.values.tolist(), estimate.std_error.tolist(), estimate.exact.tolist()
        ([2.5, 3.5], [0.0, 0.0], [True, True])
    """

    values: Float[Array, "n *out"]
    std_error: Float[Array, "n *out"]
    exact: Bool[Array, "n *out"] | bool = False
    degrees: Float[Array, "n *out"] | float = float("inf")


class Estimator(abc.ABC):
    """Hyperparameters and two pure methods, `plan` and `solve`.

    Subclasses are frozen dataclasses, so that equal estimators share a jit cache. `plan` never sees
    a worth and `solve` never draws, so each can be tested without the other, and everything between
    them (batches, devices, host models, progress) is written once, in `jaxshap.estimate`.

    Example:
        >>> import jax, jaxshap
        >>> game = jaxshap.table([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0])
        >>> estimator = jaxshap.Permutation()  # these three lines are what `estimate` does
        >>> plan = estimator.plan(jax.random.key(0), game.num_players, budget=8)
        >>> worths = jaxshap.evaluate(game, plan.coalitions)
        >>> estimator.solve(plan, worths, game.empty, game.full).values.tolist()
        [1.0, 2.0, 3.0]
    """

    def __init_subclass__(cls, **kwargs) -> None:
        """Products of all methods are in full precision on every device, `plan` and `solve` too."""
        super().__init_subclass__(**kwargs)
        for name, method in list(vars(cls).items()):
            if inspect.isfunction(method) and not name.startswith("__"):
                setattr(cls, name, full_precision(method))

    @property
    def has_units(self) -> bool:
        """Whether a hyperparameter is in the units of the worths, so that `solve` must see them as
        they are; otherwise it may be given each output in units of its size.
        """
        return False

    @abc.abstractmethod
    def plan(self, key: Key[Array, ""], num_players: int, budget: int) -> Plan:
        """Choose the coalitions to evaluate; a larger budget keeps every one of them.

        Args:
            key: the randomness; draw i comes from `fold_in(key, i)`.
            num_players: the number n of players.
            budget: how many evaluations may be spent, those of ∅ and N included.

        Returns:
            The `Plan`, with at most `budget − 2` coalitions.

        Raises:
            BudgetError: the budget is too small; the error's `needed` is the least that would do.
        """

    @property
    def kind(self) -> str:
        """What each value that it estimates is, a Shapley value by default."""
        return "Shapley value"

    def affordable(self, num_players: int, budget: int) -> "Estimator":
        """The estimator to use with this budget: itself, or an exact one of the same values.

        Args:
            num_players: the number n of players.
            budget: how many evaluations may be spent, those of ∅ and N included.

        Returns:
            An estimator.
        """
        del num_players, budget
        return self

    def budget_for_errors(self, num_players: int) -> int:
        """The least budget that buys standard errors, which the default one is not below.

        Args:
            num_players: the number n of players.

        Returns:
            Evaluations, those of ∅ and N included; 0 where the default budget always buys errors.
        """
        del num_players
        return 0

    def constants(self, num_players: int, num_live: int, room: int) -> PyTree:
        """Arrays that `solve` needs and that depend on the sizes alone; nothing by default.

        They are made on the host in float64, once, and passed to `solve` in the plan.

        Args:
            num_players: the number n of players.
            num_live: how many coalitions of the plan are real.
            room: how many there are with padding.

        Returns:
            A pytree of numpy arrays.
        """
        del num_players, num_live, room
        return ()

    def solves_in_numpy(self, num_players: int) -> bool:
        """Whether `solve` and `solve_strata` take numpy arrays too and return them: what numpy does
        in a millisecond need not be compiled.

        Args:
            num_players: the number n of players.

        Returns:
            Whether they do; False by default.
        """
        del num_players
        return False

    def successor(self, plan: Plan, solved: "Estimate") -> "tuple[Estimator, Plan] | None":
        """What solves the same worths again, of an estimator whose first solution in numpy decides
        how; None, the default, where the first solution is the last.

        Args:
            plan: what `solve` was given.
            solved: what it returned.

        Returns:
            Another estimator and its plan of the same coalitions, or None.
        """
        del plan, solved
        return None

    @abc.abstractmethod
    def solve(
        self,
        plan: Plan,
        worths: Float[Array, "m *out"],
        empty: Float[Array, "*out"],
        full: Float[Array, "*out"],
    ) -> Estimate:
        """Estimate the values from the worths of the planned coalitions.

        Args:
            plan: what `plan` returned, padded or not.
            worths: the worth of each planned coalition; 0 for padding.
            empty: v(∅), the worth of no players.
            full: v(N), the worth of all players.

        Returns:
            The `Estimate`, as `stated` makes it. Errors below the rounding of the worths need no
            care: the engine raises them to it.
        """

    def solve_strata(
        self,
        plan: Plan,
        worths: Float[Array, "m strata *out"],
        empty: Float[Array, "strata *out"],
        full: Float[Array, "strata *out"],
    ) -> Estimate:
        """Estimate the values of each stratum by itself, for `Scattered`.

        One after the other on a CPU: batched factorisations that run at the same time wait for
        each other there without end (JAX), and `lax.cond` computes one branch only.

        Args:
            plan: a plan of all strata, coalitions `(m, strata, n)` and strata in front in `detail`.
            worths: the parts of the worths, `(m, strata, *out)`.
            empty: v(∅) of each stratum, `(strata, *out)`.
            full: v(N) of each stratum, `(strata, *out)`.

        Returns:
            An `Estimate` with strata in front, `(strata, n, *out)`.
        """

        def of_stratum(stratum):
            coalitions, detail, worths, empty, full = stratum
            own = Plan(coalitions, plan.num_live, detail, plan.constants)
            solved = self.solve(own, worths, empty, full)
            return tuple(
                jnp.broadcast_to(jnp.asarray(field), solved.values.shape) for field in solved
            )

        coalitions, worths = jnp.moveaxis(plan.coalitions, 1, 0), jnp.moveaxis(worths, 1, 0)
        strata = coalitions, plan.detail, worths, empty, full
        size = MATRICES_OF_SOLVE * len(plan.coalitions) ** 2 * worths.dtype.itemsize
        return Estimate(*mapped(of_stratum, strata, size))
