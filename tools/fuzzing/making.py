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
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

import suanzi as sz
from fuzzing.namespaces import arguments_beyond, form_beyond, functions
from fuzzing.values import LAYOUTS, WORDS, filled, guess, odd
from suanzi.conformance.cases.catalogues import valid
from suanzi.conformance.cases.statuses import VALID
from suanzi.conformance.subjects.wire import ITEMSIZE, Data
from suanzi.promote.registry import REGISTRY
from suanzi.standard.catalogues import usable

FORMS = (
    "python", "python", "python", "interface", "symbol", "in place", "sparse", "quantised",
)  # fmt: skip
for _catalogue in usable():
    _catalogue.load()  # which declares its operators
OPERATORS = tuple(sorted(REGISTRY.keys() - {"destroy"}))  # which leaves nothing to call twice
NAMES = (*OPERATORS, *functions())
RULES = tuple(sorted(sz.rule_sets()))
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
_WORK = 1 << 27
"""The product of the elements of all tensors, which a convolution may have to compute: a call is
made again for each layout and level, and subnormal numbers take three times as long as others.
"""
_SHAPES = frozenset("shape dims size input_shape split_sizes".split())


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
    device: str = ""
    """Where it is made, too, to be compared with the CPU's answer."""


def call_of(seed: int, index: int, names: tuple[str, ...] = NAMES, device: str = "") -> Call:
    """Return the call of a number; on a device, in a form that has tensors there.

    >>> call_of(1, 2) == call_of(1, 2)
    True
    """
    random = Random(f"{seed}/{index}")
    op = random.choice(names)
    form = form_of(random, op)
    if device and form in ("in place", "sparse", "quantised"):
        form = "python"
    arguments = arguments_of(random, op, form)
    return Call(
        op, form, random.choice(RULES), arguments, random.random() < 0.2,
        random.choice(("threads", "level", "blocks", "numpy", "numpy", "interface")),
        random.getrandbits(32), device,
    )  # fmt: skip


def form_of(random: Random, op: str) -> str:
    """Return a form that an operator has."""
    if beyond := form_beyond(op):
        return beyond
    form = random.choice(FORMS)
    known = {"symbol": SYMBOLS, "in place": IN_PLACE}.get(form)
    return form if known is None or op in known else "python"


@cache
def parameters_of(op: str) -> dict[str, inspect.Parameter]:
    """Return the parameters of an operator in Python's form."""
    if form_beyond(op):
        return functions()[op][1]
    return dict(inspect.signature(REGISTRY[op].function).parameters)


@cache
def _valid(op: str) -> dict[str, Any]:
    known = parameters_of(op)
    given = VALID[op]() if op in VALID else valid(op)
    return {name: value for name, value in given.items() if name in known}


def arguments_of(random: Random, op: str, form: str) -> dict[str, Any]:
    """Return arguments of a call: those of a call that succeeds, changed."""
    if form_beyond(op):
        return arguments_beyond(random, op)
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
    if math.prod(max(math.prod(x.shape), 1) for x in _tensors(arguments.values())) > _WORK:
        sizes = {n: min(size, 7) for n, size in sizes.items()}
        arguments = {name: one(name, value) for name, value in _valid(op).items()}
    for name, parameter in parameters_of(op).items():
        if name not in arguments and random.random() < 0.2:
            arguments[name] = guess(random, str(parameter.annotation), dtype)
        elif name in arguments and random.random() < 0.03:
            arguments[name] = odd(random)
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


def _attribute(random: Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return random.choice((-3, -2, -1, 0, 1, 2, 3, 5, value, value))
    if isinstance(value, float):
        return random.choice((0.0, -1.5, 0.5, 2.0, 1e30, math.inf, math.nan, -0.0, value))
    if isinstance(value, str):
        return random.choice([*WORDS, *ITEMSIZE, value, value])
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
