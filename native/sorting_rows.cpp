// native/sorting_rows.cpp: one dense row in order, by keys that are unsigned integers.
//
// A key and the place of its element are packed into one 64-bit integer, so that no two are equal and
// any way of sorting them is stable. Short rows are sorted by comparison, long ones digit by digit from
// the last. Of 64-bit keys, the 32 bits from the first that differs on are packed; the few that are
// equal in those are put in order afterwards.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "kernels.h"
#include "sorting.h"

namespace suanzi {

namespace {

using Pair = std::uint64_t;

constexpr Pair pair_of(std::uint32_t key, std::uint32_t place) { return Pair{key} << 32 | place; }
constexpr std::uint32_t key_of(Pair pair) { return static_cast<std::uint32_t>(pair >> 32); }
constexpr std::uint32_t place_of(Pair pair) { return static_cast<std::uint32_t>(pair); }

constexpr std::int64_t by_insertion = 24, by_comparison = 160, by_short_digits = 1 << 14;

void insertion_sort(Pair* pairs, std::int64_t n) {
  for (std::int64_t i = 1; i < n; ++i) {
    Pair own = pairs[i];
    std::int64_t j = i;
    for (; j > 0 && pairs[j - 1] > own; --j) pairs[j] = pairs[j - 1];
    pairs[j] = own;
  }
}

// Sorts pairs by `count` digits of their keys, from the last on, in turn from one array to the other;
// returns the one they are in then. Digits that are the same in all are passed over.
template <int digit_bits, int count>
Pair* sort_digits(Pair* pairs, Pair* other, std::int64_t n) {
  constexpr std::uint32_t radix = 1u << digit_bits, mask = radix - 1;
  static_assert(digit_bits * count <= 35);
  std::uint32_t counts[count][radix];
  std::memset(counts, 0, sizeof counts);
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint32_t key = key_of(pairs[i]);
    for (int d = 0; d < count; ++d) ++counts[d][key >> (d * digit_bits) & mask];
  }
  for (int d = 0; d < count; ++d) {
    std::uint32_t* next = counts[d];
    int shift = 32 + d * digit_bits;
    if (next[pairs[0] >> shift & mask] == n) continue;
    std::uint32_t total = 0;
    for (std::uint32_t i = 0; i < radix; ++i) {
      std::uint32_t here = next[i];
      next[i] = total;
      total += here;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      Pair pair = pairs[i];
      other[next[pair >> shift & mask]++] = pair;
    }
    std::swap(pairs, other);
  }
  return pairs;
}

// `bits`: how many of the keys' may differ.
Pair* sort_pairs(Pair* pairs, Pair* other, std::int64_t n, int bits) {
  if (n <= by_insertion) insertion_sort(pairs, n);
  else if (n <= by_comparison) std::sort(pairs, pairs + n);
  else if (bits <= 8) return sort_digits<8, 1>(pairs, other, n);
  else if (bits <= 16) return sort_digits<8, 2>(pairs, other, n);
  else if (n <= by_short_digits) return sort_digits<8, 4>(pairs, other, n);
  else return sort_digits<11, 3>(pairs, other, n);
  return pairs;
}

template <class U>
void pick(const std::byte* from, const std::int64_t* places, std::int64_t n, std::byte* to) {
  auto* x = reinterpret_cast<const U*>(from);
  auto* y = reinterpret_cast<U*>(to);
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[places[i]];
}

void make_keys(const RowOrder& how, const std::byte* in, std::int64_t n, std::byte* keys) {
  kernels().rankings->keys[static_cast<std::size_t>(how.order)][!how.descending](in, keys, static_cast<std::size_t>(n));
}

// The values of sorted keys. Zeros and NaNs, of which the keys do not say all, are fetched.
template <class U>
void make_values(const RowOrder& how, const std::byte* in, const U* keys, const std::int64_t* places, std::int64_t n,
                 std::byte* values) {
  kernels().rankings->values[static_cast<std::size_t>(how.order)][!how.descending](keys, values, static_cast<std::size_t>(n));
  if (how.order < Order::float8_e4m3fn) return;
  for (U special : {U{0}, static_cast<U>(~U{0})}) {  // the bits of a zero, and of a NaN
    U key;
    make_keys(how, reinterpret_cast<const std::byte*>(&special), 1, reinterpret_cast<std::byte*>(&key));
    auto [first, last] = std::equal_range(keys, keys + n, key);
    pick<U>(in, places + (first - keys), last - first, values + (first - keys) * static_cast<std::int64_t>(sizeof(U)));
  }
}

// ---- narrow keys --------------------------------------------------------------------------------

template <class U>
void sort_narrow(const RowOrder& how, const std::byte* in, std::int64_t n, std::byte* values, std::int64_t* places,
                 std::byte* scratch) {
  auto *a = reinterpret_cast<Pair*>(scratch), *b = a + n;
  U* keys = reinterpret_cast<U*>(b + n);
  make_keys(how, in, n, reinterpret_cast<std::byte*>(keys));
  for (std::int64_t i = 0; i < n; ++i) a[i] = pair_of(keys[i], static_cast<std::uint32_t>(i));
  const Pair* sorted = sort_pairs(a, b, n, 8 * sizeof(U));
  if (n <= by_short_digits) {  // the row is in the first-level cache
    for (std::int64_t i = 0; i < n; ++i) places[i] = place_of(sorted[i]);
    pick<U>(in, places, n, values);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    places[i] = place_of(sorted[i]);
    keys[i] = static_cast<U>(key_of(sorted[i]));
  }
  make_values<U>(how, in, keys, places, n, values);
}

// ---- wide keys ----------------------------------------------------------------------------------

// Puts a run of keys that differ in their low bits alone in order, with the places of their elements.
void sort_run(std::uint64_t* keys, std::int64_t* places, std::int64_t n, std::uint64_t low, Pair* a, Pair* b,
              std::uint64_t* old_keys) {
  if (n <= by_insertion) {
    for (std::int64_t i = 1; i < n; ++i) {
      std::uint64_t key = keys[i];
      std::int64_t place = places[i], j = i;
      for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1], places[j] = places[j - 1];
      keys[j] = key, places[j] = place;
    }
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) a[i] = pair_of(static_cast<std::uint32_t>(keys[i] & low), static_cast<std::uint32_t>(i));
  Pair* sorted = sort_pairs(a, b, n, 32);
  auto* old_places = reinterpret_cast<std::int64_t*>(sorted == a ? b : a);
  std::copy(places, places + n, old_places);
  std::copy(keys, keys + n, old_keys);
  for (std::int64_t i = 0; i < n; ++i) {
    places[i] = old_places[place_of(sorted[i])];
    keys[i] = old_keys[place_of(sorted[i])];
  }
}

