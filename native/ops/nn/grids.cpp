// native/ops/nn/grids.cpp: nn 7: images sampled at the positions of a grid, in two or three dimensions, and the
// gradients.
//
// Each axis gives a few taps, elements with weights, by the mode; an output is the sum over their products. Positions
// are computed in float64, so that a float32 grid is rounded nowhere before the weights.
#include "kernels/nn/grids.h"

#include <cmath>

#include "calls/arguments.h"
#include "core/scratch.h"
#include "core/status.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/by_level.h"

namespace suanzi {

SUANZI_BY_LEVEL(GridKernels, grid_kernels)

namespace {

enum Mode : int { linear, nearest, cubic };
enum Padding : int { zeros, border, reflection };

// An element of an axis: its index, or -1 if there is none; its weight, and how that changes with the coordinate.
struct Tap {
  std::int64_t index;
  double weight, slope;
};
struct Taps {
  int count = 0;
  Tap taps[4];
  void add(std::int64_t index, double weight, double slope) { taps[count++] = {index, weight, slope}; }
};

struct Sampling {
  Mode mode;
  Padding padding;
  bool align;
};

// A coordinate within [low / 2, high / 2], mirrored at the ends; `slope` changes its sign with it.
double reflected(double x, double low, double high, double& slope) {
  if (low == high) return slope = 0, x == x ? 0 : x;
  double least = low / 2, span = (high - low) / 2, from = x - least;
  if (from < 0) from = -from, slope = -slope;
  double rest = std::fmod(from, span);
  if (std::fmod(std::floor(from / span), 2) == 0) return rest + least;
  slope = -slope;
  return span - rest + least;
}

double padded(const Sampling& s, double x, std::int64_t n, double& slope) {
  if (s.padding == zeros) return x;
  auto size = static_cast<double>(n);
  if (s.padding == reflection)
    x = s.align ? reflected(x, 0, 2 * (size - 1), slope) : reflected(x, -1, 2 * size - 1, slope);
  if (x <= 0 || x >= size - 1) slope = 0;
  return x <= 0 ? 0 : x >= size - 1 ? size - 1 : x;
}

// The weight of an element at a distance of at most 1, and of at most 2, and their derivatives.
constexpr double a = -0.75;
double near(double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; }
double far(double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; }
double near_slope(double d) { return (3 * (a + 2) * d - 2 * (a + 3)) * d; }
double far_slope(double d) { return (3 * a * d - 10 * a) * d + 8 * a; }

Taps taps_of(const Sampling& s, double g, std::int64_t n) {
  auto size = static_cast<double>(n);
  double slope = s.align ? (size - 1) / 2 : size / 2;
  double x = s.align ? (g + 1) / 2 * (size - 1) : ((g + 1) * size - 1) / 2;
  Taps found;
  if (s.mode != cubic) x = padded(s, x, n, slope);
  auto index = [&](double at) { return at >= 0 && at < size ? static_cast<std::int64_t>(at) : -1; };
  if (x != x || (s.mode == cubic && std::isinf(x))) {
    found.add(0, std::nan(""), std::nan(""));
  } else if (s.mode == nearest) {
    found.add(index(std::nearbyint(x)), 1, 0);
  } else if (std::isinf(x)) {
    found.add(-1, 0, 0);
  } else if (s.mode == linear) {
    double low = std::floor(x), part = x - low;
    found.add(index(low), 1 - part, -slope);
    found.add(index(low + 1), part, slope);
  } else {
    double low = std::floor(x), part = x - low;
    double weights[4] = {far(part + 1), near(part), near(1 - part), far(2 - part)};
    double slopes[4] = {far_slope(part + 1), near_slope(part), -near_slope(1 - part), -far_slope(2 - part)};
    for (int i = 0; i < 4; ++i) {
      double ignored = 0, at = padded(s, low - 1 + i, n, ignored);
      found.add(index(s.padding == zeros ? at : std::nearbyint(at)), weights[i], slopes[i] * slope);
    }
  }
  return found;
}

constexpr std::int64_t block = 256;
constexpr int most_taps = 16;

// A dense image (batch, channels, depth, height, width) of float32 or float64, and a grid of it: (batch, positions,
// axes), the last axis first.
template <class T>
struct Plan {
  Sampling how;
  const T *x, *grid;
  std::int64_t batch, channels, sizes[3], positions;
  int axes;

