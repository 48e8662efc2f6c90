// native/kernels/nn/recurrent.h: nn 12: the table of the loops of causal convolutions, of float32 and of float64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace suanzi {

// Rows of one dtype: n elements each, and the width - 1 elements before them, zeros where `before` is null.
struct CausalRows {
  const void *x, *before;
  std::int64_t rows, n, width;
};

struct RecurrentKernels {
  // y = the sum over taps of weights (rows, width) times elements, and the biases, if any.
  void (*convolve[2])(const CausalRows& of, const void* weights, const void* biases, void* y);
  // From gradients `of.x` of results: those of x, and of what was before it, where that is wanted. `after` has
  // gradients of the last width - 1 elements, or is null.
  void (*convolve_back[2])(const CausalRows& of, const void* weights, const void* after, void* by_x, void* by_before);
  // Adds the gradients of weights (rows, width) and biases to sums in float64.
  void (*add_weights[2])(const CausalRows& of, const void* grads, double* weights, double* biases);
};

// The table of the level in use.
const RecurrentKernels& recurrent_kernels() noexcept;

}  // namespace suanzi
