// native/ops/indexing/argsort.cpp: 7.2.14.3, 7.2.14.3.4, 7.2.14.4: argsort, its backward, and topk.
#include "ops/indexing/sort_rows.h"

#include <cstring>
#include <mutex>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "core/status.h"
#include "core/without_gil.h"
#include "ops/indexing/workspace.h"

namespace suanzi {
namespace {

// ---- argsort and topk ---------------------------------------------------------------------------

// Rows of x in order, or the first k of each; false when there is no memory.
bool order_rows(const RowOrder& how, const AxisLast& x, const AxisLast& values, const AxisLast& places) noexcept {
  auto item = static_cast<std::int64_t>(how.itemsize);
  std::int64_t n = x.length, k = values.length;
  Rows in(x, Rows::Use::read), sorted(values, Rows::Use::write), at(places, Rows::Use::write);
  if (!in.data() || !sorted.data() || !at.data()) return false;
  std::int64_t scratch = k < n ? topk_scratch(how, n, k) : sort_scratch(how, n);
  std::atomic<bool> good{true};
  parallel_rows(x.rows, n * sorting_cost, [&](std::int64_t begin, std::int64_t end) {
    Workspace own(scratch);
    if (!own.data()) {
      good.store(false, std::memory_order_relaxed);
      return;
    }
    for (std::int64_t row = begin; row < end; ++row) {
      const std::byte* from = in.data() + row * n * item;
      std::byte* to = sorted.data() + row * k * item;
      auto* to_places = reinterpret_cast<std::int64_t*>(at.data()) + row * k;
      if (k < n) topk_row(how, from, n, k, to, to_places, own.data());
      else sort_row(how, from, n, to, to_places, own.data());
    }
  });
  if (!good.load(std::memory_order_relaxed)) return false;
  sorted.finish();
  at.finish();
  return true;
}

// The values and the places; null and an exception when there is no memory.
PyObject* order(const Tensor& t, const RowOrder& how, int axis, std::int64_t k) {
  std::int64_t dims[max_ndim];
  std::copy(t.dims(), t.dims() + t.ndim(), dims);
  dims[axis] = k;
  PyObject* values = new_dense_tensor(t.dtype, t.ndim(), dims);
  PyObject* places = values ? new_dense_tensor(Dtype::int64, t.ndim(), dims) : nullptr;
  PyObject* both = places ? PyTuple_New(2) : nullptr;
  bool good = both;
  if (good && tensor_of(values)->size > 0) {
    AxisLast x(t, axis), to_values(*tensor_of(values), axis), to_places(*tensor_of(places), axis);
    run_over(t.size, {&t}, [&] { good = order_rows(how, x, to_values, to_places); });
    if (!good) no_memory();
  }
  if (!good) {
    Py_XDECREF(values);
    Py_XDECREF(places);
    Py_XDECREF(both);
    return nullptr;
  }
  PyTuple_SET_ITEM(both, 0, values);
  PyTuple_SET_ITEM(both, 1, places);
  return both;
}

PyObject* fast_argsort(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Given given({"input", "axis", "descending"}, args, count, keywords);
  if (!given[0]) return nullptr;
  const Tensor* t = read_tensor(given[0]);
  RowOrder how{};
  how.descending = true;
  if (!t || !order_of(t->dtype, how.order) || t->ndim() == 0 || !read_flag(given[2], how.descending)) return nullptr;
  int axis = t->ndim() - 1;
  if (given[1] && !read_axis(given[1], t->ndim(), axis)) return nullptr;
  how.itemsize = t->itemsize();
  return order(*t, how, axis, t->dims()[axis]);
}

PyObject* fast_topk(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Given given({"input", "k", "axis", "largest", "sorted"}, args, count, keywords);
  if (!given[0] || !given[1]) return nullptr;
  const Tensor* t = read_tensor(given[0]);
  RowOrder how{};
  how.descending = true;
  bool sorted = true;
  if (!t || !order_of(t->dtype, how.order) || t->ndim() == 0) return nullptr;
  if (!read_flag(given[3], how.descending) || !read_flag(given[4], sorted)) return nullptr;
  int axis = t->ndim() - 1;
  std::int64_t k;
  if ((given[2] && !read_axis(given[2], t->ndim(), axis)) || !read_integer(given[1], k)) return nullptr;
  if (k < 1 || k > t->dims()[axis]) return nullptr;
  how.itemsize = t->itemsize();
  return order(*t, how, axis, k);
}

// ---- the backward of argsort --------------------------------------------------------------------

// What is wrong with indices: the first one, counted along the rows, that is missing, or exists twice.
struct Complaint {
  std::int64_t at = -1, index = 0;
  bool twice = false;
  std::mutex mutex;

