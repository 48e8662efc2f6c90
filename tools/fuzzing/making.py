"""A random call, made of nothing but a seed and a number: the same in every run.

It begins with a call of the kit that succeeds, and changes it: sizes, all alike so that shapes
still go together, or each for itself; dtypes, layouts, values; attributes; arguments that are left
out, or are something else altogether.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from typing import Any

import suanzi as sz
from suanzi.conformance.cases.statuses import VALID
from suanzi.conformance.model.data import special, tensor
from suanzi.conformance.subjects.wire import ITEMSIZE, Data
from suanzi.registry import REGISTRY

FORMS = (
    "python", "python", "python", "interface", "symbol", "in place", "sparse", "quantised",
)  # fmt: skip
NAMES = tuple(sorted(REGISTRY.keys() - {"destroy"}))  # which leaves nothing to call twice
RULES = tuple(sorted(sz.rule_sets()))
LAYOUTS = ("dense", "dense", "columns", "gaps", "reversed", "offset", "repeated")
SYMBOLS = {
    "add": "add", "sub": "sub", "mul": "mul", "true_divide": "truediv", "floordiv": "floordiv",
    "mod": "mod", "pow": "pow", "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor",
    "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "matmul": "matmul", "abs": "abs", "bitwise_not": "invert",
    "bitwise_left_shift": "lshift", "bitwise_right_shift": "rshift",
}  # fmt: skip
IN_PLACE = {
    op: f"i{name.rstrip('_')}"
    for op, name in SYMBOLS.items()
    if hasattr(operator, f"i{name.rstrip('_')}")
}
_MOST = 1 << 18
"""Elements of a tensor."""
_SHAPES = frozenset("shape dims size input_shape split_sizes".split())
_WORDS = (
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


_WALKS = frozenset({"reduce", "norm", "nonzero", "masked_select"})


def long_over(op: str) -> bool:
    """Say whether an operator looks at every element and keeps none: of 2**40 it takes its time."""
    return op in _WALKS


@dataclass(frozen=True)
class Code:
    """An argument that is written, not made of data."""

    text: str


@dataclass(frozen=True)
class Call:
    """A call of an operator."""

    op: str
    form: str
    rules: str
    arguments: Mapping[str, Any]
    domain_errors: bool = False
    check: str = ""
    """With what it is compared besides its row-major copies."""
    seed: int = field(default=0, compare=False)


def call_of(seed: int, index: int, names: tuple[str, ...] = NAMES) -> Call:
    """Return the call of a number.

    >>> call_of(1, 2) == call_of(1, 2)
    True
    """
    random = Random(f"{seed}/{index}")
    op = random.choice(names)
    form = form_of(random, op)
    arguments = arguments_of(random, op, form)
    return Call(
        op, form, random.choice(RULES), arguments, random.random() < 0.2,
        random.choice(("threads", "level", "blocks", "numpy", "numpy", "interface")),
        random.getrandbits(32),
    )  # fmt: skip


def form_of(random: Random, op: str) -> str:
    """Return a form that an operator has."""
    form = random.choice(FORMS)
    known = {"symbol": SYMBOLS, "in place": IN_PLACE}.get(form)
    return form if known is None or op in known else "python"


@cache
def parameters_of(op: str) -> dict[str, inspect.Parameter]:
    """Return the parameters of an operator in Python's form."""
    return dict(inspect.signature(REGISTRY[op].function).parameters)


@cache
def _valid(op: str) -> dict[str, Any]:
    known = parameters_of(op)
    return {name: value for name, value in VALID[op]().items() if name in known}


def arguments_of(random: Random, op: str, form: str) -> dict[str, Any]:
    """Return arguments of a call: those of a call that succeeds, changed."""
    arguments = dict(_valid(op))
    first = next((x.dtype for x in _tensors(arguments.values())), None)
    dtypes = [d.name for d in REGISTRY[op].dtypes if d.name in ITEMSIZE]
    wild = random.random() < 0.15
    dtype = random.choice(list(ITEMSIZE) if wild or not dtypes else dtypes)
    sizes = _sizes(random, arguments.values())
    fill = random.choice(("small", "small", "bits", "special", "unit"))
    keep_layout = random.random() < 0.3

    def one(name: str, value: Any) -> Any:
        if isinstance(value, Data):
            mine = dtype if value.dtype == first or random.random() < 0.1 else value.dtype
            if random.random() < 0.08:
                mine = random.choice(list(ITEMSIZE))
            shape = _shape(random, value.shape, sizes)
            layout = "dense" if keep_layout else random.choice(LAYOUTS)
            return filled(random, mine, shape, fill, layout, value, form)
        if isinstance(value, list) and any(isinstance(x, Data) for x in value):
            found = [one(name, x) for x in value]
            return found * random.choice((1, 1, 1, 2)) if random.random() < 0.9 else found[:1]
        if isinstance(value, tuple) and name in _SHAPES and random.random() < 0.7:
            return tuple(sizes.get(n, n) for n in value)
        return _attribute(random, value) if random.random() < 0.4 else value

    arguments = {name: one(name, value) for name, value in arguments.items()}
    for name, parameter in parameters_of(op).items():
        if name not in arguments and random.random() < 0.2:
            arguments[name] = _guess(random, op, str(parameter.annotation), dtype)
        elif name in arguments and random.random() < 0.03:
            arguments[name] = _odd(random, op)
        elif parameter.default is not parameter.empty and random.random() < 0.1:
            arguments.pop(name, None)
    return arguments


