// native/core/python.h: nanobind, and the dtypes as Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include "core/dtypes.h"

namespace suanzi {

namespace nb = nanobind;

// The DType type, and its instance number i; both live as long as the process.
PyTypeObject* dtype_type();
PyObject* dtype_object(std::size_t index);

// What a call of Python's C functions made, or the exception that it set.
inline nb::object raise_or(PyObject* made) {
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

// Whether an object is a dtype.
inline bool is_dtype(PyObject* x) { return Py_TYPE(x) == dtype_type() && nb::inst_ready(x); }

// Only for objects whose type is dtype_type().
inline std::size_t dtype_index(PyObject* dtype) { return nb::inst_ptr<DtypeInfo>(dtype)->index; }

}  // namespace suanzi
