"""Makes a call and judges the outcome: an answer, a status, or a finding.

An answer must be the same from row-major copies of its operands, with another number of threads, on
another instruction-set level, from a part of the operands, in the standard's form, and by NumPy.
"""

from __future__ import annotations

import copy
import inspect
import operator
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

import suanzi as sz
from fuzzing.making import IN_PLACE, SYMBOLS, Call, parameters_of
from fuzzing.namespaces import ARRAY_API, CORE, apart, functions
from fuzzing.oracle import disagreement
from fuzzing.values import Code
from suanzi import _core
from suanzi.conformance.subjects.suanzi_adapter import create, function_of
from suanzi.conformance.subjects.wire import Data
from suanzi.faces import interface
from suanzi.promote.registry import REGISTRY
from suanzi.standard import record

RANDOM = {"rand_uniform", "rand_normal", "rand_bernoulli", "multinomial", "randperm"}
RANDOM |= {"nn:dropout", "nn:dropout_bwd", "nn:gumbel_softmax", "nn:gumbel_softmax_bwd"}
LAPACK = {"lu", "cholesky", "qr", "svd", "solve", "lstsq", "inverse", "eig"}
"""Which round as the layout of an operand lets them, to memory that is not ours."""
PRODUCTS = {n for n, op in REGISTRY.items() if "_products" in op.function.__module__}
"""Which add up as a matrix lies: the order of floating-point sums depends on it."""
SIDE_BY_SIDE = {"nn:softmax", "nn:log_softmax"}
"""Which add up rows that lie side by side element by element, as their page says."""
MADE_OF_VALUES = {"empty", "create_tensor", "wrap_tensor", "create_quant_tensor"}
"""Made of values, or of none, and then not set."""
OTHERS = (
    "core.", "xp.empty", "xp.linalg.", "xp.fft.", "xp.matmul", "xp.tensordot", "xp.vecdot",
    "xp.einsum",
)  # fmt: skip
"""The same of what is no operator."""
_COMPARED = 1 << 22
"""Elements of which they are: a view that repeats them may have any number."""
LAYOUT_MATTERS = {"is_contiguous", "wrap_tensor"}


@dataclass(frozen=True)
class Finding:
    """What must not be."""

    kind: str
    said: str


class Found(Exception):
    """Carries a finding out of a comparison."""

    def __init__(self, kind: str, said: str) -> None:
        super().__init__(said)
        self.finding = Finding(kind, said[:400])


