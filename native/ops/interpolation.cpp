// native/ops/interpolation.cpp: 7.2.18: tensors of rank 3 to 5 sampled at other sizes.
//
// Which elements count, and how much, is integer arithmetic on (in, out) alone, an axis at a time.
// Threads share rows of the output, or parts of long ones; each works in buffers of its own.
#include <nanobind/stl/vector.h>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "core/without_gil.h"
#include "kernels/interpolation.h"
#include "loops/blocks.h"

namespace suanzi {
namespace {

enum class Mode : int { nearest = 0, linear = 1, area = 2 };

using Wide = __int128;

// Where an element of the output comes from, along one axis: of nearest, the element `low`; of linear,
// two with weights, which are one where it falls on an element; of area, the elements [low, high).
struct Place {
  std::int64_t low, high;
  double low_weight = 1, high_weight = 0;
};

Place place(Mode mode, std::int64_t in, std::int64_t out, std::int64_t i) {
  auto quotient = [](Wide a, Wide b) { return static_cast<std::int64_t>(a / b); };
  if (mode == Mode::nearest) {
    std::int64_t low = quotient(Wide{i} * in, out);
    return {low, low};
  }
  if (mode == Mode::area) return {quotient(Wide{i} * in, out), quotient((Wide{i} + 1) * in + out - 1, out)};
  // (i + 1/2) * in / out - 1/2 is a fraction of whole numbers.
  Wide numerator = (2 * Wide{i} + 1) * in - out, denominator = 2 * Wide{out};
  if (numerator <= 0) return {0, 0};
  if (numerator >= (Wide{in} - 1) * denominator) return {in - 1, in - 1};
  std::int64_t low = quotient(numerator, denominator);
  Wide rest = numerator - Wide{low} * denominator;
  if (rest == 0) return {low, low};
  auto share = [&](Wide part) { return static_cast<double>(part) / static_cast<double>(denominator); };
  return {low, low + 1, share(denominator - rest), share(rest)};
}

// Part of a row of the output, and the part of the input's rows that it comes from.
struct Part {
  std::int64_t start, count, base, span;
};

constexpr std::int64_t most_outputs = 1024;  // so that buffers of them fit the first-level cache
constexpr std::int64_t most_columns = 2048;  // of sums

// What is to be done. It has what it needs of the tensors: while Python may run, someone could destroy
// the input, whose memory alone is kept.
struct Plan {
  Mode mode;
  Dtype dtype;
  const std::byte* from;
  std::byte* to;
  std::int64_t itemsize, channels, batch_stride, channel_stride;  // strides in bytes
  const Kernels& k;
  const InterpolationKernels& loops;
  std::int64_t in[3], out[3], strides[3];  // of depth, height and width; strides in bytes
  std::vector<Place> deep, high;           // along depth and height
  std::vector<Part> parts;
  std::vector<std::int32_t> low, up;  // along width, from the base of the part on
  std::vector<float> weights32[2];
  std::vector<double> weights64[2];
  bool streams;

  Plan(Mode mode_, const Tensor& input, const Tensor& output)
      : mode(mode_), dtype(input.dtype), from(input.data()), to(output.data()),
        itemsize(static_cast<std::int64_t>(input.itemsize())), channels(input.dims()[1]),
        batch_stride(input.strides()[0] * itemsize), channel_stride(input.strides()[1] * itemsize), k(kernels()),
        loops(*k.interpolation) {
    int spatial = input.ndim() - 2;
    for (int d = 0; d < 3; ++d) {
      int axis = input.ndim() - 3 + d;
      bool there = d >= 3 - spatial;
      in[d] = there ? input.dims()[axis] : 1;
      out[d] = there ? output.dims()[axis] : 1;
      strides[d] = there ? input.strides()[axis] * itemsize : 0;
    }
    for (std::int64_t i = 0; i < out[0]; ++i) deep.push_back(place(mode, in[0], out[0], i));
    for (std::int64_t i = 0; i < out[1]; ++i) high.push_back(place(mode, in[1], out[1], i));
    place_columns();
    // The first condition keeps a view that repeats, of more bytes than can be counted, from the second.
    streams = output.size >= input.size / 4 && (input.size + output.size) * itemsize >= stream_from();
  }

