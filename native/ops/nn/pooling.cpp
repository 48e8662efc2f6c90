// native/ops/nn/pooling.cpp: nn 6: the largest elements and the means of windows, of one to three axes.
//
// A tensor is (planes, depth, height, width) here, and dense. One plan of windows per axis serves all kinds of pooling
// and their gradients. Threads share rows of the output, or planes where sums go back to the input.
#include "kernels/nn/pooling.h"

#include <nanobind/stl/vector.h>

#include <atomic>
#include <limits>

#include "calls/arguments.h"
#include "core/scratch.h"
#include "core/status.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/by_level.h"
#include "ops/nn/lanes.h"

namespace suanzi {

SUANZI_BY_LEVEL(PoolKernels, pool_kernels)

namespace {

// The windows along one axis. A kernel of 0: those of adaptive pooling.
struct Axis {
  std::int64_t in, kernel, stride, padding, dilation, out;
  std::vector<std::int64_t> first,
      last;  // the elements of a window that are there: first, first + dilation, ... < last
  std::vector<double> divisors;

  Axis(std::int64_t in_, const std::int64_t* given, bool counts_padding)
      : in(in_), kernel(given[0]), stride(given[1]), padding(given[2]), dilation(given[3]), out(given[4]) {
    bool adaptive = kernel == 0;
    if (out < 0 || (!adaptive && (kernel < 1 || stride < 1 || dilation < 1 || padding < 0)))
      throw nb::value_error("not what pooling takes");
    first.reserve(static_cast<std::size_t>(out));
    last.reserve(static_cast<std::size_t>(out));
    for (std::int64_t i = 0; i < out; ++i) {
      if (adaptive) {
        auto at = [&](std::int64_t number, std::int64_t more) {
          return static_cast<std::int64_t>((static_cast<__int128>(number) * in + more) / out);
        };
        add(at(i, 0), at(i + 1, out - 1), static_cast<double>(at(i + 1, out - 1) - at(i, 0)));
        continue;
      }
      std::int64_t start = i * stride - padding, end = start + (kernel - 1) * dilation + 1;
      std::int64_t skipped = start < 0 ? (-start + dilation - 1) / dilation : 0;
      std::int64_t begin = start + skipped * dilation, stop = std::min(end, in);
      double counted = static_cast<double>(counts_padding ? std::min(end, in + padding) - start : stop - begin);
      add(begin, std::max(stop, begin), counted);
    }
    if (adaptive) dilation = 1;
  }
  // Elements of a row with its padding, of both sides.
  std::int64_t padded() const {
    return kernel ? std::max(in + padding, (out - 1) * stride + (kernel - 1) * dilation + 1) : in;
  }

 private:
  void add(std::int64_t begin, std::int64_t end, double divisor) {
    first.push_back(begin);
    last.push_back(end);
    divisors.push_back(divisor);
  }
};

struct Plan {
  const Tensor& x;
  std::int64_t planes;
  Axis axes[3];
  double divisor;  // instead of the number of elements; 0: there is none
  Lanes lanes;
  const PoolKernels& loops;

  Plan(const Tensor& x_, const std::vector<std::int64_t>& windows, bool counts_padding, double divisor_)
      : x(x_), planes(x.dims()[0]), axes{{x.dims()[1], windows.data(), counts_padding},
                                         {x.dims()[2], windows.data() + 5, counts_padding},
                                         {x.dims()[3], windows.data() + 10, counts_padding}},
        divisor(divisor_), lanes(x.dtype), loops(pool_kernels()) {}

