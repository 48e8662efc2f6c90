// native/ops/reduction/scan.cpp: 7.2.13.2, 7.2.13.2.4: sums and products of the elements up to each, along an axis.
//
// Lines along the axis are independent: threads share them, and neighbours go side by side where the axis is not the
// dense one. Sums follow a tree whose shape depends on the position alone (kernels/reduction/cumsum.cpp), so that a
// long line can be cut, too; each product is made of the one before, as the array API asks for.
#include <complex>
#include <cstring>
#include <memory>
#include <new>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/results.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/reduction/reduction.h"
#include "kernels/vectors/lanes.h"
#include "loops/axes.h"

namespace suanzi {
namespace {

constexpr std::int64_t tile = 64;  // lines that go side by side

// The lines of a tensor along an axis, and those of the result.
struct Lines {
  const std::byte* in;
  std::byte* out;
  std::int64_t n, in_step, out_step;  // along a line, in bytes
  // The axes across by where they lie in the result, the innermost last; strides in bytes.
  int ndim = 0;
  int axes[max_ndim];
  std::int64_t dims[max_ndim], in_strides[max_ndim], out_strides[max_ndim];

  Lines(const Tensor& t, const Tensor& made, int axis) : in(t.data()), out(made.data()), n(t.dims()[axis]) {
    auto item = static_cast<std::int64_t>(t.itemsize());
    in_step = t.strides()[axis] * item, out_step = made.strides()[axis] * item;
    for (int d = 0; d < t.ndim(); ++d) {
      if (d == axis || t.dims()[d] == 1) continue;
      int at = ndim++;
      for (; at > 0 && made.strides()[axes[at - 1]] < made.strides()[d]; --at) axes[at] = axes[at - 1];
      axes[at] = d;
    }
    for (int i = 0; i < ndim; ++i) {
      dims[i] = t.dims()[axes[i]];
      in_strides[i] = t.strides()[axes[i]] * item;
      out_strides[i] = made.strides()[axes[i]] * item;
    }
  }

  std::int64_t count() const {
    std::int64_t found = 1;
    for (int d = 0; d < ndim; ++d) found *= dims[d];
    return found;
  }
  void find(std::int64_t line, const std::byte*& from, std::byte*& to) const {
    auto offsets = offsets_of(line, ndim, dims, in_strides, out_strides);
    from = in + offsets[0], to = out + offsets[1];
  }
  // How many lines lie side by side on both sides.
  std::int64_t abreast(std::int64_t item) const {
    bool dense = ndim > 0 && in_strides[ndim - 1] == item && out_strides[ndim - 1] == item;
    return dense ? dims[ndim - 1] : 1;
  }
  // Calls body(line, some, from, to) for tiles of lines that have `width` neighbours each.
  template <class Body>
  void for_tiles(std::int64_t width, Body&& body) const {
    parallel_for(count(), std::max<std::int64_t>(grain / n, width > 16 ? 16 : 1),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t line = begin, some; line < end; line += some) {
                     const std::byte* from;
                     std::byte* to;
                     some = std::min({tile, end - line, width - line % width});
                     find(line, from, to);
                     body(line, some, from, to);
                   }
                 });
  }
};

// ---- sums -------------------------------------------------------------------------------------

using State = CumulativeSum::State;

State fresh(bool is_inexact) {
  State state;
  for (double& sum : state.sums) sum = is_inexact ? -0.0 : 0.0;
  state.groups = 0;
  return state;
}

// One line after the other, or lines side by side.
struct SumLines : Lines {
  const CumulativeSum& kernels;
  Dtype dtype;
  // What the sums of each line begin with, for real floats; null if it is nothing.
  const double* onto = nullptr;
  std::int64_t onto_strides[max_ndim];  // in elements

  SumLines(const Tensor& t, const Tensor& made, int axis)
      : Lines(t, made, axis), kernels(suanzi::kernels().reductions->cumulative[static_cast<std::size_t>(t.dtype)]),
        dtype(t.dtype) {}

