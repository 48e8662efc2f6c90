"""Writes math_tables.inc: polynomials, and logarithms in more than double precision.

    python tools/math_tables.py > native/kernels/functions/math_tables.inc
    python tools/math_tables.py rounding | clang-format \
        > native/kernels/functions/rounding_tables.inc

Polynomials interpolate at Chebyshev nodes in 300 bits, which is within a hair of the best there
is; each line says how far it stays from its function, relative to it.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterator

from mpmath import chebyfit, mp, mpf

mp.prec = 300

SLICES = 128
START = 0x3FE6000000000000  # the bits of 0.6875, where the first slice begins


def literal(x: mpf, single: bool) -> str:
    """Write a number, rounded to its type, as a C++ literal."""
    rounded = struct.unpack("f", struct.pack("f", float(x)))[0] if single else float(x)
    return f"{rounded.hex()}{'f' * single}"


def polynomial(
    name: str, function: Callable[[mpf], mpf], low: mpf, high: mpf, degree: int, single: bool
) -> str:
    """Return an array of coefficients, the constant one first."""
    coefficients, error = chebyfit(function, [low, high], degree + 1, error=True)
    kind = "f32" if single else "f64"
    numbers = ", ".join(literal(c, single) for c in reversed(coefficients))
    return f"// within {mp.nstr(error, 2)}\nconstexpr {kind} {name}[] = {{\n    {numbers}}};"


def polynomials() -> Iterator[str]:
    """Yield what is added to the first terms of the series, by the rest of them."""
    quarter = mp.pi / 4
    tiny = mpf(10) ** -30

    def sine(t: mpf) -> mpf:  # sin(r) = r + r^3 S(r^2)
        r = mp.sqrt(t)
        return (mp.sin(r) - r) / r**3

    def cosine(t: mpf) -> mpf:  # cos(r) = 1 - r^2/2 + r^4 C(r^2)
        r = mp.sqrt(t)
        return (mp.cos(r) - 1 + t / 2) / t**2

    def arcsine(t: mpf) -> mpf:  # asin(x) = x + x^3 A(x^2)
        x = mp.sqrt(t)
        return (mp.asin(x) - x) / x**3

    def arctangent(t: mpf) -> mpf:  # atan(x) = x + x^3 T(x^2)
        x = mp.sqrt(t)
        return (mp.atan(x) - x) / x**3

    def exponential(r: mpf) -> mpf:  # exp(r) = 1 + r + r^2 E(r)
        return (mp.expm1(r) - r) / r**2 if abs(r) > tiny else mpf(1) / 2 + r / 6

    def log2_by_s(t: mpf) -> mpf:  # log2(z) = 2/log(2) (s + s^3/3) + s^5 L(s^2)
        s = mp.sqrt(t)
        return 2 * (mp.atanh(s) - s - s**3 / 3) / s**5 / mp.log(2)

    half_log = mp.log(2) / 2 * mpf("1.0001")
    yield polynomial("sine_f64", sine, tiny, quarter**2, 6, False)
    yield polynomial("cosine_f64", cosine, tiny, quarter**2, 6, False)
    # In double, but no longer than float32 needs.
    yield polynomial("sine_short", sine, tiny, quarter**2, 3, False)
    yield polynomial("cosine_short", cosine, tiny, quarter**2, 3, False)
    yield polynomial("sine_f32", sine, tiny, quarter**2, 2, True)
    yield polynomial("cosine_f32", cosine, tiny, quarter**2, 2, True)
    yield polynomial("arcsine_f64", arcsine, tiny, mpf(1) / 4, 12, False)
    yield polynomial("arcsine_f32", arcsine, tiny, mpf(1) / 4, 4, True)
    eighth = mp.tan(mp.pi / 8) * mpf("1.0001")
    yield polynomial("arctangent_f64", arctangent, tiny, eighth**2, 11, False)
    yield polynomial("arctangent_f32", arctangent, tiny, eighth**2, 4, True)
    yield polynomial("exponential_f64", exponential, -half_log, half_log, 10, False)
    sixteenth = half_log / 16
    yield polynomial("exponential_of_sixteenth", exponential, -sixteenth, sixteenth, 4, False)
    yield polynomial("exponential_f32", exponential, -half_log, half_log, 5, True)
    yield polynomial("exponential_short_f32", exponential, -half_log, half_log, 4, True)
    yield polynomial("exponential_of_sixteenth_f32", exponential, -sixteenth, sixteenth, 1, True)
    yield polynomial("exp2_f32", lambda r: mpf(2) ** r, -mpf(1) / 2, mpf(1) / 2, 7, True)
    edge = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)
    yield polynomial("log2_f32", log2_by_s, tiny, edge**2, 2, True)


def parts_of_half_pi() -> str:
    """Return pi/2 in three parts of 33 bits, whose multiples by 20 bits are exact, and the rest."""
    rest, parts = mp.pi / 2, []
    for _ in range(3):
        unit = mpf(2) ** (mp.frexp(rest)[1] - 33)
        parts.append(mp.floor(rest / unit) * unit)
        rest -= parts[-1]
    numbers = ", ".join(literal(p, False) for p in [*parts, rest])
    return f"constexpr f64 half_pi[] = {{{numbers}}};"


def rest_of_half_pi() -> str:
    """Return what the first part of pi/2 leaves, as a sum of two float64."""
    unit = mpf(2) ** -32
    rest = mp.pi / 2 - mp.floor(mp.pi / 2 / unit) * unit
    numbers = ", ".join(literal(p, False) for p in (rest, rest - mpf(float(rest))))
    return f"constexpr f64 half_pi_rest[] = {{{numbers}}};"


def half_pi_in_single() -> str:
    """Return pi/2 as a sum of three float32."""
    rest, parts = mp.pi / 2, []
    for _ in range(3):
        parts.append(in_single(rest))
        rest -= parts[-1]
    numbers = ", ".join(literal(p, True) for p in parts)
    return f"constexpr f32 half_pi_single[] = {{{numbers}}};"


def cut(x: mpf) -> mpf:
    """Round to a multiple of 2**-42, so that sums of such numbers are exact."""
    return mp.nint(x * 2**42) / mpf(2) ** 42


def value(bits: int) -> mpf:
    """Return the double with these bits, exactly."""
    exponent, mantissa = (bits >> 52) - 1023, bits & (2**52 - 1)
    return mpf(2) ** exponent * (1 + mpf(mantissa) / 2**52)


def logarithms() -> Iterator[str]:
    """Yield, for the middle c of each slice: 1/c, log(c) to 42 bits, and what was cut off."""
    step, rows = 1 << 52 - 7, []
    for index in range(SLICES):
        low, high = (value(START + (index + i) * step) for i in (0, 1))
        # Next to 1 the logarithm must come from the remainder alone.
        middle = mpf(1) if low <= 1 <= high else value(START + index * step + step // 2)
        inverse = mpf(float(1 / middle))
        logarithm = -mp.log(inverse)
        rows.append((inverse, cut(logarithm), logarithm - cut(logarithm)))
    yield f"constexpr u64 log_start = {START:#x};"
    yield f"alignas(64) constexpr f64 log_rows[{SLICES}][4] = {{"
    for row in rows:
        yield f"    {{{', '.join(literal(x, False) for x in row)}}},"
    yield "};"


def row(name: str, numbers: list[mpf], single: bool = False) -> str:
    """Return an array of sixteen numbers, which fill one or two registers of AVX-512."""
    lines = (", ".join(literal(x, single) for x in numbers[i : i + 4]) for i in range(0, 16, 4))
    kind = "f32" if single else "f64"
    return f"alignas(64) constexpr {kind} {name}[] = {{\n    " + ",\n    ".join(lines) + "};"


def sixteenths() -> Iterator[str]:
    """Yield 2^(i/16), what rounding takes from it relative to it, and logarithms of j/16."""
    powers = [mpf(2) ** (mpf(i) / 16) for i in range(16)]
    yield row("power_sixteenth", powers)
    yield row("power_sixteenth_low", [x / mpf(float(x)) - 1 for x in powers])
    yield from logarithms_of_sixteenths()


def in_single(x: mpf) -> mpf:
    """Round to a float32."""
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def bit_in_single(x: mpf) -> tuple[mpf, mpf]:
    """Return a float32 and, where it is far from a number, what it leaves, which is positive."""
    near = in_single(x)
    if abs(near - x) < mpf(2) ** -28:
        return near, mpf(0)
    below = mp.floor(x * 2**25) / 2**25
    return below, x - below


def series(r: mpf) -> mpf:
    """Return S of log(1 + r) = r S(r)."""
    return mp.log1p(r) / r if abs(r) > mpf(10) ** -20 else 1 - r / 2


def rest_of_cubic(r: mpf) -> mpf:
    """Return R of log(1 + r) = r - r^2/2 + r^3 R(r)."""
    near_zero = abs(r) < mpf(10) ** -20
    return mpf(1) / 3 if near_zero else (mp.log1p(r) - r + r * r / 2) / r**3


def logarithms_of_sixteenths() -> Iterator[str]:
    """Yield -log(j/16) for each i, where j = i modulo 16 is from 11 to 21, and what else."""
    near = [next((j for j in range(11, 22) if j % 16 == i), 16) for i in range(16)]
    found = [-mp.log(mpf(j) / 16) for j in near]
    limit = mpf(3) / 64 * mpf("1.01")
    tiny = mpf(10) ** -20

    def rest_of_two(r: mpf) -> mpf:  # log(1 + r) = r + r^2 R(r)
        return (mp.log1p(r) - r) / r**2 if abs(r) > tiny else -mpf(1) / 2

    for name, base in (("e", mp.e), ("2", mpf(2)), ("10", mpf(10))):
        unit = 1 / mp.log(base)
        # Powers of ten have whole logarithms, for which two numbers are needed; the second of the
        # bit's is positive, so that infinite ones stay what they are.
        whole = name == "10"
        bit = mp.log(2) * unit
        first = mp.floor(bit * 2**42) / 2**42 if whole else bit
        yield row(f"log{name}_sixteenth", [cut(x * unit) if whole else x * unit for x in found])
        if whole:
            yield row("log10_sixteenth_low", [x * unit - cut(x * unit) for x in found])
        yield polynomial(
            f"log{name}_series", lambda r, unit=unit: unit * series(r), -limit, limit, 9, False
        )
        second = f", log{name}_bit_low_f64 = {literal(bit - first if whole else mpf(0), False)}"
        yield f"constexpr f64 log{name}_bit_f64 = {literal(first, False)}{second};"
        high, low = bit_in_single(bit)
        words = {"bit": high, "bit_low": low}
        numbers = ", ".join(f"log{name}_{key}_f32 = {literal(x, True)}" for key, x in words.items())
        yield f"constexpr f32 {numbers};"
    yield polynomial("log1p_f32", rest_of_two, -mpf(1) / 4, mpf(1) / 2, 8, True)
    # For pow: of float64 as sums of two numbers, the first of 42 bits.
    yield row("log_sixteenth_high", [cut(x) for x in found])
    yield row("log_sixteenth_low", [x - cut(x) for x in found])
    yield polynomial("log_sixteenth_rest", rest_of_cubic, -limit, limit, 9, False)


def sixteenths_in_single() -> Iterator[str]:
    """Yield what functions of float32 take on AVX-512, pow first."""
    tiny = mpf(10) ** -12
    powers = [mpf(2) ** (mpf(i) / 16) for i in range(16)]
    yield row("power_sixteenth_f32", powers, True)
    yield row("power_sixteenth_low_f32", [x / in_single(x) - 1 for x in powers], True)
    yield from slices_in_single()

    def hyperbolic_cosine(t: mpf) -> mpf:  # cosh(r) = 1 + r^2 C(r^2)
        return (mp.cosh(mp.sqrt(t)) - 1) / t

    def hyperbolic_sine(t: mpf) -> mpf:  # sinh(r) = r + r^3 S(r^2)
        r = mp.sqrt(t)
        return (mp.sinh(r) - r) / r**3

    def hyperbolic_arctangent(t: mpf) -> mpf:  # atanh(v) = v + v^3 T(v^2)
        v = mp.sqrt(t)
        return (mp.atanh(v) - v) / v**3

    half_log = mp.log(2) / 2 * mpf("1.0001")
    third = mpf(1) / 3 * mpf("1.001")
    yield polynomial("hyperbolic_cosine_f32", hyperbolic_cosine, tiny, half_log**2, 2, True)
    yield polynomial("hyperbolic_sine_f32", hyperbolic_sine, tiny, half_log**2, 1, True)
    yield polynomial("hyperbolic_arctangent_f32", hyperbolic_arctangent, tiny, third**2, 3, True)
    yield polynomial("hyperbolic_arctangent_f64", hyperbolic_arctangent, tiny, third**2, 10, False)


def slices_in_single() -> Iterator[str]:
    """Yield, for each slice of [0.75, 1.5) by four bits, c near 1/m and -log(c) in two parts.

    c has so few bits that m c - 1 is exact, and is 1 in the slices next to 1, where the remainder
    alone counts.
    """
    ends = [(1 + mpf(i) / 16, 1 + mpf(i + 1) / 16) for i in range(8)]
    ends += [(low / 2, high / 2) for low, high in ((e + mpf(1) / 2 for e in pair) for pair in ends)]
    inverses, rests = [], []
    for i, (low, high) in enumerate(ends):
        step = 32 if low >= 1 else 16
        c = mpf(1) if i in (0, 15) else mp.nint(step * 2 / (low + high)) / step
        inverses.append(c)
        rests += [low * c - 1, high * c - 1]
    logs = [-mp.log(c) for c in inverses]
    short = [mp.nint(x * 2**15) / 2**15 for x in logs]
    yield row("inverse_of_slice", inverses, True)
    yield row("log_of_slice", short, True)
    yield row("log_of_slice_low", [x - y for x, y in zip(logs, short, strict=True)], True)
    reach = min(rests) * mpf("1.001"), max(rests) * mpf("1.001")
    yield polynomial("log_cubic_f32", rest_of_cubic, *reach, 3, True)
    for name, base in (("e", mp.e), ("2", mpf(2)), ("10", mpf(10))):
        unit = 1 / mp.log(base)
        yield row(f"log{name}_slice_f32", [x * unit for x in logs], True)
        yield polynomial(
            f"log{name}_series_f32", lambda r, unit=unit: unit * series(r), *reach, 4, True
        )


def rounding_polynomials() -> Iterator[str]:
    """Yield those of functions of float32 in float64, most within 2^-43 of their functions."""
    quarter, tiny, half_log = (mp.pi / 4) ** 2, mpf(10) ** -30, mp.log(2) / 2 * mpf("1.0001")

    def rest(f: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:  # f(x) = x + x^3 R(x^2)
        return lambda t: (f(mp.sqrt(t)) - mp.sqrt(t)) / mp.sqrt(t) ** 3

    def cosine(t: mpf) -> mpf:  # cos(r) = 1 - r^2/2 + r^4 C(r^2)
        return (mp.cos(mp.sqrt(t)) - 1 + t / 2) / t**2

    def exponential(r: mpf) -> mpf:  # exp(r) = 1 + r + r^2 E(r)
        return (mp.expm1(r) - r) / r**2 if abs(r) > tiny else mpf(1) / 2 + r / 6

    def logarithm(t: mpf) -> mpf:  # log((1 + s)/(1 - s)) = 2 s + s^3 L(s^2)
        return 2 * rest(mp.atanh)(t)

    def power(r: mpf) -> mpf:  # 2^r = 1 + r P(r)
        return mp.expm1(r * mp.log(2)) / r if abs(r) > tiny else mp.log(2)

    eighth, root = mp.tan(mp.pi / 8) * mpf("1.0001"), mp.sqrt(2) * mpf("1.0001")
    slope = ((root - 1) / (root + 1)) ** 2
    yield polynomial("sine_rounded", rest(mp.sin), tiny, quarter, 4, False)
    yield polynomial("cosine_rounded", cosine, tiny, quarter, 4, False)
    yield polynomial("arcsine_rounded", rest(mp.asin), tiny, mpf(1) / 4, 9, False)
    yield polynomial("arctangent_rounded", rest(mp.atan), tiny, eighth**2, 7, False)
    yield polynomial("exponential_rounded", exponential, -half_log, half_log, 7, False)
    yield polynomial(
        "exponential_rounded_sixteenth", exponential, -half_log / 16, half_log / 16, 3, False
    )
    yield polynomial(
        "exponential_less_one_sixteenth", exponential, -half_log / 16, half_log / 16, 4, False
    )
    yield polynomial("logarithm_rounded", logarithm, tiny, slope, 5, False)
    yield polynomial("logarithm_for_power", logarithm, tiny, slope, 7, False)
    yield polynomial("power_rounded", power, -mpf(1) / 2, mpf(1) / 2, 8, False)


def main() -> None:
    """Print the tables."""
    if sys.argv[1:] == ["rounding"]:
        print("// native/kernels/functions/rounding_tables.inc: made by tools/math_tables.py.")
        print("\n".join(rounding_polynomials()))
        return
    ln2 = mp.log(2)
    print("// native/kernels/functions/math_tables.inc: made by tools/math_tables.py.")
    print(
        f"constexpr f64 ln2_high = {literal(cut(ln2), False)}, "
        f"ln2_low = {literal(ln2 - cut(ln2), False)};"
    )
    # The first part has few enough bits for its multiples to be exact.
    short = mp.floor(ln2 * 2**15) / 2**15
    print(
        f"constexpr f32 ln2_high_f32 = {literal(short, True)}, "
        f"ln2_low_f32 = {literal(ln2 - short, True)};"
    )
    print(parts_of_half_pi())
    print(rest_of_half_pi())
    print(half_pi_in_single())
    for line in (*polynomials(), *logarithms(), *sixteenths(), *sixteenths_in_single()):
        print(line)


if __name__ == "__main__":
    main()
