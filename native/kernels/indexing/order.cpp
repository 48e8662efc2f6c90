// native/kernels/indexing/order.cpp: 7.2.14: numbers in order: the best of them, keys to sort by, indices.
//
// Elements become unsigned keys that compare as the numbers do, so that a sort moves integers of four widths only.
// Few keys are ranked by comparing each with all, many columns are sorted together by Batcher's network: neither
// branches on data.
#include "kernels/common.inc"

#include "kernels/indexing/order.h"

#include "kernels/indexing/keys.inc"

#include "kernels/indexing/extremes.inc"

namespace suanzi {
namespace {

// ---- keys to sort by ----------------------------------------------------------------------------

template <class O, bool descending>
void keys_loop(const void* in, void* out, std::size_t n) {
  using U = typename O::bits;
  constexpr U turn = static_cast<U>(U{1} << (sizeof(U) * 8 - 1));
  each_element<U, U>(in, out, n, [](U x) {
    U key = static_cast<U>(static_cast<U>(O::rank(x)) ^ turn);
    return descending ? static_cast<U>(~key) : key;
  });
}

template <class O, bool descending>
void values_loop(const void* in, void* out, std::size_t n) {
  using U = typename O::bits;
  constexpr U turn = static_cast<U>(U{1} << (sizeof(U) * 8 - 1));
  each_element<U, U>(in, out, n, [](U x) {
    U key = descending ? static_cast<U>(~x) : x;
    return O::value(static_cast<typename O::ranked>(key ^ turn));
  });
}

template <class U>
std::size_t below_loop(const void* in, std::size_t n, u64 limit, u32* places) {
  auto* keys = static_cast<const U*>(in);
  auto most = static_cast<U>(limit);
  constexpr std::size_t group = 64;
  std::size_t count = 0, i = 0;
  for (; i + group <= n; i += group) {
    U any = 0;
    for (std::size_t j = 0; j < group; ++j) any |= static_cast<U>(keys[i + j] < most ? U(~U{0}) : U{0});
    if (!any) continue;
    for (std::size_t j = 0; j < group; ++j) {
      places[count] = static_cast<u32>(i + j);
      count += keys[i + j] < most;
    }
  }
  for (; i < n; ++i) {
    places[count] = static_cast<u32>(i);
    count += keys[i] < most;
  }
  return count;
}

// What is ranked at once. Compilers make vectors of any length of those the machine has, but those of ARM go through
// memory then.
#if defined(__aarch64__)
constexpr std::size_t ranked_bytes = 16;
#else
constexpr std::size_t ranked_bytes = 64;
#endif

// Every key is compared with every other, so that nothing depends on a comparison but a count. Of the keys
// before the groups that are counted for, equal ones count, too; in those groups the ones before it, then none.
template <bool or_equal, class Lanes, class U>
inline void count_if(const Lanes& own, U key, Lanes& count) noexcept {
#if defined(__AVX512F__)
  auto a = bit_cast<__m512i>(own), c = bit_cast<__m512i>(count);
  constexpr int comparison = or_equal ? _MM_CMPINT_NLT : _MM_CMPINT_NLE;
  if constexpr (sizeof(U) == 4) {
    __mmask16 chosen = _mm512_cmp_epu32_mask(a, _mm512_set1_epi32(static_cast<i32>(key)), comparison);
    c = _mm512_mask_add_epi32(c, chosen, c, _mm512_set1_epi32(1));
  } else {
    __mmask8 chosen = _mm512_cmp_epu64_mask(a, _mm512_set1_epi64(static_cast<i64>(key)), comparison);
    c = _mm512_mask_add_epi64(c, chosen, c, _mm512_set1_epi64(1));
  }
  count = bit_cast<Lanes>(c);
#else
  if constexpr (or_equal) count -= (Lanes)(own >= key);
  else count -= (Lanes)(own > key);
#endif
}

// Counts for several groups at once, so that one need not wait for another.
template <class U, std::size_t groups>
inline void rank_groups(const U* keys, std::size_t begin, std::size_t n, u32* ranks) {
  constexpr std::size_t lanes = ranked_bytes / sizeof(U);
  static_assert(lanes <= rank_padding);
  typedef U Lanes __attribute__((vector_size(ranked_bytes)));
  Lanes own[groups], numbers[groups], below[groups] = {};
  std::memcpy(own, keys + begin, sizeof own);
  for (std::size_t i = 0; i < groups * lanes; ++i) numbers[i / lanes][i % lanes] = static_cast<U>(i);
  std::size_t j = 0, end = n - begin < groups * lanes ? n : begin + groups * lanes;
  for (; j < begin; ++j)
    for (std::size_t g = 0; g < groups; ++g) count_if<true>(own[g], keys[j], below[g]);
  for (; j < end; ++j)
    for (std::size_t g = 0; g < groups; ++g)
      below[g] -= (Lanes)((own[g] > keys[j]) | ((own[g] == keys[j]) & (numbers[g] > static_cast<U>(j - begin))));
  for (; j < n; ++j)
    for (std::size_t g = 0; g < groups; ++g) count_if<false>(own[g], keys[j], below[g]);
  for (std::size_t i = 0; begin + i < end; ++i) ranks[begin + i] = static_cast<u32>(below[i / lanes][i % lanes]);
}

template <class U>
void ranks_loop(void* memory, std::size_t n, u32* ranks) {
  constexpr std::size_t lanes = ranked_bytes / sizeof(U);
  auto* keys = static_cast<U*>(memory);
  for (std::size_t j = n; j % lanes; ++j) keys[j] = static_cast<U>(~U{0});
  std::size_t begin = 0;
#if defined(__aarch64__)
  for (; begin + lanes < n; begin += 2 * lanes) rank_groups<U, 2>(keys, begin, n, ranks);
#endif
  for (; begin < n; begin += lanes) rank_groups<U, 1>(keys, begin, n, ranks);
}

#if defined(__AVX512F__)
constexpr i64 most_ranked = 160;
#elif defined(__AVX2__) || defined(__aarch64__)
constexpr i64 most_ranked = 64;
#else
constexpr i64 most_ranked = 24;
#endif
#if defined(__aarch64__)
constexpr i64 most_ranked_first = 24;
#else
constexpr i64 most_ranked_first = most_ranked;
#endif

// Batcher's network: which keys are compared does not depend on them, so that many columns go together.
template <class U>
void columns_in_order(void* memory, std::size_t n) {
  typedef U Lanes __attribute__((vector_size(vector_bytes), may_alias));
  constexpr std::size_t vectors = sorted_bytes / vector_bytes;
  auto* keys = static_cast<Lanes*>(memory);
  for (std::size_t merged = 1; merged < n; merged *= 2)
    for (std::size_t apart = merged; apart > 0; apart /= 2)
      for (std::size_t first = apart % merged; first + apart < n; first += 2 * apart)
        for (std::size_t i = first; i < first + apart && i + apart < n; ++i) {
          if (i / (2 * merged) != (i + apart) / (2 * merged)) continue;
          Lanes *low = keys + i * vectors, *high = low + apart * vectors;
          for (std::size_t v = 0; v < vectors; ++v) {
            Lanes a = low[v], b = high[v];
            low[v] = a < b ? a : b;
            high[v] = a < b ? b : a;
          }
        }
}

// ---- places -------------------------------------------------------------------------------------

std::size_t places_loop(const void* mask, std::size_t n, i64 base, i64* places) {
  auto* m = static_cast<const u8*>(mask);
  std::size_t count = 0, i = 0;
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
  const __m512i first = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  for (; i + 64 <= n; i += 64) {
    __m512i bytes = _mm512_loadu_si512(m + i);
    u64 chosen = _mm512_test_epi8_mask(bytes, bytes);
    if (!chosen) continue;
    __m512i at = _mm512_add_epi64(first, _mm512_set1_epi64(base + static_cast<i64>(i)));
    for (int part = 0; part < 8; ++part) {
      auto eight = static_cast<__mmask8>(chosen >> (8 * part));
      _mm512_storeu_si512(places + count, _mm512_maskz_compress_epi64(eight, at));
      count += static_cast<std::size_t>(__builtin_popcount(eight));
      at = _mm512_add_epi64(at, _mm512_set1_epi64(8));
    }
  }
#elif defined(__aarch64__)
  const uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
  for (; i + 64 <= n; i += 64) {
    uint8x16_t part[4];
    for (std::size_t v = 0; v < 4; ++v) {
      uint8x16_t bytes = vld1q_u8(m + i + 16 * v);
      part[v] = vandq_u8(vtstq_u8(bytes, bytes), bit);
    }
    uint8x16_t sum = vpaddq_u8(vpaddq_u8(part[0], part[1]), vpaddq_u8(part[2], part[3]));
    u64 chosen = vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)), 0);
    i64 at = base + static_cast<i64>(i);
    if (chosen == 0) continue;
    if (chosen == ~u64{0}) {
      for (std::size_t j = 0; j < 64; ++j) places[count + j] = at + static_cast<i64>(j);
      count += 64;
      continue;
    }
    // Eight are written whether there are so many or not, as long as there are more: `places` has room for them.
    std::size_t found = static_cast<std::size_t>(__builtin_popcountll(chosen));
    for (std::size_t done = 0; done < found; done += 8)
      for (std::size_t j = 0; j < 8; ++j) {
        places[count + done + j] = at + __builtin_ctzll(chosen | u64{1} << 63);
        chosen &= chosen - 1;
      }
    count += found;
  }
