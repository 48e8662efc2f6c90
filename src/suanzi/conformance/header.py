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

from suanzi._core import VERSION
from suanzi.base.device import DeviceType
from suanzi.base.dtypes import dtype
from suanzi.base.files import write_file
from suanzi.base.layout import LayoutType
from suanzi.base.status import InvalidArgument, Status
from suanzi.conformance import header_words
from suanzi.faces import interface as standard_form
from suanzi.faces.interface.structures import TypeCode
from suanzi.standard import interfaces
from suanzi.standard.prototypes import (
    Item,
    Prototype,
    as_printed,
    enumerations,
    prototypes,
)

_WIDTH = 100

_PREAMBLE = """\
/* The operator interfaces of T/AI 131.1-2025 in C, for C99 and C++.
 *
 * Written by `suanzi header` of suanzi {version}; do not edit. A library that exports some of these
 * functions can be tested against the standard: suanzi check --backend ./libvendor.so
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
 * - The statuses that a clause lists, but success, stand above its function.
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
    float *scale; /* quantised: real = (integer - zero_point) * scale; otherwise NULL */
    int32_t zero_point;
    Storage storage;
};
typedef struct TensorImpl *Tensor;
"""

_IFFT = """\
/* A.2.16.2 prints it under no clause: the inverse of op_fft_c2c, of complex or real numbers; the
 * strides are NULL. No case calls it. */
typedef enum {
    {}C2C = 0,
    {}R2C = 1,
    {}C2R = 2,
    {}R2R = 3
} TransType;
Status op_ifft(const Tensor input, const int *istride, const int istride_len,
               const TransType transtype, const int *ostride, const int ostride_len,
               Tensor *output);
"""

_LIBRARY = """\
/* Of no clause; a library may export them for the conformance kit.
 * - Of a library for an accelerator, with op_destroy: a new tensor like one of the kit, which is in
 *   host memory, on your device; and a copy of the elements of a tensor of yours, in the order in
 *   which they lie, into host memory. Both return STATUS_SUCCESS. Everything but the elements,
 *   structures and dims, is in host memory.
 * - Its version.
 * - Whether it has a function, named as in "op_add", for a dtype; for a tensor that lies in memory
 *   like the given one, which it takes or makes; for a device. 0: it is reported as not
 *   supported, and not tried.
 * - Whether it has op_dot_bwd2, op_pad or op_unstack as Appendix A prints them. Declared so
 *   if T_AI_131_1_AS_PRINTED is defined. */
const char *op_library_version(void);
int op_library_has(const char *name, const DataType dtype);
int op_library_takes(const char *name, const Tensor input);
int op_library_has_device(const char *name, const Device device);
int op_library_printed(const char *name);
Status op_library_write(const Tensor host, Tensor *output);
Status op_library_read(const Tensor input, void *data);
"""
AS_PRINTED = "T_AI_131_1_AS_PRINTED"
"""What is defined before the header is included by a library with the printed prototypes."""

_CATEGORIES = {
    "creation": "Creation and destruction",
    "query": "Query and check",
    "linear_algebra": "Linear algebra",
    "signal": "Signal processing",
}


def header(prefix: str = "") -> str:
    """Return the text of the C header; the members of modes have a prefix, or none.

    >>> "AI_SUM = 0" in header("AI_")
    True
    """
    if re.fullmatch(r"([A-Za-z_]\w*)?", prefix, re.ASCII) is None:
        raise InvalidArgument(f"header: the prefix {prefix!r} begins no name in C.")
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
        *(_enumeration(name, {prefix + m: i for i, m in enumerate(members)})
          for name, members in enumerations().items()),
    ]  # fmt: skip
    category = ""
    for function in prototypes():
        if function.interface.category != category:
            category = function.interface.category
            number = function.interface.category_clause
            parts.append(f"/* {number} {_CATEGORIES.get(category, category.capitalize())} */\n")
        parts.append(_function(function, prefix))
    parts += [
        _IFFT.replace("{}", prefix),
        _misprints(),
        _LIBRARY,
        "#ifdef __cplusplus\n}\n#endif\n",
        "#endif\n",
    ]
    return "\n".join(parts)


def write(path: str | Path | None = None, prefix: str = "") -> None:
    """Write the header into a file, or to the standard output."""
    text = header(prefix)
    if path is None or str(path) == "-":
        print(text, end="")
        return
    try:
        write_file(path, text)
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


def _function(function: Prototype, prefix: str) -> str:
    """Return a declaration under a comment: the clause, what it does and takes, each status."""
    facts = function.interface
    said = [f"{facts.clause}: {header_words.summary(facts.name)}"]
    if kinds := header_words.dtypes(facts.name):
        said.append(f"dtypes: {kinds}")
    for count in dict.fromkeys(function.elements.values()):
        names = [name for name, other in function.elements.items() if other == count]
        said.append(f"elements of {' and '.join(names)}: {count}")
    out = [_left_out(function, item, prefix) for item in function.parameters]
    if some := [text for text in out if text]:
        said.append(f"left out: {', '.join(some)}")
    said += [f"STATUS_{name}: {when}" for name, when in header_words.statuses(facts.name)]
    lines = [line for text in said for line in textwrap.wrap(text, _WIDTH - 6)]
    head = "/* " + "\n * ".join(lines) + " */\n"
    printed = as_printed(facts.name)
    if printed is None:
        return head + _declaration(function)
    return (
        f"{head}#ifdef {AS_PRINTED}\n{_declaration(printed)}#else\n{_declaration(function)}#endif\n"
    )


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


def _left_out(function: Prototype, item: Item, prefix: str) -> str:
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
    if item.base in enumerations():
        return f"{item.name} {prefix}{value}"
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
