// native/ops/nn/quantised.cpp: nn 10: rows and blocks quantised by their largest elements, and products of them.
//
// A block is read twice: for its largest magnitude, and to be divided by its scale. Products are computed in tiles of
// the result by the kernels of matmul, a block along the inputs at a time; a tile of scaled sums stays in the caches.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "calls/arguments.h"
#include "core/own_memory.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/by_level.h"
#include "kernels/linear_algebra/products_tiles.h"
#include "kernels/nn/quantised.h"
#include "kernels/vectors/lanes.h"

namespace suanzi {

SUANZI_BY_LEVEL(QuantisedKernels, quantised_kernels)

namespace {

constexpr std::int64_t at_once = 1024;
constexpr float least_scale = std::numeric_limits<float>::min();

const Tensor& dense(nb::handle object) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || !t->row_major) throw nb::value_error("not a tensor in row-major order");
  return *t;
}

std::int64_t parts_of(std::int64_t n, std::int64_t size) { return n / size + (n % size != 0); }

double limit_of(Dtype dtype) { return dtype == Dtype::int8 ? 127 : dtype == Dtype::float8_e4m3fn ? 448 : 57344; }

// ---- quantisation --------------------------------------------------------------------------------

struct Quantisation {
  const Tensor& x;
  Dtype target;
  std::int64_t height, width, rows, columns;  // of a matrix, and of a block
  std::int8_t* out;
  float* scales;
  const Kernels& k = kernels();
  const QuantisedKernels& loops = quantised_kernels();
  const Layer& layer = layer_of(x.dtype);
  std::size_t lane = x.dtype == Dtype::float64;
  double limit = limit_of(target);
  alignas(64) float widened[at_once] = {}, odd[at_once] = {};
  alignas(64) double quotients[at_once] = {};

  // Block j of the blocks of `rows` rows that are number i of all matrices.
  void block(std::int64_t i, std::int64_t j, std::int64_t down, std::int64_t across) {
    std::int64_t top = i % down * rows, high = std::min(rows, height - top);
    std::int64_t first = j * columns, wide = std::min(columns, width - first);
    std::int64_t start = (i / down * height + top) * width + first;
    std::uint64_t bits = 0;
    for (std::int64_t r = 0; r < high; ++r)
      for (std::int64_t c = 0; c < wide; c += at_once) {
        auto n = static_cast<std::size_t>(std::min(at_once, wide - c));
        bits = std::max(bits, loops.largest[lane](read(start + r * width + c, n), n));
      }
    double largest = lane ? std::bit_cast<double>(bits) : std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    auto scale = static_cast<float>(largest / limit);
    if (scale < least_scale) scale = least_scale;
    scales[i * across + j] = scale;
    for (std::int64_t r = 0; r < high; ++r)
      for (std::int64_t c = 0; c < wide; c += at_once) {
        std::int64_t at = start + r * width + c;
        auto n = static_cast<std::size_t>(std::min(at_once, wide - c));
        if (std::isfinite(scale)) divide(read(at, n), scale, out + at, n);
        else mark(read(at, n), std::isnan(scale), out + at, n);
      }
  }

 private:
  const void* read(std::int64_t at, std::size_t n) {
    const std::byte* from = x.data() + at * static_cast<std::int64_t>(x.itemsize());
    if (!layer.is_narrow) return from;
    k.widen[static_cast<std::size_t>(layer.narrow)](from, widened, n);
    return widened;
  }
  void divide(const void* from, float scale, std::int8_t* to, std::size_t n) {
    if (target == Dtype::int8) return loops.to_int8[lane](from, scale, limit, to, n);
    loops.quotients[lane](from, scale, limit, quotients, n);
    k.to_odd[static_cast<std::size_t>(Lane::f64)](quotients, odd, n);
    k.narrow[static_cast<std::size_t>(layer_of(target).narrow)](odd, to, n);
  }
  // Where the largest magnitude has no scale: NaN, or infinities among zeros.
  void mark(const void* from, bool is_nan, std::int8_t* to, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      double v = lane ? static_cast<const double*>(from)[i] : double{static_cast<const float*>(from)[i]};
      double marked = is_nan ? std::nan("") : std::copysign(std::isinf(v) ? limit : 0.0, v);
      odd[i] = static_cast<float>(marked);
      if (target == Dtype::int8) to[i] = is_nan ? std::int8_t{0} : static_cast<std::int8_t>(marked);
    }
    if (target != Dtype::int8) k.narrow[static_cast<std::size_t>(layer_of(target).narrow)](odd, to, n);
  }
};

