"""Element-wise operators on a device: one kernel for each, promotion and broadcasting inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import count
from typing import Any

import numpy as np
import torch

from suanzi import _core
from suanzi.base import dtypes
from suanzi.base.dtypes import DType, iinfo
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import DivisionByZero, InvalidArgument, StatusError
from suanzi.ops.calling import domains
from suanzi.ops.rounding import RoundMode
from suanzi.runtimes.torch import deferred_errors
from suanzi.runtimes.torch import elements as floor
from suanzi.runtimes.torch.casts import largest_on_overflow
from suanzi.runtimes.torch.dtypes import TORCH
from suanzi.runtimes.torch.fast import Plan, planned
from suanzi.runtimes.torch.kernels import KERNELS
from suanzi.runtimes.torch.tensor import placed
from suanzi.runtimes.torch.triton.driver import At, Handle, empty, program
from suanzi.runtimes.torch.triton.half_precision import is_looked_up, is_short
from suanzi.runtimes.torch.triton.kernel_text import (
    FLOAT8,
    KNOWN,
    Body,
    Operand,
    kernel_of,
    lane_of,
    written,
)
from suanzi.runtimes.torch.triton.launching import is_compiled, launch, pointer, prepare
from suanzi.runtimes.torch.triton.layouts import Laid, laid
from suanzi.runtimes.torch.triton.operations import expression, far, has_table, is_function, trouble
from suanzi.runtimes.torch.ways import Call

_ADDRESSES = {
    dtypes.bool: "*i1", dtypes.float16: "*fp16", dtypes.bfloat16: "*bf16", dtypes.float32: "*fp32",
    dtypes.float64: "*fp64", **dict.fromkeys(FLOAT8, "*u8"),
    **{dt: f"*{dt.kind[0]}{dt.bits}" for dt in KNOWN if dt.kind in ("int", "uint")},
}  # fmt: skip
_NUMBERS = {
    dtypes.float32: "fp32", dtypes.float64: "fp64", dtypes.int64: "i64", dtypes.uint64: "u64",
    dtypes.uint32: "u32",
}  # fmt: skip


class ElementPlan(Plan):
    """A call that was checked, and the kernel that computes it."""

    in_order = True

    def __init__(
        self, call: Call, body: Body, given: list[Any], error: Callable[[], StatusError] | None,
        lookup: Callable[[], torch.Tensor] | None = None, many: bool = False,
    ) -> None:  # fmt: skip
        tensors = [x for x in given if isinstance(x, torch.Tensor)]
        shape = broadcast_shapes([tuple(x.shape) for x in tensors])
        assert shape is not None
        found = laid(shape, [
            (tuple(x.shape), tuple(x.stride())) if isinstance(x, torch.Tensor) else None
            for x in given
        ], many)  # fmt: skip
        if found is None:
            raise NotImplementedError
        self._laid: Laid = found
        self._place, self._shape, self._result = call.place, shape, TORCH[body.result]
        self._strides, self._programs = found.out, found.programs
        self._index = call.place.index or 0
        self.operands = tensors
        self._body, self._error = body, error
        self._kernel = kernel_of(written(body, found.pattern))
        self._numbers = tuple(
            _item(x, one.target)
            for x, one in zip(given, body.operands, strict=True)
            if one.is_number
        )
        self._rest = (*found.sizes, *(s for row in found.strides for s in row))
        self._constants = dict(found.constants)
        self._are_numbers = [one.is_number for one in body.operands]
        self._handles: dict[bool, Handle] = {}
        self._table = lookup() if lookup else None
        self._before = () if self._table is None else (self._table.data_ptr(),)

    def run(self, plains: list[torch.Tensor]) -> torch.Tensor:
        """Return the result for other tensors of the same dtypes, shapes and strides."""
        out = empty(self._shape, self._strides, self._result, self._place)
        return self._into(plains, out) if self._programs else out

    def _into(self, plains: list[torch.Tensor], out: torch.Tensor) -> torch.Tensor:
        if not is_compiled(self._kernel):
            self._interpreted(plains, out)
            return out
        addresses = [x.data_ptr() for x in plains]
        low = 0
        for address in addresses:
            low |= address
        handle = self._handles.get(low & 15 == 0) or self._prepared(low & 15 == 0)
        flags = (
            []
            if self._error is None
            else [deferred_errors.slot(self._place, self._error).data_ptr()]
        )
        tensors, numbers = iter(addresses), iter(self._numbers)
        first = [next(numbers if is_number else tensors) for is_number in self._are_numbers]
        grid = self._programs, 1, 1
        handle.start(grid, (*first, out.data_ptr(), *flags, *self._before, *self._rest))
        return out

    def _prepared(self, aligned: bool) -> Handle:
        size = "i64" if self._laid.pattern.wide else "i32"
        seen: list[tuple[str, Any]] = [
            (_NUMBERS.get(lane_of(one.target), "i32"), False)
            if one.is_number
            else (_ADDRESSES[one.source], aligned)
            for one in self._body.operands
        ]
        seen += [(_ADDRESSES[self._body.result], True)]
        seen += [("*u8", False)] if self._error else []
        if self._table is not None:
            seen += [(pointer(self._table.dtype), True)]
        seen += [(size, n % 16 == 0) for n in self._rest]
        made = prepare(self._kernel, seen, self._constants, self._index, self._laid.warps)
        self._handles[aligned] = made
        if aligned and self._error is None:
            self.program = program(
                self._place, [(self._shape, self._strides, self._result)],
                [(made, self._programs, self._values())],
            )  # fmt: skip
        return made

    def _values(self) -> list[Any]:
        """Return the values of the kernel's parameters, with places of tensors."""
        places, numbers = map(At, count()), iter(self._numbers)
        first = [next(numbers if is_number else places) for is_number in self._are_numbers]
        return [*first, next(places), *self._before, *self._rest]

    def _interpreted(self, plains: list[torch.Tensor], out: torch.Tensor) -> None:
        """Run in Triton's interpreter, which takes numbers in tensors of one element."""
        held = [x.view(torch.uint8) if x.dtype.itemsize == 1 and x.is_floating_point() else x
                for x in (*plains, out)]  # fmt: skip
        flags = [] if self._error is None else [deferred_errors.slot(self._place, self._error)]
        tables = [] if self._table is None else [self._table]
        given = [*held, *flags, *tables, *self._rest]
        launch(self._kernel, (self._laid.programs,), given, self._constants)


