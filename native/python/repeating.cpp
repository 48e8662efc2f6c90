// native/python/repeating.cpp: finds what was kept of an earlier call, runs it, and wraps what comes of it.
//
// A small call on a device costs what its host does. Here the key of a call is one tuple, tensors of a device are read
// and made by the offsets of their slots, and a kernel that needs nothing of Python is started at once.
#include "calls/repeating.h"

#include <structmember.h>

#include <array>

#include "core/rules.h"
#include "python/launching.h"
#include "python/slots.h"

namespace suanzi {

PyTypeObject* repeated_type = nullptr;

namespace {

enum Slot : int { plain, device, dtype, shape, likeness, is_array_api, slot_count };
constexpr const char* slot_names[] = {"_plain", "_device", "_dtype", "_shape", "_likeness", "is_array_api"};
Py_ssize_t offsets[slot_count];
// What Python declared, for as long as the process: the kept calls, what decides about domains, the array API's
// rules, NumPy's numbers, what reads other arguments, the errors of suanzi, and what wraps other shapes.
PyObject *plans, *domains, *own_rules, *numpy_number, *read_other, *status_error, *wrap_other;

PyObject*& slot_of(PyObject* tensor, Slot slot) {
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(tensor) + offsets[slot]);
}

bool is_ours(PyObject* x) { return Py_TYPE(x) == repeated_type; }

// What was kept of a call.
struct KeptCall {
  nb::object plan, like;
  std::vector<std::size_t> places;  // which arguments are the tensors of the plan
  bool is_steady;
  nb::object held;  // keeps the program
  const Program* program = nullptr;
  nb::object shape, strides;

  KeptCall(nb::object p, const std::vector<std::size_t>& at, nb::object model)
      : plan(std::move(p)), like(std::move(model)), places(at), is_steady(nb::cast<bool>(plan.attr("is_steady"))) {
    if (!is_ours(like.ptr())) throw nb::type_error("not a tensor of a device");
    if (places.size() > Program::most_tensors) throw nb::type_error("too many tensors to be kept");
    shape = plan.attr("shape");
    strides = plan.attr("strides");
    look();
  }

  // A program is there once the plan has run with aligned tensors.
  void look() {
    held = plan.attr("program");
    program = held.is_none() ? nullptr : nb::cast<const Program*>(held);
  }
};

// Parts of a key, most of which are borrowed.
class Parts {
 public:
  ~Parts() {
    for (std::size_t i = 0; i < count_; ++i) Py_DECREF(items_[i]);
  }
  bool add(PyObject* borrowed) { return take(Py_XNewRef(borrowed)); }
  bool take(PyObject* owned) {
    if (!owned) return false;
    if (count_ == most) {
      Py_DECREF(owned);
      PyErr_SetString(PyExc_TypeError, "too many arguments to be kept");
      return false;
    }
    items_[count_++] = owned;
    return true;
  }
  PyObject* tuple() {
    PyObject* made = PyTuple_New(static_cast<Py_ssize_t>(count_));
    if (!made) return nullptr;
    for (std::size_t i = 0; i < count_; ++i) PyTuple_SET_ITEM(made, static_cast<Py_ssize_t>(i), items_[i]);
    count_ = 0;
    return made;
  }

