"""7.2.16.1.4, .2.4, .3.4: gradients of Fourier transforms, dL/dRe + i dL/dIm, by formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases.signal import (
    SHAPE,
    SIZES,
    arguments,
    normalised,
    settings,
    sizes,
    title,
)
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.numbers import PARTS
from suanzi.conformance.model.sampling import sample
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.arrays import exact
from suanzi.conformance.truth.signal import (
    COMPLEX_OF,
    fourier_output,
    real_part,
    taken,
    transform,
    weighted,
)

Axes = list[int] | None
Make = Callable[..., Iterator[Case]]


@cases_of("fft_c2c_backward", "fft_r2c_backward", "fft_c2r_backward")
def gradients(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give gradients of transforms of every kind."""
    make: Make = {"fft_c2c_backward": _c2c, "fft_r2c_backward": _r2c, "fft_c2r_backward": _c2r}[op]
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            for shape, axes, mode, forward in settings(wanted.quick):
                yield from make("plain", dtype, shape, axes, mode, forward, "", "dense")
        if wanted.wants("random", dtype):
            seed = f"seed {wanted.seed}"
            yield from make("random", dtype, (2, 3, 6), [1, 2], "none", True, seed, "dense")
        if wanted.wants("strided", dtype):
            for layout in ("columns", "gaps", "reversed", "offset"):
                yield from make("strided", dtype, SHAPE, [0, 2], "none", True, "", layout)
        if wanted.wants("special", dtype):
            for size in SIZES:
                yield from make("special", dtype, (2, 6), None, "none", True, "", "dense", size)
        if wanted.wants("empty", dtype):
            yield from make("empty", dtype, (0, 4), None, "by_n", True, "", "dense")


def _c2c(
    group: str, dtype: str, shape: tuple[int, ...], axes: Axes, mode: str, forward: bool,
    seed: str, layout: str, size: str = "",
) -> Iterator[Case]:  # fmt: skip
    """Give the transform in the other direction."""
    data = sample(dtype, shape, ("c2c backward", seed), sizes(dtype, size), layout=layout)
    along = normalised(axes, len(shape))

    def expect() -> tuple[Output]:
        g = exact(data)
        n = math.prod(shape[a] for a in along)
        return (fourier_output(transform(g, along, not forward), g, along, n, mode, dtype),)

    name = title(shape, axes, mode, forward, "" if layout == "dense" else layout, size)
    given = arguments("grad_out", data, axes, mode, forward)
    yield Case("fft_c2c_backward", group, dtype, name, given, expect)


def _r2c(
    group: str, dtype: str, shape: tuple[int, ...], axes: Axes, mode: str, forward: bool,
    seed: str, layout: str, size: str = "",
) -> Iterator[Case]:  # fmt: skip
    """Give the real part of the other direction's transform, of a half with zeros behind."""
    along = normalised(axes, len(shape))
    last = along[-1]
    source = sample(PARTS[dtype], shape, "r2c input", layout=layout)
    n = math.prod(shape[a] for a in along)

    def expect(data: Data) -> tuple[Output]:
        g = taken(exact(data), last, shape[last])
        found = real_part(transform(g, along, not forward))
        return (fourier_output(found, g, along, n, mode, PARTS[dtype]),)

    for length in dict.fromkeys((shape[last] // 2 + 1, shape[last])):
        given_shape = (*shape[:last], length, *shape[last + 1 :])
        data = sample(dtype, given_shape, ("r2c backward", seed), sizes(dtype, size), layout=layout)

        whole = "twosided" if length == shape[last] and length > 2 else ""
        name = title(shape, axes, mode, forward, whole, "" if layout == "dense" else layout, size)
        given = arguments("grad_out", data, axes, mode, forward, input=source)
        yield Case("fft_r2c_backward", group, dtype, name, given, partial(expect, data))


def _c2r(
    group: str, dtype: str, shape: tuple[int, ...], axes: Axes, mode: str, forward: bool,
    seed: str, layout: str, size: str = "",
) -> Iterator[Case]:  # fmt: skip
    """Give half of the other direction's transform, twice where it has a mirror image."""
    data = sample(dtype, shape, ("c2r backward", seed), sizes(dtype, size), layout=layout)
    along = normalised(axes, len(shape))
    last = along[-1]

    def expect() -> tuple[Output]:
        g = exact(data)
        half = taken(transform(g, along, not forward), last, shape[last] // 2 + 1)
        found = weighted(half, last, shape[last])
        n = math.prod(shape[a] for a in along)
        return (fourier_output(found, g, along, n, mode, COMPLEX_OF[dtype], 2),)

    name = title(shape, axes, mode, forward, "" if layout == "dense" else layout, size)
    given = arguments("grad_out", data, axes, mode, forward)
    yield Case("fft_c2r_backward", group, dtype, name, given, expect)
