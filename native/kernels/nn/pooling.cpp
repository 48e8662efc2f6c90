// native/kernels/nn/pooling.cpp: nn 6: the loops of pooling.
//
// The rows of a window are combined first, element by element, then the columns of what that gives: of a window of
// k x k elements that is 2 k steps instead of k^2, in whole vectors. The order is the same for every output.
#include "kernels/common.inc"

#include "kernels/nn/pooling.h"

namespace suanzi {
namespace {

// Of equal numbers the first; a NaN stays.
struct Largest {
  template <class T>
  static T of(T a, T b) noexcept {
    return (a >= b) | (a != a) ? a : b;
  }
};
struct Sum {
  template <class T>
  static T of(T a, T b) noexcept {
    return a + b;
  }
};

template <class F, class T>
void rows_loop(const void* row, void* into, std::size_t n) {
  auto* x = static_cast<const T*>(row);
  auto* y = static_cast<T*>(into);
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) y[i] = F::of(y[i], x[i]);
}

// With a stride that is known when it is compiled, or 0.
template <class F, class T, std::size_t known>
void along_stride(const T* x, T* y, std::size_t n, std::size_t kernel, std::size_t given, std::size_t dilation) {
  std::size_t stride = known ? known : given;
  if (kernel == 3) {
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i)
      y[i] = F::of(F::of(x[i * stride], x[i * stride + dilation]), x[i * stride + 2 * dilation]);
    return;
  }
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) y[i] = x[i * stride];
  for (std::size_t k = 1; k < kernel; ++k) {
    x += dilation;
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i) y[i] = F::of(y[i], x[i * stride]);
  }
}

template <class F, class T>
void along_loop(const void* row, void* out, std::size_t n, std::size_t kernel, std::size_t stride,
                std::size_t dilation) {
  auto* x = static_cast<const T*>(row);
  auto* y = static_cast<T*>(out);
  if (stride == 1) along_stride<F, T, 1>(x, y, n, kernel, stride, dilation);
  else if (stride == 2) along_stride<F, T, 2>(x, y, n, kernel, stride, dilation);
  else along_stride<F, T, 0>(x, y, n, kernel, stride, dilation);
}

template <class F, class T>
void windows_loop(const void* row, const i64* first, const i64* last, void* out, std::size_t n) {
  auto* x = static_cast<const T*>(row);
  auto* y = static_cast<T*>(out);
  for (std::size_t i = 0; i < n; ++i) {
    T found = x[first[i]];
    for (i64 at = first[i] + 1; at < last[i]; ++at) found = F::of(found, x[at]);
    y[i] = found;
  }
}

template <class T>
void divide_loop(void* x, const double* divisors, double by, std::size_t n) {
  auto* y = static_cast<T*>(x);
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) y[i] /= static_cast<T>(divisors[i] * by);
}

// 16 sums of every sixteenth element, then by halves. Few elements add up in their own precision, and so in
// whole vectors.
template <class Sum, class T>
inline double sum_of_row(const T* x, std::size_t n) noexcept {
  constexpr std::size_t chains = 16;
  Sum part[chains] = {};
  std::size_t i = 0;
  for (; i + chains <= n; i += chains)
    for (std::size_t j = 0; j < chains; ++j) part[j] += static_cast<Sum>(x[i + j]);
  for (std::size_t j = 0; i + j < n; ++j) part[j] += static_cast<Sum>(x[i + j]);
  for (std::size_t j = 0; j < 8; ++j) part[j] += part[j + 8];
  for (std::size_t j = 0; j < 4; ++j) part[j] += part[j + 4];
  return static_cast<double>((part[0] + part[2]) + (part[1] + part[3]));
}

template <class T>
void means_loop(const void* in, std::size_t count, std::size_t n, void* out) {
  auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
  bool few = n <= 64;
  double by = static_cast<double>(n);
  for (std::size_t row = 0; row < count; ++row, x += n)
    y[row] = static_cast<T>((few ? sum_of_row<T>(x, n) : sum_of_row<double>(x, n)) / by);
}

}  // namespace

SUANZI_TABLE(PoolKernels, pool_kernels,
             {{{rows_loop<Largest, f32>, rows_loop<Largest, f64>}, {rows_loop<Sum, f32>, rows_loop<Sum, f64>}},
              {{along_loop<Largest, f32>, along_loop<Largest, f64>}, {along_loop<Sum, f32>, along_loop<Sum, f64>}},
              {{windows_loop<Largest, f32>, windows_loop<Largest, f64>},
               {windows_loop<Sum, f32>, windows_loop<Sum, f64>}},
              {divide_loop<f32>, divide_loop<f64>},
              {means_loop<f32>, means_loop<f64>}})

}  // namespace suanzi
