"""Tensors of blocks are tested where Dask is, on its synchronous scheduler by default."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import suanzi as sz


@pytest.fixture(autouse=True)
def _computed_here() -> Iterator[None]:
    dask = pytest.importorskip("dask", reason="tensors of blocks are Dask's")
    from suanzi.runtimes.cluster.provider import Provider

    sz.register_device("cluster", Provider())  # which only an installed package announces
    with dask.config.set(scheduler="sync"):
        yield
    sz.register_device("cluster", None)
