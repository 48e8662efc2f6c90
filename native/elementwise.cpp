// native/elementwise.cpp: the drivers behind elementwise.h.
//
// A mixed operation makes no temporary: a block of each operand is converted in the first-level
// cache, computed, converted back and stored. Operands that need no conversion are read in place.
#include "elementwise.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "threads.h"

namespace suanzi {

namespace {

constexpr std::size_t block_bytes = 8192;

// Keeps the large buffers of a block loop out of the frames of calls that need none.
#define SUANZI_OUT_OF_LINE __attribute__((noinline))

std::size_t index(Lane lane) { return static_cast<std::size_t>(lane); }
std::size_t item(Dtype dtype) { return dtype_table[static_cast<std::size_t>(dtype)].itemsize; }

}  // namespace

// ---- loops ------------------------------------------------------------------------------------

void Loop::start(int count, const std::int64_t* shape) noexcept {
  ndim = count;
  size = 1;
  for (int i = 0; i < count; ++i) dims[i] = shape[i];
  // The product of the others may overflow if a dim is 0.
  for (int i = 0; i < count; ++i) size = shape[i] == 0 ? 0 : size;
  for (int i = 0; i < count && size != 0; ++i) size *= shape[i];
}

void Loop::add(const std::byte* data, Dtype dtype, const std::int64_t* byte_strides) noexcept {
  Input& input = inputs[input_count++];
  input.data = data;
  input.dtype = dtype;
  std::copy(byte_strides, byte_strides + ndim, input.strides);
}

void Loop::collapse() noexcept {
  int kept = 0;
  for (int d = 0; d < ndim; ++d) {
    if (dims[d] == 1) continue;
    bool merges = kept > 0;
    for (int i = 0; i < input_count && merges; ++i)
      merges = inputs[i].strides[kept - 1] == inputs[i].strides[d] * dims[d];
    int at = merges ? kept - 1 : kept++;
    dims[at] = merges ? dims[at] * dims[d] : dims[d];
    for (int i = 0; i < input_count; ++i) inputs[i].strides[at] = inputs[i].strides[d];
  }
  ndim = kept;
}

namespace {

// Runs a path over n elements; `in` may be returned as it is. The buffers are used in turn.
const std::byte* follow(const Path& path, const std::byte* in, std::size_t n, std::byte* buffer_a,
                        std::byte* buffer_b) {
  for (int i = 0; i < path.count; ++i) {
    std::byte* out = in == buffer_a ? buffer_b : buffer_a;
    path.steps[i](in, out, n * path.multiple[i]);
    in = out;
  }
  return in;
}

// As above, but the last step writes to `out`; without steps the elements are copied.
void follow_to(const Path& path, const std::byte* in, std::size_t n, std::size_t itemsize,
               std::byte* out, std::byte* buffer_a, std::byte* buffer_b) {
  if (path.count == 0) {
    if (in != out) std::memcpy(out, in, n * itemsize);
    return;
  }
  for (int i = 0; i + 1 < path.count; ++i) {
    std::byte* next = in == buffer_a ? buffer_b : buffer_a;
    path.steps[i](in, next, n * path.multiple[i]);
    in = next;
  }
  int last = path.count - 1;
  path.steps[last](in, out, n * path.multiple[last]);
}

struct alignas(64) Buffer {
  std::byte bytes[block_bytes];
};

// One input of a loop, read block by block.
class Reader {
 public:
  Reader(const Loop& loop, const Input& input, const Kernels& k, const Path& path)
      : loop_(loop), input_(input), kernels_(k), path_(path), layer_(layer_of(input.dtype)) {
    itemsize_ = std::size_t{1} << layer_.log2_size;
    repeats_ = true;
    for (int d = 0; d < loop.ndim; ++d) repeats_ &= input.strides[d] == 0;
    dense_ = loop.ndim == 0 ||
             (loop.ndim == 1 && input.strides[0] == static_cast<std::int64_t>(itemsize_));
  }

