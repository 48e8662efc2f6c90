// native/ops/nn/convolutions_unit.cpp: nn 5: convolutions of bfloat16 by a matrix unit.
//
// The unit reads its tiles of the input where they lie: rows of 32 bits, which are elements of two channels, at 16
// positions side by side, from lines that were copied once with their padding. A tap is another place to begin, so that
// no columns are made. Weights are put in the order of (32 channels, tap) before; sums stay in the unit, and an element
// is added up in this order whatever block it is in.
#include "ops/nn/convolutions_unit.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "core/threads.h"

namespace suanzi {

Lattice::Lattice(const Convolution& convolution, std::int64_t most_positions, std::int64_t most_lines)
    : c_(&convolution) {
  const Convolution& c = convolution;
  for (int d = 0; d < 3; ++d) {
    const ConvolutionAxis& a = c.axes[d];
    Axis& its = axes_[d];
    its.least = *std::min_element(a.offsets.begin(), a.offsets.end());
    for (std::int64_t offset : a.offsets) {
      std::int64_t far = offset - its.least, remainder = far % a.stride;
      auto at = std::find(its.remainders.begin(), its.remainders.end(), remainder);
      its.remainder_of.push_back(at - its.remainders.begin());
      if (at == its.remainders.end()) its.remainders.push_back(remainder);
      its.shift_of.push_back(far / a.stride);
      its.reach = std::max(its.reach, far / a.stride);
    }
  }
  std::int64_t out = c.axes[2].out, high = c.axes[1].out;
  across = out <= most_positions ? out : round_up(parts_of(out, parts_of(out, most_positions)), 16);
  wide = across + axes_[2].reach;
  lines = across < out ? 1 : std::clamp<std::int64_t>(most_positions / wide, 1, std::min(high, most_lines));
  lines = parts_of(high, parts_of(high, lines));
  sets = static_cast<std::int64_t>(c.axes[0].offsets.size() * axes_[1].remainders.size() * axes_[2].remainders.size());
  furthest = axes_[1].reach * wide + axes_[2].reach;
}

Lattice::Block Lattice::block(std::int64_t number) const {
  const Convolution& c = *c_;
  std::int64_t row = in_line(), column = parts_of(c.axes[1].out, lines);
  std::int64_t x = number % row * across, y = number / row % column * lines, z = number / row / column % c.axes[0].out;
  return {number / in_image(), z, y, std::min(lines, c.axes[1].out - y), x, std::min(across, c.axes[2].out - x)};
}

Lattice::Line Lattice::line(const Block& b, std::int64_t set, std::int64_t number) const {
  const Convolution& c = *c_;
  const ConvolutionAxis &deep = c.axes[0], &high = c.axes[1], &along = c.axes[2];
  auto of_x = static_cast<std::int64_t>(axes_[2].remainders.size());
  auto of_y = static_cast<std::int64_t>(axes_[1].remainders.size());
  auto remainder = [](const Axis& axis, std::int64_t i) { return axis.remainders[static_cast<std::size_t>(i)]; };
  std::int64_t z = b.z * deep.stride + deep.offsets[static_cast<std::size_t>(set / of_x / of_y)];
  std::int64_t y = (b.y + number) * high.stride + axes_[1].least + remainder(axes_[1], set / of_x % of_y);
  std::int64_t start = b.x * along.stride + axes_[2].least + remainder(axes_[2], set % of_x);
  if (z < 0 || z >= deep.in || y < 0 || y >= high.in) return {0, wide, 0};
  // How many of start, start + stride, ... are less than an end.
  auto less = [&](std::int64_t end) { return end <= start ? 0 : std::min(parts_of(end - start, along.stride), wide); };
  std::int64_t before = less(0);
  return {z * c.x.axes[0] + y * c.x.axes[1] + (start + before * along.stride) * c.x.axes[2], before,
          std::max<std::int64_t>(0, less(along.in) - before)};
}

void Lattice::find_lines(const Block& b, std::vector<Line>& found) const {
  found.clear();
  for (std::int64_t set = 0; set < sets; ++set)
    for (std::int64_t i = 0; i < read_lines(b); ++i) found.push_back(line(b, set, i));
}

Lattice::Tap Lattice::tap(std::int64_t number) const {
  const Convolution& c = *c_;
  auto wide_taps = static_cast<std::int64_t>(c.axes[2].offsets.size());
  auto high_taps = static_cast<std::int64_t>(c.axes[1].offsets.size());
  auto x = static_cast<std::size_t>(number % wide_taps), y = static_cast<std::size_t>(number / wide_taps % high_taps);
  std::int64_t z = number / wide_taps / high_taps;
  auto of_x = static_cast<std::int64_t>(axes_[2].remainders.size());
  auto of_y = static_cast<std::int64_t>(axes_[1].remainders.size());
  return {(z * of_y + axes_[1].remainder_of[y]) * of_x + axes_[2].remainder_of[x],
          axes_[1].shift_of[y] * wide + axes_[2].shift_of[x]};
}

bool suits_unit(const Convolution& c) { return c.channels >= 16 && c.rows >= 8; }

namespace {

constexpr std::int64_t tile = places_tile, step_channels = places_length;
constexpr std::int64_t tile_bytes = tile * 64;

// How results are shared, and how the lattices lie.
struct Plan {
  const Convolution& c;
  Lattice lattice;
  std::int64_t taps, pairs, steps, row_tiles, high;  // the latter: tiles of rows of a unit of work
  std::int64_t pitch;                                // from a pair of channels to the next, in places
  std::int64_t a_row = 64, a_next, steps_of_row;     // of tiles of weights, in bytes; tiles of 16 rows
  std::vector<std::int64_t> a_steps, b_steps;

