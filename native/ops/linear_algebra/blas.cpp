// native/ops/linear_algebra/blas.cpp: 7.2.17.1, 7.2.17.2, 7.2.17.12: calls of a provider's matrix products.
#include <atomic>
#include <mutex>

#include "core/threads.h"
#include "ops/linear_algebra/provider.h"

namespace suanzi {
namespace {

// Fortran's gemm: everything by address, matrices column by column.
using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const void*, const void*,
                      const int*, const void*, const int*, const void*, void*, const int*);

// BLAS keeps a buffer for each call at the same time. Where memory is too short for several, calls take turns.
std::atomic<bool> take_turns{false};
std::mutex turn;

void call_limit(PyObject* limit, PyObject* on) {
  if (!limit) return;
  PyObject* answer = PyObject_CallOneArg(limit, on);
  if (!answer) PyErr_WriteUnraisable(limit);
  Py_XDECREF(answer);
}

}  // namespace

bool Provider::begin(bool keeps_single) {
  bool limited = memory_is_limited();
  if (limited && !has_call_room(library, running == 0)) return false;
  take_turns = limited && !has_room(call_room + blas_buffer * static_cast<std::size_t>(thread_count()));
  if (!keeps_single) return true;
  if (!set_threads) {
    call_limit(limit, Py_True);
    return true;
  }
  if (running++ > 0) return true;  // another Python thread has a product under way
  threads_before = get_threads();
  if (threads_before != 1) set_threads(1);
  return true;
}

void Provider::end(bool keeps_single) {
  if (!keeps_single) return;
  if (!set_threads) return call_limit(limit, Py_False);
  if (--running == 0 && threads_before != 1) set_threads(threads_before);
}

void Provider::multiply(Sum sum, const Matrix& a, const Matrix& b, std::byte* c, std::int64_t c_row, std::int64_t m,
                        std::int64_t n, std::int64_t k) const noexcept {
  static constexpr float ones_f32[2] = {1, 0}, zeros_f32[2] = {0, 0};
  static constexpr double ones_f64[2] = {1, 0}, zeros_f64[2] = {0, 0};
  bool wide = sum == Sum::f64 || sum == Sum::c128;
  const void* one = wide ? static_cast<const void*>(ones_f64) : ones_f32;
  const void* zero = wide ? static_cast<const void*>(zeros_f64) : zeros_f32;
  // Read column by column, our matrices are transposed: the transpose of the product is asked for.
  // One row or one column can have a stride of 1 either way, and only one of them BLAS takes.
  bool b_rows = b.column == 1 && b.row >= n, a_rows = a.column == 1 && a.row >= k;
  char how_b = b_rows ? 'N' : 'T', how_a = a_rows ? 'N' : 'T';
  int rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
  int b_step = static_cast<int>(b_rows ? b.row : b.column), a_step = static_cast<int>(a_rows ? a.row : a.column);
  int c_step = static_cast<int>(c_row);
  auto call = reinterpret_cast<Gemm>(gemm[static_cast<std::size_t>(sum) - static_cast<std::size_t>(Sum::f32)]);
  std::unique_lock alone(turn, std::defer_lock);
  if (take_turns.load(std::memory_order_relaxed)) alone.lock();
  call(&how_b, &how_a, &columns, &rows, &depth, one, b.data, &b_step, a.data, &a_step, zero, c, &c_step);
}

}  // namespace suanzi
