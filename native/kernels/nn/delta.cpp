// native/kernels/nn/delta.cpp: nn 12: the loops of the gated delta rule.
//
// A panel of the state stays in the first-level cache. Each step passes over its rows once: the row is updated, and
// multiplied by what this step asks and by the next step's key, whose sums stay in registers. The rows of a sum are
// added in their order, even and odd ones apart, so that its bits depend on the depth alone.
#include "kernels/common.inc"

#include "kernels/nn/delta.h"

#define xsimd SUANZI_XSIMD  // one copy of the library per level, so that the linker cannot mix them
#include "kernels/vectors/vectors.inc"
#undef xsimd

namespace suanzi {
namespace {
namespace delta {

#define SUANZI_NOW __attribute__((always_inline))

// Of as many vectors as they have lanes, the sum of each.
template <class B>
SUANZI_NOW inline B sums_of_rows(const B* rows) noexcept {
#if defined(__AVX512F__)
  if constexpr (sizeof(Element<B>) == 4) {  // xsimd's are in another order (14.1)
    using Half = xs::batch<f32, xs::avx2>;
    Half halves[16];
    for (int i = 0; i < 16; ++i)
      halves[i] = _mm256_add_ps(_mm512_castps512_ps256(rows[i]), _mm512_extractf32x8_ps(rows[i], 1));
    return B(_mm512_insertf32x8(_mm512_castps256_ps512(xs::haddp(halves)), xs::haddp(halves + 8), 1));
  }
#endif
  return xs::haddp(rows);
}

template <class T>
struct Panel {
  using B = Batch<T>;
#if defined(__aarch64__)  // twice as many registers, half as long
  static constexpr std::size_t vectors = 4, chains = 1;
#else
  static constexpr std::size_t vectors = 2, chains = 2;
#endif
  static constexpr std::size_t size = B::size, width = vectors * size;
  static constexpr auto columns = static_cast<i64>(width);

  // A row of the panel.
  struct Row {
    B at[vectors];

    SUANZI_NOW static Row load(const T* from) noexcept {
      Row x;
      for (std::size_t i = 0; i < vectors; ++i) x.at[i] = B::load_unaligned(from + i * size);
      return x;
    }
    SUANZI_NOW static Row of(T value) noexcept {
      Row x;
      for (std::size_t i = 0; i < vectors; ++i) x.at[i] = B(value);
      return x;
    }
    SUANZI_NOW void store(T* to) const noexcept {
      for (std::size_t i = 0; i < vectors; ++i) at[i].store_unaligned(to + i * size);
    }
    SUANZI_NOW Row times(B by) const noexcept {
      Row x;
      for (std::size_t i = 0; i < vectors; ++i) x.at[i] = at[i] * by;
      return x;
    }
    // this + by x
    SUANZI_NOW Row plus(B by, const Row& x) const noexcept {
      Row y;
      for (std::size_t i = 0; i < vectors; ++i) y.at[i] = xs::fma(by, x.at[i], at[i]);
      return y;
    }
    SUANZI_NOW Row minus(B by, const Row& x) const noexcept {
      Row y;
      for (std::size_t i = 0; i < vectors; ++i) y.at[i] = xs::fnma(by, x.at[i], at[i]);
      return y;
    }
    SUANZI_NOW void add(const Row& x, const Row& y) noexcept {
      for (std::size_t i = 0; i < vectors; ++i) at[i] = xs::fma(x.at[i], y.at[i], at[i]);
    }
    // Zeros where a mask has none of its bits, whatever is there.
    SUANZI_NOW Row masked(const Row& bits) const noexcept {
      Row x;
      for (std::size_t i = 0; i < vectors; ++i) x.at[i] = at[i] & bits.at[i];
      return x;
    }
    // The products with another row, as many sums as a vector has lanes.
    SUANZI_NOW B products(const Row& x) const noexcept {
      B sum = at[0] * x.at[0];
      for (std::size_t i = 1; i < vectors; ++i) sum = xs::fma(at[i], x.at[i], sum);
      return sum;
    }
  };

  // Sums over rows, in chains that wait for one another.
  struct Sums {
    Row part[chains];

