// native/ops/signal/signal.cpp: 7.2.16: Fourier transforms along one axis, of complex and of real numbers.
//
// An even number of real numbers is half as many complex ones; an odd number has imaginary parts of 0.
#include "ops/signal/signal.h"

#include "core/status.h"
#include "core/without_gil.h"
#include "kernels/by_level.h"
#include "ops/signal/transforms.h"

namespace suanzi {

SUANZI_BY_LEVEL(FourierTables, fourier_kernels)

namespace {

// ---- real numbers -------------------------------------------------------------------------------

// Real numbers, n in each row, and `kept` elements of their spectra: half of them, and one, or all.
template <class T>
struct RealTransform {
  const FourierKernels<T>& k;
  std::int64_t rows, n, kept;
  bool forward;
  T scale;
  std::int64_t h = n / 2;
  bool is_odd = n % 2;
  bool has_passes = has_plan(std::max<std::int64_t>(h, 1));
  std::shared_ptr<const std::vector<T>> roots = is_odd ? nullptr : quarter_of<T>(n);

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
  bool is_many() const { return has_passes && rows >= static_cast<std::int64_t>(k.lanes) && h < long_from; }
  bool is_for_one() const { return has_passes && Transform<T>(k, true).is_for_one(h); }

  // The same for rows that are transformed one by one: body(row, buffers, plan of their parts).
  template <class F>
  bool one_by_one(F&& body) {
    Transform<T> shared(k, true);
    std::int64_t parts = h / shared.lanes();
    auto plan = plan_of<T>(parts, k.lanes);
    shared.share(rows, h, parts, k.lanes, [&](std::int64_t i, Work<T>& work) { body(i, work, *plan); });
    return shared.has_room;
  }

  // An odd number of them as complex numbers: `fill` makes them of row i, and `take` the result of their transform.
  template <class Fill, class Take>
  bool as_complex(Fill&& fill, Take&& take) {
    std::int64_t most = std::clamp<std::int64_t>(together / n, 1, rows);
    Scratch scratch(complex_dtype<T>, most * n);
    auto* z = reinterpret_cast<T*>(scratch.data());
    for (std::int64_t first = 0; z && first < rows; first += most) {
      std::int64_t count = std::min(most, rows - first);
      for (std::int64_t i = 0; i < count; ++i) fill(first + i, z + 2 * i * n);
      if (!Transform<T>(k, forward).run(z, z, {count, n, 1}, scale)) return false;
      for (std::int64_t i = 0; i < count; ++i) take(z + 2 * i * n, first + i);
    }
    return z;
  }

  // Columns side by side in the lanes: runs body(block of columns before, first column, how many, buffers).
  template <class F>
  bool columns_side_by_side(std::int64_t columns, F&& body) {
    Transform<T> shared(k, true);
    std::int64_t l = shared.lanes(), groups = (columns + l - 1) / l;
    shared.share(rows * groups, h * l, h + 1, k.lanes, [&](std::int64_t i, Work<T>& work) {
      std::int64_t first = i % groups * l;
      body(i / groups, first, static_cast<std::size_t>(std::min(l, columns - first)), work);
    });
    return shared.has_room;
  }
  bool has_columns() const { return !is_odd && has_passes && h < long_from; }

  bool columns_to_complex(const T* in, T* out, std::int64_t columns) {
    auto plan = plan_of<T>(h, 1);
    auto body = [&](std::int64_t block, std::int64_t first, std::size_t count, Work<T>& work) {
      T* to = out + 2 * (block * kept * columns + first);
      for (std::int64_t j = 0; j < n; ++j) {
        T* x =
            std::copy_n(in + (block * n + j) * columns + first, count, work.x + j * static_cast<std::int64_t>(k.lanes));
        std::fill_n(x, k.lanes - count, T{0});
      }
      T *made = k.transform(*plan, work.x, work.work), *whole = made == work.x ? work.work : work.x;
      k.part_lanes(made, whole, h, roots->data(), sign(), scale);
      k.write(whole, h + 1, columns, 1, count, true, T{1}, to);
      for (std::int64_t j = h + 1; j < kept; ++j)
        for (std::size_t c = 0; c < count; ++c) {
          auto* from = to + 2 * ((n - j) * columns + static_cast<std::int64_t>(c));
          auto* mirrored = to + 2 * (j * columns + static_cast<std::int64_t>(c));
          mirrored[0] = from[0], mirrored[1] = -from[1];
        }
    };
    return columns_side_by_side(columns, body);
  }

  bool columns_to_real(const T* in, T* out, std::int64_t columns) {
    auto plan = plan_of<T>(h, 1);
    auto body = [&](std::int64_t block, std::int64_t first, std::size_t count, Work<T>& work) {
      k.read(in + 2 * (block * kept * columns + first), h + 1, columns, 1, count, true, work.x);
      k.join_lanes(work.x, work.work, h, roots->data(), -sign());
      const T* made = k.transform(*plan, work.work, work.x);
      for (std::int64_t j = 0; j < n; ++j) {  // backwards, real and imaginary parts are exchanged
        const T* from = made + (j ^ 1) * static_cast<std::int64_t>(k.lanes);
        T* to = out + (block * n + j) * columns + first;
        for (std::size_t c = 0; c < count; ++c) to[c] = from[c] * scale;
      }
    };
    return columns_side_by_side(columns, body);
  }

