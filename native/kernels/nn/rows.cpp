// native/kernels/nn/rows.cpp: nn 2, 3: softmaxes and norms: loops over parts of rows.
//
// Each loop is one pass over elements that lie in a cache after the first: the largest, the exponentials, the result.
// A mean and a factor are float64 and enter as two float32, so that neither adds a rounding.
#include "kernels/common.inc"

#include "kernels/formats.inc"
#include "kernels/nn/rows.h"

#define xsimd SUANZI_XSIMD  // one copy of the library per level, so that the linker cannot mix them
#include "kernels/vectors/vectors.inc"

#include "kernels/functions/logarithm.inc"

#include "kernels/functions/exponential.inc"

#include "kernels/nn/rows_vectors.inc"
#undef xsimd

namespace suanzi {
namespace {
namespace rows {

#define SUANZI_ROW __attribute__((flatten))

template <class S>
struct Loops {
  using T = typename S::Lane;
  using B = Batch<T>;
  using Bits = typename S::Bits;
  using Wide = Plain<T>;

  static const Bits* stored(const void* x) noexcept { return static_cast<const Bits*>(x); }
  static const T* wide(const void* x) noexcept { return static_cast<const T*>(x); }

  // ---- softmaxes --------------------------------------------------------------------------------

  SUANZI_ROW static f64 largest(const void* in, std::size_t n) {
    auto* x = stored(in);
    constexpr T lowest = -std::numeric_limits<T>::infinity();
    // Where one is NaN, the second operand is the larger here: on x86 by definition, elsewhere by the comparison.
    auto larger = [](B v, B most) { return xs::select(v > most, v, most); };
    B most[4] = {B(lowest), B(lowest), B(lowest), B(lowest)};
    std::size_t i = 0;
    for (; i + 4 * B::size <= n; i += 4 * B::size)
      for (std::size_t k = 0; k < 4; ++k) most[k] = larger(S::load(x + i + k * B::size), most[k]);
    for (; i + B::size <= n; i += B::size) most[0] = larger(S::load(x + i), most[0]);
    alignas(64) T found[B::size];
    larger(larger(most[0], most[1]), larger(most[2], most[3])).store_aligned(found);
    if (i < n) {
      alignas(64) T rest[B::size];
      Part{i, n - i}.template load<S>(x).store_aligned(rest);
      for (std::size_t j = 0; i + j < n; ++j) found[0] = rest[j] > found[0] ? rest[j] : found[0];
    }
    for (std::size_t j = 1; j < B::size; ++j) found[0] = found[j] > found[0] ? found[j] : found[0];
    return found[0];
  }

  // exp(x - middle). What the difference of two float32 or float64 loses counts; that of narrower ones does not.
  static B exponential(B x, B middle) noexcept {
    if constexpr (sizeof(Bits) != sizeof(T)) return exp::apply(x - middle);
    B lost, difference = sum_exactly(x, -middle, lost);
    return exp_with_tail(difference, lost);
  }

  SUANZI_ROW static f64 exponentials(const void* in, f64 centre, void* out, std::size_t n) {
    auto* x = stored(in);
    auto* e = static_cast<T*>(out);
    B middle(static_cast<T>(centre));
    f64 total[1];
    if (e)
      sums_of<T>(n, total, [&](auto at, B(&v)[1]) {
        v[0] = exponential(at.template load<S>(x), middle);
        at.template store<Wide>(e, v[0]);
      });
    else sums_of<T>(n, total, [&](auto at, B(&v)[1]) { v[0] = exponential(at.template load<S>(x), middle); });
    return total[0];
  }

  SUANZI_ROW static f64 exponentials_below(const void* in, f64 centre, std::size_t n) {
    auto* x = stored(in);
    B middle(static_cast<T>(centre));
    f64 total[1];
    sums_of<T>(n, total, [&](auto at, B(&v)[1]) {
      B given = at.template load<S>(x);
      v[0] = xs::select(given == middle, B(T{0}), exponential(given, middle));
    });
    return total[0];
  }

