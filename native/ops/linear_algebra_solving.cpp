// native/ops/linear_algebra_solving.cpp: 7.2.17.7, 7.2.17.9: equations and inverses.
//
// Rows one behind the other are the columns of the transpose, of which the factors are made: they serve as well. A
// matrix that seems singular is scaled by powers of two before it is refused.
#include <algorithm>
#include <limits>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "ops/linear_algebra_equations.h"
#include "ops/linear_algebra_shared.h"
#include "ops/linear_algebra_small.h"

namespace suanzi {

namespace {

// An upper bound of the magnitude, by 8 percent at most, far cheaper than itself.
template <class T>
Part<T> size_of(T x) {
  if constexpr (is_complex<T>) {
    Part<T> re = std::abs(x.real()), im = std::abs(x.imag());
    Part<T> larger = re > im ? re : im;
    return larger + Part<T>(0.41421367) * (re + im - larger);  // NaN if either is
  } else {
    return std::abs(x);
  }
}

// At least the largest sum of magnitudes in a row; not finite if an element is not.
template <class T>
Part<T> row_sums(const T* a, int n, Part<T>* sums) {
  std::fill_n(sums, n, Part<T>{0});
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) sums[i] += size_of(a[static_cast<std::int64_t>(j) * n + i]);
  Part<T> largest = 0;
  for (int i = 0; i < n; ++i) {
    if (!std::isfinite(sums[i])) return sums[i];
    largest = std::max(largest, sums[i]);
  }
  return largest;
}

// At least the largest row sum of the inverse of L U, by the triangles that have the sizes of theirs, all of one sign;
// of large matrices it is far too much.
template <class T>
Part<T> bound_of_inverse(const T* lu, int n, Part<T>* x) {
  using R = Part<T>;
  std::fill_n(x, n, R{1});
  for (int j = 0; j < n; ++j)
    for (int i = j + 1; i < n; ++i) x[i] += size_of(lu[j * n + i]) * x[j];
  R largest = 0;
  for (int j = n - 1; j >= 0; --j) {
    x[j] /= std::abs(lu[j * n + j]);
    for (int i = 0; i < j; ++i) x[i] += size_of(lu[j * n + i]) * x[j];
    largest = std::max(largest, x[j]);
  }
  return std::isfinite(x[0]) ? largest : x[0];
}

// Vectors that have nothing to do with a matrix, and how many.
constexpr int probes = 4;

// What the adjoint of L U makes of them, whose elements lie side by side, but for the order of the elements.
template <class T>
void solve_probes(const T* lu, int n, T* x) {
  for (int j = 0; j < n; ++j) {
    const T* column = lu + static_cast<std::int64_t>(j) * n;
    T sum[probes];
    std::copy_n(x + probes * j, probes, sum);
    for (int i = 0; i < j; ++i)
      for (int p = 0; p < probes; ++p) sum[p] -= column[i] * x[probes * i + p];
    for (int p = 0; p < probes; ++p) x[probes * j + p] = sum[p] / column[j];
  }
  for (int j = n - 1; j >= 0; --j) {
    const T* column = lu + static_cast<std::int64_t>(j) * n;
    T sum[probes];
    std::copy_n(x + probes * j, probes, sum);
    for (int i = j + 1; i < n; ++i)
      for (int p = 0; p < probes; ++p) sum[p] -= column[i] * x[probes * i + p];
    std::copy_n(sum, probes, x + probes * j);
  }
}

// An estimate of the largest row sum of an inverse: the largest of what the adjoint makes of four vectors that have
// nothing to do with the matrix. It falls short of it by a hundred times with a probability of about 10^-8.
template <class T>
Part<T> probed_inverse(T* lu, int n, int* swaps, T* x) {
  using R = Part<T>;
  std::uint32_t state = 12345;
  for (int i = 0; i < probes * n; ++i) {
    state = state * 1664525u + 1013904223u;
    x[i] = T(static_cast<R>(static_cast<std::int32_t>(state)) * static_cast<R>(1.0 / (1 << 30)));  // of variance 4/3
  }
  int step = 1, stride = n;  // from one element to the next, and from one vector
  if (!is_complex<T> && n <= 64) {
    step = probes, stride = 1;
    if constexpr (!is_complex<T>) solve_probes(lu, n, x);
  } else {
    char adjoint = 'C';
    int together = n <= single_order ? 1 : probes, info = 0;
    for (int side = 0; side < probes; side += together)
      call_lapack<T>(Lapack::getrs, &adjoint, &n, &together, lu, &n, swaps, x + side * n, &n, &info);
  }
  R largest = 0;
  for (int side = 0; side < probes; ++side) {
    R sum = 0;
    for (int i = 0; i < n; ++i) sum += size_of(x[side * stride + i * step]);
    if (!std::isfinite(sum)) return sum;
    largest = std::max(largest, sum);
  }
  return largest;
}

// What LAPACK's gecon does: Hager's and Higham's search for the vector that the adjoint enlarges most. From below, and
// seldom off by 3 times. It ends early where the first step upwards has found a hundredth of a limit or less; but for
// the last vector, which finds what the search may not see: two rows nearly the same, for example.
template <class T>
Part<T> estimated_inverse(T* lu, int n, int* swaps, T* x, Part<T> limit) {
  using R = Part<T>;
  int one = 1, info = 0, last = -1;
  auto solve = [&](char trans) { call_lapack<T>(Lapack::getrs, &trans, &n, &one, lu, &n, swaps, x, &n, &info); };
  auto sum = [&] {
    R found = 0;
    for (int i = 0; i < n; ++i) found += std::abs(x[i]);
    return found;
  };
  std::fill_n(x, n, T(R{1} / static_cast<R>(n)));
  R largest = 0;
  for (int round = 0; round < 5; ++round) {
    solve('C');
    R size = sum();
    if (!std::isfinite(size)) return size;
    if (size <= largest) break;
    largest = size;
    if (round == 1 && largest * 100 <= limit) break;
    for (int i = 0; i < n; ++i) x[i] = std::abs(x[i]) > 0 ? x[i] / std::abs(x[i]) : T(1);
    solve('N');
    int steepest = 0;
    for (int i = 1; i < n; ++i)
      if (std::abs(x[i]) > std::abs(x[steepest])) steepest = i;
    if (steepest == last) break;
    last = steepest;
    std::fill_n(x, n, T(0));
    x[steepest] = T(1);
  }
  for (int i = 0; i < n; ++i)
    x[i] = T((i % 2 ? R{-1} : R{1}) * (R{1} + static_cast<R>(i) / static_cast<R>(std::max(n - 1, 1))));
  solve('C');
  R again = sum() * 2 / static_cast<R>(3 * n);
  return std::isfinite(again) ? std::max(largest, again) : again;
}

// Whether the pivots of a matrix of a size can be divided by, and what they make of it can be trusted.
template <class T>
bool has_good_pivots(const T* lu, int n, Part<T> size) {
  using Limits = std::numeric_limits<Part<T>>;
  bool good = size >= Limits::min() / Limits::epsilon() && size <= Limits::max() * Limits::epsilon();
  for (int j = 0; j < n; ++j) {
    Part<T> pivot = std::abs(lu[static_cast<std::int64_t>(j) * n + j]);
    good = good && pivot >= Limits::min() && pivot <= Limits::max();
  }
  return good;
}

// Whether a factorised matrix of a size is not singular to its precision. The cheapest answer first.
template <class T>
bool is_regular(T* lu, int n, int* swaps, Part<T> size, T* work) {
  using R = Part<T>;
  R limit = 1 / (std::numeric_limits<R>::epsilon() * size);
  if (n <= 48 && bound_of_inverse(lu, n, reinterpret_cast<R*>(work)) * 2 <= limit) return true;
  R pivot = std::abs(lu[0]);
  for (int j = 1; j < n; ++j) pivot = std::min(pivot, R(std::abs(lu[static_cast<std::int64_t>(j) * n + j])));
  // The least pivot says about what will be found: of float32 it is often too much for this.
  if (static_cast<R>(n) / pivot * 100 <= limit && probed_inverse(lu, n, swaps, work) * 100 <= limit) return true;
  return estimated_inverse(lu, n, swaps, work, limit) * R(1.01) <= limit;
}

// Factorises, in place; false if a matrix is singular, or may be.
template <class T>
bool factorise(T* a, int n, int* swaps, T* work) {
  Part<T> size = row_sums(a, n, reinterpret_cast<Part<T>*>(work));
  if (!std::isfinite(size)) return false;
  return factorise_lu(a, n, n, swaps) == 0 && has_good_pivots(a, n, size) && is_regular(a, n, swaps, size, work);
}

// ---- scaling ------------------------------------------------------------------------------------

// The factors of a matrix, whose rows and columns were multiplied by powers of two where it is scaled.
template <class T>
struct Factors {
  T* lu;
  int *swaps, *rows, *columns;
  int* is_scaled;