  bool is_double() const { return dtype == Dtype::float64; }
  std::size_t lane_bytes() const { return is_double() ? 8 : 4; }
  const void* weights(int which, std::int64_t at) const {
    return is_double() ? static_cast<const void*>(weights64[which].data() + at) : weights32[which].data() + at;
  }
  const std::byte* plane(std::int64_t number) const {
    return from + number / channels * batch_stride + number % channels * channel_stride;
  }

 private:
  void place_columns() {
    // A part ends before it has too many outputs, or comes from more than its buffers, or 32 bits, hold.
    std::int64_t most = mode == Mode::area ? most_columns : std::int64_t{1} << 30, n = out[2];
    low.resize(static_cast<std::size_t>(n));
    up.resize(static_cast<std::size_t>(n));
    if (mode == Mode::linear)
      for (int which = 0; which < 2; ++which)
        is_double() ? weights64[which].resize(static_cast<std::size_t>(n))
                    : weights32[which].resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      Place found = place(mode, in[2], n, i);
      std::int64_t end = mode == Mode::area ? found.high : found.high + 1;
      if (parts.empty() || parts.back().count == most_outputs || end - parts.back().base > most)
        parts.push_back({i, 0, found.low, 0});
      Part& part = parts.back();
      ++part.count;
      part.span = end - part.base;
      auto at = static_cast<std::size_t>(i);
      low[at] = static_cast<std::int32_t>(found.low - part.base);
      // A window of its own may be longer than 32 bits say; it is not read from here.
      up[at] = static_cast<std::int32_t>(std::min<std::int64_t>(found.high - part.base, INT32_MAX));
      if (mode != Mode::linear) continue;
      if (is_double()) weights64[0][at] = found.low_weight, weights64[1][at] = found.high_weight;
      // Once more rounded, which does not change it for fewer than 2^23 outputs.
      else
        weights32[0][at] = static_cast<float>(found.low_weight),
        weights32[1][at] = static_cast<float>(found.high_weight);
    }
  }
};

// The rows of one thread, in order.
class Worker {
 public:
  explicit Worker(const Plan& plan) : plan_(plan), layer_(layer_of(plan.dtype)), lane_(plan.is_double()) {}

  void run(std::int64_t begin, std::int64_t end) {
    std::int64_t rows = plan_.out[1], parts = static_cast<std::int64_t>(plan_.parts.size());
    for (std::int64_t unit = begin; unit < end;) {
      std::int64_t rest = unit / rows, part = rest % parts;
      z_ = rest / parts % plan_.out[0];
      plane(rest / parts / plan_.out[0], part);
      const Part& now = plan_.parts[static_cast<std::size_t>(part)];
      count_ = static_cast<std::size_t>(now.count);
      y_ = unit % rows;
      std::int64_t last = std::min(rows, y_ + end - unit);
      out_ = plan_.to + (((plane_ * plan_.out[0] + z_) * rows + y_) * plan_.out[2] + now.start) * plan_.itemsize;
      unit += last - y_;
      for (; y_ < last; ++y_, out_ += plan_.out[2] * plan_.itemsize) {
        if (y_ + 1 < last)
          fetch(now, plan_.high[static_cast<std::size_t>(y_)], plan_.high[static_cast<std::size_t>(y_ + 1)]);
        if (plan_.mode == Mode::nearest) nearest(now);
        else if (plan_.mode == Mode::linear) linear(now);
        else area(now);
      }
    }
    if (plan_.streams) plan_.k.end_stream();
  }

 private:
  static constexpr std::size_t buffer_bytes = most_outputs * sizeof(double);
  struct alignas(64) Line {
    std::byte bytes[buffer_bytes];
  };

