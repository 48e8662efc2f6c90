// native/ops/indexing/topk_rows.cpp: 7.2.14.4: the first k of a dense row, in order.
//
// Few of many are found in one pass: what comes before the k-th best so far is a candidate, and when
// there are many of these, all but the best k are dropped. For many, a count of the leading digits of
// the keys says which part of the row has to be sorted.
#include <algorithm>
#include <bit>
#include <cstring>

#include "ops/indexing/sort_rows.h"

namespace suanzi {
namespace {

constexpr std::int64_t block = 1024;

template <class U>
struct Candidate {
  U key;
  std::uint32_t place;
  bool operator<(const Candidate& other) const { return key != other.key ? key < other.key : place < other.place; }
};

// How many candidates are kept before all but the best k of them are dropped.
constexpr std::int64_t most_candidates(std::int64_t n, std::int64_t k) {
  return std::min(n, std::max<std::int64_t>(4 * k, 64));
}
constexpr bool is_few(std::int64_t n, std::int64_t k) { return k <= 2048 && k <= n / 16; }

template <class U>
class Few {
 public:
  Few(const RowOrder& how, std::int64_t n, std::int64_t k, std::byte* scratch)
      : how_(how), n_(n), k_(k), most_(most_candidates(n, k)), found_(reinterpret_cast<Candidate<U>*>(scratch)) {}

  void run(const std::byte* in, std::byte* values, std::int64_t* places) {
    auto below = kernels().rankings->below[std::bit_width(sizeof(U)) - 1];
    U keys[block];
    std::uint32_t picked[block];
    for (std::int64_t start = 0, size; start < n_; start += size) {
      bool filling = start < most_;
      size = std::min(filling ? most_ - start : n_ - start, block);
      make_keys(how_, in + start * static_cast<std::int64_t>(sizeof(U)), size, keys);
      if (filling) {
        for (std::int64_t i = 0; i < size; ++i) found_[count_++] = {keys[i], static_cast<std::uint32_t>(start + i)};
      } else {
        // One that equals the k-th best comes after it, being later.
        auto count = static_cast<std::int64_t>(below(keys, static_cast<std::size_t>(size), limit_, picked));
        for (std::int64_t i = 0; i < count; ++i)
          found_[count_++] = {keys[picked[i]], static_cast<std::uint32_t>(start + picked[i])};
      }
      if (count_ >= most_ && start + size < n_) drop();
    }
    drop();
    if (!sorted_) std::sort(found_, found_ + k_);
    for (std::int64_t i = 0; i < k_; ++i) places[i] = found_[i].place;
    pick<U>(in, places, k_, values);
  }

 private:
  // Keeps the best k. Ranks need equal ones in their order, which they are in until the first selection.
  void drop() {
    sorted_ = !selected_ && is_ranked_first(count_);
    if (sorted_) {
      Ranked<U> ranked;
      Candidate<U> old[ranked_room];
      for (std::int64_t i = 0; i < count_; ++i) ranked.keys[i] = found_[i].key, old[i] = found_[i];
      ranked.run(count_);
      for (std::int64_t i = 0; i < count_; ++i)
        if (ranked.ranks[i] < k_) found_[ranked.ranks[i]] = old[i];
    } else {
      std::nth_element(found_, found_ + (k_ - 1), found_ + count_);
      selected_ = true;
    }
    count_ = k_;
    limit_ = found_[k_ - 1].key;
  }

