"""The worked examples of Appendix A, misprints corrected, and suanzi's where it has none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from suanzi.base.dtypes import dtype as dtype_named
from suanzi.base.status import Status
from suanzi.conformance.cases import OF_EVERY_CATALOGUE, Wanted, cases_of
from suanzi.conformance.model.case import (
    Case,
    Check,
    Either,
    Expected,
    Output,
    Outputs,
    Refused,
)
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import FORMATS, PARTS, Value, real
from suanzi.conformance.subjects.wire import Data
from suanzi.standard import examples, interface, interfaces
from suanzi.standard.worked_examples import Example, ExampleTensor

_ULP = 4.0
"""The error of a worked example of another catalogue: other cases have the bounds that follow."""


@cache
def _by_operator(of: str) -> dict[str, list[Example]]:
    found: dict[str, list[Example]] = {}
    for example in examples(of):
        found.setdefault(example.name, []).append(example)
    return found


@cases_of(*interfaces())
def worked_examples(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give the examples of an interface."""
    if "example" not in wanted.groups:
        return
    seen: Counter[str] = Counter()
    for example in _by_operator(interface(op).catalogue)[op]:
        title = example.number or "ours"
        seen[title] += 1
        yield case_of(example, f"{title} {seen[title]}")


OF_EVERY_CATALOGUE.append(worked_examples)


def case_of(example: Example, title: str) -> Case:
    """Return an example as a case."""
    given = {name: argument_of(value) for name, value in example.arguments.items()}
    tensors = [v for v in (*example.arguments.values(), *example.outputs.values())
               if isinstance(v, ExampleTensor)]  # fmt: skip
    dtype = _dtype(tensors[0]) if tensors else "any"
    return Case(example.name, "example", dtype, title, given, lambda: expected(example))


def expected(example: Example) -> Expected:
    """Return the expected result of an example: the corrected one, or the printed one (E144)."""
    corrected = _corrected(example)
    if not example.also:
        return corrected
    names = interface(example.name).outputs
    others = [tuple(_output(example, one[name]) for name in names) for one in example.also]
    words = [f"another reading {i}" for i in range(1, len(others) + 1)]
    if example.printed is not None:
        words[0] = "as printed"
    return Either("E144", {"corrected": corrected, **dict(zip(words, others, strict=True))})


def _corrected(example: Example) -> Refused | Check | Outputs:
    if example.status is not Status.SUCCESS:
        return Refused(example.status)
    if example.check in ("eigen", "qr", "svd"):
        facts: dict[str, Any] = {n: _complex(v.values) for n, v in example.outputs.items()}
        facts["dtypes"] = [_dtype(v) for v in example.outputs.values()]
        facts["ndim"] = [len(v.shape) for v in example.outputs.values()]
        facts["off"] = example.tolerance
        return Check(f"example_{example.check}", facts)
    names = interface(example.name).outputs
    return tuple(_output(example, example.outputs[name]) for name in names)


def _output(example: Example, wanted: Any) -> Any:
    if isinstance(wanted, tuple):
        return [_output(example, one) for one in wanted]
    if not isinstance(wanted, ExampleTensor):
        return wanted
    form = {"dtype": _dtype(wanted), "shape": wanted.shape}
    match example.check:
        case None:
            return _tensor_output(example, wanted)
        case "shape":
            return Check("has_shape", form)
        case "range":
            return Check("in_range", form | {"low": wanted.low, "high": wanted.high})
        case "allowed":
            return Check("one_of", form | {"allowed": wanted.allowed})
        case "permutation":
            return Check("a_permutation", form | {"values": sorted(_flat(wanted.values))})
    raise ValueError(f"there is no check {example.check!r}")


def _tensor_output(example: Example, wanted: ExampleTensor) -> Output:
    truth = tuple(_value(_dtype(wanted), x) for x in _flat(wanted.values))
    near = None
    if example.digits is not None:
        near = (Fraction(1, 2 * 10**example.digits),) * len(truth)
    other = ":" in example.name  # of a catalogue whose definitions have bounds, and no signed zeros
    ulp = _ULP if other and near is None and _dtype(wanted) in FORMATS else None
    return Output(
        _dtype(wanted),
        wanted.shape,
        truth,
        allowed=near,
        scale=wanted.scale,
        zero_point=wanted.zero_point,
        sparse=None if wanted.layout is None else wanted.layout.removeprefix("k"),
        ulp=ulp,
        zero_sign=not other,
    )


def argument_of(value: Any) -> Any:
    """Return an argument of an example as a case has it: tensors as data."""
    if isinstance(value, tuple):
        return [argument_of(v) for v in value]
    if not isinstance(value, ExampleTensor):
        return value
    dtype = _dtype(value)
    assert value.min2maj in (None, tuple(range(len(value.shape)))), value
    layout = "dense" if value.min2maj is None else "columns"
    found: Data = tensor(
        dtype, [_value(dtype, x) for x in _flat(value.values)], value.shape, layout
    )
    return found


def _dtype(value: ExampleTensor) -> str:
    return dtype_named(value.dtype).name


def _flat(values: Any) -> list[Any]:
    if not isinstance(values, tuple):
        return [values]
    return [x for one in values for x in _flat(one)]


def _value(dtype: str, x: complex) -> Value:
    """Return a number of the file as the oracle has it; decimals are the nearest float64."""
    if dtype in PARTS:
        number = complex(x)
        return real(number.real), real(number.imag)
    assert not isinstance(x, complex)
    return real(x) if dtype in FORMATS else int(x)


def _complex(values: Any) -> Any:
    if isinstance(values, tuple):
        return [_complex(v) for v in values]
    return complex(values)
