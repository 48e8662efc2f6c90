"""The cases that a kernel is judged by: the kit's, and sizes around the edges of tiles.

A case counts for a kernel if it can fail: zeros, an input, a constant row, the answer shifted,
transposed, cut off, a neighbour's row, and the answer in fewer digits are put to it first.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model.case import Case, Check, Either
from suanzi.conformance.model.expected import may_refuse
from suanzi.conformance.model.numbers import FORMATS, NARROW, PARTS
from suanzi.conformance.nn._calls import CALLS, Call, Operand
from suanzi.conformance.subjects.wire import Bytes, Data, Shaped
from suanzi.truth import definition, definitions
from suanzi.truth.bounds import Bound
from suanzi.truth.conversion import result_named
from suanzi.truth.tracked import arithmetic
from suanzi.validate.judge.bounds import Property, argument, bounds, by_definition
from suanzi.validate.judge.filling import FAR, filled, numbers_of, of_parts
from suanzi.validate.judge.given import EXPECTED, due_of, has_truth
from suanzi.validate.judge.standard_calls import CALLS as STANDARD_CALLS
from suanzi.validate.judge.standard_calls import DTYPE, MORE

if TYPE_CHECKING:
    from suanzi.validate.judge.arguments import Request

GROUPS = frozenset({"plain", "broadcast", "special", "random", "sizes", "empty"})
SIZES = (1, 7, 31, 33, 127, 129, 1023, 1025, 4097)
"""Lengths around vectors, warps and tiles."""
ROWS = 133
_LOWER = {"float64": np.float32, "float32": np.float16}
_MOST_OF_THE_KIT = 60
_MOST_ELEMENTS = 2**19
"""No call of other sizes has a larger operand: a kernel of five axes that all grow is one."""
_MOST_PRODUCTS = 2**23
"""Of elements of an image and a kernel, which need not all meet."""
_FEW = 20
"""An operator of the standard with fewer cases of the judge's own has those of the kit as well."""
_OF_COMPLEX = ("ordinary", "whole numbers", "many magnitudes", "constant")
"""Of complex numbers with an infinity or a NaN, nothing is required."""
_VARIANCES = ("nn:layer_norm", "nn:group_norm", "nn:instance_norm")
"""Operators whose mean of squares less the square of the mean has no digits far from 0."""

Array = NDArray[np.float64]
OWN_GRADIENTS: dict[str, tuple[str, ...]] = {}
"""The operands of registered operators that have a gradient, by key."""


@dataclass(frozen=True)
class Trial:
    """A call of a kernel, and what is expected of it, which is computed afterwards."""

    case: Case
    expect: Callable[[], list[Bound] | Property | None]


# ---- which ---------------------------------------------------------------------------------------


def trials(wanted: Request) -> Iterator[Trial]:
    """Give the trials that a request asks for."""
    for key in (wanted.key, *([] if wanted.gradients is None else [f"{wanted.key}_bwd"])):
        yield from chosen(key, wanted.dtypes, wanted.shapes, wanted.accumulate, wanted.params)


def spread(every: Sequence[Trial]) -> list[Trial]:
    """Return trials in an order whose every beginning has some of each dtype, kind and size."""
    of: dict[tuple[str, str], list[Trial]] = {}
    for trial in every:
        of.setdefault((trial.case.op, trial.case.dtype), []).append(trial)
    found: list[Trial] = []
    # By the bits of an index, the last one first: halves, quarters, eighths of a list.
    rows = [sorted(range(len(x)), key=lambda i: f"{i:032b}"[::-1]) for x in of.values()]
    for turn in itertools.zip_longest(*rows):
        pairs = zip(turn, of.values(), strict=True)
        found += [some[i] for i, some in pairs if i is not None]
    return found


def calls_of(op: str) -> tuple[Sequence[Call], Sequence[str]] | None:
    """Return the calls of an operator and their data classes; None: the kit's cases are used."""
    return CALLS.get(op) or STANDARD_CALLS.get(op)