    SUANZI_NOW Sums() noexcept {
      for (Row& one : part) one = Row::of(T{0});
    }
    SUANZI_NOW void add(std::size_t chain, B by, const Row& x) noexcept { part[chain] = part[chain].plus(by, x); }
    SUANZI_NOW Row total() const noexcept {
      Row x = part[0];
      for (std::size_t c = 1; c < chains; ++c)
        for (std::size_t i = 0; i < vectors; ++i) x.at[i] += part[c].at[i];
      return x;
    }
  };

  // f(row, chain) for each row.
  template <class F>
  SUANZI_NOW static void each_row(i64 depth, F f) noexcept {
    i64 i = 0;
    for (; i + static_cast<i64>(chains) <= depth; i += static_cast<i64>(chains))
      for (std::size_t c = 0; c < chains; ++c) f(i + static_cast<i64>(c), c);
    if constexpr (chains > 1)
      if (i < depth) f(i, 0);
  }

  // What the state says to the first key: the sum of its decayed rows times k. `stores`: the rows are decayed in place.
  template <bool stores>
  SUANZI_NOW static Row answer(std::conditional_t<stores, T*, const T*> state, T decay, const T* k,
                               i64 depth) noexcept {
    Sums found;
    each_row(depth, [&](i64 i, std::size_t c) SUANZI_NOW {
      Row row = Row::load(state + i * columns).times(B(decay));
      if constexpr (stores) row.store(state + i * columns);
      found.add(c, B(k[i]), row);
    });
    return found.total();
  }

  static const T* numbers(const void* x) noexcept { return static_cast<const T*>(x); }

  static void forward(const DeltaSteps& of, void* state, void* results) {
    results ? advance<true>(of, state, results) : advance<false>(of, state, results);
  }
  template <bool answers>
  static void advance(const DeltaSteps& of, void* state_, void* results) {
    auto *q = numbers(of.q), *k = numbers(of.k), *v = numbers(of.v), *a = numbers(of.decays), *b = numbers(of.betas);
    auto *state = static_cast<T*>(state_), *y = static_cast<T*>(results);
    if (of.steps < 1) return;
    Row said = answer<true>(state, a[0], k, of.depth);
    for (i64 t = 0; t < of.steps; ++t, q += of.depth, k += of.depth) {
      bool last = t + 1 == of.steps;
      const T* next = last ? k : k + of.depth;
      B after(last ? T{1} : a[t + 1]);
      Row u = Row::load(v + t * of.row).minus(B(T{1}), said).times(B(b[t]));
      Sums seen, found;
      each_row(of.depth, [&](i64 i, std::size_t c) SUANZI_NOW {
        Row row = Row::load(state + i * columns).plus(B(k[i]), u);
        if constexpr (answers) seen.add(c, B(q[i]), row);
        row = row.times(after);
        row.store(state + i * columns);
        found.add(c, B(next[i]), row);
      });
      if constexpr (answers) seen.total().store(y + t * of.row);
      said = found.total();
    }
  }

  static void replay(const DeltaSteps& of, void* states, void* rests) {
    auto *k = numbers(of.k), *v = numbers(of.v), *a = numbers(of.decays), *b = numbers(of.betas);
    auto *state = static_cast<T*>(states), *rest = static_cast<T*>(rests);
    for (i64 t = 0; t < of.steps; ++t, k += of.depth, rest += columns) {
      const T* from = state;
      state += of.depth * columns;
      Row left = Row::load(v + t * of.row).minus(B(T{1}), answer<false>(from, a[t], k, of.depth));
      left.store(rest);
      Row u = left.times(B(b[t]));
      each_row(of.depth, [&](i64 i, std::size_t) SUANZI_NOW {
        Row::load(from + i * columns).times(B(a[t])).plus(B(k[i]), u).store(state + i * columns);
      });
    }
  }

  static f64 sum_of(const Row& x) noexcept {
    alignas(64) T each[width];
    x.store(each);
    f64 sum = 0;
    for (T one : each) sum += static_cast<f64>(one);
    return sum;
  }

  // A mask of the first columns: what is infinite makes NaN of the zeros behind those that count.
  static Row mask_of(i64 count) noexcept {
    alignas(64) T each[width];
    std::memset(each, 0, sizeof(each));
    std::memset(each, 0xFF, static_cast<std::size_t>(count) * sizeof(T));
    return Row::load(each);
  }

