"""The arguments of a case as those of a C function.

What C cannot say is Unsaid: a string for a tensor, an array of another length than the one
that is implied, a number that its type does not hold.
"""

from __future__ import annotations

import cmath
import ctypes
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from suanzi.base import dtypes
from suanzi.base.device import Device as KnownDevice
from suanzi.base.status import StatusError
from suanzi.conformance.header import defaults
from suanzi.conformance.model.data import tensor, values
from suanzi.conformance.model.numbers import FORMATS, PARTS, Real, limits, real
from suanzi.conformance.subjects.c_memory import (
    DataType,
    Device,
    Fetch,
    Held,
    Memory,
    Shape,
    StorageImpl,
    TensorImpl,
    by_columns,
    c_dtype,
    check_layout,
    scales,
)
from suanzi.conformance.subjects.wire import ITEMSIZE, Bytes, Data, Shaped, Unsaid
from suanzi.standard.prototypes import Item, Prototype, enumerations

_SCALARS: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "char": ctypes.c_char,
    "int": ctypes.c_int,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "DataType": DataType,
    "Device": Device,
    "Shape": Shape,
}
_ARRAYS = {"int": "int32", "int64_t": "int64", "float": "float32"}
_COMPUTED_WITH = frozenset({"start", "limit", "step", "stop"})
"""Scalars that count before they are rounded: in C, they are rounded already."""
_NO_MEMBER = 99
"""What stands for a mode that there is not."""


def c_type(item: Item) -> Any:
    """Return the type of a parameter for ctypes."""
    if item.pointer or item.base == "Tensor":
        return ctypes.c_void_p
    return ctypes.c_int if item.base in enumerations() else _SCALARS[item.base]


class Home:
    """Where a library has its tensors: here, host memory."""

    device = Device(0, 0)
    """The device of new tensors, where a call names none."""

    def take(self, label: str, handle: int) -> int:
        """Return a tensor of the library that is a tensor of the kit, or like it."""
        return handle

    fetch: Fetch | None = None
    """Returns the elements of a tensor that is not in host memory."""

    def check(self) -> None:
        """Raise Broken if an input is not as it was, as far as the memory of a call does not."""

    def is_lent(self, handle: int) -> bool:
        """Tell whether a tensor of the library was made for an input."""
        return False

    def close(self, destroy: Any) -> None:
        """Destroy the tensors that were made for inputs."""