  std::int64_t plane_size() const { return axes[0].in * axes[1].in * axes[2].in; }
  std::int64_t outputs() const { return axes[0].out * axes[1].out * axes[2].out; }
  std::int64_t row(std::int64_t z, std::int64_t y) const { return (z * axes[1].in + y) * axes[2].in; }
  // Calls body(z, y) for the rows of the window of an output row.
  template <class F>
  void each_row(std::int64_t oz, std::int64_t oy, F&& body) const {
    auto a = static_cast<std::size_t>(oz), b = static_cast<std::size_t>(oy);
    for (std::int64_t z = axes[0].first[a]; z < axes[0].last[a]; z += axes[0].dilation)
      for (std::int64_t y = axes[1].first[b]; y < axes[1].last[b]; y += axes[1].dilation) body(z, y);
  }
  double rows_divisor(std::int64_t oz, std::int64_t oy) const {
    return axes[0].divisors[static_cast<std::size_t>(oz)] * axes[1].divisors[static_cast<std::size_t>(oy)];
  }
};

const Tensor& read(nb::handle object, const std::vector<std::int64_t>& windows) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || !t->row_major || t->ndim() != 4 || windows.size() != 15 || !facts(t->dtype).is_float())
    throw nb::value_error("not what pooling takes");
  return *t;
}

std::byte* data_of(const nb::object& made) { return tensor_of(made.ptr())->data(); }

// A tensor for the results. It comes before the plan, which has numbers for each of them.
nb::object new_output(const Tensor& x, const std::vector<std::int64_t>& windows, Dtype dtype) {
  std::int64_t dims[4] = {x.dims()[0], windows[4], windows[9], windows[14]};
  if (std::min({dims[1], dims[2], dims[3]}) < 0) throw nb::value_error("not what pooling takes");
  return raise_or(new_dense_tensor(dtype, 4, dims));
}

// Runs body(begin, end, failed) over `count` units of some work each, on threads.
template <class F>
void share(const Tensor& x, std::int64_t count, std::int64_t work, F&& body) {
  std::atomic<bool> failed{false};
  run_over(x.size + count, {&x}, [&] {
    parallel_for(count, std::max<std::int64_t>(grain / 4 / (work + 1), 1),
                 [&](std::int64_t begin, std::int64_t end) { body(begin, end, failed); });
  });
  if (failed) throw_status("AllocFailed", "not enough memory for the computation; use fewer elements.");
}

// ---- rows of windows ----------------------------------------------------------------------------

// Rows of the output of one thread.
class Worker {
 public:
  Worker(const Plan& plan, Pool kind)
      : p_(plan), kind_(static_cast<std::size_t>(kind)), across_(plan.axes[2]),
        row_(Dtype::uint8, across_.padded() * size()), wide_(Dtype::uint8, across_.in * size()),
        made_(Dtype::uint8, across_.out * size()) {}
  explicit operator bool() const { return row_.data() && wide_.data() && made_.data(); }

  void run(std::int64_t unit, std::byte* out) {
    std::int64_t oy = unit % p_.axes[1].out, oz = unit / p_.axes[1].out % p_.axes[0].out;
    const std::byte* plane = p_.x.data() + unit / p_.axes[1].out / p_.axes[0].out * p_.plane_size() * p_.lanes.itemsize;
    std::int64_t left = across_.kernel ? across_.padding : 0;
    std::byte* inner = row_.data() + left * size();
    auto width = static_cast<std::size_t>(across_.in), count = static_cast<std::size_t>(across_.out);
    fill(0, left);
    fill(left + across_.in, across_.padded());
    bool begun = false;
    p_.each_row(oz, oy, [&](std::int64_t z, std::int64_t y) {
      const std::byte* from = plane + p_.row(z, y) * p_.lanes.itemsize;
      const void* row = p_.lanes.read(from, begun ? wide_.data() : inner, width);
      if (begun) p_.loops.rows[kind_][lane()](row, inner, width);
      else if (row != inner) std::memcpy(inner, row, width * static_cast<std::size_t>(size()));
      begun = true;
    });
    if (!begun) fill(left, left + across_.in);
    std::byte* to = out + unit * across_.out * p_.lanes.itemsize;
    void* made = p_.lanes.target(to, made_.data());
    auto at = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    if (across_.kernel)
      p_.loops.along[kind_][lane()](row_.data(), made, count, at(across_.kernel), at(across_.stride),
                                    at(across_.dilation));
    else p_.loops.windows[kind_][lane()](inner, across_.first.data(), across_.last.data(), made, count);
    if (kind_ == static_cast<std::size_t>(Pool::sum)) divide(made, oz, oy, count);
    p_.lanes.write(made, to, count);
  }

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(p_.lanes.size); }
  std::size_t lane() const { return p_.lanes.lane; }
  // What does not count, in elements [begin, end) of the row.
  void fill(std::int64_t begin, std::int64_t end) {
    constexpr double least = -std::numeric_limits<double>::infinity();
    double value = kind_ == static_cast<std::size_t>(Pool::largest) ? least : 0;
    for (std::int64_t i = begin; i < end; ++i)
      if (lane()) reinterpret_cast<double*>(row_.data())[i] = value;
      else reinterpret_cast<float*>(row_.data())[i] = static_cast<float>(value);
  }
  void divide(void* made, std::int64_t oz, std::int64_t oy, std::size_t count) const {
    if (!p_.divisor) return p_.loops.divide[lane()](made, across_.divisors.data(), p_.rows_divisor(oz, oy), count);
    for (std::size_t i = 0; i < count; ++i)
      if (lane()) static_cast<double*>(made)[i] /= p_.divisor;
      else static_cast<float*>(made)[i] /= static_cast<float>(p_.divisor);
  }

  const Plan& p_;
  std::size_t kind_;
  const Axis& across_;
  Scratch row_, wide_, made_;
};

