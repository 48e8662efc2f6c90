// native/ops/linear_algebra/solving.cpp: 7.2.17.7, 7.2.17.9: equations and inverses.
//
// Rows one behind the other are the columns of the transpose, of which the factors are made: they serve as well. A
// matrix that seems singular is scaled by powers of two before it is refused.

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "ops/linear_algebra/factors.h"

namespace suanzi {
namespace {

// ---- solve --------------------------------------------------------------------------------------

// The equations of one matrix, `y` being right-hand sides, column by column, that become what solves them.
template <class T>
Verdict solve_one(const Factors<T>& factors, T* y, int n, int width, bool adjoint) {
  using Limits = std::numeric_limits<Part<T>>;
  std::int64_t each = static_cast<std::int64_t>(n) * width;
  // The adjoint is the conjugate of the transpose, which is what was factorised.
  if (adjoint) conjugate(y, each);
  if (!*factors.is_scaled) {
    solve_factorised(adjoint ? 'N' : 'T', factors.lu, n, factors.swaps, y, width);
  } else {
    // What solves the scaled equations may be far larger than the numbers at both ends: each side is scaled, too.
    constexpr int most = Limits::max_exponent - 2 * Limits::digits;
    const int *before = adjoint ? factors.rows : factors.columns, *after = adjoint ? factors.columns : factors.rows;
    for (std::int64_t j = 0; j < width; ++j) {
      T* side = y + j * n;
      int largest = exponent_of_zero;
      for (int i = 0; i < n; ++i) largest = std::max(largest, exponent_of(side[i]) + before[i]);
      for (int i = 0; i < n; ++i) side[i] = scaled(side[i], before[i] + most - largest);
      solve_factorised(adjoint ? 'N' : 'T', factors.lu, n, factors.swaps, side, 1);
      for (int i = 0; i < n; ++i) side[i] = scaled(side[i], after[i] + largest - most);
    }
  }
  if (adjoint) conjugate(y, each);
  return {all_finite(y, each) ? Reason::none : Reason::overflow};
}

template <class T>
bool run_small_solve(Outcome& outcome, const Matrices& a, const Matrices& b, const Equations& equations, const T* mats,
                     const T* sides, T* x) {
  const auto& kernels = small_kernels_of<T>();
  std::int64_t n = a.rows, width = b.columns, square = n * n, each = n * width;
  auto bytes = sizeof(T) * static_cast<std::size_t>(square + 4 * n) +
               sizeof(int) * static_cast<std::size_t>(Factors<T>::integers(n));
  bool good = for_each_small(
      outcome, equations.count(), static_cast<std::int64_t>(kernels.lanes),
      order_of_equations(std::max(n, width), width), static_cast<double>(square * (n + 2 * width)), bytes,
      [&](std::int64_t first, std::size_t count) {
        const T *from[most_lanes], *right[most_lanes];
        for (std::size_t l = 0; l < count; ++l) {
          std::int64_t matrix, side;
          equations.at(first + static_cast<std::int64_t>(l), matrix, side);
          from[l] = mats + matrix * square, right[l] = sides + side * each;
        }
        return kernels.solve(from, right, Places(x, each, first, count).at, static_cast<int>(n),
                             static_cast<int>(width), count);
      },
      [&](std::int64_t i, std::byte* memory) {
        auto *lu = reinterpret_cast<T*>(memory), *work = lu + square;
        Factors<T> factors(lu, reinterpret_cast<int*>(work + 4 * n), static_cast<int>(n));
        std::int64_t matrix, side;
        equations.at(i, matrix, side);
        auto again = [&](T* to) { std::copy_n(mats + matrix * square, square, to); };
        again(lu);
        copy_to_columns(sides + side * each, n, width, x + i * each);
        Verdict verdict = factorise(factors, static_cast<int>(n), work, again);
        if (!verdict) return verdict;
        if (!all_finite(x + i * each, each)) return Verdict{Reason::sides_not_finite};
        return solve_one(factors, x + i * each, static_cast<int>(n), static_cast<int>(width), false);
      });
  outcome.translate(equations.operands());
  return good;
}

// Whether equations are solved by suanzi's kernels: those of a matrix each, which lies column by column then.
template <class T>
bool are_in_panels(const Equations& equations, const Matrices& a, bool adjoint) {
  return !adjoint && a.count == equations.count() && wants_panels<T>(a.rows);
}

template <class T>
bool run_solve(Outcome& outcome, const Matrices& a, const Matrices& b, const Equations& equations, bool adjoint,
               T* matrices, T* sides, T* x) {
  int n = static_cast<int>(a.rows), width = static_cast<int>(b.columns);
  std::int64_t square = a.rows * a.columns, each = b.rows * b.columns, integers = Factors<T>::integers(n);
  Scratch memory(Dtype::int32, a.count * integers);
  auto* ints = reinterpret_cast<int*>(memory.data());
  if (!ints) return false;
  double cubed = static_cast<double>(square) * n;
  bool once = a.count == equations.count();
  bool in_panels = are_in_panels<T>(equations, a, adjoint);
  auto factors = [&](std::int64_t i) { return Factors<T>(matrices + i * square, ints + i * integers, n); };
  auto factor = [&](std::int64_t i, std::byte* work) {
    auto again = [&](T* to) { copy_again(a, i, reinterpret_cast<std::byte*>(to), false); };
    auto* some = reinterpret_cast<T*>(work);
    return in_panels ? factorise_with_care(factors(i), n, some, again) : factorise(factors(i), n, some, again);
  };
  std::size_t bytes = sizeof(T) * 4 * static_cast<std::size_t>(n);
  if constexpr (!is_complex<T>)
    if (in_panels) bytes = std::max(bytes, PanelSolver<T>(n, width).workspace());
  if (!once && !for_each_matrix(outcome, a.count, a.rows, cubed, bytes, factor, threads_of<T>(a.rows))) return false;
  double operations = 4.0 * static_cast<double>(square) * width + (once ? cubed : 0);
  std::int64_t order = order_of_equations(std::max(a.rows, b.columns), b.columns);
  bool good = for_each_matrix(
      outcome, equations.count(), order, operations, bytes,
      [&](std::int64_t i, std::byte* work) {
        std::int64_t matrix, side;
        equations.at(i, matrix, side);
        T* y = x + i * each;
        if constexpr (!is_complex<T>)
          if (in_panels) {
            PanelSolver<T> solver(n, width);
            if (solver.factorise(matrices + matrix * square, work)) {
              if (!all_finite(y, each)) return Verdict{Reason::sides_not_finite};
              solver.solve(y);
              return Verdict{all_finite(y, each) ? Reason::none : Reason::overflow};
            }
          }
        if (once)
          if (Verdict verdict = factor(matrix, work); !verdict) return verdict;
        if (sides != x) std::copy_n(sides + side * each, each, y);
        if (!all_finite(y, each)) return Verdict{Reason::sides_not_finite};
        return solve_one(factors(matrix), y, n, width, adjoint);
      },
      threads_of<T>(a.rows));
  outcome.translate(equations.operands());
  return good;
}

// Null without an exception where the operands do not belong together.
PyObject* solve(const Tensor& mat, const Tensor& rhs, bool adjoint) {
  if (rhs.dtype != mat.dtype || rhs.ndim() < 1 || !rhs.size || !mat.storage || !rhs.storage) return nullptr;
  Outcome outcome;
  Kept keep(rhs), keep_too(mat);
  Equations equations(mat, rhs);
  Matrices a = equations.a(), b = equations.b(rhs);
  if (a.rows != a.columns || b.rows != a.rows || !equations.broadcast(a, b)) return nullptr;
  bool is_small = are_small(a) && b.columns <= small_sides && !adjoint;
  if (!a.are_plain() || !b.are_plain()) outcome.add(Reason::too_large);
  if (!outcome || (!is_small && !prepare_lapack(outcome))) return outcome.raise();
  PyObject* made = equations.new_solutions(a.computed, b.rows, b.columns);
  bool good = false;
  if (made && is_small) {
    Rows mats(a), sides(b);
    good = mats && sides && with_small_type(a.computed, [&]<class T>(T) {
             return run_small_solve(outcome, a, b, equations, mats.as<T>(), sides.as<T>(), elements<T>(made));
           });
  } else if (made) {
    Scratch factors(a.computed, a.size()), sides;
    std::byte* x = tensor_of(made)->data();
    std::byte* y = b.count == equations.count() ? x : sides.take(a.computed, b.size());
    good = y && factors.data() && copy_by_columns(b, y) && with_lapack_type(a.computed, [&]<class T>(T) {
             bool by_columns = are_in_panels<T>(equations, a, adjoint);
             if (!(by_columns ? copy_by_columns(a, factors.data()) : copy_by_rows(a, factors.data()))) return false;
             return run_solve(outcome, a, b, equations, adjoint, reinterpret_cast<T*>(factors.data()),
                              reinterpret_cast<T*>(y), reinterpret_cast<T*>(x));
           });
  }
  return rounded_or_raised(good, made, mat.dtype, outcome);
}

// ---- inverse ------------------------------------------------------------------------------------

// The columns of the transpose, whose inverse is the transpose of what is wanted, in place.
template <class T>
class InverseOfOne {
 public:
  explicit InverseOfOne(std::int64_t order)
      : n_(static_cast<int>(order)), is_shared_(is_shared(order)), length_(order * (is_shared_ ? order
                                                                                    : n_ <= 64 ? 1
                                                                                               : 64)) {}
  std::size_t workspace() const {
    std::size_t bytes = sizeof(T) * static_cast<std::size_t>(length_) +
                        sizeof(int) * static_cast<std::size_t>(Factors<T>::integers(n_));
    if constexpr (!is_complex<T>)
      if (wants_panels<T>(n_)) return std::max(bytes, PanelLu<T>(n_, n_).workspace());
    return bytes;
  }