  std::int64_t plane() const { return sizes[0] * sizes[1] * sizes[2]; }
  void taps_at(std::int64_t n, std::int64_t position, Taps (&found)[3]) const {
    const T* g = grid + (n * positions + position) * axes;
    for (int d = 0; d < 3; ++d) found[d].count = 0;
    if (axes == 2) found[0].add(0, 1, 0);
    for (int d = 3 - axes; d < 3; ++d) found[d] = taps_of(how, static_cast<double>(g[2 - d]), sizes[d]);
  }
  // Calls body(offset, z, y, x) for the taps of a position that exist.
  template <class F>
  void each(const Taps (&t)[3], F&& body) const {
    for (int i = 0; i < t[0].count; ++i)
      for (int j = 0; j < t[1].count; ++j)
        for (int k = 0; k < t[2].count; ++k) {
          const Tap &z = t[0].taps[i], &y = t[1].taps[j], &w = t[2].taps[k];
          bool exists = z.index >= 0 && y.index >= 0 && w.index >= 0;
          body(exists ? (z.index * sizes[1] + y.index) * sizes[2] + w.index : -1, z, y, w);
        }
  }
};

// ---- forward ------------------------------------------------------------------------------------

template <class T>
void sample_block(const Plan<T>& p, std::int64_t n, std::int64_t start, std::size_t count, T* out) {
  std::int64_t offsets[most_taps][block];
  alignas(64) T weights[most_taps][block], sums[block];
  int taps = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Taps found[3];
    p.taps_at(n, start + static_cast<std::int64_t>(i), found);
    int used = 0;
    p.each(found, [&](std::int64_t offset, const Tap& z, const Tap& y, const Tap& w) {
      offsets[used][i] = offset < 0 ? 0 : offset;
      weights[used++][i] = offset < 0 ? T{0} : static_cast<T>(z.weight * y.weight * w.weight);
    });
    // A position of fewer taps than others has none for the rest.
    for (int more = taps; more < used; ++more)
      for (std::size_t j = 0; j < i; ++j) offsets[more][j] = 0, weights[more][j] = 0;
    for (int more = used; more < taps; ++more) offsets[more][i] = 0, weights[more][i] = 0;
    taps = std::max(taps, used);
  }
  const GridKernels& loops = grid_kernels();
  for (std::int64_t c = 0; c < p.channels; ++c) {
    const T* plane = p.x + (n * p.channels + c) * p.plane();
    std::fill_n(sums, count, T{0});
    for (int tap = 0; tap < taps; ++tap) loops.add[sizeof(T) == 8](plane, offsets[tap], weights[tap], sums, count);
    std::copy_n(sums, count, out + (n * p.channels + c) * p.positions + start);
  }
}

template <class T>
void sample(const Plan<T>& p, T* out) {
  std::int64_t blocks = (p.positions + block - 1) / block;
  parallel_for(p.batch * blocks, std::max<std::int64_t>(grain / 4 / (block * (p.channels + 4)), 1),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t unit = begin; unit < end; ++unit) {
                   std::int64_t start = unit % blocks * block;
                   sample_block(p, unit / blocks, start, static_cast<std::size_t>(std::min(block, p.positions - start)),
                                out);
                 }
               });
}

// ---- gradients ----------------------------------------------------------------------------------

// By the image: each plane is of one thread, which adds positions in their order.
template <class T>
void image_gradient(const Plan<T>& p, const T* g, T* out) {
  parallel_for(p.batch * p.channels, std::max<std::int64_t>(grain / 16 / (p.positions + 1), 1),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t unit = begin; unit < end; ++unit) {
                   T* plane = out + unit * p.plane();
                   std::fill_n(plane, p.plane(), T{0});
                   for (std::int64_t i = 0; i < p.positions; ++i) {
                     Taps found[3];
                     p.taps_at(unit / p.channels, i, found);
                     T grad = g[unit * p.positions + i];
                     p.each(found, [&](std::int64_t offset, const Tap& z, const Tap& y, const Tap& w) {
                       double weight = z.weight * y.weight * w.weight;
                       if (offset >= 0 && weight != 0) plane[offset] += static_cast<T>(weight) * grad;
                     });
                   }
                 }
               });
}

// By the grid: a position has the sum over channels, in float64.
template <class T>
void grid_gradient(const Plan<T>& p, const T* g, T* out) {
  auto at_position = [&](std::int64_t n, std::int64_t i) {
    Taps found[3];
    p.taps_at(n, i, found);
    double sums[3] = {};
    p.each(found, [&](std::int64_t offset, const Tap& z, const Tap& y, const Tap& w) {
      if (offset < 0) return;
      double total = 0;
      for (std::int64_t c = 0; c < p.channels; ++c)
        total += static_cast<double>(g[(n * p.channels + c) * p.positions + i]) *
                 static_cast<double>(p.x[(n * p.channels + c) * p.plane() + offset]);
      sums[0] += z.slope * y.weight * w.weight * total;
      sums[1] += z.weight * y.slope * w.weight * total;
      sums[2] += z.weight * y.weight * w.slope * total;
    });
    T* to = out + (n * p.positions + i) * p.axes;
    for (int d = 0; d < p.axes; ++d) to[d] = p.how.mode == nearest ? T{0} : static_cast<T>(sums[2 - d]);
  };
  parallel_for(p.batch * p.positions, std::max<std::int64_t>(grain / 64 / (p.channels + 1), 1),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t unit = begin; unit < end; ++unit)
                   at_position(unit / p.positions, unit % p.positions);
               });
}

