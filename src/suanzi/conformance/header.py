"""The C header of Appendix A, made from the standard's data: what a vendor's library exports.

>>> text = header()
>>> "Status op_add(const Tensor x, const Tensor y, Tensor *z);" in text
True
"""

from __future__ import annotations

import inspect
import re
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

from suanzi import interface as standard_form
from suanzi._core import VERSION
from suanzi.device import DeviceType
from suanzi.dtypes import dtype
from suanzi.interface.structures import TypeCode
from suanzi.layout import LayoutType
from suanzi.registry import REGISTRY
from suanzi.standard import interfaces
from suanzi.standard.prototypes import Item, Prototype, enumerations, prototypes
from suanzi.status import InvalidArgument, Status

_WIDTH = 100

_PREAMBLE = """\
/* The operator interfaces of T/AI 131.1-2025 in C, for C99 and C++.
 *
 * Written by `suanzi header` of suanzi {version}; do not edit. A library that exports some of these
 * functions can be held against the standard: suanzi check --backend ./libvendor.so
 *
 * How they are called
 *
 * - A function returns a status. Outputs are set on STATUS_SUCCESS, and belong to the caller, who
 *   ends them with op_destroy. Inputs are never changed.
 * - A tensor that was never made, or is destroyed, is NULL: STATUS_UNINITIALIZED_OBJECT.
 * - `const void *` is a generic scalar (5.7): it points to one element of the dtype of the tensor
 *   that is made, or of `input`. `values` points to all of them, in the order of the layout.
 * - C has no optional parameters. What stands under "left out" is passed instead: NULL for a tensor
 *   and for every pointer but strings, a length of 0 with it, and otherwise the value named there.
 * - Where a view is returned, a copy will do.
 * - An output that is an array of tensors is filled in an array of the caller.
 * - Parameters behind the outputs are those that the standard forgot.
 * - Where a name is misprinted in Appendix A, the printed one is a macro for the right one.
 */
"""

_STRUCTURES = """\
/* 6.2: what the elements are. */
typedef struct {
    TypeCode code;
    uint8_t size; /* in bits; a complex number counts both of its parts */
} DataType;

/* 6.5: where they are. */
typedef struct {
    DeviceType type;
    int id;
} Device;

/* 6.4: in which order. */
typedef struct {
    LayoutType type;
    int64_t *min2maj; /* all axes, the one that varies fastest first; NULL: row-major */
} Layout;

/* 6.3: how many along each axis. */
typedef struct {
    int64_t ndim;
    int64_t *dims; /* ndim of them */
    Layout layout;
} Shape;

/* Memory, which tensors may share. */
struct StorageImpl {
    DataType dtype;
    Device device;
    int64_t size; /* in elements */
    void *data;
};
typedef struct StorageImpl *Storage;

/* A tensor: the elements of a storage from offset to offset + size, without gaps. */
struct TensorImpl {
    int64_t size;   /* the product of the dims, 1 if there are none */
    int64_t offset; /* in elements */
    Shape shape;
    float *scale; /* quantised: real = (integer - zero_point) * scale; else NULL */
    int32_t zero_point;
    Storage storage;
};
typedef struct TensorImpl *Tensor;
"""

_LIBRARY = """\
/* Of no clause; a library may export them for the conformance kit: its version; and whether it has
 * an interface, named as in "op_add", for tensors of a dtype: what it has not is reported as not
 * supported, and not tried. */
const char *op_library_version(void);
int op_library_has(const char *name, const DataType dtype);
"""

_CATEGORIES = {
    "creation": "Creation and destruction",
    "query": "Query and check",
    "linear_algebra": "Linear algebra",
    "signal": "Signal processing",
}


_IN_C = (("None or ()", "NULL"), ("; input.shape is the same as a tuple", ""))
"""What Python's summaries say, and what they say in C."""


def header() -> str:
    """Return the text of the C header."""
    parts = [
        _PREAMBLE.format(version=VERSION),
        "#ifndef SUANZI_T_AI_131_1_2025_H\n#define SUANZI_T_AI_131_1_2025_H\n",
        "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
        _enumeration("Status", {f"STATUS_{s.name}": s.value for s in Status},
                     "5.5: what a function returns; the last is that of flatten and flip alone."),
        _enumeration("TypeCode", {code.name: code.value for code in TypeCode},
                     "6.2: kinds of elements; those from 6 on are ours, which A.1 leaves open."),
        _enumeration("DeviceType", {f"k{d.name}": d.value for d in DeviceType},
                     "6.5: kinds of devices; A.1 numbers the first two."),
        _enumeration("LayoutType", {_layout(kind): kind.value for kind in LayoutType},
                     "6.4: kinds of layouts; coordinates are ours."),
        _STRUCTURES,
        *(_enumeration(name, {m: i for i, m in enumerate(members)})
          for name, members in enumerations().items()),
    ]  # fmt: skip
    category = ""
    for function in prototypes():
        if function.interface.category != category:
            category = function.interface.category
            number = function.interface.category_clause
            parts.append(f"/* {number} {_CATEGORIES.get(category, category.capitalize())} */\n")
        parts.append(_function(function))
    parts += [_misprints(), _LIBRARY, "#ifdef __cplusplus\n}\n#endif\n", "#endif\n"]
    return "\n".join(parts)


