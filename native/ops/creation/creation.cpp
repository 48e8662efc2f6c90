// native/ops/creation/creation.cpp: 7.2.1.1, 7.2.1.3, 7.2.1.4, 7.2.1.5, 7.2.1.12, 7.2.1.13: new tensors, filled or not.
//
// The fast paths take shapes that are tuples or lists of Python's own integers, dtypes and numbers.
// Whatever else there is, or is wrong, the Python functions behind them read, and explain.
#include <nanobind/stl/vector.h>

#include <bit>
#include <cmath>
#include <cstdlib>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/operands.h"
#include "core/status.h"
#include "loops/blocks.h"

namespace suanzi {
namespace {

// ---- filling ----------------------------------------------------------------------------------

constexpr std::int64_t long_fill = 1 << 18;  // bytes from which on others may run meanwhile

// Repeats the first `size` bytes of `out`, a power of two, up to `whole`.
void double_up(std::byte* out, std::size_t size, std::size_t whole) noexcept {
  for (std::size_t done = size; done < whole; done *= 2) std::memcpy(out + done, out, std::min(done, whole - done));
}

// Writes a pattern again and again: whole ones, `bytes` in all.
void write_pattern(const Buffer& pattern, std::byte* out, std::int64_t bytes) noexcept {
#if defined(__aarch64__)
  // Registers are stored faster than memory is copied.
  typedef std::uint64_t Sixteen __attribute__((vector_size(16)));
  Sixteen one;
  std::memcpy(&one, pattern.bytes, sizeof one);
  if ((one[0] | one[1]) == 0) {
    std::memset(out, 0, static_cast<std::size_t>(bytes));
    return;
  }
  for (std::int64_t at = 0; at < bytes; at += 64)
    for (std::int64_t part = 0; part < 64; part += 16) std::memcpy(out + at + part, &one, sizeof one);
#else
  for (std::int64_t at = 0; at < bytes; at += static_cast<std::int64_t>(block_bytes))
    std::memcpy(out + at, pattern.bytes, block_bytes);
#endif
}

// Writes `count` times the same `size` bytes, a power of two of them.
void repeat_bytes(std::byte* out, std::int64_t count, std::size_t size, const std::byte* one) noexcept {
  std::size_t whole = static_cast<std::size_t>(count) * size;
  if (whole == 0) return;
  if (whole <= block_bytes) {
    std::memcpy(out, one, size);
    return double_up(out, size, whole);
  }
  Buffer pattern;
  std::memcpy(pattern.bytes, one, size);
  double_up(pattern.bytes, size, block_bytes);
  const Kernels& k = kernels();
  std::int64_t bytes = count * static_cast<std::int64_t>(size);
  bool streams = bytes >= stream_from();
  // In whole patterns, so that each begins with a whole element wherever the threads part.
  std::int64_t patterns = bytes / static_cast<std::int64_t>(block_bytes);
  parallel_for(patterns, long_fill / static_cast<std::int64_t>(block_bytes), [&](std::int64_t begin, std::int64_t end) {
    constexpr auto whole = static_cast<std::int64_t>(block_bytes);
    if (!streams) return write_pattern(pattern, out + begin * whole, (end - begin) * whole);
    for (std::int64_t i = begin; i < end; ++i) k.stream(pattern.bytes, out + i * whole, block_bytes);
    k.end_stream();
  });
  std::int64_t done = patterns * static_cast<std::int64_t>(block_bytes);
  std::memcpy(out + done, pattern.bytes, static_cast<std::size_t>(bytes - done));
}

// Runs `body` without the lock of the interpreter if it is long.
template <class F>
void run_long(std::int64_t bytes, F&& body) {
  if (bytes < long_fill) return body();
  PyThreadState* state = PyEval_SaveThread();
  body();
  take_gil(state);
}

// Zeros for a new tensor with pages of its own, of which threads take whole huge ones.
void write_zeros(std::byte* out, std::int64_t bytes) noexcept {
  constexpr std::int64_t page = 1 << 21;
  parallel_for((bytes + page - 1) / page, 8, [&](std::int64_t begin, std::int64_t end) {
    zero_pages(out + begin * page, static_cast<std::size_t>(std::min(end * page, bytes) - begin * page));
  });
}

// Fills a new tensor, which nobody else has, with a number, converted once.
void fill(Tensor& t, const Operand& number) noexcept {
  alignas(16) std::byte first[16], second[16];
  const Path path = cast_path(kernels(), number.dtype, t.dtype, false);
  const std::byte* one = follow(path, number.number, 1, first, second);
  std::size_t size = t.itemsize();
  std::int64_t bytes = t.size * static_cast<std::int64_t>(size);
  bool is_zero = std::all_of(one, one + size, [](std::byte b) { return b == std::byte{0}; });
  run_long(bytes, [&] {
    if (is_zero && has_own_pages(*t.storage)) write_zeros(t.data(), bytes);
    else repeat_bytes(t.data(), t.size, size, one);
  });
}

// A new tensor of one number; null and an exception if memory runs out.
PyObject* new_full(Dtype dtype, int ndim, const std::int64_t* dims, const Operand& number) {
  PyObject* made = new_dense_tensor(dtype, ndim, dims);
  if (made) fill(*tensor_of(made), number);
  return made;
}

Operand zero() {
  Operand number;
  number.dtype = Dtype::uint8;
  number.number[0] = std::byte{0};
  return number;
}

// ---- sequences --------------------------------------------------------------------------------

struct Pair {
  double real, imaginary;
};

// Writes what `value` gives for each index from `begin` to `end`, converted once, into a new tensor.
template <class T, class F>
void write_sequence(Tensor& t, std::int64_t begin, std::int64_t end, Dtype dtype, F&& value) noexcept {
  const Path path = cast_path(kernels(), dtype, t.dtype, false);
  std::size_t size = t.itemsize(), block = block_elements(std::max(widest(path, sizeof(T)), size));
  parallel_for(end - begin, 1 << 14, [&](std::int64_t from, std::int64_t to) {
    Buffer made, other;
    for (std::int64_t p = from; p < to;) {
      auto n = static_cast<std::int32_t>(std::min<std::int64_t>(static_cast<std::int64_t>(block), to - p));
      std::byte* out = t.data() + (begin + p) * static_cast<std::int64_t>(size);
      std::byte* target = path.count ? made.bytes : out;
      auto* values = reinterpret_cast<T*>(target);
      for (std::int32_t i = 0; i < n; ++i) values[i] = value(begin + p, i);
      follow_to(path, target, static_cast<std::size_t>(n), size, out, made.bytes, other.bytes);
      p += n;
    }
  });
}

// The exponent of the lowest bit that is set in a number; 0 has none.
int lowest_bit(double x) {
  if (x == 0) return std::numeric_limits<int>::max();
  int exponent;
  auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  return exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(digits));
}

// Whether start + i * step is exact in float32 at every step of computing it, for each i up to `most`, either way.
bool is_exact_in_float32(double start, double step, std::int64_t most) {
  double largest = std::fabs(start) + static_cast<double>(most) * std::fabs(step);
  if (largest == 0) return true;
  if (!(largest < 0x1p127) || most > 1 << 24) return false;
  int lowest = std::min(lowest_bit(start), lowest_bit(step));
  return lowest >= -149 && std::ilogb(largest) - lowest < 24;
}

// start + (i - shift) * step where that is exact. Indices are read, as it takes longer to convert them.
void write_floats(Tensor& t, std::int64_t begin, std::int64_t end, std::int64_t shift, float start,
                  float step) noexcept {
  constexpr std::int64_t block = block_bytes / sizeof(float);
  auto* out = reinterpret_cast<float*>(t.data());
  parallel_for(end - begin, 1 << 14, [&](std::int64_t from, std::int64_t to) {
    alignas(64) float index[block];
    auto used = static_cast<std::int32_t>(std::min(block, to - from));
    for (std::int32_t i = 0; i < used; ++i) index[i] = static_cast<float>(i);
    for (std::int64_t p = begin + from; p < begin + to; p += block) {
      std::int64_t n = std::min(block, begin + to - p);
      auto first = static_cast<float>(p - shift);
      float* made = out + p;
      for (std::int64_t i = 0; i < n; ++i) made[i] = start + (first + index[i]) * step;
    }
  });
}

// start + (i - shift) * step, or twice that, for the indices i from `begin` to `end`.
void fill_sequence(nb::handle tensor, std::int64_t begin, std::int64_t end, nb::handle start, nb::handle step,
                   std::int64_t shift, bool doubled) {
  Tensor* t = tensor_of(tensor.ptr());
  if (!t || !t->storage || !t->row_major || begin < 0 || begin > end || end > t->size)
    throw nb::value_error("not a new tensor, or not a part of it");
  double scale = doubled ? 2 : 1;
  if (PyLong_Check(start.ptr())) {  // modulo 2^64
    std::uint64_t first = PyLong_AsUnsignedLongLongMask(start.ptr()), by = PyLong_AsUnsignedLongLongMask(step.ptr());
    if (PyErr_Occurred()) throw nb::python_error();
    bool is_unsigned = facts(t->dtype).kind == Kind::UInt;
    run_long(t->size * 8, [&] {
      write_sequence<std::uint64_t>(
          *t, begin, end, is_unsigned ? Dtype::uint64 : Dtype::int64, [=](std::int64_t at, std::int32_t i) {
            return first + (static_cast<std::uint64_t>(at - shift) + static_cast<std::uint64_t>(i)) * by;
          });
    });
    return;
  }
  Py_complex first = PyComplex_AsCComplex(start.ptr()), by = PyComplex_AsCComplex(step.ptr());
  if (PyErr_Occurred()) throw nb::python_error();
  std::int64_t most = std::max(std::abs(begin - shift), std::abs(end - shift));
  bool in_float32 = t->dtype == Dtype::float32 && !doubled && is_exact_in_float32(first.real, by.real, most);
  run_long(t->size * 8, [&] {
    if (in_float32) {
      write_floats(*t, begin, end, shift, static_cast<float>(first.real), static_cast<float>(by.real));
    } else if (facts(t->dtype).is_complex())
      write_sequence<Pair>(*t, begin, end, Dtype::complex128, [=](std::int64_t at, std::int32_t i) {
        double index = static_cast<double>(at - shift) + i;
        return Pair{(first.real + index * by.real) * scale, (first.imag + index * by.imag) * scale};
      });
    else
      write_sequence<double>(*t, begin, end, Dtype::float64, [=](std::int64_t at, std::int32_t i) {
        return (first.real + (static_cast<double>(at - shift) + i) * by.real) * scale;
      });
  });
}

// ---- fast paths -------------------------------------------------------------------------------

// Reads a tuple or a list of Python's own integers, at least 0; false for anything else.
bool read_shape(PyObject* object, Integers& shape) {
  return shape.read(object) && shape.count <= max_ndim &&
         std::all_of(shape.values, shape.values + shape.count, [](std::int64_t n) { return n >= 0; });
}

// The dtype of an argument that may be left out; false if it is not a dtype of numbers.
bool read_dtype(PyObject* object, Dtype& dtype) {
  dtype = Dtype::float32;
  if (!object) return true;
  if (!is_dtype(object)) return false;
  dtype = static_cast<Dtype>(dtype_index(object));
  return facts(dtype).is_number();
}

// Whether a number is one of a dtype's, rounding aside.
bool is_value_of(const DtypeInfo& info, PyObject* object, const Operand& number) {
  switch (info.kind) {
    case Kind::Bool: return PyBool_Check(object);
    case Kind::Float: return number.dtype != Dtype::complex128;
    case Kind::Complex: return true;
    case Kind::Int:
    case Kind::UInt: break;
    default: return false;
  }
  if (number.dtype != Dtype::int64) return number.dtype == Dtype::boolean;
  std::int64_t value;
  std::memcpy(&value, number.number, sizeof value);
  int digits = info.kind == Kind::Int ? info.bits - 1 : std::min<int>(info.bits, 63);
  std::int64_t high = static_cast<std::int64_t>((std::uint64_t{1} << digits) - 1);
  return value <= high && value >= (info.kind == Kind::Int ? -high - 1 : 0);
}

bool bind_shape(PyObject* const* args, Py_ssize_t count, PyObject* keywords, Integers& shape, Dtype& dtype) {
  Given found({"shape", "dtype", "device"}, args, count, keywords);
  return found[0] && !found[2] && read_shape(found[0], shape) && read_dtype(found[1], dtype);
}

PyObject* fast_empty(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Integers shape;
  Dtype dtype;
  if (!bind_shape(args, count, keywords, shape, dtype)) return nullptr;
  return or_python(new_dense_tensor(dtype, shape.count, shape.values));
}

PyObject* fast_zeros(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Integers shape;
  Dtype dtype;
  if (!bind_shape(args, count, keywords, shape, dtype)) return nullptr;
  if (facts(dtype).is_quantized()) return or_python(new_full(dtype, shape.count, shape.values, zero()));
  PyObject* made = new_dense_tensor(dtype, shape.count, shape.values);
  if (!made) return or_python(made);
  // The zero of every other dtype is made of bytes that are 0.
  const Tensor& t = *tensor_of(made);
  auto bytes = static_cast<std::size_t>(t.size) * t.itemsize();
  if (bytes <= 4096) std::memset(t.data(), 0, bytes);
  else fill(*tensor_of(made), zero());
  return made;
}

PyObject* fast_full(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Given found({"dtype", "device", "shape", "value"}, args, count, keywords);
  Integers shape;
  Dtype dtype;
  Operand number;
  if (!found || found[1] || !found[2] || !found[3] || !read_shape(found[2], shape) || !read_dtype(found[0], dtype) ||
      tensor_of(found[3]) || !read_operand(found[3], number) || !is_value_of(facts(dtype), found[3], number))
    return nullptr;
  return or_python(new_full(dtype, shape.count, shape.values, number));
}

// ---- what Python makes tensors with once all is checked ---------------------------------------

void check_ndim(const std::vector<std::int64_t>& shape) {
  if (shape.size() > max_ndim) throw nb::value_error("a tensor has at most 64 axes");
}

nb::object full(const std::vector<std::int64_t>& shape, const DtypeInfo& dtype, nb::handle value) {
  check_ndim(shape);
  Operand number;
  if (tensor_of(value.ptr()) || !read_operand(value.ptr(), number)) throw nb::type_error("not a plain number");
  return raise_or(new_full(dtype_of(dtype), static_cast<int>(shape.size()), shape.data(), number));
}

struct HeldBuffer {
  Py_buffer view;
  explicit HeldBuffer(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE)) throw nb::python_error();
  }
  HeldBuffer(const HeldBuffer&) = delete;
  ~HeldBuffer() { PyBuffer_Release(&view); }
};

