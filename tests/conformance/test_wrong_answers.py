"""The kit finds what is wrong: every interface, spoilt in every way, is caught by some case."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import pytest

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.cases.statuses import DISPUTED
from suanzi.conformance.model.case import GROUPS, Case
from suanzi.conformance.model.data import tensor, values
from suanzi.conformance.model.numbers import FORMATS, PARTS, Real, decode, real
from suanzi.conformance.running.process import Local
from suanzi.conformance.running.run import run_case
from suanzi.conformance.subjects.suanzi_adapter import Adapter, read
from suanzi.conformance.subjects.wire import Data
from suanzi.standard import interfaces

Spoil = Callable[[Data], Data | None]
"""An output to a wrong one; None where that would change nothing."""
RANDOM = {"rand_uniform", "rand_normal", "rand_bernoulli", "multinomial", "randperm", "empty"}


def each(change: Callable[[Real], Real]) -> Spoil:
    def spoil(data: Data) -> Data | None:
        if PARTS.get(data.dtype, data.dtype) not in FORMATS:
            return None
        found = values(data)
        made = [
            tuple(change(p) for p in x) if isinstance(x, tuple) else change(x)  # type: ignore[arg-type]
            for x in found
        ]
        changed = tensor(data.dtype, made, data.shape)  # type: ignore[arg-type]
        return replace(data, raw=changed.raw) if changed.raw != data.raw else None

    return spoil


def factor(x: Real) -> Real:
    return x if x.size is None or x.is_nan else Real(x.negative, x.size * Fraction(1001, 1000))


def flushed(x: Real) -> Real:
    tiny = decode(FORMATS["float32"], 1 << 23).value
    return x if x.size is None or x.is_nan or x.size >= tiny else Real(x.negative, Fraction(0))


def one_element(data: Data) -> Data | None:
    """Change the last element: the highest bit of a mantissa, or the lowest of an integer."""
    if not data.size or data.dtype == "char":
        return None
    form = FORMATS.get(PARTS.get(data.dtype, data.dtype))
    if form is None:
        raw = bytearray(data.raw)
        raw[-(len(raw) // data.size)] ^= 1
        return replace(data, raw=bytes(raw))
    unit = form.bits // 8
    last = int.from_bytes(data.raw[-unit:], "little") ^ 1 << (form.mantissa - 1)
    return replace(data, raw=data.raw[:-unit] + last.to_bytes(unit, "little"))


def nan_for_a_number(data: Data) -> Data | None:
    if PARTS.get(data.dtype, data.dtype) not in FORMATS or not data.size:
        return None
    form = FORMATS[PARTS.get(data.dtype, data.dtype)]
    code = {8: "B", 16: "H", 32: "I", 64: "Q"}[form.bits]
    raw = struct.pack(f"<{code}", form.nan) + data.raw[form.bits // 8 :]
    return replace(data, raw=raw)


def other_dtype(data: Data) -> Data | None:
    swap = {"float32": "int32", "int64": "uint64", "int32": "uint32", "bool": "uint8",
            "float64": "int64", "float16": "bfloat16", "complex64": "float64"}  # fmt: skip
    return replace(data, dtype=swap[data.dtype]) if data.dtype in swap else None


def other_shape(data: Data) -> Data | None:
    return replace(data, shape=(*data.shape, 1))


def no_integers(data: Data) -> Data | None:
    swap = {"int64": "float64", "int32": "float32"}
    return replace(data, dtype=swap[data.dtype]) if data.dtype in swap else None


SPOILT: dict[str, Spoil] = {
    "a factor 1.001": each(factor),
    "one element": one_element,
    "NaN for a number": nan_for_a_number,
    "another dtype": other_dtype,
    "another shape": other_shape,
}


class Spoilt(Adapter):
    """The embedded implementation with every output spoilt."""

    def __init__(self, spoil: Spoil) -> None:
        super().__init__()
        self.spoil, self.changed = spoil, 0

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        status, *outputs = super().call(op, arguments)
        if status != "SUCCESS":
            return status, *outputs
        return status, *(self._spoilt(output) for output in outputs)

    def _spoilt(self, output: Any) -> Any:
        if isinstance(output, list | tuple):
            return [self._spoilt(one) for one in output]
        if output is None or isinstance(output, bool | int | float | complex):
            return output
        data = read(output)
        made = self.spoil(data)
        self.changed += made is not None
        return data if made is None else made


@lru_cache(maxsize=16)
def cases_of(op: str, group: str) -> list[Case]:
    """Return cases of a quick run and their truth; for all ways of spoiling what they give."""
    found = cases(op, Wanted(frozenset({group}), quick=True))
    return [replace(case, expect=cache(case.expect)) for case in found]


def cases_with_values(op: str) -> Iterator[Case]:
    """Give the cases of a quick run that have outputs; most ways need but the first."""
    for group in GROUPS:
        if group not in ("status", "promotion"):
            yield from cases_of(op, group)


ANOTHER_ANSWER = {(op, how) for op in RANDOM for how in ("a factor 1.001", "one element")} | {
    ("empty", "NaN for a number")
}
"""Random numbers are no less random for it, and the elements of `empty` may be anything."""


@pytest.mark.parametrize(
    ("op", "how"),
    [(op, how) for op in interfaces() for how in SPOILT if (op, how) not in ANOTHER_ANSWER],
)
def test_a_spoilt_output_is_found(op: str, how: str) -> None:
    # Any integers will do as shapes (E43) and as indices (E145).
    whole = how == "another dtype" and op in ("shape", "nonzero")
    adapter = Spoilt(no_integers if whole else SPOILT[how])
    subject = Local(adapter)
    for case in cases_with_values(op):
        before = adapter.changed
        if run_case(subject, case).outcome == "failed" and adapter.changed > before:
            return
    # Some outputs cannot be spoilt in some ways: integers have no NaN.
    assert not adapter.changed, f"{op} gives {adapter.changed} spoilt outputs, found by no case"


class WrongStatus(Adapter):
    """A subject whose every failure is an internal error."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        status, *outputs = super().call(op, arguments)
        return (status, *outputs) if status == "SUCCESS" else ("INTERNAL_ERROR", "it failed")


