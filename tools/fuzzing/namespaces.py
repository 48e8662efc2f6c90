"""Functions that are no operators: the array API's, and those by which blocks are computed.

Their arguments are guessed, by name and annotation. What a cluster calls for a part of a tensor are
the core's own functions, since a worker gets its tasks from whoever has the scheduler. They write
into an operand, and here into a copy of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache, wraps
from random import Random
from types import ModuleType
from typing import Any

import suanzi as sz
from fuzzing.values import LAYOUTS, Code, filled, odd
from suanzi import _core
from suanzi.conformance.subjects.wire import ITEMSIZE, Data
from suanzi.faces import array_api as xp

ARRAY_API, CORE = "array api", "core"
_SHAPES: tuple[tuple[int, ...], ...] = (
    (), (0,), (1,), (3,), (17,), (2, 3), (3, 3), (3, 3), (3, 0), (0, 3), (2, 3, 3), (4, 4), (2, 2),
    (1, 2, 1, 3, 2), (33,), (5, 4), (9, 9), (2, 1), (2, 2, 2),
)  # fmt: skip
_LARGE = ((1000,), (4097,), (65, 63), (70_001,), (3, 4095))
_TENSORS = frozenset("x x1 x2 condition obj out a b partials tensor chances rates".split())
_WORDS = (
    "reduced", "complete", "left", "right", "ij", "xy", "ortho", "forward", "backward", "fro",
    "nuc", "real", "numeric", "integral", "signed integer", "i,j->ij", "ij,jk", "ii", "ii->i",
    "...i->...", "ij,jk->ki", "i,i", "ij->ji", "i...,...i",
)  # fmt: skip
_NUMBERS = (0, 1, 2, -1, -2, 3, 5, 64, 1000, -3, 2**62)
_REALS = (0.0, 1.0, -1.5, 2, 0.5, float("nan"), float("inf"), 1j, -0.0, 1e300, True)
_INTO = {
    "reduce_partly": "out", "combine_partly": "a", "finish_partly": "out", "random_uniform":
    "tensor", "random_integers": "tensor", "random_normal": "tensor", "random_bernoulli": "tensor",
    "random_rings": "tensor",
}  # fmt: skip
"""The core's functions for blocks, and what each writes into."""


