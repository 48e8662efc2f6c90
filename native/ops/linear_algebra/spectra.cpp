// native/ops/linear_algebra/spectra.cpp: 7.2.17.6, 7.2.17.10: singular values and eigenvalues.

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "core/without_gil.h"
#include "loops/conversions.h"
#include "ops/linear_algebra/singular_values.h"

namespace suanzi {
namespace {

// The size of a workspace that LAPACK has asked for, the last time of each type; read and written with the GIL.
struct Asked {
  int rows = -1, columns = -1;
  char job = 0;
  int length = 0;
};

// Whether the matrices can be computed; notes why not.
bool is_possible(Outcome& outcome, const Matrices& x) {
  return x.are_plain(largest_order) ? prepare_lapack(outcome) : outcome.add(Reason::too_large);
}

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
// conjugate of V. For the job 'N' there are values alone, side by side.
template <class T>
bool run_svd(Outcome& outcome, const Matrices& x, char job, T* data, T* u, Part<T>* s, T* v) {
  using R = Part<T>;
  int m = static_cast<int>(x.columns), n = static_cast<int>(x.rows), k = std::min(m, n);
  std::int64_t each = x.rows * x.columns, width = job == 'A' ? n : k, height = job == 'A' ? m : k;
  int length = svd_workspace<T>(job, m, n);
  if (length <= 0) return outcome.add(Reason::too_large);
  auto small = static_cast<std::size_t>(k), parts = gesdd_parts<T>(job, m, n);
  std::size_t bytes =
      sizeof(T) * static_cast<std::size_t>(length) + sizeof(R) * (parts + small) + sizeof(int) * 8 * small;
  double operations = (job == 'N' ? 4.0 : 20.0) * static_cast<double>(each) * k;
  return for_each_matrix(outcome, x.count, std::max(m, n), operations, bytes, [&](std::int64_t i, std::byte* memory) {
    auto* work = reinterpret_cast<T*>(memory);
    auto* part = reinterpret_cast<R*>(work + length);
    R* values = part + parts;
    auto* indices = reinterpret_cast<int*>(values + small);
    T none{}, *a = data + i * each, *right = v ? v + i * m * height : &none, *left = u ? u + i * n * width : &none;
    if (!all_finite(a, each)) return Verdict{Reason::not_finite};
    int info = call_gesdd(job, m, n, a, values, right, left, work, length, part, indices);
    if (info) return verdict_of(info, Reason::no_convergence);
    if (job == 'N') {
      std::copy_n(values, k, s + i * k);
    } else {
      conjugate(right, m * height);
      R* diagonal = s + i * width * height;
      std::fill_n(diagonal, width * height, R{0});
      for (int j = 0; j < k; ++j) diagonal[j * height + j] = values[j];
    }
    return Verdict{all_finite(values, k) ? Reason::none : Reason::overflow};
  });
}

// U, S and V as a tuple.
PyObject* svd(const Tensor& mat, bool reduced) {
  Outcome outcome;
  Matrices x(mat);
  if (!is_possible(outcome, x)) return outcome.raise();
  std::int64_t k = std::min(x.rows, x.columns), width = reduced ? k : x.rows, height = reduced ? k : x.columns;
  Scratch copy(x.computed, x.size());
  PyObject* u = new_matrices(x, x.computed, 2, x.rows, width, false);
  PyObject* s = !u ? nullptr : new_matrices(x, part_of(x.computed), 2, width, height, false);
  PyObject* v = !s ? nullptr : new_matrices(x, x.computed, 2, x.columns, height, true);
  bool good =
      u && s && v && copy.data() && copy_by_rows(x, copy.data()) && with_lapack_type(x.computed, [&]<class T>(T) {
        return run_svd(outcome, x, reduced ? 'S' : 'A', reinterpret_cast<T*>(copy.data()), elements<T>(u),
                       elements<Part<T>>(s), elements<T>(v));
      });
  return rounded_tuple(good, {{u, mat.dtype}, {s, part_of(mat.dtype)}, {v, mat.dtype}}, outcome);
}

// Falling, along the last axis.
PyObject* singular_values(const Tensor& mat) {
  Outcome outcome;
  Matrices x(mat);
  if (!is_possible(outcome, x)) return outcome.raise();
  Scratch copy(x.computed, x.size());
  PyObject* s = new_matrices(x, part_of(x.computed), 1, std::min(x.rows, x.columns), 1, false);
  bool good = s && copy.data() && copy_by_rows(x, copy.data()) && with_lapack_type(x.computed, [&]<class T>(T) {
                T *data = reinterpret_cast<T*>(copy.data()), *none = nullptr;
                return run_svd(outcome, x, 'N', data, none, elements<Part<T>>(s), none);
              });
  return rounded_or_raised(good, s, part_of(mat.dtype), outcome);
}

// ---- Hermitian matrices -------------------------------------------------------------------------

// Calls syevd or heevd, which read what is on and below the diagonal; eigenvectors take the place of the matrix.
template <class T>
int call_syevd(char job, int n, T* a, Part<T>* values, T* work, int length, Part<T>* parts, int part_length,
               int* indices) {
  char lower = 'L';
  int index_length = 3 + 5 * n, info = 0;
  if constexpr (is_complex<T>)
    call_lapack<T>(Lapack::syevd, &job, &lower, &n, a, &n, values, work, &length, parts, &part_length, indices,
                   &index_length, &info);
  else call_lapack<T>(Lapack::syevd, &job, &lower, &n, a, &n, values, work, &length, indices, &index_length, &info);
  return info;
}

template <class T>
bool run_hermitian(Outcome& outcome, const Matrices& x, bool vectors, T* data, Part<T>* values) {
  using R = Part<T>;
  int n = static_cast<int>(x.rows), length = vectors ? 2 * n * n + 38 * n + 1 : 40 * n + 1;
  int parts = is_complex<T> ? (vectors ? 1 + 5 * n + 2 * n * n : std::max(n, 1)) : 0;
  std::int64_t square = x.rows * x.rows;
  std::size_t bytes = sizeof(T) * static_cast<std::size_t>(length) + sizeof(R) * static_cast<std::size_t>(parts) +
                      sizeof(int) * static_cast<std::size_t>(3 + 5 * n);
  double operations = (vectors ? 9.0 : 2.0) * static_cast<double>(square) * n;
  return for_each_matrix(outcome, x.count, n, operations, bytes, [&](std::int64_t i, std::byte* memory) {
    T *a = data + i * square, *work = reinterpret_cast<T*>(memory);
    auto* part = reinterpret_cast<R*>(work + length);
    for (std::int64_t j = 0; j < n; ++j)
      if (!all_finite(a + j * n + j, n - j)) return Verdict{Reason::not_finite};
    int info = call_syevd(vectors ? 'V' : 'N', n, a, values + i * n, work, length, part, parts,
                          reinterpret_cast<int*>(part + parts));
    if (info) return verdict_of(info, Reason::no_convergence);
    return Verdict{all_finite(values + i * n, n) ? Reason::none : Reason::overflow};
  });
}

// Eigenvalues, rising, and with `vectors` a matrix of them, else None, as a tuple.
PyObject* hermitian_eigenvalues(const Tensor& mat, bool vectors) {
  Outcome outcome;
  Matrices x(mat);
  if (x.rows != x.columns) return nullptr;
  if (!is_possible(outcome, x)) return outcome.raise();
  Scratch copy;
  PyObject* w = new_matrices(x, part_of(x.computed), 1, x.rows, 1, false);
  PyObject* v = !w ? nullptr : vectors ? new_matrices(x, x.computed, 2, x.rows, x.rows, true) : Py_NewRef(Py_None);
  std::byte* data = !v ? nullptr : vectors ? elements<std::byte>(v) : copy.take(x.computed, x.size());
  bool good = data && copy_by_columns(x, data) && with_lapack_type(x.computed, [&]<class T>(T) {
                return run_hermitian(outcome, x, vectors, reinterpret_cast<T*>(data), elements<Part<T>>(w));
              });
  return rounded_tuple(good, {{w, part_of(mat.dtype)}, {v, mat.dtype}}, outcome);
}

// ---- eig ----------------------------------------------------------------------------------------

template <class T>
struct Eigen {
  using R = Part<T>;
  using C = std::complex<R>;