  // How many integers they take.
  static std::int64_t integers(std::int64_t n) { return 3 * n + 1; }
  Factors(T* matrix, int* memory, int n)
      : lu(matrix), swaps(memory), rows(memory + n), columns(memory + 2 * n), is_scaled(memory + 3 * n) {}
};

// Factorises in place, and returns the reciprocal condition number, as it is estimated.
template <class T>
Part<T> condition(const Factors<T>& factors, int n, T* work) {
  using R = Part<T>;
  auto* sums = reinterpret_cast<R*>(work);
  std::fill_n(sums, n, R{0});
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) sums[i] += std::abs(factors.lu[j * n + i]);
  R size = *std::max_element(sums, sums + n);
  if (factorise_lu(factors.lu, n, n, factors.swaps) || !std::isfinite(size)) return 0;
  R product = size * estimated_inverse(factors.lu, n, factors.swaps, work, R{0});
  return product > 0 ? 1 / product : R{0};
}

// Powers that bring the largest number of each row to about 1, and then that of each column, or the other way round.
// They are to be applied together: by one of the two alone, numbers may vanish.
template <class T>
void find_powers(const Factors<T>& factors, int n, bool rows_first) {
  int *first = rows_first ? factors.rows : factors.columns, *second = rows_first ? factors.columns : factors.rows;
  std::fill_n(first, n, exponent_of_zero);
  std::fill_n(second, n, exponent_of_zero);
  auto each = [&](auto&& body) {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        std::int64_t a = rows_first ? i : j, b = rows_first ? j : i;
        if (int exponent = exponent_of(factors.lu[j * n + i]); exponent != exponent_of_zero) body(a, b, exponent);
      }
  };
  auto invert = [n](int* powers) {
    for (int i = 0; i < n; ++i) powers[i] = powers[i] == exponent_of_zero ? 0 : -powers[i];
  };
  each([&](std::int64_t a, std::int64_t, int exponent) { first[a] = std::max(first[a], exponent); });
  invert(first);
  each([&](std::int64_t a, std::int64_t b, int exponent) { second[b] = std::max(second[b], exponent + first[a]); });
  invert(second);
}