  bool to_complex(const T* in, T* out) {
    if (is_odd)
      return as_complex(
          [&](std::int64_t row, T* z) {
            for (std::int64_t j = 0; j < n; ++j) z[2 * j] = in[row * n + j], z[2 * j + 1] = 0;
          },
          [&](const T* z, std::int64_t row) {
            std::copy_n(z, 2 * (h + 1), out + 2 * row * kept);
            out[2 * row * kept + 1] = 0;
            mirror(out + 2 * row * kept);
          });
    if (is_for_one())
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
    Scratch scratch(complex_dtype<T>, rows * h);
    auto* z = reinterpret_cast<T*>(scratch.data());
    if (!z || !Transform<T>(k, true).run(in, z, {rows, h, 1}, scale)) return false;
    for (std::int64_t i = 0; i < rows; ++i) part(z + 2 * i * h, out + 2 * i * kept);
    return true;
  }

  bool to_real(const T* in, T* out) {
    if (is_odd)
      return as_complex(
          [&](std::int64_t row, T* z) {
            const T* half = in + 2 * row * kept;
            z[0] = half[0], z[1] = 0;
            for (std::int64_t j = 1; j <= h; ++j) {
              z[2 * j] = z[2 * (n - j)] = half[2 * j];
              z[2 * j + 1] = half[2 * j + 1], z[2 * (n - j) + 1] = -half[2 * j + 1];
            }
          },
          [&](const T* z, std::int64_t row) {
            for (std::int64_t j = 0; j < n; ++j) out[row * n + j] = z[2 * j];
          });
    if (is_for_one())
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

bool is_plain(const Tensor* t) {
  return t && t->storage && t->row_major && (t->dtype == Dtype::complex64 || t->dtype == Dtype::complex128);
}

[[noreturn]] void throw_no_room() {
  throw_status("AllocFailed", "not enough memory for the buffers of a transform; use fewer elements");
}

void fourier(nb::handle source, nb::handle target, int axis, bool forward, double scale) {
  const Tensor *in = tensor_of(source.ptr()), *out = tensor_of(target.ptr());
  if (!is_plain(in) || !is_plain(out) || in->dtype != out->dtype || in->size != out->size || axis < 0 ||
      axis >= in->ndim() || in->dims()[axis] < 1)
    throw nb::value_error("not dense complex tensors of one shape, or not such an axis");
  if (in->size && !transform_along(*in, *out, axis, forward, scale)) throw_no_room();
}

void fourier_real(nb::handle source, nb::handle target, int axis, bool forward, double scale) {
  const Tensor *in = tensor_of(source.ptr()), *out = tensor_of(target.ptr());
  if (!in || !out || !in->storage || !out->storage || !in->row_major || !out->row_major || axis < 0 ||
      axis >= in->ndim() || in->ndim() != out->ndim() || !in->size || !out->size)
    throw nb::value_error("not dense tensors, or not such an axis");
  bool to_complex = facts(out->dtype).is_complex();
  const Tensor &real = to_complex ? *in : *out, &whole = to_complex ? *out : *in;
  std::int64_t n = real.dims()[axis], kept = whole.dims()[axis];
  bool is_wide = real.dtype == Dtype::float64;
  if (whole.dtype != (is_wide ? Dtype::complex128 : Dtype::complex64) || (!is_wide && real.dtype != Dtype::float32) ||
      whole.size / kept != real.size / n || (kept != n / 2 + 1 && (kept != n || !to_complex)))
    throw nb::value_error("not dtypes and lengths that belong together");
  if (!transform_real(*in, *out, axis, forward, scale)) throw_no_room();
}

}  // namespace

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

bool transform_real(const Tensor& in, const Tensor& out, int axis, bool forward, double scale) {
  bool to_complex = facts(out.dtype).is_complex(), has_room = true;
  const Tensor& real = to_complex ? in : out;
  Shape s = shape_along(real, axis);
  std::int64_t kept = (to_complex ? out : in).dims()[axis];
  auto run = [&, read = in.data(), written = out.data()]<class T>(const FourierKernels<T>& k) {
    using C = std::complex<T>;
    auto one = [&](std::int64_t rows) { return RealTransform<T>{k, rows, s.n, kept, forward, static_cast<T>(scale)}; };
    auto there = [&](const T* from, C* to, std::int64_t rows) {
      return one(rows).to_complex(from, reinterpret_cast<T*>(to));
    };
    auto back = [&](const C* from, T* to, std::int64_t rows) {
      return one(rows).to_real(reinterpret_cast<const T*>(from), to);
    };
    auto* from = reinterpret_cast<const T*>(read);
    auto* to = reinterpret_cast<T*>(written);
    auto* from_pairs = reinterpret_cast<const C*>(read);
    auto* to_pairs = reinterpret_cast<C*>(written);
    if (s.columns == 1) has_room = to_complex ? there(from, to_pairs, s.rows) : back(from_pairs, to, s.rows);
    else if (auto all = one(s.rows); all.has_columns())
      has_room = to_complex ? all.columns_to_complex(from, to, s.columns) : all.columns_to_real(from, to, s.columns);
    else
      has_room = to_complex ? columns_as_rows(from, s.n, to_pairs, kept, s.rows, s.columns, there)
                            : columns_as_rows(from_pairs, kept, to, s.n, s.rows, s.columns, back);
  };
  run_over(real.size, {&in, &out}, [&] {
    if (real.dtype == Dtype::float64) run(fourier_kernels().f64);
    else run(fourier_kernels().f32);
  });
  return has_room;
}

void init_signal(nb::module_& m) {
  define(m, "def fourier(source: Any, target: Any, axis: int, forward: bool, scale: float) -> None",
         "Writes the transform along an axis of a dense complex tensor into another, or into itself, times a number.",
         fourier);
  define(m, "def fourier_real(source: Any, target: Any, axis: int, forward: bool, scale: float) -> None",
         "The same from real numbers to their spectrum, or to half of it, or from half of a spectrum to real numbers.",
         fourier_real);
}

}  // namespace suanzi
