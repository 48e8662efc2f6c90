"""The careful gait: one call of a number, compared with everything there is to compare it with."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

import suanzi as sz
from fuzzing import c_library
from fuzzing.devices import COUNTERS, HOSTED, use
from fuzzing.judging import Finding, verdict
from fuzzing.making import call_of
from fuzzing.processes import Place, Tell, Worker
from fuzzing.shrinking import as_python, shrunk

TRUTH_EVERY = 50
"""Calls between two rounds of exact truth."""


class Walk:
    """One call, compared."""

    counters = ("gives", *sorted(s.name for s in sz.Status), "TypeError", "truth", *COUNTERS,
                *c_library.COUNTERS)  # fmt: skip
    room = 3 << 30

    def __init__(self, seed: int, names: tuple[str, ...], device: str = "") -> None:
        self.seed, self.names, self.device = seed, names, device
        if device not in HOSTED:
            self.room = 0

    @cached_property
    def _seen(self) -> set[tuple[str, str]]:
        return set()

    def begin(self) -> None:
        """Let calls have threads."""
        sz.set_num_threads(2)
        if self.device:
            use(self.device)

    def make(self, index: int, worker: Worker, tell: Tell) -> None:
        """Make a call and compare it, or try cases of the kit."""
        if index % TRUTH_EVERY == TRUTH_EVERY - 1 and not self.device:
            from fuzzing import truth

            n, wrong = truth.tried(self.seed, index, self.names)
            worker.count("truth", n)
            for found in wrong:
                tell(Place(index), found)
            return
        said = verdict(call_of(self.seed, index, self.names, self.device))
        if isinstance(said, Finding):
            tell(Place(index), said)
        else:
            worker.count(said)

    def explained(self, place: Place, found: Finding) -> str:
        """Return the call made as simple as it can be; an operator's second one is only named."""
        if found.kind == "truth":
            return f"# suanzi check --case {found.said.split(': ')[0]}"
        call = call_of(self.seed, place.index, self.names, self.device)
        if (call.op, found.kind) in self._seen:
            return f"# {call.op} again"
        self._seen.add((call.op, found.kind))
        return as_python(shrunk(call, found.kind))

    def summary(self, total: Counter[str]) -> str:
        """Return how often each outcome was seen."""
        return "\n".join(f"{n:12} {name}" for name, n in total.most_common() if n)