// Without `columns`, a block is as wide as a row, also where that has no elements.
nb::object quantise(nb::handle object, std::int64_t rows, std::int64_t columns, const DtypeInfo& dtype) {
  const Tensor& x = dense(object);
  Dtype target = dtype_of(dtype);
  int n = x.ndim();
  if (n < (rows > 1 ? 2 : 1) || rows < 1 || columns < 0 || !facts(x.dtype).is_float() ||
      (target != Dtype::int8 && target != Dtype::float8_e4m3fn && target != Dtype::float8_e5m2))
    throw nb::value_error("not what is quantised");
  std::int64_t width = x.dims()[n - 1], height = n > 1 ? x.dims()[n - 2] : 1;
  std::int64_t down = parts_of(height, rows), across = columns ? parts_of(width, columns) : 1;
  std::int64_t dims[max_ndim];
  std::copy_n(x.dims(), n, dims);
  dims[n - 1] = across;
  if (n > 1) dims[n - 2] = down;
  nb::object q = raise_or(new_dense_tensor(target, n, x.dims()));
  nb::object s = raise_or(new_dense_tensor(Dtype::float32, n, dims));
  const Tensor &out = *tensor_of(q.ptr()), &scales = *tensor_of(s.ptr());
  if (scales.size == 0) return nb::make_tuple(q, s);
  std::int64_t wide = columns ? columns : std::max<std::int64_t>(width, 1);
  double elements = static_cast<double>(std::min(rows, height)) * static_cast<double>(std::min(wide, width) + 1);
  auto least = static_cast<std::int64_t>(std::max(1.0, grain / 4 / elements));
  run_over(out.size + scales.size, {&x}, [&] {
    parallel_for(scales.size, least, [&](std::int64_t begin, std::int64_t end) {
      Quantisation part{x,
                        target,
                        height,
                        width,
                        rows,
                        wide,
                        reinterpret_cast<std::int8_t*>(out.data()),
                        reinterpret_cast<float*>(scales.data())};
      for (std::int64_t i = begin; i < end; ++i) part.block(i / across, i % across, down, across);
    });
  });
  return nb::make_tuple(q, s);
}

// ---- products ------------------------------------------------------------------------------------

// How a processor multiplies bytes, and numbers of bfloat16: as they lie, or widened.
enum class By : std::uint8_t { bytes, pairs, bf16, tiles, floats };

struct ScaledProduct {
  const Tensor &x, &weight;  // (m, k) and (n, k) of int8 or of bfloat16
  const float *x_scales, *weight_scales;
  std::int64_t rows, columns, across;  // of a block of the weight; and how many are side by side
  const double* bias;
  const Tensor& out;
  std::int64_t m = x.dims()[0], k = x.dims()[1], n = weight.dims()[0];
  const Kernels& kernel = kernels();
  const ProductKernels& own = *kernel.products;
  const QuantisedKernels& loops = quantised_kernels();
  bool whole = x.dtype == Dtype::int8;
  By by = way();
  mutable std::atomic<bool> failed{false};