 private:
  static constexpr std::size_t most = 64;
  PyObject* items_[most];
  std::size_t count_ = 0;
};

// Adds a number that stands for dtype, shape, strides and device; it is 0 until it is asked for, and once destroyed.
bool add_likeness(Parts& parts, PyObject* tensor) {
  PyObject* known = slot_of(tensor, likeness);
  static PyObject* const zero = PyLong_FromLong(0);
  if (known && known != zero) return parts.add(known);
  static PyObject* const name = PyUnicode_InternFromString("likeness");
  return parts.take(PyObject_GetAttr(tensor, name));
}

bool add_argument(Parts& parts, PyObject* x) {
  PyTypeObject* type = Py_TYPE(x);
  if (type == repeated_type) return add_likeness(parts, x);
  auto* kind = reinterpret_cast<PyObject*>(type);
  if (type == &PyLong_Type || type == &PyUnicode_Type || type == &PyBool_Type || x == Py_None)
    return parts.add(kind) && parts.add(x);
  if (type == &PyFloat_Type && PyFloat_AS_DOUBLE(x) != 0) return parts.add(kind) && parts.add(x);
  if (type == &PyTuple_Type) return parts.take(PyObject_CallOneArg(read_other, x));
  int is_number = PyFloat_Check(x) || PyComplex_Check(x) ? 1 : PyObject_IsInstance(x, numpy_number);
  if (is_number < 0) return false;
  // Zeros of both signs are equal, and so are numbers of several types.
  return parts.add(kind) && (is_number ? parts.take(PyObject_Repr(x)) : parts.add(x));
}

// What a plan depends on: operator, rule set, choice about domains, and the arguments with the names they have.
PyObject* key_of(PyObject* key, PyObject* rules, PyObject* const* args, std::size_t count, PyObject* names) {
  Parts parts;
  PyObject* chosen = nullptr;
  if (PyContextVar_Get(domains, Py_None, &chosen) < 0) return nullptr;
  if (!parts.add(key) || !parts.add(rules) || !parts.take(chosen)) return nullptr;
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
    if (!parts.add(PyTuple_GET_ITEM(names, i))) return nullptr;
  for (std::size_t i = 0; i < count; ++i)
    if (!add_argument(parts, args[i])) return nullptr;
  return parts.tuple();
}

nb::object rules_here() {
  nb::object keep;
  rules_argument(Py_None, keep);
  return keep;
}

// Forgets an error that the long way meets again, and names; any other is the call's.
void forget_error(bool of_key) {
  const bool expected = of_key ? PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(status_error)
                               : PyErr_ExceptionMatches(PyExc_AttributeError) ||
                                     PyErr_ExceptionMatches(PyExc_RuntimeError) ||
                                     PyErr_ExceptionMatches(PyExc_MemoryError);
  if (expected) PyErr_Clear();
}

// What a plan of Python makes.
nb::object run_plan(KeptCall& kept, PyObject* const* plains) {
  static PyObject* const run = PyUnicode_InternFromString("run");
  nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(kept.places.size())));
  if (!list.is_valid()) return list;
  for (std::size_t i = 0; i < kept.places.size(); ++i)
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(plains[i]));
  PyObject* given[] = {kept.plan.ptr(), list.ptr()};
  nb::object made = nb::steal(PyObject_VectorcallMethod(run, given, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
  if (made.is_valid() && !kept.program) kept.look();
  return made;
}

// Whether a result has the shape and strides of the first one; below 0 with an exception.
int is_alike(const KeptCall& kept, PyObject* made) {
  static PyObject *const shape_name = PyUnicode_InternFromString("shape"), *const stride_name =
                                                                               PyUnicode_InternFromString("stride");
  nb::object shape = nb::steal(PyObject_GetAttr(made, shape_name));
  if (!shape.is_valid()) return -1;
  int same = PyObject_RichCompareBool(shape.ptr(), kept.shape.ptr(), Py_EQ);
  if (same <= 0) return same;
  nb::object strides = nb::steal(PyObject_CallMethodNoArgs(made, stride_name));
  return strides.is_valid() ? PyObject_RichCompareBool(strides.ptr(), kept.strides.ptr(), Py_EQ) : -1;
}

// A tensor of a device like another, on other memory.
PyObject* wrapped(PyObject* like, nb::object made) {
  PyObject* tensor = repeated_type->tp_alloc(repeated_type, 0);
  if (!tensor) return nullptr;
  slot_of(tensor, plain) = made.release().ptr();
  for (int i = plain + 1; i < slot_count; ++i)
    slot_of(tensor, static_cast<Slot>(i)) = Py_XNewRef(slot_of(like, static_cast<Slot>(i)));
  return tensor;
}

PyObject* answer(KeptCall& kept, PyObject* const* args, std::size_t count) {
  PyObject* plains[Program::most_tensors];
  nb::object held[Program::most_tensors];  // another thread may destroy them
  const std::size_t places = kept.places.size();
  for (std::size_t i = 0; i < places; ++i) {
    const std::size_t at = kept.places[i];
    PyObject* found = at < count && is_ours(args[at]) ? slot_of(args[at], plain) : nullptr;
    if (!found) return nullptr;
    held[i] = nb::borrow(found);
    plains[i] = found;
  }
  nb::object made;
  if (kept.program) made = nb::steal(kept.program->run(plains, places));
  if (!made.is_valid() && !PyErr_Occurred()) made = run_plan(kept, plains);
  int alike = !made.is_valid() ? -1 : kept.is_steady ? 1 : is_alike(kept, made.ptr());
  if (alike < 0) {
    forget_error(false);
    return nullptr;
  }
  if (alike) return wrapped(kept.like.ptr(), std::move(made));
  PyObject* given[] = {made.ptr(), kept.like.ptr()};
  return PyObject_Vectorcall(wrap_other, given, 2, nullptr);
}

// ---- Python's symbols ---------------------------------------------------------------------------

struct Symbol {
  PyObject *key, *function;
  PyMethodDef definition;
};
constexpr std::size_t most_symbols = 24;
std::array<Symbol, most_symbols> symbols;
std::size_t symbol_count = 0;

bool is_standards(PyObject* tensor) { return slot_of(tensor, is_array_api) == Py_False; }

// Tensors and plain numbers of the standard's operators: symbols of the array API's namespace mean other functions.
PyObject* call_symbol(const Symbol& symbol, PyObject* self, PyObject* other) {
  PyObject* args[] = {self, other};
  const bool is_known = is_ours(other) ? is_standards(other) : PyFloat_CheckExact(other) || PyLong_CheckExact(other);
  if (is_known && is_ours(self) && is_standards(self) && rules_here().ptr() != own_rules) {
    PyObject* made = repeated(symbol.key, args, 2, nullptr);
    if (made || PyErr_Occurred()) return made;
  }
  return PyObject_Vectorcall(symbol.function, args, 2, nullptr);
}

template <std::size_t... i>
constexpr auto make_entries(std::index_sequence<i...>) {
  return std::array<PyCFunction, sizeof...(i)>{
      [](PyObject* self, PyObject* other) { return call_symbol(symbols[i], self, other); }...};
}
constexpr auto entries = make_entries(std::make_index_sequence<most_symbols>{});

nb::object repeated_symbol(nb::str name, nb::handle key, nb::handle function) {
  if (!repeated_type) throw nb::value_error("no type of tensors was declared");
  if (symbol_count == most_symbols) throw nb::value_error("too many symbols");
  Symbol& symbol = symbols[symbol_count];
  symbol = {key.inc_ref().ptr(),
            function.inc_ref().ptr(),
            {PyUnicode_AsUTF8(name.inc_ref().ptr()), entries[symbol_count], METH_O, nullptr}};
  symbol.definition.ml_doc = "Compute an operator of two operands.";
  ++symbol_count;
  return raise_or(PyDescr_NewMethod(repeated_type, &symbol.definition));
}

// ---- what Python declares and calls ----------------------------------------------------------------

void keep_for_ever(PyObject*& slot, nb::handle value) { slot = value.inc_ref().ptr(); }

void use_repeated(nb::handle type, nb::dict kept, nb::handle domain, nb::handle rules, nb::handle number,
                  nb::handle other, nb::handle status, nb::handle wrap) {
  if (!PyType_Check(type.ptr()) || !PyContextVar_CheckExact(domain.ptr())) throw nb::type_error("no type or variable");
  for (int i = 0; i < slot_count; ++i) {
    nb::object found = type.attr(slot_names[i]);
    if (Py_TYPE(found.ptr()) != &PyMemberDescr_Type) throw nb::type_error("not a slot");
    offsets[i] = reinterpret_cast<PyMemberDescrObject*>(found.ptr())->d_member->offset;
  }
  keep_for_ever(plans, kept);
  keep_for_ever(domains, domain);
  keep_for_ever(own_rules, rules);
  keep_for_ever(numpy_number, number);
  keep_for_ever(read_other, other);
  keep_for_ever(status_error, status);
  keep_for_ever(wrap_other, wrap);
  repeated_type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
}

// The arguments of a call of Python, those with names last.
struct Given {
  std::vector<PyObject*> all;
  nb::object names;

  Given(const nb::tuple& args, const nb::dict& named) {
    for (nb::handle x : args) all.push_back(x.ptr());
    if (!named.size()) return;
    names = nb::tuple(named.keys());
    for (auto item : named) all.push_back(item.second.ptr());
  }
};

nb::object facts_of(nb::handle key, const nb::tuple& args, const nb::dict& named) {
  Given given(args, named);
  return raise_or(key_of(key.ptr(), rules_here().ptr(), given.all.data(), given.all.size(), given.names.ptr()));
}

nb::object again(nb::handle key, const nb::tuple& args, const nb::dict& named) {
  Given given(args, named);
  PyObject* made = repeated(key.ptr(), given.all.data(), given.all.size(), given.names.ptr());
  if (!made && PyErr_Occurred()) throw nb::python_error();
  return made ? nb::steal(made) : nb::borrow(Py_NotImplemented);
}

}  // namespace

