"""Something to paste for a case: a program in the subject's own terms, or the command of the kit.

For suanzi that is a call of the standard's form; for a framework, the expression that its adapter
has for the interface, with the adapter's functions that it needs, cut from its file; for another
adapter, calls of its methods; for a C library, a program in C. Each asserts the expected result.
"""

from __future__ import annotations

import math
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import fill, indent
from typing import Any

from suanzi.conformance.judging.due import Number, Range, Way, ways
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import values
from suanzi.conformance.model.numbers import Real, Value
from suanzi.conformance.model.titles import options_of
from suanzi.conformance.running.defaults import completed
from suanzi.conformance.running.excerpts import Excerpts
from suanzi.conformance.running.process import Backend, Facts
from suanzi.conformance.subjects.wire import Bytes, Data, Shaped, Unsupported
from suanzi.promote.library import registered, rule_set

BETWEEN = """\
def between(found, least, most):
    for i, (x, a, b) in enumerate(zip(found, least, most, strict=True)):
        right = x != x if a != a else a <= x <= b
        if x == a == b == 0:
            right = copysign(1, a) <= copysign(1, x) <= copysign(1, b)
        assert right, f"[{i}] {x}, not {a}" + ("" if repr(a) == repr(b) else f" to {b}")
"""
FLAT = """\
def flat(x):
    x = x.tolist() if hasattr(x, "tolist") else x
    if isinstance(x, (list, tuple)):
        return [number for one in x for number in flat(one)]
    return [x.real, x.imag] if isinstance(x, complex) else [x if isinstance(x, int) else float(x)]
"""


@dataclass(frozen=True)
class Form:
    """How a script asks an output `x`: expressions."""

    dtype: str
    """The name of its dtype."""
    numbers: str
    """Its elements."""
    order: str = "x.min2maj"
    """Its axes as they lie in memory."""


def outputs_asserted(ways: Sequence[Way], form: Form) -> str:
    """Return lines that assert that `outputs` is what one of the ways has."""
    some = [way for way in ways if not way.statuses]
    if len(some) == 1:
        return _one_way(some[0], form)
    lines = []
    for i, way in enumerate(some):
        body = indent(_one_way(way, form), "    ")
        lines.append(f"def reading_{i}():\n{body}\n")
    names = ", ".join(f"reading_{i}" for i in range(len(some)))
    lines += [
        "wrong = []",
        f"for reading in ({names}):",
        "    try:",
        "        reading()",
        "    except AssertionError as error:",
        "        wrong.append(str(error))",
        f"assert len(wrong) < {len(some)}, wrong  # any of them passes",
    ]
    return "\n".join(lines)


def _one_way(way: Way, form: Form) -> str:
    lines = [f"assert len(outputs) == {len(way.outputs)}, outputs"]
    for i, right in enumerate(way.outputs):
        lines += _output(f"outputs[{i}]", right, form)
    return "\n".join(lines)


def _output(name: str, right: Any, form: Form) -> list[str]:
    if right is None:
        return [f"print({name})  # `suanzi check` checks its properties"]
    if isinstance(right, list) and any(isinstance(one, Range) for one in right):
        lines = [f"assert len({name}) == {len(right)}, {name}"]
        for i, one in enumerate(right):
            lines += _output(f"{name}[{i}]", one, form)
        return lines
    if isinstance(right, list):
        return [f"assert list({name}) == {right!r}, {name}"]
    if not isinstance(right, Range):
        return [f"assert {name} == {right!r}, {name}"]
    lines = [
        f"x = {name}",
        f"assert {form.dtype} == {right.dtype!r}, {form.dtype}",
        f"assert list(x.shape) == {list(right.shape)}, list(x.shape)",
    ]
    if right.min2maj is not None:
        lines.append(f"assert {form.order} == {right.min2maj}, {form.order}")
    if not right.least:
        return lines
    if list(map(repr, right.least)) == list(map(repr, right.most)):
        return [*lines, _list("due", right.least), f"between({form.numbers}, due, due)"]
    lines += [_list("least", right.least), _list("most", right.most)]
    return [*lines, f"between({form.numbers}, least, most)"]


