// native/python/launching.cpp: starts kernels of a device through the entry point of its driver.
// The address of cuLaunchKernel is given, so that nothing is linked. Values are read into one array
// on the stack: a launch costs the driver's time and little more.
#include <nanobind/stl/string.h>

#include <cstdint>
#include <cstring>

#include "core/status.h"
#include "python/slots.h"

namespace suanzi {
namespace {

constexpr std::size_t most = 64;

struct Launcher {
  using Entry = int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                        void**);
  Entry entry;
  void* function;
  unsigned threads, shared;
  std::string types;

  int operator()(nb::args given) const {
    const std::size_t count = types.size();
    if (given.size() != count + 4) throw nb::value_error("another number of values than types");
    std::uint64_t values[most];
    void* places[most];
    for (std::size_t i = 0; i < count; ++i) {
      places[i] = &values[i];
      read(types[i], nb::handle(given[i + 4]).ptr(), &values[i]);
    }
    unsigned grid[3];
    for (int i = 0; i < 3; ++i) grid[i] = static_cast<unsigned>(PyLong_AsUnsignedLong(nb::handle(given[i]).ptr()));
    void* stream = PyLong_AsVoidPtr(nb::handle(given[3]).ptr());
    if (PyErr_Occurred()) throw nb::python_error();
    nb::gil_scoped_release released;
    return entry(function, grid[0], grid[1], grid[2], threads, 1, 1, shared, stream, places, nullptr);
  }

  static void read(char type, PyObject* x, std::uint64_t* value) {
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
};

}  // namespace

void init_launching(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Launcher>(m, "Launcher", "A kernel of a device, and how its driver starts it.")
      .def(
          "__init__",
          [](Launcher* self, std::uintptr_t entry, std::uintptr_t function, unsigned threads, unsigned shared,
             const std::string& types) {
            if (types.size() > most) throw nb::value_error("too many parameters");
            new (self) Launcher{reinterpret_cast<Launcher::Entry>(entry), reinterpret_cast<void*>(function), threads,
                                shared, types};
          },
          "entry"_a, "function"_a, "threads"_a, "shared"_a, "types"_a,
          "The address of the driver's entry point and of the kernel, and the types of the values: f, d, Q, or q "
          "for all others.")
      .def("__call__", &Launcher::operator(), nb::sig("def __call__(self, *values: int | float) -> int"),
           "The status of a start: the grid in three numbers, the stream, and the values.");
}

}  // namespace suanzi
