"""The names of ``mindspore.dtype``, every one of them, as real type objects.

The numeric types and their aliases are suanzi's dtypes; the other types describe what else
MindSpore's graphs carry.

>>> half is float16 and intc is int32 and bool_ is dtype("bool")
True
>>> list_[float16, int8]
List[float16, int8]
>>> issubtype(int8, int_), issubtype(int_, number), issubtype(tuple_[int8], tuple_[number])
(True, True, True)
>>> function[[float32, float32], bool_]
Func[[float32, float32], bool]
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any, TypeAlias

from suanzi.base.dtypes import (
    DType,
    bfloat16,
    complex64,
    complex128,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from suanzi.base.dtypes import bool as bool_
from suanzi.base.status import InvalidArgument, TypeMismatch

__all__ = [
    "Tensor", "Type", "bfloat16", "bool_", "byte", "complex", "complex64", "complex128", "double",
    "env_type", "float16", "float32", "float64", "float_", "function", "half", "int8", "int16",
    "int32", "int64", "int_", "intc", "intp", "issubtype", "list_", "number", "short", "single",
    "symbolic_key", "tuple_", "type_none", "type_of", "type_type", "ubyte", "uint", "uint8",
    "uint16", "uint32", "uint64", "uintc", "uintp", "ushort",
]  # fmt: skip

byte = int8
short = int16
intc = int32
intp = int64
ubyte = uint8
ushort = uint16
uintc = uint32
uintp = uint64
half = float16
single = float32
double = float64


@dataclass(frozen=True, repr=False)
class Type:
    """A type that is not a dtype. Two are equal if they are written the same."""

    name: str

    def __repr__(self) -> str:
        return self.name


AnyType: TypeAlias = DType | Type


@dataclass(frozen=True, repr=False)
class Scalar(Type):
    """A Python number of a kind; `number` is any of them."""

    kinds: tuple[str, ...]
    """The dtype kinds it covers."""


@dataclass(frozen=True, repr=False)
class Generic(Type):
    """``list_``, ``tuple_`` or ``Tensor``: takes element types in brackets.

    >>> Tensor[float16], tuple_[int8, list_[bool_]], list_[()]
    (Tensor[float16], Tuple[int8, List[bool]], List[])
    """

    elements: tuple[AnyType, ...] | None = None
    """The element types; None for the type without brackets, which covers all of them."""

    def __getitem__(self, elements: Any) -> Generic:
        if self.elements is not None:
            raise TypeMismatch(f"mindspore: {self!r} has its element types already.")
        found = elements if isinstance(elements, tuple) else (elements,)
        if self.name == "Tensor" and len(found) != 1:
            raise TypeMismatch(
                f"mindspore: a Tensor has one element type, but {len(found)} were given."
            )
        return Generic(self.name, tuple(type_of(element) for element in found))

    def __repr__(self) -> str:
        if self.elements is None:
            return self.name
        return f"{self.name}[{', '.join(map(str, self.elements))}]"


@dataclass(frozen=True, repr=False)
class Function(Type):
    """``function``, or with types ``function[[argument, ...], result]``."""

    arguments: tuple[AnyType, ...] | None = None
    result: AnyType | None = None

    def __getitem__(self, signature: Any) -> Function:
        if self.arguments is not None:
            raise TypeMismatch(f"mindspore: {self!r} has its types already.")
        if not (
            isinstance(signature, tuple)
            and len(signature) == 2
            and isinstance(signature[0], list | tuple)
        ):
            raise TypeMismatch(
                "mindspore: write function[[argument, ...], result], such as "
                "function[[float32], bool_]."
            )
        arguments, result = signature
        return Function(self.name, tuple(map(type_of, arguments)), type_of(result))

    def __repr__(self) -> str:
        if self.arguments is None:
            return self.name
        return f"{self.name}[[{', '.join(map(str, self.arguments))}], {self.result}]"


int_ = Scalar("Int", ("int",))
uint = Scalar("UInt", ("uint",))
float_ = Scalar("Float", ("float",))
complex = Scalar("Complex", ("complex",))
number = Scalar("Number", ("bool", "int", "uint", "float", "complex"))

Tensor = Generic("Tensor")
list_ = Generic("List")
tuple_ = Generic("Tuple")
function = Function("Func")

type_type = Type("TypeType")
type_none = Type("TypeNone")
symbolic_key = Type("SymbolicKey")
env_type = Type("EnvType")

_PYTHON: dict[type, AnyType] = {
    builtins.bool: bool_,
    int: int_,
    float: float_,
    builtins.complex: complex,
    list: list_,
    tuple: tuple_,
    type(None): type_none,
    type: type_type,
}


def type_of(x: Any, /) -> AnyType:
    """Return the type `x` names: a type of this module, a dtype in any form, a Python type.

    >>> type_of(int), type_of(None), type_of("float16")
    (Int, TypeNone, suanzi.float16)
    """
    if isinstance(x, Type | DType):
        return x
    if x is None:
        return type_none
    if isinstance(x, type) and x in _PYTHON:
        return _PYTHON[x]
    try:
        return dtype(x)
    except (InvalidArgument, TypeMismatch):
        raise TypeMismatch(f"mindspore: {x!r} is not a type of mindspore.dtype.") from None


def issubtype(a: Any, b: Any, /) -> builtins.bool:
    """Return whether every value of type `a` is one of type `b`.

    Element types vary along; a function may take more and give less than the one it stands for.

    >>> issubtype(uint8, uint), issubtype(uint8, int_), issubtype(list_[int8], list_)
    (True, False, True)
    >>> issubtype(function[[number], int8], function[[int8], number])
    True
    """
    a, b = type_of(a), type_of(b)
    if a == b:
        return True
    if isinstance(b, Scalar):
        kinds = (a.kind,) if isinstance(a, DType) else getattr(a, "kinds", ("",))
        return set(kinds) <= set(b.kinds)
    if isinstance(a, Generic) and isinstance(b, Generic) and a.name == b.name:
        return b.elements is None or (a.elements is not None and _all(a.elements, b.elements))
    if isinstance(a, Function) and isinstance(b, Function):
        if b.arguments is None:
            return True
        return (
            a.arguments is not None
            and _all(b.arguments, a.arguments)
            and issubtype(a.result, b.result)
        )
    return False


def _all(xs: tuple[AnyType, ...], ys: tuple[AnyType, ...]) -> builtins.bool:
    return len(xs) == len(ys) and all(issubtype(x, y) for x, y in zip(xs, ys, strict=True))
