// native/calls/named_arguments.h: arguments of a short cut by position or by name.
#pragma once

#include <cstddef>

#include "calls/arguments.h"

namespace suanzi {

// What each parameter was given, null if nothing; false if a call does not fit the names.
template <std::size_t n>
bool read_named(const char* const (&names)[n], PyObject* const* args, Py_ssize_t count, PyObject* keywords, PyObject* (&found)[n]) {
  if (count > static_cast<Py_ssize_t>(n)) return false;
  for (std::size_t i = 0; i < n; ++i) found[i] = static_cast<Py_ssize_t>(i) < count ? args[i] : nullptr;
  Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t k = 0; k < named; ++k) {
    std::size_t i = 0;
    while (i < n && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, k), names[i])) ++i;
    if (i == n || found[i]) return false;
    found[i] = args[count + k];
  }
  return true;
}

// True or False itself, or nothing, which leaves the value as it is.
inline bool read_flag(PyObject* object, bool& value) {
  if (!object) return true;
  value = object == Py_True;
  return object == Py_True || object == Py_False;
}

}  // namespace suanzi
