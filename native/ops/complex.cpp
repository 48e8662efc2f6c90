// native/ops/complex.cpp: 7.2.15: complex numbers of two parts, their conjugates, and views of a part.
#include "kernels/complex.h"

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/operands.h"
#include "core/status.h"
#include "loops/blocks.h"

namespace suanzi {
namespace {

// The complex dtype of which a dtype is the part; false if there is none.
bool complex_of(Dtype part, Dtype& made) {
  if (part == Dtype::float16) made = Dtype::complex32;
  else if (part == Dtype::float32) made = Dtype::complex64;
  else if (part == Dtype::float64) made = Dtype::complex128;
  else return false;
  return true;
}

// 0, 1 or 2 for parts of 2, 4 or 8 bytes.
std::size_t size_index(Dtype part) { return static_cast<std::size_t>(layer_of(part).log2_size) - 1; }

// ---- a dense output, block by block -------------------------------------------------------------

// Calls fill(position, out, n) for blocks of the output: in its memory, or in a buffer that goes past
// the caches to it.
template <class Fill>
void write_blocks(const Loop& loop, std::byte* out, Dtype dtype, Fill&& fill) {
  const Kernels& k = kernels();
  Path none_needed;
  Writer writer(loop, k, none_needed, out, dtype);
  auto block = static_cast<std::int64_t>(block_elements(item(dtype)));
  parallel_for(loop.size, grain, [&](std::int64_t begin, std::int64_t end) {
    Buffer buffers[2];
    for (std::int64_t p = begin; p < end; p += block) {
      auto n = static_cast<std::size_t>(std::min(block, end - p));
      fill(p, writer.target(p, buffers), n);
      writer.put(p, n, buffers);
    }
    writer.finish();
  });
}

void run_pairs(const Loop& loop, Dtype part, std::byte* out, Dtype dtype) {
  const Kernels& k = kernels();
  Path none_needed;
  Reader x(loop, loop.inputs[0], k, none_needed), y(loop, loop.inputs[1], k, none_needed);
  auto pairs = k.complex_numbers->pairs[size_index(part)];
  auto size = item(part);
  Repeat repeat = x.repeats() ? Repeat::left : y.repeats() ? Repeat::right : Repeat::neither;
  write_blocks(loop, out, dtype, [&](std::int64_t p, std::byte* to, std::size_t n) {
    Buffer in_x[2], in_y[2], whole;
    const std::byte* second = x.repeats() ? y.spread(in_y, whole, size, n) : nullptr;  // both may be one value
    pairs(x.read(p, n, in_x), second ? second : y.read(p, n, in_y), to, n, repeat);
  });
}

// Null and an exception when there is no memory; without one, the shapes do not go together.
PyObject* make_complex(const Operand* operands) {
  Dtype part = operands[0].dtype, dtype;
  if (operands[1].dtype != part || !complex_of(part, dtype)) return nullptr;
  Together together(operands, 2);
  if (!together.fits()) return nullptr;
  PyObject* made = together.new_output(dtype);
  if (!made) return nullptr;
  Loop loop;
  together.make_loop(loop);
  std::byte* out = tensor_of(made)->data();
  if (loop.size > 0) run_loop(loop.size, operands, 2, [&] { run_pairs(loop, part, out, dtype); });
  return made;
}

PyObject* conjugate(const Tensor& t) {
  Operand operand;
  operand.tensor = &t;
  operand.dtype = t.dtype;
  Together together(&operand, 1);
  PyObject* made = together.new_output(t.dtype);
  if (!made) return nullptr;
  Loop loop;
  together.make_loop(loop);
  std::byte* out = tensor_of(made)->data();
  auto negate_imaginary = kernels().complex_numbers->conjugate[size_index(part_of(t.dtype))];
  if (loop.size == 0) return made;
  run_loop(loop.size, &operand, 1, [&] {
    Path none_needed;
    Reader x(loop, loop.inputs[0], kernels(), none_needed);
    write_blocks(loop, out, t.dtype, [&](std::int64_t p, std::byte* to, std::size_t n) {
      Buffer in[2], whole;
      const std::byte* repeated = x.spread(in, whole, x.itemsize(), n);
      negate_imaginary(repeated ? repeated : x.read(p, n, in), to, n);
    });
  });
  return made;
}

// ---- views on a part ----------------------------------------------------------------------------

// A storage has one dtype, so that the parts are a storage of their own on the same memory, which
// keeps the first one alive.
PyObject* part_view(const Tensor& t, bool imaginary) {
  Storage* base = t.storage;
  base->retain();
  Storage* parts = adopt_storage(
      part_of(t.dtype), 2 * base->size, base->data, base->read_only,
      [](void* kept) { release_storage(static_cast<Storage*>(kept)); }, base);
  if (!parts) {
    release_storage(base);
    return no_memory();
  }
  std::int64_t strides[max_ndim];
  for (int d = 0; d < t.ndim(); ++d) strides[d] = 2 * t.strides()[d];
  return new_tensor(parts, 2 * t.offset + (imaginary && t.size > 0), t.ndim(), t.dims(), strides);
}

// ---- the fast paths -----------------------------------------------------------------------------

PyObject* fast_complex(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Given given({"real", "imag"}, args, count, keywords);
  if (!given[0] || !given[1]) return nullptr;
  Operand operands[2];
  for (int i = 0; i < 2; ++i)
    if (!read_tensor(given[i]) || !read_operand(given[i], operands[i])) return nullptr;
  return make_complex(operands);
}

enum class Of { conj, real, imag };

template <Of which>
PyObject* fast_part(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (count != 1 || keywords) return nullptr;
  const Tensor* t = read_tensor(args[0]);
  if (!t) return nullptr;
  if (facts(t->dtype).is_complex()) return which == Of::conj ? conjugate(*t) : part_view(*t, which == Of::imag);
  if (!facts(t->dtype).is_number()) return nullptr;
  if (which != Of::imag) return Py_NewRef(args[0]);
  if (t->size >= grain) return nullptr;
  PyObject* made = new_dense_tensor(t->dtype, t->ndim(), t->dims());
  if (made) std::memset(tensor_of(made)->data(), 0, static_cast<std::size_t>(t->size) * t->itemsize());
  return made;
}

const Tensor& checked_complex(nb::handle object) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || !facts(t->dtype).is_complex()) throw nb::value_error("not a complex tensor");
  return *t;
}

}  // namespace