  template <bool streams, class F>
  __attribute__((always_inline)) static void write(void* out, std::size_t n, F f) noexcept {
    auto* y = static_cast<Bits*>(out);
    each_vector<B>(n, [&](auto at) { at.template store<S, streams>(y, f(at)); });
  }
  template <class F>
  __attribute__((always_inline)) static void write(void* out, std::size_t n, bool streams, F f) noexcept {
    streams ? write<true>(out, n, f) : write<false>(out, n, f);
  }

  SUANZI_ROW static void scale(const void* in, f64 factor, void* out, std::size_t n, bool streams) {
    auto* e = wide(in);
    Pair<S> by(factor);
    write(out, n, streams, [&](auto at) { return by.times(at.template load<Wide>(e)); });
  }

  SUANZI_ROW static void shift(const void* in, f64 centre, f64 by, void* out, std::size_t n, bool streams) {
    auto* x = stored(in);
    B middle(static_cast<T>(centre));
    Pair<S> less(by);
    write(out, n, streams, [&](auto at) { return less.below(at.template load<S>(x) - middle); });
  }

  SUANZI_ROW static f64 product(const void* left, const void* right, std::size_t n) {
    auto* e = wide(left);
    auto* g = stored(right);
    f64 total[1];
    sums_of<T>(n, total, [&](auto at, B(&v)[1]) { v[0] = at.template load<Wide>(e) * at.template load<S>(g); });
    return total[0];
  }

  SUANZI_ROW static void softmax_bwd(const void* left, const void* right, f64 factor, f64 mean, void* out,
                                     std::size_t n) {
    auto* e = wide(left);
    auto* g = stored(right);
    Pair<S> by(factor), middle(mean);
    write<false>(out, n,
                 [&](auto at) { return by.times(at.template load<Wide>(e)) * middle.below(at.template load<S>(g)); });
  }

  SUANZI_ROW static void log_softmax_bwd(const void* left, const void* right, f64 factor, void* out, std::size_t n) {
    auto* e = wide(left);
    auto* g = stored(right);
    Pair<S> by(factor);
    write<false>(out, n, [&](auto at) { return at.template load<S>(g) - by.times(at.template load<Wide>(e)); });
  }

  // ---- softmaxes of columns ---------------------------------------------------------------------

  SUANZI_ROW static void column_largest(const void* in, void* found, std::size_t n) {
    auto* x = stored(in);
    auto* most = static_cast<T*>(found);
    each_vector<B>(n, [&](auto at) {
      B v = at.template load<S>(x), before = at.template load<Wide>(most);
      at.template store<Wide>(most, xs::select(v > before, v, before));
    });
  }

  SUANZI_ROW static void column_exponentials(const void* in, const void* centres, void* out, f64* sums, std::size_t n) {
    auto* x = stored(in);
    auto* most = wide(centres);
    auto* e = static_cast<T*>(out);
    each_vector<B>(n, [&](auto at) {
      B v = exponential(at.template load<S>(x), at.template load<Wide>(most));
      at.template store<Wide>(e, v);
      at.add(sums, v);
    });
  }

  SUANZI_ROW static void column_exponentials_below(const void* in, const void* centres, void* equal, f64* sums,
                                                   std::size_t n) {
    auto* x = stored(in);
    auto* most = wide(centres);
    auto* count = static_cast<T*>(equal);
    each_vector<B>(n, [&](auto at) {
      B v = at.template load<S>(x), centre = at.template load<Wide>(most);
      auto is_largest = v == centre;
      at.template store<Wide>(count, at.template load<Wide>(count) + xs::select(is_largest, B(T{1}), B(T{0})));
      at.add(sums, xs::select(is_largest, B(T{0}), exponential(v, centre)));
    });
  }

  SUANZI_ROW static void column_scale(const void* in, const void* factors, void* out, std::size_t n) {
    auto *e = wide(in), *by = wide(factors);
    write<false>(out, n, [&](auto at) { return at.template load<Wide>(e) * at.template load<Wide>(by); });
  }

