"""7.2.16: Fourier transforms: any length, axes, scale and direction, against the definition."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import raw_bits, tensor
from suanzi.conformance.model.numbers import FORMATS, NAN, PARTS, Value, real
from suanzi.conformance.model.sampling import sample
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.arrays import exact
from suanzi.conformance.truth.signal import (
    COMPLEX_OF,
    MODES,
    extended,
    fourier_output,
    real_part,
    taken,
    transform,
)

LENGTHS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 31)
QUICK_LENGTHS = (1, 2, 5, 8)
AXES: tuple[list[int] | None, ...] = (
    None, [0], [1], [-1], [0, 1], [1, 0], [2, 0], [0, 2, 1], [-1, -3], [2, 1],
)  # fmt: skip
SHAPE = (2, 3, 4)


@cases_of("fft_c2c", "fft_r2c", "fft_c2r")
def transforms(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give transforms of every kind."""
    make = {"fft_c2c": c2c, "fft_r2c": r2c, "fft_c2r": c2r}[op]
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            for shape, axes, mode, forward in settings(wanted.quick):
                yield from make("plain", dtype, shape, axes, mode, forward, "")
        if wanted.wants("random", dtype):
            seed = f"seed {wanted.seed}"
            yield from make("random", dtype, (2, 3, 6), [1, 2], "none", True, seed)
        if wanted.wants("strided", dtype):
            for layout in ("columns", "gaps", "reversed", "offset"):
                yield from make("strided", dtype, SHAPE, [0, 2], "none", True, "", layout)
        if wanted.wants("empty", dtype):
            for shape in ((0, 4), (2, 0, 3)):
                yield from make("empty", dtype, shape, None, "by_n", True, "")
        if wanted.wants("special", dtype):
            for size in SIZES:
                yield from make("special", dtype, (2, 6), None, "none", True, "", size=size)
            yield from special(op, dtype)


SIZES = ("large", "small")


def sizes(dtype: str, size: str) -> tuple[int, int]:
    """Return the exponents of ordinary, large or small numbers whose transform a dtype holds."""
    narrow = PARTS.get(dtype, dtype) == "float16"
    return {"": (-3, 0), "large": (8, 10) if narrow else (90, 93),
            "small": (-14, -12) if narrow else (-80, -77)}[size]  # fmt: skip


def settings(quick: bool) -> Iterator[tuple[tuple[int, ...], list[int] | None, str, bool]]:
    """Give shapes, axes, scales and directions."""
    for n in QUICK_LENGTHS if quick else LENGTHS:
        for mode, forward in product(MODES, (True, False)):
            yield (2, n), None, mode, forward
    ways = list(product(MODES, (True, False)))
    for i, axes in enumerate(AXES[::3] if quick else AXES):
        for mode, forward in (ways[i % 6], ways[(i + 3) % 6]):
            yield SHAPE, axes, mode, forward


def normalised(axes: list[int] | None, rank: int) -> list[int]:
    """Return axes counted from the first; none is the last."""
    return [rank - 1] if axes is None else [a % rank for a in axes]


def arguments(
    name: str, data: Data, axes: list[int] | None, mode: str, forward: bool, **more: Any
) -> dict[str, Any]:
    """Return the arguments of a transform, without those that are as they are anyway."""
    made: dict[str, Any] = {name: data}
    if axes is not None:
        made["axes"] = axes
    if mode != "none":
        made["normalization"] = mode
    if not forward:
        made["forward"] = False
    return made | more


def title(
    shape: Sequence[int], axes: list[int] | None, mode: str, forward: bool, *more: str
) -> str:
    """Return in words what is transformed, and how."""
    told = "" if axes is None else f"axes {','.join(map(str, axes))}"
    words = ["x".join(map(str, shape)), told, mode if mode != "none" else "",
             "" if forward else "backwards", *more]  # fmt: skip
    return " ".join(word for word in words if word)


def c2c(
    group: str, dtype: str, shape: tuple[int, ...], axes: list[int] | None, mode: str,
    forward: bool, seed: str, layout: str = "dense", size: str = "",
) -> Iterator[Case]:  # fmt: skip
    """Give a transform of complex numbers."""
    data = sample(dtype, shape, ("c2c", seed), sizes(dtype, size), layout=layout)
    along = normalised(axes, len(shape))
    name = title(shape, axes, mode, forward, "" if layout == "dense" else layout, size)
    yield c2c_case(group, dtype, name, data, axes, along, mode, forward)