def write(path: str | Path | None = None) -> None:
    """Write the header into a file, or to the standard output."""
    if path is None or str(path) == "-":
        print(header(), end="")
        return
    try:
        Path(path).write_text(header(), encoding="ascii")
    except OSError as error:
        raise InvalidArgument(
            f"header: {str(path)!r} cannot be written: {error.strerror}."
        ) from None


@cache
def defaults(name: str) -> dict[str, Any]:
    """Return what parameters of an interface are where they are left out.

    >>> defaults("trace")
    {'offset': 0, 'dim0': 0, 'dim1': 1}
    """
    facts = interfaces()[name]
    optional = {p.name for p in facts.parameters if not p.required}
    signature = inspect.signature(getattr(standard_form, facts.c_name))
    return {n: p.default for n, p in signature.parameters.items() if n in optional}


def _enumeration(name: str, members: dict[str, int], comment: str = "") -> str:
    said = f"/* {comment} */\n" if comment else ""
    lines = ",\n".join(f"    {member} = {value}" for member, value in members.items())
    return f"{said}typedef enum {{\n{lines}\n}} {name};\n"


def _layout(kind: LayoutType) -> str:
    return "kDense" if kind is LayoutType.DENSE else f"k{kind.name}"


def _function(function: Prototype) -> str:
    """Return a declaration under a comment: the clause, what it does, what may be left out."""
    facts = function.interface
    what = (REGISTRY[facts.name].function.__doc__ or "").splitlines()[0].replace("`", "")
    for python, c in _IN_C:
        what = what.replace(python, c)
    lines = textwrap.wrap(f"{facts.clause}: {what}", _WIDTH - 6)
    for count in dict.fromkeys(function.elements.values()):
        names = [name for name, other in function.elements.items() if other == count]
        lines += textwrap.wrap(f"elements of {' and '.join(names)}: {count}", _WIDTH - 6)
    out = [_left_out(function, item) for item in function.parameters]
    if some := [text for text in out if text]:
        lines += textwrap.wrap(f"left out: {', '.join(some)}", _WIDTH - 6)
    return "/* " + "\n * ".join(lines) + " */\n" + _declaration(function)


def _declaration(function: Prototype) -> str:
    text = f"{function};"
    if len(text) <= _WIDTH:
        return text + "\n"
    start = text[: text.index("(") + 1]
    lines = [start]
    for item in function.items:
        last = ");" if item is function.items[-1] else ","
        if len(lines[-1]) + len(f" {item}{last}") > _WIDTH:
            lines.append(" " * (len(start) - 1))
        lines[-1] += f"{'' if lines[-1] == start else ' '}{item}{last}"
    return "\n".join(lines) + "\n"


def _left_out(function: Prototype, item: Item) -> str:
    found = defaults(function.interface.name)
    if item.name not in found or item.name in function.lengths or item.name == "n_bytes":
        return ""
    value = found[item.name]
    printed = next(p.default for p in function.interface.parameters if p.name == item.name) or ""
    words = printed if " " in printed else ""
    if item.base == "char" and item.pointer:
        return f'{item.name} "{value}"'
    if item.pointer or item.base == "Tensor":
        means = words or ("" if value in (None, ()) else str(value))
        return f"{item.name} NULL" + (f" ({means})" if means else "")
    return f"{item.name} {_in_c(item, value, words)}"


def _in_c(item: Item, value: Any, words: str) -> str:
    if item.base == "DataType":
        kind = dtype(value)
        return f"{{{TypeCode(kind.code).name}, {kind.size}}}"
    if item.base == "Device":
        return "{kCPU, 0}"
    if item.base == "Shape":
        return "with ndim 0"
    if value is None:
        return f"the {words}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _misprints() -> str:
    lines = [
        f"#define {printed} {function.interface.c_name}"
        for function in prototypes()
        for printed in function.interface.printed
        if re.fullmatch(r"op_\w+", printed)
    ]
    return "/* As Appendix A prints them. */\n" + "\n".join(lines) + "\n"
