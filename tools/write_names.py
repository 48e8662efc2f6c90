"""Writes where names stand: suanzi.ops, suanzi itself, suanzi.interface, suanzi.array_api.

python tools/write_names.py   writes the files anew; a test says whether they are current
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Callable
from enum import Enum
from pathlib import Path

import suanzi.ops
from suanzi.dtypes import DTYPES
from suanzi.promote.cells import NUMERIC_KINDS
from suanzi.registry import FUNCTIONS, REGISTRY
from suanzi.standard import Interface, Parameter, interfaces
from suanzi.status import Status

FOLDER = Path(__file__).parent.parent / "src" / "suanzi"
OWN: dict[str, list[str]] = {
    "calling": ["Answer", "last_error"],
    "printed": [
        "TransType",
        "kBool",
        "kCPU",
        "kCSR",
        "kChar",
        "kComplex",
        "kDense",
        "kGPU",
        "kInt",
        "kReal",
        "kUInt",
        "op_ifft",
        *(f"STATUS_{status.name}" for status in Status),
    ],
    "structures": ["DataType", "Shape", "StorageImpl", "TensorImpl", "TypeCode"],
}
ELSEWHERE = {"suanzi.device": ["Device", "DeviceType"], "suanzi.layout": ["Layout", "LayoutType"],
             "suanzi.libraries.fft": ["FFTNormMode"],
             "suanzi.ops": ["PadMode", "ReduceMode", "RoundMode"],
             "suanzi.status": ["Status"]}  # fmt: skip


def texts() -> dict[str, str]:
    """Return the text of each written file by its path in the package."""
    operators = _operators()
    forms = {f"interface/{name}": text for name, text in _interface().items()}
    return {
        "ops/__init__.py": _ops(operators),
        "__init__.py": _public(operators),
        **forms,
        "array_api/__init__.py": _array_api(),
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
        *_imports(modules),
    ]
    return "\n".join([*lines, "", *_all(modules)]) + "\n"


def _public(modules: dict[str, list[str]]) -> str:
    """Return suanzi/__init__.py with the operators in it, and all that it imports in __all__."""
    text = (FOLDER / "__init__.py").read_text()
    every = [n for names in modules.values() for n in names]
    written = "\n".join(_imports({"suanzi.ops": every}))
    text = re.sub(r"^from suanzi\.ops import \(.*?^\)$", written, text, flags=re.M | re.S)
    public = [
        alias.asname or alias.name
        for node in ast.parse(text).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if not (alias.asname or alias.name).startswith("_") or alias.asname == "__version__"
    ]
    written = "\n".join(_all({"": public}))
    return re.sub(r"^__all__ = \[.*?^\].*?$", written, text, flags=re.M | re.S)


def _imports(modules: dict[str, list[str]]) -> list[str]:
    lines = []
    for module in sorted(modules):
        names = sorted(modules[module], key=lambda name: _as_sorted_by_ruff(name, str.lower))
        line = f"from {module} import {', '.join(names)}"
        lines += [line] if len(line) <= 100 else [
            f"from {module} import (", *(f"    {n}," for n in names), ")"
        ]  # fmt: skip
    return lines


def _all(modules: dict[str, list[str]]) -> list[str]:
    every = sorted((n for names in modules.values() for n in names), key=_as_sorted_by_ruff)
    names = ", ".join(f'"{name}"' for name in every) + ","
    indent = " " * 4
    lines = textwrap.wrap(names, 100, initial_indent=indent, subsequent_indent=indent)
    return ["__all__ = [", *lines, "]  # fmt: skip"]


# ---- the standard's form -------------------------------------------------------------------------


def _interface() -> dict[str, str]:
    groups: dict[str, list[Interface]] = {}
    for facts in interfaces().values():
        if facts.name in REGISTRY:
            groups.setdefault(facts.category.replace(" ", "_"), []).append(facts)
    files = {f"{name}.py": _module(name, group) for name, group in groups.items()}
    return {**files, "__init__.py": _package(groups)}


def _module(name: str, group: list[Interface]) -> str:
    chapter = group[0].category_clause
    lines = [
        f'"""{chapter}, {name.replace("_", " ")}, in the standard\'s form; written by '
        'tools/write_names.py."""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Any",
        "",
        "from suanzi.interface.calling import REQUIRED, Answer, call",
    ]
    for facts in group:
        lines += ["", "", *_function(facts)]
        for printed in facts.printed:
            lines += ["", "", f"{printed} = {facts.c_name}", '"""The name as it is printed."""']
    return "\n".join(lines) + "\n"


