"""Whether a program may be watched and judged, by a clock that the tests turn."""

from __future__ import annotations

import pytest

from suanzi.validate.blame.budget import Budget, Lap


class Program:
    """Steps of ten calls that take a second each, watched for `watching` and judged for 5 s."""

    def __init__(
        self, overhead: float | None, watching: float, cold: float = 0.0, asked: bool = True
    ) -> None:
        self.now = 0.0
        self.budget = Budget(overhead, clock=lambda: self.now)
        self.budget.hidden = self.hidden = 0.1
        self.watching, self.cold, self.asked = watching, cold, asked
        self.lap = Lap()
        self.steps: list[bool] = []
        self.judged = 0
        self.budget.start()

    def run(self, steps: int) -> None:
        for _ in range(steps):
            watched = self.budget.step()
            self.budget.is_off = not watched
            self.steps.append(watched)
            for _ in range(10):
                self.call() if watched else self.pass_by(1.0)

    def pass_by(self, seconds: float) -> None:
        self.now += seconds

    def call(self) -> None:
        budget = self.budget
        self.pass_by(0.5 + self.hidden)
        entered = self.now
        self.pass_by(self.watching)
        due = self.asked and budget.has_time("add", False)
        began = self.now
        self.pass_by(0.5 + self.cold * budget.after_judged)
        budget.made(self.lap, entered, began, due)
        if due:
            self.judged += 1
            self.pass_by(5.0)
            budget.judged("add", 5.0)
        budget.leave()

    @property
    def slowdown(self) -> float:
        return self.now / (10.0 * len(self.steps))


@pytest.mark.parametrize(
    ("overhead", "watching"),
    [(10.0, 0.1), (10.0, 2.0), (10.0, 20.0), (2.0, 0.1), (2.0, 0.5), (2.0, 4.0)],
)
def test_no_program_takes_longer_than_allowed(overhead: float, watching: float) -> None:
    program = Program(overhead, watching)
    program.run(300)
    assert program.slowdown <= overhead
    assert program.judged > 0


def test_own_time_is_not_taken_for_the_time_of_the_program() -> None:
    program = Program(None, 3.0)
    program.run(4)
    assert program.budget.finish() == pytest.approx(10.0 * 4 + 40 * (0.1 + 3.0 + 5.0))
    assert program.budget.plain == pytest.approx(40.0)
    assert all(program.steps)


def test_steps_are_left_out_if_watching_them_takes_too_long() -> None:
    slow, fast = Program(2.0, 4.0), Program(2.0, 0.05)
    slow.run(60)
    fast.run(60)
    assert slow.steps[0]
    assert 4 < sum(slow.steps) < 20
    assert all(fast.steps)


def test_by_default_few_steps_are_timed_and_the_others_watched() -> None:
    program = Program(10.0, 1.0)
    program.run(64)
    assert program.steps[:2] == [True, True]
    assert program.steps.count(False) == 2 + 64 // 16


def test_steps_that_are_timed_correct_the_others() -> None:
    """A program whose watched calls take three seconds more, which nobody timed."""
    program = Program(10.0, 1.0, asked=False)
    program.hidden += 3.0
    program.run(40)
    assert program.budget.plain == pytest.approx(400.0, rel=0.05)


def test_calls_after_judged_ones_are_as_long_as_others() -> None:
    budget, lap = Budget(10.0, clock=lambda: now), Lap()
    now = 0.0
    budget.start()
    for after_judged, seconds in ((True, 4e-4), (True, 3e-4), (False, 1e-4), (True, 5e-4)):
        budget.after_judged = after_judged
        now += seconds
        budget.made(lap, now, now, False)
    assert budget.plain == pytest.approx(4e-4)
