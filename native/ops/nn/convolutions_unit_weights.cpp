// native/ops/nn/convolutions_unit_weights.cpp: nn 5: gradients of the weights of bfloat16 by a matrix unit.
//
// Positions are what is summed over: the results' gradients lie in a lattice's positions, with zeros where no result
// is, and two elements of the input that follow one another are a place, for every position, so that the tiles of a tap
// are read where they lie. Sums of a tap stay in the unit for a block of positions. Chunks of blocks follow from the
// shapes alone and are added up one after the other; threads share chunks, channels and rows.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <new>

#include "core/threads.h"
#include "ops/nn/convolutions_unit.h"

namespace suanzi {
namespace {

constexpr std::int64_t tile = places_tile, step_positions = places_length;
constexpr std::int64_t part_channels = 2 * tile, part_rows = 8 * tile;

struct Plan {
  const Convolution& c;
  Lattice lattice;
  std::int64_t taps, channels, rows;  // in whole tiles
  std::int64_t length, g_pitch, x_pitch;
  std::int64_t jobs, chunks;
  std::vector<std::int64_t> a_steps, b_steps;

  explicit Plan(const Convolution& convolution)
      : c(convolution), lattice(c, Lattice::fitting_positions(c, part_channels), 512), taps(c.taps()),
        channels(round_up(c.channels, tile)), rows(round_up(c.rows, tile)) {
    length = round_up(lattice.positions(), step_positions);
    g_pitch = length + 64;
    if (g_pitch / 32 % 2 == 0) g_pitch += 32;  // or many rows share few places of the cache
    x_pitch = round_up(std::max(lattice.read_lines() * lattice.wide, length + lattice.furthest), tile);
    jobs = c.groups * parts_of(channels, part_channels) * parts_of(rows, part_rows);
    constexpr std::int64_t wanted = 32, most_bytes = std::int64_t{64} << 20;
    std::int64_t most = std::max<std::int64_t>(1, most_bytes / (count() * 4));
    chunks = std::clamp<std::int64_t>(parts_of(wanted, jobs), 1, std::min(lattice.blocks(), most));
    for (std::int64_t i = 0; i < length / step_positions; ++i) {
      a_steps.push_back(i * step_positions * 2);
      b_steps.push_back(i * step_positions * 64);
    }
  }

  // Sums are (group, tap, row, channel).
  std::int64_t count() const { return c.groups * taps * rows * channels; }
};

// Some jobs of one thread: channels and rows of a group, over the blocks of a chunk.
class Worker {
 public:
  Worker(const Plan& plan, const ConvolutionInput& gradient, float* totals)
      : p(plan), c(plan.c), g(gradient), k(kernels()), loops_(convolution_kernels().unit), totals_(totals) {}

  bool run(std::int64_t begin, std::int64_t end) {
    gradients_ = memory_[0].take(part_rows * p.g_pitch * 2);
    line_ = reinterpret_cast<std::uint16_t*>(memory_[1].take(tile * line_pitch() * 2));
    pairs_ = memory_[2].take(p.lattice.sets * part_channels * p.x_pitch * 4);
    if (!gradients_ || !line_ || !pairs_) return false;
    for (std::int64_t unit = begin; unit < end; ++unit) {
      std::int64_t chunk = unit / p.jobs, job = unit % p.jobs, in_rows = parts_of(p.rows, part_rows);
      std::int64_t parts = parts_of(p.channels, part_channels), group = job / in_rows / parts;
      std::int64_t channel = job / in_rows % parts * part_channels, row = job % in_rows * part_rows;
      std::int64_t blocks = p.lattice.blocks(), first = blocks * chunk / p.chunks;
      for (std::int64_t i = first; i < blocks * (chunk + 1) / p.chunks; ++i) {
        Lattice::Block block = p.lattice.block(i);
        read_gradients(block, group, row);
        read_input(block, group, channel);
        multiply(chunk, group, row, channel, i > first);
      }
    }
    return true;
  }

 private:
  // Up to two vectors behind a line are read and written.
  std::int64_t line_pitch() const { return p.x_pitch + 4 * tile; }
  std::int64_t rows_from(std::int64_t row) const { return std::min(part_rows, p.rows - row); }
  std::int64_t channels_from(std::int64_t channel) const { return std::min(part_channels, p.channels - channel); }

  // A line of `width` with zeros around its elements; up to a vector behind is written.
  void copy(const std::byte* from, std::int64_t n, std::int64_t step, std::int64_t before, std::int64_t width,
            std::uint16_t* to) const {
    if (step == 2 || n == 0) return loops_.line(from, n, before, width, to);
    loops_.line(from, 0, width, width, to);
    k.gather[1](from, to + before, static_cast<std::size_t>(n), step);
  }

  void read_gradients(const Lattice::Block& b, std::int64_t group, std::int64_t row) {
    for (std::int64_t r = 0; r < rows_from(row); ++r) {
      auto to = reinterpret_cast<std::uint16_t*>(gradients_ + r * p.g_pitch * 2);
      if (row + r >= c.rows) {
        std::memset(to, 0, static_cast<std::size_t>(p.length) * 2);
        continue;
      }
      const std::byte* from = g.data + b.image * g.batch + (group * c.rows + row + r) * g.channel + b.z * g.axes[0] +
                              b.y * g.axes[1] + b.x * g.axes[2];
      std::int64_t rest = p.length;
      for (std::int64_t i = 0; i < b.lines; ++i, from += g.axes[1], to += p.lattice.wide, rest -= p.lattice.wide)
        copy(from, b.across, g.axes[2], 0, i + 1 < b.lines ? p.lattice.wide : rest, to);
    }
  }

