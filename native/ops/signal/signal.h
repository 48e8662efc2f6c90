// native/ops/signal/signal.h: 7.2.16: Fourier transforms from one dense tensor to another.
#pragma once

#include "core/tensor.h"

namespace suanzi {

// Transforms complex numbers along an axis, from one dense tensor to another, or in place, times a number. False if
// there is no memory.
bool transform_along(const Tensor& in, const Tensor& out, int axis, bool forward, double scale);
// The same from real numbers to their spectrum, or to half of it, or from half of a spectrum to real numbers.
bool transform_real(const Tensor& in, const Tensor& out, int axis, bool forward, double scale);

}  // namespace suanzi
