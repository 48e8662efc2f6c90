// native/ops/indexing/picking.cpp: 7.2.14: elements repeated, diagonals, and short rows of complex numbers in order.
#include <cmath>
#include <complex>
#include <cstring>
#include <numeric>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "core/scratch.h"
#include "core/status.h"
#include "core/threads.h"
#include "core/without_gil.h"

namespace suanzi {
namespace {

// Whether these are bool or numbers, which nothing else stands behind.
bool is_number(const Tensor& t) {
  return !t.quantization && facts(t.dtype).kind != Kind::Char && !facts(t.dtype).is_quantized();
}

// None where there is no answer; an exception that is set is raised.
nb::object or_none(PyObject* made) { return made || PyErr_Occurred() ? raise_or(made) : nb::none(); }

// 0 as often as the first of dense counts says, then 1 as often as the second, and so on; none is negative.
PyObject* repeat_indices(const Tensor& counts) {
  auto* times = reinterpret_cast<const std::int64_t*>(counts.data());
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < counts.size; ++i)
    if (times[i] < 0 || __builtin_add_overflow(total, times[i], &total)) throw nb::value_error("no counts");
  PyObject* output = new_dense_tensor(Dtype::int64, 1, &total);
  if (!output) return output;
  auto* out = reinterpret_cast<std::int64_t*>(tensor_of(output)->data());
  run_over(total + counts.size, {&counts}, [&, n = counts.size] {
    // Counts may be changed by another thread meanwhile: then indices are wrong, but none is outside.
    std::int64_t left = total;
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t some = std::clamp<std::int64_t>(times[i], 0, left);
      out = std::fill_n(out, some, i);
      left -= some;
    }
    std::fill_n(out, left, 0);
  });
  return output;
}

// Elements along an axis, each as often as its count says, where there are few; null without an exception where not, or
// where the arguments need a closer look.
PyObject* repeat_few(PyObject* object, PyObject* counts_object, PyObject* axis_object) {
  constexpr std::int64_t few = 1 << 12;  // bytes of the result
  const Tensor *t = read_tensor(object), *counts = read_tensor(counts_object);
  int axis;
  if (!t || !counts || !t->row_major || !is_number(*t) || counts->dtype != Dtype::int64 || counts->ndim() != 1 ||
      !counts->row_major || !read_axis(axis_object, t->ndim(), axis) || t->dims()[axis] != counts->size ||
      counts->size == 1 || t->size == 0 || t->size > few)
    return nullptr;
  std::int64_t times[few], total = 0, n = counts->size, dims[max_ndim];
  // As they are now: another thread may change them meanwhile.
  std::memcpy(times, counts->data(), static_cast<std::size_t>(n) * sizeof times[0]);
  for (std::int64_t i = 0; i < n; ++i) {
    if (times[i] < 0 || times[i] > few) return nullptr;
    total += times[i];
  }
  auto bytes = static_cast<std::int64_t>(t->itemsize());
  std::copy_n(t->dims(), t->ndim(), dims);
  dims[axis] = total;
  for (int d = axis + 1; d < t->ndim(); ++d) bytes *= dims[d];
  std::int64_t outer = t->size * static_cast<std::int64_t>(t->itemsize()) / (n * bytes);
  if (outer * total * bytes > few) return nullptr;
  PyObject* output = new_dense_tensor(t->dtype, t->ndim(), dims);
  if (!output) return or_python(output);
  const std::byte* from = t->data();
  std::byte* to = tensor_of(output)->data();
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < n; ++i, from += bytes)
      for (std::int64_t k = 0; k < times[i]; ++k, to += bytes) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  return output;
}

// A view of the diagonals of matrices, along a last axis; null without an exception where arguments need a closer look.
PyObject* diagonal(PyObject* object, PyObject* offset_object) {
  const Tensor* t = read_tensor(object);
  std::int64_t by;
  if (!t || t->ndim() < 2 || !is_number(*t) || !read_integer(offset_object, by)) return nullptr;
  int last = t->ndim() - 2;
  std::int64_t rows = t->dims()[last], columns = t->dims()[last + 1], down = t->strides()[last],
               across = t->strides()[last + 1], start = 0, n = 0;
  if (by >= 0 && by < columns) n = std::min(rows, columns - by), start = by * across;
  if (by < 0 && by > -rows) n = std::min(rows + by, columns), start = -by * down;
  std::int64_t dims[max_ndim], strides[max_ndim];
  std::copy_n(t->dims(), last, dims);
  std::copy_n(t->strides(), last, strides);
  dims[last] = n;
  strides[last] = n > 1 ? down + across : 1;
  t->storage->retain();
  return new_tensor(t->storage, t->offset + (n ? start : 0), last + 1, dims, strides);
}