  void run() const {
    std::int64_t high = across > 1 ? 128 : 256, wide = high;
    auto count = [&] { return parts_of(m, high) * parts_of(n, wide); };
    high = std::min(high, m), wide = std::min(wide, n);
    while (count() < 2 * thread_count() && static_cast<double>(high * wide) * static_cast<double>(k) > 1 << 20) {
      if (wide >= high && wide > 32) wide = (wide / 2 + 15) / 16 * 16;
      else if (high > 16) high = (high / 2 + 15) / 16 * 16;
      else break;
    }
    std::int64_t side = parts_of(n, wide);
    auto each = static_cast<double>(high * wide) * static_cast<double>(k + 1);
    parallel_for(count(), static_cast<std::int64_t>(std::max(1.0, grain / each)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end && !failed; ++i)
                     tile(i / side * high, i % side * wide, high, wide);
                 });
  }

 private:
  // Exact sums of int32 are so long at most; widened operands, so long that a tile of them stays in a cache.
  static constexpr std::int64_t longest = 1 << 16, deep = 512;
  static constexpr std::int64_t few_rows = 12;  // which are multiplied by a weight that is read where it lies

  By way() const {
    if (whole) return own.multiply_bytes[0] ? By::bytes : By::pairs;
    if (own.multiply_bf16) return By::bf16;  // sums of float8's products are never subnormal
    return own.tiles ? By::tiles : By::floats;
  }

  bool by_rows() const { return whole && own.scaled_rows_of_bytes && m <= few_rows; }

  // All rows, of which there are few, by some columns.
  void rows_of_bytes(std::int64_t j0, std::int64_t wide) const {
    OwnMemory memory[3];
    std::int64_t parts = across * (std::max<std::int64_t>(1, parts_of(std::min(columns, k), longest)));
    auto* sums = reinterpret_cast<double*>(memory[0].take(m * wide * 8));
    auto* excess = reinterpret_cast<std::int32_t*>(memory[1].take(m * parts * 4));
    std::byte* room = memory[2].take(wide * 4);
    if (!sums || !excess || !room) return failed.store(true);
    own.scaled_rows_of_bytes({x.data(), weight.data(), m, j0, wide, k, columns, across, rows, longest, x_scales,
                              weight_scales, excess, sums});
    for (std::int64_t r = 0; r < m; ++r) store(sums + r * wide, r, j0, wide, room);
  }

  void tile(std::int64_t i0, std::int64_t j0, std::int64_t high, std::int64_t wide) const {
    high = std::min(high, m - i0), wide = std::min(wide, n - j0);
    if (by_rows()) return rows_of_bytes(j0, wide);
    OwnMemory memory[4];
    auto* sums = reinterpret_cast<double*>(memory[0].take(high * wide * 8));
    auto* scales = reinterpret_cast<double*>(memory[1].take(wide * 8));
    std::byte* products = memory[2].take(high * wide * 4);
    std::int64_t room = by == By::tiles ? tile_memory : (high + wide) * std::min(deep, k) * 4;
    std::byte* room_at = memory[3].take(by == By::bytes || by == By::bf16 ? 0 : room);
    if (!sums || !scales || !products || (!room_at && room)) return failed.store(true);
    std::fill_n(sums, high * wide, 0.0);
    for (std::int64_t block = 0; block < across && k > 0; ++block) {
      std::int64_t first = block * columns, end = std::min(k, first + columns);
      for (std::int64_t j = 0; j < wide; ++j) scales[j] = weight_scales[(j0 + j) / rows * across + block];
      while (first < end) {
        std::int64_t some = whole ? std::min(longest, end - first) : end - first;
        multiply(i0, j0, first, high, wide, some, products, room_at);
        for (std::int64_t r = 0; r < high; ++r)
          loops.add_scaled[whole ? 0 : 1](products + r * wide * 4, x_scales[(i0 + r) * across + block], scales,
                                          sums + r * wide, static_cast<std::size_t>(wide));
        first += some;
      }
    }
    for (std::int64_t r = 0; r < high; ++r) store(sums + r * wide, i0 + r, j0, wide, products);
  }

  // The products of a block of both, dense.
  void multiply(std::int64_t i, std::int64_t j, std::int64_t at, std::int64_t high, std::int64_t wide,
                std::int64_t depth, std::byte* to, std::byte* room) const {
    auto item = static_cast<std::int64_t>(x.itemsize());
    Matrix a{x.data() + (i * k + at) * item, k, 1}, b{weight.data() + (j * k + at) * item, 1, k};
    if (by == By::bytes) return own.multiply_bytes[0](a, b, to, wide, high, wide, depth, false);
    if (by == By::bf16) return own.multiply_bf16(a, b, to, wide, high, wide, depth, false);
    if (by == By::tiles)
      return own.tiles->multiply[static_cast<std::size_t>(Sum::f32)](a, Stored::bfloat16, b, Stored::bfloat16, to, wide,
                                                                     high, wide, depth, room);
    for (std::int64_t step = 0; step < depth; step += deep) {
      std::int64_t some = std::min(deep, depth - step), size = by == By::pairs ? 2 : 4;
      std::byte* other = room + high * some * size;
      for (std::int64_t r = 0; r < high; ++r) widen(a.data + (r * k + step) * item, room + r * some * size, some);
      for (std::int64_t r = 0; r < wide; ++r) widen(b.data + (r * k + step) * item, other + r * some * size, some);
      Multiply loop = by == By::pairs ? own.multiply_pairs : own.multiply[static_cast<std::size_t>(Sum::f32)];
      loop({room, some, 1}, {other, 1, some}, to, wide, high, wide, some, step > 0);
    }
  }

  void widen(const std::byte* from, std::byte* to, std::int64_t count) const {
    auto size = static_cast<std::size_t>(count);
    if (by == By::floats) return kernel.widen[static_cast<std::size_t>(layer_of(x.dtype).narrow)](from, to, size);
    std::copy_n(reinterpret_cast<const std::int8_t*>(from), size, reinterpret_cast<std::int16_t*>(to));
  }

  // A row of a tile, with the bias and rounded once.
  void store(double* sums, std::int64_t i, std::int64_t j, std::int64_t count, std::byte* room) const {
    if (bias)
      for (std::int64_t c = 0; c < count; ++c) sums[c] += bias[j + c];
    auto size = static_cast<std::size_t>(count);
    std::byte* to = out.data() + (i * n + j) * static_cast<std::int64_t>(out.itemsize());
    if (out.dtype == Dtype::float64) return static_cast<void>(std::memcpy(to, sums, size * sizeof(double)));
    const Layer& layer = layer_of(out.dtype);
    auto* single = reinterpret_cast<float*>(layer.is_narrow ? room : to);
    if (!layer.is_narrow) {
      for (std::size_t c = 0; c < size; ++c) single[c] = static_cast<float>(sums[c]);
      return;
    }
    kernel.to_odd[static_cast<std::size_t>(Lane::f64)](sums, single, size);
    kernel.narrow[static_cast<std::size_t>(layer.narrow)](single, to, size);
  }
};

