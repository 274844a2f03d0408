"""Odd arguments of every public function: an answer with numbers that are numbers, or an error of
the library's own types.
"""

import fractions
import inspect
import pathlib
import traceback

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import strategies as st
from odd_values import ODD
from profiles import fuzzed
from public_calls import CALLS, ROWS
from public_calls_of_rooms import CALLS_OF_ROOMS

import jaxshap
from jaxshap.errors import InputError, JaxshapError

EVERY = CALLS | CALLS_OF_ROOMS
ROOMS = [
    "causal",
    "effects",
    "gradients",
    "hierarchies",
    "interactions",
    "lime",
    "plots",
    "residuals",
    "rewards",
    "texts",
    "theory",
    "trees",
    "trust",
]
CHANGES_THE_PROCESS = {"cache_programs"}  # which tests/engine tries in processes of its own
WITH_A_TOKENISER = {"explain_prompts", "pieces"}  # which tests/texts try
FILES = {"path", "checkpoint"}  # texts are paths: nothing is written in this folder
OF_MORE_THAN_FILES = sorted(name for name, each in EVERY.items() if each.arguments.keys() - FILES)
SLOW = {"budget", "seconds", "num_samples", "model_rows"}  # which a large number makes slow


@st.composite
def odd_calls(draw):
    """A public function, and one of its arguments or two that are odd."""
    name = draw(st.sampled_from(OF_MORE_THAN_FILES))
    names = st.sampled_from(sorted(EVERY[name].arguments.keys() - FILES))
    which = draw(st.lists(names, min_size=1, max_size=2, unique=True))
    odd = {argument: draw(st.sampled_from(sorted(ODD))) for argument in which}
    slow = any(argument in SLOW and odd[argument] == "2**40" for argument in which)
    return name, {} if slow else odd


@fuzzed(0.4, least_answered=0.0, case=odd_calls())
def test_odd_arguments_are_refused_by_name_or_answered(case):
    name, odd = case
    try:
        answer = EVERY[name](**{argument: ODD[value] for argument, value in odd.items()})
    except JaxshapError:
        raise
    except Exception as error:
        if is_of_a_callers_function(error):
            return
        raise
    values = getattr(answer, "values", None)
    if isinstance(values, np.ndarray):
        assert np.isfinite(values.astype(np.float64)).all()


