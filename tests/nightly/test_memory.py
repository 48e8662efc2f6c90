"""A hundred thousand calls of each class of operators leave nothing behind."""

from __future__ import annotations

import os

import pytest

from helpers.growth import classes, growth

CALLS = int(os.environ.get("SUANZI_MEMORY_CALLS", "100000"))


@pytest.mark.parametrize("name", sorted(classes()))
def test_memory_does_not_grow(name: str) -> None:
    assert growth(classes()[name], CALLS) == {}
