// native/fast_function.h: a Python function with a native short cut in front of it.
#pragma once

#include "python.h"

namespace suanzi {

// Answers a call, or returns null without an exception to say "not mine": then the Python function
// is called with the same arguments. So the short cut handles what is common and right, and every
// error message is written once, in Python.
using FastPath = PyObject* (*)(PyObject* const* args, Py_ssize_t count, PyObject* keywords);

// Registers the type; called once by the module.
void init_fast_function(nb::module_& m);

// A callable that looks like `function` (name, docstring, signature) and tries `fast` first.
nb::object make_fast_function(FastPath fast, nb::handle function);

}  // namespace suanzi
