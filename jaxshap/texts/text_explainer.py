"""explain_texts: from a model and a list of strings to coloured texts."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Key

from jaxshap.engine import BatchSize, check_batch_size, plan_size, read_budget, read_key
from jaxshap.errors import EvaluationError, InputError, Interrupted
from jaxshap.estimators import Estimator, Exact, Permutation
from jaxshap.explaining import Clock, Explanation, explain, read_clock
from jaxshap.games import Game
from jaxshap.texts.absences import Absence
from jaxshap.texts.chosen import Chosen, read_chosen
from jaxshap.texts.dividing import Divide, words
from jaxshap.texts.nesting import nested
from jaxshap.texts.reading import Readied, read_texts
from jaxshap.texts.text_explanation import TextExplanations, of_text

MIN_SECONDS = 1e-3  # of what is left: a text whose time is over still gets its smallest round


def explain_texts(
    model: Callable,
    texts: Collection[str],
    *,
    tokenizer: Any = None,
    players: Divide = words,
    within: Divide | None = None,
    absent: Absence | None = None,
    max_length: int | None = None,
    estimator: Estimator | None = None,
    budget: int | None = None,
    tol: float | None = None,
    seconds: float | None = None,
    key: Key[Array, ""] | int = 0,
    outputs: Any = None,
    output_names: Sequence[str] | None = None,
    batch_size: BatchSize = "auto",
    progress: bool | None = None,
) -> TextExplanations:
    """Shapley values of the words, sentences or tokens of each text; each has its own players.

    Without a tokeniser the model is any function of a list of strings (a pipeline, a remote model,
    an ONNX session), and no string is asked about twice. With one it is a JAX function of token
    numbers and attention mask, both `(rows, length)`; texts are padded to a few lengths, so that
    they share programs. Special tokens always stay.

    Args:
        model: maps a list of strings, or token numbers and attention mask, to `(rows,)` or
            `(rows, outputs)`; `jaxshap.host(model)` marks a model of tokens outside JAX.
        texts: the strings to explain.
        tokenizer: one of Hugging Face's `tokenizers`, or a fast one of `transformers`; None for a
            model of strings.
        players: who plays: `words`, `sentences`, `matches(pattern)`, `pieces(tokenizer)`, or any
            function from a text to its spans.
        within: larger parts in which players stand together, such as `sentences` around words:
            values of texts with several of them are then Owen values, and named so.
        absent: what absent means: `Removed()` (the default) or `Replaced(string)` for strings,
            `MaskToken()` (the default), `Hidden()`, `Removed()` or `Embedded(embed)` for tokens.
        max_length: the most tokens that the model takes, special ones included; by default what
            the tokeniser says, if it does. JAX gives the last of its positions to all tokens
            beyond where a model looks them up by number: pass it for such a model.
        estimator: how to estimate, see `jaxshap.explain`.
        budget: coalitions per text, see `jaxshap.explain`.
        tol: spend until every standard error is at most this share of the spread.
        seconds: spend this time on all texts together instead of a budget: each gets an equal share
            of what is left, see `jaxshap.explain`.
        key: a JAX key or a whole number.
        outputs: which outputs to explain, where there are many: names or numbers of some,
            `jaxshap.Top(k)` for the k largest of each text, or a function of the outputs, which
            gets numpy arrays. Memory follows what is asked for.
        output_names: names of all outputs of the model, or of what the function `outputs` returns.
        batch_size: inputs per call of the model; "auto" chooses by memory.
        progress: whether to show a bar; None shows one on a terminal after two seconds.

    Returns:
        `TextExplanations`, one per text, which draw themselves as coloured texts.

    Raises:
        InputError: a text is empty or too long, no text has more than one player, or the tokeniser
            lacks a token that is needed; the model has then not been asked anything.
        Interrupted: on Ctrl-C; it carries the explanations so far.
        EvaluationError: the model failed; it carries the explanations so far.

    Example:
        >>> import jaxshap
        >>> def model(texts):
        ...     return [2.0 * ("good" in text) - ("not" in text) for text in texts]
        >>> explained = jaxshap.texts.explain_texts(model, ["not good", "a good day"])
        >>> [one.values.tolist() for one in explained]
        [[[-1.0, 2.0]], [[0.0, 2.0, 0.0]]]
    """
    check_batch_size(batch_size)
    clock = read_clock(seconds)
    chosen = read_chosen(outputs, output_names)
    how = tokenizer, players, absent, max_length, batch_size
    readied = read_texts(model, texts, *how, chosen)
    if within is not None:
        readied = nested_readied(readied, within, estimator, "texts")
    spending = {"estimator": estimator, "budget": budget, "tol": tol}
    spending |= {"batch_size": batch_size, "progress": progress}
    return explain_readied(readied, key, clock, spending)


def text_game(
    model: Callable,
    text: str,
    *,
    tokenizer: Any = None,
    players: Divide = words,
    absent: Absence | None = None,
    max_length: int | None = None,
) -> Game:
    """The game that `explain_texts` plays for one text, for interactions and other estimators.

    Args:
        model: see `explain_texts`, as for the other arguments.
        text: the text.
        tokenizer: None for a model of strings.
        players: who plays.
        absent: what absent means.
        max_length: the most tokens that the model takes.

    Returns:
        A Game on the host, whose worths are `(1, *outputs)`.

    Raises:
        InputError: as `explain_texts` does.

    Example:
        >>> import jaxshap
        >>> game = jaxshap.texts.text_game(lambda texts: [float(len(t)) for t in texts], "so bad")
        >>> jaxshap.shapley_values(game)[:, 0].tolist()
        [2.5, 3.5]
    """
    (one,) = read_texts(model, [text], tokenizer, players, absent, max_length, "auto", Chosen())
    return one.play().game


def explain_readied(
    readied: Sequence[Readied],
    key: Any,
    clock: Clock | None,
    how: dict[str, Any],
) -> TextExplanations:
    """One explanation after the other, each with draws of its own and a share of the time."""
    _check_budget(readied, how["estimator"], how["budget"])
    key, done = read_key(key), []
    for number, one in enumerate(readied):
        own_how = how | {"key": jax.random.fold_in(key, number), "output_names": one.output_names}
        if one.estimator is not None:
            own_how["estimator"] = one.estimator
        row_outputs = None
        try:
            game, row_outputs = one.play()
            if clock is not None:
                own_how["seconds"] = max(clock.left, MIN_SECONDS) / (len(readied) - number)
            done.append(of_text(_explained(game, one, own_how), one.divided, row_outputs))
        except (Interrupted, EvaluationError) as stop:
            if stop.explanation is not None:
                done.append(of_text(stop.explanation, one.divided, row_outputs))
            stop.explanation = TextExplanations(tuple(done)) if done else None
            raise
        except KeyboardInterrupt:  # while the model is asked about the text as it is
            stop = Interrupted(np.empty((0, 1)), planned=2)
            stop.explanation = TextExplanations(tuple(done)) if done else None
            raise stop from None
        except InputError:
            raise
        except Exception as error:
            if not done:
                raise
            message = (
                f"the model failed after {len(done)} of {len(readied)} texts, which are in "
                f"`.explanation`: {error}"
            )
            failed = EvaluationError(message, np.empty((0, 1)))
            failed.explanation = TextExplanations(tuple(done))
            raise failed from error
    return TextExplanations(tuple(done))


def _check_budget(readied: Sequence[Readied], estimator: Any, budget: Any) -> None:
    """Refuse a budget too small for the longest text before those in front of it are paid for."""
    if budget is None:
        return
    for one in sorted(readied, key=lambda one: -len(one.divided.names)):
        number, named = len(one.divided.names), one.estimator or estimator
        budget = read_budget(budget, number)
        if number <= 2 or (named is None and 2**number <= budget):
            named = Exact()
        if named is None:
            named = Permutation()  # what the default falls back on: it needs least
        if isinstance(named, Estimator):  # `explain` refuses others by name
            plan_size(named.affordable(number, budget), number, budget)


def nested_readied(
    readied: Sequence[Readied], within: Divide, estimator: Any, what: str
) -> list[Readied]:
    """The same texts, each with the estimator of its own groups."""
    if estimator is not None:
        raise InputError("within= says how values are estimated: omit estimator=, or within=.")
    return [
        one._replace(estimator=nested(one.divided, within, f"{what}[{number}]"))
        for number, one in enumerate(readied)
    ]


def _explained(game: Game, one: Readied, how: dict[str, Any]) -> Explanation:
    """`explain` with rows that say who is present: everyone, and in the background nobody."""

    def presence(model, X, background, *, weights=None, players=None) -> Game:
        return game

    everyone = np.ones((1, game.num_players))
    names = list(one.divided.names)
    return explain(game.value, everyone, 0 * everyone, value=presence, feature_names=names, **how)
