// native/ops/reduction/reduction.cpp: 7.2.13.1, 7.2.17.11: reduce and norm over any axes of any layout.
#include "ops/reduction/loops.h"

#include <nanobind/stl/vector.h>

#include <limits>

#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "calls/results.h"
#include "core/status.h"
#include "core/without_gil.h"

namespace suanzi {
namespace {

// Of a tensor with elements, for which there is such a reduction.
PyObject* reduce(const Tensor& t, std::uint64_t mask, const Reduction& r, bool keep_dims) {
  Reducer reducer(t, mask, r);
  if (!reducer.prepare()) {
    set_status("AllocFailed", "not enough memory for the reduction; use fewer elements.");
    return nullptr;
  }
  PyObject* output = new_result(t, mask, keep_dims, r.result);
  if (!output) return nullptr;
  std::byte* out = tensor_of(output)->data();
  run_over(t.size, {&t}, [&] { reducer.run(out); });
  return output;
}

// Squares of the distances from the means, added up; of float32 or float64.
PyObject* squared_distances(const Tensor& t, std::uint64_t mask, bool keep_dims) {
  const Reduction& r = kernels().reductions->distances[t.dtype == Dtype::float64];
  PyObject* output = new_result(t, mask, keep_dims, r.result);
  if (!output) return nullptr;
  constexpr std::int64_t more = 16;  // which may be read
  Scratch means(t.dtype, tensor_of(output)->size + more);
  Reducer first(t, mask, reduction(ReduceMode::mean, t.dtype)), then(t, mask, r, means.data());
  if (!means.data() || !first.prepare() || !then.prepare()) {
    Py_DECREF(output);
    set_status("AllocFailed", "not enough memory for the reduction; use fewer elements.");
    return nullptr;
  }
  std::byte* out = tensor_of(output)->data();
  run_over(t.size, {&t}, [&] {
    std::size_t known = static_cast<std::size_t>(tensor_of(output)->size) * t.itemsize();
    std::memset(means.data() + known, 0, more * t.itemsize());
    first.run(means.data());
    then.run(out);
  });
  return output;
}

// ---- norms --------------------------------------------------------------------------------------

PyObject* norm(const Tensor& t, std::uint64_t mask, NormPart part, bool keep_dims) {
  auto made_of = [&](NormPart what) {
    const Reduction& r = kernels().reductions->norms[static_cast<std::size_t>(what)][static_cast<std::size_t>(t.dtype)];
    return reduce(t, mask, r, keep_dims);
  };
  PyObject* output = made_of(part);
  if (!output || part != NormPart::squares || tensor_of(output)->dtype != Dtype::float64) return output;
  auto data = [](PyObject* object) { return reinterpret_cast<double*>(tensor_of(object)->data()); };
  double *found = data(output), *end = found + tensor_of(output)->size;
  for (auto [again, mark] : {std::pair{NormPart::squares_of_large, squares_overflow},
                             std::pair{NormPart::squares_of_small, squares_vanish}}) {
    if (std::find(found, end, mark) == end) continue;
    PyObject* scaled = made_of(again);
    if (!scaled) {
      Py_DECREF(output);
      return nullptr;
    }
    std::transform(found, end, data(scaled), found, [mark = mark](double x, double y) { return x == mark ? y : x; });
    Py_DECREF(scaled);
  }
  return output;
}

// ---- the fast path ------------------------------------------------------------------------------

constexpr const char* mode_names[reduce_mode_count][2] = {
    {"sum", "SUM"}, {"prod", "PROD"}, {"max", "MAX"},   {"min", "MIN"}, {"mean", "MEAN"}, {"land", "LAND"},
    {"lor", "LOR"}, {"lxor", "LXOR"}, {"band", "BAND"}, {"bor", "BOR"}, {"bxor", "BXOR"}};
PyObject* modes[reduce_mode_count] = {};  // the members of sz.ReduceMode

bool read_mode(PyObject* object, std::size_t& mode) {
  for (mode = 0; mode < reduce_mode_count; ++mode)
    if (object == modes[mode]) return true;
  if (!PyUnicode_CheckExact(object)) return false;
  for (mode = 0; mode < reduce_mode_count; ++mode)
    for (const char* name : mode_names[mode])
      if (PyUnicode_CompareWithASCIIString(object, name) == 0) return true;
  return false;
}

bool read_axes(PyObject* object, int ndim, std::uint64_t& mask) {
  Integers axes;
  std::uint64_t every = ndim == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << ndim) - 1;
  mask = every;
  if (object == Py_None) return true;
  if (!axes.read_one_or_more(object) || !axes.become_axes(ndim, mask)) return false;
  if (axes.count == 0) mask = every;
  return true;
}

PyObject* fast_reduce(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Given given({"input", "mode", "axis", "keep_dims"}, args, count, keywords);
  if (!given[0]) return nullptr;
  const Tensor* t = read_tensor(given[0]);
  bool keep_dims = false;
  std::size_t mode = 0;
  std::uint64_t mask;
  if (!t || t->size == 0 || (given[1] && !read_mode(given[1], mode)) ||
      !read_axes(given[2] ? given[2] : Py_None, t->ndim(), mask) || !read_flag(given[3], keep_dims))
    return nullptr;
  const Reduction& r = reduction(static_cast<ReduceMode>(mode), t->dtype);
  return r.rows ? reduce(*t, mask, r, keep_dims) : nullptr;
}

// What a normtype is made of; "fro" is squares of matrices, and other numbers than 1, 2 and infinity are Python's.
bool read_norm(PyObject* object, NormPart& part, bool& is_frobenius) {
  is_frobenius = false;
  part = NormPart::largest;
  if (!object) return true;
  if (PyUnicode_CheckExact(object)) {
    static constexpr std::pair<const char*, NormPart> known[] = {
        {"inf", NormPart::largest}, {"1", NormPart::magnitudes}, {"2", NormPart::squares}, {"fro", NormPart::squares}};
    for (auto [name, what] : known)
      if (PyUnicode_CompareWithASCIIString(object, name) == 0) {
        part = what;
        is_frobenius = name[0] == 'f';
        return true;
      }
    return false;
  }
  std::int64_t integer = 0;
  double p = PyFloat_CheckExact(object)      ? PyFloat_AS_DOUBLE(object)
             : read_integer(object, integer) ? static_cast<double>(integer)
                                             : 0;
  part = p == 1 ? NormPart::magnitudes : p == 2 ? NormPart::squares : NormPart::largest;
  return p == 1 || p == 2 || p == std::numeric_limits<double>::infinity();
}

PyObject* fast_norm(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"norm"};
  Given given({"input", "normtype", "axis", "keep_dims"}, args, count, keywords);
  if (!given[0]) return nullptr;
  const Tensor* t = read_tensor(given[0]);
  NormPart part;
  bool keep_dims = false, is_frobenius;
  std::uint64_t mask;
  Integers axes;
  if (!t || t->size == 0 || !read_norm(given[1], part, is_frobenius) || !read_flag(given[3], keep_dims) ||
      !read_axes(given[2] ? given[2] : Py_None, t->ndim(), mask) || !promoted.keeps_dtype(given[0], given[0]) ||
      !kernels().reductions->norms[0][static_cast<std::size_t>(t->dtype)].rows)
    return nullptr;
  if (given[2] && given[2] != Py_None && !axes.read_one_or_more(given[2])) return nullptr;
  if (axes.count > 2 || is_frobenius != (axes.count == 2 && part == NormPart::squares)) return nullptr;
  if (axes.count < 2 || is_frobenius) return norm(*t, mask, part, keep_dims);
  // Of a matrix it is the largest sum along the first axis, or along the second.
  std::int64_t along = axes.values[part == NormPart::magnitudes ? 0 : 1];
  PyObject* sums = norm(*t, std::uint64_t{1} << (along < 0 ? along + t->ndim() : along), NormPart::magnitudes, true);
  PyObject* made = sums ? norm(*tensor_of(sums), mask, NormPart::largest, keep_dims) : nullptr;
  Py_XDECREF(sums);
  return made;
}

