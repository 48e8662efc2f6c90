"""What an operand is to promotion: a dimensioned tensor, a 0-d tensor, or a Python number."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, TypeAlias

from suanzi import _core
from suanzi.base.dtypes import DTYPES, DType, DTypeLike, dtype
from suanzi.base.status import InvalidArgument, TypeMismatch

NumberKind: TypeAlias = Literal["bool", "int", "float", "complex"]
NUMBER_KINDS: tuple[NumberKind, ...] = ("bool", "int", "float", "complex")
"""The Python numbers, each able to represent the ones before it."""


@dataclass(frozen=True, init=False)
class ZeroDim:
    """A 0-d tensor of a dtype, as an operand of `result_type` and `explain`.

    >>> ZeroDim("f32")
    ZeroDim(float32)
    """

    dtype: DType

    def __init__(self, dt: DTypeLike, /) -> None:
        object.__setattr__(self, "dtype", dtype(dt))

    def __repr__(self) -> str:
        return f"ZeroDim({self.dtype})"


@dataclass(frozen=True, init=False)
class Number:
    """Any Python number of a type, where the value does not matter: ``Number(int)``.

    >>> Number(float), Number("int")
    (Number(float), Number(int))
    """

    kind: NumberKind

    def __init__(self, kind: type | str, /) -> None:
        name = kind if isinstance(kind, str) else getattr(kind, "__name__", repr(kind))
        if name not in NUMBER_KINDS:
            raise InvalidArgument(
                f"Number: {name!r} is not a Python number; it is one of {', '.join(NUMBER_KINDS)}."
            )
        object.__setattr__(self, "kind", name)

    def __repr__(self) -> str:
        return f"Number({self.kind})"


class Role(Enum):
    """How an operand takes part."""

    TENSOR = "tensor"
    ZERO_DIM = "0-d tensor"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand as the engine sees it."""

    role: Role
    dtype: DType | None = None
    """The dtype of a tensor."""
    kind: NumberKind | None = None
    """The type of a Python number."""
    value: bool | int | float | complex | None = None
    """The number itself, where it is known."""
    weak: bool = field(default=False, repr=False)
    """Whether a tensor was made of Python numbers alone, which JAX remembers."""

    @property
    def code(self) -> int:
        """The operand's row in the native rule table."""
        if self.dtype is None:
            assert self.kind is not None
            return _core.NUMBER_BASE + NUMBER_KINDS.index(self.kind)
        return self.dtype.index + (_core.ZERO_DIM_BASE if self.role is Role.ZERO_DIM else 0)

    def __str__(self) -> str:
        if self.dtype is not None:
            return f"0-d {self.dtype}" if self.role is Role.ZERO_DIM else self.dtype.name
        if self.value is None or isinstance(self.value, bool | float | complex):
            return f"a Python {self.kind}" if self.value is None else str(self.value)
        from suanzi.promote.values import show

        return show(self.value)


def operand_of_code(code: int) -> Operand:
    """Return the tensor or 0-d tensor of a row in the native rule table.

    >>> operand_of_code(Operand(Role.ZERO_DIM, dtype("i8")).code)
    Operand(role=<Role.ZERO_DIM: '0-d tensor'>, dtype=suanzi.int8, kind=None, value=None)
    """
    role = Role.TENSOR if code < _core.ZERO_DIM_BASE else Role.ZERO_DIM
    return Operand(role, DTYPES[code % _core.ZERO_DIM_BASE])


def _tensor(x: Any) -> Operand | None:
    """Return a tensor or array of suanzi, NumPy or a framework as an operand."""
    if hasattr(x, "dtype") and hasattr(x, "ndim"):
        role = Role.ZERO_DIM if x.ndim == 0 else Role.TENSOR
        found = dtype(x.dtype)
        if getattr(x, "weak_type", False):  # a JAX array made from a Python number
            kind = "int" if found.kind == "uint" else found.kind
            return Operand(Role.NUMBER, kind=kind)  # type: ignore[arg-type]
        return Operand(role, found)
    if type(x).__module__.partition(".")[0] == "openvino" and hasattr(x, "get_element_type"):
        role = Role.ZERO_DIM if len(x.get_shape()) == 0 else Role.TENSOR
        return Operand(role, dtype(x.get_element_type()))
    return None


def operand(x: Any) -> Operand:
    """Return `x` as an operand.

    `x` is a dtype in any form, a ZeroDim, a Number, a Python number, or anything with `dtype` and
    `ndim`: a tensor of suanzi, an array of NumPy, a tensor of a framework.
    """
    if isinstance(x, Operand):
        return x
    if isinstance(x, DType):
        return Operand(Role.TENSOR, x)
    if isinstance(x, ZeroDim):
        return Operand(Role.ZERO_DIM, x.dtype)
    if isinstance(x, Number):
        return Operand(Role.NUMBER, kind=x.kind)
    for kind, cls in zip(NUMBER_KINDS, (bool, int, float, complex), strict=True):
        # NumPy's float64 is a Python float, but an operand with a dtype of its own.
        if isinstance(x, cls) and not hasattr(x, "dtype"):
            return Operand(Role.NUMBER, kind=kind, value=cls(x))
    if not isinstance(x, type | str):
        tensor = _tensor(x)
        if tensor is not None:
            return tensor
    try:
        return Operand(Role.TENSOR, dtype(x))
    except TypeMismatch:
        raise TypeMismatch(
            f"{x!r} is a {type(x).__name__}; an operand is a dtype, a tensor, ZeroDim(dtype), "
            "Number(type) or a Python number."
        ) from None


def typed_operand(text: str) -> Any:
    """Return an operand as it is typed: a dtype, a 0-d tensor, a number, or any of a type.

    >>> [typed_operand(text) for text in ("bf16", "0d:f32", "2.5", "py:int")]
    [suanzi.bfloat16, ZeroDim(float32), 2.5, Number(int)]
    """
    lower = text.lower()
    if lower.lstrip("+-").isdigit() and len(lower) > 4000:
        raise InvalidArgument(f"a number of {len(lower)} digits is too long to be read.")
    if lower.startswith("0d:"):
        return ZeroDim(text[3:])
    if lower.startswith("py:"):
        return Number(lower[3:])
    if lower in ("true", "false"):
        return lower == "true"
    for kind in (int, float, complex):
        try:
            return kind(text)
        except ValueError:
            continue
    return dtype(text)
