"""tensor(): a tensor with a copy of Python data, or of the arrays of others."""

from __future__ import annotations

from functools import cache
from typing import Any

from suanzi import _core
from suanzi.base.device import CPU, Device, DeviceLike, provider_of, take, upload
from suanzi.base.dtypes import DType, char, iinfo, part
from suanzi.base.dtypes import bool as bool_
from suanzi.base.dtypes import dtype as dtype_of
from suanzi.base.hints import shown, way_to_the_host
from suanzi.base.numpy import Array, np
from suanzi.base.shapes import MAX_NDIM
from suanzi.base.status import InvalidArgument, StatusError, TypeMismatch
from suanzi.promote.context import get_promotion
from suanzi.promote.rules import RuleSet
from suanzi.tensors.exchange import from_dlpack, from_numpy
from suanzi.tensors.tensor import Tensor


def tensor(data: Any, dtype: Any = None, device: DeviceLike = CPU) -> Tensor:
    """Make a tensor with a copy of `data`, on the CPU or another device.

    `data` is a number, a nested list or tuple of numbers, text, a tensor, a NumPy array, or
    anything with ``__dlpack__``, ``__array_interface__`` or a buffer. Without `dtype`, arrays keep
    theirs, and Python numbers get what the rule set in force makes of them: bool, int64, float32 or
    complex64 under `cann`. With it, elements are converted and rounded once; an integer that does
    not fit an integer dtype is refused, and so are complex numbers for a real one.

    >>> sz.tensor([[1, 2], [3, 4]], sz.int8)
    Tensor([[1, 2],
            [3, 4]], dtype=int8)
    >>> sz.tensor([0.1, 2.5]).dtype, sz.tensor(True).shape
    (suanzi.float32, ())
    """
    target = None if dtype is None else dtype_of(dtype)
    if device is not CPU:
        return _on_device(data, target, device)
    if type(data) in _NUMBERS_AND_LISTS:  # the common case: nothing else is to be asked
        return from_python(data, target)
    if isinstance(data, Tensor):
        if data.dtype.kind in ("char", "quantized") and target not in (None, data.dtype):
            raise TypeMismatch(
                f"tensor: the tensor is {data.dtype}, which sz.tensor does not convert; use "
                "sz.cast."
            )
        return _core.cast(data, target or data.dtype, False)
    if isinstance(data, str | bytes | bytearray):
        return _text(data, target)
    if hasattr(data, "__array_interface__") or _is_buffer(data):
        return _converted(_native(data), target)
    if hasattr(data, "__dlpack__"):
        taken = from_dlpack(_settled(data))
        return _core.cast(taken, target or taken.dtype, False)
    return from_python(data, target)


_NUMBERS_AND_LISTS = {list, tuple, bool, int, float}


def _on_device(data: Any, target: DType | None, device: DeviceLike) -> Tensor:
    """Return a tensor of the provider of a device; what it does not take itself is uploaded."""
    try:
        place = Device(device)
        provider = provider_of(place)
        if provider is None:
            return tensor(data, target)
        made = take(data, target, place, provider)
        if made is NotImplemented:
            made = upload(tensor(data, target), place, provider)
    except StatusError as error:
        text = str(error).removeprefix("Device: ").removeprefix("tensor: ")
        raise error.__class__(f"tensor: {text}") from error
    there: Tensor = made
    return there


def _is_buffer(x: Any) -> bool:
    if isinstance(x, list | tuple | int | float | complex):
        return False  # the common case, without an exception
    try:
        memoryview(x)
    except Exception:  # whatever a library raises where it has a buffer, but not for this dtype
        return False
    return True


def _settled(x: Any) -> Any:
    """Return what PyTorch lends without asking: no gradient, nothing still to be conjugated."""
    if getattr(x, "requires_grad", False) is True:
        x = x.detach()
    if hasattr(x, "resolve_conj") and hasattr(x, "resolve_neg"):
        x = x.resolve_conj().resolve_neg()
    return x