def is_of_a_callers_function(error):
    """Whether a model or another function that was passed in raised it: its faults are shown."""
    files = [pathlib.Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    ours = [file for file in files if {"jaxshap", "fuzz"} & {*file.parts[-3:-1]}]
    return ours[-1].parent.name == "fuzz"


@pytest.mark.parametrize("name", ["trust.markov", "theory.gram_matrix", "table"])
def test_the_table_of_calls_holds(name):
    """A few of them; the others are called as they are by the fuzzer."""
    name = name if name in EVERY else "theory.markov"
    assert EVERY[name]() is not None


def test_every_public_function_is_fuzzed():
    named = {name.split(".")[-1] for name in EVERY} | CHANGES_THE_PROCESS
    known = {getattr(each.function, "func", each.function) for each in EVERY.values()}
    known |= {
        argument for each in EVERY.values() for argument in getattr(each.function, "args", ())
    }
    for room in ROOMS:
        module = getattr(jaxshap, room)
        for name in module.__all__:
            function = getattr(module, name)
            if inspect.isfunction(function) and name not in WITH_A_TOKENISER:
                assert function in known or name in named, f"{room}.{name} is not fuzzed"
    for name, function in vars(jaxshap).items():
        if inspect.isfunction(function):
            assert function in known or name in named or name.startswith("_"), name


def off_manifold(groups):
    rows = np.random.default_rng(0).normal(size=(12, 3))
    return jaxshap.trust.off_manifold_share(rows, rows, groups=groups, num_orderings=2)


ENDED_IN_A_RAW_MESSAGE = {
    "theory.constant_steps": {"epsilon": [0, 0]},
    "theory.constant_step_bound": {"radius": "2"},
    "theory.root_steps": {"radius": len},
    "theory.leverage_draws": {"num_columns": np.ones(3)},
    "trust.off_manifold_share": {"groups": 1.0},
    "interactions.tree_interactions": {"ensemble": np.ones((2, 3))},
    "rewards.class_probability": {"logits": []},
    "rewards.log_odds": {"logits": np.ones(2)},
    "rewards.loss": {"kind": np.ones(2)},
    "rewards.reward": {"name": np.eye(2, dtype=bool)},
    "texts.text_game": {"players": 7},
    "plots.beeswarm": {"max_display": np.ones(2)},
    "plots.shap_bar": {"max_display": [1.0]},
    "plots.shap_waterfall": {"max_display": np},
    "plots.credible_intervals": {"posterior": False},
    "plots.disparity": {"group": np.ones(2)},
    "plots.scatter": {"color": np.ones((3, 1))},
    "plots.series": {"owner": np.full((2, 3), 1e300)},
    "plots.diagnosis": {"axes": np},
    "explain": {"value": lambda rows: rows},
    "gradients.expected_gradients": {"model": lambda: 1.0},
    "hierarchies.hierarchy_of_labels": {"labels": [0, "x1", None]},
    "trust.run_agreement": {"runs": scipy.sparse.csr_matrix(np.eye(2, 3))},
    "theory.chebyshev": {"epsilon": -1.0},
    "trust.interval": {"degrees": [1.0, 2.0]},
    "plots.image": {"owner": [[0, 1], [2]]},
    "plots.group_difference": {"group_mask": jax.random.split(jax.random.key(0), 2)},
    "plots.residual_shares": {"shares": 0.5},
    "plots.text": {"tokens": np.array(3)},
    "lime.local_surrogate": {"selection": lambda gram, moments: None},
    "lime.player_surrogate": {"selection": lambda rows: rows},
    "rewards.averaged": {"weights": [[0, 1], [2]]},
    "texts.explain_texts": {
        "tokenizer": lambda text, **wanted: None,
        "model": lambda tokens, mask: mask.sum(1),
    },
    "marginal": {"model": jaxshap.table(np.arange(4.0))},
    "conditional": {"background": np.full((4, 3), np.nan)},
    "kmeans": {"background": np.full((4, 3), np.inf)},
    "manifold": {"score": lambda rows: None},
    "neyman_allocation": {"game": jaxshap.table(np.arange(4.0))},
    "BayesPosterior.more_evaluations": {"width": 1e-300},
}


WORDS = {"texts.explain_texts": "tokeniser", "neyman_allocation": "players"}  # in their messages


@pytest.mark.parametrize("name", ENDED_IN_A_RAW_MESSAGE)
def test_what_ended_in_a_raw_message_is_refused_by_name(name):
    odd = ENDED_IN_A_RAW_MESSAGE[name]
    words = WORDS.get(name, next(iter(odd)))
    with pytest.raises(InputError, match=words):
        EVERY[name](**odd)


WRONG_IN_SILENCE = {
    "half a row": lambda: CALLS["picked"].function((1.5,)),
    "a fraction among rows": lambda: CALLS["picked"].function(([0, 0.5],)),
    "a file descriptor to save to": lambda: CALLS["save"](path=True),
    "a file descriptor of a checkpoint": lambda: CALLS["evaluate"](checkpoint=1),
    "half a length": lambda: jaxshap.hierarchies.hierarchy_of_blocks((2.7, 3)),
    "half a cluster": lambda: jaxshap.hierarchies.hierarchy_of_linkage(
        [[0.5, 1.7, 0.5, 2], [3, 2, 1.0, 3]]
    ),
    "a mask of players": lambda: jaxshap.residuals.norms(
        CALLS["shapley_values"].arguments["game"], [[True, False, True]]
    ),
    "a masked component": lambda: CALLS_OF_ROOMS["a component"](
        at=np.ma.masked_array(np.ones((2, 2)), mask=np.eye(2, dtype=bool))
    ),
    "an imaginary component": lambda: CALLS_OF_ROOMS["a component"](at=np.ones((2, 2)) + 1j),
    "rows of a fair predictor": lambda: CALLS_OF_ROOMS["a fair predictor"](
        rows=np.ma.masked_array(np.ones((2, 3)), mask=np.eye(2, 3, dtype=bool))
    ),
    "a grid of texts": lambda: CALLS_OF_ROOMS["effects.ice"](grids={0: ["1", "2"]}),
    "an imaginary grid": lambda: CALLS_OF_ROOMS["effects.pdp"](grids={0: [1j, 2j]}),
    "a setting of text": lambda: CALLS_OF_ROOMS["causal.direct_effect"](at="1"),
    "masked labels": lambda: CALLS["summary"](by=np.ma.masked_array(["a", "b"], mask=[1, 0])),
    "a label that is missing": lambda: CALLS["summary"](by=["a", None]),
    "a negative chance": lambda: jaxshap.theory.markov(0.1, -1.0),
    "a negative radius": lambda: jaxshap.theory.gradient_bound(3, -1.0, 1.0),
    "a penalty below 0": lambda: jaxshap.estimators.LinearSurrogate(-1.0),
    "an infinite width": lambda: CALLS_OF_ROOMS["lime.local_surrogate"](kernel_width=np.inf),
    "true for a number": lambda: CALLS_OF_ROOMS["effects.ale"](bins=True),
    "a key that is no key": lambda: CALLS_OF_ROOMS["residuals.estimate_norms"](key=True),
    "runs of other rows": lambda: jaxshap.trust.run_agreement([np.ones((2, 3)), np.ones((1, 3))]),
    "columns in no group": lambda: off_manifold([[0], [2]]),
    "columns in two groups": lambda: off_manifold([[0, 1], [1, 2]]),
    "a group counted from the end": lambda: off_manifold([[-1], [0, 1]]),
    "a text for a truth value": lambda: jaxshap.rewards.class_probability(logits="no"),
    "a text for logits": lambda: jaxshap.rewards.loss([0, 1], "cross_entropy", logits="no"),
    "half a neighbour": lambda: CALLS["manifold"](neighbours=1.5),
}


@pytest.mark.parametrize("case", WRONG_IN_SILENCE)
def test_what_was_answered_wrong_in_silence_is_refused(case):
    with pytest.raises(InputError):
        WRONG_IN_SILENCE[case]()


OTHERS_THAT_ENDED_IN_A_RAW_MESSAGE = {
    "rows of no table": lambda: EVERY["trees.check_reading"](rows=["x0"]),
    "a number for rows": lambda: EVERY["interactions.tree_interactions"](rows=0.5),
    "a game for a node": lambda: EVERY["causal.parent_adjustment"](treatment=jnp.ones(2)),
    "keys for rows": lambda: EVERY["explain"](X=jax.random.split(jax.random.key(0), 2)),
    "more than a float holds": lambda: EVERY["theory.root_steps"](radius=1e300),
    "less than a float holds": lambda: EVERY["theory.chebyshev_draws"](epsilon=1e-300),
    "no rows for trees": lambda: EVERY["trees.path_dependent"](rows=np.zeros((0, 3))),
    "no background for trees": lambda: EVERY["trees.interventional"](background=np.zeros((0, 3))),
    "rows that trees refuse": lambda: EVERY["explain, trees"](X=np.full((2, 3), np.inf)),
    "a game for outputs": lambda: EVERY["explain, outputs"](outputs=jaxshap.table(np.ones(4))),
    "a loss of one argument": lambda: EVERY["rewards.loss"](kind=lambda outputs: outputs),
    "a reward of nothing": lambda: EVERY["explain"](reward=lambda outputs: None),
    "a value function of nothing": lambda: EVERY["explain"](value=lambda *a, **named: None),
    "no row to draw": lambda: EVERY["plots.convergence"](row=[]),
    "no feature to draw": lambda: EVERY["plots.scatter"](feature=()),
    "parts of a text that are none": lambda: EVERY["texts.text_game"](players=lambda text: None),
}


@pytest.mark.parametrize("case", OTHERS_THAT_ENDED_IN_A_RAW_MESSAGE)
def test_others_that_ended_in_a_raw_message_are_refused(case):
    with pytest.raises(InputError):
        OTHERS_THAT_ENDED_IN_A_RAW_MESSAGE[case]()


FORMERLY_RAW_NOW_ANSWERED = {
    "sparse coalitions": lambda: EVERY["evaluate"](coalitions=scipy.sparse.csr_matrix(np.eye(3))),
    "sparse rows of trees": lambda: EVERY["explain, trees"](X=scipy.sparse.csr_matrix(ROWS)),
    "truth values as rows": lambda: EVERY["explain, outputs"](X=np.eye(2, 3, dtype=bool)),
    "half of a float": lambda: EVERY["theory.root_steps"](radius=np.float16(0.5)),
    "players in a float": lambda: EVERY["theory.gram_matrix"](num_players=2.0),
    "a fraction": lambda: EVERY["Gaussian"](shrinkage=fractions.Fraction(1, 2)),
    "a count in a float": lambda: EVERY["plots.beeswarm"](max_display=2.0),
    "a colour of numbers": lambda: EVERY["plots.scatter"](color=np.ones(3)),
}


@pytest.mark.parametrize("case", FORMERLY_RAW_NOW_ANSWERED)
def test_what_ended_in_a_raw_message_and_means_something_is_answered(case):
    assert FORMERLY_RAW_NOW_ANSWERED[case]() is not None


def test_the_precision_of_an_argument_does_not_change_a_bound():
    narrow = EVERY["theory.root_steps"](radius=np.float16(0.5), epsilon=np.float16(0.5))
    assert narrow == EVERY["theory.root_steps"](radius=0.5, epsilon=0.5)


def test_a_model_that_fails_on_a_dataframe_is_told_that_it_got_one():
    frame = pd.DataFrame({"x0": ["a", "b"], "x1": [0, 1], "x2": [1.0, 2.0]})
    with pytest.raises(Exception, match="slice") as failed:
        jaxshap.explain(lambda rows: rows[:, 0], frame, frame)
    assert "DataFrame" in " ".join(failed.value.__notes__)


def test_a_model_of_whole_numbers_is_not_moved_between_them():
    def model(rows):
        if not jnp.issubdtype(rows.dtype, jnp.integer):
            raise TypeError("whole numbers, please")
        return jnp.ones(7)[rows].sum(1)

    rows = np.arange(6).reshape(2, 3)
    with pytest.raises(InputError, match="whole numbers alone"):
        jaxshap.effects.ice(model, rows, 0)
    with pytest.raises(InputError, match="whole numbers alone"):
        jaxshap.causal.direct_effect(model, rows, 0, at=1.0, reference=0.0)
    assert jaxshap.effects.ice(lambda x: model(x.round().astype(int)), rows, 0) is not None


def test_nothing_picked_is_everything():
    assert CALLS["picked"].function(()).shape == CALLS["picked"].function(...).shape


def test_errors_of_selection_are_those_that_people_expect():
    for index in ((7,), (slice(None), "x7"), (0.5,), ([True],)):
        with pytest.raises(JaxshapError) as failed:
            CALLS["picked"].function(index)
        assert isinstance(failed.value, IndexError)
        assert isinstance(failed.value, KeyError)
        assert not str(failed.value).startswith(("'", '"'))  # as that of a KeyError would
    assert repr(CALLS["picked"].function([])).startswith("Explanation of 0 row")
