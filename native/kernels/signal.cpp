// native/kernels/signal.cpp: 7.2.16: Fourier transforms of several sequences at once, one in each lane of a vector.
//
// Stockham's algorithm: each pass reads one array and writes another, in the order that the next one needs, so that
// nothing is ever put in order. Products and sums are never fused: a sequence has the same bits in any lane.
#include "kernels/common.inc"

#include "kernels/signal.h"

#include "kernels/vectors/vector_bytes.inc"

namespace suanzi {
namespace {

template <class T>
using Lanes = Vector<T>;
template <class T>
inline constexpr std::size_t lanes_of = vector_bytes / sizeof(T);

// Complex numbers, each part a number or a vector of them.
template <class V>
struct Pair {
  V re, im;
};
template <class V>
inline Pair<V> operator+(Pair<V> a, Pair<V> b) noexcept {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
inline Pair<V> operator-(Pair<V> a, Pair<V> b) noexcept {
  return {a.re - b.re, a.im - b.im};
}
template <class V, class T>
inline Pair<V> times(Pair<V> a, T re, T im) noexcept {
  return {rounded(a.re * re) - rounded(a.im * im), rounded(a.re * im) + rounded(a.im * re)};
}
// -i a
template <class V>
inline Pair<V> turned(Pair<V> a) noexcept {
  return {a.im, -a.re};
}

// ---- a transform of r numbers -----------------------------------------------------------------

template <int r, class V, class T>
inline void butterfly(Pair<V>* x, const T* circle) noexcept {
  if constexpr (r == 2) {
    Pair<V> a = x[0], b = x[1];
    x[0] = a + b, x[1] = a - b;
  } else if constexpr (r == 4) {
    Pair<V> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = turned(x[1] - x[3]);
    x[0] = a + c, x[1] = b + d, x[2] = a - c, x[3] = b - d;
  } else if constexpr (r == 8) {
    constexpr T half = static_cast<T>(0.70710678118654752440);
    Pair<V> even[] = {x[0], x[2], x[4], x[6]}, odd[] = {x[1], x[3], x[5], x[7]};
    butterfly<4>(even, circle), butterfly<4>(odd, circle);
    Pair<V> b{(odd[1].re + odd[1].im) * half, (odd[1].im - odd[1].re) * half}, c = turned(odd[2]);
    Pair<V> d{(odd[3].im - odd[3].re) * half, (odd[3].re + odd[3].im) * -half};
    x[0] = even[0] + odd[0], x[1] = even[1] + b, x[2] = even[2] + c, x[3] = even[3] + d;
    x[4] = even[0] - odd[0], x[5] = even[1] - b, x[6] = even[2] - c, x[7] = even[3] - d;
  } else {
    // Of an odd number: sums and differences of elements that lie opposite.
    constexpr int half = r / 2;
    Pair<V> sums[half], differences[half], first = x[0], all = first;
    for (int i = 0; i < half; ++i) {
      sums[i] = x[i + 1] + x[r - 1 - i], differences[i] = x[i + 1] - x[r - 1 - i];
      all = all + sums[i];
    }
    for (int j = 1; j <= half; ++j) {
      Pair<V> a = first;
      Pair<V> b{differences[0].re * circle[2 * j + 1], differences[0].im * circle[2 * j + 1]};
      for (int i = 0; i < half; ++i) {
        int at = j * (i + 1) % r;
        a = {a.re + sums[i].re * circle[2 * at], a.im + sums[i].im * circle[2 * at]};
        if (i > 0) b = {b.re + differences[i].re * circle[2 * at + 1], b.im + differences[i].im * circle[2 * at + 1]};
      }
      // a + i b and a - i b
      x[j] = {a.re - b.im, a.im + b.re}, x[r - j] = {a.re + b.im, a.im - b.re};
    }
    x[0] = all;
  }
}

// ---- passes -----------------------------------------------------------------------------------

template <int r, bool multiplied, class V, class T>
inline void step(const Pair<V>* from, Pair<V>* to, std::int64_t distance, std::int64_t s, const T* roots,
                 const T* circle) noexcept {
  for (std::int64_t q = 0; q < s; ++q) {
    Pair<V> x[r];
    for (int j = 0; j < r; ++j) x[j] = from[q + distance * j];
    butterfly<r>(x, circle);
    to[q] = x[0];
    for (int j = 1; j < r; ++j) to[q + s * j] = multiplied ? times(x[j], roots[2 * j - 2], roots[2 * j - 1]) : x[j];
  }
}

template <int r, class V, class T>
inline void pass(const Pair<V>* in, Pair<V>* out, std::int64_t m, std::int64_t s, const T* roots,
                 const T* circle) noexcept {
  step<r, false>(in, out, s * m, s, roots, circle);  // by roots that are 1
  for (std::int64_t p = 1; p < m; ++p)
    step<r, true>(in + s * p, out + s * r * p, s * m, s, roots + 2 * (r - 1) * p, circle);
}

// The same for any odd r, by its sums: as many terms for each element as there are elements, so that it suits small r.
template <class V, class T>
void pass_any(int r, const Pair<V>* in, Pair<V>* out, std::int64_t m, std::int64_t s, const T* roots, const T* circle) {
  const int half = r / 2;
  const std::int64_t distance = s * m;
  Pair<V> sums[largest_radix / 2], differences[largest_radix / 2];
  for (std::int64_t p = 0; p < m; ++p, in += s, out += s * r, roots += 2 * (r - 1))
    for (std::int64_t q = 0; q < s; ++q) {
      const Pair<V> first = in[q];
      Pair<V> all = first;
      for (int i = 0; i < half; ++i) {
        Pair<V> x = in[q + distance * (i + 1)], y = in[q + distance * (r - 1 - i)];
        sums[i] = x + y, differences[i] = x - y;
        all = all + sums[i];
      }
      out[q] = all;
      for (int j = 1; j <= half; ++j) {
        Pair<V> a = first, b{};
        for (int i = 0, at = j; i < half; ++i, at = at + j >= r ? at + j - r : at + j) {
          const T c = circle[2 * at], d = circle[2 * at + 1];
          a = {a.re + sums[i].re * c, a.im + sums[i].im * c};
          b = {b.re + differences[i].re * d, b.im + differences[i].im * d};
        }
        const T *here = roots + 2 * j - 2, *there = roots + 2 * (r - j) - 2;
        out[q + s * j] = times(Pair<V>{a.re - b.im, a.im + b.re}, here[0], here[1]);
        out[q + s * (r - j)] = times(Pair<V>{a.re + b.im, a.im - b.re}, there[0], there[1]);
      }
    }
}

template <class V, class T>
T* transform(const FourierPlan<T>& plan, T* x, T* work) {
  auto *in = reinterpret_cast<Pair<V>*>(x), *out = reinterpret_cast<Pair<V>*>(work);
  const T* roots = plan.roots.data();
  std::int64_t m = plan.n, s = 1;
  for (int r : plan.factors) {
    m /= r;
    const T* circle = plan.circles[r].data();
    switch (r) {
      case 2: pass<2>(in, out, m, s, roots, circle); break;
      case 3: pass<3>(in, out, m, s, roots, circle); break;
      case 4: pass<4>(in, out, m, s, roots, circle); break;
      case 5: pass<5>(in, out, m, s, roots, circle); break;
      case 7: pass<7>(in, out, m, s, roots, circle); break;
      case 8: pass<8>(in, out, m, s, roots, circle); break;
      case 11: pass<11>(in, out, m, s, roots, circle); break;
      case 13: pass<13>(in, out, m, s, roots, circle); break;
      default: pass_any(r, in, out, m, s, roots, circle); break;
    }
    roots += 2 * (r - 1) * m;
    s *= r;
    std::swap(in, out);
  }
  return reinterpret_cast<T*>(in);
}

// ---- vectors in and out -------------------------------------------------------------------------

template <class T>
inline Lanes<T> vector_from(const T* in) noexcept {
  Lanes<T> x;
  std::memcpy(&x, in, sizeof x);
  return x;
}
template <class T>
inline void store(Lanes<T> x, T* out) noexcept {
  std::memcpy(out, &x, sizeof x);
}

template <class V, std::size_t... i>
inline V zipped_low(V a, V b, std::index_sequence<i...>) noexcept {
  return shuffled<(i / 2 + i % 2 * sizeof...(i))...>(a, b);
}
template <class V, std::size_t... i>
inline V zipped_high(V a, V b, std::index_sequence<i...>) noexcept {
  return shuffled<(sizeof...(i) / 2 + i / 2 + i % 2 * sizeof...(i))...>(a, b);
}
template <class V, std::size_t... i>
inline V even_ones(V a, V b, std::index_sequence<i...>) noexcept {
  return shuffled<2 * i...>(a, b);
}
template <class V, std::size_t... i>
inline V odd_ones(V a, V b, std::index_sequence<i...>) noexcept {
  return shuffled<(2 * i + 1)...>(a, b);
}

// Complex numbers in a row, as many as there are lanes.
template <class T>
inline Pair<Lanes<T>> pairs_from(const T* in, bool forward) noexcept {
  constexpr std::make_index_sequence<lanes_of<T>> all;
  Lanes<T> a = vector_from(in), b = vector_from(in + lanes_of<T>);
  Lanes<T> re = even_ones(a, b, all), im = odd_ones(a, b, all);
  return forward ? Pair<Lanes<T>>{re, im} : Pair<Lanes<T>>{im, re};
}
template <class T>
inline void store_pairs(Pair<Lanes<T>> x, bool forward, T* out) noexcept {
  constexpr std::make_index_sequence<lanes_of<T>> all;
  Lanes<T> re = forward ? x.re : x.im, im = forward ? x.im : x.re;
  store(zipped_low(re, im, all), out);
  store(zipped_high(re, im, all), out + lanes_of<T>);
}

// Rows become columns: the first half is zipped with the second one as often as it takes.
template <class T>
inline void transpose(Lanes<T>* x) noexcept {
  constexpr std::size_t n = lanes_of<T>;
  constexpr std::make_index_sequence<n> all;
  for (std::size_t done = 1; done < n; done *= 2) {
    Lanes<T> y[n];
    for (std::size_t i = 0; i < n / 2; ++i)
      y[2 * i] = zipped_low(x[i], x[i + n / 2], all), y[2 * i + 1] = zipped_high(x[i], x[i + n / 2], all);
    for (std::size_t i = 0; i < n; ++i) x[i] = y[i];
  }
}

template <class T>
void read(const T* in, std::int64_t n, std::int64_t stride, std::int64_t lane_stride, std::size_t count, bool forward,
          T* x) {
  constexpr std::size_t lanes = lanes_of<T>;
  auto* to = reinterpret_cast<Pair<Lanes<T>>*>(x);
  std::int64_t k = 0;
  if (count == lanes && lane_stride == 1) {
    for (; k < n; ++k) to[k] = pairs_from(in + 2 * k * stride, forward);
  } else if (count == lanes && stride == 1) {
    for (; k + static_cast<std::int64_t>(lanes) <= n; k += lanes) {
      Lanes<T> re[lanes], im[lanes];
      for (std::size_t l = 0; l < lanes; ++l) {
        auto row = pairs_from(in + 2 * (k + static_cast<std::int64_t>(l) * lane_stride), forward);
        re[l] = row.re, im[l] = row.im;
      }
      transpose<T>(re), transpose<T>(im);
      for (std::size_t l = 0; l < lanes; ++l) to[k + static_cast<std::int64_t>(l)] = {re[l], im[l]};
    }
  }
  for (; k < n; ++k) {
    T* one = x + 2 * lanes * static_cast<std::size_t>(k);
    for (std::size_t l = 0; l < lanes; ++l) {
      const T* at = in + 2 * (k * stride + static_cast<std::int64_t>(l) * lane_stride);
      one[l] = l < count ? at[!forward] : T{0};
      one[lanes + l] = l < count ? at[forward] : T{0};
    }
  }
}

template <class T>
void write(const T* x, std::int64_t n, std::int64_t stride, std::int64_t lane_stride, std::size_t count, bool forward,
           T scale, T* out) {
  constexpr std::size_t lanes = lanes_of<T>;
  auto* from = reinterpret_cast<const Pair<Lanes<T>>*>(x);
  std::int64_t k = 0;
  if (count == lanes && lane_stride == 1) {
    for (; k < n; ++k) store_pairs<T>({from[k].re * scale, from[k].im * scale}, forward, out + 2 * k * stride);
  } else if (count == lanes && stride == 1) {
    for (; k + static_cast<std::int64_t>(lanes) <= n; k += lanes) {
      Lanes<T> re[lanes], im[lanes];
      for (std::size_t l = 0; l < lanes; ++l) {
        auto& one = from[k + static_cast<std::int64_t>(l)];
        re[l] = one.re * scale, im[l] = one.im * scale;
      }
      transpose<T>(re), transpose<T>(im);
      for (std::size_t l = 0; l < lanes; ++l)
        store_pairs<T>({re[l], im[l]}, forward, out + 2 * (k + static_cast<std::int64_t>(l) * lane_stride));
    }
  }
  for (; k < n; ++k) {
    const T* one = x + 2 * lanes * static_cast<std::size_t>(k);
    for (std::size_t l = 0; l < count; ++l) {
      T* at = out + 2 * (k * stride + static_cast<std::int64_t>(l) * lane_stride);
      at[!forward] = one[l] * scale, at[forward] = one[lanes + l] * scale;
    }
  }
}

// ---- one transform in all lanes -----------------------------------------------------------------

// A transform of as many numbers as there are lanes.
template <std::size_t n, class T>
inline void lane_butterfly(Pair<Lanes<T>>* x) noexcept {
  if constexpr (n <= 8) {
    butterfly<static_cast<int>(n), Lanes<T>, T>(x, nullptr);
  } else {
    constexpr T c = static_cast<T>(0.92387953251128675613), s = static_cast<T>(0.38268343236508977173),
                h = static_cast<T>(0.70710678118654752440);
    constexpr T re[] = {1, c, h, s, 0, -s, -h, -c}, im[] = {0, -s, -h, -c, -1, -c, -h, -s};
    Pair<Lanes<T>> even[8], odd[8];
    for (int i = 0; i < 8; ++i) even[i] = x[2 * i], odd[i] = x[2 * i + 1];
    butterfly<8, Lanes<T>, T>(even, nullptr), butterfly<8, Lanes<T>, T>(odd, nullptr);
    for (int i = 0; i < 8; ++i) {
      auto w = i == 0 ? odd[i] : times(odd[i], re[i], im[i]);
      x[i] = even[i] + w, x[i + 8] = even[i] - w;
    }
  }
}

// Elements k to k + count of the parts, and of each the ones that follow from them. Zeros that nobody reads would be
// written for every full block, too, if `count` were not known to the compiler there.
template <class T, class Count>
inline void join_block(const Pair<Lanes<T>>* from, const T* roots, Count count, bool forward, T scale, std::size_t n,
                       T* out) noexcept {
  constexpr std::size_t lanes = lanes_of<T>;
  constexpr bool is_full = !std::is_same_v<Count, std::size_t>;
  Lanes<T> re[lanes], im[lanes];
  for (std::size_t i = 0; i < lanes; ++i) {
    if (!is_full && i >= count) {
      re[i] = im[i] = Lanes<T>{};
    } else {
      auto one = times(from[i], vector_from(roots + 2 * lanes * i), vector_from(roots + 2 * lanes * i + lanes));
      re[i] = one.re * scale, im[i] = one.im * scale;
    }
  }
  transpose<T>(re), transpose<T>(im);
  Pair<Lanes<T>> y[lanes];
  for (std::size_t l = 0; l < lanes; ++l) y[l] = {re[l], im[l]};
  lane_butterfly<lanes, T>(y);
  for (std::size_t j = 0; j < lanes; ++j) {
    T* to = out + 2 * n * j;
    if constexpr (is_full) {
      store_pairs<T>(y[j], forward, to);
    } else {
      for (std::size_t i = 0; i < count; ++i) to[2 * i + !forward] = y[j].re[i], to[2 * i + forward] = y[j].im[i];
    }
  }
}

template <class T>
void join(const FourierPlan<T>& plan, const T* x, bool forward, T scale, T* out) {
  constexpr std::size_t lanes = lanes_of<T>;
  auto* from = reinterpret_cast<const Pair<Lanes<T>>*>(x);
  const T* roots = plan.lane_roots.data();
  const auto n = static_cast<std::size_t>(plan.n);
  std::size_t k = 0;
  for (; k + lanes <= n; k += lanes)
    join_block<T>(from + k, roots + 2 * lanes * k, std::integral_constant<std::size_t, lanes>{}, forward, scale, n,
                  out + 2 * k);
  if (k < n) join_block<T>(from + k, roots + 2 * lanes * k, n - k, forward, scale, n, out + 2 * k);
}

template <class T>
void multiply(const T* x, const T* w, std::int64_t n, bool in, bool out, T scale, T* to) {
  constexpr auto lanes = static_cast<std::int64_t>(lanes_of<T>);
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes) {
    auto root = pairs_from(w + 2 * k, true);
    auto made = times(pairs_from(x + 2 * k, in), root.re, root.im);
    store_pairs<T>({made.re * scale, made.im * scale}, out, to + 2 * k);
  }
  for (; k < n; ++k) {
    auto made = times(Pair<T>{x[2 * k + !in], x[2 * k + in]}, w[2 * k], w[2 * k + 1]);
    to[2 * k + !out] = made.re * scale, to[2 * k + out] = made.im * scale;
  }
}

template <class T>
void turn(T* x, std::int64_t n, const T* coarse, const T* fine) {
  auto* at = reinterpret_cast<Pair<Lanes<T>>*>(x);
  auto *a = reinterpret_cast<const Pair<Lanes<T>>*>(coarse), *b = reinterpret_cast<const Pair<Lanes<T>>*>(fine);
  for (std::int64_t k = 0; k < n; ++k) {
    auto root = times(a[k / 32], b[k % 32].re, b[k % 32].im);
    at[k] = times(at[k], root.re, root.im);
  }
}

// ---- real numbers -------------------------------------------------------------------------------

template <class V>
struct Two {
  Pair<V> here, opposite;
};

// An even number of real numbers in a row is half as many complex ones, whose transform is that of those at even
// indices plus i times that of the others: from element k and the conjugate of element h - k follow both.
struct PartHalves {
  template <class V, class W, class T>
  static Two<V> apply(Pair<V> a, Pair<V> b, Pair<W> w, T sign, T half = T{0.5}) noexcept {
    Pair<V> even{(a.re + b.re) * half, (a.im - b.im) * half}, odd{(a.im + b.im) * half, (b.re - a.re) * half};
    Pair<V> d = times(odd, w.re, w.im);
    return {{even.re + d.re, (even.im + d.im) * sign}, {even.re - d.re, (d.im - even.im) * sign}};
  }
};

// The reverse of it.
struct JoinHalves {
  template <class V, class W, class T>
  static Two<V> apply(Pair<V> a, Pair<V> b, Pair<W> w, T sign) noexcept {
    Pair<V> even{a.re + b.re, (a.im - b.im) * sign}, odd{a.re - b.re, (a.im + b.im) * sign};
    Pair<V> d = times(odd, w.im, w.re);  // i times the conjugate of w
    return {{even.re + d.re, even.im + d.im}, {even.re - d.re, d.im - even.im}};
  }
};

template <class V, std::size_t... i>
inline V reversed(V a, std::index_sequence<i...>) noexcept {
  return shuffled<(sizeof...(i) - 1 - i)...>(a, a);
}
template <class T>
inline Pair<Lanes<T>> reversed(Pair<Lanes<T>> x) noexcept {
  constexpr std::make_index_sequence<lanes_of<T>> all;
  return {reversed(x.re, all), reversed(x.im, all)};
}

// Elements k and h - k for k from 1 on, within `begin` to `end`.
template <class Halves, class T>
void opposites(const T* in, T* out, std::int64_t h, const T* roots, T sign, std::int64_t begin, std::int64_t end) {
  constexpr auto lanes = static_cast<std::int64_t>(lanes_of<T>);
  std::int64_t k = begin > 0 ? begin : 1;
  for (; k + lanes <= end && 2 * k + 2 * lanes - 2 < h; k += lanes) {
    std::int64_t last = h - k - lanes + 1;
    auto made = Halves::apply(pairs_from(in + 2 * k, true), reversed<T>(pairs_from(in + 2 * last, true)),
                              pairs_from(roots + 2 * k, true), sign);
    store_pairs<T>(made.here, true, out + 2 * k);
    store_pairs<T>(reversed<T>(made.opposite), true, out + 2 * last);
  }
  auto at = [](const T* x, std::int64_t i) { return Pair<T>{x[2 * i], x[2 * i + 1]}; };
  for (; k < end; ++k) {
    auto made = Halves::apply(at(in, k), at(in, h - k), at(roots, k), sign);
    out[2 * (h - k)] = made.opposite.re, out[2 * (h - k) + 1] = made.opposite.im;
    out[2 * k] = made.here.re, out[2 * k + 1] = made.here.im;
  }
}

template <class T>
void part_halves(const T* z, T* out, std::int64_t h, const T* roots, T sign, std::int64_t begin, std::int64_t end) {
  opposites<PartHalves>(z, out, h, roots, sign, begin, end);
  if (begin == 0) out[0] = z[0] + z[1], out[1] = 0, out[2 * h] = z[0] - z[1], out[2 * h + 1] = 0;
}

template <class T>
void join_halves(const T* x, T* z, std::int64_t h, const T* roots, T sign, std::int64_t begin, std::int64_t end) {
  opposites<JoinHalves>(x, z, h, roots, sign, begin, end);
  if (begin == 0) z[0] = x[0] + x[2 * h], z[1] = x[0] - x[2 * h];
}

// The same of sequences side by side, from h elements to h + 1, times a number, or back.
template <class T>
void part_lanes(const T* z, T* out, std::int64_t h, const T* roots, T sign, T scale) {
  auto* in = reinterpret_cast<const Pair<Lanes<T>>*>(z);
  auto* to = reinterpret_cast<Pair<Lanes<T>>*>(out);
  const T half = scale * T{0.5};
  const Lanes<T> zero{};
  auto run = [&](auto direction) {
    for (std::int64_t k = 1; k <= h - k; ++k) {
      Pair<Lanes<T>> a{in[k].re * half, in[k].im * half}, b{in[h - k].re * half, in[h - k].im * half};
      Pair<T> root{roots[2 * k], roots[2 * k + 1]};
      auto made = PartHalves::apply(a, b, root, static_cast<T>(direction.value), T{1});
      to[h - k] = made.opposite, to[k] = made.here;
    }
  };
  if (sign > 0) run(std::integral_constant<int, 1>{});
  else run(std::integral_constant<int, -1>{});
  Lanes<T> re = in[0].re * scale, im = in[0].im * scale;
  to[0] = {re + im, zero}, to[h] = {re - im, zero};
}

template <class T>
void join_lanes(const T* x, T* z, std::int64_t h, const T* roots, T sign) {
  auto* in = reinterpret_cast<const Pair<Lanes<T>>*>(x);
  auto* to = reinterpret_cast<Pair<Lanes<T>>*>(z);
  auto put = [&](std::int64_t i, Pair<Lanes<T>> one) { to[i] = {one.im, one.re}; };  // backwards
  for (std::int64_t k = 1; k <= h - k; ++k) {
    Pair<T> root{roots[2 * k], roots[2 * k + 1]};
    auto made = JoinHalves::apply(in[k], in[h - k], root, sign);
    put(h - k, made.opposite), put(k, made.here);
  }
  put(0, {in[0].re + in[h].re, in[0].re - in[h].re});
}

template <class T>
constexpr FourierKernels<T> table_of() {
  return {lanes_of<T>, read<T>, write<T>,       transform<Lanes<T>, T>, transform<T, T>, join<T>,
          multiply<T>, turn<T>, part_halves<T>, join_halves<T>,         part_lanes<T>,   join_lanes<T>};
}

}  // namespace

SUANZI_TABLE(FourierTables, fourier_kernels, {table_of<float>(), table_of<double>()})

}  // namespace suanzi
