"""Structural causal models: samples as nature draws them, and as an intervention would."""

import dataclasses
import graphlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from jaxshap.engine import read_key
from jaxshap.errors import InputError, InputTypeError
from jaxshap.games import as_numbers, check_kind, read_whole, shown

Mechanism = tuple[Sequence[str], Callable]  # the causes, and the function of noise and causes


@dataclasses.dataclass(frozen=True, eq=False)
class StructuralModel:
    """Variables, each a function of noise of its own and of its causes.

    A mechanism is a pair: the names of the causes, and a function that takes standard normal noise
    of shape (samples,) and the values of each cause in that order, and returns the values of the
    variable. Noises are independent, so that the model is Markovian; noise that two variables share
    is a variable too. A model is a causal graph itself, for `satisfies_backdoor` and all others.

    Args:
        mechanisms: the mechanism of each variable, by name and in any order.

    Example:
        >>> import jaxshap
        >>> model = jaxshap.causal.StructuralModel({
        ...     "gender": ((), lambda noise: (noise > 0).astype(float)),
        ...     "height": (("gender",), lambda noise, gender: 166 + 13 * gender + 7 * noise),
        ... })
        >>> model.edges, jaxshap.causal.satisfies_backdoor(model, "height", "gender")
        ([('gender', 'height')], False)
        >>> taller = model.sample(0, 3, do={"height": 190.0})
        >>> taller["height"].tolist(), (taller["gender"] == model.sample(0, 3)["gender"]).tolist()
        ([190.0, 190.0, 190.0], [True, True, True])
    """

    mechanisms: Mapping[str, Mechanism | Any]

    def __post_init__(self):
        check_kind(self.mechanisms, Mapping, "mechanisms", "a dict of mechanisms by variable")
        for name, mechanism in self.mechanisms.items():
            _check_mechanism(name, mechanism, self.mechanisms)
        try:
            tuple(self._sorter().static_order())
        except graphlib.CycleError as error:
            raise InputError(
                f"the mechanisms run in a circle through {error.args[1]}: a cause comes before its "
                "effects."
            ) from error

    @property
    def nodes(self) -> list[str]:
        """The names of the variables."""
        return list(self.mechanisms)

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The pairs (cause, effect)."""
        return [(cause, name) for name, (causes, _) in self.mechanisms.items() for cause in causes]

    def sample(
        self,
        key: Key[Array, ""] | int | np.integer,
        num_samples: int | Any,
        do: Mapping[str, Any] | Any = None,
    ) -> dict[str, Float[Array, "samples"]]:
        """Independent draws of all variables, some of them set by an intervention.

        The same key gives the same noise under every intervention: sample i is then one individual
        in two worlds, and what the intervention does not reach stays as it was.

        Args:
            key: a JAX key, or a seed.
            num_samples: how many draws.
            do: the variables that are set, whatever their causes: a number, or one per sample.

        Returns:
            The values of each variable, by name and in the order of the mechanisms.

        Raises:
            InputError: there is no such variable, or a mechanism returns another shape.
        """
        num_samples = read_whole(num_samples, "num_samples")
        interventions = self._read_interventions(do, num_samples)
        split = jax.random.split(read_key(key), len(self.mechanisms))
        keys = dict(zip(self.mechanisms, split, strict=True))
        values: dict[str, Float[Array, "samples"]] = {}
        for name in self._sorter().static_order():
            if name in interventions:
                values[name] = interventions[name]
                continue
            causes, function = self.mechanisms[name]
            noise = jax.random.normal(keys[name], (num_samples,))
            outcome = jnp.asarray(function(noise, *(values[cause] for cause in causes)))
            if outcome.shape != (num_samples,):
                raise InputError(
                    f"the mechanism of {name!r} returned shape {outcome.shape} for noise of shape "
                    f"({num_samples},): return one number per sample."
                )
            values[name] = outcome.astype(noise.dtype)
        return {name: values[name] for name in self.mechanisms}

    def _sorter(self) -> graphlib.TopologicalSorter:
        return graphlib.TopologicalSorter({n: tuple(c) for n, (c, _) in self.mechanisms.items()})

    def _read_interventions(self, do: Any, num_samples: int) -> dict[str, Array]:
        if not isinstance(do, Mapping | None):
            raise InputTypeError(f"do={shown(do)}: pass a dict of values by variable.")
        values = {}
        for name, value in (do or {}).items():
            if name not in self.mechanisms:
                raise InputError(f"do= sets {name!r}: the variables are {self.nodes}.")
            array = jnp.asarray(as_numbers(value, f"do= for {name!r}"), jnp.result_type(float))
            if array.shape not in ((), (num_samples,)):
                raise InputError(
                    f"do= sets {name!r} to shape {array.shape}: pass a number, or one for each of "
                    f"the {num_samples} samples."
                )
            values[name] = jnp.broadcast_to(array, (num_samples,))
        return values


def _check_mechanism(name: str, mechanism: Any, known: Mapping[str, Any]) -> None:
    is_pair = isinstance(mechanism, tuple | list) and len(mechanism) == 2
    if not is_pair or isinstance(mechanism[0], str) or not callable(mechanism[1]):
        raise InputTypeError(
            f"the mechanism of {name!r} is {shown(mechanism)}: pass the names of its causes, as a "
            "tuple, and a function of noise and causes."
        )
    if unknown := [cause for cause in mechanism[0] if cause not in known]:
        raise InputError(
            f"the causes {unknown} of {name!r} have no mechanism: the variables are {list(known)}."
        )