  Plan(const Convolution& convolution, const TransposedWeights* transposed, std::size_t number)
      : c(convolution), lattice(c, Lattice::fitting_positions(c, parts_of(c.channels, 2)), most_lines(c)),
        taps(c.taps()), pairs(round_up(c.channels, step_channels) / 2), steps(pairs / tile * taps),
        row_tiles(parts_of(c.rows, tile)), high(row_tiles) {
    share();
    pitch = std::max(lattice.read_lines() * lattice.wide, round_up(lattice.positions(), tile) + lattice.furthest);
    pitch = round_up(pitch + tile, tile);
    if (pitch / tile % 2 == 0) pitch += tile;  // or many rows share few places of the cache
    a_next = steps * tile_bytes, steps_of_row = steps;
    if (transposed) {
      a_row = transposed->taps * 64, a_next = tile * a_row;
      steps_of_row = pairs / tile * transposed->taps;
    }
    for (std::int64_t block = 0; block < pairs / tile; ++block)
      for (std::int64_t t = 0; t < taps; ++t) {
        Lattice::Tap tap = lattice.tap(t);
        if (transposed)
          a_steps.push_back(block * row_tiles * a_next + transposed->chosen[number][static_cast<std::size_t>(t)] * 64);
        else a_steps.push_back(static_cast<std::int64_t>(a_steps.size()) * tile_bytes);
        b_steps.push_back(((tap.set * pairs + block * tile) * pitch + tap.far) * 4);
      }
  }

  std::int64_t row_parts() const { return parts_of(row_tiles, high); }
  std::int64_t units() const { return lattice.blocks() * c.groups * row_parts(); }
  std::int64_t group_size() const { return steps_of_row * row_tiles * tile_bytes; }  // of weights, in bytes
  double work() const {                                                              // of a unit
    return static_cast<double>(lattice.positions()) * static_cast<double>(high * steps) * tile * step_channels;
  }

 private:
  // Lattices are to stay in the second-level cache.
  static std::int64_t most_lines(const Convolution& c) {
    std::int64_t line = (c.axes[2].out + 8) * 2 * c.channels;
    return std::max<std::int64_t>(1, (384 << 10) / std::max<std::int64_t>(line, 1));
  }

