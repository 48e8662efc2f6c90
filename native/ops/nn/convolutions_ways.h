// native/ops/nn/convolutions_ways.h: nn 5: ways to compute convolutions of some shapes.
#pragma once

#include "ops/nn/convolutions_unit.h"

namespace suanzi {

// Whether each is the way is decided by the shape alone, and the results have the same bits as those of columns. What
// runs returns false when there was no memory.

// Tiles of pixels by channels of results. Convolutions have one input and write elements of one output, with their own
// weights or those of a transposed one.
bool suits_pixels(const Convolution& convolution) noexcept;
bool run_pixels(const std::vector<Convolution>& convolutions, const TransposedWeights* weights = nullptr);

// Convolutions of one channel each, from lines of the input itself.
bool suits_depthwise(const Convolution& convolution) noexcept;
bool run_depthwise(const Convolution& convolution);

}  // namespace suanzi
