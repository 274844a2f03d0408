"""Imports point downwards, are never hidden, and stay within what each module may use; read from
the source.
"""

import ast
import pathlib
import subprocess
import sys

import pytest

import jaxshap

ROOT = pathlib.Path(jaxshap.__file__).parent
LAYERS = [
    "memory compilation",
    "game coalitions players background subsets",
    "transforms linear projections masking inputs designs sign_kernels checkpoint sparse_regression graphs "
    "index_weights",
    "filling prediction support source",
    "evaluation estimator neighbourhood surrogates sign_process values trees theory",
    "sign_fit pair_regression",
    "estimators uncertainty residuals residual_edges decomposition components effects local_surrogate causal trust",
    "estimation indices",
    "display task",
    "explanation",
    "tree_explainer",
    "explainer fairness",
    "plots",
    "report_text",
    "report demo",
    "command",
    "__main__",
]
WITHIN = {
    "trees": [
        "ensemble",
        "paths convert",
        "tables",
        "direct attribution",
        "path_dependent interventional",
    ],
    "trust": ["additivity off_manifold redundancy shift stability", "diagnosis"],
    "effects": [
        "records moving grids",
        "points binning",
        "local_effects",
        "partial_dependence accumulated",
    ],
    "plots": [
        "style",
        "selection",
        "attributions budgets comparisons effects fairness images interactions local_surrogate shap_plots trust",
    ],
    "command": ["onnx_model", "files", "categories", "task", "run"],
}
LEVEL = {name: float(level) for level, names in enumerate(LAYERS) for name in names.split()}
for package, parts in WITHIN.items():
    steps = {
        f"{package}.{name}": step / len(parts)
        for step, names in enumerate(parts)
        for name in names.split()
    }
    LEVEL |= {name: LEVEL[package] + step for name, step in steps.items()}
PLOTTING = {
    "plots/style.py": {"matplotlib"},
    "plots/attributions.py": {"matplotlib"},
    "plots/budgets.py": {"matplotlib"},
    "plots/comparisons.py": {"matplotlib"},
    "plots/effects.py": {"matplotlib"},
    "plots/fairness.py": {"matplotlib"},
    "plots/images.py": {"matplotlib"},
    "plots/interactions.py": {"matplotlib"},
    "plots/local_surrogate.py": {"matplotlib"},
    "plots/shap_plots.py": {"matplotlib", "shap"},
    "plots/trust.py": {"matplotlib"},
    "demo.py": {"matplotlib", "sklearn"},
    "command/files.py": {"joblib", "lightgbm", "xgboost"},
    "command/onnx_model.py": {"onnxruntime"},
    "explanation.py": {"shap"},
    "indices.py": {"shapiq"},
}
RESTRICTED = {
    "matplotlib",
    "shap",
    "sklearn",
    "xgboost",
    "lightgbm",
    "catboost",
    "shapiq",
    "torch",
    "networkx",
    "lime",
}
RESTRICTED |= {"joblib", "onnxruntime"}
FILES = sorted(path for path in ROOT.rglob("*.py") if path.name != "__init__.py")


def level_of(name):
    """Of a dotted name below jaxshap: `estimators.exact` belongs to `estimators`, `trees.direct`
    has its own.
    """
    return LEVEL.get(".".join(name.split(".")[:2]), LEVEL.get(name.split(".")[0], len(LAYERS)))


def module_level(path):
    return level_of(".".join(path.relative_to(ROOT).with_suffix("").parts))


def imports(tree):
    """Absolute dotted names with the node of each import; `from jaxshap import display` names
    `jaxshap.display`.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno} is a relative import"
            for alias in node.names:
                yield (
                    (f"{node.module}.{alias.name}" if node.module == "jaxshap" else node.module),
                    node,
                )


def typing_only(tree):
    """Imports under `if TYPE_CHECKING:` are not run."""
    blocks = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    return {inner for block in blocks for inner in ast.walk(block)}


def inside_functions(tree):
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda))
    return {inner for function in functions for inner in ast.walk(function)}


def named(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FILES, ids=named)
def test_every_module_has_a_place_in_the_layers(path):
    assert path.relative_to(ROOT).with_suffix("").parts[0] in LEVEL


@pytest.mark.parametrize("path", FILES, ids=named)
def test_own_imports_point_to_a_strictly_lower_layer(path):
    tree = ast.parse(path.read_text())
    skipped = typing_only(tree)
    own = [
        name
        for name, node in imports(tree)
        if name.split(".")[0] == "jaxshap" and node not in skipped
    ]
    upwards = [name for name in own if level_of(name.partition(".")[2]) >= module_level(path)]
    assert not upwards, f"{named(path)} imports {upwards} from its own layer or a higher one"


@pytest.mark.parametrize("path", FILES, ids=named)
def test_own_imports_are_never_hidden_inside_functions(path):
    tree = ast.parse(path.read_text())
    hidden = inside_functions(tree)
    own = [
        name for name, node in imports(tree) if name.split(".")[0] == "jaxshap" and node in hidden
    ]
    assert not own, f"{named(path)} hides {own}"


@pytest.mark.parametrize("path", FILES, ids=named)
def test_heavy_packages_are_imported_only_where_they_belong(path):
    tree = ast.parse(path.read_text())
    foreign = {name.split(".")[0] for name, _ in imports(tree)} & RESTRICTED
    assert foreign <= PLOTTING.get(named(path), set())


def test_explanation_imports_shap_inside_to_shap_alone():
    tree = ast.parse((ROOT / "explanation.py").read_text())
    (to_shap,) = (
        n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "to_shap"
    )
    users = [node for name, node in imports(tree) if name.split(".")[0] == "shap"]
    assert users
    assert all(node in ast.walk(to_shap) for node in users)


def test_importing_the_library_loads_no_heavy_package():
    code = f"import sys, jaxshap; print(sorted(set(sys.modules) & {RESTRICTED | {'pandas'}}))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert loaded.strip() == "[]"


def test_the_package_init_only_re_exports_names():
    tree = ast.parse((ROOT / "__init__.py").read_text())
    docstring, *rest = tree.body
    assert isinstance(docstring, ast.Expr)
    assert all(isinstance(node, ast.ImportFrom) for node in rest)
    assert all(alias.asname == alias.name for node in rest for alias in node.names)