void sort_wide(const RowOrder& how, const std::byte* in, std::int64_t n, std::byte* values, std::int64_t* places,
               std::byte* scratch) {
  auto *a = reinterpret_cast<Pair*>(scratch), *b = a + n, *keys = b + n, *ordered = keys + n;
  make_keys(how, in, n, reinterpret_cast<std::byte*>(keys));
  std::uint64_t differing = 0;
  for (std::int64_t i = 0; i < n; ++i) differing |= keys[i] ^ keys[0];
  int bits = std::bit_width(differing), shift = std::max(bits - 32, 0);
  for (std::int64_t i = 0; i < n; ++i)
    a[i] = pair_of(static_cast<std::uint32_t>(keys[i] >> shift), static_cast<std::uint32_t>(i));
  const Pair* sorted = sort_pairs(a, b, n, std::min(bits, 32));
  for (std::int64_t i = 0; i < n; ++i) {
    places[i] = place_of(sorted[i]);
    ordered[i] = keys[place_of(sorted[i])];
  }
  if (shift > 0) {
    std::uint64_t low = (std::uint64_t{1} << shift) - 1;
    for (std::int64_t i = 0, end; i < n; i = end) {
      for (end = i + 1; end < n && (ordered[end] ^ ordered[i]) <= low;) ++end;
      if (end - i > 1) sort_run(ordered + i, places + i, end - i, low, a, b, keys);
    }
  }
  if (n <= by_short_digits) pick<std::uint64_t>(in, places, n, values);
  else make_values<std::uint64_t>(how, in, ordered, places, n, values);
}

// ---- rows of more elements than 32 bits count ---------------------------------------------------

template <class U>
void sort_huge(const RowOrder& how, const std::byte* in, std::int64_t n, std::byte* values, std::int64_t* places,
               std::byte* scratch) {
  make_keys(how, in, n, scratch);
  auto* keys = reinterpret_cast<const U*>(scratch);
  std::iota(places, places + n, std::int64_t{0});
  std::sort(places, places + n, [keys](std::int64_t i, std::int64_t j) { return keys[i] != keys[j] ? keys[i] < keys[j] : i < j; });
  pick<U>(in, places, n, values);
}

// ---- the first k --------------------------------------------------------------------------------

constexpr std::int64_t block = 1024;

struct WidePair {
  std::uint64_t key;
  std::uint32_t place;
  bool operator<(const WidePair& other) const { return key != other.key ? key < other.key : place < other.place; }
};