class Careless(Adapter):
    """A subject that succeeds at everything."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        status, *outputs = super().call(op, arguments)
        if status == "SUCCESS":
            return status, *outputs
        return "SUCCESS", *[Data("float32", (), b"\0\0\0\0") for _ in interfaces()[op].outputs]


@pytest.mark.parametrize("kind", [WrongStatus, Careless])
@pytest.mark.parametrize("op", list(interfaces()))
def test_a_wrong_status_is_found(op: str, kind: type[Adapter]) -> None:
    subject = Local(kind())
    wanted = [case for case in cases(op, Wanted(frozenset({"status"}))) if not case.skip]
    wanted = [case for case in wanted if case.title != "SUCCESS"]
    for case in wanted:
        if op in DISPUTED and case.title == "TYPE_MISMATCH":
            continue  # who promotes instead succeeds, and is right
        found = run_case(subject, case)
        if op == "reduce" and kind is Careless and found.reading == "E146: taken":
            continue  # Table 113 says what an input may be, and the shape of the result is right
        assert found.outcome == "failed", case.id
    if not wanted:
        assert all(p.default is not None for p in interfaces()[op].parameters), op


class Swapped(Adapter):
    """A subject that takes its operands in the other order."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        names = [p.name for p in interfaces()[op].parameters[:2]]
        first, second = (arguments.get(name) for name in names)
        return super().call(op, {**arguments, names[0]: second, names[1]: first})


@pytest.mark.parametrize(
    "op",
    """sub div floordiv true_divide mod greater greater_equal less less_equal pow allclose matmul
    solve bilinear""".split(),
)
def test_swapped_operands_are_found(op: str) -> None:
    subject = Local(Swapped())
    found = cases(op, Wanted(frozenset({"plain", "random"}), quick=True))
    assert any(run_case(subject, case).outcome == "failed" for case in found), op


class Flushing(Adapter):
    """A subject that has no subnormal numbers."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        status, *outputs = super().call(op, arguments)
        if status != "SUCCESS":
            return status, *outputs
        datas = [read(o) for o in outputs]
        return status, *(each(flushed)(d) or d for d in datas)


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "abs", "max"])
def test_flushed_subnormals_are_found(op: str) -> None:
    subject = Local(Flushing())
    special = cases(op, Wanted(frozenset({"special"}), dtypes=frozenset({"float32"})))
    assert any(run_case(subject, case).outcome == "failed" for case in special)


def test_a_subject_that_supports_nothing_passes_nothing() -> None:
    class Nothing(Adapter):
        def create(self, data: Data) -> Any:
            from suanzi.conformance.subjects.wire import Unsupported

            raise Unsupported("there is nothing")

    found = [run_case(Local(Nothing()), case) for case in cases("add", Wanted(quick=True))]
    assert {r.outcome for r in found} <= {"unsupported", "skipped"}


def test_the_number_that_is_wrong_is_named() -> None:
    case = next(c for c in cases("add") if c.group == "plain" and c.dtype == "float32")
    result = run_case(Local(Spoilt(each(factor))), case)
    assert result.problem is not None
    assert "not" in result.problem
    assert result.ulp is not None
    assert result.ulp > 1000
    assert real(1).value == 1
