"""suanzi as a C library: functions that take what C passes, and read it back.

What they are given are the C arguments of a prototype, as ctypes passes them; what they return is a
status. `library` makes a shared object of them, which exports every function of the header and asks
the interpreter of the process it is loaded into. If it reaches every level, then a C library can.
"""

import ctypes
import os
import traceback
from dataclasses import replace
from functools import cache
from importlib import import_module
from operator import itemgetter
from pathlib import Path

import numpy as np

import suanzi as sz
from helpers.c_compiler import build
from suanzi.base.dtypes import DTYPES
from suanzi.base.layout import LayoutType
from suanzi.conformance.header import defaults
from suanzi.conformance.subjects.c_arguments import c_type
from suanzi.conformance.subjects.c_memory import (
    DataType,
    Memory,
    Shape,
    StorageImpl,
    TensorImpl,
    read_tensor,
)
from suanzi.conformance.subjects.suanzi_adapter import Adapter, create, read
from suanzi.conformance.subjects.wire import ITEMSIZE, Data
from suanzi.faces import interface
from suanzi.standard.prototypes import enumerations, prototype, prototypes

SUBJECT = "SUANZI_IN_C_SUBJECT"
"""The variable of the environment that names another adapter, as one of other readings."""
_ALIVE = {}
"""Each tensor that was given and its structures, by its handle, until it is destroyed."""
_C = {"int": ctypes.c_int, "int64_t": ctypes.c_int64, "float": ctypes.c_float}
_COUNTS = {
    "ndim": itemgetter("ndim"),
    "2 * ndim": lambda names: 2 * names["ndim"],
    "ndim - 2": lambda names: max(names["ndim"] - 2, 0),
    "shifts_len": itemgetter("shifts_len"),
    "nsplit": itemgetter("nsplit"),
    "nnzs * shape.ndim": lambda names: names["nnzs"] * names["shape"].ndim,
}


_START = """
extern int PyGILState_Ensure(void);
extern void PyGILState_Release(int);
extern int PyRun_SimpleString(const char *);
static void *table[{count}];
void suanzi_in_c_set(int i, void *function) {{ table[i] = function; }}
static void *found(int i) {{
    if (table[i] == NULL) {{
        int state = PyGILState_Ensure();
        PyRun_SimpleString("import sys; sys.path.insert(0, {tests!r})\\n"
                           "from helpers.suanzi_in_c import fill; fill({path!r})");
        PyGILState_Release(state);
    }}
    return table[i];
}}
const char *op_library_version(void) {{ return "{version}"; }}
"""


def library(folder):
    """Return the path of a shared library that exports every function of the header."""
    facts = {"tests": str(Path(__file__).parents[1]), "path": str(folder / "library.so")}
    text = [_START.format(count=len(prototypes()), version=sz.__version__, **facts)]
    for i, form in enumerate(prototypes()):
        types = ", ".join(str(item).removesuffix(item.name) for item in form.items)
        names = ", ".join(item.name for item in form.items)
        text.append(f"{form} {{ return ((Status (*)({types}))found({i}))({names}); }}")
    return build("\n".join(text), folder)


def fill(path):
    """Put the functions into the table of a library."""
    made = ctypes.CDLL(path)
    for i, form in enumerate(prototypes()):
        kind = ctypes.CFUNCTYPE(ctypes.c_int, *map(c_type, form.items))
        one = kind(_guarded(function(form.interface.name)))
        _ALIVE[str(form)] = one
        made.suanzi_in_c_set(i, ctypes.cast(one, ctypes.c_void_p))


def _guarded(called):
    """Return a function that raises nothing: ctypes would return 0, a success."""

    def guarded(*given):
        try:
            return called(*given)
        except sz.StatusError as error:  # of what is given back, which may need memory
            return int(error.status)
        except Exception:
            traceback.print_exc()
            return int(sz.Status.INTERNAL_ERROR)

    return guarded


def function(op):
    """Return the function of an interface."""
    if op == "destroy":
        return _destroy
    return lambda *given: _called(prototype(op), given)


def _destroy(cell):
    handle = ctypes.c_void_p.from_address(cell)
    if handle.value is None:
        return int(sz.Status.UNINITIALIZED_OBJECT)
    del _ALIVE[handle.value]
    handle.value = None
    return int(sz.Status.SUCCESS)


def _called(form, given):
    raw = dict(zip([item.name for item in form.items], given, strict=True))
    handles = [raw[i.name] for i in form.parameters if i.base == "Tensor" and not i.pointer]
    first = next((TensorImpl.from_address(handle) for handle in handles if handle), None)
    raw.setdefault("ndim", first.shape.ndim if first else 0)
    arguments = {}
    for item in form.parameters:
        if item.name in form.lengths or item.name == "nnzs":
            continue
        try:
            value = _back(form, item, raw)
        except ValueError:  # a number below zero of elements, say
            return int(sz.Status.INVALID_ARGUMENT)
        if value is not None or item.name not in defaults(form.interface.name):
            arguments[item.name] = value
    status, *outputs = _subject().call(form.interface.name, arguments)
    if status == "SUCCESS":
        for item, output in zip(form.outputs, outputs, strict=True):
            _give(item, output, raw[item.name])
    return int(sz.Status[status])


