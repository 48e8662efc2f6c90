// native/core/python.h: nanobind, functions bound by their signature, and the dtypes as Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

// ---- functions ----------------------------------------------------------------------------------

// The names of the parameters in `def name(first: list[int], second: bool = False) -> Tensor`.
std::vector<std::string> parameters_of(const char* signature);

// Binds a function by its signature as Python writes it; `defaults` are the values of its last parameters.
template <class R, class... A, class... Defaults>
void define(nb::module_& m, const char* signature, const char* words, R (*function)(A...), Defaults... defaults) {
  std::vector<std::string> names = parameters_of(signature);
  constexpr std::size_t without = sizeof...(A) - sizeof...(Defaults);
  [&]<std::size_t... i, std::size_t... j>(std::index_sequence<i...>, std::index_sequence<j...>) {
    m.def("", function, nb::arg(names.at(i).c_str())..., (nb::arg(names.at(without + j).c_str()) = defaults)...,
          nb::sig(signature), words);
  }(std::make_index_sequence<without>{}, std::index_sequence_for<Defaults...>{});
}
// The same for a lambda without captures.
template <class F, class... Defaults>
  requires(std::is_class_v<F>)
void define(nb::module_& m, const char* signature, const char* words, F function, Defaults... defaults) {
  define(m, signature, words, +function, defaults...);
}

}  // namespace suanzi