nb::object norm_checked(nb::handle object, int part, const std::vector<int>& axes, bool keep_dims) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || t->size == 0 || part < 0 || part > static_cast<int>(NormPart::squares)) throw nb::value_error("no norm");
  if (!kernels().reductions->norms[0][static_cast<std::size_t>(t->dtype)].rows)
    throw nb::value_error("no norm of this dtype");
  return raise_or(norm(*t, mask_of(*t, axes), static_cast<NormPart>(part), keep_dims));
}

nb::object reduce_checked(nb::handle object, int mode, const std::vector<int>& axes, bool keep_dims) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || t->size == 0 || mode < 0 || mode >= static_cast<int>(reduce_mode_count))
    throw nb::value_error("nothing to reduce");
  const Reduction& r = reduction(static_cast<ReduceMode>(mode), t->dtype);
  if (!r.rows) throw nb::value_error("no such reduction of this dtype");
  return raise_or(reduce(*t, mask_of(*t, axes), r, keep_dims));
}

// Sums of integers in 64 bits: those that means are made of. Of bool and 64 bits, every sum is.
nb::object wide_sum_checked(nb::handle object, const std::vector<int>& axes, bool keep_dims) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || t->size == 0) throw nb::value_error("nothing to reduce");
  Reduction r = reduction(ReduceMode::sum, t->dtype);
  if (const DtypeInfo& info = facts(t->dtype); info.bits < 64 && r.rows && r.result == t->dtype) {
    if (info.kind != Kind::Int && info.kind != Kind::UInt) throw nb::value_error("no integers");
    r = reduction(ReduceMode::mean, t->dtype);
    r.finish = [](const void* partials, std::int64_t count, std::int64_t, void* out) {
      std::memcpy(out, partials, static_cast<std::size_t>(count) * sizeof(std::uint64_t));
    };
    r.result = info.kind == Kind::Int ? Dtype::int64 : Dtype::uint64;
  }
  if (!r.rows) throw nb::value_error("no such reduction of this dtype");
  return raise_or(reduce(*t, mask_of(*t, axes), r, keep_dims));
}

