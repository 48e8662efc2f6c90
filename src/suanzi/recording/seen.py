"""Seen: what a recorder measured of a tensor's values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from suanzi.recording.recorders import values as measured


@dataclass(frozen=True)
class Seen:
    """The values that a tensor of a call had, in all of its calls that were measured."""

    least: int | float | None
    """The least finite one; None where there was none."""
    greatest: int | float | None
    has_inf: bool = False
    """Whether an infinity was among them, of either sign."""
    has_nan: bool = False
    nonzero: int = 0
    """Elements that were counted and are not zero."""
    zeroed: int = 0
    """Those of them that float16 rounds to zero."""
    subnormal: int = 0
    """Those that are subnormal in float16, with fewer bits."""

    @property
    def magnitude(self) -> float:
        """The largest finite magnitude."""
        return max((abs(x) for x in (self.least, self.greatest) if x is not None), default=0)


def read_seen(x: Any) -> Seen | None:
    """Return what a recorder wrote of a tensor."""
    if x is None:
        return None
    least, greatest, odd, *counts = x
    for one in (least, greatest):
        if one is not None and (type(one) not in (int, float) or not isfinite(one)):
            raise ValueError("its 'values' are not what a recorder writes")
    if len(counts) != 4 or any(type(n) is not int or n < 0 for n in (odd, *counts)):
        raise ValueError("its 'values' are not what a recorder writes")
    has_inf = bool(odd & (measured.INF | measured.MINUS_INF))
    return Seen(least, greatest, has_inf, bool(odd & measured.NAN), *counts[1:])


def with_values(record: dict[str, Any], seen: Sequence[Any]) -> dict[str, Any]:
    """Return the record of a call with what was measured of its tensors, the result's last."""
    if not seen:
        return record
    rest = list(seen[:-1])

    def given(x: Any) -> Any:
        if isinstance(x, list):
            return [given(one) for one in x]
        if isinstance(x, dict) and "dtype" in x and rest:
            return {**x, "values": rest.pop(0)}
        return x

    arguments = given(record["arguments"])
    named = {name: given(x) for name, x in record.get("named", {}).items()}
    return {**record, "arguments": arguments, "named": named, "values": seen[-1]}


def joined_values(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """Return what was measured of a call in two processes."""
    if not a or not b:
        return list(a or b)
    return [measured.joined(x, y) for x, y in zip(a, b, strict=False)]  # type: ignore[no-untyped-call]
