// native/python/module.cpp: the module suanzi._core, put together from its parts.
#include <nanobind/typing.h>

#include <cstring>
#include <new>

#include "core/room.h"
#include "core/status.h"
#include "core/without_gil.h"

namespace nb = nanobind;

namespace suanzi {
#define PART(name) void init_##name(nb::module_& m);
#include "python/parts.def"
#undef PART

std::vector<std::string> parameters_of(const char* signature) {
  std::vector<std::string> found;
  int depth = 0;
  const char* begin = nullptr;  // of a name that has not ended
  for (const char* at = std::strchr(signature, '('); *at; ++at) {
    if (begin && (*at == ':' || *at == ',' || *at == ')')) {
      if (at > begin) found.emplace_back(begin, at);
      begin = nullptr;
    }
    depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
    if (!depth) break;
    if (depth == 1 && (*at == '(' || *at == ',')) begin = at + (at[1] == ' ' ? 2 : 1);
  }
  return found;
}

}  // namespace suanzi

// nanobind's function that creates the module, under another name; PyInit__core comes below.
#define PyInit__core init_by_nanobind
NB_MODULE(_core, m) {
  // The dtypes and the rule sets live as long as the process, on purpose.
  nb::set_leak_warnings(false);
  suanzi::deepen_stack();
  // glibc ends the process where it has no memory for a library's data of a thread when that is first used: so this
  // is the first use of what throws exceptions.
  (void)std::uncaught_exceptions();
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    // None: Python is shutting down, and unwinds a thread that was in Python code (see core/without_gil.cpp).
    if (!thrown) suanzi::wait_for_exit();
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      suanzi::no_memory();
    }
  });
  m.doc() = "The compiled core of suanzi.";
  m.attr("VERSION") = SUANZI_VERSION;
  m.attr("F") = nb::type_var("F");
#define PART(name) suanzi::init_##name(m);
#include "python/parts.def"
#undef PART
}
#undef PyInit__core

namespace {

// The tables of dtypes, rules and functions belong to the process: a second interpreter would replace those of the
// first. It is refused before nanobind binds anything.
bool is_refused() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return false;
  PyErr_SetString(PyExc_ImportError,
                  "suanzi does not support subinterpreters: import it in the main interpreter, or use processes");
  return true;
}

int (*execute_by_nanobind)(PyObject*) = nullptr;
int execute(PyObject* module) { return is_refused() ? -1 : execute_by_nanobind(module); }

}  // namespace

extern "C" NB_EXPORT PyObject* PyInit__core() {
  PyObject* made = is_refused() ? nullptr : init_by_nanobind();
  if (!made || !PyObject_TypeCheck(made, &PyModuleDef_Type)) return made;
  // Python 3.13 calls this function in the main interpreter, and only what fills the module in the one that imports.
  for (PyModuleDef_Slot* slot = reinterpret_cast<PyModuleDef*>(made)->m_slots; slot && slot->slot; ++slot)
    if (slot->slot == Py_mod_exec && slot->value != reinterpret_cast<void*>(execute)) {
      execute_by_nanobind = reinterpret_cast<int (*)(PyObject*)>(slot->value);
      slot->value = reinterpret_cast<void*>(execute);
    }
  return made;
}
