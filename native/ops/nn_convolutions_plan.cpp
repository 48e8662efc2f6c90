// native/ops/nn_convolutions_plan.cpp: nn 5: convolutions as products of weights and columns, block by block.
//
// Threads share blocks of results: some lines of them times some rows of weights. Of each, the columns are copied in
// blocks of about 256 products that the second-level cache holds, multiplied in tiles and added up: an element is
// summed in the order of (channel, tap) whatever block it is in. Groups of few rows, as those of a depthwise
// convolution, are not worth columns: their sums are made from the lines themselves.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "core/threads.h"
#include "kernels/by_level.h"
#include "ops/nn_convolutions.h"

namespace suanzi {

SUANZI_BY_LEVEL(ConvolutionKernels, convolution_kernels)

namespace {

std::int64_t parts_of(std::int64_t size, std::int64_t most) { return (size + most - 1) / most; }
std::int64_t equal_part(std::int64_t size, std::int64_t most) {
  return std::max<std::int64_t>(1, parts_of(size, std::max<std::int64_t>(1, parts_of(size, most))));
}

// How results are shared.
struct Parts {
  bool direct, by_unit;              // by a matrix unit
  std::int64_t rows, lines, across;  // of a block, at most

  static bool is_direct(const Convolution& c) { return c.rows <= 8 && c.channels <= 256 && c.depth() <= 1024; }

  Parts(const Convolution& c, std::int64_t size, std::int64_t panel, bool unit) {
    direct = is_direct(c), by_unit = unit;
    // Of so many channels, the lines are to stay in the second-level cache.
    std::int64_t most = std::min<std::int64_t>(8192, 262144 / std::max<std::int64_t>(1, c.channels));
    std::int64_t columns = (direct ? most : 1024) / size;
    std::int64_t wide = c.axes[2].out;
    across = wide > columns ? (equal_part(wide, columns) + panel - 1) / panel * panel : wide;
    lines = std::min(std::max<std::int64_t>(1, columns / std::max<std::int64_t>(1, across)), c.lines());
    rows = direct ? c.rows : equal_part(c.rows, 2048 / size);
    auto work = [&] {
      return static_cast<double>(lines * across) * static_cast<double>(rows) * static_cast<double>(c.depth());
    };
    // A unit multiplies faster than columns are copied: rather fewer lines than fewer rows.
    while (by_unit && thread_count() > 1 && count(c) < 2 * thread_count() && work() > 1 << 22) {
      if (lines > 1 && (lines * across > 4 * panel || rows <= 64) && lines * across > 2 * panel)
        lines = parts_of(lines, 2);
      else if (rows > 32) rows = (parts_of(rows, 2) + 15) / 16 * 16;
      else break;
    }
    while (!by_unit && thread_count() > 1 && count(c) < 4 * thread_count() && work() > 1 << 21) {
      if (rows > 64) rows = parts_of(rows, 2);
      else if (lines > 1 && lines * across > 4 * panel) lines = parts_of(lines, 2);
      else break;
    }
  }
  std::int64_t in_line(const Convolution& c) const { return parts_of(c.axes[2].out, across); }
  std::int64_t row_blocks(const Convolution& c) const { return c.groups * parts_of(c.rows, rows); }
  std::int64_t count(const Convolution& c) const { return parts_of(c.lines(), lines) * in_line(c) * row_blocks(c); }
};

// The blocks of one thread, in order.
template <class T>
class Worker {
 public:
  Worker(const Convolution& convolution, const Parts& parts, const ConvolutionLoops& loops)
      : c(convolution), p(parts), loops_(loops), k(kernels()),
        panel_(parts.by_unit ? places_tile : loops.vectors * loops.lanes),
        columns_(c, loops, p.direct ? p.lines * p.across : panel_, !p.direct), layer_(layer_of(c.x.dtype)) {}

  // False when there was no memory.
  bool run(std::int64_t begin, std::int64_t end) {
    std::int64_t row_blocks = p.row_blocks(c), in_line = p.in_line(c), in_group = parts_of(c.rows, p.rows);
    for (std::int64_t unit = begin; unit < end; ++unit) {
      std::int64_t block = unit / row_blocks, of_rows = unit % row_blocks;
      std::int64_t line = block / in_line * p.lines, first = block % in_line * p.across;
      columns_.move_to(line, std::min(p.lines, c.lines() - line), first, std::min(p.across, c.axes[2].out - first));
      std::int64_t row = of_rows % in_group * p.rows, group = of_rows / in_group;
      std::int64_t rows = std::min(p.rows, c.rows - row);
      if (!(p.direct    ? sum_directly(group)
            : p.by_unit ? multiply_places(group, row, rows)
                        : multiply(group, row, rows)))
        return false;
    }
    return true;
  }

