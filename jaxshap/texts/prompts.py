"""explain_prompts: which parts of a prompt make a language model continue it as it does."""

from collections.abc import Callable, Collection
from typing import Any

from jaxtyping import Array, Key

from jaxshap.engine import BatchSize, check_batch_size
from jaxshap.estimators import Estimator
from jaxshap.explaining import read_clock
from jaxshap.texts.absences import Absence
from jaxshap.texts.dividing import Divide, words
from jaxshap.texts.prompt_reading import read_prompts
from jaxshap.texts.text_explainer import explain_readied, nested_readied
from jaxshap.texts.text_explanation import TextExplanations


def explain_prompts(
    model: Callable,
    prompts: Collection[str],
    continuations: Collection[str],
    *,
    tokenizer: Any,
    players: Divide = words,
    within: Divide | None = None,
    absent: Absence | None = None,
    start_token: int | None = None,
    max_length: int | None = None,
    per_token: bool = False,
    estimator: Estimator | None = None,
    budget: int | None = None,
    tol: float | None = None,
    seconds: float | None = None,
    key: Key[Array, ""] | int = 0,
    batch_size: BatchSize = "auto",
    progress: bool | None = None,
) -> TextExplanations:
    """Shapley values of the parts of each prompt, for the log-probability of its continuation.

    The model is causal: what it says of a place depends on earlier tokens only. No prompt is scored
    twice with the same continuation, and logits in half precision are normalised in float32. For a
    language model behind an API, pass a function of strings to `explain_texts`.

    Args:
        model: a JAX function of token numbers and attention mask, both `(rows, length)`, that
            returns logits `(rows, length, vocabulary)`; `jaxshap.host(model)` marks one outside
            JAX.
        prompts: the prompts whose parts are the players.
        continuations: the text that follows each prompt, with its leading space if it has one.
        tokenizer: one of Hugging Face's `tokenizers`, or a fast one of `transformers`.
        players: who plays, see `explain_texts`; `sentences` or `matches` suit long prompts.
        within: larger parts in which players stand together, see `explain_texts`.
        absent: `Removed()` (the default), `MaskToken()` or `Embedded(embed)`.
        start_token: the number of a token to put in front of each prompt, where the tokeniser adds
            none.
        max_length: the most tokens that the model takes, continuation included; by default what
            the tokeniser says, if it does. JAX gives the last of its positions to all tokens
            beyond where a model looks them up by number: pass it for such a model.
        per_token: whether each token of the continuation is an output of its own; by default the
            sum over its tokens is the only output.
        estimator: how to estimate, see `jaxshap.explain`.
        budget: coalitions per prompt, see `jaxshap.explain`.
        tol: spend until every standard error is at most this share of the spread.
        seconds: spend this time on all prompts together instead of a budget, see `explain_texts`.
        key: a JAX key or a whole number.
        batch_size: inputs per call of the model; "auto" chooses by memory.
        progress: whether to show a bar; None shows one on a terminal after two seconds.

    Returns:
        `TextExplanations`, one per prompt, in natural logarithms.

    Raises:
        InputError: as `explain_texts` does; a token holds the end of a prompt and the beginning of
            its continuation; or nothing would stand before the continuation once all players are
            absent.

    Example:
        >>> import jax.numpy as jnp, jaxshap
        >>> class Letters:  # in place of a tokeniser: token 0 begins, and letters are 1 to 26
        ...     pad_token_id = 0
        ...     def __call__(self, text, **options):
        ...         ids = [max(0, ord(letter) - 96) for letter in text]
        ...         offsets = [(i, i + 1) for i in range(len(ids))]
        ...         return {"input_ids": ids, "offset_mapping": offsets, "attention_mask":
        ...                 [1] * len(ids), "special_tokens_mask": [0] * len(ids)}
        >>> def model(ids, mask):  # a letter that was there is e times as likely as another
        ...     return jnp.minimum(jnp.cumsum(jnp.eye(27)[ids], axis=1), 1)
        >>> letters = jaxshap.texts.matches("[a-z]")
        >>> (one,) = jaxshap.texts.explain_prompts(
        ...     model, ["ab"], ["b"], tokenizer=Letters(), players=letters, start_token=0)
        >>> print(one.values.round(2))
        [[-0.06  0.94]]
    """
    check_batch_size(batch_size)
    clock = read_clock(seconds)
    readied = read_prompts(
        model,
        prompts,
        continuations,
        tokenizer=tokenizer,
        players=players,
        absent=absent,
        start_token=start_token,
        max_length=max_length,
        per_token=per_token,
        batch_size=batch_size,
    )
    if within is not None:
        readied = nested_readied(readied, within, estimator, "prompts")
    how = {"estimator": estimator, "budget": budget, "tol": tol}
    how |= {"batch_size": batch_size, "progress": progress}
    return explain_readied(readied, key, clock, how)
