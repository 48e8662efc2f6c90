// native/ops/nn_convolutions_unit.cpp: nn 5: which images of a convolution a matrix unit may multiply.
#include <algorithm>
#include <atomic>

#include "core/threads.h"
#include "ops/nn_convolutions.h"

namespace suanzi {
namespace {

constexpr std::int64_t some = 1 << 16;  // elements that are looked at as one

// The smallest exponent of a channel of an image.
unsigned smallest_of(const Convolution& c, std::int64_t image, std::int64_t channel, const ProductKernels& products) {
  const Kernels& k = kernels();
  const std::byte* data = c.x.data + image * c.x.batch + channel * c.x.channel;
  std::int64_t high = c.axes[1].in, wide = c.axes[2].in;
  bool dense = c.x.axes[2] == 2;
  alignas(64) std::byte line[2048 * 2];
  unsigned found = ~0u;
  for (std::int64_t z = 0; z < c.axes[0].in; ++z, data += c.x.axes[0]) {
    if (dense) {
      bool whole = c.x.axes[1] == wide * 2;
      Matrix plane{data, c.x.axes[1] / 2, 1};
      found = std::min(
          found, whole ? products.smallest_bf16(plane, 1, high * wide) : products.smallest_bf16(plane, high, wide));
      continue;
    }
    for (std::int64_t y = 0; y < high; ++y)
      for (std::int64_t x = 0; x < wide; x += 2048) {
        std::int64_t n = std::min<std::int64_t>(2048, wide - x);
        k.gather[1](data + y * c.x.axes[1] + x * c.x.axes[2], line, static_cast<std::size_t>(n), c.x.axes[2]);
        found = std::min(found, products.smallest_bf16(Matrix{line, n, 1}, 1, n));
      }
  }
  return found;
}

void lower(std::atomic<unsigned>& to, unsigned value) {
  unsigned before = to;
  while (value < before && !to.compare_exchange_weak(before, value)) {}
}

}  // namespace

std::vector<bool> images_for_unit(const Convolution& c, const ProductKernels& products) {
  std::int64_t channels = c.groups * c.channels, size = c.groups * c.rows * c.depth();
  std::int64_t blocks = (size + some - 1) / some, plane = c.axes[0].in * c.axes[1].in * c.axes[2].in;
  std::int64_t together = std::clamp<std::int64_t>(some / std::max<std::int64_t>(plane, 1), 1, channels);
  std::int64_t groups = (channels + together - 1) / together;
  std::vector<std::atomic<unsigned>> found(static_cast<std::size_t>(c.batch + 1));  // of the images, and of weights
  for (auto& one : found) one = ~0u;
  parallel_for(blocks + c.batch * groups, 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (i < blocks) {
        Matrix part{c.weights + i * some * 2, some, 1};
        lower(found.back(), products.smallest_bf16(part, 1, std::min(some, size - i * some)));
        continue;
      }
      std::int64_t image = (i - blocks) / groups, first = (i - blocks) % groups * together;
      for (std::int64_t channel = first; channel < std::min(first + together, channels); ++channel)
        lower(found[static_cast<std::size_t>(image)], smallest_of(c, image, channel, products));
    }
  });
  std::vector<bool> good;
  for (std::int64_t n = 0; n < c.batch; ++n)
    good.push_back(keeps_small_bf16(found[static_cast<std::size_t>(n)], found.back()));
  return good;
}

}  // namespace suanzi
