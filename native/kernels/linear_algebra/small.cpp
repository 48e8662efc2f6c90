// native/kernels/linear_algebra/small.cpp: 7.2.17.3 to 7.2.17.9: small real matrices, one in each lane of a vector.
//
// Every lane takes the steps that a matrix alone would take, in the same order, and no product is fused with a sum: a
// matrix has the same bits in any lane, at any level. Where rows are swapped, each lane chooses its own.
#include "kernels/common.inc"

#include "kernels/linear_algebra/small.h"

#include "kernels/vectors/vector_bytes.inc"

namespace suanzi {
namespace {

template <class T>
using Lanes = Vector<T>;
template <class T>
using IndexOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
template <class T>
using Masks = Vector<IndexOf<T>>;
template <class T>
inline constexpr std::size_t lanes_of = vector_bytes / sizeof(T);

constexpr int most = static_cast<int>(small_order), most_sides = static_cast<int>(small_sides);

template <class T>
inline Lanes<T> all_of(T x) noexcept {
  return Lanes<T>{} + x;
}
template <class T>
inline Lanes<T> magnitude(Lanes<T> x) noexcept {
  return (Lanes<T>)((Masks<T>)x & std::numeric_limits<IndexOf<T>>::max());
}
template <class T>
inline Lanes<T> larger(Lanes<T> a, Lanes<T> b) noexcept {
  return a > b ? a : b;
}
template <class T>
inline bool any(Masks<T> mask) noexcept {
  std::uint64_t words[vector_bytes / 8], found = 0;
  std::memcpy(words, &mask, sizeof words);
  for (std::uint64_t word : words) found |= word;
  return found != 0;
}
template <class T>
inline std::uint32_t bits_of(Masks<T> mask, std::size_t count) noexcept {
  std::uint32_t found = 0;
  for (std::size_t l = 0; l < count; ++l) found |= static_cast<std::uint32_t>(mask[l] & 1) << l;
  return found;
}
template <class T>
inline Lanes<T> root_of(Lanes<T> x) noexcept {
  T values[lanes_of<T>];
  std::memcpy(values, &x, sizeof x);
  for (T& value : values) value = std::sqrt(value);
  std::memcpy(&x, values, sizeof x);
  return x;
}

// ---- in and out ---------------------------------------------------------------------------------

// Where element (i, j) of a matrix is: at i row + j column.
struct Strides {
  std::int64_t row, column;
};

// Element (i, j) of each matrix in a vector of its own, at i wide + j. Lanes that are left are as the first one.
template <class T>
inline void read(const T* const* from, Strides at, int m, int n, std::size_t count, Lanes<T>* to, int wide) noexcept {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      T values[lanes_of<T>];
      std::int64_t place = i * at.row + j * at.column;
      if (count == lanes_of<T>) {
        for (std::size_t l = 0; l < lanes_of<T>; ++l) values[l] = from[l][place];
      } else {
        for (std::size_t l = 0; l < lanes_of<T>; ++l) values[l] = from[l < count ? l : 0][place];
      }
      std::memcpy(to + i * wide + j, values, sizeof values);
    }
}

template <class T>
inline void write(const Lanes<T>* from, int wide, int m, int n, std::size_t count, T* const* to, Strides at) noexcept {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      T values[lanes_of<T>];
      std::memcpy(values, from + i * wide + j, sizeof values);
      for (std::size_t l = 0; l < count; ++l) to[l][i * at.row + j * at.column] = values[l];
    }
}

// The largest sum of magnitudes in a column; not finite, or NaN, where an element is not finite.
template <class T>
inline Lanes<T> column_sums(const Lanes<T>* a, int n, int wide) noexcept {
  Lanes<T> sums[most] = {}, found{}, bad{};
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) sums[j] += magnitude<T>(a[i * wide + j]);
  for (int j = 0; j < n; ++j) {
    found = larger<T>(sums[j], found);
    bad += sums[j] - sums[j];
  }
  return found + bad;
}

