"""Writes a digest of every kernel's results, so that two builds or two machines can be compared.

python tools/results.py > here.txt    then: python tools/results.py --against here.txt

A line is the operator, the dtype and a digest of what 20,000 elements of every size, sign and
kind give. Lines that differ are listed, and the status is 1 if one of them must not: what is exact
or correctly rounded has the same bits everywhere, and all the rest where both have fused
multiplication and addition, which the baseline of x86-64 lacks; but for what a level computes in a
way of its own, and for products of float matrices, which the BLAS of a machine adds up in its own
order.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

import suanzi as sz
from suanzi import _core
from suanzi.faces.array_api.declare import FUNCTIONS as EXTENDED
from suanzi.promote.registry import FUNCTIONS, REGISTRY

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


def has_fma() -> bool:
    """Return whether kernels of this level fuse where they ask for it."""
    return _core.level() != "baseline" or os.uname().machine in ("aarch64", "arm64")


# What a level, or a machine, computes otherwise than all others: operators, and one of some dtype.
OWN_WAYS = {
    "avx512": [
        *"exp expm1 cosh tanh asinh acosh atanh pow log log1p log2 log10".split(),
        *"logaddexp rsqrt asin acos".split(),
        "atan complex128",  # by log1p
    ],
    "aarch64": "log log2 log10".split(),
}


def own_ways() -> str:
    """Return which of these there are here, by name."""
    here = _core.level(), os.uname().machine
    return next((name for name in here if name in OWN_WAYS), "none")


class Same(Enum):
    """Where a result has the same bits."""

    EVERYWHERE = "exact!"
    WITH_FMA = "both have fma!"
    NOWHERE = "by BLAS, or in a way of its own"


def calls(dtype: sz.DType) -> Iterator[tuple[str, Same, Callable[[], Any]]]:
    """Yield every call of a dtype: its name, and where its bits are the same."""
    x, y, z = (numbers(dtype, seed) for seed in (1, 2, 3))
    for name, operator in REGISTRY.items():
        if operator.kernel is None or dtype not in operator.dtypes or name == "where":
            continue
        taken = {"muladd": 3}.get(name, 2 if operator.function.__code__.co_argcount > 1 else 1)
        exact = operator.ulp in (None, 0.5) and dtype.kind != "complex"
        same = Same.EVERYWHERE if exact else Same.WITH_FMA
        yield name, same, lambda f=FUNCTIONS[name], n=taken: f(*(x, y, z)[:n])
    for name, operator in EXTENDED.items():
        if not str(operator.kernel).startswith("extended:") or dtype not in operator.dtypes:
            continue
        function = getattr(sz.array_api, name)
        taken = operator.function.__code__.co_argcount
        exact = operator.ulp == 0.5 and dtype.kind != "complex"
        same = Same.EVERYWHERE if exact else Same.WITH_FMA
        yield f"array_api.{name}", same, lambda f=function, n=taken: f(*(x, y)[:n])
    square = sz.reshape(x[: 141 * 141], (141, 141))
    for mode in ("SUM", "PROD", "MAX", "MIN"):
        for axis in (None, 0, 1):
            yield (
                f"reduce {mode} {axis}",
                Same.WITH_FMA,
                lambda m=mode, a=axis: sz.reduce(square, m, a),
            )
    yield "cumsum", Same.WITH_FMA, lambda: sz.cumsum(square)
    by_blas = dtype.kind in ("float", "complex")
    product = Same.NOWHERE if by_blas else Same.EVERYWHERE
    yield "matmul", product, lambda: sz.matmul(square, square)
    yield "argsort", Same.EVERYWHERE, lambda: sz.argsort(x)
    for other in map(sz.dtype, DTYPES.split()):
        yield f"cast {other.name}", Same.EVERYWHERE, lambda d=other: sz.cast(x, d)


def operator_of(name: str) -> str:
    """Return whose result it is.

    >>> operator_of("array_api.log float64"), operator_of("reduce SUM 0 int8")
    ('log', 'reduce')
    """
    return name.split()[0].removeprefix("array_api.")


def is_of(ways: set[str], name: str) -> bool:
    """Return whether a result is among what is computed otherwise.

    >>> is_of({"log"}, "array_api.log float64"), is_of({"atan complex128"}, "atan float64")
    (True, False)
    """
    return not ways.isdisjoint((operator_of(name), name.removeprefix("array_api.")))


def results(dtypes: list[str]) -> Iterator[tuple[str, Same, str]]:
    """Yield every result, as a digest or as the error it is."""
    for dtype in map(sz.dtype, dtypes):
        for name, same, call in calls(dtype):
            try:
                said = digest(call())
            except sz.StatusError as refused:
                said = refused.status.name
            yield f"{name} {dtype.name}", same, said


def main() -> None:
    """Write the results, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="what another build or machine wrote")
    parser.add_argument("--differing", type=Path, help="where to write the operators that differ")
    parser.add_argument("--dtype", nargs="*", default=DTYPES.split(), help="only these")
    chosen = parser.parse_args()
    if chosen.against is None:
        print(f"fma: {has_fma()}")
        print(f"own ways: {own_ways()}")
        for name, _, said in results(chosen.dtype):
            print(f"{name}: {said}")
        return
    old = dict(line.rsplit(": ", 1) for line in chosen.against.read_text("utf-8").splitlines())
    fma = has_fma() and old.get("fma") == "True"
    found = list(results(chosen.dtype))
    differ = [(name, same) for name, same, said in found if old.get(name) != said]
    wrong = {Same.EVERYWHERE, Same.WITH_FMA} if fma else {Same.EVERYWHERE}
    ways = {own_ways(), old.get("own ways", "none")}
    loose = {name for way in ways if len(ways) > 1 for name in OWN_WAYS.get(way, ())}
    differ = [
        (name, Same.NOWHERE if same is Same.WITH_FMA and is_of(loose, name) else same)
        for name, same in differ
    ]
    bad = sum(same in wrong for _, same in differ)
    named = f"{len(found)} results, level {_core.level()} of {os.uname().machine}"
    print(f"{named}: {len(differ)} differ, {bad} of them must not")
    for name, same in differ:
        print(f"  {name}{f' ({same.value})' if same in wrong else ''}")
    if chosen.differing:
        names = {name.split()[0] for name, _ in differ} & set(REGISTRY)
        chosen.differing.write_text(",".join(sorted(names)))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
