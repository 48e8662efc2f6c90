"""Makes the calls that were kept again, each on its own inputs and chained, and compares results.

Computed by suanzi's operators under the rules of both, results differ by the rules alone; what is
the program's own result under either of them does not depart. In a live target, the results of the
program itself are compared with. A call that suanzi's operators do not reproduce under the source's
rules is not replayed, and says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isinf
from typing import Any

from suanzi.base.lang import said, say
from suanzi.base.text import columns, printable
from suanzi.port.given import OWN_GRADIENTS
from suanzi.port.layout import shortened, statement_at
from suanzi.port.operators import known
from suanzi.port.replay.computing import Live, Own, Refused, made_of
from suanzi.port.replay.errors import Error, compare
from suanzi.port.replay.kept import Inputs, Kept, Value
from suanzi.port.replay.meaning import GIVEN, Name, Unknown
from suanzi.port.replay.moving import MEANINGS
from suanzi.port.tabulated import Tables, is_weak
from suanzi.promote.library import rule_set
from suanzi.promote.rules import RuleSet
from suanzi.recording.calls import Call, Calls, Taken, Where

REPRODUCED = 64.0
"""Units in the last place of the largest element by which suanzi's operators may differ from the
program's framework in a call that counts as reproduced; products and sums have other orders."""
NOISE = 4.0
"""Units by which a live target's results may differ without departing: other orders of sums."""
_SHOWN = 20


