// native/ops/transformation/joining.cpp: 7.2.3.7, 7.2.3.8, 7.2.3.11, 7.2.3.12, 7.2.3.14: tensors put together of
// others.
//
// Each is put together by moves into parts of the output, so that memory is gone over once.
#include <nanobind/stl/vector.h>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/operands.h"
#include "ops/transformation/moves.h"

namespace suanzi {
namespace {

// A move between a part of a dense row-major output and a part of a tensor, axis by axis.
class Part {
 public:
  Part(const Tensor& out, const Tensor& source) {
    to_item_ = static_cast<std::int64_t>(out.itemsize());
    from_item_ = static_cast<std::int64_t>(source.itemsize());
    move.to = out.data();
    move.from = source.data();
    move.to_dtype = out.dtype;
    move.from_dtype = source.dtype;
  }
  // Starts and strides count elements. An axis of size 1 is left out, so that there are never too many.
  void axis(std::int64_t count, std::int64_t to_start, std::int64_t to_stride, std::int64_t from_start,
            std::int64_t from_stride) {
    move.to += to_start * to_item_;
    move.from += from_start * from_item_;
    if (count == 1) return;
    move.dims[move.ndim] = count;
    move.to_strides[move.ndim] = to_stride * to_item_;
    move.from_strides[move.ndim++] = from_stride * from_item_;
  }
  Move move;

