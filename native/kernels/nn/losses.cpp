// native/kernels/nn/losses.cpp: nn 9: the loops of losses.
//
// Pairs are computed in vectors, and shares of rows in float64; the exponentials of rows are those of softmax
// (nn_rows.h). Blocks add up in float64, 16 sums by halves, so that no level changes the order.
#include "kernels/common.inc"

#include "kernels/nn/losses.h"

#define xsimd SUANZI_XSIMD  // one copy of the library per level, so that the linker cannot mix them
#include "kernels/vectors/vectors.inc"

#include "kernels/functions/logarithm.inc"

#include "kernels/functions/exponential.inc"
#undef xsimd

namespace suanzi {
namespace {

// ---- pairs --------------------------------------------------------------------------------------

// Each has value(x, y, positive, parameter) and the derivatives of it by x and by y.
struct Mse {
  template <class B>
  static B value(B x, B y, B, B) noexcept {
    B d = x - y;
    return d * d;
  }
  template <class B>
  static void derive(B x, B y, B, B, B& by_x, B& by_y) noexcept {
    B d = x - y;
    by_x = d + d;
    by_y = -by_x;
  }
};

// -1, 0 or 1; NaN of NaN.
template <class B>
inline B sign_of(B d) noexcept {
  using T = Element<B>;
  return xs::select(d > B(T{0}), B(T{1}), xs::select(d < B(T{0}), B(T{-1}), xs::select(d == d, B(T{0}), d)));
}

struct L1 {
  template <class B>
  static B value(B x, B y, B, B) noexcept {
    return xs::abs(x - y);
  }
  template <class B>
  static void derive(B x, B y, B, B, B& by_x, B& by_y) noexcept {
    by_x = sign_of(x - y);
    by_y = -by_x;
  }
};

struct SmoothL1 {
  template <class B>
  static B value(B x, B y, B, B beta) noexcept {
    using T = Element<B>;
    B d = xs::abs(x - y), half(T{0.5});
    return xs::select(d < beta, half * d * (d / beta), d - half * beta);
  }
  template <class B>
  static void derive(B x, B y, B, B beta, B& by_x, B& by_y) noexcept {
    B d = x - y;
    by_x = xs::select(xs::abs(d) < beta, d / beta, sign_of(d));
    by_y = -by_x;
  }
};

struct Huber {
  template <class B>
  static B value(B x, B y, B, B delta) noexcept {
    using T = Element<B>;
    B d = xs::abs(x - y), half(T{0.5});
    return xs::select(d <= delta, half * d * d, delta * (d - half * delta));
  }
  template <class B>
  static void derive(B x, B y, B, B delta, B& by_x, B& by_y) noexcept {
    B d = x - y;
    by_x = xs::select(xs::abs(d) <= delta, d, delta * sign_of(d));
    by_y = -by_x;
  }
};

// y (log(y) - x), of which y log(y) is 0 where y is.
struct KlDiv {
  template <class B>
  static B value(B x, B y, B, B) noexcept {
    using T = Element<B>;
    B zero(T{0});
    return xs::select(y == zero, -(x * y), y * (log::apply(y) - x));
  }
  template <class B>
  static void derive(B x, B y, B, B, B& by_x, B& by_y) noexcept {
    by_x = -y;
    by_y = (log::apply(y) - x) + B(Element<B>{1});
  }
};

struct KlDivLog {
  template <class B>
  static B value(B x, B y, B, B) noexcept {
    return exp::apply(y) * (y - x);
  }
  template <class B>
  static void derive(B x, B y, B, B, B& by_x, B& by_y) noexcept {
    B e = exp::apply(y);
    by_x = -e;
    by_y = e * ((y - x) + B(Element<B>{1}));
  }
};

// Logarithms are at least -100, so that the loss of a certain and wrong prediction is finite.
struct Bce {
  template <class B>
  static B at_least(B x) noexcept {
    B least(Element<B>{-100});
    return xs::select(x < least, least, x);
  }
  template <class B>
  static B value(B x, B y, B, B) noexcept {
    B one(Element<B>{1});
    return (y - one) * at_least(log1p::apply(-x)) - y * at_least(log::apply(x));
  }
  template <class B>
  static void derive(B x, B y, B, B, B& by_x, B& by_y) noexcept {
    B one(Element<B>{1});
    // The derivative is that of the loss without bounds, but for a divisor that is not below 1e-12.
    B divisor = (one - x) * x, least(static_cast<Element<B>>(1e-12));
    by_x = (x - y) / xs::select(divisor < least, least, divisor);
    by_y = at_least(log1p::apply(-x)) - at_least(log::apply(x));
  }
};

struct BceWithLogits {
  template <class B>
  static B value(B x, B y, B positive, B) noexcept {
    using T = Element<B>;
    B one(T{1}), zero(T{0}), factor = one + (positive - one) * y;
    B softplus = log1p::apply(exp::apply(-xs::abs(x))) + xs::select(x < zero, -x, zero);
    return (one - y) * x + factor * softplus;
  }
  template <class B>
  static void derive(B x, B y, B positive, B, B& by_x, B& by_y) noexcept {
    using T = Element<B>;
    B one(T{1}), zero(T{0}), factor = one + (positive - one) * y;
    B e = exp::apply(-xs::abs(x)), q = one / (one + e);
    B below = xs::select(x < zero, q, e * q);  // sigmoid(-x)
    B softplus = log1p::apply(e) + xs::select(x < zero, -x, zero);
    by_x = (one - y) - factor * below;
    by_y = (positive - one) * softplus - x;
  }
};

// Calls body(i, count, load) for whole batches; the last is padded with ones by `load`.
template <class T, class F>
inline void each_batch(std::size_t n, F&& body) {
  using B = Batch<T>;
  std::size_t i = 0;
  for (; i + B::size <= n; i += B::size) body(i, [i](const T* x) { return B::load_unaligned(x + i); }, B::size);
  if (i == n) return;
  auto some = [i, n](const T* x) {
    alignas(64) T padded[B::size];
    for (std::size_t j = 0; j < B::size; ++j) padded[j] = i + j < n ? x[i + j] : T{1};
    return B::load_aligned(padded);
  };
  body(i, some, n - i);
}

template <class T>
inline void put(Batch<T> made, T* out, std::size_t count) {
  if (count == Batch<T>::size) return made.store_unaligned(out);
  alignas(64) T padded[Batch<T>::size];
  made.store_aligned(padded);
  std::memcpy(out, padded, count * sizeof(T));
}

template <class F, class T>
void value_loop(const void* a, const void* b, const void* c, double parameter, void* out, std::size_t n) {
  auto *x = static_cast<const T*>(a), *y = static_cast<const T*>(b), *positive = static_cast<const T*>(c);
  auto* z = static_cast<T*>(out);
  Batch<T> p(static_cast<T>(parameter)), one(T{1});
  each_batch<T>(n, [&](std::size_t i, auto load, std::size_t count) {
    put<T>(F::value(load(x), load(y), positive ? load(positive) : one, p), z + i, count);
  });
}

template <class F, class T>
void derivative_loop(const void* a, const void* b, const void* c, double parameter, void* by_x, void* by_y,
                     std::size_t n) {
  auto *x = static_cast<const T*>(a), *y = static_cast<const T*>(b), *positive = static_cast<const T*>(c);
  auto *dx = static_cast<T*>(by_x), *dy = static_cast<T*>(by_y);
  Batch<T> p(static_cast<T>(parameter)), one(T{1});
  each_batch<T>(n, [&](std::size_t i, auto load, std::size_t count) {
    Batch<T> found_x, found_y;
    F::derive(load(x), load(y), positive ? load(positive) : one, p, found_x, found_y);
    put<T>(found_x, dx + i, count);
    put<T>(found_y, dy + i, count);
  });
}

template <class T>
void multiply_loop(void* x, const void* by, std::size_t n) {
  auto *y = static_cast<T*>(x), *factors = static_cast<const T*>(by);
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) y[i] *= factors[i];
}

template <class T>
void scale_loop(void* x, double factor, std::size_t n) {
  auto* y = static_cast<T*>(x);
  auto by = static_cast<T>(factor);
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) y[i] *= by;
}

