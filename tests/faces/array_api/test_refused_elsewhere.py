"""Functions of the namespace refuse for sparse tensors and tensors of blocks what they refuse for
dense ones: dtypes, axes, and a tensor in the place of a list."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import suanzi as sz
from suanzi.base.dtypes import DTYPES
from suanzi.faces import array_api as xp
from suanzi.faces.array_api.declare import FUNCTIONS, OTHERS


def elsewhere() -> Iterator[Callable[[sz.Tensor], Any]]:
    yield sz.to_sparse
    try:
        import dask  # noqa: F401

        from suanzi.runtimes.cluster.provider import Provider
    except ImportError:
        return
    sz.register_device("cluster", Provider())
    yield lambda x: x.to_device("cluster")


def of_dtype(dtype: sz.DType) -> sz.Tensor:
    x = sz.tensor([[1.0, 1.0], [1.0, 1.0]])
    if dtype.kind == "quantized":
        return sz.quantize(x, dtype)
    return sz.empty((2, 2), dtype) if dtype.kind == "char" else sz.cast(x, dtype)


def calls(name: str, x: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Calls of a function, most of which are refused for one reason."""
    first, *rest = inspect.signature(FUNCTIONS[name].function).parameters.values()
    given: list[Any] = [[x, x], x, [], (x,)] if first.name == "arrays" else [x]
    needed = {p.name for p in rest if p.default is p.empty}
    usual = {"x2": x, "shape": (4,), "axes": (1, 0), "axis": 0, "dtype": sz.float32}
    for one in given:
        yield (one, *(usual[p.name] for p in rest if p.name in needed)), {}
    for p in rest:
        if p.name in ("axes", "axis"):
            for axes in ((), "x", 1.5, None):
                args = (given[0],) if p.kind is p.KEYWORD_ONLY else (given[0], axes)
                yield args, {"axis": axes} if p.kind is p.KEYWORD_ONLY else {}


def status(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    try:
        made = function(*args, **kwargs)
        if hasattr(made, "to_host"):
            made.to_host()
    except sz.StatusError as error:
        return error.status
    return None


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_what_the_host_refuses_is_refused(name: str) -> None:
    function = getattr(xp, name)
    for move in elsewhere():
        for dtype in DTYPES:
            x = of_dtype(dtype)
            try:
                there = move(x)
            except sz.StatusError:  # no sparse tensors of that dtype
                continue
            for (args, kwargs), (others, _) in zip(calls(name, x), calls(name, there), strict=True):
                refused = status(function, args, kwargs)
                if refused is not None:
                    got = status(function, others, kwargs)
                    assert got is not None, (dtype, args, kwargs, refused)
                    if refused is sz.Status.TYPE_MISMATCH:
                        assert got is refused, (dtype, args, kwargs)