nb::object scaled_linear(nb::handle x_, nb::handle weight_, nb::handle x_scales, nb::handle weight_scales,
                         std::int64_t rows, std::int64_t columns, const DtypeInfo& dtype, nb::handle bias) {
  const Tensor &x = dense(x_), &weight = dense(weight_), &xs = dense(x_scales), &ws = dense(weight_scales);
  const Tensor* added = bias.is_none() ? nullptr : &dense(bias);
  Dtype target = dtype_of(dtype);
  bool good = x.ndim() == 2 && weight.ndim() == 2 && x.dtype == weight.dtype && x.dims()[1] == weight.dims()[1] &&
              (x.dtype == Dtype::int8 || x.dtype == Dtype::bfloat16) && xs.dtype == Dtype::float32 &&
              ws.dtype == Dtype::float32 && rows > 0 && columns >= 0 && facts(target).is_float();
  if (!good) throw nb::value_error("not a product of quantised matrices");
  std::int64_t k = x.dims()[1], across = columns ? parts_of(k, columns) : 1;
  const std::int64_t dims[2] = {x.dims()[0], weight.dims()[0]};
  if (xs.size != dims[0] * across || ws.size != parts_of(dims[1], rows) * across ||
      (added && (added->size != dims[1] || added->dtype != Dtype::float64)))
    throw nb::value_error("not the scales or the bias of the matrices");
  nb::object made = raise_or(new_dense_tensor(target, 2, dims));
  const Tensor& out = *tensor_of(made.ptr());
  if (out.size == 0) return made;
  auto floats = [](const Tensor& t) { return reinterpret_cast<const float*>(t.data()); };
  ScaledProduct product{x,          weight,
                        floats(xs), floats(ws),
                        rows,       columns ? columns : std::max<std::int64_t>(k, 1),
                        across,     added ? reinterpret_cast<const double*>(added->data()) : nullptr,
                        out};
  const Tensor& last = added ? *added : x;
  double work = static_cast<double>(out.size) * static_cast<double>(k + 1);
  run_over(work < long_loop ? 0 : long_loop, {&x, &weight, &xs, &ws, &last}, [&] { product.run(); });
  return product.failed ? raise_or(PyErr_NoMemory()) : made;
}

}  // namespace

void init_nn_quantised(nb::module_& m) {
  define(m, "def nn_quantise(x: Any, rows: int, columns: int, dtype: DType) -> tuple[Tensor, Tensor]",
         "Floats in row-major order, in blocks of the last two axes, by the largest magnitude of each; and the scales. "
         "Without columns, a block is as wide as a row.",
         quantise);
  define(m,
         "def nn_scaled_linear(x: Any, weight: Any, x_scales: Any, weight_scales: Any, rows: int, columns: int, "
         "dtype: DType, bias: Any = None) -> Tensor",
         "x W^T of int8 or bfloat16, each block of products times its two scales; the bias is None or of float64. All "
         "are in row-major order.",
         scaled_linear, nb::none());
}

}  // namespace suanzi
