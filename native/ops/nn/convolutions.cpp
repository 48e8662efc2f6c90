// native/ops/nn/convolutions.cpp: nn 5: convolutions of tensors, transposed ones, and the gradients of weights.
//
// A transposed convolution is the gradient of a convolution's input. Results that are a stride apart read the same
// taps, one element after the other: so it is as many plain convolutions as there are remainders by the stride, each of
// some of the taps, and no two of them write the same element.
#include "ops/nn/convolutions_unit.h"

#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <cstring>

#include "calls/arguments.h"
#include "core/status.h"
#include "core/threads.h"
#include "core/without_gil.h"

namespace suanzi {
namespace {

using Sizes = std::vector<std::int64_t>;

// How a kernel moves over the axes of an input, from the last three on.
struct Motion {
  int ndim;
  const Sizes &stride, &start, &dilation;

  // Missing axes have one element.
  std::int64_t stride_of(int axis) const { return at(stride, axis, 1); }
  std::int64_t start_of(int axis) const { return at(start, axis, 0); }
  std::int64_t dilation_of(int axis) const { return at(dilation, axis, 1); }
  std::int64_t at(const Sizes& values, int axis, std::int64_t without) const {
    int i = axis - (3 - ndim);
    return i < 0 ? without : values[static_cast<std::size_t>(i)];
  }
};

std::int64_t dim_of(const Tensor& t, int axis) {
  int at = t.ndim() - 3 + axis;
  return at < 2 ? 1 : t.dims()[at];
}

ConvolutionInput input_of(const Tensor& t) {
  auto size = static_cast<std::int64_t>(t.itemsize());
  ConvolutionInput x{t.data(), t.dtype, t.strides()[0] * size, t.strides()[1] * size, {}};
  for (int d = 0; d < 3; ++d) {
    int at = t.ndim() - 3 + d;
    x.axes[d] = at < 2 ? 0 : t.strides()[at] * size;
  }
  return x;
}

// Makes axes one where each element is read once and lies behind the one before.
void join_axes(Convolution& c) {
  auto is_plain = [](const ConvolutionAxis& a) {
    return a.offsets.size() == 1 && a.offsets[0] == 0 && a.stride == 1 && a.in == a.out && a.full == a.out &&
           a.base == 0 && a.step == 1;
  };
  auto size = static_cast<std::int64_t>(facts(c.x.dtype).itemsize);
  std::int64_t width = c.axes[2].in;
  if (!is_plain(c.axes[0]) || !is_plain(c.axes[1]) || !is_plain(c.axes[2])) return;
  if ((width > 1 && c.x.axes[2] != size) || (c.axes[1].in > 1 && c.x.axes[1] != width * size)) return;
  if (c.axes[0].in > 1 && c.x.axes[0] != width * c.axes[1].in * size) return;
  width *= c.axes[1].in * c.axes[0].in;
  c.axes[2].in = c.axes[2].out = c.axes[2].full = width;
  c.axes[0] = c.axes[1] = ConvolutionAxis{};
  c.x.axes[2] = size;
}

struct Call {
  const Tensor &x, &weight;
  const Tensor* bias;
  const Motion& motion;
  std::int64_t groups;
};

bool convolve(const Call& call, const Tensor& out) {
  const Tensor &x = call.x, &weight = call.weight;
  Convolution c;
  c.batch = x.dims()[0], c.groups = call.groups;
  c.channels = x.dims()[1] / call.groups, c.rows = weight.dims()[0] / call.groups;
  for (int d = 0; d < 3; ++d) {
    ConvolutionAxis& a = c.axes[d];
    a.in = dim_of(x, d), a.out = a.full = dim_of(out, d), a.stride = call.motion.stride_of(d);
    a.offsets.clear();
    for (std::int64_t t = 0; t < dim_of(weight, d); ++t)
      a.offsets.push_back(t * call.motion.dilation_of(d) - call.motion.start_of(d));
  }
  c.x = input_of(x);
  c.weights = weight.data(), c.out = out.data();
  c.bias = call.bias ? call.bias->data() : nullptr;
  join_axes(c);
  return run_convolutions({c});
}

// ---- transposed ---------------------------------------------------------------------------------

// The results of one remainder by the stride, along one axis: which taps they read, and where.
struct Remainder {
  ConvolutionAxis axis;
  Sizes taps;
};

std::vector<Remainder> remainders_of(std::int64_t in, std::int64_t taps, std::int64_t out, std::int64_t stride,
                                     std::int64_t start, std::int64_t dilation) {
  std::vector<Remainder> found;
  for (std::int64_t t = 0; t < taps; ++t) {
    // Result i reads (i + start - t * dilation) / stride, if that is whole.
    std::int64_t remainder = ((t * dilation - start) % stride + stride) % stride;
    if (remainder >= out) continue;
    auto at = std::find_if(found.begin(), found.end(), [&](const Remainder& r) { return r.axis.base == remainder; });
    if (at == found.end()) {
      Remainder r;
      r.axis.in = in, r.axis.out = (out - remainder + stride - 1) / stride;
      r.axis.full = out, r.axis.base = remainder, r.axis.step = stride;
      r.axis.offsets.clear();
      at = found.insert(found.end(), r);
    }
    at->axis.offsets.push_back((remainder + start - t * dilation) / stride);
    at->taps.push_back(t);
  }
  return found;
}

// Every element is its channel's bias, or 0.
void fill(const Tensor& out, const std::byte* bias, std::int64_t channels) {
  const Kernels& k = kernels();
  const Layer& layer = layer_of(out.dtype);
  std::int64_t size = std::int64_t{1} << layer.log2_size, planes = out.dims()[0] * channels;
  std::int64_t length = planes ? out.size / planes : 0;
  std::int64_t wide = out.dtype == Dtype::float64 ? 8 : 4;
  parallel_for(planes, std::max<std::int64_t>(1, grain / std::max<std::int64_t>(length, 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   std::byte* to = out.data() + i * length * size;
                   std::memset(to, 0, static_cast<std::size_t>(length * size));
                   if (!bias || length == 0) continue;
                   const std::byte* from = bias + i % channels * wide;
                   if (layer.is_narrow) k.narrow[static_cast<std::size_t>(layer.narrow)](from, to, 1);
                   else std::memcpy(to, from, static_cast<std::size_t>(size));
                   for (std::int64_t j = 1; j < length; ++j)
                     std::memcpy(to + j * size, to, static_cast<std::size_t>(size));
                 }
               });
}

// Some taps of weights, as a convolution has them.
struct Picked {
  Convolution c;
  Sizes taps;

