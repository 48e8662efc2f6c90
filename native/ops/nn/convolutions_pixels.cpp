// native/ops/nn/convolutions_pixels.cpp: nn 5: convolutions in tiles of pixels by channels of results.
//
// Threads share chunks of pixels and blocks of channels of results. Of a chunk, the lines of as many channels as are
// added up at once are copied with their padding, and tiles read their pixels there, so that no columns are made.
// Weights are put in the order of (32 channels of results, channel, tap): before, for all, or by whoever needs them
// where chunks are few. An element is summed in the order of (channel, tap), block by block as with columns, so that
// its bits are the same.
#include <algorithm>
#include <atomic>
#include <limits>
#include <new>
#include <numeric>

#include "core/threads.h"
#include "ops/nn/convolutions_ways.h"

namespace suanzi {
namespace {

// Lines and sums, in elements, that the second-level cache is to hold.
constexpr std::int64_t most_planes = std::int64_t{1} << 17, most_sums = std::int64_t{1} << 17;
constexpr std::int64_t fewest_pixels = 28, pixels_at_once = 512;

std::int64_t length(const std::vector<std::int64_t>& x) { return static_cast<std::int64_t>(x.size()); }

// What taps read along one axis.
struct Reach {
  std::int64_t least = 0, far = 0;

  explicit Reach(const ConvolutionAxis& a) {
    auto [low, high] = std::minmax_element(a.offsets.begin(), a.offsets.end());
    least = *low, far = *high - *low;
  }
};

// How results are shared: a chunk has lines of one image, or some images together.
struct Plan {
  const Convolution& c;
  std::int64_t all_blocks, images, lines = 1, together = 1, across, blocks = 1;
  std::int64_t span;   // products whose lines are copied at once
  bool apart = false;  // lines that taps read are copied for each line of results
  bool packs_before;

  explicit Plan(const Convolution& convolution)
      : c(convolution), all_blocks(parts_of(c.rows, pixel_channels)), images(c.batch * c.axes[0].out),
        across(c.axes[2].out), span(deepest()), far_(Reach(c.axes[1]).far), far_across_(Reach(c.axes[2]).far) {
    while (across > fewest_pixels && (across > pixels_at_once || planes(1, 1, span) > most_planes))
      across = parts_of(c.axes[2].out, parts_of(c.axes[2].out, across - 1));
    choose();
    apart = is_apart(lines);
    while (span < c.depth() && planes(lines, together, span + deepest()) <= most_planes) span += deepest();
    // What other threads packed takes longer to read than to pack.
    packs_before = thread_count() == 1 && chunks() > 2;
  }

  std::int64_t rows(std::int64_t of_lines) const {  // of the input, that so many lines read
    return std::min((of_lines - 1) * c.axes[1].stride + far_ + 1, of_lines * length(c.axes[1].offsets));
  }
  // Products that are added up before they are added to a sum.
  std::int64_t deepest() const { return std::min(depth_of_block(c.taps()), c.depth()); }
  // Elements of the lines of a chunk that so many products read.
  std::int64_t planes(std::int64_t of_lines, std::int64_t of_images, std::int64_t products) const {
    std::int64_t row = (across - 1) * c.axes[2].stride + far_across_ + 1;
    return std::min(products, c.depth()) / c.taps() *
           pitch(length(c.axes[0].offsets) * of_images * rows(of_lines) * row);
  }
  // From a channel to the next: not by a power of two, or many channels share few places of the cache.
  static std::int64_t pitch(std::int64_t elements) {
    std::int64_t found = round_up(elements + 16, 16);
    return found / 16 % 2 == 0 ? found + 16 : found;
  }
  std::int64_t in_line() const { return parts_of(c.axes[2].out, across); }
  std::int64_t in_image() const { return parts_of(c.axes[1].out, lines) * in_line(); }
  std::int64_t chunks() const { return parts_of(images, together) * in_image(); }
  std::int64_t parts() const { return c.groups * parts_of(all_blocks, blocks); }
  std::int64_t units() const { return chunks() * parts(); }
  std::int64_t block_size() const { return c.depth() * pixel_channels; }  // of weights

