// native/ops/linear_algebra_lapack.h: 7.2.17.3 to 7.2.17.10: LAPACK's routines, and matrices on their way to them.
//
// What is here answers for matrices that are finite and good-natured. Whatever is not, and whatever cannot be had, is
// left to Python: it scales, computes again and explains, so that every refusal is written once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

#include "core/scratch.h"
#include "core/tensor.h"
#include "core/threads.h"
#include "ops/linear_algebra_provider.h"

namespace suanzi {

// ---- the routines -------------------------------------------------------------------------------

// Loads LAPACK, the first time, with the GIL; false if there is none, or no memory for it.
bool prepare_lapack();

template <class T>
inline constexpr bool is_complex = !std::is_floating_point_v<T>;
template <class T>
struct PartOf {
  using type = T;
};
template <class T>
struct PartOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Part = typename PartOf<T>::type;

// Calls a routine of Fortran's: everything goes by address, and integers have 32 bits.
template <class T, class... Arguments>
void call_lapack(Lapack routine, Arguments*... arguments) {
  constexpr std::size_t type = (is_complex<T> ? 2 : 0) + (sizeof(Part<T>) == 8);
  void* function = loaded_provider().lapack[static_cast<std::size_t>(routine)][type];
  reinterpret_cast<void (*)(Arguments*...)>(function)(arguments...);
}

// c -= a b for matrices of m by k and k by n numbers, column by column, each column `step` after the one before.
template <class T>
void subtract_product(const T* a, const T* b, T* c, int step, int m, int n, int k) {
  constexpr std::size_t type = (is_complex<T> ? 2 : 0) + (sizeof(Part<T>) == 8);
  using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,
                        const T*, const int*, const T*, T*, const int*);
  const T minus_one{-1}, one{1};
  reinterpret_cast<Gemm>(loaded_provider().gemm[type])("N", "N", &m, &n, &k, &minus_one, a, &step, b, &step, &one, c,
                                                       &step);
}

// Calls body(T{}) with the type that a dtype is computed in.
template <class Body>
auto with_lapack_type(Dtype computed, Body&& body) {
  switch (computed) {
    case Dtype::float32: return body(float{});
    case Dtype::float64: return body(double{});
    case Dtype::complex64: return body(std::complex<float>{});
    default: return body(std::complex<double>{});
  }
}

// ---- matrices -----------------------------------------------------------------------------------

// The dtype that LAPACK computes a floating-point one in.
Dtype lapack_dtype(Dtype dtype) noexcept;

// The matrices in the last two axes of a tensor.
struct Matrices {
  const Tensor* tensor;
  Dtype computed;
  int batch_ndim;
  std::int64_t count = 1, rows, columns;

  explicit Matrices(const Tensor& t) noexcept;
  // Whether LAPACK can count them; there is something to compute.
  bool are_plain() const noexcept;
  const std::int64_t* batch() const noexcept { return tensor->dims(); }
  std::int64_t size() const noexcept { return count * rows * columns; }
};

// Copies them one behind the other, in the dtype that is computed in, each row by row or column by column. False if
// another thread has destroyed the tensor meanwhile.
bool copy_by_rows(const Matrices& x, std::byte* to);
bool copy_by_columns(const Matrices& x, std::byte* to);

// A new tensor of the batch and `ndim` axes of its own, dense, in row-major order; null and an exception if there is
// none. With `by_columns`, the last two axes lie the other way round.
PyObject* new_matrices(const Matrices& like, Dtype dtype, int ndim, std::int64_t rows, std::int64_t columns,
                       bool by_columns);
// The same in another dtype, rounded once; takes the reference over.
PyObject* rounded_to(PyObject* made, Dtype dtype);

// Several of them, or None, each in its dtype, as a tuple; null unless `good`. Takes the references over.
struct Made {
  PyObject* tensor;
  Dtype dtype;
};
PyObject* rounded_tuple(bool good, std::initializer_list<Made> all);

template <class T>
T* elements(PyObject* tensor) {
  return reinterpret_cast<T*>(tensor_of(tensor)->data());
}

// Whether no element is NaN or an infinity.
template <class T>
bool all_finite(const T* x, std::int64_t count) {
  using R = Part<T>;
  using Bits = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits exponent = sizeof(R) == 4 ? Bits{0x7F800000} : static_cast<Bits>(0x7FF0000000000000);
  std::int64_t n = is_complex<T> ? 2 * count : count;
  Bits found = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    Bits bits;
    std::memcpy(&bits, reinterpret_cast<const R*>(x) + i, sizeof bits);
    found |= static_cast<Bits>((bits & exponent) == exponent);
  }
  return found == 0;
}

template <class T>
void conjugate(T* x, std::int64_t count) {
  if constexpr (is_complex<T>)
    for (std::int64_t i = 0; i < count; ++i) x[i] = std::conj(x[i]);
}

// ---- batches ------------------------------------------------------------------------------------

// LAPACK's threads are BLAS's own. Matrices up to the first size never use them; from there to the second they cost
// more than they save, and BLAS is kept on one; larger ones use them.
inline constexpr std::int64_t single_order = 32, threaded_order = 256;

// The order by which to run equations: OpenBLAS up to 0.3.30 solves several right-hand sides on threads, however small
// all is, and those of 4 by 4 took milliseconds.
inline std::int64_t order_of_equations(std::int64_t order, std::int64_t sides) {
  return sides > 1 ? std::max(order, single_order + 1) : order;
}

// Whether there is memory for as many calls at the same time as there are threads.
bool may_call_at_once() noexcept;

// Whose threads compute one large matrix.
enum class Threads { of_lapack, of_ours };

// Runs `some` over the matrices of a batch, each of about so many operations; `order` is the larger of its sizes. False
// where there is no memory for the calls: then nothing was run.
bool run_batch(std::int64_t count, std::int64_t order, double operations, Threads threads,
               const std::function<void(std::int64_t, std::int64_t)>& some);

// Calls body(i, workspace) for each matrix, until one says no, or there is no memory.
template <class Body>
bool for_each_matrix(std::int64_t count, std::int64_t order, double operations, std::size_t workspace, Body&& body,
                     Threads threads = Threads::of_lapack) {
  std::atomic<bool> good{true};
  bool ran = run_batch(count, order, operations, threads, [&](std::int64_t begin, std::int64_t end) {
    Scratch memory;
    std::byte* work = workspace ? memory.take(Dtype::uint8, static_cast<std::int64_t>(workspace)) : nullptr;
    if (workspace && !work) good = false;
    for (std::int64_t i = begin; i < end && good.load(std::memory_order_relaxed); ++i)
      if (!body(i, work)) good.store(false, std::memory_order_relaxed);
  });
  return ran && good;
}

// ---- arguments ----------------------------------------------------------------------------------

// Throws unless an object of Python's is a tensor of matrices in a floating-point dtype.
const Tensor& matrices_argument(nb::handle object);

// What a native computation made, to Python: None where it is left to it.
nb::object or_none(PyObject* made);

}  // namespace suanzi