PyObject* repeated(PyObject* key, PyObject* const* args, std::size_t count, PyObject* names) {
  nb::object rules = rules_here();
  if (!rules.is_valid() || !key) return nullptr;  // nobody asked for rules yet
  nb::object facts = nb::steal(key_of(key, rules.ptr(), args, count, names));
  PyObject* found = facts.is_valid() ? PyDict_GetItemWithError(plans, facts.ptr()) : nullptr;
  if (!found) {
    if (PyErr_Occurred()) forget_error(true);
    return nullptr;
  }
  nb::object kept = nb::borrow(found);  // another thread may forget it
  try {
    return answer(*nb::inst_ptr<KeptCall>(kept), args, count);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception&) {
    PyErr_NoMemory();
  }
  return nullptr;
}

void init_repeating(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<KeptCall>(m, "KeptCall", "A plan for calls like one that was made, and its outcome.")
      .def(
          "__init__",
          [](KeptCall* self, nb::object plan, const nb::tuple& places, nb::object like) {
            std::vector<std::size_t> at;
            for (nb::handle one : places) at.push_back(nb::cast<std::size_t>(one));
            new (self) KeptCall(std::move(plan), at, std::move(like));
          },
          "plan"_a, "places"_a, "like"_a,
          nb::sig("def __init__(self, plan: Any, places: tuple[int, ...], like: Any) -> None"),
          "The plan, which arguments are its tensors, and a tensor like the result.");
  define(m,
         "def use_repeated(type: type, plans: dict[Any, KeptCall], domains: object, rules: object, number: type, "
         "other: Any, status: type, wrap: Any) -> None",
         "Says what a kept call is found by, and what makes its result: see suanzi.runtimes.torch.repeating.",
         use_repeated);
  define(m, "def repeated_symbol(name: str, key: str, function: Any) -> Any",
         "A method for a symbol of Python that tries first what was kept, and then a function.", repeated_symbol);
  define(m, "def facts(key: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]",
         "What the plan of a call depends on.", facts_of);
  define(m, "def again(key: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any",
         "The result of a call whose plan was kept, or NotImplemented.", again);
}

}  // namespace suanzi
