"""A worked example of Appendix A, and how what the files say is read into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import Any

from suanzi.base.status import Status


@dataclass(frozen=True)
class ExampleTensor:
    """A tensor of an example."""

    dtype: str
    """As the standard spells it, as in FLOAT32."""
    shape: tuple[int, ...]
    values: Any = None
    """Numbers, nested by axes; None if they may be any. If quantised, the integers stored."""
    min2maj: tuple[int, ...] | None = None
    """The layout, if it is not row-major."""
    layout: str | None = None
    """The kind of layout, if it is not dense: kCOO."""
    scale: tuple[float, ...] | None = None
    zero_point: int | None = None
    low: float | None = None
    high: float | None = None
    """The least and the largest value there can be."""
    allowed: tuple[float, ...] | None = None
    """The only values there can be."""


@dataclass(frozen=True)
class Example:
    """A worked example: a call, and what it must give."""

    name: str
    number: str | None
    """In Appendix A; None if it is ours."""
    arguments: Mapping[str, Any]
    """By the standard's names: numbers, strings, tuples, None, and `ExampleTensor`."""
    outputs: Mapping[str, Any]
    status: Status = Status.SUCCESS
    digits: int | None = None
    """The decimals in which outputs agree; None if they are equal."""
    check: str | None = None
    """What holds where values may be others; ``README.md`` has the words."""
    errata: tuple[str, ...] = ()
    printed: str | None = None
    """What is printed instead, in short."""
    also: tuple[Mapping[str, Any], ...] = ()
    """Outputs accepted as well: the printed ones, first, and those of other interpretations."""

    @property
    def ours(self) -> bool:
        """Whether the standard does not have it."""
        return self.number is None

    @property
    def tolerance(self) -> float:
        """How far outputs may be from their values: half a unit of the last digit."""
        return 0.0 if self.digits is None else 0.5 * 10.0**-self.digits


def example(entry: dict[str, Any]) -> Example:
    """Return an entry of a file, with the name of its interface, as an example."""
    facts = dict(entry)
    own = facts.pop("ours", False)
    if own == ("number" in facts):
        raise ValueError(f"{facts} is either ours or has a number.")
    arguments, outputs = facts.pop("arguments"), facts.pop("outputs", {})
    return Example(
        number=facts.pop("number", None),
        arguments=MappingProxyType({name: _value(v) for name, v in arguments.items()}),
        outputs=MappingProxyType({name: _value(v) for name, v in outputs.items()}),
        status=Status[facts.pop("status", "SUCCESS")],
        errata=tuple(facts.pop("errata", ())),
        also=tuple(
            MappingProxyType({name: _value(v) for name, v in one.items()})
            for one in facts.pop("also", ())
        ),
        **facts,
    )


def _value(value: Any) -> Any:
    """Return what a value of the file stands for: a tensor, nothing, or itself, for good."""
    if isinstance(value, dict):
        return _tensor(value)
    if isinstance(value, list):
        return tuple(_value(v) for v in value)
    return None if value == "NULL" else value


def _tensor(entry: dict[str, Any]) -> ExampleTensor:
    facts = {name: _value(v) for name, v in entry.items()}
    values = facts.pop("values", None)
    if values == "0..":
        values = _counting(facts["shape"], count())
    elif values is not None:
        values = _numbers(values)
        facts["shape"] = _sizes(values)
    return ExampleTensor(values=values, **facts)


def _counting(shape: tuple[int, ...], numbers: Iterator[int]) -> Any:
    if not shape:
        return next(numbers)
    return tuple(_counting(shape[1:], numbers) for _ in range(shape[0]))


def _numbers(values: Any) -> Any:
    if isinstance(values, tuple):
        return tuple(_numbers(v) for v in values)
    return complex(values) if isinstance(values, str) else values


def _sizes(values: Any) -> tuple[int, ...]:
    if not isinstance(values, tuple):
        return ()
    return (len(values), *_sizes(values[0])) if values else (0,)