def c2c_case(
    group: str, dtype: str, name: str, data: Data, axes: list[int] | None, along: list[int],
    mode: str, forward: bool,
) -> Case:  # fmt: skip
    """Return a transform of these complex numbers."""

    def expect() -> tuple[Output]:
        x = exact(data)
        n = math.prod(data.shape[a] for a in along)
        return (fourier_output(transform(x, along, forward), x, along, max(n, 1), mode, dtype),)

    return Case(
        "fft_c2c", group, dtype, name, arguments("input", data, axes, mode, forward), expect
    )


def r2c(
    group: str, dtype: str, shape: tuple[int, ...], axes: list[int] | None, mode: str,
    forward: bool, seed: str, layout: str = "dense", size: str = "",
) -> Iterator[Case]:  # fmt: skip
    """Give transforms of real numbers: half of the result, which is enough, and all of it."""
    data = sample(dtype, shape, ("r2c", seed), sizes(dtype, size), layout=layout)
    along = normalised(axes, len(shape))
    last, result = along[-1], COMPLEX_OF[dtype]
    n = math.prod(shape[a] for a in along)

    def expect(onesided: bool) -> tuple[Output]:
        x = exact(data)
        whole = transform(x, along, forward)
        length = shape[last] // 2 + 1 if onesided else shape[last]
        found = taken(whole, last, length)
        return (fourier_output(found, x, along, max(n, 1), mode, result),)

    for onesided in (True, False):
        more = {} if onesided else {"onesided": False}
        name = title(shape, axes, mode, forward, "" if onesided else "twosided",
                     "" if layout == "dense" else layout, size)  # fmt: skip
        given = arguments("input", data, axes, mode, forward, **more)
        yield Case("fft_r2c", group, dtype, name, given, partial(expect, onesided))


def c2r(
    group: str, dtype: str, shape: tuple[int, ...], axes: list[int] | None, mode: str,
    forward: bool, seed: str, layout: str = "dense", size: str = "",
) -> Iterator[Case]:  # fmt: skip
    """Give transforms to real numbers, of spectra that have such; the sizes are of the results."""
    along = normalised(axes, len(shape))
    last = along[-1]
    length = shape[last]
    half = (*shape[:last], length // 2 + 1, *shape[last + 1 :])
    made = sample(dtype, half, ("c2r", seed), sizes(dtype, size), layout=layout)
    data = hermitian(made, along, length)
    if length == 0:
        return
    name = title(shape, axes, mode, forward, "" if layout == "dense" else layout, size)
    yield c2r_case(group, dtype, name, data, axes, along, mode, forward, length)


def c2r_case(
    group: str, dtype: str, name: str, data: Data, axes: list[int] | None, along: list[int],
    mode: str, forward: bool, length: int,
) -> Case:  # fmt: skip
    """Return a transform of these complex numbers to real ones."""
    last = along[-1]
    n = length * math.prod(data.shape[a] for a in along[:-1])

    def expect() -> tuple[Output]:
        x = exact(data)
        whole = extended(transform(x, along[:-1], forward), last, length)
        found = real_part(transform(whole, [last], forward))
        return (fourier_output(found, x, along, max(n, 1), mode, PARTS[dtype], 2),)

    given = arguments("input", data, axes, mode, forward, last_dim_size=length)
    return Case("fft_c2r", group, dtype, name, given, expect)


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


def special(op: str, dtype: str) -> Iterator[Case]:
    """Give impulses, what one NaN spoils, and what cannot count."""
    if op == "fft_c2r":
        yield _imaginary_parts(dtype)
    if op != "fft_c2c":
        return
    impulses: list[Value] = [(real(int(i == j)), real(0)) for i in range(6) for j in range(6)]
    data = tensor(dtype, impulses, (6, 6))
    yield c2c_case("special", dtype, "impulses", data, None, [1], "none", True)
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
    return c2r_case("special", dtype, "imaginary parts that do not count", data, None, [1],
                    "none", False, 8)  # fmt: skip