 private:
  bool multiply(std::int64_t group, std::int64_t row, std::int64_t rows) {
    std::int64_t taps = c.taps(), deep = depth_of_block(taps), depth = c.depth(), panels = columns_.panels();
    std::int64_t columns = panels * panel_, block = std::min(deep, depth);
    OwnMemory sums, packed, left, planes;
    // Sums of a single block are stored as soon as they are made.
    T* c_memory = take(sums, (depth <= deep ? std::min<std::int64_t>(rows, loops_.rows) : rows) * columns);
    T* b_memory = take(packed, block * columns + loops_.lanes);
    T* a_memory = take(left, loops_.rows * (block + 2 * loops_.lanes));
    T* plane_memory = take(planes, columns_.room(taps ? std::min(c.channels, block / taps + 2) : 0));
    if (!c_memory || !b_memory || !a_memory || !plane_memory) return false;
    if (depth == 0) {
      std::fill_n(c_memory, columns, T{0});
      for (std::int64_t r = 0; r < rows; ++r) finish(c_memory, group * c.rows + row + r);
    }
    for (std::int64_t first = 0; first < depth; first += deep) {
      std::int64_t there = std::min(deep, depth - first), channel = first / taps;
      std::int64_t channels = (first + there - 1) / taps - channel + 1;
      columns_.read(group * c.channels + channel, channels, plane_memory);
      for (std::int64_t i = 0; i < panels; ++i)
        columns_.pack(plane_memory, group * c.channels + channel, i, first - channel * taps, there, width(i),
                      b_memory + i * panel_ * there);
      tiles(group * c.rows + row, rows, first, there, a_memory, b_memory, c_memory, columns);
    }
    return true;
  }

  // As `multiply`, by a matrix unit.
  bool multiply_places(std::int64_t group, std::int64_t row, std::int64_t rows) {
    std::int64_t taps = c.taps(), depth = c.depth(), deep = taps == 1 ? deepest_places / 2 : deepest_places;
    std::int64_t panels = columns_.panels(), columns = panels * panel_, block = std::min(deep, depth);
    OwnMemory sums, packed, planes;
    T* c_memory = take(sums, parts_of(rows, places_tile) * places_tile * columns);
    auto b_memory = reinterpret_cast<std::uint32_t*>(take(packed, places_of(columns, block) + loops_.lanes));
    T* plane_memory = take(planes, columns_.room(std::min(c.channels, block / taps + 2)));
    if (!c_memory || !b_memory || !plane_memory) return false;
    for (std::int64_t first = 0; first < depth; first += deep) {
      std::int64_t there = std::min(deep, depth - first), channel = first / taps;
      std::int64_t channels = (first + there - 1) / taps - channel + 1;
      columns_.read(group * c.channels + channel, channels, plane_memory);
      for (std::int64_t i = 0; i < panels; ++i)
        columns_.pack_places(plane_memory, i, first - channel * taps, there, b_memory + places_of(i * panel_, there));
      Matrix weights{c.weights + ((group * c.rows + row) * depth + first) * 2, depth, 1};
      k.products->multiply_places(weights, b_memory, reinterpret_cast<float*>(c_memory), columns, rows, columns, there,
                                  first > 0);
    }
    for (std::int64_t r = 0; r < rows; ++r) finish(c_memory + r * columns, group * c.rows + row + r);
    return true;
  }

  // The columns of a panel, in whole vectors.
  std::int64_t width(std::int64_t panel) const {
    std::int64_t there = std::min(panel_, columns_.count() - panel * panel_);
    return parts_of(there, loops_.lanes) * loops_.lanes;
  }

  void tiles(std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t depth, T* a, const T* b, T* sums,
             std::int64_t columns) {
    std::int64_t stride = parts_of(depth, loops_.lanes) * loops_.lanes + loops_.lanes;
    // Tiles are about equally high: a low one takes as long as one twice as high.
    std::int64_t count = parts_of(rows, loops_.rows), low = rows / count, higher = rows % count;
    std::int64_t size = std::int64_t{1} << layer_.log2_size;
    bool is_only = depth == c.depth();
    for (std::int64_t t = 0, i = 0; t < count; ++t) {
      std::int64_t high = low + (t < higher);
      for (std::int64_t r = 0; r < high; ++r)
        read_elements(k, c.weights + ((row + i + r) * c.depth() + first) * size, c.x.dtype, size, depth,
                      reinterpret_cast<std::byte*>(a + r * stride));
      T* its = sums + (is_only ? 0 : i * columns);
      for (std::int64_t j = 0; j < columns_.panels(); ++j)
        loops_.tile[width(j) / loops_.lanes - 1][high - 1](a, stride, b + j * panel_ * depth, its + j * panel_, columns,
                                                           depth, first > 0);
      for (std::int64_t r = 0; r < high && first + depth == c.depth(); ++r) finish(its + r * columns, row + i + r);
      i += high;
    }
  }

