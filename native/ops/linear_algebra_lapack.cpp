// native/ops/linear_algebra_lapack.cpp: 7.2.17.4, 7.2.17.7, 7.2.17.9: LAPACK over batches of small matrices,
// where a call from Python for each would cost more than it computes. The routines are SciPy's, as it hands them to
// Cython.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "core/python.h"
#include "core/room.h"
#include "core/tensor.h"
#include "core/threads.h"

namespace suanzi {

namespace {

using namespace nb::literals;

constexpr int most = 16;  // rows of a small matrix

// Fortran's, of any of the four dtypes; their integers have 32 bits.
using Gesv = void (*)(int* n, int* nrhs, void* a, int* lda, int* ipiv, void* b, int* ldb, int* info);
using Potrf = void (*)(char* uplo, int* n, void* a, int* lda, int* info);

// A capsule's name is the signature; one that begins with other integers is not ours.
template <class Routine>
Routine routine(const nb::capsule& capsule, const char* expected) {
  const char* name = capsule.name();
  if (!name || std::strncmp(name, expected, std::strlen(expected)) != 0)
    throw nb::value_error("not a routine of 32-bit integers");
  return reinterpret_cast<Routine>(capsule.data(name));
}
constexpr const char *gesv_begins = "void (int *, int *, ", *potrf_begins = "void (char *, int *, ";

// Matrices one behind the other, each column by column: a dense tensor [count, columns, rows].
struct Batch {
  std::byte* data;
  Dtype dtype;
  std::int64_t count;
  int rows, columns;

  explicit Batch(nb::handle object) {
    const Tensor* t = tensor_of(object.ptr());
    if (!t || !t->storage || t->ndim() != 3 || !t->row_major) throw nb::value_error("not a batch of matrices");
    const std::int64_t* dims = t->dims();
    if (dims[2] > most || dims[1] > (1 << 20)) throw nb::value_error("not small");
    data = t->data();
    dtype = t->dtype;
    count = dims[0];
    columns = static_cast<int>(dims[1]);
    rows = static_cast<int>(dims[2]);
  }
};

// Calls body(T{}) with the type of the elements.
template <class Body>
bool with_type(Dtype dtype, Body&& body) {
  switch (dtype) {
    case Dtype::float32: return body(float{});
    case Dtype::float64: return body(double{});
    case Dtype::complex64: return body(std::complex<float>{});
    case Dtype::complex128: return body(std::complex<double>{});
    default: throw nb::value_error("not a dtype of LAPACK");
  }
}

// Calls body(i) for the matrices of a batch, on every thread that is worth it, until one says no.
template <class Body>
bool for_each(std::int64_t count, int n, Body&& body) {
  std::atomic<bool> good{true};
  PyThreadState* state = PyEval_SaveThread();
  auto some = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end && good.load(std::memory_order_relaxed); ++i)
      if (!body(i)) good.store(false, std::memory_order_relaxed);
  };
  // The library takes memory for each thread; whoever calls us has seen to that of the first.
  if (has_room(call_room + blas_buffer * static_cast<std::size_t>(thread_count())))
    parallel_for(count, std::max(8, (1 << 14) / std::max(n * n * n, 1)), some);
  else some(0, count);
  PyEval_RestoreThread(state);
  return good;
}

// The largest sum of magnitudes in a row; NaN if there is one.
template <class T>
double row_sums(const T* a, int n) {
  double sums[most] = {}, largest = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) sums[i] += static_cast<double>(std::abs(a[j * n + i]));
  for (int i = 0; i < n; ++i) {
    if (std::isnan(sums[i])) return sums[i];
    largest = std::max(largest, sums[i]);
  }
  return largest;
}

// The largest sum in a row of the inverse of L U, and so of that of P L U, whose columns stand elsewhere.
template <class T>
double inverse_row_sums(const T* lu, int n) {
  T inverse[most * most] = {};  // row by row: the inner loops run over all right-hand sides
  auto subtract = [&](int i, int k, int width) {
    T factor = lu[k * n + i];
    for (int j = 0; j < width; ++j) inverse[i * n + j] -= factor * inverse[k * n + j];
  };
  for (int k = 0; k < n; ++k) {
    inverse[k * n + k] = T{1};
    for (int i = k + 1; i < n; ++i) subtract(i, k, k + 1);
  }
  for (int k = n - 1; k >= 0; --k) {
    T reciprocal = T{1} / lu[k * n + k];
    for (int j = 0; j < n; ++j) inverse[k * n + j] *= reciprocal;
    for (int i = 0; i < k; ++i) subtract(i, k, n);
  }
  double largest = 0;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += static_cast<double>(std::abs(inverse[i * n + j]));
    if (std::isnan(sum)) return sum;
    largest = std::max(largest, sum);
  }
  return largest;
}

