// native/ops/nn_folding.cpp: nn 7: windows of a tensor as columns, and the sum of such columns.
#include "core/python.h"

namespace suanzi {

void init_nn_folding(nb::module_&) {}

}  // namespace suanzi