 private:
  bool is_apart(std::int64_t of_lines) const {
    return of_lines * length(c.axes[1].offsets) < (of_lines - 1) * c.axes[1].stride + far_ + 1;
  }

  // About how many cycles a unit takes.
  double work(std::int64_t of_lines, std::int64_t of_images, std::int64_t of_blocks) const {
    auto tiles = static_cast<double>(parts_of(of_lines * of_images * across, most_pixels) * of_blocks);
    auto steps = static_cast<double>(c.depth()), packed = static_cast<double>(of_blocks) * steps;
    auto depths = static_cast<double>(parts_of(c.depth(), deepest()));
    return tiles * (steps * most_pixels + 100 * (1 + depths)) + 12 * packed +
           static_cast<double>(planes(of_lines, of_images, c.depth())) / 3;
  }

  // The lines and blocks of a unit that take the least time.
  void choose() {
    double best = std::numeric_limits<double>::infinity();
    std::int64_t high = c.axes[1].out;
    auto consider = [&](std::int64_t l, std::int64_t m) {
      std::int64_t pixels = l * m * across;
      if (l * m > 1 && (pixels > pixels_at_once || planes(l, m, span) > most_planes)) return false;
      bool is_whole = planes(l, m, c.depth()) <= most_planes;
      for (std::int64_t b = all_blocks; b > 0; b = b > 1 ? parts_of(all_blocks, parts_of(all_blocks, b - 1)) : 0) {
        std::int64_t count = parts_of(all_blocks, b);
        if (b > 1 && !is_whole && pixels * b * pixel_channels > most_sums) continue;
        std::int64_t units = parts_of(images, m) * parts_of(high, l) * in_line() * c.groups * count;
        double time = static_cast<double>(parts_of(units, thread_count())) * work(l, m, b);
        if (time < best) best = time, lines = l, together = m, blocks = b;
      }
      return true;
    };
    for (std::int64_t l = 1; l <= high && consider(l, 1); ++l) {}
    for (std::int64_t m = 2; m <= images && consider(high, m); ++m) {}
  }

  std::int64_t far_, far_across_;
};

// The units of one thread.
class Worker {
 public:
  Worker(const Plan& plan, const float* packed)
      : p(plan), c(plan.c), packed_(packed), k(kernels()), columns_(convolution_kernels().of[0]),
        loops_(convolution_kernels().pixels), layer_(layer_of(c.x.dtype)) {}

  bool run(std::int64_t begin, std::int64_t end) {
    std::int64_t deepest = p.deepest(), depth = c.depth(), pixels = p.lines * p.together * p.across;
    bool is_whole = p.span >= depth;  // all lines of a chunk are there at once
    planes_ = take(memory_[0], p.planes(p.lines, p.together, p.span) + 64);
    sums_ = take(memory_[1], (deepest == depth ? most_pixels : pixels * (is_whole ? 1 : p.blocks)) * pixel_channels);
    wide_ = take(memory_[2], std::max<std::int64_t>(deepest, most_pixels) * pixel_channels);
    weights_ = packed_ ? nullptr : take(memory_[3], deepest * pixel_channels + 512);
    if (!planes_ || !sums_ || !wide_ || (!packed_ && !weights_)) return false;
    std::int64_t in_group = parts_of(p.all_blocks, p.blocks), last = -1;
    for (std::int64_t unit = begin; unit < end; ++unit) {
      std::int64_t chunk = unit / p.parts(), group = unit % p.parts() / in_group, part = unit % in_group;
      std::int64_t first = part * p.blocks, blocks = std::min(p.blocks, p.all_blocks - first);
      if (chunk != last) move_to(chunk);
      for (std::int64_t from = 0; from < depth; from += p.span) {
        if (!is_whole || chunk != last || part == 0) read(group, from);
        for (std::int64_t b = 0; b < blocks; ++b)
          for (std::int64_t at = from; at < std::min(from + p.span, depth); at += deepest)
            multiply(group, first + b, at, planes_ + (at - from) / c.taps() * plane_,
                     sums_ + (is_whole ? 0 : b * pixels * pixel_channels));
      }
      last = chunk;
    }
    return true;
  }

