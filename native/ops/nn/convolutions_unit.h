// native/ops/nn/convolutions_unit.h: nn 5: how a matrix unit finds the elements that a convolution reads.
#pragma once

#include <algorithm>
#include <optional>

#include "ops/nn/convolutions.h"

namespace suanzi {

inline std::int64_t parts_of(std::int64_t size, std::int64_t most) { return (size + most - 1) / most; }
inline std::int64_t round_up(std::int64_t size, std::int64_t step) { return parts_of(size, step) * step; }

// Blocks of results, and a lattice for each: lines of the input with their padding, as long as a line of results and
// its kernel are, one behind the other. The elements that a tap reads then are as far apart as the results are, which
// have positions in the lattice, too: those between the end of a line and the next one are not wanted. With a stride
// there is a lattice for each remainder that a tap has, and in any case for each tap along the depth.
class Lattice {
 public:
  struct Block {
    std::int64_t image, z, y, lines, x, across;
  };
  struct Line {
    std::int64_t at, before, there;  // where it is in a channel, in bytes; zeros before it, and elements of it
  };
  struct Tap {
    std::int64_t set, far;  // which lattice, and how far behind the result's position
  };

  Lattice(const Convolution& convolution, std::int64_t most_positions, std::int64_t most_lines);

  // So many positions that the lattices of some channels, of 4 bytes each, take a megabyte, if there are not very few.
  static std::int64_t fitting_positions(const Convolution& convolution, std::int64_t channels) {
    std::int64_t each = 4 * channels * Lattice(convolution, 1, 1).sets;
    return std::clamp<std::int64_t>((std::int64_t{1} << 20) / each, 32, 512);
  }

  std::int64_t lines, across;  // of a block, at most
  std::int64_t wide;           // from a line to the next
  std::int64_t sets, furthest;

  std::int64_t in_line() const { return parts_of(c_->axes[2].out, across); }
  std::int64_t in_image() const { return c_->axes[0].out * parts_of(c_->axes[1].out, lines) * in_line(); }
  std::int64_t blocks() const { return c_->batch * in_image(); }
  Block block(std::int64_t number) const;
  std::int64_t positions(const Block& b) const { return (b.lines - 1) * wide + b.across; }
  std::int64_t positions() const { return (lines - 1) * wide + across; }
  std::int64_t read_lines(const Block& b) const { return b.lines + axes_[1].reach; }
  std::int64_t read_lines() const { return lines + axes_[1].reach; }
  // The lines of all lattices of a block, `read_lines` of each.
  void find_lines(const Block& b, std::vector<Line>& found) const;
  std::int64_t step() const { return c_->axes[2].stride * c_->x.axes[2]; }  // from element to element, in bytes
  Tap tap(std::int64_t number) const;

 private:
  Line line(const Block& b, std::int64_t set, std::int64_t number) const;

  struct Axis {
    std::int64_t least = 0, reach = 0;
    std::vector<std::int64_t> remainders, remainder_of, shift_of;  // the latter of each tap
  };
  const Convolution* c_;
  Axis axes_[3];
};

// Whether a matrix unit is worth it, by the shape alone.
bool suits_unit(const Convolution& convolution);
// Weights of a transposed convolution, (groups * channels, rows, taps), and which taps convolutions have.
struct TransposedWeights {
  const std::byte* data;
  std::int64_t taps;
  std::vector<std::vector<std::int64_t>> chosen;
};
// Computes some convolutions of bfloat16 by a matrix unit, with their own weights or those of a transposed one; false
// when there was no memory.
bool run_by_unit(const std::vector<Convolution>& convolutions, const TransposedWeights* weights = nullptr);
// The same of all of a transposed one; nothing where the numbers or the shapes do not allow it.
std::optional<bool> run_transposed_by_unit(const std::vector<Convolution>& convolutions,
                                           const TransposedWeights& weights) noexcept;
// The same in tiles of pixels.
std::optional<bool> run_transposed_by_pixels(const std::vector<Convolution>& convolutions,
                                             const TransposedWeights& weights) noexcept;
// The gradient of its weights. Elements that no result reads are multiplied by 0: if a sum is NaN, it may be due to
// that, and has to be made without the unit.
enum class Made { whole, with_nan, without_memory };
Made run_weight_gradient_by_unit(const Convolution& convolution, const ConvolutionInput& gradient);

}  // namespace suanzi
