// native/ops/nn/delta_bwd.cpp: nn 12: the gradients of the gated delta rule.
//
// States are computed again: one of every chunk is kept, and those within a chunk are made from it when their turn
// comes, from the last chunk to the first; a chunk is as long as there are chunks. A thread has one head, whose panels
// it adds up in order; gradients of queries and keys are then summed over the heads that share them.
#include "ops/nn/delta.h"

namespace suanzi {

namespace {

struct Grads {
  std::byte *q, *k, *v, *g, *beta, *state;  // state may be null
};

class Backward {
 public:
  Backward(const Delta& delta, const TimeRows& above, const Tensor* after, const Grads& to)
      : d(delta), above_(above), after_(after), to_(to) {
    while (chunk_ * chunk_ < d.time) chunk_ *= 2;
    chunk_ = std::min(chunk_, std::max<std::int64_t>(1, d.time));
    chunks_ = std::max<std::int64_t>(1, (d.time + chunk_ - 1) / chunk_);  // one of no steps: the gradient of the state
  }

  bool run() {
    std::int64_t count = d.batch * d.heads * d.time * d.depth, size = d.lane_size();
    if (!memory_[0].take(d.state_dtype(), count) || !memory_[1].take(d.state_dtype(), count)) return false;
    by_q_ = memory_[0].data(), by_k_ = memory_[1].data();
    std::int64_t of_head = d.time * d.depth * size, cost = std::max<std::int64_t>(1, d.time * d.depth * d.width);
    parallel_for(d.batch * d.heads, std::max<std::int64_t>(1, grain / cost), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t of = begin; of < end; ++of) {
        std::memset(by_q_ + of * of_head, 0, static_cast<std::size_t>(of_head));
        std::memset(by_k_ + of * of_head, 0, static_cast<std::size_t>(of_head));
        head(of / d.heads, of % d.heads, of * of_head);
      }
    });
    if (failed_) return false;
    cost = std::max<std::int64_t>(1, d.depth * d.group);
    parallel_for(d.batch * d.time * d.keys, std::max<std::int64_t>(1, grain / cost),
                 [&](std::int64_t begin, std::int64_t end) { add_groups(begin, end); });
    return !failed_;
  }

 private:
  enum { queries, keys, values, results, decays, betas, kept, states, rests, slope, columns, spare, vectors, buffers };

  // A head of one of the batch, panel by panel.
  void head(std::int64_t b, std::int64_t h, std::int64_t at) {
    std::int64_t size = d.lane_size(), state = d.depth * d.panel * size, row = chunk_ * d.panel * size;
    OwnMemories<buffers> room;
    OwnMemory sums;
    if (!room.take({chunk_ * d.depth * size, chunk_ * d.depth * size, row, row, chunk_ * size, chunk_ * size,
                    chunks_ * state, (chunk_ + 1) * state, row, state, row, d.depth * size,
                    d.depth * d.loops.vector[d.lanes.lane] * size}))
      return void(failed_ = true);
    auto* sum = reinterpret_cast<double*>(sums.take(2 * d.time * 8));
    if (!sum) return void(failed_ = true);
    std::fill_n(sum, 2 * d.time, 0.0);
    for (std::int64_t p = 0; p < d.panels; ++p) panel(b, h, p, at, sum, room.at);
    for (std::int64_t t = 0; t < d.time; ++t) {
      std::int64_t to = d.row(b, t) + h;
      d.state_lanes.put(sum[t], to_.g + to * size);
      d.lanes.put(sum[d.time + t], to_.beta + to * d.lanes.itemsize);
    }
  }

  void panel(std::int64_t b, std::int64_t h, std::int64_t p, std::int64_t at, double* sum, std::byte* const* room) {
    std::int64_t state = d.depth * d.panel * d.lane_size();
    d.read_state(d.state ? d.state->data() : nullptr, b, h, p, room[kept]);
    for (std::int64_t c = 0; c + 1 < chunks_; ++c) {
      DeltaSteps of = read(b, h, p, c, room);
      std::memcpy(room[kept] + (c + 1) * state, room[kept] + c * state, static_cast<std::size_t>(state));
      d.loops.forward[d.lanes.lane](of, room[kept] + (c + 1) * state, nullptr);
    }
    d.read_state(after_ ? after_->data() : nullptr, b, h, p, room[slope]);
    for (std::int64_t c = chunks_; c-- > 0;) chunk(b, h, p, c, at, sum, room);
    if (to_.state) d.write_state(room[slope], b, h, p, to_.state);
  }

  DeltaSteps read(std::int64_t b, std::int64_t h, std::int64_t p, std::int64_t c, std::byte* const* room) const {
    std::int64_t t = c * chunk_, n = std::min(chunk_, d.time - t), key = h / d.group;
    d.read_scaled(d.q, b, t, n, key, d.scale, d.normalizes, room[queries], room[spare]);
    d.read_scaled(d.k, b, t, n, key, 1, d.normalizes, room[keys], room[spare]);
    d.read_values(d.v, b, t, n, h, p * d.panel, d.columns_of(p), d.panel, room[values]);
    d.read_gates(b, t, n, h, room[decays], room[betas]);
    return {room[queries], room[keys], room[values], room[decays], room[betas], n, d.depth, d.panel};
  }

