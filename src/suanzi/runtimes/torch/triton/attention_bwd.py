"""The gradients of attention on a device: which blocks their kernels take, and their calls."""

import math
from dataclasses import replace
from typing import Any

import torch
import triton

from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import TORCH
from suanzi.runtimes.torch.fast import fast
from suanzi.runtimes.torch.triton.attention import (
    FAR,
    WIDEST,
    Blocks,
    Operands,
    Options,
    options_of,
    padded,
)
from suanzi.runtimes.torch.triton.attention_bwd_kernels import back_to_keys, back_to_queries, settle
from suanzi.runtimes.torch.triton.attention_kernels import LOG2E
from suanzi.runtimes.torch.triton.launching import Plain, launch
from suanzi.runtimes.torch.triton.tiles import FLOATS
from suanzi.runtimes.torch.ways import Call


def sizes_of(narrow: bool, width: int) -> tuple[Blocks, Blocks, Blocks]:
    """Return the blocks of the three passes for so many columns."""
    if not narrow:
        one = Blocks(64, 32, 4, 1, "bf16x6") if width <= 128 else Blocks(64, 16, 8, 1, "bf16x6")
        return one, one, replace(one, queries=one.keys, keys=one.queries)
    if width > 128:
        return Blocks(64, 32, 8, 2), Blocks(64, 32, 8, 2), Blocks(32, 64, 8, 2)
    last = Blocks(64, 64, 4, 2) if width <= 64 else Blocks(64, 128, 8, 3)
    return Blocks(128, 64, 8, 3), Blocks(128, 64, 8, 3), last


class _Passes:
    """The kernels of a call, what they share, and what they make."""

    def __init__(self, given: Operands, grad: torch.Tensor, options: Options, dtype: torch.dtype
                 ) -> None:  # fmt: skip
        self.given, self.grad, self.options, self.dtype = given, grad, options, dtype
        self.depth, self.width = padded(given.depth), padded(given.width)
        self.sizes = sizes_of(dtype is not torch.float32, max(self.depth, self.width))
        rows = (*given.batch, given.heads, given.queries)
        self.tops, self.means = self._made(*rows, wide=True), self._made(*rows, wide=True)
        self.sinks = self.means if given.sink is None else self._made(*rows, wide=True)

    def _made(self, *shape: int, wide: bool) -> torch.Tensor:
        dtype = torch.float32 if wide else self.dtype
        return torch.empty(shape, dtype=dtype, device=self.grad.device)

    @property
    def are_near(self) -> bool:
        """Whether offsets within a block, and numbers of programs, have 32 bits."""
        given, grad = self.given, self.grad
        rows = math.prod(given.batch) * given.heads * max(given.queries, given.keys)
        steps = [max(size.queries, size.keys) for size in self.sizes]
        return (
            given.are_near(max(steps))
            and rows < FAR
            and all(max(steps) * x.stride(2) + WIDEST * x.stride(3) < FAR for x in (given.q, grad))
        )

    @property
    def turns(self) -> list[dict[str, bool]]:
        """What starts of the last pass make: two sums of many columns are too many registers."""
        if max(self.depth, self.width) <= 64 and self.dtype is not torch.float32:
            return [{"BY_K": True, "BY_V": True}]
        return [{"BY_K": one, "BY_V": not one} for one in (False, True)]

    def run(self, kernel: Any, size: Blocks, heads: int, blocks: int, more: list[Any],
            **flags: Any) -> None:  # fmt: skip
        """Start a kernel with what is the same for all."""
        given, options = self.given, self.options
        mask = given.mask
        adds = mask is not None and mask.dtype is not torch.bool
        factor = options.factor(given.depth)
        plain = options.softcap is None and not adds and 2.0**-100 < factor < 2.0**100
        most = given.keys + given.queries
        left, right = (min(n, most) for n in options.window)
        offset = given.keys - given.queries if options.from_last else 0
        cap = 1.0 if options.softcap is None else float(options.softcap)
        strides = [s for x in (given.q, given.k, given.v, self.grad) for s in x.stride()]
        strides += [0] * 4 if mask is None else mask.stride()
        numbers = (heads, given.group, given.queries, given.keys, given.depth, given.width, blocks)
        args: list[Any] = [given.q, given.k, given.v, self.grad, given.q if mask is None else mask]
        args += [*more, *map(Plain, numbers), *strides, *map(Plain, (left, right, offset))]
        args += [factor * LOG2E.value, factor, cap, 1 / cap]
        constants = {
            "MASK": 0 if mask is None else 2 if adds else 1, "HAS_LEFT": left >= 0,
            "HAS_RIGHT": right >= 0, "CAPPED": options.softcap is not None, "PLAIN": plain,
            "HOW": size.how, "EVEN_D": given.depth == self.depth,
            "EVEN_W": given.width == self.width, "D": self.depth, "W": self.width,
            "BM": size.queries, "BN": size.keys, **flags,
        }  # fmt: skip
        programs = math.prod(given.batch) * heads * blocks
        launch(kernel, (programs,), args, constants, warps=size.warps, stages=size.stages)

    def made(self, wide: tuple[bool, bool, bool]) -> list[torch.Tensor]:
        """Return the gradients of q, k, v and the sink; `wide`: which stay float32."""
        given = self.given
        first, second, third = self.sizes
        of_rows = [self.tops, self.means]
        sink = self.tops if given.sink is None else given.sink
        self.run(settle, first, given.heads, triton.cdiv(given.queries, first.queries),
                 [sink, *of_rows, self.sinks], HAS_SINK=given.sink is not None)  # fmt: skip
        by_q = self._made(*given.batch, *given.q.shape[1:], wide=wide[0])
        self.run(back_to_queries, second, given.heads, triton.cdiv(given.queries, second.queries),
                 [*of_rows, by_q], APART=second.apart)  # fmt: skip
        by_k = self._made(*given.batch, *given.k.shape[1:], wide=wide[1])
        by_v = self._made(*given.batch, *given.v.shape[1:], wide=wide[2])
        blocks = triton.cdiv(given.keys, third.keys)
        for flags in self.turns:
            self.run(back_to_keys, third, given.k.shape[1], blocks, [*of_rows, by_k, by_v],
                     APART=third.apart, **flags)  # fmt: skip
        if given.sink is None:
            return [by_q, by_k, by_v]
        rows = self.sinks.reshape(-1, given.heads, given.queries)
        by_sink = rows.sum((0, 2), dtype=torch.float64)
        return [by_q, by_k, by_v, by_sink]