  bool pack(std::int64_t begin, std::int64_t end, float* to) {
    std::int64_t deep = depth_of_block(c.taps()), depths = parts_of(c.depth(), deep);
    wide_ = take(memory_[2], std::min(deep, c.depth()) * pixel_channels);
    if (!wide_) return false;
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t block = i / depths, first = i % depths * deep;
      pack(block / p.all_blocks, block % p.all_blocks, first, std::min(deep, c.depth() - first),
           to + block * p.block_size() + first * width(block % p.all_blocks));
    }
    return true;
  }

 private:
  std::int64_t channels_of(std::int64_t block) const {
    return std::min<std::int64_t>(pixel_channels, c.rows - block * pixel_channels);
  }
  std::int64_t width(std::int64_t block) const { return round_up(channels_of(block), 16); }

  // The products [first, first + depth) of a block of channels of results.
  void pack(std::int64_t group, std::int64_t block, std::int64_t first, std::int64_t depth, float* to) {
    std::int64_t count = channels_of(block), size = std::int64_t{1} << layer_.log2_size;
    const std::byte* from = c.weights + ((group * c.rows + block * pixel_channels) * c.depth() + first) * size;
    if (!layer_.is_narrow) return loops_.pack(reinterpret_cast<const float*>(from), c.depth(), count, depth, to);
    for (std::int64_t r = 0; r < count; ++r)
      read_elements(k, from + r * c.depth() * size, c.x.dtype, size, depth,
                    reinterpret_cast<std::byte*>(wide_ + r * depth));
    loops_.pack(wide_, depth, count, depth, to);
  }

  // Finds out which lines a chunk reads, and where its pixels are.
  void move_to(std::int64_t chunk) {
    const ConvolutionAxis &deep = c.axes[0], &high = c.axes[1], &along = c.axes[2];
    std::int64_t in_image = chunk % p.in_image();
    image_ = chunk / p.in_image() * p.together, images_ = std::min(p.together, p.images - image_);
    line_ = in_image / p.in_line() * p.lines, lines_ = std::min(p.lines, high.out - line_);
    first_ = in_image % p.in_line() * p.across, across_ = std::min(p.across, along.out - first_);
    Reach y(high), x(along);
    row_ = (across_ - 1) * along.stride + x.far + 1;
    rows_ = p.apart ? lines_ * length(high.offsets) : (lines_ - 1) * high.stride + y.far + 1;
    plane_ = Plan::pitch(length(deep.offsets) * images_ * rows_ * row_);
    taps_.clear();
    for (std::int64_t z = 0; z < length(deep.offsets); ++z)
      for (std::int64_t q = 0; q < length(high.offsets); ++q)
        for (std::int64_t offset : along.offsets) {
          std::int64_t row = p.apart ? q : high.offsets[static_cast<std::size_t>(q)] - y.least;
          taps_.push_back((z * images_ * rows_ + row) * row_ + offset - x.least);
        }
  }

  // Where the pixels of a line begin.
  std::int64_t start(std::int64_t line) const {
    std::int64_t step = p.apart ? length(c.axes[1].offsets) : c.axes[1].stride;
    return (line / lines_ * rows_ + line % lines_ * step) * row_;
  }

