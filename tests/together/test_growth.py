"""Calls of every operator leave nothing behind; tests/nightly makes a hundred times as many."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import suanzi as sz
from helpers import growth
from suanzi.promote.registry import REGISTRY


def test_memory_does_not_grow() -> None:
    """A hundred of each, in both forms."""
    names = [name for some in growth.classes().values() for name in some]
    assert len(names) > 250
    assert growth.growth(names, 100 * len(names)) == {}


def test_every_operator_is_called() -> None:
    assert {n for some in growth.classes().values() for n in some} == {
        name for name, op in REGISTRY.items() if op.catalogue in ("standard", "nn")
    } - {"destroy"}


# Python counts no blocks of an allocator that is not its own: .ci/sanitize takes malloc.
KEPT = ["pool", "blocks"] if sys.getallocatedblocks() else ["pool"]


@pytest.mark.parametrize("what", KEPT)
def test_what_is_kept_is_found(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[Any] = []

    def leaking(name: str) -> list[Any]:
        return [lambda: left.append(sz.tensor([1.0]) if what == "pool" else object())]

    monkeypatch.setattr(growth, "calls", leaking)
    assert what in growth.growth(["abs"], 2000)
