// native/ops/linear_algebra_least_squares.cpp: 7.2.17.8: least squares by the QR of matrices of full rank.
#include <algorithm>
#include <limits>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "loops/conversions.h"
#include "ops/linear_algebra_equations.h"

namespace suanzi {

namespace {

// Whether no 2-norm of so many numbers overflows, and no square vanishes.
template <class T>
bool is_far_from_the_ends(const T* x, std::int64_t count, bool may_be_zero) {
  using R = Part<T>;
  R largest = 0;
  auto* parts = reinterpret_cast<const R*>(x);
  for (std::int64_t i = 0; i < (is_complex<T> ? 2 * count : count); ++i)
    largest = std::max(largest, std::abs(parts[i]));
  R limit = std::ldexp(R{1}, std::numeric_limits<R>::max_exponent * 7 / 8 - 1);
  return (largest < limit && largest > 1 / limit) || (may_be_zero && largest == 0);
}

// Solves with the QR of a matrix of m rows and k columns, or of a wide one's adjoint.
template <class T>
class LeastSquares {
 public:
  using R = Part<T>;

  LeastSquares(const Matrices& a, const Matrices& b, double cut)
      : m_(static_cast<int>(std::max(a.rows, a.columns))), k_(static_cast<int>(std::min(a.rows, a.columns))),
        sides_(static_cast<int>(b.columns)), is_tall_(a.rows >= a.columns), least_(10 * static_cast<R>(cut)),
        length_(32 * std::max({k_, sides_, 3})) {}

  std::size_t workspace() const {
    auto work = static_cast<std::size_t>(length_), order = static_cast<std::size_t>(m_);
    return sizeof(T) * (work + order * static_cast<std::size_t>(sides_)) + std::max(sizeof(R), sizeof(int)) * order;
  }

  // In place; false if a singular value may have to count as zero.
  bool factorise(T* a, T* tau, std::byte* memory) const {
    if (!is_far_from_the_ends(a, std::int64_t{m_} * k_, false) || !all_finite(a, std::int64_t{m_} * k_)) return false;
    if (!is_tall_) conjugate(a, std::int64_t{m_} * k_);
    int m = m_, k = k_, length = length_, info = 0;
    auto* work = reinterpret_cast<T*>(memory);
    call_lapack<T>(Lapack::geqrf, &m, &k, a, &m, tau, work, &length, &info);
    // The 2-norm of a matrix is at most the geometric mean of these two, and so for its inverse.
    R found = info ? R{0} : rcond('1', a, work);
    return found > 0 && std::sqrt(found * rcond('I', a, work)) > least_;
  }

  // x of one matrix, of right-hand sides y.
  bool solve(T* a, T* tau, const T* y, T* x, std::byte* memory) const {
    auto* work = reinterpret_cast<T*>(memory);
    T* tall = work + length_;
    int m = m_, k = k_, sides = sides_, length = length_, info = 0;
    char left = 'L', upper = 'U', no = 'N', adjoint = is_complex<T> ? 'C' : 'T';
    std::int64_t height = is_tall_ ? m : k;
    for (std::int64_t j = 0; j < sides; ++j) {
      std::copy_n(y + j * height, height, tall + j * m);
      std::fill(tall + j * m + height, tall + (j + 1) * m, T{});
    }
    auto turn = [&](char trans) {
      call_lapack<T>(Lapack::ormqr, &left, &trans, &m, &sides, &k, a, &m, tau, tall, &m, work, &length, &info);
    };
    if (is_tall_) turn(adjoint);
    char trans = is_tall_ ? no : adjoint;
    if (info == 0) call_lapack<T>(Lapack::trtrs, &upper, &trans, &no, &k, &sides, a, &m, tall, &m, &info);
    if (info == 0 && !is_tall_) turn(no);
    if (info) return false;
    std::int64_t rows = is_tall_ ? k : m;
    for (std::int64_t j = 0; j < sides; ++j) std::copy_n(tall + j * m, rows, x + j * rows);
    return all_finite(x, rows * sides);
  }

  int order() const { return m_; }
  int rank() const { return k_; }
  double operations() const { return 2.0 * m_ * k_ * k_ + 20.0 * k_ * k_; }

 private:
  R rcond(char norm, T* a, T* work) const {
    char upper = 'U', no = 'N';
    int m = m_, k = k_, info = 0;
    R found = 0;
    auto* more = reinterpret_cast<std::byte*>(work + length_);
    if constexpr (is_complex<T>)
      call_lapack<T>(Lapack::trcon, &norm, &upper, &no, &k, a, &m, &found, work, reinterpret_cast<R*>(more), &info);
    else
      call_lapack<T>(Lapack::trcon, &norm, &upper, &no, &k, a, &m, &found, work, reinterpret_cast<int*>(more), &info);
    return info == 0 ? found : R{0};
  }

