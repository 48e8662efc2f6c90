"""Writes a digest of every kernel's results, so that two builds or two machines can be compared.

python tools/results.py > here.txt    then: python tools/results.py --against here.txt

A line is the operator, the dtype and a digest of what 20,000 elements of every size, sign and
kind give. Lines that differ are listed, and the status is 1 if one of them is of an operator that
is exact or correctly rounded: those give the same bits everywhere; functions may differ where a
processor has other instructions.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import suanzi as sz
from suanzi import _core
from suanzi.registry import FUNCTIONS, REGISTRY

COUNT = 20_000
DTYPES = "float64 float32 float16 bfloat16 complex64 complex128 int8 int16 int32 int64 uint8 uint64"


def numbers(dtype: sz.DType, seed: int) -> sz.Tensor:
    """Return the same bits on every machine: half of them any at all, half numbers near one."""
    if dtype.kind == "complex":
        part = sz.float32 if dtype == sz.complex64 else sz.float64
        return sz.complex(numbers(part, seed), numbers(part, seed + 7))
    state = np.arange(1, COUNT + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15 + 2 * seed)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    bits = (state >> np.uint64(64 - dtype.bits)).astype(f"u{dtype.bits // 8}")
    any_bits = sz.wrap_tensor((COUNT,), dtype, values=bytearray(bits.tobytes()))
    if dtype.kind != "float":
        return any_bits
    near_one = sz.tensor((state >> np.uint64(40)).astype(np.float64) / 2.0**22 - 2)
    even = sz.tensor(np.arange(COUNT) % 2 == 0)
    return sz.where(even, any_bits, sz.cast(near_one, dtype))


def digest(result: Any) -> str:
    """Return a digest of the bits; every NaN counts as the same."""
    parts = result if isinstance(result, tuple) else (result,)
    said = hashlib.sha256()
    for part in parts:
        array = np.ascontiguousarray(part.numpy())
        said.update(f"{array.dtype} {array.shape}".encode())
        if array.dtype.kind in "fc" or str(array.dtype) == "bfloat16":
            with np.errstate(invalid="ignore"):  # ml_dtypes raises the flag for every NaN
                nan = array != array
            said.update(np.packbits(nan).tobytes())
            array = np.where(nan, np.zeros((), array.dtype), array)
        said.update(array.tobytes())
    return said.hexdigest()[:16]


def calls(dtype: sz.DType) -> Iterator[tuple[str, bool, Callable[[], Any]]]:
    """Yield every call of a dtype: its name, and whether its bits are the same everywhere."""
    x, y, z = (numbers(dtype, seed) for seed in (1, 2, 3))
    for name, operator in REGISTRY.items():
        if operator.kernel is None or dtype not in operator.dtypes or name == "where":
            continue
        taken = {"muladd": 3}.get(name, 2 if operator.function.__code__.co_argcount > 1 else 1)
        exact = operator.ulp in (None, 0.5) and dtype.kind != "complex"
        yield name, exact, lambda f=FUNCTIONS[name], n=taken: f(*(x, y, z)[:n])
    square = sz.reshape(x[: 141 * 141], (141, 141))
    for mode in ("SUM", "PROD", "MAX", "MIN"):
        for axis in (None, 0, 1):
            yield f"reduce {mode} {axis}", False, lambda m=mode, a=axis: sz.reduce(square, m, a)
    yield "cumsum", False, lambda: sz.cumsum(square)
    yield "matmul", False, lambda: sz.matmul(square, square)
    yield "argsort", True, lambda: sz.argsort(x)
    for other in map(sz.dtype, DTYPES.split()):
        yield f"cast {other.name}", True, lambda d=other: sz.cast(x, d)


def results(dtypes: list[str]) -> Iterator[tuple[str, bool, str]]:
    """Yield every result, as a digest or as the error it is."""
    for dtype in map(sz.dtype, dtypes):
        for name, exact, call in calls(dtype):
            try:
                said = digest(call())
            except sz.StatusError as refused:
                said = refused.status.name
            yield f"{name} {dtype.name}", exact, said


def main() -> None:
    """Write the results, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="what another build or machine wrote")
    parser.add_argument("--dtype", nargs="*", default=DTYPES.split(), help="only these")
    chosen = parser.parse_args()
    if chosen.against is None:
        for name, _, said in results(chosen.dtype):
            print(f"{name}: {said}")
        return
    old = dict(line.rsplit(": ", 1) for line in chosen.against.read_text("utf-8").splitlines())
    found = list(results(chosen.dtype))
    differ = [(name, exact) for name, exact, said in found if old.get(name) != said]
    named = f"{len(found)} results, level {_core.level()} of {os.uname().machine}"
    print(f"{named}: {len(differ)} differ, {sum(e for _, e in differ)} of exact operators")
    for name, exact in differ:
        print(f"  {name}{' (exact!)' if exact else ''}")
    sys.exit(any(exact for _, exact in differ))


if __name__ == "__main__":
    main()
