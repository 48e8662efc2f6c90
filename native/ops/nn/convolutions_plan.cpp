// native/ops/nn/convolutions_plan.cpp: nn 5: convolutions as products of weights and columns, block by block.
//
// Threads share blocks of results: some lines of them. Of each, the columns are copied in blocks of about 256 products
// that the second-level cache holds, multiplied in tiles and added up: an element is summed in the order of (channel,
// tap) whatever block it is in. Where lines are fewer than threads, these share the copying of some blocks, and then
// the rows of weights. Groups of few rows are not worth columns: their sums are made from the lines themselves.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "core/threads.h"
#include "kernels/by_level.h"
#include "ops/nn/convolutions_unit.h"
#include "ops/nn/convolutions_ways.h"

namespace suanzi {

SUANZI_BY_LEVEL(ConvolutionKernels, convolution_kernels)

namespace {

std::int64_t equal_part(std::int64_t size, std::int64_t most) {
  return std::max<std::int64_t>(1, parts_of(size, std::max<std::int64_t>(1, parts_of(size, most))));
}

// How results are shared.
struct Parts {
  bool direct, by_unit;              // by a matrix unit
  bool shared = false;               // columns are
  std::int64_t together = 1;         // blocks of columns that there are at once
  std::int64_t panels = 1 << 30;     // of a unit of work
  std::int64_t rows, lines, across;  // of a block, at most

  Parts(const Convolution& c, std::int64_t size, std::int64_t panel, bool unit) {
    direct = is_direct(c), by_unit = unit;
    // Of so many channels, the lines are to stay in the second-level cache.
    std::int64_t most = std::min<std::int64_t>(8192, 262144 / std::max<std::int64_t>(1, c.channels));
    std::int64_t columns = (direct ? most : 1024) / size;
    std::int64_t wide = c.axes[2].out;
    across = wide > columns ? (equal_part(wide, columns) + panel - 1) / panel * panel : wide;
    lines = std::min(std::max<std::int64_t>(1, columns / std::max<std::int64_t>(1, across)), c.lines());
    rows = direct ? c.rows : equal_part(c.rows, 2048 / size);
    // A unit multiplies faster than columns are copied: rather fewer lines than fewer rows.
    while (by_unit && thread_count() > 1 && count(c) < 2 * thread_count() && work(c) > 1 << 22) {
      if (lines > 1 && (lines * across > 4 * panel || rows <= 64) && lines * across > 2 * panel)
        lines = parts_of(lines, 2);
      else if (rows > 32) rows = (parts_of(rows, 2) + 15) / 16 * 16;
      else break;
    }
    while (direct && thread_count() > 1 && count(c) < 4 * thread_count() && work(c) > 1 << 21) {
      if (lines > 1 && lines * across > 4 * panel) lines = parts_of(lines, 2);
      else break;
    }
    if (!direct && !by_unit) share(c, size, panel);
  }

  // With a stride, or where lines are short, columns take long to copy: threads copy some blocks of them together, and
  // multiply these then. Else copying them once more costs less than reading what others copied.
  void share(const Convolution& c, std::int64_t size, std::int64_t panel) {
    std::int64_t threads = thread_count(), all = blocks(c) * c.groups;
    bool few = threads > 1 && all < 2 * threads;
    shared = (few || c.rows > rows) && (c.axes[2].stride > 1 || (all == 1 && lines * across <= 64));
    if (!shared && !few) return;
    std::int64_t bytes = round_up(lines * across, panel) * c.depth() * size;
    together = shared ? std::clamp<std::int64_t>((threads << 20) / std::max<std::int64_t>(bytes, 1), 1, all) : all;
    choose_parts(c, panel, threads);
  }

