"""Something to paste for a C library: a program that makes the call of a case, and asserts.

The arguments are those that the kit lends a library, structure by structure.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import struct
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from suanzi.base.device import DeviceType
from suanzi.base.layout import LayoutType
from suanzi.conformance.judging.due import Number, Range, Way, ways
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import numbers
from suanzi.conformance.subjects.c_arguments import Arguments
from suanzi.conformance.subjects.c_memory import (
    DataType,
    Device,
    Shape,
    StorageImpl,
    TensorImpl,
    dtype_name,
)
from suanzi.conformance.subjects.wire import ITEMSIZE, Data
from suanzi.faces.interface.structures import TypeCode
from suanzi.standard.prototypes import Item, enumerations, prototype

HEADER = "t_ai_131_1.h"
_INTEGERS = {f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u")
             for bits in (8, 16, 32, 64)}  # fmt: skip
_FLOATS = {"float32": "float", "float64": "double", "complex64": "float", "complex128": "double"}
_ARRAYS = {"int": "int32", "int32_t": "int32", "int64_t": "int64", "float": "float32"}

_TENSOR = """\
static void is_tensor(const char *name, Tensor t, TypeCode code, int size, int64_t ndim,
                      const int64_t *dims)
{
    int64_t i;
    assert(t != NULL && "an output is NULL");
    /* A bool may have one bit or eight. */
    if (t->storage->dtype.code != code || (code != kBool && t->storage->dtype.size != size)) {
        printf("%s: dtype {%d, %d}, not {%d, %d}\\n", name, (int)t->storage->dtype.code,
               t->storage->dtype.size, (int)code, size);
        assert(!"the dtype");
    }
    assert(t->shape.ndim == ndim && "the number of axes");
    for (i = 0; i < ndim; i++)
        assert(t->shape.dims[i] == dims[i] && "the shape");
}
"""
_ELEMENT = """\
static int wrong = 0;

