"""Facts of the quantised dtypes, and what each number becomes, from Python's fractions alone."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import suanzi as sz

# name: what is stored, least, largest, whether the zero point is 0
DTYPES = {
    "QT_SYM_INT8": ("int8", -128, 127, True),
    "QT_SYM_INT16": ("int16", -32768, 32767, True),
    "QT_ASYM_UINT8": ("uint8", 0, 255, False),
    "QT_ASYM_INT8": ("int8", -128, 127, False),
    "QT_ASYM_UINT16": ("uint16", 0, 65535, False),
    "QT_ASYM_INT16": ("int16", -32768, 32767, False),
    "QT_CH_SYM_INT8": ("int8", -128, 127, True),
    "QT_CH_SYM_INT16": ("int16", -32768, 32767, True),
}
NAMES = list(DTYPES)
SYMMETRIC = [name for name in NAMES if DTYPES[name][3]]
ASYMMETRIC = [name for name in NAMES if name not in SYMMETRIC]


def f32(x: float) -> float:
    """Return a number rounded to float32."""
    found: float = struct.unpack("f", struct.pack("f", x))[0]
    return found


def integer_of(x: float, name: str, scale: float, zero_point: int, down: bool) -> int:
    """Return the integer that one number becomes."""
    _, least, largest, _ = DTYPES[name]
    if math.isnan(x):
        return max(least, min(largest, zero_point))
    if math.isinf(x):
        return largest if x > 0 else least
    quotient = Fraction(x) / Fraction(scale)
    steps = math.floor(quotient) if down else round(quotient)  # Python rounds ties to even
    return max(least, min(largest, steps + zero_point))


def integers_of(x: sz.Tensor) -> list[int]:
    """Return what a quantised tensor stores, in row-major order."""
    return [int(v) for v in x.int_repr().numpy().ravel()]
