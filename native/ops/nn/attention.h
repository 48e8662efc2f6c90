// native/ops/nn/attention.h: nn 8: what attention and its gradients are given, and how blocks of it are read.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/own_memory.h"
#include "core/tensor.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/linear_algebra/products_tiles.h"
#include "kernels/nn/attention.h"
#include "kernels/vectors/lanes.h"
#include "loops/axes.h"
#include "loops/blocks.h"
#include "ops/linear_algebra/matmul_ways.h"

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

inline constexpr std::int64_t block_keys = 256;  // where blocks of keys begin

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
  bool may_use_unit = false;  // products of bfloat16 may be a matrix unit's
  std::byte* out = nullptr;
  Storage* kept[6] = {};

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

// Some rows of one head of keys in a batch, and their masks.
class Rows {
 public:
  explicit Rows(const Attention& attention) : a(attention) {}

  bool take_memory() {
    spare_ = memory_[0].take(std::max({a.depth, a.width, block_keys}) * 8);
    added_ = memory_[1].take(block_keys * 8);
    return spare_ && added_;
  }
  void place(std::int64_t batch, std::int64_t head, std::int64_t first) {
    at_ = offsets_of(batch, a.batch_ndim, a.dims, a.q.batch, a.k.batch, a.v.batch, a.mask.batch);
    head_ = head, first_ = first;
  }

  std::byte* spare() const { return spare_; }
  std::int64_t query(std::int64_t r) const { return (first_ + r) % a.queries; }
  std::int64_t head_of(std::int64_t r) const { return head_ * a.group + (first_ + r) / a.queries; }
  const std::byte* keys() const { return a.k.at(at_[1] + head_ * a.k.head); }
  const std::byte* values() const { return a.v.at(at_[2] + head_ * a.v.head); }
  // A row of q, or of what has its shape but for the columns, as numbers of the lane.
  void copy_query(std::int64_t r, std::byte* to) const {
    copy_row(a.q.at(at_[0] + head_of(r) * a.q.head + query(r) * a.q.row), a.q, a.depth, to);
  }
  // A row of q as it is stored, which are 16 bits.
  void copy_short_query(std::int64_t r, std::byte* to) const {
    const std::byte* from = a.q.at(at_[0] + head_of(r) * a.q.head + query(r) * a.q.row);
    if (a.q.column == 1) std::memcpy(to, from, static_cast<std::size_t>(a.depth * 2));
    else a.kernel.gather[1](from, to, static_cast<std::size_t>(a.depth), a.q.column * 2);
  }
  void copy_row(const std::byte* from, const Heads& x, std::int64_t length, std::byte* to) const {
    const std::byte* row = lane_row(a.kernel, from, x.dtype, x.column, length, to, spare_);
    if (row != to) std::memcpy(to, row, static_cast<std::size_t>(length * a.lane_item));
  }

  // A sink is a score of its own that has no value.
  double sink_of(std::int64_t head) const {
    std::byte one[8];
    const std::byte* from = a.sink + head * a.sink_stride * static_cast<std::int64_t>(item(a.dtype));
    const std::byte* at = lane_row(a.kernel, from, a.dtype, 1, 1, one, spare_);
    return a.lane ? *reinterpret_cast<const double*>(at) : *reinterpret_cast<const float*>(at);
  }
  RowState first_state(std::int64_t r) const {
    constexpr double none = -std::numeric_limits<double>::infinity();
    double x = a.sink ? sink_of(head_of(r)) : none;
    return {x, x == none ? 0 : std::exp(x - x)};
  }

  // The keys of a block that a row sees by its position.
  struct Seen {
    std::int64_t low, high;
  };
  Seen seen(std::int64_t r, std::int64_t j, std::int64_t n) const {
    std::int64_t i = query(r);
    std::int64_t low = std::clamp<std::int64_t>(a.first_key(i) - j, 0, n);
    return {low, std::max(low, std::clamp<std::int64_t>(a.end_of_keys(i) - j, 0, n))};
  }
  // Those that any of some rows sees.
  Seen seen_by(std::int64_t count) const {
    Seen found{a.keys, 0};
    for (std::int64_t r = 0; r < count; ++r) {
      found.low = std::min(found.low, a.first_key(query(r)));
      found.high = std::max(found.high, a.end_of_keys(query(r)));
    }
    return found;
  }
  const std::byte* mask_at(std::int64_t r, std::int64_t key) const {
    return a.mask.at(at_[3] + head_of(r) * a.mask.head + query(r) * a.mask.row + key * a.mask.column);
  }

  // Turns products of a row with n keys from j on into weights; those of keys that are not seen are 0.
  double weigh(std::int64_t r, std::int64_t j, std::int64_t n, std::byte* row, RowState& state) const {
    auto [low, high] = seen(r, j, n);
    std::memset(row, 0, static_cast<std::size_t>(low * a.lane_item));
    std::memset(row + high * a.lane_item, 0, static_cast<std::size_t>((n - high) * a.lane_item));
    if (low == high) return 1;
    ScoreTerms terms{a.scale, a.softcap, nullptr, nullptr};
    if (a.has_mask) {
      const std::byte* found =
          lane_row(a.kernel, mask_at(r, j + low), a.mask.dtype, a.mask.column, high - low, added_, spare_);
      if (a.is_added) terms.added = found;
      else terms.allowed = reinterpret_cast<const std::uint8_t*>(found);
    }
    return a.loops.weigh[a.lane](row + low * a.lane_item, static_cast<std::size_t>(high - low), terms, state);
  }

 private:
  const Attention& a;
  OwnMemory memory_[2];
  std::byte *spare_ = nullptr, *added_ = nullptr;
  std::array<std::int64_t, 4> at_{};
  std::int64_t head_ = 0, first_ = 0;
};

// Checks operands whose shapes the caller has made to agree, and reads them.
Attention read_attention(nb::handle q, nb::handle k, nb::handle v, nb::handle mask, nb::handle sink);
// Keeps their memory, and runs without the GIL if it takes long.
template <class F>
void run_attention(const Attention& a, F&& body) {
  double work = static_cast<double>(a.batch * a.heads * a.queries) * static_cast<double>(a.keys) *
                (static_cast<double>(a.depth) + static_cast<double>(a.width));
  if (work < static_cast<double>(long_loop)) body();
  else run_without_gil(a.kept, 6, body);
}

}  // namespace suanzi
