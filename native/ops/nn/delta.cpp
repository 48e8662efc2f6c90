// native/ops/nn/delta.cpp: nn 12: the gated delta rule.
//
// A thread has some panels of the state of one head, which it updates step by step; what chunks of time read is widened
// and normalised once for all of them. Columns of a state know nothing of one another, so that no bits depend on who
// computes them.
#include "ops/nn/delta.h"

#include "kernels/by_level.h"

namespace suanzi {

SUANZI_BY_LEVEL(DeltaKernels, delta_kernels)

namespace {

constexpr std::int64_t chunk = 32;  // steps whose rows are read at a time

const char* const wrong = "not what gated_delta_rule takes";

const Tensor& rows_of(nb::handle object) {
  const Tensor* t = read_tensor(object.ptr());
  bool fits = t && t->ndim() == 4 && facts(t->dtype).is_float();
  if (!fits || (t->size > 0 && t->dims()[3] > 1 && t->strides()[3] != 1)) throw nb::value_error(wrong);
  return *t;
}

bool has_dims(const Tensor& t, const std::int64_t (&dims)[4]) { return std::equal(dims, dims + 4, t.dims()); }

}  // namespace

const Tensor* read_delta(nb::handle object, Dtype dtype, std::int64_t size) {
  if (object.is_none()) return nullptr;
  const Tensor* t = read_tensor(object.ptr());
  if (!t || !t->row_major || t->size != size || t->dtype != dtype) throw nb::value_error(wrong);
  return t;
}

Delta::Delta(nb::handle q_, nb::handle k_, nb::handle v_, nb::handle g_, nb::handle beta_, nb::handle state_,
             double scale_, bool normalizes_)
    : q_tensor(&rows_of(q_)), k_tensor(&rows_of(k_)), v_tensor(&rows_of(v_)), q(*q_tensor), k(*k_tensor), v(*v_tensor),
      scale(scale_), normalizes(normalizes_), lanes(v_tensor->dtype),
      state_lanes(lanes.lane ? Dtype::float64 : Dtype::float32), batch(k_tensor->dims()[0]), time(k_tensor->dims()[1]),
      keys(k_tensor->dims()[2]), heads(v_tensor->dims()[2]), depth(k_tensor->dims()[3]), width(v_tensor->dims()[3]),
      group(keys ? heads / keys : 0), panel(loops.panel[lanes.lane]), panels((width + panel - 1) / panel) {
  const std::int64_t of_keys[4] = {batch, time, keys, depth}, of_values[4] = {batch, time, heads, width};
  bool fits = has_dims(*q_tensor, of_keys) && has_dims(*v_tensor, of_values) && heads == group * keys &&
              q_tensor->dtype == v_tensor->dtype && k_tensor->dtype == v_tensor->dtype;
  if (!fits) throw nb::value_error(wrong);
  g = read_delta(g_, state_dtype(), batch * time * heads);
  beta = read_delta(beta_, v_tensor->dtype, batch * time * heads);
  state = read_delta(state_, state_dtype(), batch * heads * depth * width);
  if (!g || !beta) throw nb::value_error(wrong);
}

void Delta::read_scaled(const TimeRows& x, std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t key,
                        double factor, bool length, std::byte* to, std::byte* spare) const {
  for (std::int64_t i = 0; i < n; ++i, to += depth * lane_size()) {
    const void* row = lanes.read(x.at(b, t + i, key), spare, static_cast<std::size_t>(depth));
    loops.scale[lanes.lane](row, depth, length, factor, to);
  }
}

void Delta::read_values(const TimeRows& x, std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t head,
                        std::int64_t first, std::int64_t columns, std::int64_t apart, std::byte* to) const {
  for (std::int64_t i = 0; i < n; ++i, to += apart * lane_size()) {
    const std::byte* from = x.at(b, t + i, head) + first * x.item;
    const void* row = lanes.read(from, to, static_cast<std::size_t>(columns));
    if (row != to) std::memcpy(to, row, static_cast<std::size_t>(columns * lane_size()));
    std::memset(to + columns * lane_size(), 0, static_cast<std::size_t>((apart - columns) * lane_size()));
  }
}

void Delta::read_gates(std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t head, std::byte* decays,
                       std::byte* betas) const {
  auto steps = static_cast<std::size_t>(n);
  std::int64_t from = row(b, t) + head;
  auto exp = static_cast<std::size_t>(UnaryOp::exp),
       lane = static_cast<std::size_t>(lanes.lane ? Lane::f64 : Lane::f32);
  lanes.k.gather[lanes.lane ? 3 : 2](g->data() + from * lane_size(), decays, steps, heads * lane_size());
  lanes.k.unary[exp][lane](decays, decays, steps);
  for (std::size_t i = 0; i < steps; ++i) {
    auto at = from + static_cast<std::int64_t>(i) * heads;
    std::byte* to = betas + i * lanes.size;
    const void* one = lanes.read(beta->data() + at * lanes.itemsize, to, 1);
    if (one != to) std::memcpy(to, one, lanes.size);
  }
}

void Delta::read_state(const std::byte* from, std::int64_t b, std::int64_t head, std::int64_t number,
                       std::byte* to) const {
  std::int64_t wide = panel * lane_size(), columns = columns_of(number) * lane_size();
  if (!from) return std::memset(to, 0, static_cast<std::size_t>(depth * wide)), void();
  from += ((b * heads + head) * depth * width + number * panel) * lane_size();
  for (std::int64_t i = 0; i < depth; ++i, from += width * lane_size(), to += wide) {
    std::memcpy(to, from, static_cast<std::size_t>(columns));
    std::memset(to + columns, 0, static_cast<std::size_t>(wide - columns));
  }
}

void Delta::write_state(const std::byte* from, std::int64_t b, std::int64_t head, std::int64_t number,
                        std::byte* to) const {
  std::int64_t wide = panel * lane_size(), columns = columns_of(number) * lane_size();
  to += ((b * heads + head) * depth * width + number * panel) * lane_size();
  for (std::int64_t i = 0; i < depth; ++i, to += width * lane_size(), from += wide)
    std::memcpy(to, from, static_cast<std::size_t>(columns));
}

namespace {

class Forward {
 public:
  Forward(const Delta& delta, std::byte* y, std::byte* last) : d(delta), y_(y), last_(last) {
    // Few heads are cut into panels, so that there is work for all threads.
    std::int64_t all = d.batch * d.heads, wanted = 2 * thread_count();
    each_ = std::max<std::int64_t>(1, d.panels);
    while (each_ > 1 && all * ((d.panels + each_ - 1) / each_) < wanted) each_ = (each_ + 1) / 2;
    parts_ = (d.panels + each_ - 1) / each_;
  }

