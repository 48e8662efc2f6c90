// native/sorting.h: one dense row in order: all of it, or its first k.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rankings.h"

namespace suanzi {

// How rows are put in order.
struct RowOrder {
  Order order;
  bool descending;
  std::size_t itemsize;
  // Rows up to this length count in 32 bits; longer ones are sorted in a simpler, slower way.
  std::int64_t longest = UINT32_MAX;
};

// The bytes of scratch memory that sorting a row, or finding its first k, takes.
std::int64_t sort_scratch(const RowOrder& how, std::int64_t n) noexcept;
std::int64_t topk_scratch(const RowOrder& how, std::int64_t n, std::int64_t k) noexcept;

// Puts n dense elements in order; `places` is where each was. Equal ones keep their order.
void sort_row(const RowOrder& how, const std::byte* in, std::int64_t n, std::byte* values, std::int64_t* places,
              std::byte* scratch) noexcept;
// The first k of them in that order.
void topk_row(const RowOrder& how, const std::byte* in, std::int64_t n, std::int64_t k, std::byte* values,
              std::int64_t* places, std::byte* scratch) noexcept;

}  // namespace suanzi
