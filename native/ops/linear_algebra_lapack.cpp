// native/ops/linear_algebra_lapack.cpp: 7.2.17.3 to 7.2.17.10: loads LAPACK, and brings matrices there and back.
//
// The routines are SciPy's, as it hands them to Cython.
#include "ops/linear_algebra_lapack.h"

#include <algorithm>
#include <functional>

#include "calls/operands.h"
#include "calls/results.h"
#include "core/room.h"
#include "core/rules.h"
#include "loops/copies.h"
#include "ops/linear_algebra_blas.h"

namespace suanzi {

void* lapack_routines[lapack_count][4] = {};

namespace {

bool is_loaded = false, was_asked = false;

// A capsule's name is the signature; one that has other integers is not ours.
void* routine_in(nb::handle capsule) {
  const char* name = PyCapsule_CheckExact(capsule.ptr()) ? PyCapsule_GetName(capsule.ptr()) : nullptr;
  if (!name || std::strncmp(name, "void (", 6) != 0 || !std::strstr(name, "int *") || std::strstr(name, "long"))
    return nullptr;
  return PyCapsule_GetPointer(capsule.ptr(), name);
}

void load() {
  nb::object found = nb::module_::import_("suanzi.libraries.lapack").attr("load")();
  if (found.is_none() || was_asked) return;
  bool all = true;
  for (std::size_t i = 0; i < lapack_count; ++i)
    for (std::size_t type = 0; type < 4; ++type) {
      lapack_routines[i][type] = routine_in(found[i][type]);
      all &= lapack_routines[i][type] != nullptr;
    }
  is_loaded = all;
}

bool copy_matrices(const Matrices& x, std::byte* to, bool by_columns) {
  const Tensor& t = *x.tensor;
  if (!t.storage) return false;
  if (!by_columns && t.row_major && t.dtype == x.computed) {
    std::size_t bytes = t.itemsize() * static_cast<std::size_t>(t.size);
    run_over(t.size, {&t}, [&] { std::memcpy(to, t.data(), bytes); });
    return true;
  }
  Move move;
  move.ndim = t.ndim();
  move.to = to, move.from = t.data();
  move.to_dtype = x.computed, move.from_dtype = t.dtype;
  auto from_item = static_cast<std::int64_t>(t.itemsize()), to_item = std::int64_t{facts(x.computed).itemsize};
  std::int64_t stride = to_item;
  for (int d = move.ndim - 1; d >= 0; --d) {
    int at = by_columns && d >= x.batch_ndim ? 2 * x.batch_ndim + 1 - d : d;  // the last two axes change places
    move.dims[d] = t.dims()[d];
    move.from_strides[d] = t.strides()[d] * from_item;
    move.to_strides[at] = stride;
    stride *= t.dims()[at];
  }
  run_over(t.size, {&t}, [&] { run_move(move); });
  return true;
}

}  // namespace

bool prepare_lapack() {
  if (!was_asked) {
    try {
      load();
    } catch (nb::python_error& error) {
      if (error.matches(PyExc_MemoryError) || (error.matches(PyExc_ImportError) && memory_is_limited()))
        return false;                                         // this time
      error.discard_as_unraisable("loading SciPy's LAPACK");  // Python says what is wrong
    }
    was_asked = true;
  }
  return is_loaded;
}

// ---- matrices -----------------------------------------------------------------------------------

Dtype lapack_dtype(Dtype dtype) noexcept {
  if (dtype == Dtype::float64 || dtype == Dtype::complex128) return dtype;
  return facts(dtype).is_complex() ? Dtype::complex64 : Dtype::float32;
}

Matrices::Matrices(const Tensor& t) noexcept
    : tensor(&t), computed(lapack_dtype(t.dtype)), batch_ndim(t.ndim() - 2), rows(t.dims()[t.ndim() - 2]),
      columns(t.dims()[t.ndim() - 1]) {
  for (int d = 0; d < batch_ndim; ++d) count *= t.dims()[d];
}

bool Matrices::are_plain() const noexcept {
  constexpr std::int64_t most = 1 << 14;  // whose square, with workspaces, fits 32 bits
  return tensor->size > 0 && rows <= most && columns <= most;
}

bool copy_by_rows(const Matrices& x, std::byte* to) { return copy_matrices(x, to, false); }
bool copy_by_columns(const Matrices& x, std::byte* to) { return copy_matrices(x, to, true); }

PyObject* new_matrices(const Matrices& like, Dtype dtype, int ndim, std::int64_t rows, std::int64_t columns,
                       bool by_columns) {
  std::int64_t dims[max_ndim], strides[max_ndim], size;
  int outer = like.batch_ndim, all = outer + ndim;
  std::copy_n(like.batch(), outer, dims);
  dims[outer] = rows;
  if (ndim == 2) dims[outer + 1] = columns;
  if (!by_columns || ndim < 2) return new_dense_tensor(dtype, all, dims);
  if (!element_count(all, dims, size)) return PyErr_NoMemory();
  Storage* storage = allocate_storage(dtype, size);
  if (!storage) return PyErr_NoMemory();
  row_major_strides(all, dims, strides);
  strides[outer] = 1, strides[outer + 1] = rows;
  return new_tensor(storage, 0, all, dims, strides);
}

PyObject* rounded_to(PyObject* made, Dtype dtype) {
  if (!made || tensor_of(made)->dtype == dtype) return made;
  const Tensor& t = *tensor_of(made);
  PyObject* narrow = new_result(t, 0, true, dtype);
  if (narrow) {
    Operand source;
    Move move;
    read_operand(made, source);
    broadcast_move(*tensor_of(narrow), source, move);
    run_over(t.size, {&t}, [&] { run_move(move); });
  }
  Py_DECREF(made);
  return narrow;
}

PyObject* rounded_tuple(bool good, std::initializer_list<Made> all) {
  PyObject* tuple = good ? PyTuple_New(static_cast<Py_ssize_t>(all.size())) : nullptr;
  Py_ssize_t i = 0;
  for (Made one : all) {
    if (!tuple) {
      Py_XDECREF(one.tensor);
      continue;
    }
    PyObject* item = one.tensor == Py_None ? one.tensor : rounded_to(one.tensor, one.dtype);
    if (item) PyTuple_SET_ITEM(tuple, i++, item);
    else Py_CLEAR(tuple);
  }
  return tuple;
}

// ---- batches ------------------------------------------------------------------------------------

bool run_batch(std::int64_t count, std::int64_t order, double operations,
               const std::function<void(std::int64_t, std::int64_t)>& some) {
  constexpr double call = 4000, worth_a_thread = 400000, worth_the_gil = 60000;  // operations, about 4 per ns
  bool limited = memory_is_limited();
  // Another thread may be in a call. Python looks closer.
  if (limited && !has_call_room(Library::scipy, false)) return false;
  bool keeps_single = order > single_order && order <= threaded_order && prepare_blas();
  if (keeps_single && !begin_blas()) return false;
  bool may_share = count > 1 && order <= threaded_order &&
                   (!limited || has_room(call_room + blas_buffer * static_cast<std::size_t>(thread_count())));
  auto grain_of = std::max<std::int64_t>(1, static_cast<std::int64_t>(worth_a_thread / (operations + call)));
  auto run = [&] {
    if (may_share) parallel_for(count, grain_of, some);
    else some(0, count);
  };
  if (static_cast<double>(count) * (operations + call) < worth_the_gil) {
    run();
  } else {
    run_without_gil(nullptr, 0, run);  // over memory of ours alone
  }
  if (keeps_single) end_blas();
  return true;
}

// ---- arguments ----------------------------------------------------------------------------------

bool Promoted::keeps_dtype(PyObject* first, PyObject* second) {
  nb::object keep;
  const RuleTable* table = rules_argument(Py_None, keep);
  if (!table || table->gates(name)) return false;
  if (its_class >= RuleTable::class_count) its_class = operator_class(nb::str(name).ptr());
  if (its_class >= RuleTable::class_count) return false;
  Operand x, y;
  if (!read_operand(first, x) || !read_operand(second, y) || x.dtype != y.dtype || !facts(x.dtype).is_inexact())
    return false;
  std::size_t a = operand_code(first, x, *table), b = operand_code(second, y, *table);
  if (a == RuleTable::operand_count || b == RuleTable::operand_count) return false;
  return table->get(its_class, a, b) == static_cast<std::uint8_t>(x.dtype);
}

const Tensor* Promoted::matrices(PyObject* object) {
  const Tensor* t = object ? tensor_of(object) : nullptr;
  return t && t->storage && t->ndim() >= 2 && keeps_dtype(object, object) ? t : nullptr;
}

const Tensor& matrices_argument(nb::handle object) {
  const Tensor* t = tensor_of(object.ptr());
  if (!t || !t->storage || t->ndim() < 2 || !facts(t->dtype).is_inexact()) throw nb::value_error("no matrices");
  return *t;
}

nb::object or_none(PyObject* made) {
  if (made) return nb::steal(made);
  PyErr_Clear();
  return nb::none();
}

}  // namespace suanzi
