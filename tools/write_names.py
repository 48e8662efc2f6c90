"""Write the files that list names: suanzi, suanzi.ops, suanzi.array_api, the stub of interface.

python tools/write_names.py   writes them again; a test checks that they are current
"""

from __future__ import annotations

import ast
import builtins
import importlib
import pkgutil
import re
import textwrap
from collections.abc import Callable
from enum import Enum
from pathlib import Path

import suanzi.ops
from suanzi.base.dtypes import DTYPES
from suanzi.faces import interface
from suanzi.faces.interface.functions import by_name, doc, head
from suanzi.promote.layers import NUMERIC_KINDS
from suanzi.promote.registry import FUNCTIONS
from suanzi.standard import Interface

FOLDER = Path(__file__).parent.parent / "src" / "suanzi"


def texts() -> dict[str, str]:
    """Return the text of each written file by its path in the package."""
    operators = _operators()
    return {
        "ops/__init__.py": _ops(operators),
        "__init__.py": _public(operators),
        "faces/interface/__init__.pyi": _stub(),
        "faces/array_api/__init__.py": _array_api(),
    }


# ---- the operators -------------------------------------------------------------------------------


def _operators() -> dict[str, list[str]]:
    """Return the operators, their other names and the modes they take, by module."""
    modules = {}
    for found in pkgutil.iter_modules(suanzi.ops.__path__):
        name = f"suanzi.ops.{found.name}"
        names = [
            key
            for key, x in vars(importlib.import_module(name)).items()
            if not key.startswith("_") and getattr(x, "__module__", None) == name
            if x is FUNCTIONS.get(getattr(x, "__name__", "")) or _is_mode(x)
        ]
        if names:
            modules[name] = names
    return modules


def _is_mode(x: object) -> bool:
    return isinstance(x, type) and issubclass(x, Enum)


def _ops(modules: dict[str, list[str]]) -> str:
    lines = [
        '"""The operators, each file named by its category of the standard.',
        "",
        "This file is written by tools/write_names.py.",
        '"""',
        "",
        *_imports(modules, wrapped=True),
    ]
    return "\n".join([*lines, "", *_all(modules)]) + "\n"


def _public(modules: dict[str, list[str]]) -> str:
    """Return suanzi/__init__.py with all that it imports in __all__."""
    text = (FOLDER / "__init__.py").read_text()
    every = {"suanzi.ops": [n for names in modules.values() for n in names]}
    names = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("suanzi"):
            module = str(node.module)
            for name in (alias.asname or alias.name for alias in node.names):
                star = name == "*"
                names += every.get(module) or _public_in(module) if star else [name]
    # Not the names of built-ins: `from suanzi import *` must not shadow them.
    public = [n for n in names if n == "__version__" or not (n[0] == "_" or hasattr(builtins, n))]
    written = "\n".join(_all({"": public}))
    return re.sub(r"^__all__ = \[.*?^\].*?$", written, text, flags=re.M | re.S)


def _imports(modules: dict[str, list[str]], wrapped: bool = False) -> list[str]:
    lines: list[str] = []
    for module in sorted(modules):
        names = sorted(modules[module], key=lambda name: _as_sorted_by_ruff(name, str.lower))
        line = f"from {module} import {', '.join(names)}"
        if len(line) <= 100:
            lines.append(line)
        elif wrapped:
            lines += [f"from {module} import (", *_wrapped(names), ")  # fmt: skip"]
        else:
            lines += [f"from {module} import (", *(f"    {n}," for n in names), ")"]
    return lines


def _wrapped(names: list[str]) -> list[str]:
    indent = " " * 4
    text = ", ".join(names) + ","
    return textwrap.wrap(text, 100, initial_indent=indent, subsequent_indent=indent)


def _all(modules: dict[str, list[str]]) -> list[str]:
    every = sorted((n for names in modules.values() for n in names), key=_as_sorted_by_ruff)
    return ["__all__ = [", *_wrapped([f'"{name}"' for name in every]), "]  # fmt: skip"]


