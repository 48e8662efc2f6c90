"""A run in shards: which interfaces each has, and how their reports are merged.

A shard has whole interfaces, every nth in the standard's order: decisions within one, such as
ending its trial after crashes, are those of one run. Decisions across them, such as the
interpretation of an erratum, are made again when the shards are merged.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar

from suanzi.base.status import InvalidArgument
from suanzi.conformance import mustpass
from suanzi.conformance.model.case import GROUPS
from suanzi.conformance.model.members import members
from suanzi.conformance.model.results import Result, Run
from suanzi.conformance.reports import deviations as known
from suanzi.conformance.reports.deviations import Deviation
from suanzi.conformance.reports.readings import settle, unsettled
from suanzi.standard.catalogues import STANDARD

_OWN = ("shard", "started", "jobs", "timeout", "ids", "interrupted", "deviations", "cluster")
"""The settings in which the shards of one run may differ."""
_Work = TypeVar("_Work")


@dataclass(frozen=True)
class Shard:
    """One part of a run."""

    number: int
    """From 1."""
    of: int

    @classmethod
    def read(cls, text: str, command: str = "check") -> Shard:
        """Return the shard that a text names; `command` is the one that asks.

        >>> Shard.read("2/5")
        Shard(number=2, of=5)
        """
        found = re.fullmatch(r"\s*([0-9]{1,9})\s*/\s*([0-9]{1,9})\s*", text)
        shard = cls(*map(int, found.groups())) if found else None
        if shard is None or not 1 <= shard.number <= shard.of:
            raise InvalidArgument(
                f"{command}: {text!r} is not a shard; write the second of five as 2/5."
            )
        return shard

    def share(
        self, work: Sequence[_Work], command: str = "check", piece: str = "interface"
    ) -> list[_Work]:
        """Return what of the work is this shard's.

        >>> Shard(2, 3).share(["add", "sub", "mul", "div", "abs"])
        ['sub', 'abs']
        """
        if self.of > len(work):
            some = f"{len(work)} {piece}{'s' * (len(work) != 1)}"
            raise InvalidArgument(
                f"{command}: {some} cannot be shared among {self.of} shards; "
                f"use {len(work)} at most."
            )
        return list(work[self.number - 1 :: self.of])


def merge(runs: Sequence[Run], deviations: Sequence[Deviation] = ()) -> Run:
    """Merge shards into the run that one machine would have reported, case by case.

    `deviations` are those that the shards were run with, in addition to the packaged ones; they
    matter only where most answers of all shards follow another interpretation than those of one
    shard. The seconds are the sum over all shards.
    """
    of = all_shards([_shard_of(run) for run in runs])
    first = runs[of[1]]
    for run in runs:
        _same(first, run)
    before = [result for run in runs for result in run.results]
    _once(before)
    order = members(first.catalogue)
    place = {name: i for i, name in enumerate(order)}
    group = {name: i for i, name in enumerate(GROUPS)}
    before.sort(key=lambda r: (place.get(r.op, len(place)), group.get(r.group, len(group))))
    version = str(first.subject.get("version", ""))
    among = sorted({r.op.rpartition(":")[0] or STANDARD for r in before})
    listed = [*known.packaged(str(first.subject.get("name", "")), among), *deviations]
    results = [
        now if now.outcome == then.outcome else known.apply([now], listed, version)[0][0]
        for then, now in zip(before, _settled(before), strict=True)
    ]
    unfinished = [op for op in order if any(op in run.unfinished for run in runs)]
    unused = [_shard_of(run).get("unused", []) for run in runs]
    settings = {name: value for name, value in first.settings.items() if name != "shard"}
    settings |= {
        "jobs": sum(int(run.settings.get("jobs") or 1) for run in runs),
        "started": min(str(run.settings.get("started", "")) for run in runs),
        "deviations": list(
            dict.fromkeys(d for run in runs for d in run.settings.get("deviations") or ())
        ),
        "ids": hash_of(r.id for r in results),
    }
    if why := [run.settings["interrupted"] for run in runs if "interrupted" in run.settings]:
        settings["interrupted"] = "; ".join(dict.fromkeys(map(str, why)))
    return Run(
        subject=first.subject,
        settings=settings,
        results=results,
        seconds=sum(run.seconds for run in runs),
        unused=[] if unfinished else [d for d in unused[0] if all(d in some for some in unused)],
        unfinished=unfinished,
        evidence=_evidence(runs),
    )


def _evidence(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the evidence of all shards: one kit and one backend; the host is the first one's."""
    some = [run.evidence for run in runs if run.evidence]
    if len(some) < len(runs):
        return {}  # of a report that an older version wrote
    for part in ("kit", "backend"):
        if any(one.get(part) != some[0].get(part) for one in some):
            raise InvalidArgument(
                f"merge: the shards were run with different files ({part}); run all of them with "
                "the same library and the same suanzi."
            )
    contents = {op: one for each in some for op, one in each.get("contents", {}).items()}
    return {**some[0], "contents": contents, "mustpass": mustpass.compared(contents)}


