// native/ops/linear_algebra/least_squares.cpp: 7.2.17.8: least squares.
//
// Where no singular value is near the one below which they count as zero, the QR of a matrix is enough, which is
// several times faster. Elsewhere the singular values of its R are computed, too.
#include <memory>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "loops/conversions.h"
#include "ops/linear_algebra/equations.h"
#include "ops/linear_algebra/singular_values.h"

namespace suanzi {
namespace {

// The power of two that brings numbers to where no 2-norm overflows, and no square vanishes.
template <class T>
int power_from_the_ends(const T* x, std::int64_t count) {
  constexpr int end = std::numeric_limits<Part<T>>::max_exponent * 7 / 8;
  int largest = largest_exponent(x, count);
  return largest == exponent_of_zero ? 0 : std::clamp(largest, -end, end) - largest;
}

// The QR of a matrix of m rows and k columns, or of a wide one's adjoint, after it was scaled; and the singular values
// of R, with their vectors, where it takes them.
template <class T>
struct Factored {
  T *a, *tau;
  int power = 0;
  std::unique_ptr<Scratch> memory = nullptr;  // that of u, k by k, of the adjoint of v, and of as many values
  T *u = nullptr, *vh = nullptr;
  Part<T>* values = nullptr;
};

template <class T>
class LeastSquares {
 public:
  using R = Part<T>;

  LeastSquares(const Matrices& a, const Matrices& b, double cut)
      : m_(static_cast<int>(std::max(a.rows, a.columns))), k_(static_cast<int>(std::min(a.rows, a.columns))),
        sides_(static_cast<int>(b.columns)), is_tall_(a.rows >= a.columns), cut_(static_cast<R>(std::min(cut, 1e30))),
        length_(32 * std::max({k_, sides_, 3})) {}

  std::size_t workspace() const {
    auto work = static_cast<std::size_t>(length_), order = static_cast<std::size_t>(m_);
    auto rank = static_cast<std::size_t>(k_), sides = static_cast<std::size_t>(sides_);
    return sizeof(T) * (work + (order + rank) * sides) + std::max(sizeof(R), sizeof(int)) * order;
  }

  // In place.
  Verdict factorise(Factored<T>& f, std::byte* memory) const {
    std::int64_t size = std::int64_t{m_} * k_;
    if (!all_finite(f.a, size)) return {Reason::not_finite};
    f.power = power_from_the_ends(f.a, size);
    scale(f.a, size, f.power);
    if (!is_tall_) conjugate(f.a, size);
    int m = m_, k = k_, length = length_, info = 0;
    auto* work = reinterpret_cast<T*>(memory);
    call_lapack<T>(Lapack::geqrf, &m, &k, f.a, &m, f.tau, work, &length, &info);
    if (info) return verdict_of(info, Reason::refused);
    // The 2-norm of a matrix is at most the geometric mean of these two, and so for its inverse.
    R found = rcond('1', f.a, work), least = 10 * std::max(cut_, std::numeric_limits<R>::epsilon());
    return found > 0 && std::sqrt(found * rcond('I', f.a, work)) > least ? Verdict{} : find_values(f);
  }

  // x of one matrix, of right-hand sides y.
  Verdict solve(const Factored<T>& f, const T* y, int power, T* x, std::byte* memory) const {
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
      call_lapack<T>(Lapack::ormqr, &left, &trans, &m, &sides, &k, f.a, &m, f.tau, tall, &m, work, &length, &info);
    };
    if (is_tall_) turn(adjoint);
    char trans = is_tall_ ? no : adjoint;
    if (f.values) solve_by_values(f, tall);
    else if (!info) call_lapack<T>(Lapack::trtrs, &upper, &trans, &no, &k, &sides, f.a, &m, tall, &m, &info);
    if (!info && !is_tall_) turn(no);
    if (info) return verdict_of(info, Reason::refused);
    std::int64_t rows = is_tall_ ? k : m;
    for (std::int64_t j = 0; j < sides; ++j) std::copy_n(tall + j * m, rows, x + j * rows);
    scale(x, rows * sides, f.power - power);
    return {all_finite(x, rows * sides) ? Reason::none : Reason::overflow};
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