// The elements of less than a byte, and bools, are brought into their range where they lie.
Convert fitting(Dtype dtype) {
  const Kernels& k = kernels();
  switch (dtype) {
    case Dtype::boolean: return k.nonzero[static_cast<std::size_t>(Lane::u8)];
    case Dtype::int4: return k.wrap_int4;
    case Dtype::uint4: return k.wrap_uint4;
    case Dtype::uint1: return k.wrap_uint1;
    default: return nullptr;
  }
}

nb::object from_bytes(nb::handle buffer, std::int64_t n_bytes, const std::vector<std::int64_t>& shape,
                      const DtypeInfo& dtype) {
  check_ndim(shape);
  HeldBuffer held(buffer);
  nb::object made = raise_or(new_dense_tensor(dtype_of(dtype), static_cast<int>(shape.size()), shape.data()));
  Tensor& t = *tensor_of(made.ptr());
  std::int64_t bytes = t.size * static_cast<std::int64_t>(t.itemsize());
  std::int64_t taken = std::clamp<std::int64_t>(std::min<std::int64_t>(n_bytes, held.view.len), 0, bytes);
  run_long(bytes, [&] {
    std::byte nothing{0};
    Convert fit = fitting(t.dtype);
    auto* source = static_cast<const std::byte*>(held.view.buf);
    if (fit && taken) fit(source, t.data(), static_cast<std::size_t>(taken));
    else if (taken) std::memcpy(t.data(), source, static_cast<std::size_t>(taken));
    repeat_bytes(t.data() + taken, bytes - taken, 1, &nothing);
  });
  return made;
}

