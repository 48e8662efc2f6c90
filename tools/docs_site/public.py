"""The public API: what is promised, from the code and from ``public.toml``.

What the code says is read where it stands: the public paths at the top of `suanzi`, the names that
modules list in ``__all__``, the commands, the JSON Schemas, the exit statuses, the fixtures and
options of pytest, the groups of entry points.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from docs_site.lookup import help_text
from docs_site.markdown import code, docstring, table
from docs_site.words import say
from rooms import HOME, public_paths
from suanzi.base.toml import tomllib
from suanzi.front.cli import app
from suanzi.front.cli.statuses import MEANINGS

SOURCE = HOME / "src" / "suanzi"
LIST = Path(__file__).parent / "public.toml"
FORMAT = re.compile(r"(suanzi-[a-z-]+)/(\d+)")
_DOOR = re.compile(r"^from (suanzi\.[\w.]+) import (\w+) as module$", re.M)


@cache
def written() -> dict[str, Any]:
    """Return what no code says."""
    return tomllib.loads(LIST.read_text("utf-8"))


@cache
def modules() -> tuple[str, ...]:
    """Return every promised module."""
    top = (f"suanzi.{name}" for name in public_paths())
    return ("suanzi", *sorted({*top, *written()["modules"]}))


def file_of(module: str) -> Path:
    """Return the file of a module; that of a public path is the module that it stands for."""
    path = HOME / "src" / Path(*module.split("."))
    file = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
    door = _DOOR.search(file.read_text("utf-8")) if module.count(".") == 1 else None
    return file_of(f"{door[1]}.{door[2]}") if door else file


@cache
def tree_of(module: str) -> ast.Module:
    """Return the syntax of a module, which may need packages that are not installed."""
    return ast.parse(file_of(module).read_text("utf-8"))


@cache
def names_of(module: str) -> tuple[str, ...]:
    """Return the promised names of a module: what `dir` shows where it decides, or `__all__`."""
    defined = {node.name for node in tree_of(module).body if isinstance(node, ast.FunctionDef)}
    if "__dir__" in defined:
        found = [name for name in dir(importlib.import_module(module)) if _is_name(module, name)]
    else:
        found = _listed(module)
    assert found, f"{module} promises nothing; it needs __all__"
    return tuple(sorted(found, key=lambda name: (name.lower(), name)))


def _listed(module: str) -> list[str]:
    for node in tree_of(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            try:
                return list(ast.literal_eval(node.value))
            except ValueError:
                break
    return list(importlib.import_module(module).__all__)


def _is_name(module: str, name: str) -> bool:
    """Return whether a name is promised under its module, not as a module of its own."""
    return f"{module}.{name}" not in modules() and (name[0] != "_" or name == "__version__")


@cache
def groups() -> dict[str, list[str]]:
    """Return the groups of entry points, each with the files that read it."""
    found: dict[str, list[str]] = {}
    for path, node in _constants():
        target = ast.unparse(node.targets[0])
        if target == "ENTRY_POINTS" and isinstance(node.value, ast.Constant):
            found.setdefault(str(node.value.value), []).append(path)
    return found


@cache
def formats() -> dict[str, list[int]]:
    """Return the versions of each format that modules write or read."""
    texts = {schema["title"] for schema in schemas().values()}
    for _, node in _constants():
        parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        texts |= {str(one.value) for one in parts if isinstance(one, ast.Constant)}
    found: dict[str, list[int]] = {}
    for match in filter(None, map(FORMAT.fullmatch, sorted(texts))):
        found.setdefault(match[1], []).append(int(match[2]))
    return dict(sorted(found.items()))


@cache
def _constants() -> list[tuple[str, ast.Assign]]:
    """Return the assignments at the top of every module, with the path of the module."""
    return [
        (path.relative_to(SOURCE).as_posix(), node)
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Assign)
    ]


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Return every JSON Schema by the name of its format, with its path below `src`."""
    found = {}
    for path in sorted(SOURCE.rglob("*.json")):
        if path.parent.name == "schemas" or path.name.endswith(".schema.json"):
            schema = json.loads(path.read_text("utf-8"))
            match = FORMAT.fullmatch(schema["title"])
            assert match, f"{path}: its title has no version"
            found[match[1]] = {**schema, "path": path.relative_to(HOME).as_posix()}
    return found


