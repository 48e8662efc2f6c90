// native/calls/promoted.h: an operator as rule sets know it, for fast paths whose operands keep their dtype.
#pragma once

#include "core/tensor.h"

namespace suanzi {

struct Promoted {
  const char* name;
  std::size_t its_class = std::size_t(-1);  // asked once

  // Whether the rule set in force lets operands of one floating-point dtype be computed in it.
  bool keeps_dtype(PyObject* first, PyObject* second);
  // Matrices that are computed in their own dtype, else null.
  const Tensor* matrices(PyObject* object);
};

}  // namespace suanzi
