"""A model as calls: its nodes in an order that can be computed, with the types of their edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from suanzi.dtypes import DType
from suanzi.port.calls import Call, Calls, Taken, Where
from suanzi.port.findings import Finding
from suanzi.port.support import COLUMNS, support
from suanzi.promote.operands import Operand, Role
from suanzi.standard.other_names import table


@dataclass(frozen=True)
class Edge:
    """A value of a model."""

    dtype: DType | None
    """None for what is no tensor, or has a type that suanzi lacks."""
    zero_dim: bool = False
    made_by: int | None = None


@cache
def in_torch(framework: str) -> dict[str, str]:
    """Return what PyTorch calls the operators of a format of models: lists of dtypes need that.

    >>> in_torch("onnx")["Less"], in_torch("openvino")["Multiply"]
    ('lt', 'mul')
    """
    lists = [known for target in COLUMNS if (known := support(target))]
    rows = [
        one
        for one in table()
        if "torch" in one.names
        if one.dtype[-1:] in "012*"
        or one.operator == "cast"
        or any(known.first(one) for known in lists)
    ]
    return {name: one.names["torch"][0] for one in rows for name in one.names.get(framework, ())}


@dataclass
class Graph:
    """A model that was read."""

    file: str
    framework: str
    version: str
    calls: list[Call] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    """Of each call, the operator as the model calls it."""
    unmapped: Counter[str] = field(default_factory=Counter)
    """Operators without a list of dtypes, and how many nodes have them."""
    untyped: Counter[str] = field(default_factory=Counter)
    """Operators whose results have no type that could be found."""
    own: list[Finding] = field(default_factory=list)
    """What is wrong in the model itself, by the rules of its own format."""

    def add(self, operator: str, name: str, inputs: Sequence[Edge | None], output: Edge) -> Call:
        """Append a node and return it as a call."""
        mapped = in_torch(self.framework).get(operator)
        if mapped is None:
            self.unmapped[operator] += 1
        if output.dtype is None:
            self.untyped[operator] += 1
        taken = tuple(None if edge is None else _taken(edge) for edge in inputs)
        arguments: tuple[Taken | tuple[Taken, ...] | None, ...] = taken
        if mapped == "cat":
            arguments = (tuple(one for one in taken if one is not None),)
        call = Call(
            len(self.calls), mapped or operator, arguments, (), output.dtype, output.zero_dim,
            where=Where(self.file, 0, name or f"{operator} {len(self.calls)}"),
        )  # fmt: skip
        self.calls.append(call)
        self.given.append(operator)
        return call

    def to_calls(self) -> Calls:
        """Return the nodes as the calls of a program."""
        return Calls(self.framework, self.version, tuple(self.calls))


def _taken(edge: Edge) -> Taken | None:
    if edge.dtype is None:
        return None
    role = Role.ZERO_DIM if edge.zero_dim else Role.TENSOR
    return Taken(Operand(role, edge.dtype), edge.made_by)
