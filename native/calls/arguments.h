// native/calls/arguments.h: plain arguments of fast paths: tensors, integers, lists of either, by position or by name.
#pragma once

#include <algorithm>

#include "core/tensor.h"

namespace suanzi {

// A tensor that was not destroyed, else null.
inline const Tensor* read_tensor(PyObject* object) {
  const Tensor* t = tensor_of(object);
  return t && t->storage ? t : nullptr;
}

// A plain Python integer that fits 64 bits; bool is none.
inline bool read_integer(PyObject* object, std::int64_t& value) {
  if (Py_TYPE(object) != &PyLong_Type) return false;
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return !overflow;
}

// An axis, counted from the first or from the end.
inline bool read_axis(PyObject* object, int ndim, int& axis) {
  std::int64_t value;
  if (!read_integer(object, value) || value < -ndim || value >= ndim) return false;
  axis = static_cast<int>(value < 0 ? value + ndim : value);
  return true;
}

// The items of a tuple or a list; no other sequence.
struct Items {
  PyObject* object;
  bool is_tuple, is_sequence;

  explicit Items(PyObject* o)
      : object(o), is_tuple(PyTuple_CheckExact(o)), is_sequence(is_tuple || PyList_CheckExact(o)) {}
  Py_ssize_t count() const { return is_tuple ? PyTuple_GET_SIZE(object) : PyList_GET_SIZE(object); }
  PyObject* operator[](Py_ssize_t i) const {
    return is_tuple ? PyTuple_GET_ITEM(object, i) : PyList_GET_ITEM(object, i);
  }
};

struct Integers {
  int count = 0;
  std::int64_t values[2 * max_ndim];

  // A tuple or a list of integers.
  bool read(PyObject* object) {
    Items items(object);
    if (!items.is_sequence || items.count() > 2 * max_ndim) return false;
    count = static_cast<int>(items.count());
    for (int i = 0; i < count; ++i)
      if (!read_integer(items[i], values[i])) return false;
    return true;
  }
  // The same, or one integer.
  bool read_one_or_more(PyObject* object) {
    if (!read_integer(object, values[0])) return read(object);
    count = 1;
    return true;
  }
  // Axes that count from the end become those that count from the first; false if one does not exist,
  // or occurs twice.
  bool become_axes(int ndim, std::uint64_t& found) {
    found = 0;
    for (int i = 0; i < count; ++i) {
      if (values[i] < -ndim || values[i] >= ndim) return false;
      if (values[i] < 0) values[i] += ndim;
      if (found >> values[i] & 1) return false;
      found |= std::uint64_t{1} << values[i];
    }
    return true;
  }
};

// What each parameter was given, null if nothing; all are null, and it is false, if a call does not fit the names.
template <std::size_t n>
class Given {
 public:
  Given(const char* const (&names)[n], PyObject* const* args, Py_ssize_t count, PyObject* keywords)
      : fits_(read(names, args, count, keywords)) {
    if (!fits_) std::fill_n(found_, n, nullptr);
  }
  explicit operator bool() const { return fits_; }
  PyObject* operator[](std::size_t i) const { return found_[i]; }

 private:
  bool read(const char* const (&names)[n], PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    if (count > static_cast<Py_ssize_t>(n)) return false;
    for (std::size_t i = 0; i < n; ++i) found_[i] = static_cast<Py_ssize_t>(i) < count ? args[i] : nullptr;
    Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    for (Py_ssize_t k = 0; k < named; ++k) {
      auto i = static_cast<std::size_t>(count);  // those before have come by position
      while (i < n && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, k), names[i])) ++i;
      if (i == n || found_[i]) return false;
      found_[i] = args[count + k];
    }
    return true;
  }

  PyObject* found_[n];
  bool fits_;
};

// True or False itself, or nothing, which leaves the value as it is.
inline bool read_flag(PyObject* object, bool& value) {
  if (!object) return true;
  value = object == Py_True;
  return object == Py_True || object == Py_False;
}

}  // namespace suanzi
