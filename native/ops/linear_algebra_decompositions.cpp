// native/ops/linear_algebra_decompositions.cpp: 7.2.17.3, 7.2.17.4, 7.2.17.5: LU, Cholesky and QR of finite matrices.
#include <algorithm>
#include <limits>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "ops/linear_algebra_shared.h"
#include "ops/linear_algebra_small.h"

namespace suanzi {

namespace {

double cube(const Matrices& a) {
  return static_cast<double>(a.rows) * static_cast<double>(a.columns) *
         static_cast<double>(std::min(a.rows, a.columns));
}

// ---- lu -----------------------------------------------------------------------------------------

// A matrix in place, column by column.
template <class T>
bool factorise(T* a, std::int64_t m, std::int64_t n, std::int64_t* ipiv, int* swaps) {
  using Limits = std::numeric_limits<Part<T>>;
  int info = factorise_lu(a, m, n, swaps);
  for (std::int64_t j = 0; j < std::min(m, n); ++j) {
    ipiv[j] = swaps[j] - 1;
    // OpenBLAS divides by no subnormal pivots.
    Part<T> pivot = std::abs(a[j * m + j]);
    if (pivot < Limits::min() && pivot > 0) return false;
  }
  return info >= 0 && all_finite(a, m * n);
}

template <class T>
bool run_lu(const Matrices& x, T* data, std::int64_t* ipiv) {
  std::int64_t each = x.rows * x.columns, k = std::min(x.rows, x.columns);
  return for_each_matrix(
      x.count, std::max(x.rows, x.columns), cube(x), sizeof(int) * static_cast<std::size_t>(k),
      [&](std::int64_t i, std::byte* work) {
        return factorise(data + i * each, x.rows, x.columns, ipiv + i * k, reinterpret_cast<int*>(work));
      },
      threads_of(k));
}

template <class T>
bool run_small_lu(const Matrices& x, const T* from, T* data, std::int64_t* ipiv) {
  const auto& kernels = small_kernels_of<T>();
  std::int64_t m = x.rows, n = x.columns, each = m * n, k = std::min(m, n);
  return for_each_small(
      x.count, static_cast<std::int64_t>(kernels.lanes), std::max(m, n), cube(x),
      sizeof(int) * static_cast<std::size_t>(k),
      [&](std::int64_t first, std::size_t count) {
        return kernels.lu(Places(from, each, first, count).at, Places(data, each, first, count).at,
                          Places(ipiv, k, first, count).at, static_cast<int>(m), static_cast<int>(n), count);
      },
      [&](std::int64_t i, std::byte* work) {
        copy_to_columns(from + i * each, m, n, data + i * each);
        return factorise(data + i * each, m, n, ipiv + i * k, reinterpret_cast<int*>(work));
      });
}

PyObject* lu(const Tensor& mat) {
  Matrices x(mat);
  if (!x.are_plain() || (!are_small(x) && !prepare_lapack())) return nullptr;
  PyObject* made = new_matrices(x, x.computed, 2, x.rows, x.columns, true);
  PyObject* ipiv = made ? new_matrices(x, Dtype::int64, 1, std::min(x.rows, x.columns), 1, false) : nullptr;
  bool good = ipiv;
  if (good && are_small(x)) {
    Rows rows(x);
    good = rows && with_small_type(x.computed, [&](auto zero) {
             using T = decltype(zero);
             return run_small_lu(x, rows.as<T>(), elements<T>(made), elements<std::int64_t>(ipiv));
           });
  } else if (good) {
    good = copy_by_columns(x, tensor_of(made)->data()) && with_lapack_type(x.computed, [&](auto zero) {
             return run_lu(x, elements<decltype(zero)>(made), elements<std::int64_t>(ipiv));
           });
  }
  return rounded_tuple(good, {{made, mat.dtype}, {ipiv, Dtype::int64}});
}

// ---- cholesky -----------------------------------------------------------------------------------

// Rows one behind the other are the columns of the transpose, which has the other triangle; its factor is the transpose
// of the one that is asked for.
template <class T>
bool take_root(T* a, std::int64_t n, bool upper) {
  if constexpr (is_complex<T>)
    for (std::int64_t j = 0; j < n; ++j) a[j * n + j] = a[j * n + j].real();  // the other part is not read
  char triangle = upper ? 'L' : 'U';
  int order = static_cast<int>(n), info = 0;
  call_lapack<T>(Lapack::potrf, &triangle, &order, a, &order, &info);
  if (info) return false;
  for (std::int64_t j = 0; j < n; ++j) {
    T* column = a + j * n;
    if (upper) std::fill(column, column + j, T{});
    else std::fill(column + j + 1, column + n, T{});
    // A NaN or an infinity, wherever it was, has reached the diagonal.
    if (!std::isfinite(std::abs(column[j]))) return false;
  }
  return true;
}

template <class T>
bool run_cholesky(const Matrices& x, T* data, bool upper) {
  return for_each_matrix(x.count, x.rows, cube(x) / 3, 0, [&](std::int64_t i, std::byte*) {
    return take_root(data + i * x.rows * x.rows, x.rows, upper);
  });
}

template <class T>
bool run_small_cholesky(const Matrices& x, const T* from, T* data, bool upper) {
  const auto& kernels = small_kernels_of<T>();
  std::int64_t n = x.rows, each = n * n;
  return for_each_small(
      x.count, static_cast<std::int64_t>(kernels.lanes), n, cube(x) / 3, 0,
      [&](std::int64_t first, std::size_t count) {
        return kernels.cholesky(Places(from, each, first, count).at, Places(data, each, first, count).at,
                                static_cast<int>(n), upper, count);
      },
      [&](std::int64_t, std::byte*) { return false; });
}

PyObject* cholesky(const Tensor& mat, bool upper) {
  Matrices x(mat);
  if (x.rows != x.columns || !x.are_plain() || (!are_small(x) && !prepare_lapack())) return nullptr;
  PyObject* made = new_matrices(x, x.computed, 2, x.rows, x.columns, false);
  bool good = made;
  if (good && are_small(x)) {
    Rows rows(x);
    good = rows && with_small_type(x.computed, [&](auto zero) {
             using T = decltype(zero);
             return run_small_cholesky(x, rows.as<T>(), elements<T>(made), upper);
           });
  } else if (good) {
    good = copy_by_rows(x, tensor_of(made)->data()) && with_lapack_type(x.computed, [&](auto zero) {
             return run_cholesky(x, elements<decltype(zero)>(made), upper);
           });
  }
  if (!good) Py_CLEAR(made);
  return rounded_to(made, mat.dtype);
}

// ---- qr -----------------------------------------------------------------------------------------

enum class Mode { reduced, complete, r };
constexpr const char* mode_names[] = {"reduced", "complete", "r"};

bool read_qr_mode(PyObject* object, Mode& mode) {
  if (!object) return true;
  if (!PyUnicode_CheckExact(object)) return false;
  for (int i = 0; i < 3; ++i)
    if (PyUnicode_CompareWithASCIIString(object, mode_names[i]) == 0) {
      mode = static_cast<Mode>(i);
      return true;
    }
  return false;
}

// One matrix, column by column, `a`, into factors, unless there is no q; Q, of `width` columns, may be in its place.
template <class T>
class QrOfOne {
 public:
  QrOfOne(const Matrices& x, std::int64_t width)
      : m_(static_cast<int>(x.rows)), n_(static_cast<int>(x.columns)), k_(std::min(m_, n_)), width_(width),
        length_(32 * static_cast<int>(std::max<std::int64_t>({x.columns, width, 1}))) {}
  std::size_t workspace() const { return sizeof(T) * static_cast<std::size_t>(length_ + k_); }