// Factorises a matrix that is singular or badly scaled, which again(a) writes: as it is, with its columns scaled before
// its rows, and with its rows scaled first.
template <class T, class Again>
Verdict factorise_with_care(const Factors<T>& factors, int n, T* work, Again&& again) {
  using R = Part<T>;
  constexpr R least = std::numeric_limits<R>::epsilon();
  again(factors.lu);
  if (!all_finite(factors.lu, std::int64_t{n} * n)) return {Reason::not_finite};
  *factors.is_scaled = 0;
  R best = condition(factors, n, work);
  for (bool rows_first : {false, true}) {
    if (best >= least) return {};
    again(factors.lu);
    find_powers(factors, n, rows_first);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        factors.lu[j * n + i] = scaled(factors.lu[j * n + i], factors.rows[i] + factors.columns[j]);
    *factors.is_scaled = 1;
    best = std::max(best, condition(factors, n, work));
  }
  return best >= least ? Verdict{} : Verdict{Reason::singular, static_cast<double>(best)};
}

template <class T, class Again>
Verdict factorise(const Factors<T>& factors, int n, T* work, Again&& again) {
  *factors.is_scaled = 0;
  return factorise(factors.lu, n, factors.swaps, work) ? Verdict{} : factorise_with_care(factors, n, work, again);
}

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
  auto factors = [&](std::int64_t i) { return Factors<T>(matrices + i * square, ints + i * integers, n); };
  auto factor = [&](std::int64_t i, std::byte* work) {
    auto again = [&](T* to) { copy_again(a, i, reinterpret_cast<std::byte*>(to), false); };
    return factorise(factors(i), n, reinterpret_cast<T*>(work), again);
  };
  std::size_t bytes = sizeof(T) * 4 * static_cast<std::size_t>(n);
  if (!once && !for_each_matrix(outcome, a.count, a.rows, cubed, bytes, factor, threads_of(a.rows))) return false;
  double operations = 4.0 * static_cast<double>(square) * width + (once ? cubed : 0);
  std::int64_t order = order_of_equations(std::max(a.rows, b.columns), b.columns);
  bool good = for_each_matrix(
      outcome, equations.count(), order, operations, bytes,
      [&](std::int64_t i, std::byte* work) {
        std::int64_t matrix, side;
        equations.at(i, matrix, side);
        if (once)
          if (Verdict verdict = factor(matrix, work); !verdict) return verdict;
        T* y = x + i * each;
        if (sides != x) std::copy_n(sides + side * each, each, y);
        if (!all_finite(y, each)) return Verdict{Reason::sides_not_finite};
        return solve_one(factors(matrix), y, n, width, adjoint);
      },
      threads_of(a.rows));
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
    good = mats && sides && with_small_type(a.computed, [&](auto zero) {
             using T = decltype(zero);
             return run_small_solve(outcome, a, b, equations, mats.as<T>(), sides.as<T>(), elements<T>(made));
           });
  } else if (made) {
    Scratch factors(a.computed, a.size()), sides;
    std::byte* x = tensor_of(made)->data();
    std::byte* y = b.count == equations.count() ? x : sides.take(a.computed, b.size());
    good = y && factors.data() && copy_by_rows(a, factors.data()) && copy_by_columns(b, y) &&
           with_lapack_type(a.computed, [&](auto zero) {
             using T = decltype(zero);
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
    return sizeof(T) * static_cast<std::size_t>(length_) +
           sizeof(int) * static_cast<std::size_t>(Factors<T>::integers(n_));
  }

  // again(a) writes the matrix once more.
  template <class Again>
  Verdict run(T* a, std::byte* memory, Again&& again) const {
    auto* work = reinterpret_cast<T*>(memory);
    auto* sums = reinterpret_cast<Part<T>*>(memory);
    Factors<T> factors(a, reinterpret_cast<int*>(work + length_), n_);
    Part<T> size = row_sums(a, n_, sums);
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
                    outcome, a, from, data, false, operations, one.workspace(), threads_of(a.rows),
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
  static constexpr const char* names[] = {"mat", "rhs", "adjoint"};
  PyObject* given[3];
  bool adjoint = false;
  if (!read_named(names, args, count, keywords, given) || !given[0] || !given[1] || !given[2]) return nullptr;
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
  using namespace nb::literals;
  m.def(
      "solve",
      [](nb::handle mat, nb::handle rhs, bool adjoint) {
        const Tensor& a = matrices_argument(mat);
        const Tensor* b = read_tensor(rhs.ptr());
        if (!b) throw nb::value_error("no right-hand sides");
        return or_raise(solve(a, *b, adjoint));
      },
      "mat"_a, "rhs"_a, "adjoint"_a, nb::sig("def solve(mat: Any, rhs: Any, adjoint: bool) -> Tensor"),
      "Solves equations of one dtype; or Refused.");
  m.def(
      "inverse", [](nb::handle mat) { return or_raise(inverse(matrices_argument(mat))); }, "mat"_a,
      nb::sig("def inverse(mat: Any) -> Tensor"), "Inverts matrices; or Refused.");
  add_fast_path<fast_solve>("solve");
  add_fast_path<fast_inverse>("inverse");
}

}  // namespace suanzi