def hash_of(ids: Iterable[str]) -> str:
    """Return a hash of the ids of cases, whatever their order."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def _settled(results: Sequence[Result]) -> list[Result]:
    """Return the results, settled anew; what fails as before keeps what is known of it."""
    found = settle([unsettled(r) for r in results])
    return [
        replace(now, known=then.known, issue=then.issue)
        if now.outcome == then.outcome and now.bad
        else now
        for then, now in zip(results, found, strict=True)
    ]


def _shard_of(run: Run) -> dict[str, Any]:
    found = run.settings.get("shard")
    return found if isinstance(found, dict) else {}


def all_shards(shards: Sequence[Mapping[str, Any]], command: str = "check") -> dict[int, int]:
    """Return which report is which shard; all must be there, each once, and of one division."""
    if not shards:
        raise InvalidArgument("merge: no reports; give those of all shards.")
    found: dict[int, int] = {}
    ofs: set[int] = set()
    for i, shard in enumerate(shards):
        number, of = shard.get("number"), shard.get("of")
        if not (isinstance(number, int) and isinstance(of, int) and 1 <= number <= of):
            raise InvalidArgument(
                f"merge: report {i + 1} is not of a shard; give the files that `suanzi {command} "
                "--shard k/n --json` wrote."
            )
        if number in found:
            raise InvalidArgument(f"merge: shard {number}/{of} is given more than once.")
        found[number] = i
        ofs.add(of)
    if len(ofs) > 1:
        said = " and ".join(map(str, sorted(ofs)))
        raise InvalidArgument(f"merge: the reports are of {said} shards; give those of one run.")
    (of,) = ofs
    if count := of - len(found):
        some = islice((k for k in range(1, of + 1) if k not in found), 6)
        more = f" and {count - 6} more" if count > 6 else ""
        named = ", ".join(f"{k}/{of}" for k in some)
        raise InvalidArgument(f"merge: shard{'s' * (count != 1)} {named}{more} missing.")
    return found


def _same(first: Run, other: Run) -> None:
    """Raise unless two shards tested the same subject with the same cases."""
    for name in ("title", "name", "version", "adapter"):
        if first.subject.get(name) != other.subject.get(name):
            raise InvalidArgument(
                f"merge: shard {_number(first)} is of {name} {first.subject.get(name)!r}, shard "
                f"{_number(other)} of {other.subject.get(name)!r}; these are different backends."
            )
    for name in dict.fromkeys((*first.settings, *other.settings)):
        a, b = first.settings.get(name), other.settings.get(name)
        if name not in _OWN and a != b:
            raise InvalidArgument(
                f"merge: {name} is {a!r} in shard {_number(first)} and {b!r} in shard "
                f"{_number(other)}; run all shards with the same settings."
            )


def _number(run: Run) -> str:
    shard = _shard_of(run)
    return f"{shard['number']}/{shard['of']}"


def _once(results: Sequence[Result]) -> None:
    met: set[str] = set()
    for result in results:
        if result.id in met:
            raise InvalidArgument(f"merge: the case {result.id!r} is in two shards.")
        met.add(result.id)
