// native/ops/nn_norms.cpp: layer_norm, rms_norm, group_norm, batch_norm and their gradients.
//
// A row is a number of dense pieces of one length, and is normalised as a whole: the mean first, then the squares of
// what differs from it, then the result. Each of the passes after the first reads from a cache.
#include "ops/nn_rows.h"

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"

namespace suanzi {
namespace {

// How dense elements are divided into rows, and which weight belongs to each. Layers have a weight for each element of
// a row; groups, one for each piece: number (row % period) * per_row + piece * per_piece.
struct Shape {
  std::int64_t rows, pieces, length, row_step, piece_step;  // steps in elements
  bool by_element;
  std::int64_t period, per_row, per_piece;

  static Shape layers(std::int64_t rows, std::int64_t n) { return {rows, 1, n, n, 0, true, 1, 0, 0}; }
  // (batch, channels, length) in groups of channels.
  static Shape groups(std::int64_t batch, std::int64_t channels, std::int64_t length, std::int64_t groups) {
    std::int64_t per = channels / groups;
    return {batch * groups, per, length, per * length, length, false, groups, per, 1};
  }
  // The same by channels, over the whole batch.
  static Shape channels(std::int64_t batch, std::int64_t channels, std::int64_t length) {
    return {channels, batch, length, length, channels * length, false, channels, 1, 0};
  }
  std::int64_t n() const { return pieces * length; }
  std::int64_t weight(std::int64_t row, std::int64_t piece) const { return row % period * per_row + piece * per_piece; }
};

// The statistics of a row.
struct Row {
  double mean, factor, variance;
};

struct Norm {
  Shape shape;
  Dtype dtype;
  const RowLoops& loops;
  std::int64_t item, lane;
  const std::byte *x, *weight = nullptr, *bias = nullptr;  // the last two in the lane
  bool centred;
  double eps;
  bool streams = false;

  Norm(const Shape& shape_, const Tensor& t, bool centred_, double eps_)
      : shape(shape_), dtype(t.dtype), loops(*row_loops(t.dtype)), item(static_cast<std::int64_t>(t.itemsize())),
        lane(facts(wide_dtype(t.dtype)).itemsize), x(t.data()), centred(centred_), eps(eps_) {}

  std::int64_t at(std::int64_t row, std::int64_t piece) const {
    return (row * shape.row_step + piece * shape.piece_step) * item;
  }
  double one(const std::byte* numbers, std::int64_t i, double missing) const {
    if (!numbers) return missing;
    if (lane == 8) return reinterpret_cast<const double*>(numbers)[i];
    return reinterpret_cast<const float*>(numbers)[i];
  }

  // The sum of f(bytes from x on, size) over the parts of a row, in order.
  template <class F>
  double sum(std::int64_t row, double* partial, F f) const {
    if (shape.pieces == 1)
      return Blocks{shape.length, partial}.sum(
          [&](std::int64_t begin, std::size_t n) { return f(at(row, 0) + begin * item, n); });
    double total = 0;
    for (std::int64_t piece = 0; piece < shape.pieces; ++piece)
      total += Blocks{shape.length}.sum(
          [&](std::int64_t begin, std::size_t n) { return f(at(row, piece) + begin * item, n); });
    return total;
  }

  Row statistics(std::int64_t row, double* partial) const {
    auto count = static_cast<double>(shape.n());
    double mean = 0;
    if (centred) mean = sum(row, partial, [&](std::int64_t at, std::size_t n) { return loops.sum(x + at, n); }) / count;
    double squares = sum(row, partial, [&](std::int64_t at, std::size_t n) { return squares_of(at, mean, n); });
    double variance = squares / count;
    return {mean, 1 / std::sqrt(variance + eps), variance};
  }
  // In float32 where that has room for them.
  double squares_of(std::int64_t at, double mean, std::size_t n) const {
    double found = loops.squares(x + at, mean, n, false);
    bool fits = found > 1e-20 && found < 1e37;
    return lane == 8 || fits ? found : loops.squares(x + at, mean, n, true);
  }

