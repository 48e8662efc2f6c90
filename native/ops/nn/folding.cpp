// native/ops/nn/folding.cpp: nn 7: windows of images as columns, and images from the sums of such columns.
//
// Columns are copied a line of positions at a time. Sums are made plane by plane, in float32 (float64 of float64), a
// tap after the other in their order, and rounded once.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "calls/arguments.h"
#include "core/status.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "ops/nn/convolutions.h"

namespace suanzi {
namespace {

using Sizes = std::vector<std::int64_t>;

// How a window of taps moves over an image: a number for each of the two axes.
struct Moves {
  const Sizes &kernel, &dilation, &start, &stride, &positions;

  std::int64_t taps() const { return kernel[0] * kernel[1]; }
  std::int64_t count() const { return positions[0] * positions[1]; }
  // Where a tap reads for the first position, and the positions [from, to) for which that is within the image.
  struct Reach {
    std::int64_t first, from, to;
  };
  Reach reach(std::size_t axis, std::int64_t tap, std::int64_t size) const {
    std::int64_t first = tap * dilation[axis] - start[axis], step = stride[axis], n = positions[axis];
    auto before = [&](std::int64_t end) { return end <= first ? 0 : std::min(n, (end - first + step - 1) / step); };
    return {first, before(0), before(size)};
  }
};

void unfold(const Tensor& x, const Moves& m, const Tensor& out) {
  const Kernels& k = kernels();
  std::size_t log2_size = layer_of(x.dtype).log2_size;
  auto size = static_cast<std::int64_t>(x.itemsize());
  std::int64_t channels = x.dims()[1], taps = m.taps(), across = m.positions[1];
  std::int64_t step = m.stride[1] * x.strides()[3] * size;
  auto zero = [&](std::byte* to, std::int64_t n) { std::memset(to, 0, static_cast<std::size_t>(n * size)); };
  parallel_for(x.dims()[0] * channels * taps, std::max<std::int64_t>(1, grain / m.count()),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   std::int64_t tap = i % taps, c = i / taps % channels, n = i / taps / channels;
                   auto high = m.reach(0, tap / m.kernel[1], x.dims()[2]),
                        wide = m.reach(1, tap % m.kernel[1], x.dims()[3]);
                   const std::byte* plane = x.data() + (n * x.strides()[0] + c * x.strides()[1]) * size;
                   std::byte* to = out.data() + i * m.count() * size;
                   for (std::int64_t y = 0; y < m.positions[0]; ++y, to += across * size) {
                     if (y < high.from || y >= high.to || wide.from >= wide.to) {
                       zero(to, across);
                       continue;
                     }
                     std::int64_t row = high.first + y * m.stride[0], column = wide.first + wide.from * m.stride[1];
                     const std::byte* from = plane + (row * x.strides()[2] + column * x.strides()[3]) * size;
                     zero(to, wide.from);
                     auto there = static_cast<std::size_t>(wide.to - wide.from);
                     if (step == size) std::memcpy(to + wide.from * size, from, there * static_cast<std::size_t>(size));
                     else k.gather[log2_size](from, to + wide.from * size, there, step);
                     zero(to + wide.to * size, across - wide.to);
                   }
                 }
               });
}

// The sum of a plane's columns.
template <class T>
void add_columns(const Tensor& x, const std::byte* columns, const Moves& m, const std::int64_t* sizes, T* line,
                 T* plane) {
  const Kernels& k = kernels();
  const ConvolutionLoops& loops = convolution_kernels().of[sizeof(T) == 8];
  auto size = static_cast<std::int64_t>(x.itemsize());
  std::fill_n(plane, sizes[0] * sizes[1], T{0});
  for (std::int64_t tap = 0; tap < m.taps(); ++tap) {
    auto high = m.reach(0, tap / m.kernel[1], sizes[0]), wide = m.reach(1, tap % m.kernel[1], sizes[1]);
    if (wide.from >= wide.to) continue;
    const std::byte* row = columns + tap * x.strides()[1] * size;
    for (std::int64_t y = high.from; y < high.to; ++y) {
      const std::byte* from = row + (y * m.positions[1] + wide.from) * x.strides()[2] * size;
      read_elements(k, from, x.dtype, x.strides()[2] * size, wide.to - wide.from, reinterpret_cast<std::byte*>(line));
      T* to = plane + (high.first + y * m.stride[0]) * sizes[1] + wide.first + wide.from * m.stride[1];
      loops.add(line, to, m.stride[1], wide.to - wide.from);
    }
  }
}

