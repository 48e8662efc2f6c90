"""How far a result may be from the truth, in units of the last place, and why.

The kit judges any backend, so it asks for what a standard asks for, or what any careful library
gives; suanzi's own claims, which are sharper, stand in its registry and are held by its own tests.

- IEEE 754 requires correct rounding of +, -, *, /, the square root and rounding to whole numbers.
  What is made of one such operation (square, reciprocal) is held to it, too, and so are floordiv
  and mod: their quotient and remainder are exact until they are rounded once.
- Of the other functions IEEE 754 only recommends it. OpenCL's full profile states limits that every
  conforming device keeps; they are taken over where they are at most 5. Its 16 for pow would hide
  a logarithm that is a few bits short: 5 here.
- A dtype narrower than float32 is computed in float32 everywhere, and then rounded once: half a
  unit and a little. 1 leaves room for a table or a polynomial of its own.
- Complex numbers are judged by the larger part. A product of two roundings, added: 2 sqrt(2). A
  quotient by Smith's method or by the conjugate has up to seven roundings, one after the other: 8
  with what the two parts share. A magnitude is OpenCL's hypot.
"""

from __future__ import annotations

from suanzi.conformance.model.numbers import NARROW, PARTS
from suanzi.conformance.truth.functions import FUNCTIONS

# Of a function of one real number, the bound stands in its line of the truth.
REAL: dict[str, float] = {
    "pow": 5,
    **{name: f.ulp for name, f in FUNCTIONS.items() if f.ulp is not None},
}
COMPLEX = {"mul": 3, "div": 8, "true_divide": 8, "reciprocal": 8, "abs": 4}
NARROWER = 1


def bound(op: str, dtype: str) -> float | None:
    """Return the largest error of an operator in a dtype; None if it must be right to the bit.

    >>> bound("exp", "float32"), bound("exp", "bfloat16"), bound("add", "float32")
    (3, 1, None)
    """
    stated = (COMPLEX if dtype in PARTS else REAL).get(op)
    if stated is None and op in FUNCTIONS and dtype not in PARTS:  # declared by another package
        stated = FUNCTIONS[op].ulp
    if stated is not None and PARTS.get(dtype, dtype) in NARROW:
        return NARROWER
    return stated