  void write(std::int64_t row, const Row& of, std::byte* out, double* partial) const {
    for (std::int64_t piece = 0; piece < shape.pieces; ++piece) {
      std::int64_t from = at(row, piece);
      bool every = shape.by_element;
      std::int64_t w = every ? 0 : shape.weight(row, piece);
      double one_weight = every ? 1 : one(weight, w, 1), one_bias = every ? 0 : one(bias, w, 0);
      Blocks{shape.length, partial}.each([&](std::int64_t begin, std::size_t n) {
        auto part = [&](const std::byte* all) { return every && all ? all + begin * lane : nullptr; };
        std::int64_t here = from + begin * item;
        loops.affine(x + here, of.mean, of.factor, part(weight), part(bias), one_weight, one_bias, out + here, n,
                     streams);
      });
    }
  }

  // f(row, partial) for all rows: threads share the rows, or the parts of long ones.
  template <class F>
  bool each_row(F f) const {
    bool shares = shape.pieces == 1 && shape.length >= shared_row && shape.rows < thread_count();
    if (shares) {
      Scratch partial(Dtype::float64, Blocks{shape.length}.count());
      if (!partial.data()) return false;
      for (std::int64_t row = 0; row < shape.rows; ++row) f(row, reinterpret_cast<double*>(partial.data()));
      return true;
    }
    std::int64_t cost = std::max<std::int64_t>(shape.n(), 1);
    parallel_for(shape.rows, std::max<std::int64_t>(grain / 2 / cost, 1), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) f(row, nullptr);
      if (streams) kernels().end_stream();
    });
    return true;
  }
};

// Weights or biases in the lane: as they are, or widened. Null if there are none, false if there is no memory.
struct Wide {
  Scratch memory;
  const std::byte* data = nullptr;

  bool take(const Tensor* t) {
    if (!t) return true;
    const Layer& layer = layer_of(t->dtype);
    if (!layer.is_narrow) return data = t->data(), true;
    if (!memory.take(Dtype::float32, t->size)) return false;
    kernels().widen[static_cast<std::size_t>(layer.narrow)](t->data(), memory.data(),
                                                            static_cast<std::size_t>(t->size));
    return data = memory.data(), true;
  }
};

// The result; `statistics`, if it is not null, gets the means and the variances of the rows.
PyObject* norm_of(const Shape& shape, const Tensor& t, const Tensor* weight, const Tensor* bias, bool centred,
                  double eps, double offset, double* statistics) {
  PyObject* made = new_dense_tensor(t.dtype, t.ndim(), t.dims());
  if (!made || (t.size == 0 && !statistics)) return made;
  nb::object output = nb::steal(made);
  Wide w, b;
  if (!w.take(weight) || !b.take(bias)) return PyErr_NoMemory();
  Norm norm(shape, t, centred, eps);
  norm.weight = w.data, norm.bias = b.data;
  Scratch shifted;
  if (weight && offset != 0) {
    if (!shifted.take(wide_dtype(t.dtype), weight->size)) return PyErr_NoMemory();
    for (std::int64_t i = 0; i < weight->size; ++i) {
      double sum = norm.one(w.data, i, 0) + offset;
      if (norm.lane == 8) reinterpret_cast<double*>(shifted.data())[i] = sum;
      else reinterpret_cast<float*>(shifted.data())[i] = static_cast<float>(sum);
    }
    norm.weight = shifted.data();
  }
  std::byte* out = tensor_of(made)->data();
  norm.streams = 2 * t.size * norm.item >= rows_stream_from() && shape.length * norm.item % 64 == 0 &&
                 shape.length < shared_row && reinterpret_cast<std::uintptr_t>(out) % 64 == 0;
  bool enough = true;
  run_over(t.size, {&t, weight ? weight : &t, bias ? bias : &t}, [&] {
    enough = norm.each_row([&](std::int64_t row, double* partial) {
      Row of = norm.statistics(row, partial);
      if (statistics) statistics[2 * row] = of.mean, statistics[2 * row + 1] = of.variance;
      norm.write(row, of, out, partial);
    });
  });
  if (!enough) return PyErr_NoMemory();
  return output.release().ptr();
}