  // The rows and panels of a unit of work that take the least time: a step along the depth takes as long as its
  // products, what it copies, and what it reads from the last cache.
  void choose_parts(const Convolution& c, std::int64_t panel, std::int64_t threads) {
    constexpr std::int64_t tall = 14, bytes_at_once = 6;
    std::int64_t all = parts_of(lines * across, panel), most = rows;
    double best = 0;
    for (std::int64_t down = parts_of(c.rows, most); down <= parts_of(c.rows, std::min<std::int64_t>(8, c.rows));
         ++down)
      for (std::int64_t wide = 1; wide <= all; ++wide) {
        std::int64_t each = parts_of(c.rows, down), units = together * parts_of(c.rows, each) * parts_of(all, wide);
        std::int64_t products = wide * (each + parts_of(each, tall)), copied = shared ? 0 : 6 * wide;
        std::int64_t read = 4 * (each + (shared ? wide * panel : 0)) / bytes_at_once + copied;
        auto time = static_cast<double>(parts_of(units, threads) * (products + read));
        if (best == 0 || time < best) best = time, rows = each, panels = wide;
      }
  }
  double work(const Convolution& c) const {
    return static_cast<double>(lines * across) * static_cast<double>(rows) * static_cast<double>(c.depth());
  }
  std::int64_t in_line(const Convolution& c) const { return parts_of(c.axes[2].out, across); }
  std::int64_t row_blocks(const Convolution& c) const { return c.groups * parts_of(c.rows, rows); }
  std::int64_t blocks(const Convolution& c) const { return parts_of(c.lines(), lines) * in_line(c); }
  // How many parts the panels of a block are in.
  std::int64_t across_parts(std::int64_t panel) const { return parts_of(parts_of(lines * across, panel), panels); }
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
    std::int64_t row_blocks = p.row_blocks(c), in_group = parts_of(c.rows, p.rows);
    std::int64_t wide = p.direct || p.by_unit ? 1 : p.across_parts(panel_);
    for (std::int64_t unit = begin; unit < end; ++unit) {
      std::int64_t block = unit / row_blocks / wide, of_rows = unit % row_blocks, panel = unit / row_blocks % wide;
      move_to(block);
      if (wide > 1) first_panel_ = panel * p.panels, end_panel_ = std::min(first_panel_ + p.panels, columns_.panels());
      if (first_panel_ >= end_panel_) continue;
      std::int64_t row = of_rows % in_group * p.rows, group = of_rows / in_group;
      std::int64_t rows = std::min(p.rows, c.rows - row);
      if (!(p.direct    ? sum_directly(group)
            : p.by_unit ? multiply_places(group, row, rows)
                        : multiply(group, row, rows)))
        return false;
    }
    return true;
  }

  // A block of columns, of those of all groups, begins so far behind the one before.
  std::int64_t columns_size() const {
    std::int64_t depths = parts_of(c.depth(), depth_of_block(c.taps()));
    return round_up(p.lines * p.across, panel_) * c.depth() + depths * loops_.lanes;
  }
  // Where the columns of products from `first` on begin in it: up to a vector behind those before them is written.
  std::int64_t columns_at(std::int64_t first) const {
    return columns_.panels() * panel_ * first + first / depth_of_block(c.taps()) * loops_.lanes;
  }
  // The columns of products from `first` on, to where those of the block are.
  bool pack_shared(std::int64_t block, std::int64_t first, T* to) {
    move_to(block % p.blocks(c));
    std::int64_t taps = c.taps(), channel = first / taps, there = std::min(depth_of_block(taps), c.depth() - first);
    std::int64_t channels = (first + there - 1) / taps - channel + 1, group = block / p.blocks(c);
    OwnMemory planes;
    T* plane_memory = take(planes, columns_.room(channels));
    if (!plane_memory) return false;
    pack_panels(group, first, there, plane_memory, to + columns_at(first));
    return true;
  }
  bool multiply_shared(std::int64_t block, std::int64_t row, std::int64_t panel, const T* from) {
    move_to(block % p.blocks(c));
    if (panel >= columns_.panels()) return true;
    first_panel_ = panel, end_panel_ = std::min(panel + p.panels, columns_.panels());
    std::int64_t deep = depth_of_block(c.taps()), depth = c.depth(), columns = columns_.panels() * panel_;
    std::int64_t rows = std::min(p.rows, c.rows - row), group = block / p.blocks(c);
    OwnMemory sums, left;
    T* c_memory = take(sums, (depth <= deep ? std::min<std::int64_t>(rows, loops_.rows) : rows) * columns);
    T* a_memory = take(left, loops_.rows * (std::min(deep, depth) + 2 * loops_.lanes));
    if (!c_memory || !a_memory) return false;
    for (std::int64_t first = 0; first < depth; first += deep)
      tiles(group * c.rows + row, rows, first, std::min(deep, depth - first), a_memory, from + columns_at(first),
            c_memory, columns);
    return true;
  }

