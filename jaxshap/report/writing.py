"""Writing a report to a file, whole or not at all."""

import os
import pathlib
import secrets
import shutil
import stat
from typing import Any

from jaxshap.errors import InputError
from jaxshap.explaining import Explanation
from jaxshap.games import read_path
from jaxshap.report.page import report_html
from jaxshap.trust import Diagnosis


def write_report(
    explanation: Explanation,
    path: str | os.PathLike,
    diagnosis: Diagnosis | None = None,
    title: str | None = None,
    labels: Any = None,
    what_if: int = 0,
) -> None:
    """Write an HTML page with a summary, every row's values with error bars, and the diagnosis.

    The file needs nothing else, not even a network. It is complete or not there at all, and an
    older report at this path is replaced. A table of more than 10,000 rows (or fewer, where there
    are many features and outputs) is cut, and the page says so. An explained text, one of what
    `jaxshap.texts.explain_texts` returns, is also drawn as a text in its colours.

    Args:
        explanation: what to show.
        path: where to write the page; a symbolic link is refused, not followed.
        diagnosis: what `explanation.diagnose()` returned; without it the page says that there is
            none.
        title: the title of the page.
        labels: one label per row to show beside it, such as the true classes.
        what_if: of how many rows, from the first, a feature can be moved to see what the model
            then says; 0 by default, and the model is asked nothing. It costs about 200 model rows
            per row at most: the 8 features with the largest values take up to 25 values each that
            occur among the rows and the background. Fewer rows where there are many outputs.

    Returns:
        None.

    Raises:
        InputError: there is not one label per row, or the path is a link, a folder or a device,
            or `what_if` asks for a model that the explanation does not know (it was loaded, say).
        ModelOutputError: the model returns NaN or infinity where `what_if` moves a feature.

    Example:
        >>> import numpy as np, jaxshap, pathlib, tempfile
        >>> rows = np.random.default_rng(0).normal(size=(20, 3))
        >>> ex = jaxshap.explain(lambda x: x[:, 0] * x[:, 1] + x[:, 2], rows, rows)
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
        >>> jaxshap.write_report(ex, path, ex.diagnose(), title="A product and a sum")
        >>> "A product and a sum" in path.read_text(encoding="utf-8")
        True
    """
    path = read_path(path, "path")
    page = report_html(explanation, diagnosis, title=title, labels=labels, what_if=what_if)
    _write_whole(pathlib.Path(path), page)


def _write_whole(path: pathlib.Path, text: str) -> None:
    """Write beside the path and rename, so that a link there is never followed."""
    replaced = os.path.lexists(path)
    if replaced and not stat.S_ISREG(path.lstat().st_mode):
        kind = "a symbolic link" if path.is_symlink() else "not a file"
        raise InputError(f"{path} is {kind}: pass the path of a file to write, or remove it.")
    begun = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(begun, "x", encoding="utf-8") as file:
            file.write(text)
        if replaced:
            shutil.copymode(path, begun)
        os.replace(begun, path)
    finally:
        begun.unlink(missing_ok=True)
