"""Which dtypes the operators of a target take, by chip: the texts in ``dtypes``, read.

They were written by tools/cann_dtypes.py out of CANN's sources, and by ``suanzi live --dtypes`` out
of what the others answered. What they do not have is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from os import PathLike
from pathlib import Path

from suanzi.dtypes import DType, dtype
from suanzi.port.calls import Call, Taken
from suanzi.promote.operands import Role
from suanzi.standard.other_names import SWAPPED, Meaning, by_name
from suanzi.status import InvalidArgument, StatusError

_OPERANDS = ("other", "exponent", "min", "max", "weight", "end")
"""What operands are called that may be Python numbers."""
FOLDER = Path(__file__).parent / "dtypes"
COLUMNS = {"cann": "aclnn", "paddle": "paddle", "mindspore": "mindspore", "openvino": "openvino"}
"""The column of names of each target that has a list."""


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

    @property
    def text(self) -> str:
        """What is lacking, where, and what is there instead."""
        there = ", ".join(dt.name for dt in sorted(self.taken, key=lambda dt: (dt.kind, dt.bits)))
        return (
            f"{self.operator} does not take {self.dtype} on {', '.join(self.chips)}: "
            f"it takes {there or 'no dtype that suanzi has'}"
        )


_own: dict[str, str] = {}
"""Lists of the user's own, by target."""


def use_list(path: str | PathLike[str]) -> Support:
    """Take a list that ``suanzi live --dtypes --write`` wrote instead of ours, from now on."""
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
    name = target.partition("+")[0]
    if name in _own:
        return read_support(target, _own[name])
    file = FOLDER / f"{name}.txt"
    if not name.isidentifier() or not file.is_file():
        return None
    return read_support(target, file.read_text("utf-8"))


def read_support(target: str, text: str) -> Support:
    """Return what a text says of a target."""
    name = target.partition("+")[0]
    head: dict[str, list[str]] = {"source": [], "chips": [], "others": [], "asked": []}
    taken: dict[tuple[str, int], dict[str, frozenset[DType]]] = {}
    places: dict[str, int] = {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if ":" not in words:
            if words and words[0] in head:
                head[words[0]].append(line.partition(" ")[2].strip())
            continue
        at = words.index(":")
        dtypes = frozenset(dtype(word) for word in words[at + 1 :])
        numbers = [int(place) for place in words[1].split(",")]
        for place in numbers:
            here = taken.setdefault((words[0], place), {})
            here |= dict.fromkeys(words[2:at], dtypes)
        places[words[0]] = max(places.get(words[0], 0), len(numbers))
    chips = tuple(chip for line in head["chips"] for chip in line.split())
    asked = frozenset(dtype(word) for line in head["asked"] for word in line.split()) or None
    if asked is not None and target == "openvino+torch":
        # Its frontend converts what is not a floating-point number before many operators.
        asked = frozenset(dt for dt in asked if dt.kind == "float")
    others = ", ".join(head["others"])
    return Support(name, tuple(head["source"]), chips, others, asked, taken, places)


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


def lacks(
    call: Call, known: Support, chips: tuple[str, ...] = (), source: str = "torch"
) -> list[Lack] | None:
    """Return what an operator lacks for a call; None where that is not known.

    `chips` are those that matter, all that are known by default; `source` is the framework whose
    names the call has.
    """
    name = name_there(call, known, source)
    if name is None:
        return None
    tensors = {
        place: x.operand.dtype
        for place, one in enumerate(call.arguments)
        for x in (one if isinstance(one, tuple) else (one,))
        if isinstance(x, Taken) and x.operand.dtype is not None
    }
    asked = {place: dt for place, dt in tensors.items() if (name, place) in known.taken}
    if not name.startswith("aclnn"):
        # What was asked of the others: as many tensors as there are, of one dtype.
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
            found.append(Lack(name, dt, where, both))
    return list({(one.dtype, one.chips): one for one in found}.values())