def _tensors(values: Any) -> list[Data]:
    found = []
    for value in values:
        if isinstance(value, Data):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += _tensors(value)
    return found


def _sizes(random: Random, values: Any) -> dict[int, int]:
    """Return new sizes for the sizes that are there, so that what was equal stays equal."""
    there = {n for x in _tensors(values) for n in x.shape if n > 1}
    way = random.random()
    if way < 0.3:
        return {}
    if way < 0.32 and there:
        large = random.choice((1000, 4095, 4097, 20_000, 70_001))
        return {random.choice(sorted(there)): large}
    return {n: random.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17, 33)) for n in there}


def _shape(random: Random, shape: tuple[int, ...], sizes: Mapping[int, int]) -> tuple[int, ...]:
    made = [sizes.get(n, n) for n in shape]
    if random.random() < 0.1:
        made = [1 if random.random() < 0.5 else n for n in made]
    if random.random() < 0.07:
        made = [random.choice((1, 2, 3)), *made]
    if random.random() < 0.04:
        made = made[1:]
    if random.random() < 0.03:
        made = [random.randrange(4) for _ in range(random.randrange(6))]
    if math.prod(made) > _MOST:
        made = [min(n, 33) for n in made]
    return tuple(made)


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
        data = Data(dtype, shape, _drawn(random, _small(dtype), count))
    elif fill == "bits" or dtype == "char":
        width = 8 * ITEMSIZE[dtype]
        raw = _repeated(random.randbytes(min(count, _DRAWN) * width // 8), count * width // 8)
        if sz.dtype(dtype).bits < 8 or dtype == "bool":
            raw = bytes(x % 2 for x in raw)
        data = Data(dtype, shape, raw)
    elif fill == "special":
        data = Data(dtype, shape, _drawn(random, _special(dtype), count))
    elif fill == "unit" and sz.dtype(dtype).kind in ("float", "complex"):
        data = _by_numpy(random, dtype, shape)
    else:
        data = Data(dtype, shape, _drawn(random, _small(dtype), count))
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
def _small(dtype: str) -> tuple[bytes, ...]:
    """Return the numbers 0 to 4 in a dtype, as bytes."""
    if dtype == "char":  # to which nothing is cast
        return tuple(bytes([n]) for n in range(5))
    most = 2 if dtype in ("bool", "uint1") else 5
    return tuple(
        bytes(sz.cast(sz.tensor([n]), sz.dtype(dtype)).storage.memory)[: ITEMSIZE[dtype]]
        for n in range(most)
    )


def _drawn(random: Random, some: tuple[bytes, ...], count: int) -> bytes:
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


def _attribute(random: Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return random.choice((-3, -2, -1, 0, 1, 2, 3, 5, value, value))
    if isinstance(value, float):
        return random.choice((0.0, -1.5, 0.5, 2.0, 1e30, math.inf, math.nan, -0.0, value))
    if isinstance(value, str):
        return random.choice([*_WORDS, *ITEMSIZE, value, value])
    if isinstance(value, tuple | list) and not _tensors([value]):
        way = random.random()
        if way < 0.4:
            return tuple(random.choice((-2, -1, 0, 1, 2, 3, 4)) for _ in value)
        if way < 0.6:
            return (*value, random.randrange(3))
        if way < 0.8:
            return tuple(value)[:-1]
        return tuple(random.sample(list(value), len(value)))
    return value


def _odd(random: Random, op: str) -> Code:
    text = random.choice(ODD)
    return Code("None" if long_over(op) and "expand" in text else text)


def _guess(random: Random, op: str, annotation: str, dtype: str) -> Any:
    choices: list[Any] = [_odd(random, op)]
    if "int" in annotation:
        choices += [random.randrange(-2, 4), random.randrange(0, 2), random.randrange(0, 2)]
    if "Sequence" in annotation or "tuple" in annotation:
        choices += [tuple(random.randrange(-1, 3) for _ in range(random.randrange(3)))] * 3
    if "bool" in annotation:
        choices += [True, False, True, False]
    if "str" in annotation:
        choices += [random.choice(_WORDS)] * 2
    if "DType" in annotation:
        choices += [random.choice(list(ITEMSIZE))] * 3
    if "float" in annotation:
        choices += [random.choice((0.0, 0.5, -1.0, 2.0))] * 2
    if "Tensor" in annotation:
        count = random.randrange(4)
        choices.append(Data(dtype, (count,), _drawn(random, _small(dtype), count)))
    return random.choice(choices)