#endif
  for (; i + 8 <= n; i += 8) {
    u64 eight;
    std::memcpy(&eight, m + i, 8);
    if (!eight) continue;
    if (!(eight & (eight - 1))) {  // one bit, and thus one of them
      places[count++] = base + static_cast<i64>(i) + __builtin_ctzll(eight) / 8;
      continue;
    }
    if (eight == 0x0101010101010101) {
      for (std::size_t j = 0; j < 8; ++j) places[count + j] = base + static_cast<i64>(i + j);
      count += 8;
      continue;
    }
    for (std::size_t j = 0; j < 8; ++j) {
      places[count] = base + static_cast<i64>(i + j);
      count += m[i + j] != 0;
    }
  }
  for (; i < n; ++i) {
    places[count] = base + static_cast<i64>(i);
    count += m[i] != 0;
  }
  return count;
}

// ---- the table ----------------------------------------------------------------------------------

template <class O>
void fill(RankingKernels& k, Order order) {
  auto fill_way = [&, at = static_cast<std::size_t>(order)]<bool least>(std::bool_constant<least>) {
    k.best[at][least] = best_loop<O, least>;
    k.columns[at][least] = columns_loop<O, least>;
    k.keys[at][least] = keys_loop<O, !least>;
    k.values[at][least] = values_loop<O, !least>;
  };
  fill_way(std::false_type{}), fill_way(std::true_type{});
}

