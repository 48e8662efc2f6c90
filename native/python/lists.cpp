// native/python/lists.cpp: Python's nested lists of numbers to tensors, and back.
//
// Only what is plain and regular is read here: lists and tuples of Python's own numbers. Whatever
// else there is, or is wrong, the Python side reads, and explains.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "calls/operands.h"
#include "core/status.h"

namespace suanzi {
namespace {

// ---- from lists -------------------------------------------------------------------------------

// The items of a list or a tuple; null for anything else.
PyObject** items_of(PyObject* data) {
  if (PyList_CheckExact(data)) return PySequence_Fast_ITEMS(data);
  return PyTuple_CheckExact(data) ? PySequence_Fast_ITEMS(data) : nullptr;
}

struct Seen {
  int ndim = 0;
  std::int64_t dims[max_ndim];
  bool bools = false, ints = false, floats = false;
  std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
};

// Looks at a number; false if it is not one that an int64 or a double holds exactly.
bool look_at_number(PyObject* x, Seen& seen) {
  PyTypeObject* type = Py_TYPE(x);
  if (type == &PyFloat_Type) return seen.floats = true;
  if (type == &PyBool_Type) return seen.bools = true;
  if (type != &PyLong_Type) return false;
  int overflow = 0;
  std::int64_t value = PyLong_AsLongLongAndOverflow(x, &overflow);
  if (overflow) return false;
  seen.low = std::min(seen.low, value);
  seen.high = std::max(seen.high, value);
  return seen.ints = true;
}

// Looks at data nested `depth` deep; the first way down gives the shape, which the rest must have.
bool look(PyObject* data, int depth, bool first, Seen& seen) {
  PyObject** items = items_of(data);
  if (!items) return depth == seen.ndim && look_at_number(data, seen);
  Py_ssize_t count = Py_SIZE(data);
  if (first) {
    if (depth >= max_ndim) return false;
    seen.dims[depth] = count;
    seen.ndim = depth + 1;
  } else if (depth >= seen.ndim || seen.dims[depth] != count) {
    return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!look(items[i], depth + 1, first && i == 0, seen)) return false;
  return true;
}

template <class T, class F>
void fill(PyObject* data, T*& out, F&& convert) {
  PyObject** items = items_of(data);
  if (!items) {
    *out++ = convert(data);
    return;
  }
  for (Py_ssize_t i = 0; i < Py_SIZE(data); ++i) fill(items[i], out, convert);
}

// The tensor of the widest kind among the numbers, its kind, and the least and the largest integer;
// None for what Python must look at. Nothing runs between the two passes that could change the lists.
nb::object read_lists(nb::handle data) {
  Seen seen;
  if (!look(data.ptr(), 0, true, seen)) return nb::none();
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  bool mixed = seen.floats && seen.ints;
  if (mixed && (seen.low < -exact || seen.high > exact)) return nb::none();
  Dtype dtype = seen.floats || !(seen.ints || seen.bools) ? Dtype::float64 : seen.ints ? Dtype::int64 : Dtype::boolean;
  nb::object made = nb::steal(new_dense_tensor(dtype, seen.ndim, seen.dims));
  if (!made.is_valid()) throw nb::python_error();
  std::byte* out = tensor_of(made.ptr())->data();
  if (dtype == Dtype::float64) {
    auto* to = reinterpret_cast<double*>(out);
    fill(data.ptr(), to, [](PyObject* x) {
      return PyFloat_CheckExact(x) ? PyFloat_AS_DOUBLE(x) : static_cast<double>(PyLong_AsLongLong(x));
    });
  } else if (dtype == Dtype::int64) {
    auto* to = reinterpret_cast<std::int64_t*>(out);
    fill(data.ptr(), to, [](PyObject* x) { return std::int64_t{PyLong_AsLongLong(x)}; });
  } else {
    auto* to = reinterpret_cast<std::uint8_t*>(out);
    fill(data.ptr(), to, [](PyObject* x) { return static_cast<std::uint8_t>(x == Py_True); });
  }
  if (seen.bools) {  // which count as integers next to some
    seen.low = std::min<std::int64_t>(seen.low, 0);
    seen.high = std::max<std::int64_t>(seen.high, 1);
  }
  if (!seen.bools && !seen.ints) seen.low = seen.high = 0;
  const char* kind = mixed ? "mixed" : dtype == Dtype::float64 ? "float" : dtype == Dtype::int64 ? "int" : "bool";
  return nb::make_tuple(made, kind, seen.low, seen.high);
}

// ---- to lists ---------------------------------------------------------------------------------

PyObject* number(std::uint8_t x) { return PyBool_FromLong(x); }
PyObject* number(std::int64_t x) { return PyLong_FromLongLong(x); }
PyObject* number(std::uint64_t x) { return PyLong_FromUnsignedLongLong(x); }
PyObject* number(double x) { return PyFloat_FromDouble(x); }
struct Pair {
  double real, imaginary;
};
PyObject* number(Pair x) { return PyComplex_FromDoubles(x.real, x.imaginary); }

template <class T>
PyObject* nest(const T*& data, int ndim, const std::int64_t* dims) {
  if (ndim == 0) return number(*data++);
  PyObject* list = PyList_New(dims[0]);
  for (std::int64_t i = 0; list && i < dims[0]; ++i) {
    PyObject* item = nest(data, ndim - 1, dims + 1);
    if (!item) Py_CLEAR(list);
    else PyList_SET_ITEM(list, i, item);
  }
  return list;
}

template <class T>
PyObject* nest(const Tensor& t) {
  auto* data = reinterpret_cast<const T*>(t.data());
  return nest(data, t.ndim(), t.dims());
}

// The dtype that Python's own type for a number is.
Dtype python_dtype(Dtype dtype) {
  switch (facts(dtype).kind) {
    case Kind::Bool: return Dtype::boolean;
    case Kind::Int: return Dtype::int64;
    case Kind::UInt: return Dtype::uint64;
    case Kind::Complex: return Dtype::complex128;
    default: return Dtype::float64;
  }
}

// The elements as nested lists; None for dtypes that are not numbers.
nb::object to_lists(nb::handle object) {
  Operand operand;
  if (!tensor_of(object.ptr())) throw nb::type_error("not a tensor");
  if (!read_operand(object.ptr(), operand)) throw_status("UninitializedObject", "the tensor was destroyed.");
  if (!facts(operand.dtype).is_number()) return nb::none();
  Dtype dtype = python_dtype(operand.dtype);
  Together together(&operand, 1);
  together.use_row_major();
  nb::object dense = nb::steal(together.new_output(dtype));
  if (!dense.is_valid()) throw nb::python_error();
  Loop loop;
  together.make_loop(loop);
  const Tensor& t = *tensor_of(dense.ptr());
  run_loop(loop.size, &operand, 1, [&] { run_cast(loop, t.data(), dtype, false); });
  PyObject* found = dtype == Dtype::boolean   ? nest<std::uint8_t>(t)
                    : dtype == Dtype::int64   ? nest<std::int64_t>(t)
                    : dtype == Dtype::uint64  ? nest<std::uint64_t>(t)
                    : dtype == Dtype::float64 ? nest<double>(t)
                                              : nest<Pair>(t);
  if (!found) throw nb::python_error();
  return nb::steal(found);
}

}  // namespace

void init_lists(nb::module_& m) {
  using namespace nb::literals;
  m.def("read_lists", &read_lists, "data"_a.none(),
        nb::sig("def read_lists(data: Any) -> tuple[Tensor, str, int, int] | None"),
        "A tensor of plain, regular lists of numbers: bool, int64 or float64, and their kind and range.");
  define(m, "def to_lists(tensor: Any) -> Any",
         "The elements as nested lists of Python numbers; None for dtypes that are not numbers.", to_lists);
}

}  // namespace suanzi
