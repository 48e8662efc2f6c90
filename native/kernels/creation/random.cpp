// native/kernels/creation/random.cpp: 7.2.1.7 to 7.2.1.11: random words, and the numbers made of them.
//
// Whatever the level, the bits are the same: words are integers, and floats are made with conversions, products and
// sums that are rounded as IEEE 754 says, none of them fused; exp and log are ours for that reason, too.
#include "kernels/common.inc"

#include "kernels/creation/random.h"

#include "kernels/vectors/vector_bytes.inc"

namespace suanzi {
namespace {

#include "kernels/creation/random_tables.inc"

// ---- words ------------------------------------------------------------------------------------

constexpr u32 multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
constexpr u32 bump_0 = 0x9E3779B9, bump_1 = 0xBB67AE85;
constexpr int rounds = 10;

struct Block {
  u32 x[4];
  u64 pair(int i) const noexcept { return x[2 * i] | u64{x[2 * i + 1]} << 32; }
};

Block block_of(const RandomStream& s, u64 index) noexcept {
  Block b{{static_cast<u32>(index), static_cast<u32>(index >> 32), s.purpose, s.nonce}};
  u32 k0 = static_cast<u32>(s.key), k1 = static_cast<u32>(s.key >> 32);
  for (int r = 0; r < rounds; ++r, k0 += bump_0, k1 += bump_1) {
    u64 p = u64{multiplier_0} * b.x[0], q = u64{multiplier_1} * b.x[2];
    b = {{static_cast<u32>(q >> 32) ^ b.x[1] ^ k0, static_cast<u32>(q), static_cast<u32>(p >> 32) ^ b.x[3] ^ k1,
          static_cast<u32>(p)}};
  }
  return b;
}

#if defined(__aarch64__)

// Four blocks: each vector has one word of all.
struct Blocks {
  static constexpr std::size_t count = 4;
  uint32x4_t x0, x1, x2, x3;

  Blocks(const RandomStream& s, u64 first) noexcept {
    static constexpr u64 steps[] = {0, 1, 2, 3};
    uint64x2_t a = vaddq_u64(vdupq_n_u64(first), vld1q_u64(steps));
    uint64x2_t b = vaddq_u64(vdupq_n_u64(first), vld1q_u64(steps + 2));
    x0 = vuzp1q_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b));
    x1 = vuzp2q_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b));
    x2 = vdupq_n_u32(s.purpose), x3 = vdupq_n_u32(s.nonce);
  }
  void mix(u32 k0, u32 k1) noexcept {
    uint32x4_t m0 = vdupq_n_u32(multiplier_0), m1 = vdupq_n_u32(multiplier_1);
    auto p = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(x0), vget_low_u32(m0)));
    auto p_high = vreinterpretq_u32_u64(vmull_high_u32(x0, m0));
    auto q = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(x2), vget_low_u32(m1)));
    auto q_high = vreinterpretq_u32_u64(vmull_high_u32(x2, m1));
    x0 = veorq_u32(veorq_u32(vuzp2q_u32(q, q_high), x1), vdupq_n_u32(k0));
    x2 = veorq_u32(veorq_u32(vuzp2q_u32(p, p_high), x3), vdupq_n_u32(k1));
    x1 = vuzp1q_u32(q, q_high), x3 = vuzp1q_u32(p, p_high);
  }
  void store(u32* out) const noexcept {
    auto wide = [](uint32x4_t x) { return vreinterpretq_u64_u32(x); };
    uint64x2_t a = wide(vzip1q_u32(x0, x1)), b = wide(vzip1q_u32(x2, x3));
    uint64x2_t c = wide(vzip2q_u32(x0, x1)), d = wide(vzip2q_u32(x2, x3));
    vst1q_u32(out, vreinterpretq_u32_u64(vzip1q_u64(a, b)));
    vst1q_u32(out + 4, vreinterpretq_u32_u64(vzip2q_u64(a, b)));
    vst1q_u32(out + 8, vreinterpretq_u32_u64(vzip1q_u64(c, d)));
    vst1q_u32(out + 12, vreinterpretq_u32_u64(vzip2q_u64(c, d)));
  }
};

#else

constexpr std::size_t pairs = vector_bytes / 8;
typedef u64 Pairs __attribute__((vector_size(vector_bytes)));

// The product of the low halves.
inline Pairs multiplied(Pairs x, Pairs y) noexcept {
#if defined(__AVX512F__)
  return (Pairs)_mm512_mul_epu32((__m512i)x, (__m512i)y);
#elif defined(__AVX2__)
  return (Pairs)_mm256_mul_epu32((__m256i)x, (__m256i)y);
#elif defined(__SSE2__)
  return (Pairs)_mm_mul_epu32((__m128i)x, (__m128i)y);
#else
  return (x & 0xFFFFFFFF) * (y & 0xFFFFFFFF);
#endif
}