RankingKernels make_rankings() {
  RankingKernels k{};
  fill<Whole<i8>>(k, Order::i8);
  fill<Whole<i16>>(k, Order::i16);
  fill<Whole<i32>>(k, Order::i32);
  fill<Whole<i64>>(k, Order::i64);
  fill<Whole<u8>>(k, Order::u8);
  fill<Whole<u16>>(k, Order::u16);
  fill<Whole<u32>>(k, Order::u32);
  fill<Whole<u64>>(k, Order::u64);
  fill<Floating<u8, 0x7E>>(k, Order::float8_e4m3fn);
  fill<Floating<u8, 0x7C>>(k, Order::float8_e5m2);
  fill<Floating<u16, 0x7C00>>(k, Order::float16);
  fill<Floating<u16, 0x7F80>>(k, Order::bfloat16);
  fill<Floating<u32, 0x7F800000>>(k, Order::f32);
  fill<Floating<u64, 0x7FF0000000000000>>(k, Order::f64);
  auto fill_size = [&]<class U>(std::size_t log2, U) {
    k.below[log2] = below_loop<U>;
    k.sort_columns[log2] = columns_in_order<U>;
  };
  fill_size(0, u8{}), fill_size(1, u16{}), fill_size(2, u32{}), fill_size(3, u64{});
  k.ranks[0] = ranks_loop<u32>;
  k.ranks[1] = ranks_loop<u64>;
  k.most_ranked = most_ranked;
  k.most_ranked_first = most_ranked_first;
  k.places = places_loop;
  return k;
}

}  // namespace

SUANZI_TABLE(RankingKernels, rankings, make_rankings())

}  // namespace suanzi
