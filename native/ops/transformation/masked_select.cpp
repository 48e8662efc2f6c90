// native/ops/transformation/masked_select.cpp: 7.2.3.25: the elements that a mask selects, or their indices.
#include <optional>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/operands.h"
#include "loops/blocks.h"
#include "ops/indexing/repeated.h"

namespace suanzi {
namespace {

constexpr std::int64_t chunk = 1 << 15;  // elements that are counted, and then packed, at a time

// Where the elements of each chunk that a mask picks begin in the output; the last one is how many
// there are. `read(begin, n)` gives bytes of the mask.
template <class ReadMask>
std::vector<std::int64_t> count_chunks(std::int64_t size, ReadMask&& read) {
  std::int64_t chunks = size / chunk + (size % chunk != 0);
  std::vector<std::int64_t> starts(static_cast<std::size_t>(chunks) + 1, 0);
  parallel_for(chunks, 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c)
      starts[static_cast<std::size_t>(c) + 1] = read(c * chunk, std::min(chunk, size - c * chunk));
  });
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  return starts;
}

// The mask, and for masked_select the tensor it is laid over, read block by block in row-major order.
class Masked {
 public:
  Masked(const Tensor& mask, const Tensor* values) {
    operands_[0].tensor = values ? values : &mask;
    operands_[0].dtype = operands_[0].tensor->dtype;
    operands_[1].tensor = &mask;
    operands_[1].dtype = mask.dtype;
    together_.emplace(operands_, 2);
    together_->use_row_major();
    fits_ = together_->fits() && together_->ndim() == operands_[0].ndim() &&
            std::equal(operands_[0].dims(), operands_[0].dims() + operands_[0].ndim(), together_->shape());
    if (fits_) together_->make_loop(loop_);
  }

  // Whether the mask is repeated to the shape of the tensor; nothing below may be asked if not.
  bool fits() const { return fits_; }
  std::int64_t size() const { return loop_.size; }

  // How many of n elements the mask picks.
  std::int64_t count(std::int64_t begin, std::int64_t n) const {
    Reader mask(loop_, loop_.inputs[1], kernels(), Path{});
    if (mask.in_place()) return static_cast<std::int64_t>(kernels().count(mask.at(begin), static_cast<std::size_t>(n)));
    std::int64_t found = 0;
    each_block(begin, n, block_bytes, [&](std::int64_t p, std::size_t m) {
      Buffer in[2], whole;
      found += static_cast<std::int64_t>(kernels().count(read_mask(mask, p, m, in, whole), m));
    });
    return found;
  }

  // Packs what the mask picks of n elements; `places`, packs where they are instead. There is room for
  // as many as were counted: another thread may have changed the mask since.
  void pack(std::int64_t begin, std::int64_t n, std::byte* out, std::size_t room, bool places) const {
    const Kernels& k = kernels();
    Reader mask(loop_, loop_.inputs[1], k, Path{}), values(loop_, loop_.inputs[0], k, Path{});
    std::size_t size = places ? 8 : values.itemsize();
    int log2 = places ? 3 : layer_of(loop_.inputs[0].dtype).log2_size;
    Buffer in_mask[2], in_values[2], whole, whole_values, packed;
    each_block(begin, n, block_bytes / size, [&](std::int64_t p, std::size_t m) {
      const std::byte* from;
      if (places) {
        auto* numbers = reinterpret_cast<std::int64_t*>(in_values[0].bytes);
        for (std::size_t i = 0; i < m; ++i) numbers[i] = p + static_cast<std::int64_t>(i);
        from = in_values[0].bytes;
      } else if (const std::byte* repeated = values.spread(in_values, whole_values, size, m)) {
        from = repeated;
      } else {
        from = values.read(p, m, in_values);
      }
      std::size_t found =
          std::min(room, k.compress[log2](read_mask(mask, p, m, in_mask, whole), from, packed.bytes, m));
      std::memcpy(out, packed.bytes, found * size);
      out += found * size;
      room -= found;
    });
  }

 private:
  template <class Body>
  static void each_block(std::int64_t begin, std::int64_t n, std::size_t most, Body&& body) {
    for (std::int64_t p = begin; p < begin + n;) {
      std::size_t m = std::min(most, static_cast<std::size_t>(begin + n - p));
      body(p, m);
      p += static_cast<std::int64_t>(m);
    }
  }
  static const std::byte* read_mask(const Reader& mask, std::int64_t p, std::size_t n, Buffer* in, Buffer& whole) {
    const std::byte* repeated = mask.spread(in, whole, 1, n);
    return repeated ? repeated : mask.read(p, n, in);
  }