@cache
def plugins() -> dict[str, tuple[list[str], list[str]]]:
    """Return the promised modules that are plugins of pytest: their fixtures and options."""
    found = {}
    for module in modules():
        names = [
            node.name
            for node in tree_of(module).body
            if isinstance(node, ast.FunctionDef)
            for mark in node.decorator_list
            if ast.unparse(mark).startswith("pytest.fixture")
        ]
        if names:
            found[module] = sorted(names), _options(module)
    return found


def _options(module: str) -> list[str]:
    """Return the options that a plugin adds to pytest."""

    class Parser:
        def __init__(self) -> None:
            self.options: list[str] = []

        def getgroup(self, *_: object) -> Parser:
            return self

        def addoption(self, name: str, **_: object) -> None:
            self.options.append(name)

        def addini(self, *_: object, **__: object) -> None: ...

    parser = Parser()
    add = getattr(importlib.import_module(module), "pytest_addoption", None)
    if add is not None:
        add(parser)
    return sorted(parser.options)


def commands() -> list[str]:
    """Return every command."""
    return sorted(name for name in app if not name.startswith("-"))


def module_of(path: str) -> str:
    """Return the longest listed module that a dotted path begins with."""
    known = {*modules(), *written()["shown"]}
    parts = path.split(".")
    return next(
        name for end in range(len(parts), 0, -1) if (name := ".".join(parts[:end])) in known
    )


def is_listed(path: str) -> bool:
    """Return whether a page may name a dotted path: it is promised, or shown at work."""
    module = module_of(path)
    name = path[len(module) + 1 :].partition(".")[0]
    return not name or path in groups() or module in written()["shown"] or name in names_of(module)


# ---- the page ------------------------------------------------------------------------------------


def page(part: str) -> str:
    """Return a part of the page."""
    return {
        "modules": _modules,
        "shown": lambda: code(written()["shown"]),
        "commands": _commands,
        "exits": _exits,
        "formats": _formats,
        "plugins": _plugins,
        "groups": _groups,
    }[part]()


def _modules() -> str:
    parts = []
    for module in modules():
        about = (ast.get_docstring(tree_of(module)) or "").split("\n\n")[0]
        parts.append(f"### `{module}`\n\n{docstring(about)}\n\n{code(names_of(module))}")
    return "\n\n".join(parts)


def _commands() -> str:
    rows = []
    for name in commands():
        about = inspect.cleandoc(app[name].help or "").split("\n\n")[0]
        rows.append((f"[`suanzi {name}`](cli.md#{name})", help_text(about)))
    return table((say("command"), say("what it does")), rows)


def _exits() -> str:
    rows = [(str(int(status)), say(meaning)) for status, meaning in MEANINGS.items()]
    return table((say("exit status"), say("what it says")), rows)


def _formats() -> str:
    rows = []
    for name, versions in formats().items():
        if name in written()["internal"]:
            continue
        schema = schemas().get(name)
        about = schema["description"] if schema else written()["formats"][name]
        numbers = ", ".join(map(str, versions))
        rows.append((f"`{name}`", numbers, say(about), f"`{schema['path']}`" if schema else ""))
    return table(tuple(map(say, ("format", "versions", "what it is", "JSON Schema"))), rows)


def _plugins() -> str:
    rows = [
        (f"`{module}`", code(fixtures), code(options))
        for module, (fixtures, options) in plugins().items()
    ]
    return table((say("plugin"), say("fixtures"), say("options")), rows)


def _groups() -> str:
    rows = [(f"`{name}`", say(written()["groups"][name])) for name in sorted(groups())]
    return table((say("group"), say("what it announces")), rows)
