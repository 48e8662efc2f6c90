"""A call on a device, compared with the CPU's answer: the same status, and the same elements.

Bits where the page of devices promises them; elsewhere the bound of a function, or a distance that
no rounding explains.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

import suanzi as sz
from fuzzing import c_library, judging
from fuzzing.making import Call
from suanzi.base.dtypes import part
from suanzi.promote.registry import NAMESPACES, REGISTRY, Operator
from suanzi.standard import record

NOT_SUPPORTED = "not supported there"
NO_TENSOR = "no tensor to move"
COUNTERS = (NOT_SUPPORTED, NO_TENSOR)
FORMS = ("python", "interface", "symbol", judging.ARRAY_API)
_UNCOMPARED = judging.RANDOM | judging.MADE_OF_VALUES | {"xp.empty_like", "is_contiguous"}
_FREE = {"eig", "svd", "qr", "xp.linalg.eig", "xp.linalg.eigvals", "xp.linalg.svd", "xp.linalg.qr",
         "xp.linalg.eigh"}  # fmt: skip
"""Whose factors have signs, or an order, of their own."""
_ON_THE_HOST = {"xp.empty", "xp.ones", "xp.zeros"}
"""Whose tensors are sizes: what is made is on the host unless a device is asked for."""
_SIZES = {"axes", "axis", "shape"}
"""Arguments of the array API that are read wherever they are: the result is where the array is."""
_REFUSED = ("not supported on", "must be on one device", "a tensor of a device is in a list",
            "not available for tensors of blocks", "not implemented for BlockTensor")  # fmt: skip
"""What a device may say to what the CPU computes: an operand was left on the host."""
_OF_ELEMENTS = ("contains", "the sum of group_sizes", "the sum of target_lengths", "group_sizes is")
"""What an error says that elements have."""
CLUSTER = "cluster"
HOSTED = ("", CLUSTER, "torch:cpu", c_library.NAME)
"""Devices whose memory is this machine's, and may be limited."""
_FAR = 2.0**14
"""Roundings after which an answer that is not exact counts as another one."""


def use(device: str) -> None:
    """Make a device usable in this process, if there is one."""
    if not device or device == CLUSTER:
        return _use_blocks() if device else None
    if device == c_library.NAME:
        return c_library.use()
    import torch

    from suanzi.runtimes.torch.provider import register

    torch.set_num_threads(1)
    if sz.Device(device).name not in {d.name for d in sz.devices()}:
        register()


def _use_blocks() -> None:
    """Make tensors of blocks usable, which are computed in this process."""
    import dask

    from suanzi.runtimes.cluster.provider import Provider

    dask.config.set(scheduler="sync")
    sz.register_device(CLUSTER, Provider())