  Operand operands_[2];
  std::optional<Together> together_;
  bool fits_;
  Loop loop_;
};

// The same of few dense elements, whose mask has their shape; null without an exception where it is something else.
PyObject* select_few(const Tensor& mask, const Tensor& values) {
  auto bytes = static_cast<std::size_t>(values.size) * values.itemsize();
  if (!mask.row_major || !values.row_major || bytes > 4096 || values.size == 0 || mask.ndim() != values.ndim() ||
      !std::equal(mask.dims(), mask.dims() + mask.ndim(), values.dims()))
    return nullptr;
  const Kernels& k = kernels();
  Buffer packed;
  std::size_t found = k.compress[layer_of(values.dtype).log2_size](mask.data(), values.data(), packed.bytes,
                                                                   static_cast<std::size_t>(values.size));
  auto count = static_cast<std::int64_t>(found);
  PyObject* output = new_dense_tensor(values.dtype, 1, &count);
  if (output) std::memcpy(tensor_of(output)->data(), packed.bytes, found * values.itemsize());
  return output;
}

// What a mask of the shape of `values`, or one that is repeated to it, picks; without `values`, the
// places of what it picks.
PyObject* select(const Tensor& mask, const Tensor* values) {
  if (PyObject* made = values ? select_few(mask, *values) : nullptr; made || PyErr_Occurred()) return made;
  Masked masked(mask, values);
  if (!masked.fits()) return nullptr;
  std::vector<std::int64_t> starts;
  const Tensor& first = values ? *values : mask;
  // Another thread may destroy them while it counts, before it packs.
  Kept kept_mask(mask), kept_values(first);
  Dtype made_of = values ? values->dtype : Dtype::int64;
  if (masked.size() >= long_walk) {
    Once once(mask);
    Masked each(once.tensor(), nullptr);
    std::vector<std::int64_t> found;
    run_over(each.size(), {&mask}, [&] {
      found = count_chunks(each.size(), [&](std::int64_t begin, std::int64_t n) { return each.count(begin, n); });
    });
    std::int64_t count = found.back() * (masked.size() / each.size());
    if (count == 0) return new_dense_tensor(made_of, 1, &count);
    if (!has_memory(made_of, count)) return nullptr;
  }
  run_over(masked.size(), {&mask, &first}, [&] {
    starts = count_chunks(masked.size(), [&](std::int64_t begin, std::int64_t n) { return masked.count(begin, n); });
  });
  PyObject* output = new_dense_tensor(made_of, 1, &starts.back());
  if (!output) return nullptr;
  const Tensor& out = *tensor_of(output);
  std::byte* to = out.data();
  auto item = static_cast<std::int64_t>(out.itemsize());
  run_over(masked.size(), {&mask, &first}, [&] {
    parallel_for(static_cast<std::int64_t>(starts.size()) - 1, 2, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        std::int64_t start = starts[static_cast<std::size_t>(c)],
                     room = starts[static_cast<std::size_t>(c) + 1] - start;
        masked.pack(c * chunk, std::min(chunk, masked.size() - c * chunk), to + start * item,
                    static_cast<std::size_t>(room), !values);
      }
    });
  });
  return output;
}

PyObject* fast_masked_select(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (keywords || count != 2) return nullptr;
  const Tensor *t = read_tensor(args[0]), *mask = read_tensor(args[1]);
  if (!t || !mask || mask->dtype != Dtype::boolean || mask->ndim() > t->ndim() || t->quantization) return nullptr;
  return or_python(select(*mask, t));
}

}  // namespace

void init_masked_select(nb::module_& m) {
  add_fast_path<fast_masked_select>("masked_select");
  define(m, "def masked_select(input: Any, mask: Any) -> Tensor", "The elements that a mask picks.",
         [](nb::handle input, nb::handle mask) {
           const Tensor *t = read_tensor(input.ptr()), *chosen = read_tensor(mask.ptr());
           if (!t || !chosen || chosen->dtype != Dtype::boolean) throw nb::value_error("not what masked_select takes");
           PyObject* made = select(*chosen, t);
           if (!made && !PyErr_Occurred()) throw nb::value_error("shapes do not go together");
           return raise_or(made);
         });
  define(m, "def mask_indices(mask: Any) -> Tensor", "Where a mask is true, counted in row-major order.",
         [](nb::handle mask) {
           const Tensor* chosen = read_tensor(mask.ptr());
           if (!chosen || chosen->dtype != Dtype::boolean) throw nb::value_error("a mask is bool");
           return raise_or(select(*chosen, nullptr));
         });
}

}  // namespace suanzi
