"""The basis of a case: the text of the standard, an interpretation of it, or neither.

Levels depend on normative cases and interpretations alone. A case may state its basis; for most it
follows from the call, by the first rule of `_derived` that applies, and from the errata: an erratum
with alternatives makes an interpretation of a case, one without them makes it tentative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, get_args

from suanzi.conformance.model.expected import Either, Expected, Output, Picked, Refused
from suanzi.conformance.model.gaps import gap_of
from suanzi.conformance.model.numbers import FORMATS, PARTS, Real, Value, decode
from suanzi.conformance.model.unusual import fits, has_ties, may_overflow, not_ordinary, tensors
from suanzi.conformance.subjects.wire import Data
from suanzi.standard.catalogues import STANDARD
from suanzi.standard.errata import errata

if TYPE_CHECKING:
    from suanzi.conformance.model.case import Case

Basis = Literal["normative", "interpretation", "tentative", "quality", "extension"]
BASES: tuple[Basis, ...] = get_args(Basis)
MEANING: dict[Basis, str] = {
    "normative": "required by a clause, its table, or chapters 5 and 6",
    "interpretation": "several interpretations of the text pass; or only Appendix A says it",
    "tentative": "an erratum leaves it open until the committee decides: reported, not counted",
    "quality": "not required: accuracy, signs of zeros, NaN, ties, tensors without elements",
    "extension": "dtypes, layouts and options that the standard does not have",
}
_CATALOGUE_MEANING: dict[Basis, str] = {
    **MEANING,
    "normative": "the operator's definition gives the result, within the bound of its arithmetic",
    "quality": "not required: tensors without elements, threads, memory",
    "extension": "strides that a backend may not have, and promotion by the rule set",
}
REQUIRED: frozenset[Basis] = frozenset({"normative", "interpretation"})
"""The bases that levels depend on."""

STANDARD_DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128".split()
)
"""The dtypes of clause 6.2; others are extensions, and lacking them is not a failure."""
STRIDED = frozenset({"gaps", "reversed", "repeated"})
"""Layouts that need strides, which the structures of A.1 do not have: extensions, too."""

_ALSO = {
    "create_quant_tensor": frozenset(
        f"QT_{kind}_INT{bits}" for kind in ("SYM", "CH_SYM") for bits in (8, 16)
    )
}
"""Further dtypes that a clause names; it leaves asymmetric ones to the implementation."""
_COMPLEX_OF_REAL = frozenset({"complex", "fft_r2c", "fft_c2r_backward", "eig"})
"""Interfaces that return complex numbers for real ones: for float16, a dtype that 6.2 lacks."""
_AXES = ("axis", "axes", "dim0", "dim1", "start_axis", "stop_axis", "perm")
_MOVING = frozenset({"view", "copy", "query"})
"""Forms whose results are elements of the operands, or do not depend on elements."""
_ALSO_MOVING = frozenset({"create_tensor", "wrap_tensor", "where"})
_EXACT = frozenset({"comparison", "logical", "bitwise"})
"""Categories that are defined for every integer and bool."""
_STRETCHED_BEYOND = {
    "pow": "the clause requires equal shapes",
    "clip": "the clause has numbers as bounds",
    "clip_backward": "the clause has numbers as bounds",
    "masked_select": "the clause does not mention a mask of another shape",
    "solve": "the clause does not mention different batches",
}
_PAIR = ("x", "y", "e", "a")
_GRADIENTS = frozenset({"out_grad", "grad_out", "grad_y"})
_OF_SPECIAL_VALUES = frozenset({"E86", "E90", "E139"})
"""Errata about ties, domains and poles, infinities."""
_LOOKED_AT = 4096
"""How many elements of a truth are examined: the others are of the same kinds."""


@dataclass(frozen=True)
class Why:
    """The basis of a case, and the reason."""

    basis: Basis
    clause: str
    """The clause, or the erratum of an interpretation."""
    sentence: str
    """What it says, paraphrased."""
    catalogue: str = STANDARD

    def __str__(self) -> str:
        return f"{labels(self.catalogue)[self.basis]}, {self.clause}: {self.sentence}"


def labels(of: str) -> dict[Basis, str]:
    """Return how reports about a catalogue name a basis: what has no text is not normative."""
    return {one: one for one in BASES} | ({} if of == STANDARD else {"normative": "required"})


def meanings(of: str) -> dict[Basis, str]:
    """Return what a basis means for the cases of a catalogue."""
    return MEANING if of == STANDARD else _CATALOGUE_MEANING


def why(case: Case, expected: Expected | None = None) -> Why:
    """Return the basis of a case; the expectation makes it more precise, where it is known."""
    if case.interface.catalogue != STANDARD:
        return _of_catalogue(case)
    found = _derived(case)
    if expected is None and case.disputed and found.basis != "extension":
        expected = case.expect()
    if expected is not None and found.basis != "extension":
        found = _with_truth(case, expected, found)
    open_ = found.basis in REQUIRED and case.skip is None and case.basis is None
    # A case of scalars states that the text defines them, not what an erratum leaves open of them.
    scalars = found.basis == "quality" and case.basis == "normative"
    if (open_ or scalars) and (gap := gap_of(case)) is not None:
        found = Why("tentative", gap, _undecided(gap))
        return replace(found, sentence=case.because) if case.because and open_ else found
    if case.basis is not None and case.basis != found.basis:
        clause = case.interface.clause if case.basis == "normative" else found.clause
        found = Why(case.basis, clause, f"as the case of {case.op} states")
    return replace(found, sentence=case.because) if case.because else found


@cache
def _undecided(erratum: str) -> str:
    """Return what an erratum leaves open, in words."""
    return next(one.tentative for one in errata() if one.id == erratum)


def _with_truth(case: Case, expected: Expected, found: Why) -> Why:
    if isinstance(expected, Either):
        # No interpretation requires what no clause defines, but for those of special values.
        undefined = found.basis == "quality" and expected.erratum not in _OF_SPECIAL_VALUES
        return found if undefined else _of_readings(expected)
    if isinstance(expected, Refused) and found.basis == "normative":
        return _of_refusal(case, expected)
    for dtype in _dtypes_of(expected):
        if dtype not in STANDARD_DTYPES | _ALSO.get(case.op, frozenset()):
            return Why(
                "extension", "6.2", f"the result is {dtype}, which is not a dtype of the standard"
            )
    if found.basis == "normative" and not moves(case) and _has_no_number(expected):
        return replace(
            found,
            basis="quality",
            sentence="the clause does not define results that are not finite numbers of the dtype",
        )
    return found


def _derived(case: Case) -> Why:
    clause = case.interface.clause
    for rule in (_between_calls, _extends, _of_status, _of_example, _of_quality):
        found = rule(case, clause)
        if found is not None:
            return found
    table = f"Table {case.interface.table}"
    given = [x for _, x in tensors(case.arguments)]
    if any(x.sparse is not None for x in given):
        return Why("interpretation", "E135", "5.6 leaves open which interfaces take sparse tensors")
    if any(x.layout == "columns" or x.min2maj is not None for x in given):
        return Why("normative", "6.4", "axes may have any order in memory, given by min2maj")
    if any(x.layout == "offset" for x in given):
        return Why("interpretation", "A.1", "elements may begin at an offset, as in the structures")
    if case.group == "broadcast" and case.interface.category != "linear algebra":
        return Why(
            "normative", "5.4", "tensors of different shapes are broadcast to a common shape"
        )
    if case.group in ("plain", "random"):
        outputs = ", ".join(case.interface.outputs) or "nothing"
        return Why("normative", clause, f"the clause defines {outputs} for the inputs of {table}")
    return Why(
        "normative", clause, f"the clause defines the function for the parameters of {table}"
    )


def _of_catalogue(case: Case) -> Why:
    """Return the basis of a case of another catalogue, whose definitions give every result."""
    basis, sentence = _in_a_catalogue(case)
    basis = case.basis or basis
    sentence = sentence if case.group == "calls" else case.because or sentence
    return Why(basis, case.interface.clause, sentence, case.interface.catalogue)


def _in_a_catalogue(case: Case) -> tuple[Basis, str]:
    if case.group == "promotion":
        return "extension", f"promotion by the rule set {case.rules}"
    strided = [x.layout for _, x in tensors(case.arguments) if x.layout in STRIDED]
    if strided:
        return "extension", f"not every backend has such strides ({strided[0]})"
    if case.group == "status":
        return "normative", "the record lists the statuses of such calls"
    if case.group == "empty" or any(0 in x.shape for _, x in tensors(case.arguments)):
        return "quality", "a tensor without elements"
    if case.group == "example":
        return "normative", "a worked example of the record"
    if case.group == "calls":
        return "normative", "calls do not change what others returned, and keep no memory"
    return "normative", "the operator's definition gives the result, within the bound that follows"


def _between_calls(case: Case, clause: str) -> Why | None:
    """Return the basis of what calls do to one another, which such a case states itself."""
    return Why(case.basis or "normative", clause, case.because) if case.group == "calls" else None


def _extends(case: Case, clause: str) -> Why | None:
    """Return which extension a case is, if it is one."""
    if case.group == "promotion" and case.rules != "strict":
        return Why("extension", "O1", f"promotion by the rule set {case.rules}; no clause promotes")
    parts = case.dtype.split("-")
    known = STANDARD_DTYPES | _ALSO.get(case.op, frozenset()) | {"any"}
    for dtype in (*parts, *(x.dtype for _, x in tensors(case.arguments)), *_asked_for(case)):
        if dtype not in known:
            return Why("extension", "6.2", f"{dtype} is not a dtype of the standard")
    if case.op in _COMPLEX_OF_REAL and "float16" in parts and case.group != "status":
        return Why(
            "extension", "6.2", "the result is complex32, which is not a dtype of the standard"
        )
    if case.group != "status" and (words := _beyond_the_table(case)) is not None:
        return Why("extension", clause, words)
    for _, x in tensors(case.arguments):
        if x.layout in STRIDED:
            return Why("extension", "6.4", f"the standard has no strides ({x.layout})")
    if case.group == "status":
        return None
    if case.interface.form != "along":  # whose clauses define negative axes
        for name in _AXES:
            if any(axis < 0 for axis in _whole(case.arguments.get(name))):
                return Why(
                    "extension", clause, f"the clause does not define negative values of {name}"
                )
    if case.group == "broadcast" and case.op in _STRETCHED_BEYOND:
        return Why("extension", clause, _STRETCHED_BEYOND[case.op])
    if case.op == "topk" and case.arguments["k"] == _length(case):
        return Why(
            "extension", clause, "the clause requires k to be less than the size of the axis"
        )
    return None


def _beyond_the_table(case: Case) -> str | None:
    """Return how an argument is of another kind than the table has, in words."""
    table = f"Table {case.interface.table}"
    if case.op in ("clip", "clip_backward"):
        bounds = (case.arguments.get(name) for name in ("low", "high"))
        return f"the bounds of {table} are numbers" if any(map(_is_tensor, bounds)) else None
    if case.interface.form != "elementwise" and case.group != "promotion":
        return None
    given = [case.arguments[name] for name in _PAIR if name in case.arguments]
    some = [x for x in given if not isinstance(x, str)]
    return f"the operands of {table} are tensors" if not all(map(_is_tensor, some)) else None


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Data)


def _of_example(case: Case, clause: str) -> Why | None:
    if case.group != "example" or case.title.startswith("ours"):
        return None
    if _chooses(case):
        return Why("quality", clause, _TIES)
    return Why(
        "interpretation", clause.replace("7.2", "A.2", 1), "a worked example, which is informative"
    )


def _of_status(case: Case, clause: str) -> Why | None:
    if case.group != "status":
        return None
    if case.skip is not None:
        return Why("normative", clause, "the clause lists a status that cannot be provoked here")
    if any(0 in x.shape for _, x in tensors(case.arguments)):
        return Why("quality", clause, "the standard does not define tensors without elements")
    expected = case.expect()
    if isinstance(expected, Either):
        return _of_readings(expected)
    if not isinstance(expected, Refused):
        return Why("normative", clause, "the clause lists SUCCESS, and the arguments are valid")
    return _of_refusal(case, expected)


def _of_readings(expected: Either) -> Why:
    names = " or ".join(expected.readings)
    return Why("interpretation", expected.erratum, f"it can be interpreted as {names}")


def _of_refusal(case: Case, expected: Refused) -> Why:
    clause = case.interface.clause
    listed = [s.name for s in expected.statuses if s in case.interface.statuses]
    if expected.others and listed:
        return Why(
            "normative",
            clause,
            "the call is invalid; no status is tied to it, so any listed one will do",
        )
    if listed:
        return Why("normative", clause, f"the clause names {' and '.join(listed)} for such a call")
    names = " and ".join(s.name for s in expected.statuses)
    return Why("quality", clause, f"the clause does not list {names}")


def _of_quality(case: Case, clause: str) -> Why | None:
    """Return what the standard does not define, if a case is about that."""
    given = list(tensors(case.arguments))
    if case.group == "empty":
        return Why(
            "quality", clause, "the standard does not define tensors without elements or axes"
        )
    for name, x in given:
        if 0 in x.shape or (not x.shape and name not in _GRADIENTS):
            return Why("quality", clause, f"it does not define {name} of shape {list(x.shape)}")
    facts = case.interface
    if _chooses(case):
        return Why("quality", clause, _TIES)
    if case.op == "cast" and not all(fits(x, str(case.arguments.get("type"))) for _, x in given):
        return Why("quality", clause, "the clause does not define the conversion of other numbers")
    if moves(case) or facts.category == "query":
        return None
    for _, x in given:
        if (words := not_ordinary(x)) is not None:
            return Why("quality", clause, f"the clause does not define results for {words}")
    if may_overflow(case.op, case.arguments):
        return Why("quality", clause, "it does not define integers outside the range of the dtype")
    if case.group == "special" and not _is_exact(case):
        return Why("quality", clause, "the clause does not define results for such values")
    return None


_TIES = "the clause does not define the order of equal elements"


def _chooses(case: Case) -> bool:
    """Tell whether indices of equal elements are asked for."""
    if case.interface.form != "along" or case.interface.category != "indexing":
        return False
    axis = case.arguments.get("axis", -1)
    values = [x for name, x in tensors(case.arguments) if name == "input"]
    return any(has_ties(x, axis if isinstance(axis, int) else -1) for x in values)


def moves(case: Case) -> bool:
    """Tell whether a call returns elements of its operands, whatever they are."""
    if case.op == "scatter" and not case.arguments.get("override", True):
        return False
    return case.interface.form in _MOVING or case.op in _ALSO_MOVING


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
    """Tell whether a truth has NaN or an infinity, or a number that its dtype does not reach."""
    if isinstance(expected, list | tuple):
        return any(_has_no_number(one) for one in expected)
    if not isinstance(expected, Output):
        return False
    truth = expected.truth
    if isinstance(truth, Picked):  # of few different values
        first: Iterator[Value] = (truth.base[k] for k in {*islice(truth.which, _LOOKED_AT)})
    else:
        first = islice(truth, _LOOKED_AT)
    parts = (p for x in first for p in (x if isinstance(x, tuple) else (x,)))
    form = FORMATS.get(PARTS.get(expected.dtype, expected.dtype))
    most = None if form is None else decode(form, form.largest).value
    return any(
        isinstance(p, Real) and (p.is_nan or p.size is None or (most is not None and p.size > most))
        for p in parts
    )


def needs(case: Case) -> str:
    """Return the dtypes that a subject must have for a case, joined by hyphens."""
    own = [part for part in case.dtype.split("-") if part != "any"]
    taken = [x.dtype for _, x in tensors(case.arguments)]
    return "-".join(dict.fromkeys((*own, *taken))) or "any"
