// native/ops/linear_algebra/lapack.h: 7.2.17.3 to 7.2.17.10: LAPACK's routines, and matrices on their way to them.
//
// Every matrix gets an answer or a verdict: the reason why it has none. Python puts the first one of a batch into
// words.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <mutex>

#include "core/scratch.h"
#include "core/tensor.h"
#include "core/threads.h"
#include "ops/linear_algebra/provider.h"

namespace suanzi {

// ---- the routines -------------------------------------------------------------------------------

// Loads LAPACK, the first time, with the GIL; false if it is not available, or memory is too short.
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

// c = beta c + alpha op(a) b for matrices of m by k and k by n numbers, column by column, each column a step after the
// one before; op(a) is a for 'N', and its adjoint for 'C'.
template <class T>
void multiply_add(char op, T alpha, const T* a, int a_step, const T* b, int b_step, T beta, T* c, int c_step, int m,
                  int n, int k) {
  constexpr std::size_t type = (is_complex<T> ? 2 : 0) + (sizeof(Part<T>) == 8);
  using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,
                        const T*, const int*, const T*, T*, const int*);
  reinterpret_cast<Gemm>(loaded_provider().gemm[type])(&op, "N", &m, &n, &k, &alpha, a, &a_step, b, &b_step, &beta, c,
                                                       &c_step);
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
  const std::byte* data;  // as it is now: another thread may destroy the tensor while LAPACK runs
  Dtype computed;
  int batch_ndim;
  std::int64_t count = 1, rows, columns;

  explicit Matrices(const Tensor& t) noexcept;
  // Whether there is something to compute, and 32 bits count the workspaces of LAPACK: of `order` or less, where those
  // grow with its square.
  bool are_plain(std::int64_t order = 1 << 25) const noexcept;
  const std::int64_t* batch() const noexcept { return tensor->dims(); }
  std::int64_t size() const noexcept { return count * rows * columns; }
};

// Copies them one behind the other, in the dtype that is computed in, each row by row or column by column. False if
// another thread has destroyed the tensor meanwhile.
bool copy_by_rows(const Matrices& x, std::byte* to);
bool copy_by_columns(const Matrices& x, std::byte* to);
// The same of one matrix, whose tensor is kept meanwhile; without the GIL, too.
void copy_again(const Matrices& x, std::int64_t i, std::byte* to, bool by_columns);

// A new tensor of the batch and `ndim` axes of its own, dense, in row-major order; null and an exception if there is
// none. With `by_columns`, the last two axes lie the other way round.
PyObject* new_matrices(const Matrices& like, Dtype dtype, int ndim, std::int64_t rows, std::int64_t columns,
                       bool by_columns);
// The same in another dtype, rounded once; takes the reference over.
PyObject* rounded_to(PyObject* made, Dtype dtype);

// The same, unless the outcome is not good, or there is no memory: then null, and the exception for it.
PyObject* rounded_or_raised(bool good, PyObject* made, Dtype dtype, const class Outcome& outcome);

// Several of them, or None, each in its dtype, as a tuple. Takes the references over.
struct Made {
  PyObject* tensor;
  Dtype dtype;
};
PyObject* rounded_tuple(bool good, std::initializer_list<Made> all, const class Outcome& outcome);

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

// ---- powers of two ------------------------------------------------------------------------------

// The exponents of frexp: of a number, 0 having the least, and the largest of several.
inline constexpr int exponent_of_zero = -1000000;
template <class T>
int exponent_of(T x) {
  Part<T> size = std::max(std::abs(std::real(x)), std::abs(std::imag(x)));
  int found = 0;
  std::frexp(size, &found);
  return size > 0 ? found : exponent_of_zero;
}
template <class T>
int largest_exponent(const T* x, std::int64_t count) {
  Part<T> largest = 0;
  auto* parts = reinterpret_cast<const Part<T>*>(x);
  for (std::int64_t i = 0; i < (is_complex<T> ? 2 * count : count); ++i)
    largest = std::max(largest, std::abs(parts[i]));
  return exponent_of(largest);
}

// Multiplies by a power of two: each number is rounded once, if at all.
template <class T>
T scaled(T x, int power) {
  if constexpr (is_complex<T>) return {std::ldexp(x.real(), power), std::ldexp(x.imag(), power)};
  else return std::ldexp(x, power);
}
template <class T>
void scale(T* x, std::int64_t count, int power) {
  if (power)
    for (std::int64_t i = 0; i < count; ++i) x[i] = scaled(x[i], power);
}

// ---- verdicts -----------------------------------------------------------------------------------

// Why a matrix has no answer; the names that Python knows are in the same order.
enum class Reason : std::uint8_t {
  none,
  memory,
  too_large,
  not_finite,
  sides_not_finite,
  singular,
  not_positive_definite,
  no_convergence,
  overflow,
  refused,
  unavailable
};

// The answer is there, unless there is a reason; the value is the reciprocal condition number of a singular matrix, the
// order of a minor that is not positive, or the number of an argument that LAPACK refused.
struct Verdict {
  Reason reason = Reason::none;
  double value = 0;
  explicit operator bool() const { return reason == Reason::none; }
};
// What LAPACK's `info` means, where a positive one has a reason.
inline Verdict verdict_of(int info, Reason positive) {
  return info == 0 ? Verdict{} : info < 0 ? Verdict{Reason::refused, -static_cast<double>(info)} : Verdict{positive};
}

// The verdict on the first matrix of a batch that has no answer, in whichever order threads compute them.
class Outcome {
 public:
  explicit operator bool() const { return first_.load(std::memory_order_relaxed) == nothing; }
  bool is_decided_before(std::int64_t i) const { return first_.load(std::memory_order_relaxed) < i; }
  // Notes a verdict, and returns whether it is good. Missing memory comes before everything.
  bool add(std::int64_t i, Verdict verdict);
  bool add(Reason reason) { return add(-1, {reason}); }
  // Makes an index what index(i, reason) gives.
  template <class Index>
  void translate(Index&& index) {
    if (std::int64_t i = first_; i >= 0 && i != nothing) first_ = index(i, verdict_.reason);
  }
  // Sets the exception for it, that of missing memory where nothing was noted, and returns null. With the GIL.
  PyObject* raise() const;

 private:
  static constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::max();
  std::mutex mutex_;
  std::atomic<std::int64_t> first_{nothing};
  Verdict verdict_;
};

// Loads LAPACK as above, and notes it where that is not possible.
bool prepare_lapack(Outcome& outcome);

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
// where memory is too short for the calls: then nothing was run.
bool run_batch(std::int64_t count, std::int64_t order, double operations, Threads threads, LoopBody some);

// Calls body(i, workspace) for each matrix, which returns a verdict, but for those behind one without an answer. False
// if there is one, or no memory.
bool for_each_matrix(Outcome& outcome, std::int64_t count, std::int64_t order, double operations, std::size_t workspace,
                     FunctionRef<Verdict(std::int64_t, std::byte*)> body, Threads threads = Threads::of_lapack);

// ---- arguments ----------------------------------------------------------------------------------

// Throws unless an object of Python's is a tensor of matrices in a floating-point dtype.
const Tensor& matrices_argument(nb::handle object);

// What was computed, or the exception; a ValueError where there is none.
nb::object or_raise(PyObject* made);

}  // namespace suanzi
