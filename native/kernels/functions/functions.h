// native/kernels/functions/functions.h: the table of element-wise kernels on top of those of the standard's operators.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"

namespace suanzi {

// In addition to those of Trouble: integers have no power below 0.
inline constexpr unsigned negative_exponent = 4;

struct FunctionKernels {
  Unary unary[unary_count][lane_count];     // null where there is none
  Binary binary[binary_count][lane_count];  // null where there is none
  // Over two operands of a narrow format, where what float32 gives would be wrong in it; null elsewhere.
  Binary fused[binary_count][narrow_count];
};

// The table of the level in use.
const FunctionKernels& function_kernels() noexcept;

}  // namespace suanzi
