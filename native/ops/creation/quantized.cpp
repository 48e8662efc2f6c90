// native/ops/creation/quantized.cpp: 7.2.1.15: real numbers to quantised ones, and back, in one pass.
#include <nanobind/stl/vector.h>

#include <cmath>
#include <mutex>
#include <numeric>

#include "calls/operands.h"
#include "core/status.h"
#include "loops/blocks.h"

namespace suanzi {
namespace {

const QuantizeKernels& kernels_of(const Kernels& k, Dtype quantised) {
  const Layer& layer = layer_of(quantised);
  bool is_unsigned = layer.lane == Lane::u8 || layer.lane == Lane::u16;
  return k.quantized[(is_unsigned ? 2 : 0) + layer.log2_size];
}

// A tensor, and for each of its elements four bytes that depend on the channel alone.
struct WithChannels {
  Operand operands[2];
  nb::object kept;  // what the second operand lives in

  WithChannels(nb::handle object, const void* numbers, std::size_t count, int axis) {
    if (!read_operand(object.ptr(), operands[0]) || !operands[0].tensor) throw nb::type_error("not a Tensor");
    int ndim = operands[0].ndim();
    if (axis < -1 || axis >= ndim) throw nb::value_error("no such axis");
    if (static_cast<std::int64_t>(count) != (axis < 0 ? 1 : operands[0].dims()[axis]))
      throw nb::value_error("not a number for each channel");
    operands[1].dtype = Dtype::float32;
    if (axis < 0) {
      std::memcpy(operands[1].number, numbers, 4);
      return;
    }
    std::int64_t dims[max_ndim];
    std::fill(dims, dims + (ndim - axis), 1);
    dims[0] = operands[0].dims()[axis];
    kept = nb::steal(new_dense_tensor(Dtype::float32, ndim - axis, dims));
    if (!kept.ptr()) throw nb::python_error();
    operands[1].tensor = tensor_of(kept.ptr());
    if (count) std::memcpy(operands[1].tensor->data(), numbers, 4 * count);
  }
};

// Runs kernel(values, scales, one_scale, out, n) over blocks of x, read by `path`, and of the scales; stores by another
// path.
template <class Kernel>
void run_requantize(const Loop& loop, const Kernel& kernel, const Path& load, std::size_t lane, const Path& store,
                    std::byte* out, Dtype out_dtype) {
  const Kernels& k = kernels();
  Reader x(loop, loop.inputs[0], k, load), scale(loop, loop.inputs[1], k, Path{});
  Writer writer(loop, k, store, out, out_dtype);
  std::size_t wide = std::max({widest(load, x.itemsize()), lane, widest(store, item(out_dtype)), sizeof(float)});
  std::size_t block = block_elements(wide);
  std::size_t loaded = load.count ? load.out_size[load.count - 1] : x.itemsize();
  bool one_scale = scale.repeats(), alike = one_scale && x.repeats();
  parallel_for(loop.size, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
    Buffer in[2], in_scale[2], computed[2], copies;
    for (std::int64_t p = begin; p < end;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
      // One element under scales that differ gives results that differ.
      const std::byte* values = alike || !x.repeats() ? x.read(p, n, in) : x.spread(in, copies, loaded, n);
      auto* scales = reinterpret_cast<const float*>(scale.read(p, n, in_scale));
      kernel(values, scales, one_scale, writer.target(p, computed), alike ? 1 : n);
      writer.put(p, n, computed, alike);
      p += static_cast<std::int64_t>(n);
    }
    writer.finish();
  });
}

auto with(Requantize kernel, std::int32_t zero_point) {
  return [=](const void* in, const float* scale, bool one_scale, void* out, std::size_t n) {
    kernel(in, scale, one_scale, zero_point, out, n);
  };
}

nb::object finish(Together& together, Dtype dtype, Loop& loop) {
  PyObject* made = together.new_output(dtype);
  if (!made) throw nb::python_error();
  together.make_loop(loop);
  return nb::steal(made);
}

nb::object dequantize(nb::handle object, const DtypeInfo& target, bool saturate) {
  const Tensor* t = tensor_of(object.ptr());
  if (!t || !t->storage || !t->quantization || !is_consistent(*t, *t->quantization))
    throw_status("InvalidArgument", "the tensor has no scale, so that its integers stand for nothing.");
  const Kernels& k = kernels();
  std::int32_t zero_point = t->quantization->zero_point;
  const std::vector<float>& scale = t->quantization->scale;
  WithChannels both(object, scale.data(), scale.size(), t->quantization->channel_axis);
  Together together(both.operands, 2);
  Loop loop;
  Dtype dtype = dtype_of(target);
  nb::object output = finish(together, dtype, loop);
  // Everything but float32 comes from the exact product, so that it, too, is rounded once.
  bool direct = dtype == Dtype::float32 && std::abs(zero_point) < 1 << 23;
  Requantize kernel = kernels_of(k, t->dtype).dequantize[direct ? 0 : 1];
  Path store = direct ? Path{} : cast_path(k, Dtype::float64, dtype, saturate);
  std::byte* out = tensor_of(output.ptr())->data();
  run_loop(loop.size, both.operands, 2,
           [&] { run_requantize(loop, with(kernel, zero_point), Path{}, direct ? 4 : 8, store, out, dtype); });
  return output;
}

// kernel_of(kernels of the dtype, whether float32 holds the elements) is what is run.
template <class KernelOf>
nb::object quantize_by(nb::handle object, const DtypeInfo& target, Quantization quantization,
                       const KernelOf& kernel_of) {
  const Kernels& k = kernels();
  Dtype dtype = dtype_of(target);
  WithChannels both(object, quantization.scale.data(), quantization.scale.size(), quantization.channel_axis);
  Dtype source = both.operands[0].dtype;
  if (!facts(source).is_real() || target.kind != Kind::Quantized)
    throw nb::type_error("from real numbers to a quantised dtype");
  Together together(both.operands, 2);
  Loop loop;
  nb::object output = finish(together, dtype, loop);
  Tensor& made = *tensor_of(output.ptr());
  if (!is_consistent(made, quantization)) throw nb::value_error("the quantisation does not go with the tensor");
  made.quantization = new Quantization(std::move(quantization));
  bool narrow = holds_exactly(Dtype::float32, source);
  Dtype lane = narrow ? Dtype::float32 : Dtype::float64;
  auto kernel = kernel_of(kernels_of(k, dtype), narrow);
  std::byte* out = made.data();
  run_loop(loop.size, both.operands, 2,
           [&] { run_requantize(loop, kernel, load_path(k, source, lane), item(lane), Path{}, out, dtype); });
  return output;
}

nb::object quantize(nb::handle object, const DtypeInfo& target, std::vector<float> scale, std::int32_t zero_point,
                    int channel_axis, bool down) {
  Quantization quantization{std::move(scale), zero_point, channel_axis};
  return quantize_by(object, target, std::move(quantization), [&](const QuantizeKernels& k, bool narrow) {
    return with(k.quantize[narrow ? 0 : 1][down ? 1 : 0], zero_point);
  });
}

nb::object quantize_above(nb::handle object, const DtypeInfo& target, double least, float scale,
                          std::int32_t zero_point, bool down) {
  return quantize_by(object, target, Quantization{{scale}, zero_point, -1}, [&](const QuantizeKernels& k, bool narrow) {
    return [=, kernel = k.quantize_above[narrow ? 0 : 1][down ? 1 : 0]](
               const void* in, const float*, bool, void* out, std::size_t n) { kernel(in, least, scale, out, n); };
  });
}

// ---- the range of the elements ----------------------------------------------------------------

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool finite = true;