  SUANZI_ROW static void column_shift(const void* in, const void* centres, const void* logs, void* out, std::size_t n) {
    auto* x = stored(in);
    auto *most = wide(centres), *less = wide(logs);
    write<false>(out, n, [&](auto at) {
      return (at.template load<S>(x) - at.template load<Wide>(most)) - at.template load<Wide>(less);
    });
  }

  // ---- norms ------------------------------------------------------------------------------------

  SUANZI_ROW static f64 sum(const void* in, std::size_t n) {
    auto* x = stored(in);
    f64 total[1];
    // What is next to the mean of float32 numbers needs all of its digits.
    constexpr bool is_narrow = sizeof(Bits) < sizeof(T);
    sums_of<T, is_narrow>(n, total, [&](auto at, B(&v)[1]) { v[0] = at.template load<S>(x); });
    return total[0];
  }

  SUANZI_ROW static f64 squares(const void* in, f64 centre, std::size_t n, bool in_float64) {
    auto* x = stored(in);
    f64 total[1];
    Pair<S> middle(centre);
    if (in_float64 && sizeof(T) == 4) return wide_squares(x, centre, n);
    sums_of<T>(n, total, [&](auto at, B(&v)[1]) {
      B d = middle.below(at.template load<S>(x));
      v[0] = d * d;
    });
    return total[0];
  }
  // Of numbers whose squares overflow or vanish in float32.
  __attribute__((noinline)) static f64 wide_squares(const Bits* x, f64 centre, std::size_t n) noexcept {
    f64 total = 0;
    each_number(x, n, [&](f64 v) { total += (v - centre) * (v - centre); });
    return total;
  }
  // Calls f with each element, one after the other.
  template <class F>
  static void each_number(const Bits* x, std::size_t n, F f) noexcept {
    each_vector<B>(n, [&](auto at) {
      alignas(64) T some[B::size];
      at.template load<S>(x).store_aligned(some);
      std::size_t count = B::size < n - at.i ? B::size : n - at.i;
      for (std::size_t j = 0; j < count; ++j) f(some[j]);
    });
  }

  SUANZI_ROW static void affine(const void* in, f64 centre, f64 factor, const void* weights, const void* biases,
                                f64 one_weight, f64 one_bias, void* out, std::size_t n, bool streams) {
    auto* x = stored(in);
    auto *w = wide(weights), *b = wide(biases);
    Pair<S> middle(centre), by(factor);
    auto normal = [&](auto at) { return by.times(middle.below(at.template load<S>(x))); };
    B weight(static_cast<T>(one_weight)), bias(static_cast<T>(one_bias));
    if (w && b)
      write(out, n, streams,
            [&](auto at) { return xs::fma(normal(at), at.template load<Wide>(w), at.template load<Wide>(b)); });
    else if (w) write(out, n, streams, [&](auto at) { return normal(at) * at.template load<Wide>(w); });
    else if (b) write(out, n, streams, [&](auto at) { return normal(at) + at.template load<Wide>(b); });
    else write(out, n, streams, [&](auto at) { return xs::fma(normal(at), weight, bias); });
  }

  // ---- gradients of norms -----------------------------------------------------------------------

  SUANZI_ROW static void norm_sums(const void* in, const void* gradient, const void* weights, f64 centre, std::size_t n,
                                   f64* sums) {
    auto *x = stored(in), *g = stored(gradient);
    auto* w = wide(weights);
    Pair<S> middle(centre);
    f64 total[2];
    auto put = [&](auto at, B(&v)[2], B weighted) {
      v[0] = weighted;
      v[1] = weighted * middle.below(at.template load<S>(x));
    };
    if (w)
      sums_of<T>(n, total, [&](auto at, B(&v)[2]) { put(at, v, at.template load<S>(g) * at.template load<Wide>(w)); });
    else sums_of<T>(n, total, [&](auto at, B(&v)[2]) { put(at, v, at.template load<S>(g)); });
    sums[0] = total[0], sums[1] = total[1];
  }

