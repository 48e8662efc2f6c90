// native/ops/nn/embedding.cpp: nn 4.2: rows of a table by index, and the gradient of the table.
//
// Forward copies rows. Backward first orders the positions by index, so that each row of the table is the work of one
// thread: its gradients are added in float64, in the order in which they come, whatever the number of threads.
#include <algorithm>
#include <cstring>
#include <memory>

#include "calls/arguments.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/vectors/lanes.h"
#include "loops/conversions.h"

namespace suanzi {
namespace {

constexpr std::int64_t columns_at_once = 512;

const Tensor& dense(nb::handle object) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || !t->row_major) throw nb::value_error("not a tensor in row-major order");
  return *t;
}

const Tensor& indices_of(nb::handle object) {
  const Tensor& t = dense(object);
  if (t.dtype != Dtype::int64) throw nb::value_error("not indices of int64");
  return t;
}

const std::int64_t* numbers(const Tensor& t) { return reinterpret_cast<const std::int64_t*>(t.data()); }

// The first position of an index that a table of so many rows does not have; -1 if there is none.
std::int64_t first_outside(const Tensor& indices, std::int64_t rows) {
  const std::int64_t* at = numbers(indices);
  for (std::int64_t i = 0; i < indices.size; ++i)
    if (at[i] < 0 || at[i] >= rows) return i;
  return -1;
}

nb::object embedding(nb::handle table_object, nb::handle indices_object) {
  const Tensor &table = dense(table_object), &indices = indices_of(indices_object);
  if (table.ndim() != 2 || indices.ndim() + 1 > max_ndim) throw nb::value_error("not a table and indices");
  std::int64_t columns = table.dims()[1], outside = first_outside(indices, table.dims()[0]);
  if (outside >= 0) return nb::int_(outside);
  std::int64_t dims[max_ndim];
  *std::copy(indices.dims(), indices.dims() + indices.ndim(), dims) = columns;
  nb::object made = raise_or(new_dense_tensor(table.dtype, indices.ndim() + 1, dims));
  const Tensor& out = *tensor_of(made.ptr());
  auto bytes = columns * static_cast<std::int64_t>(table.itemsize());
  run_over(out.size, {&table, &indices}, [&] {
    const std::int64_t* at = numbers(indices);
    const std::byte* from = table.data();
    std::byte* to = out.data();
    parallel_for(indices.size, std::max<std::int64_t>(4 * grain / std::max<std::int64_t>(bytes, 1), 1),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     std::memcpy(to + i * bytes, from + at[i] * bytes, static_cast<std::size_t>(bytes));
                 });
  });
  return made;
}

// The positions of each row of the table, in order: those of row r are order[start[r]] to order[start[r + 1]].
struct Order {
  std::unique_ptr<std::int64_t[]> start, order;

  Order(const std::int64_t* at, std::int64_t count, std::int64_t rows)
      : start(new std::int64_t[static_cast<std::size_t>(rows) + 2]()),
        order(new std::int64_t[static_cast<std::size_t>(std::max<std::int64_t>(count, 1))]) {
    for (std::int64_t i = 0; i < count; ++i) ++start[at[i] + 2];
    for (std::int64_t r = 2; r <= rows; ++r) start[r] += start[r - 1];
    for (std::int64_t i = 0; i < count; ++i) order[start[at[i] + 1]++] = i;
  }
};

// Sums of rows of gradients, some columns at once.
struct Sums {
  const Tensor& gradient;
  const Kernels& k = kernels();
  const Layer& layer = layer_of(gradient.dtype);
  double sums[columns_at_once];
  float widened[columns_at_once];

  explicit Sums(const Tensor& of) : gradient(of) {}

  template <class T>
  void add(const T* x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) sums[i] += static_cast<double>(x[i]);
  }
  void add_row(const std::byte* row, std::size_t n) {
    if (gradient.dtype == Dtype::float64) return add(reinterpret_cast<const double*>(row), n);
    if (!layer.is_narrow) return add(reinterpret_cast<const float*>(row), n);
    k.widen[static_cast<std::size_t>(layer.narrow)](row, widened, n);
    add(widened, n);
  }
  void store(std::byte* to, std::size_t n) {
    if (gradient.dtype == Dtype::float64) return static_cast<void>(std::memcpy(to, sums, n * sizeof(double)));
    if (!layer.is_narrow) {
      for (std::size_t i = 0; i < n; ++i) widened[i] = static_cast<float>(sums[i]);
      return static_cast<void>(std::memcpy(to, widened, n * sizeof(float)));
    }
    k.to_odd[static_cast<std::size_t>(Lane::f64)](sums, widened, n);  // so that the next rounding is the only one
    k.narrow[static_cast<std::size_t>(layer.narrow)](widened, to, n);
  }
};

nb::object embedding_bwd(nb::handle gradient_object, nb::handle indices_object, std::int64_t rows,
                         std::int64_t padding) {
  const Tensor &gradient = dense(gradient_object), &indices = indices_of(indices_object);
  if (gradient.ndim() != indices.ndim() + 1 || !facts(gradient.dtype).is_float() || rows < 0)
    throw nb::value_error("not a gradient of rows");
  std::int64_t columns = gradient.dims()[indices.ndim()], outside = first_outside(indices, rows);
  if (outside >= 0) return nb::int_(outside);
  const std::int64_t dims[2] = {rows, columns};
  nb::object made = raise_or(new_dense_tensor(gradient.dtype, 2, dims));
  const Tensor& out = *tensor_of(made.ptr());
  if (out.size == 0) return made;
  Order positions(numbers(indices), indices.size, rows);
  auto size = static_cast<std::int64_t>(gradient.itemsize());
  run_over(std::max(out.size, gradient.size), {&gradient, &indices}, [&] {
    parallel_for(rows, std::max<std::int64_t>(grain / std::max<std::int64_t>(columns, 1), 1),
                 [&](std::int64_t begin, std::int64_t end) {
                   Sums sums(gradient);
                   for (std::int64_t r = begin; r < end; ++r) {
                     std::byte* to = out.data() + r * columns * size;
                     std::int64_t first = positions.start[r], last = positions.start[r + 1];
                     if (first == last || r == padding) {
                       std::memset(to, 0, static_cast<std::size_t>(columns * size));
                       continue;
                     }
                     for (std::int64_t c = 0; c < columns; c += columns_at_once) {
                       auto n = static_cast<std::size_t>(std::min(columns_at_once, columns - c));
                       std::fill_n(sums.sums, n, 0.0);
                       for (std::int64_t i = first; i < last; ++i)
                         sums.add_row(gradient.data() + (positions.order[i] * columns + c) * size, n);
                       sums.store(to + c * size, n);
                     }
                   }
                 });
  });
  return made;
}

}  // namespace

void init_nn_embedding(nb::module_& m) {
  define(m, "def nn_embedding(table: Any, indices: Any) -> Tensor | int",
         "The rows of a table at indices of int64, both in row-major order; or the first position of one outside.",
         embedding);
  define(m, "def nn_embedding_bwd(gradient: Any, indices: Any, rows: int, padding: int) -> Tensor | int",
         "The gradient of a table of so many rows, 0 for the row `padding`; or the first position of an index outside.",
         embedding_bwd);
}

}  // namespace suanzi