  // again(a) writes the matrix once more.
  template <class Again>
  Verdict run(T* a, std::byte* memory, Again&& again) const {
    auto* work = reinterpret_cast<T*>(memory);
    auto* sums = reinterpret_cast<Part<T>*>(memory);
    Factors<T> factors(a, reinterpret_cast<int*>(work + length_), n_);
    bool in_panels = wants_panels<T>(n_);
    if constexpr (!is_complex<T>)
      if (in_panels && invert_in_panels(a, memory)) return {};
    Part<T> size = in_panels ? std::numeric_limits<Part<T>>::infinity() : row_sums(a, n_, sums);
    if (std::isfinite(size)) {
      T* lu = is_shared_ ? work : a;
      if (is_shared_) std::copy_n(a, static_cast<std::int64_t>(n_) * n_, lu);
      if (!factorise_lu(lu, n_, n_, factors.swaps) && has_good_pivots(lu, n_, size)) {
        invert(lu, factors.swaps, a, work);
        if (size * row_sums(a, n_, sums) * std::numeric_limits<Part<T>>::epsilon() <= 1) return {};
      }
    }
    Verdict verdict = factorise_with_care(factors, n_, work, again);
    if (!verdict) return verdict;
    if (is_shared_) std::copy_n(a, static_cast<std::int64_t>(n_) * n_, work);
    invert(is_shared_ ? work : a, factors.swaps, a, work);
    if (*factors.is_scaled)
      for (std::int64_t j = 0; j < n_; ++j)
        for (std::int64_t i = 0; i < n_; ++i)
          a[j * n_ + i] = scaled(a[j * n_ + i], factors.columns[i] + factors.rows[j]);
    return {all_finite(a, std::int64_t{n_} * n_) ? Reason::none : Reason::overflow};
  }

