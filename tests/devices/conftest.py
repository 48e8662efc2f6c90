"""Tensors on PyTorch's CPU device: everything that a device does, where there is none.

SUANZI_DEVICE=cuda runs the same tests on a GPU.
"""

from __future__ import annotations

import importlib.util

import pytest
from tests.helpers.devices import DEVICE

if importlib.util.find_spec("torch") is None:
    collect_ignore_glob = ["test_on_*.py"]
else:
    from suanzi.torch.provider import register

    register()


@pytest.fixture
def device() -> str:
    """Return the device that tests use."""
    return DEVICE
