"""Tensors on PyTorch's CPU device: everything that a device does, where there is none.

SUANZI_DEVICE=cuda runs the same tests on a GPU.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.helpers.devices import DEVICE, KIND

if importlib.util.find_spec("torch") is None:
    collect_ignore_glob = ["test_on_*.py"]
else:
    from suanzi.runtimes.torch.provider import register

    register()


@pytest.fixture
def device() -> str:
    """Return the device that tests use."""
    return DEVICE


@pytest.fixture
def used() -> Iterator[Counter[str]]:
    """Count the calls that kernels compute, by key."""
    from suanzi.runtimes.torch.fast import FAST, PLANNED
    from suanzi.runtimes.torch.loading import usable

    assert usable(KIND)
    counts: Counter[str] = Counter()
    tables: list[dict[str, Any]] = [FAST, PLANNED]
    before = [dict(table) for table in tables]

    def counted(key: str, function: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            made = function(*args, **kwargs)
            counts.update([key] if made is not None else [])
            return made

        return run

    for table in tables:
        table.update({key: counted(key, one) for key, one in table.items()})
    with np.errstate(all="ignore"):  # the interpreter computes with NumPy
        yield counts
    for table, old in zip(tables, before, strict=True):
        table.update(old)


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """List the plans of kernels of elements that are made; those of earlier tests are forgotten.

    What a plan computes again is started without Python, and cannot be counted.
    """
    from suanzi.runtimes.torch import repeating
    from suanzi.runtimes.torch.triton.elements import ElementPlan

    made: list[object] = []
    make = ElementPlan.__init__

    def counted(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        made.append(self)

    monkeypatch.setattr(ElementPlan, "__init__", counted)
    repeating.plans.clear()
    return made
