// native/kernels/linear_algebra/products_x86.cpp: 7.2.17.1, 7.2.17.2, 7.2.17.12: products of bfloat16 and of bytes by
// x86's matrix unit (AMX), those of bytes by its instruction for dot products (AVX512-VNNI), where there are such.
//
// Bytes are multiplied exactly. Sums of bfloat16 are float32, as everywhere; the matrix unit takes subnormal numbers
// for zero, so that `smallest_bf16` is to be asked before. AVX512-BF16 is not used: on a Sapphire Rapids it took longer
// than to convert to float32 (1024^3 in 32 ms on one thread, and 25).
//
// A place is 32 bits: two bfloat16 or four bytes that follow one another along k. A tile is 16 rows of 16 places.
#include <cpuid.h>
#include <immintrin.h>

#include <cstring>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "kernels/linear_algebra/products.h"

#include "kernels/vectors/matrix_unit_transpose.inc"

namespace suanzi {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;

constexpr std::int64_t tile = 16;                       // rows, columns or places
constexpr std::int64_t tile_places = tile * tile;       // 1 KiB
constexpr std::int64_t deep = 16, wide = 16, high = 2;  // tiles of a block: along k, of the right and of the left one

inline std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
inline std::int64_t tiles_of(std::int64_t count, std::int64_t each) { return (count + each - 1) / each; }

// ---- packing ------------------------------------------------------------------------------------

inline void store(const __m512i (&x)[16], u32* out) {
  for (int i = 0; i < 16; ++i) _mm512_store_si512(out + i * tile, x[i]);
}

// One tile of at most 16 rows (columns, of a right operand) that are `across` apart, with elements that are `along`
// apart. A left one has rows of places, a right one places of rows. What is missing is 0; all bits of `flip` are
// flipped in each place.
template <class E, bool is_left>
inline void pack_tile(const E* from, std::int64_t across, std::int64_t along, std::int64_t rows, std::int64_t length,
                      __m512i flip, u32* out) {
  constexpr std::int64_t depth = 4 / sizeof(E);
  __m512i x[16];
  if (along == 1) {
    auto bytes = static_cast<unsigned>(length * static_cast<std::int64_t>(sizeof(E)));
    __mmask64 there = bytes >= 64 ? ~__mmask64{0} : (__mmask64{1} << bytes) - 1;
    for (int i = 0; i < 16; ++i)
      x[i] = i < rows ? _mm512_maskz_loadu_epi8(there, from + i * across) : _mm512_setzero_si512();
  } else {
    alignas(64) E some[16 * 16 * depth] = {};
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t p = 0; p < length; ++p) some[i * 16 * depth + p] = from[i * across + p * along];
    for (int i = 0; i < 16; ++i) x[i] = _mm512_load_si512(some + i * 16 * depth);
  }
  for (int i = 0; i < 16; ++i) x[i] = _mm512_xor_si512(x[i], flip);
  if (!is_left) transpose(x);
  store(x, out);
}

// 64 bytes of elements, those of the places of each tile apart.
inline void spread(__m512i x, const u16*, __m512i (&out)[2]) {
  out[0] = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(x));
  out[1] = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(x, 1));
}
inline void spread(__m512i x, const u8*, __m512i (&out)[4]) {
  out[0] = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(x));
  out[1] = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(x, 1));
  out[2] = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(x, 2));
  out[3] = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(x, 3));
}

// As many tiles side by side as a line of the cache has elements of, from rows that are dense: each line is read once.
// The tiles are `apart` in what is made.
template <class E, bool is_left>
inline void pack_line(const E* from, std::int64_t along, std::int64_t rows, std::int64_t length, __m512i flip, u32* out,
                      std::int64_t apart) {
  constexpr int depth = 4 / sizeof(E), tiles = depth;
  auto bytes = static_cast<unsigned>(rows * static_cast<std::int64_t>(sizeof(E)));
  __mmask64 there = bytes >= 64 ? ~__mmask64{0} : (__mmask64{1} << bytes) - 1;
  __m512i made[tiles][16];
  for (int p = 0; p < 16; ++p) {
    for (int t = 0; t < tiles; ++t) made[t][p] = flip;
    for (int d = 0; d < depth; ++d) {
      if (p * depth + d >= length) break;
      __m512i parts[tiles];
      spread(_mm512_maskz_loadu_epi8(there, from + (p * depth + d) * along), from, parts);
      for (int t = 0; t < tiles; ++t)
        made[t][p] = _mm512_xor_si512(
            made[t][p], _mm512_slli_epi32(parts[t], static_cast<unsigned>(d) * 8 * static_cast<unsigned>(sizeof(E))));
    }
  }
  for (int t = 0; t < tiles && t * tile < rows; ++t) {
    if (is_left) transpose(made[t]);
    store(made[t], out + t * apart);
  }
}

