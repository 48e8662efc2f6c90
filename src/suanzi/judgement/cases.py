"""The cases that a kernel is judged by: the kit's, and sizes around the edges of tiles.

A case counts for a kernel if it can fail: zeros, an input, a constant row, the answer shifted,
transposed, cut off, a neighbour's row, and the answer in fewer digits are put to it first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model.case import Case, Expected, Output
from suanzi.conformance.model.numbers import FORMATS, NARROW
from suanzi.conformance.nn._calls import CALLS, Call, Operand
from suanzi.conformance.subjects.wire import Data
from suanzi.judgement.filling import FAR, dtype_of, filled, numbers_of
from suanzi.judgement.standard_calls import CALLS as STANDARD_CALLS
from suanzi.judgement.standard_calls import MORE
from suanzi.truth import definition
from suanzi.truth.tracked import Tracked, arithmetic, tracked

if TYPE_CHECKING:
    from suanzi.judgement.arguments import Request

GROUPS = frozenset({"plain", "broadcast", "special", "random", "sizes", "empty"})
SIZES = (1, 7, 31, 33, 127, 129, 1023, 1025, 4097)
"""Lengths around vectors, warps and tiles."""
ROWS = 133
_LOWER = {"float64": np.float32, "float32": np.float16}
_MOST_OF_THE_KIT = 60
_VARIANCES = ("nn:layer_norm", "nn:group_norm", "nn:instance_norm")
"""Operators whose mean of squares less the square of the mean has no digits far from 0."""

Array = NDArray[np.float64]
OWN_GRADIENTS: dict[str, tuple[str, ...]] = {}
"""The operands of registered operators that have a gradient, by key."""


@dataclass(frozen=True)
class Bound:
    """One output that is expected: its truth and how far a result may be off, as float64."""

    dtype: str
    truth: Array
    allowed: Array
    free: NDArray[np.bool_] | None = None
    """The elements of which nothing is required."""
    nan: NDArray[np.bool_] | None = None
    """The elements that may be NaN as well."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the output."""
        return tuple(self.truth.shape)

    def errors(self, found: Array) -> Array:
        """Return how far other numbers are off; infinite where they are no number.

        An infinity counts as the first number that overflows, as in the kit.
        """
        end = overflow(self.dtype) if self.dtype in FORMATS else math.inf
        with np.errstate(all="ignore"):
            right = np.where(np.isinf(self.truth), self.truth, np.clip(self.truth, -end, end))
            given = np.where(np.isinf(found) & np.isfinite(right), np.sign(found) * end, found)
            off = np.abs(given - right)
        same = (found == self.truth) | (np.isnan(found) & np.isnan(self.truth))
        off = np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))
        if self.nan is not None:
            off = np.where(self.nan & np.isnan(found), 0.0, off)
        return off if self.free is None else np.where(self.free, 0.0, off)

    def wrong(self, found: Array) -> NDArray[np.bool_]:
        """Return which elements of other numbers of the shape would not pass."""
        return np.asarray(self.errors(found) > self.allowed * (1 + 1e-9))

    def accepts(self, found: Array) -> bool:
        """Tell whether other numbers would pass."""
        return found.shape == self.truth.shape and not self.wrong(found).any()


def overflow(dtype: str) -> float:
    """Return the first number past the largest of a dtype: what an infinity counts as."""
    form = FORMATS[dtype]
    if dtype == "float64":
        return math.inf
    last = 2.0 - 2.0**-form.mantissa if form.infinity else 2.0 - 2.0 ** (1 - form.mantissa)
    return (last + 2.0**-form.mantissa) * 2.0 ** (form.bias + (not form.infinity))


def spacing_at(dtype: str, size: Array) -> Array:
    """Return the distance of neighbours of a dtype at numbers of a size."""
    form = FORMATS[dtype]
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.maximum(size, 2.0 ** (1 - form.bias))))
    return np.asarray(2.0 ** (np.minimum(exponent, form.bias + 1) - form.mantissa))


@dataclass(frozen=True)
class Trial:
    """A call of a kernel, and what is expected of it, which is computed afterwards."""

    case: Case
    expect: Callable[[], list[Bound] | None]