  bool vectors;  // are asked for, too
  int n, length = 0;
  std::size_t bytes;  // of workspace for each thread

  Eigen(int order, bool with_vectors) : vectors(with_vectors), n(order) {
    auto size = static_cast<std::size_t>(n);
    // What syevd takes at least, with room for blocks, and geev with the vectors of a real matrix.
    length = std::max(geev_workspace(), vectors ? 2 * n * n + 38 * n + 1 : 3 * n);  // of at most largest_order
    bytes = sizeof(T) * (static_cast<std::size_t>(length) + (vectors ? size * size : size)) +
            sizeof(R) * (vectors ? 1 + 7 * size + 2 * size * size : 3 * size) + sizeof(int) * (3 + 5 * size);
  }

  int call_geev(T* a, T* w, R* imaginary, T* right, T* work, int size, R* parts) const {
    char no = 'N', job = vectors ? 'V' : 'N';
    int info = 0, one = 1, order = n;
    T none{};
    if constexpr (is_complex<T>)
      call_lapack<T>(Lapack::geev, &no, &job, &order, a, &order, w, &none, &one, right, &order, work, &size, parts,
                     &info);
    else
      call_lapack<T>(Lapack::geev, &no, &job, &order, a, &order, w, imaginary, &none, &one, right, &order, work, &size,
                     &info);
    return info;
  }

