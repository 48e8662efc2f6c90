// native/ops/nn/convolutions_depthwise.cpp: nn 5: convolutions of one channel each, from lines of the input itself.
//
// Threads share planes of results, or parts of them. Lines of the input are read where they are; only those of narrow
// numbers, and those that are not dense, are copied, without padding. An element is summed in the order of taps.
#include <algorithm>
#include <atomic>
#include <new>

#include "core/threads.h"
#include "ops/nn/convolutions_unit.h"
#include "ops/nn/convolutions_ways.h"

namespace suanzi {
namespace {

std::int64_t taps_of(const ConvolutionAxis& a) { return static_cast<std::int64_t>(a.offsets.size()); }
std::int64_t reach_of(const ConvolutionAxis& a) { return a.offsets.back() - a.offsets[0]; }

// The distance of taps, which increase; 0 if they are not all as far apart.
std::int64_t dilation_of(const ConvolutionAxis& a) {
  std::int64_t found = a.offsets.size() > 1 ? a.offsets[1] - a.offsets[0] : 1;
  for (std::size_t t = 1; t < a.offsets.size(); ++t)
    if (a.offsets[t] - a.offsets[t - 1] != found) return 0;
  return std::max<std::int64_t>(found, 0);
}

// The planes of one thread, in parts of at most so many lines.
class Worker {
 public:
  Worker(const Convolution& convolution, std::int64_t lines)
      : c(convolution), k(kernels()), layer_(layer_of(c.x.dtype)), most_(lines), pitch_(round_up(c.axes[2].in, 16)) {
    auto whole = [](std::int64_t bytes) { return bytes % 4 == 0; };
    stays_ = c.x.dtype == Dtype::float32 && c.x.axes[2] == 4 && whole(c.x.axes[1]) && whole(c.x.channel) &&
             whole(c.x.batch) && reinterpret_cast<std::uintptr_t>(c.x.data) % 4 == 0;
  }

  bool run(std::int64_t begin, std::int64_t end) {
    std::int64_t high = c.axes[1].out, parts = parts_of(high, most_), rows = rows_of(most_);
    zeros_ = take(0, c.axes[2].in), weights_ = take(1, c.taps());
    copied_ = take(2, stays_ ? 0 : rows * pitch_), out_ = take(3, layer_.is_narrow ? most_ * c.axes[2].out : 0);
    if (!zeros_ || !weights_ || !copied_ || !out_) return false;
    std::fill_n(zeros_, c.axes[2].in, 0.0f);
    rows_.resize(static_cast<std::size_t>(rows));
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t plane = i / parts, line = i % parts * most_, lines = std::min(most_, high - line);
      find_rows(plane / c.groups, plane % c.groups, line, lines);
      for (std::int64_t r = 0; r < c.rows; ++r) compute(plane / c.groups, plane % c.groups * c.rows + r, line, lines);
    }
    return true;
  }

 private:
  float* take(int which, std::int64_t count) {
    return reinterpret_cast<float*>(memory_[which].take(std::max<std::int64_t>(count, 16) * 4));
  }
  std::int64_t rows_of(std::int64_t lines) const { return (lines - 1) * c.axes[1].stride + reach_of(c.axes[1]) + 1; }

  // The rows of the input that some lines read, and zeros for those that do not exist.
  void find_rows(std::int64_t image, std::int64_t channel, std::int64_t line, std::int64_t lines) {
    const std::byte* x = c.x.data + image * c.x.batch + channel * c.x.channel;
    std::int64_t first = line * c.axes[1].stride + c.axes[1].offsets[0];
    for (std::int64_t r = 0, n = rows_of(lines); r < n; ++r) {
      const float*& row = rows_[static_cast<std::size_t>(r)];
      row = zeros_;
      if (first + r < 0 || first + r >= c.axes[1].in) continue;
      const std::byte* from = x + (first + r) * c.x.axes[1];
      row = stays_ ? reinterpret_cast<const float*>(from) : copied_ + r * pitch_;
      if (!stays_)
        read_elements(k, from, c.x.dtype, c.x.axes[2], c.axes[2].in,
                      reinterpret_cast<std::byte*>(copied_ + r * pitch_));
    }
  }