  Picked(const Tensor& weight, const Convolution& convolution, const std::array<const Remainder*, 3>& r)
      : c(convolution) {
    std::int64_t high = dim_of(weight, 1), wide = dim_of(weight, 2);
    for (int d = 0; d < 3; ++d) c.axes[d] = r[d]->axis;
    for (std::int64_t z : r[0]->taps)
      for (std::int64_t y : r[1]->taps)
        for (std::int64_t x : r[2]->taps) taps.push_back((z * high + y) * wide + x);
  }
};

// Weights (groups * channels, rows, taps), as (groups, rows, channels, some taps), one behind the other.
template <class U>
void pick_weights(const Tensor& weight, std::vector<Picked>& all, U* to) {
  auto from = reinterpret_cast<const U*>(weight.data());
  std::int64_t of_each = dim_of(weight, 0) * dim_of(weight, 1) * dim_of(weight, 2);
  for (Picked& picked : all) {
    picked.c.weights = reinterpret_cast<const std::byte*>(to);
    to += picked.c.groups * picked.c.rows * picked.c.depth();
  }
  const Convolution& c = all[0].c;
  constexpr std::int64_t some = 16;  // rows of the result at once: they are side by side in the weights
  std::int64_t parts = (c.rows + some - 1) / some;
  std::int64_t least = std::max<std::int64_t>(1, grain / 8 / (some * c.channels * of_each));
  parallel_for(c.groups * parts, least, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t group = i / parts, first = i % parts * some, last = std::min(first + some, c.rows);
      for (std::int64_t channel = 0; channel < c.channels; ++channel)
        for (std::int64_t row = first; row < last; ++row) {
          const U* its = from + ((group * c.channels + channel) * c.rows + row) * of_each;
          for (const Picked& picked : all) {
            auto count = static_cast<std::int64_t>(picked.taps.size());
            auto there = const_cast<U*>(reinterpret_cast<const U*>(picked.c.weights)) +
                         ((group * c.rows + row) * c.channels + channel) * count;
            for (std::int64_t t = 0; t < count; ++t) there[t] = its[picked.taps[static_cast<std::size_t>(t)]];
          }
        }
    }
  });
}

