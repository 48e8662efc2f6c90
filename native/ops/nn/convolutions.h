// native/ops/nn/convolutions.h: nn 5: what a convolution is, and blocks of its columns.
#pragma once

#include <vector>

#include "core/own_memory.h"
#include "kernels/kernels.h"
#include "kernels/linear_algebra/products.h"
#include "kernels/nn/convolutions.h"
#include "kernels/vectors/lanes.h"

namespace suanzi {

const ConvolutionKernels& convolution_kernels() noexcept;

// One axis: result j reads the input at j * stride + offset for each offset, and lies at base + j * step of the output.
struct ConvolutionAxis {
  std::int64_t in = 1, out = 1, stride = 1;
  std::vector<std::int64_t> offsets{0};
  std::int64_t full = 1, base = 0, step = 1;  // of the output
};

// A tensor of (batch, channels, three axes), whatever its layout is; strides are in bytes.
struct ConvolutionInput {
  const std::byte* data = nullptr;
  Dtype dtype = Dtype::float32;
  std::int64_t batch = 0, channel = 0, axes[3] = {};
};

struct Convolution {
  std::int64_t batch = 1, groups = 1, channels = 0, rows = 0;  // channels and rows of results: of a group
  ConvolutionAxis axes[3];                                     // depth, height, width
  ConvolutionInput x;
  const std::byte* weights = nullptr;  // of the dtype of x: (groups, rows, channels, taps), dense
  const std::byte* bias = nullptr;     // of what is summed: (groups, rows), dense
  std::byte* out = nullptr;            // of the dtype of x, dense

  std::int64_t lines_of_taps() const {
    return static_cast<std::int64_t>(axes[0].offsets.size() * axes[1].offsets.size());
  }
  std::int64_t taps() const { return lines_of_taps() * static_cast<std::int64_t>(axes[2].offsets.size()); }
  std::int64_t depth() const { return channels * taps(); }
  std::int64_t lines() const { return batch * axes[0].out * axes[1].out; }  // of results
  std::int64_t out_plane() const { return axes[0].full * axes[1].full * axes[2].full; }
};

// Computes some convolutions of one input, each of other elements of one output; false when there was no memory. It
// needs no GIL.
bool run_convolutions(const std::vector<Convolution>& convolutions) noexcept;
// The gradient of its weights: the sums over all positions of the results' gradients, which are (batch, groups * rows,
// lines and columns of results), times what they read. `out` has the shape of weights.
bool run_weight_gradient(const Convolution& convolution, const ConvolutionInput& gradient) noexcept;

// Whether the products of bfloat16 of each image may be a matrix unit's: it takes subnormal numbers for 0. Convolutions
// have one input, and what their weights lie in has `size` elements.
std::vector<bool> images_for_unit(const Convolution& convolution, const std::byte* weights, std::int64_t size,
                                  const ProductKernels& products);
// Whether those of a gradient of weights may be.
bool gradient_suits_unit(const Convolution& convolution, const ConvolutionInput& gradient,
                         const ProductKernels& products);

// How many products are added up before they are added to a sum; whole channels, if these are not longer.
inline std::int64_t depth_of_block(std::int64_t taps) noexcept {
  constexpr std::int64_t most = 256;
  return taps > most || taps == 0 ? most : most / taps * taps;
}

// Whether rows are too few for columns: their sums are made from lines.
inline bool is_direct(const Convolution& c) noexcept { return c.rows <= 8 && c.channels <= 256 && c.depth() <= 1024; }

// n elements `stride` bytes apart, widened to what is computed in.
void read_elements(const Kernels& k, const std::byte* from, Dtype dtype, std::int64_t stride, std::int64_t n,
                   std::byte* to) noexcept;

// The columns of some lines of results: which parts of the input they come from. Lines that they read are copied with
// their padding and widened, the elements that a stride takes together side by side, so that the columns of every tap
// are dense parts of them.
template <class T>
class Columns {
 public:
  // Panels are so many columns each.
  Columns(const Convolution& convolution, const ConvolutionLoops& loops, std::int64_t panel, bool may_stay);

  // The columns [first, first + across) of `lines` lines.
  void move_to(std::int64_t line, std::int64_t lines, std::int64_t first, std::int64_t across);

  // A run of columns that are side by side in the output, and where it is there in the first channel.
  struct Run {
    std::int64_t column, length, at;
  };
  const std::vector<Run>& runs() const { return runs_; }
  std::int64_t count() const { return count_; }
  std::int64_t panels() const { return (count_ + panel_ - 1) / panel_; }
  // Where a line begins that these columns are part of: (image, line and column of results).
  struct Place {
    std::int64_t image, line, column;
  };
  Place place(std::int64_t line) const;
  std::int64_t lines() const { return lines_; }
  std::int64_t across() const { return across_; }
  std::int64_t first_line() const { return line_; }

  // How many elements the lines of some channels take; none if the input is read where it is.
  std::int64_t room(std::int64_t channels) const { return stays_ ? 0 : channels * plane_ + loops_.lanes; }
  void read(std::int64_t channel, std::int64_t channels, T* planes) const noexcept;
  // `depth` rows of a panel from row `first` of the planes that were read from a channel on.
  void pack(const T* planes, std::int64_t channel, std::int64_t panel, std::int64_t first, std::int64_t depth,
            std::int64_t width, T* out) const noexcept;
  void pack_places(const T* planes, std::int64_t panel, std::int64_t first, std::int64_t depth,
                   std::uint32_t* out) const noexcept {
    loops_.pack_places(planes, windows(panel), first, depth, out);
  }
  // The results of a row of weights for all columns, which are one panel.
  void direct(const T* planes, const T* weights, T* out) const noexcept;

 private:
  void choose_shifts();
  void choose_lines();
  void choose_pieces();
  void choose_runs();
  Windows windows(std::int64_t panel) const noexcept;

  const Convolution& c_;
  const ConvolutionLoops& loops_;
  const Kernels& k_;
  std::int64_t panel_;
  bool stays_;
  std::int64_t line_ = -1, lines_ = 0, first_ = 0, across_ = 0, count_ = 0, width_ = 0, row_ = 0, plane_ = 0;
  struct Phase {
    std::int64_t start, from, to;  // its first element in a line of the input, and which of its elements are there
  };
  void read_line(const std::byte* from, const Phase& phase, std::int64_t step, T* to) const noexcept;
  std::vector<Phase> phases_;
  std::vector<std::int64_t> shifts_, sources_, keys_;
  bool has_padding_ = false;
  std::vector<std::int64_t> slots_;  // of (line, line of taps)
  std::vector<Piece> pieces_;
  std::vector<std::int64_t> starts_, first_pieces_, first_starts_;
  std::vector<Run> runs_;
};

extern template class Columns<float>;
extern template class Columns<double>;

}  // namespace suanzi