def _list(name: str, some: Sequence[Number]) -> str:
    text = f"{name} = [{', '.join(map(literal, some))}]"
    return fill(text, 96, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def literal(x: Number) -> str:
    """Return a number as Python reads it, with inf and nan from math.

    >>> literal(-0.0), literal(float("-inf")), literal(3)
    ('-0.0', '-inf', '3')
    """
    return "nan" if isinstance(x, float) and math.isnan(x) else repr(x)


Given = Data | Bytes | Shaped
_FRAMEWORKS = Path(__file__).parents[1] / "subjects" / "frameworks"
_MOST_ELEMENTS = 2000
_LONGEST = 100_000
"""Longer programs are not shown."""
_PLAIN = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float16 "
    "bfloat16 float32 float64 complex64 complex128".split()
)


def reproduction(case: Case, backend: Backend, facts: Facts) -> str:
    """Return something to paste that makes the call of a case.

    >>> from suanzi.conformance.cases import cases
    >>> from suanzi.conformance.running.run import facts_of
    >>> suanzi = Backend("suanzi", "suanzi_adapter:Adapter")
    >>> script = reproduction(cases("square")[-1], suanzi, facts_of(suanzi))
    >>> print(script[script.index("x = ") :])
    x = sz.tensor([2.0, 3.0, 4.0], sz.float32)
    status, *outputs = interface.op_square(x=x)
    assert status.name == 'SUCCESS', interface.last_error()
    assert len(outputs) == 1, outputs
    x = outputs[0]
    assert str(x.dtype) == 'float32', str(x.dtype)
    assert list(x.shape) == [3], list(x.shape)
    due = [4.0, 9.0, 16.0]
    between(numbers(read(x)), due, due)
    """
    script = None
    if (
        not case.steps
        and sum(data.size for data in _tensors(list(case.arguments.values()))) <= _MOST_ELEMENTS
        and not any(isinstance(x, Bytes) and x.size > _LONGEST for x in case.arguments.values())
    ):
        script = _program(case, backend, facts)
    return command(case, backend) if script is None or len(script) > _LONGEST else script


def _program(case: Case, backend: Backend, facts: Facts) -> str | None:
    if backend.adapter == "suanzi_adapter:Adapter":
        return _of_suanzi(case, facts)
    if backend.adapter.startswith("frameworks."):
        return _of_framework(case, backend, facts)
    if backend.adapter.endswith("c_adapter:Adapter"):
        from suanzi.conformance.running.c_program import c_program

        try:
            return c_program(case, str(backend.options.get("path", backend.title)))
        except Unsupported:  # C cannot express it
            return None
    if backend.adapter in ("cluster_adapter:Adapter", "device_adapter:Adapter"):
        return None  # the command is enough
    return _of_adapter(case, backend, facts)


def command(case: Case, backend: Backend) -> str:
    """Return the command that runs one case alone.

    >>> from suanzi.conformance.cases import cases
    >>> command(cases("square")[-1], Backend("./libvendor.so", "c_adapter:Adapter"))
    'suanzi check --backend ./libvendor.so --case square/example/float32/A.2.8.4-1'
    """
    words = ["suanzi", "check", *options_of(backend.title)]
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
        lines.append(f"sz.set_promotion({_promotion(case.rules)})")
    for name, value in case.arguments.items():
        text = _written(value, lambda given: _in_suanzi(given, needed))
        lines.append(f"{_variable(name)} = {text}")
    given = ", ".join(f"{name}={_variable(name)}" for name in case.arguments)
    lines.append(f"status, *outputs = interface.{case.interface.c_name}({given})")
    form = Form("str(x.dtype)", "numbers(read(x))", "x.layout.min2maj")
    lines += _due(case, "interface.last_error()", "status.name", form)
    text = "\n".join(lines)
    head = ["import suanzi as sz", "from suanzi import interface"]
    if "numbers(" in text:
        head.append("from suanzi.conformance.model.data import numbers")
    names = [name for name in ("create", "read") if f"{name}(" in text]
    if names:
        head.append(f"from suanzi.conformance.subjects.suanzi_adapter import {', '.join(names)}")
    if needed:
        head.append("from suanzi.conformance.subjects.wire import Data")
    return _script(case, head, text)