nb::object pool(nb::handle object, int kind, const std::vector<std::int64_t>& windows, bool counts_padding,
                double divisor) {
  const Tensor& x = read(object, windows);
  nb::object output = new_output(x, windows, x.dtype);
  if (!tensor_of(output.ptr())->size) return output;
  Plan plan(x, windows, counts_padding, divisor);
  std::byte* out = data_of(output);
  std::int64_t units = plan.planes * plan.axes[0].out * plan.axes[1].out;
  share(plan.x, units, std::max(plan.x.size / units, plan.axes[2].out),
        [&](std::int64_t begin, std::int64_t end, std::atomic<bool>& failed) {
          Worker worker(plan, kind ? Pool::sum : Pool::largest);
          if (!worker) return failed.store(true);
          for (std::int64_t unit = begin; unit < end; ++unit) worker.run(unit, out);
        });
  return output;
}

constexpr std::int64_t most_in_means = 4096;

// The means of whole planes, of at most `most_in_means` elements: several planes are widened at once.
nb::object plane_means(nb::handle object) {
  const Tensor* x = read_tensor(object.ptr());
  bool fits = x && x->row_major && x->ndim() == 2 && facts(x->dtype).is_float();
  if (!fits || x->dims()[1] < 1 || x->dims()[1] > most_in_means) throw nb::value_error("not what pooling takes");
  std::int64_t planes = x->dims()[0], n = x->dims()[1], some = most_in_means / n;
  nb::object output = raise_or(new_dense_tensor(x->dtype, 1, &planes));
  std::byte* out = data_of(output);
  Lanes lanes(x->dtype);
  const PoolKernels& loops = pool_kernels();
  run_over(x->size, {x}, [&] {
    parallel_for((planes + some - 1) / some, 4, [&](std::int64_t begin, std::int64_t end) {
      alignas(64) float wide[most_in_means];
      alignas(64) double made[most_in_means];
      for (std::int64_t at = begin * some; at < std::min(end * some, planes); at += some) {
        auto count = static_cast<std::size_t>(std::min(some, planes - at)), size = static_cast<std::size_t>(n);
        const void* rows = lanes.read(x->data() + at * n * lanes.itemsize, wide, count * size);
        std::byte* to = out + at * lanes.itemsize;
        void* target = lanes.target(to, made);
        loops.means[lanes.lane](rows, count, size, target);
        lanes.write(target, to, count);
      }
    });
  });
  return output;
}

// ---- one window after the other -----------------------------------------------------------------

