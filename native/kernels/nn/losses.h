// native/kernels/nn/losses.h: nn 9: the table of the loops of losses, of float32 and of float64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace suanzi {

// Losses of pairs. `parameter` is the delta of huber and the beta of smooth_l1.
enum class PairLoss : std::uint8_t { mse, l1, smooth_l1, huber, kl_div, kl_div_log, bce, bce_with_logits };
inline constexpr std::size_t pair_loss_count = 8;

// Elements that are computed at a time: a buffer of them fits the first-level cache several times.
inline constexpr std::size_t loss_block = 1024;

// What an element of a row contributes: (scale * probability + constant) * weight. No probabilities are zeros, no
// weights ones.
struct Shares {
  const void *probabilities, *weights;
  double scale, constant;
};

// Those of arrays of two are of float32 and of float64.
struct LossKernels {
  // n values of a loss, and its derivatives by x and by the target; `positive` are the weights of positive examples of
  // bce_with_logits, or null.
  void (*value[pair_loss_count][2])(const void* x, const void* target, const void* positive, double parameter,
                                    void* out, std::size_t n);
  void (*derivatives[pair_loss_count][2])(const void* x, const void* target, const void* positive, double parameter,
                                          void* by_x, void* by_target, std::size_t n);
  // x[i] *= by[i], and x[i] *= factor.
  void (*multiply[2])(void* x, const void* by, std::size_t n);
  void (*scale[2])(void* x, double factor, std::size_t n);
  // The sum of at most a block, in float64 and in an order that n alone decides.
  double (*sum[2])(const void* x, std::size_t n);
  // The sum of shares times ((largest - x) + log_sum), over at most a block; also the sum of shares.
  double (*cross[2])(const void* x, const Shares& shares, double largest, double log_sum, std::size_t n);
  double (*sum_of_shares[2])(const Shares& shares, std::size_t n);
  // e = e * factor - shares, where e is exp(x - largest).
  void (*row_gradient[2])(void* e, const Shares& shares, double factor, std::size_t n);
};

// The table of the level in use.
const LossKernels& loss_kernels() noexcept;

}  // namespace suanzi
