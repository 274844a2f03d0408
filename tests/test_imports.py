"""Imports point downwards from room to room, through front doors only; read from the source."""

import ast
import importlib
import pathlib
import subprocess
import sys

import pytest
from rooms import ROOMS

import jaxshap

ROOT = pathlib.Path(jaxshap.__file__).parent
AT_THE_ROOT = {"__init__.py", "__main__.py", "errors.py"}
HEAVY = {
    "matplotlib": {"plots", "cli"},
    "shap": {"plots", "explaining"},
    "sklearn": {"cli"},
    "xgboost": {"cli"},
    "lightgbm": {"cli"},
    "catboost": set(),
    "shapiq": {"explaining", "interactions"},
    "torch": set(),
    "networkx": set(),
    "tokenizers": set(),
    "transformers": set(),
    "safetensors": set(),
    "lime": set(),
    "joblib": {"cli"},
    "onnxruntime": {"cli"},
    "pandas": {"explaining", "inputs", "cli"},
}
FILES = sorted(ROOT.rglob("*.py"))


def parts(path):
    return path.relative_to(ROOT).with_suffix("").parts


def named(path):
    return str(path.relative_to(ROOT))


def imports(tree):
    """Absolute dotted names with the node of each import; `from jaxshap import x`: `jaxshap.x`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno} is a relative import"
            for alias in node.names:
                yield (f"jaxshap.{alias.name}" if node.module == "jaxshap" else node.module), node


def own_imports(path):
    """Dotted names below jaxshap that are imported when the module is."""
    tree = ast.parse(path.read_text())
    blocks = (
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test)
    )
    skipped = {inner for block in blocks for inner in ast.walk(block)}
    names = [(name, node) for name, node in imports(tree) if name.split(".")[0] == "jaxshap"]
    return [(name.split(".")[1:], node) for name, node in names if node not in skipped]


def inside_functions(tree):
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda))
    return {inner for function in functions for inner in ast.walk(function)}


def test_every_module_lives_in_a_room():
    assert {path.name for path in ROOT.glob("*.py")} <= AT_THE_ROOT
    assert {parts(path)[0] for path in FILES if len(parts(path)) > 1} == set(ROOMS) - {"errors"}


@pytest.mark.parametrize("room", [room for room in ROOMS if room != "errors"])
def test_every_room_has_a_door_with_a_docstring_that_only_names_what_lives_there(room):
    docstring, *rest = ast.parse((ROOT / room / "__init__.py").read_text()).body
    assert isinstance(docstring, ast.Expr)
    assert all(isinstance(node, ast.ImportFrom | ast.Assign) for node in rest)
    assert all(node.targets[0].id == "__all__" for node in rest if isinstance(node, ast.Assign))


@pytest.mark.parametrize("path", [path for path in FILES if len(parts(path)) > 1], ids=named)
def test_a_room_imports_from_rooms_before_it_and_through_their_doors(path):
    room, *_ = parts(path)
    foreign = [name for name, _ in own_imports(path) if name and name[0] != room]
    upwards = [name for name in foreign if ROOMS.index(name[0]) >= ROOMS.index(room)]
    assert not upwards, f"{named(path)} imports {upwards}, which come after {room}"
    deep = [name for name in foreign if len(name) > 1]
    assert not deep, f"{named(path)} reaches into {deep}: import from the front door"


@pytest.mark.parametrize("path", FILES, ids=named)
def test_own_imports_are_never_hidden_inside_functions(path):
    hidden = inside_functions(ast.parse(path.read_text()))
    own = [name for name, node in own_imports(path) if node in hidden]
    assert not own, f"{named(path)} hides {own}"


@pytest.mark.parametrize("path", FILES, ids=named)
def test_heavy_packages_are_imported_only_where_they_belong(path):
    foreign = {
        name.split(".")[0] for name, _ in imports(ast.parse(path.read_text()))
    } & HEAVY.keys()
    assert all(parts(path)[0] in HEAVY[name] for name in foreign)


def test_explanations_import_shap_inside_to_shap_alone():
    for path in (ROOT / "explaining").glob("*.py"):
        tree = ast.parse(path.read_text())
        functions = [
            n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "to_shap"
        ]
        allowed = {inner for function in functions for inner in ast.walk(function)}
        users = [node for name, node in imports(tree) if name.split(".")[0] == "shap"]
        assert all(node in allowed for node in users)


def test_importing_the_library_loads_no_heavy_package():
    code = f"import sys, jaxshap; print(sorted(set(sys.modules) & {set(HEAVY)}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_namespace_holds_the_everyday_names_and_the_rooms():
    names = {name: thing for name, thing in vars(jaxshap).items() if not name.startswith("_")}
    flat = {name for name, thing in names.items() if not isinstance(thing, type(jaxshap))}
    assert 45 <= len(flat) <= 65
    rooms = [room for room in ROOMS if room != "plots"]  # a picture is named after what it draws
    doors = [importlib.import_module(f"jaxshap.{room}") for room in rooms]
    listed = [name for door in doors for name in getattr(door, "__all__", ())]
    assert len(listed) == len(set(listed)), "a name stands in two rooms"


SHORT_FILE, SHORT_FUNCTION, MEDIAN_FUNCTION = 250, 60, 7


def code_lines(node):
    """Lines of a function or module without its docstring."""
    first = node.body[0]
    is_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    doc = (
        first.end_lineno - first.lineno + 1 if is_doc and isinstance(first.value.value, str) else 0
    )
    return node.end_lineno - node.lineno + 1 - doc


def functions_of(path):
    return [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef)]


@pytest.mark.parametrize("path", FILES, ids=named)
def test_files_and_functions_fit_on_a_screen(path):
    long = [f.name for f in functions_of(path) if code_lines(f) > SHORT_FUNCTION]
    assert not long, f"{long} have more than {SHORT_FUNCTION} lines"
    assert len(path.read_text().splitlines()) <= SHORT_FILE


def test_the_median_function_is_short():
    lengths = sorted(code_lines(f) for path in FILES for f in functions_of(path))
    assert lengths[len(lengths) // 2] <= MEDIAN_FUNCTION


@pytest.mark.parametrize("path", FILES, ids=named)
def test_no_code_decides_by_reading_a_message(path):
    """Types, fields and enums decide: no str(error) is searched, no traceback looked into."""
    text = path.read_text()
    reading = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr
        in ("startswith", "endswith", "find", "partition", "split", "removeprefix")
        and ast.unparse(node.func.value).startswith(("str(", "repr("))
    ]
    reading += [word for word in ("extract_tb", "tb_frame", "walk_tb") if word in text]
    assert not reading