  void plane(std::int64_t plane, std::int64_t part) {
    if (plane == plane_ && part == part_) return;
    plane_ = plane;
    part_ = part;
    input_ = plan_.plane(plane);
    std::fill(keys_, keys_ + 4, -1);
  }

  // Asks for rows that the next row of the output needs, and this one does not. Where rows are left
  // out, the machine does not guess them.
  void fetch(const Part& part, const Place& now, const Place& next) const {
    if (plan_.mode == Mode::area || next.low <= now.high + 1) return;
    std::int64_t bytes = std::min<std::int64_t>(part.span << layer_.log2_size, 4096);
    for (std::int64_t y = next.low; y <= next.high; ++y) {
      const std::byte* row = input_row(plan_.deep[static_cast<std::size_t>(z_)].low, y, part.base);
      for (std::int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at);
    }
  }

  // ---- what is written ----

  void put_stored(const std::byte* made, std::size_t bytes) {
    if (plan_.streams) plan_.k.stream(made, out_, bytes);
    else if (made != out_) std::memcpy(out_, made, bytes);
  }
  // Where the last loop writes to, before put().
  std::byte* target() { return layer_.is_narrow || plan_.streams ? result_.bytes : out_; }
  void put(const std::byte* made) {
    if (!layer_.is_narrow) return put_stored(made, count_ * plan_.lane_bytes());
    std::byte* stored = plan_.streams ? stored_[0].bytes : out_;
    plan_.k.narrow[static_cast<std::size_t>(layer_.narrow)](made, stored, count_);
    put_stored(stored, count_ << layer_.log2_size);
  }

  const std::byte* input_row(std::int64_t z, std::int64_t y, std::int64_t column) const {
    return input_ + z * plan_.strides[0] + y * plan_.strides[1] + column * plan_.strides[2];
  }

  // ---- nearest ----

  void nearest(const Part& part) {
    std::int64_t z = plan_.deep[static_cast<std::size_t>(z_)].low, y = plan_.high[static_cast<std::size_t>(y_)].low;
    std::int64_t key = z * plan_.in[1] + y;
    if (keys_[0] != key) {
      // Rows that are not repeated go straight to where they belong.
      std::byte* to = plan_.streams || plan_.out[1] > plan_.in[1] ? slots_[0].bytes : out_;
      plan_.loops.pick[layer_.log2_size](input_row(z, y, part.base), plan_.low.data() + part.start, to, count_);
      if (to == out_) return;
      keys_[0] = key;
    }
    put_stored(slots_[0].bytes, count_ << layer_.log2_size);
  }

  // ---- linear, bilinear, trilinear ----

  // A row of the input, sampled along the width. The last ones are kept: neighbours need them, too.
  const std::byte* sampled(const Part& part, std::int64_t z, std::int64_t y) {
    auto slot = static_cast<std::size_t>((z & 1) * 2 + (y & 1));
    std::int64_t key = z * plan_.in[1] + y;
    if (keys_[slot] == key) return slots_[slot].bytes;
    keys_[slot] = key;
    const std::byte* row = input_row(z, y, part.base);
    const std::int32_t *low = plan_.low.data() + part.start, *up = plan_.up.data() + part.start;
    const void *a = plan_.weights(0, part.start), *b = plan_.weights(1, part.start);
    std::byte* out = slots_[slot].bytes;
    if (!layer_.is_narrow) {
      plan_.loops.across[lane_](row, low, up, a, b, out, count_);
      return out;
    }
    // To widen all that lies in between is faster than to pick what is needed, unless most is not.
    auto span = static_cast<std::size_t>(part.span);
    if (span <= 4 * count_ && span * sizeof(float) <= buffer_bytes) {
      plan_.k.widen[static_cast<std::size_t>(layer_.narrow)](row, widened_[0].bytes, span);
      plan_.loops.across[lane_](widened_[0].bytes, low, up, a, b, out, count_);
      return out;
    }
    for (int i = 0; i < 2; ++i) {
      plan_.loops.pick[layer_.log2_size](row, i ? up : low, stored_[i].bytes, count_);
      plan_.k.widen[static_cast<std::size_t>(layer_.narrow)](stored_[i].bytes, widened_[i].bytes, count_);
    }
    plan_.loops.mix[lane_](widened_[0].bytes, widened_[1].bytes, a, b, out, count_);
    return out;
  }