  bool repeats() const { return repeats_; }
  // Whether blocks are the memory itself.
  bool in_place() const { return dense_ && path_.count == 0; }
  const std::byte* at(std::int64_t position) const {
    return input_.data + (dense_ ? position * static_cast<std::int64_t>(itemsize_) : 0);
  }

  // The n elements from `position` on, converted; or one element, if they are all the same.
  const std::byte* read(std::int64_t position, std::size_t n, Buffer* buffers) const {
    if (repeats_) return follow(path_, input_.data, 1, buffers[0].bytes, buffers[1].bytes);
    if (dense_) return follow(path_, at(position), n, buffers[0].bytes, buffers[1].bytes);
    const std::byte* gathered = gather(position, n, buffers[0].bytes);
    return follow(path_, gathered, n, buffers[0].bytes, buffers[1].bytes);
  }

  // For an input that is one value: `count` copies of it, converted, in `whole`; else null.
  const std::byte* spread(Buffer* buffers, Buffer& whole, std::size_t size, std::size_t count) const {
    if (!repeats_) return nullptr;
    const std::byte* one = read(0, 1, buffers);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(whole.bytes + i * size, one, size);
    return whole.bytes;
  }

  std::size_t itemsize() const { return itemsize_; }
  const Path& path() const { return path_; }
  // The n elements as stored, dense.
  const std::byte* gather(std::int64_t position, std::size_t n, std::byte* out) const {
    std::int64_t at[64], offset = 0, rest = position;
    for (int d = loop_.ndim - 1; d >= 0; --d) {
      at[d] = rest % loop_.dims[d];
      rest /= loop_.dims[d];
      offset += at[d] * input_.strides[d];
    }
    int last = loop_.ndim - 1;
    std::int64_t stride = input_.strides[last];
    std::size_t left = static_cast<std::size_t>(loop_.dims[last] - at[last]);
    bool packed = stride == static_cast<std::int64_t>(itemsize_);
    if (packed && left >= n) return input_.data + offset;
    std::byte* to = out;
    for (std::size_t done = 0;;) {
      std::size_t count = std::min(left, n - done);
      if (packed) std::memcpy(to, input_.data + offset, count * itemsize_);
      else kernels_.gather[layer_.log2_size](input_.data + offset, to, count, stride);
      to += count * itemsize_;
      done += count;
      if (done == n) return out;
      // The next row: the last index starts again, and the others count on.
      offset -= at[last] * stride;
      at[last] = 0;
      for (int d = last - 1; d >= 0; --d) {
        offset += input_.strides[d];
        if (++at[d] < loop_.dims[d]) break;
        offset -= at[d] * input_.strides[d];
        at[d] = 0;
      }
      left = static_cast<std::size_t>(loop_.dims[last]);
    }
  }

