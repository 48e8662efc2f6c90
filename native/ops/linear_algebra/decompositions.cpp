// native/ops/linear_algebra/decompositions.cpp: 7.2.17.3, 7.2.17.4, 7.2.17.5: LU, Cholesky and QR.

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "ops/linear_algebra/roots.h"
#include "ops/linear_algebra/shared.h"
#include "ops/linear_algebra/small.h"

namespace suanzi {
namespace {

double cube(const Matrices& a) {
  return static_cast<double>(a.rows) * static_cast<double>(a.columns) *
         static_cast<double>(std::min(a.rows, a.columns));
}

// Whether the matrices can be computed; notes why not.
bool is_possible(Outcome& outcome, const Matrices& x) {
  return x.are_plain() ? are_small(x) || prepare_lapack(outcome) : outcome.add(Reason::too_large);
}

// ---- lu -----------------------------------------------------------------------------------------

// A matrix in place, column by column; again(a) writes it once more. Neither OpenBLAS nor our own kernels divide by
// subnormal pivots: a matrix that has them is scaled.
template <class T>
class LuOfOne {
 public:
  using Limits = std::numeric_limits<Part<T>>;

  LuOfOne(const Matrices& x) : m_(x.rows), n_(x.columns), k_(std::min(m_, n_)) {}
  std::size_t workspace() const {
    if constexpr (!is_complex<T>)
      if (wants_panels<T>(k_)) return PanelLu<T>(m_, n_).workspace();
    return sizeof(int) * static_cast<std::size_t>(k_);
  }

  template <class Again>
  Verdict run(T* a, std::int64_t* ipiv, std::byte* memory, Again&& again) const {
    if (factorise(a, ipiv, memory)) return {};
    again(a);
    if (!all_finite(a, m_ * n_)) return {Reason::not_finite};
    int power = std::max(0, Limits::max_exponent * 3 / 4 - largest_exponent(a, m_ * n_));
    scale(a, m_ * n_, power);
    factorise(a, ipiv, memory);
    for (std::int64_t j = 0; j < n_; ++j) scale(a + j * m_, std::min(j + 1, m_), -power);
    return {all_finite(a, m_ * n_) ? Reason::none : Reason::overflow};
  }

 private:
  // False if a pivot is subnormal, or all may not be finite.
  bool factorise(T* a, std::int64_t* ipiv, std::byte* memory) const {
    if constexpr (!is_complex<T>) {
      if (wants_panels<T>(k_)) {
        PanelLu<T> panels(m_, n_);
        panels.begin_in(memory);
        panels.read(a);
        panels.factorise();
        panels.write(a);
        std::copy_n(panels.swaps(), k_, ipiv);
        return has_pivots(a) && std::isfinite(panels.largest_row());
      }
    }
    auto* swaps = reinterpret_cast<int*>(memory);
    factorise_lu(a, m_, n_, swaps);
    for (std::int64_t j = 0; j < k_; ++j) ipiv[j] = swaps[j] - 1;
    return has_pivots(a) && all_finite(a, m_ * n_);
  }

  bool has_pivots(const T* a) const {
    bool good = true;
    for (std::int64_t j = 0; j < k_; ++j) {
      Part<T> pivot = std::abs(a[j * m_ + j]);
      good = good && (pivot >= Limits::min() || pivot == 0);
    }
    return good;
  }

