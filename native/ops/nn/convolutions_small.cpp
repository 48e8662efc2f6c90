// native/ops/nn/convolutions_small.cpp: nn 5: which images of a convolution a matrix unit may multiply.
#include <algorithm>
#include <atomic>

#include "core/threads.h"
#include "ops/nn/convolutions.h"

namespace suanzi {
namespace {

constexpr std::int64_t some = 1 << 16;  // elements that are looked at as one

// The smallest exponent of a channel of an image that has so many elements along each axis.
unsigned smallest_of(const ConvolutionInput& its, const std::int64_t* dims, std::int64_t image, std::int64_t channel,
                     const ProductKernels& products) {
  const Kernels& k = kernels();
  const std::byte* data = its.data + image * its.batch + channel * its.channel;
  std::int64_t high = dims[1], wide = dims[2];
  bool dense = its.axes[2] == 2;
  alignas(64) std::byte line[2048 * 2];
  unsigned found = ~0u;
  for (std::int64_t z = 0; z < dims[0]; ++z, data += its.axes[0]) {
    if (dense) {
      bool whole = its.axes[1] == wide * 2;
      Matrix plane{data, its.axes[1] / 2, 1};
      found = std::min(
          found, whole ? products.smallest_bf16(plane, 1, high * wide) : products.smallest_bf16(plane, high, wide));
      continue;
    }
    for (std::int64_t y = 0; y < high; ++y)
      for (std::int64_t x = 0; x < wide; x += 2048) {
        std::int64_t n = std::min<std::int64_t>(2048, wide - x);
        k.gather[1](data + y * its.axes[1] + x * its.axes[2], line, static_cast<std::size_t>(n), its.axes[2]);
        found = std::min(found, products.smallest_bf16(Matrix{line, n, 1}, 1, n));
      }
  }
  return found;
}

void lower(std::atomic<unsigned>& to, unsigned value) {
  unsigned before = to;
  while (value < before && !to.compare_exchange_weak(before, value)) {}
}

// Those of each image, or of all of them: found[image % size].
void find_smallest(const ConvolutionInput& its, const std::int64_t* dims, std::int64_t batch, std::int64_t channels,
                   std::atomic<unsigned>* found, std::int64_t size, const ProductKernels& products) {
  std::int64_t plane = dims[0] * dims[1] * dims[2];
  std::int64_t together = std::clamp<std::int64_t>(some / std::max<std::int64_t>(plane, 1), 1, channels);
  std::int64_t groups = (channels + together - 1) / together;
  parallel_for(batch * groups, 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t image = i / groups, first = i % groups * together;
      for (std::int64_t channel = first; channel < std::min(first + together, channels); ++channel)
        lower(found[image % size], smallest_of(its, dims, image, channel, products));
    }
  });
}

}  // namespace

std::vector<bool> images_for_unit(const Convolution& c, const std::byte* weights, std::int64_t size,
                                  const ProductKernels& products) {
  std::int64_t blocks = (size + some - 1) / some;
  std::vector<std::atomic<unsigned>> found(static_cast<std::size_t>(c.batch + 1));  // of the images, and of weights
  for (auto& one : found) one = ~0u;
  parallel_for(blocks, 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      Matrix part{weights + i * some * 2, some, 1};
      lower(found.back(), products.smallest_bf16(part, 1, std::min(some, size - i * some)));
    }
  });
  const std::int64_t dims[] = {c.axes[0].in, c.axes[1].in, c.axes[2].in};
  find_smallest(c.x, dims, c.batch, c.groups * c.channels, found.data(), c.batch, products);
  std::vector<bool> good;
  for (std::int64_t n = 0; n < c.batch; ++n)
    good.push_back(keeps_small_bf16(found[static_cast<std::size_t>(n)], found.back()));
  return good;
}

bool gradient_suits_unit(const Convolution& c, const ConvolutionInput& gradient, const ProductKernels& products) {
  std::atomic<unsigned> found[2] = {~0u, ~0u};
  const std::int64_t in[] = {c.axes[0].in, c.axes[1].in, c.axes[2].in};
  const std::int64_t out[] = {c.axes[0].out, c.axes[1].out, c.axes[2].out};
  find_smallest(c.x, in, c.batch, c.groups * c.channels, found, 1, products);
  find_smallest(gradient, out, c.batch, c.groups * c.rows, found + 1, 1, products);
  return keeps_small_bf16(found[0], found[1]);
}

}  // namespace suanzi
