"""Which dtypes the operators of a target take, by chip (the texts in ``dtypes``), and SZ004.

The texts were written by tools/cann_dtypes.py from CANN's sources, and by ``suanzi live --dtypes``
from what the others answered. Anything they do not list is unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from suanzi.base.dtypes import DType, dtype
from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument, StatusError
from suanzi.port.available import Kernel, computes, table
from suanzi.port.findings import Verdict
from suanzi.promote.fixes import Fix, cast_code
from suanzi.promote.operands import Role
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import contains, loss
from suanzi.recording.calls import Call, Taken
from suanzi.standard.other_names import SWAPPED, Meaning, by_name

_OPERANDS = ("other", "exponent", "min", "max", "weight", "end")
"""What operands are called that may be Python numbers."""
FOLDER = Path(__file__).parent / "dtypes"
COLUMNS = {"cann": "aclnn", "paddle": "paddle", "mindspore": "mindspore", "openvino": "openvino"}
"""The column of names of each target that has a list."""
_LISTS = {"torch_npu": "cann"}
"""Targets whose operators are those of another one."""


@dataclass(frozen=True)
class Support:
    """What is known of one target."""

    target: str
    sources: tuple[str, ...]
    chips: tuple[str, ...]
    others: str
    """Chips of which nothing is known; empty where all that matter are."""
    asked: frozenset[DType] | None
    """The dtypes of which it is known; None for all."""
    taken: dict[tuple[str, int], dict[str, frozenset[DType]]]
    """By operator and place of an argument, then by chip."""
    places: dict[str, int]
    """Of each operator, how many places are known."""
    documented: frozenset[str]
    """Operators whose dtypes are those of their page."""

    def full(self, name: str) -> str:
        """Return a name as the list has it, with its module; empty where it has none."""
        return self._by_key.get(_key(name), "")

    def first(self, row: Meaning) -> str:
        """Return what the target calls a row of the table of names, where the list has that."""
        return self.full(next(iter(row.names.get(COLUMNS.get(self.target, ""), ())), ""))

    @cached_property
    def _by_key(self) -> dict[str, str]:
        return {_key(name): name for name in self.places}


def _key(name: str) -> str:
    """Return what of a name counts: `is_nan` is also the operation type `IsNaN`."""
    return name.rpartition(".")[2].replace("_", "").lower()


@dataclass(frozen=True)
class Lack:
    """An argument of a dtype that an operator does not take."""

    operator: str
    """As the target calls it."""
    dtype: DType
    chips: tuple[str, ...]
    """Where it is lacking."""
    taken: frozenset[DType]
    """What is taken on all of them."""
    is_documented: bool = False
    """Whether that is known from a page, not from the check of arguments itself."""

    @property
    def about(self) -> str:
        """The dtype that is not supported, and where."""
        return f"no {self.dtype} on {', '.join(self.chips)}"

    @property
    def text(self) -> str:
        """The dtype that is not supported, where, and the dtypes that are."""
        there = ", ".join(dt.name for dt in sorted(self.taken, key=lambda dt: (dt.kind, dt.bits)))
        page = ", by its documentation" * self.is_documented
        return (
            f"{self.operator} does not take {self.dtype} on {', '.join(self.chips)}{page}: "
            f"it takes {there or 'no dtype that suanzi has'}"
        )


_own: dict[str, str] = {}
"""Lists of the user's own, by target."""


def use_list(path: str | PathLike[str]) -> Support:
    """Use a list that ``suanzi live --dtypes --write`` wrote instead of suanzi's."""
    try:
        text = Path(path).read_text("utf-8")
        target = next(x.split()[1] for x in text.splitlines() if x.startswith("target "))
        found = read_support(target, text)
    except OSError as error:
        raise InvalidArgument(f"dtypes: {str(path)!r} cannot be read: {error.strerror}.") from None
    except (StopIteration, StatusError, ValueError, LookupError):
        raise InvalidArgument(
            f"dtypes: {str(path)!r} is not a list of dtypes; "
            "`suanzi live paddle --dtypes --write FILE` writes one."
        ) from None
    _own[target] = text
    support.cache_clear()
    return found


@cache
def support(target: str) -> Support | None:
    """Return what is known of a target; None where that is nothing.

    >>> support("cann").chips, support("openvino+torch").target, support("jax")
    (('910', '310p', '910b', '950'), 'openvino', None)
    """
    name = _LISTS.get(target, target.partition("+")[0])
    if name in _own:
        return read_support(_LISTS.get(target, target), _own[name])
    file = FOLDER / f"{name}.txt"
    if not name.isidentifier() or not file.is_file():
        return None
    return read_support(_LISTS.get(target, target), file.read_text("utf-8"))