  int m_, k_, sides_;
  bool is_tall_;
  R least_;
  int length_;
};

template <class T>
bool run_lstsq(const Equations& equations, const Matrices& a, const Matrices& b, double cut, T* factors, T* sides,
               T* x) {
  LeastSquares<T> one(a, b, std::max<double>(cut, std::numeric_limits<Part<T>>::epsilon()));
  if (!all_finite(sides, b.size()) || !is_far_from_the_ends(sides, b.size(), true)) return false;
  std::int64_t k = one.rank(), each = a.rows * a.columns, side_size = b.rows * b.columns, size = a.columns * b.columns;
  Scratch tau_memory(a.computed, a.count * k);
  auto* tau = reinterpret_cast<T*>(tau_memory.data());
  if (!tau) return false;
  bool once = a.count == equations.count();
  auto factorise = [&](std::int64_t i, std::byte* memory) {
    return one.factorise(factors + i * each, tau + i * k, memory);
  };
  if (!once && !for_each_matrix(a.count, one.order(), one.operations(), one.workspace(), factorise)) return false;
  double operations = 4.0 * static_cast<double>(each * b.columns) + (once ? one.operations() : 0);
  std::int64_t order = order_of_equations(one.order(), b.columns);
  return for_each_matrix(equations.count(), order, operations, one.workspace(), [&](std::int64_t i, std::byte* memory) {
    if (once && !factorise(i, memory)) return false;
    std::int64_t matrix, side;
    equations.at(i, matrix, side);
    return one.solve(factors + matrix * each, tau + matrix * k, sides + side * side_size, x + i * size, memory);
  });
}

// Null where it is left to Python.
PyObject* lstsq(const Tensor& mat, const Tensor& rhs, double cut) {
  if (rhs.dtype != mat.dtype || rhs.ndim() < 1 || !rhs.size || !(cut > 0) || !(cut < 1) || !prepare_lapack() ||
      !mat.storage || !rhs.storage)
    return nullptr;
  Kept keep(rhs);
  Equations equations(mat, rhs);
  Matrices a = equations.a(), b = equations.b(rhs);
  if (b.rows != a.rows || !a.are_plain() || b.columns > 1 << 14 || !equations.broadcast(a, b)) return nullptr;
  PyObject* made = equations.new_solutions(a.computed, a.columns, b.columns);
  Scratch factors(a.computed, a.size()), sides(a.computed, b.size());
  // The rows of a wide matrix are the columns of its transpose.
  bool good = made && factors.data() && sides.data() &&
              (a.rows >= a.columns ? copy_by_columns(a, factors.data()) : copy_by_rows(a, factors.data())) &&
              copy_by_columns(b, sides.data()) && with_lapack_type(a.computed, [&](auto zero) {
                using T = decltype(zero);
                return run_lstsq(equations, a, b, cut, reinterpret_cast<T*>(factors.data()),
                                 reinterpret_cast<T*>(sides.data()), elements<T>(made));
              });
  if (!good) Py_CLEAR(made);
  return rounded_to(made, mat.dtype);
}

PyObject* fast_lstsq(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"lstsq"};
  static constexpr const char* names[] = {"mat", "rhs", "prec"};
  PyObject* given[3];
  if (!read_named(names, args, count, keywords, given) || !given[0] || !given[1]) return nullptr;
  const Tensor *mat = read_tensor(given[0]), *rhs = read_tensor(given[1]);
  if (!mat || !rhs || mat->ndim() < 2 || !promoted.keeps_dtype(given[0], given[1])) return nullptr;
  double cut = std::ldexp(1.0, -facts(part_of(mat->dtype)).mantissa_bits);
  if (given[2] && given[2] != Py_None) {
    if (!PyFloat_CheckExact(given[2])) return nullptr;
    cut = PyFloat_AS_DOUBLE(given[2]);
  }
  return or_python(lstsq(*mat, *rhs, cut));
}

}  // namespace

void init_least_squares(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "lstsq",
      [](nb::handle mat, nb::handle rhs, double cut) {
        const Tensor& a = matrices_argument(mat);
        const Tensor* b = read_tensor(rhs.ptr());
        if (!b) throw nb::value_error("no right-hand sides");
        return or_none(lstsq(a, *b, cut));
      },
      "mat"_a, "rhs"_a, "cut"_a, nb::sig("def lstsq(mat: Any, rhs: Any, cut: float) -> Tensor | None"),
      "Least-squares solutions; None where singular values must be known, or there is something to complain about.");
  add_fast_path<fast_lstsq>("lstsq");
}

}  // namespace suanzi