// A plane as float32 or float64.
template <class T>
const T* wide_plane(const Plan& p, std::int64_t number, Scratch& room) {
  const std::byte* from = p.x.data() + number * p.plane_size() * p.lanes.itemsize;
  return static_cast<const T*>(p.lanes.read(from, room.data(), static_cast<std::size_t>(p.plane_size())));
}

// Calls body(output, index) with the position of the largest element of each window of a plane, the first of equal
// ones; -1 where a window has no elements.
template <class T, class F>
void each_largest(const Plan& p, const T* x, F&& body) {
  std::int64_t output = 0;
  const Axis& across = p.axes[2];
  for (std::int64_t oz = 0; oz < p.axes[0].out; ++oz)
    for (std::int64_t oy = 0; oy < p.axes[1].out; ++oy)
      for (std::size_t ox = 0; ox < across.first.size(); ++ox) {
        std::int64_t found = -1;
        T best{};
        p.each_row(oz, oy, [&](std::int64_t z, std::int64_t y) {
          std::int64_t row = p.row(z, y);
          for (std::int64_t i = across.first[ox]; i < across.last[ox]; i += across.dilation) {
            T value = x[row + i];
            if (found < 0 || value > best || (value != value && best == best)) {
              best = value;
              found = row + i;
            }
          }
        });
        body(output++, found);
      }
}

template <class T>
void positions(const Plan& p, std::int64_t begin, std::int64_t end, std::byte* out, std::int64_t* indices,
               std::atomic<bool>& failed) {
  Scratch room;
  if (p.lanes.is_narrow() && !room.take(Dtype::float32, p.plane_size())) return failed.store(true);
  for (std::int64_t plane = begin; plane < end; ++plane) {
    const std::byte* from = p.x.data() + plane * p.plane_size() * p.lanes.itemsize;
    each_largest(p, wide_plane<T>(p, plane, room), [&](std::int64_t output, std::int64_t index) {
      std::int64_t at = plane * p.outputs() + output;
      indices[at] = index;
      std::byte* to = out + at * p.lanes.itemsize;
      if (index < 0) p.lanes.put(-std::numeric_limits<double>::infinity(), to);
      else std::memcpy(to, from + index * p.lanes.itemsize, static_cast<std::size_t>(p.lanes.itemsize));
    });
  }
}

nb::object pool_positions(nb::handle object, const std::vector<std::int64_t>& windows) {
  const Tensor& x = read(object, windows);
  nb::object output = new_output(x, windows, x.dtype), indices = new_output(x, windows, Dtype::int64);
  if (!tensor_of(output.ptr())->size) return nb::make_tuple(output, indices);
  Plan plan(x, windows, false, 0);
  share(plan.x, plan.planes, plan.plane_size(), [&](std::int64_t begin, std::int64_t end, std::atomic<bool>& failed) {
    auto* to = reinterpret_cast<std::int64_t*>(data_of(indices));
    if (plan.lanes.lane) positions<double>(plan, begin, end, data_of(output), to, failed);
    else positions<float>(plan, begin, end, data_of(output), to, failed);
  });
  return nb::make_tuple(output, indices);
}

// ---- gradients ----------------------------------------------------------------------------------

// The gradient of planes [begin, end) by the input.
template <class T>
class Backward {
 public:
  Backward(const Plan& plan, const Tensor& grad)
      : p_(plan), grad_(grad), size_(static_cast<std::int64_t>(sizeof(T))),
        sums_(Dtype::uint8, p_.plane_size() * size_), wide_(Dtype::uint8, p_.plane_size() * size_),
        grads_(Dtype::uint8, p_.outputs() * size_), row_(Dtype::uint8, p_.axes[2].in * size_) {}
  explicit operator bool() const { return sums_.data() && wide_.data() && grads_.data() && row_.data(); }

