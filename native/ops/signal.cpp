// native/ops/signal.cpp: 7.2.16: Fourier transforms along one axis, of lengths without a prime factor above 13.
//
// Sequences are transformed side by side, one in each lane of a vector, and those that do not fill the lanes with
// zeros beside them; a single one is cut into as many as there are lanes, a long one into the rows and columns of a
// rectangle. Which of these, the shape decides alone, and threads share whole sequences: their number and the layout
// change no bit.
#include "ops/signal.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "core/own_memory.h"
#include "core/scratch.h"
#include "core/status.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/by_level.h"
#include "kernels/signal.h"
#include "ops/signal_plans.h"

namespace suanzi {

SUANZI_BY_LEVEL(FourierTables, fourier_kernels)

namespace {

using namespace nb::literals;

constexpr std::int64_t far_apart = 1 << 14;  // elements from which on columns do not stay in a cache
constexpr std::int64_t long_from = 1 << 15;  // elements from which on a transform is one of a rectangle
// Bytes of two buffers that sequences side by side fill, from which on each is transformed by itself, in all lanes, and
// stays in the first-level cache: rows of 256 to 1024 take 0.45 to 0.7 of the time on AVX-512 then (0.7 to 1 on a
// Neoverse-N1 from 1024 to 8192), those of 128 as long and longer.
constexpr std::int64_t too_wide = 1 << 16;

// ---- transforms ---------------------------------------------------------------------------------

// Memory for two buffers of n vectors of complex numbers.
template <class T>
struct Work {
  OwnMemory memory;
  T *x, *work;
  Work(std::int64_t n, std::size_t lanes) {
    std::int64_t numbers = 2 * n * static_cast<std::int64_t>(lanes);
    x = reinterpret_cast<T*>(memory.take(2 * static_cast<std::int64_t>(sizeof(T)) * numbers));
    work = x ? x + numbers : nullptr;
  }
  explicit operator bool() const { return x != nullptr; }
};

// Where the sequences of a tensor are: rows x n x columns.
struct Shape {
  std::int64_t rows, n, columns;
};

template <class T>
struct Transform {
  const FourierKernels<T>& k;
  bool forward;
  std::atomic<bool> has_room{true};

  explicit Transform(const FourierKernels<T>& kernels, bool ahead) : k(kernels), forward(ahead) {}
  std::int64_t lanes() const { return static_cast<std::int64_t>(k.lanes); }

  // Runs body(i, work) for each i below `count`, each of `cost` elements, with two buffers of n vectors.
  template <class F>
  void share(std::int64_t count, std::int64_t cost, std::int64_t n, std::size_t width, F&& body) {
    std::int64_t least = std::max<std::int64_t>(1, (std::int64_t{1} << 12) / std::max<std::int64_t>(cost, 1));
    parallel_for(count, least, [&](std::int64_t begin, std::int64_t end) {
      Work<T> work(n, width);
      if (!work) return has_room.store(false, std::memory_order_relaxed);
      for (std::int64_t i = begin; i < end; ++i) body(i, work);
    });
  }

  // Sequences side by side: those of columns next to one another, or of rows.
  void many(const T* in, T* out, const Shape& s, T scale) {
    if (s.columns > 1 && s.n * s.columns >= far_apart) return columns(in, out, s, scale);
    auto plan = plan_of<T>(s.n, 1);
    bool along_rows = s.columns == 1;
    std::int64_t side = along_rows ? s.rows : s.columns, groups = (side + lanes() - 1) / lanes();
    std::int64_t blocks = along_rows ? 1 : s.rows, stride = s.columns, lane_stride = along_rows ? s.n : 1;
    share(blocks * groups, s.n * lanes(), s.n, k.lanes, [&](std::int64_t i, Work<T>& work) {
      std::int64_t first = i % groups * lanes(), at = 2 * (i / groups * s.n * s.columns + first * lane_stride);
      auto count = static_cast<std::size_t>(std::min(lanes(), side - first));
      k.read(in + at, s.n, stride, lane_stride, count, forward, work.x);
      const T* made = k.transform(*plan, work.x, work.work);
      k.write(made, s.n, stride, lane_stride, count, forward, scale, out + at);
    });
  }

  static constexpr std::int64_t most_groups = 4;

