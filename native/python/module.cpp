// native/python/module.cpp: the module suanzi._core, put together from its parts.
#include <nanobind/nanobind.h>
#include <nanobind/typing.h>

namespace nb = nanobind;

// In the order in which they need one another.
#define PARTS \
  PART(dtypes) PART(rules) PART(promote) PART(fast_functions) PART(tensor) PART(operators) PART(calls) PART(creation) \
  PART(lists) PART(views) PART(subscripts) PART(joining) PART(gather_scatter) PART(masked_select) \
  PART(argmax) PART(argsort) PART(nonzero) PART(complex) PART(interpolation) \
  PART(reduction) PART(cumsum) PART(sparse) PART(quantized) PART(matmul) PART(dlpack) \
  PART(lapack)

namespace suanzi {
#define PART(name) void init_##name(nb::module_& m);
PARTS
#undef PART
}  // namespace suanzi

NB_MODULE(_core, m) {
  // The dtypes and the rule sets live as long as the process, on purpose.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled core of suanzi.";
  m.attr("VERSION") = SUANZI_VERSION;
  m.attr("F") = nb::type_var("F");
#define PART(name) suanzi::init_##name(m);
  PARTS
#undef PART
}
