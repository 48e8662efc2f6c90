// native/ops/nn/norms.h: rows that are normalised, their statistics and their weights.
#pragma once

#include <nanobind/nanobind.h>

#include "calls/arguments.h"
#include "ops/nn/rows.h"

namespace suanzi {
namespace norms {

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
  const double* fixed = nullptr;  // the mean and the variance of each row, if they are given
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
    if (fixed) return {fixed[2 * row], 1 / std::sqrt(fixed[2 * row + 1] + eps), fixed[2 * row + 1]};
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

// Weights or biases in the lane, plus an offset: as they are, or copied. Null if there are none.
struct WideWeights {
  Scratch memory;
  const std::byte* data = nullptr;

  // False if there is no memory.
  bool take(const Tensor* t, double offset = 0) {
    if (!t) return true;
    const Layer& layer = layer_of(t->dtype);
    if (!layer.is_narrow && offset == 0) return data = t->data(), true;
    if (!memory.take(wide_dtype(t->dtype), t->size)) return false;
    auto add = [&]<class T>(T* to, const T* from) {
      for (std::int64_t i = 0; i < t->size; ++i) to[i] = static_cast<T>(from[i] + offset);
    };
    if (layer.is_narrow) widen(*t, layer);
    auto *to = memory.data(), *from = layer.is_narrow ? to : t->data();
    if (offset == 0) return data = to, true;
    if (t->dtype == Dtype::float64) add(reinterpret_cast<double*>(to), reinterpret_cast<const double*>(from));
    else add(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from));
    return data = to, true;
  }

 private:
  void widen(const Tensor& t, const Layer& layer) {
    kernels().widen[static_cast<std::size_t>(layer.narrow)](t.data(), memory.data(), static_cast<std::size_t>(t.size));
  }
};

// Whether a tensor can be read as dense numbers of a dtype.
inline bool is_dense(const Tensor* t, Dtype dtype) { return t && t->row_major && t->dtype == dtype; }

// A tensor, or null for None; false if it is neither, or not dense of that dtype and size.
inline bool read_weights(PyObject* object, const Tensor& x, std::int64_t size, const Tensor*& found) {
  found = nullptr;
  if (!object || object == Py_None) return true;
  found = read_tensor(object);
  return is_dense(found, x.dtype) && found->size == size;
}

// What a norm is computed of: operands that were checked.
struct NormOperands {
  const Tensor *x = nullptr, *weight = nullptr, *bias = nullptr, *fixed = nullptr;
  Shape shape;

  // tensors: x, weight, bias, and the mean and the variance of each row as float64; all but x may be None. `kind` is 0
  // for rows of `size` elements, 1 for groups of `size` channels, 2 for channels over the batch.
  NormOperands(const nb::tuple& tensors, int kind, std::int64_t size, std::int64_t groups) {
    auto at = [&](std::size_t i) { return nb::handle(tensors[i]).ptr(); };
    if (tensors.size() != 4 || !(x = read_tensor(at(0))) || !x->row_major || !row_loops(x->dtype) || size < 1 ||
        x->size % size || (kind == 1 && (groups < 1 || size % groups)) || kind < 0 || kind > 2)
      throw nb::value_error("not what a norm takes");
    shape = kind == 0 ? Shape::layers(x->size / size, size) : pieces(kind, size, groups);
    fixed = at(3) == Py_None ? nullptr : read_tensor(at(3));
    if (!read_weights(at(1), *x, size, weight) || !read_weights(at(2), *x, size, bias) ||
        (at(3) != Py_None && (!is_dense(fixed, Dtype::float64) || fixed->size != 2 * shape.rows)))
      throw nb::value_error("not the weights of a norm");
  }

 private:
  Shape pieces(int kind, std::int64_t channels, std::int64_t groups) const {
    std::int64_t batch = x->ndim() ? x->dims()[0] : 1;
    if (x->ndim() < 2 || x->dims()[1] != channels) throw nb::value_error("not the channels of a norm");
    std::int64_t length = 1;
    for (int d = 2; d < x->ndim(); ++d) length *= x->dims()[d];
    return kind == 1 ? Shape::groups(batch, channels, length, groups) : Shape::channels(batch, channels, length);
  }
};

}  // namespace norms
}  // namespace suanzi
