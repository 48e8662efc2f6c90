// native/ops/linear_algebra_spectra.cpp: 7.2.17.6, 7.2.17.10: singular values and eigenvalues.
#include <algorithm>
#include <limits>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "core/without_gil.h"
#include "loops/conversions.h"
#include "ops/linear_algebra_lapack.h"
#include "ops/linear_algebra_singular_values.h"

namespace suanzi {

namespace {

// The size of a workspace that LAPACK has asked for, the last time of each type; read and written with the GIL.
struct Asked {
  int rows = -1, columns = -1;
  char job = 0;
  int length = 0;
};

// ---- svd ----------------------------------------------------------------------------------------

template <class T>
int svd_workspace(char job, int m, int n) {
  static Asked last;
  if (last.rows != m || last.columns != n || last.job != job) {
    last = {m, n, job, gesdd_length<T>(job, m, n)};
  }
  return last.length;
}

// Rows one behind the other are the columns of the transpose. Its V^H, by columns, is U by rows, and its U the
// conjugate of V.
template <class T>
bool run_svd(Outcome& outcome, const Matrices& x, bool reduced, T* data, T* u, Part<T>* s, T* v) {
  using R = Part<T>;
  int m = static_cast<int>(x.columns), n = static_cast<int>(x.rows), k = std::min(m, n);
  char job = reduced ? 'S' : 'A';
  std::int64_t each = x.rows * x.columns, width = reduced ? k : n, height = reduced ? k : m;
  int length = svd_workspace<T>(job, m, n);
  if (length <= 0) return outcome.add(Reason::too_large);
  auto small = static_cast<std::size_t>(k), parts = gesdd_parts<T>(m, n);
  std::size_t bytes =
      sizeof(T) * static_cast<std::size_t>(length) + sizeof(R) * (parts + small) + sizeof(int) * 8 * small;
  double operations = 20.0 * static_cast<double>(each) * k;
  return for_each_matrix(outcome, x.count, std::max(m, n), operations, bytes, [&](std::int64_t i, std::byte* memory) {
    auto* work = reinterpret_cast<T*>(memory);
    auto* part = reinterpret_cast<R*>(work + length);
    R* values = part + parts;
    auto* indices = reinterpret_cast<int*>(values + small);
    T *a = data + i * each, *right = v + i * m * height;
    if (!all_finite(a, each)) return Verdict{Reason::not_finite};
    int info = call_gesdd(job, m, n, a, values, right, u + i * n * width, work, length, part, indices);
    if (info) return verdict_of(info, Reason::no_convergence);
    conjugate(right, m * height);
    R* diagonal = s + i * width * height;
    std::fill_n(diagonal, width * height, R{0});
    for (int j = 0; j < k; ++j) diagonal[j * height + j] = values[j];
    return Verdict{all_finite(values, k) ? Reason::none : Reason::overflow};
  });
}

// U, S and V as a tuple.
PyObject* svd(const Tensor& mat, bool reduced) {
  Outcome outcome;
  Matrices x(mat);
  if (!x.are_plain(largest_order)) outcome.add(Reason::too_large);
  if (!outcome || !prepare_lapack(outcome)) return outcome.raise();
  std::int64_t k = std::min(x.rows, x.columns), width = reduced ? k : x.rows, height = reduced ? k : x.columns;
  Scratch copy(x.computed, x.size());
  PyObject* u = new_matrices(x, x.computed, 2, x.rows, width, false);
  PyObject* s = !u ? nullptr : new_matrices(x, part_of(x.computed), 2, width, height, false);
  PyObject* v = !s ? nullptr : new_matrices(x, x.computed, 2, x.columns, height, true);
  bool good =
      u && s && v && copy.data() && copy_by_rows(x, copy.data()) && with_lapack_type(x.computed, [&](auto zero) {
        using T = decltype(zero);
        return run_svd(outcome, x, reduced, reinterpret_cast<T*>(copy.data()), elements<T>(u), elements<Part<T>>(s),
                       elements<T>(v));
      });
  PyObject* found = rounded_tuple(good, {{u, mat.dtype}, {s, part_of(mat.dtype)}, {v, mat.dtype}});
  return found ? found : outcome.raise();
}

// ---- eig ----------------------------------------------------------------------------------------

template <class T>
struct Eigen {
  using R = Part<T>;
  using C = std::complex<R>;

  int n, length = 0;
  std::size_t bytes;  // of workspace for each thread