  bool run() {
    std::int64_t cost = std::max<std::int64_t>(1, d.time * d.depth * each_ * d.panel / 4);
    parallel_for(d.batch * d.heads * parts_, std::max<std::int64_t>(1, grain / cost),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t unit = begin; unit < end; ++unit) compute(unit / parts_, unit % parts_ * each_);
                 });
    return !failed_;
  }

 private:
  enum { queries, keys, values, results, decays, betas, states, spare, buffers };

  void compute(std::int64_t of, std::int64_t first) {
    std::int64_t b = of / d.heads, head = of % d.heads, count = std::min(each_, d.panels - first);
    std::int64_t size = d.lane_size(), state = d.depth * d.panel * size, wide = count * d.panel;
    std::int64_t steps = std::min(chunk, d.time);
    OwnMemories<buffers> room;
    if (!room.take({steps * d.depth * size, steps * d.depth * size, steps * wide * size, steps * wide * size,
                    steps * size, steps * size, count * state, d.depth * size}))
      return void(failed_ = true);
    const std::byte* before = d.state ? d.state->data() : nullptr;
    for (std::int64_t p = 0; p < count; ++p) d.read_state(before, b, head, first + p, room.at[states] + p * state);
    for (std::int64_t t = 0; t < d.time; t += steps)
      advance(b, head, first, count, t, std::min(steps, d.time - t), room.at);
    for (std::int64_t p = 0; last_ && p < count; ++p)
      d.write_state(room.at[states] + p * state, b, head, first + p, last_);
  }
  void advance(std::int64_t b, std::int64_t head, std::int64_t first, std::int64_t count, std::int64_t t,
               std::int64_t steps, std::byte* const* room) {
    std::int64_t size = d.lane_size(), wide = count * d.panel, column = first * d.panel, key = head / d.group;
    std::int64_t columns = std::min(wide, d.width - column);
    d.read_scaled(d.q, b, t, steps, key, d.scale, d.normalizes, room[queries], room[spare]);
    d.read_scaled(d.k, b, t, steps, key, 1, d.normalizes, room[keys], room[spare]);
    d.read_values(d.v, b, t, steps, head, column, columns, wide, room[values]);
    d.read_gates(b, t, steps, head, room[decays], room[betas]);
    for (std::int64_t p = 0; p < count; ++p) {
      std::int64_t at = p * d.panel * size;
      DeltaSteps of{room[queries], room[keys], room[values] + at, room[decays], room[betas], steps, d.depth, wide};
      d.loops.forward[d.lanes.lane](of, room[states] + at * d.depth, room[results] + at);
    }
    for (std::int64_t i = 0; i < steps; ++i) {
      std::byte* to = y_ + ((d.row(b, t + i) + head) * d.width + column) * d.lanes.itemsize;
      d.lanes.write(room[results] + i * wide * size, to, static_cast<std::size_t>(columns));
    }
  }