  void compute(std::int64_t image, std::int64_t row, std::int64_t line, std::int64_t lines) {
    const ConvolutionAxis &high = c.axes[1], &wide = c.axes[2];
    std::int64_t size = std::int64_t{1} << layer_.log2_size, taps = c.taps();
    read_elements(k, c.weights + row * taps * size, c.x.dtype, size, taps, reinterpret_cast<std::byte*>(weights_));
    std::byte* to = c.out + ((image * c.groups * c.rows + row) * c.out_plane() + line * wide.out) * size;
    DepthwiseLines t{};
    t.rows = rows_.data(), t.down = high.stride, t.apart = dilation_of(high), t.high = taps_of(high);
    t.stride = wide.stride, t.along = dilation_of(wide), t.wide = taps_of(wide);
    t.first = wide.offsets[0], t.in = wide.in;
    t.weights = weights_, t.number = c.bias ? reinterpret_cast<const float*>(c.bias) + row : nullptr;
    t.out = layer_.is_narrow ? out_ : reinterpret_cast<float*>(to), t.lines = lines, t.width = wide.out;
    convolution_kernels().depthwise(t);
    if (layer_.is_narrow)
      k.narrow[static_cast<std::size_t>(layer_.narrow)](out_, to, static_cast<std::size_t>(lines * wide.out));
  }

  const Convolution& c;
  const Kernels& k;
  const Layer& layer_;
  std::int64_t most_, pitch_;
  bool stays_;
  OwnMemory memory_[4];
  std::vector<const float*> rows_;
  float *zeros_ = nullptr, *weights_ = nullptr, *copied_ = nullptr, *out_ = nullptr;
};

}  // namespace

bool suits_depthwise(const Convolution& c) noexcept {
  if (!convolution_kernels().depthwise || c.x.dtype == Dtype::float64 || c.channels != 1 || c.rows > 8) return false;
  // A transposed one of a single depth may have results of several.
  bool is_flat = c.axes[0].in == 1 && c.axes[0].full == 1 && c.axes[0].offsets.size() == 1 && c.axes[0].offsets[0] == 0;
  if (!is_flat || c.taps() == 0 || c.taps() > 1024 || c.axes[2].stride > 2) return false;
  return std::all_of(c.axes + 1, c.axes + 3, [](const ConvolutionAxis& a) {
    bool is_plain = a.step == 1 && a.base == 0 && a.full == a.out;
    return is_plain && dilation_of(a) > 0 && a.in > 0 && a.in <= 1 << 16 && reach_of(a) <= 1024;
  });
}

bool run_depthwise(const Convolution& c) {
  std::int64_t planes = c.batch * c.groups, high = c.axes[1].out, wanted = 2 * thread_count();
  std::int64_t line = std::max<std::int64_t>(1, c.axes[2].in * c.axes[1].stride);
  std::int64_t most = std::clamp<std::int64_t>((1 << 15) / line, 1, high);
  if (thread_count() > 1 && planes < wanted) most = std::min(most, round_up(parts_of(high * planes, wanted), 8));
  most = parts_of(high, parts_of(high, most));
  double work = static_cast<double>(most * c.axes[2].out * c.rows) * static_cast<double>(c.taps() + 16);
  auto least = static_cast<std::int64_t>(std::max(1.0, (1 << 18) / work));
  std::atomic<bool> failed{false};
  parallel_for(planes * parts_of(high, most), least, [&](std::int64_t begin, std::int64_t end) {
    try {
      if (!Worker(c, most).run(begin, end)) failed = true;
    } catch (const std::bad_alloc&) {
      failed = true;
    }
  });
  return !failed;
}

}  // namespace suanzi
