// native/ops/indexing/sort_rows.cpp: 7.2.14.3: sorts one dense row, by keys that are unsigned integers.
//
// Short rows are sorted by ranks. For long ones, a key and the place of its element are packed into one
// 64-bit integer, and these are sorted digit by digit from the last. Of 64-bit keys, the 32 bits from
// the first that differs on are packed; the few that are equal in those are put in order afterwards.
#include <algorithm>
#include <bit>
#include <numeric>

#include "ops/indexing/digits.h"
#include "ops/indexing/sort_rows.h"

namespace suanzi {
namespace {

using Pair = std::uint64_t;

constexpr Pair pair_of(std::uint32_t key, std::int64_t place) {
  return Pair{key} << 32 | static_cast<std::uint32_t>(place);
}
constexpr std::uint32_t key_of(Pair pair) { return static_cast<std::uint32_t>(pair >> 32); }
constexpr std::uint32_t place_of(Pair pair) { return static_cast<std::uint32_t>(pair); }

// `bits`: how many of the keys', the last ones, may differ.
template <class Source, class Sink>
void sort_pairs(std::int64_t n, int bits, Pair* a, Pair* b, const Source& source, const Sink& sink) {
  if (bits <= 8) sort_digits<8, 1>(n, 32, a, b, source, sink);
  else if (bits <= 16) sort_digits<8, 2>(n, 32, a, b, source, sink);
  else if (n <= by_short_digits) sort_digits<8, 4>(n, 32, a, b, source, sink);
  else sort_digits<11, 3>(n, 32, a, b, source, sink);
}

// Makes sorted keys, which lie where the values will be, values. Zeros and NaNs, of which the keys do
// not say all, are fetched.
template <class U>
void keys_to_values(const RowOrder& how, const std::byte* in, const std::int64_t* places, std::int64_t n,
                    std::byte* values) {
  auto* keys = reinterpret_cast<U*>(values);
  bool floating = how.order >= Order::float8_e4m3fn;
  std::int64_t begin[2] = {}, end[2] = {};
  for (int i = 0; i < 2 && floating; ++i) {
    U special = i == 0 ? U{0} : static_cast<U>(~U{0}), key;  // the bits of a zero, and of a NaN
    make_keys(how, reinterpret_cast<const std::byte*>(&special), 1, &key);
    auto [first, last] = std::equal_range(keys, keys + n, key);
    begin[i] = first - keys, end[i] = last - keys;
  }
  kernels().rankings->values[static_cast<std::size_t>(how.order)][!how.descending](keys, keys,
                                                                                   static_cast<std::size_t>(n));
  for (int i = 0; i < 2; ++i)
    pick<U>(in, places + begin[i], end[i] - begin[i], reinterpret_cast<std::byte*>(keys + begin[i]));
}

template <class U>
void sort_narrow(const RowOrder& how, const std::byte* in, std::int64_t n, std::byte* values, std::int64_t* places,
                 std::byte* scratch) {
  if (is_ranked(n)) return order_by_ranks<U>(how, in, n, n, values, places);
  auto *a = reinterpret_cast<Pair*>(scratch), *b = a + n;
  U *keys = reinterpret_cast<U*>(b + n), *sorted = reinterpret_cast<U*>(values);
  make_keys(how, in, n, keys);
  auto source = [keys](std::int64_t i) { return pair_of(keys[i], i); };
  sort_pairs(n, 8 * sizeof(U), a, b, source, [sorted, places](std::int64_t at, Pair pair) {
    places[at] = place_of(pair);
    sorted[at] = static_cast<U>(key_of(pair));
  });
  keys_to_values<U>(how, in, places, n, values);
}

// ---- wide keys ----------------------------------------------------------------------------------

// Scratch memory for rows of wide keys.
struct WideScratch {
  Pair *a, *b;
  std::uint64_t* keys;
  std::int64_t* old_places;

