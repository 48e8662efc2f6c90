// native/python/module.cpp: the module suanzi._core, put together from its parts.
#include <nanobind/typing.h>

#include "core/python.h"

NB_MODULE(_core, m) {
  namespace nb = nanobind;
  // The dtypes and the rule sets live as long as the process, on purpose.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled core of suanzi.";
  m.attr("VERSION") = SUANZI_VERSION;
  m.attr("F") = nb::type_var("F");
  suanzi::init_dtypes(m);
  suanzi::init_rules(m);
  suanzi::init_promote(m);
  suanzi::init_tensor(m);
  suanzi::init_operators(m);
  suanzi::init_calls(m);
  suanzi::init_creation(m);
  suanzi::init_lists(m);
  suanzi::init_views(m);
  suanzi::init_subscripts(m);
  suanzi::init_joining(m);
  suanzi::init_selecting(m);
  suanzi::init_masking(m);
  suanzi::init_rankings(m);
  suanzi::init_sorting(m);
  suanzi::init_nonzero(m);
  suanzi::init_complex_numbers(m);
  suanzi::init_interpolation(m);
  suanzi::init_reductions(m);
  suanzi::init_running(m);
  suanzi::init_sparse(m);
  suanzi::init_quantize(m);
  suanzi::init_products(m);
  suanzi::init_dlpack(m);
  suanzi::init_lapack(m);
}