 private:
  const Loop& loop_;
  const Input& input_;
  const Kernels& kernels_;
  Path path_;
  const Layer& layer_;
  std::size_t itemsize_;
  bool repeats_, dense_;
};

std::int64_t grain_of(Cost cost) { return cost == Cost::cheap ? 1 << 15 : 1 << 12; }

std::size_t widest(const Path& path, std::size_t start) {
  std::size_t most = start;
  for (int i = 0; i < path.count; ++i) most = std::max<std::size_t>(most, path.out_size[i]);
  return most;
}

// How many elements fit every buffer.
std::size_t block_elements(std::size_t widest_element) {
  return block_bytes / std::max<std::size_t>(widest_element, 4);
}

}  // namespace

namespace {

// Whether a kernel can read the inputs where they are, and write its result: dense, and stored as
// they are computed. Most calls are such, and small ones must not pay for what the others need.
bool lies_ready(const Loop& loop, Dtype promoted) {
  if (loop.ndim > 1 || layer_of(promoted).is_narrow || promoted == Dtype::boolean) return false;
  std::int64_t step = loop.ndim ? static_cast<std::int64_t>(item(promoted)) : 0;
  for (int i = 0; i < loop.input_count; ++i)
    if (loop.inputs[i].dtype != promoted || (loop.ndim && loop.inputs[i].strides[0] != step)) return false;
  return true;
}

}  // namespace

unsigned run_unary(const Loop& loop, std::size_t op, Dtype promoted, std::byte* out, Dtype out_dtype,
                   Cost cost) {
  const Kernels& k = kernels();
  Unary kernel = k.unary[op][index(compute_lane(promoted))];
  if (lies_ready(loop, promoted)) {
    std::int64_t size = item(promoted), out_size = item(out_dtype);
    parallel_for(loop.size, grain_of(cost), [&](std::int64_t begin, std::int64_t end) {
      kernel(loop.inputs[0].data + begin * size, out + begin * out_size, static_cast<std::size_t>(end - begin));
    });
    return none;
  }
  Reader x(loop, loop.inputs[0], k, load_path(k, loop.inputs[0].dtype, promoted));
  Path store = store_path(k, promoted, out_dtype);
  std::size_t out_item = item(out_dtype), lane = lane_size[index(compute_lane(promoted))];
  std::size_t block = block_elements(std::max(widest(x.path(), x.itemsize()), std::max(lane, widest(store, out_item))));
  parallel_for(loop.size, grain_of(cost), [&](std::int64_t begin, std::int64_t end) SUANZI_OUT_OF_LINE {
    Buffer in[2], computed[2];
    for (std::int64_t p = begin; p < end;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
      std::byte* to = out + p * static_cast<std::int64_t>(out_item);
      std::byte* result = store.count ? computed[0].bytes : to;
      std::size_t count = x.repeats() ? 1 : n;
      kernel(x.read(p, n, in), result, count);
      follow_to(store, result, count, out_item, to, computed[0].bytes, computed[1].bytes);
      if (x.repeats())
        for (std::size_t i = 1; i < n; ++i) std::memcpy(to + i * out_item, to, out_item);
      p += static_cast<std::int64_t>(n);
    }
  });
  return none;
}

namespace {

// The loop of a binary kernel over inputs that are read by given paths.
unsigned drive_binary(const Loop& loop, Binary kernel, const Path& path_x, const Path& path_y,
                      const Path& store, std::size_t lane, std::byte* out, std::size_t out_item, Cost cost) {
  const Kernels& k = kernels();
  Reader x(loop, loop.inputs[0], k, path_x), y(loop, loop.inputs[1], k, path_y);
  std::size_t wide = std::max(widest(x.path(), x.itemsize()), widest(y.path(), y.itemsize()));
  std::size_t block = block_elements(std::max(wide, std::max(lane, widest(store, out_item))));
  bool both = x.repeats() && y.repeats() && loop.size > 1;
  Repeat repeat = both ? Repeat::neither : x.repeats() && loop.size > 1 ? Repeat::left
                                       : y.repeats() && loop.size > 1 ? Repeat::right
                                                                      : Repeat::neither;
  bool x_direct = x.in_place() || (x.repeats() && x.path().count == 0);
  bool y_direct = y.in_place() || (y.repeats() && y.path().count == 0);
  bool direct = x_direct && y_direct && store.count == 0 && !both;
  std::atomic<unsigned> trouble{none};
  if (direct) {
    parallel_for(loop.size, grain_of(cost), [&](std::int64_t begin, std::int64_t end) {
      unsigned met = kernel(x.at(x.repeats() ? 0 : begin), y.at(y.repeats() ? 0 : begin),
                            out + begin * static_cast<std::int64_t>(out_item),
                            static_cast<std::size_t>(end - begin), repeat);
      if (met) trouble.fetch_or(met, std::memory_order_relaxed);
    });
    return trouble.load(std::memory_order_relaxed);
  }
  parallel_for(loop.size, grain_of(cost), [&](std::int64_t begin, std::int64_t end) SUANZI_OUT_OF_LINE {
    unsigned met = none;
    Buffer in_x[2], in_y[2], computed[2];
    const std::byte* repeated_x = x.repeats() ? x.read(begin, 1, in_x) : nullptr;
    const std::byte* repeated_y = y.repeats() ? y.read(begin, 1, in_y) : nullptr;
    for (std::int64_t p = begin; p < end;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
      std::byte* to = out + p * static_cast<std::int64_t>(out_item);
      std::byte* result = store.count ? computed[0].bytes : to;
      const std::byte* a = repeated_x ? repeated_x : x.read(p, n, in_x);
      const std::byte* b = repeated_y ? repeated_y : y.read(p, n, in_y);
      std::size_t count = both ? 1 : n;
      met |= kernel(a, b, result, count, repeat);
      follow_to(store, result, count, out_item, to, computed[0].bytes, computed[1].bytes);
      if (both)
        for (std::size_t i = 1; i < n; ++i) std::memcpy(to + i * out_item, to, out_item);
      p += static_cast<std::int64_t>(n);
    }
    if (met) trouble.fetch_or(met, std::memory_order_relaxed);
  });
  return trouble.load(std::memory_order_relaxed);
}

// Whether every input is of the promoted dtype, or one value.
bool fits_fused(const Loop& loop, Dtype promoted) {
  for (int i = 0; i < loop.input_count; ++i) {
    bool repeats = true;
    for (int d = 0; d < loop.ndim; ++d) repeats &= loop.inputs[i].strides[d] == 0;
    if (loop.inputs[i].dtype != promoted && !repeats) return false;
  }
  return true;
}

}  // namespace

unsigned run_binary(const Loop& loop, std::size_t op, Dtype promoted, std::byte* out,
                    Dtype out_dtype, Cost cost) {
  const Kernels& k = kernels();
  const Layer& layer = layer_of(promoted);
  if (layer.is_narrow && !layer.is_complex && fits_fused(loop, promoted)) {
    if (Binary fused = k.fused[op][static_cast<std::size_t>(layer.narrow)])
      return drive_binary(loop, fused, cast_path(k, loop.inputs[0].dtype, promoted, false),
                          cast_path(k, loop.inputs[1].dtype, promoted, false), Path{}, item(promoted), out,
                          item(out_dtype), cost);
  }
  Binary kernel = k.binary[op][index(compute_lane(promoted))];
  if (lies_ready(loop, promoted)) {
    std::int64_t size = item(promoted), out_size = item(out_dtype);
    std::atomic<unsigned> trouble{none};
    parallel_for(loop.size, grain_of(cost), [&](std::int64_t begin, std::int64_t end) {
      unsigned met = kernel(loop.inputs[0].data + begin * size, loop.inputs[1].data + begin * size,
                            out + begin * out_size, static_cast<std::size_t>(end - begin), Repeat::neither);
      if (met) trouble.fetch_or(met, std::memory_order_relaxed);
    });
    return trouble.load(std::memory_order_relaxed);
  }
  return drive_binary(loop, kernel, load_path(k, loop.inputs[0].dtype, promoted),
                      load_path(k, loop.inputs[1].dtype, promoted), store_path(k, promoted, out_dtype),
                      lane_size[index(compute_lane(promoted))], out, item(out_dtype), cost);
}

unsigned run_truth(const Loop& loop, Binary kernel, Dtype promoted, std::byte* out) {
  const Kernels& k = kernels();
  return drive_binary(loop, kernel, truth_path(k, loop.inputs[0].dtype, promoted),
                      truth_path(k, loop.inputs[1].dtype, promoted), Path{}, 1, out, 1,
                      Cost::cheap);
}

unsigned run_muladd(const Loop& loop, Binary mul, Binary add, Dtype promoted, std::byte* out) {
  const Kernels& k = kernels();
  auto reader = [&](int i) { return Reader(loop, loop.inputs[i], k, load_path(k, loop.inputs[i].dtype, promoted)); };
  Reader x = reader(0), y = reader(1), a = reader(2);
  Path store = store_path(k, promoted, promoted);
  std::size_t out_item = item(promoted), lane = lane_size[index(compute_lane(promoted))];
  std::size_t block = block_elements(16);
  parallel_for(loop.size, grain_of(Cost::cheap), [&](std::int64_t begin, std::int64_t end) {
    Buffer in_x[2], in_y[2], in_a[2], whole_x, whole_y, whole_a, product, computed[2];
    const std::byte* fixed_x = x.spread(in_x, whole_x, lane, block);
    const std::byte* fixed_y = y.spread(in_y, whole_y, lane, block);
    const std::byte* fixed_a = a.spread(in_a, whole_a, lane, block);
    for (std::int64_t p = begin; p < end;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
      std::byte* to = out + p * static_cast<std::int64_t>(out_item);
      std::byte* result = store.count ? computed[0].bytes : to;
      mul(fixed_x ? fixed_x : x.read(p, n, in_x), fixed_y ? fixed_y : y.read(p, n, in_y), product.bytes, n, Repeat::neither);
      add(product.bytes, fixed_a ? fixed_a : a.read(p, n, in_a), result, n, Repeat::neither);
      follow_to(store, result, n, out_item, to, computed[0].bytes, computed[1].bytes);
      p += static_cast<std::int64_t>(n);
    }
  });
  return none;
}

void run_where(const Loop& loop, Dtype promoted, std::byte* out) {
  const Kernels& k = kernels();
  Reader c(loop, loop.inputs[0], k, Path{});
  Reader x(loop, loop.inputs[1], k, cast_path(k, loop.inputs[1].dtype, promoted, false));
  Reader y(loop, loop.inputs[2], k, cast_path(k, loop.inputs[2].dtype, promoted, false));
  std::size_t out_item = item(promoted);
  std::size_t block = block_elements(16);
  Select select = k.select[layer_of(promoted).log2_size];
  parallel_for(loop.size, grain_of(Cost::cheap), [&](std::int64_t begin, std::int64_t end) {
    Buffer in_c[2], in_x[2], in_y[2], whole_x, whole_y, whole_c;
    const std::byte* fixed_c = c.spread(in_c, whole_c, 1, block);
    const std::byte* fixed_x = x.spread(in_x, whole_x, out_item, block);
    const std::byte* fixed_y = y.spread(in_y, whole_y, out_item, block);
    for (std::int64_t p = begin; p < end;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
      select(fixed_c ? fixed_c : c.read(p, n, in_c), fixed_x ? fixed_x : x.read(p, n, in_x),
             fixed_y ? fixed_y : y.read(p, n, in_y), out + p * static_cast<std::int64_t>(out_item), n, Repeat::neither);
      p += static_cast<std::int64_t>(n);
    }
  });
}

void run_cast(const Loop& loop, std::byte* out, Dtype out_dtype, bool saturate) {
  const Kernels& k = kernels();
  Path path = cast_path(k, loop.inputs[0].dtype, out_dtype, saturate);
  Reader x(loop, loop.inputs[0], k, path);
  std::size_t out_item = item(out_dtype), size = x.itemsize();
  std::size_t block = block_elements(std::max(widest(path, size), out_item));
  bool straight = loop.ndim == 0 || (loop.ndim == 1 && loop.inputs[0].strides[0] == static_cast<std::int64_t>(size));
  parallel_for(loop.size, grain_of(Cost::cheap), [&](std::int64_t begin, std::int64_t end) {
    std::byte* to = out + begin * static_cast<std::int64_t>(out_item);
    if (straight && path.count <= 1) {
      const std::byte* from = loop.inputs[0].data + begin * static_cast<std::int64_t>(size);
      follow_to(path, from, static_cast<std::size_t>(end - begin), size, to, nullptr, nullptr);
      return;
    }
    Buffer gathered, steps[2];
    for (std::int64_t p = begin; p < end;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
      const std::byte* from = straight ? loop.inputs[0].data + p * static_cast<std::int64_t>(size)
                                       : x.gather(p, n, gathered.bytes);
      follow_to(path, from, n, size, to, steps[0].bytes, steps[1].bytes);
      to += n * out_item;
      p += static_cast<std::int64_t>(n);
    }
  });
}

void run_copy(const Loop& loop, std::byte* target) {
  const Kernels& k = kernels();
  const Input &to = loop.inputs[0], &from = loop.inputs[1];
  Path path = cast_path(k, from.dtype, to.dtype, false);
  Reader x(loop, from, k, path);
  std::size_t size = item(to.dtype), block = block_elements(16);
  Strided scatter = k.scatter[layer_of(to.dtype).log2_size];
  std::int64_t inner = loop.ndim ? loop.dims[loop.ndim - 1] : 1;
  std::int64_t stride = loop.ndim ? to.strides[loop.ndim - 1] : 0;
  // By rows of the target: where elements of it coincide, the last one written stays.
  Buffer in[2];
  for (std::int64_t row = 0; row < (inner ? loop.size / inner : 0); ++row) {
    std::int64_t offset = 0, rest = row;
    for (int d = loop.ndim - 2; d >= 0; --d) {
      offset += rest % loop.dims[d] * to.strides[d];
      rest /= loop.dims[d];
    }
    for (std::int64_t p = 0; p < inner;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(inner - p));
      const std::byte* values = x.read(row * inner + p, n, in);
      if (x.repeats())
        for (std::size_t i = 0; i < n; ++i)
          std::memcpy(target + offset + (p + static_cast<std::int64_t>(i)) * stride, values, size);
      else
        scatter(values, target + offset + p * stride, n, stride);
      p += static_cast<std::int64_t>(n);
    }
  }
}