def moved(x: Any, device: str) -> Any:
    """Return an argument with its tensors on a device; on a cluster, in halves along each axis."""
    if isinstance(x, list):
        return [moved(one, device) for one in x]
    if type(x) is not sz.Tensor:
        return x
    if device != CLUSTER:
        return x.to_device(device)
    from suanzi.runtimes.cluster import blocks

    with blocks(tuple(max(n + 1, 2) // 2 for n in x.shape)):
        return x.to_device(device)


def _count(x: Any) -> int:
    return sum(map(_count, x)) if isinstance(x, list) else int(type(x) is sz.Tensor)


def verdict(call: Call) -> str:
    """Return "gives", the name of a status, or why there is nothing to compare."""
    here = {name: judging.made(value) for name, value in call.arguments.items()}
    if not sum(map(_count, here.values())):
        return NO_TENSOR
    try:
        there = {  # made again: an iterator is read once
            name: moved(judging.made(value), call.device) for name, value in call.arguments.items()
        }
    except (sz.TypeMismatch, sz.UninitializedObject):  # a dtype that PyTorch has not
        return NOT_SUPPORTED
    wanted, got = judging.outcome(call, here), _outcome(call, there)
    if (
        wanted[0] != "gives"
        and got[0] != "gives"
        # Tensors of blocks look at arguments in an order of their own.
        and (call.device == CLUSTER or _which(str(wanted[1]), str(got[1])))
    ):
        return wanted[0]
    if "ALLOC_FAILED" in (wanted[0], got[0]):
        return "ALLOC_FAILED"
    if got[0] != "gives" and any(words in str(got[1]) for words in _REFUSED):
        return NOT_SUPPORTED
    if call.device == CLUSTER and _is_refused(call, wanted[0], got[0]):
        return NOT_SUPPORTED
    if wanted[0] != got[0]:
        both = (wanted, got)
        words = " | ".join(f"{how}: {' '.join(str(what).split())[:150]}" for how, what in both)
        raise judging.Found("device", words)
    if got[0] == "gives" and call.op not in _UNCOMPARED:
        _compare(call, here, wanted[1], got[1])
    return wanted[0]


def _is_refused(call: Call, here: str, there: str) -> bool:
    """Return whether blocks refuse what the host takes: a dtype, or elements in place of numbers.

    They never take what the host refuses.
    """
    refusals = {"TYPE_MISMATCH"}
    if call.form == judging.ARRAY_API:
        refusals.add("INVALID_ARGUMENT")
    return here == "gives" and there in refusals


def _which(here: str, there: str) -> bool:
    """Return whether a call has two faults: elements are looked at last there, devices first."""
    elements = any(words in here and words not in there for words in _OF_ELEMENTS)
    return elements or "must be on one device" in there


def _outcome(call: Call, arguments: Mapping[str, Any]) -> tuple[str, Any]:
    """Return what a call gives there, with the error that elements may have."""
    with suppress(sz.StatusError):  # of a call that was given up
        sz.synchronize()
    try:
        found = judging.outcome(call, arguments)
        sz.synchronize()
        if call.device == CLUSTER and found[0] == "gives":
            for x in judging.flat(found[1]):  # what depends on elements is seen when they are made
                if hasattr(x, "to_host"):
                    x.to_host()
    except sz.StatusError as error:
        if error.status is sz.Status.INTERNAL_ERROR:
            raise judging.Found("internal", str(error)) from None
        return error.status.name, error
    except judging.Found:
        raise
    except Exception as error:  # of a task, when it is computed
        raise judging.Found("foreign", f"{type(error).__name__}: {error}") from error
    return found


def _parts(found: Any) -> list[Any]:
    if isinstance(found, list | tuple):
        return [one for part in found for one in _parts(part)]
    return [found]


def _compare(call: Call, here: Mapping[str, Any], wanted: Any, got: Any) -> None:
    ones, others = _parts(wanted), _parts(got)
    given = {name for name, x in here.items() if _count(x)}
    if len(ones) != len(others):
        raise judging.Found("device", f"{len(ones)} results and {len(others)}")
    for a, b in zip(ones, others, strict=True):
        if not isinstance(a, sz.Tensor):
            if a != b and not hasattr(a, "to_dense"):
                raise judging.Found("device", f"{a!r} and {b!r}")
            continue
        if isinstance(b, sz.Tensor) and (
            call.op in _ON_THE_HOST or (call.form == judging.ARRAY_API and given <= _SIZES)
        ):
            continue
        if not hasattr(b, "to_host") or isinstance(b, sz.Tensor):
            raise judging.Found("device", f"the result is a {type(b).__name__}, not on the device")
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            raise judging.Found("device", f"{a.dtype} {a.shape} and {b.dtype} {b.shape}")
        if a.size >= 1 << 20 or call.op in _FREE:
            continue
        if not _is_near(call, here, a, b.to_host()):
            raise judging.Found("device", f"other elements: {a!r:.150} and {b!r:.150}")


def _operator(op: str) -> Operator | None:
    return REGISTRY.get(op) or NAMESPACES.get(f"array_api:{op.rpartition('.')[2]}")


def _is_near(call: Call, here: Mapping[str, Any], a: sz.Tensor, b: sz.Tensor) -> bool:
    if judging.bits(a) == judging.bits(b):
        return True
    op, dt = _operator(call.op), a.dtype
    if dt.kind not in ("float", "complex"):
        return not _is_exact(op, dt)
    x, y = (_numbers(v) for v in (a, b))
    exponent = part(dt) if dt.kind == "complex" else dt
    step = 2.0**-exponent.mantissa_bits
    if _is_exact(op, dt):
        return bool(_same_number(x, y).all())
    if op is not None and op.kernel is not None and dt.kind == "float" and op.ulp:
        least = 2 * sz.finfo(dt).smallest_normal * step
        near = np.abs(x - y) <= (op.ulp + 3) * step * np.abs(x) + least
        return bool((near | _same_number(x, y)).all())
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return True  # what overflows on the way depends on the order
    given = [np.abs(_numbers(v)) for v in _tensors(here)]
    if not all(np.isfinite(v).all() for v in given):
        return True
    largest = max((float(v.max(initial=0)) for v in (np.abs(x), np.abs(y), *given)), default=0.0)
    if largest > 1e6 or call.op.startswith(("xp.linalg.", "xp.fft.")) or call.op in judging.LAPACK:
        return True  # products and quotients of such numbers may be anything
    return bool((np.abs(x - y) <= _FAR * step * max(largest, 1.0) ** 2).all())


def _is_exact(op: Operator | None, dt: sz.DType) -> bool:
    """Return whether the page of devices promises the CPU's bits."""
    if op is None or dt is sz.complex128:
        return False
    if op.kernel is not None:
        return op.ulp is None or op.ulp <= 0.5
    facts = None if op.catalogue == "array_api" else record(op.key)
    if op.catalogue == "array_api":
        return dt.kind not in ("float", "complex")
    moves = facts is not None and facts.form == "view"
    return moves or (dt.kind not in ("float", "complex") and op.catalogue != "nn")


def _same_number(x: Any, y: Any) -> Any:
    return ((x == y) & (np.signbit(x) == np.signbit(y))) | (np.isnan(x) & np.isnan(y))


def _numbers(x: sz.Tensor) -> Any:
    """Return elements as float64, parts of complex ones one after the other."""
    wide = sz.complex128 if x.dtype.kind == "complex" else sz.float64
    return np.ascontiguousarray(sz.cast(x, wide).numpy()).reshape(-1).view(np.float64)


def _tensors(here: Mapping[str, Any]) -> list[sz.Tensor]:
    return [x for value in here.values() for x in _parts(value) if type(x) is sz.Tensor]
