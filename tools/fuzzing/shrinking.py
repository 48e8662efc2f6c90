"""Makes a call simpler as long as it still does what it must not, and writes it as Python."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fuzzing import c_library
from fuzzing.judging import Finding, verdict
from fuzzing.making import IN_PLACE, SYMBOLS, Call, parameters_of
from fuzzing.namespaces import ARRAY_API, CORE
from fuzzing.values import Code
from suanzi.conformance.model.case import Case
from suanzi.conformance.running.process import Backend
from suanzi.conformance.running.reproduction import reproduction
from suanzi.conformance.running.run import facts_of
from suanzi.conformance.subjects.wire import ITEMSIZE, Data

_SUANZI = Backend("suanzi", "suanzi_adapter:Adapter")


def in_child(call: Call, seconds: float = 20) -> str | Finding:
    """Return the verdict on a call that may crash or hang."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            found = verdict(call)
            said = f"{found.kind}\n{found.said}" if isinstance(found, Finding) else found
        except BaseException as error:
            said = f"broken\n{type(error).__name__}: {error}"
        os.write(write, said.encode()[:4000])
        os._exit(0)
    os.close(write)
    end = time.monotonic() + seconds
    while not (done := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(read)
            return Finding("hang", f"no answer after {seconds:g} seconds")
        select.select([read], [], [], 0.01)
        time.sleep(0.0005)
    said = os.read(read, 4000).decode(errors="replace")
    os.close(read)
    code = os.waitstatus_to_exitcode(done[1])
    if code:
        name = signal.Signals(-code).name if code < 0 else f"exit {code}"
        return Finding("crash", name)
    kind, _, words = said.partition("\n")
    return Finding(kind, words) if words else kind


def shrunk(call: Call, kind: str, seconds: float = 60) -> Call:
    """Return the simplest call found that still gives a finding of a kind."""
    end = time.monotonic() + seconds
    again = True
    while again and time.monotonic() < end:
        again = False
        for simpler in _simpler(call):
            if time.monotonic() > end:
                break
            found = in_child(simpler, 5)
            if isinstance(found, Finding) and found.kind == kind:
                call, again = simpler, True
                break
    return call


def _simpler(call: Call) -> Iterator[Call]:
    if call.form not in ("python", "symbol", "in place", ARRAY_API, CORE):
        yield replace(call, form="python")
    if call.rules != "cann":
        yield replace(call, rules="cann")
    if call.domain_errors:
        yield replace(call, domain_errors=False)
    known = parameters_of(call.op)
    for name in reversed(list(call.arguments)):
        if known[name].default is not known[name].empty:
            yield _with(call, name, None, leave_out=True)
    # Sizes of all tensors at once, since they must go together.
    there = sorted({n for x in _data(call) for n in x.shape}, reverse=True)
    for n in there:
        for less in dict.fromkeys((0, 1, 2, n // 2, n - 1)):
            if 0 <= less < n:
                yield _resized(call, n, less)
    for name, value in call.arguments.items():
        for simpler in _values(value):
            yield _with(call, name, simpler)


def _with(call: Call, name: str, value: Any, leave_out: bool = False) -> Call:
    rest = {n: v if n != name else value for n, v in call.arguments.items()}
    if leave_out:
        del rest[name]
    return replace(call, arguments=rest)


def _data(call: Call) -> list[Data]:
    return [
        x
        for value in call.arguments.values()
        for x in (value if isinstance(value, list) else [value])
        if isinstance(x, Data)
    ]


def _resized(call: Call, old: int, new: int) -> Call:
    def one(x: Any) -> Any:
        if isinstance(x, Data):
            return _cut(x, tuple(new if n == old else n for n in x.shape))
        if isinstance(x, list):
            return [one(v) for v in x]
        return tuple(new if n == old else n for n in x) if isinstance(x, tuple) else x

    return replace(call, arguments={name: one(value) for name, value in call.arguments.items()})


def _cut(x: Data, shape: tuple[int, ...]) -> Data:
    """Return the first elements along every axis."""
    import numpy as np

    item = ITEMSIZE[x.dtype]
    whole = np.frombuffer(x.raw, np.uint8).reshape(*x.shape, item)
    part = whole[tuple(slice(n) for n in shape)]
    scale = x.scale if x.scale is None or len(x.scale) == 1 else x.scale[: max(shape[0], 1)]
    return replace(x, shape=shape, raw=part.tobytes(), scale=scale)


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for i in range(len(value)):
            if len(value) > 1:
                yield value[:i] + value[i + 1 :]
            for simpler in _values(value[i]):
                yield [*value[:i], simpler, *value[i + 1 :]]
    elif isinstance(value, Data):
        if value.layout != "dense":
            yield replace(value, layout="dense")
        if value.shape and value.shape[0] == 1 and value.scale is None:
            yield replace(value, shape=value.shape[1:])
        zeros = bytes(len(value.raw))
        if value.raw != zeros:
            yield replace(value, raw=zeros)
            item, half = ITEMSIZE[value.dtype], len(value.raw) // 2
            half -= half % item
            if half:
                yield replace(value, raw=zeros[:half] + value.raw[half:])
                yield replace(value, raw=value.raw[:half] + zeros[half:])
    elif isinstance(value, Code) and value.text not in ("None", "True"):
        yield None
    elif isinstance(value, tuple) and value:
        yield value[1:]
        yield tuple(0 for _ in value) if any(value) else value[1:]


def _home(op: str) -> str:
    """Return the name of an operator in the standard's form, after that of its catalogue."""
    of, _, name = op.rpartition(":")
    return f"{of}.op_{of}_{name}" if of else f"op_{name}"


def as_python(call: Call) -> str:
    """Return a call to paste."""
    arguments = dict(call.arguments)
    case = Case(call.op, "fuzz", "any", call.form, arguments, lambda: (), rules=call.rules)
    has_code = any(isinstance(x, Code) for x in arguments.values())
    if call.device == c_library.NAME:  # a call through C, of which this is what it is compared with
        return "# through C\n" + _written(
            replace(call, form="interface", rules="strict", device="")
        )
    if call.form != "interface" or call.device or has_code:
        return _written(call)
    return reproduction(case, _SUANZI, facts_of(_SUANZI))


def _written(call: Call) -> str:
    lines = ["import numpy as np", "import suanzi as sz"]
    if any(True for _ in _data(call)):
        lines.append("from suanzi.conformance.subjects.suanzi_adapter import create")
        lines.append("from suanzi.conformance.subjects.wire import Data")
    lines.append("")

    def text(x: Any) -> str:
        if isinstance(x, Data):
            more = {"layout": x.layout, "scale": x.scale, "zero_point": x.zero_point}
            more["sparse"] = x.sparse
            given = "".join(f", {n}={v!r}" for n, v in more.items() if v not in (None, "dense"))
            there = f".to_device({call.device!r})" if call.device else ""
            raw = f'bytes.fromhex("{x.raw.hex()}")'
            return f"create(Data({x.dtype!r}, {x.shape}, {raw}{given})){there}"
        if isinstance(x, list):
            return "[" + ", ".join(text(v) for v in x) + "]"
        return x.text if isinstance(x, Code) else _number(x)

    lines += [f"{name} = {text(value)}" for name, value in call.arguments.items()]
    names = ", ".join(f"{name}={name}" for name in call.arguments)
    if call.form in ("symbol", "in place"):
        lines.insert(0, "import operator")
        symbol = (SYMBOLS if call.form == "symbol" else IN_PLACE)[call.op]
        made = f"operator.{symbol}({', '.join(list(call.arguments)[:2])})"
    elif call.form == "interface":
        lines.insert(2, "from suanzi import interface")
        made = f"interface.{_home(call.op)}({names})"
    elif call.form in (ARRAY_API, CORE):
        lines.insert(2, "from suanzi import _core as core, array_api as xp")
        made = f"{call.op}({_by_place(call)})"
    else:
        made = f"sz.{call.op.replace(':', '.')}({names})"
    chosen = f"sz.promotion({call.rules!r})"
    chosen += ", sz.domain_errors()" if call.domain_errors else ""
    lines += [f"with {chosen}:", f"    print({made})"]
    return "\n".join(lines)


def _by_place(call: Call) -> str:
    """Return the arguments as a function takes them of which some have no name."""
    words, known = [], parameters_of(call.op)
    for name in call.arguments:
        kind = known[name].kind.name
        star = "*" if kind == "VAR_POSITIONAL" else ""
        words.append(star + name if star or kind == "POSITIONAL_ONLY" else f"{name}={name}")
    return ", ".join(words)


def _number(x: Any) -> str:
    said = repr(x)
    return f'float("{said}")' if said in ("nan", "inf", "-inf") else said
