// native/ops/reduction/partly.cpp: 7.2.13.1, 7.2.17.11: parts of a reduction, made on several machines and combined.
#include <nanobind/stl/vector.h>

#include <new>

#include "core/without_gil.h"
#include "ops/reduction/loops.h"

namespace suanzi {
namespace {

// Of a mode of reduce, or with `norm` of a part of norms.
const Reduction& reduction_named(int mode, bool norm, Dtype dtype) {
  std::size_t at = static_cast<std::size_t>(mode);
  if (mode < 0 || at >= (norm ? norm_part_count : reduce_mode_count)) throw nb::value_error("no such reduction");
  const Reduction& r = norm ? kernels().reductions->norms[at][static_cast<std::size_t>(dtype)]
                            : reduction(static_cast<ReduceMode>(at), dtype);
  if (!r.rows) throw nb::value_error("no such reduction of this dtype");
  return r;
}

// So many that their bytes can be counted.
constexpr std::int64_t most_results = std::int64_t{1} << 56;

// The memory of a dense tensor that has as many bytes as are expected.
std::byte* bytes_of(nb::handle object, std::int64_t expected) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || !is_row_major(t->ndim(), t->dims(), t->strides()) ||
      t->size * static_cast<std::int64_t>(t->itemsize()) != expected)
    throw nb::value_error("not as many bytes as results");
  return t->data();
}

void reduce_partly(nb::handle object, int mode, bool norm, const std::vector<int>& axes, nb::handle out) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || t->size == 0) throw nb::value_error("nothing to reduce");
  const Reduction& r = reduction_named(mode, norm, t->dtype);
  std::uint64_t mask = mask_of(*t, axes);
  std::int64_t outputs = 1;
  for (int d = 0; d < t->ndim(); ++d) outputs *= mask >> d & 1 ? 1 : t->dims()[d];
  if (outputs > most_results) throw nb::value_error("not as many bytes as results");
  std::byte* to = bytes_of(out, outputs * r.partial_size);
  Reducer reducer(*t, mask, r);
  if (!reducer.prepare()) throw std::bad_alloc();
  run_over(t->size, {t, read_tensor(out.ptr())}, [&] { reducer.run(to, true); });
}

void combine_partly(nb::handle a, nb::handle b, int mode, bool norm, const DtypeInfo& dtype, std::int64_t count) {
  const Reduction& r = reduction_named(mode, norm, dtype_of(dtype));
  if (count < 0 || count > most_results) throw nb::value_error("not as many bytes as results");
  r.combine(bytes_of(a, count * r.partial_size), bytes_of(b, count * r.partial_size), count);
}

void finish_partly(nb::handle partials, int mode, bool norm, const DtypeInfo& dtype, std::int64_t n, nb::handle out) {
  const Reduction& r = reduction_named(mode, norm, dtype_of(dtype));
  const Tensor* made = read_tensor(out.ptr());
  if (!made || made->dtype != r.result || n < 1) throw nb::value_error("not a tensor of results");
  const std::byte* from = bytes_of(partials, made->size * r.partial_size);
  r.finish(from, made->size, n, bytes_of(out, made->size * static_cast<std::int64_t>(made->itemsize())));
}

}  // namespace

void init_reduction_partly(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "partial_size",
      [](int mode, bool norm, const DtypeInfo& dtype) {
        return reduction_named(mode, norm, dtype_of(dtype)).partial_size;
      },
      "mode"_a, "norm"_a, "dtype"_a, "The bytes of a partial result of reduce, or of a part of norms.");
  define(m, "def reduce_partly(tensor: Any, mode: int, norm: bool, axes: Sequence[int], out: Any) -> None",
         "Writes partial results along axes into bytes.", reduce_partly);
  define(m, "def combine_partly(a: Any, b: Any, mode: int, norm: bool, dtype: DType, count: int) -> None",
         "Combines partial results with those of elements that come after them, in place.", combine_partly);
  define(m, "def finish_partly(partials: Any, mode: int, norm: bool, dtype: DType, n: int, out: Any) -> None",
         "Makes results of partial ones, each of n elements.", finish_partly);
}

}  // namespace suanzi
