// native/python/calls.cpp: what the Python side runs once it has checked everything.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/in_place.h"
#include "core/status.h"
#include "core/threads.h"

namespace suanzi {
namespace {

using namespace nb::literals;

// Reads checked operands; throws for what Python should not have let through.
void read_all(const std::vector<nb::handle>& objects, Operand* operands) {
  if (objects.empty() || objects.size() > 3) throw nb::value_error("one to three operands");
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (!read_operand(objects[i].ptr(), operands[i])) throw nb::type_error("not a tensor or a plain number");
}

struct Prepared {
  Operand operands[3];
  int count;
  Together together;
  Loop loop;

  Prepared(const std::vector<nb::handle>& objects, std::size_t expected)
      : count(static_cast<int>(expected)),
        together((read_all(objects, operands), operands), static_cast<int>(objects.size())) {
    if (objects.size() != expected) throw nb::value_error("another number of operands");
    if (!together.fits()) throw nb::value_error("shapes do not go together");
  }

  nb::object output(Dtype dtype) {
    PyObject* made = together.new_output(dtype);
    if (!made) throw nb::python_error();
    together.make_loop(loop);
    return nb::steal(made);
  }

  template <class F>
  void run(F&& body) {
    run_loop(loop.size, operands, count, body);
  }
};

std::byte* data_of(nb::handle tensor) { return tensor_of(tensor.ptr())->data(); }

nb::tuple run_operator(const std::string& kernel, const std::vector<nb::handle>& objects, const DtypeInfo& promoted) {
  Operator op;
  set_kernel(op, kernel, objects.size());
  Operand operands[3];
  read_all(objects, operands);
  unsigned trouble = none;
  PyObject* output = compute(op, operands, dtype_of(promoted), trouble);
  if (!output && !trouble && !PyErr_Occurred())
    throw nb::value_error("no kernel for this dtype, or shapes do not go together");
  if (!output && !trouble) throw nb::python_error();
  return nb::make_tuple(output ? nb::steal(output) : nb::none(), trouble);
}

nb::object run_exact_compare(int which, const std::vector<nb::handle>& objects) {
  if (which < 0 || which > 5) throw nb::value_error("no such comparison");
  Prepared p(objects, 2);
  nb::object output = p.output(Dtype::boolean);
  std::byte* out = data_of(output);
  p.run([&] { run_compare(p.loop, which, out); });
  return output;
}

nb::object cast_tensor(nb::handle object, const DtypeInfo& dtype, bool saturate) {
  Prepared p({object}, 1);
  nb::object output = p.output(dtype_of(dtype));
  std::byte* out = data_of(output);
  p.run([&] { run_cast(p.loop, out, dtype_of(dtype), saturate); });
  if (const Tensor* source = p.operands[0].tensor) take_quantization(*tensor_of(output.ptr()), *source);
  return output;
}

// A copy in another dtype with its axes in an order, the one that varies fastest first.
PyObject* cast_to_layout(const Operand& operand, Dtype target, const std::int64_t* min2maj) {
  int ndim = operand.ndim();
  std::int64_t strides[max_ndim], stride = 1;
  for (int d = 0; d < ndim; ++d) {
    strides[min2maj[d]] = stride;
    stride *= operand.dims()[min2maj[d]];
  }
  Storage* storage = allocate_storage(target, operand.tensor->size);
  if (!storage) return nullptr;  // Python meets it again, and says it in the operator's name
  PyObject* output = new_tensor(storage, 0, ndim, operand.dims(), strides);
  if (!output) return nullptr;
  Move move;
  broadcast_move(*tensor_of(output), operand, move);
  run_loop(operand.tensor->size, &operand, 1, [&] { run_move(move); });
  return output;
}

// The fast path of `cast`, for dtypes that are numbers.
PyObject* fast_cast(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Operand operand;
  Given given({"input", "type", "layout"}, args, count, keywords);
  if (!given || count > 2 || !given[0] || !given[1] || !tensor_of(given[0]) || !read_operand(given[0], operand) ||
      !is_dtype(given[1]))
    return nullptr;
  std::uint64_t found;
  Integers order;
  int ndim = operand.ndim();
  if (PyObject* layout = given[2]) {
    if (!order.read(layout) || order.count != ndim ||
        (ndim && *std::min_element(order.values, order.values + ndim) < 0))
      return nullptr;
    if (!order.become_axes(ndim, found) || operand.tensor->size == 0) return nullptr;
  }
  auto target = static_cast<Dtype>(dtype_index(given[1]));
  if (!facts(operand.dtype).is_number() || !facts(target).is_number()) return nullptr;
  if (given[2]) return cast_to_layout(operand, target, order.values);
  Together together(&operand, 1);
  PyObject* output = together.new_output(target);
  if (!output) return or_python(nullptr);
  Loop loop;
  together.make_loop(loop);
  std::byte* out = tensor_of(output)->data();
  run_loop(loop.size, &operand, 1, [&] { run_cast(loop, out, target, false); });
  return output;
}

nb::object row_major_copy(nb::handle object);

bool overlap_of(nb::handle a, nb::handle b) {
  const Tensor *x = tensor_of(a.ptr()), *y = tensor_of(b.ptr());
  if (!x || !y || !x->storage || !y->storage) throw nb::type_error("not a tensor");
  return overlap(*x, *y);
}

// Writes `source`, broadcast and converted, into the elements of `target`, as if it were read first.
void copy_into(nb::handle target, nb::handle source, bool saturate) {
  Tensor* t = tensor_of(target.ptr());
  Operand operand;
  if (!t || !t->storage || !read_operand(source.ptr(), operand)) throw nb::type_error("not a tensor");
  if (t->storage->read_only) throw nb::value_error("the memory of the tensor is read-only");
  nb::object copy;
  if (operand.tensor && overlap(*t, *operand.tensor)) {
    copy = row_major_copy(source);
    read_operand(copy.ptr(), operand);
    if (!t->storage) throw_status("UninitializedObject", "the tensor was destroyed while its elements were copied.");
  }
  Move move;
  if (!broadcast_move(*t, operand, move)) throw nb::value_error("shapes do not go together");
  move.saturate = saturate;
  Operand both[2];
  both[0].tensor = t;
  both[1] = operand;
  run_loop(t->size, both, 2, [&] { run_move(move); });
}

// As cast_tensor, but the output is in row-major order whatever the input is.
nb::object row_major_copy(nb::handle object) {
  Prepared p({object}, 1);
  p.together.use_row_major();
  Dtype dtype = p.operands[0].dtype;
  nb::object output = p.output(dtype);
  std::byte* out = data_of(output);
  p.run([&] { run_cast(p.loop, out, dtype, false); });
  if (const Tensor* source = p.operands[0].tensor) take_quantization(*tensor_of(output.ptr()), *source);
  return output;
}

void set_num_threads(nb::handle count) {
  int overflow = 0;
  bool whole = PyLong_Check(count.ptr()) && !PyBool_Check(count.ptr());
  if (!whole) throw_status("TypeMismatch", "set_num_threads: the count must be an integer from 1 to 1024.");
  long long wanted = PyLong_AsLongLongAndOverflow(count.ptr(), &overflow);
  if (overflow || wanted < 1 || wanted > max_threads)
    throw_status("InvalidArgument", "set_num_threads: the count must be an integer from 1 to 1024.");
  set_thread_count(static_cast<int>(wanted));
}

}  // namespace

void init_calls(nb::module_& m) {
  define(m, "def copy_into(target: Any, source: Any, saturate: bool = False) -> None",
         "Writes a tensor of the same dtype into another, to which it is broadcast.", copy_into, false);
  define(m, "def overlap(a: Any, b: Any) -> bool", "Whether the elements of two tensors may share bytes.", overlap_of);
  define(m, "def run_operator(kernel: str, operands: Sequence[Any], promoted: DType) -> tuple[Tensor, int]",
         "Computes an operator in a dtype; the number says what it met: 1 a zero divisor, 2 a bad shift.",
         run_operator);
  define(m, "def run_exact_compare(which: int, operands: Sequence[Any]) -> Tensor",
         "Compares real operands by value; ==, !=, >, >=, <, <= are 0 to 5.", run_exact_compare);
  define(m, "def cast(tensor: Any, dtype: DType, saturate: bool) -> Tensor", "A copy in another dtype.", cast_tensor);
  add_fast_path<fast_cast>("cast");
  define(m, "def row_major_copy(tensor: Any) -> Tensor", "A copy in row-major order.", row_major_copy);
  define(m, "def levels() -> list[str]", "The instruction-set levels this machine has, best first.", [] {
    nb::list found;
    for (const Kernels* table : available_kernels())
      if (table) found.append(table->level);
    return found;
  });
  m.def("level", [] { return kernels().level; }, "The level in use.");
  m.def(
      "use_level",
      [](const std::string& level) {
        if (!use_kernels(level.c_str())) throw nb::value_error("this machine does not have that level");
      },
      "level"_a, "Chooses the instruction-set level.");
  m.def("get_num_threads", &thread_count, "How many threads large loops use.");
  define(m, "def set_num_threads(count: int) -> None", "Sets how many threads large loops use, from 1 to 1024.",
         set_num_threads);
}

}  // namespace suanzi
