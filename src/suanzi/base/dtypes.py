"""Dtypes: the names of every document, and what each dtype can hold.

``native/core/dtypes.def`` has the list (name, code, bits, kind, format); a dtype is one object:

>>> dtype("f16")
suanzi.float16
>>> dtype("f16") is dtype("ACL_FLOAT16") is float16
True
>>> finfo(bfloat16).max
3.3895313892515355e+38
>>> iinfo(int4)
iinfo(min=-8, max=7, dtype=int4)
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any, Literal, TypeAlias

from suanzi import _core
from suanzi._core import DType as DType
from suanzi.base.hints import nearest, shown
from suanzi.base.numpy import np
from suanzi.base.status import InvalidArgument, OnDemand, TypeMismatch

__all__ = [
    "QT_ASYM_INT8", "QT_ASYM_INT16", "QT_ASYM_UINT8", "QT_ASYM_UINT16", "QT_CH_SYM_INT8",
    "QT_CH_SYM_INT16", "QT_SYM_INT8", "QT_SYM_INT16", "DType", "TypeCode", "bfloat16", "bool",
    "char", "complex32", "complex64", "complex128", "dtype", "finfo", "float8_e4m3fn",
    "float8_e5m2", "float16", "float32", "float64", "iinfo", "int4", "int8", "int16", "int32",
    "int64", "isdtype", "uint1", "uint4", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip

DTypeLike: TypeAlias = Any
"""What :func:`dtype` accepts: a DType, a name, a NumPy or framework dtype, a Python type."""


class TypeCode(IntEnum):
    """The type codes of A.1 (0 to 5), continued for dtypes that they do not distinguish."""

    CHAR = 0
    BOOL = 1
    INT = 2
    UINT = 3
    REAL = 4
    COMPLEX = 5
    QUANTIZED_SYMMETRIC_INT = 6
    QUANTIZED_ASYMMETRIC_UINT = 7
    QUANTIZED_ASYMMETRIC_INT = 8
    QUANTIZED_CHANNEL_SYMMETRIC_INT = 9
    BRAIN_REAL = 10
    REAL_E4M3FN = 11
    REAL_E5M2 = 12


DTYPES: tuple[DType, ...] = _core.DTYPES
"""Every dtype, in the order of the list."""

float32: DType  # said here, for rule sets ask for it in a circle of imports that mypy follows
(
    bool, int4, int8, int16, int32, int64, uint1, uint4, uint8, uint16, uint32, uint64,
    float8_e4m3fn, float8_e5m2, float16, bfloat16, float32, float64,
    complex32, complex64, complex128, char,
    QT_SYM_INT8, QT_SYM_INT16, QT_ASYM_UINT8, QT_ASYM_INT8, QT_ASYM_UINT16, QT_ASYM_INT16,
    QT_CH_SYM_INT8, QT_CH_SYM_INT16,
) = DTYPES  # fmt: skip

# What each document calls the dtypes; "-" where it has no name for one. A comma joins synonyms,
# the first being what suanzi prints for that document. Paddle's and JAX's tables count bytes.
_NAMES = """
dtype          short   acl                cann  mindspore       openvino                paddle  jax
bool           bool    ACL_BOOL           bool  bool_           boolean                 b1      b1
int4           i4      ACL_INT4           -     -               i4                      -       -
int8           i8      ACL_INT8           s8    int8,byte       i8                      i1      i1
int16          i16     ACL_INT16          s16   int16,short     i16                     i2      i2
int32          i32     ACL_INT32          s32   int32,intc      i32                     i4      i4
int64          i64     ACL_INT64          s64   int64,intp      i64                     i8      i8
uint1          u1      ACL_UINT1          -     -               u1                      -       -
uint4          u4      -                  -     -               u4                      -       -
uint8          u8      ACL_UINT8          u8    uint8,ubyte     u8                      u1      u1
uint16         u16     ACL_UINT16         u16   uint16,ushort   u16                     -       u2
uint32         u32     ACL_UINT32         u32   uint32,uintc    u32                     -       u4
uint64         u64     ACL_UINT64         u64   uint64,uintp    u64                     -       u8
float8_e4m3fn  f8e4m3  ACL_FLOAT8_E4M3FN  -     -               f8e4m3,f8e4m3fn,f8m4e3  -       -
float8_e5m2    f8e5m2  ACL_FLOAT8_E5M2    -     -               f8e5m2,f8m5e3           -       -
float16        f16     ACL_FLOAT16        f16   float16,half    f16,fp16                f2      f2
bfloat16       bf16    ACL_BF16           bf16  bfloat16        bf16                    bf      bf
float32        f32     ACL_FLOAT          f32   float32,single  f32,fp32                f4      f4
float64        f64     ACL_DOUBLE         f64   float64,double  f64,fp64                f8      f8
complex32      c32     ACL_COMPLEX32      c32   -               -                       -       -
complex64      c64     ACL_COMPLEX64      c64   complex64       -                       c4      c8
complex128     c128    ACL_COMPLEX128     c128  complex128      -                       c8      c16
char           -       ACL_STRING         -     -               string                  -       -
"""

# Where documents contradict each other (int8 is i8 to OpenVINO and i1 to Paddle, whose i8 is
# int64), the reading by bits wins: columns from left to right, Paddle last. JAX's names are read
# in its own table only.
_SEARCHED = ("short", "acl", "cann", "mindspore", "openvino", "paddle")

_AMBIGUOUS = {
    "float": "float32 to CANN and PyTorch, float64 to Python and NumPy: write float32 or float64",
    "int": "int32 to C and PyTorch, int64 to Python and NumPy: write int32 or int64",
    "complex": "complex64 to PyTorch, complex128 to Python and NumPy: write one of them",
}

_PYTHON_TYPES: dict[type, DType] = {
    builtins.bool: bool,
    int: int64,
    float: float64,
    complex: complex128,
    str: char,
    bytes: char,
}


def _read_names() -> tuple[dict[str, dict[str, DType]], dict[str, dict[DType, str]]]:
    header, *rows = (line.split() for line in _NAMES.strip().splitlines())
    by_name = {row[0]: dt for dt in DTYPES for row in rows if row[0] == dt.name}
    read: dict[str, dict[str, DType]] = {}
    written: dict[str, dict[DType, str]] = {}
    for column, document in enumerate(header[1:], start=1):
        for row in rows:
            if row[column] != "-":
                synonyms = row[column].split(",")
                written.setdefault(document, {})[by_name[row[0]]] = synonyms[0]
                for synonym in synonyms:
                    read.setdefault(document, {})[synonym.lower()] = by_name[row[0]]
    return read, written


_READ, _WRITTEN = _read_names()
DOCUMENTS: tuple[str, ...] = tuple(_READ)
"""The documents whose short names are known."""

BYTE_COUNTING = ("paddle", "jax")
"""The documents whose short names count bytes, so that their i8 is another dtype than i8 here."""

_ALIASES: dict[str, DType] = {}
for _document in reversed(_SEARCHED):
    _ALIASES.update(_READ[_document])
_ALIASES.update({dt.name.lower(): dt for dt in DTYPES})
# As MindSpore prints its float8 types.
_ALIASES.update(float8e4m3fn=float8_e4m3fn, float8e5m2=float8_e5m2)

# The roots of packages whose dtype objects are recognised by their name, without importing them.
_FRAMEWORKS = (
    "numpy", "ml_dtypes", "torch", "jax", "paddle", "mindspore", "openvino", "tensorflow",
)  # fmt: skip


def dtype(x: DTypeLike, /, *, document: str | None = None) -> DType:
    """Return the dtype that `x` names.

    `x` is a DType, a name (``"float16"``, case does not matter), a short form of any document
    (``"f16"``, ``"s8"``, ``"boolean"``, ``"ACL_FLOAT16"``, ``"half"``, Paddle's ``"f2"``), a name
    as a framework prints it (``"mindspore.int8"``), a Python type, or the dtype object of NumPy,
    ml_dtypes, PyTorch, JAX, Paddle, MindSpore or OpenVINO. `document` reads a short form as that
    document does:

    >>> dtype("i8"), dtype("i8", document="paddle")
    (suanzi.int8, suanzi.int64)
    >>> dtype(float)
    suanzi.float64
    """
    if isinstance(x, DType):
        return x
    if isinstance(x, str):
        return _from_name(x, document)
    if isinstance(x, type) and x in _PYTHON_TYPES:
        return _PYTHON_TYPES[x]
    return _from_framework(x)


def _from_name(name: str, document: str | None) -> DType:
    key = name.strip().lower()
    if document is not None:
        if document not in _READ:
            raise InvalidArgument(
                f"dtype: unknown document {document!r}; use one of {', '.join(DOCUMENTS)}."
                + nearest(document, DOCUMENTS)
            )
        found = _READ[document].get(key)
        if found is None:
            raise InvalidArgument(
                f"dtype: {name!r} is not a name of the {document} document, which has "
                f"{', '.join(_WRITTEN[document].values())}."
            )
        return found
    root, _, rest = key.rpartition(".")
    framework = root.partition(".")[0]
    if framework in (*_FRAMEWORKS, "suanzi"):  # as it prints its own: mindspore.int8
        full = {dt.name.lower(): dt for dt in DTYPES}
        own = (full | _READ.get(framework, {})).get(rest)
        if own is not None:
            return own
    if key in _ALIASES:
        return _ALIASES[key]
    if key in _AMBIGUOUS:
        raise InvalidArgument(f"dtype: {name!r} is {_AMBIGUOUS[key]}.")
    words = f"dtype: {name!r} is not a dtype."
    ask = "`suanzi dtypes` lists them all."
    raise InvalidArgument(OnDemand(lambda: f"{words}{nearest(key, _ALIASES)} {ask}"))


def _from_framework(x: object) -> DType:
    if hasattr(x, "dtype") and hasattr(x, "ndim") and not isinstance(x, type):
        raise TypeMismatch(f"dtype: a {type(x).__name__} is an array, not a dtype; use its .dtype.")
    cls = x if isinstance(x, type) else type(x)
    root = cls.__module__.partition(".")[0]
    if root in _FRAMEWORKS:
        name = _framework_name(x, root)
        if name in _ALIASES:
            return _ALIASES[name]
        raise InvalidArgument(
            f"dtype: {x!r} of {root} has no counterpart in suanzi; `suanzi dtypes` lists the "
            "dtypes."
        )
    raise TypeMismatch(
        f"dtype: {shown(x)} is a {type(x).__name__}; a dtype is a DType, a name, a Python type or "
        "the dtype object of a framework."
    )


def _framework_name(x: object, root: str) -> str:
    if root in ("numpy", "ml_dtypes"):
        try:
            return str(np.dtype(x).name).lower()  # type: ignore[call-overload]
        except TypeError:
            return ""
    if root == "openvino" and hasattr(x, "to_string"):
        return str(x.to_string()).lower()
    # torch.float16, paddle.float16, mindspore's Float16, jax.numpy.float16, tf.float16.name
    name = getattr(x, "__name__", getattr(x, "name", x))
    return str(name if isinstance(name, str) else x).rpartition(".")[2].lower()


def is_named(dt: DType, other: object) -> Any:
    """Return whether `other`, a name or a dtype of another library, means `dt`: what == asks.

    What names no dtype, or (``"float"``) a different one to different people, is not equal.

    >>> bfloat16 == "bf16", float32 == "float64", float64 == float, float32 == "float"
    (True, False, True, False)
    """
    foreign = type(other).__module__.partition(".")[0] in _FRAMEWORKS
    if not foreign and not isinstance(other, str | type):
        return NotImplemented
    try:
        return dtype(other) is dt
    except (InvalidArgument, TypeMismatch):
        return NotImplemented


def document_name(dtype: DType, document: str) -> str:
    """Return what a document calls a dtype; where it has no name for it, suanzi's own.

    >>> document_name(int32, "cann"), document_name(int32, "paddle"), document_name(uint4, "cann")
    ('s32', 'i4', 'uint4')
    """
    return _WRITTEN[document].get(dtype, dtype.name)


def read_as(name: str, document: str) -> DType | None:
    """Return the dtype a document means by a short name, or None.

    >>> read_as("i8", "paddle"), read_as("i8", "openvino"), read_as("i8", "cann")
    (suanzi.int64, suanzi.int8, None)
    """
    return _READ[document].get(name.lower())


Kind: TypeAlias = Literal[
    "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating",
    "numeric", "quantized", "char",
]  # fmt: skip

_KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int",),
    "unsigned integer": ("uint",),
    "integral": ("int", "uint"),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": ("int", "uint", "float", "complex"),
    "quantized": ("quantized",),
    "char": ("char",),
}


def isdtype(
    dt: DTypeLike, kind: DTypeLike | Kind | tuple[DTypeLike | Kind, ...], /
) -> builtins.bool:
    """Return whether a dtype is of a kind, is a given dtype, or is any of several.

    The kinds are those of the Python array API standard, and ``"quantized"`` and ``"char"``.

    >>> isdtype(bfloat16, "real floating"), isdtype("i8", ("bool", int8)), isdtype(bool, "numeric")
    (True, True, False)
    """
    dt = dtype(dt)
    if isinstance(kind, tuple):
        return any(isdtype(dt, one) for one in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return dt.kind in _KINDS[kind]
    if isinstance(kind, str) and kind.lower() not in _ALIASES:
        raise InvalidArgument(
            f"isdtype: {kind!r} is neither a dtype nor a kind; the kinds are {', '.join(_KINDS)}."
            + nearest(kind, _KINDS)
        )
    return dt is dtype(kind)


@dataclass(frozen=True, init=False, repr=False)
class finfo:
    """The limits of a floating-point dtype; of one part, for a complex dtype.

    >>> finfo(float8_e4m3fn)
    finfo(max=448.0, eps=0.125, smallest_normal=0.015625, dtype=float8_e4m3fn)
    """

    dtype: DType
    bits: int
    """Bits of one number (of one part, for a complex dtype)."""
    eps: float
    """The gap between 1 and the next number."""
    max: float
    """The largest finite number."""
    min: float
    """The smallest finite number, minus `max`."""
    smallest_normal: float
    smallest_subnormal: float
    precision: int
    """Significant bits, the implied one included."""
    max_exponent: int
    """The exponent e of the largest numbers, 2**e <= max."""
    min_exponent: int
    """The exponent of `smallest_normal`."""

    def __init__(self, dt: DTypeLike, /) -> None:
        dt = dtype(dt)
        if not dt.exponent_bits:
            raise TypeMismatch(f"finfo: {dt} is not a floating-point dtype; use iinfo({dt}).")
        bias = 2 ** (dt.exponent_bits - 1) - 1
        # Without infinities the topmost exponent belongs to numbers, all ones being NaN.
        max_exponent = bias if dt.has_infinity else bias + 1
        max_fraction = 2 - 2.0**-dt.mantissa_bits * (1 if dt.has_infinity else 2)
        largest = max_fraction * 2.0**max_exponent
        for name, value in {
            "dtype": dt,
            "bits": dt.bits // 2 if dt.kind == "complex" else dt.bits,
            "eps": 2.0**-dt.mantissa_bits,
            "max": largest,
            "min": -largest,
            "smallest_normal": 2.0 ** (1 - bias),
            "smallest_subnormal": 2.0 ** (1 - bias - dt.mantissa_bits),
            "precision": dt.mantissa_bits + 1,
            "max_exponent": max_exponent,
            "min_exponent": 1 - bias,
        }.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return (
            f"finfo(max={self.max}, eps={self.eps}, smallest_normal={self.smallest_normal}, "
            f"dtype={self.dtype})"
        )


@dataclass(frozen=True, init=False, repr=False)
class iinfo:
    """The limits of an integer dtype; of what is stored, for bool, char and quantised dtypes.

    >>> iinfo(uint64).max == 2**64 - 1
    True
    >>> iinfo(QT_ASYM_UINT8)
    iinfo(min=0, max=255, dtype=QT_ASYM_UINT8)
    """

    dtype: DType
    bits: int
    min: int
    max: int

    def __init__(self, dt: DTypeLike, /) -> None:
        dt = dtype(dt)
        if dt.exponent_bits:
            raise TypeMismatch(f"iinfo: {dt} is not an integer dtype; use finfo({dt}).")
        bits = 1 if dt is bool else dt.bits
        object.__setattr__(self, "dtype", dt)
        object.__setattr__(self, "bits", dt.bits)
        object.__setattr__(self, "min", -(2 ** (bits - 1)) if dt.is_signed else 0)
        object.__setattr__(self, "max", 2 ** (bits - dt.is_signed) - 1)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


@cache
def part(dtype: DType) -> DType:
    """Return the real dtype of one part of a complex dtype; any other dtype is its own part."""
    if dtype.kind != "complex":
        return dtype
    return {16: float16, 32: float32, 64: float64}[dtype.bits // 2]


@cache
def widened(dt: DType) -> DType:
    """Return the dtype that a narrow one is computed in before the result is rounded once.

    >>> widened(bfloat16), widened(complex32), widened(int4), widened(float64)
    (suanzi.float32, suanzi.complex64, suanzi.int8, suanzi.float64)
    """
    least = {"float": float32, "complex": complex64, "int": int8, "uint": uint8}.get(dt.kind, dt)
    return least if dt.bits < least.bits else dt


@cache
def complex_of(dt: DType) -> DType:
    """Return the complex dtype of a real one's precision; bfloat16's range needs complex64."""
    if dt.kind == "complex":
        return dt
    if dt is float64:
        return complex128
    return complex64 if dt in (float32, bfloat16) else complex32


@cache
def stored_dtype(dt: DType) -> DType:
    """Return the integer dtype that a quantised dtype stores.

    >>> stored_dtype(QT_ASYM_UINT8)
    suanzi.uint8
    """
    return dtype(f"{'int' if iinfo(dt).min < 0 else 'uint'}{dt.bits}")
