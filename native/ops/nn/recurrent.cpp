// native/ops/nn/recurrent.cpp: nn 12: causal convolutions of each channel with its own taps, and their gradients.
//
// Blocks of whole rows, or parts of long ones, are widened, computed and narrowed in the caches; threads share blocks.
// Of the gradients each thread has some channels, whose sums over the batch it adds up in order.
#include "kernels/nn/recurrent.h"

#include <algorithm>
#include <atomic>

#include "calls/arguments.h"
#include "core/own_memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/by_level.h"
#include "kernels/nn/activations.h"
#include "ops/nn/lanes.h"

namespace suanzi {

SUANZI_BY_LEVEL(RecurrentKernels, recurrent_kernels)

namespace {

constexpr std::int64_t block = 4096;  // elements that are computed at a time

const Tensor* read(nb::handle object, const Tensor* like, std::int64_t size) {
  if (object.is_none()) return nullptr;
  const Tensor* t = read_tensor(object.ptr());
  if (!t || !t->row_major || t->size != size || t->dtype != like->dtype)
    throw nb::value_error("not what causal_conv1d takes");
  return t;
}

const std::byte* data_of(const Tensor* t) { return t ? t->data() : nullptr; }

// Dense operands (batch, channels, length), (channels, width), (channels) and (batch, channels, width - 1).
struct Causal {
  const Tensor *x, *weight, *bias, *state;
  bool silu;
  Lanes lanes;
  std::int64_t batch, channels, n, width, reach;

  static const Tensor* main(nb::handle object) {
    const Tensor* t = read_tensor(object.ptr());
    if (!t || !t->row_major || t->ndim() != 3 || !facts(t->dtype).is_float())
      throw nb::value_error("not what causal_conv1d takes");
    return t;
  }
  Causal(nb::handle x_, nb::handle weight_, nb::handle bias_, nb::handle state_, bool silu_)
      : x(main(x_)), silu(silu_), lanes(x->dtype), batch(x->dims()[0]), channels(x->dims()[1]), n(x->dims()[2]) {
    const Tensor* w = read_tensor(weight_.ptr());
    if (!w || w->ndim() != 2 || w->dims()[0] != channels || w->dims()[1] < 1)
      throw nb::value_error("not what causal_conv1d takes");
    width = w->dims()[1], reach = width - 1;
    weight = read(weight_, x, channels * width);
    bias = read(bias_, x, channels);
    state = read(state_, x, batch * channels * reach);
  }
  std::int64_t size(std::int64_t elements) const { return elements * lanes.itemsize; }
  ActivationLoop activation(Activation kind) const {
    return activation_kernels().loops[static_cast<std::size_t>(kind)][lanes.lane];
  }
};

// Elements from one on as numbers of the lane; null where there are none of the kind.
const void* lane_of(const Lanes& lanes, const std::byte* data, std::int64_t first, std::int64_t count, std::byte* to) {
  return data ? lanes.read(data + first * lanes.itemsize, to, static_cast<std::size_t>(count)) : nullptr;
}

// ---- forward ------------------------------------------------------------------------------------

class Forward {
 public:
  Forward(const Causal& causal, std::byte* y, std::byte* last)
      : c(causal), y_(y), last_(last), part_(std::max(block, c.reach)), parts_((c.n + part_ - 1) / part_),
        each_(std::max<std::int64_t>(1, block / std::max(c.n, c.width))), groups_((c.channels + each_ - 1) / each_) {}

  bool run() {
    std::int64_t cost = std::max<std::int64_t>(1, each_ * std::min(c.n, part_) * (c.silu ? 4 : 1));
    if (c.n > 0)
      parallel_for(c.batch * groups_ * parts_, std::max<std::int64_t>(1, grain / 2 / cost),
                   [&](std::int64_t begin, std::int64_t end) { units(begin, end); });
    if (last_)
      parallel_for(c.batch * c.channels, std::max<std::int64_t>(1, grain / c.width),
                   [&](std::int64_t begin, std::int64_t end) { keep_last(begin, end); });
    return !failed_;
  }