  int geev_workspace() const {
    static Asked last[2];
    Asked& asked = last[vectors];
    if (asked.rows != n) {
      T wanted{}, none{};
      R part{};
      if (call_geev(&none, &none, &part, &none, &wanted, -1, &part) != 0) return 0;
      asked = {n, n, 'V', length_of(wanted)};
    }
    return asked.length;
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

  Verdict run_values(T* a, C* w, std::byte* memory) const {
    T none{}, *work = reinterpret_cast<T*>(memory), *values = work + length;
    auto* parts = reinterpret_cast<R*>(values + n);
    if (!all_finite(a, std::int64_t{n} * n)) return {Reason::not_finite};
    int power = far_from_one(a);
    scale(a, std::int64_t{n} * n, -power);
    if (int info = call_geev(a, values, parts, &none, work, length, parts))
      return verdict_of(info, Reason::no_convergence);
    for (int i = 0; i < n; ++i) {
      if constexpr (is_complex<T>) w[i] = values[i];
      else w[i] = C(values[i], parts[i]);
    }
    scale(w, n, power);
    return {all_finite(w, n) ? Reason::none : Reason::overflow};
  }

  // again(a) writes the matrix once more.
  template <class Again>
  Verdict run(T* a, C* w, C* v, std::byte* memory, Again&& again) const {
    if (!vectors) return run_values(a, w, memory);
    auto* work = reinterpret_cast<T*>(memory);
    T* own = work + length;
    auto* parts = reinterpret_cast<R*>(own + std::size_t(n) * std::size_t(n));
    auto* indices = reinterpret_cast<int*>(parts + 1 + 7 * std::size_t(n) + 2 * std::size_t(n) * std::size_t(n));
    if (!all_finite(a, std::int64_t{n} * n)) return {Reason::not_finite};
    bool hermitian = is_hermitian(a);
    if (!hermitian || !run_hermitian(a, w, v, work, parts, indices)) {
      if (hermitian) again(a);
      int power = far_from_one(a);
      scale(a, std::int64_t{n} * n, -power);
      if (int info = run_general(a, w, v, work, own, parts)) return verdict_of(info, Reason::no_convergence);
      scale(w, n, power);
    }
    return {all_finite(w, n) ? Reason::none : Reason::overflow};
  }

 private:
  bool run_hermitian(T* a, C* w, C* v, T* work, R* parts, int* indices) const {
    int part_size = 1 + 5 * n + 2 * n * n;
    R* values = parts + part_size;
    int info = call_syevd('V', n, a, values, work, length, parts, part_size, indices);
    std::copy_n(values, n, w);
    std::copy_n(a, std::int64_t{n} * n, v);
    return info == 0;
  }

  // Returns what geev does.
  int run_general(T* a, C* w, C* v, T* work, T* own, R* parts) const {
    if constexpr (is_complex<T>) {
      return call_geev(a, w, nullptr, v, work, length, parts);
    } else {
      R *real = parts, *imaginary = parts + n;
      if (int info = call_geev(a, real, imaginary, own, work, length, nullptr)) return info;
      for (std::int64_t j = 0; j < n; ++j) {
        w[j] = C(real[j], imaginary[j]);
        const T *column = own + j * n, *next = column + n;
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

// Eigenvalues and eigenvectors as a tuple, or the values alone.
PyObject* eig(const Tensor& mat, bool vectors) {
  Outcome outcome;
  Kept keep(mat);
  Matrices x(mat);
  if (x.rows != x.columns) return nullptr;
  if (!is_possible(outcome, x)) return outcome.raise();
  Scratch copy(x.computed, x.size());
  Dtype computed = complex_of(x.computed), dtype = complex_of(mat.dtype);
  PyObject* w = new_matrices(x, computed, 1, x.rows, 1, false);
  PyObject* v = w && vectors ? new_matrices(x, computed, 2, x.rows, x.rows, true) : nullptr;
  bool good = w && (v || !vectors) && copy.data() && copy_by_columns(x, copy.data()) &&
              with_lapack_type(x.computed, [&]<class T>(T) {
                using C = std::complex<Part<T>>;
                Eigen<T> eigen(static_cast<int>(x.rows), vectors);
                std::int64_t n = x.rows, square = n * n;
                auto* data = reinterpret_cast<T*>(copy.data());
                C *values = elements<C>(w), *own = v ? elements<C>(v) : nullptr;
                double operations = (vectors ? 25.0 : 10.0) * static_cast<double>(square) * static_cast<double>(n);
                auto one = [&](std::int64_t i, std::byte* memory) {
                  auto again = [&](T* a) { copy_again(x, i, reinterpret_cast<std::byte*>(a), true); };
                  return eigen.run(data + i * square, values + i * n, own ? own + i * square : nullptr, memory, again);
                };
                return for_each_matrix(outcome, x.count, n, operations, eigen.bytes, one);
              });
  if (!vectors) return rounded_or_raised(good, w, dtype, outcome);
  return rounded_tuple(good, {{w, dtype}, {v, dtype}}, outcome);
}

// ---- the fast paths -----------------------------------------------------------------------------

PyObject* fast_svd(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"svd"};
  Given given({"mat", "format"}, args, count, keywords);
  bool reduced = true;
  if (!given || !read_flag(given[1], reduced)) return nullptr;
  const Tensor* t = promoted.matrices(given[0]);
  return t ? or_python(svd(*t, reduced)) : nullptr;
}

PyObject* fast_eig(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"eig"};
  if (keywords || count != 1) return nullptr;
  const Tensor* t = promoted.matrices(args[0]);
  return t ? or_python(eig(*t, true)) : nullptr;
}

}  // namespace

void init_spectra(nb::module_& m) {
  define(m, "def svd(mat: Any, reduced: bool) -> tuple[Tensor, Tensor, Tensor]", "U, S and V of matrices; or Refused.",
         [](nb::handle mat, bool reduced) { return or_raise(svd(matrices_argument(mat), reduced)); });
  define(m, "def singular_values(mat: Any) -> Tensor", "Singular values of matrices, falling; or Refused.",
         [](nb::handle mat) { return or_raise(singular_values(matrices_argument(mat))); });
  define(m, "def eig(mat: Any) -> tuple[Tensor, Tensor]", "Eigenvalues and eigenvectors of matrices; or Refused.",
         [](nb::handle mat) { return or_raise(eig(matrices_argument(mat), true)); });
  define(m, "def eigenvalues(mat: Any) -> Tensor", "Eigenvalues of matrices, complex; or Refused.",
         [](nb::handle mat) { return or_raise(eig(matrices_argument(mat), false)); });
  define(m, "def hermitian_eigenvalues(mat: Any, vectors: bool) -> tuple[Tensor, Tensor | None]",
         "Eigenvalues, rising, of matrices of which the lower triangle is read, and their vectors if wanted; or "
         "Refused.",
         [](nb::handle mat, bool vectors) { return or_raise(hermitian_eigenvalues(matrices_argument(mat), vectors)); });
  add_fast_path<fast_svd>("svd");
  add_fast_path<fast_eig>("eig");
}

}  // namespace suanzi