/* The element of a tensor with an index in row-major order, wherever it lies. */
static const char *element(Tensor t, int64_t i, size_t size)
{
    int64_t at = 0, n, k, step;
    for (n = t->shape.ndim - 1; n >= 0; n--) {
        int64_t along = i % t->shape.dims[n];
        i /= t->shape.dims[n];
        for (step = 1, k = 0; k < t->shape.ndim; k++) {
            int64_t axis = t->shape.layout.min2maj ? t->shape.layout.min2maj[k]
                                                   : t->shape.ndim - 1 - k;
            if (axis == n)
                break;
            step *= t->shape.dims[axis];
        }
        at += along * step;
    }
    return (const char *)t->storage->data + (t->offset + at) * size;
}
"""
_BETWEEN = """\
static void between(const char *name, int64_t i, {type} x, {type} least, {type} most)
{{
    int right = {right};
    if (right)
        return;
    wrong++;
    if (least == most)
        printf("%s[%lld]: {form}, not {form}\\n", name, (long long)i, x, least);
    else
        printf("%s[%lld]: {form}, not {form} to {form}\\n", name, (long long)i, x, least, most);
}}
"""
_INSIDE = "least <= x && x <= most"
_INSIDE_OR_NAN = """isnan(least) ? isnan(x) : least <= x && x <= most;
    if (x == 0 && least == 0 && most == 0) /* the sign */
        right = !signbit(least) <= !signbit(x) && !signbit(x) <= !signbit(most)"""
_NARROW = """\
static double narrow(unsigned bits, int exponent, int mantissa, int infinity)
{
    unsigned sign = bits >> (exponent + mantissa), fraction = bits & ((1u << mantissa) - 1);
    int e = (int)(bits >> mantissa) & ((1 << exponent) - 1), top = (1 << exponent) - 1;
    double size = e ? ldexp(1 + ldexp(fraction, -mantissa), e - (top >> 1))
                    : ldexp(fraction, 1 - (top >> 1) - mantissa);
    if (e == top && (infinity || fraction == (1u << mantissa) - 1))
        size = infinity && !fraction ? INFINITY : NAN;
    return sign ? -size : size;
}
"""
_NARROW_FORMS = {"float16": (5, 10, 1), "bfloat16": (8, 7, 1), "complex32": (5, 10, 1),
                 "float8_e4m3fn": (4, 3, 0), "float8_e5m2": (5, 2, 1)}  # fmt: skip


def c_program(case: Case, path: str) -> str | None:
    """Return a program that makes the call of a case; None where one is not enough."""
    if case.op == "destroy":  # of a tensor that the library must make itself
        return None
    made = Arguments(prototype(case.op), case.arguments)
    call = _Call(case, made)
    folder = os.path.dirname(os.path.abspath(path))
    head = [
        f"/* {case.id}: clause {case.interface.clause}",
        " *",
        f" * suanzi header -o {HEADER}",
        f" * cc case.c -o case {os.path.abspath(path)} -Wl,-rpath,{folder} -lm && ./case",
        " */",
        *(f"#include <{name}.h>" for name in ("assert", "math", "stdio", "string")),
        f'#include "{HEADER}"',
    ]
    body = call.text()
    return "\n".join([*head, "", *call.helpers(body), *call.made, "", body]) + "\n"


class _Call:
    """The statements of one call."""

    def __init__(self, case: Case, made: Arguments) -> None:
        self.case, self.arguments = case, made
        self.made: list[str] = []
        self._names: set[str] = set()

    def text(self) -> str:
        """Return main."""
        function = self.arguments.function
        given = []
        for item, value in zip(function.items, self.arguments.c, strict=True):
            if item.name in self.arguments.cells:
                given.append(self._cell(item))
            else:
                given.append(self._argument(item, value))
        found = ways(self.case.expect(), len(function.outputs))
        name = function.interface.c_name
        lines = ["    setbuf(stdout, NULL); /* so that nothing is lost in a crash */"]
        lines.append(f"    Status status = {name}({', '.join(given)});")
        lines += ['    printf("status %d\\n", (int)status);', *self._due(found)]
        lines += ["    assert(wrong == 0);"] if any("between" in line for line in lines) else []
        return "\n".join(["int main(void)", "{", *lines, "    return 0;", "}"])

    def helpers(self, body: str) -> list[str]:
        """Return the functions that the program uses."""
        found = [_TENSOR] if "is_tensor(" in body else []
        found += [_ELEMENT] if "element(" in body else []
        kinds = {
            "between_int": ("long long", _INSIDE, "%lld"),
            "between_uint": ("unsigned long long", _INSIDE, "%llu"),
            "between": ("double", _INSIDE_OR_NAN, "%.17g"),
        }
        for name, (kind, right, form) in kinds.items():
            if f"{name}(" in body:
                text = _BETWEEN.format(type=kind, right=right, form=form)
                found.append(text.replace("void between(", f"void {name}("))
        return [*found, *([_NARROW] if "narrow(" in body else [])]

    def _due(self, found: Sequence[Way]) -> list[str]:
        outputs = [way for way in found if not way.statuses]
        refusals = [name for way in found for name in way.statuses]
        statuses = [*refusals, *(["SUCCESS"] if outputs else [])]
        lines = [f"    assert({' || '.join(f'status == STATUS_{s}' for s in statuses)});"]
        if len(outputs) == 1:
            some = self._outputs(outputs[0])
            if refusals and some:
                return [*lines, "    if (status == STATUS_SUCCESS) {",
                        *("    " + line for line in some), "    }"]  # fmt: skip
            return [*lines, *some]
        if outputs:
            lines.append(
                "    /* Several interpretations of the standard pass: see `suanzi check`. */"
            )
        return lines

    def _outputs(self, way: Way) -> list[str]:
        lines: list[str] = []
        for item, right in zip(self.arguments.function.outputs, way.outputs, strict=True):
            name = self._name(item.name)
            if isinstance(right, list) and any(isinstance(one, Range) for one in right):
                for i, one in enumerate(right):
                    lines += self._tensor_due(f"{name}[{i}]", f"{name}_{i}", one)
            elif isinstance(right, Range):
                lines += self._tensor_due(name, name, right)
            elif isinstance(right, bool | int | float) and item.base != "Tensor":
                lines.append(f"    assert({name} == {_literal(right)});")
        return lines

    def _tensor_due(self, name: str, label: str, right: Range | None) -> list[str]:
        if right is None:
            return []
        kind = _c_dtype(right.dtype)
        dims = f"{label}_dims"
        self._array("int64_t", dims, [str(n) for n in right.shape])
        lines = [
            f'    is_tensor("{name}", {name}, {kind[0]}, {kind[1]}, {len(right.shape)}, {dims});'
        ]
        if right.min2maj is not None:
            lines += [
                f'    assert({name}->shape.layout.min2maj[{i}] == {axis} && "the layout");'
                for i, axis in enumerate(right.min2maj)
            ]
        if not right.least:
            return lines
        integer = right.dtype in _INTEGERS or right.dtype not in (*_FLOATS, *_NARROW_FORMS)
        unsigned = right.dtype in ("uint64",)
        type_ = "unsigned long long" if unsigned else "long long" if integer else "double"
        function = "between_uint" if unsigned else "between_int" if integer else "between"
        exact = list(map(repr, right.least)) == list(map(repr, right.most))
        least, most = (f"{label}_due",) * 2 if exact else (f"{label}_least", f"{label}_most")
        self._array(type_, least, [_literal(x) for x in right.least])
        if not exact:
            self._array(type_, most, [_literal(x) for x in right.most])
        parts = len(right.least) // max(math.prod(right.shape), 1)
        size = ITEMSIZE[right.dtype]
        stored = _stored(right.dtype)
        value = f"x[i % {parts}]" if parts > 1 else "*x"
        if right.dtype in _NARROW_FORMS:
            value = f"narrow({value}, {', '.join(map(str, _NARROW_FORMS[right.dtype]))})"
        at = f"i / {parts}" if parts > 1 else "i"
        return [
            *lines,
            f"    for (int64_t i = 0; i < {len(right.least)}; i++) {{",
            f"        const {stored} *x = (const void *)element({name}, {at}, {size});",
            f'        {function}("{name}", i, {value}, {least}[i], {most}[i]);',
            "    }",
        ]

    def _cell(self, item: Item) -> str:
        count = self.arguments.cells[item.name][1]
        name = self._name(item.name)
        if count is not None:
            self.made.append(f"static {item.base} {name}[{max(count, 1)}];")
            return name
        self.made.append(f"static {item.base} {name};")
        return f"&{name}"

    def _argument(self, item: Item, value: Any) -> str:
        name = self._name(item.name)
        if item.base == "Tensor" and item.pointer:
            return "NULL" if value is None else self._tensors(name, value)
        if item.base == "Tensor":
            return "NULL" if value is None else self._tensor(name, value)
        if item.base == "char":
            if not item.pointer:
                return f"'{value.decode()}'"
            return "NULL" if value is None else f'"{self._content(value)[:-1].decode()}"'
        if item.pointer:
            return "NULL" if value is None else self._pointed(item, name, value)
        return self._scalar(item, name, value)

    def _pointed(self, item: Item, name: str, value: int) -> str:
        content = self._content(value)
        if item.base == "void":
            self._array("unsigned char", name, [f"0x{b:02x}" for b in content])
            return name
        if item.base in ("DataType", "Shape"):
            kind = DataType if item.base == "DataType" else Shape
            text = self._scalar(item, name, kind.from_buffer_copy(content))
            return f"&({item.base})" + text.removeprefix(f"({item.base})")
        self._array(item.base, name, _elements(_ARRAYS[item.base], content))
        return name

    def _scalar(self, item: Item, name: str, value: Any) -> str:
        if isinstance(value, DataType):
            return f"(DataType){_dtype(value)}"
        if isinstance(value, Device):
            return f"(Device){{k{DeviceType(value.type).name}, {value.id}}}"
        if isinstance(value, Shape):
            return f"(Shape){self._shape(name, value)}"
        if item.base in enumerations():
            members = enumerations()[item.base]
            return members[value] if value < len(members) else f"({item.base}){value}"
        return _literal(value)

    def _shape(self, name: str, shape: Shape) -> str:
        parts = []
        for part, at in (("dims", shape.dims), ("min2maj", shape.layout.min2maj)):
            label = f"{name}_{part}"
            self._array("int64_t", label, _elements("int64", self._content(at)) if at else [])
            parts.append(label)
        kind = LayoutType(shape.layout.type)
        layout = "kDense" if kind is LayoutType.DENSE else f"k{kind.name}"
        return f"{{{shape.ndim}, {parts[0]}, {{{layout}, {parts[1]}}}}}"

    def _tensor(self, name: str, at: int) -> str:
        impl = TensorImpl.from_buffer_copy(self._content(at))
        storage = StorageImpl.from_buffer_copy(self._content(impl.storage))
        kind = dtype_name(name, storage.dtype)
        self._array(_stored(kind), f"{name}_data", _elements(kind, self._content(storage.data)))
        self.made.append(
            f"static struct StorageImpl {name}_storage = {{{_dtype(storage.dtype)}, {{kCPU, 0}}, "
            f"{storage.size}, {name}_data}};"
        )
        shape, scale = self._shape(name, impl.shape), "NULL"
        if impl.scale:
            scale = f"{name}_scale"
            self._array("float", scale, _elements("float32", self._content(impl.scale)))
        self.made.append(
            f"static struct TensorImpl {name} = {{{impl.size}, {impl.offset}, {shape}, {scale}, "
            f"{impl.zero_point}, &{name}_storage}};"
        )
        return f"&{name}"

    def _tensors(self, name: str, at: int) -> str:
        handles = struct.unpack(f"{len(self._content(at)) // 8}Q", self._content(at))
        some = [self._tensor(f"{name}_{i}", h) if h else "NULL" for i, h in enumerate(handles)]
        self._array("Tensor", name, some)
        return name

    def _content(self, at: int) -> bytes:
        return self.arguments.memory.content(at)

    def _array(self, kind: str, name: str, elements: Sequence[str]) -> None:
        """Make an array; C has none without elements."""
        text = f"static {kind} {name}[] = {{{', '.join(elements or ['0'])}}};"
        self.made += wrap(text, 96, subsequent_indent="    ", break_on_hyphens=False)

    def _name(self, name: str) -> str:
        """Return a name that C leaves to a program."""
        taken = {"double", "float", "int", "y0", "y1", "yn", "j0", "j1", "jn", "status", "wrong"}
        return f"{name}_" if name in taken or not re.fullmatch(r"[A-Za-z]\w*", name) else name


def _c_dtype(name: str) -> tuple[str, int]:
    from suanzi.base.dtypes import dtype

    found = dtype(name)
    return TypeCode(found.code).name, found.size


def _dtype(value: DataType) -> str:
    codes = [code.name for code in TypeCode if code.value == value.code]
    return f"{{{codes[0] if codes else f'(TypeCode){value.code}'}, {value.size}}}"


def _stored(dtype: str) -> str:
    """Return the type of C in which elements are stored, or their bits, or parts of them."""
    if dtype in _FLOATS or dtype in _INTEGERS:
        return _FLOATS.get(dtype) or _INTEGERS[dtype]
    signed = dtype.startswith("QT") and "UINT" not in dtype
    size = 2 if dtype == "complex32" else ITEMSIZE[dtype]
    return f"{'' if signed else 'u'}int{8 * size}_t"


def _elements(dtype: str, raw: bytes) -> list[str]:
    """Return elements as C writes them; of a type that it has not, their bits."""
    count = len(raw) // ITEMSIZE[dtype]
    if dtype in _NARROW_FORMS:
        size = 1 if "float8" in dtype else 2
        bits = struct.unpack(f"<{len(raw) // size}{'BH'[size - 1]}", raw)
        return [f"0x{b:0{2 * size}x}" for b in bits]
    some = numbers(Data(dtype, (count,), raw))
    suffix = "f" if _stored(dtype) == "float" else ""
    return [_literal(_shortest(x) if suffix else x, suffix) for x in some]


def _shortest(x: Number) -> Number:
    """Return the number with the fewest digits that is the same float32."""
    if not isinstance(x, float) or not math.isfinite(x):
        return x
    for digits in range(1, 10):
        short = float(f"{x:.{digits}g}")
        if abs(short) < 3.5e38 and ctypes.c_float(short).value == x:
            return short
    return x


def _literal(x: Any, suffix: str = "") -> str:
    if isinstance(x, bool):
        return str(x).lower()
    if isinstance(x, int):
        if x == -(2**63):
            return "INT64_MIN"
        return f"{x}u" if x >= 2**63 else str(x)
    if math.isnan(x):
        return "NAN"
    if math.isinf(x):
        return "-INFINITY" if x < 0 else "INFINITY"
    text = repr(float(x))
    return f"{text}{suffix}"
