// native/python/module.cpp: the module suanzi._core, put together from its parts.
#include <nanobind/nanobind.h>
#include <nanobind/typing.h>

#include <exception>
#include <new>

#include "core/room.h"
#include "core/status.h"

namespace nb = nanobind;

namespace suanzi {
#define PART(name) void init_##name(nb::module_& m);
#include "python/parts.def"
#undef PART
}  // namespace suanzi

NB_MODULE(_core, m) {
  // The dtypes and the rule sets live as long as the process, on purpose.
  nb::set_leak_warnings(false);
  suanzi::deepen_stack();
  // glibc ends the process where it has no memory for a library's data of a thread when that is first used: so this
  // is the first use of what throws exceptions.
  (void)std::uncaught_exceptions();
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
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