def chosen(
    op: str,
    dtypes: Sequence[str],
    shapes: Sequence[Any] | None,
    accumulate: str | None,
    params: Mapping[str, Any],
) -> Iterator[Trial]:
    """Give the trials of an operator by its key, by dtype, those of the kit first."""
    if (known := calls_of(op)) is None:
        for dtype in dtypes:
            yield from of_the_kit(op, dtype)
        return
    given, classes = known
    more_calls = sorted(MORE.get(op, ()), key=lambda call: call.group != "plain")
    typical = [call for call in more_calls if call.group == "plain"]
    given = [*typical, *given, *more_calls[len(typical) :]]
    calls = [
        replace(call, arguments={**call.arguments, **params})
        for call in given
        if all(call.arguments.get(name, x) == x for name, x in params.items())
    ]
    of_operands: dict[tuple[str, ...], Call] = {}
    for call in calls:
        if call.group == "plain":
            names = tuple(n for n, x in call.arguments.items() if isinstance(x, Operand))
            of_operands.setdefault(names, call)
    more = [one for call in of_operands.values() for one in _sizes_of(op, call, shapes)]
    for dtype in dtypes:
        pairs: list[tuple[Call, str]] = []
        for call in [*([] if shapes is not None else calls), *more]:
            if call.dtypes and dtype not in call.dtypes:
                continue
            of_sizes: Sequence[str] | None = None
            if call in more and shapes is None:
                of_sizes = ("ordinary", "whole numbers")
            if call.group == "empty":
                of_sizes = ("ordinary",)
            some = of_sizes or (*(call.classes or classes), *_more_classes(op, call))
            pairs += [(call, name) for name in some]
        if ":" in op and shapes is None and not params and len(pairs) < _FEW:
            some = ("whole numbers", "many magnitudes")
            full = [call for call in calls if call.group in ("plain", "sizes")]
            pairs += [p for p in itertools.product(full, some) if p not in pairs]
        if ":" not in op and shapes is None and (dtype not in FORMATS or len(pairs) < _FEW):
            yield from of_the_kit(op, dtype, params, quick=bool(pairs))
        for call, name in pairs:
            if dtype not in PARTS or name in _OF_COMPLEX:
                yield trial_of(op, dtype, call, name, accumulate)


