// native/ops/nn/convolutions_weights.cpp: nn 5: the gradients of the weights of convolutions.
//
// Each is a product of the results' gradients and of the columns that the results were made from, summed over all
// positions of all images: in blocks of about 256 positions, sixteen of which are added up before they are added to the
// sum of a chunk, and chunks one after the other. Blocks and chunks follow from the shapes alone; threads share chunks
// and parts of the weights.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "core/threads.h"
#include "ops/nn/convolutions_unit.h"

namespace suanzi {
namespace {

// How positions and weights are divided.
struct Division {
  std::int64_t lines, across, in_line, blocks, chunks, rows, depth;

  Division(const Convolution& c, std::int64_t size) {
    std::int64_t most = 1024 / size, wide = c.axes[2].out;
    across = wide > most ? parts_of(wide, parts_of(wide, most)) : wide;
    lines = std::min(std::max<std::int64_t>(1, most / across), c.lines());
    in_line = parts_of(wide, across);
    blocks = parts_of(c.lines(), lines) * in_line;
    constexpr std::int64_t most_bytes = std::int64_t{64} << 20;
    std::int64_t bytes = c.groups * c.rows * c.depth() * size;
    chunks = std::clamp<std::int64_t>(blocks / 16, 1, std::clamp<std::int64_t>(most_bytes / bytes, 1, 8));
    rows = std::min(c.rows, most);
    depth = std::min(c.depth(), most);
  }
  std::int64_t row_parts(const Convolution& c) const { return parts_of(c.rows, rows); }
  std::int64_t depth_parts(const Convolution& c) const { return parts_of(c.depth(), depth); }
  std::int64_t jobs(const Convolution& c) const { return c.groups * row_parts(c) * depth_parts(c); }
};

template <class T>
class Worker {
 public:
  Worker(const Convolution& convolution, const ConvolutionInput& gradient, const Division& division,
         const ConvolutionLoops& loops, T* totals)
      : c(convolution), g(gradient), d(division), loops_(loops), k(kernels()), panel_(loops.vectors * loops.lanes),
        columns_(c, loops, d.lines * d.across, false), totals_(totals) {}

  // Some jobs of one chunk.
  bool run(std::int64_t chunk, std::int64_t first_job, std::int64_t last_job) {
    std::int64_t width = parts_of(d.depth, loops_.lanes) * loops_.lanes, positions = d.lines * d.across;
    std::int64_t each = d.rows * width, channels = std::min(c.channels, d.depth / c.taps() + 2);
    OwnMemory sums, columns, right, left, planes;
    sums_ = take(sums, (last_job - first_job) * each);
    packed_ = take(columns, width * positions + loops_.lanes);
    b_ = take(right, width * positions);
    a_ = take(left, loops_.rows * (positions + 2 * loops_.lanes));
    if (!sums_ || !packed_ || !b_ || !a_) return false;
    constexpr std::int64_t together = 16;
    std::int64_t begin = d.blocks * chunk / d.chunks, end = d.blocks * (chunk + 1) / d.chunks;
    for (std::int64_t block = begin; block < end; ++block) {
      std::int64_t line = block / d.in_line * d.lines, first = block % d.in_line * d.across;
      columns_.move_to(line, std::min(d.lines, c.lines() - line), first, std::min(d.across, c.axes[2].out - first));
      choose_runs();
      planes_ = take(planes, columns_.room(channels));
      if (!planes_) return false;
      bool begins = (block - begin) % together == 0, ends = block + 1 == end || (block + 1 - begin) % together == 0;
      for (std::int64_t job = first_job; job < last_job; ++job) {
        T* its = sums_ + (job - first_job) * each;
        add_block(job, its, width, !begins);
        if (ends) add_to_total(job, its, width, chunk, block - begin < together);
      }
    }
    return true;
  }

