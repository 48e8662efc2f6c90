"""Which call ended a process: the one it ended in, or an earlier one that damaged its memory.

A case that crashed is run again, alone in a fresh process. If it does not crash there, it is not to
blame: calls from before it are made again in fresh processes, more and more of them, then by halves
between, until one is left without which nothing happens.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.results import NOT_TRIED, Result
from suanzi.conformance.running.process import Asked, Backend, Subject, Unanswered

ENOUGH = 10
"""Calls of an interface in one group that end in one way, after which the group is not tried."""
_ENOUGH_IN_ALL = 4 * ENOUGH
"""Crashes of one interface in all groups: each takes a process."""
_SEARCHES = 3
"""Searches for a culprit in one interface: the first has found what there is to find."""
_SECONDS = 30.0
_PROCESSES = 24
"""How much one search may take."""
_NAMED = 6


class Losses:
    """The calls of one interface that crashed or hung, by group and kind."""

    def __init__(self, op: str, results: Iterable[Result] = ()) -> None:
        self._op, self._ways = op, Counter[tuple[str, str]]()
        self.searched = 0
        for result in results:
            self.count(result)

    def count(self, result: Result) -> None:
        """Count a result, if it was lost."""
        if result.outcome in ("crashed", "hung"):
            # What follows is the subject's own words, which differ from call to call.
            way = (result.problem or "").partition(":")[0] if result.outcome == "crashed" else ""
            self._ways[result.group, way] += 1

    def why_not(self, group: str) -> str | None:
        """Return why no other case of a group is tried; None if it is."""
        hung = sum(n for (_, way), n in self._ways.items() if not way)
        if hung >= ENOUGH:
            return f"{NOT_TRIED} after {ENOUGH} calls of {self._op} that hung"
        if self._ways.total() >= _ENOUGH_IN_ALL:
            return f"{NOT_TRIED} after {_ENOUGH_IN_ALL} calls of {self._op} that crashed or hung"
        if any(n >= ENOUGH for (one, _), n in self._ways.items() if one == group):
            return f"{NOT_TRIED} after {ENOUGH} calls of {self._op} in {group} that crashed or hung"
        return None


def explained(
    subject: Asked, case: Case, crashed: Result, wanted: Wanted, losses: Losses,
    again: Callable[[Asked, Case], Result],
) -> Result:  # fmt: skip
    """Return the result of a case in which a process ended, with what is known of the reason.

    `again` runs a case; the subject's next process has made no call before it.
    """
    if not isinstance(subject, Subject) or len(subject.since) < 2:
        return crashed  # it was the only call
    before = subject.since[:-1]
    alone = again(subject, case)
    if alone.outcome == "crashed":
        return alone
    losses.searched += 1
    found = None
    if losses.searched <= _SEARCHES:
        found = culprit(subject.backend, subject.timeout, case, before, wanted)
    said = f"{crashed.problem}; alone, in a fresh process, this case {_OF[alone.outcome]}"
    if found is None:
        calls = f"{len(before)} call{'s' * (len(before) != 1)} since its start: {_listed(before)}"
        words = f"{said}: an earlier call of that process damaged its memory ({calls})"
        return replace(crashed, problem=words)
    words = f"{said}: {found} damaged the memory of the process"
    return replace(crashed, problem=words, culprit=found, alone=alone)


_OF = {
    "passed": "passes",
    "failed": "fails without a crash",
    "hung": "hangs",
    "unsupported": "is unsupported",
    "skipped": "is skipped",
}


def _listed(ids: Sequence[str]) -> str:
    """Return which calls there were, the last ones first."""
    ops = Counter(one.partition("/")[0] for one in reversed(ids))
    said = [f"{op} {n}" for op, n in ops.items()]
    more = f" and {len(said) - _NAMED} other interfaces" if len(said) > _NAMED else ""
    return f"{', '.join(said[:_NAMED])}{more}; the last was {ids[-1]}"


def culprit(
    backend: Backend, timeout: float, case: Case, before: Sequence[str], wanted: Wanted
) -> str | None:
    """Return the call without which a case does not end its process; None if none is found."""
    until = time.monotonic() + _SECONDS
    known: dict[str, dict[str, Case]] = {}
    processes = 0

    def call(name: str) -> Case | None:
        op = name.partition("/")[0]
        if op not in known:
            known[op] = {one.id: one for one in cases(op, wanted)}
        return known[op].get(name)

    def crashes(first: int) -> bool:
        nonlocal processes
        processes += 1
        calls = [call(name) for name in before[first:]]
        left = until - time.monotonic()
        with Subject(backend, max(0.1, min(timeout, left))) as fresh:
            for one in (*calls, case):
                answer = fresh.ask(one) if one is not None else None
                if isinstance(answer, Unanswered) and answer.outcome in ("crashed", "hung"):
                    return answer.outcome == "crashed"
                if time.monotonic() > until:
                    return False
        return False

    def may_go_on() -> bool:
        return processes < _PROCESSES and time.monotonic() < until

    without, back = len(before), 1
    while True:
        first = max(0, len(before) - back)
        if crashes(first):
            break
        without, back = first, 2 * back
        if first == 0 or not may_go_on():
            return None
    while without - first > 1:
        if not may_go_on():
            return None
        middle = (first + without) // 2
        if crashes(middle):
            first = middle
        else:
            without = middle
    return before[first]


def blamed(results: Sequence[Result]) -> list[Result]:
    """Return the results with each crash at the call that is to blame for it."""
    damage: dict[str, Result] = {}
    for result in results:
        if result.culprit is not None:
            damage.setdefault(result.culprit, result)
    found = []
    for result in results:
        if result.alone is not None and result.culprit is not None:
            result = result.alone
        victim = damage.get(result.id)
        if victim is not None and result.outcome != "crashed":
            way = (victim.problem or "").partition(";")[0]
            words = f"it damages memory: {way}, later, in {victim.id}; not without this call"
            broken = result.broken or result.basis
            result = replace(result, outcome="crashed", problem=words, broken=broken)
        found.append(result)
    return found
