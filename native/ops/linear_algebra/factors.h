// native/ops/linear_algebra/factors.h: 7.2.17: triangular factors of a square matrix, and whether it is regular.
//
// LU with partial pivoting; the condition is bounded from the factors first, and estimated by solving only where that
// bound does not decide. Matrices at the ends of the range are scaled by powers of two, which rounds nothing.
#pragma once

#include "ops/linear_algebra/equations.h"
#include "ops/linear_algebra/shared.h"
#include "ops/linear_algebra/small.h"

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

template <class T>
void make_probes(int n, T* x) {
  using R = Part<T>;
  std::uint32_t state = 12345;
  for (int i = 0; i < probes * n; ++i) {
    state = state * 1664525u + 1013904223u;
    x[i] = T(static_cast<R>(static_cast<std::int32_t>(state)) * static_cast<R>(1.0 / (1 << 30)));  // of variance 4/3
  }
}

// An estimate of the largest row sum of an inverse: the largest of what the adjoint makes of four vectors that have
// nothing to do with the matrix. It falls short of it by a hundred times with a probability of about 10^-8.
template <class T>
Part<T> probed_inverse(T* lu, int n, int* swaps, T* x) {
  using R = Part<T>;
  make_probes(n, x);
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
template <class T, class Solve>
Part<T> estimated_inverse(int n, T* x, Part<T> limit, Solve&& solve) {
  using R = Part<T>;
  int last = -1;
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
template <class T>
Part<T> estimated_inverse(T* lu, int n, int* swaps, T* x, Part<T> limit) {
  return estimated_inverse<T>(n, x, limit, [&](char trans) {
    int one = 1, info = 0;
    call_lapack<T>(Lapack::getrs, &trans, &n, &one, lu, &n, swaps, x, &n, &info);
  });
}

// Whether the pivots of a matrix of a size can be divided by, and what they make of it can be trusted.
template <class T, class Pivot>
bool has_good_pivots(Pivot&& pivot_of, int n, Part<T> size) {
  using Limits = std::numeric_limits<Part<T>>;
  bool good = size >= Limits::min() / Limits::epsilon() && size <= Limits::max() * Limits::epsilon();
  for (int j = 0; j < n; ++j) {
    Part<T> pivot = std::abs(pivot_of(j));
    good = good && pivot >= Limits::min() && pivot <= Limits::max();
  }
  return good;
}
template <class T>
bool has_good_pivots(const T* lu, int n, Part<T> size) {
  return has_good_pivots<T>([&](int j) { return lu[static_cast<std::int64_t>(j) * n + j]; }, n, size);
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

// ---- in panels ----------------------------------------------------------------------------------

// The same of a matrix, not of its transpose, and equations that it solves.
template <class T>
class PanelSolver {
 public:
  PanelSolver(int n, int width) : n_(n), width_(width), lu_(n, n, probes + width) {}
  std::size_t workspace() const { return lu_.workspace() + sizeof(T) * static_cast<std::size_t>(probes * n_); }

  // Of a matrix column by column, which stays as it is; false if it is singular, or may be.
  bool factorise(const T* a, std::byte* memory) {
    using Limits = std::numeric_limits<T>;
    auto* work = reinterpret_cast<T*>(memory);
    lu_.begin_in(memory + sizeof(T) * static_cast<std::size_t>(probes * n_));
    lu_.read(a);
    T size = lu_.largest_column(), pivot = Limits::max();
    auto pivot_of = [&](int j) { return lu_.pivot(j); };
    if (!std::isfinite(size) || lu_.factorise() || !has_good_pivots<T>(pivot_of, n_, size)) return false;
    for (int j = 0; j < n_; ++j) pivot = std::min(pivot, std::abs(lu_.pivot(j)));
    T limit = 1 / (Limits::epsilon() * size);
    if (static_cast<T>(n_) / pivot * 100 <= limit && probed(work) * 100 <= limit) return true;
    return estimated_inverse<T>(n_, work, limit, [&](char trans) { apply(trans, work); }) * T(1.01) <= limit;
  }

  // Right-hand sides, column by column, in place.
  void solve(T* y) {
    for (int j = 0; j < width_; ++j) lu_.read_side(probes + j, y + std::int64_t{j} * n_);
    lu_.solve(probes, width_);
    for (int j = 0; j < width_; ++j) lu_.write_side(probes + j, y + std::int64_t{j} * n_);
  }

 private:
  T probed(T* x) {
    make_probes(n_, x);
    for (int p = 0; p < probes; ++p) lu_.read_side(p, x + std::int64_t{p} * n_);
    lu_.solve(0, probes);
    T largest = 0;
    for (int p = 0; p < probes; ++p) {
      lu_.write_side(p, x);
      T sum = 0;
      for (int i = 0; i < n_; ++i) sum += std::abs(x[i]);
      if (!std::isfinite(sum)) return sum;
      largest = std::max(largest, sum);
    }
    return largest;
  }

  // What the adjoint of the transpose makes of a vector, and what the transpose does.
  void apply(char trans, T* x) {
    if (trans == 'N') return lu_.solve_transposed(x);
    lu_.read_side(0, x);
    lu_.solve(0, 1);
    lu_.write_side(0, x);
  }

  int n_, width_;
  PanelLu<T> lu_;
};

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

}  // namespace
}  // namespace suanzi