def verdict(call: Call) -> str | Finding:
    """Return "gives", the name of a status, or a finding."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if call.device == "c":
                from fuzzing import c_library

                return c_library.verdict(call)
            if call.device:
                from fuzzing import devices

                return devices.verdict(call)
            return _verdict(call)
        except Found as found:
            return found.finding
        except sz.AllocFailed:  # what it is compared with has no room, or NumPy no such shape
            return "ALLOC_FAILED"


def _verdict(call: Call) -> str:
    arguments = {name: made(value) for name, value in call.arguments.items()}
    before = {n: _raw(x) for n, x in arguments.items() if isinstance(x, sz.Tensor)}
    how, found = outcome(call, arguments)
    for name, raw in before.items():
        if _raw(arguments[name]) != raw:
            raise Found("changed", f"{name} has other elements after the call")
    if call.form in ("symbol", "in place", CORE):
        return how  # Python may have an answer of its own, to another question
    whole = all(_is_plain(value) for value in call.arguments.values())
    if not whole:  # an iterator, say, is used up
        return how
    dense = {name: _made_dense(value) for name, value in call.arguments.items()}
    if call.op not in LAYOUT_MATTERS:
        compare("layout", call, (how, found), outcome(call, dense), exact=layout_is_exact)
    if call.op in RANDOM:
        return how
    checks = {"threads": _threads, "level": _level, "blocks": _blocks, "interface": _form}
    if call.check in checks:
        checks[call.check](call, arguments, (how, found))
    elif call.check == "numpy" and how == "gives" and call.form == "python" and not _narrows(call):
        problem = disagreement(call.op, arguments, found)
        if problem:
            raise Found("numpy", problem)
    return how


def _narrows(call: Call) -> bool:
    """Say whether a rule set has no dtypes of 64 bits, and computes what has such in 32."""
    return call.rules == "jax_x32"


# ---- calls -------------------------------------------------------------------------------------


def made(value: Any) -> Any:
    """Return an argument for a call."""
    if isinstance(value, Data):
        return create(value)
    if isinstance(value, Code):
        return eval(value.text, {"sz": sz, "np": np})
    return [made(x) for x in value] if isinstance(value, list) else value


def _made_dense(value: Any) -> Any:
    if isinstance(value, Data):
        return create(replace(value, layout="dense"))
    return [_made_dense(x) for x in value] if isinstance(value, list) else value


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_plain(x) for x in value)
    return not isinstance(value, Code)


def outcome(call: Call, arguments: Mapping[str, Any]) -> tuple[str, Any]:
    """Return "gives" and the outputs, or the name of a status and the error."""
    chosen = sz.domain_errors(True) if call.domain_errors else nullcontext()
    with sz.promotion(call.rules), chosen:
        if call.form == "interface":
            known = standard_names(call.op)
            given = {name: value for name, value in arguments.items() if name in known}
            status, *outputs = interface_of(call.op)(**given)
            if status is not sz.Status.SUCCESS:
                outputs = [interface.last_error()]
            return _told(status, outputs, call)
        function, args, kwargs = _bound(call, arguments)
        try:
            return "gives", function(*args, **kwargs)
        except sz.StatusError as error:
            return _told(error.status, error, call)
        except Exception as error:
            if is_pythons(error, call.form, args):
                return "TypeError", str(error)
            raise Found("foreign", f"{type(error).__name__}: {error}") from error


def is_pythons(error: Exception, form: str, args: Iterable[Any]) -> bool:
    """Say whether Python or another library answers: no symbol for these, or no operand of ours."""
    if form == ARRAY_API:  # what DLPack says where it has no such type
        return isinstance(error, BufferError)
    if form == CORE:  # below what says statuses
        return isinstance(error, ValueError | TypeError | MemoryError | OverflowError)
    if form not in ("symbol", "in place"):
        return False
    ours = [isinstance(x, sz.Tensor | sz.SparseTensor) for x in args]
    if form == "in place" and not ours[0]:  # what a list or a dict does with what can be walked
        return True
    return not any(ours) or isinstance(error, TypeError | AttributeError)


def _told(status: sz.Status, said: Any, call: Call) -> tuple[str, Any]:
    if status is sz.Status.SUCCESS:
        return "gives", tuple(said) if len(said) > 1 else said[0] if said else None
    if status is sz.Status.INTERNAL_ERROR:
        raise Found("internal", f"{said}")
    # What an error says is looked up when it is read, and that costs more than most calls.
    if call.seed % 16 == 0 and not str(said[0] if isinstance(said, list) else said).strip():
        raise Found("silent", f"{status.name} without a word")
    return status.name, said


def interface_of(op: str) -> Callable[..., Any]:
    """Return an operator in the standard's form."""
    found: Callable[..., Any] = function_of(op)
    return found


def operator_of(op: str) -> Callable[..., Any]:
    """Return an operator in Python's form, ``nn:softmax`` as sz.nn.softmax."""
    found: Callable[..., Any] = operator.attrgetter(op.replace(":", "."))(sz)
    return found


@cache
def standard_names(op: str) -> frozenset[str]:
    """Return the parameters of the standard's form."""
    return frozenset(inspect.signature(interface_of(op)).parameters)


def bound(op: str, form: str) -> tuple[Callable[..., Any], list[str]]:
    """Return what is called, and which parameters by place: fast paths take no names."""
    if form == "interface":
        return interface_of(op), []
    if form in (ARRAY_API, CORE):
        function, known = functions()[op]
        return function, [n for n, p in known.items() if p.kind is not p.KEYWORD_ONLY]
    placed = [n for n, p in parameters_of(op).items() if p.kind is not p.KEYWORD_ONLY]
    if form == "symbol":
        return partial(_by_symbol, getattr(operator, SYMBOLS[op])), placed[:2]
    if form == "in place":
        return partial(_in_place, getattr(operator, IN_PLACE[op])), placed[:2]
    return operator_of(op), placed


def _bound(call: Call, arguments: Mapping[str, Any]) -> tuple[Any, list[Any], dict[str, Any]]:
    """Return the function, and arguments by place as far as they go."""
    function, placed = bound(call.op, call.form)
    rest, args = dict(arguments), []
    for name in placed:
        if name not in rest:
            break
        args.append(rest.pop(name))
    return function, args, {} if call.form in ("symbol", "in place") else rest


def _by_symbol(function: Callable[..., Any], *args: Any) -> Any:
    """Return what a symbol gives; of whole numbers alone it is Python's, and pow then endless."""
    return 0 if all(isinstance(x, int) for x in args) else function(*args)


