// native/ops/indexing/nonzero.cpp: 7.2.14.5: the indices of the elements that are not zero, in row-major order.

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/operands.h"
#include "kernels/indexing/order.h"
#include "loops/blocks.h"
#include "ops/indexing/repeated.h"

namespace suanzi {
namespace {

// The elements, read block by block as bytes that say whether they are not zero.
class Truth {
 public:
  static constexpr std::int64_t most = 2048;  // in a block

  explicit Truth(const Tensor& t) {
    operand_.tensor = &t;
    operand_.dtype = t.dtype;
    Together together(&operand_, 1);
    together.use_row_major();
    together.make_loop(loop_);
    bool is_bytes = t.dtype == Dtype::boolean || t.dtype == Dtype::uint8;
    path_ = is_bytes ? Path{} : truth_path(kernels(), t.dtype, t.dtype);
    block_ = is_bytes ? most : block_bytes / 16;  // of the widest dtype
  }
  std::int64_t size() const { return loop_.size; }

  // Calls body(position, bytes, n) for each block of [begin, end).
  template <class Body>
  void each(std::int64_t begin, std::int64_t end, Body&& body) const {
    Reader reader(loop_, loop_.inputs[0], kernels(), path_);
    Buffer buffers[2], whole;
    for (std::int64_t p = begin; p < end;) {
      std::int64_t n = std::min(block_, end - p);
      const std::byte* repeated = reader.spread(buffers, whole, 1, static_cast<std::size_t>(n));
      body(p, repeated ? repeated : reader.read(p, static_cast<std::size_t>(n), buffers), n);
      p += n;
    }
  }

 private:
  Operand operand_;
  Loop loop_;
  Path path_;
  std::int64_t block_;
};

constexpr std::int64_t chunk = 1 << 15;

std::vector<std::int64_t> no_chunks(std::int64_t size) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(size / chunk + (size % chunk != 0)) + 1, 0);
}

// Where the coordinates of each chunk begin; the last one is how many there are.
void count_chunks(const Truth& truth, std::vector<std::int64_t>& starts) {
  std::int64_t size = truth.size();
  parallel_for(size, chunk, [&](std::int64_t begin, std::int64_t end) {
    // A part has the chunks that begin in it.
    for (std::int64_t c = (begin + chunk - 1) / chunk; c * chunk < end; ++c) {
      std::int64_t found = 0;
      truth.each(c * chunk, std::min(size, (c + 1) * chunk), [&](std::int64_t, const std::byte* bytes, std::int64_t n) {
        found += static_cast<std::int64_t>(kernels().count(bytes, static_cast<std::size_t>(n)));
      });
      starts[static_cast<std::size_t>(c) + 1] = found;
    }
  });
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
}

// Writes coordinates: those of each axis to an array of its own, `step` apart.
class Coordinates {
 public:
  Coordinates(const Tensor& t, std::int64_t* const* axes, std::int64_t step)
      : ndim_(t.ndim()), axes_(axes), step_(step) {
    std::copy(t.dims(), t.dims() + ndim_, dims_);
  }
  int ndim() const { return ndim_; }
  // Where the places themselves are the coordinates, from `to` on; else null.
  std::int64_t* direct(std::int64_t to) const { return ndim_ == 1 && step_ == 1 ? axes_[0] + to : nullptr; }

  // Writes n ascending places, as the elements from `to` on.
  void write(const std::int64_t* places, std::int64_t n, std::int64_t to) const {
    int last = ndim_ - 1;
    if (std::int64_t* straight = direct(to)) {
      if (straight != places) std::memcpy(straight, places, static_cast<std::size_t>(n) * 8);
      return;
    }
    std::int64_t at[max_ndim], row = -1, row_begin = 0, row_end = 0;
    for (std::int64_t i = 0; i < n; ++i, ++to) {
      if (places[i] >= row_end) {
        // Mostly the next row; else it is counted anew.
        row = places[i] < row_end + dims_[last] && row >= 0 ? row + 1 : places[i] / dims_[last];
        row_begin = row * dims_[last];
        row_end = row_begin + dims_[last];
        std::int64_t rest = row;
        for (int d = last - 1; d > 0; --d) {
          at[d] = rest % dims_[d];
          rest /= dims_[d];
        }
        if (last > 0) at[0] = rest;
      }
      for (int d = 0; d < last; ++d) axes_[d][to * step_] = at[d];
      axes_[last][to * step_] = places[i] - row_begin;
    }
  }
  void write_zeros(std::int64_t n, std::int64_t to) const {
    for (int d = 0; d < ndim_; ++d)
      for (std::int64_t i = 0; i < n; ++i) axes_[d][(to + i) * step_] = 0;
  }

