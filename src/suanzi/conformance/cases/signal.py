"""7.2.16: Fourier transforms and their gradients: any length, axes, scale and direction.

A gradient is dL/dRe + i dL/dIm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import LAYOUTS, raw_bits, sample, tensor
from suanzi.conformance.model.numbers import FORMATS, NAN, PARTS, Value, real
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.arrays import Exact, exact
from suanzi.conformance.truth.signal import (
    COMPLEX_OF,
    MODES,
    extended,
    fourier_output,
    real_part,
    taken,
    transform,
    weighted,
)

LENGTHS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 31)
QUICK_LENGTHS = (1, 2, 5, 8)
AXES: tuple[list[int] | None, ...] = (
    None, [0], [1], [-1], [0, 1], [1, 0], [2, 0], [0, 2, 1], [-1, -3], [2, 1],
)  # fmt: skip
SHAPE = (2, 3, 4)


class Setting(NamedTuple):
    """What is transformed, and how."""

    shape: tuple[int, ...]
    axes: list[int] | None = None
    mode: str = "none"
    forward: bool = True
    seed: str = ""
    layout: str = "dense"
    size: str = ""
    """Of the numbers: large, small, or ordinary."""

    @property
    def along(self) -> list[int]:
        """The axes counted from the first."""
        return normalised(self.axes, len(self.shape))

    @property
    def terms(self) -> int:
        """The number of elements that are transformed together."""
        return math.prod(self.shape[a] for a in self.along)

    def resized(self, length: int) -> tuple[int, ...]:
        """Return the shape with another length of the last axis that is transformed."""
        last = self.along[-1]
        return (*self.shape[:last], length, *self.shape[last + 1 :])

    def sample(self, name: str, dtype: str, shape: tuple[int, ...] | None = None) -> Data:
        """Return numbers of a shape, by default of this one."""
        seed, exponents = (name, self.seed), sizes(dtype, self.size)
        dims = self.shape if shape is None else shape
        return sample(dtype, dims, seed, exponents, layout=self.layout)

    def title(self, *more: str) -> str:
        """Return it in words."""
        axes = "" if self.axes is None else f"axes {','.join(map(str, self.axes))}"
        words = ["x".join(map(str, self.shape)), axes, self.mode if self.mode != "none" else "",
                 "" if self.forward else "backwards", *more,
                 "" if self.layout == "dense" else self.layout, self.size]  # fmt: skip
        return " ".join(word for word in words if word)

    def arguments(self, op: str, data: Data, **more: Any) -> dict[str, Any]:
        """Return the arguments of a call, without those that have their defaults."""
        given: dict[str, Any] = {"grad_out" if op.endswith("backward") else "input": data}
        if self.axes is not None:
            given["axes"] = self.axes
        if self.mode != "none":
            given["normalization"] = self.mode
        if not self.forward:
            given["forward"] = False
        return given | more

    def output(self, found: Exact, x: Exact, dtype: str, factor: int = 1) -> tuple[Output]:
        """Return the expected output, of transformed numbers and what was transformed."""
        n = max(self.terms, 1)
        return (fourier_output(found, x, self.along, n, self.mode, dtype, factor),)


def normalised(axes: list[int] | None, rank: int) -> list[int]:
    """Return axes counted from the first; without any, the last."""
    return [rank - 1] if axes is None else [a % rank for a in axes]


def sizes(dtype: str, size: str) -> tuple[int, int]:
    """Return the exponents of ordinary, large or small numbers whose transform a dtype holds."""
    narrow = PARTS.get(dtype, dtype) == "float16"
    return {"": (-3, 0), "large": (8, 10) if narrow else (90, 93),
            "small": (-14, -12) if narrow else (-80, -77)}[size]  # fmt: skip


def settings(quick: bool) -> Iterator[Setting]:
    """Give shapes, axes, scales and directions."""
    ways = list(product(MODES, (True, False)))
    for n in QUICK_LENGTHS if quick else LENGTHS:
        for mode, forward in ways:
            yield Setting((2, n), None, mode, forward)
    for i, axes in enumerate(AXES[::3] if quick else AXES):
        for mode, forward in (ways[i % 6], ways[(i + 3) % 6]):
            yield Setting(SHAPE, axes, mode, forward)


# ---- transforms ----------------------------------------------------------------------------------


def _c2c(group: str, dtype: str, how: Setting) -> Iterator[Case]:
    yield _c2c_case(group, dtype, how.title(), how.sample("c2c", dtype), how)


def _c2c_case(group: str, dtype: str, title: str, data: Data, how: Setting) -> Case:
    def expect() -> tuple[Output]:
        x = exact(data)
        return how.output(transform(x, how.along, how.forward), x, dtype)

    return Case("fft_c2c", group, dtype, title, how.arguments("fft_c2c", data), expect)


def _r2c(group: str, dtype: str, how: Setting) -> Iterator[Case]:
    """Give transforms of real numbers: half of the result, which determines it, and all of it."""
    data, last = how.sample("r2c", dtype), how.along[-1]

    def expect(length: int) -> tuple[Output]:
        x = exact(data)
        whole = transform(x, how.along, how.forward)
        return how.output(taken(whole, last, length), x, COMPLEX_OF[dtype])

    length = how.shape[last]
    yield Case("fft_r2c", group, dtype, how.title(), how.arguments("fft_r2c", data),
               lambda: expect(length // 2 + 1))  # fmt: skip
    given = how.arguments("fft_r2c", data, onesided=False)
    yield Case("fft_r2c", group, dtype, how.title("twosided"), given, lambda: expect(length))


def _c2r(group: str, dtype: str, how: Setting) -> Iterator[Case]:
    """Give transforms to real numbers, of spectra that have such; the shape is the result's."""
    length = how.shape[how.along[-1]]
    half = how.sample("c2r", dtype, how.resized(length // 2 + 1))
    if length:
        data = hermitian(half, how.along, length)
        yield _c2r_case(group, dtype, how.title(), data, how)


def _c2r_case(group: str, dtype: str, title: str, data: Data, how: Setting) -> Case:
    *others, last = how.along
    length = how.shape[last]

    def expect() -> tuple[Output]:
        x = exact(data)
        whole = extended(transform(x, others, how.forward), last, length)
        return how.output(real_part(transform(whole, [last], how.forward)), x, PARTS[dtype], 2)

    given = how.arguments("fft_c2r", data, last_dim_size=length)
    return Case("fft_c2r", group, dtype, title, given, expect)


# ---- gradients -----------------------------------------------------------------------------------


def _c2c_backward(group: str, dtype: str, how: Setting) -> Iterator[Case]:
    """Give the transform in the other direction."""
    data, op = how.sample("c2c backward", dtype), "fft_c2c_backward"

    def expect() -> tuple[Output]:
        g = exact(data)
        return how.output(transform(g, how.along, not how.forward), g, dtype)

    yield Case(op, group, dtype, how.title(), how.arguments(op, data), expect)


def _r2c_backward(group: str, dtype: str, how: Setting) -> Iterator[Case]:
    """Give the real part of the other direction's transform, of a half padded with zeros."""
    last, op = how.along[-1], "fft_r2c_backward"
    full = how.shape[last]
    source = sample(PARTS[dtype], how.shape, "r2c input", layout=how.layout)

    def case(length: int) -> Case:
        data = how.sample("r2c backward", dtype, how.resized(length))

        def expect() -> tuple[Output]:
            g = taken(exact(data), last, full)
            return how.output(real_part(transform(g, how.along, not how.forward)), g, PARTS[dtype])

        title = how.title("twosided" if length == full and length > 2 else "")
        return Case(op, group, dtype, title, how.arguments(op, data, input=source), expect)

    yield from map(case, dict.fromkeys((full // 2 + 1, full)))


def _c2r_backward(group: str, dtype: str, how: Setting) -> Iterator[Case]:
    """Give half of the other direction's transform, twice where it has a mirror image."""
    data, op, last = how.sample("c2r backward", dtype), "fft_c2r_backward", how.along[-1]
    length = how.shape[last]

    def expect() -> tuple[Output]:
        g = exact(data)
        half = taken(transform(g, how.along, not how.forward), last, length // 2 + 1)
        return how.output(weighted(half, last, length), g, COMPLEX_OF[dtype], 2)

    yield Case(op, group, dtype, how.title(), how.arguments(op, data), expect)


_MAKERS: dict[str, Callable[[str, str, Setting], Iterator[Case]]] = {
    "fft_c2c": _c2c,
    "fft_r2c": _r2c,
    "fft_c2r": _c2r,
    "fft_c2c_backward": _c2c_backward,
    "fft_r2c_backward": _r2c_backward,
    "fft_c2r_backward": _c2r_backward,
}


@cases_of(*_MAKERS)
def transforms(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give transforms of every kind, and their gradients."""
    empty = ((0, 4),) if op.endswith("backward") else ((0, 4), (2, 0, 3))
    groups = {
        "plain": list(settings(wanted.quick)),
        "random": [Setting((2, 3, 6), [1, 2], seed=f"seed {wanted.seed}")],
        "strided": [Setting(SHAPE, [0, 2], layout=layout) for layout in LAYOUTS],
        "empty": [Setting(shape, mode="by_n") for shape in empty],
        "special": [Setting((2, 6), size=size) for size in ("large", "small")],
    }
    for dtype in dtypes_of(op):
        for group, some in groups.items():
            if wanted.wants(group, dtype):
                for how in some:
                    yield from _MAKERS[op](group, dtype, how)
        if wanted.wants("special", dtype):
            yield from _special(op, dtype)


def hermitian(data: Data, along: Sequence[int], length: int) -> Data:
    """Return numbers with the images that a real result has: conjugates, and itself real."""
    sign = 1 << (FORMATS[PARTS[data.dtype]].bits - 1)
    bits = list(raw_bits(data))
    shape, last = data.shape, along[-1]
    own = {0, length // 2} if length % 2 == 0 else {0}
    for i, place in enumerate(product(*map(range, shape))):
        if place[last] not in own:
            continue
        image = [(shape[a] - k) % shape[a] if a in along[:-1] else k for a, k in enumerate(place)]
        j = 0
        for k, n in zip(image, shape, strict=True):
            j = j * n + k
        if j == i:
            bits[2 * i + 1] = 0
        elif j < i:
            bits[2 * i], bits[2 * i + 1] = bits[2 * j], bits[2 * j + 1] ^ sign
    width = FORMATS[PARTS[data.dtype]].bits // 8
    raw = b"".join(b.to_bytes(width, "little") for b in bits)
    return Data(data.dtype, shape, raw, data.layout)


def _special(op: str, dtype: str) -> Iterator[Case]:
    """Give impulses, one NaN, and parts that must be ignored."""
    if op == "fft_c2r":
        yield _imaginary_parts(dtype)
    if op != "fft_c2c":
        return
    impulses: list[Value] = [(real(int(i == j)), real(0)) for i in range(6) for j in range(6)]
    data = tensor(dtype, impulses, (6, 6))
    yield _c2c_case("special", dtype, "impulses", data, Setting((6, 6)))
    yield _not_a_number(dtype)


def _not_a_number(dtype: str) -> Case:
    """Return two rows, of which one has a number that is none in either part."""
    one = (real(1), real(-2))
    data = tensor(dtype, [one, (NAN, NAN), one, one, one, one, one, one], (2, 4))

    def expect() -> tuple[Output]:
        second = exact(tensor(dtype, [one] * 4, (1, 4)))
        right = fourier_output(transform(second, [1], True), second, [1], 4, "none", dtype)
        assert right.allowed is not None
        truth = ((NAN, NAN),) * 4 + tuple(right.truth)
        return (Output(dtype, (2, 4), truth, allowed=tuple(right.allowed) * 2, zero_sign=False),)

    return Case("fft_c2c", "special", dtype, "NaN in one row", {"input": data}, expect)


def _imaginary_parts(dtype: str) -> Case:
    """Return a spectrum whose first and last element have an imaginary part, which cannot count."""
    data = sample(dtype, (2, 5), "imaginary parts")
    how = Setting((2, 8), forward=False)
    return _c2r_case("special", dtype, "imaginary parts that do not count", data, how)
