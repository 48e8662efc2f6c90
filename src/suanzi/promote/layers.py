"""What a rule set is made of: cells, rules for pairs and for numbers, gates; and their checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from suanzi.base.dtypes import DType, complex64, float32, int64
from suanzi.base.dtypes import bool as bool_
from suanzi.base.status import InvalidArgument
from suanzi.promote.operands import NUMBER_KINDS, NumberKind, Operand, Role

_KIND_RANKS = {"bool": 0, "int": 1, "uint": 1, "float": 2, "complex": 3}
NUMERIC_KINDS = tuple(_KIND_RANKS)
"""The kinds of dtypes that promote; char and quantised dtypes do not."""


def kind_rank(kind: str) -> int:
    """Return the place of a kind, of a dtype or of a number, in bool < int < float < complex.

    >>> kind_rank("uint") == kind_rank("int") < kind_rank("float")
    True
    """
    return _KIND_RANKS[kind]


@dataclass(frozen=True, slots=True)
class Cell:
    """One answer of one layer: a dtype, or None for a refusal, and why."""

    dtype: DType | None
    reason: str


PythonNumber: TypeAlias = bool | int | float | complex

DEFAULT_CAST = "sz.cast({x}, sz.{dtype})"

PairRule: TypeAlias = Callable[[DType, DType], Cell]
NumberRule: TypeAlias = Callable[[DType, NumberKind], Cell]
JoinRule: TypeAlias = Callable[[Sequence[Operand]], Cell]
FloatRule: TypeAlias = Callable[[DType], DType | None]
Moment: TypeAlias = Literal["before", "after"]

_ROUNDED = {"tensors": Role.TENSOR, "zero-d": Role.ZERO_DIM, "numbers": Role.NUMBER}


@dataclass(frozen=True)
class RoundingRule:
    """When operands are rounded to the promoted dtype: before computing, or the result after."""

    when: Mapping[Role, Moment]
    computed: str
    """What is computed in if after: a dtype, or the rule set that promotes once more."""
    text: str
    """The rule as it is written: ``before, numbers after``."""

    @classmethod
    def parse(cls, text: str) -> RoundingRule:
        """Read ``before``, ``after in f32`` or ``before, numbers after``.

        >>> RoundingRule.parse("before, numbers after").when[Role.NUMBER]
        'after'
        """
        when: dict[Role, Moment] = {}
        computed = ""
        for item in text.split(","):
            match = re.fullmatch(
                r"\s*(?:(tensors|zero-d|numbers) )?(before|after)(?: in (\S+))?\s*", item
            )
            if match is None:
                raise InvalidArgument(
                    f"rounded: {item.strip()!r} is not 'before' or 'after', with tensors, zero-d "
                    "or numbers in front, or 'in' and a dtype behind."
                )
            who, moment, inner = match.groups()
            for role in [_ROUNDED[who]] if who else _ROUNDED.values():
                when[role] = "before" if moment == "before" else "after"
            computed = inner or computed
        if len(when) < len(_ROUNDED):
            raise InvalidArgument(f"rounded: {text!r} does not begin with 'before' or 'after'.")
        return cls(when, computed, text)


@dataclass(frozen=True)
class Gate:
    """Which kinds of different dtypes an operator class lets meet; equal dtypes always pass."""

    pairs: frozenset[frozenset[str]]
    text: str
    """The gate as it is written: ``float+float, complex+any``."""
    first: bool = False
    """Whether the result has the dtype of the first operand, whatever the others have."""

    @classmethod
    def parse(cls, text: str) -> Gate:
        """Read a gate such as ``float+float, complex+any``, ``open``, ``equal`` or ``first``."""
        kinds = {"bool", "int", "float", "complex", "any"}
        pairs = set()
        if text == "equal":
            return cls(frozenset(), "equal dtypes only")
        if text == "first":
            return cls(frozenset({frozenset({"any"})}), text, True)
        for item in (text if text != "open" else "any+any").split(","):
            pair = [kind.strip() for kind in item.split("+")]
            if len(pair) != 2 or not kinds.issuperset(pair):
                raise InvalidArgument(
                    f"gate: {item.strip()!r} is not a pair of kinds such as float+float, nor "
                    f"'open', 'equal' or 'first'; the kinds are {', '.join(sorted(kinds))}."
                )
            pairs.add(frozenset(pair))
        return cls(frozenset(pairs), text)

    def admits(self, a: DType, b: DType) -> bool:
        """Tell whether two dtypes may meet.

        >>> from suanzi.dtypes import complex64, float32, int32
        >>> gate = Gate.parse("float+float, complex+any")
        >>> gate.admits(int32, float32), gate.admits(int32, complex64)
        (False, True)
        """
        kinds = {"int" if d.kind == "uint" else d.kind for d in (a, b)}
        return a is b or any(
            kinds == pair or ("any" in pair and (len(pair) == 1 or kinds & pair))
            for pair in self.pairs
        )

    def refusal(self, op: str, a: DType, b: DType) -> str:
        """Return why two dtypes may not meet."""
        if not self.pairs and op:
            return f"{op} takes equal dtypes only, not {a} with {b}"
        return f"the gate admits {self.text}, not {a} with {b}"


def choose_float(dtypes: tuple[DType, ...]) -> DType:
    """Return float32, or the first floating-point dtype of a set that lacks it."""
    floats = [d for d in dtypes if d.kind == "float"]
    return float32 if float32 in floats or not floats else floats[0]


def default_alone(default_float: DType) -> dict[NumberKind, DType]:
    """Return what Python numbers are on their own, given the default float."""
    return {"bool": bool_, "int": int64, "float": default_float, "complex": complex64}


def weak_number(dt: DType, kind: NumberKind, default_float: DType | None) -> Cell:
    """A Python number that takes the tensor's dtype where that can represent its kind.

    A float makes integers `default_float`, where one is given; every other higher kind is refused.
    """
    if kind_rank(dt.kind) >= kind_rank(kind):
        return Cell(dt, f"a Python {kind} takes the dtype of the tensor")
    if kind == "float" and default_float is not None:
        return Cell(default_float, f"a Python float makes integers {default_float}")
    if kind == "int" and default_float is not None:
        return Cell(int64, "a Python int makes bool int64")
    return Cell(None, f"a Python {kind} does not fit {dt}")


def check_name(name: str) -> None:
    """Raise InvalidArgument unless a rule set has one word for a name."""
    if not (isinstance(name, str) and re.fullmatch(r"\w+", name)):
        raise InvalidArgument(f"rule set: {name!r} is not a name; a name is one word.")


def check_cast(name: str, template: str) -> None:
    """Raise InvalidArgument unless a cast template fills in what it names."""
    try:
        template.format(x="x", dtype="", name="", acl="")
    except (KeyError, IndexError, ValueError):
        raise InvalidArgument(
            f"rule set {name!r}: the cast {template!r} cannot be filled in; it may name {{x}}, "
            "{dtype}, {name} and {acl}."
        ) from None


def check_table(
    name: str, dtypes: tuple[DType, ...], table: Mapping[tuple[DType, DType], DType | None]
) -> None:
    """Raise InvalidArgument unless a table is closed, commutative and keeps equal dtypes."""
    for (a, b), answer in table.items():
        if answer is not None and answer not in dtypes:
            raise InvalidArgument(
                f"rule set {name!r}: the table is not closed: {a} with {b} gives {answer}, which "
                "has no row of its own."
            )
        if table[b, a] is not answer:
            raise InvalidArgument(
                f"rule set {name!r}: {a} with {b} gives {answer or 'a refusal'}, but {b} with {a} "
                f"gives {table[b, a] or 'a refusal'}; promotion must not depend on the order."
            )
        if a is b and answer is not a:
            raise InvalidArgument(
                f"rule set {name!r}: {a} with itself gives {answer or 'a refusal'}; equal dtypes "
                "need no promotion, so the diagonal must be the dtype itself."
            )


def as_text(
    facts: Mapping[str, str], dtypes: tuple[DType, ...], pair: PairRule, number: NumberRule | None
) -> str | None:
    """Return the text table that says what functions do; None where no table can say it.

    >>> from suanzi.dtypes import float16, int8
    >>> equal = lambda a, b: Cell(a if a is b else None, "")
    >>> print(as_text({"name": "mine"}, (int8, float16), equal, None))
    name mine
    [tensors]
    int8 float16
    int8 int8 -
    float16 - float16
    """

    def row(head: str, cells: Iterable[Cell]) -> str:
        return " ".join([head, *("-" if x.dtype is None else x.dtype.name for x in cells)])

    lines = [f"{key} {' '.join(said.split())}" for key, said in facts.items()]
    lines += ["[tensors]", " ".join(dt.name for dt in dtypes)]
    lines += [row(a.name, [pair(a, b) for b in dtypes]) for a in dtypes]
    if number is not None:
        cells = {dt: [number(dt, kind) for kind in NUMBER_KINDS] for dt in dtypes}
        if any(x.dtype not in (*dtypes, None) for found in cells.values() for x in found):
            return None
        lines += ["[numbers]", " ".join(NUMBER_KINDS)]
        lines += [row(dt.name, found) for dt, found in cells.items()]
    return "\n".join(lines)