nb::tuple memory_of(nb::handle buffer) {
  HeldBuffer held(buffer);
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(held.view.buf), static_cast<std::int64_t>(held.view.len),
                        static_cast<bool>(held.view.readonly));
}

bool is_row_major_tensor(nb::handle object) {
  Tensor* t = tensor_of(object.ptr());
  if (!t) throw nb::type_error("not a Tensor");
  if (!t->storage) throw_status("UninitializedObject", "the tensor was destroyed");
  return t->row_major;
}

}  // namespace

void init_creation(nb::module_& m) {
  define(m, "def full(shape: Sequence[int], dtype: DType, value: complex) -> Tensor",
         "A new tensor in row-major order, every element of it one number.", full);
  define(m, "def from_bytes(buffer: Any, n_bytes: int, shape: Sequence[int], dtype: DType) -> Tensor",
         "A new tensor with the first bytes of a buffer, then zeros, in row-major order.", from_bytes);
  define(m,
         "def fill_sequence(tensor: Any, begin: int, end: int, start: complex, step: complex, shift: int, "
         "doubled: bool) -> None",
         "Writes start + (i - shift) * step, or twice that, to the elements i of a new tensor.", fill_sequence);
  define(m, "def memory_of(buffer: Any) -> tuple[int, int, bool]",
         "Where the bytes of a buffer are, how many, and whether they must not be written to.", memory_of);
  define(m, "def is_row_major(tensor: Any) -> bool", "Whether a tensor is dense, in row-major order.",
         is_row_major_tensor);
  add_fast_path<fast_empty>("empty");
  add_fast_path<fast_zeros>("zeros");
  add_fast_path<fast_full>("full");
}

}  // namespace suanzi