  // What stands before the first element of a line.
  State start(std::int64_t line) const {
    State state = fresh(is_inexact());
    if (onto) state.sums[0] = onto[offsets_of(line, ndim, dims, onto_strides)[0]];
    return state;
  }
  std::int64_t item() const { return facts(dtype).itemsize; }
  bool is_inexact() const { return facts(dtype).is_inexact(); }
  void run() const {
    bool straight = in_step == item() && out_step == item() && kernels.line;
    if (straight && !onto && count() < thread_count() && n >= 4 * superblock && long_lines()) return;
    if (!straight && (abreast(item()) >= 8 || !kernels.line)) return side_by_side();
    parallel_for(count(), std::max<std::int64_t>(grain / n, 1), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t line = begin; line < end; ++line) {
        const std::byte* from;
        std::byte* to;
        find(line, from, to);
        State state = start(line);
        if (straight) kernels.line(from, to, n, state);
        else by_buffers(from, to, state);
      }
    });
  }

  void by_buffers(const std::byte* from, std::byte* to, State& state) const {
    constexpr std::int64_t block = 256;
    alignas(64) std::byte read[block * 16], made[block * 16];
    std::uint8_t log2 = layer_of(dtype).log2_size;
    for (std::int64_t at = 0; at < n; at += block, from += block * in_step, to += block * out_step) {
      auto some = static_cast<std::size_t>(std::min(block, n - at));
      suanzi::kernels().gather[log2](from, read, some, in_step);
      kernels.line(read, made, static_cast<std::int64_t>(some), state);
      suanzi::kernels().scatter[log2](made, to, some, out_step);
    }
  }

  void side_by_side() const {
    std::int64_t parts = layer_of(dtype).is_complex ? 2 : 1;
    for_tiles(abreast(item()), [&](std::int64_t line, std::int64_t some, const std::byte* from, std::byte* to) {
      alignas(64) double sums[CumulativeSum::level_count][2 * tile];
      const std::byte* places[16];
      std::byte* results[16];
      for (auto& level : sums) std::fill_n(level, 2 * tile, -0.0);
      for (std::int64_t i = 0; onto && i < some; ++i) sums[0][i] = start(line + i).sums[0];
      for (std::int64_t at = 0; at < n; at += 16) {
        std::int64_t rows = std::min<std::int64_t>(16, n - at);
        for (std::int64_t i = 0; i < rows; ++i)
          places[i] = from + (at + i) * in_step, results[i] = to + (at + i) * out_step;
        kernels.rows(places, results, rows, some * parts, sums[0], 2 * tile, at / 16);
      }
    });
  }

  // Few lines that are long: first the sums of parts, then everything from those on. False if memory is
  // too short for those.
  static constexpr std::int64_t superblock = 65536;  // 16^4
  bool long_lines() const {
    std::int64_t blocks = (n + superblock - 1) / superblock;
    std::unique_ptr<State[]> states(new (std::nothrow) State[static_cast<std::size_t>(blocks)]);
    if (!states) return false;
    for (std::int64_t line = 0; line < count(); ++line) {
      const std::byte* from;
      std::byte* to;
      find(line, from, to);
      auto size = [&](std::int64_t block) { return std::min(superblock, n - block * superblock); };
      parallel_for(blocks - 1, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t block = begin; block < end; ++block) {
          State& state = states[block] = fresh(is_inexact());
          kernels.line(from + block * superblock * item(), nullptr, size(block), state);
        }
      });
      State total = fresh(is_inexact());
      for (std::int64_t block = 0; block < blocks; ++block) {
        State next = states[block];
        states[block] = total;
        if (block + 1 < blocks) add(total, next, block + 1);
      }
      parallel_for(blocks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t block = begin; block < end; ++block) {
          State state = states[block];
          kernels.line(from + block * superblock * item(), to + block * superblock * item(), size(block), state);
        }
      });
    }
    return true;
  }
  // What the loop itself does after `blocks` of superblock elements.
  void add(State& total, const State& next, std::int64_t blocks) const {
    constexpr int level = 3;
    if (!is_inexact()) {
      std::uint64_t sum, more;
      std::memcpy(&sum, total.sums, sizeof sum);
      std::memcpy(&more, next.sums, sizeof more);
      sum += more;
      std::memcpy(total.sums, &sum, sizeof sum);
      return;
    }
    total.sums[level] += next.sums[level];
    total.groups = blocks * (superblock / 16);
    for (int i = level; i + 1 < CumulativeSum::level_count && blocks % 16 == 0; ++i, blocks /= 16) {
      total.sums[i + 1] += total.sums[i];
      total.sums[i] = -0.0;
    }
  }
};

// Cumulative sums along an axis, from its first element or from its last; of real floats on top of `onto`, a float64
// for each line, if it is not null. With `into`, the object of t, the result is written over the elements.
PyObject* cumulative_sum(const Tensor& t, int axis, bool backwards, const Tensor* onto = nullptr,
                         PyObject* into = nullptr) {
  PyObject* output = into ? Py_NewRef(into) : new_result(t, 0, true, t.dtype);
  if (!output || t.size == 0) return output;
  SumLines lines(t, *tensor_of(output), axis);
  if (onto) lines.onto = reinterpret_cast<const double*>(onto->data());
  for (int i = 0; onto && i < lines.ndim; ++i) lines.onto_strides[i] = onto->strides()[lines.axes[i]];
  if (backwards) {
    lines.in += (lines.n - 1) * lines.in_step, lines.out += (lines.n - 1) * lines.out_step;
    lines.in_step = -lines.in_step, lines.out_step = -lines.out_step;
  }
  run_over(t.size, {&t, onto ? onto : &t}, [&] { lines.run(); });
  return output;
}

