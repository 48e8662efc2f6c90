// native/ops/nn_rotary.cpp: nn 8.2: rotary embeddings: pairs of elements of a row, each turned by an angle.
//
// A row is widened, turned and narrowed in the first-level cache; threads share rows.
#include "calls/arguments.h"
#include "core/status.h"
#include "ops/nn_attention.h"

namespace suanzi {
namespace {

struct Rotation {
  Heads x, cosines, sines;  // (leading axes but one, 1, rows, columns)
  int ndim = 0;
  std::int64_t dims[max_ndim], columns, pairs, apart, step;
  bool back;
  std::byte* out;

  void run(std::int64_t begin, std::int64_t end) const {
    const Kernels& k = kernels();
    const AttentionKernels& loops = attention_kernels();
    const Layer& layer = layer_of(x.dtype);
    std::size_t lane = x.dtype == Dtype::float64;
    auto lane_item = static_cast<std::int64_t>(lane ? 8 : 4);
    OwnMemory memory[4];
    std::byte* buffers[4];
    for (int i = 0; i < 4; ++i) buffers[i] = memory[i].take(columns * 8);
    if (!buffers[0] || !buffers[1] || !buffers[2] || !buffers[3]) return fail();
    for (std::int64_t row = begin; row < end; ++row) {
      auto at = offsets_of(row, ndim, dims, x.batch, cosines.batch, sines.batch);
      const std::byte* from = lane_row(k, x.at(at[0]), x.dtype, x.column, columns, buffers[0], buffers[3]);
      const std::byte* c = lane_row(k, cosines.at(at[1]), x.dtype, cosines.column, pairs, buffers[1], buffers[3]);
      const std::byte* s = lane_row(k, sines.at(at[2]), x.dtype, sines.column, pairs, buffers[2], buffers[3]);
      std::byte* stored = out + row * columns * x.item;
      std::byte* to = layer.is_narrow ? buffers[3] : stored;
      loops.rotate[lane](from, c, s, to, static_cast<std::size_t>(pairs), apart, step, back);
      auto rest = static_cast<std::size_t>((columns - 2 * pairs) * lane_item);
      std::memcpy(to + 2 * pairs * lane_item, from + 2 * pairs * lane_item, rest);
      if (layer.is_narrow)
        k.narrow[static_cast<std::size_t>(layer.narrow)](to, stored, static_cast<std::size_t>(columns));
    }
  }
  void fail() const { failed = true; }
  mutable std::atomic<bool> failed{false};
};

void read(Heads& to, const Tensor& t) {
  int n = t.ndim() - 1;
  to.data = t.data(), to.dtype = t.dtype, to.item = static_cast<std::int64_t>(t.itemsize());
  std::copy_n(t.strides(), n, to.batch);
  to.column = t.strides()[n];
}

nb::object rotary(nb::handle x_, nb::handle cosines_, nb::handle sines_, bool interleaved, bool back) {
  const Tensor *x = read_tensor(x_.ptr()), *c = read_tensor(cosines_.ptr()), *s = read_tensor(sines_.ptr());
  if (!x || !c || !s || x->ndim() < 1 || !facts(x->dtype).is_float()) throw nb::type_error("not what rotary takes");
  Rotation r;
  r.ndim = x->ndim() - 1;
  r.columns = x->dims()[r.ndim];
  for (const Tensor* t : {c, s}) {
    bool fits = t->ndim() == x->ndim() && t->dtype == x->dtype && t->dims()[r.ndim] == c->dims()[r.ndim] &&
                std::equal(x->dims(), x->dims() + r.ndim, t->dims());
    if (!fits || c->dims()[r.ndim] > r.columns / 2) throw nb::value_error("shapes of rotary do not go together");
  }
  std::copy_n(x->dims(), r.ndim, r.dims);
  r.pairs = c->dims()[r.ndim];
  r.apart = interleaved ? 1 : r.pairs, r.step = interleaved ? 2 : 1, r.back = back;
  read(r.x, *x), read(r.cosines, *c), read(r.sines, *s);
  nb::object made = raise_or(new_dense_tensor(x->dtype, x->ndim(), x->dims()));
  const Tensor& out = *tensor_of(made.ptr());
  if (out.size == 0) return made;
  r.out = out.data();
  std::int64_t least = std::max<std::int64_t>(1, grain / 2 / r.columns);
  run_over(out.size, {x, c, s}, [&] {
    parallel_for(out.size / r.columns, least, [&](std::int64_t begin, std::int64_t end) { r.run(begin, end); });
  });
  if (r.failed) raise_or(no_memory());
  return made;
}

}  // namespace

void init_nn_rotary(nb::module_& m) {
  define(m, "def rotary(x: Any, cosines: Any, sines: Any, interleaved: bool, back: bool) -> Tensor",
         "Pairs of the last axis turned by angles; with `back`, by their negatives. All are of one dtype, and of one "
         "shape but for the last axis.",
         &rotary);
}

}  // namespace suanzi
