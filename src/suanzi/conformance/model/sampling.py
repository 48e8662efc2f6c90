"""Tensors of random numbers, made of random bits: many times faster than rounding fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

from suanzi.conformance.model.data import from_bits
from suanzi.conformance.model.numbers import FORMATS, PARTS
from suanzi.conformance.subjects.wire import ITEMSIZE, Data


def sample(
    dtype: str,
    shape: Sequence[int],
    seed: object,
    exponents: tuple[int, int] = (-3, 0),
    positive: bool = False,
    layout: str = "dense",
) -> Data:
    """Return integers of the whole range, or floats of either sign between powers of two.

    The exponents are the least and the largest; -3 and 0 give sizes from 1/8 to 2.

    >>> sample("float16", (2, 3), "seed") == sample("float16", (2, 3), "seed")
    True
    """
    random = Random(f"sample {dtype} {tuple(shape)} {seed}")
    part = PARTS.get(dtype, dtype)
    count = math.prod(shape) * (2 if dtype in PARTS else 1)
    width = 8 * ITEMSIZE[part]
    if part in FORMATS:
        form = FORMATS[part]
        low, high = (e + form.bias for e in exponents)
        bits = [
            (0 if positive else random.getrandbits(1)) << (width - 1)
            | random.randint(low, high) << form.mantissa
            | random.getrandbits(form.mantissa)
            for _ in range(count)
        ]
    else:
        bits = [random.getrandbits(width) for _ in range(count)]
    return from_bits(dtype, bits, shape, layout)
