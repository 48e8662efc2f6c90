// native/ops/reduction/exact.cpp: 7.2.13.1, 7.2.17.2, 7.2.17.11: sums, means, norms and inner products, rounded once.
//
// Rows are computed one by one, long ones in parts, whose sums are exact, so that their number does not matter.
#include <algorithm>
#include <mutex>

#include "calls/arguments.h"
#include "calls/operands.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "loops/exact_sums.h"

namespace suanzi {
namespace {

constexpr std::int64_t part_of_row = 1 << 15;

// A dense matrix of float32 or float64.
const Tensor& matrix_of(nb::handle object) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || t->ndim() != 2 || !is_row_major(2, t->dims(), t->strides()) ||
      (t->dtype != Dtype::float32 && t->dtype != Dtype::float64))
    throw nb::value_error("not a dense matrix of float32 or float64");
  return *t;
}

// A sum of n elements by add(sum, begin, count).
template <class Add>
ExactSum whole_sum(std::int64_t n, bool alone, Add add) {
  ExactSum whole;
  if (!alone) {
    add(whole, 0, static_cast<std::size_t>(n));
    return whole;
  }
  std::mutex lock;
  parallel_for(n, part_of_row, [&](std::int64_t begin, std::int64_t end) {
    ExactSum part;
    add(part, begin, static_cast<std::size_t>(end - begin));
    std::lock_guard held(lock);
    whole.add(part);
  });
  return whole;
}

// Rows one after the other if they are long or few, else at the same time.
template <class Row>
void each_row(std::int64_t rows, std::int64_t n, Row row) {
  if (rows < 2 || n >= 2 * part_of_row) {
    for (std::int64_t i = 0; i < rows; ++i) row(i, true);
    return;
  }
  parallel_for(rows, std::max<std::int64_t>(1, part_of_row / std::max<std::int64_t>(n, 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) row(i, false);
               });
}

template <class T>
void reduce_rows(const Tensor& x, int kind, bool to_odd, double* out) {
  auto* data = reinterpret_cast<const T*>(x.data());
  std::int64_t rows = x.dims()[0], n = x.dims()[1];
  Summed what = kind == 2 ? Summed::magnitudes : kind == 3 ? Summed::squares : Summed::elements;
  each_row(rows, n, [&](std::int64_t i, bool alone) {
    ExactSum sum = whole_sum(n, alone, [&](ExactSum& part, std::int64_t begin, std::size_t count) {
      add_all(part, what, data + i * n + begin, count);
    });
    out[i] = kind == 1   ? sum.divided(static_cast<std::uint64_t>(n), to_odd)
             : kind == 3 ? sum.root(to_odd)
                         : sum.rounded(to_odd);
  });
}

template <class T>
void multiply_rows(const Tensor& x, const Tensor& y, bool to_odd, double* out) {
  auto *a = reinterpret_cast<const T*>(x.data()), *b = reinterpret_cast<const T*>(y.data());
  std::int64_t columns = y.dims()[0], n = x.dims()[1];
  each_row(x.dims()[0] * columns, n, [&](std::int64_t i, bool alone) {
    const T *first = a + i / columns * n, *second = b + i % columns * n;
    ExactSum sum = whole_sum(n, alone, [&](ExactSum& part, std::int64_t begin, std::size_t count) {
      add_products(part, first + begin, second + begin, count);
    });
    out[i] = sum.rounded(to_odd);
  });
}

nb::object exact_reduce(nb::handle object, int kind, bool to_odd) {
  const Tensor& x = matrix_of(object);
  if (kind < 0 || kind > 3 || x.dims()[1] == 0) throw nb::value_error("no such reduction");
  PyObject* output = new_dense_tensor(Dtype::float64, 1, x.dims());
  if (!output) return raise_or(output);
  auto* out = reinterpret_cast<double*>(tensor_of(output)->data());
  run_over(x.size, {&x}, [&] {
    if (x.dtype == Dtype::float32) reduce_rows<float>(x, kind, to_odd, out);
    else reduce_rows<double>(x, kind, to_odd, out);
  });
  return nb::steal(output);
}

nb::object exact_products(nb::handle first, nb::handle second, bool to_odd) {
  const Tensor &x = matrix_of(first), &y = matrix_of(second);
  if (x.dtype != y.dtype || x.dims()[1] != y.dims()[1]) throw nb::value_error("rows of different dtypes or lengths");
  const std::int64_t dims[2] = {x.dims()[0], y.dims()[0]};
  PyObject* output = new_dense_tensor(Dtype::float64, 2, dims);
  if (!output) return raise_or(output);
  auto* out = reinterpret_cast<double*>(tensor_of(output)->data());
  run_over(x.size * dims[1], {&x, &y}, [&] {
    if (x.dtype == Dtype::float32) multiply_rows<float>(x, y, to_odd, out);
    else multiply_rows<double>(x, y, to_odd, out);
  });
  return nb::steal(output);
}

}  // namespace

void init_reduction_exact(nb::module_& m) {
  define(
      m, "def exact_reduce(matrix: Any, kind: int, to_odd: bool) -> Tensor",
      "Of each row, exactly and rounded once to float64, to nearest or to odd: the sum (0), the mean (1), the sum of "
      "magnitudes (2), the root of the sum of squares (3).",
      exact_reduce);
  define(m, "def exact_products(matrix: Any, transposed: Any, to_odd: bool) -> Tensor",
         "The inner products of each row of a matrix with each of another, exactly and rounded once to float64.",
         exact_products);
}

}  // namespace suanzi
