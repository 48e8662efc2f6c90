// native/ops/transformation/gather_scatter.cpp: 7.2.3.17, 7.2.3.18: elements gathered by indices, and scattered.
#include <nanobind/stl/vector.h>

#include <optional>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/operands.h"
#include "loops/axes.h"
#include "loops/blocks.h"

namespace suanzi {
namespace {

bool is_index(Dtype dtype) { return facts(dtype).is_integer() && facts(dtype).bits >= 8; }

// ---- indices ------------------------------------------------------------------------------------

// Indices of any integer dtype as 64-bit ones, row-major; what does not fit becomes -2^63.
void load_indices(const Tensor& t, std::int64_t* out) {
  if (t.size == 0) return;  // strides of nothing may be more bytes than fit
  run_move(Move::to_dense(reinterpret_cast<std::byte*>(out), Dtype::int64, t.data(), t.dtype, t.ndim(), t.dims(),
                          t.strides(), static_cast<std::int64_t>(t.itemsize())));
  if (t.dtype == Dtype::uint64)
    for (std::int64_t i = 0; i < t.size; ++i)
      if (out[i] < 0) out[i] = INT64_MIN;
}

// Adds `stride` times each index to `offsets`, and returns the place of the first index that is not
// in [0, dim), or with `wraps` in [-dim, dim); -1 if there is none.
std::int64_t add_offsets(const std::int64_t* indices, std::int64_t n, std::int64_t dim, std::int64_t stride, bool wraps,
                         bool first, std::int64_t* offsets) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t index = indices[i];
    if (wraps && index < 0) index += dim;
    if (index < 0 || index >= dim) return i;
    // Strides of nothing may be more than can be counted; nobody follows such offsets.
    auto along = static_cast<std::uint64_t>(index) * static_cast<std::uint64_t>(stride);
    offsets[i] = static_cast<std::int64_t>((first ? 0 : static_cast<std::uint64_t>(offsets[i])) + along);
  }
  return -1;
}

// Indices side by side, one tensor for each axis, of one shape: where the elements are, counted in
// elements of which `strides` are given. Raises the tensor and the place of a bad index.
nb::object index_offsets(const std::vector<nb::handle>& indices, const std::vector<std::int64_t>& dims,
                         const std::vector<std::int64_t>& strides, bool wraps) {
  if (indices.empty() || indices.size() != dims.size() || dims.size() != strides.size())
    throw nb::value_error("a size and a stride for each tensor of indices");
  const Tensor* first = read_tensor(indices[0].ptr());
  if (!first) throw nb::type_error("not a tensor");
  nb::object made = raise_or(new_dense_tensor(Dtype::int64, first->ndim(), first->dims()));
  nb::object loaded = raise_or(new_dense_tensor(Dtype::int64, first->ndim(), first->dims()));
  auto* offsets = reinterpret_cast<std::int64_t*>(tensor_of(made.ptr())->data());
  auto* values = reinterpret_cast<std::int64_t*>(tensor_of(loaded.ptr())->data());
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Tensor* t = read_tensor(indices[k].ptr());
    if (dims[k] < 0) throw nb::value_error("a size below 0");
    if (!t || !is_index(t->dtype) || t->ndim() != first->ndim() ||
        !std::equal(t->dims(), t->dims() + t->ndim(), first->dims()))
      throw nb::value_error("indices are integers, in tensors of one shape");
    load_indices(*t, values);
    std::int64_t bad = add_offsets(values, t->size, dims[k], strides[k], wraps, k == 0, offsets);
    if (bad >= 0) return nb::make_tuple(k, bad);
  }
  return made;
}

// ---- gather -------------------------------------------------------------------------------------

// The offsets that the axes [axis, axis + picked) of a tensor lead to, in elements: `count` of them from `least` on.
// One of them stays within the tensor's memory wherever it is added, even where it is between two elements.
struct Reach {
  std::int64_t least = 0, count = 1;

  Reach(const Tensor& t, int axis, int picked) {
    if (t.size == 0) count = 0;
    for (int d = axis; d < axis + picked && t.size > 0; ++d) {
      std::int64_t last = (t.dims()[d] - 1) * t.strides()[d];
      count += last < 0 ? -last : last;
      if (last < 0) least += last;
    }
  }
  bool has(std::int64_t offset) const {
    return static_cast<std::uint64_t>(offset) - static_cast<std::uint64_t>(least) < static_cast<std::uint64_t>(count);
  }
};