// Whether a tensor can be read as dense numbers of a dtype.
bool is_dense(const Tensor* t, Dtype dtype) { return t && t->row_major && t->dtype == dtype; }

// A tensor, or null for None; false if it is neither, or not dense of that dtype and size.
bool read_weights(PyObject* object, const Tensor& x, std::int64_t size, const Tensor*& found) {
  found = nullptr;
  if (!object || object == Py_None) return true;
  found = read_tensor(object);
  return is_dense(found, x.dtype) && found->size == size;
}

bool read_real(PyObject* object, double& value) {
  if (!object) return true;
  if (PyFloat_CheckExact(object)) return value = PyFloat_AS_DOUBLE(object), true;
  std::int64_t whole;
  if (!read_integer(object, whole)) return false;
  value = static_cast<double>(whole);
  return true;
}

// layer_norm(x, normalized_shape, weight, bias, eps), rms_norm(x, normalized_shape, weight, eps, *, offset).
template <bool centred>
PyObject* fast(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{centred ? "nn:layer_norm" : "nn:rms_norm"};
  constexpr const char* last = centred ? "eps" : "offset";
  if (!centred && count > 4) return nullptr;  // by name alone
  Given given({"x", "normalized_shape", "weight", centred ? "bias" : "eps", last}, args, count, keywords);
  if (!given[0] || !given[1]) return nullptr;
  const Tensor *x = read_tensor(given[0]), *weight, *bias = nullptr;
  if (!x || !x->row_major || !row_loops(x->dtype) || x->array_api || !promoted.keeps_dtype(given[0], given[0]))
    return nullptr;
  Integers dims;
  if (!dims.read_one_or_more(given[1]) || dims.count == 0 || dims.count > x->ndim()) return nullptr;
  std::int64_t n = 1;
  for (int i = 0; i < dims.count; ++i) {
    if (dims.values[i] != x->dims()[x->ndim() - dims.count + i]) return nullptr;
    n *= dims.values[i];
  }
  auto has_shape = [&](const Tensor* t) {
    return !t || (t->ndim() == dims.count && std::equal(t->dims(), t->dims() + dims.count, dims.values));
  };
  double eps = 1e-5, offset = 0;
  if (n == 0 || !read_weights(given[2], *x, n, weight) || !has_shape(weight)) return nullptr;
  if (centred ? !read_weights(given[3], *x, n, bias) || !has_shape(bias) || !read_real(given[4], eps)
              : !read_real(given[3], eps) || !read_real(given[4], offset))
    return nullptr;
  if (!(eps >= 0) || std::isinf(eps) || !std::isfinite(offset)) return nullptr;
  return or_python(norm_of(Shape::layers(x->size / n, n), *x, weight, bias, centred, eps, offset, nullptr));
}

}  // namespace

void init_nn_norms(nb::module_& m) {
  add_fast_path<fast<true>>("layer_norm");
  add_fast_path<fast<false>>("rms_norm");
  define(m,
         "def nn_layer_norm(x: Any, weights: tuple[Any, Any], n: int, centred: bool, eps: float, offset: float) -> "
         "Tensor",
         "Rows of n elements, normalised. `weights` are weight and bias, or None; all are dense and of one dtype.",
         [](nb::handle object, nb::tuple weights, std::int64_t n, bool centred, double eps, double offset) {
           const Tensor *x = read_tensor(object.ptr()), *weight, *bias;
           if (!x || !x->row_major || !row_loops(x->dtype) || n < 1 || x->size % n || weights.size() != 2 ||
               !read_weights(nb::handle(weights[0]).ptr(), *x, n, weight) ||
               !read_weights(nb::handle(weights[1]).ptr(), *x, n, bias))
             throw nb::value_error("not what a norm takes");
           return raise_or(norm_of(Shape::layers(x->size / n, n), *x, weight, bias, centred, eps, offset, nullptr));
         });
}

}  // namespace suanzi
