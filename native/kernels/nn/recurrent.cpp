// native/kernels/nn/recurrent.cpp: nn 12: the loops of causal convolutions.
//
// A row has few taps: each element is their sum in order, in vectors along the row. The first width - 1 elements, which
// read what was before the row, are computed one by one in the same order, so that the bits do not depend on where a
// row was cut.
#include "kernels/common.inc"

#include "kernels/nn/recurrent.h"

namespace suanzi {
namespace {

// `width` is 0 where it is known at run time only.
template <i64 width, class T>
inline T taps(const T* x, const T* w, i64 count) noexcept {
  T sum = w[0] * x[0];
  if constexpr (width > 0) count = width;
  for (i64 k = 1; k < count; ++k) sum += w[k] * x[k];
  return sum;
}

template <i64 width, class T>
void body(const T* x, const T* w, T bias, T* y, i64 n, i64 count) noexcept {
  SUANZI_LOOP
  for (i64 t = 0; t < n; ++t) y[t] = taps<width>(x + t, w, count) + bias;
}

template <class T>
void by_width(const T* x, const T* w, T bias, T* y, i64 n, i64 count) noexcept {
  switch (count) {
    case 2: return body<2>(x, w, bias, y, n, count);
    case 3: return body<3>(x, w, bias, y, n, count);
    case 4: return body<4>(x, w, bias, y, n, count);
    default: return body<0>(x, w, bias, y, n, count);
  }
}

template <class T>
void convolve_loop(const CausalRows& of, const void* weights, const void* biases, void* results) {
  auto *x = static_cast<const T*>(of.x), *before = static_cast<const T*>(of.before);
  auto *w = static_cast<const T*>(weights), *b = static_cast<const T*>(biases);
  auto* y = static_cast<T*>(results);
  i64 reach = of.width - 1;
  for (i64 row = 0; row < of.rows; ++row, x += of.n, y += of.n, w += of.width) {
    T bias = b ? b[row] : T{0};
    i64 head = reach < of.n ? reach : of.n;
    for (i64 t = 0; t < head; ++t) {
      T sum = w[0] * (before ? before[t] : T{0});
      for (i64 k = 1; k < of.width; ++k)
        sum += w[k] * (t + k >= reach ? x[t + k - reach] : before ? before[t + k] : T{0});
      y[t] = sum + bias;
    }
    if (of.n > reach) by_width(x, w, bias, y + reach, of.n - reach, of.width);
    if (before) before += reach;
  }
}

// The gradient of element j, which counts from the first one before the row: from the results that read it.
template <class T>
inline T slope(const T* g, const T* w, i64 j, i64 n, i64 width) noexcept {
  T sum{0};
  for (i64 k = 0; k < width; ++k)
    if (j >= k && j - k < n) sum += w[k] * g[j - k];
  return sum;
}

template <i64 width, class T>
void back_body(const T* g, const T* w, T* to, i64 n, i64 count) noexcept {
  SUANZI_LOOP
  for (i64 t = 0; t < n; ++t) {
    i64 each = width > 0 ? width : count;
    T sum{0};
    for (i64 k = 0; k < each; ++k) sum += w[k] * g[t + each - 1 - k];
    to[t] = sum;
  }
}

template <class T>
void convolve_back_loop(const CausalRows& of, const void* weights, const void* after, void* by_x, void* by_before) {
  auto *g = static_cast<const T*>(of.x), *w = static_cast<const T*>(weights), *late = static_cast<const T*>(after);
  auto *x = static_cast<T*>(by_x), *before = static_cast<T*>(by_before);
  i64 n = of.n, reach = of.width - 1, whole = n > reach ? n - reach : 0;
  for (i64 row = 0; row < of.rows; ++row, g += n, x += n, w += of.width) {
    // Result t reads elements t to t + reach: element t of x is read by results t to t + reach, if there are as many.
    if (of.width == 4) back_body<4>(g, w, x, whole, of.width);
    else back_body<0>(g, w, x, whole, of.width);
    for (i64 t = whole; t < n; ++t) x[t] = slope(g, w, t + reach, n, of.width);
    for (i64 j = 0; before && j < reach; ++j) before[j] = slope(g, w, j, n, of.width);
    for (i64 i = 0; late && i < reach; ++i) {  // element n + i of both together
      if (n + i >= reach) x[n + i - reach] += late[i];
      else if (before) before[n + i] += late[i];
    }
    if (before) before += reach;
    if (late) late += reach;
  }
}

constexpr i64 chains = 16;

// The sum of products, in float64, of every sixteenth element each.
template <class T>
f64 product_sum(const T* a, const T* b, i64 n) noexcept {
  f64 part[chains] = {};
  i64 i = 0;
  for (; i + chains <= n; i += chains)
    for (i64 j = 0; j < chains; ++j) part[j] += static_cast<f64>(a[i + j]) * static_cast<f64>(b[i + j]);
  for (i64 j = 0; i + j < n; ++j) part[j] += static_cast<f64>(a[i + j]) * static_cast<f64>(b[i + j]);
  f64 sum = 0;
  for (i64 j = 0; j < chains; ++j) sum += part[j];
  return sum;
}

template <class T>
f64 plain_sum(const T* a, i64 n) noexcept {
  f64 part[chains] = {};
  i64 i = 0;
  for (; i + chains <= n; i += chains)
    for (i64 j = 0; j < chains; ++j) part[j] += static_cast<f64>(a[i + j]);
  for (i64 j = 0; i + j < n; ++j) part[j] += static_cast<f64>(a[i + j]);
  f64 sum = 0;
  for (i64 j = 0; j < chains; ++j) sum += part[j];
  return sum;
}

template <class T>
void add_weights_loop(const CausalRows& of, const void* grads, double* weights, double* biases) {
  auto *x = static_cast<const T*>(of.x), *before = static_cast<const T*>(of.before);
  auto* g = static_cast<const T*>(grads);
  i64 n = of.n, reach = of.width - 1;
  for (i64 row = 0; row < of.rows; ++row, g += n, x += n) {
    for (i64 k = 0; k < of.width; ++k) {
      i64 head = reach - k < n ? reach - k : n;  // results whose tap reads what was before
      f64 sum = head < n ? product_sum(g + head, x, n - head) : 0;
      for (i64 t = 0; t < head; ++t) sum += static_cast<f64>(g[t]) * static_cast<f64>(before ? before[t + k] : T{0});
      weights[row * of.width + k] += sum;
    }
    if (biases) biases[row] += plain_sum(g, n);
    if (before) before += reach;
  }
}

}  // namespace

SUANZI_TABLE(RecurrentKernels, recurrent_kernels,
             {{convolve_loop<f32>, convolve_loop<f64>},
              {convolve_back_loop<f32>, convolve_back_loop<f64>},
              {add_weights_loop<f32>, add_weights_loop<f64>}})

}  // namespace suanzi
