"""Tensors among values, what they have, and of which kinds no call is judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from suanzi.promote.live import NotInstalled
from suanzi.recording.recorders import private_parts
from suanzi.validate.blame.sampling import Unjudged

TRACING = "torch._subclasses."
"""Where tensors are from that only have shapes, while a program is traced."""
_KEYS = {"cpu": "CPU", "cuda": "CUDA", "xpu": "XPU", "mps": "MPS", "meta": "Meta"}
"""What the dispatcher calls devices."""
_PART = 1 << 20
"""Elements that are looked at together, so that memory for few of them is needed."""


def dispatch_of(torch: Any) -> Any:
    """Return PyTorch's module of modes; raise where it has not all that blame uses.

    Of what else is missing, there is one warning.
    """
    try:
        private_parts.need(
            "torch.utils._python_dispatch.TorchDispatchMode",
            "torch.utils._python_dispatch._disable_current_modes",
            "torch.utils._python_dispatch._get_current_dispatch_mode",
            "torch.ops.aten.add.Tensor._schema",
        )
    except private_parts.Lacking as error:
        raise NotInstalled(f"blame: {error}") from None
    private_parts.take("torch._C._len_torch_dispatch_stack")
    private_parts.take("torch._C._dispatch_has_kernel_for_dispatch_key")
    return torch.utils._python_dispatch


@contextmanager
def quiet(dispatch: Any) -> Iterator[None]:
    """Let no mode see what is called."""
    with dispatch._disable_current_modes():
        yield


def tensors_of(torch: Any, values: Any) -> Iterator[Any]:
    """Give the tensors among values and in lists among them."""
    for x in values:
        if isinstance(x, torch.Tensor):
            yield x
        elif isinstance(x, list | tuple):
            yield from (one for one in x if isinstance(one, torch.Tensor))


def listed(torch: Any, args: Any, kwargs: Any) -> list[Any]:
    """Return the tensors of a call; as fast as can be: every call needs them."""
    kind = torch.Tensor
    found = []
    for x in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(x, kind):
            found.append(x)
        elif isinstance(x, list | tuple):
            found += [one for one in x if isinstance(one, kind)]
    return found


def check_kinds(torch: Any, tensors: Sequence[Any]) -> None:
    """Judge no call of a tensor that is more than its elements in memory."""
    for x in tensors:
        if type(x).__module__.startswith(TRACING):
            raise Unjudged("tensors without elements")
        if x.layout != torch.strided:
            raise Unjudged(f"{str(x.layout).removeprefix('torch.')} tensors")
        if x.is_nested or x.is_quantized or x.device.type == "meta":
            kind = "nested" if x.is_nested else "quantised" if x.is_quantized else "meta"
            raise Unjudged(f"{kind} tensors")


def key_of(torch: Any, values: Any) -> str:
    """Return what the dispatcher calls the device and the kind of the first tensor."""
    x = next(tensors_of(torch, values), None)
    if x is None:
        return "CPU"
    kind = "NestedTensor" if x.is_nested else "Quantized" if x.is_quantized else ""
    if not kind and x.layout != torch.strided:
        kind = "Sparse" if x.layout == torch.sparse_coo else "SparseCsr"
    return kind + _KEYS.get(x.device.type, "PrivateUse1")


def without_sign(torch: Any, x: Any) -> Any:
    """Return a tensor whose sign is not pending, as that of ``z.conj().imag`` is."""
    return x.resolve_neg() if isinstance(x, torch.Tensor) and x.is_neg() else x


def is_finite(torch: Any, x: Any) -> bool:
    """Tell whether a tensor has neither NaN nor infinities, a part after the other."""
    if not x.is_floating_point():
        return True
    if x.numel() <= _PART:
        return bool(torch.isfinite(x.detach()).all())
    dim = max(range(x.ndim), key=lambda a: int(x.shape[a]))
    parts = x.split(max(1, int(x.shape[dim]) * _PART // x.numel()), dim)
    return all(is_finite(torch, part) for part in parts)


def same_bits(torch: Any, x: Any, y: Any) -> bool:
    """Tell whether two results are the same; a NaN is the same as another."""
    if x.dtype.is_floating_point:
        same = (x == y) | (torch.isnan(x) & torch.isnan(y))
        return bool(same.all())
    return bool(torch.equal(x, y))