  const Delta& d;
  std::byte *y_, *last_;
  std::int64_t each_, parts_;
  std::atomic<bool> failed_{false};
};

nb::object gated_delta_rule(nb::handle q, nb::handle k, nb::handle v, nb::handle g, nb::handle beta, nb::handle state,
                            double scale, bool normalizes, bool keeps) {
  Delta d(q, k, v, g, beta, state, scale, normalizes);
  nb::object y = raise_or(new_dense_tensor(d.v_tensor->dtype, 4, d.v_tensor->dims())), last = nb::none();
  std::int64_t dims[4] = {d.batch, d.heads, d.depth, d.width};
  if (keeps) last = raise_or(new_dense_tensor(d.state_dtype(), 4, dims));
  Forward forward(d, tensor_of(y.ptr())->data(), keeps ? tensor_of(last.ptr())->data() : nullptr);
  bool done = true;
  const Tensor* some = d.state ? d.state : d.g;
  run_over((d.v_tensor->size + d.batch * d.heads) * std::max<std::int64_t>(1, d.depth),
           {d.q_tensor, d.k_tensor, d.v_tensor, d.g, d.beta, some}, [&] { done = forward.run(); });
  if (!done) return no_memory(), raise_or(nullptr);
  return nb::make_tuple(y, last);
}

}  // namespace

void init_nn_delta(nb::module_& m) {
  using namespace nb::literals;
  m.def("nn_gated_delta_rule", &gated_delta_rule, "q"_a, "k"_a, "v"_a, "g"_a, "beta"_a, "state"_a.none(), "scale"_a,
        "normalizes"_a, "keeps"_a,
        nb::sig("def nn_gated_delta_rule(q: Any, k: Any, v: Any, g: Any, beta: Any, state: Any, scale: float, "
                "normalizes: bool, keeps: bool) -> tuple[Tensor, Tensor | None]"),
        "The gated delta rule of rows (batch, time, heads, columns), and the state after it. g and the state are "
        "float32, or float64 where the others are.");
}

}  // namespace suanzi
