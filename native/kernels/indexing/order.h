// native/kernels/indexing/order.h: 7.2.14: the table of the loops that put numbers in order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/dtypes.h"

namespace suanzi {

// How stored elements are ordered. NaN is the largest number and every NaN is equal; so are the zeros.
enum class Order : std::uint8_t {
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  float8_e4m3fn,
  float8_e5m2,
  float16,
  bfloat16,
  f32,
  f64
};
inline constexpr std::size_t order_count = 14;

// The order of the elements of a dtype; false if they have none, such as complex numbers, or are integers
// in a part of a byte, of which the rest may be anything.
constexpr bool order_of(Dtype dtype, Order& order) {
  switch (dtype) {
    case Dtype::int8: order = Order::i8; return true;
    case Dtype::int16: order = Order::i16; return true;
    case Dtype::int32: order = Order::i32; return true;
    case Dtype::int64: order = Order::i64; return true;
    case Dtype::uint8: order = Order::u8; return true;
    case Dtype::uint16: order = Order::u16; return true;
    case Dtype::uint32: order = Order::u32; return true;
    case Dtype::uint64: order = Order::u64; return true;
    case Dtype::float8_e4m3fn: order = Order::float8_e4m3fn; return true;
    case Dtype::float8_e5m2: order = Order::float8_e5m2; return true;
    case Dtype::float16: order = Order::float16; return true;
    case Dtype::bfloat16: order = Order::bfloat16; return true;
    case Dtype::float32: order = Order::f32; return true;
    case Dtype::float64: order = Order::f64; return true;
    default: return false;
  }
}

// The best element so far, by a key that is the larger the better it is; a NaN is the best of all.
struct Best {
  std::int64_t key = 0;
  std::int64_t place = -1;  // none yet
};

struct RankingKernels {
  // Each has two forms: for the largest element, or the least; descending, or ascending.

  // Goes through n dense elements, the first of which is at `start`, and gives the first best one; `best` is a new one.
  void (*best[order_count][2])(const void* in, std::size_t n, std::int64_t start, Best& best);
  // Of each of up to `most_columns` dense columns, the row of its first best element; rows are `pitch`
  // bytes apart.
  void (*columns[order_count][2])(const void* in, std::size_t rows, std::ptrdiff_t pitch, std::size_t columns,
                                  std::int64_t* places);
  // n elements as unsigned integers of their width that are the smaller the earlier they come; and
  // back, but for the sign of a zero and the bits of a NaN.
  void (*keys[order_count][2])(const void* in, void* out, std::size_t n);
  void (*values[order_count][2])(const void* in, void* out, std::size_t n);
  // Where keys of 1, 2, 4 or 8 bytes are below a limit: how many there are, `places` has room for n.
  std::size_t (*below[4])(const void* keys, std::size_t n, std::uint64_t limit, std::uint32_t* places);
  // How many of n keys of 32 or 64 bits come before each: those below it, and the earlier ones among those
  // that equal it. The keys are followed by `rank_padding` more, which may be written to. Up to
  // `most_ranked` it is the quickest way to sort, up to `most_ranked_first` to find the first ones.
  void (*ranks[2])(void* keys, std::size_t n, std::uint32_t* ranks);
  std::int64_t most_ranked, most_ranked_first;
  // Sorts keys of 1, 2, 4 or 8 bytes by columns: n rows of `sorted_bytes`, each column by itself.
  void (*sort_columns[4])(void* keys, std::size_t n);
  // `base` and the place of each byte that is not 0: how many there are, `places` has room for n.
  std::size_t (*places)(const void* mask, std::size_t n, std::int64_t base, std::int64_t* places);
};

inline constexpr std::size_t most_columns = 1024, rank_padding = 16, sorted_bytes = 64;

}  // namespace suanzi
