// native/ops/linear_algebra/values.cpp: 7.2.17: determinants, which all matrices have, whatever is in them.
#include "calls/arguments.h"
#include "loops/conversions.h"
#include "ops/linear_algebra/lapack.h"

namespace suanzi {
namespace {

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

// The determinants, or with `logarithm` their signs and the logarithms of their magnitudes.
PyObject* determinant(const Tensor& mat, bool logarithm) {
  Outcome outcome;
  Matrices x(mat);
  if (x.rows != x.columns) return nullptr;
  if (!x.are_plain(1 << 14)) outcome.add(Reason::too_large);
  if (!outcome || !prepare_lapack(outcome)) return outcome.raise();
  Scratch copy(x.computed, x.size());
  PyObject* value = new_matrices(x, x.computed, 0, 1, 1, false);
  PyObject* size = !value || !logarithm ? nullptr : new_matrices(x, part_of(x.computed), 0, 1, 1, false);
  bool good = value && (size || !logarithm) && copy.data() && copy_by_rows(x, copy.data()) &&
              with_lapack_type(x.computed, [&]<class T>(T) {
                using R = Part<T>;
                std::int64_t n = x.rows, square = n * n;
                auto* data = reinterpret_cast<T*>(copy.data());
                auto* values = elements<T>(value);
                auto* sizes = logarithm ? elements<R>(size) : nullptr;
                double operations = 0.7 * static_cast<double>(square) * static_cast<double>(n);
                std::size_t bytes = sizeof(int) * static_cast<std::size_t>(n);
                return for_each_matrix(outcome, x.count, n, operations, bytes, [&](std::int64_t i, std::byte* memory) {
                  auto found = determinant_of(data + i * square, static_cast<int>(n), reinterpret_cast<int*>(memory));
                  values[i] = static_cast<T>(logarithm ? found.sign() : found.value());
                  if (logarithm) sizes[i] = static_cast<R>(found.logarithm());
                  return Verdict{};
                });
              });
  if (!logarithm) return rounded_or_raised(good, value, mat.dtype, outcome);
  return rounded_tuple(good, {{value, mat.dtype}, {size, part_of(mat.dtype)}}, outcome);
}

}  // namespace

void init_matrix_values(nb::module_& m) {
  define(m, "def determinant(mat: Any) -> Tensor", "Determinants; or Refused.",
         [](nb::handle mat) { return or_raise(determinant(matrices_argument(mat), false)); });
  define(m, "def log_determinant(mat: Any) -> tuple[Tensor, Tensor]",
         "Signs of determinants, and the logarithms of their magnitudes; or Refused.",
         [](nb::handle mat) { return or_raise(determinant(matrices_argument(mat), true)); });
}

}  // namespace suanzi