# ---- the stub of the standard's form -----------------------------------------------------------


def _stub() -> str:
    """Return interface/__init__.pyi: what is built on first use, for editors and type checkers."""
    names = [name for name in interface.__all__ if name not in by_name()]
    modules: dict[str, list[str]] = {}
    for node in ast.parse((FOLDER / "faces" / "interface" / "__init__.py").read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            own = [a.name for a in node.names if a.name in names]
            star = interface.printed.__all__ if node.names[0].name == "*" else ()
            modules[node.module] = [*modules.get(node.module, []), *own, *star]
    modules = {module: found for module, found in modules.items() if found}
    modules["suanzi.faces.interface.calling"].append("REQUIRED")
    lines = [
        "# ruff: noqa: E501",
        '"""The names of suanzi.interface; written by tools/write_names.py."""',
        "",
        "from typing import Any",
        "",
        *_imports(modules),
        "",
        *_all({"": list(interface.__all__)}),
    ]
    for name, facts in by_name().items():
        lines += ["", *(_function(facts) if name == facts.c_name else [f"{name} = {facts.c_name}"])]
    return "\n".join(lines) + "\n"


def _function(facts: Interface) -> list[str]:
    line = head(facts)
    if len(line) > 100:
        name, _, rest = line.partition("(")
        given = rest.removesuffix(") -> Answer:")
        line = f"{name}(\n    {given}\n) -> Answer:"
        if len(given) > 96:
            parts = re.split(r", (?=\w+: )", given)
            line = "\n".join([f"{name}(", *(f"    {part}," for part in parts), ") -> Answer:"])
    return [line, f'    """{doc(facts).partition(chr(10))[0]}"""']


# ---- the array API -------------------------------------------------------------------------------

EXTENSIONS = ("fft", "linalg")


def _array_api() -> str:
    """Return array_api/__init__.py with the public names of every chapter in it."""
    home = FOLDER / "faces" / "array_api"
    text = (home / "__init__.py").read_text()
    chapters = [f"suanzi.faces.array_api.{path.stem}" for path in sorted(home.glob("*.py"))]
    names = {chapter: _public_in(chapter) for chapter in chapters}
    others = ("__init__", *EXTENSIONS)
    names = {c: n for c, n in names.items() if n and c.rpartition(".")[2] not in others}
    dtypes = {"suanzi.base.dtypes": [d.name for d in DTYPES if d.kind in NUMERIC_KINDS]}
    imports = [
        f"from suanzi.faces.array_api import {', '.join(EXTENSIONS)}",
        *re.findall(r"^from \S+ import \w+ as _.*$", text, re.M),  # for what it registers
        *(f"from {chapter} import *" for chapter in names),
        *_imports(dtypes, wrapped=True),
    ]
    every = _all({"": list(EXTENSIONS), **names, **dtypes})
    rest = text[re.search(r"^__all__ = \[.*?^\].*?\n", text, re.M | re.S).end() :]  # type: ignore[union-attr]
    return "\n".join([text[: text.index("\nfrom ")], *imports, "", *every]) + "\n" + rest


def _public_in(module: str) -> list[str]:
    """Return what a module says is public; it is not imported."""
    path = FOLDER.parent.joinpath(*module.split(".")).with_suffix(".py")
    if path.exists():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                return list(ast.literal_eval(node.value))
    return []


def _as_sorted_by_ruff(name: str, said: Callable[[str], str] = str) -> tuple[int, list[int | str]]:
    """Constants first, then classes, then functions; numbers in names count as numbers.

    Names that are imported it sorts in lower case, those of __all__ as they are.
    """
    some = re.split(r"(\d+)", name)
    parts: list[int | str] = [int(p) if p.isdecimal() else said(p) for p in some]
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, parts)


if __name__ == "__main__":
    for file, text in texts().items():
        (FOLDER / file).write_text(text)
