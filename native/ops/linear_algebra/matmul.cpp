// native/ops/linear_algebra/matmul.cpp: 7.2.17.1, 7.2.17.2, 7.2.17.12: shapes, dtypes and fast paths of products.

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/operators.h"
#include "calls/promoted.h"
#include "core/status.h"
#include "ops/indexing/repeated.h"
#include "ops/linear_algebra/matmul_ways.h"
#include "ops/linear_algebra/provider.h"

namespace suanzi {
namespace {

// Whether an operand must be converted to the promoted dtype before it is widened again. Integers wrap in any of their
// dtypes, but a float becomes the nearest end of the one that it is converted to.
bool rounds(Dtype source, Dtype promoted, Dtype operand) {
  if (source == promoted || promoted == operand) return false;
  if (facts(promoted).is_integer()) return facts(source).is_inexact();
  return !holds_exactly(part_of(promoted), part_of(source));
}

// Reads shapes as numpy.matmul does; false if they do not go together. With `transposed`, the last two
// axes of b are exchanged.
bool read_shapes(const Tensor& a, const Tensor& b, bool transposed, Product& p) {
  int na = a.ndim(), nb = b.ndim();
  if (na < 1 || nb < 1) return false;
  p.a.data = a.data(), p.b.data = b.data();
  p.a.dtype = a.dtype, p.b.dtype = b.dtype;
  p.k = a.dims()[na - 1];
  p.a.column = a.strides()[na - 1];
  p.m = na > 1 ? a.dims()[na - 2] : 1;
  p.a.row = na > 1 ? a.strides()[na - 2] : 0;
  int along = nb == 1 ? 0 : transposed ? nb - 1 : nb - 2, across = transposed ? nb - 2 : nb - 1;
  if (b.dims()[along] != p.k) return false;
  p.b.row = b.strides()[along];
  p.n = nb > 1 ? b.dims()[across] : 1;
  p.b.column = nb > 1 ? b.strides()[across] : 0;
  int batch_a = std::max(na - 2, 0), batch_b = std::max(nb - 2, 0);
  p.batch_ndim = std::max(batch_a, batch_b);
  for (int d = 0; d < p.batch_ndim; ++d) {
    int da = d - (p.batch_ndim - batch_a), db = d - (p.batch_ndim - batch_b);
    std::int64_t size_a = da >= 0 ? a.dims()[da] : 1, size_b = db >= 0 ? b.dims()[db] : 1;
    if (size_a != size_b && size_a != 1 && size_b != 1) return false;
    p.batch[d] = p.dims[d] = size_a == 1 ? size_b : size_a;
    p.a.batch[d] = size_a == 1 ? 0 : a.strides()[da];
    p.b.batch[d] = size_b == 1 ? 0 : b.strides()[db];
  }
  p.ndim = p.batch_ndim;
  if (na > 1) p.dims[p.ndim++] = p.m;
  if (nb > 1) p.dims[p.ndim++] = p.n;
  return p.ndim <= max_ndim;
}

// Makes the rows of many matrices, all multiplied by one, the rows of a single matrix. Of a result without
// elements they may be more than can be counted.
void fold(Product& p) {
  while (p.batch_ndim > 0) {
    int d = p.batch_ndim - 1;
    std::int64_t size = p.batch[d];
    if (size != 1) {
      if (p.b.batch[d] != 0 || (p.m != 1 && p.a.batch[d] != p.m * p.a.row)) return;
      if (p.m == 1) p.a.row = p.a.batch[d];
      p.m *= size;
    }
    --p.batch_ndim;
  }
}

// ---- tensors ------------------------------------------------------------------------------------

// An operand rounded to the dtype of the product, where widening it alone would be another number.
nb::object rounded(PyObject* x, Dtype promoted, Dtype operand) {
  if (!rounds(tensor_of(x)->dtype, promoted, operand)) return nb::borrow(x);
  nb::object cast = nb::module_::import_("suanzi._core").attr("cast");
  return cast(nb::handle(x), nb::handle(dtype_object(static_cast<std::size_t>(promoted))), false);
}

// The bias in the dtype of sums, dense.
bool read_bias(PyObject* object, Product& p, OwnMemory& memory) {
  if (!object || p.ndim == 0) return true;
  const Tensor& t = *tensor_of(object);
  Matrix x{t.data(), 0, t.strides()[0]};
  if (!make_contiguous(x, t.dtype, p.way.sum, 1, t.size, memory)) return false;
  p.bias = x.data;
  return true;
}

// Null without an exception if shapes do not go together; they are checked before anything is made.
PyObject* product(PyObject* left, PyObject* right, Dtype promoted, PyObject* bias, bool transposed) {
  Product p;
  if (!read_shapes(*tensor_of(left), *tensor_of(right), transposed, p)) return nullptr;
  std::int64_t size;
  if (!element_count(p.ndim, p.dims, size)) return PyErr_NoMemory();
  if (size > 0 && p.k >= long_walk && p.a.column == 0 && p.b.row == 0) {
    set_status("AllocFailed",
               "the axis that is summed repeats the elements of both tensors 2^33 times or more; "
               "multiply them once, and the product by that number.");
    return nullptr;
  }
  p.result = promoted;
  if (size > 0) fold(p);
  p.way = way_of(promoted, tensor_of(left)->dtype, tensor_of(right)->dtype, p.is_of_matrices());
  nb::object a = rounded(left, promoted, p.way.operand), b = rounded(right, promoted, p.way.operand), c;
  if (bias) c = rounded(bias, promoted, p.way.sum);
  // Rounding and loading BLAS run Python, and with it other threads, which may destroy a tensor.
  auto alive = [&] {
    if (read_tensor(a.ptr()) && read_tensor(b.ptr()) && (!bias || read_tensor(c.ptr()))) return true;
    set_status("UninitializedObject", "the tensor was destroyed.");
    return false;
  };
  if (!alive()) return nullptr;
  if (a.ptr() != left || b.ptr() != right) {
    read_shapes(*tensor_of(a.ptr()), *tensor_of(b.ptr()), transposed, p);
    if (size > 0) fold(p);
  }
  if (wants_bf16(p)) p.of_bf16 = kernels().products->multiply_bf16;
  Provider* blas = size > 0 && p.wants_blas() ? provider() : nullptr;
  // Who chose another provider has it multiply.
  const TileKernels* tiles = kernels().products->tiles;
  if (size > 0 && tiles && p.wants_tiles() && (!blas || blas->library == Library::scipy))
    p.by_tiles = tiles->multiply[static_cast<std::size_t>(p.way.kernel)];
  if (!alive()) return nullptr;
  OwnMemory bias_memory;
  if (!read_bias(bias ? c.ptr() : nullptr, p, bias_memory)) return PyErr_NoMemory();
  PyObject* made = new_dense_tensor(promoted, p.ndim, p.dims);
  if (!made) return nullptr;
  p.out = tensor_of(made)->data();
  if (size == 0) return made;
  Kept keep_a(*tensor_of(a.ptr())), keep_b(*tensor_of(b.ptr()));
  bool is_long = p.work() * static_cast<double>(p.count()) >= 1 << 15;
  bool keeps_single = p.work() > single_work;
  // Without it our own kernels are slower, but there.
  if (blas && !p.by_tiles && blas->has_blas && blas->begin(keeps_single)) p.blas = blas;
  bool good;
  {
    PyThreadState* state = is_long ? PyEval_SaveThread() : nullptr;
    good = run_product(p);
    if (state) take_gil(state);
  }
  if (p.blas) blas->end(keeps_single);
  if (!good) {
    Py_DECREF(made);
    return PyErr_NoMemory();
  }
  return made;
}

// ---- the fast paths --------------------------------------------------------------------

// What each of them is called, for its operator class and for rule sets that have a rule for one operator.
enum Which { is_matmul, is_dot, is_linear };
constexpr const char* names[] = {"matmul", "dot", "linear"};

// The dtype two tensors are promoted to, if the rule table knows it and products take it.
bool promoted_of(Which which, PyObject* a, PyObject* b, Dtype& promoted) {
  nb::object keep;
  const RuleTable* table = rules_argument(Py_None, keep);
  static std::size_t classes[] = {RuleTable::class_count, RuleTable::class_count, RuleTable::class_count};
  std::size_t& its_class = classes[which];
  if (its_class == RuleTable::class_count) its_class = operator_class(nb::str(names[which]).ptr());
  if (!table || its_class == RuleTable::class_count) return false;
  Operand x, y;
  if (!read_operand(a, x) || !read_operand(b, y)) return false;
  const std::size_t codes[] = {operand_code(a, x, *table), operand_code(b, y, *table)};
  if (table->gates(names[which], codes[0], codes[1])) return false;
  std::uint8_t cell = table->get(its_class, codes[0], codes[1]);
  if (cell == RuleTable::refused) {
    refuse_dtypes(names[which], keep.ptr(), codes, 2);
  }
  if (cell >= dtype_count) return false;
  promoted = static_cast<Dtype>(cell);
  return facts(promoted).is_inexact() ||
         (which != is_linear && facts(promoted).is_integer() && facts(promoted).bits >= 8);
}

// What a fast path made; nothing without an exception means that the shapes do not go together.
PyObject* or_refused(Which which, PyObject* const* args, PyObject* made) {
  if (made) return made;
  if (PyErr_Occurred()) PyErr_Clear();  // Python meets it again, and says it in the operator's name
  else refuse_shapes(names[which], args[0], args[1]);
  return nullptr;
}

template <Which which>
PyObject* fast_product(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (keywords || count != 2) return nullptr;
  const Tensor *a = read_tensor(args[0]), *b = read_tensor(args[1]);
  if (!a || !b || a->ndim() < 1 || b->ndim() < 1 || (which == is_dot && b->ndim() > 2)) return nullptr;
  Dtype promoted;
  if (facts(a->dtype).is_quantized() || facts(b->dtype).is_quantized() ||
      !promoted_of(which, args[0], args[1], promoted))
    return nullptr;
  return or_refused(which, args, product(args[0], args[1], promoted, nullptr, false));
}

PyObject* fast_linear(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (keywords || count < 2 || count > 3) return nullptr;
  const Tensor *x = read_tensor(args[0]), *w = read_tensor(args[1]);
  if (!x || !w || x->ndim() < 1 || w->ndim() != 2 || x->dtype != w->dtype) return nullptr;
  PyObject* bias = count == 3 && args[2] != Py_None ? args[2] : nullptr;
  if (bias) {
    const Tensor* t = read_tensor(bias);
    if (!t || t->dtype != x->dtype || t->ndim() != 1 || t->dims()[0] != w->dims()[0]) return nullptr;
  }
  Dtype promoted;
  if (facts(x->dtype).is_quantized() || !promoted_of(is_linear, args[0], args[1], promoted)) return nullptr;
  return or_refused(is_linear, args, product(args[0], args[1], promoted, bias, true));
}

// The linear layer of models takes real floats of one dtype; all else is Python's.
PyObject* fast_layer(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"nn:linear"};
  if (keywords || count < 2 || count > 3) return nullptr;
  const Tensor *x = read_tensor(args[0]), *w = read_tensor(args[1]);
  if (!x || !w || x->ndim() < 1 || w->ndim() != 2 || x->dtype != w->dtype || !facts(x->dtype).is_float() ||
      x->dims()[x->ndim() - 1] != w->dims()[1] || !promoted.keeps_dtype(args[0], args[1]))
    return nullptr;
  PyObject* bias = count == 3 && args[2] != Py_None ? args[2] : nullptr;
  if (bias) {
    const Tensor* t = read_tensor(bias);
    if (!t || t->dtype != x->dtype || t->ndim() != 1 || t->dims()[0] != w->dims()[0]) return nullptr;
  }
  return product(args[0], args[1], x->dtype, bias, true);
}

nb::object multiply_checked(nb::handle a, nb::handle b, const DtypeInfo& dtype, nb::handle bias, bool transposed) {
  const Tensor *x = read_tensor(a.ptr()), *y = read_tensor(b.ptr());
  if (!x || !y) throw nb::type_error("not a tensor");
  for (Dtype one : {x->dtype, y->dtype, dtype_of(dtype)})
    if (!facts(one).is_number()) throw nb::type_error("not a dtype of products");
  if (dtype.kind == Kind::Bool || dtype.bits < 8) throw nb::type_error("not a dtype of products");
  const Tensor* t = bias.is_none() ? nullptr : read_tensor(bias.ptr());
  if (!bias.is_none() && (!t || t->ndim() != 1 || y->ndim() != 2 || t->size != y->dims()[transposed ? 0 : 1]))
    throw nb::value_error("not a bias");
  PyObject* made = product(a.ptr(), b.ptr(), dtype_of(dtype), t ? bias.ptr() : nullptr, transposed);
  if (!made && !PyErr_Occurred()) throw nb::value_error("shapes do not go together");
  return raise_or(made);
}

}  // namespace

