// native/calls/promoted.cpp: what the rule set in force makes of operands of one dtype.
#include "calls/promoted.h"

#include "calls/operands.h"

namespace suanzi {

bool Promoted::keeps_dtype(PyObject* first, PyObject* second) {
  nb::object keep;
  const RuleTable* table = rules_argument(Py_None, keep);
  if (!table) return false;
  if (its_class >= RuleTable::class_count) its_class = operator_class(nb::str(name).ptr());
  if (its_class >= RuleTable::class_count) return false;
  Operand x, y;
  if (!read_operand(first, x) || !read_operand(second, y) || x.dtype != y.dtype || !facts(x.dtype).is_inexact())
    return false;
  std::size_t a = operand_code(first, x, *table), b = operand_code(second, y, *table);
  if (a == RuleTable::operand_count || b == RuleTable::operand_count) return false;
  return !table->gates(name, a, b) && table->get(its_class, a, b) == static_cast<std::uint8_t>(x.dtype);
}

const Tensor* Promoted::matrices(PyObject* object) {
  const Tensor* t = object ? tensor_of(object) : nullptr;
  return t && t->storage && t->ndim() >= 2 && keeps_dtype(object, object) ? t : nullptr;
}

}  // namespace suanzi