class Arguments:
    """The arguments of one call, and the memory they lie in."""

    def __init__(
        self, function: Prototype, given: Mapping[str, Any], home: Home | None = None
    ) -> None:
        """Place the arguments in memory; `home` is where a library has its tensors."""
        self.function, self.memory = function, Memory()
        self.home = home or Home()
        self.given, self._order = _apart(given)
        self._counts: dict[str, int] = {}
        self.tensors: list[tuple[str, int]] = []
        """The tensors that are lent, by their names."""
        self._check_forgotten()
        handles = [given.get(i.name) for i in function.parameters if i.base == "Tensor"]
        self._tensors = [x for x in _flat(handles) if isinstance(x, Data | Held)]
        made: dict[str, Any] = {}
        lengths = function.lengths
        derived = {p.name for p in function.interface.parameters if p.derived} - set(lengths)
        for item in function.parameters:
            if item.name not in lengths and item.name not in derived:
                made[item.name] = self._argument(item)
        for item in function.parameters:
            if item.name in lengths:
                made[item.name] = self._length(item.name, lengths[item.name])
            elif item.name in derived:
                made[item.name] = self._derived(item.name)
        self.cells = {item.name: self._cell(item, made) for item in function.outputs}
        both = {**made, **{name: at for name, (at, _) in self.cells.items()}}
        self.c = [both[item.name] for item in function.items]

    def clear(self) -> None:
        """Forget the outputs of a call, so that it can be made once more."""
        for at, count in self.cells.values():
            ctypes.memset(at, 0, 8 * max(count or 1, 1))

    def _check_forgotten(self) -> None:
        """Raise Unsaid if a tensor counts that the printed prototype has no parameter for."""
        if "vec2" not in self.given or "vec2" in {item.name for item in self.function.items}:
            return
        first, second = self.given.get("vec1"), self.given["vec2"]
        there = isinstance(first, Data) and isinstance(second, Data)
        if not there or second.layout == "destroyed" or _kind(first) != _kind(second):
            raise Unsaid("in C as it is printed, op_dot_bwd2 has no vec2")

    def _argument(self, item: Item) -> Any:
        name, given = item.name, item.name in self.given
        if not given and name not in defaults(self.function.interface.name):
            raise Unsaid(f"C cannot leave out {name}")
        value = self.given[name] if given else defaults(self.function.interface.name)[name]
        if given and value in ([], ()) and self._empty_is_null(name):
            given, value = False, None
        if item.base == "Tensor":
            if not given:
                return None
            return self._list(name, value) if item.pointer else self._tensor(name, value)
        if item.base == "char":
            return self._text(item, value)
        if item.pointer:
            # A pointer that is left out is NULL; an empty array that is given is not.
            return None if value is None or not given else self._pointed(item, value)
        return self._scalar(item, value)

    def _empty_is_null(self, name: str) -> bool:
        """Tell whether the standard's "empty" leaves a parameter out; others may have none."""
        required = ("split_sizes", "values")
        return name in required or defaults(self.function.interface.name).get(name) == ()

    def _tensor(self, name: str, value: Any) -> int | None:
        if value is None:
            return None
        if isinstance(value, int) and name == "shift":
            # A number is a tensor without axes; that of a bool is an integer, too.
            kind = self._dtype_of_first()
            kind = "int8" if kind == "bool" else kind
            value = tensor(kind, [_exact(value, kind)], ())
        if isinstance(value, Held):
            self.tensors += [(name, value.handle)] if value.handle is not None else []
            return value.handle
        if not isinstance(value, Data):
            raise Unsaid(f"in C, {name} is a tensor")
        check_layout(value)
        if value.layout != "destroyed":
            handle = self.home.take(name, self.memory.tensor(name, value))
            self.tensors.append((name, handle))
            return handle
        if name in defaults(self.function.interface.name):
            raise Unsaid(f"a destroyed tensor is NULL, which leaves {name} out")
        return None

    def _list(self, name: str, value: Any) -> int | None:
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise Unsaid(f"in C, {name} is an array of tensors")
        handles = [self._tensor(f"{name}[{i}]", x) or 0 for i, x in enumerate(value)]
        self._counts[name] = len(handles)
        return self.memory.place(name, np.array(handles, np.uintp).tobytes())

    def _text(self, item: Item, value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, str) or not value.isascii():
            raise Unsaid(f"in C, {item.name} is a string")
        if item.pointer:
            return self.memory.place(item.name, value.encode() + b"\0")
        if len(value) != 1:
            raise Unsaid(f"in C, {item.name} is one character")
        return value.encode()

    def _pointed(self, item: Item, value: Any) -> int:
        if item.base == "void":
            return self._values(value) if item.name == "values" else self._generic(item, value)
        if item.base in ("DataType", "Shape"):
            return self.memory.place(item.name, bytes(self._scalar(item, value)))
        if item.name == "channel_axis":
            return self.memory.place(item.name, self._array(item, [value]))
        return self.memory.place(item.name, self._array(item, value))

    def _array(self, item: Item, value: Any) -> bytes:
        wanted = self._implied(item.name)
        if item.name == "scale":
            value = self._scales(value)
        if isinstance(value, int | float):
            value = [value] * (wanted if wanted is not None else 1)
        found = _flat(_plain(value))
        if wanted is not None and len(found) != wanted:
            raise Unsaid(f"in C, {item.name} has no length: it is {wanted}")
        self._counts[item.name] = len(found)
        kind = _ARRAYS[item.base]
        for x in found:
            if kind == "float32":
                fits = isinstance(x, int | float) and not isinstance(x, bool)
            else:
                low, high = limits(kind)
                fits = isinstance(x, int) and not isinstance(x, bool) and low <= x <= high
            if not fits:
                raise Unsaid(f"in C, {item.name} has elements of the type {item.base}")
        return np.array(found, kind).tobytes()

    def _scales(self, value: Any) -> tuple[Any, ...]:
        axis = self.given.get("channel_axis")
        dims = _flat(_plain(self.given["shape"]))
        return scales(self._dtype(), dims, _flat(_plain(value)), axis)

    def _implied(self, name: str) -> int | None:
        """Return how many elements an array has that has no length of its own."""
        words = self.function.elements.get(name)
        if words is None or (not self._tensors and "ndim" in words):
            return None
        ndim = len(self._tensors[0].shape) if self._tensors else 0
        known = {"ndim": ndim, "2 * ndim": 2 * ndim, "ndim - 2": max(ndim - 2, 0),
                 "shifts_len": self._counts.get("shifts")}  # fmt: skip
        if name == "indices" and words.startswith("nnzs"):
            return self._nnzs() * len(_plain(self.given["shape"]))
        return known.get(words)

    def _values(self, value: Any) -> int:
        """Return the address of elements in the dtype of the tensor to be made."""
        if isinstance(value, Held) and value.handle is not None:
            return self._values_of(value.handle)
        kind = self._dtype()
        dims = _plain(self.given["shape"])
        count = math.prod(dims)
        if self.function.interface.name == "create_sparse_tensor":
            count = self._nnzs()
        # How many bytes there are is what C can say: of a shape that is none, or next to one.
        any_count = min(dims, default=0) < 0 or self.given.get("n_bytes") is not None
        if isinstance(value, Bytes):
            raw = value.content
        elif isinstance(value, Data):
            stored = kind.rsplit("_", 1)[-1].lower() if kind.startswith("QT") else kind
            same = value.dtype in (kind, stored) and (any_count or value.size == count)
            if not same or value.layout == "destroyed":
                raise Unsaid("in C, values are bytes: they have neither dtype nor shape")
            raw = by_columns(value) if value.layout == "columns" else value.raw
        else:
            found = _flat(_plain(value))
            if len(found) != count and found and not any_count:
                raise Unsaid("in C, values are bytes: they have no shape")
            raw = tensor(kind, [_exact(x, kind) for x in found]).raw
        self._counts["values"] = len(raw)
        return self.memory.elements("values", raw)

    def _values_of(self, handle: int) -> int:
        """Return where the elements of a tensor of a step before lie."""
        impl = TensorImpl.from_address(handle)
        storage = StorageImpl.from_address(impl.storage)
        if storage.device.type != 0:
            raise Unsaid("values are in host memory, and the tensor is not")
        item = ITEMSIZE[self._dtype()]
        self._counts["values"] = impl.size * item
        address: int = storage.data + impl.offset * item
        return address

    def _min2maj(self, count: int) -> tuple[int, ...] | None:
        """Return the order of axes of the shape: as given, or as the values for it are to lie."""
        found = self.given.get("values")
        dense = self.function.interface.name != "create_sparse_tensor"
        if dense and isinstance(found, Data) and found.layout == "columns":
            return tuple(range(count))
        return self._order

    def _generic(self, item: Item, value: Any) -> int:
        """Return the address of one element of the dtype of the tensor."""
        made = "dtype" in {p.name for p in self.function.parameters}
        kind = self._dtype() if made else self._dtype_of_input()
        if isinstance(value, Data):
            if value.dtype != kind or value.size != 1:
                raise Unsaid(f"in C, {item.name} is one {kind}")
            return self.memory.place(item.name, value.raw)
        element = tensor(kind, [_exact(value, kind)])
        if item.name in _COMPUTED_WITH and not _is_exact(element, value):
            raise Unsaid(f"{value!r} is no {kind} in C")
        return self.memory.place(item.name, element.raw)

    def _scalar(self, item: Item, value: Any) -> Any:
        if item.base == "DataType":
            return _c_dtype(value)
        if item.base == "Device" and item.name not in self.given:
            return self.home.device
        if item.base == "Device":
            try:
                device = KnownDevice(value)
            except StatusError as error:
                raise Unsaid(str(error)) from None
            return Device(device.type, device.id)
        if item.base == "Shape":
            dims = (value,) if isinstance(value, int) else tuple(_flat(_plain(value)))
            self._check_integers(item, dims, ctypes.c_int64)
            order = self._min2maj(len(dims))
            if order is not None and min(dims, default=0) >= 0:
                self._ask_for(item.name, dims, order)
            return self.memory.shape(item.name, dims, order)
        if item.base in enumerations():
            members = enumerations()[item.base]
            return members.index(value) if value in members else _NO_MEMBER
        if item.base == "bool":
            if not isinstance(value, bool):
                raise Unsaid(f"in C, {item.name} is a bool")
            return value
        if item.base in ("float", "double"):
            return self._float(item, value)
        self._check_integers(item, (value,), _SCALARS[item.base])
        return value

    def _ask_for(self, name: str, dims: tuple[int, ...], order: tuple[int, ...]) -> None:
        """Lend a tensor like the one to be made, so that a library can say that it has no such."""
        kind = self._dtype()
        like = Data(kind, dims, bytes(math.prod(dims) * ITEMSIZE[kind]), min2maj=order)
        self.tensors.append((name, self.memory.tensor(f"one like {name}", like)))

    def _float(self, item: Item, value: Any) -> float:
        if value is None:  # the precision of lstsq, which whole numbers have not
            kind = dtypes.dtype(self._dtype_of_first())
            is_real = kind.kind in ("float", "complex")
            return float(dtypes.finfo(kind if is_real else dtypes.float64).eps)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Unsaid(f"in C, {item.name} is a {item.base}")
        return float(value)

    def _check_integers(self, item: Item, found: tuple[Any, ...], kind: Any) -> None:
        limit = 1 << (8 * ctypes.sizeof(kind) - 1)
        for x in found:
            if isinstance(x, bool) or not isinstance(x, int) or not -limit <= x < limit:
                raise Unsaid(f"in C, {item.name} is of the type {item.base}")

    def _length(self, name: str, array: str) -> int:
        count = self._counts.get(array, 0)
        if self.given.get(name, count) != count:
            raise Unsaid(f"in C, {array} would be read past its end: {name} is not {count}")
        return count

    def _derived(self, name: str) -> int:
        """Return a number that Python takes from another argument."""
        given = self.given.get(name)
        if name == "n_bytes":
            count = self._counts.get("values", 0)
            if given is not None and not -(1 << 63) <= given <= count:
                raise Unsaid("in C, values would be read past their end")
            return count if given is None else int(given)
        if given is not None:
            self._check_integers(Item(name, "int", False, True), (given,), ctypes.c_int)
            if name == "nsplit" and self._counts.get("split_sizes", given) != given:
                raise Unsaid("in C, split_sizes has nsplit elements")
            return int(given)
        if name == "nnzs":
            return self._nnzs()
        if name == "nsplit":
            return self._counts.get("split_sizes", 0)
        shape = self._tensors[0].shape if self._tensors else ()
        axis = self.given.get("axis", 0)
        if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
            axis = 0
        return shape[axis] if shape else 0

    def _nnzs(self) -> int:
        found = self.given.get("values")
        return found.size if isinstance(found, Data) else len(_flat(_plain(found)))

    def _cell(self, item: Item, made: Mapping[str, Any]) -> tuple[int, int | None]:
        """Return where an output goes, and how many there are if it is an array."""
        words = self.function.elements.get(item.name)
        count: int | None = None
        if words is not None:
            if words.startswith("ndim"):
                rank = len(self._tensors[0].shape) if self._tensors else 0
                count = rank if made["as_tuple"] else None
            else:
                count = max(made[words], 0)
        room = 1 if item.twice else max(count or 1, 1)
        return self.memory.place(item.name, bytes(8 * room), writable=True), count

    def _dtype(self) -> str:
        given = self.given.get("dtype", defaults(self.function.interface.name)["dtype"])
        try:
            return dtypes.dtype(given).name
        except StatusError as error:
            raise Unsaid(str(error)) from None

    def _dtype_of_input(self) -> str:
        found = self.given.get("input")
        return found.dtype if isinstance(found, Data) else self._dtype_of_first()

    def _dtype_of_first(self) -> str:
        if not self._tensors:
            raise Unsaid("in C, a scalar has the dtype of a tensor, and there is none")
        return self._tensors[0].dtype


