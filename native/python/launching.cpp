// native/python/launching.cpp: starts kernels of a device through the entry point of its driver.
// The address of cuLaunchKernel is given, so that nothing is linked. Values are read into one array
// on the stack: a launch costs the driver's time and little more.
#include "python/launching.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

#include "core/status.h"
#include "python/slots.h"

namespace suanzi {
namespace {

void read(char type, PyObject* x, std::uint64_t* value) {
  switch (type) {
    case 'f': {
      const auto number = static_cast<float>(PyFloat_AsDouble(x));
      std::memcpy(value, &number, sizeof number);
      break;
    }
    case 'd': {
      const double number = PyFloat_AsDouble(x);
      std::memcpy(value, &number, sizeof number);
      break;
    }
    case 'Q': *value = PyLong_AsUnsignedLongLong(x); break;
    default: *value = static_cast<std::uint64_t>(PyLong_AsLongLong(x)); break;
  }
}

// Where the elements of a tensor begin; false with an exception.
bool read_address(PyObject* tensor, std::uint64_t& address) {
  static PyObject* const name = PyUnicode_InternFromString("data_ptr");
  PyObject* found = PyObject_VectorcallMethod(name, &tensor, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
  if (!found) return false;
  address = PyLong_AsUnsignedLongLong(found);
  Py_DECREF(found);
  return !PyErr_Occurred();
}

}  // namespace

int Launcher::start(const unsigned* grid, void* stream, std::uint64_t* values) const {
  void* places[most];
  for (std::size_t i = 0; i < types.size(); ++i) places[i] = &values[i];
  nb::gil_scoped_release released;
  return entry(function, grid[0], grid[1], grid[2], threads, 1, 1, shared, stream, places, nullptr);
}

int Launcher::operator()(nb::args given) const {
  const std::size_t count = types.size();
  if (given.size() != count + 4) throw nb::value_error("another number of values than types");
  std::uint64_t values[most];
  for (std::size_t i = 0; i < count; ++i) read(types[i], nb::handle(given[i + 4]).ptr(), &values[i]);
  unsigned grid[3];
  for (int i = 0; i < 3; ++i) grid[i] = static_cast<unsigned>(PyLong_AsUnsignedLong(nb::handle(given[i]).ptr()));
  void* stream = PyLong_AsVoidPtr(nb::handle(given[3]).ptr());
  if (PyErr_Occurred()) throw nb::python_error();
  return start(grid, stream, values);
}

Program::Program(nb::object allocate, nb::object stream, nb::object device, nb::list makings, nb::list steps)
    : allocate_(std::move(allocate)), stream_(std::move(stream)), device_(std::move(device)) {
  for (nb::handle one : makings) {
    if (!PyTuple_CheckExact(one.ptr())) throw nb::type_error("what a tensor is made with is a tuple");
    makings_.push_back(nb::borrow(one));
  }
  if (makings_.empty()) throw nb::value_error("nothing is made");
  for (nb::handle one : steps) {
    Step step;
    step.kept = nb::borrow(one[0]);
    step.launcher = nb::cast<const Launcher*>(step.kept);
    step.programs = nb::cast<unsigned>(one[1]);
    const auto places = nb::cast<nb::list>(one[2]), values = nb::cast<nb::list>(one[3]);
    const std::string& types = step.launcher->types;
    if (places.size() != types.size() || values.size() != types.size())
      throw nb::value_error("another number of values than types");
    step.values.resize(types.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      const auto place = nb::cast<std::int64_t>(places[i]);
      if (place >= static_cast<std::int64_t>(most_tensors)) throw nb::value_error("too many tensors");
      if (place >= 0) step.places.push_back({i, static_cast<std::size_t>(place)});
      else read(types[i], nb::handle(values[i]).ptr(), &step.values[i]);
      if (PyErr_Occurred()) throw nb::python_error();
    }
    steps_.push_back(std::move(step));
  }
}

PyObject* Program::run(PyObject* const* tensors, std::size_t count) const {
  if (count + makings_.size() > most_tensors) return nullptr;
  std::uint64_t addresses[most_tensors] = {}, low = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!read_address(tensors[i], addresses[i])) return nullptr;
    low |= addresses[i];
  }
  if (low & 15) return nullptr;
  nb::object made[most_tensors];  // they go after the starts, as others may get their memory
  for (std::size_t i = 0; i < makings_.size(); ++i) {
    made[i] = nb::steal(PyObject_Call(allocate_.ptr(), makings_[i].ptr(), nullptr));
    if (!made[i].is_valid() || !read_address(made[i].ptr(), addresses[count + i])) return nullptr;
  }
  nb::object current = nb::steal(PyObject_CallOneArg(stream_.ptr(), device_.ptr()));
  void* stream = current.is_valid() ? PyLong_AsVoidPtr(current.ptr()) : nullptr;
  if (PyErr_Occurred()) return nullptr;
  for (const Step& step : steps_) {
    std::uint64_t values[Launcher::most];
    std::copy(step.values.begin(), step.values.end(), values);
    for (const Place& place : step.places) values[place.value] = addresses[place.tensor];
    const unsigned grid[] = {step.programs, 1, 1};
    if (step.launcher->start(grid, stream, values)) return nullptr;
  }
  return made[0].release().ptr();
}

void init_launching(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Launcher>(m, "Launcher", "A kernel of a device, and how its driver starts it.")
      .def(
          "__init__",
          [](Launcher* self, std::uintptr_t entry, std::uintptr_t function, unsigned threads, unsigned shared,
             const std::string& types) {
            if (types.size() > Launcher::most) throw nb::value_error("too many parameters");
            new (self) Launcher{reinterpret_cast<Launcher::Entry>(entry), reinterpret_cast<void*>(function), threads,
                                shared, types};
          },
          "entry"_a, "function"_a, "threads"_a, "shared"_a, "types"_a,
          "The address of the driver's entry point and of the kernel, and the types of the values: f, d, Q, or q "
          "for all others.")
      .def("__call__", &Launcher::operator(), nb::sig("def __call__(self, *values: int | float) -> int"),
           "The status of a start: the grid in three numbers, the stream, and the values.");
  nb::class_<Program>(m, "Program", "Kernels that are started one after the other with aligned tensors.")
      .def(nb::init<nb::object, nb::object, nb::object, nb::list, nb::list>(), "allocate"_a, "stream"_a, "device"_a,
           "makings"_a, "steps"_a,
           nb::sig("def __init__(self, allocate: Any, stream: Any, device: int, makings: list[tuple[Any, ...]], "
                   "steps: list[tuple[Launcher, int, list[int], list[Any]]]) -> None"),
           "What makes tensors, and with which arguments; what returns the stream of a device; and of each step its "
           "launcher, the size of its grid, of each value the number of a tensor or -1, and the values.");
}

}  // namespace suanzi