  // Columns whose elements lie far apart: some groups of them are read and written together, a few rows at a time, so
  // that all of a line and of a page is used while it is at hand.
  void columns(const T* in, T* out, const Shape& s, T scale) {
    constexpr std::int64_t step = 16;
    auto plan = plan_of<T>(s.n, 1);
    std::int64_t groups = (s.columns + lanes() - 1) / lanes();
    // Fewer where threads would else have no more than one block each; how many has no say in what is computed.
    std::int64_t most = std::clamp<std::int64_t>(s.rows * groups / (2 * thread_count()), 1, most_groups);
    std::int64_t blocks = (groups + most - 1) / most;
    std::int64_t vectors = 2 * s.n * lanes();        // numbers of a group
    std::int64_t room = (s.n * (most + 1) + 1) / 2;  // of each of two buffers
    share(s.rows * blocks, s.n * lanes() * most, room, k.lanes, [&](std::int64_t i, Work<T>& work) {
      std::int64_t begin = i % blocks * most, count = std::min(most, groups - begin);
      T* buffers[most_groups + 1];  // of the groups, and one besides
      for (std::int64_t g = 0; g <= count; ++g) buffers[g] = work.x + g * vectors;
      auto each = [&](auto&& body) {
        for (std::int64_t row = 0; row < s.n; row += step)
          for (std::int64_t g = 0; g < count; ++g) {
            std::int64_t first = (begin + g) * lanes(), at = 2 * ((i / blocks * s.n + row) * s.columns + first);
            body(at, buffers[g] + 2 * row * lanes(), std::min(step, s.n - row),
                 static_cast<std::size_t>(std::min(lanes(), s.columns - first)));
          }
      };
      each([&](std::int64_t at, T* x, std::int64_t rows, std::size_t wide) {
        k.read(in + at, rows, s.columns, 1, wide, forward, x);
      });
      for (std::int64_t g = 0; g < count; ++g)
        if (k.transform(*plan, buffers[g], buffers[count]) != buffers[g]) std::swap(buffers[g], buffers[count]);
      each([&](std::int64_t at, const T* x, std::int64_t rows, std::size_t wide) {
        k.write(x, rows, s.columns, 1, wide, forward, scale, out + at);
      });
    });
  }

  // Whether rows of n elements are transformed one by one.
  bool is_for_one(std::int64_t n) const {
    return n < long_from && n % lanes() == 0 && 4 * n * lanes() * static_cast<std::int64_t>(sizeof(T)) >= too_wide;
  }

  // Each of few or long rows for itself, in all lanes.
  void each(const T* in, T* out, const Shape& s, T scale) {
    std::int64_t n = s.n / lanes();
    auto plan = plan_of<T>(n, k.lanes);
    share(s.rows, s.n, n, k.lanes, [&](std::int64_t i, Work<T>& work) {
      k.read(in + 2 * i * s.n, n, lanes(), 1, k.lanes, forward, work.x);
      k.join(*plan, k.transform(*plan, work.x, work.work), forward, scale, out + 2 * i * s.n);
    });
  }

  // The same where the lanes do not divide the length.
  void each_plainly(const T* in, T* out, const Shape& s, T scale) {
    auto plan = plan_of<T>(s.n, 1);
    share(s.rows, 4 * s.n, s.n, 1, [&](std::int64_t i, Work<T>& work) {
      for (std::int64_t j = 0; j < s.n; ++j)
        for (int part = 0; part < 2; ++part) work.x[2 * j + part] = in[2 * (i * s.n + j) + (part ^ !forward)];
      const T* made = k.transform_one(*plan, work.x, work.work);
      for (std::int64_t j = 0; j < s.n; ++j)
        for (int part = 0; part < 2; ++part) out[2 * (i * s.n + j) + (part ^ !forward)] = made[2 * j + part] * scale;
    });
  }

