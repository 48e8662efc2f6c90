"""Attention on a device: which blocks its kernels take, and how operands come to them."""

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
import triton

from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import TORCH
from suanzi.runtimes.torch.fast import Plan, fast, planned
from suanzi.runtimes.torch.triton.attention_kernels import LOG2E, attend, combine
from suanzi.runtimes.torch.triton.driver import At
from suanzi.runtimes.torch.triton.launching import Plain
from suanzi.runtimes.torch.triton.steps import Memory, Step, Steps
from suanzi.runtimes.torch.triton.tiles import FLOATS
from suanzi.runtimes.torch.ways import Call

WIDEST = 256
_FEW = 64
"""Up to so many queries that share keys are multiplied together."""
FAR = 2**31
_KEPT = 1024


@dataclass(frozen=True)
class Blocks:
    """The queries and keys of a program, its warps and stages, and how float32 is multiplied."""

    queries: int
    keys: int
    warps: int
    stages: int
    how: str = "ieee"
    apart: bool = True
    """Whether the sums of a block are added to the rest in float32."""


def blocks_of(narrow: bool, rows: int, width: int) -> Blocks:
    """Return the blocks for so many rows of so many columns, as measured on an H200."""
    if not narrow:
        wide = Blocks(128, 64, 8, 1, "bf16x6") if width > 64 else Blocks(64, 64, 4, 2, "bf16x6")
        if width > 128:
            wide = Blocks(64, 32, 8, 1, "bf16x6")
        return replace(wide, queries=16, keys=32, warps=4) if rows <= 16 else wide
    if rows <= 16:
        return Blocks(16, 64, 4, 3) if width <= 128 else Blocks(16, 32, 4, 3)
    return Blocks(64, 64, 4, 3) if width <= 128 else Blocks(64, 32, 8, 2)


def keys_of_part(keys: int) -> int:
    """Return how many keys are a part, where few queries share many: by their number alone."""
    return 256 if keys <= 4096 else max(512, 128 * triton.cdiv(keys, 128 * 32))


@dataclass(frozen=True)
class Options:
    """What is asked of the scores."""

    causal: bool
    scale: float | None
    softcap: float | None
    window: tuple[int, int]
    zero: bool
    """Whether a row without keys is 0."""
    from_last: bool
    """Whether the last query stands at the last key."""

    def factor(self, depth: int) -> float:
        """Return what products are multiplied by."""
        return 1 / math.sqrt(max(depth, 1)) if self.scale is None else float(self.scale)


def options_of(
    causal: Any, scale: Any, softcap: Any, window: Any, rows: str, align: str
) -> Options:  # fmt: skip
    """Return the options of the arguments of a call."""
    limits = (-1, -1) if window is None else (window, window) if isinstance(window, int) else window
    left, right = (int(x) for x in limits)
    return Options(bool(causal), scale, softcap, (left, 0 if causal else right),
                   rows == "zero", align == "bottom_right")  # fmt: skip