  WideScratch(std::byte* scratch, std::int64_t n)
      : a(reinterpret_cast<Pair*>(scratch)), b(a + n), keys(b + n),
        old_places(reinterpret_cast<std::int64_t*>(keys + n)) {}
};

// Puts a run of keys that differ in their low bits alone in order, with the places of their elements.
void sort_run(std::uint64_t* keys, std::int64_t* places, std::int64_t n, std::uint64_t low,
              const WideScratch& scratch) {
  if (n <= by_insertion) {
    for (std::int64_t i = 1; i < n; ++i) {
      std::uint64_t key = keys[i];
      std::int64_t place = places[i], j = i;
      for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1], places[j] = places[j - 1];
      keys[j] = key, places[j] = place;
    }
    return;
  }
  std::copy(keys, keys + n, scratch.keys);
  std::copy(places, places + n, scratch.old_places);
  auto source = [old = scratch.keys, low](std::int64_t i) {
    return pair_of(static_cast<std::uint32_t>(old[i] & low), i);
  };
  sort_pairs(n, 32, scratch.a, scratch.b, source, [&](std::int64_t at, Pair pair) {
    keys[at] = scratch.keys[place_of(pair)];
    places[at] = scratch.old_places[place_of(pair)];
  });
}

void sort_wide(const RowOrder& how, const std::byte* in, std::int64_t n, std::byte* values, std::int64_t* places,
               std::byte* memory) {
  if (is_ranked(n)) return order_by_ranks<std::uint64_t>(how, in, n, n, values, places);
  WideScratch scratch(memory, n);
  std::uint64_t *keys = scratch.keys, *sorted = reinterpret_cast<std::uint64_t*>(values), differing = 0;
  make_keys(how, in, n, keys);
  for (std::int64_t i = 0; i < n; ++i) differing |= keys[i] ^ keys[0];
  int bits = std::bit_width(differing), shift = std::max(bits - 32, 0);
  auto source = [keys, shift](std::int64_t i) { return pair_of(static_cast<std::uint32_t>(keys[i] >> shift), i); };
  sort_pairs(n, std::min(bits, 32), scratch.a, scratch.b, source,
             [places](std::int64_t at, Pair pair) { places[at] = place_of(pair); });
  for (std::int64_t i = 0; i < n; ++i) sorted[i] = keys[places[i]];
  std::uint64_t low = (std::uint64_t{1} << shift) - 1;
  for (std::int64_t i = 0, end; i < n && shift > 0; i = end) {
    for (end = i + 1; end < n && (sorted[end] ^ sorted[i]) <= low;) ++end;
    if (end - i > 1) sort_run(sorted + i, places + i, end - i, low, scratch);
  }
  keys_to_values<std::uint64_t>(how, in, places, n, values);
}

// ---- rows of more elements than 32 bits count ---------------------------------------------------

template <class U>
void sort_huge(const RowOrder& how, const std::byte* in, std::int64_t n, std::byte* values, std::int64_t* places,
               std::byte* scratch) {
  make_keys(how, in, n, scratch);
  auto* keys = reinterpret_cast<const U*>(scratch);
  std::iota(places, places + n, std::int64_t{0});
  std::sort(places, places + n,
            [keys](std::int64_t i, std::int64_t j) { return keys[i] != keys[j] ? keys[i] < keys[j] : i < j; });
  pick<U>(in, places, n, values);
}

}  // namespace

std::int64_t sort_scratch(const RowOrder& how, std::int64_t n) noexcept {
  auto item = static_cast<std::int64_t>(how.itemsize);
  if (n > how.longest) return n * item;
  if (is_ranked(n)) return 0;
  return n * (item == 8 ? 32 : 16 + item);
}

void sort_row(const RowOrder& how, const std::byte* in, std::int64_t n, std::byte* values, std::int64_t* places,
              std::byte* scratch) noexcept {
  bool huge = n > how.longest;
  switch (how.itemsize) {
    case 1: return (huge ? sort_huge<std::uint8_t> : sort_narrow<std::uint8_t>)(how, in, n, values, places, scratch);
    case 2: return (huge ? sort_huge<std::uint16_t> : sort_narrow<std::uint16_t>)(how, in, n, values, places, scratch);
    case 4: return (huge ? sort_huge<std::uint32_t> : sort_narrow<std::uint32_t>)(how, in, n, values, places, scratch);
    default: return (huge ? sort_huge<std::uint64_t> : sort_wide)(how, in, n, values, places, scratch);
  }
}

}  // namespace suanzi