namespace {

// The 64-bit dtype that holds every value of a real dtype.
Dtype exact_dtype(Dtype dtype) {
  if (dtype_table[static_cast<std::size_t>(dtype)].exponent_bits != 0) return Dtype::float64;
  return index(layer_of(dtype).lane) >= index(Lane::u8) ? Dtype::uint64 : Dtype::int64;
}

}  // namespace

void run_compare(const Loop& loop, int which, std::byte* out) {
  const Kernels& k = kernels();
  Dtype exact[2] = {exact_dtype(loop.inputs[0].dtype), exact_dtype(loop.inputs[1].dtype)};
  Lane lanes[2] = {layer_of(exact[0]).lane, layer_of(exact[1]).lane};
  Reader x(loop, loop.inputs[0], k, cast_path(k, loop.inputs[0].dtype, exact[0], false));
  Reader y(loop, loop.inputs[1], k, cast_path(k, loop.inputs[1].dtype, exact[1], false));
  // The mixed kernels take i64 before u64 before f64; the other way round the question is mirrored.
  static constexpr int mirrored[6] = {0, 1, 4, 5, 2, 3};
  static constexpr BinaryOp plain[6] = {BinaryOp::equal,         BinaryOp::not_equal, BinaryOp::greater,
                                        BinaryOp::greater_equal, BinaryOp::less,      BinaryOp::less_equal};
  bool swapped = index(lanes[0]) > index(lanes[1]) && lanes[0] != lanes[1];
  Lane low = swapped ? lanes[1] : lanes[0], high = swapped ? lanes[0] : lanes[1];
  Binary kernel = low == high ? k.binary[static_cast<std::size_t>(plain[which])][index(low)]
                              : k.compare[swapped ? mirrored[which] : which]
                                         [low == Lane::i64 ? (high == Lane::u64 ? 0 : 1) : 2];
  std::size_t block = block_elements(8);
  parallel_for(loop.size, grain_of(Cost::cheap), [&](std::int64_t begin, std::int64_t end) {
    Buffer in_x[2], in_y[2], whole_x, whole_y;
    const std::byte* fixed_x = x.spread(in_x, whole_x, 8, block);
    const std::byte* fixed_y = y.spread(in_y, whole_y, 8, block);
    for (std::int64_t p = begin; p < end;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
      const std::byte* a = fixed_x ? fixed_x : x.read(p, n, in_x);
      const std::byte* b = fixed_y ? fixed_y : y.read(p, n, in_y);
      kernel(swapped ? b : a, swapped ? a : b, out + p, n, Repeat::neither);
      p += static_cast<std::int64_t>(n);
    }
  });
}

}  // namespace suanzi
