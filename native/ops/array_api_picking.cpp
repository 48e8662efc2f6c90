// native/ops/array_api_picking.cpp: the indices of repeated elements, and the order of complex numbers in short rows.
#include <algorithm>
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
  m.def(
      "repeat_indices",
      [](nb::handle counts) {
        const Tensor* t = read_tensor(counts.ptr());
        if (!t || t->dtype != Dtype::int64 || t->ndim() != 1 || !t->row_major) throw nb::value_error("no counts");
        return raise_or(repeat_indices(*t));
      },
      "counts"_a, nb::sig("def repeat_indices(counts: Any) -> Tensor"),
      "Each index as often as its count says; counts are a dense row of int64, none of them negative.");
  m.def(
      "order_complex",
      [](nb::handle rows, bool descending) {
        const Tensor* t = read_tensor(rows.ptr());
        bool good = t && (t->dtype == Dtype::complex64 || t->dtype == Dtype::complex128) && t->ndim() == 2;
        if (!good || !t->row_major) throw nb::value_error("no rows of complex numbers");
        return raise_or(order_complex(*t, descending));
      },
      "rows"_a, "descending"_a, nb::sig("def order_complex(rows: Any, descending: bool) -> Tensor"),
      "Where the elements of dense rows of complex numbers are, in order; equal ones keep theirs.");
}

}  // namespace suanzi
