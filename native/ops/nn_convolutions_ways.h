// native/ops/nn_convolutions_ways.h: nn 5: ways to compute convolutions of some shapes.
#pragma once

#include "ops/nn_convolutions.h"

namespace suanzi {

// Convolutions of one channel each, from lines of the input itself: whether this is the way, by the shape alone, and
// the results, which are the same to the bit as those of other ways; false when there was no memory.
bool suits_depthwise(const Convolution& convolution) noexcept;
bool run_depthwise(const Convolution& convolution);

}  // namespace suanzi