// Whether a tensor has a float64 for each line of another along an axis.
bool fits(const Tensor& onto, const Tensor& t, int axis) {
  if (onto.dtype != Dtype::float64 || onto.ndim() != t.ndim() || layer_of(t.dtype).is_complex ||
      !facts(t.dtype).is_inexact())
    return false;
  for (int d = 0; d < t.ndim(); ++d)
    if (onto.dims()[d] != (d == axis ? 1 : t.dims()[d])) return false;
  return true;
}

bool can_run(const Tensor* t) { return t && kernels().reductions->cumulative[static_cast<std::size_t>(t->dtype)].rows; }

PyObject* fast_cumsum(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Given given({"input", "axis"}, args, count, keywords);
  if (!given[0]) return nullptr;
  const Tensor* t = read_tensor(given[0]);
  std::int64_t axis = -1;
  if (!can_run(t) || (given[1] && !read_integer(given[1], axis))) return nullptr;
  if (axis == -1 && t->ndim() == 1) axis = 0;
  return axis >= 0 && axis < t->ndim() ? cumulative_sum(*t, static_cast<int>(axis), false) : nullptr;
}

// ---- products ---------------------------------------------------------------------------------

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

// Integers wrap; float32 and complex64 multiply in float64, and each result is rounded once; where they stand for
// narrow floats, which are rounded afterwards, in float32.
template <class T, class Wide>
void run_lines(const Lines& lines) {
  std::int64_t in_next = lines.ndim ? lines.in_strides[lines.ndim - 1] : 0;
  std::int64_t out_next = lines.ndim ? lines.out_strides[lines.ndim - 1] : 0;
  bool dense = in_next == sizeof(T) && out_next == sizeof(T);
  lines.for_tiles(lines.ndim ? lines.dims[lines.ndim - 1] : 1,
                  [&](std::int64_t, std::int64_t some, const std::byte* from, std::byte* to) {
                    Wide products[tile];
                    std::fill_n(products, tile, Wide{1});
                    for (std::int64_t i = 0; i < lines.n; ++i, from += lines.in_step, to += lines.out_step) {
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
  Lines lines(t, *tensor_of(output), axis);
  run_over(t.size, {&t}, [&] { run(lines); });
  return output;
}

}  // namespace

void init_scan(nb::module_& m) {
  add_fast_path<fast_cumsum>("cumsum");
  define(
      m, "def cumulative_sum(tensor: Any, axis: int, backwards: bool, in_place: bool = False) -> Tensor",
      "The sums of the elements along an axis up to each, from the first element or from the last; `in_place` writes "
      "them over the elements.",
      [](nb::handle object, int axis, bool backwards, bool in_place) {
        const Tensor* t = read_tensor(object.ptr());
        if (!can_run(t) || axis < 0 || axis >= t->ndim())
          throw nb::value_error("there is no cumulative sum for this dtype or axis");
        return raise_or(cumulative_sum(*t, axis, backwards, nullptr, in_place ? object.ptr() : nullptr));
      },
      false);
  define(m, "def cumulative_sum_onto(tensor: Any, axis: int, backwards: bool, onto: Any) -> Tensor",
         "The same for real floats, added to preceding sums: `onto` is float64 with size 1 along the axis.",
         [](nb::handle object, int axis, bool backwards, nb::handle onto) {
           const Tensor *t = read_tensor(object.ptr()), *before = read_tensor(onto.ptr());
           if (!can_run(t) || !before || axis < 0 || axis >= t->ndim() || !fits(*before, *t, axis))
             throw nb::value_error("there is no cumulative sum for this dtype or axis");
           return raise_or(cumulative_sum(*t, axis, backwards, before));
         });
  define(
      m, "def cumulative_product(tensor: Any, axis: int, single: bool, in_place: bool = False) -> Tensor",
      "The products of the elements along an axis up to each; `single` multiplies float32 in float32, `in_place` "
      "writes them over the elements.",
      [](nb::handle object, int axis, bool single, bool in_place) {
        const Tensor* t = read_tensor(object.ptr());
        Run run = t ? run_of(t->dtype, single) : nullptr;
        if (!run || axis < 0 || axis >= t->ndim())
          throw nb::value_error("there is no cumulative product for this dtype or axis");
        return raise_or(cumulative_product(*t, axis, run, in_place ? object.ptr() : nullptr));
      },
      false);
}

}  // namespace suanzi