void init_complex(nb::module_& m) {
  add_fast_path<fast_complex>("complex");
  add_fast_path<fast_part<Of::conj>>("conj");
  add_fast_path<fast_part<Of::real>>("real");
  add_fast_path<fast_part<Of::imag>>("imag");
  define(m, "def make_complex(real: Any, imag: Any) -> Tensor", "Complex numbers of two parts.",
         [](nb::handle real, nb::handle imag) {
           Operand operands[2];
           if (!read_tensor(real.ptr()) || !read_tensor(imag.ptr()) || !read_operand(real.ptr(), operands[0]) ||
               !read_operand(imag.ptr(), operands[1]))
             throw nb::type_error("not a tensor");
           PyObject* made = make_complex(operands);
           if (!made && !PyErr_Occurred()) throw nb::value_error("not what complex takes");
           return raise_or(made);
         });
  define(m, "def conjugate(input: Any) -> Tensor", "The conjugates of complex numbers.",
         [](nb::handle input) { return raise_or(conjugate(checked_complex(input))); });
  define(m, "def part_view(input: Any, imaginary: bool) -> Tensor",
         "The real or the imaginary parts, on the same memory.",
         [](nb::handle input, bool imaginary) { return raise_or(part_view(checked_complex(input), imaginary)); });
}

}  // namespace suanzi
