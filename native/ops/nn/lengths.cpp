// native/ops/nn/lengths.cpp: nn 3.6, 3.7: normalize and cosine_similarity of dense rows, and their gradients.
//
// Squares add up in float32 by fours and in float64 beyond, and again in float64 alone where they overflow or vanish.
#include "calls/arguments.h"
#include "ops/nn/rows.h"

namespace suanzi {
namespace {

struct Rows {
  const Tensor& x;
  const RowLoops& loops;
  std::int64_t item, n, count;

  Rows(const Tensor& t, std::int64_t n_)
      : x(t), loops(*row_loops(t.dtype)), item(static_cast<std::int64_t>(t.itemsize())), n(n_), count(t.size / n_) {}

  template <class F>
  void each(F f) const {
    parallel_for(count, std::max<std::int64_t>(grain / 4 / n, 1), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) f(row);
    });
  }
  bool fits(double sum) const { return item == 8 || (sum > 1e-20 && sum < 1e37); }

  double length(const std::byte* row, double p) const {
    Blocks blocks{n};
    if (p == 2)
      return std::sqrt(blocks.sum([&](std::int64_t at, std::size_t size) {
        double sum = loops.squares(row + at * item, 0, size, false);
        return fits(sum) ? sum : loops.squares(row + at * item, 0, size, true);
      }));
    if (p == 1 || p == 0)
      return blocks.sum([&](std::int64_t at, std::size_t size) { return loops.powers(row + at * item, 1, p, size); });
    double most = blocks.combined(
        0, [&](std::int64_t at, std::size_t size) { return loops.magnitude(row + at * item, size); },
        [](double a, double b) { return b > a || b != b ? b : a; });
    if (std::isinf(p) || most == 0 || !std::isfinite(most)) return most;
    double sum =
        blocks.sum([&](std::int64_t at, std::size_t size) { return loops.powers(row + at * item, most, p, size); });
    return most * std::pow(sum, 1 / p);
  }

  // The sums of x y, x^2 and y^2 of two rows.
  void pair(const std::byte* a, const std::byte* b, double (&sums)[3]) const {
    for (double& sum : sums) sum = 0;
    Blocks{n}.each([&](std::int64_t at, std::size_t size) {
      double part[3];
      loops.pair_sums(a + at * item, b + at * item, size, false, part);
      if (!fits(part[1]) || !fits(part[2])) loops.pair_sums(a + at * item, b + at * item, size, true, part);
      for (int i = 0; i < 3; ++i) sums[i] += part[i];
    });
  }
};

const Tensor& rows_of(nb::handle object, std::int64_t n) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || !t->row_major || !row_loops(t->dtype) || n < 1 || t->size % n) throw nb::value_error("not rows of floats");
  return *t;
}

const Tensor& like(nb::handle object, const Tensor& x) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || !t->row_major || t->dtype != x.dtype || t->size != x.size) throw nb::value_error("not rows of that shape");
  return *t;
}

// Each row by its length of order p, or by eps if that is more.
nb::object normalized(nb::handle object, std::int64_t n, double p, double eps) {
  const Tensor& x = rows_of(object, n);
  nb::object made = raise_or(new_dense_tensor(x.dtype, x.ndim(), x.dims()));
  std::byte *from = x.data(), *to = tensor_of(made.ptr())->data();
  Rows rows(x, n);
  run_over(x.size, {&x}, [&] {
    rows.each([&](std::int64_t row) {
      std::int64_t at = row * n * rows.item;
      double length = rows.length(from + at, p), factor = 1 / (length < eps ? eps : length);
      Blocks{n}.each([&](std::int64_t begin, std::size_t size) {
        std::int64_t here = at + begin * rows.item;
        rows.loops.affine(from + here, 0, factor, nullptr, nullptr, 1, 0, to + here, size, false);
      });
    });
  });
  return made;
}