bool are_finite(const Tensor& t) {
  const Kernels& k = kernels();
  const Layer& layer = layer_of(t.dtype);
  std::atomic<bool> all{true};
  parallel_for(t.size, grain, [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t some = 1024;
    alignas(64) std::byte wide[some * 4];
    double low = 0, high = 0;
    bool found = true;
    for (std::int64_t i = begin; i < end && found; i += some) {
      auto n = static_cast<std::size_t>(std::min(some, end - i));
      const std::byte* from = t.data() + (i << layer.log2_size);
      if (layer.is_narrow) k.widen[static_cast<std::size_t>(layer.narrow)](from, wide, n);
      k.extremes[t.dtype == Dtype::float64](layer.is_narrow ? wide : from, n, low, high, found);
    }
    if (!found) all = false;
  });
  return all;
}

// A convolution one product after the other, of what is there alone: infinite weights times padding would be NaN.
template <class T>
void convolve_slowly(const Convolution& c) {
  const Kernels& k = kernels();
  const Layer& layer = layer_of(c.x.dtype);
  std::int64_t size = std::int64_t{1} << layer.log2_size, all = c.groups * c.rows;
  auto value = [&](const std::byte* at) {
    T found;
    read_elements(k, at, c.x.dtype, size, 1, reinterpret_cast<std::byte*>(&found));
    return found;
  };
  const ConvolutionAxis &deep = c.axes[0], &high = c.axes[1], &wide = c.axes[2];
  std::int64_t count = deep.out * high.out * wide.out;
  parallel_for(c.batch * all * count, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t x = i % wide.out, y = i / wide.out % high.out, z = i / wide.out / high.out % deep.out;
      std::int64_t row = i / count % all, n = i / count / all, group = row / c.rows;
      const std::byte* weight = c.weights + row * c.depth() * size;
      T sum = 0;
      for (std::int64_t channel = 0; channel < c.channels; ++channel)
        for (std::int64_t from_z : deep.offsets)
          for (std::int64_t from_y : high.offsets)
            for (std::int64_t from_x : wide.offsets) {
              std::int64_t iz = z * deep.stride + from_z, iy = y * high.stride + from_y;
              std::int64_t ix = x * wide.stride + from_x;
              if (iz >= 0 && iz < deep.in && iy >= 0 && iy < high.in && ix >= 0 && ix < wide.in)
                sum += value(weight) * value(c.x.data + n * c.x.batch + (group * c.channels + channel) * c.x.channel +
                                             iz * c.x.axes[0] + iy * c.x.axes[1] + ix * c.x.axes[2]);
              weight += size;
            }
      if (c.bias) sum += reinterpret_cast<const T*>(c.bias)[row];
      std::int64_t at = (deep.base + z * deep.step) * high.full + high.base + y * high.step;
      at = (n * all + row) * c.out_plane() + at * wide.full + wide.base + x * wide.step;
      if (layer.is_narrow) k.narrow[static_cast<std::size_t>(layer.narrow)](&sum, c.out + at * size, 1);
      else std::memcpy(c.out + at * size, &sum, sizeof sum);
    }
  });
}

