"""The standard's own form: the functions and structures of Appendix A.

Each function has its C name and its parameters in the standard's order, all by keyword. It returns
a status and the outputs, and raises no error that a status can report.

>>> from suanzi import interface
>>> interface.op_add(x=sz.tensor([1, 2]), y=sz.tensor([3, 4]))
(<Status.SUCCESS: 0>, Tensor([4, 6], dtype=int64))
>>> interface.op_sqrt(sz.tensor([-1.0]))
(<Status.INVALID_ARGUMENT: 4>, None)
>>> print(interface.last_error())
sqrt (7.2.8.2): x contains -1, outside the domain x >= 0. Clip it first, for \
example with sz.clip, or allow NaN with sz.domain_errors(False).

The functions are built from the standard's records on first use. Each category has a module, too:
``suanzi.interface.reduction.op_reduce``, and so has each other catalogue of operators. The stub,
``__init__.pyi``, lists all names for editors and type checkers; tools/write_names.py writes it.
"""
# ruff: noqa: F401  (what is imported is public: _OWN lists it)

import sys as _sys
from typing import Any as _Any

from suanzi.base.device import Device, DeviceType
from suanzi.base.hints import nearest as _nearest
from suanzi.base.layout import Layout, LayoutType
from suanzi.base.status import Status
from suanzi.faces.interface import functions as _functions
from suanzi.faces.interface import printed as _printed
from suanzi.faces.interface.calling import Answer, last_error
from suanzi.faces.interface.printed import *  # noqa: F403
from suanzi.faces.interface.structures import DataType, Shape, StorageImpl, TensorImpl, TypeCode
from suanzi.ops import PadMode, ReduceMode, RoundMode
from suanzi.ops.libraries.fft import FFTNormMode
from suanzi.standard.catalogues import catalogues as _catalogues
from suanzi.standard.records import categories as _categories

_OWN = [
    "Answer", "DataType", "Device", "DeviceType", "FFTNormMode", "Layout", "LayoutType", "PadMode",
    "ReduceMode", "RoundMode", "Shape", "Status", "StorageImpl", "TensorImpl", "TypeCode",
    "last_error", *_printed.__all__,
]  # fmt: skip

_MODULES = [_category.name.replace(" ", "_") for _category in _categories()]
for _name in _MODULES:
    globals()[_name] = _sys.modules[f"{__name__}.{_name}"] = _functions.module_of(_name, "standard")


def __getattr__(name: str) -> _Any:
    if name == "__all__":
        return sorted([*_OWN, *_functions.by_name()])
    if name in _functions.by_name():
        return _functions.function(name, "standard")
    if name in _catalogues()[1:]:
        return _functions.module_of(name, name)
    hint = _nearest(name, _functions.by_name())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{hint}")


def __dir__() -> list[str]:
    return sorted({*_OWN, *_functions.by_name(), *_MODULES, *_catalogues()[1:]})