  bool sum_directly(std::int64_t group) {
    std::int64_t depth = c.depth(), size = std::int64_t{1} << layer_.log2_size;
    OwnMemory sums, weights, planes;
    T* out = take(sums, columns_.count() + loops_.lanes);
    T* row = take(weights, depth);
    T* lines = take(planes, columns_.room(c.channels));
    if (!out || !row || !lines) return false;
    columns_.read(group * c.channels, c.channels, lines);
    for (std::int64_t r = 0; r < c.rows; ++r) {
      read_elements(k, c.weights + (group * c.rows + r) * depth * size, c.x.dtype, size, depth,
                    reinterpret_cast<std::byte*>(row));
      columns_.direct(lines, row, out);
      finish(out, group * c.rows + r);
    }
    return true;
  }

  // Adds the bias to the sums of a row, rounds them, and stores them.
  void finish(T* sums, std::int64_t row) {
    std::int64_t size = std::int64_t{1} << layer_.log2_size, step = c.axes[2].step;
    const std::byte* bias = c.bias ? c.bias + row * static_cast<std::int64_t>(sizeof(T)) : nullptr;
    bool is_plain = step == 1 && !layer_.is_narrow;
    if (bias && !is_plain) loops_.shift(sums, bias, sums, columns_.count());
    for (const auto& run : columns_.runs()) {
      std::byte* to = c.out + (run.at + row * c.out_plane()) * size;
      const T* from = sums + run.column;
      if (!is_plain) store(from, to, run.length, step);
      else if (bias) loops_.shift(from, bias, to, run.length);
      else std::memcpy(to, from, static_cast<std::size_t>(run.length * size));
    }
  }

  void store(const T* from, std::byte* to, std::int64_t length, std::int64_t step) {
    std::int64_t size = std::int64_t{1} << layer_.log2_size;
    constexpr std::int64_t most = 1024;
    alignas(64) std::byte some[most * 2];
    for (std::int64_t i = 0; i < length; i += most, to += most * step * size) {
      auto n = static_cast<std::size_t>(std::min(most, length - i));
      const void* made = from + i;
      if (layer_.is_narrow) {
        k.narrow[static_cast<std::size_t>(layer_.narrow)](from + i, step == 1 ? to : some, n);
        made = some;
      }
      if (step != 1) k.scatter[layer_.log2_size](made, to, n, step * size);
    }
  }

  static T* take(OwnMemory& memory, std::int64_t count) {
    std::int64_t bytes;
    if (__builtin_mul_overflow(count, static_cast<std::int64_t>(sizeof(T)), &bytes)) return nullptr;
    return reinterpret_cast<T*>(memory.take(std::max<std::int64_t>(bytes, 64)));
  }

  const Convolution& c;
  const Parts& p;
  const ConvolutionLoops& loops_;
  const Kernels& k;
  std::int64_t panel_;
  Columns<T> columns_;
  const Layer& layer_;
};

template <class T>
bool run(const Convolution& c, bool by_unit) {
  const ConvolutionLoops& loops = convolution_kernels().of[sizeof(T) == 8];
  Parts parts(c, sizeof(T), loops.vectors * loops.lanes, by_unit);
  std::int64_t count = parts.count(c);
  double work = static_cast<double>(c.lines() * c.axes[2].out) * static_cast<double>(c.groups * c.rows) *
                static_cast<double>(c.depth() + 1) / static_cast<double>(std::max<std::int64_t>(count, 1));
  auto grain = static_cast<std::int64_t>(std::max(1.0, (1 << (by_unit ? 20 : 18)) / std::max(work, 1.0)));
  std::atomic<bool> failed{false};
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    try {
      if (!Worker<T>(c, parts, loops).run(begin, end)) failed = true;
    } catch (const std::bad_alloc&) {
      failed = true;
    }
  });
  return !failed;
}

// The unit has a say in the last bits, so that each image has its own way, whatever the others are.
bool run_images(const Convolution& c) {
  const ProductKernels& products = *kernels().products;
  bool may = c.x.dtype == Dtype::bfloat16 && products.multiply_places && !Parts::is_direct(c) && c.depth() >= 16 &&
             c.rows >= 8;
  if (!may) return run<float>(c, false);
  std::vector<bool> good = images_for_unit(c, products);
  if (std::count(good.begin(), good.end(), good[0]) == c.batch) return run<float>(c, good[0]);
  Convolution one = c;
  one.batch = 1;
  for (std::int64_t n = 0; n < c.batch; ++n) {
    one.x.data = c.x.data + n * c.x.batch;
    one.out = c.out + n * c.groups * c.rows * c.out_plane() * 2;
    if (!run<float>(one, good[static_cast<std::size_t>(n)])) return false;
  }
  return true;
}

}  // namespace

bool run_convolution(const Convolution& c) noexcept {
  if (c.lines() * c.axes[2].out == 0 || c.groups * c.rows == 0) return true;
  try {
    return c.x.dtype == Dtype::float64 ? run<double>(c, false) : run_images(c);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace suanzi