@cache
def _subject():
    """Return what answers: suanzi as it is, or an adapter that the environment names."""
    module, _, name = os.environ.get(SUBJECT, "").partition(":")
    made = getattr(import_module(module), name)() if module else Adapter()
    made.use_rules("strict")  # as the words of the standard have it
    return made


def _back(form, item, raw):
    """Return a C argument as Python has it."""
    value = raw[item.name]
    if value is None:
        return None
    if item.base == "Tensor":
        if not item.pointer:
            return _tensor(value)
        length = next(name for name, array in form.lengths.items() if array == item.name)
        return [h and _tensor(h) for h in (ctypes.c_void_p * raw[length]).from_address(value)]
    if item.base == "char":
        return ctypes.string_at(value).decode() if item.pointer else value.decode()
    if item.base == "void":
        return _values(item, raw, value)
    if item.base == "DataType":
        return _dtype(DataType.from_address(value) if item.pointer else value)
    if item.base == "Device":
        return sz.Device(list(sz.DeviceType)[value.type], value.id)
    if item.base == "Shape":
        if item.pointer or "nnzs" in raw:
            return _dims(Shape.from_address(value) if item.pointer else value)
        return _shape(value)
    if item.base in enumerations():
        members = enumerations()[item.base]
        return members[value] if value < len(members) else "no mode"
    if not item.pointer:
        return value
    found = list((_C[item.base] * _count(form, item, raw)).from_address(value))
    if item.name == "indices":
        ndim = raw["shape"].ndim
        return [found[i : i + ndim] for i in range(0, len(found), ndim)]
    return found[0] if item.name == "channel_axis" else found


def _count(form, item, raw):
    length = next((name for name, array in form.lengths.items() if array == item.name), None)
    if length is not None:
        return raw[length]
    if item.name == "channel_axis":
        return 1
    if item.name == "scale":
        per_channel = "_CH_" in _dtype(raw["dtype"])
        dims = _dims(raw["shape"])
        axis = raw["channel_axis"]
        at = min(1, len(dims) - 1) if axis is None else ctypes.c_int.from_address(axis).value
        return max(dims[at], 1) if per_channel and len(dims) else 1
    return _COUNTS[form.elements[item.name]](raw)


def _values(item, raw, address):
    """Return one element, or all of a tensor that is made."""
    if item.name != "values":
        if "dtype" in raw:
            dtype = _dtype(raw["dtype"])
        elif raw["input"] is not None:
            dtype = read_tensor("input", raw["input"]).dtype
        else:
            return 0
        return create(Data(dtype, (), ctypes.string_at(address, ITEMSIZE[dtype]))).item()
    dtype = _dtype(raw["dtype"])
    if "nnzs" in raw:
        size = raw["nnzs"] * ITEMSIZE[dtype]
        return create(Data(dtype, (raw["nnzs"],), ctypes.string_at(address, size)))
    return _buffer(address, raw["n_bytes"]) if raw["n_bytes"] > 0 else b""


def _tensor(handle):
    """Return a tensor of ours, or one on the memory of C, or one like what cannot be wrapped."""
    if handle in _ALIVE:
        return _ALIVE[handle][1]
    found = read_tensor("an input", handle)
    if found.size and found.scale is None and not found.dtype.startswith("QT"):
        impl = TensorImpl.from_address(handle)
        at = StorageImpl.from_address(impl.storage).data + impl.offset * ITEMSIZE[found.dtype]
        buffer = _buffer(at, len(found.raw))
        return sz.wrap_tensor(
            found.shape, found.dtype, values=buffer, layout=found.min2maj or _rows(found.shape)
        )
    columns = found.min2maj == tuple(range(len(found.shape)))
    return create(replace(found, layout="columns") if columns else found)


def _buffer(address, size):
    return memoryview((ctypes.c_uint8 * size).from_address(address)).cast("B")


def _rows(shape):
    return tuple(range(len(shape)))[::-1]


def _shape(shape):
    order = (ctypes.c_int64 * shape.ndim).from_address(shape.layout.min2maj)
    return interface.Shape(_dims(shape), sz.Layout(LayoutType.DENSE, tuple(order)))


def _dims(shape):
    return tuple((ctypes.c_int64 * shape.ndim).from_address(shape.dims))


def _dtype(c):
    known = [d.name for d in DTYPES if (int(d.code), d.size) == (c.code, c.size)]
    return known[0] if known else "no dtype"


def _give(item, output, cell):
    """Put an output where C has room for it."""
    if item.base == "int":
        ctypes.c_int.from_address(cell).value = output
    elif item.base == "bool":
        ctypes.c_bool.from_address(cell).value = output
    else:
        made = output if isinstance(output, list | tuple) else [output]
        for i, x in enumerate(made):
            if x is not None:
                x = x if x.layout.min2maj is not None else sz.duplicate(x)
                memory, data = Memory(), read(x)
                handle = memory.tensor(item.name, data)
                _ALIVE[handle] = memory, x
                if data.size and data.sparse is None:  # the memory is that of the tensor itself
                    storage = StorageImpl.from_address(TensorImpl.from_address(handle).storage)
                    whole = np.frombuffer(x.storage.memory, np.uint8).ctypes.data
                    storage.data = whole + x.offset * ITEMSIZE[data.dtype]
                if data.sparse is not None:
                    TensorImpl.from_address(handle).shape.layout.type = LayoutType.COO
                ctypes.c_void_p.from_address(cell + 8 * i).value = handle
