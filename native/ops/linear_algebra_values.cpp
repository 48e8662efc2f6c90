// native/ops/linear_algebra_values.cpp: 7.2.17: eigenvalues of Hermitian matrices, singular values and determinants.
//
// As everywhere here, what is not finite or does not converge is left to Python, but for determinants: they have an
// answer for all matrices.
#include <algorithm>
#include <limits>

#include "calls/arguments.h"
#include "loops/conversions.h"
#include "ops/linear_algebra_lapack.h"

namespace suanzi {

namespace {

// ---- eigenvalues --------------------------------------------------------------------------------

// Calls syevd or heevd, which read what is on and below the diagonal.
template <class T>
struct Hermitian {
  using R = Part<T>;

  int n;
  char job;
  int length, part_length, index_length;
  std::size_t bytes;

  Hermitian(int order, bool vectors)
      : n(order), job(vectors ? 'V' : 'N'), length(vectors ? 2 * n * n + 38 * n + 1 : 40 * n + 1),
        part_length(is_complex<T> ? (vectors ? 1 + 5 * n + 2 * n * n : std::max(n, 1)) : 0), index_length(3 + 5 * n),
        bytes(sizeof(T) * static_cast<std::size_t>(length) + sizeof(R) * static_cast<std::size_t>(part_length) +
              sizeof(int) * static_cast<std::size_t>(index_length)) {}

  // The eigenvectors, column by column, take the place of the matrix.
  bool run(T* a, R* values, std::byte* memory) const {
    auto* work = reinterpret_cast<T*>(memory);
    auto* parts = reinterpret_cast<R*>(work + length);
    auto* indices = reinterpret_cast<int*>(parts + part_length);
    for (std::int64_t j = 0; j < n; ++j)
      if (!all_finite(a + j * n + j, n - j)) return false;
    char lower = 'L', how = job;
    int order = n, work_size = length, part_size = part_length, index_size = index_length, info = 0;
    if constexpr (is_complex<T>)
      call_lapack<T>(Lapack::syevd, &how, &lower, &order, a, &order, values, work, &work_size, parts, &part_size,
                     indices, &index_size, &info);
    else
      call_lapack<T>(Lapack::syevd, &how, &lower, &order, a, &order, values, work, &work_size, indices, &index_size,
                     &info);
    return info == 0 && all_finite(values, n);
  }
};

// Eigenvalues, rising, and with `vectors` a matrix of them, else None, as a tuple; null where it is left to Python.
PyObject* hermitian_eigenvalues(const Tensor& mat, bool vectors) {
  Matrices x(mat);
  if (x.rows != x.columns || !x.are_plain(1 << 14) || !prepare_lapack()) return nullptr;
  Scratch copy;
  PyObject* w = new_matrices(x, part_of(x.computed), 1, x.rows, 1, false);
  PyObject* v = !w ? nullptr : vectors ? new_matrices(x, x.computed, 2, x.rows, x.rows, true) : Py_NewRef(Py_None);
  std::byte* data = !v ? nullptr : vectors ? elements<std::byte>(v) : copy.take(x.computed, x.size());
  bool good = data && copy_by_columns(x, data) && with_lapack_type(x.computed, [&](auto zero) {
                using T = decltype(zero);
                Hermitian<T> hermitian(static_cast<int>(x.rows), vectors);
                std::int64_t n = x.rows, square = n * n;
                auto* a = reinterpret_cast<T*>(data);
                auto* values = elements<Part<T>>(w);
                double operations = (vectors ? 9.0 : 2.0) * static_cast<double>(square) * static_cast<double>(n);
                return for_each_matrix(x.count, n, operations, hermitian.bytes, [&](std::int64_t i, std::byte* memory) {
                  return hermitian.run(a + i * square, values + i * n, memory);
                });
              });
  return rounded_tuple(good, {{w, part_of(mat.dtype)}, {v, mat.dtype}});
}

// Calls geev for the eigenvalues alone. LAPACK would scale what is far from 1, and some builds do not scale back.
template <class T>
struct General {
  using R = Part<T>;
  using C = std::complex<R>;

  int n, length = 0;
  std::size_t bytes;