bool convolve_transposed(const Call& call, const Tensor& out) {
  const Tensor &x = call.x, &weight = call.weight;
  const Motion& m = call.motion;
  Convolution c;
  c.batch = x.dims()[0], c.groups = call.groups;
  c.channels = x.dims()[1] / call.groups, c.rows = weight.dims()[1];
  c.x = input_of(x);
  c.out = out.data();
  c.bias = call.bias ? call.bias->data() : nullptr;
  std::vector<Remainder> each[3];
  bool is_covered = true;
  for (int d = 0; d < 3; ++d) {
    each[d] =
        remainders_of(dim_of(x, d), dim_of(weight, d), dim_of(out, d), m.stride_of(d), m.start_of(d), m.dilation_of(d));
    is_covered = is_covered && static_cast<std::int64_t>(each[d].size()) == std::min(m.stride_of(d), dim_of(out, d));
  }
  if (!is_covered || c.channels == 0) fill(out, c.bias, c.groups * c.rows);
  if (out.size == 0 || c.channels == 0) return true;
  std::vector<Picked> all;
  for (const Remainder& z : each[0])
    for (const Remainder& y : each[1])
      for (const Remainder& w : each[2]) all.emplace_back(weight, c, std::array{&z, &y, &w});
  if (all.empty()) return true;
  bool is_finite = are_finite(weight);
  std::vector<Convolution> convolutions;
  TransposedWeights whole{weight.data(), dim_of(weight, 0) * dim_of(weight, 1) * dim_of(weight, 2), {}};
  for (Picked& picked : all) {
    convolutions.push_back(picked.c);
    join_axes(convolutions.back());
    whole.chosen.push_back(picked.taps);
  }
  for (auto run : {&run_transposed_by_unit, &run_transposed_by_pixels})
    if (auto made = is_finite ? run(convolutions, whole) : std::nullopt) return *made;
  Scratch memory;
  if (!memory.take(weight.dtype, std::max<std::int64_t>(weight.size, 1))) return false;
  switch (weight.itemsize()) {
    case 1: pick_weights(weight, all, reinterpret_cast<std::uint8_t*>(memory.data())); break;
    case 2: pick_weights(weight, all, reinterpret_cast<std::uint16_t*>(memory.data())); break;
    case 4: pick_weights(weight, all, reinterpret_cast<std::uint32_t*>(memory.data())); break;
    default: pick_weights(weight, all, reinterpret_cast<std::uint64_t*>(memory.data()));
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_finite) convolutions[i].weights = all[i].c.weights;
    else x.dtype == Dtype::float64 ? convolve_slowly<double>(all[i].c) : convolve_slowly<float>(all[i].c);
  return !is_finite || run_convolutions(convolutions);
}

// ---- weights ------------------------------------------------------------------------------------

bool weights_of(const Call& call, const Tensor& gradient, const Tensor& out) {
  Convolution c;
  c.batch = call.x.dims()[0], c.groups = call.groups;
  c.channels = call.x.dims()[1] / call.groups, c.rows = gradient.dims()[1] / call.groups;
  for (int d = 0; d < 3; ++d) {
    ConvolutionAxis& a = c.axes[d];
    a.in = dim_of(call.x, d), a.out = a.full = dim_of(gradient, d), a.stride = call.motion.stride_of(d);
    a.offsets.clear();
    for (std::int64_t t = 0; t < dim_of(out, d); ++t)
      a.offsets.push_back(t * call.motion.dilation_of(d) - call.motion.start_of(d));
  }
  c.x = input_of(call.x);
  c.out = out.data();
  return run_weight_gradient(c, input_of(gradient));
}

// ---- Python -------------------------------------------------------------------------------------

const Tensor& tensor_argument(nb::handle object, int ndim) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || t->ndim() != ndim || !facts(t->dtype).is_float()) throw nb::type_error("not a tensor of convolutions");
  return *t;
}

void check(bool good) {
  if (!good) throw nb::value_error("not what convolutions take");
}

Motion motion_of(const Tensor& x, const Sizes& stride, const Sizes& start, const Sizes& dilation) {
  auto count = static_cast<std::size_t>(x.ndim() - 2);
  check(x.ndim() >= 3 && x.ndim() <= 5 && stride.size() == count && start.size() == count && dilation.size() == count);
  constexpr std::int64_t most = std::int64_t{1} << 31;
  for (std::size_t i = 0; i < count; ++i)
    check(stride[i] > 0 && stride[i] < most && start[i] > -most && start[i] < most && dilation[i] > 0 &&
          dilation[i] < most);
  return {x.ndim() - 2, stride, start, dilation};
}

template <class F>
nb::object made_by(Dtype dtype, const Sizes& shape, std::initializer_list<const Tensor*> read, double work, F&& body) {
  PyObject* made = new_dense_tensor(dtype, static_cast<int>(shape.size()), shape.data());
  if (!made) throw nb::python_error();
  nb::object output = nb::steal(made);
  const Tensor& out = *tensor_of(made);
  if (out.size == 0) return output;
  Storage* kept[3] = {};
  int count = 0;
  for (const Tensor* t : read)
    if (t) kept[count++] = t->storage;
  bool good = true;
  auto run = [&] { good = body(out); };
  if (work < long_loop) run();
  else run_without_gil(kept, count, run);
  if (!good) {
    no_memory();
    throw nb::python_error();
  }
  return output;
}

