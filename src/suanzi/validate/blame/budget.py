"""How long a program takes by itself, and whether there is time left to watch and to judge it.

The time between two calls of operators and that in them is the program's; the rest is blame's. A
program that is watched takes longer in its own time, too: what a mode of PyTorch costs is measured
at the start, and a call after a judged one, which finds the processor's memories full of other
things, counts as long as the same operator does elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable

AGAIN = 0.7
"""The share of the time that is left to calls of lines that were judged already."""
SUSTAINED = 0.5
"""Every step is watched if watching takes at most this share of the time."""
ROOM = 2.0
"""A step is watched that there is time for so many times: a part of it is for judging."""
SHORT = 1e-3
"""Seconds: longer calls are not made longer by what ran before."""
TIMED = 0.2
"""Steps are timed if watching takes more than this share of the program's time: 2, then 1 of 16."""
UNKNOWN = 1e-3
"""Seconds that judging the first call takes, as long as nothing was judged."""


class Lap:
    """The program's time for a call of one operator, with the time since the call before."""

    __slots__ = ("cold", "count", "warm")

    def __init__(self) -> None:
        self.warm = -1.0
        self.cold, self.count = 0.0, 0
        """Calls after judged ones until there is another: their seconds, and how many."""


class Budget:
    """The time of a program, by a clock; `overhead` is how many times as long it may take.

    >>> ticks = iter([0.0, 3.0, 5.0])
    >>> budget = Budget(2.0, clock=lambda: next(ticks))
    >>> budget.start()
    >>> budget.made(Lap(), entered=1.0, began=2.0, judged=False)  # 1 s before, 1 s in the call
    >>> budget.leave()
    >>> budget.plain, budget.own
    (2.0, 3.0)
    """

    def __init__(
        self, overhead: float | None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.overhead, self.clock = overhead, clock
        self.hidden = 0.0
        """Seconds by which a mode that does nothing makes a call longer."""
        self.begun = self.left = self.judging = 0.0
        self.base = self.on = self.off = 0.0
        """The program's seconds: before the first step, in steps that are watched, in others."""
        self.most = float("inf")
        """The most that those which are watched can have taken, as others were timed."""
        self.count = self.steps = self.watched = 0
        self.costs: dict[str, float] = {}
        self.is_off = self.after_judged = False

    def start(self) -> None:
        """Begin to measure."""
        self.begun = self.left = self.clock()

    def made(self, lap: Lap, entered: float, began: float, judged: bool) -> None:
        """Count a call: watching it began at `entered`, the call itself at `began`."""
        now = self.clock()
        seconds = max(entered - self.left, 0.0) + now - began - self.hidden
        seconds = max(seconds, 0.0)
        if seconds < SHORT and (judged or self.after_judged):
            if lap.warm >= 0:
                seconds = min(seconds, lap.warm)
            else:
                lap.cold += seconds
                lap.count += 1
        elif lap.warm < 0:
            lap.warm = seconds
            self.on -= max(lap.cold - lap.count * seconds, 0.0)
        else:
            lap.warm += 0.1 * (seconds - lap.warm)
        self.on += seconds
        self.after_judged = judged
        self.left = now

    def leave(self) -> None:
        """End watching a call: what follows is the program's."""
        self.left = self.clock()

    def judged(self, name: str, seconds: float) -> None:
        """Count the time that judging a call took."""
        self.costs[name] = 0.5 * (self.costs.get(name, seconds) + seconds)
        self.judging += seconds
        self.count += 1

    @property
    def plain(self) -> float:
        """Seconds that the program takes by itself."""
        return self.base + self.off + min(self.on, self.most)

    @property
    def own(self) -> float:
        """Seconds that watching and judging took."""
        return max(self.left - self.begun - self.plain, 0.0)

    def has_time(self, name: str, is_new: bool) -> bool:
        """Tell whether a call of an operator may be judged."""
        if self.overhead is None:
            return True
        cost = self.costs.get(name)
        if cost is None:
            cost = self.judging / self.count if self.count else UNKNOWN
        share = 1.0 if is_new else AGAIN
        return self.own + cost <= share * (self.overhead - 1) * self.plain

    def step(self) -> bool:
        """Begin a step, and tell whether it is to be watched."""
        if self.is_off:
            self.off += self._pass()
        elif self.steps:
            self.watched += 1
        else:
            self.base, self.on = self.on, 0.0
        self.steps += 1
        if self.overhead is None or not self.watched:
            return True
        timed = self.steps - 1 - self.watched
        if timed > 1:
            self.most = (self.watched + 1) * self.off / timed
        plain = (self.plain - self.base) / (self.steps - 1)
        watching = max(self.own - self.judging, 0.0) / self.watched
        if watching > TIMED * plain and timed < 2 + self.steps // 16 and self.watched > 1:
            return False
        allowed = self.overhead - 1
        if watching <= SUSTAINED * allowed * plain:
            return True
        return ROOM * watching <= AGAIN * allowed * self.plain - self.own

    def finish(self) -> float:
        """Return the seconds that all took."""
        self.base += self._pass()
        return self.left - self.begun

    def _pass(self) -> float:
        """Return the time since the last call."""
        now = self.clock()
        seconds = max(now - self.left, 0.0)
        self.left = now
        return seconds