def _apart(given: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[int, ...] | None]:
    """Return arguments whose shape is lengths alone, and the order of axes that it came with."""
    shape = given.get("shape")
    if not isinstance(shape, Shaped):
        return dict(given), None
    return {**given, "shape": list(shape.dims)}, shape.min2maj


def _kind(x: Any) -> tuple[str, tuple[int, ...]]:
    return x.dtype, x.shape


def _c_dtype(value: Any) -> DataType:
    try:
        return c_dtype(value)
    except StatusError:
        return DataType(_NO_MEMBER, 0)


def _plain(value: Any) -> list[Any]:
    """Return what may be a tensor, a number or nothing as a list."""
    if isinstance(value, Data):
        return [float(x.value) if isinstance(x, Real) else x for x in values(value)]
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _flat(value: list[Any]) -> list[Any]:
    found: list[Any] = []
    for x in value:
        found += _flat(list(x)) if isinstance(x, list | tuple) else [x]
    return found


def _exact(x: Any, dtype: str) -> Any:
    """Return a number as the oracle has it, where C could write it down in a dtype."""
    if isinstance(x, complex) and dtype in PARTS:
        return real(x.real), real(x.imag)
    if isinstance(x, bool | int | float):
        if dtype in PARTS:
            return real(x), real(0)
        if dtype in FORMATS:
            return real(x)
        low, high = _limits(dtype)
        if x == x // 1 and low <= x <= high:
            return int(x)
    raise Unsaid(f"{x!r} is no {dtype} in C")


def _is_exact(element: Data, x: complex) -> bool:
    """Tell whether a number was not rounded; NaN and infinities never are."""
    if not cmath.isfinite(x):
        return True
    (found,) = values(element)
    parts = found if isinstance(found, tuple) else (found,)
    for part, wanted in zip(parts, (x.real, x.imag), strict=False):
        number = part if isinstance(part, int) else None if part.size is None else part.value
        if number != Fraction(wanted):
            return False
    return True


def _limits(dtype: str) -> tuple[int, int]:
    if dtype == "bool":
        return 0, 1
    if dtype.startswith("QT") or dtype == "char":
        bits, signed = 8 * ITEMSIZE[dtype], "_INT" in dtype
        return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return limits(dtype)
