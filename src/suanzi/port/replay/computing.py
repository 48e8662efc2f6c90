"""Who computes the calls again: suanzi's operators under a rule set, or an installed framework."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suanzi.base.status import InvalidArgument, StatusError
from suanzi.conformance.judging.verdict import Answer
from suanzi.conformance.model.case import Case, Expected
from suanzi.conformance.running.backends import FRAMEWORKS, backend
from suanzi.conformance.running.process import Backend, Subject
from suanzi.conformance.subjects.suanzi_adapter import create, read
from suanzi.conformance.subjects.wire import Data
from suanzi.port.replay.kept import Value, value_of
from suanzi.port.replay.meaning import Unknown
from suanzi.promote import registry
from suanzi.promote.context import promotion
from suanzi.promote.rules import RuleSet

_SECONDS = 120.0
_OTHERS = {
    "paddle": "frameworks.nn_paddle",
    "mindspore": "frameworks.nn_mindspore",
    "jax_x32": "frameworks.jax_x32",
}
"""Adapters with operators of models, which the kit does not test there; and of JAX as it comes."""


class Refused(Exception):
    """What a target does not compute; the words are its own."""


class Own:
    """suanzi's operators under a rule set."""

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules
        self._made: dict[int, tuple[Value, Any]] = {}

    def __call__(self, op: str, **arguments: Any) -> Any:
        """Compute an operator."""
        function = registry.function(op)
        given = {word: self._tensor(x) for word, x in arguments.items() if x is not None}
        try:
            with promotion(self.rules):
                found = function(**given)
        except StatusError as error:
            raise Refused(str(error)) from None
        many = isinstance(found, list | tuple)
        values = [value_of(read(x)) for x in (found if many else [found])]
        return values if many else values[0]

    def _tensor(self, x: Any) -> Any:
        if isinstance(x, list):
            return [self._tensor(one) for one in x]
        if not isinstance(x, Value):
            return str(x) if isinstance(x, str) else x
        if id(x) not in self._made:
            if len(self._made) > 64:
                self._made.clear()
            self._made[id(x)] = x, create(x.data())
        return self._made[id(x)][1]


class Live:
    """A framework that is installed for an interpreter, asked in a process of its own."""

    def __init__(self, target: str, python: str) -> None:
        found = backend(check_live(target), python)
        module = _OTHERS.get(target)
        adapter = found.adapter if module is None else f"{module}:Adapter"
        self.subject = Subject(
            Backend(found.title, adapter, found.python, found.options, "port"), _SECONDS
        )
        self.title = f"{self.subject.facts.name} {self.subject.facts.version}"

    def __call__(self, op: str, **arguments: Any) -> Any:
        """Compute an operator."""
        given = {word: _sent(x) for word, x in arguments.items()}
        dtypes = [x.dtype for x in arguments.values() if isinstance(x, Value)]
        case = Case(op, "sizes", dtypes[0] if dtypes else "float32", "replay", given, _nothing)
        said = self.subject.ask(case)
        if not isinstance(said, Answer):
            name = self.subject.facts.name
            if said.refused:
                raise Unknown(f"{name} has no kernel of {op} for {case.dtype} here")
            if said.outcome == "unsupported":
                raise Unknown(f"{name} has no {op}: {said.words}")
            raise Refused(said.words)
        if said.status is None and not said.outputs:
            raise Refused(said.words)
        values = [value_of(x) for x in said.outputs if isinstance(x, Data)]
        if not values:
            raise Unknown(f"{self.subject.facts.name} gives no tensor of {op}")
        return values if len(values) > 1 else values[0]

    def close(self) -> None:
        """End the process."""
        self.subject.close()


def check_live(target: str) -> str:
    """Return the framework that a target is; raise for one that cannot be run."""
    framework = target.partition("+")[0].removesuffix("_x32")
    if framework not in FRAMEWORKS:
        raise InvalidArgument(
            f"port: calls cannot be made in {target!r}; --python-to is for one of "
            f"{', '.join(FRAMEWORKS)}."
        )
    return framework


def _nothing() -> Expected:
    raise NotImplementedError("a call that is made again has no expected result")


def _sent(x: Any) -> Any:
    if isinstance(x, Value):
        return x.data()
    return [_sent(one) for one in x] if isinstance(x, list | tuple) else x


def made_of(x: Any, made: Mapping[str, str], cast: Any) -> Any:
    """Return an argument in the dtypes that a target has: JAX has no 64 bits."""
    if isinstance(x, Value):
        there = made.get(x.dtype)
        return x if there is None else cast("cast", input=x, type=there)
    return [made_of(one, made, cast) for one in x] if isinstance(x, list | tuple) else x