def _promotion(rules: str) -> str:
    """Return the expression for a rule set in a standalone script."""
    if rules not in registered:
        return repr(rules)
    chosen = rule_set(rules)
    if chosen.file is not None:
        return f"sz.RuleSet.from_file({chosen.file!r})"
    return f"sz.RuleSet.from_text({chosen.text!r})"


def _of_adapter(case: Case, backend: Backend, facts: Facts) -> str:
    module, _, made = backend.adapter.partition(":")
    options = ", ".join(f"{name}={value!r}" for name, value in backend.options.items())
    lines = [f"adapter = {made}({options})"]
    for name, value in case.arguments.items():
        text = _written(value, _by_adapter)
        lines.append(f"{name}_ = {text}")
    given = ", ".join(f"{name!r}: {name}_" for name in case.arguments)
    call = f"found = adapter.call({case.op!r}, {{{given}}})"
    lines += [
        'if hasattr(adapter, "use_rules"):',
        f"    adapter.use_rules({case.rules or facts.rules!r})",
        "error = None",
        "try:",
        f"    {call}",
        "except Exception as raised:",
        "    error = raised",
        '    found = (adapter.status(error) if hasattr(adapter, "status") else None) or "refused",',
        "outputs = found if isinstance(found, tuple) else (found,)",
        "status = 'SUCCESS'",
        "if outputs and isinstance(outputs[0], str):",
        "    status, *outputs = outputs",
        "outputs = [read(x) for x in outputs] if status == 'SUCCESS' else []",
    ]
    form = Form("x.dtype", "numbers(x)")
    lines += _due(case, "error or (status, *outputs)", "status", form, facts.statuses)
    text = "\n".join(lines)
    head = [f"from {module} import {made}", "from suanzi.conformance import Data",
            "from suanzi.conformance.model.data import numbers"]  # fmt: skip
    return _script(case, head, text, _READ)


_READ = """\
def read(x):
    if type(x) in (list, tuple):
        return [read(one) for one in x]
    plain = x is None or isinstance(x, (bool, int, float, complex, str, Data))
    return x if plain else adapter.read(x)
"""


def _due(case: Case, words: str, status: str, form: Form, statuses: bool = True) -> list[str]:
    """Return lines that assert the expected `status` and `outputs`."""
    found = ways(case.expect(), len(case.interface.outputs), statuses)
    refusals = list(dict.fromkeys(name for way in found for name in way.statuses))
    gives = any(not way.statuses for way in found)
    if not statuses and refusals:
        lines = [] if gives else [f"assert {status} != 'SUCCESS', {words}"]
    else:
        right = [*refusals, *(["SUCCESS"] if gives else [])]
        test = f"== {right[0]!r}" if len(right) == 1 else f"in {tuple(right)!r}"
        lines = [f"assert {status} {test}, {words}"]
    if not gives:
        return lines
    body = outputs_asserted(found, form)
    if refusals:
        body = f"if {status} == 'SUCCESS':\n" + indent(body, "    ")
    return [*lines, *body.split("\n")]


def _script(case: Case, head: list[str], text: str, more: str = "") -> str:
    helpers = [
        one for one, used in ((BETWEEN, "between(" in text), (FLAT, "flat(" in text)) if used
    ]
    functions = "\n\n".join([*helpers, *([more] if more else [])])
    parts = [_title(case), *_math(f"{functions}\n{text}"), *head]
    return "\n".join([*parts, "", *([functions, ""] if functions else []), text])


def _variable(name: str) -> str:
    """Return the name of a variable that hides no function that the script needs."""
    return f"{name}_" if name in ("len", "list", "str") else name


def _by_adapter(given: Given) -> str:
    """Return how an adapter creates an argument that is not a number."""
    if isinstance(given, Bytes):
        return f'adapter.memory(bytes.fromhex("{given.content.hex()}"))'
    if isinstance(given, Shaped):
        return f"adapter.shape({given.dims}, {given.min2maj})"
    return f"adapter.create({_data(given)})"


def _in_suanzi(given: Given, needed: set[str]) -> str:
    """Return how suanzi's users write it."""
    if isinstance(given, Bytes):
        return f'bytes.fromhex("{given.content.hex()}")'
    if isinstance(given, Shaped):
        layout = f"sz.Layout(sz.LayoutType.DENSE, {given.min2maj})"
        return f"interface.Shape({given.dims}, {layout})"
    return _suanzi_tensor(given, needed)