 private:
  std::int64_t to_item_, from_item_;
};

PyObject* same_quantization(PyObject* made, const Tensor& source) {
  if (made) take_quantization(*tensor_of(made), source);
  return made;
}

// ---- concat and stack ---------------------------------------------------------------------------

// Copies parts that are few bytes as they lie; false if they are not. What each has from the axis on lies together.
bool join_few(const std::vector<const Tensor*>& parts, int axis, const Tensor& out) {
  constexpr std::int64_t few = 1 << 13;
  auto item = static_cast<std::int64_t>(out.itemsize());
  std::int64_t outer = 1;
  for (int d = 0; d < axis; ++d) outer *= out.dims()[d];
  if (out.size == 0 || out.size * item > few) return false;
  for (const Tensor* t : parts)
    if (t->dtype != out.dtype || !t->row_major) return false;
  std::byte* to = out.data();
  for (std::int64_t o = 0; o < outer; ++o)
    for (const Tensor* t : parts) {
      auto bytes = static_cast<std::size_t>(t->size * item / outer);
      std::memcpy(to, t->data() + static_cast<std::size_t>(o) * bytes, bytes);
      to += bytes;
    }
  return true;
}

// Checked: the shapes are equal but for the axis, and dtypes convert. With `stacks`, the axis is new.
PyObject* join(const std::vector<const Tensor*>& parts, int axis, Dtype dtype, bool stacks) {
  const Tensor& first = *parts[0];
  int ndim = first.ndim() + stacks;
  std::int64_t dims[max_ndim], along = 0;
  for (const Tensor* part : parts)
    if (along >= 0 && __builtin_add_overflow(along, stacks ? 1 : part->dims()[axis], &along))
      along = -1;  // refused as too large
  for (int d = 0, from = 0; d < ndim; ++d) dims[d] = d == axis ? along : first.dims()[stacks ? from++ : d];
  PyObject* output = new_dense_tensor(dtype, ndim, dims);
  if (!output) return nullptr;
  const Tensor& out = *tensor_of(output);
  if (join_few(parts, axis, out)) return output;
  Moves moves;
  std::int64_t start = 0;
  for (const Tensor* t : parts) {
    std::int64_t here = start;
    start += stacks ? 1 : t->dims()[axis];
    if (t->size == 0) continue;  // its strides may be anything, and bytes of them more than fit
    Part part(out, *t);
    for (int d = 0, from = 0; d < ndim; ++d) {
      std::int64_t stride = out.strides()[d];
      if (d == axis && stacks) part.axis(1, here * stride, stride, 0, 0);
      else part.axis(t->dims()[from], d == axis ? here * stride : 0, stride, 0, t->strides()[from]), ++from;
    }
    moves.keep(*t);
    moves.add(part.move);
  }
  if (std::any_of(dims, dims + axis, [](std::int64_t n) { return n > 1; })) moves.run_in_turns();
  else moves.run();
  return output;
}

// Tensors of one dtype, none of them quantised, and of shapes that go together.
bool read_parts(PyObject* list, PyObject* axis_object, bool stacks, std::vector<const Tensor*>& parts, int& axis) {
  Items items(list);
  if (!items.is_sequence || items.count() == 0) return false;
  for (Py_ssize_t i = 0; i < items.count(); ++i) {
    const Tensor* t = read_tensor(items[i]);
    if (!t || t->quantization || (i > 0 && (t->dtype != parts[0]->dtype || t->ndim() != parts[0]->ndim())))
      return false;
    parts.push_back(t);
  }
  int ndim = parts[0]->ndim() + stacks;
  if (ndim > max_ndim || !read_axis(axis_object, ndim, axis)) return false;
  std::int64_t along = 0;
  for (const Tensor* t : parts)
    for (int d = 0; d < t->ndim(); ++d) {
      bool free = d == axis && !stacks;
      if (!free && t->dims()[d] != parts[0]->dims()[d]) return false;
      if (free && __builtin_add_overflow(along, t->dims()[d], &along)) return false;
    }
  return !facts(parts[0]->dtype).is_quantized();
}

template <bool stacks>
PyObject* fast_join(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  std::vector<const Tensor*> parts;
  int axis;
  if (keywords || count != 2 || !read_parts(args[0], args[1], stacks, parts, axis)) return nullptr;
  return or_python(join(parts, axis, parts[0]->dtype, stacks));
}

// None where these are not tensors of numbers of one dtype whose shapes go together, or memory is missing.
nb::object join_alike(nb::handle list, nb::handle axis_object, bool stacks) {
  std::vector<const Tensor*> parts;
  int axis;
  if (!read_parts(list.ptr(), axis_object.ptr(), stacks, parts, axis) || facts(parts[0]->dtype).kind == Kind::Char)
    return nb::none();
  PyObject* made = join(parts, axis, parts[0]->dtype, stacks);
  if (made) return nb::steal(made);
  PyErr_Clear();
  return nb::none();
}

nb::object join_checked(const std::vector<nb::handle>& objects, int axis, const DtypeInfo& dtype, bool stacks) {
  std::vector<const Tensor*> parts;
  for (nb::handle object : objects) {
    const Tensor* t = read_tensor(object.ptr());
    if (!t || (!parts.empty() && t->ndim() != parts[0]->ndim())) throw nb::value_error("not tensors of one rank");
    parts.push_back(t);
  }
  if (parts.empty() || axis < 0 || axis >= parts[0]->ndim() + stacks) throw nb::value_error("no such axis");
  for (const Tensor* t : parts)
    for (int d = 0; d < t->ndim(); ++d)
      if ((stacks || d != axis) && t->dims()[d] != parts[0]->dims()[d]) throw nb::value_error("shapes differ");
  return raise_or(join(parts, axis, dtype_of(dtype), stacks));
}

// ---- tile ---------------------------------------------------------------------------------------

PyObject* tile(const Tensor& t, const std::int64_t* repeats) {
  std::int64_t dims[max_ndim];
  for (int d = 0; d < t.ndim(); ++d)
    if (__builtin_mul_overflow(t.dims()[d], repeats[d], &dims[d])) dims[d] = -1;  // refused as too large
  PyObject* output = new_dense_tensor(t.dtype, t.ndim(), dims);
  if (!output || t.size == 0 || tensor_of(output)->size == 0) return same_quantization(output, t);
  const Tensor& out = *tensor_of(output);
  Moves moves;
  Part part(out, t);
  // As many axes as there are factors of at least 2 in the number of elements, so that they fit.
  for (int d = 0; d < t.ndim(); ++d) {
    part.axis(repeats[d], 0, out.strides()[d] * t.dims()[d], 0, 0);
    part.axis(t.dims()[d], 0, out.strides()[d], 0, t.strides()[d]);
  }
  moves.keep(t);
  moves.add(part.move);
  moves.run();
  return same_quantization(output, t);
}

PyObject* fast_tile(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count == 2 && !keywords ? read_tensor(args[0]) : nullptr;
  Integers repeats;
  if (!t || !repeats.read(args[1]) || repeats.count != t->ndim()) return nullptr;
  bool per_channel = t->quantization && t->quantization->channel_axis >= 0;
  if (per_channel || std::any_of(repeats.values, repeats.values + repeats.count, [](auto n) { return n < 0; }))
    return nullptr;
  return or_python(tile(*t, repeats.values));
}

// ---- pad ----------------------------------------------------------------------------------------

// Part of an axis that comes from a part of the same length, forwards or backwards.
struct Segment {
  std::int64_t start, count, source;
  bool backwards;
};

enum class PadMode : int { constant = 0, period = 1, mirror = 2 };

// Where the padding of an axis of n elements comes from, in places of the output. What is already
// there is copied a whole number of periods away, as much as there is at a time.
std::vector<Segment> segments(PadMode mode, std::int64_t before, std::int64_t n, std::int64_t after) {
  std::vector<Segment> found;
  std::int64_t low = before, high = before + n, end = before + n + after;
  std::int64_t period = mode == PadMode::mirror ? 2 * n : n;
  while (low > 0 || high < end) {
    std::int64_t there = (high - low) / period * period;
    if (high < end) {
      std::int64_t count = std::min(there ? there : n, end - high);
      found.push_back({high, count, there ? high - there : high - 1, !there});
      high += count;
    } else {
      std::int64_t count = std::min(there ? there : n, low);
      found.push_back({low - count, count, there ? low - count + there : low + count - 1, !there});
      low -= count;
    }
  }
  return found;
}

PyObject* pad(const Tensor& t, const std::int64_t* widths, PadMode mode, const Operand& value) {
  std::int64_t dims[max_ndim];
  for (int d = 0; d < t.ndim(); ++d)
    if (__builtin_add_overflow(t.dims()[d], widths[2 * d], &dims[d]) ||
        __builtin_add_overflow(dims[d], widths[2 * d + 1], &dims[d]))
      dims[d] = -1;
  PyObject* output = new_dense_tensor(t.dtype, t.ndim(), dims);
  if (!output) return nullptr;
  const Tensor& out = *tensor_of(output);
  if (out.size == 0) return output;
  Moves moves;
  moves.keep(t);
  Part middle(out, t);
  for (int d = 0; d < t.ndim() && t.size > 0; ++d)
    middle.axis(t.dims()[d], widths[2 * d] * out.strides()[d], out.strides()[d], 0, t.strides()[d]);
  if (t.size > 0) moves.add(middle.move);
  // The padding of an axis, where those before it are within the input and those after it are done.
  alignas(16) std::byte steps[2][16];
  const std::byte* number =
      follow(cast_path(kernels(), value.dtype, t.dtype, false), value.data(), 1, steps[0], steps[1]);
  for (int axis = t.ndim(); axis-- > 0;) {
    std::int64_t before = widths[2 * axis], after = widths[2 * axis + 1], n = t.dims()[axis];
    std::vector<Segment> parts;
    if (mode == PadMode::constant) parts = {{0, before, 0, false}, {before + n, after, 0, false}};
    else parts = segments(mode, before, n, after);
    for (const Segment& segment : parts) {
      if (segment.count == 0) continue;
      Part part(out, out);
      for (int d = 0; d < t.ndim(); ++d) {
        std::int64_t stride = out.strides()[d], step = mode == PadMode::constant ? 0 : stride;
        if (d == axis)
          part.axis(segment.count, segment.start * stride, stride, segment.source * step,
                    segment.backwards ? -step : step);
        else if (d < axis) part.axis(t.dims()[d], widths[2 * d] * stride, stride, widths[2 * d] * step, step);
        else part.axis(dims[d], 0, stride, 0, step);
      }
      if (mode == PadMode::constant) part.move.from = number;
      if (part.move.size() > 0) moves.add(part.move);
    }
  }
  moves.run();
  return output;
}

PyObject* fast_pad(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count >= 2 && count <= 3 && !keywords ? read_tensor(args[0]) : nullptr;
  Integers widths;
  if (!t || t->quantization || !widths.read(args[1]) || widths.count != 2 * t->ndim()) return nullptr;
  Operand value;
  if (!facts(t->dtype).is_number()) return nullptr;
  std::int64_t zero = 0;
  value.dtype = Dtype::int64;
  std::memcpy(value.number, &zero, sizeof zero);
  if (count == 3) {
    std::int64_t small;
    bool fits = read_integer(args[2], small) ? small >= 0 && small <= 1
                                             : PyFloat_CheckExact(args[2]) && facts(t->dtype).is_inexact();
    if (!fits || !read_operand(args[2], value)) return nullptr;
  }
  for (int i = 0; i < widths.count; ++i)
    if (widths.values[i] < 0) return nullptr;
  return or_python(pad(*t, widths.values, PadMode::constant, value));
}

nb::object pad_checked(nb::handle object, const std::vector<std::int64_t>& widths, int mode, nb::handle number) {
  const Tensor* t = read_tensor(object.ptr());
  Operand value;
  if (!t || mode < 0 || mode > 2 || widths.size() != 2 * static_cast<std::size_t>(t->ndim()) ||
      !read_operand(number.ptr(), value) || value.ndim() != 0)
    throw nb::value_error("not what pad takes");
  for (std::size_t i = 0; i < widths.size(); ++i)
    if (widths[i] < 0 || (mode != 0 && widths[i] > 0 && t->dims()[i / 2] == 0)) throw nb::value_error("a bad width");
  return raise_or(same_quantization(pad(*t, widths.data(), static_cast<PadMode>(mode), value), *t));
}

// ---- roll ---------------------------------------------------------------------------------------

// `shifts` has one for each axis, from 0 to below its size.
PyObject* roll_at_once(const Tensor& source, const std::int64_t* shifts) {
  const Tensor* t = &source;
  PyObject* output = new_dense_tensor(t->dtype, t->ndim(), t->dims());
  if (!output) return nullptr;
  const Tensor& out = *tensor_of(output);
  Moves moves;
  moves.keep(*t);
  // Each axis that is shifted falls into two parts; every combination of them is a move.
  int split[max_ndim], count_split = 0;
  for (int d = 0; d < t->ndim(); ++d)
    if (shifts[d] > 0) split[count_split++] = d;
  for (std::uint64_t which = 0; t->size > 0 && which < std::uint64_t{1} << count_split; ++which) {
    Part part(out, *t);
    int at = 0;
    for (int d = 0; d < t->ndim(); ++d) {
      std::int64_t n = t->dims()[d], start = 0, count = n, source = 0;
      if (at < count_split && split[at] == d) {
        bool wrapped = which >> at++ & 1;
        start = wrapped ? 0 : shifts[d];
        count = wrapped ? shifts[d] : n - shifts[d];
        source = wrapped ? n - shifts[d] : 0;
      }
      part.axis(count, start * out.strides()[d], out.strides()[d], source * t->strides()[d], t->strides()[d]);
    }
    moves.add(part.move);
  }
  moves.run();
  return same_quantization(output, *t);
}

// The same, a few axes at a time: the number of moves doubles with each.
PyObject* roll(const Tensor& t, const std::int64_t* shifts) {
  std::int64_t now[max_ndim] = {}, later[max_ndim] = {};
  int taken = 0;
  bool is_all = true;
  for (int d = 0; d < t.ndim(); ++d) {
    if (shifts[d] == 0) continue;
    (taken++ < 4 ? now : later)[d] = shifts[d];
    is_all = taken <= 4;
  }
  PyObject* first = roll_at_once(t, now);
  if (!first || is_all) return first;
  PyObject* whole = roll(*tensor_of(first), later);
  Py_DECREF(first);
  return whole;
}

// The elements of a row-major tensor shifted as one row.
PyObject* roll_flat(const Tensor& t, std::int64_t shift) {
  PyObject* output = new_dense_tensor(t.dtype, t.ndim(), t.dims());
  if (!output || t.size == 0) return same_quantization(output, t);
  const Tensor& out = *tensor_of(output);
  Moves moves;
  moves.keep(t);
  Part first(out, t), second(out, t);
  first.axis(t.size - shift, shift, 1, 0, 1);
  second.axis(shift, 0, 1, t.size - shift, 1);
  moves.add(first.move);
  if (shift > 0) moves.add(second.move);
  moves.run();
  return same_quantization(output, t);
}

std::int64_t wrapped(std::int64_t shift, std::int64_t size) {
  if (size == 0) return 0;
  shift %= size;
  return shift < 0 ? shift + size : shift;
}

PyObject* fast_roll(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const Tensor* t = count >= 2 && count <= 3 && !keywords ? read_tensor(args[0]) : nullptr;
  Integers shifts, axes;
  if (!t || !shifts.read_one_or_more(args[1]) || (count == 3 && !axes.read_one_or_more(args[2]))) return nullptr;
  if (t->quantization && t->quantization->channel_axis >= 0) return nullptr;
  PyObject* made = nullptr;
  if (axes.count == 0) {
    if (shifts.count == 1 && t->row_major) made = roll_flat(*t, wrapped(shifts.values[0], t->size));
  } else if (axes.count == shifts.count) {
    std::int64_t total[max_ndim] = {};
    for (int i = 0; i < axes.count; ++i) {
      std::int64_t axis = axes.values[i] < 0 ? axes.values[i] + t->ndim() : axes.values[i];
      if (axis < 0 || axis >= t->ndim()) return nullptr;
      std::int64_t size = t->dims()[axis];
      total[axis] = wrapped(total[axis] - size + wrapped(shifts.values[i], size), size);
    }
    made = roll(*t, total);
  }
  return or_python(made);
}

}  // namespace

void init_joining(nb::module_& m) {
  using namespace nb::literals;
  add_fast_path<fast_join<false>>("concat");
  add_fast_path<fast_join<true>>("stack");
  add_fast_path<fast_tile>("tile");
  add_fast_path<fast_pad>("pad");
  add_fast_path<fast_roll>("roll");
  define(m, "def join(tensors: Sequence[Any], axis: int, dtype: DType, stacks: bool) -> Tensor",
         "Tensors one behind the other along an axis, or stacked along a new one, in a dtype.", join_checked);
  m.def("join_alike", &join_alike, "tensors"_a.none(), "axis"_a.none(), "stacks"_a,
        nb::sig("def join_alike(tensors: Any, axis: Any, stacks: bool) -> Tensor | None"),
        "The same of tensors that need no conversion, or None where they are something else.");
  define(m, "def tile(tensor: Any, repeats: Sequence[int]) -> Tensor", "A tensor repeated along each axis.",
         [](nb::handle object, const std::vector<std::int64_t>& repeats) {
           const Tensor* t = read_tensor(object.ptr());
           if (!t || repeats.size() != static_cast<std::size_t>(t->ndim()) ||
               std::any_of(repeats.begin(), repeats.end(), [](auto n) { return n < 0; }))
             throw nb::value_error("a number of times for each axis");
           return raise_or(tile(*t, repeats.data()));
         });
  define(m, "def pad(tensor: Any, widths: Sequence[int], mode: int, value: Any) -> Tensor",
         "A tensor with padding before and after it along each axis: 0 a number, 1 periods, 2 mirror images.",
         pad_checked);
  define(m, "def roll(tensor: Any, shifts: Sequence[int]) -> Tensor",
         "A tensor shifted along each axis, what leaves it at the end coming in at the start.",
         [](nb::handle object, const std::vector<std::int64_t>& shifts) {
           const Tensor* t = read_tensor(object.ptr());
           if (!t || shifts.size() != static_cast<std::size_t>(t->ndim()))
             throw nb::value_error("a shift for each axis");
           for (int d = 0; d < t->ndim(); ++d)
             if (shifts[d] < 0 || shifts[d] >= std::max<std::int64_t>(t->dims()[d], 1))
               throw nb::value_error("a bad shift");
           return raise_or(roll(*t, shifts.data()));
         });
}

}  // namespace suanzi
