"""Tensors and the arrays of others: Python data, NumPy, ml_dtypes, DLPack, buffers."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi._hints import shown, way_to_the_host
from suanzi.dtypes import (
    DType,
    bfloat16,
    char,
    complex32,
    dtype,
    float8_e4m3fn,
    float8_e5m2,
    iinfo,
    int4,
    uint1,
    uint4,
)
from suanzi.dtypes import bool as bool_
from suanzi.promote.context import get_promotion
from suanzi.shapes import MAX_NDIM
from suanzi.status import AllocFailed, InvalidArgument, TypeMismatch

if TYPE_CHECKING:
    import numpy as np

    from suanzi.tensors.tensor import Tensor

# The dtypes NumPy has from ml_dtypes, which stores them as we do.
_FROM_ML_DTYPES = (bfloat16, float8_e4m3fn, float8_e5m2, int4, uint4, uint1, complex32)


def numpy_dtype(dt: DType) -> np.dtype[Any]:
    """Return NumPy's dtype for a dtype, or raise BufferError where it has none.

    >>> numpy_dtype(dtype("f16")), numpy_dtype(dtype("bf16"))
    (dtype('float16'), dtype(bfloat16))
    """
    import numpy as np

    if dt in _FROM_ML_DTYPES:
        import ml_dtypes

        if hasattr(ml_dtypes, dt.name):
            found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, dt.name))
            return found
        raise BufferError(
            f"NumPy has no {dt}, and ml_dtypes {ml_dtypes.__version__} does not bring it; cast the "
            "tensor first."
        )
    if dt.kind == "quantized":
        raise BufferError(
            f"NumPy has no quantised dtypes such as {dt}; cast the tensor to float32, or "
            "take the integers that it stores, int_repr()."
        )
    return np.dtype("S1") if dt is char else np.dtype(dt.name)


def to_numpy(tensor: Tensor) -> np.ndarray[Any, Any]:
    """Return a NumPy array on the memory of a tensor, which it keeps alive."""
    import numpy as np

    dt = numpy_dtype(tensor.dtype)
    # NumPy refuses these, also where elements repeat, or where another size is 0.
    if math.prod(n for n in tensor.shape if n) * dt.itemsize >= 1 << 63:
        raise AllocFailed(
            f"NumPy has no arrays of {tensor.dtype} with shape {tensor.shape}; use fewer elements."
        )
    array = np.asarray(_ArrayInterface(tensor, dt))
    return array.view(dt) if array.dtype != dt else array


class _ArrayInterface:
    """What NumPy needs to know to read a tensor's memory, and what keeps that memory."""

    def __init__(self, tensor: Tensor, dt: np.dtype[Any]) -> None:
        # The storage, not the tensor: a tensor that is destroyed lets go of its memory.
        self.storage = storage = tensor.storage
        size = dt.itemsize
        self.__array_interface__ = {
            "version": 3,
            "shape": tensor.shape,
            "strides": tuple(stride * size for stride in tensor.strides),
            "data": (storage.data + tensor.offset * size, storage.read_only),
            # NumPy does not know the kinds of ml_dtypes here: plain bytes, viewed afterwards.
            "typestr": dt.str if tensor.dtype not in _FROM_ML_DTYPES else f"|V{size}",
        }


@cache
def _dtype_of(numpys: np.dtype[Any]) -> DType:
    return char if numpys.str == "|S1" else dtype(numpys)