  // One long sequence as rows and columns: first along the columns, times exp(-2 pi i j k / n), then along the rows.
  void rectangle(const T* in, T* out, T* between, std::int64_t rows, std::int64_t columns, T scale) {
    auto down = plan_of<T>(rows, 1), across = plan_of<T>(columns, 1);
    std::int64_t n = rows * columns, blocks = (rows + 31) / 32, l = lanes();
    auto roots = RootTable::of(n);
    share((columns + l - 1) / l, rows * l, rows + blocks + 32, k.lanes, [&](std::int64_t i, Work<T>& work) {
      std::int64_t first = i * l;
      auto count = static_cast<std::size_t>(std::min(l, columns - first));
      T *coarse = work.x + 2 * rows * l, *fine = coarse + 2 * blocks * l;
      for (std::int64_t b = 0; b < blocks + 32; ++b)
        for (std::int64_t lane = 0; lane < l; ++lane) {
          std::int64_t row = b < blocks ? 32 * b : b - blocks;
          Root w = (*roots)[row * std::min(first + lane, columns - 1)];  // below n
          coarse[2 * b * l + lane] = static_cast<T>(w.re), coarse[(2 * b + 1) * l + lane] = static_cast<T>(w.im);
        }
      k.read(in + 2 * first, rows, columns, 1, count, forward, work.x);
      T* made = k.transform(*down, work.x, work.work);
      k.turn(made, rows, coarse, fine);
      k.write(made, rows, columns, 1, count, true, T{1}, between + 2 * first);
    });
    share((rows + l - 1) / l, columns * l, columns, k.lanes, [&](std::int64_t i, Work<T>& work) {
      std::int64_t first = i * l;
      auto count = static_cast<std::size_t>(std::min(l, rows - first));
      k.read(between + 2 * first * columns, columns, 1, columns, count, true, work.x);
      const T* made = k.transform(*across, work.x, work.work);
      k.write(made, columns, rows, 1, count, forward, scale, out + 2 * first);
    });
  }

  // False if there is no memory.
  bool run(const T* in, T* out, const Shape& s, T scale) {
    if (s.columns > 1 || (s.n < long_from && s.rows >= lanes() && !is_for_one(s.n))) {
      many(in, out, s, scale);
      return has_room;
    }
    if (s.n >= long_from) {
      auto rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(s.n)));
      while (s.n % rows) --rows;
      if (rows >= 16) {
        Scratch between(sizeof(T) == 4 ? Dtype::complex64 : Dtype::complex128, s.n);
        if (!between.data()) return false;
        for (std::int64_t i = 0; i < s.rows; ++i)
          rectangle(in + 2 * i * s.n, out + 2 * i * s.n, reinterpret_cast<T*>(between.data()), rows, s.n / rows, scale);
        return has_room;
      }
    }
    if (s.n % lanes() == 0) each(in, out, s, scale);
    else each_plainly(in, out, s, scale);
    return has_room;
  }
};

// ---- real numbers -------------------------------------------------------------------------------

// Real numbers, n in each row, and `kept` elements of their spectra: half of them, and one, or all.
template <class T>
struct RealTransform {
  const FourierKernels<T>& k;
  std::int64_t rows, n, kept;
  bool forward;
  T scale;
  std::int64_t h = n / 2;
  std::shared_ptr<const std::vector<T>> roots = quarter_of<T>(n);

  T sign() const { return forward ? T{1} : T{-1}; }
  // Runs body(begin, end) for the elements of a half, by threads where they are many.
  template <class F>
  void for_half(F&& body) const {
    parallel_for(h / 2 + 1, std::int64_t{1} << 13, body);
  }
  void part(const T* z, T* row) const {
    for_half(
        [&](std::int64_t begin, std::int64_t end) { k.part_halves(z, row, h, roots->data(), sign(), begin, end); });
    mirror(row);
  }
  void mirror(T* row) const {
    for (std::int64_t j = h + 1; j < kept; ++j) row[2 * j] = row[2 * (n - j)], row[2 * j + 1] = -row[2 * (n - j) + 1];
  }
  void join(const T* row, T* z) const {
    for_half(
        [&](std::int64_t begin, std::int64_t end) { k.join_halves(row, z, h, roots->data(), -sign(), begin, end); });
  }

  // Runs body(first row, how many, buffers) for rows that are transformed side by side; false if there is no memory.
  template <class F>
  bool side_by_side(F&& body) {
    Transform<T> shared(k, true);
    std::int64_t l = shared.lanes();
    shared.share((rows + l - 1) / l, h * l, h + 1, k.lanes,
                 [&](std::int64_t i, Work<T>& work) { body(i * l, std::min(l, rows - i * l), work); });
    return shared.has_room;
  }
  bool is_many() const { return rows >= static_cast<std::int64_t>(k.lanes) && h < long_from; }