// ---- elimination --------------------------------------------------------------------------------

// Factors of the first `n` columns of m rows, by the largest pivots; the columns behind take part. `order` is that of
// the matrix where the compiler is to know it, else 0.
template <int order, class T, class Swapped>
inline void eliminate(Lanes<T>* a, int m, int n, int wide, Swapped&& swapped) noexcept {
  using Index = IndexOf<T>;
  if constexpr (order > 0) m = order, n = order;
  for (int k = 0; k < (m < n ? m : n); ++k) {
    Lanes<T>* row = a + k * wide;
    Lanes<T> best = magnitude<T>(row[k]);
    Masks<T> at = Masks<T>{} + static_cast<Index>(k);
    for (int i = k + 1; i < m; ++i) {
      Lanes<T> size = magnitude<T>(a[i * wide + k]);
      Masks<T> is_larger = size > best;
      best = is_larger ? size : best;
      at = is_larger ? Masks<T>{} + static_cast<Index>(i) : at;
    }
    swapped(k, at);
    for (int i = k + 1; i < m; ++i) {
      Masks<T> is_it = at == static_cast<Index>(i);
      if (order == 0 && !any<T>(is_it)) continue;
      Lanes<T>* other = a + i * wide;
      for (int j = 0; j < wide; ++j) {
        Lanes<T> above = row[j], below = other[j];
        row[j] = is_it ? below : above, other[j] = is_it ? above : below;
      }
    }
    Lanes<T> pivot = best == T{0} ? all_of<T>(1) : row[k];  // all below it are 0, too
    for (int i = k + 1; i < m; ++i) {
      Lanes<T>* other = a + i * wide;
      Lanes<T> factor = other[k] / pivot;
      other[k] = factor;
      for (int j = k + 1; j < wide; ++j) other[j] -= factor * row[j];
    }
  }
}

template <class T, class Swapped>
inline void eliminate_square(Lanes<T>* a, int n, int wide, Swapped&& swapped) noexcept {
  switch (n) {
    case 2: return eliminate<2, T>(a, n, n, wide, swapped);
    case 3: return eliminate<3, T>(a, n, n, wide, swapped);
    case 4: return eliminate<4, T>(a, n, n, wide, swapped);
    default: return eliminate<0, T>(a, n, n, wide, swapped);
  }
}

// The columns behind the factors become what solves their equations.
template <class T>
inline void substitute(Lanes<T>* a, int n, int wide) noexcept {
  for (int k = n - 1; k >= 0; --k) {
    Lanes<T>* row = a + k * wide;
    for (int j = k + 1; j < n; ++j)
      for (int c = n; c < wide; ++c) row[c] -= row[j] * a[j * wide + c];
    for (int c = n; c < wide; ++c) row[c] /= row[k];
  }
}

// Whether the pivots of matrices of a size can be divided by, and what they make of them can be trusted.
template <class T>
inline Masks<T> has_good_pivots(const Lanes<T>* a, int n, int wide, Lanes<T> size) noexcept {
  using Limits = std::numeric_limits<T>;
  Masks<T> good = (size >= Limits::min() / Limits::epsilon()) & (size <= Limits::max() * Limits::epsilon());
  for (int k = 0; k < n; ++k) {
    Lanes<T> pivot = magnitude<T>(a[k * wide + k]);
    good &= (pivot >= Limits::min()) & (pivot <= Limits::max());
  }
  return good;
}

// At least the largest sum of magnitudes in a column of the inverse: by triangles that have the sizes of the factors,
// all of one sign.
template <class T>
inline Lanes<T> bound_of_inverse(const Lanes<T>* a, int n, int wide) noexcept {
  Lanes<T> x[most], found{};
  for (int i = 0; i < n; ++i) x[i] = all_of<T>(1);
  for (int i = 0; i < n; ++i) {
    x[i] /= magnitude<T>(a[i * wide + i]);
    for (int j = i + 1; j < n; ++j) x[j] += magnitude<T>(a[i * wide + j]) * x[i];
  }
  for (int i = n - 1; i >= 0; --i) {
    found = larger<T>(x[i], found);
    for (int j = 0; j < i; ++j) x[j] += magnitude<T>(a[i * wide + j]) * x[i];
  }
  return found;
}