@cache
def _table(kernel: str, dt: DType, place: torch.device, looks_up: bool = False) -> torch.Tensor:
    """Return the CPU's results for all 65,536 inputs of a 16-bit dtype, as kernels read them."""
    results = _core.run_operator(kernel, [every_16_bits(dt)], dt)[0]
    return placed(results, place) if looks_up else as_table(results, place)


def as_table(results: Any, place: torch.device) -> torch.Tensor:
    """Return results as float32, which kernels round as they do their own."""
    return placed(_core.cast(results, dtypes.float32, False), place)


def every_16_bits(dt: DType) -> Any:
    """Return all numbers of a 16-bit dtype in a tensor of the CPU, ordered by their bits."""
    every = _core.empty((1 << 16,), dt)
    every.storage.memory[: every.nbytes] = np.arange(1 << 16, dtype=np.uint16).tobytes()
    return every


def _item(x: Any, dt: DType) -> Any:
    """Return a number rounded once to a dtype, as the value of a kernel's parameter."""
    made = _core.cast(_as_tensor(x), dt, False)
    return made.item() if dt.kind != "bool" else int(bool(made.item()))


def _as_tensor(x: Any) -> Any:
    if isinstance(x, np.generic | np.ndarray):
        x = x.item()
    if isinstance(x, bool):
        return _core.full((), dtypes.bool, x)
    if isinstance(x, int) and -(2**63) <= x < 2**64:
        return _core.full((), dtypes.int64 if x < 2**63 else dtypes.uint64, x)
    return _core.full((), dtypes.float64, float(x))


def plan_of(
    call: Call,
    given: Mapping[str, Any],
    targets: Mapping[str, DType],
    made: tuple[str, DType],
    *,
    troubles: str = "",
    error: Callable[[], StatusError] | None = None,
    saturates: bool = False,
    lookup: Callable[[], torch.Tensor] | None = None,
    within: int = 16,
    far: str = "",
    looks_up: bool = False,
    is_short: bool = False,
) -> ElementPlan | None:
    """Return the plan of a call, or None where no kernel is.

    `lookup` returns the results of 16 bits that are taken `within` so many ULP of float32 of ties,
    and where `far` is true of the lanes; everywhere with `looks_up`.
    """
    result, operands, values = call.result.dtype, [], []
    compiled = is_compiled(kernel_of("def kernel():\n    pass\n"))
    for name, x in given.items():
        target = targets[name]
        if isinstance(x, torch.Tensor):
            source, is_number = call.dtypes[name], False
        elif isinstance(x, complex):
            return None
        else:
            source, is_number = target, compiled
            if not compiled:
                x = floor.rounded(floor.number(x, target, call.place), target, target)
        if source not in KNOWN or target not in KNOWN:
            return None
        operands.append(Operand(source, target, is_number))
        values.append(x)
    if result not in KNOWN or any(isinstance(x, torch.Tensor) and (x.is_conj() or x.is_neg())
                                  for x in values):  # fmt: skip
        return None
    largest = any(
        dt in FLOAT8 and not dt.has_infinity and largest_on_overflow(dt)
        for dt in (result, *targets.values())
    )
    body = Body(
        tuple(operands),
        *made,
        result,
        troubles,
        saturates,
        largest,
        within if lookup else 0,
        far,
        looks_up,
    )
    try:
        return ElementPlan(call, body, values, error, lookup, bool(lookup) and not is_short)
    except NotImplementedError:
        return None


