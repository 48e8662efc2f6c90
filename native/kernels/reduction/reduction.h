// native/kernels/reduction/reduction.h: 7.2.13: the table of the loops that combine many elements to one.
//
// In which order the elements of a result are combined is decided by how many there are, and by
// nothing else: neither the instruction set, nor the threads, nor the layout. They are cut into
// blocks of 16 x 16. Of a block, the elements 16 apart are combined one after the other, and the 16
// numbers this gives by halves; blocks are combined with their neighbours, those pairs with theirs,
// and so on. Where the order cannot be seen, as in a sum of integers, a loop may take another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/dtypes.h"

namespace suanzi {

// In the order of the standard.
enum class ReduceMode : std::uint8_t { sum, prod, max, min, mean, land, lor, lxor, band, bor, bxor };
inline constexpr std::size_t reduce_mode_count = 11;

// What norms are made of. A result of squares is its root, but for float64 where it is negative:
// what overflows or vanishes is computed again, of numbers scaled by a power of two.
enum class NormPart : std::uint8_t { magnitudes, largest, squares, squares_of_large, squares_of_small };
inline constexpr std::size_t norm_part_count = 5;
inline constexpr double squares_overflow = -1, squares_vanish = -2;

inline constexpr std::int64_t block_rows = 256;
// The elements that one thread combines at a time: a power of two of blocks.
inline constexpr std::int64_t segment_rows = 64 * block_rows;

// The bytes of the sums of columns that are combined at a time: those of whole rows, which memory is read fastest in,
// or where there are sums of 16 lanes, as many as second-level caches have room for.
#if defined(__aarch64__)
inline constexpr std::size_t column_bytes = 32768, lane_bytes = 32768;
#else
inline constexpr std::size_t column_bytes = 32768, lane_bytes = 8192;
#endif

// Memory for sums of columns on the way, of 16 lanes where the order is seen. With less of it than all columns take
// they are combined some at a time.
struct ColumnRoom {
  std::byte* data;
  std::size_t bytes;
};
inline constexpr std::size_t least_column_room = 16384;

struct Reduction {
  // Combines each of `count` rows of n dense elements, `pitch` bytes apart, at most a segment. Distances are taken
  // from the centre of each row; others have none.
  void (*rows)(const void* in, std::ptrdiff_t pitch, std::int64_t count, std::int64_t n, const void* centres,
               void* partials);
  // Combines n rows of `width` dense elements, at most a block, column by column; behind the centres of columns 15
  // more may be read.
  void (*columns)(const std::byte* const* rows, std::int64_t n, std::int64_t width, const void* centres, void* partials,
                  ColumnRoom room);
  // a = a combined with b, for `count` of them.
  void (*combine)(void* a, const void* b, std::int64_t count);
  // Makes results of partial ones, each of n elements.
  void (*finish)(const void* partials, std::int64_t count, std::int64_t n, void* out);
  std::uint8_t partial_size;
  bool any_order;  // whether the order cannot be seen
  Dtype result;
};

// Cumulative sums. Floats add up in f64: 16 neighbours in a tree, 16 of such groups one after the other,
// then 16 of those, and so on; integers wrap. Groups of 16, and those of 16 groups, are counted from
// the first element of a line.
struct CumulativeSum {
  static constexpr int level_count = 14;  // 16^15 elements
  struct State {
    double sums[level_count];  // of what is complete, within what is not: of groups of 16, of 256, ...
    std::int64_t groups;       // how many of 16 elements there were
  };
  // n dense elements to n dense results; n is a multiple of 16 but at the end of a line. Without
  // `out`, for the state alone.
  void (*line)(const void* in, void* out, std::int64_t n, State& state);
  // At most 16 rows of `width` parts. `sums` has level_count rows `pitch` apart.
  void (*rows)(const std::byte* const* in, std::byte* const* out, std::int64_t n, std::int64_t width, double* sums,
               std::int64_t pitch, std::int64_t groups);
};

struct ReductionKernels {
  Reduction of[reduce_mode_count][dtype_count];  // rows is null where there is none
  Reduction norms[norm_part_count][dtype_count];
  Reduction distances[2];                 // squares of those from a centre, added up: of float32 and of float64
  CumulativeSum cumulative[dtype_count];  // rows is null where there is none, line for complex numbers
};

}  // namespace suanzi