  // The lines of the channels of some products.
  void read(std::int64_t group, std::int64_t first_product) {
    const ConvolutionAxis &deep = c.axes[0], &high = c.axes[1], &along = c.axes[2];
    std::int64_t least = Reach(high).least, taps = length(high.offsets);
    std::int64_t start = first_ * along.stride + Reach(along).least;
    std::int64_t before = std::clamp<std::int64_t>(-start, 0, row_);
    std::int64_t n = std::clamp<std::int64_t>(along.in - start, before, row_) - before;
    struct Line {
      std::int64_t at;
      bool is_there;
    };
    std::vector<Line> lines;
    for (std::int64_t from_z : deep.offsets)
      for (std::int64_t i = image_; i < image_ + images_; ++i)
        for (std::int64_t r = 0; r < rows_; ++r) {
          std::int64_t z = i % deep.out * deep.stride + from_z;
          std::int64_t y = p.apart ? (line_ + r / taps) * high.stride + high.offsets[static_cast<std::size_t>(r % taps)]
                                   : line_ * high.stride + least + r;
          lines.push_back(
              {i / deep.out * c.x.batch + z * c.x.axes[0] + y * c.x.axes[1] + (start + before) * c.x.axes[2],
               z >= 0 && z < deep.in && y >= 0 && y < high.in && n > 0});
        }
    std::int64_t first = first_product / c.taps(), channels = std::min(p.span / c.taps(), c.channels - first);
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      const std::byte* from = c.x.data + (group * c.channels + first + channel) * c.x.channel;
      float* to = planes_ + channel * plane_;
      for (const Line& line : lines) {
        if (line.is_there) read_line(from + line.at, n, before, to);
        else std::fill_n(to, row_, 0.0f);
        to += row_;
      }
    }
  }

  // Up to a vector behind is written.
  void read_line(const std::byte* from, std::int64_t n, std::int64_t before, float* to) {
    std::int64_t size = std::int64_t{1} << layer_.log2_size;
    if (c.x.axes[2] == size && size == 4) return columns_.line(from, n, before, row_, to);
    if (c.x.axes[2] == size && c.x.dtype == Dtype::bfloat16)
      return columns_.line_of_bfloat16(from, n, before, row_, to);
    std::fill_n(to, before, 0.0f);
    read_elements(k, from, c.x.dtype, c.x.axes[2], n, reinterpret_cast<std::byte*>(to + before));
    std::fill_n(to + before + n, row_ - before - n, 0.0f);
  }

  // All pixels of the chunk by a block of channels of results: the products from `first` on, of channels that were
  // read.
  void multiply(std::int64_t group, std::int64_t block, std::int64_t first, const float* planes, float* sums) {
    std::int64_t taps = c.taps(), depth = c.depth(), wide = width(block), there = std::min(p.deepest(), depth - first);
    const float* weights = weights_;
    if (packed_) weights = packed_ + (group * p.all_blocks + block) * p.block_size() + first * wide;
    else pack(group, block, first, there, weights_);
    bool is_last = first + there == depth;
    PixelTile tile{{}, c.axes[2].stride, taps_.data(), taps, plane_, there / taps, weights, sums, first > 0};
    each_tile([&](std::int64_t line, std::int64_t x, std::int64_t pixels, bool two) {
      std::int64_t half = (pixels + 1) / 2;
      tile.x[0] = planes + start(line) + x * tile.distance;
      tile.x[1] = two ? planes + start(line + 1) : tile.x[0] + half * tile.distance;
      loops_.tile[tile.distance != 1][wide / 16 - 1][pixels - 1](tile);
      // At once: while the next tile is multiplied, the stores find their way to the memory.
      std::int64_t each = two ? half : pixels;
      for (std::int64_t done = 0; is_last && done < pixels; done += each)
        store(group, block, line + done / each, x, each, tile.sums + done * wide);
      if (there < depth) tile.sums += pixels * wide;
    });
  }

  // body(line, x, pixels, whether they are of two lines) for each tile; these are about equally large.
  template <class F>
  void each_tile(F&& body) {
    std::int64_t all = images_ * lines_, in_line = parts_of(across_, most_pixels);
    if (2 * across_ <= most_pixels) {
      for (std::int64_t line = 0; line < all; line += 2)
        if (line + 1 < all) body(line, 0, 2 * across_, true);
        else body(line, 0, across_, false);
      return;
    }
    std::int64_t low = across_ / in_line, higher = across_ % in_line;
    for (std::int64_t line = 0; line < all; ++line)
      for (std::int64_t t = 0, x = 0; t < in_line; ++t) {
        std::int64_t pixels = low + (t < higher);
        body(line, x, pixels, false);
        x += pixels;
      }
  }