  // R = u diag(values) vh.
  Verdict find_values(Factored<T>& f) const {
    int length = gesdd_length<T>('S', k_, k_);
    if (!length || k_ > largest_order) return {Reason::too_large};
    std::int64_t k = k_, square = k * k, item = sizeof(T);
    auto parts = static_cast<std::int64_t>(gesdd_parts<T>('S', k_, k_));
    f.memory.reset(new (std::nothrow) Scratch(Dtype::uint8, item * (2 * square + k)));
    Scratch more(Dtype::uint8, item * (square + length) + static_cast<std::int64_t>(sizeof(R)) * parts + 32 * k);
    f.u = f.memory ? reinterpret_cast<T*>(f.memory->data()) : nullptr;
    auto* r = reinterpret_cast<T*>(more.data());
    if (!f.u || !r) return {Reason::memory};
    f.vh = f.u + square, f.values = reinterpret_cast<R*>(f.vh + square);
    for (std::int64_t j = 0; j < k; ++j) {
      std::copy_n(f.a + j * m_, j + 1, r + j * k);
      std::fill(r + j * k + j + 1, r + (j + 1) * k, T{});
    }
    T* work = r + square;
    auto* part = reinterpret_cast<R*>(work + length);
    int info =
        call_gesdd('S', k_, k_, r, f.values, f.u, f.vh, work, length, part, reinterpret_cast<int*>(part + parts));
    return verdict_of(info, Reason::no_convergence);
  }

  // With the values that count: of R, or of its adjoint for a wide matrix. Behind y there is room for as many rows.
  void solve_by_values(const Factored<T>& f, T* y) const {
    // What is equal to the cut counts, though it may have been rounded.
    R least = cut_ * (1 - 2 * std::numeric_limits<R>::epsilon()) * f.values[0];
    T* z = y + std::int64_t{m_} * sides_;
    multiply_add(is_tall_ ? 'C' : 'N', T{1}, is_tall_ ? f.u : f.vh, k_, y, m_, T{0}, z, k_, k_, sides_, k_);
    for (std::int64_t j = 0; j < sides_; ++j)
      for (std::int64_t i = 0; i < k_; ++i)
        z[j * k_ + i] = f.values[i] >= least && f.values[i] > 0 ? z[j * k_ + i] / f.values[i] : T{};
    multiply_add(is_tall_ ? 'C' : 'N', T{1}, is_tall_ ? f.vh : f.u, k_, z, k_, T{0}, y, m_, k_, sides_, k_);
  }