  // Threads get lines, or rows of weights where lines are few.
  void share() {
    std::int64_t wanted = thread_count() == 1 ? 1 : 2 * thread_count();
    while (units() < wanted && work() > 1 << 21) {
      std::int64_t most = lattice.positions();
      bool can_split = lattice.lines > 1 || lattice.across > 2 * tile;
      if (can_split && (most >= 128 || (high <= 2 && most >= 64))) lattice = Lattice(c, most / 2, lattice.lines);
      else if (high > 2) high = round_up(parts_of(high, 2), 2);
      else break;
    }
  }
};

// Weights of bfloat16 as tiles of 16 rows and 32 channels, in the order of steps: those of the rows of one tile.
void pack_weights(const Plan& p, std::int64_t number, std::byte* out) {
  const Convolution& c = p.c;
  auto to = reinterpret_cast<std::uint16_t*>(out + number * p.steps * tile_bytes);
  std::int64_t first = number % p.row_tiles * tile, rows = std::min(tile, c.rows - first);
  if (rows < tile || c.channels % step_channels != 0)
    std::memset(to, 0, static_cast<std::size_t>(p.steps * tile_bytes));
  auto from = reinterpret_cast<const std::uint16_t*>(c.weights) + (number / p.row_tiles * c.rows + first) * c.depth();
  convolution_kernels().unit.pick_taps(from, c.depth(), rows, c.channels, p.taps, to);
}

// Weights of a transposed convolution, (channels, rows, taps), as (32 channels, rows, taps, channel): rows of tiles are
// as far apart as they have taps.
void pack_transposed(const Plan& p, const TransposedWeights& weights, std::byte* out) {
  const Convolution& c = p.c;
  std::int64_t blocks = p.pairs / tile, length = c.rows * weights.taps, size = p.row_tiles * tile * p.a_row;
  auto transpose = kernels().transpose[1];
  parallel_for(c.groups * blocks, std::max<std::int64_t>(1, grain / (length * step_channels)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   std::int64_t first = i % blocks * step_channels, n = std::min(step_channels, c.channels - first);
                   const std::byte* from = weights.data + (i / blocks * c.channels + first) * length * 2;
                   std::byte* to = out + i * size;
                   if (n < step_channels || c.rows % tile != 0) std::memset(to, 0, static_cast<std::size_t>(size));
                   if (n == step_channels) {
                     transpose(from, to, static_cast<std::size_t>(n), static_cast<std::size_t>(length));
                     continue;
                   }
                   auto source = reinterpret_cast<const std::uint16_t*>(from);
                   auto target = reinterpret_cast<std::uint16_t*>(to);
                   for (std::int64_t k = 0; k < n; ++k)
                     for (std::int64_t j = 0; j < length; ++j) target[j * step_channels + k] = source[k * length + j];
                 }
               });
}

// The blocks of one thread.
class Worker {
 public:
  Worker(const Plan& plan, const std::byte* weights)
      : p(plan), c(plan.c), weights_(weights), k(kernels()), loops_(convolution_kernels().unit),
        row_(round_up(p.lattice.positions(), tile) + tile) {}

  bool run(std::int64_t begin, std::int64_t end) {
    std::int64_t length = p.lattice.wide * 2;
    planes_ = reinterpret_cast<std::uint32_t*>(memory_[0].take(p.lattice.sets * p.pairs * p.pitch * 4));
    sums_ = reinterpret_cast<float*>(memory_[1].take(2 * tile * row_ * 4));
    spare_ = memory_[2].take(2 * length);
    if (!planes_ || !sums_ || !spare_) return false;
    std::int64_t parts = p.row_parts(), last = -1;
    for (std::int64_t unit = begin; unit < end; ++unit) {
      std::int64_t number = unit / parts, first = unit % parts * p.high;
      Lattice::Block block = p.lattice.block(number / c.groups);
      std::int64_t group = number % c.groups;
      if (number != last) read(block, group);
      last = number;
      for (std::int64_t row = first; row < std::min(first + p.high, p.row_tiles); row += 2) multiply(block, group, row);
    }
    return true;
  }

 private:
  void read(const Lattice::Block& b, std::int64_t group) {
    std::int64_t lines = p.lattice.read_lines(b);
    p.lattice.find_lines(b, lines_);
    for (std::int64_t set = 0; set < p.lattice.sets; ++set)
      for (std::int64_t pair = 0; pair < p.pairs; ++pair) {
        std::uint32_t* to = planes_ + (set * p.pairs + pair) * p.pitch;
        if (2 * pair >= c.channels) {
          std::memset(to, 0, static_cast<std::size_t>(p.pitch) * 4);
          continue;
        }
        const std::byte* even = c.x.data + b.image * c.x.batch + (group * c.channels + 2 * pair) * c.x.channel;
        bool alone = 2 * pair + 1 == c.channels;
        const Lattice::Line* line = lines_.data() + set * lines;
        for (std::int64_t i = 0; i < lines; ++i, ++line, to += p.lattice.wide) {
          const std::byte* from = dense(even + line->at, line->there, 0);
          const std::byte* other = alone ? nullptr : dense(even + c.x.channel + line->at, line->there, 1);
          loops_.pair_line(from, other, line->there, line->before, p.lattice.wide, to);
        }
      }
  }

  const std::byte* dense(const std::byte* from, std::int64_t n, int which) {
    if (p.lattice.step() == 2 || n == 0) return from;
    std::byte* to = spare_ + which * p.lattice.wide * 2;
    k.gather[1](from, to, static_cast<std::size_t>(n), p.lattice.step());
    return to;
  }

