// native/ops/nn/softmaxes.cpp: softmax, log_softmax and logsumexp along any axis, and their gradients.
//
// Rows that are dense are read as they lie, and so are many columns side by side, each with its own sum; for gradients,
// columns are transposed, a tile of them at a time, in a cache. Threads share rows, or the parts of a long one.
#include "ops/nn/rows.h"

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "calls/results.h"
#include "core/own_memory.h"
#include "kernels/by_level.h"

namespace suanzi {

SUANZI_BY_LEVEL(RowKernels, row_kernels)

namespace {

enum class Softmax : int { softmax = 0, log_softmax = 1, logsumexp = 2 };

// One of the tensors of a call, with the axis apart: a row for each combination of the others, or one element.
struct Side {
  std::byte* data = nullptr;
  std::int64_t step = 0;  // along the axis, in bytes
  bool is_row = true;
  std::int64_t strides[max_ndim];  // of the other axes, in bytes
};

constexpr std::int64_t most_columns = 256;
constexpr int most_sides = 3;  // out_grad, x, the result

// What is to be done, for rows and for the driver.
struct Plan {
  Softmax kind;
  bool is_backward;
  Dtype dtype;
  const RowLoops& loops;
  std::int64_t item, lane, n, rows = 1;
  int ndim = 0, count = 0;
  std::int64_t dims[max_ndim];
  Side sides[most_sides];
  bool streams = false;

  Plan(Softmax kind_, bool backward, const Tensor& x, const Tensor* grad, const Tensor& out, int axis)
      : kind(kind_), is_backward(backward), dtype(x.dtype), loops(*row_loops(x.dtype)),
        item(static_cast<std::int64_t>(x.itemsize())), lane(facts(wide_dtype(x.dtype)).itemsize), n(x.dims()[axis]) {
    const Tensor* tensors[] = {grad ? grad : &x, &x, &out};
    int order[max_ndim];
    for (int d = 0; d < x.ndim(); ++d) {
      if (d == axis || x.dims()[d] == 1) continue;
      rows *= x.dims()[d];
      int at = ndim++;
      for (; at > 0 && out.strides()[order[at - 1]] < out.strides()[d]; --at) order[at] = order[at - 1];
      order[at] = d;
    }
    for (int i = 0; i < ndim; ++i) dims[i] = x.dims()[order[i]];
    for (const Tensor* t : tensors) {
      Side& side = sides[count++];
      side.data = t->data();
      side.is_row = t->dims()[axis] == n;
      side.step = n > 1 ? t->strides()[axis] * item : item;
      for (int i = 0; i < ndim; ++i) side.strides[i] = t->strides()[order[i]] * item;
    }
    if (kind == Softmax::logsumexp) sides[is_backward ? 0 : 2].is_row = false;
    std::int64_t* strides[] = {sides[0].strides, sides[1].strides, sides[2].strides};
    ndim = merge_axes(ndim, dims, strides, count);
    streams = kind != Softmax::logsumexp && !is_backward && is_dense() && n * item % 64 == 0 &&
              2 * x.size * item >= rows_stream_from() && reinterpret_cast<std::uintptr_t>(out.data()) % 64 == 0;
  }