void init_matmul(nb::module_& m) {
  using namespace nb::literals;
  m.def("multiply", &multiply_checked, "a"_a, "b"_a, "dtype"_a, "bias"_a.none() = nb::none(), "transposed"_a = false,
        nb::sig("def multiply(a: Any, b: Any, dtype: DType, bias: Any = None, transposed: bool = False) -> Tensor"),
        "The product of matrices, vectors or batches of them, each converted to a dtype; with `transposed`, b is "
        "transposed.");
  define(m, "def products_by_instruction() -> list[str]",
         "The dtypes whose products this processor has instructions for that are in use.", [] {
           const ProductKernels& own = *kernels().products;
           nb::list names;
           if (own.multiply_bytes[0]) names.append("int8");
           if (own.multiply_bytes[1]) names.append("uint8");
           if (own.multiply_bf16) names.append("bfloat16");
           return names;
         });
  m.def(
      "products_in_tiles", [] { return kernels().products->tiles != nullptr; },
      "Whether large matrices of floats are multiplied by our own kernels, if no other provider was chosen.");
  add_fast_path<fast_product<is_matmul>>("matmul");
  add_fast_path<fast_product<is_dot>>("dot");
  add_fast_path<fast_linear>("linear");
  add_fast_path<fast_layer>("nn:linear");
}

}  // namespace suanzi
