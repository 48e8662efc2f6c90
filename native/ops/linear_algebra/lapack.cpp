// native/ops/linear_algebra/lapack.cpp: 7.2.17.3 to 7.2.17.10: brings matrices to LAPACK and back.
#include "ops/linear_algebra/lapack.h"

#include "calls/operands.h"
#include "calls/results.h"
#include "core/status.h"

namespace suanzi {
namespace {

// Makes the columns of matrices, the last two axes of a move, dense instead of their rows.
void turn(Move& move, const Matrices& x) {
  auto item = std::int64_t{facts(x.computed).itemsize};
  move.to_strides[move.ndim - 2] = item, move.to_strides[move.ndim - 1] = x.rows * item;
}

bool copy_matrices(const Matrices& x, std::byte* to, bool by_columns) {
  const Tensor& t = *x.tensor;
  if (!t.storage) return false;
  if (!by_columns && t.row_major && t.dtype == x.computed) {
    std::size_t bytes = t.itemsize() * static_cast<std::size_t>(t.size);
    run_over(t.size, {&t}, [&, from = t.data()] { std::memcpy(to, from, bytes); });
    return true;
  }
  Move move = Move::to_dense(to, x.computed, t.data(), t.dtype, t.ndim(), t.dims(), t.strides(),
                             static_cast<std::int64_t>(t.itemsize()));
  if (by_columns) turn(move, x);
  run_over(t.size, {&t}, [&] { run_move(move); });
  return true;
}

// Whether no other thread of Python's runs, which might be in a call of LAPACK.
bool is_alone() { return nb::cast<int>(nb::module_::import_("threading").attr("active_count")()) == 1; }

}  // namespace

bool prepare_lapack() {
  Provider* found = provider();
  return found && found->has_lapack;
}

// ---- matrices -----------------------------------------------------------------------------------

Dtype lapack_dtype(Dtype dtype) noexcept {
  if (dtype == Dtype::float64 || dtype == Dtype::complex128) return dtype;
  return facts(dtype).is_complex() ? Dtype::complex64 : Dtype::float32;
}

Matrices::Matrices(const Tensor& t) noexcept
    : tensor(&t), data(t.storage ? t.data() : nullptr), computed(lapack_dtype(t.dtype)), batch_ndim(t.ndim() - 2),
      rows(t.dims()[t.ndim() - 2]), columns(t.dims()[t.ndim() - 1]) {
  for (int d = 0; d < batch_ndim; ++d) count *= t.dims()[d];
}

bool Matrices::are_plain(std::int64_t order) const noexcept {
  return tensor->size > 0 && std::min(rows, columns) <= order && std::max(rows, columns) <= 1 << 25;
}

bool copy_by_rows(const Matrices& x, std::byte* to) { return copy_matrices(x, to, false); }
bool copy_by_columns(const Matrices& x, std::byte* to) { return copy_matrices(x, to, true); }

void copy_again(const Matrices& x, std::int64_t i, std::byte* to, bool by_columns) {
  const Tensor& t = *x.tensor;
  auto item = static_cast<std::int64_t>(t.itemsize());
  std::int64_t offset = 0;
  for (int d = x.batch_ndim - 1; d >= 0; i /= t.dims()[d], --d) offset += i % t.dims()[d] * t.strides()[d];
  Move move = Move::to_dense(to, x.computed, x.data + offset * item, t.dtype, 2, t.dims() + x.batch_ndim,
                             t.strides() + x.batch_ndim, item);
  if (by_columns) turn(move, x);
  run_move(move);
}

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

PyObject* rounded_or_raised(bool good, PyObject* made, Dtype dtype, const Outcome& outcome) {
  if (!good) Py_CLEAR(made);
  PyObject* found = rounded_to(made, dtype);
  return found ? found : outcome.raise();
}

PyObject* rounded_tuple(bool good, std::initializer_list<Made> all, const Outcome& outcome) {
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
  return tuple ? tuple : outcome.raise();
}

// ---- verdicts -----------------------------------------------------------------------------------

bool Outcome::add(std::int64_t i, Verdict verdict) {
  if (verdict) return true;
  std::lock_guard lock(mutex_);
  if (i < first_) first_ = i, verdict_ = verdict;
  return false;
}

bool prepare_lapack(Outcome& outcome) {
  return prepare_lapack() || outcome.add(memory_is_limited() ? Reason::memory : Reason::unavailable);
}

PyObject* Outcome::raise() const {
  PyErr_Clear();
  if (*this || verdict_.reason == Reason::memory) return no_memory();
  nb::object refused = nb::module_::import_("suanzi.ops.libraries.lapack").attr("Refused");
  nb::object error = refused(static_cast<int>(verdict_.reason), first_.load(), verdict_.value);
  PyErr_SetObject(refused.ptr(), error.ptr());
  return nullptr;
}

// ---- batches ------------------------------------------------------------------------------------

bool may_call_at_once() noexcept {
  return !memory_is_limited() || has_room(call_room + blas_buffer * static_cast<std::size_t>(thread_count()));
}

bool run_batch(std::int64_t count, std::int64_t order, double operations, Threads threads, LoopBody some) {
  constexpr double call = 4000, worth_a_thread = 400000, worth_the_gil = 60000;  // operations, about 4 per ns
  bool limited = memory_is_limited();
  Provider& lapack = *provider();
  if (limited && !has_call_room(lapack.library, is_alone())) return false;
  bool is_ours = threads == Threads::of_ours, is_single = is_ours || order <= threaded_order;
  bool keeps_single = order > single_order && is_single;
  if (keeps_single && !lapack.begin()) return false;
  if (!is_single) lapack.use_threads();
  // Few that are shared each are not shared among each other.
  bool few = is_ours && count < 2 * thread_count();
  bool may_share = count > 1 && is_single && !few && may_call_at_once();
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
  if (keeps_single) lapack.end();
  return true;
}

bool for_each_matrix(Outcome& outcome, std::int64_t count, std::int64_t order, double operations, std::size_t workspace,
                     FunctionRef<Verdict(std::int64_t, std::byte*)> body, Threads threads) {
  bool ran = run_batch(count, order, operations, threads, [&](std::int64_t begin, std::int64_t end) {
    Scratch memory;
    std::byte* work = workspace ? memory.take(Dtype::uint8, static_cast<std::int64_t>(workspace)) : nullptr;
    if (workspace && !work) outcome.add(Reason::memory);
    for (std::int64_t i = begin; i < end && !outcome.is_decided_before(i); ++i) outcome.add(i, body(i, work));
  });
  if (!ran) outcome.add(Reason::memory);
  return static_cast<bool>(outcome);
}

// ---- arguments ----------------------------------------------------------------------------------

const Tensor& matrices_argument(nb::handle object) {
  const Tensor* t = tensor_of(object.ptr());
  if (!t || !t->storage || t->ndim() < 2 || !facts(t->dtype).is_inexact()) throw nb::value_error("no matrices");
  return *t;
}

nb::object or_raise(PyObject* made) {
  if (!made && !PyErr_Occurred()) throw nb::value_error("not matrices that belong together");
  return raise_or(made);
}

}  // namespace suanzi
