// native/calls/repeating.h: calls on tensors of a device that differ from an earlier one in their elements alone.
#pragma once

#include "core/python.h"

namespace suanzi {

// The type of tensors whose calls are kept; null until a device is used.
extern PyTypeObject* repeated_type;

// Whether one of the first two arguments is such a tensor.
inline bool may_be_repeated(PyObject* const* args, Py_ssize_t count) {
  return repeated_type && count > 0 &&
         (Py_TYPE(args[0]) == repeated_type || (count > 1 && Py_TYPE(args[1]) == repeated_type));
}

// Answers a call whose plan was kept; null without an exception where there is none, or it failed in a way that the
// long way names. `names` are those of the last arguments, or null.
PyObject* repeated(PyObject* key, PyObject* const* args, std::size_t count, PyObject* names);

}  // namespace suanzi