 private:
  struct Part {
    std::int64_t group, row, rows, first, depth;
  };
  Part part_of(std::int64_t job) const {
    std::int64_t down = d.row_parts(c), across = d.depth_parts(c);
    std::int64_t row = job / across % down * d.rows, first = job % across * d.depth;
    return {job / across / down, row, std::min(d.rows, c.rows - row), first, std::min(d.depth, c.depth() - first)};
  }

  // Parts of the gradient's lines that lie side by side there.
  void choose_runs() {
    runs_.clear();
    auto size = static_cast<std::int64_t>(facts(g.dtype).itemsize);
    std::int64_t across = columns_.across();
    for (std::int64_t i = 0; i < columns_.lines(); ++i) {
      auto place = columns_.place(columns_.first_line() + i);
      std::int64_t z = place.line / c.axes[1].out, y = place.line % c.axes[1].out;
      std::int64_t at = place.image * g.batch + z * g.axes[0] + y * g.axes[1] + place.column * g.axes[2];
      bool goes_on = !runs_.empty() && g.axes[2] == size && runs_.back().at + runs_.back().length * size == at;
      if (goes_on) runs_.back().length += across;
      else runs_.push_back({i * across, across, at});
    }
  }

  void add_block(std::int64_t job, T* sums, std::int64_t width, bool adds) {
    Part p = part_of(job);
    std::int64_t count = columns_.count(), taps = c.taps(), channel = p.first / taps, lanes = loops_.lanes;
    std::int64_t channels = (p.first + p.depth - 1) / taps - channel + 1, wide = parts_of(p.depth, lanes) * lanes;
    columns_.read(p.group * c.channels + channel, channels, planes_);
    columns_.pack(planes_, p.group * c.channels + channel, 0, p.first - channel * taps, p.depth, count, packed_);
    std::fill_n(packed_ + p.depth * count, (wide - p.depth) * count, T{0});
    constexpr std::size_t log2_size = sizeof(T) == 4 ? 2 : 3;
    for (std::int64_t j = 0; j < wide; j += panel_)
      k.transpose[log2_size](packed_ + j * count, b_ + j * count, static_cast<std::size_t>(std::min(panel_, wide - j)),
                             static_cast<std::size_t>(count));
    std::int64_t stride = parts_of(count, lanes) * lanes + lanes;
    std::int64_t tiles = parts_of(p.rows, loops_.rows), low = p.rows / tiles, higher = p.rows % tiles;
    for (std::int64_t t = 0, i = 0; t < tiles; ++t) {
      std::int64_t high = low + (t < higher);
      for (std::int64_t r = 0; r < high; ++r) {
        const std::byte* plane = g.data + (p.group * c.rows + p.row + i + r) * g.channel;
        for (const auto& run : runs_)
          read_elements(k, plane + run.at, g.dtype, g.axes[2], run.length,
                        reinterpret_cast<std::byte*>(a_ + r * stride + run.column));
      }
      for (std::int64_t j = 0; j < wide; j += panel_)
        loops_.tile[std::min(panel_, wide - j) / lanes - 1][high - 1](a_, stride, b_ + j * count, sums + i * width + j,
                                                                      width, count, adds);
      i += high;
    }
  }

  void add_to_total(std::int64_t job, const T* sums, std::int64_t width, std::int64_t chunk, bool is_first) {
    Part p = part_of(job);
    for (std::int64_t r = 0; r < p.rows; ++r) {
      T* to = totals_ + ((chunk * c.groups + p.group) * c.rows + p.row + r) * c.depth() + p.first;
      if (is_first) std::memcpy(to, sums + r * width, static_cast<std::size_t>(p.depth) * sizeof(T));
      else loops_.add(sums + r * width, to, 1, p.depth);
    }
  }

  static T* take(OwnMemory& memory, std::int64_t count) {
    std::int64_t bytes;
    if (__builtin_mul_overflow(count, static_cast<std::int64_t>(sizeof(T)), &bytes)) return nullptr;
    return reinterpret_cast<T*>(memory.take(std::max<std::int64_t>(bytes, 64)));
  }