def _suanzi_tensor(data: Data, needed: set[str]) -> str:
    ordered = data.layout != "dense" or data.min2maj is not None
    plain = not ordered and data.scale is None and data.sparse is None
    if plain and data.dtype in _PLAIN and data.size:
        return f"sz.tensor({_nested(data)}, sz.{data.dtype})"
    needed.add("create")
    return f"create({_data(data)})"


def _data(data: Data) -> str:
    facts = {"layout": data.layout if data.layout != "dense" else None, "scale": data.scale,
             "zero_point": data.zero_point, "sparse": data.sparse,
             "min2maj": data.min2maj}  # fmt: skip
    more = "".join(f", {name}={value!r}" for name, value in facts.items() if value is not None)
    raw = f'bytes.fromhex("{data.raw.hex()}")'
    return f"Data({data.dtype!r}, {data.shape}, {raw}{more})"


def _of_framework(case: Case, backend: Backend, facts: Facts) -> str | None:
    expression = facts.mapping.get(case.op)
    dtypes = {data.dtype for data in _tensors(list(case.arguments.values()))}
    if expression is None or not all("{" in facts.literals.get(d, "") for d in dtypes):
        return None
    source = _excerpts(backend.adapter.partition(":")[0].removeprefix("frameworks."))
    given = completed(case.op, case.arguments)
    used = source.names_in(expression)
    arguments = {name: value for name, value in given.items() if name in used}
    laid = any(data.layout != "dense" for data in _tensors(list(arguments.values())))
    odd = (data.sparse or data.scale or data.min2maj for data in _tensors([*arguments.values()]))
    if any(odd):
        return None
    wanted = (used - set(arguments)) | ({"laid"} if laid else set())
    needed = source.closure(wanted | source.names_in(" ".join(facts.literals.values()), loose=True))
    taken = source.names_inside(needed)
    renamed = {n: f"{n}_" for n in arguments if n in taken or _variable(n) != n}
    lines = [facts.literals["placing"]] if "placing" in facts.literals else []
    for name, value in arguments.items():
        text = _written(value, lambda data: _literal(data, facts), 0)
        if name in ("dtype", "type") and isinstance(value, str):
            text = facts.literals.get(f"dtype {value.lower()}", text)
        elif name == "device":
            text = facts.literals.get(f"device {str(value).lower()}", text)
        lines.append(f"{renamed.get(name, name)} = {text}")
    call = f"outputs = {source.renamed(expression, renamed)}"
    found = ways(case.expect(), len(case.interface.outputs), statuses=False)
    refusals = dict.fromkeys(name for way in found for name in way.statuses)
    if refusals:
        due = f"an error ({' or '.join(refusals)}) is due"
        lines += ["try:", f"    {call}", "except Exception as error:",
                  "    print(repr(error))", "    raise SystemExit from None"]  # fmt: skip
        if all(way.statuses for way in found):
            lines.append(f'raise AssertionError(f"{{outputs}}; {due}")')
    else:
        lines.append(call)
    if any(not way.statuses for way in found):
        lines.append("outputs = outputs if isinstance(outputs, tuple) else (outputs,)")
        lines += outputs_asserted(found, Form(_DTYPE, "flat(x)")).split("\n")
    body = "\n".join(lines)
    helpers = [
        one for one, used in ((BETWEEN, "between(" in body), (FLAT, "flat(" in body)) if used
    ]
    head = "\n\n".join([source.text(needed), *helpers])
    return "\n".join([_title(case, facts), *_math(f"{head}\n{body}"), head, "", body])


_DTYPE = 'str(x.dtype).rpartition(".")[2].lower()'
"""The expression for the dtype of a framework's tensor."""


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
    names = [name for name in ("copysign", "inf", "nan") if re.search(rf"\b{name}\b", text)]
    return [f"from math import {', '.join(names)}"] if names else []


def _written(value: Any, tensor: Any, indent: int = 0) -> str:
    if isinstance(value, Data | Bytes | Shaped):
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