  const Side& out() const { return sides[2]; }
  bool is_dense() const {
    return std::all_of(sides, sides + count, [&](const Side& s) { return !s.is_row || s.step == item; });
  }
  // How many rows lie side by side in all tensors.
  std::int64_t abreast() const {
    bool dense = ndim > 0 && std::all_of(sides, sides + count,
                                         [&](const Side& s) { return !s.is_row || s.strides[ndim - 1] == item; });
    return dense ? dims[ndim - 1] : 1;
  }
  std::byte* at(int side, std::int64_t row) const {
    return sides[side].data + offsets_of(row, ndim, dims, sides[side].strides)[0];
  }
  // Whether rows that are not dense are computed side by side.
  bool by_columns() const { return !is_backward && kind != Softmax::logsumexp && !is_dense() && abreast() > 1; }
  bool needs_exponentials() const { return is_backward || kind == Softmax::softmax; }
  // Whether exponentials can be written to where the result belongs.
  bool in_place() const { return !is_backward && !streams && item == lane && is_dense(); }
};

void put(Dtype dtype, double value, std::byte* out) {
  if (dtype == Dtype::float64) return static_cast<void>(std::memcpy(out, &value, sizeof value));
  auto single = static_cast<float>(value);
  const Layer& layer = layer_of(dtype);
  if (layer.is_narrow) kernels().narrow[static_cast<std::size_t>(layer.narrow)](&single, out, 1);
  else std::memcpy(out, &single, sizeof single);
}

double get(Dtype dtype, const std::byte* in) {
  double value;
  float single;
  if (dtype == Dtype::float64) return std::memcpy(&value, in, sizeof value), value;
  const Layer& layer = layer_of(dtype);
  if (layer.is_narrow) kernels().widen[static_cast<std::size_t>(layer.narrow)](in, &single, 1);
  else std::memcpy(&single, in, sizeof single);
  return single;
}

// Below which sum its logarithm needs more digits than a sum of float32 that is about 1 has: the largest element is the
// only one then, and a hundredth of the last place of the result is at stake.
double careful_below(Dtype dtype) {
  return dtype == Dtype::bfloat16 ? 1 + 0x1p-8 : dtype == Dtype::float16 ? 1 + 0x1p-6 : 2;
}

// One row; `e` has room for n numbers of the lane, if exponentials are needed.
void run_row(const Plan& p, const std::byte* g, const std::byte* x, std::byte* out, std::byte* e, Blocks blocks) {
  const RowLoops& k = p.loops;
  std::int64_t item = p.item, lane = p.lane;
  double most = blocks.combined(
      -INFINITY, [&](std::int64_t at, std::size_t n) { return k.largest(x + at * item, n); },
      [](double a, double b) { return a > b ? a : b; });
  bool is_sum = p.kind == Softmax::logsumexp && !p.is_backward;
  double centre = is_sum && std::isinf(most) ? 0 : most;
  double total = blocks.sum([&](std::int64_t at, std::size_t n) {
    if (centre < most) return k.squares(x + at * item, 0, n, false);  // infinite, or NaN if one is
    return k.exponentials(x + at * item, centre, e ? e + at * lane : nullptr, n);
  });
  auto dot = [&] {
    return blocks.sum([&](std::int64_t at, std::size_t n) { return k.product(e + at * lane, g + at * item, n); });
  };
  if (is_sum) return put(p.dtype, centre + std::log(total), out);
  if (p.kind == Softmax::softmax && p.is_backward) {
    double mean = dot() / total;
    return blocks.each([&](std::int64_t at, std::size_t n) {
      k.softmax_bwd(e + at * lane, g + at * item, 1 / total, mean, out + at * item, n);
    });
  }
  if (p.kind == Softmax::log_softmax && p.is_backward) {
    double sum = blocks.sum([&](std::int64_t at, std::size_t n) { return k.sum(g + at * item, n); });
    return blocks.each([&](std::int64_t at, std::size_t n) {
      k.log_softmax_bwd(e + at * lane, g + at * item, sum / total, out + at * item, n);
    });
  }
  if (p.kind == Softmax::log_softmax) {
    double log = std::log(total);
    // Next to 1 the sum has lost digits of its logarithm: once more, without the largest element.
    if (total < careful_below(p.dtype))
      log = std::log1p(
          blocks.sum([&](std::int64_t at, std::size_t n) { return k.exponentials_below(x + at * item, most, n); }));
    return blocks.each(
        [&](std::int64_t at, std::size_t n) { k.shift(x + at * item, most, log, out + at * item, n, p.streams); });
  }
  double factor = p.kind == Softmax::logsumexp ? get(p.dtype, g) / total : 1 / total;
  blocks.each([&](std::int64_t at, std::size_t n) { k.scale(e + at * lane, factor, out + at * item, n, p.streams); });
}

// The rows of one thread; false if memory is too short for its buffers.
class Worker {
 public:
  explicit Worker(const Plan& plan, std::int64_t tile) : p_(plan), tile_(tile) {}