def _in_place(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """Compute into a copy that lies as x does; where y is x, from the same memory, backwards."""
    if not isinstance(x, sz.Tensor):  # an array or a list, which changes itself, and is used again
        return _by_symbol(function, copy.copy(x), y)
    same = apart(x)
    return function(same, same[::-1] if y is x and x.ndim else y)


# ---- comparisons -------------------------------------------------------------------------------


def layout_is_exact(op: str, dtype: Any) -> bool:
    """Say whether an operator gives the same bits however its operands lie in memory."""
    if op in RANDOM | MADE_OF_VALUES | LAPACK or op.startswith(OTHERS):
        return False
    facts = record(op)
    sums = op in PRODUCTS | SIDE_BY_SIDE
    sums |= ":" in op and facts is not None and facts.form == "matrix"
    return not sums or dtype.kind not in ("float", "complex")


def _always(op: str, dtype: Any) -> bool:
    return op not in RANDOM | MADE_OF_VALUES and not op.startswith("xp.empty")


def compare(
    kind: str,
    call: Call,
    one: tuple[str, Any],
    other: tuple[str, Any],
    exact: Callable[[str, Any], bool] = _always,
) -> None:
    """Raise Found where two outcomes of a call differ."""
    if "ALLOC_FAILED" in (one[0], other[0]):  # the second answer finds less room than the first
        return
    if one[0] != other[0]:
        words = " | ".join(f"{how}: {str(what)[:150]}" for how, what in (one, other))
        raise Found(kind, words)
    if one[0] != "gives":
        return
    for a, b in zip(flat(one[1]), flat(other[1]), strict=True):
        if not isinstance(a, sz.Tensor):
            if a != b:
                raise Found(kind, f"{a!r} and {b!r}")
            continue
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            raise Found(kind, f"{a.dtype} {a.shape} and {b.dtype} {b.shape}")
        if a.size < _COMPARED and exact(call.op, a.dtype) and bits(a) != bits(b):
            raise Found(kind, f"other elements: {a!r:.150} and {b!r:.150}")


def flat(found: Any) -> list[Any]:
    """Return the parts of an answer, or of arguments, in one list."""
    if isinstance(found, sz.SparseTensor):
        return [found.to_dense()]
    if isinstance(found, list | tuple):
        return [one for part in found for one in flat(part)]
    return [found]


def bits(x: sz.Tensor) -> bytes:
    """Return the elements in row-major order; of NaN only that it is one."""
    if not x.size:  # in a shape for which NumPy may have no array
        return b""
    flat = _core.row_major_copy(x)
    if x.dtype.kind not in ("float", "complex"):
        return bytes(flat.storage.memory)[: x.size * x.dtype.itemsize]
    wide = {"float": sz.float64, "complex": sz.complex128}[x.dtype.kind]
    array = _core.cast(flat, wide, False).numpy().reshape(-1).view(np.float64).copy()
    array[np.isnan(array)] = np.nan
    return array.tobytes()


def _raw(x: sz.Tensor) -> bytes:
    try:
        return bits(x) if x.size < 1 << 20 else b""
    except sz.UninitializedObject:
        return b"destroyed"


def _threads(call: Call, arguments: Mapping[str, Any], one: tuple[str, Any]) -> None:
    before = sz.get_num_threads()
    try:
        sz.set_num_threads(1 if before != 1 else 3)
        compare("threads", call, one, outcome(call, arguments))
    finally:
        sz.set_num_threads(before)


def _level(call: Call, arguments: Mapping[str, Any], one: tuple[str, Any]) -> None:
    op, best = REGISTRY.get(call.op), _core.level()
    exact = op is not None and op.kernel is not None and op.ulp in (None, 0.5)
    try:
        for level in _core.levels():
            if level != best:
                _core.use_level(level)
                other = outcome(call, arguments)
                compare("level", call, one, other, exact=lambda _op, _dtype: exact)
    finally:
        _core.use_level(best)


def _blocks(call: Call, arguments: Mapping[str, Any], one: tuple[str, Any]) -> None:
    """Compare with what the operator makes of the second part of its operands."""
    op = REGISTRY.get(call.op)
    if (
        call.form == "sparse"
        or op is None
        or op.kernel is None
        or one[0] != "gives"
        or not isinstance(one[1], sz.Tensor)
    ):
        return
    tensors = [x for x in arguments.values() if isinstance(x, sz.Tensor)]
    shape = one[1].shape
    if not shape or shape[0] < 2 or any(x.shape != shape for x in tensors):
        return
    start = shape[0] // 3 + 1
    some = {n: x[start:] if isinstance(x, sz.Tensor) else x for n, x in arguments.items()}
    # A part may have no zero divisor, but then the whole would have given no answer.
    compare("blocks", call, ("gives", one[1][start:]), outcome(call, some))


def _form(call: Call, arguments: Mapping[str, Any], one: tuple[str, Any]) -> None:
    """Compare the two forms; the standard's has domain errors unless somebody chose."""
    if call.form not in ("python", "interface"):
        return
    other = replace(call, form="interface" if call.form == "python" else "python")
    chosen = sz.domain_errors(call.domain_errors)
    if not standard_names(call.op).issuperset(arguments):
        return
    with chosen:
        mine, theirs = outcome(call, arguments), outcome(other, arguments)
    compare("form", call, mine, theirs)
