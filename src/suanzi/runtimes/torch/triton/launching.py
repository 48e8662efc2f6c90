"""Kernels are compiled once per signature, and then started through the driver.

Triton's own path from a call to a kernel takes longer than most small kernels. Here the key of a
signature is a tuple, and what is compiled for it is started directly. Triton keeps compiled kernels
on disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile
from triton.runtime.jit import JITFunction

from suanzi.base import triton_interpreter
from suanzi.runtimes.torch.triton.driver import Handle

TYPES = {
    torch.bool: "i1", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32",
    torch.int64: "i64", torch.uint8: "u8", torch.uint16: "u16", torch.uint32: "u32",
    torch.uint64: "u64", torch.float8_e4m3fn: "fp8e4nv", torch.float8_e5m2: "fp8e5",
    torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32", torch.float64: "fp64",
}  # fmt: skip
_POINTERS = {plain: f"*{name}" for plain, name in TYPES.items()}
_OPTIONS = {"enable_fp_fusion": False, "enable_reflect_ftz": False}
"""No product is contracted with a sum, and libdevice flushes no subnormal number."""

_handles: dict[Any, Handle] = {}


class Plain(int):
    """An integer of 32 bits of which a kernel knows nothing: all are served by one compilation."""


def pointer(dtype: torch.dtype) -> str:
    """Return the type of a parameter that points to elements of a dtype."""
    return _POINTERS[dtype]


def is_compiled(kernel: Any) -> bool:
    """Return whether a kernel is compiled, not interpreted."""
    return isinstance(kernel, JITFunction)


def launch(
    kernel: Any,
    grid: Sequence[int],
    args: Sequence[Any],
    constexprs: Mapping[str, Any] | None = None,
    *,
    warps: int = 4,
    stages: int = 3,
) -> None:
    """Start a kernel on the device of its first tensor; see :mod:`suanzi.runtimes.torch.triton`."""
    constants = {} if constexprs is None else constexprs
    if not is_compiled(kernel):
        triton_interpreter.fix()
        with np.errstate(all="ignore"):
            kernel[tuple(grid)](*args, **constants)
        return
    seen: list[tuple[str, Any]] = []
    values: list[Any] = []
    device = 0
    for x in args:
        if isinstance(x, torch.Tensor):
            address = x.data_ptr()
            seen.append((_POINTERS[x.dtype], address % 16 == 0))
            values.append(address)
            device = x.device.index
        elif isinstance(x, float):
            seen.append(("fp32", False))
            values.append(x)
        elif type(x) is Plain:
            seen.append(("i32", False))
            values.append(x)
        elif x == 1:
            seen.append(("constexpr", int(x)))
        else:
            seen.append(("i32" if -(2**31) <= x < 2**31 else "i64", x % 16 == 0))
            values.append(x)
    key = (kernel, device, warps, stages, *seen, *constants.items())
    handle = _handles.get(key)
    if handle is None:
        handle = _handles[key] = prepare(kernel, seen, constants, device, warps, stages)
    x, y, z = (*grid, 1, 1)[:3]
    handle.start((x, y, z), tuple(values))


def prepare(
    kernel: Any,
    seen: Sequence[tuple[str, Any]],
    constants: Mapping[str, Any],
    device: int,
    warps: int = 4,
    stages: int = 3,
) -> Handle:
    """Return a kernel compiled for types of parameters: each with whether 16 divides it."""
    key = (kernel, tuple(seen), tuple(constants.items()), device, warps, stages)
    if key not in _prepared:
        _prepared[key] = _loaded(kernel, seen, constants, device, warps, stages)
    return _prepared[key]


_prepared: dict[Any, Handle] = {}


def _loaded(
    kernel: Any,
    seen: Sequence[tuple[str, Any]],
    constants: Mapping[str, Any],
    device: int,
    warps: int,
    stages: int,
) -> Handle:
    made, types = compiled(
        kernel, seen, constants, torch.cuda.get_device_capability(device), warps, stages
    )
    facts = made.metadata
    assert not facts.global_scratch_size, f"{facts.name} needs scratch memory"
    return Handle(made.asm["cubin"], facts.name, types, 32 * warps, facts.shared, device)


def compiled(
    kernel: Any,
    seen: Sequence[tuple[str, Any]],
    constants: Mapping[str, Any],
    capability: tuple[int, int],
    warps: int,
    stages: int = 3,
) -> tuple[Any, list[str]]:
    """Return what Triton compiles, and the types of the parameters that remain."""
    given = iter(seen)
    signature, fixed, attributes, types = {}, dict(constants), {}, []
    for i, parameter in enumerate(kernel.params):
        name = parameter.name
        if name in constants:
            signature[name] = "constexpr"
            continue
        kind, fact = next(given)
        if kind == "fp32" and parameter.annotation_type == "fp64":
            kind = "fp64"
        signature[name] = kind
        if kind == "constexpr":
            fixed[name] = fact
            continue
        types.append(kind)
        if fact:
            attributes[(i,)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, signature, fixed, attributes)
    target = GPUTarget("cuda", 10 * capability[0] + capability[1], 32)
    options = {"num_warps": warps, "num_stages": stages, **_OPTIONS}
    return compile(source, target=target, options=options), types