@dataclass
class Line:
    """A line of the program, and how far its results are from what they were."""

    where: Where | None
    operators: list[str] = field(default_factory=list)
    calls: int = 0
    own: float = 0.0
    """The largest error on own inputs, in units in the last place of the largest element."""
    chained: float = 0.0
    """The same with the errors of the calls before it."""
    ulp: float = 0.0
    """The largest error of an element, chained, in units in its own last place."""
    cosine: float = 1.0
    """The least cosine, chained."""
    dtypes: str = ""
    """The dtype that came out and the one that it was, where they differ."""
    departs: bool = False
    refused: str = ""

    @property
    def place(self) -> str:
        """File and line."""
        where = self.where
        return "?" if where is None else f"{shortened(where.file)}:{where.line}"

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain data."""
        where = self.where
        return {
            "file": where and where.file, "line": where and where.line,
            "layer": where.layer if where else "", "operators": self.operators, "calls": self.calls,
            "own": _finite(self.own), "chained": _finite(self.chained),
            "max_ulp": _finite(self.ulp),
            "cosine": self.cosine, "dtypes": self.dtypes, "departs": self.departs,
            "refused": self.refused,
        }  # fmt: skip


@dataclass
class Replayed:
    """The calls of a program, made again under one target."""

    target: str
    how: str
    """Who computed: the rules by suanzi's operators, or a framework and its version."""
    lines: list[Line]
    replayed: int
    given: int
    """Calls that make or draw tensors, which were taken as they were."""
    left: Counter[str]
    """Why other calls were not replayed, and how many."""
    dropped: int
    """Calls for which there was no room."""
    noise: float
    """The largest difference of suanzi's operators from the program's framework."""
    is_live: bool = False

    @property
    def departing(self) -> list[Line]:
        """The lines that depart, in order."""
        return [one for one in self.lines if one.departs or one.chained > self.limit]

    @property
    def limit(self) -> float:
        """How far results may be apart that count as the same."""
        return NOISE if self.is_live else 0.0

    def __str__(self) -> str:
        done = f"{self.replayed} call{'s' * (self.replayed != 1)} replayed"
        lines = [say(f"replay, {self.target} {self.how}: {done}")]
        first = next((one for one in self.lines if one.departs), None)
        if first is None:
            lines.append("  " + say("no line departs"))
        else:
            source = statement_at(first.where) if first.where is not None else ""
            lines.append(f"  {say('first line that departs')}: {first.place}  {source}".rstrip())
        shown = self.departing
        if shown:
            header = ("line", "layer", "calls", "own", "chained", "max ULP", "cosine", "")
            rows = [
                (one.place, (one.where.layer if one.where else "") or "-", str(one.calls),
                 _shown(one.own), _shown(one.chained), _shown(one.ulp), f"{one.cosine:.6f}",
                 say(f"refused: {one.refused}" if one.refused else one.dtypes))
                for one in shown[:_SHOWN]
            ]  # fmt: skip
            lines += [
                f"  {line}".rstrip() for line in columns([*said([header]), *rows]).splitlines()
            ]
        if len(shown) > _SHOWN:
            lines.append("  " + say(f"and {len(shown) - _SHOWN} more lines (--json lists them)"))
        lines += [f"  {say(note)}" for note in self.notes()]
        return "\n".join(printable(line) for line in lines)

    def notes(self) -> list[str]:
        """Return what was not replayed, and why."""
        said = []
        if self.given:
            said.append(f"{self.given} calls make tensors of numbers, and were taken as they were")
        if self.left:
            names = ", ".join(f"{why} ({n})" for why, n in sorted(self.left.items()))
            said.append(f"not replayed, {sum(self.left.values())} calls: {names}")
        if self.dropped:
            said.append(f"not kept, {self.dropped} calls: --replay-bytes allows more")
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain data."""
        first = next((one for one in self.lines if one.departs), None)
        return {
            "target": self.target, "how": self.how, "replayed": self.replayed,
            "given": self.given, "left": dict(self.left), "dropped": self.dropped,
            "noise_ulp": _finite(self.noise), "first": first and first.to_dict(),
            "lines": [one.to_dict() for one in self.lines],
        }  # fmt: skip


def _finite(x: float) -> float | None:
    return None if isinf(x) else x


def _shown(ulp: float) -> str:
    return "inf" if isinf(ulp) else f"{ulp:.3g}"


def replay(
    calls: Calls,
    kept: Inputs,
    target: RuleSet,
    live: Live | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Replayed:
    """Return how far the results of a program are from those under a target.

    With `live` the target itself computes, and is compared with the program's own results.
    """
    run = _Run(calls, kept, target, live)
    for i, one in enumerate(kept.calls):
        progress(i, len(kept.calls))
        run.one(one)
    how = f"by {live.title}" if live is not None else "by its rules"
    return Replayed(
        target.name, how, list(run.lines.values()), run.replayed, run.given, run.left,
        kept.dropped, run.noise, live is not None,
    )  # fmt: skip


def weak_calls(calls: Calls) -> frozenset[int | None]:
    """Return the calls whose results were made of Python numbers alone."""
    weak: set[int | None] = set()
    promotes = known(calls.framework).promotes
    for call in calls.calls:
        if is_weak(call, weak, call.operator in promotes, calls.framework):
            weak.add(call.number)
    return frozenset(weak)


class _Run:
    """The values of tensors so far: as they were, by the source's rules, and by the target's."""

    def __init__(self, calls: Calls, kept: Inputs, target: RuleSet, live: Live | None) -> None:
        source = calls.rules or rule_set(calls.framework)
        self.calls, self.kept, self.target, self.live = calls.calls, kept, target, live
        self.source = Own(source)
        self.there: Own | Live = live if live is not None else Own(target)
        self.casts = Own(source)
        self.made = {there.name: here.name for there, here in target.made.items()}
        self.tables = Tables(source, target, target)
        self.weak = weak_calls(calls) if target.name.startswith("jax") else frozenset()
        self.here_chain: dict[int, Value] = {}
        self.there_chain: dict[int, Value] = {}
        self.lines: dict[object, Line] = {}
        self.left: Counter[str] = Counter()
        self.replayed = self.given = 0
        self.noise = 0.0

    def one(self, kept: Kept) -> None:
        if kept.backward and self.target.name.startswith(OWN_GRADIENTS):
            self.left["gradients, which the target computes by itself"] += 1
            return
        if kept.operator in GIVEN:
            self.given += 1
            self.take(kept)
            return
        try:
            self.replay(kept)
        except Unknown as why:
            self.left[str(why)] += 1
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            # Arguments of a form that the table does not have.
            self.left[f"{kept.operator} with other arguments ({type(error).__name__})"] += 1

    def take(self, kept: Kept) -> None:
        """Give what was made of numbers the dtype that the target makes it of."""
        call = self.calls[kept.number]
        for _, was, there in self.tables.known(call):
            for number in kept.results:
                x = None if number is None else self.kept.values.get(number)
                if x is not None and x.dtype == was.name and there.name != self.made.get(x.dtype):
                    self.there_chain[number] = self.casts("cast", input=x, type=there.name)  # type: ignore[index]

    def replay(self, kept: Kept) -> None:
        meaning = MEANINGS.get(kept.operator)
        if meaning is None:
            raise Unknown(f"unknown operator {kept.operator}")
        call = self.calls[kept.number]
        if call.autocast is not None:
            raise Unknown("under autocast")
        wanted = [self.kept.values.get(-1 if n is None else n) for n in kept.results]
        if wanted[0] is None:
            raise Unknown(f"{kept.operator}: its result was not kept")
        plain = self.arguments(kept, {})
        here = self.computed(meaning, self.source, plain, wanted[0].dtype, kept)
        for found, was in zip(here, wanted, strict=False):
            error = compare(found, was) if was is not None else None
            if error is None or found.dtype != was.dtype or error.scaled > REPRODUCED:  # type: ignore[union-attr]
                raise Unknown(f"{kept.operator} is not reproduced by suanzi's operator")
            self.noise = max(self.noise, error.scaled)
        self.compare(kept, call, meaning, plain, here, [x for x in wanted if x is not None])

    def compare(
        self, kept: Kept, call: Call, meaning: Any, plain: Any, here: Sequence[Value],
        wanted: Sequence[Value],
    ) -> None:  # fmt: skip
        refused: list[str] = []
        chained = self.arguments(kept, self.here_chain)
        here_chain = here if chained == plain else self.computed(
            meaning, self.source, chained, wanted[0].dtype, kept
        )  # fmt: skip
        own = self.in_target(kept, call, meaning, plain, here, refused)
        given = self.arguments(kept, self.there_chain)
        there_chain = own if given == plain else self.in_target(
            kept, call, meaning, given, here_chain, refused
        )  # fmt: skip
        self.replayed += 1
        line = self.line(kept, refused)
        for i, number in enumerate(kept.results[: len(own)]):
            error = self.apart(own[i], wanted[i], here[i])
            self.add(line, error, self.apart(there_chain[i], wanted[i], here_chain[i]))
            if number is not None:
                self.here_chain[number], self.there_chain[number] = here_chain[i], there_chain[i]

    def apart(self, found: Value, wanted: Value, here: Value) -> Error:
        """Return how far a result is from the program's, or from suanzi's if that is nearer.

        PyTorch computes some float16 in float32: what only differs from one of them is no change.
        """
        errors = [compare(found, wanted)]
        if self.live is None:
            errors.append(compare(found, here))
        return min(errors, key=lambda one: one.scaled)

    def add(self, line: Line, error: Error, carried: Error) -> None:
        line.own, line.chained = max(line.own, error.scaled), max(line.chained, carried.scaled)
        line.ulp = max(line.ulp, carried.ulp)
        line.cosine = min(line.cosine, carried.cosine)
        there = self.made.get(error.wanted, error.wanted)
        if error.dtype not in (error.wanted, there):
            line.departs, line.dtypes = True, line.dtypes or f"{error.dtype}, was {error.wanted}"
        limit = 0.0 if self.live is None else NOISE
        line.departs |= error.scaled > limit

    def in_target(
        self, kept: Kept, call: Call, meaning: Any, arguments: Any, here: Sequence[Value],
        refused: list[str],
    ) -> Sequence[Value]:  # fmt: skip
        """Compute under the target; what it refuses is computed as before, and named."""
        args = made_of(self.weakened(call, arguments[0]), self.made, self.casts)
        kwargs = {word: made_of(x, self.made, self.casts) for word, x in arguments[1].items()}
        result = self.result(call)
        try:
            return self.computed(meaning, self.there, (args, kwargs), result, kept, there=True)
        except Refused as why:
            refused.append(str(why).partition("\n")[0][:120])
            return here

    def weakened(self, call: Call, args: Sequence[Any]) -> list[Any]:
        """Return arguments with those as numbers that JAX counts as such."""
        found = list(args)
        for i, (x, taken) in enumerate(zip(args, call.arguments, strict=False)):
            counts = isinstance(taken, Taken) and taken.made_by in self.weak
            if counts and isinstance(x, Value) and not x.shape:
                found[i] = x.numbers().item()
        return found

    def result(self, call: Call) -> str | None:
        """Return the dtype of a result that the tables of the target have; None for others."""
        for row, _, there in self.tables.known(call):
            if not row.is_of_indices:
                return there.name
        if self.target.results == "caller" and call.result is not None:
            return call.result.name
        return None

    def computed(
        self, meaning: Any, do: Any, arguments: Any, result: str | None, kept: Kept,
        there: bool = False,
    ) -> list[Value]:  # fmt: skip
        """Return the results of a call, in the dtype that they have."""
        args, kwargs = arguments
        sums = kept.operator in ("sum", "prod", "cumsum") and result is not None
        if sums and args and isinstance(args[0], Value) and args[0].dtype != result:
            args = [self.casts("cast", input=args[0], type=result), *args[1:]]
        found = meaning(do, *args, **kwargs)
        values = list(found) if isinstance(found, list | tuple) else [found]
        first = self.kept.values.get(-1 if kept.results[0] is None else kept.results[0])
        if kept.way is not None and first is not None:
            # It is written into a tensor, which keeps its dtype here, and may not elsewhere.
            result = self.made.get(first.dtype, first.dtype) if there else first.dtype
        if result is not None and values and values[0].dtype != result:
            values[0] = self.casts("cast", input=values[0], type=result)
        return values

    def line(self, kept: Kept, refused: Sequence[str]) -> Line:
        where = kept.where
        key = where and (where.file, where.line, where.layer)
        line = self.lines.setdefault(key, Line(where))
        line.calls += 1
        if kept.operator not in line.operators:
            line.operators.append(kept.operator)
        if refused:
            line.departs, line.refused = True, line.refused or refused[0]
        return line

    def arguments(self, kept: Kept, chain: Mapping[int, Value]) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of a call, with the values that tensors have in a chain."""

        def one(x: Any) -> Any:
            if isinstance(x, list):
                return [one(each) for each in x]
            if not isinstance(x, dict):
                return x
            if "tensor" in x:
                number = x["tensor"]
                found = chain.get(number, self.kept.values.get(-1 if number is None else number))
                if found is None:
                    raise Unknown(f"{kept.operator}: an input was not kept")
                return found
            if "dtype" in x:
                return Name(x["dtype"])
            if "slice" in x:
                return slice(*(one(each) for each in x["slice"]))
            if x.get("other") == "...":
                return ...
            if "lost" in x:
                raise Unknown(f"{kept.operator}: {x['lost']}, and its input was not seen before")
            return None

        kwargs = {word: one(x) for word, x in kept.kwargs.items() if word != "out"}
        return [one(x) for x in kept.args], kwargs