 private:
  void move_to(std::int64_t block) {
    std::int64_t line = block / p.in_line(c) * p.lines, first = block % p.in_line(c) * p.across;
    columns_.move_to(line, std::min(p.lines, c.lines() - line), first, std::min(p.across, c.axes[2].out - first));
    first_panel_ = 0, end_panel_ = columns_.panels();
  }

  void pack_panels(std::int64_t group, std::int64_t first, std::int64_t there, T* planes, T* to) {
    std::int64_t taps = c.taps(), channel = first / taps, channels = (first + there - 1) / taps - channel + 1;
    columns_.read(group * c.channels + channel, channels, planes);
    for (std::int64_t i = first_panel_; i < end_panel_; ++i)
      columns_.pack(planes, group * c.channels + channel, i, first - channel * taps, there, width(i),
                    to + i * panel_ * there);
  }

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
      std::int64_t there = std::min(deep, depth - first);
      pack_panels(group, first, there, plane_memory, b_memory);
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
      for (std::int64_t j = first_panel_; j < end_panel_; ++j)
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
    std::int64_t begin = first_panel_ * panel_, end = std::min(end_panel_ * panel_, columns_.count());
    if (p.direct) begin = 0, end = columns_.count();
    if (bias && !is_plain) loops_.shift(sums + begin, bias, sums + begin, end - begin);
    for (const auto& run : columns_.runs()) {
      std::int64_t first = std::max(run.column, begin), length = std::min(run.column + run.length, end) - first;
      if (length <= 0) continue;
      std::byte* to = c.out + (run.at + (first - run.column) * step + row * c.out_plane()) * size;
      const T* from = sums + first;
      if (!is_plain) store(from, to, length, step);
      else if (bias) loops_.shift(from, bias, to, length);
      else std::memcpy(to, from, static_cast<std::size_t>(length * size));
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
  std::int64_t panel_, first_panel_ = 0, end_panel_ = 0;  // the latter: which are multiplied
  Columns<T> columns_;
  const Layer& layer_;
};

template <class T>
bool run_shared(const Convolution& c, const Parts& parts, const ConvolutionLoops& loops) {
  std::int64_t deep = depth_of_block(c.taps()), depths = parts_of(c.depth(), deep), all = parts.blocks(c) * c.groups;
  std::int64_t in_rows = parts_of(c.rows, parts.rows), size = Worker<T>(c, parts, loops).columns_size();
  std::int64_t wide = parts.across_parts(loops.vectors * loops.lanes);
  Scratch memory;
  auto* columns =
      reinterpret_cast<T*>(memory.take(sizeof(T) == 4 ? Dtype::float32 : Dtype::float64, size * parts.together));
  if (!columns) return false;
  std::atomic<bool> failed{false};
  auto each = [&](std::int64_t count, auto&& body) {
    parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
      try {
        Worker<T> worker(c, parts, loops);
        for (std::int64_t i = begin; i < end; ++i)
          if (!body(worker, i)) failed = true;
      } catch (const std::bad_alloc&) {
        failed = true;
      }
    });
  };
  for (std::int64_t first = 0; first < all && !failed; first += parts.together) {
    std::int64_t blocks = std::min(parts.together, all - first);
    each(blocks * depths, [&](Worker<T>& worker, std::int64_t i) {
      return worker.pack_shared(first + i / depths, i % depths * deep, columns + i / depths * size);
    });
    each(blocks * wide * in_rows, [&](Worker<T>& worker, std::int64_t i) {
      std::int64_t block = i / in_rows / wide, panel = i / in_rows % wide * parts.panels;
      return worker.multiply_shared(first + block, i % in_rows * parts.rows, panel, columns + block * size);
    });
  }
  return !failed;
}

