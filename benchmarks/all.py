"""Which stored tables are stale, and how to make them again, in order.

A table names the commit that made it. It is stale if a file that its script imports, directly or
through others, has changed since: names are followed through the front doors of the rooms to the
files that define them. `--run` makes the stale ones again, one after the other, since two
benchmarks at a time disturb each other; it stops at the first that fails.
"""

import argparse
import ast
import functools
import pathlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks"
ORIGIN = re.compile(
    r"Made by `python (benchmarks/[^`]+)`(?: at commit (\w+)(, with uncommitted)?)?"
)
HELPERS = {"all", "networks", "peers", "random_games", "hidden_games", "report", "on_accelerator"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true", help="make the stale tables again")
    parser.add_argument("--only", default="", help="scripts whose name holds this")
    parser.add_argument("--folder", action="append", default=[], metavar="OPTION=PATH")
    options = parser.parse_args()
    given = dict(pair.split("=", 1) for pair in options.folder)
    scripts = [path for path in sorted(FOLDER.glob("*.py")) if path.stem not in HELPERS]
    for script in scripts:
        if options.only not in script.stem:
            continue
        command, reason = state(script)
        print(f"{script.stem:24}{reason or 'fresh'}", flush=True)
        if options.run and reason:
            words = filled(shlex.split(command), given)
            if words is None:
                print(f"{'':24}skipped: pass --folder OPTION=PATH for what `{command}` leaves open")
                continue
            subprocess.run([sys.executable, *words], cwd=ROOT, check=True)


def state(script: pathlib.Path) -> tuple[str, str]:
    """The command that makes a table, and why it should be made again; "" if it should not."""
    table, command = script.with_suffix(".md"), f"benchmarks/{script.name}"
    if not table.exists():
        return command, "has no stored table"
    origin = ORIGIN.search(table.read_text())
    if origin is None:
        return command, "does not say how it was made"
    command, commit, uncommitted = origin.groups()
    if commit is None or uncommitted:
        return command, "names no commit" if commit is None else "was made with uncommitted changes"
    names = [str(path.relative_to(ROOT)) for path in sorted(dependencies(script))]
    changed = git("diff", "--name-only", commit, "HEAD", "--", *names)
    if changed is None:
        return command, f"names commit {commit}, which is not in this repository"
    files = changed.split()
    more = f" and {len(files) - 2} more" if len(files) > 2 else ""
    return command, f"stale: {', '.join(files[:2])}{more} changed since {commit}" if files else ""


def filled(words: list[str], folders: dict[str, str]) -> list[str] | None:
    """The command with the user's own folders; None where one is not given."""
    chosen = list(words)
    for place, word in enumerate(words):
        if word in ("FOLDER", "FILE"):
            option = words[place - 1].removeprefix("--")
            if option not in folders:
                return None
            chosen[place] = folders[option]
    return chosen


def git(*arguments: str) -> str | None:
    run = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else None


def dependencies(script: pathlib.Path) -> set[pathlib.Path]:
    """The script and all files of this repository that it imports, directly or through others."""
    seen: set[pathlib.Path] = set()
    left = [script]
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            left += imported(path)
    return seen


@functools.cache
def imported(path: pathlib.Path) -> tuple[pathlib.Path, ...]:
    """The files that define what a file imports, or reaches as `jaxshap.name`."""
    tree = ast.parse(path.read_text())
    files: set[pathlib.Path | None] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            files |= {defining(f"{node.module}.{alias.name}") for alias in node.names}
        elif isinstance(node, ast.Import):
            files |= {file_of(alias.name) for alias in node.names if alias.name != "jaxshap"}
        elif isinstance(node, ast.Attribute) and ast.unparse(node).startswith("jaxshap."):
            files.add(defining(ast.unparse(node)))
    return tuple(sorted(file for file in files if file is not None))


def file_of(name: str) -> pathlib.Path | None:
    """The file of a module of the library, or of a script beside this one."""
    if "." not in name and (FOLDER / f"{name}.py").exists():
        return FOLDER / f"{name}.py"
    path = ROOT.joinpath(*name.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if name.startswith("jaxshap") and file.exists():
            return file
    return None


@functools.cache
def defining(name: str) -> pathlib.Path | None:
    """The file that defines a dotted name, behind the front doors that pass it on."""
    module, _, last = name.rpartition(".")
    if not module:
        return None
    whole, door = file_of(name), file_of(module)
    if whole is not None:
        return None if whole.name == "__init__.py" else whole
    if door is None:
        return defining(module) if "." in module else None
    passed = dict(passed_on(door))
    return defining(passed[last]) if last in passed else door


def passed_on(door: pathlib.Path) -> Iterator[tuple[str, str]]:
    """What a front door imports: each name, and where it comes from."""
    if door.name != "__init__.py":
        return
    for node in ast.parse(door.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            yield from ((alias.name, f"{node.module}.{alias.name}") for alias in node.names)


if __name__ == "__main__":
    main()
