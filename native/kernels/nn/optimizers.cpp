// native/kernels/nn/optimizers.cpp: nn 13: the loop of AdamW.
//
// One pass over all operands: memory decides the time. The operations and their order are those of PyTorch.
#include "kernels/common.inc"

#include "kernels/nn/optimizers.h"

namespace suanzi {
namespace {

template <class T, bool largest, bool small>
void adamw_body(const void* const (&in)[5], void* const (&out)[4], std::size_t n, const AdamwNumbers& numbers) {
  auto *param = static_cast<const T*>(in[0]), *grad = static_cast<const T*>(in[1]);
  auto *average = static_cast<const T*>(in[2]), *square = static_cast<const T*>(in[3]);
  auto* most = static_cast<const T*>(in[4]);
  auto *to = static_cast<T*>(out[0]), *new_average = static_cast<T*>(out[1]);
  auto *new_square = static_cast<T*>(out[2]), *new_most = static_cast<T*>(out[3]);
  auto of = [](double x) { return static_cast<T>(x); };
  T keep = of(numbers.keep), first = of(numbers.first), one_less = of(numbers.one_less), second = of(numbers.second);
  T squares = of(numbers.squares), rate = of(numbers.rate), root = of(numbers.root), eps = of(numbers.eps);
  T sign = numbers.maximize ? T{-1} : T{1};
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) {
    T g = grad[i] * sign, m = average[i], apart = g - m;
    T a = small ? m + first * apart : g - one_less * apart;  // exact at both ends
    T v = square[i] * second + squares * g * g;
    T by = v;
    if constexpr (largest) {
      T old = most[i];
      by = (old >= v) | (old != old) ? old : v;  // NaN stays
      new_most[i] = by;
    }
    T under = std::sqrt(by) / root + eps;
    to[i] = param[i] * keep - rate * a / under;
    new_average[i] = a;
    new_square[i] = v;
  }
}

template <class T>
void adamw_loop(const void* const (&in)[5], void* const (&out)[4], std::size_t n, const AdamwNumbers& numbers) {
  bool small = numbers.first < 0.5;
  if (in[4]) small ? adamw_body<T, true, true>(in, out, n, numbers) : adamw_body<T, true, false>(in, out, n, numbers);
  else small ? adamw_body<T, false, true>(in, out, n, numbers) : adamw_body<T, false, false>(in, out, n, numbers);
}

}  // namespace

SUANZI_TABLE(OptimizerKernels, optimizer_kernels, {{adamw_loop<f32>, adamw_loop<f64>}})

}  // namespace suanzi