  void run(std::int64_t plane, bool is_mean, std::byte* out) {
    auto count = static_cast<std::size_t>(p_.plane_size());
    T* sums = reinterpret_cast<T*>(sums_.data());
    std::fill_n(sums, count, T{0});
    const std::byte* from = grad_.data() + plane * p_.outputs() * p_.lanes.itemsize;
    auto* g = static_cast<const T*>(p_.lanes.read(from, grads_.data(), static_cast<std::size_t>(p_.outputs())));
    if (is_mean) spread(g, sums);
    else
      each_largest(p_, wide_plane<T>(p_, plane, wide_), [&](std::int64_t output, std::int64_t index) {
        if (index >= 0) sums[index] += g[output];
      });
    p_.lanes.write(sums, out + plane * p_.plane_size() * p_.lanes.itemsize, count);
  }

 private:
  // Of each row of the output a row of the input, added to all rows of its windows.
  void spread(const T* g, T* sums) {
    const Axis& across = p_.axes[2];
    auto width = static_cast<std::size_t>(across.in);
    T* row = reinterpret_cast<T*>(row_.data());
    for (std::int64_t oz = 0; oz < p_.axes[0].out; ++oz)
      for (std::int64_t oy = 0; oy < p_.axes[1].out; ++oy) {
        std::fill_n(row, width, T{0});
        double rows = p_.rows_divisor(oz, oy);
        for (std::size_t ox = 0; ox < across.first.size(); ++ox) {
          T part = *g++ / static_cast<T>(p_.divisor ? p_.divisor : rows * across.divisors[ox]);
          for (std::int64_t i = across.first[ox]; i < across.last[ox]; i += across.dilation) row[i] += part;
        }
        p_.each_row(oz, oy, [&](std::int64_t z, std::int64_t y) {
          p_.loops.rows[static_cast<std::size_t>(Pool::sum)][p_.lanes.lane](row, sums + p_.row(z, y), width);
        });
      }
  }

  const Plan& p_;
  const Tensor& grad_;
  std::int64_t size_;
  Scratch sums_, wide_, grads_, row_;
};

nb::object pool_bwd(nb::handle out_grad, nb::handle object, int kind, const std::vector<std::int64_t>& windows,
                    bool counts_padding, double divisor) {
  const Tensor &x = read(object, windows), &grad = read(out_grad, windows);
  const std::int64_t* d = grad.dims();
  if (grad.dtype != x.dtype || d[0] != x.dims()[0] || d[1] != windows[4] || d[2] != windows[9] || d[3] != windows[14])
    throw nb::value_error("not what pooling takes");
  nb::object output = raise_or(new_dense_tensor(x.dtype, 4, x.dims()));
  if (!x.size) return output;
  Plan plan(x, windows, counts_padding, divisor);
  std::byte* out = data_of(output);
  Kept kept(grad);
  share(plan.x, plan.planes, plan.plane_size(), [&](std::int64_t begin, std::int64_t end, std::atomic<bool>& failed) {
    auto run = [&]<class T>(T) {
      Backward<T> worker(plan, grad);
      if (!worker) return failed.store(true);
      for (std::int64_t plane = begin; plane < end; ++plane) worker.run(plane, kind == 1, out);
    };
    if (plan.lanes.lane) run(double{});
    else run(float{});
  });
  return output;
}

}  // namespace

void init_nn_pooling(nb::module_& m) {
  define(m, "def nn_pool(x: Any, kind: int, windows: Sequence[int], counts_padding: bool, divisor: float) -> Tensor",
         "The largest elements (0) or means (1) of windows of a dense tensor (planes, depth, height, width). Of each "
         "axis: kernel (0: adaptive), stride, padding, dilation, size of the output.",
         pool);
  define(m, "def nn_plane_means(x: Any) -> Tensor",
         "The means of the rows of a dense tensor (planes, elements), of at most 4096 elements each.", plane_means);
  define(m, "def nn_pool_positions(x: Any, windows: Sequence[int]) -> tuple[Tensor, Tensor]",
         "The largest elements of windows, and their positions in their planes.", pool_positions);
  define(m,
         "def nn_pool_bwd(out_grad: Any, x: Any, kind: int, windows: Sequence[int], counts_padding: bool, "
         "divisor: float) -> Tensor",
         "The gradient of nn_pool by x.", pool_bwd);
}

}  // namespace suanzi
