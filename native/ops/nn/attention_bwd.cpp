// native/ops/nn/attention_bwd.cpp: nn 8.1.1: the gradients of attention, which computes scores anew, block by block.
//
// A unit of work is one head of keys. First the softmax of each row is gone through for its largest score, its sum and
// the mean of the gradients of its weights; then each block of keys meets every block of rows, and adds to the
// gradients of both. Sums are float32 or float64, and their order is the same for any number of threads.
#include <nanobind/stl/tuple.h>

#include "core/status.h"
#include "ops/nn/attention.h"

namespace suanzi {
namespace {

constexpr std::int64_t block_rows = 128;

// Where gradients go, dense and in the dtype of the operands.
struct Gradients {
  const Attention& a;
  Heads out_grad;
  std::byte *q, *k, *v;
  double* sinks;  // of each batch and head
};

class Worker {
 public:
  explicit Worker(const Gradients& gradients) : to(gradients), a(gradients.a), rows_(a) {}

  bool take_memory() {
    std::int64_t lane = a.lane_item, all = a.rows();
    std::int64_t wide = std::max(a.depth, a.width);
    auto take = [&](int i, std::int64_t count) { return memory_[i].take(Dtype::uint8, count * lane + 64); };
    queries_ = take(0, all * a.depth), above_ = take(1, all * a.width), query_sums_ = take(2, all * a.depth);
    keys_ = take(3, block_keys * a.depth), values_ = take(4, block_keys * a.width);
    key_sums_ = take(5, block_keys * a.depth), value_sums_ = take(6, block_keys * a.width);
    weights_ = take(7, block_rows * block_keys), slopes_ = take(8, block_rows * block_keys);
    products_ = take(9, a.softcap != 0 ? block_rows * block_keys : 1);
    more_ = take(10, std::max(block_rows, block_keys) * wide);
    tiles_ = memory_[11].take(Dtype::uint8, a.tiles ? tile_memory : product_memory);
    states_ = reinterpret_cast<RowState*>(memory_[12].take(Dtype::uint8, all * 16 + 64));
    means_ = reinterpret_cast<double*>(memory_[13].take(Dtype::uint8, all * 8 + 64));
    bool found = rows_.take_memory();
    for (const Scratch& one : memory_) found &= one.data() != nullptr;
    return found;
  }

  void run(std::int64_t batch, std::int64_t head) {
    batch_ = batch, head_ = head;
    read_rows();
    for (std::int64_t first = 0; first < a.rows(); first += block_rows) go_through(first);
    for (std::int64_t j = 0; j < a.keys; j += block_keys) of_keys(j, std::min(block_keys, a.keys - j));
    for (std::int64_t r = 0; r < a.rows(); ++r)
      store(row(query_sums_, r, a.depth), to.q + number(r) * a.depth * item_(), a.depth);
    if (a.sink) add_sinks();
  }

 private:
  std::int64_t item_() const { return static_cast<std::int64_t>(item(a.dtype)); }
  std::byte* row(std::byte* of, std::int64_t r, std::int64_t length) const { return of + r * length * a.lane_item; }
  // The row among those of all batches and heads.
  std::int64_t number(std::int64_t r) const { return (batch_ * a.heads + head_ * a.group) * a.queries + r; }

  void read_rows() {
    rows_.place(batch_, head_, 0);
    std::int64_t at = offsets_of(batch_, a.batch_ndim, a.dims, to.out_grad.batch)[0];
    for (std::int64_t r = 0; r < a.rows(); ++r) {
      rows_.copy_query(r, row(queries_, r, a.depth));
      const Heads& g = to.out_grad;
      rows_.copy_row(g.at(at + rows_.head_of(r) * g.head + rows_.query(r) * g.row), g, a.width,
                     row(above_, r, a.width));
      states_[r] = rows_.first_state(r);
      means_[r] = 0;
    }
    std::memset(query_sums_, 0, static_cast<std::size_t>(a.rows() * a.depth * a.lane_item));
  }
  // Keys and values of a block as numbers of the lane.
  void read_keys(std::int64_t j, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      rows_.copy_row(rows_.keys() + (j + i) * a.k.row * a.k.item, a.k, a.depth, row(keys_, i, a.depth));
      rows_.copy_row(rows_.values() + (j + i) * a.v.row * a.v.item, a.v, a.width, row(values_, i, a.width));
    }
  }

