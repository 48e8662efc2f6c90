"""The rows of accelerators.py: operands, the work of a call, and the call in each library.

A library's call is an expression of its own names: ``torch``, ``F`` (torch.nn.functional), ``cp``
(CuPy), ``jnp``, ``jax``, ``sz`` and ``nn``, of operands ``a``, ``b``, ``c``. What a library
lacks is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
I8, I32, I64 = torch.int8, torch.int32, torch.int64
MIXED = (I8, I32, I64, F16, BF16, F32)
WIDE = 4096
"""The columns of matrices, whose rows are what is left."""


def short(dtype: torch.dtype) -> str:
    """Return the name of a dtype."""
    return str(dtype).removeprefix("torch.")


@dataclass
class Row:
    """An operator on operands of one size."""

    name: str
    operands: Callable[[], tuple[torch.Tensor, ...]]
    work: float
    """Bytes that must move; of products, operations."""
    calls: dict[str, str]
    """Expressions by library."""
    is_compiled: bool = False
    """Whether torch.compile is tried: it takes seconds."""
    unit: str = field(default="TB/s")


class Make:
    """Makes operands on a device, whose numbers are the same in every run."""

    def __init__(self, device: str) -> None:
        self.device = device
        self._draws = torch.Generator(device).manual_seed(1)

    def normal(self, dtype: torch.dtype, *shape: int) -> torch.Tensor:
        """Return normally distributed numbers; of integers, their whole part."""
        return torch.randn(shape, generator=self._draws, device=self.device).to(dtype)

    def indices(self, below: int, *shape: int) -> torch.Tensor:
        """Return indices."""
        return torch.randint(below, shape, generator=self._draws, device=self.device)


def all_alike(name: str, **others: str) -> dict[str, str]:
    """Return the calls of a function that most libraries have under one name."""
    given = {"suanzi": f"sz.{name}(a)", "torch": f"torch.{name}(a)", "cupy": f"cp.{name}(a)",
             "jax": f"jnp.{name}(a)"}  # fmt: skip
    return {**given, **others}


def symbol(text: str) -> dict[str, str]:
    """Return the calls of what Python has a symbol for."""
    return dict.fromkeys(("suanzi", "torch", "cupy", "jax"), text)


def elementwise(n: int, make: Make) -> Iterator[Row]:
    """Yield sums of all pairs of dtypes, functions, comparisons, broadcasting."""
    one = make.normal
    for i, a in enumerate(MIXED):
        for b in MIXED[i:]:
            size = n * (a.itemsize + b.itemsize + torch.promote_types(a, b).itemsize)
            if F16 in (a, b) and BF16 in (a, b) and a is not b:
                size = n * 8
            compiled = (a, b) in ((F32, F32), (BF16, BF16), (I8, F16), (I32, F32))
            yield Row(f"add {short(a)} + {short(b)}", partial(_pair, make, a, b, n), size,
                      {**symbol("a + b"), "suanzi": "sz.add(a, b)"}, compiled)  # fmt: skip
    names = {"exp": (F32, BF16, F16), "log": (F32, F16), "tanh": (F32, F16), "sin": (F32, BF16),
             "sqrt": (F32, BF16), "tan": (F32,), "sinh": (F32,), "cosh": (F32,), "log1p": (F32,),
             "rsqrt": (F32,)}  # fmt: skip
    for name, dtypes in names.items():
        other = {"cupy": "", "jax": "jax.lax.rsqrt(a)"} if name == "rsqrt" else {}
        for dtype in dtypes:
            yield Row(f"{name} {short(dtype)}", lambda dtype=dtype: (one(dtype, n).abs(),),
                      2 * dtype.itemsize * n, all_alike(name, **other),
                      name == "exp" and dtype is not F16)  # fmt: skip
    yield Row("atanh float32", lambda: (one(F32, n) % 1,), 8 * n,
              all_alike("atanh", cupy="cp.arctanh(a)", jax="jnp.arctanh(a)"))  # fmt: skip
    yield Row("relu bfloat16", lambda: (one(BF16, n),), 4 * n,
              {"suanzi": "nn.relu(a)", "torch": "F.relu(a)", "jax": "jax.nn.relu(a)"})  # fmt: skip
    for name, width in (("pow", 12), ("less", 9)):
        yield Row(f"{name} float32", lambda: (one(F32, n).abs(), one(F32, n)), width * n, {
            "suanzi": f"sz.{name}(a, b)", "torch": f"torch.{name}(a, b)",
            "cupy": f"cp.{'power' if name == 'pow' else name}(a, b)",
            "jax": f"jnp.{'power' if name == 'pow' else name}(a, b)"})  # fmt: skip
    yield Row("mod float32", lambda: (one(F32, n).abs(), one(F32, n)), 12 * n,
              {**symbol("a % b"), "suanzi": "sz.mod(a, b)"})  # fmt: skip
    yield Row("where float32", lambda: (one(F32, n) > 0, one(F32, n), one(F32, n)), 13 * n, {
        "suanzi": "sz.where(a, b, c)", "torch": "torch.where(a, b, c)",
        "cupy": "cp.where(a, b, c)", "jax": "jnp.where(a, b, c)"})  # fmt: skip
    yield Row("cast float32 to bfloat16", lambda: (one(F32, n),), 6 * n, {
        "suanzi": "sz.cast(a, sz.bfloat16)", "torch": "a.to(torch.bfloat16)",
        "jax": "a.astype(jnp.bfloat16)"})  # fmt: skip
    yield Row("add a number bfloat16", lambda: (one(BF16, n),), 4 * n, symbol("a + 2.5"))
    yield Row("add a row float32", lambda: (one(F32, n // WIDE, WIDE), one(F32, WIDE)), 8 * n,
              symbol("a + b"), True)  # fmt: skip
    side = int(n**0.5)
    yield Row("add transposed float32", lambda: (one(F32, side, side),), 12 * side * side,
              symbol("a + a.T"))  # fmt: skip


def _pair(make: Make, a: torch.dtype, b: torch.dtype, n: int) -> tuple[torch.Tensor, ...]:
    return make.normal(a, n), make.normal(b, n)


def in_rows(n: int, make: Make) -> Iterator[Row]:
    """Yield softmaxes, norms, reductions and cumulative sums, of rows of several lengths."""
    for dtype in (F32, BF16):
        for length in (WIDE, 64, 5000, n // 4):
            yield from _softmaxes(dtype, n // length, length, make)
        yield from _reductions(dtype, n // WIDE, WIDE, make)


def _softmaxes(dtype: torch.dtype, rows: int, length: int, make: Make) -> Iterator[Row]:
    words = "" if length == WIDE else f", {rows} rows" if rows < 64 else f", rows of {length}"
    kind, size, main = short(dtype) + words, 2 * rows * length * dtype.itemsize, length == WIDE

    def x(count: int = 1, *weights: int) -> tuple[torch.Tensor, ...]:
        return (*(make.normal(dtype, rows, length) for _ in range(count)),
                *(make.normal(dtype, length) for _ in weights))  # fmt: skip

    yield Row(f"softmax {kind}", x, size, {
        "suanzi": "nn.softmax(a)", "torch": "torch.softmax(a, -1)", "jax": "jax.nn.softmax(a)",
    }, main)  # fmt: skip
    yield Row(f"layer_norm, weighted {kind}", lambda: x(1, 1, 1), size, {
        "suanzi": f"nn.layer_norm(a, {length}, b, c)",
        "torch": f"F.layer_norm(a, ({length},), b, c)"}, main)  # fmt: skip
    if not main:
        return
    yield Row(f"log_softmax {kind}", x, size, {
        "suanzi": "nn.log_softmax(a)", "torch": "torch.log_softmax(a, -1)",
        "jax": "jax.nn.log_softmax(a)"})  # fmt: skip
    yield Row(f"rms_norm, weighted {kind}", lambda: x(1, 1), size, {
        "suanzi": f"nn.rms_norm(a, {length}, b)",
        "torch": f"F.rms_norm(a, ({length},), b)"})  # fmt: skip
    yield Row(f"softmax_bwd {kind}", lambda: x(2), size // 2 * 3, {
        "suanzi": "nn.softmax_bwd(a, b)",
        "torch": f"torch._softmax_backward_data(a, b, -1, torch.{short(dtype)})"})  # fmt: skip


def _reductions(dtype: torch.dtype, rows: int, length: int, make: Make) -> Iterator[Row]:
    kind, size = short(dtype), rows * length * dtype.itemsize
    for axis, words in ((0, "along 0"), (1, "along 1"), (None, "of all")):
        yield Row(f"sum {words} {kind}", lambda: (make.normal(dtype, rows, length),), size, {
            "suanzi": f"sz.reduce(a, 'SUM', {axis})", "torch": f"a.sum({axis})",
            "cupy": f"a.sum({axis})", "jax": f"a.sum({axis})"}, axis == 0)  # fmt: skip
    for name in ("max", "argmax"):
        for axis in (0, 1):
            own = f"sz.reduce(a, 'MAX', {axis})" if name == "max" else f"sz.argmax(a, {axis})"
            yield Row(f"{name} along {axis} {kind}",
                      lambda: (make.normal(dtype, rows, length),), size, {
                "suanzi": own, "torch": f"a.{name.replace('max', 'amax', name == 'max')}({axis})",
                "cupy": f"a.{name}({axis})", "jax": f"a.{name}({axis})"})  # fmt: skip
    for axis in (1, 0):
        shape = (rows, length) if axis else (rows * length,)
        words = "along 1" if axis else "of 1 row"
        yield Row(f"cumsum {words} {kind}", lambda shape=shape: (make.normal(dtype, *shape),),
                  2 * size, {"suanzi": f"sz.cumsum(a, {axis})",
                             **dict.fromkeys(("cupy", "jax"), f"a.cumsum({axis})"),
                             "torch": f"torch.cumsum(a, {axis})"})  # fmt: skip
    yield Row(f"transposing copy {kind}", lambda: (make.normal(dtype, rows, length),), 2 * size, {
        "suanzi": "sz.contiguous(a.T)", "torch": "a.T.contiguous()",
        "cupy": "cp.ascontiguousarray(a.T)"})  # fmt: skip


def of_models(n: int, make: Make) -> Iterator[Row]:
    """Yield what moves rows by indices, activations, losses, attention and products."""
    rows, tokens = n // WIDE, max(n // 32000 * 4, 8)
    for dtype in (F32, BF16):
        kind = short(dtype)
        bytes_ = 2 * rows * WIDE * dtype.itemsize

        def of(*shape: int, dtype: torch.dtype = dtype) -> torch.Tensor:
            return make.normal(dtype, *shape)

        yield Row(f"gather rows {kind}", lambda of=of: (of(rows, WIDE), make.indices(rows, rows)),
                  bytes_, {"suanzi": "sz.gather(a, b)", "torch": "a.index_select(0, b)",
                           "cupy": "cp.take(a, b, 0)", "jax": "jnp.take(a, b, 0)"})  # fmt: skip
        yield Row(f"embedding {kind}", lambda of=of: (of(32000, WIDE), make.indices(32000, rows)),
                  bytes_, {"suanzi": "nn.embedding(a, b)", "torch": "F.embedding(b, a)",
                           "jax": "jnp.take(a, b, 0)"})  # fmt: skip
        yield Row(f"scatter rows {kind}",
                  lambda of=of: (of(rows, WIDE), torch.randperm(rows, device=make.device),
                                 of(rows, WIDE)), 3 * bytes_ // 2, {
            "suanzi": "sz.scatter(a, b, c)", "torch": "a.index_copy(0, b, c)",
            "jax": "a.at[b].set(c)"})  # fmt: skip
        for name in ("gelu", "silu"):
            yield Row(f"{name} {kind}", lambda of=of: (of(n),), 2 * n * dtype.itemsize, {
                "suanzi": f"nn.{name}(a)", "torch": f"F.{name}(a)",
                "jax": f"jax.nn.{name}(a{', approximate=False' * (name == 'gelu')})",
            }, dtype is BF16 and name == "gelu")  # fmt: skip
        yield Row(f"swiglu {kind}", lambda of=of: (of(n), of(n)), 3 * n * dtype.itemsize, {
            "suanzi": "nn.swiglu(a, b)", "torch": "F.silu(a) * b",
            "jax": "jax.nn.silu(a) * b"})  # fmt: skip
        yield Row(f"cross_entropy, 32,000 classes {kind}",
                  lambda of=of: (of(tokens, 32000), make.indices(32000, tokens)),
                  tokens * 32000 * dtype.itemsize, {
            "suanzi": "nn.cross_entropy(a, b)",
            "torch": "F.cross_entropy(a, b)"}, True)  # fmt: skip
    length = 2048 if n >= 1 << 24 else 64
    shape = (4, 16, length, 128)
    for words, torchs in (("", ""), (", causal", ", is_causal=True")):
        work = 4 * 4 * 16 * length * length * 128 / (2 if words else 1)
        yield Row(f"attention{words} bfloat16, {length} tokens",
                  lambda: tuple(make.normal(BF16, *shape) for _ in range(3)), work, {
            "suanzi": f"nn.scaled_dot_product_attention(a, b, c, causal={bool(words)})",
            "torch": f"F.scaled_dot_product_attention(a, b, c{torchs})",
        }, unit="TFLOP/s")  # fmt: skip
    for side, dtype in ((4096, BF16), (4096, F32), (512, BF16)):
        side = side if n >= 1 << 24 else 64
        yield Row(f"matmul {short(dtype)} {side}",
                  lambda side=side, dtype=dtype: tuple(make.normal(dtype, side, side)
                                                       for _ in range(2)),
                  2 * side**3, {"suanzi": "sz.matmul(a, b)", **dict.fromkeys(
                      ("torch", "cupy", "jax"), "a @ b")}, unit="TFLOP/s")  # fmt: skip


def few(make: Make) -> Iterator[Row]:
    """Yield calls of 10 elements, which cost what a call costs."""

    def ten(count: int = 1) -> Callable[[], tuple[torch.Tensor, ...]]:
        return lambda: tuple(torch.ones(10, device=make.device) for _ in range(count))

    def matrices() -> tuple[torch.Tensor, ...]:
        return tuple(torch.ones(10, 10, device=make.device, dtype=BF16) for _ in range(2))

    calls: dict[str, tuple[Any, dict[str, str]]] = {
        "add": (ten(2), {"suanzi": "sz.add(a, b)", "torch": "torch.add(a, b)",
                         "cupy": "cp.add(a, b)", "jax": "jnp.add(a, b)"}),
        "x + y": (ten(2), symbol("a + b")), "x * 2.5": (ten(), symbol("a * 2.5")),
        "sum": (ten(), {"suanzi": "sz.reduce(a, 'SUM')",
                        **dict.fromkeys(("torch", "cupy", "jax"), "a.sum()")}),
        "softmax": (ten(), {"suanzi": "nn.softmax(a)", "torch": "torch.softmax(a, -1)",
                            "jax": "jax.nn.softmax(a)"}),
        "gelu": (ten(), {"suanzi": "nn.gelu(a)", "torch": "F.gelu(a)"}),
        "matmul": (matrices, {"suanzi": "sz.matmul(a, b)", **dict.fromkeys(
            ("torch", "cupy", "jax"), "a @ b")}),
    }  # fmt: skip
    for name, (operands, given) in calls.items():
        yield Row(f"call: {name}", operands, 0, given, unit="us")
