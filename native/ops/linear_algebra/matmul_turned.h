// native/ops/linear_algebra/matmul_turned.h: 7.2.17.1, 7.2.17.2: products of few rows and many weights, which are the
// left operand, and what all ways to multiply share.
//
// Rows of weights are dense along k, as a left operand is to be: they are read once as they lie, and what is made is
// transposed, which is little. The few rows are packed for all of them.
#pragma once

#include <atomic>

#include "core/own_memory.h"
#include "core/threads.h"
#include "loops/blocks.h"
#include "ops/linear_algebra/matmul_ways.h"

namespace suanzi {

inline constexpr std::int64_t widest_row = 512;  // elements of a row of a tile, which fit a buffer

// Calls body(i) for each i below count, on several threads if each is worth `work` operations.
template <class F>
void for_each(std::int64_t count, double work, F&& body) {
  auto least = static_cast<std::int64_t>(std::max(1.0, (1 << 16) / std::max(work, 1.0)));
  parallel_for(count, least, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

class TurnedProducts {
 protected:
  explicit TurnedProducts(const Product& product) noexcept
      : p(product), k(kernels()), own(*k.products), lane(static_cast<std::size_t>(p.way.kernel)),
        store(cast_path(k, p.way.sum, p.result, false)), in_place(same_bits(p.way.sum, p.result)),
        item_(static_cast<std::int64_t>(item(p.way.operand))), sum_item(static_cast<std::int64_t>(item(p.way.sum))),
        out_item(static_cast<std::int64_t>(item(p.result))),
        is_direct_(p.is_of_matrices() && p.k > 0 && p.work() <= 4096 && in_place && !p.bias && !p.blas && !p.by_tiles &&
                   same_bits(p.a.dtype, p.way.operand) && same_bits(p.b.dtype, p.way.operand) && !p.way.own) {}

  unsigned smallest(const Matrix& x, std::int64_t rows, std::int64_t columns) const noexcept {
    bool by_rows = x.column == 1;
    std::int64_t count = by_rows ? rows : columns, length = by_rows ? columns : rows;
    std::int64_t some = std::max<std::int64_t>(1, (1 << 16) / length), parts = (count + some - 1) / some;
    std::atomic<unsigned> found{~0u};
    for_each(parts, 1 << 15, [&](std::int64_t i) {
      std::int64_t first = i * some, there = std::min(some, count - first);
      Matrix part{x.data + first * (by_rows ? x.row : x.column) * 2, x.row, x.column};
      unsigned its = own.smallest_bf16(part, by_rows ? there : rows, by_rows ? columns : there), before = found;
      while (its < before && !found.compare_exchange_weak(before, its)) {}
    });
    return found;
  }

  // Few rows of bfloat16 times many columns that lie dense along k, as weights do: these are the left operand of the
  // matrix unit, read once, and what is made is transposed. The unit takes subnormal numbers for 0: false if there are
  // such, which is asked of each part as it is copied. Bits are those of other ways to use the unit.
  static constexpr std::int64_t most_places = 512;

  std::int64_t parts_of_places(std::int64_t rows) const noexcept {
    double work = static_cast<double>(rows * p.m) * static_cast<double>(p.k);
    return static_cast<std::int64_t>(std::max(1.0, (1 << 18) / work));
  }

  bool by_places(const Matrix& a, const Matrix& b, std::byte* out) noexcept {
    unsigned least = smallest(a, p.m, p.k);
    std::int64_t depths = (p.k + deepest_places - 1) / deepest_places, each = places_of(p.m, deepest_places);
    std::int64_t wide = round_up(p.m, places_tile);
    OwnMemory memory;
    auto places = reinterpret_cast<std::uint32_t*>(memory.take(depths * each * 4));
    if (!places) return fail(), true;
    for_each(depths, static_cast<double>(p.m * deepest_places), [&](std::int64_t d) {
      std::int64_t first = d * deepest_places;
      own.pack_places(Matrix{a.data + first * 2, 1, a.row}, p.m, std::min(deepest_places, p.k - first),
                      places + d * each);
    });
    constexpr std::int64_t rows = 32;
    std::atomic<bool> is_small{false};
    bool is_brief = p.result == Dtype::bfloat16;
    parallel_for((p.n + rows - 1) / rows, parts_of_places(rows), [&](std::int64_t begin, std::int64_t end) {
      OwnMemory made, across;
      std::byte* c = made.take(rows * wide * 4);
      std::byte* turned = is_brief ? c : across.take(rows * p.m * 4);
      if (!c || !turned) return fail();
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t j0 = i * rows, n = std::min(rows, p.n - j0);
        Matrix part{b.data + j0 * b.column * 2, b.column, 1};
        if (is_small) return;
        for (std::int64_t d = 0; d < depths; ++d) {
          std::int64_t first = d * deepest_places, deep = std::min(deepest_places, p.k - first);
          unsigned its = own.multiply_places(Matrix{part.data + first * 2, b.column, 1}, places + d * each,
                                             reinterpret_cast<float*>(c), wide, n, p.m, deep, d > 0);
          if (!keeps_small_bf16(least, its)) {
            is_small = true;
            return;
          }
        }
        const std::byte* bias = p.bias ? p.bias + j0 * 4 : nullptr;
        if (is_brief) {
          own.store_transposed(reinterpret_cast<const float*>(c), wide, n, p.m, reinterpret_cast<const float*>(bias),
                               reinterpret_cast<std::uint16_t*>(out) + j0, p.n);
          continue;
        }
        for (std::int64_t r = 0; r < n && wide != p.m; ++r)
          std::memmove(c + r * p.m * 4, c + r * wide * 4, static_cast<std::size_t>(p.m) * 4);
        k.transpose[2](c, turned, static_cast<std::size_t>(n), static_cast<std::size_t>(p.m));
        for (std::int64_t r = 0; r < p.m; ++r)
          finish(turned + r * n * 4, bias, false, out + (r * p.n + j0) * out_item, n);
      }
    });
    return !is_small;
  }

  // The same in tiles of floats: few rows are packed once for many rows of weights, which are read as they lie.
  static constexpr std::int64_t most_turned = 256, least_panels = 128;

  // Results whose rows are no whole vectors take longer so than with weights that are copied across.
  bool suits_turned(const Matrix& a, const Matrix& b) const noexcept {
    return same_bits(p.a.dtype, p.way.operand) && same_bits(p.b.dtype, p.way.operand) && p.way.kernel < Sum::c64 &&
           p.k > 0 && a.column == 1 && b.row == 1 && b.column != 1 && p.m >= 16 && p.m <= most_turned &&
           p.n >= 4 * p.m && (p.m % 16 == 0 || p.m < least_panels);
  }

  void turned(const Matrix& a, const Matrix& b, std::byte* out) noexcept {
    constexpr std::int64_t tall = 14;  // rows of a tile
    std::int64_t rows = equal_part(p.n, 384, tall);
    while (shares_each_ && thread_count() > 1 && p.n < 2 * thread_count() * rows && rows > 4 * tall)
      rows = round_up(rows / 2, tall);
    double work = static_cast<double>(rows) * static_cast<double>(p.m) * static_cast<double>(p.k);
    for_each((p.n + rows - 1) / rows, work, [&](std::int64_t i) {
      std::int64_t j0 = i * rows, n = std::min(rows, p.n - j0);
      OwnMemory blocks, made, across;
      std::byte* memory = blocks.take(tile_memory);
      std::byte* c = made.take(n * p.m * sum_item);
      std::byte* lines = across.take(n * p.m * sum_item);
      if (!memory || !c || !lines) return fail();
      Matrix weights{b.data + j0 * b.column * item_, b.column, 1}, columns{a.data, 1, a.row};
      p.by_tiles(weights, Stored::as_summed, columns, Stored::as_summed, c, p.m, n, p.m, p.k, memory);
      k.transpose[sum_item == 4 ? 2 : 3](c, lines, static_cast<std::size_t>(n), static_cast<std::size_t>(p.m));
      const std::byte* bias = p.bias ? p.bias + j0 * sum_item : nullptr;
      for (std::int64_t r = 0; r < p.m; ++r)
        for (std::int64_t j = 0; j < n; j += widest_row)
          finish(lines + (r * n + j) * sum_item, bias ? bias + j * sum_item : nullptr, false,
                 out + (r * p.n + j0 + j) * out_item, std::min(widest_row, n - j));
    });
  }

  // Splits an axis into equal parts near the wanted length, and returns theirs, a multiple of what kernels and
  // libraries handle at a time.
  static std::int64_t equal_part(std::int64_t size, std::int64_t wanted, std::int64_t multiple) noexcept {
    std::int64_t parts = std::max<std::int64_t>(1, (size + wanted / 2) / wanted);
    return ((size + parts - 1) / parts + multiple - 1) / multiple * multiple;
  }

  static std::int64_t round_up(std::int64_t size, std::int64_t step) noexcept {
    return (size + step - 1) / step * step;
  }

  // Adds a bias to at most widest_row sums, and stores them.
  void finish(std::byte* sums, const std::byte* bias, bool repeats, std::byte* to, std::int64_t n) const noexcept {
    auto count = static_cast<std::size_t>(n);
    if (bias) own.add[lane](bias, repeats, sums, count);
    if (in_place) {
      if (to != sums) std::memcpy(to, sums, count * static_cast<std::size_t>(out_item));
      return;
    }
    Buffer buffers[2];
    follow_to(store, sums, count, static_cast<std::size_t>(out_item), to, buffers[0].bytes, buffers[1].bytes);
  }

  void fail() noexcept { failed_ = true; }

  const Product& p;
  const Kernels& k;
  const ProductKernels& own;
  std::size_t lane;
  Path store;
  bool in_place;
  std::int64_t item_, sum_item, out_item;
  bool is_direct_;           // so few numbers that to share and to prepare them costs more than to multiply them
  bool shares_each_ = true;  // the parts of each product are shared among threads, not the products
  std::atomic<bool> failed_{false};
};

}  // namespace suanzi
