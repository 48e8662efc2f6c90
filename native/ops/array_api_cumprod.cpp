// native/ops/array_api_cumprod.cpp: cumulative products along an axis, which the array API has.
//
// Each product is made of the one before. Integers wrap; float32 and complex64 multiply in float64, and each result is
// rounded once; with `single`, they multiply in float32: they stand for narrow floats, and are rounded afterwards.
#include <algorithm>
#include <complex>
#include <type_traits>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/results.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "loops/axes.h"

namespace suanzi {

namespace {

constexpr std::int64_t tile = 64;  // lines that are gone along together

// Lines along an axis; the axes across, the innermost last, have byte strides in both tensors.
struct Lines {
  const std::byte* in;
  std::byte* out;
  std::int64_t n, in_step, out_step;
  int ndim = 0;
  std::int64_t dims[max_ndim], in_strides[max_ndim], out_strides[max_ndim];

  std::int64_t width() const { return ndim ? dims[ndim - 1] : 1; }
  std::int64_t count() const {
    std::int64_t found = 1;
    for (int d = 0; d < ndim; ++d) found *= dims[d];
    return found;
  }
};

template <class T>
T times(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    // In unsigned numbers that are no narrower than int, where nothing overflows.
    using U = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else if constexpr (std::is_floating_point_v<T>) {
    return a * b;
  } else {
    // Part by part, as the array API's multiply.
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  }
}

template <class T, class Wide>
void run_lines(const Lines& lines) {
  std::int64_t width = lines.width(), n = lines.n;
  std::int64_t in_next = lines.ndim ? lines.in_strides[lines.ndim - 1] : 0;
  std::int64_t out_next = lines.ndim ? lines.out_strides[lines.ndim - 1] : 0;
  bool dense = in_next == sizeof(T) && out_next == sizeof(T);
  parallel_for(lines.count(), std::max<std::int64_t>(grain / n, width > 16 ? 16 : 1),
               [&](std::int64_t begin, std::int64_t end) {
                 Wide products[tile];
                 for (std::int64_t line = begin; line < end;) {
                   std::int64_t some = std::min({tile, end - line, width - line % width});
                   auto offsets = offsets_of(line, lines.ndim, lines.dims, lines.in_strides, lines.out_strides);
                   const std::byte* from = lines.in + offsets[0];
                   std::byte* to = lines.out + offsets[1];
                   std::fill_n(products, tile, Wide{1});
                   for (std::int64_t i = 0; i < n; ++i, from += lines.in_step, to += lines.out_step) {
                     if (dense) {
                       auto* x = reinterpret_cast<const T*>(from);
                       auto* y = reinterpret_cast<T*>(to);
                       for (std::int64_t j = 0; j < some; ++j) {
                         products[j] = times(products[j], static_cast<Wide>(x[j]));
                         y[j] = static_cast<T>(products[j]);
                       }
                     } else {
                       for (std::int64_t j = 0; j < some; ++j) {
                         T x = *reinterpret_cast<const T*>(from + j * in_next);
                         products[j] = times(products[j], static_cast<Wide>(x));
                         *reinterpret_cast<T*>(to + j * out_next) = static_cast<T>(products[j]);
                       }
                     }
                   }
                   line += some;
                 }
               });
}

using Run = void (*)(const Lines&);

Run run_of(Dtype dtype, bool single) {
  using Complex = std::complex<double>;
  using Narrow = std::complex<float>;
  switch (dtype) {
    case Dtype::int8:
    case Dtype::uint8: return run_lines<std::uint8_t, std::uint8_t>;
    case Dtype::int16:
    case Dtype::uint16: return run_lines<std::uint16_t, std::uint16_t>;
    case Dtype::int32:
    case Dtype::uint32: return run_lines<std::uint32_t, std::uint32_t>;
    case Dtype::int64:
    case Dtype::uint64: return run_lines<std::uint64_t, std::uint64_t>;
    case Dtype::float32: return single ? run_lines<float, float> : run_lines<float, double>;
    case Dtype::float64: return run_lines<double, double>;
    case Dtype::complex64: return single ? run_lines<Narrow, Narrow> : run_lines<Narrow, Complex>;
    case Dtype::complex128: return run_lines<Complex, Complex>;
    default: return nullptr;
  }
}

PyObject* cumulative_product(const Tensor& t, int axis, Run run, PyObject* into) {
  PyObject* output = into ? Py_NewRef(into) : new_result(t, 0, true, t.dtype);
  if (!output || t.size == 0) return output;
  const Tensor& made = *tensor_of(output);
  auto item = static_cast<std::int64_t>(t.itemsize());
  Lines lines{t.data(), made.data(), t.dims()[axis], t.strides()[axis] * item, made.strides()[axis] * item, 0, {},
              {},       {}};
  int order[max_ndim], count = 0;  // the axes across, by where they lie in the result
  for (int d = 0; d < t.ndim(); ++d) {
    if (d == axis || t.dims()[d] == 1) continue;
    int at = count++;
    for (; at > 0 && made.strides()[order[at - 1]] < made.strides()[d]; --at) order[at] = order[at - 1];
    order[at] = d;
  }
  for (int i = 0; i < count; ++i, ++lines.ndim) {
    lines.dims[i] = t.dims()[order[i]];
    lines.in_strides[i] = t.strides()[order[i]] * item;
    lines.out_strides[i] = made.strides()[order[i]] * item;
  }
  run_over(t.size, {&t}, [&] { run(lines); });
  return output;
}

}  // namespace

void init_cumprod(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "cumulative_product",
      [](nb::handle object, int axis, bool single, bool in_place) {
        const Tensor* t = read_tensor(object.ptr());
        Run run = t ? run_of(t->dtype, single) : nullptr;
        if (!run || axis < 0 || axis >= t->ndim()) throw nb::value_error("no cumulative product of that");
        return raise_or(cumulative_product(*t, axis, run, in_place ? object.ptr() : nullptr));
      },
      "tensor"_a, "axis"_a, "single"_a, "in_place"_a = false,
      nb::sig("def cumulative_product(tensor: Any, axis: int, single: bool, in_place: bool = False) -> Tensor"),
      "The products of the elements along an axis up to each; `single` multiplies float32 in float32, `in_place` "
      "writes them over the elements.");
}

}  // namespace suanzi
