// native/ops/signal/calls.cpp: 7.2.16: the fast paths of Fourier transforms, of dense tensors.
#include <cmath>
#include <functional>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "ops/signal/signal.h"

namespace suanzi {
namespace {

bool is_complex_dtype(Dtype dtype) { return dtype == Dtype::complex64 || dtype == Dtype::complex128; }

// Nothing, an integer, or a name as it is written.
bool read_normalization(PyObject* object, int& mode) {
  static constexpr const char* names[] = {"none", "by_sqrt_n", "by_n"};
  if (!object) return true;
  if (PyUnicode_CheckExact(object)) {
    mode = 0;
    while (mode < 3 && PyUnicode_CompareWithASCIIString(object, names[mode])) ++mode;
  } else {
    if (!PyLong_Check(object) || PyBool_Check(object)) return false;
    int overflow = 0;
    long value = PyLong_AsLongAndOverflow(object, &overflow);  // -1 of what is beyond it
    mode = value < 0 || value > 2 ? 3 : static_cast<int>(value);
  }
  return mode < 3;
}

double scale_of(int mode, std::int64_t n) {
  auto length = static_cast<double>(n);
  return mode == 0 ? 1 : 1 / (mode == 1 ? std::sqrt(length) : length);
}

// A dense tensor that is transformed along axes: first along the last one that was named, where real numbers are or
// become, then, or before, along the others from the last to the first.
struct Transforming {
  const Tensor* x = nullptr;
  int mode = 0, last = 0, count = 0;
  int others[max_ndim];  // in falling order
  bool forward = true;

  bool read(PyObject* input, PyObject* axes, PyObject* normalization, PyObject* ahead) {
    x = input ? read_tensor(input) : nullptr;
    if (!x || !x->row_major || !x->size || !x->ndim() || !read_normalization(normalization, mode) ||
        !read_flag(ahead, forward))
      return false;
    last = x->ndim() - 1;
    if (!axes || axes == Py_None) return true;
    Integers found;
    std::uint64_t set;
    if (!found.read_one_or_more(axes) || !found.count || !found.become_axes(x->ndim(), set)) return false;
    last = static_cast<int>(found.values[found.count - 1]);
    for (int i = 0; i + 1 < found.count; ++i) others[count++] = static_cast<int>(found.values[i]);
    std::sort(others, others + count, std::greater<>());
    return true;
  }

  bool along(const Tensor& in, const Tensor& out, int axis) const {
    return transform_along(in, out, axis, forward, scale_of(mode, in.dims()[axis]));
  }
  bool along_others(const Tensor& in, const Tensor& out) const {
    for (int i = 0; i < count; ++i)
      if (!along(i ? out : in, out, others[i])) return false;
    return true;
  }

  // A new tensor with another length along that axis.
  PyObject* new_result(Dtype dtype, std::int64_t n) const {
    std::int64_t shape[max_ndim];
    std::copy_n(x->dims(), x->ndim(), shape);
    shape[last] = n;
    return new_dense_tensor(dtype, x->ndim(), shape);
  }
};

template <bool backward>
PyObject* fast_c2c(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Given found({backward ? "grad_out" : "input", "axes", "normalization", "forward"}, args, count, keywords);
  Transforming t;
  if (!found || !t.read(found[0], found[1], found[2], found[3]) || !is_complex_dtype(t.x->dtype)) return nullptr;
  t.forward ^= backward;
  t.others[t.count++] = t.last;
  std::sort(t.others, t.others + t.count, std::greater<>());
  PyObject* made = t.new_result(t.x->dtype, t.x->dims()[t.last]);
  if (made && !t.along_others(*t.x, *tensor_of(made))) Py_CLEAR(made);
  return or_python(made);
}

PyObject* fast_r2c(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"fft_r2c"};
  Given found({"input", "axes", "normalization", "forward", "onesided"}, args, count, keywords);
  Transforming t;
  bool onesided = true;
  if (!found || !t.read(found[0], found[1], found[2], found[3]) || !read_flag(found[4], onesided) ||
      (t.x->dtype != Dtype::float32 && t.x->dtype != Dtype::float64) || !promoted.keeps_dtype(found[0], found[0]))
    return nullptr;
  std::int64_t n = t.x->dims()[t.last];
  Dtype dtype = t.x->dtype == Dtype::float32 ? Dtype::complex64 : Dtype::complex128;
  PyObject* made = t.new_result(dtype, onesided ? n / 2 + 1 : n);
  if (made && !(transform_real(*t.x, *tensor_of(made), t.last, t.forward, scale_of(t.mode, n)) &&
                t.along_others(*tensor_of(made), *tensor_of(made))))
    Py_CLEAR(made);
  return or_python(made);
}

PyObject* fast_c2r(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Given found({"input", "last_dim_size", "axes", "normalization", "forward"}, args, count, keywords);
  Transforming t;
  std::int64_t n;
  if (!found || !t.read(found[0], found[2], found[3], found[4]) || !found[1] || !read_integer(found[1], n) ||
      !is_complex_dtype(t.x->dtype) || n < 1 || n / 2 + 1 != t.x->dims()[t.last])
    return nullptr;
  PyObject* half = t.count ? t.new_result(t.x->dtype, n / 2 + 1) : Py_NewRef(found[0]);
  PyObject* made = half ? t.new_result(t.x->dtype == Dtype::complex64 ? Dtype::float32 : Dtype::float64, n) : nullptr;
  if (made && !(t.along_others(*t.x, *tensor_of(half)) &&
                transform_real(*tensor_of(half), *tensor_of(made), t.last, t.forward, scale_of(t.mode, n))))
    Py_CLEAR(made);
  Py_XDECREF(half);
  return or_python(made);
}

}  // namespace

void init_signal_calls(nb::module_&) {
  add_fast_path<fast_c2c<false>>("fft_c2c");
  add_fast_path<fast_c2c<true>>("fft_c2c_backward");
  add_fast_path<fast_r2c>("fft_r2c");
  add_fast_path<fast_c2r>("fft_c2r");
}

}  // namespace suanzi