// Its gradient for p = 2: (g - x (g x) / length^2) / length, or g / eps.
nb::object normalized_bwd(nb::handle gradient, nb::handle object, std::int64_t n, double eps) {
  const Tensor &x = rows_of(object, n), &g = like(gradient, x);
  nb::object made = raise_or(new_dense_tensor(x.dtype, x.ndim(), x.dims()));
  std::byte *from = x.data(), *grad = g.data(), *to = tensor_of(made.ptr())->data();
  Rows rows(x, n);
  run_over(x.size, {&x, &g}, [&] {
    rows.each([&](std::int64_t row) {
      std::int64_t at = row * n * rows.item;
      double length = rows.length(from + at, 2), factor = 1 / (length < eps ? eps : length), sums[3];
      rows.pair(from + at, grad + at, sums);
      double slope = length < eps ? 0 : sums[0] * factor * factor;
      Blocks{n}.each([&](std::int64_t begin, std::size_t size) {
        std::int64_t here = at + begin * rows.item;
        rows.loops.norm_bwd(from + here, grad + here, nullptr, 1, 0, factor, 0, slope, to + here, size);
      });
    });
  });
  return made;
}

// What two rows are divided by: each length, or their product, at least eps.
struct Lengths {
  double x, y, product;
  bool x_counts, y_counts;  // whether the length of x and that of y are above eps

  Lengths(const double (&sums)[3], double eps, bool together) : x(std::sqrt(sums[1])), y(std::sqrt(sums[2])) {
    if (together) {
      x_counts = y_counts = !(x * y < eps);
      product = x_counts ? x * y : eps;
    } else {
      x_counts = !(x < eps), y_counts = !(y < eps);
      product = (x_counts ? x : eps) * (y_counts ? y : eps);
    }
  }
};

// The cosines of pairs of rows, as float64 in one row.
nb::object cosines(nb::handle left, nb::handle right, std::int64_t n, double eps, bool together) {
  const Tensor &x = rows_of(left, n), &y = like(right, x);
  Rows rows(x, n);
  nb::object made = raise_or(new_dense_tensor(Dtype::float64, 1, &rows.count));
  auto* out = reinterpret_cast<double*>(tensor_of(made.ptr())->data());
  const std::byte *a = x.data(), *b = y.data();
  run_over(x.size, {&x, &y}, [&] {
    rows.each([&](std::int64_t row) {
      double sums[3];
      rows.pair(a + row * n * rows.item, b + row * n * rows.item, sums);
      out[row] = sums[0] / Lengths(sums, eps, together).product;
    });
  });
  return made;
}

// The gradient of the first of two rows, from that of the cosines as float64.
nb::object cosines_bwd(nb::handle gradient, nb::handle left, nb::handle right, std::int64_t n, double eps,
                       bool together) {
  const Tensor &x = rows_of(left, n), &y = like(right, x);
  Rows rows(x, n);
  const Tensor* g = read_tensor(gradient.ptr());
  if (!g || !g->row_major || g->dtype != Dtype::float64 || g->size != rows.count)
    throw nb::value_error("not the gradient of cosines");
  nb::object made = raise_or(new_dense_tensor(x.dtype, x.ndim(), x.dims()));
  auto* grad = reinterpret_cast<const double*>(g->data());
  const std::byte *a = x.data(), *b = y.data();
  std::byte* out = tensor_of(made.ptr())->data();
  run_over(x.size, {&x, &y, g}, [&] {
    rows.each([&](std::int64_t row) {
      double sums[3];
      std::int64_t at = row * n * rows.item;
      rows.pair(a + at, b + at, sums);
      Lengths by(sums, eps, together);
      double of_y = grad[row] / by.product, of_x = by.x_counts ? -grad[row] * sums[0] / by.product / sums[1] : 0;
      Blocks{n}.each([&](std::int64_t begin, std::size_t size) {
        std::int64_t here = at + begin * rows.item;
        rows.loops.combine(a + here, b + here, of_x, of_y, out + here, size);
      });
    });
  });
  return made;
}

}  // namespace

void init_nn_lengths(nb::module_& m) {
  define(m, "def nn_normalize(x: Any, n: int, p: float, eps: float) -> Tensor",
         "Dense rows of n elements by their lengths of order p, which are eps at least.", normalized);
  define(m, "def nn_normalize_bwd(out_grad: Any, x: Any, n: int, eps: float) -> Tensor",
         "The gradient of nn_normalize for p = 2.", normalized_bwd);
  define(m, "def nn_cosines(x: Any, y: Any, n: int, eps: float, together: bool) -> Tensor",
         "The cosines of pairs of dense rows, as float64; `together`: the product of the lengths is eps at least, not "
         "each of them.",
         cosines);
  define(m, "def nn_cosines_bwd(out_grad: Any, x: Any, y: Any, n: int, eps: float, together: bool) -> Tensor",
         "The gradient of nn_cosines with respect to x; that of the result is float64.", cosines_bwd);
}

}  // namespace suanzi
