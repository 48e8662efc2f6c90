// native/kernels/extended.h: the table of element-wise kernels that T/AI 131.1 has no operator for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"

namespace suanzi {

enum class ExtendedBinary : std::uint8_t {
#define BINARY(name, lanes, result) name,
#define UNARY(name, lanes, result)
#include "kernels/extended.def"
#undef BINARY
#undef UNARY
  count
};

enum class ExtendedUnary : std::uint8_t {
#define BINARY(name, lanes, result)
#define UNARY(name, lanes, result) name,
#include "kernels/extended.def"
#undef BINARY
#undef UNARY
  count
};

// Beside those of Trouble: integers have no power below 0.
inline constexpr unsigned negative_exponent = 4;

struct ExtendedKernels {
  Unary unary[static_cast<std::size_t>(ExtendedUnary::count)][lane_count];     // null where there is none
  Binary binary[static_cast<std::size_t>(ExtendedBinary::count)][lane_count];  // null where there is none
  // Over two operands of a narrow format, where what float32 gives would be wrong in it; null elsewhere.
  Binary fused[static_cast<std::size_t>(ExtendedBinary::count)][narrow_count];
};

// The table of the level in use.
const ExtendedKernels& extended_kernels() noexcept;

}  // namespace suanzi