  void store(std::int64_t group, std::int64_t block, std::int64_t line, std::int64_t x, std::int64_t pixels,
             const float* sums) {
    const ConvolutionAxis &deep = c.axes[0], &high = c.axes[1], &along = c.axes[2];
    std::int64_t i = image_ + line / lines_, y = line_ + line % lines_, row = group * c.rows + block * pixel_channels;
    std::int64_t at = (i / deep.out * c.groups * c.rows + row) * c.out_plane();
    at += (deep.base + i % deep.out * deep.step) * high.full * along.full + (high.base + y * high.step) * along.full;
    at += along.base + (first_ + x) * along.step;
    std::int64_t channels = channels_of(block), wide = width(block);
    auto numbers = c.bias ? reinterpret_cast<const float*>(c.bias) + row : nullptr;
    if (!layer_.is_narrow)
      return loops_.store(sums, wide, pixels, channels, numbers, reinterpret_cast<float*>(c.out) + at, c.out_plane(),
                          along.step);
    loops_.store(sums, wide, pixels, channels, numbers, wide_, pixels, 1);
    std::int64_t size = std::int64_t{1} << layer_.log2_size;
    std::byte some[2 * most_pixels];
    for (std::int64_t r = 0; r < channels; ++r) {
      std::byte* to = c.out + (at + r * c.out_plane()) * size;
      auto n = static_cast<std::size_t>(pixels);
      k.narrow[static_cast<std::size_t>(layer_.narrow)](wide_ + r * pixels, along.step == 1 ? to : some, n);
      if (along.step != 1) k.scatter[layer_.log2_size](some, to, n, along.step * size);
    }
  }

  static float* take(OwnMemory& memory, std::int64_t count) {
    return reinterpret_cast<float*>(memory.take(std::max<std::int64_t>(count, 16) * 4));
  }

  const Plan& p;
  const Convolution& c;
  const float* packed_;
  const Kernels& k;
  const ConvolutionLoops& columns_;
  const PixelLoops& loops_;
  const Layer& layer_;
  OwnMemory memory_[4];
  std::vector<std::int64_t> taps_;
  std::int64_t image_ = 0, images_ = 0, line_ = 0, lines_ = 0, first_ = 0, across_ = 0;  // of results
  std::int64_t row_ = 0, rows_ = 0, plane_ = 0;                                          // of what is read
  float *planes_ = nullptr, *sums_ = nullptr, *wide_ = nullptr, *weights_ = nullptr;
};

// Calls body(i, begin, end) for parts of each of some counts, one behind the other; false if it is once.
template <class F>
bool share(const std::vector<std::int64_t>& counts, std::int64_t least, F&& body) {
  std::vector<std::int64_t> ends;
  for (std::int64_t n : counts) ends.push_back((ends.empty() ? 0 : ends.back()) + n);
  std::atomic<bool> failed{false};
  parallel_for(ends.back(), least, [&](std::int64_t begin, std::int64_t end) {
    try {
      for (std::size_t i = 0; i < ends.size(); ++i) {
        std::int64_t first = i ? ends[i - 1] : 0, from = std::max(begin, first), to = std::min(end, ends[i]);
        if (from < to && !body(i, from - first, to - first)) failed = true;
      }
    } catch (const std::bad_alloc&) {
      failed = true;
    }
  });
  return !failed;
}

