"""A subject in this very process, for tests and for trying: quick, and at the mercy of a crash."""

from __future__ import annotations

from typing import Any

from suanzi.conformance.judging.verdict import Answer
from suanzi.conformance.model.case import Case
from suanzi.conformance.running.process import Backend, Facts, Unanswered, question_of, read_answer
from suanzi.conformance.subjects import worker


class Local:
    """A subject that is asked here, through all that is said to one in a process of its own."""

    def __init__(self, adapter: Any) -> None:
        self.adapter = adapter
        self.facts = Facts(**worker.facts(adapter))
        module = type(adapter).__module__.removeprefix("suanzi.conformance.subjects.")
        self.backend = Backend(self.facts.name, f"{module}:{type(adapter).__name__}")

    def ask(self, case: Case) -> Answer | Unanswered:
        """Make a call."""
        return read_answer(worker.answer(self.adapter, question_of(case, self.facts)))
