// native/kernels/nn_pooling.cpp: nn 6: the loops of pooling.
//
// The rows of a window are combined first, element by element, then the columns of what that gives: of a window of
// k x k elements that is 2 k steps instead of k^2, in whole vectors. The order is the same for every output.
#include "kernels/common.inc"

#include "kernels/nn_pooling.h"

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

}  // namespace

SUANZI_TABLE(PoolKernels, pool_kernels,
             {{{rows_loop<Largest, f32>, rows_loop<Largest, f64>}, {rows_loop<Sum, f32>, rows_loop<Sum, f64>}},
              {{along_loop<Largest, f32>, along_loop<Largest, f64>}, {along_loop<Sum, f32>, along_loop<Sum, f64>}},
              {{windows_loop<Largest, f32>, windows_loop<Largest, f64>},
               {windows_loop<Sum, f32>, windows_loop<Sum, f64>}},
              {divide_loop<f32>, divide_loop<f64>}})

}  // namespace suanzi
