// native/kernels/functions/function_tables.h: results of functions for every number of a narrow format.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"

namespace suanzi {

// The formats that have tables: the narrow ones, and float8_e4m3fn where its largest number stands for what is larger.
inline constexpr std::size_t table_format_count = narrow_count + 1;
inline constexpr std::size_t saturating_format = narrow_count;

// The results of one function in the order of its arguments' bits, once they are made; they stay as long as the
// process. Until then it counts the elements that were computed without it.
struct FunctionTable {
  std::atomic<const std::byte*> results{nullptr};
  std::atomic<std::int64_t> computed{0};
};

// Those of the kernels of a level.
struct FunctionTables {
  FunctionTable of[unary_count][table_format_count];
};

}  // namespace suanzi
