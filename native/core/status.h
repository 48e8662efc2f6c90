// native/core/status.h: errors of suanzi.status, raised from C++.
#pragma once

#include "core/python.h"

namespace suanzi {

// Sets a Python error of a class of suanzi.status.
inline void set_status(const char* error, const char* message) {
  nb::object found = nb::module_::import_("suanzi.base.status").attr(error);
  PyErr_SetString(found.ptr(), message);
}

[[noreturn]] inline void throw_status(const char* error, const char* message) {
  set_status(error, message);
  throw nb::python_error();
}

// Reports that memory is short in addition to that of the result, and returns null.
inline PyObject* no_memory() {
  set_status("AllocFailed", "not enough memory for the computation; use fewer elements.");
  return nullptr;
}

}  // namespace suanzi
