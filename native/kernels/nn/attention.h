// native/kernels/nn/attention.h: nn 8: the table of the loops of attention and of rotary embeddings.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/linear_algebra/products.h"

namespace suanzi {

// What `product` needs on the way.
inline constexpr std::int64_t product_memory = std::int64_t{32} << 10;

// What becomes of products of queries and keys before they are weights.
struct ScoreTerms {
  double scale, softcap;        // softcap 0: none
  const void* added;            // numbers of the lane to be added, or null
  const std::uint8_t* allowed;  // 0 where a key takes no part, or null
};

// The softmax of a row as far as its keys were seen: numbers of the lane, without loss.
struct RowState {
  double largest, sum;
};

// Those with two forms are for f32 and f64.
struct AttentionKernels {
  // Turns products of a row with n more keys into weights relative to the largest score so far. Returns what
  // the sums made with earlier keys are to be multiplied by.
  double (*weigh[2])(void* products, std::size_t n, const ScoreTerms& terms, RowState& state);
  // c = a b, as MultiplyTiles has it, for numbers of the lane, where there are no tiles.
  void (*product[2])(const Matrix& a, const Matrix& b, void* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::byte* memory);
  // n numbers of float32 as sums of two of bfloat16, the second one rounded, `apart` from one another; null where no
  // matrix unit needs them.
  void (*split)(const void* x, std::uint16_t* parts, std::int64_t apart, std::size_t n);
  // y = y * by + x; without x, y = y * by.
  void (*update[2])(const void* x, double by, void* y, std::size_t n);
  // y = x / by; whether all x are finite.
  bool (*divide[2])(const void* x, double by, void* y, std::size_t n);
  // The same of float32 to bfloat16, times the inverse; null where it is no faster than to divide and to round.
  bool (*divide_to_bf16)(const void* x, double by, std::uint16_t* y, std::size_t n);
  // The sum of weights times numbers; a weight of 0 has none.
  double (*weighted[2])(const void* weights, const void* x, std::size_t n);
  // From weights w, gradients g of them and products of queries and keys: w becomes w / sum, and g the gradient
  // of the products, w (g - mean) scale, times the slope of the cap.
  void (*slopes[2])(void* w, void* g, const void* products, std::size_t n, const ScoreTerms& terms, double sum,
                    double mean);
  // Of pairs (a, b), a cos - b sin and b cos + a sin. Elements of pairs are `apart`; pairs `step`.
  void (*rotate[2])(const void* x, const void* cosines, const void* sines, void* y, std::size_t pairs,
                    std::ptrdiff_t apart, std::ptrdiff_t step, bool back);
};

}  // namespace suanzi