  int m_, k_, sides_;
  bool is_tall_;
  R cut_;
  int length_;
};

// Scales right-hand sides, each of `size` numbers; notes the first that is not finite.
template <class T>
std::vector<int> scale_sides(Outcome& outcome, T* sides, std::int64_t count, std::int64_t size) {
  std::vector<int> powers(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    T* side = sides + i * size;
    if (!all_finite(side, size)) outcome.add(i, {Reason::sides_not_finite});
    int& power = powers[static_cast<std::size_t>(i)];
    power = power_from_the_ends(side, size);
    scale(side, size, power);
  }
  return powers;
}

template <class T>
bool run_lstsq(Outcome& outcome, const Equations& equations, const Matrices& a, const Matrices& b, double cut,
               T* matrices, T* sides, T* x) {
  LeastSquares<T> one(a, b, cut);
  std::int64_t k = one.rank(), each = a.rows * a.columns, side_size = b.rows * b.columns, size = a.columns * b.columns;
  Scratch tau_memory(a.computed, a.count * k);
  auto* tau = reinterpret_cast<T*>(tau_memory.data());
  if (!tau) return false;
  bool once = a.count == equations.count();
  std::vector<Factored<T>> factors(once ? 0 : static_cast<std::size_t>(a.count));
  auto factored = [&](std::int64_t i) { return Factored<T>{matrices + i * each, tau + i * k}; };
  auto factorise = [&](std::int64_t i, std::byte* memory) {
    Factored<T>& f = factors[static_cast<std::size_t>(i)];
    f = factored(i);
    return one.factorise(f, memory);
  };
  if (!once && !for_each_matrix(outcome, a.count, one.order(), one.operations(), one.workspace(), factorise))
    return false;
  if (once)
    for (std::int64_t i = 0; i < a.count; ++i)
      if (!all_finite(matrices + i * each, each)) return outcome.add(i, {Reason::not_finite});
  std::vector<int> powers = scale_sides(outcome, sides, b.count, side_size);
  if (!outcome) return false;
  double operations = 4.0 * static_cast<double>(each * b.columns) + (once ? one.operations() : 0);
  std::int64_t order = order_of_equations(one.order(), b.columns);
  auto solve = [&](std::int64_t i, std::byte* memory) {
    std::int64_t matrix, side;
    equations.at(i, matrix, side);
    Factored<T> own = factored(matrix);
    if (once)
      if (Verdict verdict = one.factorise(own, memory); !verdict) return verdict;
    return one.solve(once ? own : factors[static_cast<std::size_t>(matrix)], sides + side * side_size,
                     powers[static_cast<std::size_t>(side)], x + i * size, memory);
  };
  bool good = for_each_matrix(outcome, equations.count(), order, operations, one.workspace(), solve);
  outcome.translate(equations.operands());
  return good;
}

// Null without an exception where the operands do not belong together.
PyObject* lstsq(const Tensor& mat, const Tensor& rhs, double cut) {
  if (rhs.dtype != mat.dtype || rhs.ndim() < 1 || !rhs.size || !(cut >= 0 && std::isfinite(cut)) || !mat.storage ||
      !rhs.storage)
    return nullptr;
  Outcome outcome;
  Kept keep(rhs);
  Equations equations(mat, rhs);
  Matrices a = equations.a(), b = equations.b(rhs);
  if (b.rows != a.rows || !equations.broadcast(a, b)) return nullptr;
  if (!a.are_plain() || !b.are_plain()) outcome.add(Reason::too_large);
  if (!outcome || !prepare_lapack(outcome)) return outcome.raise();
  PyObject* made = equations.new_solutions(a.computed, a.columns, b.columns);
  Scratch factors(a.computed, a.size()), sides(a.computed, b.size());
  // The rows of a wide matrix are the columns of its transpose.
  bool good = made && factors.data() && sides.data() &&
              (a.rows >= a.columns ? copy_by_columns(a, factors.data()) : copy_by_rows(a, factors.data())) &&
              copy_by_columns(b, sides.data()) && with_lapack_type(a.computed, [&]<class T>(T) {
                return run_lstsq(outcome, equations, a, b, cut, reinterpret_cast<T*>(factors.data()),
                                 reinterpret_cast<T*>(sides.data()), elements<T>(made));
              });
  return rounded_or_raised(good, made, mat.dtype, outcome);
}

PyObject* fast_lstsq(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"lstsq"};
  Given given({"mat", "rhs", "prec"}, args, count, keywords);
  if (!given[0] || !given[1]) return nullptr;
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
  define(m, "def lstsq(mat: Any, rhs: Any, cut: float) -> Tensor", "Least-squares solutions; or Refused.",
         [](nb::handle mat, nb::handle rhs, double cut) {
           const Tensor& a = matrices_argument(mat);
           const Tensor* b = read_tensor(rhs.ptr());
           if (!b) throw nb::value_error("no right-hand sides");
           return or_raise(lstsq(a, *b, cut));
         });
  add_fast_path<fast_lstsq>("lstsq");
}

}  // namespace suanzi