// Tiles of 16 rows, those along k one behind the other.
template <class E, bool is_left>
void pack(const E* from, std::int64_t across, std::int64_t along, std::int64_t rows, std::int64_t length, __m512i flip,
          u32* out) {
  constexpr std::int64_t each = tile * 4 / sizeof(E), line = 64 / sizeof(E);
  std::int64_t panel = tiles_of(length, each) * tile_places;
  if (across == 1 && along != 1) {
    for (std::int64_t i = 0; i < rows; i += line, out += line / tile * panel)
      for (std::int64_t p = 0; p < length; p += each)
        pack_line<E, is_left>(from + i + p * along, along, least(line, rows - i), least(each, length - p), flip,
                              out + p / each * tile_places, panel);
    return;
  }
  for (std::int64_t i = 0; i < rows; i += tile)
    for (std::int64_t p = 0; p < length; p += each, out += tile_places)
      pack_tile<E, is_left>(from + i * across + p * along, across, along, least(tile, rows - i),
                            least(each, length - p), flip, out);
}

// ---- blocks -------------------------------------------------------------------------------------
//
// A block is 32 rows and 32 columns of the result: c = (c +) a b for `count` tiles along k.

enum class Kind { bf16, signed_bytes, unsigned_bytes };

// Two tiles of a left operand, packed or as they lie: how far rows are apart, and tiles along k, in bytes.
struct Left {
  const std::byte *first, *next;
  std::ptrdiff_t row, step;
  const u32* excess;  // of each row, where there is one
};

#if defined(__AMX_TILE__) || defined(__AMXTILE__)  // of which clang 14 has the latter
#define SUANZI_MATRIX_UNIT
#if defined(SUANZI_EMULATE_MATRIX_UNIT)
#include "kernels/vectors/matrix_unit_emulated.inc"
#endif

// GCC does not say of these instructions that they read memory.
inline void memory_is_read(const void* where) { asm volatile("" : : "r"(where) : "memory"); }

struct alignas(64) TileConfig {
  u8 palette = 1, start = 0, rest[14] = {};
  u16 bytes[16] = {};
  u8 rows[16] = {};
};

template <Kind kind>
struct MatrixUnit {
  static constexpr u32 flip = 0;
  static void begin() {
    TileConfig config;
    for (int i = 0; i < 8; ++i) config.bytes[i] = 64, config.rows[i] = 16;
    memory_is_read(&config);
    _tile_loadconfig(&config);
  }
  static void end() { _tile_release(); }

  static constexpr bool reads_rows = true;

  // Of a result whose rows are `row` elements apart.
  static void multiply(const Left& a, const u32* b, const u32* b_next, std::int64_t count, u32* c, std::int64_t row,
                       bool adds, std::int64_t, std::int64_t) {
    auto bytes = static_cast<std::size_t>(row * 4), a_row = static_cast<std::size_t>(a.row);
    const std::byte *first = a.first, *next = a.next;
    memory_is_read(first);
    if (adds) {
      _tile_loadd(0, c, bytes);
      _tile_loadd(1, c + tile, bytes);
      _tile_loadd(2, c + tile * row, bytes);
      _tile_loadd(3, c + tile * row + tile, bytes);
    } else {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    }
    for (std::int64_t p = 0; p < count * tile_places; p += tile_places, first += a.step, next += a.step) {
      _tile_loadd(4, first, a_row);
      _tile_loadd(5, next, a_row);
      _tile_loadd(6, b + p, 64);
      _tile_loadd(7, b_next + p, 64);
      if constexpr (kind == Kind::bf16) {
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      } else if constexpr (kind == Kind::signed_bytes) {
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
      } else {
        _tile_dpbuud(0, 4, 6);
        _tile_dpbuud(1, 4, 7);
        _tile_dpbuud(2, 5, 6);
        _tile_dpbuud(3, 5, 7);
      }
    }
    _tile_stored(0, c, bytes);
    _tile_stored(1, c + tile, bytes);
    _tile_stored(2, c + tile * row, bytes);
    _tile_stored(3, c + tile * row + tile, bytes);
    memory_is_read(c);
  }
};
#endif

// sums + x y of unsigned bytes and signed ones. GCC 12 copies the sums before its function for this, which takes twice
// as long.
inline __attribute__((always_inline)) __m512i add_products(__m512i sums, __m512i x, __m512i y) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(x), "v"(y));
  return sums;
}

// Its instruction multiplies unsigned bytes by signed ones: the right ones have 128 added to them, which `pack` does,
// and 128 times the sum of each row's bytes is taken off, at the beginning.
struct DotProducts {
  static constexpr u32 flip = 0x80808080;
  static void begin() {}
  static void end() {}

  static constexpr bool reads_rows = false;