// A tensor seen as [outer, picked, row]: for each outer place, rows, which may be of any strides.
struct Rows {
  std::int64_t outer = 1, row_elements = 1;
  std::size_t row_bytes;
  int outer_ndim;
  bool dense;  // each row is one piece
  Move move;   // of a row that is not
  const Tensor& t;
  std::byte* data;  // as it is now: another thread may destroy the tensor while rows are copied

  // The axes [axis, axis + picked) are the ones that are indexed.
  Rows(const Tensor& tensor, int axis, int picked) : outer_ndim(axis), t(tensor), data(tensor.data()) {
    // Without elements, indices are checked once, however often there would be something to pick.
    auto times = [&](std::int64_t n) { return t.size == 0 ? std::min<std::int64_t>(n, 1) : n; };
    for (int d = 0; d < axis; ++d) outer *= times(t.dims()[d]);
    for (int d = axis + picked; d < t.ndim(); ++d) row_elements *= times(t.dims()[d]);
    row_bytes = static_cast<std::size_t>(row_elements) * t.itemsize();
    dense = are_dense(t, axis, picked);
    move.ndim = t.ndim() - axis - picked;
    move.to_dtype = move.from_dtype = t.dtype;
    auto item = static_cast<std::int64_t>(t.itemsize());
    std::int64_t stride = item;
    for (int d = move.ndim; d-- > 0;) {
      move.dims[d] = times(t.dims()[axis + picked + d]);
      move.from_strides[d] = t.size == 0 ? 0 : t.strides()[axis + picked + d] * item;
      move.to_strides[d] = stride;
      stride *= move.dims[d];
    }
  }
  // Copies one row to where it is dense.
  void copy(const std::byte* from, std::byte* to) const {
    Move one = move;
    one.from = from;
    one.to = to;
    run_move(one);
  }
  static bool are_dense(const Tensor& t, int axis, int picked) {
    int first = axis + picked;
    return is_row_major(t.ndim() - first, t.dims() + first, t.strides() + first);
  }
  std::byte* at(std::int64_t outer_index) const {
    std::int64_t offset = offsets_of(outer_index, outer_ndim, t.dims(), t.strides())[0];
    return data + offset * static_cast<std::int64_t>(t.itemsize());
  }
};

template <std::size_t size>
void pick_elements(const std::byte* from, const std::int64_t* offsets, std::int64_t n, std::byte* to) {
  constexpr auto bytes = static_cast<std::int64_t>(size);
  constexpr std::int64_t ahead = 16;
  std::int64_t i = 0;
  for (; i + ahead < n; ++i) {
    __builtin_prefetch(from + offsets[i + ahead] * bytes);
    std::memcpy(to + i * bytes, from + offsets[i] * bytes, size);
  }
  for (; i < n; ++i) std::memcpy(to + i * bytes, from + offsets[i] * bytes, size);
}

using PickElements = void (*)(const std::byte*, const std::int64_t*, std::int64_t, std::byte*);
constexpr PickElements picks[size_count] = {pick_elements<1>, pick_elements<2>, pick_elements<4>, pick_elements<8>,
                                            pick_elements<16>};

// Indices that are read block by block, checked, and made offsets, while rows are copied: each is
// looked at once, so that another thread cannot change it after it was checked.
class Indices {
 public:
  static constexpr std::int64_t block = block_bytes / 8;

  // `dim` and `stride` are those of the axis that is indexed.
  Indices(const Tensor& t, std::int64_t dim, std::int64_t stride) : Indices(t, 0, dim, stride) {}
  // What is in `t` are offsets.
  Indices(const Tensor& t, const Reach& reach) : Indices(t, reach.least, reach.count, 1) {}

  std::int64_t count() const { return loop_.size; }

  // Up to `block` offsets from `begin` on; null if one of the indices points to nothing.
  const std::int64_t* read(std::int64_t begin, std::int64_t n, Buffer* buffers, Buffer& offsets) const {
    auto* indices = reinterpret_cast<const std::int64_t*>(
        reader_->repeats() ? reader_->spread(buffers, offsets, 8, static_cast<std::size_t>(n))
                           : reader_->read(begin, static_cast<std::size_t>(n), buffers));
    auto* made = reinterpret_cast<std::int64_t*>(offsets.bytes);
    auto limit = static_cast<std::uint64_t>(count_), least = static_cast<std::uint64_t>(least_);
    bool bad = false;
    for (std::int64_t i = 0; i < n; ++i) {
      auto index = static_cast<std::uint64_t>(indices[i]);  // whose product may overflow if it is bad
      bad |= index - least >= limit;
      made[i] = static_cast<std::int64_t>(index * static_cast<std::uint64_t>(stride_));
    }
    return bad ? nullptr : made;
  }

