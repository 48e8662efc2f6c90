// native/calls/fast_function.h: a Python function with a native fast path in front of it.
#pragma once

#include <exception>

#include "calls/repeating.h"
#include "core/python.h"

namespace suanzi {

// Answers a call, or returns null without an exception to say "not mine": then the Python function
// is called with the same arguments. So the fast path handles what is common and right, and every
// error message is written once, in Python.
using FastPath = PyObject* (*)(PyObject* const* args, Py_ssize_t count, PyObject* keywords);

// What a fast path made. Nothing, with an exception, is left to Python, which meets it again and says
// it in the operator's name.
inline PyObject* or_python(PyObject* made) {
  if (!made) PyErr_Clear();
  return made;
}

namespace detail {

using Entry = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

nb::object builtin_like(nb::handle function, Entry entry);

// The Python function that is the fallback; a built-in function could hold it as its `self`, but
// then it could not be pickled by name.
template <FastPath fast>
PyObject* fallback = nullptr;
// What calls on tensors of a device are kept by; null where none is answered before Python is asked.
template <FastPath fast>
PyObject* key = nullptr;

// What was kept of an earlier call, or a fast path, answers, or, where they do not, a Python function. Keywords are
// left to the function, which knows other spellings.
template <class Fast>
PyObject* call_or_fall_back(Fast&& fast, PyObject* repeated_by, PyObject* function, PyObject* const* args,
                            Py_ssize_t count, PyObject* keywords) {
  if (may_be_repeated(args, count) && repeated_by && !keywords) {
    PyObject* made = repeated(repeated_by, args, static_cast<std::size_t>(count), nullptr);
    if (made || PyErr_Occurred()) return made;
  }
  PyObject* answer = nullptr;
  try {
    answer = fast();
  } catch (const std::exception&) {  // no memory, or a length that no memory has
    PyErr_NoMemory();
  }
  if (answer) return answer;
  if (PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_MemoryError)) return nullptr;
    PyErr_Clear();  // Python meets it again, and says it in the operator's name
  }
  return PyObject_Vectorcall(function, args, static_cast<std::size_t>(count), keywords);
}

template <FastPath fast>
PyObject* call(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return call_or_fall_back([&] { return fast(args, count, keywords); }, key<fast>, fallback<fast>, args, count,
                           keywords);
}

}  // namespace detail

// A built-in function with the name, docstring and signature of `function` that tries `fast` first; `key` is what calls
// on tensors of a device are kept by, or null.
template <FastPath fast>
nb::object make_fast_function(nb::handle function, nb::handle key) {
  nb::object made = detail::builtin_like(function, detail::call<fast>);
  detail::fallback<fast> = function.inc_ref().ptr();
  detail::key<fast> = key.inc_ref().ptr();
  return made;
}

// ---- by name ----------------------------------------------------------------------------------

struct NamedFastPath {
  const char* name;
  FastPath path;
  nb::object (*make_function)(nb::handle function, nb::handle key);
};

// Adds a fast path for the Python function of a name.
void add_fast_path(NamedFastPath named);
template <FastPath fast>
void add_fast_path(const char* name) {
  add_fast_path({name, fast, make_fast_function<fast>});
}
// Throws if there is none of that name.
const NamedFastPath& fast_path_of(nb::handle name);

}  // namespace suanzi