def read_support(target: str, text: str) -> Support:
    """Read the list of a target."""
    name = target.partition("+")[0]
    head: dict[str, list[str]] = {"source": [], "chips": [], "others": [], "asked": []}
    taken: dict[tuple[str, int], dict[str, frozenset[DType]]] = {}
    places: dict[str, int] = {}
    documented = set()
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if ":" not in words:
            if words and words[0] in head:
                head[words[0]].append(line.partition(" ")[2].strip())
            continue
        at = words.index(":")
        dtypes = frozenset(dtype(word) for word in words[at + 1 :])
        if words[at - 1] == "page":
            at -= 1
            documented.add(words[0])
        numbers = [int(place) for place in words[1].split(",")]
        for place in numbers:
            here = taken.setdefault((words[0], place), {})
            here |= dict.fromkeys(words[2:at], dtypes)
        places[words[0]] = max(places.get(words[0], 0), len(numbers))
    chips = tuple(chip for line in head["chips"] for chip in line.split())
    asked = frozenset(dtype(word) for line in head["asked"] for word in line.split()) or None
    if asked is not None and target == "openvino+torch":
        # Its frontend converts other dtypes to floating point before many operators.
        asked = frozenset(dt for dt in asked if dt.kind == "float")
    others = ", ".join(head["others"])
    sources = tuple(head["source"])
    return Support(name, sources, chips, others, asked, taken, places, frozenset(documented))


def name_there(call: Call, known: Support, source: str = "torch") -> str | None:
    """Return what the target calls the operator of a call; None where that is not known.

    With a Python number CANN has another operator, and in place a third one.
    """
    row = by_name(source).get(call.operator) or by_name("torch").get(call.operator)
    first = call.arguments[0] if call.arguments else None
    swapped = isinstance(first, Taken) and first.operand.role is Role.NUMBER
    swapped |= call.operator in SWAPPED and call.operator != "rsub"
    if row is None or swapped:
        return None
    others = [*call.arguments[1:3], *(x for word, x in call.named if word in _OPERANDS)]
    numbers = any(isinstance(x, Taken) and x.operand.role is Role.NUMBER for x in others)
    by_number = known.target == "cann" and numbers and row.with_number
    name = known.full(by_number) if by_number else known.first(row)
    if call.way in ("in-place", "in-place method"):
        name = known.full(name.replace("aclnn", "aclnnInplace", 1)) or name
    return name or None


def _with_number(call: Call) -> str | None:
    row = by_name("torch").get(call.operator)
    return row.with_number if row is not None else None


def _kernel(call: Call, known: Support, source: str) -> Kernel | None:
    """Return the aclnn function that torch_npu calls for an operator, if its dtypes are known."""
    if known.target != "cann" or source != "torch":
        return None
    there = table("torch_npu")
    assert there is not None
    found = there.kernels.get(call.operator)
    return found if found is not None and found.function in known.places else None


def lacks(
    call: Call, known: Support, chips: tuple[str, ...] = (), source: str = "torch"
) -> list[Lack] | None:
    """Return what an operator lacks for a call; None where that is not known.

    `chips` are those that matter, all that are known by default; `source` is the framework whose
    names the call has.
    """
    tensors = {
        place: x.operand.dtype
        for place, one in enumerate(call.arguments)
        for x in (one if isinstance(one, tuple) else (one,))
        if isinstance(x, Taken) and x.operand.dtype is not None
    }
    if call.operator == "embedding" and len(tensors) > 1 and tensors[0].kind != "float":
        # F.embedding(index, weight) is embedding(weight, index) of aten and of aclnn.
        tensors |= {0: tensors[1], 1: tensors[0]}
    kernel, name = _kernel(call, known, source), name_there(call, known, source)
    if kernel is not None and (name is None or (call.way is None and name != _with_number(call))):
        name = kernel.function
        placed = {kernel.places[at]: dt for at, dt in tensors.items() if at in kernel.places}
        tensors = placed if kernel.places else {0: call.result} if call.result else {}
    if name is None:
        return None
    asked = {place: dt for place, dt in tensors.items() if (name, place) in known.taken}
    if not name.startswith("aclnn"):
        # The others were probed with all of their tensors in one dtype.
        if len(asked) != known.places[name] or len(set(asked.values())) != 1:
            return None
        asked = dict(list(asked.items())[:1])
    if known.asked is not None and not known.asked.issuperset(asked.values()):
        return None
    found = []
    for place, dt in asked.items():
        here = known.taken[name, place]
        where = tuple(c for c in chips or known.chips if c in here and dt not in here[c])
        if where:
            both = frozenset.intersection(*(here[chip] for chip in where))
            found.append(Lack(name, dt, where, both, name in known.documented))
    return list({(one.dtype, one.chips): one for one in found}.values())