// Weights of a transposed convolution, (channels, rows, taps), for each of the convolutions that have some of its taps.
bool pack_transposed(const std::vector<Plan>& plans, const TransposedWeights& whole,
                     const std::vector<float*>& packed) {
  const Convolution& c = plans[0].c;
  std::int64_t blocks = plans[0].all_blocks, taps = whole.taps;
  const Layer& layer = layer_of(c.x.dtype);
  std::int64_t size = std::int64_t{1} << layer.log2_size, most = taps * pixel_channels;
  return share(
      {c.groups * blocks * c.channels}, std::max<std::int64_t>(1, grain / most),
      [&](std::size_t, std::int64_t begin, std::int64_t end) {
        OwnMemory memory[2];
        auto* wide = reinterpret_cast<float*>(memory[0].take(most * 4));
        auto* turned = reinterpret_cast<float*>(memory[1].take(most * 4));
        if (!wide || !turned) return false;
        for (std::int64_t i = begin; i < end; ++i) {
          std::int64_t channel = i % c.channels, block = i / c.channels % blocks, group = i / c.channels / blocks;
          std::int64_t row = block * pixel_channels, count = std::min<std::int64_t>(pixel_channels, c.rows - row);
          const std::byte* from = whole.data + (((group * c.channels + channel) * c.rows + row) * taps) * size;
          if (layer.is_narrow)
            kernels().widen[static_cast<std::size_t>(layer.narrow)](from, wide, static_cast<std::size_t>(count * taps));
          convolution_kernels().pixels.pack(layer.is_narrow ? wide : reinterpret_cast<const float*>(from), taps, count,
                                            taps, turned);
          std::int64_t width = round_up(count, 16);
          for (std::size_t p = 0; p < plans.size(); ++p) {
            const std::vector<std::int64_t>& chosen = whole.chosen[p];
            float* to = packed[p] + (group * blocks + block) * plans[p].block_size() + channel * length(chosen) * width;
            for (std::int64_t t : chosen) {
              std::copy_n(turned + t * width, width, to);
              to += width;
            }
          }
        }
        return true;
      });
}

}  // namespace

bool suits_pixels(const Convolution& c) noexcept {
  if (!convolution_kernels().pixels.pack || c.x.dtype == Dtype::float64 || c.taps() > 256 || c.taps() == 0)
    return false;
  // Half a vector of channels is still better than lines, where these have the same sums.
  bool has_few = is_direct(c) && c.rows >= 6 && c.depth() <= depth_of_block(c.taps());
  if (c.depth() < 16 || (c.rows < 12 && !has_few)) return false;
  if (c.taps() == 1 && c.axes[2].step == 1) return false;
  if (c.axes[2].step > std::numeric_limits<std::int32_t>::max() / 16) return false;  // a vector of positions
  // One line of few pixels is to fit.
  auto row =
      static_cast<double>((std::min(fewest_pixels, c.axes[2].out) - 1) * c.axes[2].stride + Reach(c.axes[2]).far);
  std::int64_t channels = std::min(depth_of_block(c.taps()) / c.taps(), c.channels);
  return (row + 1) * static_cast<double>(c.lines_of_taps() * channels) <= 2.0 * most_planes;
}

bool run_pixels(const std::vector<Convolution>& all, const TransposedWeights* transposed) {
  std::vector<Plan> plans(all.begin(), all.end());
  std::vector<std::int64_t> units, blocks;
  std::vector<float*> packed;
  std::int64_t size = 0;
  double work = 0;
  for (Plan& p : plans) {
    const Convolution& c = p.c;
    units.push_back(p.units());
    p.packs_before = p.packs_before || transposed;
    blocks.push_back(p.packs_before ? c.groups * p.all_blocks * parts_of(c.depth(), depth_of_block(c.taps())) : 0);
    size += p.packs_before ? c.groups * p.all_blocks * p.block_size() : 0;
    work += static_cast<double>(c.lines() * c.axes[2].out * c.groups * c.rows) * static_cast<double>(c.depth());
  }
  Scratch memory;
  auto* place = reinterpret_cast<float*>(memory.take(Dtype::float32, size + 512));
  if (!place) return false;
  for (const Plan& p : plans) {
    packed.push_back(p.packs_before ? place : nullptr);
    if (p.packs_before) place += p.c.groups * p.all_blocks * p.block_size();
  }
  auto fill = [&](std::size_t i, std::int64_t begin, std::int64_t end) {
    return Worker(plans[i], nullptr).pack(begin, end, packed[i]);
  };
  if (transposed ? !pack_transposed(plans, *transposed, packed) : size > 0 && !share(blocks, 4, fill)) return false;
  double each = work / static_cast<double>(std::accumulate(units.begin(), units.end(), std::int64_t{0}));
  auto least = static_cast<std::int64_t>(std::max(1.0, (1 << 18) / std::max(each, 1.0)));
  return share(units, least, [&](std::size_t i, std::int64_t begin, std::int64_t end) {
    return Worker(plans[i], packed[i]).run(begin, end);
  });
}

}  // namespace suanzi