template <std::size_t... i>
inline Pairs even_lanes(Pairs a, Pairs b, std::index_sequence<i...>) noexcept {
  return shuffled<(i % 2 ? pairs + i - 1 : i)...>(a, b);
}
template <std::size_t... i>
inline Pairs odd_lanes(Pairs a, Pairs b, std::index_sequence<i...>) noexcept {
  return shuffled<(i % 2 ? pairs + i : i + 1)...>(a, b);
}

// As many blocks as there are pairs of words in a vector; one has the first two words of each, one the others. The
// even lanes have the first half of the blocks, the odd ones the second, as pairs of lanes are put together.
struct Blocks {
  static constexpr std::size_t count = pairs;
  Pairs first_words{}, last_words{};

  Blocks(const RandomStream& s, u64 first) noexcept {
    for (std::size_t i = 0; i < pairs; ++i) first_words[i] = first + i / 2 + i % 2 * (pairs / 2);
    last_words = Pairs{} + (s.purpose | u64{s.nonce} << 32);
  }
  void mix(u32 k0, u32 k1) noexcept {
    Pairs p = multiplied(first_words, Pairs{} + multiplier_0), q = multiplied(last_words, Pairs{} + multiplier_1);
    first_words = (q >> 32 | q << 32) ^ (first_words >> 32) ^ (Pairs{} + k0);
    last_words = (p >> 32 | p << 32) ^ (last_words >> 32) ^ (Pairs{} + k1);
  }
  void store(u32* out) const noexcept {
    std::make_index_sequence<pairs> lanes;
    Pairs low = even_lanes(first_words, last_words, lanes), high = odd_lanes(first_words, last_words, lanes);
    std::memcpy(out, &low, sizeof low);
    std::memcpy(out + 2 * pairs, &high, sizeof high);
  }
};

#endif

// Several at once, as a product takes longer than it keeps the unit; but no more than there are registers for.
#if defined(__aarch64__)
using AtOnce = std::make_index_sequence<2>;
#else
using AtOnce = std::make_index_sequence<4>;
#endif

template <std::size_t... j>
inline void mix_at_once(const RandomStream& stream, u64 first, u32* out, std::index_sequence<j...>) noexcept {
  Blocks made[] = {Blocks(stream, first + j * Blocks::count)...};
  u32 k0 = static_cast<u32>(stream.key), k1 = static_cast<u32>(stream.key >> 32);
  for (int r = 0; r < rounds; ++r, k0 += bump_0, k1 += bump_1) (made[j].mix(k0, k1), ...);
  (made[j].store(out + 4 * j * Blocks::count), ...);
}

void random_words(const RandomStream& stream, u64 first, u32* out, std::size_t blocks) {
  constexpr std::size_t step = AtOnce::size() * Blocks::count;
  std::size_t i = 0;
  for (; i + step <= blocks; i += step) mix_at_once(stream, first + i, out + 4 * i, AtOnce{});
  for (; i < blocks; ++i) {
    Block one = block_of(stream, first + i);
    std::memcpy(out + 4 * i, one.x, sizeof one.x);
  }
}

// ---- uniform ----------------------------------------------------------------------------------

// low + u (high - low) for u = word / 2^bits, rounded to the nearest; where the width is beyond the format, of two
// parts. Rounding may reach `high`, which is not to be drawn.
template <class T, class Word>
void uniform(const Word* words, T* out, std::size_t n, const UniformRange<T>& range) {
  constexpr std::size_t lanes = 64 / sizeof(T);
  constexpr T scale = T{1} / (T(2) * T(Word{1} << (8 * sizeof(Word) - 1)));
  T low[lanes], high[lanes], width[lanes], last[lanes];
  bool overflows = false;
  for (std::size_t l = 0; l < lanes; ++l) {
    low[l] = range.low[l % 2], high[l] = range.high[l % 2], last[l] = range.last[l % 2];
    width[l] = high[l] - low[l];
    overflows |= width[l] > std::numeric_limits<T>::max();
  }
  auto number = [&](Word word, std::size_t l) __attribute__((always_inline)) {
    T x = static_cast<T>(word) * scale * width[l] + low[l];
    return x < last[l] ? x : last[l];
  };
  auto wide = [&](Word word, std::size_t l) __attribute__((always_inline)) {
    T u = static_cast<T>(word) * scale, x = (1 - u) * low[l] + u * high[l];
    x = x < last[l] ? x : last[l];
    return x < low[l] ? low[l] : x;
  };
  std::size_t whole = n / lanes * lanes;
  if (overflows) {
    for (std::size_t i = 0; i < n; ++i) out[i] = wide(words[i], i % lanes);
    return;
  }
  for (std::size_t i = 0; i < whole; i += lanes)
    for (std::size_t l = 0; l < lanes; ++l) out[i + l] = number(words[i + l], l);
  for (std::size_t i = whole; i < n; ++i) out[i] = number(words[i], i % lanes);
}