  void chunk(std::int64_t b, std::int64_t h, std::int64_t p, std::int64_t c, std::int64_t at, double* sum,
             std::byte* const* room) {
    DeltaSteps of = read(b, h, p, c, room);
    std::int64_t size = d.lane_size(), state = d.depth * d.panel * size, t = c * chunk_;
    std::memcpy(room[states], room[kept] + c * state, static_cast<std::size_t>(state));
    d.loops.replay[d.lanes.lane](of, room[states], room[rests]);
    d.read_values(above_, b, t, of.steps, h, p * d.panel, d.columns_of(p), d.panel, room[results]);
    std::int64_t from = at + t * d.depth * size;
    DeltaGradients to{room[states],  room[rests], room[results],    room[slope],   by_q_ + from,   by_k_ + from,
                      room[columns], sum + t,     sum + d.time + t, room[vectors], d.columns_of(p)};
    d.loops.backward[d.lanes.lane](of, to);
    for (std::int64_t i = 0; i < of.steps; ++i) {
      std::byte* v = to_.v + ((d.row(b, t + i) + h) * d.width + p * d.panel) * d.lanes.itemsize;
      d.lanes.write(room[columns] + i * d.panel * size, v, static_cast<std::size_t>(d.columns_of(p)));
    }
  }

  // Gradients of rows of queries and keys: the sums over the heads that share them.
  void add_groups(std::int64_t begin, std::int64_t end) {
    OwnMemories<3> room;
    std::int64_t bytes = d.depth * d.lane_size();
    if (!room.take({bytes, bytes, bytes})) return void(failed_ = true);
    for (std::int64_t of = begin; of < end; ++of) {
      std::int64_t key = of % d.keys, t = of / d.keys % d.time, b = of / (d.keys * d.time);
      std::byte *q = to_.q + of * d.depth * d.lanes.itemsize, *k = to_.k + of * d.depth * d.lanes.itemsize;
      add_group(by_q_, d.q, b, t, key, d.scale, q, room.at);
      add_group(by_k_, d.k, b, t, key, 1, k, room.at);
    }
  }
  void add_group(const std::byte* from, const TimeRows& x, std::int64_t b, std::int64_t t, std::int64_t key,
                 double factor, std::byte* to, std::byte* const* room) const {
    auto n = static_cast<std::size_t>(d.depth);
    std::memset(room[0], 0, n * d.lanes.size);
    auto add = d.lanes.k.binary[static_cast<std::size_t>(BinaryOp::add)]
                               [static_cast<std::size_t>(d.lanes.lane ? Lane::f64 : Lane::f32)];
    for (std::int64_t i = 0; i < d.group; ++i) {
      std::int64_t head = b * d.heads + key * d.group + i;
      add(room[0], from + (head * d.time + t) * d.depth * d.lane_size(), room[0], n, Repeat::neither);
    }
    const void* row = d.lanes.read(x.at(b, t, key), room[1], n);
    void* made = d.lanes.target(to, room[2]);
    d.loops.scale_back[d.lanes.lane](room[0], row, d.depth, d.normalizes, factor, made);
    d.lanes.write(made, to, n);
  }

  const Delta& d;
  const TimeRows& above_;
  const Tensor* after_;
  const Grads& to_;
  std::int64_t chunk_ = 16, chunks_;
  Scratch memory_[2];
  std::byte *by_q_ = nullptr, *by_k_ = nullptr;
  std::atomic<bool> failed_{false};
};

nb::object gated_delta_rule_bwd(nb::handle out_grad, nb::handle q, nb::handle k, nb::handle v, nb::handle g,
                                nb::handle beta, nb::handle state, nb::handle state_grad, double scale,
                                bool normalizes) {
  Delta d(q, k, v, g, beta, state, scale, normalizes);
  const Tensor* above = read_delta(out_grad, d.v_tensor->dtype, d.v_tensor->size);
  const Tensor* after = read_delta(state_grad, d.state_dtype(), d.batch * d.heads * d.depth * d.width);
  if (!above || above->ndim() != 4) throw nb::value_error("not what gated_delta_rule takes");
  auto like = [&](const Tensor* t) { return raise_or(new_dense_tensor(t->dtype, t->ndim(), t->dims())); };
  nb::object made[] = {like(d.q_tensor), like(d.k_tensor), like(d.v_tensor), like(d.g), like(d.beta), nb::none()};
  if (d.state) made[5] = like(d.state);
  auto data = [&](int i) { return made[i].is_none() ? nullptr : tensor_of(made[i].ptr())->data(); };
  Grads to{data(0), data(1), data(2), data(3), data(4), data(5)};
  TimeRows rows(*above);
  Backward backward(d, rows, after, to);
  auto or_g = [&](const Tensor* t) { return t ? t : d.g; };
  bool done = true;
  run_over((d.v_tensor->size + d.batch * d.heads) * std::max<std::int64_t>(1, d.depth),
           {d.q_tensor, d.k_tensor, d.v_tensor, d.g, d.beta, or_g(d.state), above, or_g(after)},
           [&] { done = backward.run(); });
  if (!done) return no_memory(), raise_or(nullptr);
  return nb::make_tuple(made[0], made[1], made[2], made[3], made[4], made[5]);
}

}  // namespace

void init_nn_delta_bwd(nb::module_& m) {
  using namespace nb::literals;
  m.def("nn_gated_delta_rule_bwd", &gated_delta_rule_bwd, "out_grad"_a, "q"_a, "k"_a, "v"_a, "g"_a, "beta"_a,
        "state"_a.none(), "state_grad"_a.none(), "scale"_a, "normalizes"_a,
        nb::sig("def nn_gated_delta_rule_bwd(out_grad: Any, q: Any, k: Any, v: Any, g: Any, beta: Any, state: Any, "
                "state_grad: Any, scale: float, normalizes: bool) -> "
                "tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor | None]"),
        "The gradients of q, k, v, g, beta and the state.");
}

}  // namespace suanzi