  explicit General(int order) : n(order) {
    T wanted{}, none{};
    R part{};
    if (call(&none, &none, &part, &wanted, -1, &part) == 0)
      length = std::max(static_cast<int>(std::ceil(std::real(wanted) * (1 + 0x1p-20))), 3 * n);
    bytes = sizeof(T) * static_cast<std::size_t>(length + n) + sizeof(R) * 3 * static_cast<std::size_t>(n);
  }

  int call(T* a, T* w, R* imaginary, T* work, int size, R* parts) const {
    char no = 'N';
    int info = 0, one = 1, order = n;
    T none{};
    if constexpr (is_complex<T>)
      call_lapack<T>(Lapack::geev, &no, &no, &order, a, &order, w, &none, &one, &none, &one, work, &size, parts, &info);
    else
      call_lapack<T>(Lapack::geev, &no, &no, &order, a, &order, w, imaginary, &none, &one, &none, &one, work, &size,
                     &info);
    return info;
  }

  bool is_near_one(const T* a) const {
    R largest = 0;
    for (std::int64_t i = 0; i < std::int64_t{n} * n; ++i)
      largest = std::max({largest, std::abs(std::real(a[i])), std::abs(std::imag(a[i]))});
    R limit = std::ldexp(R{1}, std::numeric_limits<R>::max_exponent / 4 - 1);
    return largest == 0 || (largest < limit && largest > 1 / limit);
  }

  bool run(T* a, C* values, std::byte* memory) const {
    auto* work = reinterpret_cast<T*>(memory);
    T* w = work + length;
    auto* parts = reinterpret_cast<R*>(w + n);
    if (!all_finite(a, std::int64_t{n} * n) || !is_near_one(a)) return false;
    if (call(a, w, parts, work, length, parts) != 0) return false;
    for (int i = 0; i < n; ++i) {
      if constexpr (is_complex<T>) values[i] = w[i];
      else values[i] = C(w[i], parts[i]);
    }
    return all_finite(values, n);
  }
};

Dtype complex_of(Dtype dtype) {
  if (facts(dtype).is_complex()) return dtype;
  if (dtype == Dtype::float64) return Dtype::complex128;
  return dtype == Dtype::float32 || dtype == Dtype::bfloat16 ? Dtype::complex64 : Dtype::complex32;
}

// Eigenvalues, in no order, and complex; null where it is left to Python.
PyObject* eigenvalues(const Tensor& mat) {
  Matrices x(mat);
  if (x.rows != x.columns || !x.are_plain(1 << 14) || x.rows > 1 << 12 || !prepare_lapack()) return nullptr;
  Scratch copy(x.computed, x.size());
  PyObject* w = new_matrices(x, complex_of(x.computed), 1, x.rows, 1, false);
  bool good = w && copy.data() && copy_by_columns(x, copy.data()) && with_lapack_type(x.computed, [&](auto zero) {
                using T = decltype(zero);
                General<T> general(static_cast<int>(x.rows));
                std::int64_t n = x.rows, square = n * n;
                auto* a = reinterpret_cast<T*>(copy.data());
                auto* values = elements<std::complex<Part<T>>>(w);
                double operations = 10.0 * static_cast<double>(square) * static_cast<double>(n);
                return general.length > 0 &&
                       for_each_matrix(x.count, n, operations, general.bytes, [&](std::int64_t i, std::byte* memory) {
                         return general.run(a + i * square, values + i * n, memory);
                       });
              });
  if (good) return rounded_to(w, complex_of(mat.dtype));
  Py_XDECREF(w);
  return nullptr;
}

// ---- singular values ----------------------------------------------------------------------------

template <class T>
int call_gesdd(int m, int n, T* a, Part<T>* s, T* work, int length, Part<T>* parts, int* indices) {
  char job = 'N';
  int info = 0, one = 1;
  T none{};
  if constexpr (is_complex<T>)
    call_lapack<T>(Lapack::gesdd, &job, &m, &n, a, &m, s, &none, &one, &none, &one, work, &length, parts, indices,
                   &info);
  else call_lapack<T>(Lapack::gesdd, &job, &m, &n, a, &m, s, &none, &one, &none, &one, work, &length, indices, &info);
  return info;
}

// Falling, along the last axis; null where it is left to Python. Those of the transpose are the same.
PyObject* singular_values(const Tensor& mat) {
  Matrices x(mat);
  if (!x.are_plain(1 << 14) || std::max(x.rows, x.columns) > 1 << 12 || !prepare_lapack()) return nullptr;
  int m = static_cast<int>(x.columns), n = static_cast<int>(x.rows), k = std::min(m, n);
  Scratch copy(x.computed, x.size());
  PyObject* s = new_matrices(x, part_of(x.computed), 1, k, 1, false);
  bool good =
      s && copy.data() && copy_by_rows(x, copy.data()) && with_lapack_type(x.computed, [&](auto zero) {
        using T = decltype(zero);
        using R = Part<T>;
        auto small = static_cast<std::size_t>(k);
        std::int64_t each = x.rows * x.columns;
        T wanted{}, none{};
        R part{};
        int index = 0;
        if (call_gesdd<T>(m, n, &none, &part, &wanted, -1, &part, &index) != 0) return false;
        int length = static_cast<int>(std::ceil(std::real(wanted) * (1 + 0x1p-20)));
        std::size_t parts = is_complex<T> ? 7 * small + 1 : 0;
        std::size_t bytes = sizeof(T) * static_cast<std::size_t>(length) + sizeof(R) * parts + sizeof(int) * 8 * small;
        auto* data = reinterpret_cast<T*>(copy.data());
        auto* values = elements<R>(s);
        double operations = 4.0 * static_cast<double>(each) * k;
        return for_each_matrix(x.count, std::max(m, n), operations, bytes, [&](std::int64_t i, std::byte* memory) {
          auto* work = reinterpret_cast<T*>(memory);
          auto* own = reinterpret_cast<R*>(work + length);
          auto* indices = reinterpret_cast<int*>(own + parts);
          T* a = data + i * each;
          return all_finite(a, each) && call_gesdd(m, n, a, values + i * k, work, length, own, indices) == 0 &&
                 all_finite(values + i * k, k);
        });
      });
  if (good) return rounded_to(s, part_of(mat.dtype));
  Py_XDECREF(s);
  return nullptr;
}

// ---- determinants -------------------------------------------------------------------------------

// A product that neither overflows nor vanishes on the way: number * 2^power.
template <class T>
struct Product {
  using D = std::conditional_t<is_complex<T>, std::complex<double>, double>;