  std::int64_t m_, n_, k_;
};

PyObject* lu(const Tensor& mat) {
  Outcome outcome;
  Kept keep(mat);
  Matrices x(mat);
  if (!is_possible(outcome, x)) return outcome.raise();
  PyObject* made = new_matrices(x, x.computed, 2, x.rows, x.columns, true);
  PyObject* ipiv = made ? new_matrices(x, Dtype::int64, 1, std::min(x.rows, x.columns), 1, false) : nullptr;
  bool good =
      ipiv && with_matrices(x, elements<std::byte>(made), true, [&]<class T>(const T* from, T* data) {
        LuOfOne<T> lu_of(x);
        auto* all = elements<std::int64_t>(ipiv);
        std::int64_t k = std::min(x.rows, x.columns);
        return compute_matrices(
            outcome, x, from, data, true, cube(x), lu_of.workspace(), threads_of<T>(k),
            [&](auto& kernels, auto* mats, auto* made, std::int64_t first, std::size_t count) {
              return kernels.lu(mats, made, Places(all, k, first, count).at, static_cast<int>(x.rows),
                                static_cast<int>(x.columns), count);
            },
            [&](std::int64_t i, T* a, std::byte* work, auto& again) { return lu_of.run(a, all + i * k, work, again); });
      });
  return rounded_tuple(good, {{made, mat.dtype}, {ipiv, Dtype::int64}}, outcome);
}

// ---- cholesky -----------------------------------------------------------------------------------

// Rows one behind the other are the columns of the transpose, which has the other triangle; its factor is the transpose
// of the one that is wanted. again(a) writes the matrix once more.
template <class T>
int call_potrf(T* a, std::int64_t n, bool upper) {
  char triangle = upper ? 'L' : 'U';
  int order = static_cast<int>(n), info = 0;
  call_lapack<T>(Lapack::potrf, &triangle, &order, a, &order, &info);
  for (std::int64_t j = 0; j < n && !info; ++j) {
    T* column = a + j * n;
    if (upper) std::fill(column, column + j, T{});
    else std::fill(column + j + 1, column + n, T{});
    // A NaN or an infinity, wherever it was, has reached the diagonal.
    if (!std::isfinite(std::abs(column[j]))) info = static_cast<int>(j) + 1;
  }
  return info;
}

template <class T>
bool wants_panel_root(std::int64_t n) {
  if constexpr (is_complex<T>) return false;
  else return PanelRoot<T>::is_wanted(n);
}
template <class T>
std::size_t root_workspace(std::int64_t n) {
  if constexpr (!is_complex<T>)
    if (wants_panel_root<T>(n)) return PanelRoot<T>(n).workspace();
  return 0;
}

template <class T, class Again>
Verdict take_root(T* a, std::int64_t n, bool upper, std::byte* memory, Again&& again) {
  auto make_diagonal_real = [&] {
    if constexpr (is_complex<T>)
      for (std::int64_t j = 0; j < n; ++j) a[j * n + j] = a[j * n + j].real();  // the other part is not read
  };
  make_diagonal_real();
  int info = 0;
  if constexpr (is_complex<T>) {
    info = call_potrf(a, n, upper);
  } else if (wants_panel_root<T>(n)) {
    PanelRoot<T> panels(n);
    panels.begin_in(memory);
    info = panels.run(a, upper);
  } else {
    info = call_potrf(a, n, upper);
  }
  if (info <= 0) return verdict_of(info, Reason::refused);
  again(a);
  make_diagonal_real();
  for (std::int64_t j = 0; j < n; ++j)
    if (!all_finite(a + j * n + (upper ? j : 0), upper ? n - j : j + 1)) return {Reason::not_finite};
  return {Reason::not_positive_definite, static_cast<double>(info)};
}

PyObject* cholesky(const Tensor& mat, bool upper) {
  Outcome outcome;
  Kept keep(mat);
  Matrices x(mat);
  if (x.rows != x.columns) return nullptr;
  if (!is_possible(outcome, x)) return outcome.raise();
  PyObject* made = new_matrices(x, x.computed, 2, x.rows, x.columns, false);
  bool good =
      made && with_matrices(x, elements<std::byte>(made), false, [&]<class T>(const T* from, T* data) {
        return compute_matrices(
            outcome, x, from, data, false, cube(x) / 3, root_workspace<T>(x.rows),
            wants_panel_root<T>(x.rows) ? Threads::of_ours : Threads::of_lapack,
            [&](auto& kernels, auto* mats, auto* made, std::int64_t, std::size_t count) {
              return kernels.cholesky(mats, made, static_cast<int>(x.rows), upper, count);
            },
            [&](std::int64_t, T* a, std::byte* work, auto& again) { return take_root(a, x.rows, upper, work, again); });
      });
  return rounded_or_raised(good, made, mat.dtype, outcome);
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
  // Larger ones would need several times as much memory as LAPACK does.
  bool is_in_panels() const {
    return wants_panels<T>(k_) && std::int64_t{m_} * std::max<std::int64_t>(n_, width_) <= 1 << 24;
  }
  std::size_t workspace() const {
    auto bytes = sizeof(T) * static_cast<std::size_t>(length_ + k_);
    if constexpr (!is_complex<T>)
      if (is_in_panels()) return std::max(bytes, PanelQr<T>(m_, n_, width_).workspace());
    return bytes;
  }

  Verdict run(T* a, T* q, T* r, std::byte* memory) const {
    auto* tau = reinterpret_cast<T*>(memory);
    T* work = tau + k_;
    if (!all_finite(a, static_cast<std::int64_t>(m_) * n_)) return {Reason::not_finite};
    if constexpr (!is_complex<T>)
      if (is_in_panels()) {
        PanelQr<T> panels(m_, n_, width_);
        panels.begin_in(memory);
        if (panels.factorise(a, width_, r) && all_finite(r, width_ * n_)) {
          if (q) panels.make_q(q);
          return {};
        }
      }
    int rows = m_, columns = n_, rank = k_, lwork = length_, info = 0;
    call_lapack<T>(Lapack::geqrf, &rows, &columns, a, &rows, tau, work, &lwork, &info);
    if (info) return verdict_of(info, Reason::refused);
    for (std::int64_t j = 0; j < n_; ++j) {
      std::int64_t filled = std::min<std::int64_t>(j + 1, k_);
      std::copy_n(a + j * m_, filled, r + j * width_);
      std::fill(r + j * width_ + filled, r + (j + 1) * width_, T{});
    }
    if (!all_finite(r, width_ * n_)) return {Reason::overflow};
    if (!q) return {};
    if (q != a) std::copy_n(a, m_ * std::min<std::int64_t>(n_, width_), q);
    int wide = static_cast<int>(width_);
    call_lapack<T>(Lapack::orgqr, &rows, &wide, &rank, q, &rows, tau, work, &lwork, &info);
    return verdict_of(info, Reason::refused);
  }

 private:
  int m_, n_, k_;
  std::int64_t width_;
  int length_;
};

template <class T>
bool run_qr(Outcome& outcome, const Matrices& x, T* data, T* q, T* r, std::int64_t width) {
  QrOfOne<T> one(x, width);
  std::int64_t m = x.rows, n = x.columns;
  return for_each_matrix(
      outcome, x.count, std::max(m, n), 4 * cube(x), one.workspace(),
      [&](std::int64_t i, std::byte* memory) {
        return one.run(data + i * m * n, q ? q + i * m * width : nullptr, r + i * width * n, memory);
      },
      one.is_in_panels() ? Threads::of_ours : Threads::of_lapack);
}

template <class T>
bool run_small_qr(Outcome& outcome, const Matrices& x, const T* from, T* q, T* r, std::int64_t width) {
  const auto& kernels = small_kernels_of<T>();
  QrOfOne<T> one(x, width);
  std::int64_t m = x.rows, n = x.columns;
  return for_each_small(
      outcome, x.count, static_cast<std::int64_t>(kernels.lanes), std::max(m, n), 4 * cube(x), one.workspace(),
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
  Outcome outcome;
  Matrices x(mat);
  if (!is_possible(outcome, x)) return outcome.raise();
  std::int64_t k = std::min(x.rows, x.columns), width = mode == Mode::complete ? x.rows : k;
  bool has_q = mode != Mode::r, shared = has_q && width == x.columns;
  PyObject* q = has_q ? new_matrices(x, x.computed, 2, x.rows, width, true) : Py_NewRef(Py_None);
  PyObject* r = q ? new_matrices(x, x.computed, 2, width, x.columns, true) : nullptr;
  bool good = r;
  if (good && are_small(x)) {
    Rows rows(x);
    good = rows && with_small_type(x.computed, [&]<class T>(T) {
             return run_small_qr(outcome, x, rows.as<T>(), has_q ? elements<T>(q) : nullptr, elements<T>(r), width);
           });
  } else if (good) {
    Scratch own;
    std::byte* data = shared ? tensor_of(q)->data() : own.take(x.computed, x.size());
    good = data && copy_by_columns(x, data) && with_lapack_type(x.computed, [&]<class T>(T) {
             return run_qr(outcome, x, reinterpret_cast<T*>(data), has_q ? elements<T>(q) : nullptr, elements<T>(r),
                           width);
           });
  }
  return rounded_tuple(good, {{q, mat.dtype}, {r, mat.dtype}}, outcome);
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
  Given given({"mat", "mode"}, args, count, keywords);
  Mode mode = Mode::reduced;
  if (!given || !read_qr_mode(given[1], mode)) return nullptr;
  const Tensor* t = promoted.matrices(given[0]);
  return t ? or_python(qr(*t, mode)) : nullptr;
}

}  // namespace

void init_decompositions(nb::module_& m) {
  define(m, "def lu(mat: Any) -> tuple[Tensor, Tensor]", "L and U of matrices in one, and row swaps; or Refused.",
         [](nb::handle mat) { return or_raise(lu(matrices_argument(mat))); });
  define(m, "def cholesky(mat: Any, upper: bool) -> Tensor", "Triangular factors of matrices; or Refused.",
         [](nb::handle mat, bool upper) { return or_raise(cholesky(matrices_argument(mat), upper)); });
  define(m, "def qr(mat: Any, mode: str) -> tuple[Tensor | None, Tensor]",
         "Orthogonal and triangular factors of matrices; or Refused.", [](nb::handle mat, nb::handle mode) {
           Mode read = Mode::reduced;
           if (!read_qr_mode(mode.ptr(), read)) throw nb::value_error("no mode");
           return or_raise(qr(matrices_argument(mat), read));
         });
  add_fast_path<fast_lu>("lu");
  add_fast_path<fast_cholesky>("cholesky");
  add_fast_path<fast_qr>("qr");
}

}  // namespace suanzi