  const std::byte* between_rows(const Part& part, std::int64_t z, std::byte* out) {
    const Place& at = plan_.high[static_cast<std::size_t>(y_)];
    const std::byte* low = sampled(part, z, at.low);
    if (at.high == at.low) return low;
    plan_.loops.blend[lane_](low, sampled(part, z, at.high), at.low_weight, at.high_weight, out, count_);
    return out;
  }

  void linear(const Part& part) {
    const Place& at = plan_.deep[static_cast<std::size_t>(z_)];
    if (at.high == at.low) return put(between_rows(part, at.low, target()));
    const std::byte *low = between_rows(part, at.low, planes_[0].bytes),
                    *up = between_rows(part, at.high, planes_[1].bytes);
    std::byte* out = target();
    plan_.loops.blend[lane_](low, up, at.low_weight, at.high_weight, out, count_);
    put(out);
  }

  // ---- area ----

  // The sums of the rows of a window, of `count` columns from `column` on.
  void add_rows(std::int64_t column, std::size_t count) {
    const Place &deep = plan_.deep[static_cast<std::size_t>(z_)], &high = plan_.high[static_cast<std::size_t>(y_)];
    bool is_first = true;
    for (std::int64_t z = deep.low; z < deep.high; ++z)
      for (std::int64_t y = high.low; y < high.high; ++y, is_first = false) {
        const std::byte* row = input_row(z, y, column);
        if (layer_.is_narrow) {
          plan_.k.widen[static_cast<std::size_t>(layer_.narrow)](row, slots_[0].bytes, count);
          row = slots_[0].bytes;
        }
        plan_.loops.add[lane_](row, is_first, sums_, errors_, count);
      }
    if (lane_) plan_.loops.settle(sums_, errors_, count);
  }

  void area(const Part& part) {
    const Place &deep = plan_.deep[static_cast<std::size_t>(z_)], &high = plan_.high[static_cast<std::size_t>(y_)];
    double rows = static_cast<double>(deep.high - deep.low) * static_cast<double>(high.high - high.low);
    std::byte* out = target();
    if (part.span <= most_columns) {
      add_rows(part.base, static_cast<std::size_t>(part.span));
      plan_.loops.means[lane_](sums_, plan_.low.data() + part.start, plan_.up.data() + part.start, rows, out, count_);
      return put(out);
    }
    // One window that is longer than the buffers: its total, and what it has lost.
    double sum = 0, error = 0;
    for (std::int64_t done = 0; done < part.span; done += most_columns) {
      auto count = static_cast<std::size_t>(std::min(most_columns, part.span - done));
      add_rows(part.base + done, count);
      double more = plan_.loops.total(sums_, count);
      plan_.loops.add[1](&more, done == 0, &sum, &error, 1);
    }
    plan_.loops.settle(&sum, &error, 1);
    double mean = sum / (rows * static_cast<double>(part.span));
    auto rounded = static_cast<float>(mean);
    std::memcpy(out, lane_ ? static_cast<const void*>(&mean) : &rounded, plan_.lane_bytes());
    put(out);
  }

