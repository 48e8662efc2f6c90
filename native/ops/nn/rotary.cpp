// native/ops/nn/rotary.cpp: nn 8.2: rotary embeddings: pairs of elements of a row, each turned by an angle.
//
// A row is widened, turned and narrowed in the first-level cache; threads share rows.
#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "core/status.h"
#include "ops/nn/attention.h"

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

// Reads a tensor whose axes but the last are those of x, or 1, or missing; false if they are not.
bool read(Heads& to, const Tensor& t, const Tensor& x) {
  int n = x.ndim() - 1, missing = x.ndim() - t.ndim();
  if (t.ndim() < 1 || missing < 0 || t.dtype != x.dtype) return false;
  to.data = t.data(), to.dtype = t.dtype, to.item = static_cast<std::int64_t>(t.itemsize());
  for (int d = 0; d < n; ++d) {
    std::int64_t size = d < missing ? 1 : t.dims()[d - missing];
    if (size != 1 && size != x.dims()[d]) return false;
    to.batch[d] = size == 1 ? 0 : t.strides()[d - missing];
  }
  to.column = t.strides()[t.ndim() - 1];
  return true;
}

// What goes together, else false.
bool read(Rotation& r, const Tensor* x, const Tensor* c, const Tensor* s, bool interleaved, bool back) {
  if (!x || !c || !s || x->ndim() < 1 || !facts(x->dtype).is_float() || !read(r.x, *x, *x) ||
      !read(r.cosines, *c, *x) || !read(r.sines, *s, *x))
    return false;
  r.ndim = x->ndim() - 1;
  std::copy_n(x->dims(), r.ndim, r.dims);
  r.columns = x->dims()[r.ndim], r.pairs = c->dims()[c->ndim() - 1];
  r.apart = interleaved ? 1 : r.pairs, r.step = interleaved ? 2 : 1, r.back = back;
  return s->dims()[s->ndim() - 1] == r.pairs && r.pairs <= r.columns / 2;
}

// The result, or null and an exception.
PyObject* result_of(Rotation& r, const Tensor* x, const Tensor* c, const Tensor* s) {
  PyObject* object = new_dense_tensor(x->dtype, x->ndim(), x->dims());
  if (!object) return nullptr;
  nb::object made = nb::steal(object);
  const Tensor& out = *tensor_of(object);
  if (out.size == 0) return made.release().ptr();
  r.out = out.data();
  std::int64_t least = std::max<std::int64_t>(1, grain / 2 / r.columns);
  run_over(out.size, {x, c, s}, [&] {
    parallel_for(out.size / r.columns, least, [&](std::int64_t begin, std::int64_t end) { r.run(begin, end); });
  });
  return r.failed ? no_memory() : made.release().ptr();
}

nb::object rotary(nb::handle x_, nb::handle cosines_, nb::handle sines_, bool interleaved, bool back) {
  const Tensor *x = read_tensor(x_.ptr()), *c = read_tensor(cosines_.ptr()), *s = read_tensor(sines_.ptr());
  Rotation r;
  if (!read(r, x, c, s, interleaved, back)) throw nb::value_error("not what rotary takes");
  return raise_or(result_of(r, x, c, s));
}

PyObject* fast_rotary(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"nn:rotary_embedding"};
  if (count > 3) return nullptr;
  Given given({"x", "cos", "sin", "interleaved"}, args, count, keywords);
  bool interleaved = false;
  if (!given[0] || !given[1] || !given[2] || !read_flag(given[3], interleaved)) return nullptr;
  const Tensor *x = read_tensor(given[0]), *c = read_tensor(given[1]), *s = read_tensor(given[2]);
  Rotation r;
  if (!read(r, x, c, s, interleaved, false) || !promoted.keeps_dtype(given[0], given[1])) return nullptr;
  return result_of(r, x, c, s);
}

}  // namespace

void init_nn_rotary(nb::module_& m) {
  add_fast_path<fast_rotary>("rotary_embedding");
  define(m, "def rotary(x: Any, cosines: Any, sines: Any, interleaved: bool, back: bool) -> Tensor",
         "Pairs of the last axis turned by angles; with `back`, by their negatives. All are of one dtype; the tables "
         "broadcast to x but for the last axis.",
         &rotary);
}

}  // namespace suanzi