  // c = x y for matrices of the lane.
  void multiply(const Matrix& x, const Matrix& y, std::byte* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
                std::int64_t k) {
    if (m == 0 || n == 0) return;
    if (k == 0)
      for (std::int64_t r = 0; r < m; ++r)
        std::memset(c + r * c_row * a.lane_item, 0, static_cast<std::size_t>(n * a.lane_item));
    else if (a.tiles) a.tiles(x, Stored::as_summed, y, Stored::as_summed, c, c_row, m, n, k, tiles_);
    else a.loops.product[a.lane](x, y, c, c_row, m, n, k, tiles_);
  }
  // c = c + x y, rows without gaps.
  void add_product(const Matrix& x, const Matrix& y, std::byte* c, std::int64_t m, std::int64_t n, std::int64_t k) {
    multiply(x, y, more_, n, m, n, k);
    a.loops.update[a.lane](more_, 1, c, static_cast<std::size_t>(m * n));
  }

  // The products of rows and keys, and the gradients of weights, of a block.
  void multiply_block(std::int64_t first, std::int64_t count, std::int64_t n) {
    multiply({row(queries_, first, a.depth), a.depth, 1}, {keys_, 1, a.depth}, weights_, block_keys, count, n, a.depth);
    multiply({row(above_, first, a.width), a.width, 1}, {values_, 1, a.width}, slopes_, block_keys, count, n, a.width);
  }

  void go_through(std::int64_t first) {
    std::int64_t count = std::min(block_rows, a.rows() - first);
    rows_.place(batch_, head_, first);
    auto [low, high] = rows_.seen_by(count);
    for (std::int64_t j = low / block_keys * block_keys; j < high; j += block_keys) {
      std::int64_t n = std::min(block_keys, high - j);
      read_keys(j, n);
      multiply_block(first, count, n);
      for (std::int64_t r = 0; r < count; ++r) {
        std::byte *w = row(weights_, r, block_keys), *g = row(slopes_, r, block_keys);
        double by = rows_.weigh(r, j, n, w, states_[first + r]);
        means_[first + r] = means_[first + r] * by + a.loops.weighted[a.lane](w, g, static_cast<std::size_t>(n));
      }
    }
    for (std::int64_t r = first; r < first + count; ++r)
      means_[r] = states_[r].sum == 0 ? 0 : means_[r] / states_[r].sum;
  }

  void of_keys(std::int64_t j, std::int64_t n) {
    read_keys(j, n);
    std::memset(key_sums_, 0, static_cast<std::size_t>(n * a.depth * a.lane_item));
    std::memset(value_sums_, 0, static_cast<std::size_t>(n * a.width * a.lane_item));
    ScoreTerms terms{a.scale, a.softcap, nullptr, nullptr};
    for (std::int64_t first = 0; first < a.rows(); first += block_rows) {
      std::int64_t count = std::min(block_rows, a.rows() - first);
      rows_.place(batch_, head_, first);
      auto [low, high] = rows_.seen_by(count);
      if (low >= j + n || high <= j) continue;
      multiply_block(first, count, n);
      for (std::int64_t r = 0; r < count; ++r) {
        std::byte *w = row(weights_, r, block_keys), *g = row(slopes_, r, block_keys);
        if (a.softcap != 0) std::memcpy(products_, w, static_cast<std::size_t>(n * a.lane_item));
        RowState state = states_[first + r];  // its largest score is the last one
        rows_.weigh(r, j, n, w, state);
        a.loops.slopes[a.lane](w, g, products_, static_cast<std::size_t>(n), terms, states_[first + r].sum,
                               means_[first + r]);
      }
      Matrix g{slopes_, block_keys, 1};
      Matrix w_turned{weights_, 1, block_keys}, g_turned{slopes_, 1, block_keys};
      Matrix queries{row(queries_, first, a.depth), a.depth, 1}, above{row(above_, first, a.width), a.width, 1};
      add_product(w_turned, above, value_sums_, n, a.width, count);
      add_product(g_turned, queries, key_sums_, n, a.depth, count);
      add_product(g, {keys_, a.depth, 1}, row(query_sums_, first, a.depth), count, a.depth, n);
    }
    std::int64_t at = (batch_ * a.shared + head_) * a.keys + j;
    for (std::int64_t i = 0; i < n; ++i) {
      store(row(key_sums_, i, a.depth), to.k + (at + i) * a.depth * item_(), a.depth);
      store(row(value_sums_, i, a.width), to.v + (at + i) * a.width * item_(), a.width);
    }
  }

  void store(const std::byte* from, std::byte* out, std::int64_t n) const {
    const Layer& layer = layer_of(a.dtype);
    if (layer.is_narrow)
      a.kernel.narrow[static_cast<std::size_t>(layer.narrow)](from, out, static_cast<std::size_t>(n));
    else std::memcpy(out, from, static_cast<std::size_t>(n * a.lane_item));
  }