 private:
  // False if the matrix is singular, or may be.
  bool invert_in_panels(T* a, std::byte* memory) const {
    using Limits = std::numeric_limits<T>;
    PanelLu<T> panels(n_, n_);
    panels.begin_in(memory);
    panels.read(a);
    T size = panels.largest_row();
    if (!std::isfinite(size) || panels.factorise() ||
        !has_good_pivots<T>([&](int j) { return panels.pivot(j); }, n_, size))
      return false;
    return size * panels.invert(a) * Limits::epsilon() <= 1;
  }

  void invert(T* lu, int* swaps, T* a, T* work) const {
    if (is_shared_) return invert_factorised(lu, n_, swaps, a);
    int order = n_, lwork = static_cast<int>(length_), info = 0;
    call_lapack<T>(Lapack::getri, &order, a, &order, swaps, work, &lwork, &info);
  }

  int n_;
  bool is_shared_;
  std::int64_t length_;
};

PyObject* inverse(const Tensor& mat) {
  Outcome outcome;
  Kept keep(mat);
  Matrices a(mat);
  if (a.rows != a.columns) return nullptr;
  if (!a.are_plain()) outcome.add(Reason::too_large);
  if (!outcome || (!are_small(a) && !prepare_lapack(outcome))) return outcome.raise();
  PyObject* made = new_matrices(a, a.computed, 2, a.rows, a.columns, false);
  bool good = made && with_matrices(a, elements<std::byte>(made), false, [&]<class T>(const T* from, T* data) {
                InverseOfOne<T> one(a.rows);
                double operations = 3.0 * static_cast<double>(a.rows) * static_cast<double>(a.rows * a.rows);
                return compute_matrices(
                    outcome, a, from, data, false, operations, one.workspace(), threads_of<T>(a.rows),
                    [&](auto& kernels, auto* mats, auto* made, std::int64_t, std::size_t count) {
                      return kernels.inverse(mats, made, static_cast<int>(a.rows), count);
                    },
                    [&](std::int64_t, T* x, std::byte* work, auto& again) { return one.run(x, work, again); });
              });
  return rounded_or_raised(good, made, mat.dtype, outcome);
}

// ---- the fast paths -----------------------------------------------------------------------------

PyObject* fast_solve(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"solve"};
  Given given({"mat", "rhs", "adjoint"}, args, count, keywords);
  bool adjoint = false;
  if (!given[0] || !given[1] || !given[2]) return nullptr;
  const Tensor *mat = read_tensor(given[0]), *rhs = read_tensor(given[1]);
  if (!mat || !rhs || mat->ndim() < 2 || !read_flag(given[2], adjoint) || !promoted.keeps_dtype(given[0], given[1]))
    return nullptr;
  return or_python(solve(*mat, *rhs, adjoint));
}

PyObject* fast_inverse(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"inverse"};
  if (keywords || count != 1) return nullptr;
  const Tensor* mat = promoted.matrices(args[0]);
  return mat ? or_python(inverse(*mat)) : nullptr;
}

}  // namespace

void init_solving(nb::module_& m) {
  define(m, "def solve(mat: Any, rhs: Any, adjoint: bool) -> Tensor", "Solves equations of one dtype; or Refused.",
         [](nb::handle mat, nb::handle rhs, bool adjoint) {
           const Tensor& a = matrices_argument(mat);
           const Tensor* b = read_tensor(rhs.ptr());
           if (!b) throw nb::value_error("no right-hand sides");
           return or_raise(solve(a, *b, adjoint));
         });
  define(m, "def inverse(mat: Any) -> Tensor", "Inverts matrices; or Refused.",
         [](nb::handle mat) { return or_raise(inverse(matrices_argument(mat))); });
  add_fast_path<fast_solve>("solve");
  add_fast_path<fast_inverse>("inverse");
}

}  // namespace suanzi