def apart(x: Any) -> Any:
    """Return a copy of a tensor that lies as it does; anything else as it is."""
    if not isinstance(x, sz.Tensor) or len(x.storage.memory) > 1 << 22:
        return x
    base = _core.empty((len(x.storage.memory) // x.dtype.itemsize,), x.dtype)
    base.storage.memory[:] = x.storage.memory[: len(base.storage.memory)]
    return _core.view(base, x.offset, x.shape, x.strides)


def _spread(function: Callable[..., Any], signature: inspect.Signature) -> Callable[..., Any]:
    """Return a function that takes its many operands as one list."""
    names = list(signature.parameters)
    at = next(i for i, n in enumerate(names) if signature.parameters[n].kind.name.startswith("VAR"))

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        many = args[at] if len(args) > at else kwargs.pop(names[at], ())
        return function(*args[:at], *(many if isinstance(many, list | tuple) else [many]), **kwargs)

    return called


def _into_a_copy(name: str) -> Callable[..., Any]:
    function, into = getattr(_core, name), _INTO[name]

    def called(**kwargs: Any) -> Any:
        return function(**{**kwargs, into: apart(kwargs[into])})

    return called


def _functions() -> Iterator[tuple[str, Callable[..., Any], dict[str, inspect.Parameter]]]:
    modules: dict[str, ModuleType] = {"xp": xp, "xp.linalg": xp.linalg, "xp.fft": xp.fft}
    for prefix, module in modules.items():
        for name in module.__all__:
            function = getattr(module, name)
            if isinstance(function, type) or not callable(function) or name.startswith("__"):
                continue
            signature = inspect.signature(function)
            known = dict(signature.parameters)
            if any(p.kind is p.VAR_POSITIONAL for p in known.values()):
                function = _spread(function, signature)
            yield f"{prefix}.{name}", function, known


@cache
def functions() -> dict[str, tuple[Callable[..., Any], dict[str, inspect.Parameter]]]:
    """Return every function by its name here, and its parameters."""
    found = {name: (function, known) for name, function, known in _functions()}
    for name in _INTO:
        found[f"core.{name}"] = (_into_a_copy(name), _cores(name))
    return found


@cache
def _cores(name: str) -> dict[str, inspect.Parameter]:
    """Return the parameters of one of the core's functions, as its documentation has them."""
    said = str(getattr(_core, name).__nb_signature__[0][0])
    inside = said[said.index("(") + 1 : said.rindex(")")].replace("Sequence[int]", "Axes")
    found = {}
    for part in inside.split(", "):
        known, _, annotation = part.partition(": ")
        default = inspect.Parameter.empty if "=" not in annotation else 0
        found[known] = inspect.Parameter(
            known, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )
    return found


def form_beyond(name: str) -> str:
    """Return the form of a name that is no operator's, else nothing."""
    return ARRAY_API if name.startswith("xp.") else CORE if name.startswith("core.") else ""


def arguments_beyond(random: Random, name: str) -> dict[str, Any]:
    """Return arguments of a function that is no operator."""
    one = random.choice(_LARGE) if random.random() < 0.03 else random.choice(_SHAPES)
    shapes = _SHAPES if random.random() < 0.3 else (one,)
    dtype = random.choice(list(ITEMSIZE))
    fill = random.choice(("small", "small", "bits", "special", "unit"))
    arguments: dict[str, Any] = {}

    def operand() -> Data:
        mine = dtype if random.random() < 0.8 else random.choice(list(ITEMSIZE))
        old = Data(random.choice(("int64", "float32")), (), b"")
        shape = random.choice(shapes)
        if random.random() < 0.1:
            shape = (*shape[:-1], 1)
        return filled(random, mine, shape, fill, random.choice(LAYOUTS), old, "python")

    for known, parameter in functions()[name][1].items():
        needed = parameter.default is parameter.empty and parameter.kind is not (
            parameter.VAR_POSITIONAL
        )
        if not needed and random.random() < 0.4:
            continue
        if random.random() < 0.03:
            arguments[known] = odd(random)
            continue
        kinds = _kinds(known, str(parameter.annotation))
        if parameter.kind is parameter.VAR_POSITIONAL:
            kinds = ["shapes"] if known == "shapes" else ["operands"]
        arguments[known] = _argument(random, random.choice(kinds), operand)
    if form_beyond(name) == CORE and random.random() < 0.7:
        _fit(random, name.removeprefix("core."), arguments)
    return arguments


def _kinds(name: str, annotation: str) -> list[str]:
    found = []
    if name in _TENSORS:
        found += ["operand"] * 6
    elif "Tensor" in annotation:
        found += ["operands" if "list" in annotation else "operand"] * 4
    for words, kind in (
        (("int", "Axes"), "integer"), (("tuple[int", "Axes", "Sequence[int"), "integers"),
        (("bool",), "truth"), (("str",), "word"), (("DType",), "dtype"), (("Device",), "device"),
        (("float", "Any", "Number", "complex"), "real"), (("Sequence[Sequence",), "pairs"),
    ):  # fmt: skip
        if any(word in annotation for word in words) and name not in _TENSORS:
            found.append(kind)
    return found or ["operand"]


def _argument(random: Random, kind: str, operand: Callable[[], Data]) -> Any:
    few = range(random.randrange(4))
    match kind:
        case "operand":
            return operand()
        case "operands":
            return [operand() for _ in few]
        case "integer":
            return random.choice(_NUMBERS)
        case "integers":
            return tuple(random.choice((0, 1, 2, -1, 3, -2)) for _ in few)
        case "shapes":
            return [tuple(random.choice((1, 2, 3, 0)) for _ in few) for _ in range(3)]
        case "pairs":
            return tuple(tuple(random.choice((0, 1, -1, 2)) for _ in few) for _ in range(2))
        case "truth":
            return random.random() < 0.5
        case "word":
            return random.choice(_WORDS)
        case "dtype":
            return random.choice(list(ITEMSIZE))
        case "device":
            return random.choice(("cpu", None, "cpu:0", "npu"))
    return random.choice(_REALS)


def _fit(random: Random, name: str, arguments: dict[str, Any]) -> None:
    """Make the bytes that are written into as many as are wanted, where they can be counted."""
    mode, norm = random.randrange(12), random.random() < 0.3
    mode %= 3 if norm else 12
    arguments |= {n: v for n, v in (("mode", mode), ("norm", norm)) if n in arguments}
    x = arguments.get("tensor")
    dtype = sz.dtype(arguments["dtype"]) if isinstance(arguments.get("dtype"), str) else None
    if name == "reduce_partly" and isinstance(x, Data):
        dtype = sz.dtype(x.dtype)
    if dtype is not None and "dtype" in arguments:
        arguments["dtype"] = Code(f"sz.dtype({dtype.name!r})")
    try:
        size = _core.partial_size(mode, norm, dtype) if dtype else 1
    except (ValueError, TypeError):
        return
    many = random.choice((0, 1, 3, 7))
    bytes_of = Data("uint8", (many * size,), random.randbytes(many * size))
    if name == "reduce_partly" and isinstance(x, Data):
        arguments["axes"] = tuple(range(len(x.shape)))
        arguments["out"] = Data("uint8", (size,), bytes(size))
        if x.shape and random.random() < 0.5:
            arguments["axes"] = tuple(range(1, len(x.shape)))
            arguments["out"] = Data("uint8", (x.shape[0] * size,), bytes(x.shape[0] * size))
    elif name == "combine_partly":
        arguments |= {"a": bytes_of, "b": bytes_of, "count": many}
    elif name == "finish_partly":
        made = ITEMSIZE[dtype.name] if dtype else 1
        arguments |= {"partials": bytes_of, "n": random.choice((1, 2, 1000, 2**40))}
        arguments["out"] = Data(dtype.name if dtype else "uint8", (many,), bytes(many * made))
    elif name.startswith("random"):
        arguments["first"] = random.choice((0, 1, 2, 3, 17, 2**31, 2**40, 2**62, 2**63 - 100))
        if isinstance(x, Data):
            arguments["tensor"] = Data(x.dtype, x.shape, x.raw)
        if name == "random_rings" and isinstance(x, Data):
            rates = Data("float64", (3,), bytes(24))
            arguments |= {"tensor": rates, "rates": rates}