  const Convolution& c;
  const ConvolutionInput& g;
  const Division& d;
  const ConvolutionLoops& loops_;
  const Kernels& k;
  std::int64_t panel_;
  Columns<T> columns_;
  std::vector<typename Columns<T>::Run> runs_;
  T *totals_, *sums_ = nullptr, *packed_ = nullptr, *b_ = nullptr, *a_ = nullptr, *planes_ = nullptr;
};

// Adds the chunks to the first one, and rounds.
template <class T>
void finish(const Convolution& c, const Division& d, const ConvolutionLoops& loops, T* totals) {
  const Kernels& k = kernels();
  const Layer& layer = layer_of(c.x.dtype);
  std::int64_t count = c.groups * c.rows * c.depth();
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t chunk = 1; chunk < d.chunks; ++chunk)
      loops.add(totals + chunk * count + begin, totals + begin, 1, end - begin);
    std::byte* to = c.out + (begin << layer.log2_size);
    auto n = static_cast<std::size_t>(end - begin);
    if (layer.is_narrow) k.narrow[static_cast<std::size_t>(layer.narrow)](totals + begin, to, n);
    else std::memcpy(to, totals + begin, n * sizeof(T));
  });
}

template <class T>
bool run(const Convolution& c, const ConvolutionInput& gradient) noexcept {
  const ConvolutionLoops& loops = convolution_kernels().of[sizeof(T) == 8];
  Division d(c, sizeof(T));
  std::int64_t jobs = d.jobs(c), count = c.groups * c.rows * c.depth();
  Scratch memory;
  auto* totals = reinterpret_cast<T*>(memory.take(sizeof(T) == 4 ? Dtype::float32 : Dtype::float64, d.chunks * count));
  if (!totals) return false;
  // Jobs that one thread takes block by block, as many as keep their sums in the second-level cache.
  std::int64_t fitting = std::max<std::int64_t>(1, (1 << 16) / std::max<std::int64_t>(1, d.rows * (d.depth + 16)));
  std::int64_t sets = std::max(parts_of(jobs, fitting), std::min<std::int64_t>(jobs, 2 * thread_count()));
  if (thread_count() == 1) sets = parts_of(jobs, fitting);
  std::atomic<bool> failed{false};
  parallel_for(d.chunks * sets, 1, [&](std::int64_t begin, std::int64_t end) {
    try {
      for (std::int64_t unit = begin; unit < end; ++unit) {
        std::int64_t set = unit % sets;
        Worker<T> worker(c, gradient, d, loops, totals);
        if (!worker.run(unit / sets, jobs * set / sets, jobs * (set + 1) / sets)) failed = true;
      }
    } catch (const std::bad_alloc&) {
      failed = true;
    }
  });
  if (!failed) finish<T>(c, d, loops, totals);
  return !failed;
}

}  // namespace

bool run_weight_gradient(const Convolution& c, const ConvolutionInput& gradient) noexcept {
  std::int64_t count = c.groups * c.rows * c.depth();
  if (count == 0) return true;
  if (c.lines() * c.axes[2].out == 0) {  // the sum of nothing
    std::memset(c.out, 0, static_cast<std::size_t>(count) * facts(c.x.dtype).itemsize);
    return true;
  }
  if (c.x.dtype == Dtype::float64) return run<double>(c, gradient);
  try {
    const ProductKernels& products = *kernels().products;
    if (c.x.dtype == Dtype::bfloat16 && products.multiply_steps && suits_unit(c) &&
        gradient_suits_unit(c, gradient, products)) {
      Made made = run_weight_gradient_by_unit(c, gradient);
      if (made != Made::with_nan) return made == Made::whole;
    }
  } catch (const std::bad_alloc&) {
    return false;
  }
  return run<float>(c, gradient);
}

}  // namespace suanzi