// Whether no element of some columns is NaN or an infinity.
template <class T>
inline Masks<T> are_finite(const Lanes<T>* a, int m, int from, int to, int wide) noexcept {
  Lanes<T> bad{};
  for (int i = 0; i < m; ++i)
    for (int j = from; j < to; ++j) bad += a[i * wide + j] - a[i * wide + j];
  return bad == T{0};
}

template <class T>
inline constexpr auto ignored = [](int, Masks<T>) {};

template <class T>
std::uint32_t solve(const T* const* a, const T* const* b, T* const* x, int n, int sides, std::size_t count) {
  Lanes<T> all[most * (most + most_sides)];
  int wide = n + sides;
  read<T>(a, {n, 1}, n, n, count, all, wide);
  read<T>(b, {sides, 1}, n, sides, count, all + n, wide);
  Lanes<T> size = column_sums<T>(all, n, wide);
  eliminate_square<T>(all, n, wide, ignored<T>);
  Masks<T> good = has_good_pivots<T>(all, n, wide, size);
  good &= bound_of_inverse<T>(all, n, wide) * T{2} <= T{1} / (std::numeric_limits<T>::epsilon() * size);
  substitute<T>(all, n, wide);
  good &= are_finite<T>(all, n, n, wide, wide);
  write<T>(all + n, wide, n, sides, count, x, {1, n});
  return bits_of<T>(good, count);
}

template <class T>
std::uint32_t inverse(const T* const* a, T* const* x, int n, std::size_t count) {
  Lanes<T> all[most * 2 * most];
  int wide = 2 * n;
  read<T>(a, {n, 1}, n, n, count, all, wide);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) all[i * wide + n + j] = all_of<T>(i == j);
  Lanes<T> size = column_sums<T>(all, n, wide);
  eliminate_square<T>(all, n, wide, ignored<T>);
  Masks<T> good = has_good_pivots<T>(all, n, wide, size);
  substitute<T>(all, n, wide);
  good &= size * column_sums<T>(all + n, n, wide) * std::numeric_limits<T>::epsilon() <= T{1};
  write<T>(all + n, wide, n, n, count, x, {n, 1});
  return bits_of<T>(good, count);
}

template <class T>
std::uint32_t lu(const T* const* a, T* const* x, std::int64_t* const* swaps, int m, int n, std::size_t count) {
  Lanes<T> all[most * most];
  read<T>(a, {n, 1}, m, n, count, all, n);
  auto swapped = [&](int k, Masks<T> at) {
    for (std::size_t l = 0; l < count; ++l) swaps[l][k] = at[l];
  };
  if (m == n) eliminate_square<T>(all, n, n, swapped);
  else eliminate<0, T>(all, m, n, n, swapped);
  write<T>(all, n, m, n, count, x, {1, m});
  return bits_of<T>(are_finite<T>(all, m, 0, n, n), count);
}

// ---- cholesky -----------------------------------------------------------------------------------

template <int order, class T>
inline Masks<T> take_roots(Lanes<T>* a, int n) noexcept {
  if constexpr (order > 0) n = order;
  Masks<T> good = ~Masks<T>{};
  for (int k = 0; k < n; ++k) {
    Lanes<T> square = a[k * n + k], pivot = root_of<T>(square);
    good &= (square > T{0}) & (square <= std::numeric_limits<T>::max());  // a NaN is neither
    a[k * n + k] = pivot;
    for (int i = k + 1; i < n; ++i) a[i * n + k] /= pivot;
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j <= i; ++j) a[i * n + j] -= a[i * n + k] * a[j * n + k];
  }
  return good;
}

