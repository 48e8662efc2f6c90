"""Calls of operators that do not promote, or not alone, by the tables of results of two rule sets.

``x.sum()``, ``torch.full((2,), 7)``, ``x.argsort()``, ``torch.pow(x, 0.5)``: which dtype comes out
differs between frameworks, though no dtypes meet.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

from suanzi.base.dtypes import DType, iinfo
from suanzi.port.findings import Code, Verdict
from suanzi.promote.fixes import Fix, cast_code
from suanzi.promote.operands import NUMBER_KINDS, Role
from suanzi.promote.results import Column, results
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import contains, holds, loss, show
from suanzi.recording.calls import Call, Taken
from suanzi.standard.other_names import by_name

_NUMBERS = {
    "pow": (1,),
    "clamp": (1, 2),
    "full_like": (1,),
    "full": (1,),
    "arange": (0, 1, 2),
    "tensor": (0,),
}
"""Where operators take the number whose type counts."""
_NAMED = ("exponent", "min", "max", "fill_value", "end", "data")
_OF_NUMBERS = ("full", "arange", "tensor")
_OF_NOTHING = ("randint", "randperm", "linspace", "zeros", "ones", "eye")
_OF_AXES = ("max", "min")
"""With an axis they give two tensors, with another tensor they promote."""
_INDICES = ("sort", "topk", *_OF_AXES)
_OF_INDICES = (
    "argsort",
    "argmax",
    "argmin",
    "nonzero",
    "searchsorted",
    "bucketize",
    "count_nonzero",
)
_ALSO = {
    "clip": "clamp",
    "clamp_max": "clamp",
    "clamp_min": "clamp",
    "argwhere": "nonzero",
    "as_tensor": "tensor",
}


@dataclass(frozen=True)
class Row:
    """A row of the tables that a call is, and its column."""

    name: str
    column: Column
    operand: Taken | None = None
    """The tensor that the column is the dtype of."""

    @property
    def is_of_indices(self) -> bool:
        """Whether it is about the second tensor that comes out."""
        return self.name.endswith(" 1")


def rows(call: Call, framework: str = "torch") -> Iterator[Row]:
    """Yield the rows of the tables that a call is."""
    name = _in_torch(call.operator, framework)
    given = [
        *call.arguments,
        *(x for word, x in call.named if word in ("input", "self", "x", "other")),
    ]
    tensors = [x for x in given if isinstance(x, Taken) and x.operand.role is not Role.NUMBER]
    if any(isinstance(x, tuple) for x in given):
        return
    if name in _NUMBERS:
        yield from _with_number(call, name, tensors)
    elif name in _OF_NOTHING:
        yield Row(name, None)
    elif tensors and len({x.operand.dtype for x in tensors}) == 1:
        first, column = tensors[0], tensors[0].operand.dtype
        if name in _OF_AXES:
            if len(tensors) > 1:
                return
            is_of_axis = len(call.arguments) > 1 or any(
                word in ("dim", "axis") for word, _ in call.named
            )
            yield Row(name, column, first)
            if is_of_axis:
                yield Row(f"{name} 1", column, first)
        elif name in _INDICES:
            yield Row(f"{name} 1", column, first)
        else:
            yield Row(name, column, first)


def _with_number(call: Call, name: str, tensors: list[Taken]) -> Iterator[Row]:
    places = [x for i, x in enumerate(call.arguments) if i in _NUMBERS[name]]
    found = [*places, *(x for word, x in call.named if word in _NAMED)]
    kinds = [x.operand.kind for x in found if isinstance(x, Taken) and x.operand.kind is not None]
    if not kinds:
        return
    kind = max(kinds, key=NUMBER_KINDS.index)
    if name in _OF_NUMBERS:
        if not tensors:
            yield Row(name, kind)
    elif len(tensors) == 1 and call.arguments and call.arguments[0] is tensors[0]:
        words = [name]
        if name == "pow":
            # Paddle's `**` is another operator than its function; an export does not say which.
            words = {True: ["**"], False: ["pow"], None: ["pow", "**"]}[call.symbol]
        for word in words:
            yield Row(f"{word} {kind}", tensors[0].operand.dtype, tensors[0])


def _in_torch(name: str, framework: str) -> str:
    if framework != "torch":
        row = by_name(framework).get(name)
        name = next(iter(row.names.get("torch", ())), name) if row is not None else name
    return _ALSO.get(name, name)


_KEEP_WEAK = (
    "neg", "view", "reshape", "squeeze", "unsqueeze", "expand", "clone", "detach", "contiguous",
)  # fmt: skip


def is_weak(call: Call, weak: Container[int | None], promotes: bool, framework: str) -> bool:
    """Tell whether what a call gives was made of Python numbers alone; `weak` has such calls.

    JAX keeps it in mind through arithmetic and changes of shape, and not through sums.
    """
    name = _in_torch(call.operator, framework)
    given = [*call.arguments, *(x for word, x in call.named if word in (*_NAMED, "other"))]
    if (
        "dtype" in dict(call.named)
        or call.way is not None
        or any(isinstance(x, tuple) for x in given)
    ):
        return False
    taken = [x for x in given if isinstance(x, Taken)]
    numbers = [x for x in taken if x.operand.role is Role.NUMBER]
    if name in ("tensor", "full"):
        return bool(numbers) and len(numbers) == len(taken)
    if name == "where":
        return len(taken) == 3 and all(x in numbers or x.made_by in weak for x in taken[1:])
    tensors = [x for x in taken if x not in numbers]
    return (
        (promotes or name in _KEEP_WEAK)
        and bool(tensors)
        and all(x.made_by in weak for x in tensors)
    )


def of_values_alone(calls: Iterable[Call]) -> frozenset[int]:
    """Return the calls whose values are used later and whose indices never are.

    The indices of ``x.topk(2)[0]`` may have another width elsewhere: nothing computes with them.
    """
    values: dict[int, DType | None] = {}
    used: dict[int, set[DType | None]] = {}
    for call in calls:
        values[call.number] = call.result
        for x in (*call.arguments, *(x for _, x in call.named)):
            for taken in x if isinstance(x, tuple) else (x,):
                if taken is not None and taken.made_by is not None:
                    used.setdefault(taken.made_by, set()).add(taken.operand.dtype)
    return frozenset(
        number
        for number, dtypes in used.items()
        if (dt := values.get(number)) is not None and dt.kind == "float" and dtypes == {dt}
    )


class Tables:
    """The tables of results of a source and of a target."""

    def __init__(self, source: RuleSet, target: RuleSet, written: RuleSet) -> None:
        self.source, self.target, self.written = source, target, written
        self.there, self.here = results(source.name), results(target.name)

    def made(self, dt: DType) -> DType:
        """Return the target's dtype for a dtype of the source."""
        return self.target.made.get(dt, dt)

    def asked(self, row: Row, column: Column) -> DType | None:
        """Return what the target gives; None where it is not known."""
        at = self.made(column) if isinstance(column, DType) else column
        return None if self.here is None else self.here.of(row.name, at)

    def known(self, call: Call) -> list[tuple[Row, DType, DType]]:
        """Return the rows of a call, and what comes out in the source and in the target.

        It is empty where the source's table has another dtype than the one that was recorded.
        """
        if self.there is None or self.here is None or call.way is not None or call.result is None:
            return []
        if "dtype" in dict(call.named):
            return []
        found = []
        for row in rows(call, self.source.name):
            was, there = self.there.of(row.name, row.column), self.asked(row, row.column)
            if was is not None and not row.is_of_indices and was is not call.result:
                return []
            if was is not None and there is not None:
                found.append((row, was, there))
        pows = [one for one in found if one[0].name.startswith(("pow", "**"))]
        if len(pows) > 1 and len({there for _, _, there in pows}) > 1:
            return []  # it depends on how it was written
        return found

    def verdict(self, call: Call, row: Row, was: DType, there: DType) -> Verdict | None:
        """Return what the target changes; None where it gives the same."""
        if self.made(was) is there:
            return self.out_of_range(call, was, there)
        code, what = consequence(was, there)
        if row.name in _OF_INDICES or row.is_of_indices:
            code, what = "SZ001", f"another width, up to {show(iinfo(there).max)}"
        which = "its indices are " if row.is_of_indices else ""
        text = f"{which}{there}, {was} in {self.source.name}: {what}"
        return Verdict(code, None, None, text, self.fix(row, self.made(was)), question(call))

    def out_of_range(self, call: Call, was: DType, there: DType) -> Verdict | None:
        """Return the verdict on a number of the call that only the source's dtype holds."""
        if there.kind not in ("int", "uint"):
            return None
        given = [*call.arguments, *(x for word, x in call.named if word in _NAMED)]
        for x in given if call.operator in _NUMBERS else ():
            for value in (x.least, x.greatest) if isinstance(x, Taken) else ():
                if isinstance(value, int) and holds(was, value) and not holds(there, value):
                    text = f"{show(value)} is out of range of {there}"
                    return Verdict("SZ006", None, None, text, None, question(call))
        return None

    def fix(self, row: Row, was: DType) -> Fix | None:
        """Return the cast that keeps what the source gave, tried with the target's table."""
        where = self.source.name
        if row.name in (*_OF_NUMBERS, *_OF_NOTHING):
            return Fix(f"name the dtype: {was}, as in {where}", f"dtype={self.dtype_code(was)}")
        operand = row.operand
        if operand is not None and not row.is_of_indices and self.asked(row, was) is was:
            text = f"cast the {operand.operand} operand to {was} first: {was}, as in {where}"
            return Fix(text, cast_code(self.written, "x", was))
        what = "the indices" if row.is_of_indices else "the result"
        return Fix(f"cast {what} to {was}, as in {where}", cast_code(self.written, "x", was))

    def dtype_code(self, dt: DType) -> str:
        """Return how a dtype is written in the program."""
        code = cast_code(self.written, "x", dt)
        return code.partition("(")[2].rstrip(")")