  // Two tiles of rows, or one, of all positions.
  void multiply(const Lattice::Block& b, std::int64_t group, std::int64_t row_tile) {
    std::int64_t high = std::min<std::int64_t>(2, p.row_tiles - row_tile);
    TileSteps steps{weights_ + group * p.group_size() + row_tile * p.a_next,
                    reinterpret_cast<const std::byte*>(planes_),
                    p.a_row,
                    p.a_next,
                    p.pitch * 4,
                    64,
                    p.a_steps.data(),
                    p.b_steps.data(),
                    p.steps};
    k.products->multiply_steps(steps, sums_, row_, high, parts_of(p.lattice.positions(b), tile), false);
    std::int64_t first = row_tile * tile;
    for (std::int64_t r = 0; r < std::min(high * tile, c.rows - first); ++r)
      store(b, sums_ + r * row_, group * c.rows + first + r);
  }

  void store(const Lattice::Block& b, const float* sums, std::int64_t row) {
    const ConvolutionAxis &deep = c.axes[0], &high = c.axes[1], &along = c.axes[2];
    auto out = reinterpret_cast<std::uint16_t*>(c.out) + (b.image * c.groups * c.rows + row) * c.out_plane();
    auto bias = c.bias ? reinterpret_cast<const float*>(c.bias) + row : nullptr;
    auto to = [&](std::int64_t line) {
      std::int64_t y = high.base + (b.y + line) * high.step;
      return out + ((deep.base + b.z * deep.step) * high.full + y) * along.full + along.base + b.x * along.step;
    };
    if (along.step == 1 && high.step == 1 && (b.lines == 1 || b.across == along.full))
      return loops_.store_lines(sums, p.lattice.wide, bias, b.lines, b.across, to(0));
    for (std::int64_t i = 0; i < b.lines; ++i, sums += p.lattice.wide) {
      auto made = along.step == 1 ? to(i) : reinterpret_cast<std::uint16_t*>(spare_);
      loops_.store_lines(sums, p.lattice.wide, bias, 1, b.across, made);
      if (along.step != 1) k.scatter[1](made, to(i), static_cast<std::size_t>(b.across), along.step * 2);
    }
  }

  const Plan& p;
  const Convolution& c;
  const std::byte* weights_;
  const Kernels& k;
  const UnitLoops& loops_;
  std::int64_t row_;
  OwnMemory memory_[3];
  std::vector<Lattice::Line> lines_;
  std::uint32_t* planes_ = nullptr;
  float* sums_ = nullptr;
  std::byte* spare_ = nullptr;
};

}  // namespace

bool run_by_unit(const std::vector<Convolution>& all, const TransposedWeights* transposed) {
  std::vector<Plan> plans;
  plans.reserve(all.size());
  std::int64_t tiles = 0, bytes = 0, units = 0;
  std::vector<std::int64_t> first_tile, first_byte, first_unit;
  double work = 0;
  for (const Convolution& c : all) {
    const Plan& p = plans.emplace_back(c, transposed, plans.size());
    first_tile.push_back(tiles), first_byte.push_back(transposed ? 0 : bytes), first_unit.push_back(units);
    tiles += c.groups * p.row_tiles, bytes += c.groups * p.group_size(), units += p.units();
    work += p.work() * static_cast<double>(p.units());
  }
  Scratch memory;
  if (transposed) bytes = all[0].groups * plans[0].group_size();
  std::byte* weights = memory.take(Dtype::uint8, bytes);
  if (!weights) return false;
  auto which = [](const std::vector<std::int64_t>& firsts, std::int64_t i) {
    return static_cast<std::size_t>(std::upper_bound(firsts.begin(), firsts.end(), i) - firsts.begin() - 1);
  };
  if (transposed) {
    pack_transposed(plans[0], *transposed, weights);
  } else {
    std::int64_t each = std::max<std::int64_t>(1, bytes / 2 / std::max<std::int64_t>(tiles, 1));
    parallel_for(tiles, std::max<std::int64_t>(1, grain / each), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::size_t at = which(first_tile, i);
        pack_weights(plans[at], i - first_tile[at], weights + first_byte[at]);
      }
    });
  }
  auto least = static_cast<std::int64_t>(std::max(1.0, (1 << 20) * static_cast<double>(units) / std::max(work, 1.0)));
  std::atomic<bool> failed{false};
  parallel_for(units, least, [&](std::int64_t begin, std::int64_t end) {
    try {
      for (std::int64_t i = begin; i < end;) {
        std::size_t at = which(first_unit, i);
        std::int64_t last = std::min(end, first_unit[at] + plans[at].units());
        if (!Worker(plans[at], weights + first_byte[at]).run(i - first_unit[at], last - first_unit[at])) failed = true;
        i = last;
      }
    } catch (const std::bad_alloc&) {
      failed = true;
    }
  });
  return !failed;
}

}  // namespace suanzi