// Transposes a matrix in place, or makes it its adjoint.
template <class T>
void transpose(T* a, int n, bool conjugate) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < j; ++i) std::swap(a[j * n + i], a[i * n + j]);
  if constexpr (!std::is_floating_point_v<T>)
    if (conjugate) std::transform(a, a + n * n, a, [](T x) { return std::conj(x); });
}

// `transposed` says that mat holds the rows of the matrices; `adjoint`, that their adjoints are meant.
bool solve_small(nb::capsule gesv, nb::handle mat, nb::handle rhs, double epsilon, bool transposed, bool adjoint) {
  auto solve = routine<Gesv>(gesv, gesv_begins);
  Batch a(mat), b(rhs);
  int n = a.rows, sides = b.columns;
  if (a.columns != n || b.rows != n || b.count != a.count || b.dtype != a.dtype) throw nb::value_error("no system");
  return with_type(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    return for_each(a.count, n, [&](std::int64_t i) {
      int swaps[most], info = 0, order = n, count = sides;
      T* own = reinterpret_cast<T*>(a.data) + i * n * n;
      T* x = reinterpret_cast<T*>(b.data) + i * n * sides;
      if (transposed != adjoint) transpose(own, n, adjoint);
      else if constexpr (!std::is_floating_point_v<T>)
        if (adjoint) std::transform(own, own + n * n, own, [](T value) { return std::conj(value); });
      double size = row_sums(own, n);
      solve(&order, &count, own, &order, swaps, x, &order, &info);
      return info == 0 && size * inverse_row_sums(own, n) * epsilon <= 1 &&
             std::all_of(x, x + n * sides, [](T value) { return std::isfinite(std::abs(value)); });
    });
  });
}

bool invert_small(nb::capsule gesv, nb::handle mat, double epsilon) {
  auto solve = routine<Gesv>(gesv, gesv_begins);
  Batch a(mat);
  int n = a.rows;
  if (a.columns != n) throw nb::value_error("not square");
  return with_type(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    return for_each(a.count, n, [&](std::int64_t i) {
      T inverse[most * most] = {};
      int swaps[most], info = 0, order = n;
      T* own = reinterpret_cast<T*>(a.data) + i * n * n;
      double size = row_sums(own, n);
      for (int j = 0; j < n; ++j) inverse[j * n + j] = T{1};
      solve(&order, &order, own, &order, swaps, inverse, &order, &info);
      std::memcpy(own, inverse, sizeof(T) * static_cast<std::size_t>(n * n));
      return info == 0 && size * row_sums(inverse, n) * epsilon <= 1;
    });
  });
}

bool cholesky_small(nb::capsule factorise, nb::handle mat, bool upper) {
  auto potrf = routine<Potrf>(factorise, potrf_begins);
  Batch a(mat);
  int n = a.rows;
  if (a.columns != n) throw nb::value_error("not square");
  return with_type(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    return for_each(a.count, n, [&](std::int64_t i) {
      T* own = reinterpret_cast<T*>(a.data) + i * n * n;
      int order = n, info = 0;
      char triangle = upper ? 'U' : 'L';
      if constexpr (!std::is_floating_point_v<T>)
        for (int j = 0; j < n; ++j) own[j * n + j].imag(0);  // which is not read
      potrf(&triangle, &order, own, &order, &info);
      bool good = info == 0;
      for (int j = 0; j < n; ++j) {
        if (upper) std::fill(own + j * n + j + 1, own + j * n + n, T{});
        else std::fill(own + j * n, own + j * n + j, T{});
        // A NaN or an infinity, wherever it was, has reached the diagonal.
        good = good && std::isfinite(std::abs(own[j * n + j]));
      }
      return good;
    });
  });
}

}  // namespace

void init_lapack(nb::module_& m) {
  m.attr("SMALL_MATRIX") = most;
  m.def("solve_small", &solve_small, "gesv"_a, "mat"_a, "rhs"_a, "epsilon"_a, "transposed"_a, "adjoint"_a,
        nb::sig("def solve_small(gesv: object, mat: Any, rhs: Any, epsilon: float, transposed: bool, adjoint: bool) "
                "-> bool"),
        "Solves systems of small matrices [count, columns, rows] in place; False if a matrix is singular.");
  m.def("invert_small", &invert_small, "gesv"_a, "mat"_a, "epsilon"_a,
        nb::sig("def invert_small(gesv: object, mat: Any, epsilon: float) -> bool"),
        "Inverts small matrices [count, columns, rows] in place; False if one is singular.");
  m.def("cholesky_small", &cholesky_small, "potrf"_a, "mat"_a, "upper"_a,
        nb::sig("def cholesky_small(potrf: object, mat: Any, upper: bool) -> bool"),
        "Puts factors of small matrices in their place; False if one is not positive definite.");
}

}  // namespace suanzi
