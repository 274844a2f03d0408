"""Pages that are not written by hand: the API, notebooks as they ran, stored tables, the
changelog.

`write(folder)` makes them all. No page names a function by hand, so that a new public name is in
the reference as soon as a room lists it in `__all__`.
"""

import importlib
import inspect
import pathlib
import re
import shutil
from types import ModuleType

import jaxshap

ROOT = pathlib.Path(__file__).parent.parent
COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # of terminals, in stored outputs
TITLES = {
    "explaining": "Explanations",
    "inputs": "Inputs and players",
    "values": "Value functions",
    "estimators": "Estimators",
    "engine": "Estimating and evaluating",
    "games": "Games",
    "trees": "Trees",
    "interactions": "Interactions",
    "residuals": "Residuals",
    "rewards": "Rewards",
    "hierarchies": "Hierarchies",
    "texts": "Texts",
    "images": "Images",
    "gradients": "Gradients",
    "effects": "Effects",
    "lime": "LIME",
    "trust": "Trust",
    "causal": "Causality and fairness",
    "theory": "Theory",
    "plots": "Plots",
    "report": "The report",
    "errors": "Errors and warnings",
}
NOTEBOOKS = ["quickstart", "trees", "images", "text", "choose_an_estimator", "trust"]  # these first


def write(folder: pathlib.Path) -> None:
    """Write every page below the folder, in place of what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("reference", "examples", "pictures"):
        (folder / name).mkdir(parents=True)
    for room in rooms():
        (folder / "reference" / f"{room}.md").write_text(reference_page(room), encoding="utf-8")
    (folder / "reference" / "index.md").write_text(reference_index(), encoding="utf-8")
    (folder / "changelog.md").write_bytes((ROOT / "CHANGELOG.md").read_bytes())
    (folder / "benchmarks.md").write_text(benchmark_page(), encoding="utf-8")
    for picture in (ROOT / "benchmarks").glob("*.png"):
        shutil.copy(picture, folder / "pictures")
    for notebook in notebooks():
        write_notebook(notebook, folder / "examples")
    (folder / "examples" / "index.md").write_text(examples_index(), encoding="utf-8")


def rooms() -> list[str]:
    """The rooms that have a page: all but the command line, which has a guide."""
    packages = {door.parent.name for door in ROOT.glob("jaxshap/*/__init__.py")} - {"cli"}
    return [room for room in TITLES if room in packages | {"errors"}] + sorted(
        packages - TITLES.keys()
    )


def entries(room: str) -> dict[str, object]:
    """What a room offers, by the name that a user types: `jaxshap.explain` where it is flat."""
    module = importlib.import_module(f"jaxshap.{room}")
    names = getattr(module, "__all__", None) or [
        name for name, thing in vars(module).items() if _is_defined_in(thing, module)
    ]
    flat = {id(thing): name for name, thing in vars(jaxshap).items() if not name.startswith("_")}
    things = [(name, getattr(module, name)) for name in sorted(names, key=str.lower)]
    return {
        f"jaxshap.{flat[id(thing)]}" if id(thing) in flat else f"jaxshap.{room}.{name}": thing
        for name, thing in things
    }


def reference_page(room: str) -> str:
    """A heading, what the room is for, and one directive per public name."""
    blocks = [f"# {title(room)}", introduction(room)]
    for name, thing in entries(room).items():
        blocks.append(f"## `{name.removeprefix('jaxshap.')}`")
        blocks.append(f"```{{eval-rst}}\n{directive(name, thing)}\n```")
    return "\n\n".join(blocks) + "\n"


def directive(name: str, thing: object) -> str:
    """How autodoc is asked about one public name."""
    if inspect.isclass(thing):
        listed = ", ".join(members(thing))
        return f".. autoclass:: {name}" + (f"\n   :members: {listed}" if listed else "")
    kind = "autofunction" if callable(thing) else "autodata"
    return f".. {kind}:: {name}"


def members(kind: type) -> list[str]:
    """Public methods and properties that a class defines itself; its docstring has its fields."""
    fields = {*getattr(kind, "__dataclass_fields__", ()), *getattr(kind, "_fields", ())}
    own = {name: thing for name, thing in vars(kind).items() if name not in fields}
    kinds = (property, classmethod, staticmethod)
    return [
        name
        for name, thing in own.items()
        if name[:1] != "_" and (inspect.isfunction(thing) or isinstance(thing, kinds))
    ]


def introduction(room: str) -> str:
    """The docstring of the room."""
    return inspect.getdoc(importlib.import_module(f"jaxshap.{room}")) or ""


def title(room: str) -> str:
    """The heading of a room's page."""
    return TITLES.get(room, room.capitalize())


def reference_index() -> str:
    """The rooms, with the first sentence of each and links to every name."""
    lines = ["# Reference", "", "Every public name, from its docstring, room by room."]
    lines += ["Everyday names are in `jaxshap` itself; the others are under their room.", ""]
    lines += ["| room | names |", "|---|---|"]
    for room in rooms():
        names = ", ".join(f"`{name.split('.')[-1]}`" for name in entries(room))
        lines.append(f"| [{title(room)}]({room}.md) | {names} |")
    listed = "\n".join(rooms())
    return "\n".join(lines) + f"\n\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def notebooks() -> list[pathlib.Path]:
    """The notebooks, those to read first in front."""
    found = {path.stem: path for path in sorted((ROOT / "examples").glob("*.ipynb"))}
    return [found.pop(name) for name in NOTEBOOKS] + list(found.values())


def write_notebook(notebook: pathlib.Path, folder: pathlib.Path) -> None:
    """The stored notebook as Markdown beside its pictures; nothing is run."""
    from nbconvert import MarkdownExporter

    body, resources = MarkdownExporter().from_filename(str(notebook))
    for name, content in resources["outputs"].items():
        (folder / f"{notebook.stem}_{name}").write_bytes(content)
        body = body.replace(f"({name})", f"({notebook.stem}_{name})")
    (folder / f"{notebook.stem}.md").write_text(COLOURS.sub("", body), encoding="utf-8")


def examples_index() -> str:
    """A page that lists the notebooks."""
    listed = "\n".join(path.stem for path in notebooks())
    introduction = "As they ran, with their pictures; the tests run each of them."
    return f"# Notebooks\n\n{introduction}\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"


def benchmark_page() -> str:
    """Every stored table of benchmarks/, each under its own heading."""
    parts = [(ROOT / "docs" / "benchmarks_introduction.txt").read_text(encoding="utf-8").rstrip()]
    for table in sorted((ROOT / "benchmarks").glob("*.md")):
        text = re.sub(r"^# ", "## ", table.read_text(encoding="utf-8"), count=1, flags=re.M)
        parts.append(text.rstrip())
        if table.with_suffix(".png").exists():
            parts.append(f"![The same as a picture](pictures/{table.stem}.png)")
    return "\n\n".join(parts) + "\n"


def _is_defined_in(thing: object, module: ModuleType) -> bool:
    return inspect.isclass(thing) and thing.__module__ == module.__name__