  // What a pass backward over the rows of the state between two steps needs of a step, and what it finds.
  struct Step {
    const T *q, *k;
    T *by_q, *by_k;
    B decay;
    Row above, left, u;  // the gradient of the result; what is left of v, and that times beta
    Row by_u, by_left, of_g;
    Row mask;  // of the columns that count
  };

  static Step step_at(const DeltaSteps& of, const DeltaGradients& to, i64 t) noexcept {
    i64 at = t * of.depth;
    Step s{numbers(of.q) + at,
           numbers(of.k) + at,
           static_cast<T*>(to.q) + at,
           static_cast<T*>(to.k) + at,
           B(numbers(of.decays)[t]),
           Row::load(numbers(to.results) + t * of.row),
           Row::load(numbers(to.rests) + t * columns),
           Row::of(T{0}),
           Row::of(T{0}),
           Row::of(T{0}),
           Row::of(T{0}),
           mask_of(to.columns)};
    s.left = s.left.masked(s.mask);
    s.u = s.left.times(B(numbers(of.betas)[t])).masked(s.mask);
    return s;
  }

  // A row of the state between two steps, and of its gradient. From the later step come the decay and by_left; the
  // earlier one has the results and u. Returns vectors whose lanes add up to gradients of q and k.
  template <bool later, bool earlier, bool whole>
  SUANZI_NOW static void pass_row(const T* state, T* grad, T* kept, i64 i, Step& after, Step& before, B& by_q,
                                  B& by_k) noexcept {
    auto counting = [&](const Row& x) SUANZI_NOW { return whole ? x : x.masked(after.mask); };
    Row row = Row::load(grad + i * columns), at = counting(Row::load(state + i * columns));
    if constexpr (later) {
      Row decayed = counting(at.times(after.decay));
      row = counting(row.minus(B(after.k[i]), after.by_left));
      after.of_g.add(row, decayed);
      row = counting(row.times(after.decay));
      by_k = B::load_unaligned(kept + i * static_cast<i64>(size)) - decayed.products(after.by_left);
    }
    if constexpr (earlier) {
      by_q = at.products(before.above);
      row = counting(row.plus(B(before.q[i]), before.above));
      before.by_u = before.by_u.plus(B(before.k[i]), row);
      row.products(before.u).store_unaligned(kept + i * static_cast<i64>(size));
    }
    row.store(grad + i * columns);
  }

  template <bool later, bool earlier, bool whole>
  static void pass(const DeltaSteps& of, const T* state, T* grad, T* kept, Step& after_, Step& before_) noexcept {
    Step after = after_, before = before_;  // in registers
    auto add = [](B sums, T* to) SUANZI_NOW { (B::load_unaligned(to) + sums).store_unaligned(to); };
    i64 i = 0;
    for (; i + static_cast<i64>(size) <= of.depth; i += static_cast<i64>(size)) {
      B by_q[size], by_k[size];
      for (std::size_t j = 0; j < size; ++j)
        pass_row<later, earlier, whole>(state, grad, kept, i + static_cast<i64>(j), after, before, by_q[j], by_k[j]);
      if constexpr (earlier) add(sums_of_rows(by_q), before.by_q + i);
      if constexpr (later) add(sums_of_rows(by_k), after.by_k + i);
    }
    for (; i < of.depth; ++i) {
      B by_q, by_k;
      pass_row<later, earlier, whole>(state, grad, kept, i, after, before, by_q, by_k);
      if constexpr (earlier) before.by_q[i] += xs::reduce_add(by_q);
      if constexpr (later) after.by_k[i] += xs::reduce_add(by_k);
    }
    after_.of_g = after.of_g, before_.by_u = before.by_u.masked(before.mask);
  }