  void add(std::int64_t where, std::int64_t value, bool is_twice) {
    std::lock_guard lock(mutex);
    if (at >= 0 && at <= where) return;
    at = where, index = value, twice = is_twice;
  }
};

template <class U>
void unsort_row(const std::byte* from, const std::int64_t* places, std::int64_t n, std::byte* to, std::byte* seen,
                std::int64_t first, Complaint& complaint) {
  auto* x = reinterpret_cast<const U*>(from);
  auto* y = reinterpret_cast<U*>(to);
  std::memset(seen, 0, static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t place = places[i];
    bool there = place >= 0 && place < n;
    if (!there || seen[place] != std::byte{0}) return complaint.add(first + i, place, there);
    seen[place] = std::byte{1};
    y[place] = x[i];
  }
}

using UnsortRow = void (*)(const std::byte*, const std::int64_t*, std::int64_t, std::byte*, std::byte*, std::int64_t,
                           Complaint&);

UnsortRow unsort_for(std::size_t itemsize) {
  switch (itemsize) {
    case 1: return unsort_row<std::uint8_t>;
    case 2: return unsort_row<std::uint16_t>;
    case 4: return unsort_row<std::uint32_t>;
    default: return unsort_row<std::uint64_t>;
  }
}

bool unsort_rows(const AxisLast& x, const AxisLast& places, const AxisLast& out, std::size_t itemsize,
                 Complaint& complaint) noexcept {
  Rows in(x, Rows::Use::read), at(places, Rows::Use::read), made(out, Rows::Use::write);
  if (!in.data() || !at.data() || !made.data()) return false;
  auto item = static_cast<std::int64_t>(itemsize);
  std::int64_t n = x.length;
  UnsortRow unsort = unsort_for(itemsize);
  std::atomic<bool> good{true};
  parallel_rows(x.rows, n, [&](std::int64_t begin, std::int64_t end) {
    Workspace seen(n);
    if (!seen.data()) {
      good.store(false, std::memory_order_relaxed);
      return;
    }
    for (std::int64_t row = begin; row < end; ++row)
      unsort(in.data() + row * n * item, reinterpret_cast<const std::int64_t*>(at.data()) + row * n, n,
             made.data() + row * n * item, seen.data(), row * n, complaint);
  });
  if (complaint.at < 0) made.finish();
  return good.load(std::memory_order_relaxed);
}

// The gradient of what was sorted; or the index that is wrong, and whether it is there twice.
nb::object unsort(nb::handle gradient, nb::handle indices, int axis) {
  const Tensor *g = read_tensor(gradient.ptr()), *p = read_tensor(indices.ptr());
  if (!g || !p || p->dtype != Dtype::int64 || g->itemsize() > 8 || axis < 0 || axis >= g->ndim() ||
      g->ndim() != p->ndim() || !std::equal(g->dims(), g->dims() + g->ndim(), p->dims()))
    throw nb::value_error("not what argsort_bwd takes");
  nb::object made = raise_or(new_dense_tensor(g->dtype, g->ndim(), g->dims()));
  if (g->size == 0) return made;
  AxisLast x(*g, axis), places(*p, axis), out(*tensor_of(made.ptr()), axis);
  Complaint complaint;
  bool good = true;
  run_over(g->size, {g, p}, [&] { good = unsort_rows(x, places, out, g->itemsize(), complaint); });
  if (!good) throw std::bad_alloc();
  if (complaint.at < 0) return made;
  return nb::make_tuple(complaint.index, complaint.twice);
}

PyObject* fast_argsort_bwd(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Given given({"out_grad", "indices", "axis"}, args, count, keywords);
  if (!given[0] || !given[1]) return nullptr;
  const Tensor *g = read_tensor(given[0]), *p = read_tensor(given[1]);
  Order order;
  if (!g || !p || !order_of(g->dtype, order) || p->dtype != Dtype::int64 || g->ndim() == 0 || g->ndim() != p->ndim() ||
      !std::equal(g->dims(), g->dims() + g->ndim(), p->dims()))
    return nullptr;
  int axis = g->ndim() - 1;
  if (given[2] && !read_axis(given[2], g->ndim(), axis)) return nullptr;
  nb::object made = unsort(given[0], given[1], axis);
  return PyTuple_Check(made.ptr()) ? nullptr : made.release().ptr();
}

}  // namespace

void init_argsort(nb::module_& m) {
  add_fast_path<fast_argsort>("argsort");
  add_fast_path<fast_topk>("topk");
  add_fast_path<fast_argsort_bwd>("argsort_bwd");
  define(
      m,
      "def order(input: Any, axis: int, descending: bool, k: int, longest: int = 4294967295) -> tuple[Tensor, "
      "Tensor]",
      "The first k elements along an axis in order, and where they were; rows above `longest` count in 64 bits.",
      [](nb::handle input, int axis, bool descending, std::int64_t k, std::int64_t longest) {
        const Tensor* t = read_tensor(input.ptr());
        RowOrder how{};
        how.descending = descending;
        how.longest = std::min<std::int64_t>(longest, UINT32_MAX);
        if (!t || !order_of(t->dtype, how.order) || axis < 0 || axis >= t->ndim() || k < 0 || k > t->dims()[axis])
          throw nb::value_error("not what argsort takes");
        how.itemsize = t->itemsize();
        return raise_or(order(*t, how, axis, k));
      },
      UINT32_MAX);
  define(m, "def unsort(gradient: Any, indices: Any, axis: int) -> Tensor | tuple[int, bool]",
         "Elements brought back to where indices say they were; or a wrong index, and whether it is there twice.",
         unsort);
}

}  // namespace suanzi
