// native/core/python.h: what the binding files share: the init functions and the dtype singletons.
#pragma once

#include <nanobind/nanobind.h>

#include "core/dtypes.h"

namespace suanzi {

namespace nb = nanobind;

void init_dtypes(nb::module_& m);
void init_rules(nb::module_& m);
void init_promote(nb::module_& m);
void init_tensor(nb::module_& m);
void init_operators(nb::module_& m);
void init_calls(nb::module_& m);
void init_creation(nb::module_& m);
void init_lists(nb::module_& m);
void init_views(nb::module_& m);
void init_subscripts(nb::module_& m);
void init_joining(nb::module_& m);
void init_selecting(nb::module_& m);
void init_masking(nb::module_& m);
void init_rankings(nb::module_& m);
void init_sorting(nb::module_& m);
void init_nonzero(nb::module_& m);
void init_complex_numbers(nb::module_& m);
void init_interpolation(nb::module_& m);
void init_reductions(nb::module_& m);
void init_running(nb::module_& m);
void init_sparse(nb::module_& m);
void init_quantize(nb::module_& m);
void init_products(nb::module_& m);
void init_dlpack(nb::module_& m);
void init_lapack(nb::module_& m);

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
inline std::size_t dtype_index(PyObject* dtype) {
  return nb::inst_ptr<DtypeInfo>(dtype)->index;
}

}  // namespace suanzi
