// native/ops/transformation/views.cpp: 7.2.3, 7.2.1.6: views on the memory of a tensor, and their fast paths.
//
// The fast paths take plain integers, in tuples or lists, that are right; whatever else comes, a
// wrong axis or a NumPy integer, is left to the Python function, which understands or explains it.
#include "ops/transformation/views.h"

#include <nanobind/stl/vector.h>

#include <optional>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/operands.h"
#include "core/status.h"

namespace suanzi {

// ---- the view -----------------------------------------------------------------------------------

void View::cut(int axis, std::int64_t start, std::int64_t step, std::int64_t count) noexcept {
  if (base_.quantization && axis == base_.quantization->channel_axis) {
    channel_axis_ = ndim_;
    first_channel_ = start;
    channel_step_ = step;
  }
  // An empty view has no first element: its offset stays that of the base, within the storage.
  bool reached = base_.size > 0 && count > 0;
  if (reached) offset_ += start * base_.strides()[axis];
  strides_[ndim_] = base_.strides()[axis] * (reached ? step : 1);
  dims_[ndim_++] = count;
}

void View::pick(int axis, std::int64_t index) noexcept {
  if (base_.quantization && axis == base_.quantization->channel_axis) first_channel_ = index;
  if (base_.size > 0) offset_ += index * base_.strides()[axis];
}

void View::repeat(std::int64_t count) noexcept {
  strides_[ndim_] = 0;
  dims_[ndim_++] = count;
}

void View::step(std::int64_t stride, std::int64_t count, bool channels) noexcept {
  if (channels) channel_axis_ = ndim_;
  strides_[ndim_] = stride;
  dims_[ndim_++] = count;
}

PyObject* View::make() const {
  // What is asked for a number, the bound of a slice, may be any Python code.
  if (!base_.storage) {
    set_status("UninitializedObject", "the tensor was destroyed while a view on it was made.");
    return nullptr;
  }
  Quantization* made = nullptr;
  if (const Quantization* q = base_.quantization) {
    made = new (std::nothrow) Quantization;
    if (!made) return PyErr_NoMemory();
    made->zero_point = q->zero_point;
    auto scale_of = [&](std::int64_t channel) {
      return q->scale[q->scale.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
    };
    if (q->channel_axis < 0) {
      made->scale = q->scale;
    } else if (channel_axis_ < 0) {
      made->scale = {scale_of(first_channel_)};
    } else {
      made->channel_axis = channel_axis_;
      for (std::int64_t i = 0; i < dims_[channel_axis_]; ++i)
        made->scale.push_back(scale_of(first_channel_ + i * channel_step_));
    }
  }
  base_.storage->retain();
  PyObject* view = new_tensor(base_.storage, offset_, ndim_, dims_, strides_);
  if (view) tensor_of(view)->quantization = made;
  else delete made;
  return view;
}

bool reshaped_strides(const Tensor& base, int ndim, const std::int64_t* dims, std::int64_t* strides) noexcept {
  if (base.row_major || base.size == 0) {
    row_major_strides(ndim, dims, strides);
    return true;
  }
  // Axes of the base, those of size 1 aside, and of the new shape, in groups of equal size: within
  // a group, the axes of the base must be steps along one line.
  std::int64_t old_dims[max_ndim], old_strides[max_ndim];
  int old_count = 0;
  for (int d = 0; d < base.ndim(); ++d) {
    if (base.dims()[d] == 1) continue;
    old_dims[old_count] = base.dims()[d];
    old_strides[old_count++] = base.strides()[d];
  }
  int i = 0, j = 0;
  while (i < old_count && j < ndim) {
    int i_end = i + 1, j_end = j + 1;
    std::int64_t old_size = old_dims[i], new_size = dims[j];
    while (old_size != new_size) {
      if (old_size < new_size) old_size *= old_dims[i_end++];
      else new_size *= dims[j_end++];
    }
    for (int d = i; d + 1 < i_end; ++d)
      if (old_strides[d] != old_strides[d + 1] * old_dims[d + 1]) return false;
    std::int64_t stride = old_strides[i_end - 1];
    for (int d = j_end; d-- > j;) {
      strides[d] = stride;
      stride *= dims[d];
    }
    i = i_end, j = j_end;
  }
  for (; j < ndim; ++j) strides[j] = 1;  // of size 1
  return true;
}

namespace {

// `axes[k]` is the axis of the tensor that axis k of the view is.
PyObject* permuted(const Tensor& t, const std::int64_t* axes) {
  View view(t);
  for (int d = 0; d < t.ndim(); ++d) view.keep(static_cast<int>(axes[d]));
  return view.make();
}

bool is_among(std::uint64_t axes, int axis) { return axes >> axis & 1; }

// ---- the fast paths -----------------------------------------------------------------------------

// The axis of a new shape that is the channel axis of a tensor: as many elements stand before it.
int reshaped_channels(const Tensor& t, int ndim, const std::int64_t* dims) {
  if (!t.quantization || t.quantization->channel_axis < 0) return -1;
  std::int64_t before = 1, reached = 1;
  for (int d = 0; d < t.quantization->channel_axis; ++d)
    if (__builtin_mul_overflow(before, t.dims()[d], &before)) return -1;
  for (int d = 0; d < ndim; ++d) {
    if (reached == before && dims[d] == t.dims()[t.quantization->channel_axis]) return d;
    if (__builtin_mul_overflow(reached, dims[d], &reached)) return -1;
  }
  return -1;
}

// A view of another shape; null without an exception if there is none.
PyObject* reshaped(const Tensor& t, int ndim, const std::int64_t* dims) {
  std::int64_t count, strides[max_ndim];
  if (!element_count(ndim, dims, count) || count != t.size) return nullptr;
  int channels = reshaped_channels(t, ndim, dims);
  bool per_channel = t.quantization && t.quantization->channel_axis >= 0 && t.quantization->scale.size() != 1;
  if ((per_channel && channels < 0) || !reshaped_strides(t, ndim, dims, strides)) return nullptr;
  View view(t);
  for (int d = 0; d < ndim; ++d) view.step(strides[d], dims[d], d == channels);
  return view.make();
}

PyObject* fast_reshape(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Integers dims;
  const Tensor* t = count == 2 && !keywords ? read_tensor(args[0]) : nullptr;
  if (!t || !dims.read(args[1]) || dims.count > max_ndim) return nullptr;
  return reshaped(*t, dims.count, dims.values);
}

PyObject* fast_flatten(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count == 3 && !keywords ? read_tensor(args[0]) : nullptr;
  std::int64_t dims[max_ndim], middle = 1;
  int start, stop;
  if (!t || !read_axis(args[1], t->ndim(), start) || !read_axis(args[2], t->ndim(), stop) || start > stop)
    return nullptr;
  int ndim = 0;
  for (int d = 0; d < t->ndim(); ++d) {
    bool inside = d >= start && d <= stop;
    if (inside && __builtin_mul_overflow(middle, t->dims()[d], &middle)) return nullptr;
    if (!inside) dims[ndim++] = t->dims()[d];
    else if (d == stop) dims[ndim++] = middle;
  }
  return reshaped(*t, ndim, dims);
}

PyObject* transposed(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count >= 1 && count <= 2 && !keywords ? read_tensor(args[0]) : nullptr;
  if (!t) return nullptr;
  Integers perm;
  std::uint64_t found;
  if (count == 2 && (!perm.read(args[1]) || !perm.become_axes(t->ndim(), found))) return nullptr;
  if (perm.count == 0) return reversed_axes(*t);
  if (perm.count != t->ndim()) return nullptr;
  std::int64_t axes[max_ndim];
  for (int d = 0; d < t->ndim(); ++d) axes[perm.values[d]] = d;
  return permuted(*t, axes);
}

// Whether Python is still to warn that NumPy's transpose of the same axes is another one.
std::atomic<bool> warns_of_cycles{true};

PyObject* fast_transpose(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Integers perm;
  std::uint64_t found;
  if (count == 2 && warns_of_cycles.load(std::memory_order_relaxed) && perm.read(args[1])) {
    if (!perm.become_axes(perm.count, found)) return nullptr;
    for (int d = 0; d < perm.count; ++d)
      if (perm.values[perm.values[d]] != d) return nullptr;
  }
  return transposed(args, count, keywords);
}

PyObject* fast_expand_dims(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count >= 1 && count <= 2 && !keywords ? read_tensor(args[0]) : nullptr;
  std::int64_t axis = 0;
  if (!t || (count == 2 && !read_integer(args[1], axis)) || t->ndim() == max_ndim) return nullptr;
  if (axis < 0) axis += t->ndim() + 1;
  if (axis < 0 || axis > t->ndim()) return nullptr;
  View view(*t);
  for (int d = 0; d <= t->ndim(); ++d) {
    // The step of the new axis is never taken; row-major order has it where it stands.
    std::int64_t stride = 1;
    if (d < t->ndim() && __builtin_mul_overflow(t->strides()[d], std::max<std::int64_t>(t->dims()[d], 1), &stride))
      stride = 1;
    if (d == axis) view.step(stride, 1, false);
    if (d < t->ndim()) view.keep(d);
  }
  return view.make();
}

PyObject* fast_squeeze(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count >= 1 && count <= 2 && !keywords ? read_tensor(args[0]) : nullptr;
  if (!t) return nullptr;
  Integers axes;
  std::uint64_t found;
  if (count == 2 && (!axes.read_one_or_more(args[1]) || !axes.become_axes(t->ndim(), found))) return nullptr;
  if (axes.count == 0) found = ~std::uint64_t{0};
  View view(*t);
  for (int d = 0; d < t->ndim(); ++d)
    if (t->dims()[d] != 1 || !is_among(found, d)) view.keep(d);
  return view.make();
}

PyObject* fast_flip(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count == 2 && !keywords ? read_tensor(args[0]) : nullptr;
  Integers axes;
  std::uint64_t found;
  if (!t || !axes.read_one_or_more(args[1]) || !axes.become_axes(t->ndim(), found)) return nullptr;
  View view(*t);
  for (int d = 0; d < t->ndim(); ++d) {
    std::int64_t n = t->dims()[d];
    if (is_among(found, d) && n > 0) view.cut(d, n - 1, -1, n);
    else view.keep(d);
  }
  return view.make();
}

// A fast path has one fallback, so that the same one for another function is a function of its own.
PyObject* fast_reverse(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return fast_flip(args, count, keywords);
}

PyObject* fast_expand(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count == 2 && !keywords ? read_tensor(args[0]) : nullptr;
  Integers shape;
  if (!t || !shape.read(args[1]) || shape.count < t->ndim() || shape.count > max_ndim) return nullptr;
  std::int64_t size;
  if (!element_count(shape.count, shape.values, size)) return nullptr;
  int added = shape.count - t->ndim();
  View view(*t);
  for (int d = 0; d < shape.count; ++d) {
    std::int64_t wanted = shape.values[d], n = d < added ? 1 : t->dims()[d - added];
    if (d >= added && n == wanted) view.keep(d - added);
    else if (n == 1) view.repeat(wanted);
    else return nullptr;
  }
  return view.make();
}

PyObject* fast_slice(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count == 4 && !keywords ? read_tensor(args[0]) : nullptr;
  Integers begin, size, step;
  if (!t || !begin.read(args[1]) || !size.read(args[2]) || !step.read(args[3])) return nullptr;
  if (begin.count != t->ndim() || size.count != t->ndim() || step.count != t->ndim()) return nullptr;
  View view(*t);
  for (int d = 0; d < t->ndim(); ++d) {
    std::int64_t b = begin.values[d], n = size.values[d], s = step.values[d], dim = t->dims()[d];
    if (b < 0 || n < 0 || b > dim || n > dim - b || s < 1 || s > std::max<std::int64_t>(dim, 1)) return nullptr;
    view.cut(d, b, s, n / s + (n % s != 0));
  }
  return view.make();
}

PyObject* fast_crop(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count >= 2 && count <= 3 && !keywords ? read_tensor(args[0]) : nullptr;
  Integers shape, offsets;
  if (!t || !shape.read(args[1]) || shape.count != t->ndim()) return nullptr;
  if (count == 3 && (!offsets.read(args[2]) || offsets.count != t->ndim())) return nullptr;
  View view(*t);
  for (int d = 0; d < t->ndim(); ++d) {
    std::int64_t offset = count == 3 ? offsets.values[d] : 0, n = shape.values[d];
    if (offset < 0 || n < 0 || offset > t->dims()[d] || n > t->dims()[d] - offset) return nullptr;
    view.cut(d, offset, 1, n);
  }
  return view.make();
}

// Part of one axis, the others whole; with `drops`, one index of it.
PyObject* part_of_axis(const Tensor& t, int axis, std::int64_t start, std::int64_t count, bool drops) {
  View view(t);
  for (int d = 0; d < t.ndim(); ++d) {
    if (d != axis) view.keep(d);
    else if (drops) view.pick(d, start);
    else view.cut(d, start, 1, count);
  }
  return view.make();
}

// More than fit a usual memory, as the parts of an empty axis may be.
constexpr std::int64_t most_parts = std::int64_t{1} << 24;

// One part of an axis after the other; without `sizes`, each of its indices.
PyObject* parts_of_axis(const Tensor& t, int axis, const std::vector<std::int64_t>* sizes) {
  std::int64_t count = sizes ? static_cast<std::int64_t>(sizes->size()) : t.dims()[axis], start = 0;
  if (count > most_parts) return PyErr_NoMemory();
  PyObject* parts = PyList_New(count);
  for (std::int64_t i = 0; parts && i < count; ++i) {
    std::int64_t size = sizes ? (*sizes)[static_cast<std::size_t>(i)] : 1;
    PyObject* part = part_of_axis(t, axis, start, size, !sizes);
    if (!part) Py_CLEAR(parts);
    else PyList_SET_ITEM(parts, i, part);
    start += size;
  }
  return parts;
}

PyObject* fast_unstack(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count >= 1 && count <= 2 && !keywords ? read_tensor(args[0]) : nullptr;
  int axis = 0;
  if (!t || t->ndim() == 0 || (count == 2 && !read_axis(args[1], t->ndim(), axis))) return nullptr;
  return parts_of_axis(*t, axis, nullptr);
}

PyObject* fast_split(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count >= 2 && count <= 4 && !keywords ? read_tensor(args[0]) : nullptr;
  Items items(count >= 2 ? args[1] : Py_None);
  int axis = 0;
  if (!t || t->ndim() == 0 || !items.is_sequence || (count == 4 && !read_axis(args[3], t->ndim(), axis)))
    return nullptr;
  std::int64_t parts = items.count(), size = t->dims()[axis], left = size;
  if (count >= 3 && args[2] != Py_None) {
    std::int64_t wanted;
    if (!read_integer(args[2], wanted) || wanted < 1 || wanted > most_parts || (parts > 0 && wanted != parts))
      return nullptr;
    if (parts == 0 && size % wanted) return nullptr;
    parts = wanted;
  }
  if (parts == 0) return nullptr;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), size / parts);
  for (Py_ssize_t i = 0; i < items.count(); ++i) {
    std::int64_t& n = sizes[static_cast<std::size_t>(i)];
    if (!read_integer(items[i], n) || n < 1 || n > left) return nullptr;
    left -= n;
  }
  if (items.count() > 0 && left != 0) return nullptr;
  return parts_of_axis(*t, axis, &sizes);
}

// The tensor itself if it is row-major.
PyObject* fast_contiguous(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count == 1 && !keywords ? read_tensor(args[0]) : nullptr;
  if (!t) return nullptr;
  if (t->row_major) return Py_NewRef(args[0]);
  PyObject* made = new_dense_tensor(t->dtype, t->ndim(), t->dims());
  if (!made) return or_python(nullptr);
  Operand source;
  source.tensor = t;
  source.dtype = t->dtype;
  Move move;
  broadcast_move(*tensor_of(made), source, move);
  take_quantization(*tensor_of(made), *t);
  run_loop(t->size, &source, 1, [&] { run_move(move); });
  return made;
}

}  // namespace