@fast("nn:scaled_dot_product_attention_bwd")
def attention_bwd(
    call: Call, out_grad: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor,
    mask: torch.Tensor | None, causal: bool, scale: float | None, softcap: float | None,
    window: Any, sink: torch.Tensor | None, masked_rows: str, align: str,
) -> Any:  # fmt: skip
    """Return the gradients of q, k and v, and of the sink, of any operands."""
    target = call.result.dtype
    if target.name not in FLOATS or max(q.shape[-1], v.shape[-1]) > WIDEST:
        return None
    if not out_grad.numel() or not q.numel() or not k.numel():
        return None
    named = {"out_grad": out_grad, "q": q, "k": k, "v": v}
    grad, q, k, v = (cast(x, call.dtypes[name], target) for name, x in named.items())
    if mask is not None and mask.dtype is not torch.bool:
        mask = cast(mask, call.dtypes["mask"], target)
    if sink is not None:
        sink = cast(sink, call.dtypes["sink"], target).contiguous()
    given = Operands(q, k, v, mask, sink)
    grad = grad if grad.dim() > 2 else grad[None]
    options = options_of(causal, scale, softcap, window, masked_rows, align)
    passes = _Passes(given, given.flat(grad, grad.shape[-3:]), options, TORCH[target])
    if not passes.are_near:
        return None
    # Gradients of what the batch repeats are added up before they are rounded.
    wide = tuple(x.shape[:-3] != given.batch for x in (q, k, v))
    made = passes.made(wide)
    fitting = [g.sum_to_size(x.shape) if x.dim() > 2 else g[0]
               for g, x in zip(made, (q, k, v), strict=False)]  # fmt: skip
    return fitting if sink is None else [*fitting, made[3]]