template <class T>
bool run(const Convolution& c, bool by_unit) {
  if (!by_unit && suits_depthwise(c)) return run_depthwise(c);
  const ConvolutionLoops& loops = convolution_kernels().of[sizeof(T) == 8];
  Parts parts(c, sizeof(T), loops.vectors * loops.lanes, by_unit);
  if (parts.shared && c.depth() > 0) return run_shared<T>(c, parts, loops);
  std::int64_t count = parts.count(c) * (parts.direct || by_unit ? 1 : parts.across_parts(loops.vectors * loops.lanes));
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

bool may_use_unit(const Convolution& c) {
  return c.x.dtype == Dtype::bfloat16 && kernels().products->multiply_places && !is_direct(c) && c.depth() >= 16 &&
         c.rows >= 8;
}

// The unit has a say in the last bits, so that each image is computed in one way, whatever the others are.
bool run_images(const std::vector<Convolution>& all) {
  auto run_all = [&](const std::vector<Convolution>& some, bool by_unit) {
    std::vector<Convolution> suited, of_pixels;
    for (const Convolution& c : some) {
      bool unit = by_unit && may_use_unit(c);
      if (unit && suits_unit(c)) suited.push_back(c);
      else if (!unit && suits_pixels(c)) of_pixels.push_back(c);
      else if (!run<float>(c, unit)) return false;
    }
    return (suited.empty() || run_by_unit(suited)) && (of_pixels.empty() || run_pixels(of_pixels));
  };
  if (std::none_of(all.begin(), all.end(), may_use_unit)) return run_all(all, false);
  // The weights of all lie one behind the other.
  std::int64_t size = 0, batch = all[0].batch;
  for (const Convolution& c : all) size += c.groups * c.rows * c.depth();
  std::vector<bool> good = images_for_unit(all[0], all[0].weights, size, *kernels().products);
  if (std::count(good.begin(), good.end(), good[0]) == batch) return run_all(all, good[0]);
  for (std::int64_t n = 0; n < batch; ++n) {
    std::vector<Convolution> some = all;
    for (Convolution& one : some) {
      one.batch = 1;
      one.x.data += n * one.x.batch;
      one.out += n * one.groups * one.rows * one.out_plane() * 2;
    }
    if (!run_all(some, good[static_cast<std::size_t>(n)])) return false;
  }
  return true;
}

}  // namespace

std::optional<bool> run_transposed_by_unit(const std::vector<Convolution>& all,
                                           const TransposedWeights& weights) noexcept {
  try {
    auto suits = [](const Convolution& c) {
      return may_use_unit(c) && suits_unit(c) && c.lines() * c.axes[2].out != 0;
    };
    if (all.empty() || !std::all_of(all.begin(), all.end(), suits)) return std::nullopt;
    const Convolution& c = all[0];
    std::int64_t size = c.groups * c.channels * c.rows * weights.taps;
    for (bool good : images_for_unit(c, weights.data, size, *kernels().products))
      if (!good) return std::nullopt;
    return run_by_unit(all, &weights);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::optional<bool> run_transposed_by_pixels(const std::vector<Convolution>& all,
                                             const TransposedWeights& weights) noexcept {
  try {
    auto suits = [](const Convolution& c) {
      return !may_use_unit(c) && suits_pixels(c) && c.lines() * c.axes[2].out != 0;
    };
    if (all.empty() || !std::all_of(all.begin(), all.end(), suits)) return std::nullopt;
    return run_pixels(all, &weights);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool run_convolutions(const std::vector<Convolution>& all) noexcept {
  try {
    std::vector<Convolution> some;
    for (const Convolution& c : all)
      if (c.lines() * c.axes[2].out != 0 && c.groups * c.rows != 0) some.push_back(c);
    if (some.empty()) return true;
    if (some[0].x.dtype != Dtype::float64) return run_images(some);
    return std::all_of(some.begin(), some.end(), [](const Convolution& c) { return run<double>(c, false); });
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace suanzi