def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
    """Return a tensor on the memory of a NumPy array, which it keeps alive."""
    dt = _dtype_of(array.dtype)
    size = array.dtype.itemsize
    if not array.dtype.isnative or not array.flags.aligned or any(s % size for s in array.strides):
        raise BufferError("the array is not aligned, or not in the byte order of this machine")
    strides = [s // size for s in array.strides]
    spans = [(n - 1) * s for n, s in zip(array.shape, strides, strict=True) if array.size]
    low, high = sum(s for s in spans if s < 0), sum(s for s in spans if s > 0)
    address = array.__array_interface__["data"][0]
    count = high - low + 1 if array.size else 0
    made: Tensor = _core.wrap_memory(
        address + low * size,
        count,
        dt,
        array.shape,
        strides,
        -low,
        not array.flags.writeable,
        array,
    )
    return made


def from_dlpack(x: Any, /, *, copy: bool | None = None) -> Tensor:
    """Return a tensor on the memory of another library's array, without copying unless `copy`.

    `x` is anything with ``__dlpack__``. A dtype that is not there, or memory that is not on the
    CPU, raises BufferError.

    >>> import numpy as np, suanzi as sz
    >>> array = np.arange(3, dtype=np.int16)
    >>> t = sz.from_dlpack(array)
    >>> array[0] = 7
    >>> t
    Tensor([7, 1, 2], dtype=int16)
    """
    if not hasattr(x, "__dlpack__"):
        raise TypeMismatch(
            f"from_dlpack: a {type(x).__name__} has no __dlpack__; use sz.tensor to copy it."
        )
    try:
        capsule = x.__dlpack__(max_version=(1, 0))
    except TypeError:  # a library from before DLPack 1.0
        capsule = x.__dlpack__()
    made: Tensor = _core.take_capsule(capsule)
    return _core.row_major_copy(made) if copy else made


def to_dlpack(
    tensor: Tensor,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> object:
    """Return a DLPack capsule on the memory of a tensor."""
    if dl_device is not None and tuple(dl_device) != (1, 0):
        raise BufferError(f"the tensor is on the CPU, DLPack device (1, 0), not on {dl_device}")
    dt = tensor.dtype
    if dt.kind in ("char", "quantized") or dt in (int4, uint4, uint1):
        instead = ", or take int_repr()" if dt.kind == "quantized" else ""
        raise BufferError(
            f"DLPack has no type for {dt} as it is stored here; cast the tensor first{instead}"
        )
    if copy:
        tensor = _core.row_major_copy(tensor)
    return _core.dlpack_capsule(tensor, max_version is not None and max_version[0] >= 1)


# ---- Python data --------------------------------------------------------------------------------


def tensor(data: Any, dtype: Any = None) -> Tensor:
    """Make a tensor with a copy of `data`.

    `data` is a number, a nested list or tuple of numbers, text, a tensor, a NumPy array, or
    anything with ``__dlpack__``, ``__array_interface__`` or a buffer. Without `dtype`, arrays keep
    theirs, and Python numbers get what the rule set in force makes of them: bool, int64, float32 or
    complex64 under `cann`. With it, elements are converted and rounded once; an integer that does
    not fit an integer dtype is refused, and so are complex numbers for a real one.

    >>> import suanzi as sz
    >>> sz.tensor([[1, 2], [3, 4]], sz.int8)
    Tensor([[1, 2],
            [3, 4]], dtype=int8)
    >>> sz.tensor([0.1, 2.5]).dtype, sz.tensor(True).shape
    (suanzi.float32, ())
    """
    target = None if dtype is None else _dtype(dtype)
    if type(data) in _NUMBERS_AND_LISTS:  # the common case: nothing else is to be asked
        return _from_python(data, target)
    from suanzi.tensors.tensor import Tensor

    if isinstance(data, Tensor):
        if data.dtype.kind in ("char", "quantized") and target not in (None, data.dtype):
            raise TypeMismatch(
                f"tensor: the tensor is {data.dtype}, which does not convert here; sz.cast gives "
                "what a quantised tensor stands for."
            )
        return _core.cast(data, target or data.dtype, False)  # type: ignore[no-any-return]
    if isinstance(data, str | bytes | bytearray):
        return _text(data, target)
    if hasattr(data, "__array_interface__") or _is_buffer(data):
        return _converted(_native(data), target)
    if hasattr(data, "__dlpack__"):
        taken = from_dlpack(data)
        return _core.cast(taken, target or taken.dtype, False)  # type: ignore[no-any-return]
    return _from_python(data, target)


_NUMBERS_AND_LISTS = {list, tuple, bool, int, float}


def _dtype(x: Any) -> DType:
    return dtype(x)


def _is_buffer(x: Any) -> bool:
    if isinstance(x, list | tuple | int | float | complex):
        return False  # the common case, without an exception
    try:
        memoryview(x)
    except TypeError:
        return False
    return True


def _native(data: Any) -> np.ndarray[Any, Any]:
    """Return an array as NumPy sees it, in the byte order of this machine, aligned."""
    import numpy as np

    if isinstance(data, np.ma.MaskedArray):
        raise TypeMismatch("tensor: a masked array hides elements; fill them first, with filled().")
    array = np.asarray(data)
    if array.dtype.kind in "OUV" and not _is_known(array.dtype):
        raise TypeMismatch(f"tensor: an array of {array.dtype} has no dtype here.")
    size = array.dtype.itemsize
    if not array.dtype.isnative or not array.flags.aligned or any(s % size for s in array.strides):
        array = np.array(array, dtype=array.dtype.newbyteorder("="), order="C", copy=True)
    return array


def _is_known(dt: Any) -> bool:
    try:
        dtype(dt)
    except InvalidArgument:
        return False
    return True


def _converted(array: np.ndarray[Any, Any], target: DType | None) -> Tensor:
    source = from_numpy(array)
    if source.dtype is bool_:
        # Any byte but 0 is true to NumPy; the conversion makes it 1, as it is here.
        source = _core.cast(from_numpy(array.view("u1")), bool_, False)
    return _core.cast(source, target or source.dtype, False)  # type: ignore[no-any-return]


def _text(data: str | bytes | bytearray, target: DType | None) -> Tensor:
    if target not in (None, char):
        raise TypeMismatch(f"tensor: text makes a tensor of char, not of {target}.")
    import numpy as np

    raw = data.encode() if isinstance(data, str) else bytes(data)
    return _converted(np.frombuffer(raw, "S1") if raw else np.empty(0, "S1"), None)


def _from_python(data: Any, target: DType | None) -> Tensor:
    """Make a tensor of Python numbers, nested or not."""
    read = _core.read_lists(data)
    if read is not None:
        wide, kind, low, high = read
        chosen = target or _alone("float" if kind == "mixed" else kind)
        integral = chosen.kind in ("int", "uint", "quantized", "char")
        if (
            not integral
            or kind in ("bool", "float")
            or (kind == "int" and _fits(chosen, low, high))
        ):
            return wide if wide.dtype is chosen else _core.cast(wide, chosen, False)  # type: ignore[no-any-return]
    return _from_numbers(data, target)


def _alone(kind: str) -> DType:
    """Return the dtype of numbers of a kind where no tensor is beside them."""
    return get_promotion().alone.get(kind) or dtype(_TYPES[kind])  # type: ignore[call-overload]


_TYPES = {"bool": bool, "int": int, "float": float, "complex": complex}


@cache
def _limits(dt: DType) -> tuple[int, int]:
    return iinfo(dt).min, iinfo(dt).max


def _fits(dt: DType, low: int, high: int) -> bool:
    least, largest = _limits(dt)
    return least <= low and high <= largest


def _from_numbers(data: Any, target: DType | None) -> Tensor:
    """Make a tensor of numbers of any size, subclasses of Python's, NumPy's and complex ones."""
    import numpy as np

    flat: list[Any] = []
    shape = _flatten(data, flat)
    types = set(map(type, flat))
    kinds = types if types <= _PLAIN else {_kind(x) for x in flat}
    highest = next((k for k in (complex, float, int, bool) if k in kinds), float)
    names = {bool: "bool", int: "int", float: "float", complex: "complex"}
    chosen = target or _alone(names[highest])
    if highest is complex and chosen.kind not in ("complex", "bool"):
        raise TypeMismatch(
            f"tensor: the numbers are complex, and dtype is {chosen}. Give their real parts, or a "
            "complex dtype."
        )
    if highest is bool:
        return _converted(np.array(flat, np.bool_).reshape(shape), chosen)
    if highest is int:
        return _from_integers([int(x) for x in flat], shape, chosen)
    if int in kinds and chosen.kind in ("int", "uint", "quantized"):
        # Beside floats, too, an integer is exact, and refused if it does not fit.
        return _from_integers([_whole(x, chosen) for x in flat], shape, chosen)
    # float64 holds every integer up to 2**53; a larger one is rounded to the dtype here, once.
    flat = [_rounded(x, chosen) if isinstance(x, int) and abs(x) > 2**53 else x for x in flat]
    wide = np.complex128 if highest is complex else np.float64
    return _converted(np.array(flat, wide).reshape(shape), chosen)


def _whole(x: complex, dt: DType) -> int:
    """Return a number as a cast to an integer dtype has it; an integer stays as it is."""
    if isinstance(x, int):
        return x
    limits, real = iinfo(dt), x.real
    if real != real:
        return 0
    return int(min(max(real, limits.min), limits.max))


def _rounded(x: int, dt: DType) -> float:
    """Return an integer of any size rounded to a floating-point dtype; of bool, whether it is 0."""
    from suanzi.dtypes import part
    from suanzi.promote.values import convert

    if not dt.exponent_bits:
        return float(x != 0)
    return float(convert(x, part(dt)))  # type: ignore[arg-type]


def _from_integers(flat: list[int], shape: tuple[int, ...], chosen: DType) -> Tensor:
    import numpy as np

    low, high = min(flat, default=0), max(flat, default=0)
    if chosen.kind in ("int", "uint", "quantized", "char"):
        limits = iinfo(chosen)
        if low < limits.min or high > limits.max:
            bad = low if low < limits.min else high
            raise InvalidArgument(
                f"tensor: {shown(bad)} does not fit {chosen}, which holds {limits.min} to "
                f"{limits.max}; choose a wider dtype, or cast to wrap it."
            )
    if chosen.kind == "bool":
        flat, low, high = [int(x != 0) for x in flat], 0, 1
    if low >= -(2**63) and high < 2**63:
        return _converted(np.array(flat, np.int64).reshape(shape), chosen)
    if low >= 0 and high < 2**64:
        return _converted(np.array(flat, np.uint64).reshape(shape), chosen)
    # Integers beyond 64 bits, for a floating-point dtype: rounded once, here.
    if not chosen.exponent_bits:
        raise InvalidArgument(f"tensor: an integer beyond 64 bits does not fit {chosen}.")
    rounded = [_rounded(x, chosen) for x in flat]
    return _converted(np.array(rounded, np.float64).reshape(shape), chosen)


def kind_of(data: Any) -> str:
    """Return the kind of the dtype that numbers, or lists of them, have by themselves.

    >>> kind_of([1, 2j]), kind_of(7)
    ('complex', 'float')
    """
    if not isinstance(data, complex | list | tuple):
        return "float"  # or whole, which is not told apart here
    try:
        return tensor(data).dtype.kind
    except InvalidArgument:  # integers that no default holds
        return "int"


def _kind(x: Any) -> type:
    for kind in (bool, int, float, complex):
        if isinstance(x, kind):
            return kind
    way = way_to_the_host(x)
    if way:
        raise TypeMismatch(f"tensor: a {type(x).__name__} is not taken as it is. {way}")
    raise TypeMismatch(
        f"tensor: {shown(x)} is a {type(x).__name__}; elements are Python numbers, in lists of "
        "equal length."
    )


_PLAIN = {bool, int, float, complex}


def _flatten(data: Any, flat: list[Any], depth: int = 0) -> tuple[int, ...]:
    """Append the elements of nested lists to `flat`, and return the shape."""
    if depth > MAX_NDIM:
        raise InvalidArgument(
            f"tensor: the lists are nested deeper than the {MAX_NDIM} axes of a tensor."
        )
    if not isinstance(data, list | tuple | range):
        if hasattr(data, "item") and getattr(data, "ndim", None) == 0:
            data = data.item()
        _kind(data)
        flat.append(data)
        return ()
    if depth < MAX_NDIM and set(map(type, data)) <= _PLAIN:  # the common case, at the speed of C
        flat.extend(data)
        return (len(data),)
    shapes = {_flatten(x, flat, depth + 1) for x in data}
    if len(shapes) > 1:
        raise InvalidArgument(
            "tensor: the lists are of unequal length: side by side there are "
            f"{' and '.join(str(list(s)) for s in sorted(shapes))}."
        )
    return (len(data), *(shapes.pop() if shapes else ()))