  // The same for rows that are transformed one by one: body(row, buffers, plan of their parts).
  template <class F>
  bool one_by_one(F&& body) {
    Transform<T> shared(k, true);
    std::int64_t parts = h / shared.lanes();
    auto plan = plan_of<T>(parts, k.lanes);
    shared.share(rows, h, parts, k.lanes, [&](std::int64_t i, Work<T>& work) { body(i, work, *plan); });
    return shared.has_room;
  }

  bool to_complex(const T* in, T* out) {
    if (Transform<T>(k, true).is_for_one(h))
      return one_by_one([&](std::int64_t i, Work<T>& work, const FourierPlan<T>& plan) {
        k.read(in + i * n, plan.n, static_cast<std::int64_t>(k.lanes), 1, k.lanes, true, work.x);
        T *made = k.transform(plan, work.x, work.work), *z = made == work.x ? work.work : work.x;
        k.join(plan, made, true, scale, z);
        k.part_halves(z, out + 2 * i * kept, h, roots->data(), sign(), 0, h / 2 + 1);
        mirror(out + 2 * i * kept);
      });
    if (is_many()) {
      auto plan = plan_of<T>(h, 1);
      return side_by_side([&](std::int64_t first, std::int64_t count, Work<T>& work) {
        k.read(in + first * n, h, 1, h, static_cast<std::size_t>(count), true, work.x);
        T *made = k.transform(*plan, work.x, work.work), *whole = made == work.x ? work.work : work.x;
        k.part_lanes(made, whole, h, roots->data(), sign(), scale);
        k.write(whole, h + 1, 1, kept, static_cast<std::size_t>(count), true, T{1}, out + 2 * first * kept);
        if (kept > h + 1)
          for (std::int64_t i = 0; i < count; ++i) mirror(out + 2 * (first + i) * kept);
      });
    }
    Scratch scratch(sizeof(T) == 4 ? Dtype::complex64 : Dtype::complex128, rows * h);
    auto* z = reinterpret_cast<T*>(scratch.data());
    if (!z || !Transform<T>(k, true).run(in, z, {rows, h, 1}, scale)) return false;
    for (std::int64_t i = 0; i < rows; ++i) part(z + 2 * i * h, out + 2 * i * kept);
    return true;
  }

  bool to_real(const T* in, T* out) {
    if (Transform<T>(k, true).is_for_one(h))
      return one_by_one([&](std::int64_t i, Work<T>& work, const FourierPlan<T>& plan) {
        k.join_halves(in + 2 * i * kept, work.work, h, roots->data(), -sign(), 0, h / 2 + 1);
        k.read(work.work, plan.n, static_cast<std::int64_t>(k.lanes), 1, k.lanes, false, work.x);
        k.join(plan, k.transform(plan, work.x, work.work), false, scale, out + i * n);
      });
    if (is_many()) {
      auto plan = plan_of<T>(h, 1);
      return side_by_side([&](std::int64_t first, std::int64_t count, Work<T>& work) {
        k.read(in + 2 * first * kept, h + 1, 1, kept, static_cast<std::size_t>(count), true, work.x);
        k.join_lanes(work.x, work.work, h, roots->data(), -sign());
        const T* made = k.transform(*plan, work.work, work.x);
        k.write(made, h, 1, h, static_cast<std::size_t>(count), false, scale, out + first * n);
      });
    }
    for (std::int64_t i = 0; i < rows; ++i) join(in + 2 * i * kept, out + i * n);
    return Transform<T>(k, false).run(out, out, {rows, h, 1}, scale);
  }
};

// ---- what Python calls --------------------------------------------------------------------------

Shape shape_along(const Tensor& t, int axis) {
  Shape s{1, t.dims()[axis], 1};
  for (int d = 0; d < t.ndim(); ++d) (d < axis ? s.rows : s.columns) *= d == axis ? 1 : t.dims()[d];
  return s;
}

}  // namespace

bool is_smooth(std::int64_t n) {
  if (n < 1) return false;
  for (int r : {2, 3, 5, 7, 11, 13})
    while (n % r == 0) n /= r;
  return n == 1;
}

