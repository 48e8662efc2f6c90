// native/ops/signal.h: 7.2.16: Fourier transforms from one dense tensor to another.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace suanzi {

// Whether a length has a transform here: one without a prime factor above 13.
bool is_smooth(std::int64_t n);

// Transforms complex numbers along an axis, from one dense tensor to another, or in place, times a number. False if
// there is no memory.
bool transform_along(const Tensor& in, const Tensor& out, int axis, bool forward, double scale);
// The same along the last axis from an even number of real numbers, or from half of a spectrum to them.
bool transform_real(const Tensor& in, const Tensor& out, bool forward, double scale);

}  // namespace suanzi
