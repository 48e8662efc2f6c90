// native/kernels/nn/optimizers.h: nn 13: the table of the loop of AdamW, of float32 and of float64.
#pragma once

#include <cstddef>

namespace suanzi {

// The numbers of a step; they are rounded to the lane once.
struct AdamwNumbers {
  double keep;             // 1 - lr weight_decay
  double first, one_less;  // 1 - beta1, and beta1
  double second, squares;  // beta2, and 1 - beta2
  double rate, root, eps;  // lr / (1 - beta1^step), and sqrt(1 - beta2^step)
  bool maximize;
};

struct OptimizerKernels {
  // n elements of param, grad, exp_avg, exp_avg_sq and, if not null, its largest so far; to all of them but grad.
  void (*adamw[2])(const void* const (&in)[5], void* const (&out)[4], std::size_t n, const AdamwNumbers& numbers);
};

// The table of the level in use.
const OptimizerKernels& optimizer_kernels() noexcept;

}  // namespace suanzi