 private:
  void units(std::int64_t begin, std::int64_t end) {
    OwnMemories<5> room;
    std::int64_t most = each_ * std::min(c.n, part_) * 8, edge = each_ * c.width * 8;
    if (!room.take({most, edge, edge, each_ * 8, most})) return void(failed_ = true);
    for (std::int64_t unit = begin; unit < end; ++unit) {
      std::int64_t first = unit / parts_ % groups_ * each_, start = unit % parts_ * part_;
      compute(unit / (parts_ * groups_), first, std::min(each_, c.channels - first), start,
              std::min(part_, c.n - start), room.at);
    }
  }
  // Some channels of one of the batch; where there are several, whole rows.
  void compute(std::int64_t n, std::int64_t first, std::int64_t rows, std::int64_t start, std::int64_t columns,
               std::byte* const* room) {
    std::int64_t row = n * c.channels + first, at = row * c.n + start, count = rows * columns;
    const void* x = lane_of(c.lanes, c.x->data(), at, count, room[0]);
    const void* w = lane_of(c.lanes, c.weight->data(), first * c.width, rows * c.width, room[1]);
    const void* before = start ? lane_of(c.lanes, c.x->data(), at - c.reach, c.reach, room[2])
                               : lane_of(c.lanes, data_of(c.state), row * c.reach, rows * c.reach, room[2]);
    const void* b = lane_of(c.lanes, data_of(c.bias), first, rows, room[3]);
    std::byte* to = y_ + c.size(at);
    void* made = c.silu ? room[4] : c.lanes.target(to, room[4]);
    recurrent_kernels().convolve[c.lanes.lane]({x, before, rows, columns, c.width}, w, b, made);
    if (c.silu) {
      void* gated = c.lanes.target(to, room[0]);
      const void* in[] = {made};
      void* const out[] = {gated};
      const ActivationParameters none = {};
      c.activation(Activation::silu)(in, out, static_cast<std::size_t>(count), none);
      made = gated;
    }
    c.lanes.write(made, to, static_cast<std::size_t>(count));
  }
  // The last columns of what was before and x, as they are stored.
  void keep_last(std::int64_t begin, std::int64_t end) const {
    std::int64_t from_x = std::min(c.n, c.reach), old = c.reach - from_x;
    for (std::int64_t row = begin; row < end; ++row) {
      std::byte* to = last_ + c.size(row * c.reach);
      auto bytes = static_cast<std::size_t>(c.size(old));
      if (c.state) std::memcpy(to, c.state->data() + c.size(row * c.reach + from_x), bytes);
      else std::memset(to, 0, bytes);
      std::memcpy(to + bytes, c.x->data() + c.size((row + 1) * c.n - from_x), static_cast<std::size_t>(c.size(from_x)));
    }
  }

  const Causal& c;
  std::byte *y_, *last_;
  std::int64_t part_, parts_, each_, groups_;
  std::atomic<bool> failed_{false};
};

nb::object causal_conv1d(nb::handle x, nb::handle weight, nb::handle bias, nb::handle state, bool silu, bool keeps) {
  Causal c(x, weight, bias, state, silu);
  nb::object y = raise_or(new_dense_tensor(c.x->dtype, 3, c.x->dims())), last = nb::none();
  std::int64_t dims[3] = {c.batch, c.channels, c.reach};
  if (keeps) last = raise_or(new_dense_tensor(c.x->dtype, 3, dims));
  Forward forward(c, tensor_of(y.ptr())->data(), keeps ? tensor_of(last.ptr())->data() : nullptr);
  bool done = true;
  const Tensor* some = c.state ? c.state : c.x;
  run_over(c.x->size + c.batch * c.channels, {c.x, c.weight, c.bias ? c.bias : c.x, some},
           [&] { done = forward.run(); });
  if (!done) return no_memory(), raise_or(nullptr);
  return nb::make_tuple(y, last);
}

// ---- gradients ----------------------------------------------------------------------------------

class Backward {
 public:
  Backward(const Causal& causal, const Tensor* grad, const Tensor* after) : c(causal), grad_(grad), after_(after) {}

  std::byte *by_x, *by_weight, *by_bias = nullptr, *by_state = nullptr;

  bool run() {
    std::int64_t each = std::max<std::int64_t>(1, block / std::max(c.n, c.width));
    std::int64_t groups = (c.channels + each - 1) / each, cost = std::max<std::int64_t>(1, each * c.n * c.batch * 8);
    parallel_for(groups, std::max<std::int64_t>(1, grain / 2 / cost), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t g = begin; g < end; ++g) channels(g * each, std::min(each, c.channels - g * each));
    });
    return !failed_;
  }

 private:
  enum { given, wide_grad, weights, sums, before, late, biases, middle, made, early, buffers };