  void widen(const Range& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
    finite &= other.finite;
  }
};

Range range_of(const Reader& x, Extremes kernel, std::int64_t size, std::size_t block) {
  Range whole;
  std::mutex merging;
  parallel_for(x.repeats() ? std::min<std::int64_t>(size, 1) : size, 1 << 15,
               [&](std::int64_t begin, std::int64_t end) {
                 Buffer in[2];
                 Range part;
                 for (std::int64_t p = begin; p < end;) {
                   std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
                   kernel(x.read(p, n, in), n, part.low, part.high, part.finite);
                   p += static_cast<std::int64_t>(n);
                 }
                 std::lock_guard lock(merging);
                 whole.widen(part);
               });
  return whole;
}

// The ranges of channels, of which the second input of the loop is the number.
template <class T>
struct Ranges {
  std::vector<T> low, high;
  bool finite = true;

  explicit Ranges(std::size_t count)
      : low(count, std::numeric_limits<T>::infinity()), high(count, -std::numeric_limits<T>::infinity()) {}

  // n elements of the channels from `channel` on, one each.
  void widen(std::size_t channel, const T* values, std::size_t n) {
    T *least = low.data() + channel, *most = high.data() + channel;
    unsigned odd = 0;
    for (std::size_t i = 0; i < n; ++i) {
      T value = values[i];
      least[i] = value < least[i] ? value : least[i];
      most[i] = value > most[i] ? value : most[i];
      odd |= std::fabs(value) <= std::numeric_limits<T>::max() ? 0 : 1;
    }
    finite &= odd == 0;
  }