 private:
  Indices(const Tensor& t, std::int64_t least, std::int64_t count, std::int64_t stride)
      : least_(least), count_(count), stride_(stride) {
    operand_.tensor = &t;
    operand_.dtype = t.dtype;
    together_.emplace(&operand_, 1);
    together_->use_row_major();
    together_->make_loop(loop_);
    reader_.emplace(loop_, loop_.inputs[0], kernels(), cast_path(kernels(), t.dtype, Dtype::int64, false));
  }

  std::int64_t least_, count_, stride_;
  Operand operand_;
  std::optional<Together> together_;
  Loop loop_;
  std::optional<Reader> reader_;
};

// Copies the rows that indices point to, for each outer place; false if one points to nothing.
bool gather_rows(const Rows& rows, const Indices& indices, std::byte* to) {
  const Kernels& k = kernels();
  auto item = static_cast<std::int64_t>(rows.t.itemsize()), bytes = static_cast<std::int64_t>(rows.row_bytes);
  std::int64_t n = indices.count(), total = rows.outer * n;
  bool streams = 2 * total * bytes >= stream_from() && bytes >= 512;
  // Rows that are long and not dense are shared among threads one by one.
  bool one_by_one = !rows.dense && rows.row_elements >= grain;
  std::int64_t part =
      one_by_one ? total : std::max<std::int64_t>(grain / std::max<std::int64_t>(rows.row_elements, 1), 1);
  PickElements pick = picks[layer_of(rows.t.dtype).log2_size];
  std::atomic<bool> good{true};
  parallel_for(total, part, [&](std::int64_t begin, std::int64_t end) {
    Buffer buffers[2], made;
    while (begin < end) {
      std::int64_t first = begin % n, count = std::min({n - first, end - begin, Indices::block});
      const std::int64_t* offsets = indices.read(first, count, buffers, made);
      if (!offsets) {
        good.store(false, std::memory_order_relaxed);
        break;
      }
      const std::byte* from = rows.at(begin / n);
      std::byte* out = to + begin * bytes;
      if (rows.row_elements == 1) pick(from, offsets, count, out);
      else
        for (std::int64_t i = 0; i < count; ++i, out += bytes) {
          if (!rows.dense) rows.copy(from + offsets[i] * item, out);
          else if (streams) k.stream(from + offsets[i] * item, out, rows.row_bytes);
          else std::memcpy(out, from + offsets[i] * item, rows.row_bytes);
        }
      begin += count;
    }
    if (streams) k.end_stream();
  });
  return good.load(std::memory_order_relaxed);
}

// The output [outer axes, shape of the indices, axes of a row].
PyObject* new_gathered(const Tensor& t, int axis, int picked, int index_ndim, const std::int64_t* index_dims) {
  std::int64_t dims[3 * max_ndim];
  int ndim = 0;
  for (int d = 0; d < axis; ++d) dims[ndim++] = t.dims()[d];
  for (int d = 0; d < index_ndim; ++d) dims[ndim++] = index_dims[d];
  for (int d = axis + picked; d < t.ndim(); ++d) dims[ndim++] = t.dims()[d];
  return new_dense_tensor(t.dtype, ndim, dims);
}

nb::object gather_checked(nb::handle object, int axis, int picked, nb::handle offsets_object) {
  const Tensor *t = read_tensor(object.ptr()), *offsets = read_tensor(offsets_object.ptr());
  if (!t || !offsets || offsets->dtype != Dtype::int64 || !offsets->row_major || axis < 0 || picked < 0 ||
      axis + picked > t->ndim() || t->ndim() - picked + offsets->ndim() > max_ndim)
    throw nb::value_error("not what gather takes");
  nb::object output = raise_or(new_gathered(*t, axis, picked, offsets->ndim(), offsets->dims()));
  Rows rows(*t, axis, picked);
  std::byte* to = tensor_of(output.ptr())->data();
  std::int64_t size = tensor_of(output.ptr())->size;
  Indices places(*offsets, Reach(*t, axis, picked));
  bool good = true;
  if (size > 0) run_over(size, {t, offsets}, [&] { good = gather_rows(rows, places, to); });
  if (!good) throw nb::value_error("an offset leads out of the tensor");
  return output;
}