def by_definition(
    op: str,
    dtype: str,
    arguments: Mapping[str, Any],
    accumulate: str | None = None,
    sums: str | None = None,
) -> list[Bound] | None:
    """Return what the definition of an operator gives, with the bound of an arithmetic.

    `sums` names the dtype of sums alone. Integers and bool are exact. None if a gradient or a model
    operator gives such an output.
    """
    name = accumulate or ("float64" if dtype == "float64" else "float32")
    with arithmetic(name, exact=dtype == "float64", sums=sums):
        made = definition(op)(**{n: _argument(x) for n, x in arguments.items()})
        outputs = made if isinstance(made, tuple) else (made,)
        if ":" in op and not all(isinstance(one, Tracked) for one in outputs):
            return None
        found = [bound_as(one, dtype) for one in outputs]
    return _odd_gradients(op, arguments, found)


def _odd_gradients(op: str, arguments: Mapping[str, Any], found: list[Bound]) -> list[Bound]:
    """Let gradients be what right kernels make of operands that are no numbers.

    A slope of 0 times a NaN or an infinity may be 0, by a selection, or NaN, by a product. Nothing
    is required where an input is NaN: every branch is as good. An activation's slope at an infinity
    may be NaN instead of its limit: x sigmoid(-x) is infinity times 0.
    """
    name = next((n for n in ("out_grad", "grad_out") if n in arguments), "")
    given = {n: x for n, x in arguments.items() if isinstance(x, Data) and x.dtype in FORMATS}
    if name not in given:
        return found
    pulled, first = ~np.isfinite(numbers_of(given[name])), given.pop(name)
    factors: list[Any] = [None] * len(found)
    if pulled.any():
        ones = Data(first.dtype, first.shape, np.ones(first.shape, dtype_of(first.dtype)).tobytes())
        with arithmetic("float32", exact=False):
            made = definition(op)(**{n: _argument(x) for n, x in {**arguments, name: ones}.items()})
        factors = [x.value for x in (made if isinstance(made, tuple) else (made,))]
    elementwise = definition(op).__module__ == "suanzi.truth.nn.activations"
    return [
        _odd_gradient(bound, pulled, factor, [numbers_of(x) for x in given.values()], elementwise)
        for bound, factor in zip(found, factors, strict=True)
    ]


def _odd_gradient(
    bound: Bound, pulled: NDArray[np.bool_], factor: Any, given: list[Array], elementwise: bool
) -> Bound:
    free = np.zeros(bound.shape, bool) if bound.free is None else bound.free.copy()
    nan, truth = np.zeros(bound.shape, bool), bound.truth
    if factor is not None and bound.shape == pulled.shape:
        nan = pulled & (factor == 0)
        truth = np.where(nan, 0.0, truth)
    for x in given:
        if x.shape == bound.shape:
            free |= np.isnan(x)
            nan |= np.isinf(x) & elementwise
    return replace(
        bound, truth=truth, free=free if free.any() else None, nan=nan if nan.any() else None
    )


def _argument(x: Any) -> Any:
    if isinstance(x, list) and x and isinstance(x[0], Data):
        return [_argument(one) for one in x]
    if not isinstance(x, Data):
        return x
    found = numbers_of(x)
    return tracked(found) if x.dtype in FORMATS else found


def bound_as(made: Any, dtype: str) -> Bound:
    """Return what a definition gave as a bound of results that are stored in a dtype."""
    if not isinstance(made, Tracked):
        exact = np.asarray(made)
        return Bound(exact.dtype.name, exact.astype(np.float64), np.zeros(exact.shape))
    if dtype not in FORMATS:  # floats of integers, as a mean
        dtype = "float32"
    truth, error = made.value.astype(np.float64), made.error
    free = ~np.isfinite(error)
    allowed = np.where(free, 0.0, error)
    if dtype in NARROW:
        allowed = allowed + spacing_at(dtype, np.abs(truth) + allowed) / 2
    return Bound(
        dtype, truth, np.where(np.isfinite(truth), allowed, 0.0), free if free.any() else None
    )


def bounds(expected: Expected) -> list[Bound] | None:
    """Return the outputs of the kit's expectation as bounds; None if it has other ones."""
    if not isinstance(expected, tuple):
        return None
    found = []
    for one in expected:
        if not isinstance(one, Output) or one.dtype not in FORMATS:
            return None
        truth = np.array([_float(x) for x in one.truth], dtype=np.float64).reshape(one.shape)
        free = np.zeros(truth.size, bool)
        free[list(one.free)] = True
        found.append(Bound(one.dtype, truth, _allowed(one, truth), free.reshape(one.shape)))
    return found


def _float(x: Any) -> float:
    if x.is_nan:
        return math.nan
    try:
        size = math.inf if x.size is None else float(x.size)
    except OverflowError:
        size = math.inf
    return -size if x.negative else size