// ---- sums ---------------------------------------------------------------------------------------

constexpr std::size_t chains = 16;

// 16 sums of every sixteenth element, then by halves.
inline double by_halves(double (&part)[chains]) noexcept {
  for (std::size_t half = chains / 2; half; half /= 2)
    for (std::size_t j = 0; j < half; ++j) part[j] += part[j + half];
  return part[0];
}

// The sum of f(i) for i < n.
template <class F>
inline double sum_of(std::size_t n, F f) {
  double part[chains] = {};
  std::size_t i = 0;
  for (; i + chains <= n; i += chains)
    for (std::size_t j = 0; j < chains; ++j) part[j] += f(i + j);
  for (std::size_t j = 0; i + j < n; ++j) part[j] += f(i + j);
  return by_halves(part);
}

template <class T>
double sum_loop(const void* in, std::size_t n) {
  auto* x = static_cast<const T*>(in);
  return sum_of(n, [&](std::size_t i) { return static_cast<double>(x[i]); });
}

// ---- rows ---------------------------------------------------------------------------------------

// The share of element i.
template <class T>
struct ShareOf {
  const T *probabilities, *weights;
  double scale, constant;

  explicit ShareOf(const Shares& s)
      : probabilities(static_cast<const T*>(s.probabilities)), weights(static_cast<const T*>(s.weights)),
        scale(s.scale), constant(s.constant) {}
  double operator()(std::size_t i) const {
    double share = probabilities ? scale * static_cast<double>(probabilities[i]) + constant : constant;
    return weights ? share * static_cast<double>(weights[i]) : share;
  }
};

