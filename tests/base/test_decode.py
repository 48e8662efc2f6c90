"""Untrusted data as typed values: what is wrong is named with its position, and never read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict

import pytest
from jsonschema import Draft202012Validator

from suanzi.base.decode import PRIVATE, Malformed, Numbers, decode, schema_of


class Inner(TypedDict, total=False):
    size: Annotated[int, Numbers(1)]
    """How large it is."""


@dataclass(frozen=True)
class Record:
    name: str
    kind: Literal["a", "b"] = "a"
    sizes: tuple[int, ...] = ()
    far: Annotated[float, Numbers(0, ("inf",))] | None = None
    inner: Inner = field(default_factory=Inner)  # type: ignore[arg-type]
    table: dict[str, bool] = field(default_factory=dict)
    either: str | tuple[str, ...] | None = None
    own: object = field(default=None, metadata={PRIVATE: True})


RIGHT: list[dict[str, Any]] = [
    {"name": "x"},
    {"name": "x", "kind": "b", "sizes": [1, 2], "far": 3, "inner": {"size": 1}},
    {"name": "x", "far": "inf", "either": ["a"], "table": {"t": True}},
    {"name": "x", "far": None, "either": "a"},
]
WRONG: list[tuple[Any, str]] = [
    ([], "it is [], not object"),
    ({}, "it has no name"),
    ({"name": 1}, "name is 1, not string"),
    ({"name": "x", "kind": "c"}, "kind is 'c', not one of 'a', 'b'"),
    ({"name": "x", "sizes": 1}, "sizes is 1, not array"),
    ({"name": "x", "sizes": [1, True]}, "sizes[1] is True, not integer"),
    ({"name": "x", "sizes": [1.0]}, "sizes[0] is 1.0, not integer"),
    ({"name": "x", "far": -1}, "far is -1, not 0 or more"),
    ({"name": "x", "far": float("nan")}, "far is nan, not 0 or more"),
    ({"name": "x", "far": "nan"}, "far is 'nan', not number"),
    ({"name": "x", "far": 10**400}, "far is an int, not number"),
    ({"name": "x", "inner": {"size": 0}}, "inner.size is 0, not 1 or more"),
    ({"name": "x", "table": {"t": 1}}, "table.t is 1, not boolean"),
    ({"name": "x", "either": ["a", 2]}, "either[1] is 2, not string"),
    ({"name": "x", "either": 2}, "either is 2, not string or array"),
]


@pytest.mark.parametrize("data", RIGHT)
def test_right(data: dict[str, Any]) -> None:
    found = decode(Record, data)
    assert found.name == "x"
    assert Draft202012Validator(schema_of(Record)).is_valid(data)


def test_what_comes_out() -> None:
    found = decode(Record, RIGHT[1] | {"later": 1, "own": 7})
    assert (found.sizes, found.far, found.inner, found.own) == ((1, 2), 3.0, {"size": 1}, None)
    assert decode(Record, RIGHT[2]).far == float("inf")
    with pytest.raises(Malformed, match="Did you mean 'sizes'"):
        decode(Record, {"name": "x", "size": []}, closed=True)


@pytest.mark.parametrize(("data", "words"), WRONG)
def test_wrong(data: Any, words: str) -> None:
    with pytest.raises(Malformed) as raised:
        decode(Record, data)
    assert str(raised.value) == words
    if not isinstance(data, dict) or data.get("far") not in (10**400,):
        valid = Draft202012Validator(schema_of(Record)).is_valid(data)
        # Python's validator takes 1.0 for an integer, and NaN for a number of any size.
        assert not valid or "1.0" in words or "nan" in words


def test_descriptions() -> None:
    assert schema_of(Inner)["properties"]["size"] == {
        "description": "How large it is.", "type": "integer", "minimum": 1,
    }  # fmt: skip
