"""The diagnosis of an explanation: its values are judged by coalitions they have not seen."""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxshap.engine import answer, default_budget, read_budget, read_key, read_options
from jaxshap.errors import InputError
from jaxshap.estimators import Estimate, Plan
from jaxshap.games import Game, read_number, read_whole
from jaxshap.inputs import WeightedRows
from jaxshap.trust import (
    Diagnosis,
    diluted,
    measure_additivity,
    off_manifold_share,
    sample_pairs,
)

if TYPE_CHECKING:
    from jaxshap.explaining.explanation import Explanation

EVALUATIONS_PER_PLAYER = 8  # of a diagnosis after model_rows=, four times what that takes
MIN_REFERENCES = 20  # background rows that show what the data look like


def diagnosed(
    explanation: "Explanation",
    budget: int | None,
    key: int,
    top: int,
    level: float,
    progress: bool | None,
) -> Diagnosis:
    """See `Explanation.diagnose`."""
    source = explanation.source
    if source is None:
        raise InputError(
            "diagnose needs the model, and this explanation was loaded, or features were picked "
            "from it, or its values have no game (path-dependent trees, gradients): diagnose the "
            "result of explain(model, X, background)."
        )
    game = source.game()
    budget = read_budget(_as_explained(explanation, game) if budget is None else budget, 2)
    top, level = read_whole(top, "top"), read_number(level, "level", above=0, below=1)
    other_key = jax.random.fold_in(read_key(key), 1)  # not the draws of explain
    sample = sample_pairs(other_key, game.num_players, budget)
    coalitions: Any = sample.coalitions
    plan = Plan(coalitions, len(coalitions), sample)
    answers = answer(game, plan, read_options("auto", progress))
    fields = explanation.values, explanation.std_error
    estimate = Estimate(*(jnp.moveaxis(field, 1, 0) for field in fields), exact=explanation.exact)
    worths = source.picked(np.asarray(answers.worths))
    empty = source.picked(np.asarray(game.empty)[None])[0]
    additivity = measure_additivity(sample, worths, empty, estimate)
    outside, dilution = _compared_with_data(explanation, game, key)
    ranking = explanation.stability(top=min(top, game.num_players - 1), level=level)
    counted = len(answers.worths)
    return Diagnosis(additivity, ranking, outside, dilution, explanation.feature_names, counted)


def _as_explained(explanation: "Explanation", game: Game) -> int:
    """Every coalition is asked of all background rows, of which `model_rows=` may have taken very
    many: then hardly more model rows are spent than the explanation took.
    """
    usual = default_budget(game.num_players)
    if not explanation.num_model_rows:
        return usual
    return min(usual, max(EVALUATIONS_PER_PLAYER * game.num_players, explanation.num_evaluations))


def _compared_with_data(explanation: "Explanation", game: Game, key: int) -> tuple[Any, Any]:
    """How many masked inputs look like no data, and which features share their credit."""
    groups = None if explanation.source is None else explanation.source.groups
    if game.background is None or len(game.background[1]) < MIN_REFERENCES:
        return None, None
    references, weights = (np.asarray(part) for part in game.background)
    background = WeightedRows(references, weights)
    outside = None
    tables = jax.tree.leaves((explanation.data, references))
    if not any(np.isnan(table).any() for table in tables):
        outside = off_manifold_share(explanation.data, background, groups=groups, key=key)
    if groups is not None:
        return outside, []
    return outside, diluted(explanation.values, background, explanation.feature_names)