  bool run(std::int64_t begin, std::int64_t end) {
    bool needs = p_.needs_exponentials() && !p_.in_place() && !p_.by_columns();
    if (needs && !(exponentials_ = memory_.take(p_.n * p_.lane))) return false;
    if (p_.is_dense()) {
      for (std::int64_t row = begin; row < end; ++row) one(p_.at(0, row), p_.at(1, row), p_.at(2, row));
      if (p_.streams) kernels().end_stream();
      return true;
    }
    if (p_.by_columns()) {
      bool keeps = p_.kind == Softmax::softmax && p_.item != p_.lane;
      if (keeps && !columns_.take(wide_dtype(p_.dtype), p_.n * tile_)) return false;
      each_tile(begin, end, [&](std::int64_t row, std::int64_t some) {
        p_.dtype == Dtype::float64 ? columns<double>(row, some) : columns<float>(row, some);
      });
      return true;
    }
    std::int64_t size = p_.n * tile_;
    if (!packed_.take(p_.dtype, size)) return false;
    for (Scratch& rows : rows_)
      if (!rows.take(p_.dtype, size)) return false;
    each_tile(begin, end, [&](std::int64_t row, std::int64_t some) { tile(row, some); });
    return true;
  }

 private:
  // f(row, some) for rows that lie side by side.
  template <class F>
  void each_tile(std::int64_t begin, std::int64_t end, F f) {
    std::int64_t width = p_.abreast();
    for (std::int64_t row = begin, some; row < end; row += some) {
      some = std::min({tile_, end - row, width - row % width});
      f(row, some);
    }
  }

  void one(const std::byte* g, const std::byte* x, std::byte* out) {
    std::byte* e = !p_.needs_exponentials() ? nullptr : p_.in_place() ? out : exponentials_;
    run_row(p_, g, x, out, e, {p_.n});
  }

  template <class T>
  void columns(std::int64_t row, std::int64_t some) {
    alignas(64) T most[most_columns], last[most_columns];
    alignas(64) double sums[most_columns];
    auto count = static_cast<std::size_t>(some);
    std::fill_n(most, count, -std::numeric_limits<T>::infinity());
    std::fill_n(sums, count, 0.0);
    const std::byte* x = p_.at(1, row);
    std::byte* out = p_.at(2, row);
    std::int64_t in_step = p_.sides[1].step, out_step = p_.out().step;
    bool keeps = p_.kind == Softmax::softmax, direct = p_.item == p_.lane;
    auto e = [&](std::int64_t i) { return direct ? out + i * out_step : columns_.data() + i * tile_ * p_.lane; };
    const RowLoops& k = p_.loops;
    for (std::int64_t i = 0; i < p_.n; ++i) k.column_largest(x + i * in_step, most, count);
    std::fill_n(last, count, T{0});
    for (std::int64_t i = 0; i < p_.n; ++i)
      if (keeps) k.column_exponentials(x + i * in_step, most, e(i), sums, count);
      else k.column_exponentials_below(x + i * in_step, most, last, sums, count);
    for (std::size_t j = 0; j < count; ++j)
      if (keeps) last[j] = static_cast<T>(1 / sums[j]);
      else if (std::isinf(most[j])) last[j] = std::numeric_limits<T>::quiet_NaN();
      else last[j] = static_cast<T>(std::log1p(sums[j] + (static_cast<double>(last[j]) - 1)));
    for (std::int64_t i = 0; i < p_.n; ++i)
      if (keeps) k.column_scale(e(i), last, out + i * out_step, count);
      else k.column_shift(x + i * in_step, most, last, out + i * out_step, count);
  }

