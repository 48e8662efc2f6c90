// native/ops/indexing/argmax.cpp: 7.2.14.1, 7.2.14.2: argmax and argmin, along rows or down columns.
#include "kernels/indexing/order.h"

#include <mutex>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "core/status.h"
#include "core/without_gil.h"
#include "loops/axes.h"
#include "loops/rows_along_axis.h"

namespace suanzi {
namespace {

// Where the result goes: 64-bit places, or 32-bit ones.
struct Places {
  std::byte* data;
  bool wide;

  void put(std::int64_t at, std::int64_t place) const noexcept {
    if (wide) reinterpret_cast<std::int64_t*>(data)[at] = place;
    else reinterpret_cast<std::int32_t*>(data)[at] = static_cast<std::int32_t>(place);
  }
};

// The other axes, merged; the result is dense in their order.
Axes others_of(const AxisLast& x) noexcept {
  Axes others;
  for (int d = 0; d + 1 < x.ndim; ++d) others.add(x.dims[d], x.strides[d]);
  others.merge();
  return others;
}

class Finder {
 public:
  Finder(Order order, bool least, std::size_t itemsize, Places out) noexcept
      : best_(kernels().rankings->best[static_cast<std::size_t>(order)][least]),
        columns_(kernels().rankings->columns[static_cast<std::size_t>(order)][least]),
        item_(static_cast<std::int64_t>(itemsize)), out_(out) {}

  // False when there is no memory.
  bool run(const AxisLast& x) const noexcept {
    Axes others = others_of(x);
    std::int64_t count = others.size();
    std::int64_t stride = x.strides[x.ndim - 1];
    if (x.length == 1 || stride == 0) {
      for (std::int64_t i = 0; i < count; ++i) out_.put(i, 0);
    } else if (stride == 1) {
      along_rows(x.data, others, x.length);
    } else if (int inner = column_axis(others); inner >= 0) {
      down_columns(x, others, inner, stride);
    } else {
      Scratch copy(x.dtype, x.size());
      if (!copy.data()) return false;
      run_move(x.to_rows(copy.data()));
      Axes lined = others;
      std::int64_t next = x.length;
      for (int d = lined.count; d-- > 0; next *= lined.dims[d]) lined.strides[d] = next;
      along_rows(copy.data(), lined, x.length);
    }
    return true;
  }

 private:
  void along_rows(const std::byte* data, const Axes& others, std::int64_t length) const noexcept {
    std::int64_t count = others.size();
    if (count >= 4 * thread_count() || length < 2 * grain) {
      parallel_rows(count, length, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          Best best;
          best_(data + others.offset(i) * item_, static_cast<std::size_t>(length), 0, best);
          out_.put(i, best.place);
        }
      });
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::byte* row = data + others.offset(i) * item_;
      Best best;
      std::mutex mutex;
      parallel_for(length, grain, [&](std::int64_t begin, std::int64_t end) {
        Best own;
        best_(row + begin * item_, static_cast<std::size_t>(end - begin), begin, own);
        std::lock_guard lock(mutex);
        bool better = own.key > best.key || (own.key == best.key && own.place < best.place);
        if (best.place < 0 || better) best = own;
      });
      out_.put(i, best.place);
    }
  }

  // An axis along which neighbours are neighbours in memory, and there are enough of them; -1: none.
  static int column_axis(const Axes& others) noexcept {
    for (int d = 0; d < others.count; ++d)
      if (others.strides[d] == 1 && others.dims[d] >= 16) return d;
    return -1;
  }

