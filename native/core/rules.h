// native/core/rules.h: the answers of one rule set, remembered cell by cell.
#pragma once

#include <algorithm>
#include <string_view>

#include "core/python.h"

namespace suanzi {

// A rule set is read by the Python engine, once per cell; what it answered is kept here, so that
// every later question is one load. Rule sets never change, so a cell never does either.
class RuleTable {
 public:
  // Operand codes: a dimensioned tensor of dtype d is d, a 0-d tensor is dtype_count + d, and the
  // Python numbers bool, int, float, complex follow.
  static constexpr std::size_t zero_dim_base = dtype_count;
  static constexpr std::size_t number_base = 2 * dtype_count;
  static constexpr std::size_t operand_count = 2 * dtype_count + 4;
  // "No operator" and the seven operator classes.
  static constexpr std::size_t class_count = 8;

  // A cell that has no answer yet, and one that never will: Python says why.
  static constexpr std::uint8_t unknown = 0xFF;
  static constexpr std::uint8_t refused = 0xFE;

  RuleTable(std::vector<std::string> own_rules, std::vector<std::string> for_unequal, bool checks_integers,
            bool saturates)
      : own_rules_(std::move(own_rules)), for_unequal_(std::move(for_unequal)), checks_integers_(checks_integers),
        saturates_(saturates), cells_(class_count * operand_count * operand_count, unknown) {}

  // Whether an operator has a rule of its own, so that its class does not answer for it; for operands, by their codes,
  // whether it has one that concerns them.
  bool gates(std::string_view operator_name) const {
    return has(own_rules_, operator_name) || has(for_unequal_, operator_name);
  }
  bool gates(std::string_view operator_name, std::size_t a, std::size_t b) const {
    return has(own_rules_, operator_name) || (a != b && has(for_unequal_, operator_name));
  }
  // Whether the value of a Python int has a say, unless every integer dtype holds it.
  bool checks_integers() const { return checks_integers_; }
  // Whether what is beyond float8_e4m3fn, infinity included, becomes its greatest number, and not NaN.
  bool saturates() const { return saturates_; }

  std::uint8_t get(std::size_t operator_class, std::size_t a, std::size_t b) const {
    return cells_[position(operator_class, a, b)];
  }
  void set(std::size_t operator_class, std::size_t a, std::size_t b, std::uint8_t answer) {
    cells_[position(operator_class, a, b)] = answer;
  }

 private:
  static std::size_t position(std::size_t operator_class, std::size_t a, std::size_t b) {
    return (operator_class * operand_count + a) * operand_count + b;
  }
  static bool has(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  std::vector<std::string> own_rules_;    // the operators that have one
  std::vector<std::string> for_unequal_;  // those that have one for operands of different codes only
  bool checks_integers_;
  bool saturates_;
  std::vector<std::uint8_t> cells_;
};

// The table of the rule set a `rules=` argument means: None is the one in force, else it is a rule
// set or the name of a loaded one. Null where Python must look closer. The table lives at least as
// long as `keep`.
const RuleTable* rules_argument(PyObject* rules, nb::object& keep);

// Whether the rule set in force makes conversions to float8_e4m3fn saturate; within a block that runs
// without the GIL, the one that was in force where it began.
bool float8_saturates();

// Keeps the answer while a thread has not the GIL.
class SaturatingKept {
 public:
  SaturatingKept();
  SaturatingKept(const SaturatingKept&) = delete;
  SaturatingKept& operator=(const SaturatingKept&) = delete;
  ~SaturatingKept();

 private:
  int before_;
};

// Raises what a Python function makes of a refusal: it gets the rule set, the operator and the codes of
// its operands. Null without an exception, so that Python meets it by itself, while there is no function
// or where an operand is a number, whose value the message shows.
PyObject* raise_refusal(PyObject* function, PyObject* rules, PyObject* op, const std::size_t* codes, int count);

// The class of the operator of a name; class_count if it is not a known one.
std::size_t operator_class(PyObject* name);

}  // namespace suanzi