template <class T>
double cross_loop(const void* in, const Shares& shares, double largest, double log_sum, std::size_t n) {
  auto* x = static_cast<const T*>(in);
  ShareOf<T> share(shares);
  return sum_of(n, [&](std::size_t i) { return share(i) * ((largest - static_cast<double>(x[i])) + log_sum); });
}

template <class T>
double shares_loop(const Shares& shares, std::size_t n) {
  ShareOf<T> share(shares);
  return sum_of(n, share);
}

template <class T>
void gradient_loop(void* e, const Shares& shares, double factor, std::size_t n) {
  auto* y = static_cast<T*>(e);
  auto by = static_cast<T>(factor);
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) y[i] *= by;
  if (!shares.probabilities && !shares.constant) return;
  ShareOf<T> share(shares);
  for (std::size_t i = 0; i < n; ++i) y[i] -= static_cast<T>(share(i));
}

template <class F>
void fill(LossKernels& k, PairLoss loss) {
  auto at = static_cast<std::size_t>(loss);
  k.value[at][0] = value_loop<F, f32>;
  k.value[at][1] = value_loop<F, f64>;
  k.derivatives[at][0] = derivative_loop<F, f32>;
  k.derivatives[at][1] = derivative_loop<F, f64>;
}

LossKernels make() {
  LossKernels k{};
  fill<Mse>(k, PairLoss::mse);
  fill<L1>(k, PairLoss::l1);
  fill<SmoothL1>(k, PairLoss::smooth_l1);
  fill<Huber>(k, PairLoss::huber);
  fill<KlDiv>(k, PairLoss::kl_div);
  fill<KlDivLog>(k, PairLoss::kl_div_log);
  fill<Bce>(k, PairLoss::bce);
  fill<BceWithLogits>(k, PairLoss::bce_with_logits);
  auto both = [&]<class T>(std::size_t lane) {
    k.multiply[lane] = multiply_loop<T>;
    k.scale[lane] = scale_loop<T>;
    k.sum[lane] = sum_loop<T>;
    k.cross[lane] = cross_loop<T>;
    k.sum_of_shares[lane] = shares_loop<T>;
    k.row_gradient[lane] = gradient_loop<T>;
  };
  both.template operator()<f32>(0);
  both.template operator()<f64>(1);
  return k;
}

}  // namespace

SUANZI_TABLE(LossKernels, loss_kernels, make())

}  // namespace suanzi