// The high half of the product of a word and the count is uniform if the low half is not among the first few, which
// some results have one more of than others (Lemire, Fast random integer generation in an interval, 2019).
template <class Word>
struct Bounded {
  using Wide =
      std::conditional_t<sizeof(Word) == 2, u32, std::conditional_t<sizeof(Word) == 4, u64, unsigned __int128>>;
  static constexpr int bits = 8 * sizeof(Word);
  Word count, refused;

  explicit Bounded(u64 n) noexcept : count(static_cast<Word>(n)), refused(static_cast<Word>(Word(0 - count) % count)) {}
  Wide product(Word word) const noexcept { return Wide{word} * count; }
  bool takes(Wide product) const noexcept { return static_cast<Word>(product) >= refused; }
};

template <class Word, class Out>
void bounded_integers(const void* in, Out* out, std::size_t n, const IntegerRange& range, const RandomStream& stream,
                      u64 first) {
  auto* words = static_cast<const Word*>(in);
  const Bounded<Word> bounded(range.count);
  auto low = static_cast<Out>(range.low);
  std::size_t refused = 0;
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) {
    auto product = bounded.product(words[i]);
    out[i] = static_cast<Out>(low + static_cast<Out>(product >> bounded.bits));
    refused += !bounded.takes(product);
  }
  for (std::size_t i = 0; refused && i < n; ++i) {
    auto product = bounded.product(words[i]);
    if (bounded.takes(product)) continue;
    for (u32 attempt = 1; !bounded.takes(product); ++attempt)
      product = bounded.product(static_cast<Word>(block_of(attempt_of(stream, attempt), first + i).pair(0)));
    out[i] = static_cast<Out>(low + static_cast<Out>(product >> bounded.bits));
    --refused;
  }
}

template <class Word, class Out>
void masked_integers(const void* in, Out* out, std::size_t n, const IntegerRange& range) {
  auto* words = static_cast<const Word*>(in);
  auto low = static_cast<Out>(range.low);
  auto mask = static_cast<Word>(range.count - 1);
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Out>(low + static_cast<Out>(words[i] & mask));
}

template <class Out>
void integers(const void* words, void* made, std::size_t n, const IntegerRange& range, const RandomStream& stream,
              u64 first) {
  auto* out = static_cast<Out*>(made);
  bool is_power = (range.count & (range.count - 1)) == 0;
  switch (integer_word_size(range)) {
    case 1: return masked_integers<u8>(words, out, n, range);
    case 2:
      if (is_power) return masked_integers<u16>(words, out, n, range);
      return bounded_integers<u16>(words, out, n, range, stream, first);
    case 4:
      if (is_power) return masked_integers<u32>(words, out, n, range);
      return bounded_integers<u32>(words, out, n, range, stream, first);
    default:
      if (is_power) return masked_integers<u64>(words, out, n, range);
      return bounded_integers<u64>(words, out, n, range, stream, first);
  }
}

// Element i is an index from 0 to i.
void indices(const u64* words, u64* out, std::size_t n, const RandomStream& stream, u64 first) {
  for (std::size_t i = 0; i < n; ++i) {
    const Bounded<u64> bounded(first + i + 1);
    auto product = bounded.product(words[i]);
    for (u32 attempt = 1; !bounded.takes(product); ++attempt)
      product = bounded.product(block_of(attempt_of(stream, attempt), first + i).pair(0));
    out[i] = static_cast<u64>(product >> 64);
  }
}

// ---- exp and log --------------------------------------------------------------------------------

// exp(-x) for x from 0 to 40, within a few units of the last place.
f64 exp_of_minus(f64 x) noexcept {
  constexpr f64 high = 0x1.62e42fefa3800p-1, low = 0x1.ef35793c76730p-45;
  f64 n = static_cast<f64>(static_cast<i64>(x / high + 0.5)), r = n * high - x + n * low, sum = 1;
  for (int i = 14; i > 0; --i) sum = 1 + r / i * sum;
  return sum * bit_cast<f64>(static_cast<u64>(1023 - static_cast<i64>(n)) << 52);
}

