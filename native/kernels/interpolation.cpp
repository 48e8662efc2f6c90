// native/kernels/interpolation.cpp: 7.2.18: the loops of interpolate.
//
// The nearest elements are picked; linear ones are mixed across a row, then between two rows; areas add up in float64.
// The driver computes positions and weights once per axis, so that these loops are loads, products and sums.
#include "kernels/common.inc"

#include "kernels/interpolation.h"

namespace suanzi {
namespace {

template <class T>
void pick_loop(const void* row, const i32* places, void* out, std::size_t n) {
  auto* x = static_cast<const T*>(row);
  auto* y = static_cast<T*>(out);
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) y[i] = x[places[i]];
}

// What has no weight has no say, be it infinite or NaN.
template <class T>
inline T between(T low, T high, T low_weight, T high_weight) noexcept {
  T mixed = low_weight * low + high_weight * high;
  return high_weight == T{0} ? low : mixed;
}

template <class T>
void across_loop(const void* row, const i32* low, const i32* high, const void* low_weights, const void* high_weights,
                 void* out, std::size_t n) {
  auto* x = static_cast<const T*>(row);
  auto *a = static_cast<const T*>(low_weights), *b = static_cast<const T*>(high_weights);
  auto* y = static_cast<T*>(out);
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) y[i] = between(x[low[i]], x[high[i]], a[i], b[i]);
}

template <class T>
void mix_loop(const void* low, const void* high, const void* low_weights, const void* high_weights, void* out,
              std::size_t n) {
  auto *p = static_cast<const T*>(low), *q = static_cast<const T*>(high);
  auto *a = static_cast<const T*>(low_weights), *b = static_cast<const T*>(high_weights);
  auto* y = static_cast<T*>(out);
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) y[i] = between(p[i], q[i], a[i], b[i]);
}

template <class T>
void blend_loop(const void* low, const void* high, double low_weight, double high_weight, void* out, std::size_t n) {
  auto *p = static_cast<const T*>(low), *q = static_cast<const T*>(high);
  auto* y = static_cast<T*>(out);
  T a = static_cast<T>(low_weight), b = static_cast<T>(high_weight);
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) y[i] = a * p[i] + b * q[i];
}

void add_f32(const void* row, bool is_first, double* sums, double*, std::size_t n) {
  auto* x = static_cast<const f32*>(row);
  if (is_first) {
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i) sums[i] = x[i];
  } else {
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i) sums[i] += x[i];
  }
}

void add_f64(const void* row, bool is_first, double* sums, double* errors, std::size_t n) {
  auto* x = static_cast<const f64*>(row);
  if (is_first) {
    for (std::size_t i = 0; i < n; ++i) sums[i] = x[i], errors[i] = 0;
    return;
  }
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) {
    double before = sums[i], after = before + x[i], taken = after - before;
    errors[i] += (before - (after - taken)) + (x[i] - taken);
    sums[i] = after;
  }
}

void settle_loop(double* sums, const double* errors, std::size_t n) {
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) {
    // An infinite sum leaves an error that is no number; and -0.0 stays what it is.
    double error = errors[i], better = sums[i] + error;
    sums[i] = error == error && error != 0 ? better : sums[i];
  }
}

double total_of(const double* x, std::size_t n) {
  if (n < 16) {
    double sum = x[0];
    for (std::size_t i = 1; i < n; ++i) sum += x[i];
    return sum;
  }
  if (n <= 256) {
    double part[8];
    for (std::size_t i = 0; i < 8; ++i) part[i] = x[i];
    std::size_t i = 8;
    for (; i + 8 <= n; i += 8)
      for (std::size_t j = 0; j < 8; ++j) part[j] += x[i + j];
    double sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    for (; i < n; ++i) sum += x[i];
    return sum;
  }
  std::size_t half = n / 2 - n / 2 % 8;
  return total_of(x, half) + total_of(x + half, n - half);
}

template <class T>
void means_loop(const double* sums, const i32* first, const i32* last, double rows, void* out, std::size_t n) {
  auto* y = static_cast<T*>(out);
  for (std::size_t i = 0; i < n; ++i) {
    auto width = static_cast<std::size_t>(last[i] - first[i]);
    y[i] = static_cast<T>(total_of(sums + first[i], width) / (rows * static_cast<double>(width)));
  }
}

}  // namespace

const InterpolationKernels& SUANZI_OF_LEVEL(interpolation)() noexcept {
  static const InterpolationKernels table{
      {pick_loop<u8>, pick_loop<u16>, pick_loop<u32>, pick_loop<u64>},
      {across_loop<f32>, across_loop<f64>},
      {mix_loop<f32>, mix_loop<f64>},
      {blend_loop<f32>, blend_loop<f64>},
      {add_f32, add_f64},
      settle_loop,
      total_of,
      {means_loop<f32>, means_loop<f64>},
  };
  return table;
}

}  // namespace suanzi
