// native/ops/nn/optimizers.cpp: nn 13: steps of optimizers.
//
// Blocks of all operands are widened, computed and narrowed once in the first-level cache; threads share blocks.
#include "kernels/nn/optimizers.h"

#include <algorithm>

#include "calls/arguments.h"
#include "core/status.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/by_level.h"
#include "loops/blocks.h"
#include "ops/nn/lanes.h"

namespace suanzi {

SUANZI_BY_LEVEL(OptimizerKernels, optimizer_kernels)

namespace {

constexpr std::int64_t block = 512;  // what is in the first-level cache as float64, of all operands
constexpr int most_inputs = 5, most_outputs = 4;

struct Step {
  Lanes lanes;
  AdamwNumbers numbers;
  std::int64_t size;
  const std::byte* in[most_inputs];  // the last may be null
  std::byte* out[most_outputs];
  bool streams;

  void run(std::int64_t begin, std::int64_t end) const {
    alignas(64) std::byte wide[most_inputs][block * 8], made[most_outputs][block * 8];
    for (std::int64_t b = begin; b < end; ++b) one(b * block, std::min(block, size - b * block), wide, made);
    if (streams) lanes.k.end_stream();
  }
  void one(std::int64_t first, std::int64_t count, std::byte (&wide)[most_inputs][block * 8],
           std::byte (&made)[most_outputs][block * 8]) const {
    auto n = static_cast<std::size_t>(count);
    const void* from[most_inputs] = {};
    void* to[most_outputs] = {};
    bool by_way = streams && !lanes.is_narrow();
    for (int i = 0; i < most_inputs; ++i)
      if (in[i]) from[i] = lanes.read(in[i] + first * lanes.itemsize, wide[i], n);
    for (int i = 0; i < most_outputs; ++i)
      if (out[i]) to[i] = by_way ? made[i] : lanes.target(out[i] + first * lanes.itemsize, made[i]);
    optimizer_kernels().adamw[lanes.lane](from, to, n, numbers);
    for (int i = 0; i < most_outputs; ++i) {
      if (!out[i]) continue;
      std::byte* at = out[i] + first * lanes.itemsize;
      if (by_way) lanes.k.stream(to[i], at, n * lanes.size);
      else lanes.write(to[i], at, n);
    }
  }
};

nb::object adamw(const nb::list& operands, const nb::list& values, bool maximize) {
  const Tensor* t[most_inputs] = {};
  auto count = static_cast<int>(operands.size());
  bool fits = count >= most_inputs - 1 && count <= most_inputs && values.size() == 8;
  for (int i = 0; fits && i < count; ++i) {
    t[i] = read_tensor(nb::handle(operands[static_cast<std::size_t>(i)]).ptr());
    fits = t[i] && t[i]->row_major && t[i]->dtype == t[0]->dtype && t[i]->size == t[0]->size &&
           facts(t[i]->dtype).is_float();
  }
  if (!fits) throw nb::value_error("not what adamw takes");
  auto value = [&](std::size_t i) { return nb::cast<double>(values[i]); };
  Step step{Lanes(t[0]->dtype), {}, t[0]->size, {}, {}, false};
  step.numbers = {value(0), value(1), value(2), value(3), value(4), value(5), value(6), value(7), maximize};
  nb::list made;
  for (int i = 0; i < count; ++i) {
    step.in[i] = t[i]->data();
    if (i == 1) continue;
    nb::object one = raise_or(new_dense_tensor(t[0]->dtype, t[0]->ndim(), t[0]->dims()));
    step.out[i ? i - 1 : 0] = tensor_of(one.ptr())->data();
    made.append(one);
  }
  step.streams = step.size * step.lanes.itemsize >= stream_from();
  const Tensor* last = t[most_inputs - 1] ? t[most_inputs - 1] : t[0];
  run_over(step.size * 4, {t[0], t[1], t[2], t[3], last}, [&] {
    parallel_for((step.size + block - 1) / block, grain / 4 / block,
                 [&](std::int64_t begin, std::int64_t end) { step.run(begin, end); });
  });
  return made;
}

}  // namespace

void init_nn_optimizers(nb::module_& m) {
  define(m, "def nn_adamw(operands: list[Tensor], values: list[float], maximize: bool) -> list[Tensor]",
         "A step over dense tensors: param, grad, exp_avg, exp_avg_sq and, where it is kept, its largest; all but grad "
         "anew. The values are 1 - lr weight_decay, 1 - beta1, beta1, beta2, 1 - beta2, lr by the correction of the "
         "average, the root of that of the squares, and eps.",
         adamw);
}

}  // namespace suanzi