// log(x) for a normal number: the series of atanh at (m - 1) / (m + 1), for the mantissa m next to 1.
f64 log_of(f64 x) noexcept {
  auto bits = bit_cast<u64>(x);
  i64 exponent = static_cast<i64>(bits - 0x3FE6A09E667F3BCD) >> 52;  // of sqrt(1/2)
  f64 m = bit_cast<f64>(bits - (static_cast<u64>(exponent) << 52)), s = (m - 1) / (m + 1), t = s * s, sum = 0;
  for (int i = 23; i > 1; i -= 2) sum = (sum + 1.0 / i) * t;
  f64 n = static_cast<f64>(exponent);
  return n * 0x1.62e42fefa3800p-1 + (2 * s + (2 * s * sum + n * 0x1.ef35793c76730p-45));
}

// The middle of what a word stands for: above 0 and below 1.
inline f64 open_unit(u64 word) noexcept { return (static_cast<f64>(word >> 12) + 0.5) * 0x1p-52; }

// ---- normal -----------------------------------------------------------------------------------

// The ziggurat of Marsaglia and Tsang (2000). A word is a layer, a sign and 53 bits, apart, as Doornik (2005) asks.
struct Place {
  u64 layer, sign, along;
  explicit Place(u64 word) noexcept : layer(word & 255), sign((word & 256) << 55), along(word >> 11) {}
  f64 value() const noexcept { return static_cast<f64>(static_cast<i64>(along)) * widths[layer]; }
  f64 with_sign(f64 x) const noexcept { return bit_cast<f64>(bit_cast<u64>(x) | sign); }
};

// What becomes of a word that is not inside its layer: three in two hundred.
__attribute__((noinline)) f64 outside(Place place, const RandomStream& stream, u64 index) noexcept {
  for (u32 attempt = 1;; ++attempt) {
    Block b = block_of(attempt_of(stream, attempt), index);
    if (place.layer == 0) {  // Marsaglia's way for the tail
      f64 x = -log_of(open_unit(b.pair(0))) / tail_begin, y = -log_of(open_unit(b.pair(1)));
      if (y + y >= x * x) return place.with_sign(tail_begin + x);
      continue;
    }
    f64 x = place.value(), low = heights[place.layer], high = heights[place.layer + 1];
    if (low + open_unit(b.pair(0)) * (high - low) < exp_of_minus(0.5 * x * x)) return place.with_sign(x);
    place = Place(b.pair(1));
    if (place.along < inside[place.layer]) return place.with_sign(place.value());
  }
}

void normal(const u64* words, f64* out, std::size_t n, const RandomStream& stream, u64 first) {
  constexpr std::size_t most = 1024;
  u16 open[most];
  for (std::size_t begin = 0; begin < n; begin += most) {
    std::size_t count = n - begin < most ? n - begin : most, found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Place place(words[begin + i]);
      out[begin + i] = place.with_sign(place.value());
      open[found] = static_cast<u16>(i);
      found += place.along >= inside[place.layer];
    }
    for (std::size_t j = 0; j < found; ++j) {
      std::size_t i = begin + open[j];
      out[i] = outside(Place(words[i]), stream, first + i);
    }
  }
}

// ---- chances ----------------------------------------------------------------------------------

// A word is 32 bits of a fraction; where they do not tell whether it is below the chance, more do.
bool bernoulli(const u32* words, const f64* chances, u8* out, std::size_t n, const RandomStream& stream, u64 first) {
  bool right = true;
  std::size_t open = 0;
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) {
    f64 bound = chances[i] * 0x1p32, from = static_cast<f64>(words[i]);
    right &= chances[i] >= 0 && chances[i] <= 1;
    out[i] = from + 1 <= bound;
    open += from < bound && !(from + 1 <= bound);
  }
  for (std::size_t i = 0; open && i < n; ++i) {
    f64 rest = chances[i] * 0x1p32 - static_cast<f64>(words[i]);
    if (!(rest > 0 && rest < 1)) continue;
    out[i] = static_cast<f64>(block_of(attempt_of(stream, 1), first + i).pair(0)) * 0x1p-64 < rest;
    --open;
  }
  return right;
}

// Of a subnormal number, too.
f64 log_of_any(f64 x) noexcept { return x >= 0x1p-1022 ? log_of(x) : log_of(x * 0x1p64) - 64 * 0x1.62e42fefa39efp-1; }

void rings(const u64* words, const f64* rates, f64* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    f64 waited = log_of_any(-log_of(open_unit(words[i])));
    out[i] = rates[i] > 0 ? waited - log_of_any(rates[i]) : std::numeric_limits<f64>::infinity();
  }
}

}  // namespace

const RandomKernels& SUANZI_OF_LEVEL(random_kernels)() noexcept {
  static const RandomKernels table{random_words,      uniform<f32, u32>,
                                   uniform<f64, u64>, {integers<u8>, integers<u16>, integers<u32>, integers<u64>},
                                   indices,           normal,
                                   bernoulli,         rings};
  return table;
}

}  // namespace suanzi