  static void backward(const DeltaSteps& of, const DeltaGradients& to) {
    to.columns == columns ? backward<true>(of, to) : backward<false>(of, to);
  }
  template <bool all>
  static void backward(const DeltaSteps& of, const DeltaGradients& to) {
    auto *states = numbers(to.states), *betas = numbers(of.betas);
    auto *grad = static_cast<T*>(to.state), *kept = static_cast<T*>(to.spare);
    i64 whole = of.depth * columns;
    if (of.steps < 1) return;
    Step after = step_at(of, to, of.steps - 1);
    for (i64 t = of.steps; t-- > 0;) {
      Step now = step_at(of, to, t);
      if (t + 1 == of.steps) pass<false, true, all>(of, states + (t + 1) * whole, grad, kept, after, now);
      else pass<true, true, all>(of, states + (t + 1) * whole, grad, kept, after, now);
      if (t + 1 < of.steps) to.g[t + 1] += sum_of(after.of_g);
      Row of_beta = Row::of(T{0});
      of_beta.add(now.by_u, now.left);
      to.beta[t] += sum_of(of_beta);
      now.by_left = now.by_u.times(B(betas[t])).masked(now.mask);
      now.by_left.store(static_cast<T*>(to.v) + t * columns);
      after = now;
    }
    Step none = after;
    pass<true, false, all>(of, states, grad, kept, after, none);
    to.g[0] += sum_of(after.of_g);
  }
};

// The sum of products, a lane every so many elements.
template <class T>
T product_sum(const T* x, const T* y, i64 n) noexcept {
  using B = Batch<T>;
  constexpr auto size = static_cast<i64>(B::size);
  B part[2] = {B(T{0}), B(T{0})};
  i64 i = 0;
  for (; i + 2 * size <= n; i += 2 * size)
    for (i64 c = 0; c < 2; ++c)
      part[c] = xs::fma(B::load_unaligned(x + i + c * size), B::load_unaligned(y + i + c * size), part[c]);
  T sum = xs::reduce_add(part[0] + part[1]);
  for (; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

// In float64 where float32 overflows.
template <class T>
f64 wide_product_sum(const T* x, const T* y, i64 n) noexcept {
  auto sum = static_cast<f64>(product_sum(x, y, n));
  if (sizeof(T) == 8 || std::abs(sum) <= static_cast<f64>(std::numeric_limits<T>::max())) return sum;
  sum = 0;
  for (i64 i = 0; i < n; ++i) sum += static_cast<f64>(x[i]) * static_cast<f64>(y[i]);
  return sum;
}

template <class T>
f64 inverse_length(const T* x, i64 n) noexcept {
  return 1 / std::sqrt(wide_product_sum(x, x, n) + 1e-6);
}

template <class T>
void scale(const void* x_, i64 n, bool normalizes, f64 factor, void* y_) {
  auto* x = static_cast<const T*>(x_);
  auto* y = static_cast<T*>(y_);
  auto by = static_cast<T>(normalizes ? factor * inverse_length(x, n) : factor);
  SUANZI_LOOP
  for (i64 i = 0; i < n; ++i) y[i] = x[i] * by;
}

// Of y = factor r x with r = (x x + eps)**-0.5: factor r (g - r**2 x (g x)).
template <class T>
void scale_back(const void* grad, const void* x_, i64 n, bool normalizes, f64 factor, void* to) {
  auto *g = static_cast<const T*>(grad), *x = static_cast<const T*>(x_);
  auto* y = static_cast<T*>(to);
  f64 r = normalizes ? inverse_length(x, n) : 1;
  auto by = static_cast<T>(factor * r);
  T less = normalizes ? static_cast<T>(r * r * wide_product_sum(g, x, n)) : T{0};
  if (!normalizes) {
    SUANZI_LOOP
    for (i64 i = 0; i < n; ++i) y[i] = g[i] * by;
    return;
  }
  SUANZI_LOOP
  for (i64 i = 0; i < n; ++i) y[i] = (g[i] - x[i] * less) * by;
}

}  // namespace delta
}  // namespace

SUANZI_TABLE(DeltaKernels, delta_kernels,
             {{delta::Panel<f32>::columns, delta::Panel<f64>::columns},
              {delta::Panel<f32>::size, delta::Panel<f64>::size},
              {delta::scale<f32>, delta::scale<f64>},
              {delta::scale_back<f32>, delta::scale_back<f64>},
              {delta::Panel<f32>::forward, delta::Panel<f64>::forward},
              {delta::Panel<f32>::replay, delta::Panel<f64>::replay},
              {delta::Panel<f32>::backward, delta::Panel<f64>::backward}})

}  // namespace suanzi