  // Rows that are not dense: through buffers.
  void tile(std::int64_t row, std::int64_t some) {
    for (int side = 0; side < 2; ++side)
      if (p_.sides[side].is_row && (side == 1 || p_.is_backward)) read(side, row, some);
    std::int64_t bytes = p_.n * p_.item;
    for (std::int64_t i = 0; i < some; ++i) {
      auto at = [&](int side) { return p_.sides[side].is_row ? rows_[side].data() + i * bytes : p_.at(side, row + i); };
      one(at(0), at(1), at(2));
    }
    if (p_.out().is_row) write(row, some);
  }
  void read(int side, std::int64_t row, std::int64_t some) {
    const std::byte* from = p_.at(side, row);
    auto log2 = layer_of(p_.dtype).log2_size;
    if (some == 1)
      return kernels().gather[log2](from, rows_[side].data(), static_cast<std::size_t>(p_.n), p_.sides[side].step);
    std::int64_t line = some * p_.item;
    for (std::int64_t i = 0; i < p_.n; ++i)
      std::memcpy(packed_.data() + i * line, from + i * p_.sides[side].step, static_cast<std::size_t>(line));
    kernels().transpose[log2](packed_.data(), rows_[side].data(), static_cast<std::size_t>(p_.n),
                              static_cast<std::size_t>(some));
  }
  void write(std::int64_t row, std::int64_t some) {
    std::byte* to = p_.at(2, row);
    auto log2 = layer_of(p_.dtype).log2_size;
    if (some == 1) return kernels().scatter[log2](rows_[2].data(), to, static_cast<std::size_t>(p_.n), p_.out().step);
    kernels().transpose[log2](rows_[2].data(), packed_.data(), static_cast<std::size_t>(some),
                              static_cast<std::size_t>(p_.n));
    std::int64_t line = some * p_.item;
    for (std::int64_t i = 0; i < p_.n; ++i)
      std::memcpy(to + i * p_.out().step, packed_.data() + i * line, static_cast<std::size_t>(line));
  }