  const RowOrder& how_;
  std::int64_t n_, k_, most_, count_ = 0;
  std::uint64_t limit_ = 0;
  bool sorted_ = false, selected_ = false;
  Candidate<U>* found_;
};

// Elements that may be among the first k, and where they are; then what sorting them takes.
template <class U>
void many(const RowOrder& how, const std::byte* in, std::int64_t n, std::int64_t k, std::byte* values,
          std::int64_t* places, std::byte* scratch) {
  auto* kept_places = reinterpret_cast<std::int64_t*>(scratch);
  std::int64_t* sorted_places = kept_places + n;
  U *kept = reinterpret_cast<U*>(sorted_places + n), *sorted = kept + n;
  std::byte* rest = scratch + (n * (16 + 2 * static_cast<std::int64_t>(sizeof(U))) + 7) / 8 * 8;
  U* keys = sorted;  // which are read before anything is sorted
  make_keys(how, in, n, keys);
  U differing = 0;
  for (std::int64_t i = 0; i < n; ++i) differing |= static_cast<U>(keys[i] ^ keys[0]);
  constexpr int digit_bits = 11;
  constexpr std::uint32_t mask = (1u << digit_bits) - 1;
  int shift = std::max(static_cast<int>(std::bit_width(differing)) - digit_bits, 0);
  auto digit = [shift](U key) { return static_cast<std::uint32_t>(static_cast<std::uint64_t>(key) >> shift) & mask; };
  std::uint32_t counts[mask + 1] = {};
  for (std::int64_t i = 0; i < n; ++i) ++counts[digit(keys[i])];
  std::uint32_t last = 0;
  for (std::int64_t before = counts[0]; before < k; before += counts[last]) ++last;
  std::int64_t count = 0;
  auto* x = reinterpret_cast<const U*>(in);
  for (std::int64_t i = 0; i < n; ++i) {
    kept[count] = x[i];
    kept_places[count] = i;
    count += digit(keys[i]) <= last;
  }
  sort_row(how, reinterpret_cast<const std::byte*>(kept), count, reinterpret_cast<std::byte*>(sorted), sorted_places,
           rest);
  std::memcpy(values, sorted, static_cast<std::size_t>(k) * sizeof(U));
  for (std::int64_t i = 0; i < k; ++i) places[i] = kept_places[sorted_places[i]];
}

template <class U>
void topk_of(const RowOrder& how, const std::byte* in, std::int64_t n, std::int64_t k, std::byte* values,
             std::int64_t* places, std::byte* scratch) {
  if (n > how.longest) {
    auto* all_places = reinterpret_cast<std::int64_t*>(scratch);
    auto* all = reinterpret_cast<U*>(all_places + n);
    sort_row(how, in, n, reinterpret_cast<std::byte*>(all), all_places, reinterpret_cast<std::byte*>(all + n));
    std::memcpy(values, all, static_cast<std::size_t>(k) * sizeof(U));
    std::copy(all_places, all_places + k, places);
  } else if (is_ranked_first(n)) {
    order_by_ranks<U>(how, in, n, k, values, places);
  } else if (is_few(n, k)) {
    Few<U>(how, n, k, scratch).run(in, values, places);
  } else {
    many<U>(how, in, n, k, values, places, scratch);
  }
}

}  // namespace

std::int64_t topk_scratch(const RowOrder& how, std::int64_t n, std::int64_t k) noexcept {
  auto item = static_cast<std::int64_t>(how.itemsize);
  if (n > how.longest) return n * (8 + item) + sort_scratch(how, n);
  if (is_ranked_first(n)) return 0;
  if (is_few(n, k))
    return (most_candidates(n, k) + block) * static_cast<std::int64_t>(sizeof(Candidate<std::uint64_t>));
  return n * (16 + 2 * item) + 8 + sort_scratch(how, n);
}

void topk_row(const RowOrder& how, const std::byte* in, std::int64_t n, std::int64_t k, std::byte* values,
              std::int64_t* places, std::byte* scratch) noexcept {
  switch (how.itemsize) {
    case 1: return topk_of<std::uint8_t>(how, in, n, k, values, places, scratch);
    case 2: return topk_of<std::uint16_t>(how, in, n, k, values, places, scratch);
    case 4: return topk_of<std::uint32_t>(how, in, n, k, values, places, scratch);
    default: return topk_of<std::uint64_t>(how, in, n, k, values, places, scratch);
  }
}

}  // namespace suanzi