// Rows of a tensor by a tensor of indices of rank 1.
PyObject* fast_gather(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (keywords || count != 2) return nullptr;
  const Tensor *t = read_tensor(args[0]), *index = read_tensor(args[1]);
  if (!t || !index || t->ndim() == 0 || index->ndim() != 1 || !is_index(index->dtype)) return nullptr;
  if (t->quantization || !Rows::are_dense(*t, 0, 1)) return nullptr;
  PyObject* output = new_gathered(*t, 0, 1, 1, index->dims());
  bool good = output;
  if (output && tensor_of(output)->size > 0) {
    Rows rows(*t, 0, 1);
    Indices indices(*index, t->dims()[0], t->strides()[0]);
    std::byte* to = tensor_of(output)->data();
    run_over(tensor_of(output)->size, {t, index}, [&] { good = gather_rows(rows, indices, to); });
  } else if (index->size > 0) {
    good = false;  // rows of no elements: Python looks whether they are there
  }
  if (good) return output;
  Py_XDECREF(output);
  PyErr_Clear();
  return nullptr;
}

// ---- scatter ------------------------------------------------------------------------------------

// Writes rows of `updates`, [outer, indices, row], over those of the target, or adds them to those,
// one after the other in the order of the indices.
void scatter(nb::handle object, int axis, int picked, nb::handle offsets_object, nb::handle updates_object, bool adds) {
  const Tensor *t = read_tensor(object.ptr()), *offsets = read_tensor(offsets_object.ptr()),
               *updates = read_tensor(updates_object.ptr());
  if (!t || !offsets || !updates || offsets->dtype != Dtype::int64 || !offsets->row_major || !updates->row_major ||
      updates->dtype != t->dtype || axis < 0 || picked < 0 || axis + picked > t->ndim() ||
      !Rows::are_dense(*t, axis, picked) || t->storage->read_only || t->storage == updates->storage)
    throw nb::value_error("not what scatter takes");
  Rows rows(*t, axis, picked);
  std::int64_t wanted;
  if (__builtin_mul_overflow(rows.outer * rows.row_elements, offsets->size, &wanted) || updates->size != wanted)
    throw nb::value_error("another number of updates");
  Binary add =
      kernels().binary[static_cast<std::size_t>(BinaryOp::add)][static_cast<std::size_t>(compute_lane(t->dtype))];
  if (adds && (!add || layer_of(t->dtype).is_narrow)) throw nb::value_error("no kernel for this dtype");
  auto* places = reinterpret_cast<const std::int64_t*>(offsets->data());
  auto item = static_cast<std::int64_t>(t->itemsize());
  const std::byte* from = updates->data();
  std::int64_t n = offsets->size;
  if (updates->size == 0) return;
  const Reach reach(*t, axis, picked);
  std::atomic<bool> good{true};
  // Threads share the elements of a row, so that indices that coincide keep their order.
  run_over(updates->size, {t, offsets, updates}, [&] {
    std::int64_t part = std::max<std::int64_t>(grain / std::max<std::int64_t>(rows.outer * n, 1), 1024);
    parallel_for(rows.row_elements, part, [&](std::int64_t begin, std::int64_t end) {
      auto count = static_cast<std::size_t>(end - begin);
      for (std::int64_t place = 0; place < rows.outer; ++place) {
        std::byte* base = rows.at(place) + begin * item;
        for (std::int64_t i = 0; i < n; ++i) {
          const std::byte* update = from + ((place * n + i) * rows.row_elements + begin) * item;
          std::int64_t offset = places[i];  // read once: another thread may change it
          if (!reach.has(offset)) {
            good.store(false, std::memory_order_relaxed);
            continue;
          }
          std::byte* to = base + offset * item;
          if (adds) add(to, update, to, count, Repeat::neither);
          else std::memcpy(to, update, count * static_cast<std::size_t>(item));
        }
      }
    });
  });
  if (!good) throw nb::value_error("an offset leads out of the tensor");
}

}  // namespace

void init_gather_scatter(nb::module_& m) {
  add_fast_path<fast_gather>("gather");
  define(m,
         "def index_offsets(indices: Sequence[Any], dims: Sequence[int], strides: Sequence[int], wraps: bool) -> "
         "Tensor | tuple[int, int]",
         "Where indices, one tensor for each axis, point to; or which tensor has a bad one, and where in it.",
         index_offsets);
  define(m, "def has_dense_rows(tensor: Any, first: int) -> bool",
         "Whether the axes from `first` on are dense, in row-major order.", [](nb::handle object, int first) {
           const Tensor* t = read_tensor(object.ptr());
           if (!t || first < 0 || first > t->ndim()) throw nb::value_error("no such axis");
           return Rows::are_dense(*t, first, 0);
         });
  define(m, "def gather(tensor: Any, axis: int, picked: int, offsets: Any) -> Tensor",
         "The rows at offsets, in place of the axes that they index.", gather_checked);
  define(m, "def scatter(target: Any, axis: int, picked: int, offsets: Any, updates: Any, adds: bool) -> None",
         "Writes rows to offsets, or adds them to what is there.", scatter);
}

}  // namespace suanzi
