// native/ops/nn/norms.cpp: layer_norm, rms_norm, group_norm and batch_norm.
//
// A row is a number of dense pieces of one length, and is normalised as a whole: the mean first, then the squares of
// what differs from it, then the result. Each of the passes after the first reads from a cache.
#include "ops/nn/norms.h"

#include "calls/fast_function.h"
#include "calls/promoted.h"

namespace suanzi {
namespace {

using namespace norms;

struct Call {
  const Tensor& x;
  const Tensor *weight, *bias, *fixed;
  Shape shape;
};

// The result; `statistics`, if it is not null, gets the means and the variances of the rows.
PyObject* norm_of(const Call& call, bool centred, double eps, double offset, double* statistics) {
  const Tensor& t = call.x;
  PyObject* made = new_dense_tensor(t.dtype, t.ndim(), t.dims());
  if (!made || t.size == 0) return made;
  nb::object output = nb::steal(made);
  WideWeights w, b;
  if (!w.take(call.weight, offset) || !b.take(call.bias)) return PyErr_NoMemory();
  Norm norm(call.shape, t, centred, eps);
  norm.weight = w.data, norm.bias = b.data;
  if (call.fixed) norm.fixed = reinterpret_cast<const double*>(call.fixed->data());
  std::byte* out = tensor_of(made)->data();
  norm.streams = 2 * t.size * norm.item >= rows_stream_from() && call.shape.length * norm.item % 64 == 0 &&
                 call.shape.length < shared_row && reinterpret_cast<std::uintptr_t>(out) % 64 == 0;
  bool enough = true;
  auto or_x = [&](const Tensor* other) { return other ? other : &t; };
  run_over(t.size, {&t, or_x(call.weight), or_x(call.bias), or_x(call.fixed)}, [&] {
    enough = norm.each_row([&](std::int64_t row, double* partial) {
      Row of = norm.statistics(row, partial);
      if (statistics) statistics[2 * row] = of.mean, statistics[2 * row + 1] = of.variance;
      norm.write(row, of, out, partial);
    });
  });
  if (!enough) return PyErr_NoMemory();
  return output.release().ptr();
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
  return or_python(norm_of({*x, weight, bias, nullptr, Shape::layers(x->size / n, n)}, centred, eps, offset, nullptr));
}

}  // namespace

void init_nn_norms(nb::module_& m) {
  add_fast_path<fast<true>>("layer_norm");
  add_fast_path<fast<false>>("rms_norm");
  define(
      m,
      "def nn_norm(tensors: tuple[Any, ...], kind: int, size: int, groups: int, centred: bool, eps: float, offset: "
      "float) -> tuple[Tensor, Tensor]",
      "Rows of `size` elements (kind 0), groups of `size` channels (1) or channels over the batch (2), normalised, "
      "and the mean and the variance of each. `tensors` are x, weight, bias and fixed statistics, or None.",
      [](nb::tuple tensors, int kind, std::int64_t size, std::int64_t groups, bool centred, double eps, double offset) {
        NormOperands of(tensors, kind, size, groups);
        std::int64_t dims[] = {of.shape.rows, 2};
        nb::object statistics = raise_or(new_dense_tensor(Dtype::float64, 2, dims));
        auto* numbers = reinterpret_cast<double*>(tensor_of(statistics.ptr())->data());
        nb::object made =
            raise_or(norm_of({*of.x, of.weight, of.bias, of.fixed, of.shape}, centred, eps, offset, numbers));
        return nb::make_tuple(made, statistics);
      });
}

}  // namespace suanzi
