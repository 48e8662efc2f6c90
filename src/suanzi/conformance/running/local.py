"""A backend in this process, for tests: fast, but a crash ends the kit."""

from __future__ import annotations

from typing import Any

from suanzi.conformance.judging.verdict import Answer
from suanzi.conformance.model.case import Case
from suanzi.conformance.running.process import Backend, Facts, Unanswered, question_of, read_answer
from suanzi.conformance.subjects import worker


class Local:
    """A backend that is called here, through the same messages as one in another process."""

    def __init__(self, adapter: Any) -> None:
        self.adapter = adapter
        self.facts = Facts(**worker.facts(adapter))
        module = type(adapter).__module__.removeprefix("suanzi.conformance.subjects.")
        self.backend = Backend(self.facts.name, f"{module}:{type(adapter).__name__}")

    def ask(self, case: Case) -> Answer | Unanswered:
        """Make a call."""
        return read_answer(worker.answer(self.adapter, question_of(case, self.facts)))