  D number = 1;
  std::int64_t power = 0;

  static D wide(T x) {
    if constexpr (is_complex<T>) return {static_cast<double>(x.real()), static_cast<double>(x.imag())};
    else return static_cast<double>(x);
  }
  static D shifted(D x, int by) {
    if constexpr (is_complex<T>) return {std::ldexp(x.real(), by), std::ldexp(x.imag(), by)};
    else return std::ldexp(x, by);
  }
  static double largest(D x) { return std::max(std::abs(std::real(x)), std::abs(std::imag(x))); }

  void normalise() {
    double size = largest(number);
    if (size == 0 || !std::isfinite(size)) return;
    int by = std::ilogb(size);
    number = shifted(number, -by);
    power += by;
  }
  void multiply(T by) {
    D other = wide(by);
    // std::complex's own product looks for infinities, which the parts show here as well.
    if constexpr (is_complex<T>)
      number = {number.real() * other.real() - number.imag() * other.imag(),
                number.real() * other.imag() + number.imag() * other.real()};
    else number *= other;
    normalise();
  }
  D value() const {
    constexpr std::int64_t end = 1 << 14;
    return shifted(number, static_cast<int>(std::clamp(power, -end, end)));
  }
  D sign() const {
    double size = std::abs(number);
    if (size == 0) return D{0};
    if constexpr (is_complex<T>) return {number.real() / size, number.imag() / size};
    else return number / size;
  }
  double logarithm() const {
    constexpr double ln2 = 0.6931471805599453;
    return std::log(std::abs(number)) + static_cast<double>(power) * ln2;
  }
};

// The product of the pivots of one matrix, which is overwritten. Where all of it is small it is brought to about 1, for
// OpenBLAS does not divide by subnormal pivots; where it is near the end of the range, a little down.
template <class T>
Product<T> determinant_of(T* a, int n, int* swaps) {
  using R = Part<T>;
  R largest = 0;
  std::int64_t square = std::int64_t{n} * n;
  for (std::int64_t i = 0; i < square; ++i) {
    R one = std::max(std::abs(std::real(a[i])), std::abs(std::imag(a[i])));
    if (one > largest) largest = one;
  }
  Product<T> made;
  constexpr int end = std::numeric_limits<R>::max_exponent, room = std::numeric_limits<R>::digits;
  int size = largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
  int by = size < -end / 4 ? size : size > end - room ? room : 0;
  if (by != 0) {
    for (std::int64_t i = 0; i < square; ++i) {
      if constexpr (is_complex<T>) a[i] = T(std::ldexp(a[i].real(), -by), std::ldexp(a[i].imag(), -by));
      else a[i] = std::ldexp(a[i], -by);
    }
    made.power = std::int64_t{by} * n;
  }
  int order = n, info = 0;
  call_lapack<T>(Lapack::getrf, &order, &order, a, &order, swaps, &info);
  bool odd = false;
  for (int i = 0; i < n; ++i) {
    made.multiply(a[std::int64_t{i} * n + i]);
    odd ^= swaps[i] != i + 1;
  }
  if (odd) made.number = -made.number;
  return made;
}

// The determinants, or with `logarithm` their signs and the logarithms of their magnitudes; null: left to Python.
PyObject* determinant(const Tensor& mat, bool logarithm) {
  Matrices x(mat);
  if (x.rows != x.columns || !x.are_plain(1 << 14) || !prepare_lapack()) return nullptr;
  Scratch copy(x.computed, x.size());
  PyObject* value = new_matrices(x, x.computed, 0, 1, 1, false);
  PyObject* size = !value || !logarithm ? nullptr : new_matrices(x, part_of(x.computed), 0, 1, 1, false);
  bool good = value && (size || !logarithm) && copy.data() && copy_by_rows(x, copy.data()) &&
              with_lapack_type(x.computed, [&](auto zero) {
                using T = decltype(zero);
                using R = Part<T>;
                std::int64_t n = x.rows, square = n * n;
                auto* data = reinterpret_cast<T*>(copy.data());
                auto* values = elements<T>(value);
                auto* sizes = logarithm ? elements<R>(size) : nullptr;
                double operations = 0.7 * static_cast<double>(square) * static_cast<double>(n);
                std::size_t bytes = sizeof(int) * static_cast<std::size_t>(n);
                return for_each_matrix(x.count, n, operations, bytes, [&](std::int64_t i, std::byte* memory) {
                  auto found = determinant_of(data + i * square, static_cast<int>(n), reinterpret_cast<int*>(memory));
                  values[i] = static_cast<T>(logarithm ? found.sign() : found.value());
                  if (logarithm) sizes[i] = static_cast<R>(found.logarithm());
                  return true;
                });
              });
  if (logarithm) return rounded_tuple(good, {{value, mat.dtype}, {size, part_of(mat.dtype)}});
  if (good) return rounded_to(value, mat.dtype);
  Py_XDECREF(value);
  return nullptr;
}

}  // namespace

void init_matrix_values(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "hermitian_eigenvalues",
      [](nb::handle mat, bool vectors) { return or_none(hermitian_eigenvalues(matrices_argument(mat), vectors)); },
      "mat"_a, "vectors"_a,
      nb::sig("def hermitian_eigenvalues(mat: Any, vectors: bool) -> tuple[Tensor, Tensor | None] | None"),
      "Eigenvalues, rising, of matrices of which the lower triangle is read, and their vectors if wanted; None where "
      "an error has to be raised.");
  m.def(
      "eigenvalues", [](nb::handle mat) { return or_none(eigenvalues(matrices_argument(mat))); }, "mat"_a,
      nb::sig("def eigenvalues(mat: Any) -> Tensor | None"),
      "Eigenvalues of matrices, complex; None where a matrix has to be scaled or an error raised.");
  m.def(
      "singular_values", [](nb::handle mat) { return or_none(singular_values(matrices_argument(mat))); }, "mat"_a,
      nb::sig("def singular_values(mat: Any) -> Tensor | None"),
      "Singular values of matrices, falling; None where an error has to be raised.");
  m.def(
      "determinant", [](nb::handle mat) { return or_none(determinant(matrices_argument(mat), false)); }, "mat"_a,
      nb::sig("def determinant(mat: Any) -> Tensor | None"), "Determinants; None without LAPACK.");
  m.def(
      "log_determinant", [](nb::handle mat) { return or_none(determinant(matrices_argument(mat), true)); }, "mat"_a,
      nb::sig("def log_determinant(mat: Any) -> tuple[Tensor, Tensor] | None"),
      "Signs of determinants, and the logarithms of their magnitudes; None without LAPACK.");
}

}  // namespace suanzi
