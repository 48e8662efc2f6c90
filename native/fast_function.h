// native/fast_function.h: a Python function with a native short cut in front of it.
#pragma once

#include "python.h"

namespace suanzi {

// Answers a call, or returns null without an exception to say "not mine": then the Python function
// is called with the same arguments. So the short cut handles what is common and right, and every
// error message is written once, in Python.
using FastPath = PyObject* (*)(PyObject* const* args, Py_ssize_t count, PyObject* keywords);

namespace detail {

using Entry = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

nb::object builtin_like(nb::handle function, Entry entry);

// The Python function behind a short cut; a built-in function could hold it as its `self`, but
// then it could not be pickled by name.
template <FastPath fast>
PyObject* slow_path = nullptr;

template <FastPath fast>
PyObject* call(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  PyObject* answer = fast(args, count, keywords);
  if (answer || PyErr_Occurred()) return answer;
  return PyObject_Vectorcall(slow_path<fast>, args, static_cast<std::size_t>(count), keywords);
}

}  // namespace detail

// A built-in function with the name, docstring and signature of `function` that tries `fast` first.
template <FastPath fast>
nb::object make_fast_function(nb::handle function) {
  nb::object made = detail::builtin_like(function, detail::call<fast>);
  detail::slow_path<fast> = function.inc_ref().ptr();
  return made;
}

}  // namespace suanzi