  bool run(T* a, T* q, T* r, std::byte* memory) const {
    auto* tau = reinterpret_cast<T*>(memory);
    T* work = tau + k_;
    if (!all_finite(a, static_cast<std::int64_t>(m_) * n_)) return false;
    int rows = m_, columns = n_, rank = k_, lwork = length_, info = 0;
    call_lapack<T>(Lapack::geqrf, &rows, &columns, a, &rows, tau, work, &lwork, &info);
    if (info) return false;
    for (std::int64_t j = 0; j < n_; ++j) {
      std::int64_t filled = std::min<std::int64_t>(j + 1, k_);
      std::copy_n(a + j * m_, filled, r + j * width_);
      std::fill(r + j * width_ + filled, r + (j + 1) * width_, T{});
    }
    if (!all_finite(r, width_ * n_)) return false;
    if (!q) return true;
    if (q != a) std::copy_n(a, m_ * std::min<std::int64_t>(n_, width_), q);
    int wide = static_cast<int>(width_);
    call_lapack<T>(Lapack::orgqr, &rows, &wide, &rank, q, &rows, tau, work, &lwork, &info);
    return info == 0;
  }

 private:
  int m_, n_, k_;
  std::int64_t width_;
  int length_;
};

template <class T>
bool run_qr(const Matrices& x, T* data, T* q, T* r, std::int64_t width) {
  QrOfOne<T> one(x, width);
  std::int64_t m = x.rows, n = x.columns;
  return for_each_matrix(x.count, std::max(m, n), 4 * cube(x), one.workspace(), [&](std::int64_t i, std::byte* memory) {
    return one.run(data + i * m * n, q ? q + i * m * width : nullptr, r + i * width * n, memory);
  });
}

template <class T>
bool run_small_qr(const Matrices& x, const T* from, T* q, T* r, std::int64_t width) {
  const auto& kernels = small_kernels_of<T>();
  QrOfOne<T> one(x, width);
  std::int64_t m = x.rows, n = x.columns;
  return for_each_small(
      x.count, static_cast<std::int64_t>(kernels.lanes), std::max(m, n), 4 * cube(x), one.workspace(),
      [&](std::int64_t first, std::size_t count) {
        Places<T> all_q(q, q ? m * width : 0, first, count);
        return kernels.qr(Places(from, m * n, first, count).at, q ? all_q.at : nullptr,
                          Places(r, width * n, first, count).at, static_cast<int>(m), static_cast<int>(n),
                          static_cast<int>(width), count);
      },
      [&](std::int64_t i, std::byte* memory) {
        T own[small_order * small_order];
        copy_to_columns(from + i * m * n, m, n, own);
        return one.run(own, q ? q + i * m * width : nullptr, r + i * width * n, memory);
      });
}

PyObject* qr(const Tensor& mat, Mode mode) {
  Matrices x(mat);
  if (!x.are_plain() || (!are_small(x) && !prepare_lapack())) return nullptr;
  std::int64_t k = std::min(x.rows, x.columns), width = mode == Mode::complete ? x.rows : k;
  bool has_q = mode != Mode::r, shared = has_q && width == x.columns;
  PyObject* q = has_q ? new_matrices(x, x.computed, 2, x.rows, width, true) : Py_NewRef(Py_None);
  PyObject* r = q ? new_matrices(x, x.computed, 2, width, x.columns, true) : nullptr;
  bool good = r;
  if (good && are_small(x)) {
    Rows rows(x);
    good = rows && with_small_type(x.computed, [&](auto zero) {
             using T = decltype(zero);
             return run_small_qr(x, rows.as<T>(), has_q ? elements<T>(q) : nullptr, elements<T>(r), width);
           });
  } else if (good) {
    Scratch own;
    std::byte* data = shared ? tensor_of(q)->data() : own.take(x.computed, x.size());
    good = data && copy_by_columns(x, data) && with_lapack_type(x.computed, [&](auto zero) {
             using T = decltype(zero);
             return run_qr(x, reinterpret_cast<T*>(data), has_q ? elements<T>(q) : nullptr, elements<T>(r), width);
           });
  }
  return rounded_tuple(good, {{q, mat.dtype}, {r, mat.dtype}});
}

// ---- the fast paths -----------------------------------------------------------------------------

PyObject* fast_lu(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"lu"};
  if (keywords || count != 1) return nullptr;
  const Tensor* t = promoted.matrices(args[0]);
  return t ? or_python(lu(*t)) : nullptr;
}

PyObject* fast_cholesky(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"cholesky"};
  if (keywords || count != 2 || !PyUnicode_CheckExact(args[0])) return nullptr;
  bool upper = PyUnicode_CompareWithASCIIString(args[0], "U") == 0;
  if (!upper && PyUnicode_CompareWithASCIIString(args[0], "L") != 0) return nullptr;
  const Tensor* t = promoted.matrices(args[1]);
  return t ? or_python(cholesky(*t, upper)) : nullptr;
}