  // m rows and n columns of the block are wanted.
  static void multiply(const Left& a, const u32* b, const u32* b_next, std::int64_t count, u32* c, std::int64_t row,
                       bool adds, std::int64_t m, std::int64_t n) {
    for (std::int64_t i = 0; i < m; i += 8) {
      const u32* left = reinterpret_cast<const u32*>(i < tile ? a.first : a.next) + i % tile * tile;
      if (n > tile) rows<2>(left, a.excess + i, b, b_next, count, c + i * row, row, adds);
      else rows<1>(left, a.excess + i, b, b_next, count, c + i * row, row, adds);
    }
  }

  static void note_excess(const u32* a, std::int64_t m, std::int64_t count, u32* excess) {
    const __m512i half = _mm512_set1_epi32(static_cast<int>(flip));
    for (std::int64_t i = 0; i < m; ++i) {
      const u32* from = a + i / tile * count * tile_places + i % tile * tile;
      __m512i sum = _mm512_setzero_si512();
      for (std::int64_t t = 0; t < count; ++t) sum = add_products(sum, half, _mm512_load_si512(from + t * tile_places));
      excess[i] = static_cast<u32>(_mm512_reduce_add_epi32(sum));
    }
  }

 private:
  template <int vectors>
  static void rows(const u32* a, const u32* excess, const u32* b, const u32* b_next, std::int64_t count, u32* c,
                   std::int64_t row, bool adds) {
    __m512i sums[8][vectors];
    for (int i = 0; i < 8; ++i) {
      __m512i off = _mm512_set1_epi32(static_cast<int>(excess[i]));
      for (int v = 0; v < vectors; ++v)
        sums[i][v] = _mm512_sub_epi32(adds ? _mm512_loadu_si512(c + i * row + v * tile) : _mm512_setzero_si512(), off);
    }
    for (std::int64_t t = 0; t < count; ++t, a += tile_places, b += tile_places, b_next += tile_places)
      for (int p = 0; p < tile; ++p) {
        __m512i right[vectors];
        right[0] = _mm512_load_si512(b + p * tile);
        if constexpr (vectors == 2) right[1] = _mm512_load_si512(b_next + p * tile);
        for (int i = 0; i < 8; ++i) {
          __m512i x = _mm512_set1_epi32(static_cast<int>(a[i * tile + p]));
          for (int v = 0; v < vectors; ++v) sums[i][v] = add_products(sums[i][v], right[v], x);
        }
      }
    for (int v = 0; v < vectors; ++v)
      for (int i = 0; i < 8; ++i) _mm512_storeu_si512(c + i * row + v * tile, sums[i][v]);
  }
};

// ---- matrices -----------------------------------------------------------------------------------

template <class E, class Block>
void multiply(const Matrix& a, const Matrix& b, void* c_, std::int64_t c_row, std::int64_t m, std::int64_t n,
              std::int64_t k, bool adds) {
  constexpr std::int64_t tile_length = tile * 4 / sizeof(E);  // elements along k of a tile
  constexpr std::int64_t depth = deep * tile_length, columns = wide * tile, rows = high * tile;
  alignas(64) u32 left[high * deep * tile_places];
  alignas(64) u32 right[wide * deep * tile_places];
  alignas(64) u32 edge[2 * tile * 2 * tile], excess[rows] = {};
  auto* x = reinterpret_cast<const E*>(a.data);
  auto* y = reinterpret_cast<const E*>(b.data);
  auto* c = static_cast<u32*>(c_);
  const __m512i flip = _mm512_set1_epi32(static_cast<int>(Block::flip)), nothing = _mm512_setzero_si512();
  Block::begin();
  for (std::int64_t j0 = 0; j0 < n; j0 += columns) {
    std::int64_t some = least(columns, n - j0);
    for (std::int64_t p0 = 0; p0 < k; p0 += depth) {
      std::int64_t length = least(depth, k - p0), count = tiles_of(length, tile_length), panel = count * tile_places;
      pack<E, false>(y + p0 * b.row + j0 * b.column, b.column, b.row, some, length, flip, right);
      for (std::int64_t i0 = 0; i0 < m; i0 += rows) {
        std::int64_t there = least(rows, m - i0);
        const E* from = x + i0 * a.row + p0 * a.column;
        Left tiles{};
        if (Block::reads_rows && a.column == 1 && there == rows && length % tile_length == 0) {
          auto first = reinterpret_cast<const std::byte*>(from);
          std::ptrdiff_t row = a.row * static_cast<std::ptrdiff_t>(sizeof(E));
          tiles = {first, first + tile * row, row, tile * 4, excess};
        } else {
          // A tile that does not exist is its neighbour once more, and its result is not read.
          auto first = reinterpret_cast<const std::byte*>(left);
          pack<E, true>(from, a.row, a.column, there, length, nothing, left);
          if constexpr (!Block::reads_rows) Block::note_excess(left, there, count, excess);
          tiles = {first, there > tile ? first + panel * 4 : first, tile * 4, tile_places * 4, excess};
        }
        for (std::int64_t j = 0; j < some; j += 2 * tile) {
          std::int64_t width = least(2 * tile, some - j);
          const u32 *b_first = right + j / tile * panel, *b_next = width > tile ? b_first + panel : b_first;
          u32* to = c + i0 * c_row + j0 + j;
          bool more = adds || p0 > 0;
          if (there == 2 * tile && width == 2 * tile) {
            Block::multiply(tiles, b_first, b_next, count, to, c_row, more, there, width);
            continue;
          }
          auto bytes = static_cast<std::size_t>(width) * 4;
          if (more)
            for (std::int64_t r = 0; r < there; ++r) std::memcpy(edge + r * 2 * tile, to + r * c_row, bytes);
          Block::multiply(tiles, b_first, b_next, count, edge, 2 * tile, more, there, width);
          for (std::int64_t r = 0; r < there; ++r) std::memcpy(to + r * c_row, edge + r * 2 * tile, bytes);
        }
      }
    }
  }
  Block::end();
}

