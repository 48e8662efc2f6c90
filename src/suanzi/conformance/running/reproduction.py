"""Something to paste for a case: a script in the subject's own terms, or the command of the kit.

For suanzi that is a call of the standard's form; for a framework, the expression that its adapter
has for the interface, with the adapter's functions that it needs, cut from its file.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any

from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import values
from suanzi.conformance.model.numbers import Real, Value
from suanzi.conformance.running.excerpts import Excerpts
from suanzi.conformance.running.process import Backend, Facts
from suanzi.conformance.subjects.wire import Data

_FRAMEWORKS = Path(__file__).parents[1] / "subjects" / "frameworks"
_MOST_ELEMENTS = 2000
_PLAIN = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float16 "
    "bfloat16 float32 float64 complex64 complex128".split()
)


def reproduction(case: Case, backend: Backend, facts: Facts) -> str:
    """Return something to paste that makes the call of a case.

    >>> from suanzi.conformance.cases import cases
    >>> from suanzi.conformance.running.run import facts_of
    >>> suanzi = Backend("suanzi", "suanzi_adapter:Adapter")
    >>> print(reproduction(cases("square")[-1], suanzi, facts_of(suanzi)))
    # square/example/float32/A.2.8.4-1: clause 7.2.8.4
    import suanzi as sz
    from suanzi import interface
    <BLANKLINE>
    x = sz.tensor([2.0, 3.0, 4.0], sz.float32)
    print(interface.op_square(x=x))
    """
    size = sum(data.size for data in _tensors(list(case.arguments.values())))
    if size <= _MOST_ELEMENTS:
        if backend.adapter == "suanzi_adapter:Adapter":
            return _of_suanzi(case, facts)
        if backend.adapter.startswith("frameworks."):
            script = _of_framework(case, backend, facts)
            if script is not None:
                return script
    return command(case, backend)


def command(case: Case, backend: Backend) -> str:
    """Return the command that runs one case alone.

    >>> from suanzi.conformance.cases import cases
    >>> command(cases("square")[-1], Backend("./libvendor.so", "c_adapter:Adapter"))
    'suanzi check --backend ./libvendor.so --case square/example/float32/A.2.8.4-1'
    """
    words = ["suanzi", "check"]
    if backend.title != "suanzi":
        words += ["--backend", backend.title]
    if backend.python != sys.executable:
        words += ["--python", backend.python]
    return shlex.join([*words, "--case", case.id])


def _tensors(x: Any) -> Iterator[Data]:
    if isinstance(x, Data):
        yield x
    elif isinstance(x, list | tuple):
        for one in x:
            yield from _tensors(one)


def _of_suanzi(case: Case, facts: Facts) -> str:
    lines: list[str] = []
    needed: set[str] = set()
    if case.rules is not None and case.rules != facts.rules:
        lines.append(f"sz.set_promotion({case.rules!r})")
    for name, value in case.arguments.items():
        lines.append(f"{name} = {_written(value, lambda data: _suanzi_tensor(data, needed))}")
    given = ", ".join(f"{name}={name}" for name in case.arguments)
    lines.append(f"print(interface.{case.interface.c_name}({given}))")
    text = "\n".join(lines)
    head = ["import suanzi as sz", "from suanzi import interface"]
    if needed:
        head.append("from suanzi.conformance.subjects.suanzi_adapter import create")
        head.append("from suanzi.conformance.subjects.wire import Data")
    return "\n".join([_title(case), *_math(text), *head, "", text])


def _suanzi_tensor(data: Data, needed: set[str]) -> str:
    plain = data.layout == "dense" and data.scale is None and data.sparse is None
    if plain and data.dtype in _PLAIN and data.size:
        return f"sz.tensor({_nested(data)}, sz.{data.dtype})"
    needed.add("create")
    facts = {"layout": data.layout if data.layout != "dense" else None, "scale": data.scale,
             "zero_point": data.zero_point, "sparse": data.sparse}  # fmt: skip
    more = "".join(f", {name}={value!r}" for name, value in facts.items() if value is not None)
    raw = f'bytes.fromhex("{data.raw.hex()}")'
    return f"create(Data({data.dtype!r}, {data.shape}, {raw}{more}))"


def _of_framework(case: Case, backend: Backend, facts: Facts) -> str | None:
    expression = facts.mapping.get(case.op)
    dtypes = {data.dtype for data in _tensors(list(case.arguments.values()))}
    if expression is None or not all("{" in facts.literals.get(d, "") for d in dtypes):
        return None
    source = _excerpts(backend.adapter.partition(":")[0].removeprefix("frameworks."))
    given = {**source.defaults(case.op), **case.arguments}
    used = source.names_in(expression)
    arguments = {name: value for name, value in given.items() if name in used}
    laid = any(data.layout != "dense" for data in _tensors(list(arguments.values())))
    if any(data.sparse or data.scale for data in _tensors(list(arguments.values()))):
        return None
    wanted = (used - set(arguments)) | ({"laid"} if laid else set())
    needed = source.closure(wanted | source.names_in(" ".join(facts.literals.values()), loose=True))
    taken = source.names_inside(needed)
    renamed = {name: f"{name}_" for name in arguments if name in taken}
    lines = []
    for name, value in arguments.items():
        text = _written(value, lambda data: _literal(data, facts), 0)
        if name in ("dtype", "type") and isinstance(value, str):
            text = facts.literals.get(f"dtype {value.lower()}", text)
        lines.append(f"{renamed.get(name, name)} = {text}")
    lines.append(f"print({source.renamed(expression, renamed)})")
    body = "\n".join(lines)
    head = source.text(needed)
    return "\n".join([_title(case, facts), *_math(body), head, "", body])


def _literal(data: Data, facts: Facts) -> str:
    form = facts.literals[data.dtype]
    text = (
        form.replace("{values}", _nested(data) if data.size else "[]")
        .replace("{hex}", f'"{data.raw.hex()}"')
        .replace("{shape}", str(data.shape))
    )
    if not data.size and "{shape}" not in form:
        text = f"{text}.reshape({data.shape})"
    return text if data.layout == "dense" else f"laid({text}, {data.layout!r})"


@cache
def _excerpts(module: str) -> Excerpts:
    return Excerpts(_FRAMEWORKS / f"{module}.py", _FRAMEWORKS / "common.py")


def _title(case: Case, facts: Facts | None = None) -> str:
    subject = "" if facts is None else f", {facts.name} {facts.version}"
    return f"# {case.id}: clause {case.interface.clause}{subject}"


def _math(text: str) -> list[str]:
    names = [name for name in ("inf", "nan") if name in text]
    return [f"from math import {', '.join(names)}"] if names else []


def _written(value: Any, tensor: Any, indent: int = 0) -> str:
    if isinstance(value, Data):
        text = fill(
            tensor(value), 96, initial_indent=" " * indent, subsequent_indent=" " * (indent + 4),
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        return text.strip()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_written(one, tensor, indent) for one in value) + "]"
    if isinstance(value, complex):  # as nan-infj, Python writes what it does not read
        return f"complex({value.real!r}, {value.imag!r})"
    return repr(value)


def _nested(data: Data) -> str:
    """Return the elements as Python writes them, every one exactly."""
    flat = [_element(x, data.dtype) for x in values(data)]
    for n in reversed(data.shape):
        flat = ["[" + ", ".join(flat[i : i + n]) + "]" for i in range(0, len(flat), n)]
    return flat[0]


def _element(x: Value, dtype: str) -> str:
    if isinstance(x, tuple):
        return f"complex({_element(x[0], dtype)}, {_element(x[1], dtype)})"
    if not isinstance(x, Real):
        return str(bool(x)) if dtype == "bool" else str(x)
    if x.is_nan:
        return "nan"
    sign = "-" if x.negative else ""
    return f"{sign}inf" if x.size is None else f"{sign}{float(x.size)!r}"