// ---- Python -------------------------------------------------------------------------------------

const Tensor& read(nb::handle object, int ndim) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || !t->row_major || t->ndim() != ndim || (t->dtype != Dtype::float32 && t->dtype != Dtype::float64))
    throw nb::value_error("not what grid_sample takes");
  return *t;
}

template <class T>
Plan<T> plan_of(const Tensor& x, const Tensor& grid, int mode, int padding, bool align) {
  const std::int64_t *d = x.dims(), *g = grid.dims();
  bool fits = grid.dtype == x.dtype && g[0] == d[0] && (g[2] == 2 || g[2] == 3) && mode >= 0 && mode <= 2 &&
              padding >= 0 && padding <= 2 && d[2] > 0 && d[3] > 0 && d[4] > 0 &&
              (g[2] == 3 ? mode != cubic : d[2] == 1);
  if (!fits) throw nb::value_error("not what grid_sample takes");
  return {{static_cast<Mode>(mode), static_cast<Padding>(padding), align},
          reinterpret_cast<const T*>(x.data()),
          reinterpret_cast<const T*>(grid.data()),
          d[0],
          d[1],
          {d[2], d[3], d[4]},
          g[1],
          static_cast<int>(g[2])};
}

template <class F>
void by_type(const Tensor& x, F&& body) {
  if (x.dtype == Dtype::float64) body(double{});
  else body(float{});
}

nb::object grid_sample(nb::handle object, nb::handle grid_object, int mode, int padding, bool align) {
  const Tensor &x = read(object, 5), &grid = read(grid_object, 3);
  std::int64_t dims[3] = {x.dims()[0], x.dims()[1], grid.dims()[1]};
  nb::object output;
  by_type(x, [&]<class T>(T) {
    Plan<T> plan = plan_of<T>(x, grid, mode, padding, align);
    output = raise_or(new_dense_tensor(x.dtype, 3, dims));
    auto* out = reinterpret_cast<T*>(tensor_of(output.ptr())->data());
    run_over(tensor_of(output.ptr())->size * 4, {&x, &grid}, [&] { sample(plan, out); });
  });
  return output;
}

nb::object grid_sample_bwd(nb::handle out_grad, nb::handle object, nb::handle grid_object, int mode, int padding,
                           bool align) {
  const Tensor &x = read(object, 5), &grid = read(grid_object, 3), &grad = read(out_grad, 3);
  if (grad.dtype != x.dtype || grad.size != x.dims()[0] * x.dims()[1] * grid.dims()[1])
    throw nb::value_error("not what grid_sample takes");
  nb::object by_x, by_grid;
  by_type(x, [&]<class T>(T) {
    Plan<T> plan = plan_of<T>(x, grid, mode, padding, align);
    by_x = raise_or(new_dense_tensor(x.dtype, 5, x.dims()));
    by_grid = raise_or(new_dense_tensor(x.dtype, 3, grid.dims()));
    auto data = [](const nb::object& made) { return reinterpret_cast<T*>(tensor_of(made.ptr())->data()); };
    auto* g = reinterpret_cast<const T*>(grad.data());
    run_over(grad.size * 16, {&x, &grid, &grad}, [&] {
      image_gradient(plan, g, data(by_x));
      grid_gradient(plan, g, data(by_grid));
    });
  });
  return nb::make_tuple(by_x, by_grid);
}

}  // namespace

void init_nn_grids(nb::module_& m) {
  define(m, "def nn_grid_sample(x: Any, grid: Any, mode: int, padding: int, align: bool) -> Tensor",
         "A dense image (batch, channels, depth, height, width) at the positions of a grid (batch, positions, axes): "
         "0 linear, 1 nearest, 2 cubic; 0 zeros, 1 border, 2 reflection.",
         grid_sample);
  define(m,
         "def nn_grid_sample_bwd(out_grad: Any, x: Any, grid: Any, mode: int, padding: int, align: bool) -> "
         "tuple[Tensor, Tensor]",
         "The gradients of nn_grid_sample by x and by the grid.", grid_sample_bwd);
}

}  // namespace suanzi
