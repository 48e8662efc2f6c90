"""Tensors cut into blocks, and their results compared with those of one tensor, bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import suanzi as sz


def on_blocks(size: Any) -> Callable[[Any], Any]:
    """Return what cuts arrays and tensors into blocks; sizes are for the first axes, then 2."""

    def made(x: Any) -> Any:
        from suanzi.runtimes import cluster

        wanted = (*size, *(2,) * x.ndim)[: x.ndim] if isinstance(size, tuple) else size
        with cluster.blocks(wanted):
            return sz.tensor(x, device="cluster")

    return made


def same(found: Any, wanted: Any) -> None:
    """Assert that blocks, also in lists, have shape, dtype, meaning and bits of one tensor."""
    if isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            same(a, b)
        return
    if wanted is None or not hasattr(wanted, "dtype"):
        assert found == wanted
        return
    host = found.to_host()
    for one in (found, host):
        assert (one.shape, one.dtype) == (wanted.shape, wanted.dtype)
        assert (one.scale, one.zero_point) == (wanted.scale, wanted.zero_point)
        assert one.channel_axis == wanted.channel_axis
    assert _bytes(host) == _bytes(wanted)


def same_error(here: Callable[[], Any], there: Callable[[], Any]) -> None:
    """Assert that a call on blocks, or what it computes, is refused in the words of one tensor."""
    with pytest.raises(sz.StatusError) as wanted:
        here()
    with pytest.raises(type(wanted.value)) as found:
        there().to_host()
    assert str(found.value) == str(wanted.value)


def _bytes(x: sz.Tensor) -> bytes:
    return (x.int_repr() if x.dtype.kind == "quantized" else x).numpy().tobytes()