class Operands:
    """Operands as (batch, heads, rows, columns), as they lie in memory where strides allow it."""

    def __init__(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor,
                 mask: torch.Tensor | None, sink: torch.Tensor | None) -> None:  # fmt: skip
        q, k, v = (x if x.dim() > 2 else x[None] for x in (q, k, v))
        self.batch = torch.broadcast_shapes(*(x.shape[:-3] for x in (q, k, v)))
        self.heads, self.queries, self.depth = q.shape[-3:]
        self.keys, self.width = v.shape[-2:]
        self.q, self.k, self.v = (self.flat(x, x.shape[-3:]) for x in (q, k, v))
        self.group = self.heads // max(k.shape[-3], 1)
        self.mask, self.sink = mask, sink
        if mask is not None:
            self.mask = self.flat(mask, (self.heads, self.queries, self.keys))

    def flat(self, x: torch.Tensor, last: tuple[int, ...]) -> torch.Tensor:
        """Return a tensor of the whole batch, of one axis, as it lies in memory if it can."""
        x = x.expand(*self.batch, *last)
        return x if len(self.batch) == 1 else x.reshape(math.prod(self.batch), *last)

    @property
    def all(self) -> list[torch.Tensor]:
        """The tensors that there are."""
        return [x for x in (self.q, self.k, self.v, self.mask, self.sink) if x is not None]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result, with an axis of heads."""
        return (*self.batch, self.heads, self.queries, self.width)

    def are_near(self, keys: int) -> bool:
        """Return whether offsets within a block have 32 bits."""
        if max(self.queries, self.keys) >= FAR // 4 or WIDEST * self.q.stride(3) >= FAR:
            return False
        return all(keys * x.stride(2) + WIDEST * x.stride(3) < FAR for x in (self.k, self.v))


def padded(n: int) -> int:
    """Return how many columns a kernel computes."""
    return max(16, int(triton.next_power_of_2(n)))


def _plain(*numbers: int) -> list[Plain]:
    return [Plain(x) for x in numbers]


def _steps(given: Operands, out: Memory, options: Options) -> Steps | None:
    """Return the kernels of a call; None where offsets are too far."""
    rows = given.group * given.queries
    packed = rows <= _FEW
    rows = rows if packed else given.queries
    depth, width = padded(given.depth), padded(given.width)
    size = blocks_of(out.dtype is not torch.float32, rows, max(depth, width))
    part = keys_of_part(given.keys)
    chunks = triton.cdiv(given.keys, part) if packed and given.keys > part else 1
    heads = given.k.shape[1] if packed else given.heads
    blocks = triton.cdiv(rows, size.queries)
    programs = math.prod(given.batch) * heads * blocks * chunks
    if not given.are_near(size.keys) or programs >= FAR:
        return None
    adds = given.mask is not None and given.mask.dtype is not torch.bool
    factor = options.factor(given.depth)
    plain = options.softcap is None and not adds and 2.0**-100 < factor < 2.0**100
    flags = {"PLAIN": plain, "HAS_SINK": given.sink is not None, "ZERO": options.zero}
    made, operands = At(len(given.all)), given.all
    mask, sink = At(0 if given.mask is None else 3), At(0 if given.sink is None else made - 1)
    total, is_split = math.prod(given.shape[:-1]), chunks > 1
    sums, tops, totals = (At(made + i) for i in (1, 2, 3)) if is_split else (made,) * 3
    most = given.keys + given.queries
    left, right = (min(n, most) for n in options.window)
    offset = given.keys - given.queries if options.from_last else 0
    cap = 1.0 if options.softcap is None else float(options.softcap)
    strides = [s for x in (given.q, given.k, given.v) for s in x.stride()]
    strides += [0] * 4 if given.mask is None else given.mask.stride()
    sizes = _plain(heads, given.group, given.queries, given.keys, given.depth, given.width,
                   blocks, chunks, part)  # fmt: skip
    constants = {
        "MASK": 0 if given.mask is None else 2 if adds else 1, "HAS_LEFT": left >= 0,
        "HAS_RIGHT": right >= 0, "CAPPED": options.softcap is not None, **flags,
        "PACKED": packed, "SPLIT": is_split, "HOW": size.how, "APART": size.apart,
        "EVEN_D": given.depth == depth, "EVEN_W": given.width == width, "D": depth, "W": width,
        "BM": size.queries, "BN": size.keys,
    }  # fmt: skip
    args: list[Any] = [At(0), At(1), At(2), mask, sink, sums, tops, totals, *sizes, *strides]
    args += [*_plain(left, right, offset), factor * LOG2E.value, factor, cap, 1 / cap]
    steps = [Step(attend, programs, args, constants, size.warps, size.stages)]
    if not is_split:
        return Steps(operands, out, steps)
    args = [sums, tops, totals, sink, made]
    args += _plain(given.heads, given.queries, given.width, chunks)
    steps.append(Step(combine, total, args, {**flags, "W": width, "PARTS": 16}))
    between = [Memory((total, chunks, n), torch.float32) for n in (given.width, 1, 1)]
    return Steps(operands, out, steps, between)


class _Again(Plan):
    """A plan that several calls share, for the operands of one."""

    in_order = True

    def __init__(self, steps: Steps, operands: list[torch.Tensor]) -> None:
        self.steps, self.operands = steps, operands

    def run(self, plains: list[torch.Tensor]) -> torch.Tensor:
        """Return the result for tensors of the same dtypes, shapes and strides."""
        return self.steps.run(plains)


_plans: dict[Any, Steps | None] = {}
"""By dtypes, shapes, strides and options."""


def _takes(call: Call, q: torch.Tensor, v: torch.Tensor) -> bool:
    return call.result.dtype.name in FLOATS and max(q.shape[-1], v.shape[-1]) <= WIDEST


def _planned(given: Operands, call: Call, is_plain: bool, options: Options) -> Steps | None:
    """Return the kernels that make a result, of which not even the shape is known before."""
    shape = given.shape[1:] if is_plain else given.shape
    if not math.prod(shape):
        return None
    return _steps(given, Memory(shape, TORCH[call.result.dtype]), options)


@planned("nn:scaled_dot_product_attention", rounded=False)
def plan(
    call: Call, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None,
    causal: bool, scale: float | None, softcap: float | None, window: Any,
    sink: torch.Tensor | None, masked_rows: str, align: str,
) -> Plan | None:  # fmt: skip
    """Return the plan of attention to operands as they lie in memory."""
    target, scale = call.result.dtype, None if scale is None else float(scale)
    given = {"q": q, "k": k, "v": v, "mask": mask, "sink": sink}
    tensors = [x for x in given.values() if x is not None]
    key = (
        call.place, target, tuple((x.dtype, x.shape, x.stride()) for x in tensors),
        mask is None, causal, scale, softcap, window if window is None else str(window),
        masked_rows, align,
    )  # fmt: skip
    if key not in _plans:
        if len(_plans) >= _KEPT:
            _plans.clear()
        _plans[key] = None
        wide = [n for n, x in given.items() if x is not None and x.dtype is not torch.bool]
        gaps = sink is not None and not sink.is_contiguous()
        if _takes(call, q, v) and not gaps and all(call.dtypes[n] is target for n in wide):
            found = Operands(q, k, v, mask, sink)
            pairs = zip(found.all, tensors, strict=True)
            if all(x.data_ptr() == y.data_ptr() for x, y in pairs):
                options = options_of(causal, scale, softcap, window, masked_rows, align)
                made = _plans[key] = _planned(found, call, q.dim() == 2, options)
                if made is not None:
                    made.operands = []  # which live as long as their users want
    steps = _plans.get(key)  # none where another thread made room meanwhile
    return None if steps is None else _Again(steps, tensors)


@fast("nn:scaled_dot_product_attention")
def attention(
    call: Call, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None,
    causal: bool, scale: float | None, softcap: float | None, window: Any,
    sink: torch.Tensor | None, masked_rows: str, align: str,
) -> Any:  # fmt: skip
    """Return softmax(scale q k^T) v over the keys that take part, of any operands."""
    if not _takes(call, q, v):
        return None
    target = call.result.dtype
    q, k, v = (cast(x, call.dtypes[name], target) for name, x in (("q", q), ("k", k), ("v", v)))
    if mask is not None and mask.dtype is not torch.bool:
        mask = cast(mask, call.dtypes["mask"], target)
    if sink is not None:
        sink = cast(sink, call.dtypes["sink"], target).contiguous()
    given = Operands(q, k, v, mask, sink)
    options = options_of(causal, scale, softcap, window, masked_rows, align)
    steps = _planned(given, call, q.dim() == 2, options)
    return None if steps is None else steps.run(steps.operands)
