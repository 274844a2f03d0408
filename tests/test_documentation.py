"""What a reader is promised: an example in every docstring, each of which runs; a quiet import; and
clear errors.
"""

import doctest
import importlib
import inspect
import json
import pathlib
import pkgutil
import re
import subprocess
import sys
import time
import tomllib

import numpy as np
import pytest
from matplotlib import pyplot

import jaxshap

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PROJECT = pathlib.Path(__file__).parent.parent / "pyproject.toml"


def members(owner, prefix):
    """The public names of a module or class that are documented there, with what they stand for."""
    found = {
        f"{prefix}.{name}": thing for name, thing in vars(owner).items() if not name.startswith("_")
    }
    documented = (type, property, classmethod, staticmethod)
    return {
        name: thing
        for name, thing in found.items()
        if inspect.isfunction(thing) or isinstance(thing, documented)
    }


PUBLIC = (
    members(jaxshap, "jaxshap")
    | members(jaxshap.theory, "jaxshap.theory")
    | members(jaxshap.plots, "jaxshap.plots")
    | members(jaxshap.Explanation, "jaxshap.Explanation")
)


def modules():
    names = [
        "jaxshap",
        *(found.name for found in pkgutil.walk_packages(jaxshap.__path__, "jaxshap.")),
    ]
    return [importlib.import_module(name) for name in names if not name.endswith("__main__")]


def examples(module):
    """Self-contained: they see nothing of the module that they stand in."""
    return [
        found
        for found in doctest.DocTestFinder().find(module, module.__name__, globs={})
        if found.examples
    ]


EXAMPLES = {module.__name__: found for module in modules() if (found := examples(module))}


def test_the_public_names_are_those_of_the_package():
    """Nothing that `import jaxshap` offers escapes the tests below, apart from modules."""
    things = {name: thing for name, thing in vars(jaxshap).items() if not name.startswith("_")}
    offered = {f"jaxshap.{name}" for name, thing in things.items() if not inspect.ismodule(thing)}
    assert offered <= PUBLIC.keys()
    assert {
        "jaxshap.theory.spectrum",
        "jaxshap.plots.bar",
        "jaxshap.Explanation.to_frame",
    } <= PUBLIC.keys()


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_has_a_docstring_with_an_example(name):
    assert ">>>" in (PUBLIC[name].__doc__ or "")


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_examples_in_docstrings_run_and_say_what_they_say(name):
    told = []
    for example in EXAMPLES[name]:
        doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(example, out=told.append)
    pyplot.close("all")
    assert not told, "".join(told)


def test_importing_the_library_warns_of_nothing_and_prints_nothing():
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import jaxshap"], capture_output=True, text=True
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_explain_prints_nothing_where_there_is_no_terminal(capfd):
    """It takes longer than the two seconds after which a terminal would see a bar."""

    def slow(rows):
        time.sleep(0.4)
        return rows.sum(1)

    jaxshap.explain(jaxshap.host(slow), np.ones((1, 3)), np.zeros((1, 3)), batch_size=1)
    assert capfd.readouterr() == ("", "")


ALONE = """
import contextlib, io, json, sys

OPTIONAL = {"matplotlib", "shap", "pandas", "polars", "sklearn", "shapiq"}

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in OPTIONAL:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import jaxshap, numpy as np
from jaxshap.__main__ import main

class FittedOnNames:
    feature_names_in_ = np.array(["age", "height"])
    def predict(self, rows):
        return rows.sum(1)

X, background = np.array([[1.0, 2.0], [3.0, 4.0]]), np.zeros((1, 2))
explained = jaxshap.explain(jaxshap.host(lambda rows: 2 * rows[:, 0] + rows[:, 1]), X, background)
game = jaxshap.table([0.0, 1.0, 2.0, 6.0])
curves = jaxshap.effects.ice(lambda x: x[:, 0] * x[:, 1], X, 0)
pairs = jaxshap.interactions.exact_interactions(game)
calls = {
    "to_frame": explained.to_frame,
    "to_shap": explained.to_shap,
    "to_shapiq": jaxshap.interactions.exact_interactions(game).to_shapiq,
    "values to_shapiq": explained[0].to_shapiq,
    "a model fitted on a DataFrame": lambda: jaxshap.explain(
        FittedOnNames(), X, background, feature_names=["age", "height"]
    ),
    "bar": lambda: jaxshap.plots.bar(explained),
    "beeswarm": lambda: jaxshap.plots.beeswarm(explained),
    "disparity": lambda: jaxshap.plots.disparity(jaxshap.causal.disparity(explained, ["a", "b"])),
    "ice": lambda: jaxshap.plots.ice(curves),
    "pdp": lambda: jaxshap.plots.pdp(curves.average()),
    "component_bars": lambda: jaxshap.plots.component_bars(jaxshap.interactions.decompose(game)),
    "interaction_bars": lambda: jaxshap.plots.interaction_bars(pairs),
    "interaction_heatmap": lambda: jaxshap.plots.interaction_heatmap(pairs),
    "interaction_network": lambda: jaxshap.plots.interaction_network(pairs),
}
told = {}
for name, call in calls.items():
    try:
        call()
    except ImportError as error:
        told[name] = str(error)
with contextlib.redirect_stderr(io.StringIO()) as errors:
    main(["demo"])
told["demo"] = errors.getvalue()
print(json.dumps({"values": explained.values.tolist(), "told": told}))
"""
NEEDS = {
    "to_frame": "pandas",
    "to_shap": "shap",
    "a model fitted on a DataFrame": "pandas",
    "beeswarm": "shap",
}
NEEDS |= dict.fromkeys(["bar", "disparity", "ice", "pdp", "demo"], "matplotlib")
DRAWN_SETS = ["component_bars", "interaction_bars", "interaction_heatmap", "interaction_network"]
NEEDS |= dict.fromkeys(DRAWN_SETS, "matplotlib")


@pytest.fixture(scope="module")
def alone():
    """What the library does where matplotlib, shap, pandas, scikit-learn and shapiq cannot be
    imported.
    """
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_models_are_explained_without_any_of_the_optional_packages(alone):
    assert alone["values"] == [[2.0, 2.0], [6.0, 4.0]]


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_what_needs_an_optional_package_names_the_extra_that_has_it(alone, name):
    message = alone["told"][name]
    (extra,) = re.findall(r'pip install "jaxshap\[(\w+)\]"', message)
    assert NEEDS[name] in message
    assert NEEDS[name] in packages(extra)


def test_a_package_of_no_extra_is_named_itself(alone):
    assert "pip install shapiq" in alone["told"]["to_shapiq"]
    assert "pip install shapiq" in alone["told"]["values to_shapiq"]


def packages(extra):
    """The packages of an extra, those of the extras that it takes in among them."""
    found = set()
    for line in tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"][extra]:
        inner = re.fullmatch(r"jaxshap\[(\w+)\]", line)
        found |= packages(inner[1]) if inner else {re.match(r"[\w-]+", line)[0]}
    return found
