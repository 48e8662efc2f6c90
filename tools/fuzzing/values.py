"""Values for calls: tensors of every dtype and layout, and what is no operand at all."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

import suanzi as sz
from suanzi.conformance.model.data import special, tensor
from suanzi.conformance.subjects.wire import ITEMSIZE, Data

LAYOUTS = ("dense", "dense", "columns", "gaps", "reversed", "offset", "repeated")
WORDS = (
    "SUM PROD MAX MIN MEAN BAND BOR LAND LOR LXOR BXOR TONEAREST UPWARD DOWNWARD TOWARDZERO U L R "
    "reduced complete r nearest linear bilinear bicubic trilinear area constant reflect edge "
    "symmetric forward backward none fro nuc inf"
).split()
ODD = (
    "None", "object()", "...", "'text'", "b'xy'", "[]", "()", "{}", "range(3)", "float('nan')",
    "float('inf')", "-float('inf')", "1e400", "2**31", "2**63", "-2**63 - 1", "10**400", "1j",
    "True", "sz.float32", "'float16'", "np.float64(1.5)", "np.array([1, None])", "np.array('t')",
    "np.zeros(3, '>i2')", "np.array(7)", "np.bool_(True)", "sz.Status.SUCCESS", "NotImplemented",
    "[[1], [2, 3]]", "[sz.tensor([1.0]), None]", "sz.tensor('text')", "iter([1, 2])",
    "sz.empty((0, 2**40))", "sz.expand(sz.tensor([1.0]), (2**40,))", "sz.empty((2**40, 0, 3))",
)  # fmt: skip


@dataclass(frozen=True)
class Code:
    """An argument that is written, not made of data."""

    text: str


def filled(
    random: Random, dtype: str, shape: tuple[int, ...], fill: str, layout: str, old: Data, form: str
) -> Data:
    """Return a tensor of a dtype and shape; where the old one had indices, so has it."""
    count = math.prod(shape)
    if dtype.startswith("QT_") or (form == "quantised" and dtype in ("float32", "int8")):
        dtype = dtype if dtype.startswith("QT_") else random.choice(_QUANTISED)
        scale = random.choice((0.5, 1.0, 2.0**-20, 3e38, 1e-38))
        point = random.choice((0, 1, 5)) if "ASYM" in dtype else 0
        raw = random.randbytes(count * ITEMSIZE[dtype])
        each = shape[0] if "_CH_" in dtype and shape else 1
        return Data(dtype, shape, raw, layout, (scale,) * max(each, 1), point)
    if old.dtype == "int64" and dtype == "int64":  # indices
        data = Data(dtype, shape, drawn(random, small(dtype), count))
    elif fill == "bits" or dtype == "char":
        width = 8 * ITEMSIZE[dtype]
        raw = _repeated(random.randbytes(min(count, _DRAWN) * width // 8), count * width // 8)
        if sz.dtype(dtype).bits < 8 or dtype == "bool":
            raw = bytes(x % 2 for x in raw)
        data = Data(dtype, shape, raw)
    elif fill == "special":
        data = Data(dtype, shape, drawn(random, _special(dtype), count))
    elif fill == "unit" and sz.dtype(dtype).kind in ("float", "complex"):
        data = _by_numpy(random, dtype, shape)
    else:
        data = Data(dtype, shape, drawn(random, small(dtype), count))
    sparse = "COO" if form == "sparse" and random.random() < 0.7 and layout == "dense" else None
    return replace(data, layout=layout, sparse=sparse)


_QUANTISED = tuple(name for name in ITEMSIZE if name.startswith("QT_"))


_DRAWN = 1009
"""How many elements are drawn; they are repeated where there are more."""


@cache
def _special(dtype: str) -> tuple[bytes, ...]:
    """Return NaN, infinities, extremes and the like, as bytes."""
    item = ITEMSIZE[dtype]
    raw = tensor(dtype, list(special(dtype))).raw
    return tuple(raw[i : i + item] for i in range(0, len(raw), item))


@cache
def small(dtype: str) -> tuple[bytes, ...]:
    """Return the numbers 0 to 4 in a dtype, as bytes."""
    if dtype == "char":  # to which nothing is cast
        return tuple(bytes([n]) for n in range(5))
    most = 2 if dtype in ("bool", "uint1") else 5
    return tuple(
        bytes(sz.cast(sz.tensor([n]), sz.dtype(dtype)).storage.memory)[: ITEMSIZE[dtype]]
        for n in range(most)
    )


def drawn(random: Random, some: tuple[bytes, ...], count: int) -> bytes:
    """Return elements drawn of some."""
    if not count:
        return b""
    return _repeated(b"".join(random.choices(some, k=min(count, _DRAWN))), count * len(some[0]))


def _repeated(raw: bytes, length: int) -> bytes:
    return raw if len(raw) == length else (raw * (length // len(raw) + 1))[:length]


def _by_numpy(random: Random, dtype: str, shape: tuple[int, ...]) -> Data:
    """Return numbers from -2 to 2."""
    import numpy as np

    count = math.prod(shape)
    rng = np.random.default_rng(random.getrandbits(64))
    whole = rng.uniform(-2, 2, count)
    if dtype.startswith("complex"):
        whole = whole + 1j * rng.uniform(-2, 2, count)
    cast = sz.cast(sz.tensor(whole.reshape(-1)), sz.dtype(dtype))
    return Data(dtype, shape, bytes(cast.storage.memory)[: count * ITEMSIZE[dtype]])


def odd(random: Random) -> Code:
    """Return something that is no operand."""
    return Code(random.choice(ODD))


def guess(random: Random, annotation: str, dtype: str) -> Any:
    """Return an argument by its annotation."""
    choices: list[Any] = [odd(random)]
    if "int" in annotation:
        choices += [random.randrange(-2, 4), random.randrange(0, 2), random.randrange(0, 2)]
    if "Sequence" in annotation or "tuple" in annotation:
        choices += [tuple(random.randrange(-1, 3) for _ in range(random.randrange(3)))] * 3
    if "bool" in annotation:
        choices += [True, False, True, False]
    if "str" in annotation:
        choices += [random.choice(WORDS)] * 2
    if "DType" in annotation:
        choices += [random.choice(list(ITEMSIZE))] * 3
    if "float" in annotation:
        choices += [random.choice((0.0, 0.5, -1.0, 2.0))] * 2
    if "Tensor" in annotation:
        count = random.randrange(4)
        choices.append(Data(dtype, (count,), drawn(random, small(dtype), count)))
    return random.choice(choices)