inline std::uint64_t full_key(Pair pair) { return key_of(pair); }
inline std::uint64_t full_key(const WidePair& pair) { return pair.key; }
inline std::uint32_t place_of(const WidePair& pair) { return pair.place; }
inline void make_pair(std::uint64_t key, std::uint32_t place, Pair& made) { made = pair_of(static_cast<std::uint32_t>(key), place); }
inline void make_pair(std::uint64_t key, std::uint32_t place, WidePair& made) { made = {key, place}; }

// How many candidates are kept before all but the best k of them are dropped.
constexpr std::int64_t candidates(std::int64_t n, std::int64_t k) { return std::min(n, std::max<std::int64_t>(4 * k, 256)); }

// Whether so many are asked for that the whole row had better be sorted.
bool sorts_all(const RowOrder& how, std::int64_t n, std::int64_t k) { return n > how.longest || (n > by_comparison && k > n / 16); }

template <class U, class P>
void topk_of(const RowOrder& how, const std::byte* in, std::int64_t n, std::int64_t k, std::byte* values, std::int64_t* places,
             std::byte* scratch) {
  auto below = kernels().rankings->below[std::bit_width(sizeof(U)) - 1];
  auto* pairs = reinterpret_cast<P*>(scratch);
  std::int64_t most = candidates(n, k), count = 0;
  U keys[block];
  std::uint32_t found[block];
  std::uint64_t limit = 0;  // the key of the k-th best, once there are k
  auto drop = [&] {
    std::nth_element(pairs, pairs + (k - 1), pairs + count);
    count = k;
    limit = full_key(pairs[k - 1]);
  };
  for (std::int64_t start = 0, size; start < n; start += size) {
    bool filling = start < most;
    size = std::min(filling ? most - start : n - start, block);
    make_keys(how, in + start * static_cast<std::int64_t>(sizeof(U)), size, reinterpret_cast<std::byte*>(keys));
    if (filling) {
      for (std::int64_t i = 0; i < size; ++i) make_pair(keys[i], static_cast<std::uint32_t>(start + i), pairs[count++]);
      if (start + size == most && most < n) drop();
      continue;
    }
    // One that equals the k-th best comes after it, being later.
    auto picked = static_cast<std::int64_t>(below(keys, static_cast<std::size_t>(size), limit, found));
    for (std::int64_t i = 0; i < picked; ++i) make_pair(keys[found[i]], static_cast<std::uint32_t>(start + found[i]), pairs[count++]);
    if (count >= most) drop();
  }
  if (count > k) drop();
  std::sort(pairs, pairs + k);  // not by digits: they are no longer in the order of their places
  for (std::int64_t i = 0; i < k; ++i) places[i] = place_of(pairs[i]);
  pick<U>(in, places, k, values);
}

}  // namespace

std::int64_t sort_scratch(const RowOrder& how, std::int64_t n) noexcept {
  auto item = static_cast<std::int64_t>(how.itemsize);
  if (n > how.longest) return n * item;
  return n * (item == 8 ? 32 : 16 + item);
}

std::int64_t topk_scratch(const RowOrder& how, std::int64_t n, std::int64_t k) noexcept {
  auto item = static_cast<std::int64_t>(how.itemsize);
  if (sorts_all(how, n, k)) return sort_scratch(how, n) + n * (8 + item) + 8;
  return (candidates(n, k) + block) * static_cast<std::int64_t>(item == 8 ? sizeof(WidePair) : sizeof(Pair));
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

void topk_row(const RowOrder& how, const std::byte* in, std::int64_t n, std::int64_t k, std::byte* values,
              std::int64_t* places, std::byte* scratch) noexcept {
  if (sorts_all(how, n, k)) {
    auto* all_places = reinterpret_cast<std::int64_t*>(scratch);
    auto* all_values = reinterpret_cast<std::byte*>(all_places + n);
    // The rest of the scratch begins where 64-bit integers may.
    std::byte* rest = all_values + (n * static_cast<std::int64_t>(how.itemsize) + 7) / 8 * 8;
    sort_row(how, in, n, all_values, all_places, rest);
    std::copy(all_places, all_places + k, places);
    std::memcpy(values, all_values, static_cast<std::size_t>(k) * how.itemsize);
    return;
  }
  switch (how.itemsize) {
    case 1: return topk_of<std::uint8_t, Pair>(how, in, n, k, values, places, scratch);
    case 2: return topk_of<std::uint16_t, Pair>(how, in, n, k, values, places, scratch);
    case 4: return topk_of<std::uint32_t, Pair>(how, in, n, k, values, places, scratch);
    default: return topk_of<std::uint64_t, WidePair>(how, in, n, k, values, places, scratch);
  }
}

}  // namespace suanzi
