"""What is exported: the cases of an operator, with their arguments and exact answers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suanzi.conformance.model.case import Case
from suanzi.promote.registry import function
from suanzi.standard import Interface
from suanzi.truth import definition

Array = NDArray[Any]


class Files(NamedTuple):
    """What a format makes of a task: files by their names, and how many cases they have."""

    files: Mapping[str, str | bytes]
    cases: int


@dataclass(frozen=True)
class Exported:
    """A case: arguments as NumPy has them, and the answers, correctly rounded."""

    case: Case
    arguments: Mapping[str, Any]
    answers: Sequence[Array]

    @property
    def tensors(self) -> dict[str, Array]:
        """The operands, in the operator's order."""
        return {n: x for n, x in self.arguments.items() if isinstance(x, np.ndarray)}

    @property
    def attributes(self) -> dict[str, Any]:
        """Everything else."""
        return {n: x for n, x in self.arguments.items() if not isinstance(x, np.ndarray)}

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """The smallest and the largest number of each operand."""
        return {name: _range(x) for name, x in self.tensors.items()}


def _range(x: Array) -> tuple[float, float]:
    numbers = x.astype(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    return (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 0.0)


@dataclass(frozen=True)
class Task:
    """The cases of one operator."""

    facts: Interface
    cases: list[Exported]

    @property
    def name(self) -> str:
        """The operator's name without its catalogue."""
        return self.facts.name

    @property
    def class_name(self) -> str:
        """The name as classes are written: RmsNorm."""
        return "".join(part.capitalize() for part in self.name.split("_"))

    @property
    def formula(self) -> str:
        """The definition in a line."""
        return (inspect.getdoc(definition(self.facts.key)) or self.name).partition("\n")[0]

    @property
    def description(self) -> str:
        """The first sentence of the operator's documentation."""
        return (function(self.facts.key).__doc__ or self.name).strip().partition("\n")[0]

    @cached_property
    def signature(self) -> Mapping[str, inspect.Parameter]:
        """The parameters of `suanzi.truth.NAME`."""
        return inspect.signature(definition(self.facts.key)).parameters

    @property
    def operands(self) -> list[str]:
        """The parameters that are tensors, in order."""
        return [n for n in self.signature if any(n in one.tensors for one in self.cases)]

    @property
    def attributes(self) -> list[str]:
        """The parameters that are not, in order."""
        return [n for n in self.signature if n not in self.operands]

    @property
    def dtypes(self) -> list[str]:
        """The dtypes of the cases."""
        return list(dict.fromkeys(one.case.dtype for one in self.cases))
