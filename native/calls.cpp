// native/calls.cpp: what the Python side runs once it has checked everything.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "operators.h"
#include "threads.h"

namespace suanzi {

namespace {

using namespace nb::literals;

Dtype dtype_of(const DtypeInfo& info) { return static_cast<Dtype>(info.index); }

// Reads checked operands; throws for what Python should not have let through.
void read_all(const std::vector<nb::handle>& objects, Operand* operands) {
  if (objects.empty() || objects.size() > 3) throw nb::value_error("one to three operands");
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (!read_operand(objects[i].ptr(), operands[i])) throw nb::type_error("not a tensor or a plain number");
}

struct Prepared {
  Operand operands[3];
  Together together;
  Loop loop;

  explicit Prepared(const std::vector<nb::handle>& objects)
      : together((read_all(objects, operands), operands), static_cast<int>(objects.size())) {
    if (!together.fits()) throw nb::value_error("shapes do not go together");
  }

  nb::object output(Dtype dtype) {
    PyObject* made = together.new_output(dtype);
    if (!made) throw nb::python_error();
    together.make_loop(loop);
    return nb::steal(made);
  }
};

std::byte* data_of(nb::handle tensor) { return tensor_of(tensor.ptr())->data(); }

nb::tuple run_operator(const std::string& kernel, const std::vector<nb::handle>& objects, const DtypeInfo& promoted) {
  Operator op;
  set_kernel(op, kernel, objects.size() == 2);
  Operand operands[3];
  read_all(objects, operands);
  unsigned trouble = none;
  PyObject* output = compute(op, operands, static_cast<int>(objects.size()), dtype_of(promoted), trouble);
  if (!output && !trouble && !PyErr_Occurred()) throw nb::value_error("no kernel for this dtype, or shapes do not go together");
  if (!output && !trouble) throw nb::python_error();
  return nb::make_tuple(output ? nb::steal(output) : nb::none(), trouble);
}

nb::object run_logical(const std::string& kernel, const std::vector<nb::handle>& objects, const DtypeInfo& promoted) {
  Prepared p(objects);
  nb::object output = p.output(Dtype::boolean);
  std::byte* out = data_of(output);
  Operator op;
  set_kernel(op, kernel, true);
  Binary function = kernels().binary[op.kernel][static_cast<std::size_t>(Lane::u8)];
  run_loop(p.loop.size, [&] { return run_truth(p.loop, function, dtype_of(promoted), out); });
  return output;
}

nb::object run_three(const std::vector<nb::handle>& objects, const DtypeInfo& promoted) {
  Prepared p(objects);
  Dtype dtype = dtype_of(promoted);
  std::size_t lane = static_cast<std::size_t>(compute_lane(dtype));
  Binary mul = kernels().binary[static_cast<std::size_t>(BinaryOp::mul)][lane];
  Binary add = kernels().binary[static_cast<std::size_t>(BinaryOp::add)][lane];
  nb::object output = p.output(dtype);
  std::byte* out = data_of(output);
  run_loop(p.loop.size, [&] { return run_muladd(p.loop, mul, add, dtype, out); });
  return output;
}

nb::object run_select(const std::vector<nb::handle>& objects, const DtypeInfo& promoted) {
  Prepared p(objects);
  if (p.operands[0].dtype != Dtype::boolean) throw nb::type_error("the condition is not bool");
  Dtype dtype = dtype_of(promoted);
  nb::object output = p.output(dtype);
  std::byte* out = data_of(output);
  run_loop(p.loop.size, [&] { run_where(p.loop, dtype, out); return 0u; });
  return output;
}

nb::object run_exact_compare(int which, const std::vector<nb::handle>& objects) {
  if (which < 0 || which > 5) throw nb::value_error("no such comparison");
  Prepared p(objects);
  nb::object output = p.output(Dtype::boolean);
  std::byte* out = data_of(output);
  run_loop(p.loop.size, [&] { run_compare(p.loop, which, out); return 0u; });
  return output;
}

nb::object cast_tensor(nb::handle object, const DtypeInfo& dtype, bool saturate) {
  Prepared p({object});
  nb::object output = p.output(dtype_of(dtype));
  std::byte* out = data_of(output);
  run_loop(p.loop.size, [&] { run_cast(p.loop, out, dtype_of(dtype), saturate); return 0u; });
  return output;
}

// Writes `source`, broadcast and converted, into the elements of `target`.
void copy_into(nb::handle target, nb::handle source) {
  Tensor* t = tensor_of(target.ptr());
  Operand operand;
  if (!t || !t->storage || !read_operand(source.ptr(), operand)) throw nb::type_error("not a tensor");
  if (t->storage->read_only) throw nb::value_error("the memory of the tensor is read-only");
  if (operand.ndim() > t->ndim()) throw nb::value_error("shapes do not go together");
  Operand pair[2];
  pair[0].tensor = t;
  pair[0].dtype = t->dtype;
  pair[1] = operand;
  Together together(pair, 2);
  if (!together.fits() || together.ndim() != t->ndim() ||
      !std::equal(t->dims(), t->dims() + t->ndim(), together.shape()))
    throw nb::value_error("shapes do not go together");
  together.use_row_major();
  Loop loop;
  together.make_loop(loop);
  run_loop(loop.size, [&] { run_copy(loop, t->data()); return 0u; });
}

// As cast_tensor, but the output is in row-major order whatever the input is.
nb::object row_major_copy(nb::handle object) {
  Prepared p({object});
  p.together.use_row_major();
  Dtype dtype = p.operands[0].dtype;
  nb::object output = p.output(dtype);
  std::byte* out = data_of(output);
  run_loop(p.loop.size, [&] { run_cast(p.loop, out, dtype, false); return 0u; });
  return output;
}

}  // namespace

void init_calls(nb::module_& m) {
  m.def("copy_into", &copy_into, "target"_a, "source"_a,
        nb::sig("def copy_into(target: Any, source: Any) -> None"),
        "Writes a tensor of the same dtype into another, to which it is broadcast.");
  m.def("run_operator", &run_operator, "kernel"_a, "operands"_a, "promoted"_a,
        nb::sig("def run_operator(kernel: str, operands: Sequence[Any], promoted: DType) -> tuple[Any, int]"),
        "Computes an operator in a dtype; the number says what it met: 1 a zero divisor, 2 a bad shift.");
  m.def("run_logical", &run_logical, "kernel"_a, "operands"_a, "promoted"_a,
        nb::sig("def run_logical(kernel: str, operands: Sequence[Any], promoted: DType) -> Any"),
        "Combines the truth of two operands, each converted to a dtype first.");
  m.def("run_muladd", &run_three, "operands"_a, "promoted"_a,
        nb::sig("def run_muladd(operands: Sequence[Any], promoted: DType) -> Any"), "x * y + a.");
  m.def("run_where", &run_select, "operands"_a, "promoted"_a,
        nb::sig("def run_where(operands: Sequence[Any], promoted: DType) -> Any"), "condition ? x : y.");
  m.def("run_exact_compare", &run_exact_compare, "which"_a, "operands"_a,
        nb::sig("def run_exact_compare(which: int, operands: Sequence[Any]) -> Any"),
        "Compares real operands by value; ==, !=, >, >=, <, <= are 0 to 5.");
  m.def("cast", &cast_tensor, "tensor"_a, "dtype"_a, "saturate"_a,
        nb::sig("def cast(tensor: Any, dtype: DType, saturate: bool) -> Any"), "A copy in another dtype.");
  m.def("row_major_copy", &row_major_copy, "tensor"_a, nb::sig("def row_major_copy(tensor: Any) -> Any"),
        "A copy in row-major order.");
  m.def("levels", [] {
        nb::list found;
        for (const Kernels* table : available_kernels())
          if (table) found.append(table->level);
        return found;
      }, nb::sig("def levels() -> list[str]"), "The instruction-set levels this machine has, best first.");
  m.def("level", [] { return kernels().level; }, "The level in use.");
  m.def("use_level", [](const std::string& level) {
        if (!use_kernels(level.c_str())) throw nb::value_error("this machine does not have that level");
      }, "level"_a, "Chooses the instruction-set level.");
  m.def("get_num_threads", &thread_count, "How many threads large loops use.");
  m.def("set_num_threads", &set_thread_count, "count"_a, "Says how many threads large loops use.");
}

}  // namespace suanzi