template <class T>
bool fold(const Tensor& x, const Moves& m, const Tensor& out) {
  const Layer& layer = layer_of(x.dtype);
  const std::int64_t* sizes = out.dims() + 2;
  std::int64_t channels = out.dims()[1], count = sizes[0] * sizes[1];
  auto size = static_cast<std::int64_t>(x.itemsize());
  std::atomic<bool> failed{false};
  std::int64_t each = std::max<std::int64_t>(1, m.taps() * m.count());
  parallel_for(
      out.dims()[0] * channels, std::max<std::int64_t>(1, grain / each), [&](std::int64_t begin, std::int64_t end) {
        OwnMemory line_memory, plane_memory;
        auto* line = reinterpret_cast<T*>(
            line_memory.take(std::max<std::int64_t>(1, m.positions[1]) * static_cast<std::int64_t>(sizeof(T))));
        auto* plane = reinterpret_cast<T*>(plane_memory.take(count * static_cast<std::int64_t>(sizeof(T))));
        if (!line || !plane) {
          failed = true;
          return;
        }
        for (std::int64_t i = begin; i < end; ++i) {
          std::int64_t c = i % channels, n = i / channels;
          std::int64_t at = n * x.strides()[0] + c * m.taps() * x.strides()[1];
          add_columns<T>(x, x.data() + at * size, m, sizes, line, plane);
          std::byte* to = out.data() + i * count * size;
          auto there = static_cast<std::size_t>(count);
          if (layer.is_narrow) kernels().narrow[static_cast<std::size_t>(layer.narrow)](plane, to, there);
          else std::memcpy(to, plane, there * sizeof(T));
        }
      });
  return !failed;
}

// ---- Python -------------------------------------------------------------------------------------

void check(bool good) {
  if (!good) throw nb::value_error("not what unfold and fold take");
}

const Tensor& checked(nb::handle object, int ndim, const Moves& m) {
  const Tensor* t = read_tensor(object.ptr());
  check(t && t->ndim() == ndim && facts(t->dtype).is_float());
  constexpr std::int64_t most = std::int64_t{1} << 31;
  for (const Sizes* sizes : {&m.kernel, &m.dilation, &m.start, &m.stride, &m.positions}) {
    check(sizes->size() == 2);
    for (std::int64_t n : *sizes) check(n >= (sizes == &m.start ? 0 : 1) && (sizes == &m.positions || n < most));
  }
  return *t;
}

template <class F>
nb::object made_by(const Tensor& x, const Sizes& shape, F&& body) {
  PyObject* made = new_dense_tensor(x.dtype, static_cast<int>(shape.size()), shape.data());
  if (!made) throw nb::python_error();
  nb::object output = nb::steal(made);
  const Tensor& out = *tensor_of(made);
  bool good = true;
  if (out.size > 0) run_over(std::max(x.size, out.size), {&x}, [&] { good = body(out); });
  if (!good) {
    no_memory();
    throw nb::python_error();
  }
  return output;
}

}  // namespace

void init_nn_folding(nb::module_& m) {
  define(m,
         "def nn_unfold(x: Any, kernel: Sequence[int], dilation: Sequence[int], start: Sequence[int], stride: "
         "Sequence[int], positions: Sequence[int]) -> Tensor",
         "The windows of images (batch, channels, height, width) as columns (batch, channels * taps, positions).",
         [](nb::handle object, const Sizes& kernel, const Sizes& dilation, const Sizes& start, const Sizes& stride,
            const Sizes& positions) {
           Moves moves{kernel, dilation, start, stride, positions};
           const Tensor& x = checked(object, 4, moves);
           return made_by(x, {x.dims()[0], x.dims()[1] * moves.taps(), moves.count()}, [&](const Tensor& out) {
             unfold(x, moves, out);
             return true;
           });
         });
  define(m,
         "def nn_fold(x: Any, kernel: Sequence[int], dilation: Sequence[int], start: Sequence[int], stride: "
         "Sequence[int], positions: Sequence[int], sizes: Sequence[int]) -> Tensor",
         "Images of some sizes, each element the sum of those of columns that unfold would have made from it.",
         [](nb::handle object, const Sizes& kernel, const Sizes& dilation, const Sizes& start, const Sizes& stride,
            const Sizes& positions, const Sizes& sizes) {
           Moves moves{kernel, dilation, start, stride, positions};
           const Tensor& x = checked(object, 3, moves);
           check(sizes.size() == 2 && sizes[0] >= 0 && sizes[1] >= 0);
           check(x.dims()[1] % moves.taps() == 0 && x.dims()[2] == moves.count());
           return made_by(x, {x.dims()[0], x.dims()[1] / moves.taps(), sizes[0], sizes[1]}, [&](const Tensor& out) {
             return x.dtype == Dtype::float64 ? fold<double>(x, moves, out) : fold<float>(x, moves, out);
           });
         });
}

}  // namespace suanzi