 private:
  int ndim_;
  std::int64_t* const* axes_;
  std::int64_t step_;
  std::int64_t dims_[max_ndim];
};

void write_chunks(const Truth& truth, const std::vector<std::int64_t>& starts, const Coordinates& out) {
  std::int64_t size = truth.size();
  parallel_for(size, chunk, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t apart[Truth::most];
    for (std::int64_t c = (begin + chunk - 1) / chunk; c * chunk < end; ++c) {
      std::int64_t to = starts[static_cast<std::size_t>(c)], last = starts[static_cast<std::size_t>(c) + 1];
      if (to == last) continue;
      truth.each(
          c * chunk, std::min(size, (c + 1) * chunk), [&](std::int64_t p, const std::byte* bytes, std::int64_t n) {
            std::int64_t* straight = last - to >= n ? out.direct(to) : nullptr;  // there is room for n
            std::int64_t* places = straight ? straight : apart;
            auto found =
                static_cast<std::int64_t>(kernels().rankings->places(bytes, static_cast<std::size_t>(n), p, places));
            found = std::min(found, last - to);  // another thread may have changed elements since
            out.write(places, found, to);
            to += found;
          });
      out.write_zeros(last - to, to);
    }
  });
}

// The coordinates, as a tensor for each axis or in one; None if every element is zero. Null and an
// exception when there is no memory.
PyObject* nonzero(const Tensor& t, bool as_tuple) {
  Truth truth(t);
  Kept kept(t);  // another thread may destroy it while elements are counted
  if (t.size >= long_walk) {
    Once once(t);
    Truth each(once.tensor());
    std::vector<std::int64_t> found = no_chunks(each.size());
    run_over(each.size(), {&t}, [&] { count_chunks(each, found); });
    if (found.back() == 0) return Py_NewRef(Py_None);
    if (!has_memory(Dtype::int64, found.back() * once.times)) return nullptr;
  }
  std::vector<std::int64_t> starts = no_chunks(t.size);
  run_over(t.size, {&t}, [&] { count_chunks(truth, starts); });
  std::int64_t count = starts.back(), ndim = t.ndim();
  if (count == 0) return Py_NewRef(Py_None);
  std::int64_t* axes[max_ndim];
  PyObject* made;
  if (as_tuple) {
    made = PyTuple_New(ndim);
    for (int d = 0; made && d < ndim; ++d) {
      PyObject* one = new_dense_tensor(Dtype::int64, 1, &count);
      if (!one) {
        Py_DECREF(made);
        return nullptr;
      }
      PyTuple_SET_ITEM(made, d, one);
      axes[d] = reinterpret_cast<std::int64_t*>(tensor_of(one)->data());
    }
  } else {
    std::int64_t dims[2] = {count, ndim};
    made = new_dense_tensor(Dtype::int64, 2, dims);
    for (int d = 0; made && d < ndim; ++d) axes[d] = reinterpret_cast<std::int64_t*>(tensor_of(made)->data()) + d;
  }
  if (!made) return nullptr;
  Coordinates out(t, axes, as_tuple ? 1 : ndim);
  run_over(t.size, {&t}, [&] { write_chunks(truth, starts, out); });
  return made;
}

bool takes(const Tensor& t) { return t.ndim() > 0 && facts(t.dtype).is_number(); }

PyObject* fast_nonzero(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Given given({"input", "as_tuple"}, args, count, keywords);
  bool as_tuple = true;
  if (!given[0] || !read_flag(given[1], as_tuple)) return nullptr;
  const Tensor* t = read_tensor(given[0]);
  if (!t || !takes(*t)) return nullptr;
  PyObject* made = nonzero(*t, as_tuple);
  if (made != Py_None) return made;
  Py_DECREF(made);
  return nullptr;
}

}  // namespace

void init_nonzero(nb::module_& m) {
  add_fast_path<fast_nonzero>("nonzero");
  define(m, "def nonzero(input: Any, as_tuple: bool) -> Any",
         "The coordinates of elements that are not zero, in a tuple or as rows; None if there are none.",
         [](nb::handle input, bool as_tuple) {
           const Tensor* t = read_tensor(input.ptr());
           if (!t || !takes(*t)) throw nb::value_error("not what nonzero takes");
           return raise_or(nonzero(*t, as_tuple));
         });
}

}  // namespace suanzi
