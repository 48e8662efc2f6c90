"""What was found out about the operators of a program: findings first, then all that was seen."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from suanzi.base.lang import say
from suanzi.base.text import wrap
from suanzi.validate.blame.comparing import comparison_lines
from suanzi.validate.blame.judging import KINDS, Judged, Kind
from suanzi.validate.blame.locations import Place, shortened

SCHEMA = 1
_MOST, _FEW = 12, 6


@dataclass
class Site:
    """The calls of one operator in one line, of the same dtypes."""

    operator: str
    place: Place
    backward: bool
    dtypes: tuple[str, ...]
    status: str
    """Why none is judged: views, allocations, random, no tensors, no truth; empty if they are."""
    calls: int = 0
    judged: int = 0
    wrong: int = 0
    """Judged calls with elements that are wrong."""
    inaccurate: int = 0
    """Judged calls that are beyond the bound by a few units in the last place."""
    share: float = 0.0
    """The largest error as a multiple of its bound."""
    ulps: float = 0.0
    words: str = ""
    shapes: list[list[int]] = field(default_factory=list)
    """Those of the worst call."""
    first: int = 0
    """The number of the first call that is wrong, or inaccurate, or makes a NaN."""
    born: str = ""
    births: int = 0
    different: int = 0
    layers: dict[str, int] = field(default_factory=dict)
    unjudged: Counter[str] = field(default_factory=Counter)
    conversion: str = ""
    """What became of dtypes that the program did not ask for: float16 and float32 give float32."""
    reproducer: str = ""

    def add(self, found: Judged, number: int, shapes: list[list[int]], layer: str = "") -> bool:
        """Add what was found of a call, and tell whether it is the first that is wrong."""
        beyond = found.share > 1 and found.wrong > 0
        mistake = beyond and not found.is_small
        first = mistake and not self.wrong
        self.wrong += mistake
        self.inaccurate += beyond and not mistake
        if beyond and (first or not self.first):
            self.first = number
        if first or ((mistake or not self.wrong) and found.share >= self.share):
            self.share, self.ulps, self.words = found.share, found.ulps, found.words
            self.shapes = shapes
        if first and layer:  # the layer where it went wrong comes first
            self.layers = {layer: self.layers.pop(layer, 1), **self.layers}
        return first

    def birth(self, kind: str, number: int, is_wrong: bool) -> None:
        """Note that finite inputs gave a NaN or an infinity."""
        self.births += 1
        self.born = self.born or kind
        if not is_wrong:
            self.first = self.first or number

    def differs(self, number: int) -> None:
        """Note that a second call gave other bits."""
        self.different += 1
        self.first = self.first or number

    @property
    def kind(self) -> Kind | None:
        """What kind of finding it is; None if there is nothing to report."""
        if self.wrong:
            return "wrong"
        if self.different:
            return "differs"
        if self.births:
            return "born"
        return "inaccurate" if self.inaccurate else None

    @property
    def title(self) -> str:
        """The operator and the line, with the layer and who called it."""
        named = f"{say(' in ')}{self.place.function}" * bool(self.place.function)
        said = f"{self.operator}  {self.place}{named}"
        if self.backward:
            said += say(", its gradient")
        if self.place.by is not None:
            said += say(f", called by {shortened(self.place.by[0])}:{self.place.by[1]}")
        if self.layers:
            names = list(self.layers)
            said += f" ({names[0]}" + say(f" and {len(names) - 1} more") * (len(names) > 1) + ")"
        return said

    def lines(self) -> list[str]:
        """Return what a finding says, without its title."""
        shapes = ", ".join("x".join(map(str, one)) or "no axes" for one in self.shapes[:4])
        what = f"{' and '.join(self.dtypes)} {shapes}".strip()
        counted = f"of {self.judged} judged call{'s' * (self.judged != 1)}"
        found = []
        if self.wrong or self.inaccurate:
            bad = self.wrong or self.inaccurate
            off = "no error is allowed" if self.share == float("inf") else (
                f"{self.share:.3g} times the bound, {self.ulps:.3g} ULP"
            )  # fmt: skip
            found.append(f"{what}: {off}, in {bad} {counted}, first in call {self.first}")
            found.append(self.words)
        if self.births:
            found.append(
                f"{what}: {self.born} born of finite inputs, in {self.births} {counted}, "
                f"first in call {self.first}"
            )
        if self.different:
            found.append(f"{what}: other bits in a second call, in {self.different} {counted}")
        if self.reproducer:
            found.append(f"suanzi blame --replay {self.reproducer}")
        return [line for line in found if line]

    def to_dict(self) -> dict[str, Any]:
        """Return the site as data."""
        place = self.place
        return {
            "operator": self.operator,
            "kind": self.kind,
            "status": self.status or ("judged" if self.judged else "not judged"),
            "file": place.file,
            "line": place.line,
            "function": place.function,
            "called_by": None if place.by is None else {"file": place.by[0], "line": place.by[1]},
            "backward": self.backward,
            "layers": list(self.layers),
            "dtypes": list(self.dtypes),
            "shapes": self.shapes,
            "calls": self.calls,
            "judged": self.judged,
            "wrong": self.wrong,
            "inaccurate": self.inaccurate,
            "share": None if self.share == float("inf") else self.share,
            "ulps": None if self.ulps == float("inf") else self.ulps,
            "born": self.born or None,
            "births": self.births,
            "different": self.different,
            "first_call": self.first or None,
            "words": self.words,
            "conversion": self.conversion or None,
            "not_judged": dict(self.unjudged),
            "reproducer": self.reproducer or None,
        }


@dataclass
class Report:
    """What was found; false if an operator is wrong, or nothing was judged."""

    framework: str = ""
    calls: int = 0
    sites: list[Site] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    raised: str | None = None
    """The error that ended the program."""
    seconds: float = 0.0
    judging: float = 0.0
    """Seconds of them that judging took."""
    saved: int = 0
    comparison: dict[str, Any] | None = None
    """How the run differs from the one it was compared with: see ``comparing.compare``."""

    @property
    def findings(self) -> list[Site]:
        """The lines with something to report: what matters most first."""
        order = list(KINDS)
        some = [site for site in self.sites if site.kind is not None]
        return sorted(
            some, key=lambda s: (order.index(s.kind), -s.share, s.first) if s.kind else (9, 0, 0)
        )

    @property
    def judged(self) -> int:
        """How many calls were judged."""
        return sum(site.judged for site in self.sites)

    @property
    def answer(self) -> Literal["right", "wrong", "not judged"]:
        """The answer in a word."""
        if any(site.kind in ("wrong", "differs") for site in self.sites):
            return "wrong"
        return "right" if self.judged else "not judged"

    def __bool__(self) -> bool:
        return self.answer == "right"

    def counted(self, status: str) -> Counter[str]:
        """Return how often operators of a status were called, by name."""
        found: Counter[str] = Counter()
        for site in self.sites:
            if site.status == status:
                found[site.operator] += site.calls
        return found

    def unjudged(self) -> Counter[str]:
        """Return why calls were not judged that could have been, and how often."""
        found: Counter[str] = Counter()
        for site in self.sites:
            found.update(site.unjudged)
        return found

    @property
    def slowdown(self) -> float:
        """How many times as long the program took."""
        return self.seconds / max(self.seconds - self.judging, 1e-9)

    def summary(self) -> str:
        """Return a line that says what was found."""
        wrong = [s for s in self.findings if s.kind in ("wrong", "differs")]
        operators = len({s.operator for s in wrong})
        some = "operator" + "s" * (operators != 1)
        if wrong:
            start = f"{operators} {some} WRONG, in {_lines(len(wrong))}"
        elif self.judged:
            start = "no operator is wrong"
        else:
            start = "nothing was judged"
        return f"{start}: {self.judged} of {self.calls} calls judged ({self.framework})"

    def __str__(self) -> str:
        said = [say(self.summary())]
        found = self.findings
        for kind in KINDS:
            some = [site for site in found if site.kind == kind]
            if some and kind in ("born", "inaccurate"):
                verb, _, rest = KINDS[kind].partition(" ")
                verb = verb if len(some) == 1 else {"is": "are", "makes": "make"}[verb]
                said.append(say(f"{kind}: {_lines(len(some))} {verb} {rest}"))
            for site in some[:_MOST]:
                said.append(f"  {site.title}")
                for line in site.lines():
                    said += wrap(say(line), 94, first="      ", rest="        ")
            if len(some) > _MOST:
                said.append("  " + say(f"and {len(some) - _MOST} more lines (--json lists all)"))
        if self.comparison is not None:
            for line in comparison_lines(self.comparison):
                indent = " " * (len(line) - len(line.lstrip()))
                said += wrap(line.strip(), 98, first=indent, rest=f"{indent}    ")
        return "\n".join([*said, *self.remarks()])

    def remarks(self) -> list[str]:
        """Return what was not judged, and why."""
        said = []
        for status, words in (("no truth", "no truth"), ("random", "random, not judged")):
            names = self.counted(status)
            if names:
                each = ", ".join(f"{name} {n}" for name, n in names.most_common())
                said += wrap(f"{say(words)}: {each}", 98, rest="    ")
        quiet = {s: sum(self.counted(s).values()) for s in ("views", "allocations",
                                                            "no tensors")}  # fmt: skip
        if any(quiet.values()):
            each = ", ".join(f"{say(name)} {n}" for name, n in quiet.items() if n)
            said.append(say(f"nothing to judge: {each}"))
        changes = [site for site in self.sites if site.conversion]
        if changes:
            count = sum(site.calls for site in changes)
            where = _lines(len(changes))
            said.append(say(f"dtypes that change silently: {count} calls in {where}"))
            for site in sorted(changes, key=lambda s: -s.calls)[:_FEW]:
                times = say(f" ({site.calls} times)") * (site.calls > 1)
                said.append(f"  {site.title}: {site.conversion}{times}")
        skipped = self.unjudged()
        if skipped:
            each = ", ".join(f"{say(why)} {n}" for why, n in skipped.most_common())
            said += wrap(say(f"not judged: {each}"), 98, rest="    ")
        said += [
            say(f"note: {say(words)}") + say(f" ({n} times)") * (n > 1)
            for words, n in self.notes.items()
        ]
        if self.raised:
            said.append(say(f"The program failed: {self.raised}. These are its calls until then."))
        if self.seconds:
            said.append(say(f"{self.seconds:.1f} s, {self.slowdown:.1f} times as long as without"))
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return the report as data, as its JSON has it."""
        return {
            "schema": SCHEMA,
            "answer": self.answer,
            "framework": self.framework,
            "calls": self.calls,
            "judged": self.judged,
            "seconds": round(self.seconds, 3),
            "slowdown": round(self.slowdown, 2),
            "raised": self.raised,
            "findings": [site.to_dict() for site in self.findings],
            "sites": [site.to_dict() for site in self.sites],
            "no_truth": dict(self.counted("no truth").most_common()),
            "random": dict(self.counted("random").most_common()),
            "views": sum(self.counted("views").values()),
            "allocations": sum(self.counted("allocations").values()),
            "not_judged": dict(self.unjudged().most_common()),
            "notes": self.notes,
            "comparison": self.comparison,
        }

    def to_json(self) -> str:
        """Return the report as JSON."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def to_html(self) -> str:
        """Return the report as an HTML page that needs nothing else."""
        from suanzi.validate.blame.page import to_html

        return to_html(self)


def _lines(count: int) -> str:
    return f"{count} line{'s' * (count != 1)}"


def read(data: dict[str, Any]) -> Report:
    """Return a report from its data."""
    report = Report(
        data["framework"], data["calls"], [_site(one) for one in data["sites"]],
        dict(data["notes"]), data["raised"], data["seconds"],
    )  # fmt: skip
    report.comparison = data["comparison"]
    report.judging = data["seconds"] * (1 - 1 / max(data["slowdown"], 1.0))
    return report


def _site(data: dict[str, Any]) -> Site:
    by = data["called_by"]
    place = Place(data["file"], data["line"], data["function"],
                  None if by is None else (by["file"], by["line"]))  # fmt: skip
    status = data["status"] if data["status"] not in ("judged", "not judged") else ""
    site = Site(data["operator"], place, data["backward"], tuple(data["dtypes"]), status)
    for name in ("calls", "judged", "wrong", "inaccurate", "births", "different", "words",
                 "shapes"):  # fmt: skip
        setattr(site, name, data[name])
    infinity = float("inf")
    site.share = infinity if data["share"] is None else data["share"]
    site.ulps = infinity if data["ulps"] is None else data["ulps"]
    site.first, site.born = data["first_call"] or 0, data["born"] or ""
    site.layers = dict.fromkeys(data["layers"], 1)
    site.unjudged = Counter(data["not_judged"])
    site.reproducer, site.conversion = data["reproducer"] or "", data["conversion"] or ""
    return site