PyObject* reversed_axes(const Tensor& t) {
  std::int64_t axes[max_ndim];
  for (int d = 0; d < t.ndim(); ++d) axes[d] = t.ndim() - 1 - d;
  return permuted(t, axes);
}

// ---- the module ---------------------------------------------------------------------------------

void init_views(nb::module_& m) {
  using namespace nb::literals;
  add_fast_path<fast_reshape>("reshape");
  add_fast_path<fast_flatten>("flatten");
  add_fast_path({"transpose", transposed, make_fast_function<fast_transpose>});
  m.def(
      "warn_of_cycles", [](bool on) { warns_of_cycles = on; }, "on"_a,
      "Whether transpose leaves axes that NumPy would move otherwise to Python, which warns of them.");
  add_fast_path<fast_expand_dims>("expand_dims");
  add_fast_path<fast_squeeze>("squeeze");
  add_fast_path<fast_flip>("flip");
  add_fast_path<fast_reverse>("reverse");
  add_fast_path<fast_expand>("expand");
  add_fast_path<fast_slice>("slice");
  add_fast_path<fast_crop>("crop");
  add_fast_path<fast_unstack>("unstack");
  add_fast_path<fast_split>("split");
  add_fast_path<fast_contiguous>("contiguous");
  m.def(
      "try_view",
      [](nb::handle name, nb::args args) {
        PyObject* made =
            fast_path_of(name).path(&PyTuple_GET_ITEM(args.ptr(), 0), PyTuple_GET_SIZE(args.ptr()), nullptr);
        if (!made && PyErr_Occurred()) throw nb::python_error();
        return made ? nb::steal(made) : nb::none();
      },
      "name"_a, "args"_a, nb::sig("def try_view(name: str, *args: Any) -> Any"),
      "What the fast path of that name makes of its arguments; None if it does not take them.");
  define(m, "def parts_of_axis(tensor: Any, axis: int, sizes: Sequence[int]) -> list[Tensor]",
         "Views on one part of an axis after the other.",
         [](nb::handle object, int axis, const std::vector<std::int64_t>& sizes) {
           const Tensor* t = read_tensor(object.ptr());
           if (!t || axis < 0 || axis >= t->ndim()) throw nb::value_error("no such axis");
           std::int64_t left = t->dims()[axis];
           for (std::int64_t n : sizes)
             if (n < 0 || (left -= n) < 0) throw nb::value_error("the parts leave the axis");
           PyObject* parts = parts_of_axis(*t, axis, &sizes);
           if (!parts) throw nb::python_error();
           return nb::steal<nb::list>(parts);
         });
}

}  // namespace suanzi