def consequence(was: DType, there: DType) -> tuple[Code, str]:
    """Return the code of a result that has another dtype, and what that means.

    >>> from suanzi.dtypes import float32, int32, int64, uint8
    >>> consequence(int64, uint8), consequence(float32, int64)
    (('SZ003', 'wraps beyond 255 and below 0'), ('SZ003', 'loses fractions'))
    >>> consequence(int32, int64)
    ('SZ005', 'silently wider, 2 times the memory')
    """
    whole = ("bool", "int", "uint")
    if was.kind in ("float", "complex") and there.kind in whole:
        return "SZ003", "loses fractions"
    if was.kind in whole and there.kind in whole and not contains(there, was):
        if there.kind == "bool":
            return "SZ003", "every number but 0 becomes True"
        most = iinfo(there).max
        below = " and below 0" * (there.kind == "uint" and was.kind == "int")
        return "SZ003", f"wraps beyond {show(most)}{below}"
    gone = loss(was, there)
    if gone is not None:
        return "SZ003", str(gone)
    if contains(there, was) and there.bits > was.bits >= 8:
        return "SZ005", f"silently wider, {there.bits // was.bits} times the memory"
    return "SZ001", "another dtype from then on"


def question(call: Call) -> str:
    """Return the operator and its operands as the other findings show them."""
    shown = []
    for word, x in [*(("", x) for x in call.arguments), *call.named]:
        if isinstance(x, Taken):
            number = x.operand.role is Role.NUMBER
            value = (
                x.least if number and x.least is not None and x.least == x.greatest else x.operand
            )
            shown.append(f"{word}={value}" if word else str(value))
    return f"{call.operator}({', '.join(shown)})"
