"""Two thousand calls made of a seed and a number, each in some microseconds.

A batch has a few operators, each in a form, and a few calls of each as the careful gait makes them.
Its own calls are mixtures of these: one of them with arguments of another, with an operand of the
pool (every dtype, layout and a few shapes, sparse and quantised, memory of others, views that
repeat one element for ever), or with something else altogether. What is drawn for a call is one
number, so that any of them can be made without the others.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import numpy as np

import suanzi as sz
from fuzzing.judging import LAPACK, bound, made, standard_names
from fuzzing.making import NAMES, RULES, Call, arguments_of, form_of, parameters_of
from fuzzing.values import LAYOUTS, ODD, Code, filled
from suanzi.conformance.subjects.wire import ITEMSIZE, Data

CALLS = 2048
"""How many calls a batch has."""
_FAMILIES = 8
_VARIANTS = 8
_LIBRARIES = LAPACK | {n for n in NAMES if n.startswith(("fft_", "xp.linalg.", "xp.fft."))}
"""Operators that other libraries compute, at ten times the cost: a fourth as often as others."""
_SHAPES: tuple[tuple[int, ...], ...] = (
    (), (0,), (1,), (3,), (17,), (2, 3), (3, 3), (3, 0), (2, 3, 3), (1, 2, 1, 3, 2), (1,) * 12,
)  # fmt: skip
_FOREIGN = (
    "np.arange(6.0).reshape(2, 3)", "np.arange(6, dtype='i2')[::-2]", "np.zeros((0, 3), 'c8')",
    "np.broadcast_to(np.float32(1), (2, 3))", "np.array([[True, False]] * 3)", "np.ones(3, 'f2')",
    "sz.from_dlpack(np.arange(6.0, dtype='f4').reshape(3, 2).T)", "np.ones((2, 3), '>f8')",
    "sz.from_dlpack(np.arange(9).reshape(3, 3))", "memoryview(b'abcdef')", "bytearray(8)",
    "sz.to_sparse(sz.tensor([[1.0, 0.0], [0.0, 2.0]]))", "sz.Device('cpu')", "'cpu'", "'npu:1'",
    "sz.to_sparse(sz.tensor([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]])).to_csr()", "sz.kCOO",
    "sz.to_sparse(sz.zeros((3, 0, 2), sz.int8))", "sz.tensor(1)", "sz.tensor(True)", "1.5", "-1",
    "sz.expand(sz.tensor([1.0], sz.bfloat16), (2**31, 2**31))", "[sz.tensor([1, 2])] * 3",
    "sz.expand(sz.tensor([1], sz.int8), (2**62,))", "sz.empty((2**62, 0), sz.complex128)",
    "sz.expand(sz.tensor([True]), (3, 2**40))", "sz.empty((0, 2**62), sz.bool)", "(2**62, 2**62)",
)  # fmt: skip

Pair = tuple[Any, Any]
"""An argument as it is given, and as it is written: Data, Code or itself."""


@dataclass(frozen=True)
class Variant:
    """Arguments of a call that may be changed."""

    names: tuple[str, ...]
    pairs: list[Pair]


@dataclass(frozen=True)
class Family:
    """An operator in a form, and calls of it."""

    op: str
    form: str
    function: Any
    positional: list[str]
    """The parameters that have a place."""
    variants: list[Variant]


def _exists(text: str) -> bool:
    try:
        made(Code(text))
    except AttributeError:
        return False
    return True


@cache
def pool() -> list[Pair]:
    """Return operands of every dtype, layout and kind, the same for every batch."""
    random = Random("pool")
    written: list[Any] = []
    for dtype in ITEMSIZE:
        for layout in dict.fromkeys(LAYOUTS):
            for shape in _SHAPES:
                fill = random.choice(("small", "special", "bits"))
                form = random.choice(("python", "python", "sparse"))
                old = Data(dtype, (), b"")
                written.append(filled(random, dtype, shape, fill, layout, old, form))
    return [(made(x), x) for x in written]


@cache
def oddities() -> list[Pair]:
    """Return what is no operand of ours."""
    written = [Code(text) for text in (*ODD, *_FOREIGN) if "iter(" not in text]
    return [(made(x), x) for x in written if _exists(x.text)]


class Batch:
    """The calls of a number."""

    def __init__(self, seed: int, index: int, names: tuple[str, ...]) -> None:
        random = Random(f"storm {seed}/{index}")
        self.rules = random.choice(RULES)
        self.domain_errors = random.random() < 0.2
        self.threads = random.choice((1, 1, 1, 2))
        self.families = [self._family(random, names) for _ in range(_FAMILIES)]
        self.draws: list[int] = [random.getrandbits(64) for _ in range(CALLS)]

    @staticmethod
    def _family(random: Random, names: tuple[str, ...]) -> Family:
        op = random.choice(names)
        if op in _LIBRARIES and random.random() < 0.75:
            op = random.choice(names)
        form = form_of(random, op)
        variants = []
        for _ in range(_VARIANTS):
            written = arguments_of(random, op, form)
            if form == "interface":
                known = standard_names(op)
                written = {n: x for n, x in written.items() if n in known}
            else:
                known = list(parameters_of(op))
                written = dict(sorted(written.items(), key=lambda item: known.index(item[0])))
            if form in ("symbol", "in place"):
                written = dict(list(written.items())[:2])
            pairs = [_pair(x) for x in written.values()]
            variants.append(Variant(tuple(written), pairs))
        function, positional = bound(op, form)
        return Family(op, form, function, positional, variants)

    def drawn(self, number: int) -> tuple[Family, tuple[str, ...], list[Pair]]:
        """Return the arguments of a call, given and written."""
        bits = self.draws[number]
        family = self.families[bits & 7]
        variant = family.variants[bits >> 3 & 7]
        way, bits = bits >> 6 & 15, bits >> 10
        pairs = variant.pairs
        if way < 3 or not pairs:
            return family, variant.names, pairs
        pairs = pairs.copy()
        many = len(pairs)
        for _ in range(1 + (way & 1)):
            place = (bits & 31) % many
            if way < 12:
                other = family.variants[bits >> 5 & 7]
                if place < len(other.pairs) and other.names[place] == variant.names[place]:
                    pairs[place] = other.pairs[place]
            elif way < 15:
                some = pool()
                pairs[place] = some[(bits >> 5 & 0xFFFF) % len(some)]
            else:
                some = oddities()
                pairs[place] = some[(bits >> 5 & 0xFFFF) % len(some)]
            bits >>= 21
        return family, variant.names, pairs

    def written(self, number: int) -> Call:
        """Return a call as the careful gait has it."""
        family, names, pairs = self.drawn(number)
        arguments = {name: pair[1] for name, pair in zip(names, pairs, strict=True)}
        return Call(family.op, family.form, self.rules, arguments, self.domain_errors)

    def operands(self) -> Iterator[Any]:
        """Yield what must be the same after the batch."""
        for family in self.families:
            for variant in family.variants:
                for given, _ in variant.pairs:
                    yield from given if isinstance(given, list) else [given]


def _pair(written: Any) -> Pair:
    """Return an argument and how it is written; what is used up is left out."""
    if isinstance(written, Code) and "iter(" in written.text:
        written = None
    return made(written), written


def memory_of(values: Iterator[Any]) -> list[memoryview]:
    """Return the memory of all tensors among values."""
    found = []
    for x in values:
        for part in (x.values, x.indices) if isinstance(x, sz.SparseTensor) else (x,):
            if isinstance(part, sz.Tensor):
                try:
                    found.append(part.storage.memory)
                except sz.UninitializedObject:
                    continue
            elif isinstance(part, np.ndarray) and part.dtype != object:
                found.append(memoryview(np.ascontiguousarray(part)).cast("B"))
    return found


def digest(memory: list[memoryview]) -> int:
    """Return a checksum of memory."""
    found = 0
    for part in memory:
        found = zlib.crc32(part, found)
    return found