  void read_input(const Lattice::Block& b, std::int64_t group, std::int64_t channel) {
    std::int64_t lines = p.lattice.read_lines(b), pitch = line_pitch();
    p.lattice.find_lines(b, lines_);
    for (std::int64_t set = 0; set < p.lattice.sets; ++set)
      for (std::int64_t first = channel; first < channel + channels_from(channel); first += tile) {
        std::int64_t there = std::clamp<std::int64_t>(c.channels - first, 0, tile);
        for (std::int64_t i = 0; i < there; ++i) {
          const std::byte* from = c.x.data + b.image * c.x.batch + (group * c.channels + first + i) * c.x.channel;
          std::uint16_t* to = line_ + i * pitch;
          std::int64_t rest = p.x_pitch + tile;
          const Lattice::Line* line = lines_.data() + set * lines;
          for (std::int64_t j = 0; j < lines; ++j, ++line, to += p.lattice.wide, rest -= p.lattice.wide)
            copy(from + line->at, line->there, p.lattice.step(), line->before, j + 1 < lines ? p.lattice.wide : rest,
                 to);
        }
        loops_.pair_columns(line_, pitch, there, p.x_pitch, pairs_of(set, first - channel));
      }
  }
  std::uint32_t* pairs_of(std::int64_t set, std::int64_t channel) {
    return reinterpret_cast<std::uint32_t*>(pairs_) + (set * part_channels + channel) * p.x_pitch;
  }

  void multiply(std::int64_t chunk, std::int64_t group, std::int64_t row, std::int64_t channel, bool adds) {
    std::int64_t high = rows_from(row) / tile, wide = channels_from(channel) / tile;
    for (std::int64_t t = 0; t < p.taps; ++t) {
      Lattice::Tap tap = p.lattice.tap(t);
      TileSteps steps{gradients_,
                      reinterpret_cast<const std::byte*>(pairs_of(tap.set, 0) + tap.far * tile),
                      p.g_pitch * 2,
                      tile * p.g_pitch * 2,
                      128,
                      tile * p.x_pitch * 4,
                      p.a_steps.data(),
                      p.b_steps.data(),
                      p.length / step_positions};
      float* to = totals_ + chunk * p.count() + ((group * p.taps + t) * p.rows + row) * p.channels + channel;
      k.products->multiply_steps(steps, to, p.channels, high, wide, adds);
    }
  }

  const Plan& p;
  const Convolution& c;
  const ConvolutionInput& g;
  const Kernels& k;
  const UnitLoops& loops_;
  float* totals_;
  OwnMemory memory_[3];
  std::vector<Lattice::Line> lines_;
  std::byte *gradients_ = nullptr, *pairs_ = nullptr;
  std::uint16_t* line_ = nullptr;
};

// Adds the chunks to the first one, and stores it rounded in the order of weights. False if there is a NaN.
bool finish(const Plan& p, float* totals) {
  const Convolution& c = p.c;
  const ConvolutionLoops& loops = convolution_kernels().of[0];
  auto narrow = kernels().narrow[static_cast<std::size_t>(layer_of(Dtype::bfloat16).narrow)];
  std::atomic<bool> has_nan{false};
  std::int64_t depth = c.depth();
  parallel_for(c.groups * c.rows, std::max<std::int64_t>(1, grain / depth), [&](std::int64_t begin, std::int64_t end) {
    OwnMemory memory;
    auto some = reinterpret_cast<std::uint16_t*>(memory.take(depth * 2));
    if (!some) {
      has_nan = true;  // and so it is made without the unit, or not
      return;
    }
    bool found = false;
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t t = 0; t < p.taps; ++t) {
        float* its = totals + ((i / c.rows * p.taps + t) * p.rows + i % c.rows) * p.channels;
        for (std::int64_t chunk = 1; chunk < p.chunks; ++chunk) loops.add(its + chunk * p.count(), its, 1, c.channels);
        for (std::int64_t j = 0; j < c.channels; ++j) found |= std::isnan(its[j]);
        narrow(its, some + t * c.channels, static_cast<std::size_t>(c.channels));
      }
      kernels().transpose[1](some, c.out + i * depth * 2, static_cast<std::size_t>(p.taps),
                             static_cast<std::size_t>(c.channels));
    }
    if (found) has_nan = true;
  });
  return !has_nan;
}

}  // namespace

Made run_weight_gradient_by_unit(const Convolution& c, const ConvolutionInput& gradient) {
  Plan plan(c);
  Scratch memory;
  auto* totals = reinterpret_cast<float*>(memory.take(Dtype::float32, plan.chunks * plan.count()));
  if (!totals) return Made::without_memory;
  std::atomic<bool> failed{false};
  parallel_for(plan.chunks * plan.jobs, 1, [&](std::int64_t begin, std::int64_t end) {
    try {
      if (!Worker(plan, gradient, totals).run(begin, end)) failed = true;
    } catch (const std::bad_alloc&) {
      failed = true;
    }
  });
  if (failed) return Made::without_memory;
  return finish(plan, totals) ? Made::whole : Made::with_nan;
}

}  // namespace suanzi
