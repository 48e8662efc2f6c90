// native/ops/indexing/sort_rows.h: 7.2.14.3, 7.2.14.4: sorts one dense row, or finds its first k.
#pragma once

#include <type_traits>

#include "kernels/indexing/order.h"
#include "kernels/kernels.h"

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

// ---- what both are made of ----------------------------------------------------------------------

inline void make_keys(const RowOrder& how, const std::byte* in, std::int64_t n, void* keys) {
  kernels().rankings->keys[static_cast<std::size_t>(how.order)][!how.descending](in, keys, static_cast<std::size_t>(n));
}

template <class U>
void pick(const std::byte* from, const std::int64_t* places, std::int64_t n, std::byte* to) {
  auto* x = reinterpret_cast<const U*>(from);
  auto* y = reinterpret_cast<U*>(to);
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[places[i]];
}

// The rows that are quickest put in order by counting what comes before each element; at most this many.
inline constexpr std::int64_t ranked_room = 256;
inline bool is_ranked(std::int64_t n) { return n <= kernels().rankings->most_ranked; }
inline bool is_ranked_first(std::int64_t n) { return n <= kernels().rankings->most_ranked_first; }

// Keys as wide as they are ranked in.
template <class U>
struct Ranked {
  using Key = std::conditional_t<sizeof(U) == 8, std::uint64_t, std::uint32_t>;
  Key keys[ranked_room + rank_padding];
  std::uint32_t ranks[ranked_room];

  void run(std::int64_t n) { kernels().rankings->ranks[sizeof(U) == 8](keys, static_cast<std::size_t>(n), ranks); }
};

// The first k of a row that is_ranked.
template <class U>
void order_by_ranks(const RowOrder& how, const std::byte* in, std::int64_t n, std::int64_t k, std::byte* values,
                    std::int64_t* places) {
  Ranked<U> ranked;
  if constexpr (sizeof(U) >= 4) {
    make_keys(how, in, n, ranked.keys);
  } else {
    U keys[ranked_room];
    make_keys(how, in, n, keys);
    for (std::int64_t i = 0; i < n; ++i) ranked.keys[i] = keys[i];
  }
  ranked.run(n);
  auto* x = reinterpret_cast<const U*>(in);
  auto* y = reinterpret_cast<U*>(values);
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t rank = ranked.ranks[i];
    if (rank >= k) continue;
    places[rank] = i;
    y[rank] = x[i];
  }
}

}  // namespace suanzi