PyObject* fast_qr(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"qr"};
  static constexpr const char* names[] = {"mat", "mode"};
  PyObject* given[2];
  Mode mode = Mode::reduced;
  if (!read_named(names, args, count, keywords, given) || !read_qr_mode(given[1], mode)) return nullptr;
  const Tensor* t = promoted.matrices(given[0]);
  return t ? or_python(qr(*t, mode)) : nullptr;
}

}  // namespace

void init_decompositions(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "lu", [](nb::handle mat) { return or_none(lu(matrices_argument(mat))); }, "mat"_a,
      nb::sig("def lu(mat: Any) -> tuple[Tensor, Tensor] | None"),
      "Factorises matrices; None where there is something to scale or to complain about.");
  m.def(
      "cholesky", [](nb::handle mat, bool upper) { return or_none(cholesky(matrices_argument(mat), upper)); }, "mat"_a,
      "upper"_a, nb::sig("def cholesky(mat: Any, upper: bool) -> Tensor | None"),
      "Triangular factors of matrices; None where one is not positive definite.");
  m.def(
      "qr",
      [](nb::handle mat, nb::handle mode) {
        Mode read = Mode::reduced;
        if (!read_qr_mode(mode.ptr(), read)) throw nb::value_error("no mode");
        return or_none(qr(matrices_argument(mat), read));
      },
      "mat"_a, "mode"_a, nb::sig("def qr(mat: Any, mode: str) -> tuple[Tensor | None, Tensor] | None"),
      "Orthogonal and triangular factors of matrices; None where there is something to complain about.");
  add_fast_path<fast_lu>("lu");
  add_fast_path<fast_cholesky>("cholesky");
  add_fast_path<fast_qr>("qr");
}

}  // namespace suanzi