  void widen(const Loop& loop, const Reader& x, const Reader& channel, Extremes kernel, std::size_t block) {
    bool steps = loop.ndim && loop.inputs[1].strides[loop.ndim - 1] != 0;  // from channel to channel
    Buffer in[2], in_channel[2], copies, channels;
    for (std::int64_t p = 0; p < loop.size;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(loop.size - p));
      const std::byte* read = x.repeats() ? x.spread(in, copies, sizeof(T), n) : x.read(p, n, in);
      const std::byte* at =
          channel.repeats() ? channel.spread(in_channel, channels, 4, n) : channel.read(p, n, in_channel);
      auto* values = reinterpret_cast<const T*>(read);
      auto* numbers = reinterpret_cast<const std::uint32_t*>(at);
      for (std::size_t start = 0, end; start < n; start = end) {
        std::size_t number = numbers[start];
        if (steps) {
          end = std::min(n, start + low.size() - number);
          widen(number, values + start, end - start);
          continue;
        }
        for (end = start + 1; end < n && numbers[end] == number;) ++end;
        double least = low[number], most = high[number];
        kernel(values + start, end - start, least, most, finite);
        low[number] = static_cast<T>(least);
        high[number] = static_cast<T>(most);
      }
      p += static_cast<std::int64_t>(n);
    }
  }
};

nb::tuple value_range(nb::handle object, int channel_axis) {
  const Tensor* t = tensor_of(object.ptr());
  if (!t || !t->storage) throw nb::type_error("not a Tensor");
  if (!facts(t->dtype).is_real()) throw nb::type_error("not real numbers");
  if (channel_axis < -1 || channel_axis >= t->ndim()) throw nb::value_error("no such axis");
  auto count = static_cast<std::size_t>(channel_axis < 0 ? 1 : t->dims()[channel_axis]);
  bool narrow = holds_exactly(Dtype::float32, t->dtype);
  Dtype lane = narrow ? Dtype::float32 : Dtype::float64;
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0u);
  WithChannels both(object, numbers.data(), count, channel_axis);
  Together together(both.operands, 2);
  Loop loop;
  together.make_loop(loop);
  const Kernels& k = kernels();
  Path load = load_path(k, t->dtype, lane);
  Reader x(loop, loop.inputs[0], k, load), channel(loop, loop.inputs[1], k, Path{});
  std::size_t block = block_elements(std::max(widest(load, x.itemsize()), item(lane)));
  Extremes kernel = k.extremes[narrow ? 0 : 1];
  bool finite = true;
  nb::list low, high;
  auto find = [&]<class T>(Ranges<T> found) {
    run_loop(loop.size, both.operands, 2, [&] { found.widen(loop, x, channel, kernel, block); });
    for (std::size_t i = 0; i < count; ++i) low.append(double{found.low[i]}), high.append(double{found.high[i]});
    finite = found.finite;
  };
  if (channel_axis < 0) {
    Range found;
    run_loop(loop.size, both.operands, 2, [&] { found = range_of(x, kernel, loop.size, block); });
    low.append(found.low), high.append(found.high);
    finite = found.finite;
  } else if (narrow) {
    find(Ranges<float>(count));
  } else {
    find(Ranges<double>(count));
  }
  return nb::make_tuple(low, high, finite);
}

}  // namespace

void init_quantized(nb::module_& m) {
  define(m, "def dequantize(tensor: Any, dtype: DType, saturate: bool) -> Tensor",
         "What a quantised tensor stands for, rounded once to a dtype.", dequantize);
  define(m,
         "def quantize(tensor: Any, dtype: DType, scale: Sequence[float], zero_point: int, "
         "channel_axis: int, down: bool) -> Tensor",
         "Real numbers as integers of a quantised dtype, to the nearest or down; what is out of range is limited.",
         quantize);
  define(m,
         "def quantize_above(tensor: Any, dtype: DType, least: float, scale: float, zero_point: int, "
         "down: bool) -> Tensor",
         "As quantize, by the exact differences from the least element, which becomes the least integer.",
         quantize_above);
  define(m, "def value_range(tensor: Any, channel_axis: int) -> tuple[list[float], list[float], bool]",
         "The least and the largest element of each channel, and whether all are finite.", value_range);
}

}  // namespace suanzi
