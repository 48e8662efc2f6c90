// native/kernels/functions/rounding.h: functions of float32, computed in float64 and rounded once.
#pragma once

#include "kernels/kernels.h"

namespace suanzi {

// Results of n arguments; returns whether all are correctly rounded: none is as near to the middle of two float32 as
// the error of float64 is large, or was not computed. n is a multiple of `rounding_width`, and the memory not shared.
using Rounded = bool (*)(const float* x, float* out, std::size_t n);
using RoundedPowers = bool (*)(const float* x, const float* y, float* out, std::size_t n);
inline constexpr std::size_t rounding_width = 16;

struct RoundingKernels {
  Rounded unary[unary_count];  // null where there is none
  RoundedPowers pow;
};

// The table of the level in use.
const RoundingKernels& rounding_kernels() noexcept;

}  // namespace suanzi
