// native/operators.h: element-wise operators as Python calls them.
#pragma once

#include <vector>

#include "python.h"

namespace suanzi {

// Adds the slots for +, -, ==, ... to those of the tensor type.
void add_operator_slots(std::vector<PyType_Slot>& slots);

}  // namespace suanzi
