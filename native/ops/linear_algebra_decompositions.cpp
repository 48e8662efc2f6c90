// native/ops/linear_algebra_decompositions.cpp: 7.2.17.3, 7.2.17.4, 7.2.17.5: LU, Cholesky and QR of finite matrices.
#include <algorithm>
#include <limits>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "ops/linear_algebra_lapack.h"

namespace suanzi {

namespace {

double cube(const Matrices& a) {
  return static_cast<double>(a.rows) * static_cast<double>(a.columns) *
         static_cast<double>(std::min(a.rows, a.columns));
}

// ---- lu -----------------------------------------------------------------------------------------

template <class T>
bool run_lu(const Matrices& x, T* data, std::int64_t* ipiv) {
  using Limits = std::numeric_limits<Part<T>>;
  int m = static_cast<int>(x.rows), n = static_cast<int>(x.columns), k = std::min(m, n);
  std::int64_t each = x.rows * x.columns;
  return for_each_matrix(x.count, std::max(x.rows, x.columns), cube(x), sizeof(int) * static_cast<std::size_t>(k),
                         [&](std::int64_t i, std::byte* work) {
                           T* a = data + i * each;
                           auto* swaps = reinterpret_cast<int*>(work);
                           int rows = m, columns = n, info = 0;
                           call_lapack<T>(Lapack::getrf, &rows, &columns, a, &rows, swaps, &info);
                           for (int j = 0; j < k; ++j) {
                             ipiv[i * k + j] = swaps[j] - 1;
                             // OpenBLAS divides by no subnormal pivots.
                             Part<T> pivot = std::abs(a[static_cast<std::int64_t>(j) * m + j]);
                             if (pivot < Limits::min() && pivot > 0) return false;
                           }
                           return info >= 0 && all_finite(a, each);
                         });
}

PyObject* lu(const Tensor& mat) {
  Matrices x(mat);
  if (!x.are_plain() || !prepare_lapack()) return nullptr;
  PyObject* made = new_matrices(x, x.computed, 2, x.rows, x.columns, true);
  PyObject* ipiv = made ? new_matrices(x, Dtype::int64, 1, std::min(x.rows, x.columns), 1, false) : nullptr;
  bool good = ipiv && copy_by_columns(x, tensor_of(made)->data()) && with_lapack_type(x.computed, [&](auto zero) {
                return run_lu(x, elements<decltype(zero)>(made), elements<std::int64_t>(ipiv));
              });
  return rounded_tuple(good, {{made, mat.dtype}, {ipiv, Dtype::int64}});
}

// ---- cholesky -----------------------------------------------------------------------------------

// Rows one behind the other are the columns of the transpose, which has the other triangle; its factor is the transpose
// of the one that is asked for.
template <class T>
bool run_cholesky(const Matrices& x, T* data, bool upper) {
  int n = static_cast<int>(x.rows);
  std::int64_t each = x.rows * x.columns;
  return for_each_matrix(x.count, x.rows, cube(x) / 3, 0, [&](std::int64_t i, std::byte*) {
    T* a = data + i * each;
    if constexpr (is_complex<T>)
      for (std::int64_t j = 0; j < n; ++j) a[j * n + j] = a[j * n + j].real();  // the other part is not read
    char triangle = upper ? 'L' : 'U';
    int order = n, info = 0;
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
  });
}

PyObject* cholesky(const Tensor& mat, bool upper) {
  Matrices x(mat);
  if (x.rows != x.columns || !x.are_plain() || !prepare_lapack()) return nullptr;
  PyObject* made = new_matrices(x, x.computed, 2, x.rows, x.columns, false);
  bool good = made && copy_by_rows(x, tensor_of(made)->data()) && with_lapack_type(x.computed, [&](auto zero) {
                return run_cholesky(x, elements<decltype(zero)>(made), upper);
              });
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

// Q, of `width` columns, takes the place of the reflections it is made of, `q`; a matrix that is wider than Q is in
// memory of its own, `data`.
template <class T>
bool run_qr(const Matrices& x, T* data, T* q, T* r, std::int64_t width, std::int64_t height) {
  int m = static_cast<int>(x.rows), n = static_cast<int>(x.columns), k = std::min(m, n);
  std::int64_t each = x.rows * x.columns, q_each = x.rows * width, r_each = height * x.columns;
  int most = static_cast<int>(std::max<std::int64_t>({x.columns, width, 1}));
  int length = 32 * most;
  std::size_t bytes = sizeof(T) * static_cast<std::size_t>(length + k);
  return for_each_matrix(x.count, std::max(x.rows, x.columns), 4 * cube(x), bytes,
                         [&](std::int64_t i, std::byte* memory) {
                           auto* tau = reinterpret_cast<T*>(memory);
                           T *work = tau + k, *a = data + i * each;
                           if (!all_finite(a, each)) return false;
                           int rows = m, columns = n, rank = k, lwork = length, info = 0;
                           call_lapack<T>(Lapack::geqrf, &rows, &columns, a, &rows, tau, work, &lwork, &info);
                           if (info) return false;
                           T* triangle = r + i * r_each;
                           for (std::int64_t j = 0; j < n; ++j) {
                             std::int64_t filled = std::min<std::int64_t>(j + 1, k);
                             std::copy_n(a + j * m, filled, triangle + j * height);
                             std::fill(triangle + j * height + filled, triangle + (j + 1) * height, T{});
                           }
                           if (!all_finite(triangle, r_each)) return false;
                           if (!q) return true;
                           T* own = q + i * q_each;
                           if (q != data) std::copy_n(a, m * std::min<std::int64_t>(n, width), own);
                           int wide = static_cast<int>(width);
                           call_lapack<T>(Lapack::orgqr, &rows, &wide, &rank, own, &rows, tau, work, &lwork, &info);
                           return info == 0;
                         });
}

PyObject* qr(const Tensor& mat, Mode mode) {
  Matrices x(mat);
  if (!x.are_plain() || !prepare_lapack()) return nullptr;
  std::int64_t k = std::min(x.rows, x.columns), width = mode == Mode::complete ? x.rows : k;
  bool shared = mode != Mode::r && width == x.columns;
  PyObject* q = mode == Mode::r ? Py_NewRef(Py_None) : new_matrices(x, x.computed, 2, x.rows, width, true);
  PyObject* r = q ? new_matrices(x, x.computed, 2, width, x.columns, true) : nullptr;
  Scratch own;
  std::byte* data = !r ? nullptr : shared ? tensor_of(q)->data() : own.take(x.computed, x.size());
  bool good = data && copy_by_columns(x, data) && with_lapack_type(x.computed, [&](auto zero) {
                using T = decltype(zero);
                return run_qr(x, reinterpret_cast<T*>(data), mode == Mode::r ? nullptr : elements<T>(q), elements<T>(r),
                              width, width);
              });
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
