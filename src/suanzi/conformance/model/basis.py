"""Where the demand of a case comes from: the standard's letter, a reading of it, or neither.

Levels rest on the letter and on readings. A case may say its basis; of most it follows from what is
tried, by the rules of `_derived`, the first that fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, get_args

from suanzi.conformance.model.expected import Either, Expected, Output, Refused
from suanzi.conformance.model.numbers import Real
from suanzi.conformance.model.unusual import fits, has_ties, may_overflow, not_ordinary, tensors

if TYPE_CHECKING:
    from suanzi.conformance.model.case import Case

Basis = Literal["letter", "reading", "quality", "extension"]
BASES: tuple[Basis, ...] = get_args(Basis)
MEANING: dict[Basis, str] = {
    "letter": "a clause, its table, or the chapters 5 and 6 say it",
    "reading": "the text can be read in several ways, each of which passes, or only A says it",
    "quality": "nobody asks for it: accuracy, signs of zeros, NaN, ties, no elements",
    "extension": "dtypes, layouts and comforts that the standard does not have",
}
DEMANDED: frozenset[Basis] = frozenset({"letter", "reading"})
"""What levels rest on."""

STANDARD_DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128".split()
)
"""The dtypes of clause 6.2; others are extensions, and not to have them is no failure."""
STRIDED = frozenset({"gaps", "reversed", "repeated"})
"""Layouts that take strides, which the structures of A.1 do not have: extensions, too."""

_ALSO = {
    "create_quant_tensor": frozenset(
        f"QT_{kind}_INT{bits}" for kind in ("SYM", "CH_SYM") for bits in (8, 16)
    )
}
"""What a clause names beside; it leaves asymmetric ones to the subject."""
_COMPLEX_OF_REAL = frozenset({"complex", "fft_r2c", "fft_c2r_backward", "eig"})
"""Interfaces that give complex numbers for real ones: of float16, some that 6.2 does not have."""
_AXES = ("axis", "axes", "dim0", "dim1", "start_axis", "stop_axis", "perm")
_COUNTED_FROM_THE_END = frozenset(
    {"argmax", "argmin", "argsort", "argsort_bwd", "topk", "cumsum", "cumsum_bwd"}
)
"""Interfaces whose clauses say what a negative axis is."""
_ORDERING = frozenset({"argmax", "argmin", "argsort", "argsort_bwd", "topk"})
_COMPUTING = frozenset({"cast", "clip", "clip_backward", "sign"})
"""Interfaces of 7.2.3 that do not merely move elements."""
_MOVING = frozenset({"create_tensor", "wrap_tensor", "contiguous", "duplicate", "diag", "shape",
                     "size", "rank", "is_contiguous", "destroy"})  # fmt: skip
_ASKING = frozenset({"is_finite", "is_inf", "is_nan"})
_EXACT = frozenset({"comparison", "logical", "bitwise"})
"""Categories that are defined for every integer and bool."""
_STRETCHED_BEYOND = {
    "pow": "the clause wants equal shapes",
    "clip": "the bounds of the clause are numbers",
    "clip_backward": "the bounds of the clause are numbers",
    "masked_select": "the clause says nothing of a mask of another shape",
    "solve": "the clause says nothing of batches that differ",
}
_GRADIENTS = frozenset({"out_grad", "grad_out", "grad_y"})
_LOOKED_AT = 4096
"""How many elements of a truth are looked at: no more are of another kind than the first."""


@dataclass(frozen=True)
class Why:
    """Where a demand comes from."""

    basis: Basis
    clause: str
    """The clause, or the erratum of a reading."""
    sentence: str
    """What it says, in our own words."""

    def __str__(self) -> str:
        return f"{self.basis}, {self.clause}: {self.sentence}"


def why(case: Case, expected: Expected | None = None) -> Why:
    """Return where the demand of a case comes from; what is expected tells more, if it is known."""
    found = _derived(case)
    if expected is None and case.disputed and found.basis != "extension":
        expected = case.expect()
    if expected is not None and found.basis != "extension":
        found = _with_truth(case, expected, found)
    if case.basis is not None and case.basis != found.basis:
        found = replace(found, basis=case.basis, sentence=f"so says the case of {case.op}")
    return replace(found, sentence=case.because) if case.because else found


def _with_truth(case: Case, expected: Expected, found: Why) -> Why:
    if isinstance(expected, Either):
        return _of_readings(expected)
    if isinstance(expected, Refused) and found.basis == "letter":
        return _of_refusal(case, expected)
    for dtype in _dtypes_of(expected):
        if dtype not in STANDARD_DTYPES | _ALSO.get(case.op, frozenset()):
            return Why("extension", "6.2", f"its result is {dtype}, no dtype of the standard")
    if found.basis == "letter" and not moves(case) and _has_no_number(expected):
        return replace(
            found, basis="quality", sentence="the clause has no result that is no number"
        )
    return found


def _derived(case: Case) -> Why:
    clause = case.interface.clause
    for rule in (_extends, _of_status, _of_example, _of_quality):
        found = rule(case, clause)
        if found is not None:
            return found
    table = f"Table {case.interface.table}"
    given = [x for _, x in tensors(case.arguments)]
    if any(x.sparse is not None for x in given):
        return Why("reading", "E135", "5.6 leaves it open which interfaces take sparse tensors")
    if any(x.layout == "columns" for x in given):
        return Why("letter", "6.4", "axes may lie in memory in any order, which min2maj tells")
    if any(x.layout == "offset" for x in given):
        return Why("reading", "A.1", "elements may begin at an offset, as the structures have it")
    if case.group == "broadcast" and case.interface.category != "linear algebra":
        return Why("letter", "5.4", "tensors of different shapes are stretched to one another")
    if case.group in ("plain", "random"):
        takes = f"for what {table} takes"
        outputs = ", ".join(case.interface.outputs) or "nothing"
        return Why("letter", clause, f"the function of the clause gives {outputs}, {takes}")
    return Why("letter", clause, f"the function of the clause, with the parameters of {table}")


def _extends(case: Case, clause: str) -> Why | None:
    """Return which extension a case is, if it is one."""
    if case.group == "promotion" and case.rules != "strict":
        return Why("extension", "O1", f"the rule set {case.rules} promotes, which no clause does")
    parts = case.dtype.split("-")
    known = STANDARD_DTYPES | _ALSO.get(case.op, frozenset()) | {"any"}
    for dtype in (*parts, *(x.dtype for _, x in tensors(case.arguments)), *_asked_for(case)):
        if dtype not in known:
            return Why("extension", "6.2", f"{dtype} is no dtype of the standard")
    if case.op in _COMPLEX_OF_REAL and "float16" in parts and case.group != "status":
        return Why("extension", "6.2", "its result is complex32, no dtype of the standard")
    for _, x in tensors(case.arguments):
        if x.layout in STRIDED:
            return Why("extension", "6.4", f"the standard has no strides ({x.layout})")
    if case.group == "status":
        return None
    if case.op not in _COUNTED_FROM_THE_END:
        for name in _AXES:
            if any(axis < 0 for axis in _whole(case.arguments.get(name))):
                return Why("extension", clause, f"the clause does not count {name} from the end")
    if case.group == "broadcast" and case.op in _STRETCHED_BEYOND:
        return Why("extension", clause, _STRETCHED_BEYOND[case.op])
    if case.op == "topk" and case.arguments["k"] == _length(case):
        return Why("extension", clause, "the clause wants fewer than all")
    return None


def _of_example(case: Case, clause: str) -> Why | None:
    if case.group != "example":
        return None
    return Why("reading", clause.replace("7.2", "A.2", 1), "a worked example, which is informative")


def _of_status(case: Case, clause: str) -> Why | None:
    if case.group != "status":
        return None
    if case.skip is not None:
        return Why("letter", clause, "the clause lists a status that cannot be brought about here")
    expected = case.expect()
    if isinstance(expected, Either):
        return _of_readings(expected)
    if not isinstance(expected, Refused):
        return Why("letter", clause, "the clause lists SUCCESS, and the arguments are as it says")
    return _of_refusal(case, expected)


def _of_readings(expected: Either) -> Why:
    names = " or ".join(expected.readings)
    return Why("reading", expected.erratum, f"it can be read as {names}")


def _of_refusal(case: Case, expected: Refused) -> Why:
    clause = case.interface.clause
    listed = [s.name for s in expected.statuses if s in case.interface.statuses]
    if listed:
        return Why("letter", clause, f"the clause lists {' and '.join(listed)} for such a call")
    names = " and ".join(s.name for s in expected.statuses)
    return Why("quality", clause, f"the clause does not list {names}")


def _of_quality(case: Case, clause: str) -> Why | None:
    """Return what the standard does not speak of, if a case is about that."""
    given = list(tensors(case.arguments))
    if case.group == "empty":
        return Why("quality", clause, "the standard does not speak of no elements and no axes")
    for name, x in given:
        if 0 in x.shape or (not x.shape and name not in _GRADIENTS):
            return Why("quality", clause, f"it does not speak of {name} of shape {list(x.shape)}")
    if case.op == "interpolate":
        return Why("quality", "E133", "the clause does not say at which coordinates")
    if case.op in _ORDERING and case.group != "example":
        axis = case.arguments.get("axis", -1)
        values = [x for name, x in given if name == "input"]
        if any(has_ties(x, axis if isinstance(axis, int) else -1) for x in values):
            return Why("quality", clause, "the clause does not say which of equal ones comes first")
    if case.op == "cast" and not all(fits(x, str(case.arguments.get("type"))) for _, x in given):
        return Why("quality", clause, "the clause does not say what becomes of other numbers")
    if moves(case) or case.op in _ASKING:
        return None
    for _, x in given:
        if (words := not_ordinary(x)) is not None:
            return Why("quality", clause, f"the clause does not speak of {words}")
    if may_overflow(case.op, case.arguments):
        return Why("quality", clause, "it does not speak of integers that the dtype does not hold")
    if case.group == "special" and not _is_exact(case):
        return Why("quality", clause, "the clause does not speak of such values")
    return None


def moves(case: Case) -> bool:
    """Tell whether an interface gives the elements it takes, whatever they are."""
    if case.op in _MOVING or (case.op == "scatter" and not case.arguments.get("override", True)):
        return case.op != "scatter"
    return case.interface.category == "transformation" and case.op not in _COMPUTING


def _is_exact(case: Case) -> bool:
    """Tell whether an interface is defined for every value of its integers."""
    whole = not any(x.dtype.startswith(("float", "complex")) for _, x in tensors(case.arguments))
    return whole and (case.interface.category in _EXACT or case.op in ("max", "min", "sign"))


def _asked_for(case: Case) -> Iterator[str]:
    """Give the dtypes that arguments name."""
    for name in ("dtype", "type"):
        value = case.arguments.get(name)
        if isinstance(value, str) and case.group != "status":
            yield value if value.startswith("QT_") else value.lower()


def _whole(value: Any) -> list[int]:
    some = value if isinstance(value, list | tuple) else [value]
    return [x for x in some if isinstance(x, int)]


def _length(case: Case) -> int | None:
    x, axis = case.arguments.get("input"), case.arguments.get("axis", -1)
    shape = getattr(x, "shape", ())
    return shape[axis] if isinstance(axis, int) and -len(shape) <= axis < len(shape) else None


def _dtypes_of(expected: Any) -> Iterator[str]:
    if isinstance(expected, Output):
        yield expected.dtype
    elif isinstance(expected, list | tuple):
        for one in expected:
            yield from _dtypes_of(one)


def _has_no_number(expected: Any) -> bool:
    """Tell whether a truth has NaN or an infinity."""
    if isinstance(expected, list | tuple):
        return any(_has_no_number(one) for one in expected)
    if not isinstance(expected, Output):
        return False
    first = islice(expected.truth, _LOOKED_AT)
    parts = (p for x in first for p in (x if isinstance(x, tuple) else (x,)))
    return any(isinstance(p, Real) and (p.is_nan or p.size is None) for p in parts)


def needs(case: Case) -> str:
    """Return the dtypes that a subject must have for a case, joined by hyphens."""
    own = [part for part in case.dtype.split("-") if part != "any"]
    taken = [x.dtype for _, x in tensors(case.arguments)]
    return "-".join(dict.fromkeys((*own, *taken))) or "any"
