// native/python/launching.h: kernels of a device, and how its driver starts them.
#pragma once

#include <cstdint>

#include "core/python.h"

namespace suanzi {

struct Launcher {
  using Entry = int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                        void**);
  static constexpr std::size_t most = 64;
  Entry entry;
  void* function;
  unsigned threads, shared;
  std::string types;

  // Starts it with the values of its parameters, as many as there are types; without the GIL.
  int start(const unsigned* grid, void* stream, std::uint64_t* values) const;
  int operator()(nb::args given) const;
};

// Kernels that are started one after the other with tensors that are aligned: those given, and those it makes.
class Program {
 public:
  static constexpr std::size_t most_tensors = 24;

  Program(nb::object allocate, nb::object stream, nb::object device, nb::list makings, nb::list steps);
  // The first tensor that it makes, a new reference. Null without an exception where the tensors are not aligned, or
  // the driver refused a start: the long way then does all of it.
  PyObject* run(PyObject* const* tensors, std::size_t count) const;

 private:
  struct Place {
    std::size_t value, tensor;
  };
  struct Step {
    nb::object kept;
    const Launcher* launcher;
    unsigned programs;
    std::vector<std::uint64_t> values;
    std::vector<Place> places;
  };
  nb::object allocate_, stream_, device_;
  std::vector<nb::object> makings_;
  std::vector<Step> steps_;
};

}  // namespace suanzi
