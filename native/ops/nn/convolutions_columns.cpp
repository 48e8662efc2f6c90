// native/ops/nn/convolutions_columns.cpp: nn 5: the columns that a convolution multiplies, block by block.
#include <algorithm>
#include <cstring>

#include "ops/nn/convolutions.h"

namespace suanzi {

void read_elements(const Kernels& k, const std::byte* from, Dtype dtype, std::int64_t stride, std::int64_t n,
                   std::byte* to) noexcept {
  const Layer& layer = layer_of(dtype);
  std::int64_t size = std::int64_t{1} << layer.log2_size;
  auto count = static_cast<std::size_t>(n);
  if (!layer.is_narrow) {
    if (stride == size) std::memcpy(to, from, count * static_cast<std::size_t>(size));
    else k.gather[layer.log2_size](from, to, count, stride);
    return;
  }
  Convert widen = k.widen[static_cast<std::size_t>(layer.narrow)];
  if (stride == size) return widen(from, to, count);
  constexpr std::int64_t most = 1024;
  alignas(64) std::byte some[most * 2];
  for (std::int64_t i = 0; i < n; i += most) {
    auto there = static_cast<std::size_t>(std::min(most, n - i));
    k.gather[layer.log2_size](from + i * stride, some, there, stride);
    widen(some, to + i * 4, there);
  }
}

template <class T>
Columns<T>::Columns(const Convolution& convolution, const ConvolutionLoops& loops, std::int64_t panel, bool may_stay)
    : c_(convolution), loops_(loops), k_(kernels()), panel_(panel) {
  // A single tap that is always within the input needs no padding.
  stays_ = may_stay && c_.taps() == 1 && !layer_of(c_.x.dtype).is_narrow && c_.axes[2].stride == 1 &&
           c_.x.axes[2] == static_cast<std::int64_t>(sizeof(T));
  for (const ConvolutionAxis& a : c_.axes)
    stays_ = stays_ && a.offsets[0] >= 0 && (a.out - 1) * a.stride + a.offsets[0] < a.in;
  auto whole = [](std::int64_t bytes) { return bytes % static_cast<std::int64_t>(sizeof(T)) == 0; };
  stays_ = stays_ && whole(c_.x.batch) && whole(c_.x.channel) && whole(c_.x.axes[0]) && whole(c_.x.axes[1]);
}

template <class T>
void Columns<T>::move_to(std::int64_t line, std::int64_t lines, std::int64_t first, std::int64_t across) {
  if (line == line_ && first == first_) return;
  line_ = line, lines_ = lines, first_ = first, across_ = across, count_ = lines * across;
  choose_shifts();
  choose_lines();
  choose_pieces();
  choose_runs();
}

template <class T>
auto Columns<T>::place(std::int64_t line) const -> Place {
  std::int64_t each = c_.axes[0].out * c_.axes[1].out;
  return {line / each, line % each, first_};
}

// The parts of a line that are copied: one for each remainder by the stride that a tap has, or for each tap where these
// are fewer elements.
template <class T>
void Columns<T>::choose_shifts() {
  const ConvolutionAxis& a = c_.axes[2];
  auto taps = static_cast<std::int64_t>(a.offsets.size());
  shifts_.assign(a.offsets.size(), 0);
  phases_.clear();
  if (stays_) {
    row_ = 0;
    shifts_[0] = a.offsets[0];
    return;
  }
  std::int64_t least = taps ? *std::min_element(a.offsets.begin(), a.offsets.end()) : 0, furthest = 0;
  std::vector<std::int64_t> remainders;
  for (std::int64_t offset : a.offsets) {
    furthest = std::max(furthest, (offset - least) / a.stride);
    std::int64_t remainder = (offset - least) % a.stride;
    if (std::find(remainders.begin(), remainders.end(), remainder) == remainders.end()) remainders.push_back(remainder);
  }
  bool apart = static_cast<std::int64_t>(remainders.size()) * (across_ + furthest) > taps * across_;
  width_ = apart ? across_ : across_ + furthest;
  for (std::size_t t = 0; t < a.offsets.size(); ++t) {
    std::int64_t far = a.offsets[t] - least;
    auto at = std::find(remainders.begin(), remainders.end(), far % a.stride) - remainders.begin();
    shifts_[t] = apart ? static_cast<std::int64_t>(t) * width_ : at * width_ + far / a.stride;
  }
  std::size_t count = apart ? a.offsets.size() : remainders.size();
  auto elements_before = [&](std::int64_t start, std::int64_t end) {  // of start, start + stride, ...
    std::int64_t n = end <= start ? 0 : (end - start + a.stride - 1) / a.stride;
    return std::min(n, width_);
  };
  for (std::size_t p = 0; p < count; ++p) {
    std::int64_t start = first_ * a.stride + (apart ? a.offsets[p] : least + remainders[p]);
    phases_.push_back({start, elements_before(start, 0), elements_before(start, a.in)});
  }
  row_ = static_cast<std::int64_t>(count) * width_;
}

// Which lines of the input there are, each once, and one of zeros for those that are not.
template <class T>
void Columns<T>::choose_lines() {
  const ConvolutionAxis &deep = c_.axes[0], &high = c_.axes[1];
  keys_.clear();
  std::vector<std::int64_t> wanted;
  for (std::int64_t i = 0; i < lines_; ++i) {
    std::int64_t line = line_ + i, y = line % high.out, z = line / high.out % deep.out, n = line / high.out / deep.out;
    for (std::int64_t from_z : deep.offsets)
      for (std::int64_t from_y : high.offsets) {
        std::int64_t iz = z * deep.stride + from_z, iy = y * high.stride + from_y;
        bool there = iz >= 0 && iz < deep.in && iy >= 0 && iy < high.in;
        wanted.push_back(there ? (n * deep.in + iz) * high.in + iy : -1);
      }
  }
  keys_ = wanted;
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  sources_.clear();
  for (std::int64_t key : keys_) {
    std::int64_t y = key % high.in, z = key / high.in % deep.in, n = key / high.in / deep.in;
    sources_.push_back(n * c_.x.batch + z * c_.x.axes[0] + y * c_.x.axes[1]);
  }
  has_padding_ = !keys_.empty() && keys_[0] < 0;
  slots_.clear();
  for (std::int64_t key : wanted) slots_.push_back(std::lower_bound(keys_.begin(), keys_.end(), key) - keys_.begin());
  plane_ = static_cast<std::int64_t>(keys_.size()) * row_;
}

template <class T>
void Columns<T>::choose_pieces() {
  pieces_.clear(), starts_.clear(), first_pieces_.clear(), first_starts_.clear();
  std::int64_t taps = c_.lines_of_taps();
  for (std::int64_t begin = 0; begin < count_; begin += panel_) {
    std::int64_t end = std::min(begin + panel_, count_), pieces = 0;
    first_pieces_.push_back(static_cast<std::int64_t>(pieces_.size()));
    first_starts_.push_back(static_cast<std::int64_t>(starts_.size()));
    for (std::int64_t at = begin; at < end; ++pieces) {
      std::int64_t there = std::min({end - at, across_ - at % across_, std::int64_t{loops_.lanes}});
      pieces_.push_back({at - begin, there});
      at += there;
    }
    for (std::int64_t q = 0; q < taps; ++q)
      for (std::int64_t i = 0; i < pieces; ++i) {
        std::int64_t column = begin + pieces_[static_cast<std::size_t>(first_pieces_.back() + i)].to;
        auto slot = static_cast<std::size_t>(slots_[static_cast<std::size_t>(column / across_ * taps + q)]);
        std::int64_t x = column % across_;
        starts_.push_back(stays_ ? sources_[slot] / static_cast<std::int64_t>(sizeof(T)) + first_ + x
                                 : static_cast<std::int64_t>(slot) * row_ + x);
      }
  }
  first_pieces_.push_back(static_cast<std::int64_t>(pieces_.size()));
}

template <class T>
void Columns<T>::choose_runs() {
  runs_.clear();
  const ConvolutionAxis &deep = c_.axes[0], &high = c_.axes[1], &wide = c_.axes[2];
  for (std::int64_t i = 0; i < lines_; ++i) {
    std::int64_t line = line_ + i, y = line % high.out, z = line / high.out % deep.out, n = line / high.out / deep.out;
    std::int64_t at = n * c_.groups * c_.rows * c_.out_plane();
    at += ((deep.base + z * deep.step) * high.full + high.base + y * high.step) * wide.full;
    at += wide.base + first_ * wide.step;
    if (!runs_.empty() && wide.step == 1 && runs_.back().at + runs_.back().length == at) runs_.back().length += across_;
    else runs_.push_back({i * across_, across_, at});
  }
}

template <class T>
void Columns<T>::read_line(const std::byte* from, const Phase& phase, std::int64_t step, T* to) const noexcept {
  std::int64_t n = std::max<std::int64_t>(0, phase.to - phase.from);
  auto size = static_cast<std::int64_t>(facts(c_.x.dtype).itemsize);
  if (step == size && size == sizeof(T)) return loops_.line(from, n, phase.from, width_, to);
  if (step == size && c_.x.dtype == Dtype::bfloat16) return loops_.line_of_bfloat16(from, n, phase.from, width_, to);
  std::fill_n(to, phase.from, T{0});
  if (n > 0) read_elements(k_, from, c_.x.dtype, step, n, reinterpret_cast<std::byte*>(to + phase.from));
  std::fill_n(to + phase.from + n, width_ - phase.from - n, T{0});
}

template <class T>
void Columns<T>::read(std::int64_t channel, std::int64_t channels, T* planes) const noexcept {
  if (stays_) return;
  std::int64_t step = c_.axes[2].stride * c_.x.axes[2];
  for (std::int64_t i = 0; i < channels; ++i) {
    const std::byte* plane = c_.x.data + (channel + i) * c_.x.channel;
    T* to = planes + i * plane_;
    std::size_t slot = 0;
    if (has_padding_) {
      std::fill_n(to, row_, T{0});
      to += row_, ++slot;
    }
    for (; slot < keys_.size(); ++slot)
      for (const Phase& phase : phases_) {
        read_line(plane + sources_[slot] + phase.start * c_.x.axes[2] + phase.from * step, phase, step, to);
        to += width_;
      }
  }
  std::fill_n(planes + channels * plane_, loops_.lanes, T{0});
}

template <class T>
Windows Columns<T>::windows(std::int64_t panel) const noexcept {
  auto at = static_cast<std::size_t>(panel);
  std::int64_t plane = stays_ ? c_.x.channel / static_cast<std::int64_t>(sizeof(T)) : plane_;
  return {pieces_.data() + first_pieces_[at],
          first_pieces_[at + 1] - first_pieces_[at],
          starts_.data() + first_starts_[at],
          c_.lines_of_taps(),
          shifts_.data(),
          static_cast<std::int64_t>(shifts_.size()),
          plane};
}

template <class T>
void Columns<T>::pack(const T* planes, std::int64_t channel, std::int64_t panel, std::int64_t first, std::int64_t depth,
                      std::int64_t width, T* out) const noexcept {
  const void* from = stays_ ? static_cast<const void*>(c_.x.data + channel * c_.x.channel) : planes;
  loops_.pack(from, windows(panel), first, depth, width, stays_, out);
}

template <class T>
void Columns<T>::direct(const T* planes, const T* weights, T* out) const noexcept {
  loops_.direct(planes, windows(0), c_.channels, weights, out);
}

template class Columns<float>;
template class Columns<double>;

}  // namespace suanzi
