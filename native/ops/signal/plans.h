// native/ops/signal/plans.h: 7.2.16: what Fourier transforms of a length need to know, made once and kept.
#pragma once

#include <memory>

#include "kernels/signal.h"

namespace suanzi {

// Whether a length from 1 on has no prime factor that is too large for a plan.
bool has_plan(std::int64_t n);

// The plan of a length, with the roots that join as many lanes. A few are kept, as a long one has as many numbers as
// its transform.
template <class T>
std::shared_ptr<const FourierPlan<T>> plan_of(std::int64_t n, std::size_t lanes);

// exp(-2 pi i k / n) for k up to n / 4, kept for the last length.
template <class T>
std::shared_ptr<const std::vector<T>> quarter_of(std::int64_t n);

// What Bluestein's algorithm needs for n elements: exp(-pi i k^2 / n), and m, a length with small factors from 2n - 1
// on.
template <class T>
std::vector<T> chirp_of(std::int64_t n);
std::int64_t convolution_length(std::int64_t n);

struct Root {
  double re, im;
};

// All n-th roots of unity as products of two from tables of about sqrt(n) each; kept for the last length.
class RootTable {
 public:
  explicit RootTable(std::int64_t n);
  Root operator[](std::int64_t k) const {
    const Root &a = coarse_[static_cast<std::size_t>(k / step_)], &b = fine_[static_cast<std::size_t>(k % step_)];
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  static std::shared_ptr<const RootTable> of(std::int64_t n);

 private:
  std::int64_t n_, step_;
  std::vector<Root> coarse_, fine_;
};

}  // namespace suanzi