  explicit Eigen(int order) : n(order) {
    auto size = static_cast<std::size_t>(n);
    // What syevd takes at least, with room for blocks, and geev with the vectors of a real matrix.
    length = std::max(geev_workspace(n), 2 * n * n + 38 * n + 1);  // of at most largest_order
    bytes = sizeof(T) * (static_cast<std::size_t>(length) + size * size) +
            sizeof(R) * (1 + 7 * size + 2 * size * size) + sizeof(int) * (3 + 5 * size);
  }

  static int call_geev(int n, T* a, T* w, R* imaginary, T* vectors, T* work, int length, R* parts) {
    char no = 'N', yes = 'V';
    int info = 0, one = 1;
    T none{};
    if constexpr (is_complex<T>)
      call_lapack<T>(Lapack::geev, &no, &yes, &n, a, &n, w, &none, &one, vectors, &n, work, &length, parts, &info);
    else
      call_lapack<T>(Lapack::geev, &no, &yes, &n, a, &n, w, imaginary, &none, &one, vectors, &n, work, &length, &info);
    return info;
  }

  static int geev_workspace(int n) {
    static Asked last;
    if (last.rows != n) {
      T wanted{}, none{};
      R part{};
      if (call_geev(n, &none, &none, &part, &none, &wanted, -1, &part) != 0) return 0;
      last = {n, n, 'V', length_of(wanted)};
    }
    return last.length;
  }

  // To the bit: eigenvectors are orthogonal then.
  bool is_hermitian(const T* a) const {
    auto entry = [&](std::int64_t i, std::int64_t j) { return a[j * n + i]; };
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i <= j; ++i) {
        if constexpr (is_complex<T>) {
          if (entry(i, j) != std::conj(entry(j, i))) return false;
        } else if (entry(i, j) != entry(j, i)) {
          return false;
        }
      }
    return true;
  }

  // The exponent of the largest number if LAPACK would scale the matrix, else 0: some builds do not scale the
  // eigenvalues back, that of SciPy 1.17 among them.
  int far_from_one(const T* a) const {
    int largest = largest_exponent(a, std::int64_t{n} * n);
    return largest != exponent_of_zero && std::abs(largest) > std::numeric_limits<R>::max_exponent / 4 ? largest : 0;
  }

  // again(a) writes the matrix once more.
  template <class Again>
  Verdict run(T* a, C* w, C* v, std::byte* memory, Again&& again) const {
    auto* work = reinterpret_cast<T*>(memory);
    T* vectors = work + length;
    auto* parts = reinterpret_cast<R*>(vectors + std::size_t(n) * std::size_t(n));
    auto* indices = reinterpret_cast<int*>(parts + 1 + 7 * std::size_t(n) + 2 * std::size_t(n) * std::size_t(n));
    if (!all_finite(a, std::int64_t{n} * n)) return {Reason::not_finite};
    bool hermitian = is_hermitian(a);
    if (!hermitian || !run_hermitian(a, w, v, work, parts, indices)) {
      if (hermitian) again(a);
      int power = far_from_one(a);
      scale(a, std::int64_t{n} * n, -power);
      if (int info = run_general(a, w, v, work, vectors, parts)) return verdict_of(info, Reason::no_convergence);
      scale(w, n, power);
    }
    return {all_finite(w, n) ? Reason::none : Reason::overflow};
  }

 private:
  bool run_hermitian(T* a, C* w, C* v, T* work, R* parts, int* indices) const {
    char job = 'V', lower = 'L';
    int order = n, size = length, part_size = 1 + 5 * n + 2 * n * n, index_size = 3 + 5 * n, info = 0;
    R* values = parts + part_size;
    if constexpr (is_complex<T>)
      call_lapack<T>(Lapack::syevd, &job, &lower, &order, a, &order, values, work, &size, parts, &part_size, indices,
                     &index_size, &info);
    else
      call_lapack<T>(Lapack::syevd, &job, &lower, &order, a, &order, values, work, &size, indices, &index_size, &info);
    std::copy_n(values, n, w);
    std::copy_n(a, std::int64_t{n} * n, v);
    return info == 0;
  }