  // The weight of a sink takes from all others, and has no value of its own.
  void add_sinks() {
    rows_.place(batch_, head_, 0);
    for (std::int64_t r = 0; r < a.rows(); ++r) {
      std::int64_t head = rows_.head_of(r);
      double weight = std::exp(rows_.sink_of(head) - states_[r].largest) / states_[r].sum;
      if (states_[r].sum != 0) to.sinks[batch_ * a.heads + head] -= weight * means_[r];
    }
  }

  const Gradients& to;
  const Attention& a;
  Rows rows_;
  Scratch memory_[14];
  std::byte *queries_, *above_, *query_sums_, *keys_, *values_, *key_sums_, *value_sums_, *weights_, *slopes_,
      *products_, *more_, *tiles_;
  RowState* states_ = nullptr;
  double* means_ = nullptr;
  std::int64_t batch_ = 0, head_ = 0;
};

bool run(const Gradients& to) {
  const Attention& a = to.a;
  std::atomic<bool> failed{false};
  parallel_for(a.batch * a.shared, 1, [&](std::int64_t begin, std::int64_t end) {
    Worker worker(to);
    if (!worker.take_memory()) failed = true;
    for (std::int64_t u = begin; u < end && !failed; ++u) worker.run(u / a.shared, u % a.shared);
  });
  return !failed;
}

nb::object zeros_like(const Attention& a, Dtype dtype, std::int64_t heads, std::int64_t rows, std::int64_t columns) {
  std::int64_t dims[max_ndim];
  std::copy_n(a.dims, a.batch_ndim, dims);
  dims[a.batch_ndim] = heads, dims[a.batch_ndim + 1] = rows, dims[a.batch_ndim + 2] = columns;
  nb::object made = raise_or(new_dense_tensor(dtype, a.batch_ndim + 3, dims));
  const Tensor& t = *tensor_of(made.ptr());
  if (t.size) std::memset(t.data(), 0, static_cast<std::size_t>(t.size) * t.itemsize());
  return made;
}

nb::tuple attention_bwd(nb::handle out_grad, nb::handle q, nb::handle k, nb::handle v, nb::handle mask, nb::handle sink,
                        double scale, double softcap, std::int64_t left, std::int64_t right, std::int64_t offset) {
  Attention a = read_attention(q, k, v, mask, sink);
  a.scale = scale, a.softcap = softcap, a.left = left, a.right = right, a.offset = offset;
  // What has the shape of a result is checked as queries without keys are.
  Attention above = read_attention(out_grad, v, v, nb::none(), nb::none());
  if (above.queries != a.queries || above.heads != a.heads || above.dtype != a.dtype || above.batch != a.batch)
    throw nb::value_error("out_grad does not have the shape of the result");
  a.kept[5] = above.kept[0];
  nb::object q_grad = zeros_like(a, a.dtype, a.heads, a.queries, a.depth);
  nb::object k_grad = zeros_like(a, a.dtype, a.shared, a.keys, a.depth);
  nb::object v_grad = zeros_like(a, a.dtype, a.shared, a.keys, a.width);
  std::int64_t heads[] = {a.batch, a.heads};
  nb::object sinks = raise_or(new_dense_tensor(Dtype::float64, 2, heads));
  auto data = [](const nb::object& x) { return tensor_of(x.ptr())->data(); };
  auto* sums = reinterpret_cast<double*>(data(sinks));
  std::fill_n(sums, a.batch * a.heads, 0.0);
  Gradients to{a, above.q, data(q_grad), data(k_grad), data(v_grad), sums};
  bool done = true;
  if (a.batch * a.heads * a.queries > 0 && a.keys > 0) run_attention(a, [&] { done = run(to); });
  if (!done) raise_or(no_memory());
  return nb::make_tuple(q_grad, k_grad, v_grad, sinks);
}

}  // namespace

void init_nn_attention_bwd(nb::module_& m) {
  using namespace nb::literals;
  m.def("attention_bwd", &attention_bwd, "out_grad"_a, "q"_a, "k"_a, "v"_a, "mask"_a.none(), "sink"_a.none(), "scale"_a,
        "softcap"_a, "left"_a, "right"_a, "offset"_a,
        nb::sig("def attention_bwd(out_grad: Any, q: Any, k: Any, v: Any, mask: Any, sink: Any, scale: float, "
                "softcap: float, left: int, right: int, offset: int) -> tuple[Tensor, Tensor, Tensor, Tensor]"),
        "The gradients of q, k and v, as attention takes them, and that of the sink in float64, (batch, heads).");
}

}  // namespace suanzi
