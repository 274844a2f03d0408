"""load: saved explanations."""

import dataclasses
import os

from jaxshap.explaining.archive import read_fields
from jaxshap.explaining.explanation import Explanation


def load(path: str | os.PathLike) -> Explanation:
    """The Explanation that `Explanation.save` wrote; it knows everything but its model.

    Args:
        path: the .npz file.

    Returns:
        The explanation.

    Raises:
        InputError: the file holds no explanation.

    Example:
        >>> import jaxshap, tempfile
        >>> X, background = [[1.0, 2.0]], [[0.0, 0.0]]
        >>> explanation = jaxshap.explain(lambda x: 2 * x[:, 0] + x[:, 1], X, background)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     explanation.save(f"{folder}/explanation.npz")
        ...     jaxshap.load(f"{folder}/explanation.npz").feature_names
        ('x0', 'x1')
    """
    return Explanation(
        **read_fields(path, {field.name for field in dataclasses.fields(Explanation)})
    )