def of_the_kit(
    op: str, dtype: str, params: Mapping[str, Any] | None = None, quick: bool = False
) -> Iterator[Trial]:
    """Give the kit's cases of an operator; what is required of floats follows from the definition.

    A refusal is no result: what must be refused is not put to a kernel. With `quick`, there are
    fewer of them, none of which is large.
    """
    groups, of = GROUPS - {"sizes"} if quick else GROUPS, frozenset([dtype])
    some = [
        case
        for case in cases(op, Wanted(groups=groups, dtypes=of, quick=quick, quick_dtypes=of))
        if case.dtype.partition("-")[0] == dtype and is_plain(case) and _has(case, params or {})
    ]
    for case in some[:: max(1, len(some) // _MOST_OF_THE_KIT)]:
        yield Trial(case, partial(_due, case))


def _has(case: Case, params: Mapping[str, Any]) -> bool:
    """Tell whether a case has the parameters that a kernel has."""
    return all(case.arguments.get(name, x) == x for name, x in params.items())


def _due(case: Case) -> list[Bound] | Property | None:
    """Return what the kit expects; of floats, what a careful computation may be off counts."""
    expected = case.expect()
    given = {n: x for n, x in case.arguments.items() if x is not None}
    either = isinstance(expected, Either)
    unique = either or (case.dtype in FORMATS and isinstance(expected, tuple))
    if unique and _defined(case, given):
        return by_definition(case.op, case.dtype, given)
    if may_refuse(expected):
        own = has_truth(case.op) and case.op not in definitions()
        return due_of(case.op, given)[0] if either and own else None
    return expected if isinstance(expected, Check | Either) else bounds(expected)


def _defined(case: Case, given: Mapping[str, Any]) -> bool:
    """Tell whether a definition says what a call gives."""
    if case.op not in definitions() or case.op in EXPECTED:
        return False
    return {*given} <= {*inspect.signature(definitions()[case.op]).parameters}


def _more_classes(op: str, call: Call) -> tuple[str, ...]:
    """Return the classes of the judge alone: a variance of numbers that are far from 0."""
    return (FAR,) if op in _VARIANCES and call.classes is None else ()


def _sizes_of(op: str, call: Call, shapes: Sequence[Any] | None) -> Iterator[Call]:
    """Give a call in other sizes; those of a gradient are the sizes of the operator's operands."""
    forward = op.removesuffix("_bwd")
    if forward == op or forward not in CALLS:
        yield from (one for one in sized(call, shapes) if shapes is not None or _short(op, one))
        return
    own = {name: x for name, x in call.arguments.items() if name != "out_grad"}
    known = inspect.signature(definition(forward)).parameters
    for one in sized(replace(call, arguments=own), shapes):
        if shapes is None and not _short(op, one):
            continue
        given = {name: x for name, x in one.arguments.items() if name in known}
        if (shape := shape_of(forward, replace(one, arguments=given))) is not None:
            yield replace(one, arguments={"out_grad": Operand(shape), **one.arguments})


def _short(op: str, call: Call) -> bool:
    """Tell whether the truth of a call is computed in a moment: a kernel may have grown, too."""
    sizes = [math.prod(x.shape) for x in call.arguments.values() if isinstance(x, Operand)]
    return "conv" not in op or math.prod(sorted(sizes)[-2:]) <= _MOST_PRODUCTS


def shape_of(op: str, call: Call) -> tuple[int, ...] | None:
    """Return the shape of a call's result; None if the operator does not take it."""
    given = {n: filled("float32", x, "ordinary", n) for n, x in call.arguments.items()}
    try:
        with arithmetic("float32", exact=False):
            made = definition(op)(**{n: argument(x) for n, x in given.items()})
    except (ValueError, IndexError):
        return None
    return tuple((made[0] if isinstance(made, tuple) else made).shape)


def trial_of(
    op: str, dtype: str, call: Call, data_class: str, accumulate: str | None = None
) -> Trial:
    """Return the trial of a call, filled by a data class."""
    seed = f"{op} {dtype} {call.title} {data_class}"
    first = next((n for n, x in call.arguments.items() if isinstance(x, Operand)), None)
    arguments = {
        name: dtype if x is DTYPE else filled(
            dtype, x, "ordinary" if data_class == FAR and name != first else data_class,
            f"{seed} {name}",
        )
        for name, x in call.arguments.items()
    }  # fmt: skip
    title = call.title + ("" if data_class == "ordinary" else f", {data_class}")
    case = Case(op, call.group, dtype, title, arguments, lambda: ())
    if op not in definitions():
        return Trial(case, lambda: due_of(op, arguments)[0])
    return Trial(case, lambda: by_definition(op, dtype, arguments, accumulate))


def is_plain(case: Case) -> bool:
    """Tell whether a case is one call of dense tensors."""
    every = case.arguments.values()
    given = [one for x in every for one in (x if isinstance(x, list) else [x])
             if isinstance(one, Data)]  # fmt: skip
    if "device" in case.arguments or any(isinstance(x, Bytes | Shaped) for x in every):
        return False
    return not case.steps and case.skip is None and case.rules is None and all(
        x.layout == "dense" and x.sparse is None and x.scale is None and x.min2maj is None
        for x in given
    )  # fmt: skip


def sized(call: Call, shapes: Sequence[Any] | None) -> Iterator[Call]:
    """Give a call with its last axis in other lengths, or with the shapes that were asked for.

    Other operands follow the first one: those of its shape get the new shape, and a size that is
    one of the first operand's becomes its new size.
    """
    operands = {n: x for n, x in call.arguments.items() if isinstance(x, Operand)}
    first = next(iter(operands), None)
    if first is None or not operands[first].shape or operands[first].values is not None:
        return
    old = operands[first].shape
    wanted: list[tuple[str, Mapping[str, Any]]] = []
    if shapes is None:
        # The truth of windows that slide over planes takes long.
        most = SIZES if len(old) < 4 else SIZES[:6]
        wanted = [(f"length {n}", {first: (*old[:-1], n)}) for n in most if old[-1] > 1]
        if len(old) > 1:  # more than one block of rows
            wanted.append((f"{ROWS} rows", {first: (ROWS, *old[1:])}))
    for shape in shapes or ():
        given = shape if isinstance(shape, Mapping) else {first: tuple(shape)}
        words = " by ".join("x".join(map(str, s)) or "no axes" for s in given.values())
        wanted.append((f"shape {words}", given))
    for title, given in wanted:
        new = tuple(given.get(first, old))
        sizes = _sizes(old, new)
        arguments = {
            name: _reshaped(x, given.get(name, _followed(x.shape, old, new, sizes)))
            if isinstance(x, Operand)
            else _resized(x, sizes)
            for name, x in call.arguments.items()
        }
        largest = max(math.prod(x.shape) for x in arguments.values() if isinstance(x, Operand))
        if shapes is not None or largest <= _MOST_ELEMENTS:
            yield replace(call, title=title, arguments=arguments, group="sizes")


def _sizes(old: Sequence[int], new: Sequence[int]) -> dict[int, int]:
    """Return what sizes become; those that are twice in a shape stay, but that of the last axis."""
    found = {}
    if len(old) == len(new):
        found = {a: b for a, b in zip(old, new, strict=True) if list(old).count(a) == 1 and a > 1}
    return {**found, old[-1]: new[-1] if new else old[-1]}


def _followed(
    shape: Sequence[int], old: Sequence[int], new: Sequence[int], sizes: Mapping[int, int]
) -> tuple[int, ...]:
    return tuple(new) if tuple(shape) == tuple(old) else tuple(sizes.get(k, k) for k in shape)


def _reshaped(x: Operand, shape: Sequence[int]) -> Operand:
    """Return an operand in another shape; given elements, as indices, are repeated or cut off."""
    values = x.values and tuple(np.resize(x.values, math.prod(shape)).tolist())
    return replace(x, shape=tuple(shape), values=values)


def _resized(x: Any, sizes: Mapping[int, int]) -> Any:
    """Return a parameter that is a shape with the new sizes; others stay."""
    whole = isinstance(x, list | tuple) and all(isinstance(k, int) for k in x)
    return type(x)(sizes.get(k, k) for k in x) if whole else x


# ---- whether they can fail -----------------------------------------------------------------------


def wrong_outputs(case: Case, bound: Bound) -> Iterator[tuple[str, NDArray[Any]]]:
    """Give outputs that no case may accept, each with its name."""
    if bound.dtype not in PARTS:
        yield from _wrong_numbers(case, bound.value)
        return
    whole = of_parts(bound.value[..., 0], bound.value[..., 1])
    for name, wrong in _wrong_numbers(case, whole):
        yield name, np.stack([wrong.real, wrong.imag], -1)


def _wrong_numbers(case: Case, right: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    shape = right.shape
    yield "zeros", np.zeros(shape)
    for name, x in case.arguments.items():
        if isinstance(x, Data) and x.shape == shape and (x.dtype in FORMATS or x.dtype in PARTS):
            given = numbers_of(x)
            yield f"the input {name}", given if np.iscomplexobj(right) else given.real
    with np.errstate(all="ignore"):
        middle = right[np.isfinite(right)]
        yield "a constant", np.full(shape, middle.mean() if middle.size else 0.0)
        if right.ndim >= 1 and shape[-1] > 1:
            yield "a constant row", np.broadcast_to(right.mean(-1, keepdims=True), shape).copy()
            yield "a shift by one", np.roll(right, 1, -1)
            cut = right.copy()
            cut[..., -max(1, shape[-1] // 100) :] = 0.0
            yield "an unwritten tail", cut
        if right.ndim >= 2:
            if shape[-1] == shape[-2] > 1:
                yield "the transposed answer", right.swapaxes(-1, -2).copy()
            if shape[-2] > 1:
                yield "a neighbour's row", np.roll(right, 1, -2)
        if right.dtype != np.float64:
            return
        dtype = result_named(case.op, case.arguments) or case.dtype
        lower = _LOWER.get(dtype)
        if lower is not None:
            yield "one precision lower", right.astype(lower).astype(np.float64)
        if dtype in NARROW:
            coarse = 2.0 ** (np.floor(np.log2(np.abs(right))) - FORMATS[dtype].mantissa + 2)
            yield "two bits less", np.where(right == 0, 0.0, np.round(right / coarse) * coarse)


_ROUNDED = ("one precision lower", "two bits less")
_SYMMETRIC = ("a constant", "a constant row", "a shift by one", "a neighbour's row",
              "the transposed answer")  # fmt: skip


def unnoticed(case: Case, expected: Sequence[Bound], lower: bool = False) -> str | None:
    """Return the name of a wrong output that a case accepts; None if it notices all.

    Fewer digits are no wrong output where a `lower` arithmetic is declared.

    What is no wrong output here does not count: a rounding of numbers that have few digits, a shift
    of a constant row, whose answer is constant. Zeros always count: a case whose answer is zeros
    shows nothing.
    """
    whole = [b for b in expected if b.value.size]
    for bound in whole[:1]:
        if case.op in _ZEROS and not bound.value.any() and not bound.accepts(bound.value + 1):
            continue
        for name, wrong in wrong_outputs(case, bound):
            if not bound.accepts(wrong) or (case.op in _COPIES and name.startswith("the input ")):
                continue
            if name in _ROUNDED and (lower or _few_digits(bound.value) or bound.value.size < 4):
                continue
            if name in (*_SYMMETRIC, *_ROUNDED) and np.array_equal(
                wrong, bound.value, equal_nan=bound.value.dtype.kind == "f"
            ):
                continue
            if name in _SYMMETRIC and "constant" in case.title:
                continue
            return name
    return None


_ZEROS = ("zeros", "imag", "is_nan", "is_inf")
"""Operators whose right answer is zeros for all, or nearly all, of their inputs."""
_COPIES = ("contiguous", "duplicate", "conj", "real", "cast")
"""Operators whose right answer is their input, for all or for some dtypes."""


def _few_digits(truth: NDArray[np.float64]) -> bool:
    """Tell whether a few bits hold the answer, as those of whole numbers: rounding keeps it."""
    good = truth[np.isfinite(truth)]
    return bool((good == np.round(good * 64) / 64).all())
