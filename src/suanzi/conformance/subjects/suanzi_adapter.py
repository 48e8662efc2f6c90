"""suanzi itself as a subject: the standard's form of the embedded implementation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import suanzi as sz
from suanzi import _core
from suanzi.base.layout import Layout, LayoutType
from suanzi.conformance.subjects.wire import Data, Unsupported
from suanzi.faces import interface
from suanzi.promote.context import promotion
from suanzi.promote.library import learn_rules
from suanzi.standard import interfaces
from suanzi.standard.catalogues import STANDARD, usable
from suanzi.tensors.sparse.making import from_dense
from suanzi.tensors.sparse.tensor import SparseTensor


class Adapter:
    """The embedded implementation."""

    name = "suanzi"
    version = sz.__version__
    rules = "cann"
    statuses = True

    def __init__(self, level: str | None = None) -> None:
        self.mapping = {
            facts.key: ".".join(
                ["suanzi.interface", *([of] if of != STANDARD else []), facts.c_name]
            )
            for of in [one.name for one in usable()]
            for facts in interfaces(of).values()
        }
        self._rules = self.rules
        self._learned: set[str] = set()
        if level is not None:
            _core.use_level(level)

    def use_rules(self, rules: str) -> None:
        """Make the calls from now on under a rule set."""
        self._rules = rules

    def learn_rules(self, text: str) -> None:
        """Learn a rule set that is not built in."""
        if text not in self._learned:
            learn_rules(text)
            self._learned.add(text)

    def create(self, data: Data) -> Any:
        """Return a tensor that lies in memory as the data say."""
        return create(data)

    def read(self, x: Any) -> Data:
        """Return a tensor as data."""
        return read(x)

    def memory(self, content: bytes) -> bytes:
        """Return values that are bytes."""
        return content

    def shape(self, dims: tuple[int, ...], min2maj: tuple[int, ...]) -> interface.Shape:
        """Return a shape with the order of its axes in memory."""
        return interface.Shape(dims, Layout(LayoutType.DENSE, min2maj))

    def write(self, x: Any, data: Data) -> None:
        """Write elements into the memory of a tensor."""
        _core.copy_into(x, create(data))

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        """Call a function of the standard's form."""
        with promotion(self._rules):
            status, *outputs = function_of(op)(**arguments)
        if status is not sz.Status.SUCCESS:
            return status.name, str(interface.last_error())
        return status.name, *outputs

    def status(self, error: Exception) -> str:
        """Return the status of an error: the standard's form raises nothing that has another."""
        return sz.Status.INTERNAL_ERROR.name


def function_of(op: str) -> Any:
    """Return the function of the standard's form of an interface, or of one of a catalogue."""
    of, _, name = op.rpartition(":")
    home = getattr(interface, of) if of else interface
    return getattr(home, interfaces(of or "standard")[name].c_name)


def create(data: Data) -> Any:
    """Return a tensor that lies in memory as the data say."""
    dtype = sz.dtype(data.dtype)
    if data.sparse is not None:
        dense = create(Data(data.dtype, data.shape, data.raw))
        return from_dense(dense, LayoutType[data.sparse])
    if data.min2maj is not None:
        return _ordered(dtype, data, data.min2maj[::-1])
    if data.layout == "dense":
        return _filled(dtype, data.shape, data)
    if data.layout == "destroyed":
        x = _filled(dtype, data.shape, data)
        sz.destroy(x)
        return x
    if data.layout == "columns":
        x = _core.empty(data.shape[::-1], dtype)
        strides = x.strides[::-1]
        start, base = 0, x
    elif data.layout == "gaps":
        base = _core.empty(tuple(2 * n for n in data.shape), dtype)
        strides, start = tuple(2 * s for s in base.strides), 0
    elif data.layout == "reversed":
        base = _core.empty(data.shape, dtype)
        strides = tuple(-s for s in base.strides)
        start = sum((n - 1) * s for n, s in zip(data.shape, base.strides, strict=True) if n)
        start = start if data.size else 0
    elif data.layout == "offset":
        base = _core.empty((data.size + 3,), dtype)
        strides, start = _core.empty(data.shape, dtype).strides, 3
    elif data.layout == "repeated":
        return _repeated(dtype, data)
    else:
        raise Unsupported(f"suanzi's adapter has no layout {data.layout!r}")
    base.storage.memory[:] = b"\1" * len(base.storage.memory)
    x = _core.view(base, start, data.shape, strides)
    if data.size:
        _core.copy_into(x, _filled(dtype, data.shape, data))
    return _scaled(x, data)


def _ordered(dtype: sz.DType, data: Data, slow_first: tuple[int, ...]) -> Any:
    """Return a tensor whose axes lie in memory in an order."""
    base = _core.empty(tuple(data.shape[axis] for axis in slow_first), dtype)
    steps = dict(zip(slow_first, base.strides, strict=True))
    x = _core.view(base, 0, data.shape, tuple(steps[axis] for axis in range(len(data.shape))))
    if data.size:
        _core.copy_into(x, _filled(dtype, data.shape, data))
    return _scaled(x, data)


def _repeated(dtype: sz.DType, data: Data) -> Any:
    """Return a tensor that has one element for all along every axis where they are the same."""
    import numpy as np

    whole = np.frombuffer(data.raw, np.uint8).reshape(*data.shape, dtype.itemsize)
    base = _filled(dtype, data.shape, data)
    strides = [
        0 if n > 1 and (whole == whole.take([0], axis)).all() else step
        for axis, (n, step) in enumerate(zip(data.shape, base.strides, strict=True))
    ]
    return _scaled(_core.view(base, 0, data.shape, strides), data)


def made(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with every tensor made."""

    def one(value: Any) -> Any:
        if isinstance(value, Data):
            return create(value)
        return [one(v) for v in value] if isinstance(value, list) else value

    return {name: one(value) for name, value in arguments.items()}


def _filled(dtype: sz.DType, shape: tuple[int, ...], data: Data) -> Any:
    x = _core.empty(shape, dtype)
    x.storage.memory[: len(data.raw)] = data.raw
    return _scaled(x, data)


def _scaled(x: Any, data: Data) -> Any:
    """Say what the integers of a quantised tensor stand for."""
    if data.scale is not None:
        axis = 0 if len(data.scale) > 1 else -1
        _core.set_quantization(x, list(data.scale), data.zero_point or 0, axis)
    return x


def read(x: Any) -> Data:
    """Return a tensor as data."""
    if isinstance(x, SparseTensor):
        dense = read(x.to_dense())
        return Data(dense.dtype, dense.shape, dense.raw, sparse=x.layout.type.name)
    dtype, shape, order = x.dtype, tuple(x.shape), x.layout.min2maj
    plain = sz.duplicate(x)
    return Data(
        str(dtype), shape, _bytes(plain),
        scale=None if x.scale is None else tuple(x.scale), zero_point=x.zero_point,
        min2maj=None if order == tuple(range(len(shape)))[::-1] else order,
        device=f"{x.device.type.name.lower()}:{x.device.id}",
    )  # fmt: skip


def _bytes(x: Any) -> bytes:
    """Return the bytes of the elements of a tensor, in row-major order."""
    item, memory = x.dtype.itemsize, x.storage.memory
    first = x.offset * item
    if not x.size or _core.is_row_major(x):
        return bytes(memory[first : first + x.size * item])
    import numpy as np

    strides = (*(s * item for s in x.strides), 1)
    return np.ndarray((*x.shape, item), np.uint8, memory, first, strides).tobytes()