_INEXACT = {f"kernel {name}" for name in KERNELS if is_function(name)}


@planned(*_INEXACT, rounded=False)
@planned(*({f"kernel {name}" for name in KERNELS} - _INEXACT))
def elementwise(call: Call, **arguments: Any) -> ElementPlan | None:
    """Return the plan of an operator whose operands are all promoted."""
    op, dt = call.op, call.promoted
    assert op.kernel is not None
    made = expression(op.kernel, dt)
    if made is None or call.compares_exactly or (op.domain is not None and domains.matter()):
        return None
    troubles = trouble(op.kernel, dt)
    error = _error(call, op.kernel, list(arguments)[-1]) if troubles else None
    targets = dict.fromkeys(arguments, dt)
    name = op.kernel.removeprefix("extended:")
    every = is_looked_up(name, dt)
    lookup = partial(_table, op.kernel, dt, call.place, every)
    return plan_of(call, arguments, targets, made, troubles=troubles, error=error,
                   lookup=lookup if has_table(op.kernel, dt) else None, far=far(op.kernel, dt),
                   looks_up=every, is_short=is_short(name))  # fmt: skip


def _error(call: Call, kernel: str, last: str) -> Callable[[], StatusError]:
    title = call.op.title
    if "shift" in kernel:
        words = f"{last} contains a shift below 0; shift the other way."
    elif "pow" in kernel:
        words = (
            f"{last} contains a number below 0, and integers have no power of it; cast to "
            "floating-point first."
        )
    else:
        words = (
            f"{last} contains a zero, and integers have no result for it; divide floats, or "
            "replace the zeros with sz.where first."
        )
        return lambda: DivisionByZero(f"{title}: {words}")
    return lambda: InvalidArgument(f"{title}: {words}")


@planned("where", "array_api:where")
def where(call: Call, condition: Any, **operands: Any) -> ElementPlan | None:
    """Return the plan of a choice between two operands, in the promoted dtype."""
    dt = call.promoted
    given = {"condition": condition, **operands}
    targets = {"condition": dtypes.bool, **dict.fromkeys(operands, dt)}
    return plan_of(call, given, targets, ("tl.where(a0, a1, a2)", lane_of(dt)))


@planned("cast")
def cast(
    call: Call, input: torch.Tensor, type: Any, saturate: bool, layout: Any
) -> ElementPlan | None:
    """Return the plan of a copy in another dtype."""
    dt = call.dtypes["input"]
    if layout is not None or dt is call.result.dtype:
        return None
    made = ("a0", lane_of(dt))
    return plan_of(call, {"input": input}, {"input": dt}, made, saturates=bool(saturate))


@planned("logical_not")
def logical_not(call: Call, x: torch.Tensor) -> ElementPlan | None:
    """Return the plan of whether elements are zero."""
    made = expression("logical_not", call.promoted)
    return None if made is None else plan_of(call, {"x": x}, {"x": call.promoted}, made)


@planned("rint")
def rint(call: Call, x: torch.Tensor, mode: Any) -> ElementPlan | None:
    """Return the plan of a rounding in a mode."""
    name = mode.value if isinstance(mode, RoundMode) else RoundMode[str(mode).upper()].value
    made = expression(name, call.promoted)
    return None if made is None else plan_of(call, {"x": x}, {"x": call.promoted}, made)


@planned("clip")
def clip(call: Call, input: torch.Tensor, low: Any, high: Any) -> ElementPlan | None:
    """Return the plan of limits: `high` wins where they cross."""
    dt = call.dtypes["input"]
    given, made = {"input": input}, "a0"
    for name, limit, kernel in (("low", low, "max"), ("high", high, "min")):
        if limit is None:
            continue
        found = expression(kernel, dt)
        if found is None:
            return None
        step = found[0].replace("a1", f"a{len(given)}")
        made = step.replace("a0", f"({made})")
        given[name] = _bound(limit, dt)
    if len(given) == 1:
        return None
    return plan_of(call, given, dict.fromkeys(given, dt), (made, lane_of(dt)))


def _bound(limit: Any, dt: DType) -> Any:
    if isinstance(limit, torch.Tensor) or dt.kind not in ("int", "uint"):
        return limit
    limit = limit.item() if hasattr(limit, "item") else limit
    return int(min(max(limit, iinfo(dt).min), iinfo(dt).max))