// ---- small numbers ------------------------------------------------------------------------------

// The least magnitude of bfloat16 that is not 0, less 1: 0 becomes the largest.
struct Smallest {
  __m512i found = _mm512_set1_epi16(-1);
  void add(__m512i x) {
    __m512i magnitude = _mm512_and_si512(x, _mm512_set1_epi16(0x7FFF));
    found = _mm512_min_epu16(found, _mm512_sub_epi16(magnitude, _mm512_set1_epi16(1)));
  }
  unsigned exponent() const {
    alignas(64) u16 all[32];
    _mm512_store_si512(all, found);
    unsigned smallest = 0xFFFF;
    for (u16 one_of : all) smallest = one_of < smallest ? one_of : smallest;
    return (smallest + 1) >> 7;
  }
};

unsigned smallest_bf16(const Matrix& x, std::int64_t rows, std::int64_t columns) {
  auto* data = reinterpret_cast<const u16*>(x.data);
  std::int64_t count = x.column == 1 ? rows : columns, length = x.column == 1 ? columns : rows;
  std::int64_t stride = x.column == 1 ? x.row : x.column;
  Smallest smallest;
  for (std::int64_t i = 0; i < count; ++i) {
    const u16* row = data + i * stride;
    for (std::int64_t j = 0; j < length; j += 32) {
      __mmask32 there = length - j >= 32 ? ~__mmask32{0} : (__mmask32{1} << (length - j)) - 1;
      smallest.add(_mm512_maskz_loadu_epi16(there, row + j));
    }
  }
  return smallest.exponent();
}

#if defined(SUANZI_MATRIX_UNIT)

#include "kernels/linear_algebra/products_unit.inc"

#endif

#include "kernels/linear_algebra/products_rows_of_bytes.inc"

// ---- what there is ------------------------------------------------------------------------------

struct Features {
  bool vnni = false, amx_bf16 = false, amx_int8 = false;
};

Features features() {
  Features found;
#if defined(SUANZI_EMULATE_MATRIX_UNIT)
  found.amx_bf16 = true;
  return found;
#endif
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return found;
  found.vnni = c >> 11 & 1;
  bool amx = d >> 24 & 1;
  found.amx_bf16 = amx && (d >> 22 & 1), found.amx_int8 = amx && (d >> 25 & 1);
#if defined(__linux__)  // which keeps tiles of a process that asked for them
  constexpr long request_permission = 0x1023, tile_data = 18;
  if (amx && syscall(SYS_arch_prctl, request_permission, tile_data) == 0) return found;
#endif
  found.amx_bf16 = found.amx_int8 = false;
  return found;
}

}  // namespace

void avx512_add_products(ProductKernels& k) noexcept {
  Features has = features();
  k.smallest_bf16 = &smallest_bf16;
  if (has.vnni) k.multiply_bytes[0] = &multiply<u8, DotProducts>;
  if (has.vnni) k.scaled_rows_of_bytes = &scaled_rows_of_bytes;
#if defined(SUANZI_MATRIX_UNIT)
  if (has.amx_bf16) {
    k.multiply_bf16 = &multiply<u16, MatrixUnit<Kind::bf16>>;
    k.pack_places = &pack_places;
    k.multiply_places = &multiply_places;
    k.multiply_steps = &multiply_steps;
    k.store_transposed = &store_transposed;
  }
  if (has.amx_int8) k.multiply_bytes[0] = &multiply<u8, MatrixUnit<Kind::signed_bytes>>;
  if (has.amx_int8) k.multiply_bytes[1] = &multiply<u8, MatrixUnit<Kind::unsigned_bytes>>;
#endif
}

}  // namespace suanzi