class Dtypes:
    """What a target's operators take of the calls of a program, as far as it is known."""

    def __init__(
        self,
        rules: RuleSet,
        on: tuple[str, ...] = (),
        source: str = "torch",
        written: RuleSet | None = None,
    ) -> None:
        self.rules, self.source, self.written = rules, source, written or rules
        self.known = support(rules.name)
        self.chips = tuple(c for c in on if self.known is not None and c in self.known.chips)
        self.judged = 0
        """Calls whose dtypes were looked up."""
        self.partly: Counter[str] = Counter()
        """By chip, calls that lack their dtype there and have it elsewhere."""
        self.unlisted: Counter[str] = Counter()
        """Operators of which it is not known, with their calls."""

    @property
    def is_asked(self) -> bool:
        """Whether dtypes are judged: a chip was named, or all that matter are known."""
        return self.known is not None and bool(self.chips or not self.known.others)

    def judge(self, call: Call) -> list[Verdict]:
        """Return a verdict for each dtype that the operator of a call lacks."""
        if not self.is_asked:
            return []
        assert self.known is not None
        found = lacks(call, self.known, self.chips, self.source)
        if found is None:
            if computes(call, self.source):
                self.unlisted[call.operator] += call.count
            return []
        self.judged += call.count
        wanted = self.chips or self.known.chips
        whole = [one for one in found if one.chips == wanted or self.chips]
        for chip in wanted:
            if any(chip in one.chips for one in found if one not in whole):
                self.partly[chip] += call.count
        return [
            Verdict("SZ004", None, None, one.text, self.fix(one, call), _question(call), one.about)
            for one in whole
        ]

    def fix(self, one: Lack, call: Call) -> Fix | None:
        """Return the cast to a dtype that is taken: one that holds all values, or the widest."""
        options = [dt for dt in one.taken if dt.kind not in ("bool",)]
        holding = [dt for dt in options if contains(dt, one.dtype)]
        alike = [dt for dt in options if dt.kind == one.dtype.kind]
        best: DType | None = None
        if holding:
            best = min(holding, key=lambda dt: (dt.bits, dt.kind != one.dtype.kind, dt.name))
        elif alike:
            best = max(alike, key=lambda dt: (dt.bits, dt.name))
        if best is None:
            return None
        lost = loss(one.dtype, best)
        back = ", and back after it" * (call.result is one.dtype)
        text = f"cast {one.dtype} to {best} before it{back}"
        return Fix(text + (f": {lost}" if lost else ""), cast_code(self.written, "x", best))

    @property
    def unchecked(self) -> bool:
        """Whether dtypes of operators were not looked at, for some chips or some operators."""
        return (self.known is not None and not self.is_asked) or bool(self.unlisted)

    def notes(self) -> list[str]:
        """Return notes about dtypes known for some chips only, and about unknown operators."""
        name = self.rules.name
        said = []
        if self.known is not None and not self.is_asked:
            chips = ",".join(self.known.chips)
            said.append(
                f"not checked, dtypes of {name}'s operators: known for {chips} only "
                f"(add --on {chips})"
            )
        for chip, count in self.partly.items():
            calls = "1 call uses" if count == 1 else f"{count} calls use"
            said.append(
                f"{calls} dtypes that {name} does not support on {chip} (details: --on {chip})"
            )
        if self.unlisted:
            many = len(self.unlisted)
            said.append(
                f"not checked, dtypes of {many} operator{'s' * (many != 1)}: unknown for {name} "
                "(--json lists them)"
            )
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as plain data."""
        return {
            "sources": list(self.known.sources) if self.known else [],
            "chips": list(self.chips or (self.known.chips if self.known else ())),
            "judged": self.judged,
            "partly": dict(self.partly),
            "unlisted": dict(self.unlisted),
        }


def check_chips(on: Iterable[str], targets: Iterable[RuleSet]) -> tuple[str, ...]:
    """Return the chips that were named; raise for one that no target has.

    >>> from suanzi.promote.library import rule_set
    >>> check_chips(["910B"], [rule_set("cann")])
    ('910b',)
    """
    asked = tuple(chip.strip().lower() for chip in on if chip.strip())
    found = [support(rules.name) for rules in targets]
    known = list(dict.fromkeys(chip for one in found if one is not None for chip in one.chips))
    for chip in asked:
        if chip not in known:
            said = f"known are {', '.join(known)}" if known else "no chips of the targets are known"
            raise InvalidArgument(f"port: unknown chip {chip!r}; {said}.{nearest(chip, known)}")
    return asked


def _question(call: Call) -> str:
    """Return the operator and its operands as the other findings show them."""
    shown = []
    for x in (*call.arguments, *(x for _, x in call.named)):
        if isinstance(x, tuple):
            shown += [str(one.operand) for one in x]
        elif isinstance(x, Taken) and x.operand.role is not Role.NUMBER:
            shown.append(str(x.operand))
    return f"{call.operator}({', '.join(shown)})"
