"""Explanations of texts: what each player contributed, drawn as a coloured text."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Int

from jaxshap.errors import SelectionError
from jaxshap.explaining import Explanation
from jaxshap.games import shown
from jaxshap.texts.dividing import Divided
from jaxshap.texts.drawing import as_html, as_text


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class TextExplanation(Explanation):
    """An `Explanation` of one text, which draws itself as the text, coloured by value.

    `data` holds the text, and the span of characters that each player owns. Some of its players
    alone, as in `explained[:, ["good"]]`, are a plain `Explanation`.

    Attributes:
        values: Shapley values, `(1, players, *outputs)`.
        std_error: their standard errors, of the same shape: 0 only where exact, NaN where unknown.
        base_values: v(∅), `(1, *outputs)`.
        data: `{"text": (1,), "spans": (1, players, 2)}`.
        feature_names: the names of the players: their words, numbered where they repeat.
        output_names: the names of the outputs, or None.
        num_evaluations: coalitions that were evaluated.
        value_function: the name of the game that was played.
        estimator: the estimator, with all its options.
        shared_draws: always True: there is one row.
        absent: in words, what it means for a part of the text to be absent.
        num_model_rows: see `Explanation`.
        kind: what the values are, such as "Shapley value".
        source: the game it came from, for `diagnose`; None where it was loaded.
        exact: see `Explanation`.
        degrees: see `Explanation`.
        features_are_columns: see `Explanation`.
        row_outputs: see `Explanation`.
        words: see `Explanation`.
        owner: see `Explanation`.
        interactions: see `Explanation`.

    Example:
        >>> import jaxshap
        >>> def model(texts):
        ...     return [2.0 * ("good" in text) - ("not" in text) for text in texts]
        >>> print(jaxshap.texts.explain_texts(model, ["not good"])[0])
        Explanation of a text with 2 players: ... Exact() (exact), 4 evaluations
        output 1, of which 0 is the text without its players
        not(−1) good(+2)
    """

    def __getitem__(self, index: Any) -> Explanation:
        picked = super().__getitem__(index)
        if len(picked) == 1 and picked.feature_names == self.feature_names:
            return picked
        return Explanation(**vars(picked))

    @property
    def text(self) -> str:
        """The text that was explained.

        Example:
            >>> import jaxshap
            >>> jaxshap.texts.explain_texts(lambda t: [1.0] * len(t), ["so good"])[0].text
            'so good'
        """
        assert isinstance(self.data, dict)
        return str(self.data["text"][0])

    @property
    def spans(self) -> Int[np.ndarray, "n 2"]:
        """Where each player begins and ends in the text.

        Example:
            >>> import jaxshap
            >>> explained = jaxshap.texts.explain_texts(lambda t: [1.0] * len(t), ["so good"])
            >>> explained[0].spans.tolist()
            [[0, 2], [3, 7]]
        """
        assert isinstance(self.data, dict)
        return self.data["spans"][0]

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class TextExplanations:
    """The explanations of several texts, in their order.

    Args:
        explanations: one `TextExplanation` per text.

    Example:
        >>> import jaxshap
        >>> texts = ["so bad", "very good"]
        >>> explained = jaxshap.texts.explain_texts(lambda t: [1.0] * len(t), texts)
        >>> len(explained), explained[1].feature_names
        (2, ('very', 'good'))
    """

    explanations: tuple[TextExplanation, ...]

    def __len__(self) -> int:
        return len(self.explanations)

    def __getitem__(self, number: int) -> TextExplanation:
        try:
            return self.explanations[number]
        except (IndexError, TypeError) as error:
            last = len(self) - 1
            message = f"there is no text {shown(number)}: pass a number from 0 to {last}."
            raise SelectionError(message) from error

    def __iter__(self) -> Iterator[TextExplanation]:
        return iter(self.explanations)

    def __repr__(self) -> str:
        return "\n\n".join(map(as_text, self))

    def _repr_html_(self) -> str:
        return "".join(map(as_html, self))


def of_text(
    explanation: Explanation, divided: Divided, row_outputs: np.ndarray | None
) -> TextExplanation:
    """The explanation of a text whose players these are; `row_outputs` name outputs of its own."""
    data = {"text": np.array([divided.text]), "spans": divided.spans[None]}
    fields: dict[str, Any] = vars(explanation) | {"data": data, "row_outputs": row_outputs}
    return TextExplanation(**fields)