  void channels(std::int64_t first, std::int64_t rows) {
    OwnMemories<buffers> room;
    std::int64_t most = rows * c.n * 8, edge = rows * c.width * 8, few = rows * 8;
    if (!room.take({most, most, edge, edge + few, edge, edge, few, most, most, edge})) return void(failed_ = true);
    auto* sum = reinterpret_cast<double*>(room.at[sums]);
    double* bias_sum = sum + rows * c.width;
    std::fill_n(sum, rows * (c.width + 1), 0.0);
    for (std::int64_t n = 0; n < c.batch; ++n) one(n, first, rows, room.at, sum, c.bias ? bias_sum : nullptr);
    for (std::int64_t i = 0; i < rows * c.width; ++i) c.lanes.put(sum[i], by_weight + c.size(first * c.width + i));
    for (std::int64_t i = 0; c.bias && i < rows; ++i) c.lanes.put(bias_sum[i], by_bias + c.size(first + i));
  }
  void one(std::int64_t n, std::int64_t first, std::int64_t rows, std::byte* const* room, double* weight_sums,
           double* bias_sums) {
    const RecurrentKernels& loops = recurrent_kernels();
    std::size_t lane = c.lanes.lane;
    std::int64_t row = n * c.channels + first, at = row * c.n, count = rows * c.n, edge = rows * c.reach;
    const void* x = lane_of(c.lanes, c.x->data(), at, count, room[given]);
    const void* g = lane_of(c.lanes, grad_->data(), at, count, room[wide_grad]);
    const void* w = lane_of(c.lanes, c.weight->data(), first * c.width, rows * c.width, room[weights]);
    const void* old = lane_of(c.lanes, data_of(c.state), row * c.reach, edge, room[before]);
    const void* last = lane_of(c.lanes, data_of(after_), row * c.reach, edge, room[late]);
    CausalRows of{x, old, rows, c.n, c.width};
    if (c.silu) {
      const void* b = lane_of(c.lanes, data_of(c.bias), first, rows, room[biases]);
      loops.convolve[lane](of, w, b, room[middle]);
      const void* in[] = {g, room[middle]};
      void* const out[] = {room[made]};
      const ActivationParameters none = {};
      c.activation(Activation::silu_bwd)(in, out, static_cast<std::size_t>(count), none);
      g = room[made];
    }
    loops.add_weights[lane](of, g, weight_sums, bias_sums);
    std::byte* to = by_x + c.size(at);
    std::byte* to_state = by_state ? by_state + c.size(row * c.reach) : nullptr;
    void* x_grad = c.lanes.target(to, room[middle]);
    void* state_grad = to_state ? c.lanes.target(to_state, room[early]) : nullptr;
    loops.convolve_back[lane]({g, nullptr, rows, c.n, c.width}, w, last, x_grad, state_grad);
    c.lanes.write(x_grad, to, static_cast<std::size_t>(count));
    if (to_state) c.lanes.write(state_grad, to_state, static_cast<std::size_t>(edge));
  }

  const Causal& c;
  const Tensor *grad_, *after_;
  std::atomic<bool> failed_{false};
};

nb::object causal_conv1d_bwd(nb::handle out_grad, nb::handle x, nb::handle weight, nb::handle bias, nb::handle state,
                             nb::handle state_grad, bool silu) {
  Causal c(x, weight, bias, state, silu);
  const Tensor* grad = read(out_grad, c.x, c.x->size);
  const Tensor* after = read(state_grad, c.x, c.batch * c.channels * c.reach);
  if (!grad) throw nb::value_error("not what causal_conv1d takes");
  auto like = [&](const Tensor* t) { return raise_or(new_dense_tensor(t->dtype, t->ndim(), t->dims())); };
  nb::object by_x = like(c.x), by_weight = like(c.weight), by_bias = nb::none(), by_state = nb::none();
  Backward backward(c, grad, after);
  backward.by_x = tensor_of(by_x.ptr())->data(), backward.by_weight = tensor_of(by_weight.ptr())->data();
  if (c.bias) by_bias = like(c.bias), backward.by_bias = tensor_of(by_bias.ptr())->data();
  if (c.state) by_state = like(c.state), backward.by_state = tensor_of(by_state.ptr())->data();
  auto or_x = [&](const Tensor* t) { return t ? t : c.x; };
  bool done = true;
  run_over(c.x->size * 4, {c.x, c.weight, or_x(c.bias), or_x(c.state), grad, or_x(after)},
           [&] { done = backward.run(); });
  if (!done) return no_memory(), raise_or(nullptr);
  return nb::make_tuple(by_x, by_weight, by_bias, by_state);
}

}  // namespace

void init_nn_recurrent(nb::module_& m) {
  using namespace nb::literals;
  m.def("nn_causal_conv1d", &causal_conv1d, "x"_a, "weight"_a, "bias"_a.none(), "state"_a.none(), "silu"_a, "keeps"_a,
        nb::sig("def nn_causal_conv1d(x: Any, weight: Any, bias: Any, state: Any, silu: bool, keeps: bool) -> "
                "tuple[Tensor, Tensor | None]"),
        "Dense rows (batch, channels, length), each with the taps of its channel, and the elements before those of the "
        "next call.");
  m.def("nn_causal_conv1d_bwd", &causal_conv1d_bwd, "out_grad"_a, "x"_a, "weight"_a, "bias"_a.none(), "state"_a.none(),
        "state_grad"_a.none(), "silu"_a,
        nb::sig("def nn_causal_conv1d_bwd(out_grad: Any, x: Any, weight: Any, bias: Any, state: Any, state_grad: Any, "
                "silu: bool) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]"),
        "The gradients of x, weights, biases and the state.");
}

}  // namespace suanzi