bool transform_along(const Tensor& in, const Tensor& out, int axis, bool forward, double scale) {
  Shape s = shape_along(in, axis);
  bool has_room = true;
  run_over(in.size, {&in, &out}, [&, from = in.data(), to = out.data()] {
    if (in.dtype == Dtype::complex64)
      has_room =
          Transform<float>(fourier_kernels().f32, forward)
              .run(reinterpret_cast<const float*>(from), reinterpret_cast<float*>(to), s, static_cast<float>(scale));
    else
      has_room = Transform<double>(fourier_kernels().f64, forward)
                     .run(reinterpret_cast<const double*>(from), reinterpret_cast<double*>(to), s, scale);
  });
  return has_room;
}

bool transform_real(const Tensor& in, const Tensor& out, bool forward, double scale) {
  bool to_complex = facts(out.dtype).is_complex(), has_room = true;
  const Tensor &real = to_complex ? in : out, &whole = to_complex ? out : in;
  std::int64_t n = real.dims()[real.ndim() - 1], kept = whole.dims()[whole.ndim() - 1], rows = real.size / n;
  auto run = [&, read = in.data(), written = out.data()]<class T>(const FourierKernels<T>& k) {
    auto* from = reinterpret_cast<const T*>(read);
    auto* to = reinterpret_cast<T*>(written);
    RealTransform<T> transform{k, rows, n, kept, forward, static_cast<T>(scale)};
    has_room = to_complex ? transform.to_complex(from, to) : transform.to_real(from, to);
  };
  run_over(real.size, {&in, &out}, [&] {
    if (real.dtype == Dtype::float64) run(fourier_kernels().f64);
    else run(fourier_kernels().f32);
  });
  return has_room;
}

namespace {

bool is_plain(const Tensor* t) {
  return t && t->storage && t->row_major && (t->dtype == Dtype::complex64 || t->dtype == Dtype::complex128);
}

[[noreturn]] void throw_no_room() {
  throw_status("AllocFailed", "there is no memory for the buffers of a transform; use fewer elements");
}

void fourier(nb::handle source, nb::handle target, int axis, bool forward, double scale) {
  const Tensor *in = tensor_of(source.ptr()), *out = tensor_of(target.ptr());
  if (!is_plain(in) || !is_plain(out) || in->dtype != out->dtype || in->size != out->size || axis < 0 ||
      axis >= in->ndim() || !is_smooth(in->dims()[axis]))
    throw nb::value_error("not dense complex tensors of one shape, or not such an axis");
  if (in->size && !transform_along(*in, *out, axis, forward, scale)) throw_no_room();
}

void fourier_real(nb::handle source, nb::handle target, bool forward, double scale) {
  const Tensor *in = tensor_of(source.ptr()), *out = tensor_of(target.ptr());
  if (!in || !out || !in->storage || !out->storage || !in->row_major || !out->row_major || !in->ndim() ||
      in->ndim() != out->ndim() || !in->size || !out->size)
    throw nb::value_error("not dense tensors");
  bool to_complex = facts(out->dtype).is_complex();
  const Tensor &real = to_complex ? *in : *out, &whole = to_complex ? *out : *in;
  std::int64_t n = real.dims()[real.ndim() - 1], kept = whole.dims()[whole.ndim() - 1];
  bool is_wide = real.dtype == Dtype::float64;
  if (whole.dtype != (is_wide ? Dtype::complex128 : Dtype::complex64) || (!is_wide && real.dtype != Dtype::float32) ||
      n % 2 || !is_smooth(n / 2) || whole.size / kept != real.size / n ||
      (kept != n / 2 + 1 && (kept != n || !to_complex)))
    throw nb::value_error("not dtypes and lengths that belong together");
  if (!transform_real(*in, *out, forward, scale)) throw_no_room();
}

}  // namespace

void init_signal(nb::module_& m) {
  m.def("fourier", &fourier, "source"_a, "target"_a, "axis"_a, "forward"_a, "scale"_a,
        nb::sig("def fourier(source: Any, target: Any, axis: int, forward: bool, scale: float) -> None"),
        "Writes the transform along an axis of a dense complex tensor into another, or into itself, times a number.");
  m.def("fourier_real", &fourier_real, "source"_a, "target"_a, "forward"_a, "scale"_a,
        nb::sig("def fourier_real(source: Any, target: Any, forward: bool, scale: float) -> None"),
        "The same along the last axis from an even number of real numbers, or from half of a spectrum to them.");
  m.def("has_fourier", &is_smooth, "length"_a, nb::sig("def has_fourier(length: int) -> bool"),
        "Whether `fourier` takes a length: one without a prime factor above 13.");
}

}  // namespace suanzi