  // Returns what geev does.
  int run_general(T* a, C* w, C* v, T* work, T* vectors, R* parts) const {
    if constexpr (is_complex<T>) {
      return call_geev(n, a, w, nullptr, v, work, length, parts);
    } else {
      R *real = parts, *imaginary = parts + n;
      if (int info = call_geev(n, a, real, imaginary, vectors, work, length, nullptr)) return info;
      for (std::int64_t j = 0; j < n; ++j) {
        w[j] = C(real[j], imaginary[j]);
        const T *column = vectors + j * n, *next = column + n;
        C* made = v + j * n;
        if (!(imaginary[j] > 0) || j + 1 == n) {
          std::copy_n(column, n, made);
          continue;
        }
        // Two columns are those of a conjugate pair.
        for (std::int64_t i = 0; i < n; ++i) {
          made[i] = C(column[i], next[i]);
          made[n + i] = C(column[i], -next[i]);
        }
        ++j;
        w[j] = C(real[j], imaginary[j]);
      }
      return 0;
    }
  }
};

// The dtype of eigenvalues; the parts of complex32 lack bfloat16's range.
Dtype complex_of(Dtype dtype) {
  if (facts(dtype).is_complex()) return dtype;
  if (dtype == Dtype::float64) return Dtype::complex128;
  return dtype == Dtype::float32 || dtype == Dtype::bfloat16 ? Dtype::complex64 : Dtype::complex32;
}

// Eigenvalues and eigenvectors as a tuple.
PyObject* eig(const Tensor& mat) {
  Outcome outcome;
  Kept keep(mat);
  Matrices x(mat);
  if (x.rows != x.columns) return nullptr;
  if (!x.are_plain(largest_order)) outcome.add(Reason::too_large);
  if (!outcome || !prepare_lapack(outcome)) return outcome.raise();
  Scratch copy(x.computed, x.size());
  PyObject* w = new_matrices(x, complex_of(x.computed), 1, x.rows, 1, false);
  PyObject* v = !w ? nullptr : new_matrices(x, complex_of(x.computed), 2, x.rows, x.rows, true);
  bool good = v && copy.data() && copy_by_columns(x, copy.data()) && with_lapack_type(x.computed, [&](auto zero) {
                using T = decltype(zero);
                using C = std::complex<Part<T>>;
                Eigen<T> eigen(static_cast<int>(x.rows));
                std::int64_t n = x.rows, square = n * n;
                auto* data = reinterpret_cast<T*>(copy.data());
                auto *values = elements<C>(w), *vectors = elements<C>(v);
                double operations = 25.0 * static_cast<double>(square) * static_cast<double>(n);
                auto one = [&](std::int64_t i, std::byte* memory) {
                  auto again = [&](T* a) { copy_again(x, i, reinterpret_cast<std::byte*>(a), true); };
                  return eigen.run(data + i * square, values + i * n, vectors + i * square, memory, again);
                };
                return for_each_matrix(outcome, x.count, n, operations, eigen.bytes, one);
              });
  PyObject* found = rounded_tuple(good, {{w, complex_of(mat.dtype)}, {v, complex_of(mat.dtype)}});
  return found ? found : outcome.raise();
}

// ---- the fast paths -----------------------------------------------------------------------------

PyObject* fast_svd(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"svd"};
  static constexpr const char* names[] = {"mat", "format"};
  PyObject* given[2];
  bool reduced = true;
  if (!read_named(names, args, count, keywords, given) || !read_flag(given[1], reduced)) return nullptr;
  const Tensor* t = promoted.matrices(given[0]);
  return t ? or_python(svd(*t, reduced)) : nullptr;
}

PyObject* fast_eig(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"eig"};
  if (keywords || count != 1) return nullptr;
  const Tensor* t = promoted.matrices(args[0]);
  return t ? or_python(eig(*t)) : nullptr;
}

}  // namespace

void init_spectra(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "svd", [](nb::handle mat, bool reduced) { return or_raise(svd(matrices_argument(mat), reduced)); }, "mat"_a,
      "reduced"_a, nb::sig("def svd(mat: Any, reduced: bool) -> tuple[Tensor, Tensor, Tensor]"),
      "U, S and V of matrices; or Refused.");
  m.def(
      "eig", [](nb::handle mat) { return or_raise(eig(matrices_argument(mat))); }, "mat"_a,
      nb::sig("def eig(mat: Any) -> tuple[Tensor, Tensor]"), "Eigenvalues and eigenvectors of matrices; or Refused.");
  add_fast_path<fast_svd>("svd");
  add_fast_path<fast_eig>("eig");
}

}  // namespace suanzi