  const Plan& plan_;
  const Layer& layer_;
  std::size_t lane_;  // 0 f32, 1 f64
  std::int64_t plane_ = -1, part_ = -1, z_ = 0, y_ = 0, keys_[4] = {-1, -1, -1, -1};
  std::size_t count_ = 0;
  const std::byte* input_ = nullptr;
  std::byte* out_ = nullptr;
  Line slots_[4], planes_[2], result_, stored_[2], widened_[2];
  double sums_[most_columns], errors_[most_columns];
};

PyObject* interpolate(const Tensor& t, const std::int64_t* dims, Mode mode) {
  PyObject* made = new_dense_tensor(t.dtype, t.ndim(), dims);
  if (!made) return nullptr;
  nb::object output = nb::steal(made);
  const Tensor& out = *tensor_of(made);
  if (out.size == 0) return output.release().ptr();
  Plan plan(mode, t, out);
  std::int64_t units = dims[0] * dims[1] * plan.out[0] * plan.out[1] * static_cast<std::int64_t>(plan.parts.size());
  std::int64_t work = std::max(out.size, mode == Mode::area ? t.size : 0) / units + 1;
  run_over(work * units, {&t}, [&] {
    parallel_for(units, std::max<std::int64_t>(grain / 2 / work, 1),
                 [&](std::int64_t begin, std::int64_t end) { Worker(plan).run(begin, end); });
  });
  return output.release().ptr();
}

// Whether the loops can read a tensor as it lies: its rows are dense, and no sampled axis is empty.
bool is_readable(const Tensor& t) {
  int last = t.ndim() - 1;
  bool dense = t.dims()[last] <= 1 || t.strides()[last] == 1;
  return dense && std::all_of(t.dims() + 2, t.dims() + t.ndim(), [](auto n) { return n > 0; });
}

// The mode of a name, for a rank; false if it is none, or not for that rank.
bool read_mode(PyObject* name, int ndim, Mode& mode) {
  if (!PyUnicode_CheckExact(name)) return false;
  auto is = [&](const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; };
  constexpr const char* linear[] = {"linear", "bilinear", "trilinear"};
  mode = is("nearest") ? Mode::nearest : is("area") ? Mode::area : Mode::linear;
  return mode != Mode::linear || is(linear[ndim - 3]);
}

PyObject* fast_interpolate(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"interpolate"};
  Given given({"input", "size", "scale_factor", "mode"}, args, count, keywords);
  if (!given[0] || !given[1]) return nullptr;
  const Tensor* t = read_tensor(given[0]);
  if (!t || t->ndim() < 3 || t->ndim() > 5 || !facts(t->dtype).is_float() || !is_readable(*t) ||
      !promoted.keeps_dtype(given[0], given[0]))
    return nullptr;
  Mode mode = Mode::nearest;
  Integers sizes;
  if ((given[2] && given[2] != Py_None) || (given[3] && !read_mode(given[3], t->ndim(), mode)) ||
      !sizes.read_one_or_more(given[1]))
    return nullptr;
  bool one = PyLong_CheckExact(given[1]);
  if (!one && sizes.count != t->ndim() - 2) return nullptr;
  std::int64_t dims[5] = {t->dims()[0], t->dims()[1]};
  for (int d = 2; d < t->ndim(); ++d) {
    dims[d] = sizes.values[one ? 0 : d - 2];
    if (dims[d] < 1) return nullptr;
  }
  return interpolate(*t, dims, mode);
}

}  // namespace

void init_interpolation(nb::module_& m) {
  add_fast_path<fast_interpolate>("interpolate");
  define(m, "def interpolate(tensor: Any, sizes: Sequence[int], mode: int) -> Tensor",
         "A tensor sampled at other sizes of its axes from the third on: 0 nearest, 1 linear, 2 area.",
         [](nb::handle object, const std::vector<std::int64_t>& sizes, int mode) {
           const Tensor* t = read_tensor(object.ptr());
           if (!t || t->ndim() < 3 || t->ndim() > 5 || sizes.size() + 2 != static_cast<std::size_t>(t->ndim()) ||
               mode < 0 || mode > 2 || !facts(t->dtype).is_float() || !is_readable(*t))
             throw nb::value_error("not what interpolate takes");
           std::int64_t dims[5] = {t->dims()[0], t->dims()[1]};
           for (int d = 2; d < t->ndim(); ++d) {
             dims[d] = sizes[static_cast<std::size_t>(d - 2)];
             if (dims[d] < 1) throw nb::value_error("an empty axis");
           }
           return raise_or(interpolate(*t, dims, static_cast<Mode>(mode)));
         });
}

}  // namespace suanzi