def _native(data: Any) -> Array:
    """Return an array as NumPy sees it, in the byte order of this machine, aligned."""
    if isinstance(data, np.ma.MaskedArray):
        raise TypeMismatch("tensor: a masked array hides elements; fill them first, with filled().")
    array = np.asarray(data)
    if array.dtype.kind in "OUV" and not _is_known(array.dtype):
        raise TypeMismatch(f"tensor: suanzi has no dtype for an array of {array.dtype}.")
    size = array.dtype.itemsize
    if not array.dtype.isnative or not array.flags.aligned or any(s % size for s in array.strides):
        array = np.array(array, dtype=array.dtype.newbyteorder("="), order="C", copy=True)
    return array


def _is_known(dt: Any) -> bool:
    try:
        dtype_of(dt)
    except InvalidArgument:
        return False
    return True


def _converted(array: Array, target: DType | None) -> Tensor:
    source = from_numpy(array)
    if source.dtype is bool_:
        # Any byte but 0 is true to NumPy; the conversion makes it 1, as it is here.
        source = _core.cast(from_numpy(array.view("u1")), bool_, False)
    return _core.cast(source, target or source.dtype, False)


def _text(data: str | bytes | bytearray, target: DType | None) -> Tensor:
    if target not in (None, char):
        raise TypeMismatch(f"tensor: text makes a tensor of char, not of {target}.")
    raw = data.encode() if isinstance(data, str) else bytes(data)
    return _converted(np.frombuffer(raw, "S1") if raw else np.empty(0, "S1"), None)


def from_python(data: Any, target: DType | None, rules: RuleSet | None = None) -> Tensor:
    """Make a tensor of Python numbers, nested or not; a rule set says what they are alone."""
    read = _core.read_lists(data)
    if read is not None:
        wide, kind, low, high = read
        chosen = target or _alone("float" if kind == "mixed" else kind, rules)
        integral = chosen.kind in ("int", "uint", "quantized", "char")
        if (
            not integral
            or kind in ("bool", "float")
            or (kind == "int" and _fits(chosen, low, high))
        ):
            return wide if wide.dtype is chosen else _core.cast(wide, chosen, False)
    return _from_numbers(data, target, rules)


def _alone(kind: str, rules: RuleSet | None) -> DType:
    """Return the dtype of numbers of a kind without a tensor among the operands."""
    known = (rules or get_promotion()).alone
    return known.get(kind) or dtype_of(_TYPES[kind])  # type: ignore[call-overload]


_TYPES = {"bool": bool, "int": int, "float": float, "complex": complex}


@cache
def _limits(dt: DType) -> tuple[int, int]:
    return iinfo(dt).min, iinfo(dt).max


def _fits(dt: DType, low: int, high: int) -> bool:
    least, largest = _limits(dt)
    return least <= low and high <= largest


def _from_numbers(data: Any, target: DType | None, rules: RuleSet | None) -> Tensor:
    """Make a tensor of numbers of any size, subclasses of Python's, NumPy's and complex ones."""
    flat: list[Any] = []
    shape = _flatten(data, flat)
    types = set(map(type, flat))
    kinds = types if types <= _PLAIN else {_kind(x) for x in flat}
    highest = next((k for k in (complex, float, int, bool) if k in kinds), float)
    names = {bool: "bool", int: "int", float: "float", complex: "complex"}
    chosen = target or _alone(names[highest], rules)
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
        # Next to floats, too, an integer is exact, and refused if it does not fit.
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
    from suanzi.promote.values import convert

    if not dt.exponent_bits:
        return float(x != 0)
    return float(convert(x, part(dt)))  # type: ignore[arg-type]


def _from_integers(flat: list[int], shape: tuple[int, ...], chosen: DType) -> Tensor:
    low, high = min(flat, default=0), max(flat, default=0)
    if chosen.kind in ("int", "uint", "quantized", "char"):
        limits = iinfo(chosen)
        if low < limits.min or high > limits.max:
            bad = low if low < limits.min else high
            raise InvalidArgument(
                f"tensor: {shown(bad)} does not fit {chosen} ({limits.min} to "
                f"{limits.max}); choose a wider dtype, or cast to wrap it."
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
        return "float"  # or whole, which is not distinguished here
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
        raise TypeMismatch(f"tensor: a {type(x).__name__} is not accepted directly. {way}")
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
            "tensor: the lists are of unequal length: found lengths "
            f"{' and '.join(str(list(s)) for s in sorted(shapes))}."
        )
    return (len(data), *(shapes.pop() if shapes else ()))
