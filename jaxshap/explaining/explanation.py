"""Explanation: the result a person looks at."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float

from jaxshap.estimators import Estimate
from jaxshap.explaining import display
from jaxshap.explaining.archive import save
from jaxshap.explaining.arithmetic import absolute, maximum, mean, minus, sample, total
from jaxshap.explaining.cohorts import cohorts
from jaxshap.explaining.conversion import display_data, to_frame, to_shap, to_shapiq
from jaxshap.explaining.diagnosing import diagnosed
from jaxshap.explaining.selection import Index, picked_fields
from jaxshap.explaining.source import Source
from jaxshap.explaining.summary import summary
from jaxshap.interactions import Interactions
from jaxshap.trust import Diagnosis, Interval, Stability, interval, stability


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What each player contributed to each prediction: base_values + values.sum(1) is the output.

    Arrays are numpy. Where rows share their draws their errors are correlated: the standard error
    of a mean over rows then does not fall with the number of rows.

    Attributes:
        values: Shapley values, or what `kind` says, `(rows, features, *outputs)`.
        std_error: their standard errors, of the same shape: 0 only where exact, NaN where unknown.
        base_values: v(∅), `(rows, *outputs)`.
        data: the table or array that was explained, or several of them by name; where each player
            owns one column, in the order of the players.
        feature_names: the names of the players.
        output_names: the names of the outputs, or None; one name where one output was picked.
        num_evaluations: coalitions that were evaluated, each for all rows.
        value_function: the name of the game that was played.
        estimator: the estimator, with all its options.
        shared_draws: whether all rows were asked about the same coalitions.
        absent: in words, what it means for a feature to be absent.
        num_model_rows: rows that the model was asked about, per explained row.
        kind: what each value is: a "Shapley value", "Owen value", "integrated gradient", …
        source: the game it came from, for `diagnose`; None where it was loaded.
        exact: whether the values are exact by design, as the estimator states; never read off
            errors of 0.
        degrees: degrees of freedom of the standard errors, of the shape of the values or one
            number for all of them; infinite where errors are normal. See `interval`.
        features_are_columns: whether a table in `data` has one column per feature, in their order.
        row_outputs: names of each row's own outputs, `(rows, outputs)`, where `Top` chose them.
        words: what the numbers 0, 1, … of a feature stand for, by its name, where the table that
            was explained held texts, categories, dates or truth values.
        owner: the player that owns each entry of an input, such as each pixel of an image, where
            the players were those of one array; −1 is nobody.
        interactions: the Shapley interactions of sets of players, from the same evaluations, with
            values `(sets, rows, *outputs)`; None where `explain` was not asked for them.

    Example:
        >>> import jaxshap
        >>> X = [[1.0, 2.0], [3.0, 4.0]]
        >>> explanation = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, [[0.0, 0.0]])
        >>> explanation.values.tolist(), explanation[1, "x0"].values.tolist()
        ([[2.0, 2.0], [6.0, 4.0]], [[6.0]])
        >>> print(explanation[0])
        Explanation of 1 row × 2 features: marginal Shapley values by Exact() (exact), 4 evalu...
        feature  value
        x0           2
        x1           2
    """

    values: Float[np.ndarray, "rows features *outputs"]
    std_error: Float[np.ndarray, "rows features *outputs"]
    base_values: Float[np.ndarray, "rows *outputs"]
    data: np.ndarray | dict[str, np.ndarray]
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None
    num_evaluations: int
    value_function: str
    estimator: str
    shared_draws: bool = True
    absent: str = ""
    num_model_rows: int = 0
    kind: str = "Shapley value"
    source: Source | None = None
    exact: bool = False
    degrees: Float[np.ndarray, "rows features *outputs"] | float = np.inf
    features_are_columns: bool = True
    row_outputs: np.ndarray | None = None
    words: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    owner: np.ndarray | None = None
    interactions: Interactions | None = None

    def __getitem__(self, index: Index | tuple[Index, ...]) -> "Explanation":
        """By row, feature and output: `ex[3]`, `ex[:, "age"]`, `ex[:10, ["age", "sex"], "yes"]`.

        Rows and features keep their axes, so the result is an Explanation like any other; a single
        output loses its.
        """
        return dataclasses.replace(self, **picked_fields(self, index))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the values, `(rows, features, *outputs)`.

        Example:
            >>> import jaxshap
            >>> jaxshap.explain(lambda x: x[:, 0], [[1.0, 2.0]], [[0.0, 0.0]]).shape
            (1, 2)
        """
        return self.values.shape

    @property
    def data_of_features(self) -> np.ndarray | None:
        """The table of what each feature was, where features are its columns.

        Example:
            >>> import jaxshap
            >>> X, background = [[1.0, 2.0]], [[0.0, 0.0]]
            >>> explained = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, background)
            >>> explained.data_of_features.tolist()
            [[1.0, 2.0]]
        """
        if isinstance(self.data, dict) or not self.features_are_columns:
            return None
        if self.data.shape != self.values.shape[:2]:
            return None
        return self.data

    @property
    def interaction_matrix(self) -> Float[np.ndarray, "rows features features *outputs"] | None:
        """The interaction of every two players, in full on both sides, and the values between.

        Example:
            >>> import jaxshap
            >>> X, background = [[1.0, 2.0]], [[0.0, 0.0]]
            >>> explained = jaxshap.explain(lambda x: x.prod(1), X, background, interactions=2)
            >>> explained.interaction_matrix.tolist()
            [[[1.0, 2.0], [2.0, 1.0]]]
        """
        if self.interactions is None:
            return None
        return np.moveaxis(np.asarray(self.interactions.matrix()), (0, 1), (1, 2))

    def interval(self, level: float = 0.95) -> Interval:
        """Confidence intervals of all values, by Student's t with the `degrees` of their errors.

        Texts, plots and reports show those of 95 %.

        Args:
            level: the chance that an interval holds the true value, 0.95 by default.

        Returns:
            A `jaxshap.trust.Interval`: `lower` and `upper` ends, of the shape of the values; NaN
            where errors are unknown.

        Raises:
            InputError: the level is not between 0 and 1.

        Example:
            >>> import jaxshap
            >>> X, background = [[1.0, 2.0]], [[0.0, 0.0]]
            >>> explanation = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, background)
            >>> lower, upper = explanation.interval()  # exact
            >>> lower.tolist(), upper.tolist()
            ([[2.0, 2.0]], [[2.0, 2.0]])
        """
        fields: Any = self.values, self.std_error, self.exact, self.degrees
        return interval(Estimate(*fields), level)

    def stability(self, *, top: int = 3, level: float = 0.95) -> Stability:
        """Whether the largest |values| of each row are certain, and how far ranks would repeat.

        Args:
            top: how many of the largest features to look at.
            level: the confidence level.

        Returns:
            A `jaxshap.trust.Stability`.

        Example:
            >>> import jaxshap
            >>> X, background = [[1.0, 1.0]], [[0.0, 0.0]]
            >>> explanation = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, background)
            >>> stability = explanation.stability(top=1)
            >>> stability.certain.tolist(), stability.order.tolist()
            ([True], [1.0])
        """
        return stability(self.values, self.std_error, self.degrees, top=top, level=level)

    def diagnose(
        self,
        *,
        budget: int | None = None,
        key: int = 0,
        top: int = 3,
        level: float = 0.95,
        progress: bool | None = None,
    ) -> Diagnosis:
        """What the values leave out and how far to believe them: additive, pairwise or beyond.

        It evaluates `budget` other coalitions for all rows of the explanation that this was picked
        from, so that the values are judged by worths they have not seen. All background rows that
        were asked answer the same coalitions.

        Args:
            budget: coalitions to evaluate; as many as `explain` by default, and 8n after
                `model_rows=`, or what each background row was asked if that is more.
            key: of the random draws, which are not those of `explain`.
            top: how many of the largest features must be certain.
            level: the confidence level.
            progress: whether to show a bar; None shows one on a terminal after two seconds.

        Returns:
            A `jaxshap.trust.Diagnosis`.

        Raises:
            InputError: the explanation no longer knows its model.

        Example:
            >>> import jaxshap
            >>> X, background = [[2.0, 3.0, 1.0]], [[0.0, 0.0, 0.0]]
            >>> explanation = jaxshap.explain(lambda x: x[:, 0] * x[:, 1] + x[:, 2], X, background)
            >>> explanation.diagnose(budget=100).additivity.verdict
            'pairwise'
        """
        return diagnosed(self, budget, key, top, level, progress)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"source": None}  # a model may not be picklable, and need not be

    def __repr__(self) -> str:
        return display.as_text(self)

    def _repr_html_(self) -> str:
        return display.as_html(self)

    # methods that fill files of their own
    to_shap, to_shapiq, to_frame, save = to_shap, to_shapiq, to_frame, save
    mean, sample, cohorts, summary, __sub__ = mean, sample, cohorts, summary, minus
    sum, max = total, maximum
    abs, display_data = property(absolute), property(display_data)