def _allowed(one: Output, truth: Array) -> Array:
    if one.allowed is not None:
        return np.array([float(x) for x in one.allowed], np.float64).reshape(one.shape)
    unit = spacing_at(one.dtype, np.abs(truth))
    return np.where(np.isfinite(truth), unit * (0.5 if one.ulp is None else one.ulp), 0.0)


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
        every = cases(op, Wanted(groups=GROUPS, dtypes=frozenset(dtypes)))
        for dtype in dtypes:
            some = [c for c in every if c.dtype == dtype and is_plain(c)]
            for case in some[:: max(1, len(some) // _MOST_OF_THE_KIT)]:
                yield Trial(case, lambda case=case: bounds(case.expect()))  # type: ignore[misc]
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
        for call in [*([] if shapes is not None else calls), *more]:
            if call.dtypes and dtype not in call.dtypes:
                continue
            of_sizes: Sequence[str] | None = None
            if call in more and shapes is None:
                of_sizes = ("ordinary", "whole numbers")
            if call.group == "empty":
                of_sizes = ("ordinary",)
            for name in of_sizes or (*(call.classes or classes), *_more_classes(op, call)):
                yield trial_of(op, dtype, call, name, accumulate)


def _more_classes(op: str, call: Call) -> tuple[str, ...]:
    """Return the classes of the judge alone: a variance of numbers that are far from 0."""
    return (FAR,) if op in _VARIANCES and call.classes is None else ()


def _sizes_of(op: str, call: Call, shapes: Sequence[Any] | None) -> Iterator[Call]:
    """Give a call in other sizes; those of a gradient are the sizes of the operator's operands."""
    forward = op.removesuffix("_bwd")
    if forward == op or forward not in CALLS:
        yield from sized(call, shapes)
        return
    own = {name: x for name, x in call.arguments.items() if name != "out_grad"}
    for one in sized(replace(call, arguments=own), shapes):
        if (shape := shape_of(forward, one)) is not None:
            yield replace(one, arguments={"out_grad": Operand(shape), **one.arguments})


def shape_of(op: str, call: Call) -> tuple[int, ...] | None:
    """Return the shape of a call's result; None if the operator does not take it."""
    given = {n: filled("float32", x, "ordinary", n) for n, x in call.arguments.items()}
    try:
        with arithmetic("float32", exact=False):
            made = definition(op)(**{n: _argument(x) for n, x in given.items()})
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
        name: filled(
            dtype, x, "ordinary" if data_class == FAR and name != first else data_class,
            f"{seed} {name}",
        )
        for name, x in call.arguments.items()
    }  # fmt: skip
    title = call.title + ("" if data_class == "ordinary" else f", {data_class}")
    case = Case(op, call.group, dtype, title, arguments, lambda: ())
    return Trial(case, lambda: by_definition(op, dtype, arguments, accumulate))


def is_plain(case: Case) -> bool:
    """Tell whether a case is one call of dense tensors."""
    given = [x for x in case.arguments.values() if isinstance(x, Data)]
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


def wrong_outputs(case: Case, bound: Bound) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Give outputs that no case may accept, each with its name."""
    right, shape = bound.truth, bound.truth.shape
    yield "zeros", np.zeros(shape)
    for name, x in case.arguments.items():
        if isinstance(x, Data) and x.shape == shape and x.dtype in FORMATS:
            yield f"the input {name}", numbers_of(x)
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
        lower = _LOWER.get(case.dtype)
        if lower is not None:
            yield "one precision lower", right.astype(lower).astype(np.float64)
        if case.dtype in NARROW:
            coarse = 2.0 ** (np.floor(np.log2(np.abs(right))) - FORMATS[case.dtype].mantissa + 2)
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
    whole = [b for b in expected if b.truth.size]
    for bound in whole[:1]:
        for name, wrong in wrong_outputs(case, bound):
            if not bound.accepts(wrong):
                continue
            if name in _ROUNDED and (lower or _few_digits(bound.truth) or bound.truth.size < 4):
                continue
            if name in _SYMMETRIC and np.array_equal(wrong, bound.truth, equal_nan=True):
                continue
            if name in _SYMMETRIC and "constant" in case.title:
                continue
            return name
    return None


def _few_digits(truth: NDArray[np.float64]) -> bool:
    """Tell whether a few bits hold the answer, as those of whole numbers: rounding keeps it."""
    good = truth[np.isfinite(truth)]
    return bool((good == np.round(good * 64) / 64).all())
