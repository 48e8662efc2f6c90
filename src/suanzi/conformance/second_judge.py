#!/usr/bin/env python3
"""Judge the recorded answers of a submission again, with nothing but Python: one file, no suanzi.

    python second_judge.py FOLDER

It reads ``answers/*.jsonl.gz`` (each line a case, its exact expected result, and the answer) and
``report.json``. It shares no code with the kit, so a mistake in one of them shows as a
contradiction. Numbers are exact fractions; nothing is rounded but by the rule that is tested. A
case whose result is not unique (factors of a matrix, random numbers) is checked by a property,
which only the kit has: it counts as not judged. The exit status is 1 if the report says "passed" of
an answer that is wrong.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import struct
import sys
import zlib
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

Signed = tuple[int, Any]
"""A sign, 1 or -1, and a size: a fraction, infinity or NAN."""

# Bits of exponent and of fraction; whether there is an infinity.
FLOATS = {
    "float8_e4m3fn": (4, 3, False), "float8_e5m2": (5, 2, True), "float16": (5, 10, True),
    "bfloat16": (8, 7, True), "float32": (8, 23, True), "float64": (11, 52, True),
}  # fmt: skip
COMPLEX = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
NARROW = ("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16")
NAN = "nan"
RIGHT, WRONG, UNKNOWN = "right", "wrong", "not judged"


def two(exponent: int) -> Fraction:
    """Return a power of two."""
    return Fraction(2) ** exponent


def number(text: str) -> Signed:
    """Return an exact number of a case: its sign (1 or -1), and its size, infinity or NAN."""
    sign, size = (-1, text[1:]) if text.startswith("-") else (1, text)
    if size in ("nan", "inf"):
        return sign, NAN if size == "nan" else math.inf
    digits, power, exponent = size.partition("p")
    if power:
        return sign, int(digits, 16) * two(int(exponent))
    return sign, Fraction(size)


def unpack(x: Any) -> Any:
    """Return a part of a case as Python has it; numbers with a sign are pairs."""
    if isinstance(x, list):
        return [unpack(v) for v in x]
    if not isinstance(x, dict):
        return x
    ((kind, value),) = x.items()
    if kind == "real":
        return number(value)
    if kind == "fraction":
        sign, size = number(value)
        return sign * size
    if kind == "tuple":
        return [unpack(v) for v in value]
    if kind == "status":
        return value
    if kind == "dict" and isinstance(value, list):
        return {unpack(k): unpack(v) for k, v in value}
    if kind == "picked":
        base, index = unpack(value["base"]), value["index"]
        if "period" in index:
            return [base[i % index["period"]] for i in range(index["count"])]
        raw = zlib.decompress(base64.b64decode(index["packed"]))
        return [base[i] for i in struct.unpack(f"<{len(raw) // 2}H", raw)]
    if kind in ("output", "refused"):
        return {"kind": kind, **{name: unpack(v) for name, v in value.items()}}
    if kind == "either":
        return {"kind": kind, "each": [unpack(v) for v in value["readings"].values()]}
    if kind == "check":
        return {"kind": kind}
    if kind == "float":
        return float(value)
    return {"kind": kind, "value": value}


def decode(dtype: str, bits: int) -> Signed:
    """Return the number that bits stand for."""
    exponents, fraction, infinity = FLOATS[dtype]
    sign = -1 if bits >> (exponents + fraction) else 1
    high, low = bits >> fraction & (1 << exponents) - 1, bits & (1 << fraction) - 1
    bias, top = (1 << exponents - 1) - 1, (1 << exponents) - 1
    if high == top and infinity:
        return sign, NAN if low else math.inf
    if high == top and low == (1 << fraction) - 1:
        return sign, NAN
    if high == 0:
        return sign, low * two(1 - bias - fraction)
    return sign, ((1 << fraction) + low) * two(high - bias - fraction)


def elements(tensor: dict[str, Any]) -> list[Any]:
    """Return the elements of an answer: integers, numbers with a sign, or two of them."""
    dtype, raw = tensor["dtype"], base64.b64decode(tensor["raw"])
    if "repeats" in tensor:
        raw = (raw * (tensor["repeats"] // len(raw) + 1))[: tensor["repeats"]]
    count = math.prod(tensor["shape"])
    part = COMPLEX.get(dtype, dtype)
    total = count * (2 if dtype in COMPLEX else 1)
    width = len(raw) // total if total else 1
    words = [int.from_bytes(raw[i : i + width], "little") for i in range(0, len(raw), width)]
    if len(words) != total:
        raise ValueError(f"{len(raw)} bytes for {count} elements of {dtype}")
    if part in FLOATS:
        known: dict[int, Signed] = {}
        found = [known.get(w) or known.setdefault(w, decode(part, w)) for w in words]
        return list(zip(found[::2], found[1::2], strict=True)) if dtype in COMPLEX else found
    signed = dtype.startswith("int") or (dtype.startswith("QT") and "UINT" not in dtype)
    return [w - (1 << 8 * width) if signed and w >> (8 * width - 1) else w for w in words]


def ends(dtype: str) -> tuple[int, int, Fraction]:
    """Return the least exponent of a normal number, the greatest, and the largest number."""
    exponents, fraction, infinity = FLOATS[dtype]
    bias = (1 << exponents - 1) - 1
    greatest = bias if infinity else bias + 1
    most = 2 - two(-fraction) if infinity else 2 - 2 * two(-fraction)
    return 1 - bias, greatest, most * two(greatest)


def gap(dtype: str, size: Fraction) -> Fraction:
    """Return the distance of the numbers of a dtype near a size."""
    least, greatest, _ = ends(dtype)
    exponent = least
    if size:
        a, b = size.numerator.bit_length(), size.denominator.bit_length()
        exponent = a - b if size >= two(a - b) else a - b - 1
    return two(min(max(exponent, least), greatest) - FLOATS[dtype][1])


def nearest(dtype: str, x: Signed) -> Signed:
    """Return a number rounded once to a dtype, of two equally near ones to the even one."""
    sign, size = x
    if size == NAN or size == math.inf:
        return (sign, size) if FLOATS[dtype][2] else (sign, NAN)
    unit = gap(dtype, size)
    size = round(size / unit) * unit
    if size > ends(dtype)[2]:
        size = math.inf if FLOATS[dtype][2] else NAN
    return sign, size


def equal(a: Signed, b: Signed, zero_sign: bool) -> bool:
    """Tell whether two numbers are the same; any NaN is."""
    if a[1] == NAN or b[1] == NAN:
        return bool(a[1] == b[1])
    return a[1] == b[1] and (a[0] == b[0] or (a[1] == 0 and not zero_sign))


def near(
    dtype: str, found: Signed, truth: Signed, bound: Fraction, unit: Fraction | int, zero_sign: bool
) -> bool:
    """Tell whether a number is within so many units of the truth, which is finite."""
    _, _, largest = ends(dtype)
    end = largest + gap(dtype, largest)  # an infinity counts as the first number beyond
    (sign, size), (right, true) = found, truth
    if size == NAN:
        if FLOATS[dtype][2]:
            return False
        sign, size = right, math.inf
    if size == math.inf:
        size, true = end, min(true, end)
    if abs(sign * size - right * true) > bound * unit:
        return False
    if unit == 1 or not zero_sign:
        return True
    return found[1] == NAN or sign == right or (true == 0 and size != 0)


def right_number(
    dtype: str, found: Signed, truth: Signed, wanted: dict[str, Any], i: int, unit: Fraction
) -> bool:
    """Tell whether one part of an element is right."""
    zero_sign = wanted.get("zero_sign", True)
    if truth[1] not in (NAN, math.inf):
        if wanted.get("allowed") is not None:
            return near(dtype, found, truth, wanted["allowed"][i], 1, zero_sign)
        if wanted.get("ulp") is not None:
            return near(dtype, found, truth, Fraction(wanted["ulp"]), unit, zero_sign)
    may_be = [nearest(dtype, truth)]
    if dtype in NARROW:  # it may be computed in float32
        may_be.append(nearest(dtype, nearest("float32", truth)))
    return any(equal(found, one, zero_sign) for one in may_be)


def _signed(x: int) -> Signed:
    return -1 if x < 0 else 1, abs(Fraction(x))


def right_element(dtype: str, found: Any, truth: Any, wanted: dict[str, Any], i: int) -> bool:
    """Tell whether an element is right."""
    part = COMPLEX.get(dtype, dtype)
    if part not in FLOATS:
        if wanted.get("allowed") is None:
            return bool(found == truth)
        exact = truth[0] * truth[1] if isinstance(truth, tuple) else truth
        return bool(abs(found - exact) <= wanted["allowed"][i])
    parts = list(zip(found, truth, strict=True)) if dtype in COMPLEX else [(found, truth)]
    parts = [(a, b if isinstance(b, tuple) else _signed(b)) for a, b in parts]
    units = [gap(part, b[1]) if b[1] not in (NAN, math.inf) else Fraction(0) for _, b in parts]
    unit = max(max(units), gap(part, Fraction(0)))
    return all(right_number(part, a, b, wanted, i, unit) for a, b in parts)


def right_output(wanted: Any, found: Any) -> str:
    """Judge one output."""
    if isinstance(wanted, list):
        if not isinstance(found, list) or len(found) != len(wanted):
            return WRONG
        return together(map(right_output, wanted, found))
    if not isinstance(wanted, dict):
        return RIGHT if type(wanted) is type(found) and wanted == found else WRONG
    if wanted["kind"] == "check":
        return UNKNOWN
    tensor = found.get("tensor") if isinstance(found, dict) else None
    if tensor is None or tensor["dtype"] != wanted["dtype"] or tensor["shape"] != wanted["shape"]:
        return WRONG
    if any(tensor.get(name) != wanted.get(name) for name in ("scale", "zero_point")):
        return WRONG
    sparse = wanted.get("sparse")
    if sparse != "any" and (tensor.get("sparse") is None) != (sparse is None):
        return WRONG
    order = wanted.get("min2maj")
    rows = list(range(len(tensor["shape"])))[::-1]
    if order is not None and tensor.get("min2maj", rows) != order:
        return WRONG
    got, truth = elements(tensor), wanted["truth"]
    free, seen = set(wanted.get("free", ())), {}
    if len(got) != len(truth):
        return WRONG
    for i, (a, b) in enumerate(zip(got, truth, strict=True)):
        # A large tensor has few different pairs.
        key = a, id(b), id(wanted["allowed"][i]) if wanted.get("allowed") else None
        if i not in free and key not in seen:
            seen[key] = right_element(wanted["dtype"], a, b, wanted, i)
            if not seen[key]:
                return WRONG
    return RIGHT


def together(each: Iterable[str]) -> str:
    """Return one answer of several: wrong if any is, then not judged."""
    said = set(each)
    return WRONG if WRONG in said else UNKNOWN if UNKNOWN in said else RIGHT


def judge(expected: Any, answer: dict[str, Any], statuses: bool) -> str:
    """Judge an answer; `statuses`: whether the backend has status codes."""
    if isinstance(expected, dict) and expected["kind"] == "either":
        said = {judge(one, answer, statuses) for one in expected["each"]}
        return RIGHT if RIGHT in said else UNKNOWN if UNKNOWN in said else WRONG
    status, outputs = answer["status"], answer["outputs"]
    if isinstance(expected, dict) and expected["kind"] == "refused":
        if status == "SUCCESS":
            instead = expected.get("instead")
            return WRONG if statuses or instead is None else outputs_right(instead, outputs)
        if any(x is not None for x in outputs):
            return WRONG
        allowed = [expected["status"], *expected.get("others", ())]
        return RIGHT if not statuses or status in allowed else WRONG
    if isinstance(expected, dict):
        return UNKNOWN
    if status != "SUCCESS":
        return WRONG
    return outputs_right(expected, outputs)


def outputs_right(expected: Any, outputs: list[Any]) -> str:
    """Judge all outputs of a call."""
    if len(expected) != len(outputs):
        return WRONG
    return together(map(right_output, expected, outputs))


def plain(x: Any) -> Any:
    """Return a plain value of an answer; tensors stay as they are."""
    if isinstance(x, list):
        return [plain(v) for v in x]
    return float(x["float"]) if isinstance(x, dict) and "float" in x else x


def files(folder: str | Path) -> list[Path]:
    """Return the files of recorded answers, one for each interface."""
    return sorted(Path(folder, "answers").glob("*.jsonl.gz"))


def judged(path: Path, statuses: bool) -> dict[str, str]:
    """Return the judgement of each case of a file: right, wrong, not judged, or no answer."""
    found = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in map(json.loads, file):
            case, answer = line["case"], line["answer"]
            if "none" in answer:
                found[case["id"]] = "no answer"
                continue
            answer["outputs"] = plain(answer.get("outputs", []))
            found[case["id"]] = judge(unpack(case["expected"]), answer, statuses)
    return found


def passed_ids(report: dict[str, Any]) -> set[str]:
    """Return the ids of the cases that a report says have passed."""
    found = {r["id"] for r in report["results"] if r["outcome"] == "passed"}
    for block in report.get("blocks", ()):
        if block["outcome"] == "passed":
            head = f"{block['op']}/{block['group']}"
            found |= {f"{head}/{d}/{t}" for d in block["dtypes"] for t in block["titles"]}
    return found


def main(folder: str) -> int:
    """Judge a folder, print what was found, and return the exit status."""
    report = json.loads(Path(folder, "report.json").read_text("utf-8"))
    said = passed_ids(report)
    statuses = report["subject"]["statuses"]
    found = {i: how for path in files(folder) for i, how in judged(path, statuses).items()}
    lies = sorted(i for i, how in found.items() if how == WRONG and i in said)
    for name, count in sorted(Counter(found.values()).items()):
        print(f"{count:8} {name}")
    for one in lies:
        print(f"reported as passed, but wrong: {one}")
    return 1 if lies else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else f"usage: {sys.argv[0]} FOLDER")