  SUANZI_ROW static void norm_bwd(const void* in, const void* gradient, const void* weights, f64 one_weight, f64 centre,
                                  f64 factor, f64 mean, f64 slope, void* out, std::size_t n) {
    auto *x = stored(in), *g = stored(gradient);
    auto* w = wide(weights);
    Pair<S> middle(centre), by(factor), less(mean);
    B weight(static_cast<T>(one_weight)), down(static_cast<T>(slope));
    auto found = [&](auto at, B weighted) {
      return by.times(xs::fnma(middle.below(at.template load<S>(x)), down, less.below(weighted)));
    };
    if (w) write<false>(out, n, [&](auto at) { return found(at, at.template load<S>(g) * at.template load<Wide>(w)); });
    else write<false>(out, n, [&](auto at) { return found(at, at.template load<S>(g) * weight); });
  }

  SUANZI_ROW static void norm_weights(const void* in, const void* gradient, f64 centre, f64 factor, f64* weight_sums,
                                      f64* bias_sums, std::size_t n) {
    auto *x = stored(in), *g = stored(gradient);
    Pair<S> middle(centre), by(factor);
    each_vector<B>(n, [&](auto at) {
      B v = at.template load<S>(g);
      if (weight_sums) at.add(weight_sums, v * by.times(middle.below(at.template load<S>(x))));
      if (bias_sums) at.add(bias_sums, v);
    });
  }

  // ---- lengths and angles -----------------------------------------------------------------------

  SUANZI_ROW static void pair_sums(const void* left, const void* right, std::size_t n, bool in_float64, f64* sums) {
    auto *x = stored(left), *y = stored(right);
    f64 total[3] = {0, 0, 0};
    if (in_float64 && sizeof(T) == 4)
      each_vector<B>(n, [&](auto at) {
        alignas(64) T some[B::size], others[B::size];
        at.template load<S>(x).store_aligned(some);
        at.template load<S>(y).store_aligned(others);
        std::size_t count = B::size < n - at.i ? B::size : n - at.i;
        for (std::size_t j = 0; j < count; ++j) {
          f64 a = some[j], b = others[j];
          total[0] += a * b, total[1] += a * a, total[2] += b * b;
        }
      });
    else
      sums_of<T>(n, total, [&](auto at, B(&v)[3]) {
        B a = at.template load<S>(x), b = at.template load<S>(y);
        v[0] = a * b, v[1] = a * a, v[2] = b * b;
      });
    for (std::size_t i = 0; i < 3; ++i) sums[i] = total[i];
  }

  SUANZI_ROW static void combine(const void* left, const void* right, f64 a, f64 b, void* out, std::size_t n) {
    auto *x = stored(left), *y = stored(right);
    B p(static_cast<T>(a)), q(static_cast<T>(b));
    write<false>(out, n, [&](auto at) { return xs::fma(at.template load<S>(x), p, at.template load<S>(y) * q); });
  }

  static f64 magnitude(const void* in, std::size_t n) {
    f64 most = 0;
    each_number(stored(in), n, [&](f64 v) { most = std::fabs(v) > most || v != v ? std::fabs(v) : most; });
    return most;
  }

  static f64 powers(const void* in, f64 scale, f64 p, std::size_t n) {
    f64 total = 0;
    each_number(stored(in), n, [&](f64 v) {
      f64 size = std::fabs(v) / scale;
      total += p == 1 ? size : p == 0 ? static_cast<f64>(size != 0) : std::pow(size, p);
    });
    return total;
  }

  static RowLoops table() noexcept {
    return {largest,
            exponentials,
            exponentials_below,
            scale,
            shift,
            product,
            softmax_bwd,
            log_softmax_bwd,
            column_largest,
            column_exponentials,
            column_exponentials_below,
            column_scale,
            column_shift,
            sum,
            squares,
            affine,
            norm_sums,
            norm_bwd,
            norm_weights,
            pair_sums,
            combine,
            magnitude,
            powers};
  }
};

}  // namespace rows
}  // namespace

SUANZI_TABLE(RowKernels, row_kernels,
             {{rows::Loops<rows::Plain<f32>>::table(), rows::Loops<rows::Plain<f64>>::table(),
               rows::Loops<rows::Narrowed<Narrow::float16>>::table(),
               rows::Loops<rows::Narrowed<Narrow::bfloat16>>::table()}})

}  // namespace suanzi
