"""Arguments that compute operators in their own way: sparse tensors, tensors of other devices."""

from __future__ import annotations

from typing import Any

import pytest

import suanzi as sz


class Mine:
    """Answers with what it was asked."""

    def __suanzi_operator__(self, name: str, args: Any, kwargs: Any) -> Any:
        return name, args, kwargs


class Shy:
    """Leaves every operator to others."""

    def __suanzi_operator__(self, name: str, args: Any, kwargs: Any) -> Any:
        return NotImplemented


def test_it_is_asked_wherever_it_stands() -> None:
    x, mine = sz.tensor([1, 2]), Mine()
    assert sz.add(x, mine) == ("add", (x, mine), {})
    assert sz.add(mine, 1) == ("add", (mine, 1), {})
    assert sz.exp(mine) == ("exp", (mine,), {})
    assert sz.clip(mine, low=1) == ("clip", (mine,), {"low": 1})
    assert sz.where(sz.tensor([True]), x, y=mine)[0] == "where"  # type: ignore[call-arg, index]
    assert (x + mine)[0] == "add"
    assert (x == mine)[0] == "equal"


def test_the_next_one_is_asked_when_it_declines() -> None:
    assert sz.add(Shy(), Mine())[0] == "add"
    with pytest.raises(sz.TypeMismatch, match=r"add \(7.2.4.1\): not supported for Shy\."):
        sz.add(Shy(), sz.tensor([1]))
