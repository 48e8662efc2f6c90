// native/kernels/functions.h: the table of element-wise kernels on top of those of the standard's operators.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"

namespace suanzi {

enum class BinaryFunction : std::uint8_t {
#define BINARY(name, lanes, result) name,
#define UNARY(name, lanes, result)
#include "kernels/functions.def"
#undef BINARY
#undef UNARY
  count
};

enum class UnaryFunction : std::uint8_t {
#define BINARY(name, lanes, result)
#define UNARY(name, lanes, result) name,
#include "kernels/functions.def"
#undef BINARY
#undef UNARY
  count
};

// Beside those of Trouble: integers have no power below 0.
inline constexpr unsigned negative_exponent = 4;

struct FunctionKernels {
  Unary unary[static_cast<std::size_t>(UnaryFunction::count)][lane_count];     // null where there is none
  Binary binary[static_cast<std::size_t>(BinaryFunction::count)][lane_count];  // null where there is none
  // Over two operands of a narrow format, where what float32 gives would be wrong in it; null elsewhere.
  Binary fused[static_cast<std::size_t>(BinaryFunction::count)][narrow_count];
};

// The table of the level in use.
const FunctionKernels& function_kernels() noexcept;

}  // namespace suanzi