template <class T>
std::uint32_t cholesky(const T* const* a, T* const* x, int n, bool upper, std::size_t count) {
  Lanes<T> all[most * most];
  Strides at = upper ? Strides{1, n} : Strides{n, 1};  // the other triangle is the transpose
  read<T>(a, at, n, n, count, all, n);
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) all[i * n + j] = Lanes<T>{};
  Masks<T> good = n == 4 ? take_roots<4, T>(all, n) : take_roots<0, T>(all, n);
  write<T>(all, n, n, n, count, x, at);
  return bits_of<T>(good, count);
}

// ---- qr -----------------------------------------------------------------------------------------

// Columns of `wide` from `from` on, reflected by 1 and what is below row k of column k of `v`, times tau.
template <class T>
inline void reflect(Lanes<T>* a, int wide, int from, const Lanes<T>* v, int n, int k, int m, Lanes<T> tau) noexcept {
  for (int c = from; c < wide; ++c) {
    Lanes<T> sum = a[k * wide + c];
    for (int i = k + 1; i < m; ++i) sum += v[i * n + k] * a[i * wide + c];
    sum *= tau;
    a[k * wide + c] -= sum;
    for (int i = k + 1; i < m; ++i) a[i * wide + c] -= v[i * n + k] * sum;
  }
}

template <class T>
std::uint32_t qr(const T* const* a, T* const* q, T* const* r, int m, int n, int width, std::size_t count) {
  // Sizes whose squares are neither too large nor too small to be added up.
  constexpr T least = static_cast<T>(sizeof(T) == 4 ? 0x1p-50 : 0x1p-400), largest = T{1} / least;
  Lanes<T> all[most * most], taus[most];
  read<T>(a, {n, 1}, m, n, count, all, n);
  Masks<T> good = are_finite<T>(all, m, 0, n, n);
  int steps = m < n ? m : n;
  for (int k = 0; k < steps; ++k) {
    Lanes<T> first = all[k * n + k], squares{}, below{};
    for (int i = k + 1; i < m; ++i) {
      Lanes<T> x = all[i * n + k];
      squares += x * x;
      below = larger<T>(magnitude<T>(x), below);
    }
    Lanes<T> size = larger<T>(magnitude<T>(first), below);
    good &= (below == T{0}) | ((size >= least) & (size <= largest));
    Masks<T> is_done = squares == T{0};
    Lanes<T> norm = root_of<T>(first * first + squares);
    Lanes<T> beta = first >= T{0} ? -norm : norm;
    taus[k] = is_done ? Lanes<T>{} : (beta - first) / (is_done ? all_of<T>(1) : beta);
    Lanes<T> divisor = is_done ? all_of<T>(1) : first - beta;
    all[k * n + k] = is_done ? first : beta;
    for (int i = k + 1; i < m; ++i) all[i * n + k] = is_done ? Lanes<T>{} : all[i * n + k] / divisor;
    reflect<T>(all, n, k + 1, all, n, k, m, taus[k]);
  }
  Lanes<T> made[most * most];
  for (int i = 0; i < width; ++i)
    for (int j = 0; j < n; ++j) made[i * n + j] = i <= j && i < steps ? all[i * n + j] : Lanes<T>{};
  good &= are_finite<T>(made, width, 0, n, n);
  write<T>(made, n, width, n, count, r, {1, width});
  if (!q) return bits_of<T>(good, count);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < width; ++j) made[i * width + j] = all_of<T>(i == j);
  for (int k = steps - 1; k >= 0; --k) reflect<T>(made, width, k, all, n, k, m, taus[k]);
  write<T>(made, width, m, width, count, q, {1, m});
  return bits_of<T>(good, count);
}

template <class T>
constexpr SmallKernels<T> table_of() {
  return {lanes_of<T>, solve<T>, inverse<T>, cholesky<T>, lu<T>, qr<T>};
}

}  // namespace

SUANZI_TABLE(SmallTables, small_kernels, {table_of<float>(), table_of<double>()})

}  // namespace suanzi