def _function(facts: Interface) -> list[str]:
    function = REGISTRY[facts.name].function
    own = inspect.signature(function).parameters
    written = [f"{p.name}: Any = {_default(p, own)}" for p in facts.parameters]
    head = f"def {facts.c_name}({', '.join(written)}) -> Answer:"
    if len(head) > 100:
        head = "\n".join([f"def {facts.c_name}(", *(f"    {w}," for w in written), ") -> Answer:"])
    passed = ", ".join(f"{p.name}={p.name}" for p in facts.parameters)
    body = f'    return call("{facts.name}", {passed})'
    if len(body) > 100:
        parts = [f'"{facts.name}"', *(f"{p.name}={p.name}" for p in facts.parameters)]
        one_line = f"        {', '.join(parts)}"
        inner = [one_line] if len(one_line) <= 100 else [f"        {part}," for part in parts]
        body = "\n".join(["    return call(", *inner, "    )"])
    summary = (inspect.getdoc(function) or "").split("\n\n")[0].split("\n")[0]
    outputs = ", ".join(["Status", *facts.outputs]) + "," * (not facts.outputs)
    return [
        head,
        f'    """{summary}',
        "",
        f"    Clause {facts.clause}, Table {facts.table}; returns ({outputs}).",
        '    """',
        body,
    ]


def _default(parameter: Parameter, own: object) -> str:
    """Return a default as text: a literal, or the name of a dtype, a device or a mode."""
    if parameter.derived:
        return "None"
    if parameter.required:
        return "REQUIRED"
    assert isinstance(own, dict) or hasattr(own, "__getitem__")
    value = own[parameter.name].default
    if value is None or type(value) in (bool, int, float, tuple):
        return repr(value)
    return f'"{getattr(value, "name", None) or value}"'


def _package(groups: dict[str, list[Interface]]) -> str:
    names: dict[str, list[str]] = {
        name: sorted(n for facts in group for n in (facts.c_name, *facts.printed))
        for name, group in groups.items()
    }
    modules = {f"suanzi.interface.{name}": found for name, found in {**names, **OWN}.items()}
    modules |= ELSEWHERE
    lines = [
        '"""The standard\'s own form: the functions and structures of Appendix A.',
        "",
        "Each function has its C name and its parameters in the standard's order, all by keyword;",
        "it returns a status and the outputs, and raises nothing that a status can say.",
        "",
        ">>> import suanzi as sz",
        ">>> from suanzi import interface",
        ">>> interface.op_add(x=sz.tensor([1, 2]), y=sz.tensor([3, 4]))",
        "(<Status.SUCCESS: 0>, Tensor([4, 6], dtype=int64))",
        ">>> interface.op_sqrt(sz.tensor([-1.0]))",
        "(<Status.INVALID_ARGUMENT: 4>, None)",
        ">>> print(interface.last_error())",
        "sqrt (7.2.8.2): x holds -1, and its domain is x >= 0. Mend it, for example with \\",
        "sz.clip, or let the result be NaN, with sz.domain_errors(False).",
        "",
        "This file and those of the categories are written by tools/write_names.py.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
    ]
    return "\n".join([*lines, *_imports(modules), "", *_all(modules)]) + "\n"


# ---- the array API -------------------------------------------------------------------------------

EXTENSIONS = ("fft", "linalg")


def _array_api() -> str:
    """Return array_api/__init__.py with the public names of every chapter in it."""
    home = FOLDER / "array_api"
    text = (home / "__init__.py").read_text()
    modules = {"suanzi.array_api": [name for name in EXTENSIONS if (home / f"{name}.py").exists()]}
    for path in sorted((*home.glob("*.py"), *home.glob("elementwise_functions/*.py"))):
        names = _public_in(ast.parse(path.read_text()))
        if names and path.name != "__init__.py" and path.stem not in EXTENSIONS:
            inside = ".".join(path.relative_to(home).with_suffix("").parts)
            modules[f"suanzi.array_api.{inside}"] = names
    modules = {module: names for module, names in modules.items() if names}
    modules["suanzi.dtypes"] = [d.name for d in DTYPES if d.kind in NUMERIC_KINDS]
    head = text[: text.index("\nfrom ")]
    lines = [head, *_imports(modules), "", *_all(modules)]
    return "\n".join(lines) + "\n"


def _public_in(tree: ast.Module) -> list[str]:
    """Return what a chapter says is public."""
    for node in tree.body:
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