  const Plan& p_;
  std::int64_t tile_;
  OwnMemory memory_;
  std::byte* exponentials_ = nullptr;
  Scratch packed_, columns_, rows_[most_sides];
};

// Few rows that are long and dense: threads share each of them.
bool run_shared(const Plan& plan) {
  Blocks blocks{plan.n};
  Scratch exponentials, partial(Dtype::float64, blocks.count());
  if (!partial.data()) return false;
  if (plan.needs_exponentials() && !plan.in_place() && !exponentials.take(wide_dtype(plan.dtype), plan.n)) return false;
  blocks.partial = reinterpret_cast<double*>(partial.data());
  for (std::int64_t row = 0; row < plan.rows; ++row) {
    std::byte *g = plan.at(0, row), *x = plan.at(1, row), *out = plan.at(2, row);
    std::byte* e = !plan.needs_exponentials() ? nullptr : plan.in_place() ? out : exponentials.data();
    run_row(plan, g, x, out, e, blocks);
  }
  return true;
}

bool run_plan(Plan& plan) {
  if (plan.is_dense() && plan.n >= shared_row && plan.rows < thread_count()) {
    plan.streams = false;  // a fence for each part would be needed
    return run_shared(plan);
  }
  // Tiles of columns fit the second-level cache.
  std::int64_t tile = 1, width = plan.is_dense() ? 1 : plan.abreast(), bytes = std::max<std::int64_t>(plan.n, 1) * 8;
  if (plan.by_columns()) tile = std::clamp<std::int64_t>((1 << 20) / bytes / 16 * 16, 32, most_columns);
  else if (width >= 4) tile = std::clamp<std::int64_t>((512 << 10) / bytes, 8, 64);
  std::atomic<bool> enough{true};
  std::int64_t least = std::max<std::int64_t>(grain / 4 / std::max<std::int64_t>(plan.n, 1), width > 1 ? tile : 1);
  parallel_for(plan.rows, least, [&](std::int64_t begin, std::int64_t end) {
    if (!Worker(plan, tile).run(begin, end)) enough = false;
  });
  return enough;
}

// `grad` is null but for gradients.
PyObject* softmax_of(Softmax kind, const Tensor& x, const Tensor* grad, int axis, bool keep_dims) {
  bool reduces = kind == Softmax::logsumexp && !grad;
  PyObject* made = new_result(x, reduces ? std::uint64_t{1} << axis : 0, keep_dims, x.dtype);
  if (!made || tensor_of(made)->size == 0) return made;
  nb::object output = nb::steal(made);
  // With the axis, whatever the shape of the result.
  nb::object with_axis = output;
  if (reduces && !keep_dims) {
    const Tensor& t = *tensor_of(made);
    std::int64_t dims[max_ndim], strides[max_ndim];
    for (int d = 0, from = 0; d < x.ndim(); ++d) {
      dims[d] = d == axis ? 1 : t.dims()[from];
      strides[d] = d == axis ? 1 : t.strides()[from++];
    }
    t.storage->retain();
    PyObject* view = new_tensor(t.storage, t.offset, x.ndim(), dims, strides);
    if (!view) return nullptr;
    with_axis = nb::steal(view);
  }
  Plan plan(kind, grad != nullptr, x, grad, *tensor_of(with_axis.ptr()), axis);
  bool enough = true;
  run_over(x.size, {&x, grad ? grad : &x}, [&] { enough = run_plan(plan); });
  if (!enough) return PyErr_NoMemory();
  return output.release().ptr();
}

template <Softmax kind>
PyObject* fast(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{kind == Softmax::softmax ? "nn:softmax" : "nn:log_softmax"};
  Given given({"x", "axis"}, args, count, keywords);
  if (!given[0]) return nullptr;
  const Tensor* x = read_tensor(given[0]);
  if (!x || !row_loops(x->dtype) || x->array_api || !promoted.keeps_dtype(given[0], given[0])) return nullptr;
  int axis = x->ndim() - 1;
  if (axis < 0 || (given[1] && !read_axis(given[1], x->ndim(), axis))) return nullptr;
  return softmax_of(kind, *x, nullptr, axis, true);
}

bool is_right(const Tensor* x, const Tensor* grad, int axis, int kind) {
  if (!x || !row_loops(x->dtype) || axis < 0 || axis >= x->ndim() || kind < 0 || kind > 2) return false;
  if (!grad) return true;
  if (grad->dtype != x->dtype || grad->ndim() != x->ndim()) return false;
  for (int d = 0; d < x->ndim(); ++d)
    if (grad->dims()[d] != (d == axis && kind == 2 ? 1 : x->dims()[d])) return false;
  return true;
}

}  // namespace

void init_nn_softmaxes(nb::module_& m) {
  add_fast_path<fast<Softmax::softmax>>("softmax");
  add_fast_path<fast<Softmax::log_softmax>>("log_softmax");
  define(
      m, "def nn_softmax(x: Any, axis: int, kind: int, keep_dims: bool = True) -> Tensor",
      "softmax (0), its logarithm (1), or the logarithm of the sum of exponentials (2) along an axis.",
      [](nb::handle object, int axis, int kind, bool keep_dims) {
        const Tensor* x = read_tensor(object.ptr());
        if (!is_right(x, nullptr, axis, kind)) throw nb::value_error("not what softmax takes");
        return raise_or(softmax_of(static_cast<Softmax>(kind), *x, nullptr, axis, keep_dims));
      },
      true);
  define(m, "def nn_softmax_bwd(out_grad: Any, x: Any, axis: int, kind: int) -> Tensor",
         "The gradient of the same; that of a result without the axis has one element along it.",
         [](nb::handle gradient, nb::handle object, int axis, int kind) {
           const Tensor *x = read_tensor(object.ptr()), *grad = read_tensor(gradient.ptr());
           if (!grad || !is_right(x, grad, axis, kind)) throw nb::value_error("not what softmax takes");
           return raise_or(softmax_of(static_cast<Softmax>(kind), *x, grad, axis, true));
         });
}

}  // namespace suanzi
