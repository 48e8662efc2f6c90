// native/ops/nn_attention.h: nn 8: what attention and its gradients are given, and how blocks of it are read.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/own_memory.h"
#include "core/tensor.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/lanes.h"
#include "kernels/linear_algebra_products_tiles.h"
#include "kernels/nn_attention.h"
#include "loops/axes.h"
#include "loops/blocks.h"
#include "ops/linear_algebra_matmul_ways.h"

namespace suanzi {

const AttentionKernels& attention_kernels() noexcept;

// A tensor (batch..., heads, rows, columns): where it lies, so that others may destroy the object meanwhile.
struct Heads {
  const std::byte* data = nullptr;
  Dtype dtype{};
  std::int64_t item = 0, head = 0, row = 0, column = 0;  // strides in elements
  std::int64_t batch[max_ndim];

  void read(const Tensor& t) {
    int n = t.ndim() - 3;
    data = t.data(), dtype = t.dtype, item = static_cast<std::int64_t>(t.itemsize());
    std::copy_n(t.strides(), n, batch);
    head = t.strides()[n], row = t.strides()[n + 1], column = t.strides()[n + 2];
  }
  const std::byte* at(std::int64_t offset) const { return data + offset * item; }
};

// What is computed: row r of a key's head is query r % queries of head r / queries of those that share it.
struct Attention {
  Heads q, k, v, mask;
  const std::byte* sink = nullptr;
  std::int64_t sink_stride = 0;
  bool has_mask = false, is_added = false, zero_rows = true;
  int batch_ndim = 0;
  std::int64_t dims[max_ndim], batch = 1, heads, shared, group, queries, keys, depth, width;
  double scale, softcap;
  std::int64_t left, right, offset;  // a query i sees the keys from i + offset - left to i + offset + right; -1: all
  Dtype dtype, lane_dtype;
  std::size_t lane;  // 0 f32, 1 f64
  std::int64_t lane_item;
  const Kernels& kernel = kernels();
  const ProductKernels& products = *kernel.products;
  const AttentionKernels& loops = attention_kernels();
  std::size_t sum_kind;
  MultiplyTiles tiles = nullptr;
  std::byte* out = nullptr;

  std::int64_t rows() const { return group * queries; }
  bool hides() const { return left >= 0 || right >= 0 || (has_mask && !is_added); }
  // The keys that a query may see, by its position alone.
  std::int64_t first_key(std::int64_t i) const {
    return left < 0 ? 0 : std::clamp<std::int64_t>(i + offset - left, 0, keys);
  }
  std::int64_t end_of_keys(std::int64_t i) const {
    return right < 0 ? keys : std::clamp<std::int64_t>(i + offset + right + 1, 0, keys);
  }
};

// n elements as numbers of the lane: where they are, or in `to`. `spare` has room for them as stored.
inline const std::byte* lane_row(const Kernels& k, const std::byte* from, Dtype dtype, std::int64_t stride,
                                 std::int64_t n, std::byte* to, std::byte* spare) {
  const Layer& layer = layer_of(dtype);
  auto count = static_cast<std::size_t>(n);
  bool dense = stride == 1 || n <= 1;
  if (!dense) {
    std::byte* gathered = layer.is_narrow ? spare : to;
    k.gather[layer.log2_size](from, gathered, count, stride * static_cast<std::int64_t>(item(dtype)));
    from = gathered;
  }
  if (!layer.is_narrow) return from;
  k.widen[static_cast<std::size_t>(layer.narrow)](from, to, count);
  return to;
}

}  // namespace suanzi