nb::object squared_distances_checked(nb::handle object, const std::vector<int>& axes, bool keep_dims) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || t->size == 0 || (t->dtype != Dtype::float32 && t->dtype != Dtype::float64))
    throw nb::value_error("no distances");
  return raise_or(squared_distances(*t, mask_of(*t, axes), keep_dims));
}

}  // namespace

void init_reduction(nb::module_& m) {
  add_fast_path<fast_reduce>("reduce");
  add_fast_path<fast_norm>("norm");
  define(m, "def declare_reduce_modes(members: Sequence[object]) -> None",
         "Says which objects are the modes, in their order.", [](const std::vector<nb::object>& members) {
           if (members.size() != reduce_mode_count) throw nb::value_error("eleven modes");
           for (std::size_t i = 0; i < reduce_mode_count; ++i) modes[i] = members[i].inc_ref().ptr();
         });
  define(m, "def reduce(tensor: Any, mode: int, axes: Sequence[int], keep_dims: bool) -> Tensor",
         "Combines the elements along axes of a tensor that has some.", reduce_checked);
  define(m, "def wide_sum(tensor: Any, axes: Sequence[int], keep_dims: bool) -> Tensor",
         "Adds up integers and bool along axes in 64 bits, without a copy.", wide_sum_checked);
  define(m, "def squared_distances(tensor: Any, axes: Sequence[int], keep_dims: bool) -> Tensor",
         "Adds up squares of the distances from the mean along axes, of float32 or float64.",
         squared_distances_checked);
  define(m, "def norm(tensor: Any, part: int, axes: Sequence[int], keep_dims: bool) -> Tensor",
         "Sums of magnitudes (0), the largest (1) or roots of sums of squares (2) of a tensor with elements.",
         norm_checked);
}

}  // namespace suanzi