double work_of(const Tensor& a, const Tensor& b) {
  return static_cast<double>(a.size) * static_cast<double>(std::max<std::int64_t>(1, b.size)) / 64;
}

nb::object convolve_checked(nb::handle x_, nb::handle weight_, nb::handle bias_, const Sizes& stride,
                            const Sizes& start, const Sizes& dilation, const Sizes& sizes, std::int64_t groups,
                            bool transposed) {
  const Tensor* given = read_tensor(x_.ptr());
  check(given && given->ndim() >= 3);
  const Tensor &x = tensor_argument(x_, given->ndim()), &weight = tensor_argument(weight_, given->ndim());
  const Tensor* bias = bias_.is_none() ? nullptr : &tensor_argument(bias_, 1);
  Motion motion = motion_of(x, stride, start, dilation);
  check(groups > 0 && weight.row_major && weight.dtype == x.dtype && sizes.size() == stride.size());
  check(x.dims()[1] % groups == 0 && weight.dims()[0] % groups == 0);
  check(transposed ? weight.dims()[0] == x.dims()[1] : weight.dims()[1] == x.dims()[1] / groups);
  std::int64_t rows = transposed ? weight.dims()[1] * groups : weight.dims()[0];
  Dtype wide = x.dtype == Dtype::float64 ? Dtype::float64 : Dtype::float32;
  check(!bias || (bias->row_major && bias->dtype == wide && bias->size == rows));
  Sizes shape{x.dims()[0], rows};
  for (std::int64_t n : sizes) {
    check(n >= 0);
    shape.push_back(n);
  }
  Call call{x, weight, bias, motion, groups};
  return made_by(x.dtype, shape, {&x, &weight, bias}, work_of(x, weight),
                 [&](const Tensor& out) { return transposed ? convolve_transposed(call, out) : convolve(call, out); });
}

nb::object weights_checked(nb::handle x_, nb::handle gradient_, const Sizes& stride, const Sizes& start,
                           const Sizes& dilation, const Sizes& sizes, std::int64_t groups) {
  const Tensor* given = read_tensor(x_.ptr());
  check(given && given->ndim() >= 3);
  const Tensor &x = tensor_argument(x_, given->ndim()), &gradient = tensor_argument(gradient_, given->ndim());
  Motion motion = motion_of(x, stride, start, dilation);
  check(groups > 0 && gradient.dtype == x.dtype && sizes.size() == stride.size());
  check(x.dims()[1] % groups == 0 && gradient.dims()[1] % groups == 0 && x.dims()[0] == gradient.dims()[0]);
  Sizes shape{gradient.dims()[1], x.dims()[1] / groups};
  for (std::int64_t n : sizes) {
    check(n >= 0);
    shape.push_back(n);
  }
  Call call{x, gradient, nullptr, motion, groups};
  return made_by(x.dtype, shape, {&x, &gradient}, work_of(x, gradient),
                 [&](const Tensor& out) { return weights_of(call, gradient, out); });
}

}  // namespace

void init_nn_convolutions(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "nn_convolve", &convolve_checked, "x"_a, "weight"_a, "bias"_a.none(), "stride"_a, "start"_a, "dilation"_a,
      "sizes"_a, "groups"_a, "transposed"_a,
      nb::sig("def nn_convolve(x: Any, weight: Any, bias: Any, stride: Sequence[int], start: Sequence[int], dilation: "
              "Sequence[int], sizes: Sequence[int], groups: int, transposed: bool) -> Tensor"),
      "A convolution, or a transposed one, with results of some sizes; `start` is the padding before each axis.");
  define(m,
         "def nn_convolve_weights(x: Any, gradient: Any, stride: Sequence[int], start: Sequence[int], dilation: "
         "Sequence[int], sizes: Sequence[int], groups: int) -> Tensor",
         "The gradient of a convolution's weights, whose kernel has some sizes, from that of its result.",
         weights_checked);
}

}  // namespace suanzi