// By the real parts, then by the imaginary ones; with a NaN in the imaginary part behind those without, in the real
// part behind these, in both last.
template <class R>
struct Before {
  const std::complex<R>* row;

  bool operator()(std::int64_t i, std::int64_t j) const {
    std::complex<R> a = row[i], b = row[j];
    if (a.real() < b.real()) return !std::isnan(a.imag()) || std::isnan(b.imag());
    if (a.real() > b.real()) return std::isnan(b.imag()) && !std::isnan(a.imag());
    if (a.real() == b.real()) return a.imag() < b.imag() || (std::isnan(b.imag()) && !std::isnan(a.imag()));
    if (std::isnan(a.real()) != std::isnan(b.real())) return std::isnan(b.real());
    return a.imag() < b.imag() || (std::isnan(b.imag()) && !std::isnan(a.imag()));
  }
};

template <class R>
void order_rows(const std::byte* data, std::int64_t rows, std::int64_t n, bool descending, std::int64_t* out) {
  auto* first = reinterpret_cast<const std::complex<R>*>(data);
  parallel_for(rows, std::max<std::int64_t>(grain / (16 * n), 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t* places = out + i * n;
      std::iota(places, places + n, std::int64_t{0});
      Before<R> before{first + i * n};
      if (descending)
        std::stable_sort(places, places + n, [&](std::int64_t a, std::int64_t b) { return before(b, a); });
      else std::stable_sort(places, places + n, before);
    }
  });
}

// Where the elements of dense rows of complex numbers are, in order.
PyObject* order_complex(const Tensor& t, bool descending) {
  PyObject* output = new_dense_tensor(Dtype::int64, 2, t.dims());
  if (!output || t.size == 0) return output;
  auto* out = reinterpret_cast<std::int64_t*>(tensor_of(output)->data());
  // Numbers that another thread changes meanwhile have no order, and lead a sort out of its row.
  Scratch copy(t.dtype, t.size);
  if (!copy.data()) {
    Py_DECREF(output);
    return no_memory();
  }
  auto bytes = static_cast<std::size_t>(t.size) * t.itemsize();
  run_over(t.size, {&t}, [&, from = t.data(), rows = t.dims()[0], n = t.dims()[1], wide = t.dtype] {
    std::byte* data = copy.data();
    std::memcpy(data, from, bytes);
    if (wide == Dtype::complex128) order_rows<double>(data, rows, n, descending, out);
    else order_rows<float>(data, rows, n, descending, out);
  });
  return output;
}

}  // namespace

void init_picking(nb::module_& m) {
  using namespace nb::literals;
  define(m, "def repeat_indices(counts: Any) -> Tensor",
         "Each index as often as its count says; counts are a dense row of int64, none of them negative.",
         [](nb::handle counts) {
           const Tensor* t = read_tensor(counts.ptr());
           if (!t || t->dtype != Dtype::int64 || t->ndim() != 1 || !t->row_major) throw nb::value_error("no counts");
           return raise_or(repeat_indices(*t));
         });
  m.def(
      "repeat_few",
      [](nb::handle x, nb::handle counts, nb::handle axis) {
        return or_none(repeat_few(x.ptr(), counts.ptr(), axis.ptr()));
      },
      "x"_a.none(), "counts"_a.none(), "axis"_a.none(),
      nb::sig("def repeat_few(x: Any, counts: Any, axis: Any) -> Tensor | None"),
      "Elements along an axis, each as often as its count says, or None where these are many or something else.");
  m.def(
      "diagonal", [](nb::handle x, nb::handle offset) { return or_none(diagonal(x.ptr(), offset.ptr())); },
      "x"_a.none(), "offset"_a.none(), nb::sig("def diagonal(x: Any, offset: Any) -> Tensor | None"),
      "A view of the diagonals of matrices, or None where these are something else.");
  define(m, "def order_complex(rows: Any, descending: bool) -> Tensor",
         "Where the elements of dense rows of complex numbers are, in order; equal ones keep theirs.",
         [](nb::handle rows, bool descending) {
           const Tensor* t = read_tensor(rows.ptr());
           bool good = t && (t->dtype == Dtype::complex64 || t->dtype == Dtype::complex128) && t->ndim() == 2;
           if (!good || !t->row_major) throw nb::value_error("no rows of complex numbers");
           return raise_or(order_complex(*t, descending));
         });
}

}  // namespace suanzi