  void down_columns(const AxisLast& x, const Axes& others, int inner, std::int64_t stride) const noexcept {
    Axes outer = others;
    std::int64_t width = others.dims[inner], out_step = 1;
    outer.dims[inner] = 1;
    for (int d = inner + 1; d < others.count; ++d) out_step *= others.dims[d];
    std::int64_t share = (width / (2 * thread_count()) + 63) / 64 * 64;
    std::int64_t tile = std::clamp<std::int64_t>(share, std::int64_t{256}, std::int64_t{most_columns});
    std::int64_t tiles = (width + tile - 1) / tile, outers = others.size() / width;
    parallel_rows(outers * tiles, tile * x.length, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t places[most_columns];
      for (std::int64_t unit = begin; unit < end; ++unit) {
        std::int64_t first = unit % tiles * tile, n = std::min(tile, width - first), place = unit / tiles;
        const std::byte* from = x.data + (outer.offset(place) + first) * item_;
        columns_(from, static_cast<std::size_t>(x.length), stride * item_, static_cast<std::size_t>(n), places);
        std::int64_t at = place / out_step * out_step * width + place % out_step + first * out_step;
        for (std::int64_t j = 0; j < n; ++j) out_.put(at + j * out_step, places[j]);
      }
    });
  }

  void (*best_)(const void*, std::size_t, std::int64_t, Best&);
  void (*columns_)(const void*, std::size_t, std::ptrdiff_t, std::size_t, std::int64_t*);
  std::int64_t item_;
  Places out_;
};

// The result of argmax or argmin; null and an exception when there is no memory.
PyObject* find(const Tensor& t, Order order, int axis, bool keepdim, bool wide, bool least) {
  std::int64_t dims[max_ndim];
  int ndim = 0;
  for (int d = 0; d < t.ndim(); ++d) {
    if (d != axis) dims[ndim++] = t.dims()[d];
    else if (keepdim) dims[ndim++] = 1;
  }
  PyObject* output = new_dense_tensor(wide ? Dtype::int64 : Dtype::int32, ndim, dims);
  if (!output || t.size == 0) return output;
  AxisLast x(t, axis);
  Finder finder(order, least, t.itemsize(), {tensor_of(output)->data(), wide});
  bool good = true;
  run_over(t.size, {&t}, [&] { good = finder.run(x); });
  if (good) return output;
  Py_DECREF(output);
  return no_memory();
}

// Whether the place of every element along an axis fits the dtype of the result.
bool fits(const Tensor& t, int axis, bool wide) { return wide || t.dims()[axis] - 1 <= INT32_MAX; }

template <bool least>
PyObject* fast_find(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Given given({"input", "axis", "keepdim", "dtype"}, args, count, keywords);
  if (!given[0]) return nullptr;
  const Tensor* t = read_tensor(given[0]);
  Order order;
  if (!t || !order_of(t->dtype, order) || t->ndim() == 0) return nullptr;
  int axis = t->ndim() - 1;
  bool keepdim = false, wide = true;
  if (given[1] && !read_axis(given[1], t->ndim(), axis)) return nullptr;
  if (!read_flag(given[2], keepdim)) return nullptr;
  if (given[3]) {
    if (!is_dtype(given[3])) return nullptr;
    auto dtype = static_cast<Dtype>(dtype_index(given[3]));
    if (dtype != Dtype::int32 && dtype != Dtype::int64) return nullptr;
    wide = dtype == Dtype::int64;
  }
  if (t->dims()[axis] == 0 || !fits(*t, axis, wide)) return nullptr;
  return find(*t, order, axis, keepdim, wide, least);
}

}  // namespace

void init_argmax(nb::module_& m) {
  add_fast_path<fast_find<false>>("argmax");
  add_fast_path<fast_find<true>>("argmin");
  define(m, "def find_best(input: Any, axis: int, keepdim: bool, wide: bool, least: bool) -> Tensor",
         "The index of the first largest or smallest element along an axis, as int64 or int32.",
         [](nb::handle input, int axis, bool keepdim, bool wide, bool least) {
           const Tensor* t = read_tensor(input.ptr());
           Order order;
           if (!t || !order_of(t->dtype, order) || axis < 0 || axis >= t->ndim() || t->dims()[axis] == 0 ||
               !fits(*t, axis, wide))
             throw nb::value_error("not what argmax takes");
           return raise_or(find(*t, order, axis, keepdim, wide, least));
         });
}

}  // namespace suanzi
