// native/loops/elementwise.cpp: element-wise loops, block by block.
//
// A mixed operation makes no temporary: a block of each operand is converted in the first-level
// cache, computed, converted back and stored. Operands that need no conversion are read in place.
#include "loops/elementwise.h"

#include "loops/axes.h"
#include "loops/blocks.h"
#include "loops/copies.h"

namespace suanzi {
namespace {

// Keeps the large buffers of a block loop out of the frames of calls that need none.
#define SUANZI_OUT_OF_LINE __attribute__((noinline))

std::size_t index(Lane lane) { return static_cast<std::size_t>(lane); }

std::int64_t grain_of(Cost cost) { return cost == Cost::cheap ? grain : 1 << 12; }

// Whether a kernel can read the inputs where they are, and write its result: dense, and stored as
// they are computed. Most calls are such, and small ones must not pay for what the others need.
bool is_ready(const Loop& loop, Dtype promoted) {
  const DtypeInfo& info = facts(promoted);
  bool fills_its_bytes = info.bits == 8 * info.itemsize && promoted != Dtype::boolean;
  if (loop.ndim > 1 || layer_of(promoted).is_narrow || !fills_its_bytes) return false;
  std::int64_t step = loop.ndim ? static_cast<std::int64_t>(item(promoted)) : 0;
  for (int i = 0; i < loop.input_count; ++i)
    if (loop.inputs[i].dtype != promoted || (loop.ndim && loop.inputs[i].strides[0] != step)) return false;
  return true;
}

// The loop of a binary kernel over memory as it is; `steps` are bytes from element to element.
unsigned run_in_place(const Loop& loop, Binary kernel, const std::int64_t* steps, std::byte* out, std::int64_t out_size,
                      Repeat repeat, Cost cost) {
  std::atomic<unsigned> trouble{none};
  parallel_for(loop.size, grain_of(cost), [&](std::int64_t begin, std::int64_t end) {
    unsigned met = kernel(loop.inputs[0].data + begin * steps[0], loop.inputs[1].data + begin * steps[1],
                          out + begin * out_size, static_cast<std::size_t>(end - begin), repeat);
    if (met) trouble.fetch_or(met, std::memory_order_relaxed);
  });
  return trouble.load(std::memory_order_relaxed);
}

// The loop of a binary kernel over inputs that are read by given paths.
unsigned drive_binary(const Loop& loop, Binary kernel, const Path& path_x, const Path& path_y, const Path& store,
                      std::size_t lane, std::byte* out, Dtype out_dtype, Cost cost) {
  const Kernels& k = kernels();
  Writer writer(loop, k, store, out, out_dtype);
  std::size_t out_item = item(out_dtype);
  Reader x(loop, loop.inputs[0], k, path_x), y(loop, loop.inputs[1], k, path_y);
  std::size_t wide = std::max(widest(x.path(), x.itemsize()), widest(y.path(), y.itemsize()));
  std::size_t block = block_elements(std::max(wide, std::max(lane, widest(store, out_item))));
  bool both = x.repeats() && y.repeats() && loop.size > 1;
  Repeat repeat = both                           ? Repeat::neither
                  : x.repeats() && loop.size > 1 ? Repeat::left
                  : y.repeats() && loop.size > 1 ? Repeat::right
                                                 : Repeat::neither;
  bool x_direct = x.in_place() || (x.repeats() && x.path().count == 0);
  bool y_direct = y.in_place() || (y.repeats() && y.path().count == 0);
  bool direct = x_direct && y_direct && writer.in_place() && !both;
  if (direct) {
    std::int64_t steps[2] = {x.repeats() ? 0 : static_cast<std::int64_t>(x.itemsize()),
                             y.repeats() ? 0 : static_cast<std::int64_t>(y.itemsize())};
    return run_in_place(loop, kernel, steps, out, static_cast<std::int64_t>(out_item), repeat, cost);
  }
  std::atomic<unsigned> trouble{none};
  parallel_for(loop.size, grain_of(cost), [&](std::int64_t begin, std::int64_t end) SUANZI_OUT_OF_LINE {
    unsigned met = none;
    Buffer in_x[2], in_y[2], computed[2];
    const std::byte* repeated_x = x.repeats() ? x.read(begin, 1, in_x) : nullptr;
    const std::byte* repeated_y = y.repeats() ? y.read(begin, 1, in_y) : nullptr;
    for (std::int64_t p = begin; p < end;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
      const std::byte* a = repeated_x ? repeated_x : x.read(p, n, in_x);
      const std::byte* b = repeated_y ? repeated_y : y.read(p, n, in_y);
      met |= kernel(a, b, writer.target(p, computed), both ? 1 : n, repeat);
      writer.put(p, n, computed, both);
      p += static_cast<std::int64_t>(n);
    }
    writer.finish();
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

// A conversion of the input of a loop, where the output is dense.
Move as_move(const Loop& loop, std::byte* out, Dtype out_dtype, bool saturate) {
  const Input& x = loop.inputs[0];
  Move move = Move::to_dense(out, out_dtype, x.data, x.dtype, loop.ndim, loop.dims, x.strides, 1);
  move.saturate = saturate;
  return move;
}

// The 64-bit dtype that holds every value of a real dtype.
Dtype exact_dtype(Dtype dtype) {
  if (facts(dtype).is_inexact()) return Dtype::float64;
  return index(layer_of(dtype).lane) >= index(Lane::u8) ? Dtype::uint64 : Dtype::int64;
}

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
  std::int64_t* const strides[] = {inputs[0].strides, inputs[1].strides, inputs[2].strides};
  ndim = merge_axes(ndim, dims, strides, input_count);
}

unsigned run_unary(const Loop& loop, Unary kernel, Dtype promoted, std::byte* out, Dtype out_dtype, Cost cost,
                   Within within) {
  const Kernels& k = kernels();
  bool in_double = within == Within::float64;
  Path store = in_double ? store_path_from_double(k, promoted) : store_path(k, promoted, out_dtype);
  Writer writer(loop, k, store, out, out_dtype);
  if (writer.in_place() && is_ready(loop, promoted)) {
    std::int64_t size = item(promoted), out_size = item(out_dtype);
    parallel_for(loop.size, grain_of(cost), [&](std::int64_t begin, std::int64_t end) {
      kernel(loop.inputs[0].data + begin * size, out + begin * out_size, static_cast<std::size_t>(end - begin));
    });
    return none;
  }
  Dtype source = loop.inputs[0].dtype;
  Reader x(loop, loop.inputs[0], k,
           in_double ? load_path_in_double(k, source, promoted) : load_path(k, source, promoted));
  std::size_t out_item = item(out_dtype), lane = in_double ? sizeof(double) : lane_size[index(compute_lane(promoted))];
  std::size_t block = block_elements(std::max(widest(x.path(), x.itemsize()), std::max(lane, widest(store, out_item))));
  parallel_for(loop.size, grain_of(cost), [&](std::int64_t begin, std::int64_t end) SUANZI_OUT_OF_LINE {
    Buffer in[2], computed[2];
    for (std::int64_t p = begin; p < end;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
      kernel(x.read(p, n, in), writer.target(p, computed), x.repeats() ? 1 : n);
      writer.put(p, n, computed, x.repeats());
      p += static_cast<std::int64_t>(n);
    }
    writer.finish();
  });
  return none;
}

unsigned run_binary(const Loop& loop, Binary kernel, Binary fused, Dtype promoted, std::byte* out, Dtype out_dtype,
                    Cost cost) {
  const Kernels& k = kernels();
  if (fused && (!kernel || fits_fused(loop, promoted)))
    return drive_binary(loop, fused, cast_path(k, loop.inputs[0].dtype, promoted, false),
                        cast_path(k, loop.inputs[1].dtype, promoted, false), Path{}, item(promoted), out, out_dtype,
                        cost);
  Path store = store_path(k, promoted, out_dtype);
  if (is_ready(loop, promoted) && Writer(loop, k, store, out, out_dtype).in_place()) {
    auto size = static_cast<std::int64_t>(item(promoted));
    std::int64_t steps[2] = {size, size}, out_size = item(out_dtype);
    return run_in_place(loop, kernel, steps, out, out_size, Repeat::neither, cost);
  }
  return drive_binary(loop, kernel, load_path(k, loop.inputs[0].dtype, promoted),
                      load_path(k, loop.inputs[1].dtype, promoted), store, lane_size[index(compute_lane(promoted))],
                      out, out_dtype, cost);
}

unsigned run_binary_in_double(const Loop& loop, Binary kernel, Dtype promoted, std::byte* out, Cost cost) {
  const Kernels& k = kernels();
  return drive_binary(loop, kernel, load_path_in_double(k, loop.inputs[0].dtype, promoted),
                      load_path_in_double(k, loop.inputs[1].dtype, promoted), store_path_from_double(k, promoted),
                      sizeof(double), out, promoted, cost);
}

unsigned run_truth(const Loop& loop, std::size_t op, Dtype promoted, std::byte* out) {
  const Kernels& k = kernels();
  Binary kernel = k.binary[op][index(Lane::u8)];
  return drive_binary(loop, kernel, truth_path(k, loop.inputs[0].dtype, promoted),
                      truth_path(k, loop.inputs[1].dtype, promoted), Path{}, 1, out, Dtype::boolean, Cost::cheap);
}

unsigned run_chain(const Loop& loop, Binary first, Binary second, Dtype promoted, std::byte* out) {
  const Kernels& k = kernels();
  auto reader = [&](int i) { return Reader(loop, loop.inputs[i], k, load_path(k, loop.inputs[i].dtype, promoted)); };
  Reader x = reader(0), y = reader(1), a = reader(2);
  Path store = store_path(k, promoted, promoted);
  Writer writer(loop, k, store, out, promoted);
  std::size_t lane = lane_size[index(compute_lane(promoted))];
  std::size_t wide = std::max(lane, widest(store, item(promoted)));
  for (const Reader* one : {&x, &y, &a}) wide = std::max(wide, widest(one->path(), one->itemsize()));
  std::size_t block = block_elements(wide);
  parallel_for(loop.size, grain_of(Cost::cheap), [&](std::int64_t begin, std::int64_t end) {
    Buffer in_x[2], in_y[2], in_a[2], whole_x, between, computed[2];
    std::size_t most = std::min(block, static_cast<std::size_t>(end - begin));
    const std::byte* fixed_x = x.spread(in_x, whole_x, lane, most);
    const std::byte* one_y = y.repeats() ? y.read(begin, 1, in_y) : nullptr;
    const std::byte* one_a = a.repeats() ? a.read(begin, 1, in_a) : nullptr;
    for (std::int64_t p = begin; p < end;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
      first(fixed_x ? fixed_x : x.read(p, n, in_x), one_y ? one_y : y.read(p, n, in_y), between.bytes, n,
            one_y ? Repeat::right : Repeat::neither);
      second(between.bytes, one_a ? one_a : a.read(p, n, in_a), writer.target(p, computed), n,
             one_a ? Repeat::right : Repeat::neither);
      writer.put(p, n, computed);
      p += static_cast<std::int64_t>(n);
    }
    writer.finish();
  });
  return none;
}

void run_where(const Loop& loop, Dtype promoted, std::byte* out) {
  const Kernels& k = kernels();
  Reader c(loop, loop.inputs[0], k, Path{});
  Reader x(loop, loop.inputs[1], k, cast_path(k, loop.inputs[1].dtype, promoted, false));
  Reader y(loop, loop.inputs[2], k, cast_path(k, loop.inputs[2].dtype, promoted, false));
  Path none_needed;
  Writer writer(loop, k, none_needed, out, promoted);
  std::size_t out_item = item(promoted);
  std::size_t block = block_elements(16);
  Select select = k.select[layer_of(promoted).log2_size];
  parallel_for(loop.size, grain_of(Cost::cheap), [&](std::int64_t begin, std::int64_t end) {
    Buffer in_c[2], in_x[2], in_y[2], whole_x, whole_y, whole_c, chosen[2];
    std::size_t most = std::min(block, static_cast<std::size_t>(end - begin));
    const std::byte* fixed_c = c.spread(in_c, whole_c, 1, most);
    const std::byte* fixed_x = x.spread(in_x, whole_x, out_item, most);
    const std::byte* fixed_y = y.spread(in_y, whole_y, out_item, most);
    for (std::int64_t p = begin; p < end;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
      select(fixed_c ? fixed_c : c.read(p, n, in_c), fixed_x ? fixed_x : x.read(p, n, in_x),
             fixed_y ? fixed_y : y.read(p, n, in_y), writer.target(p, chosen), n);
      writer.put(p, n, chosen);
      p += static_cast<std::int64_t>(n);
    }
    writer.finish();
  });
}

void run_cast(const Loop& loop, std::byte* out, Dtype out_dtype, bool saturate) {
  const Kernels& k = kernels();
  Path path = cast_path(k, loop.inputs[0].dtype, out_dtype, saturate), none_needed;
  Reader x(loop, loop.inputs[0], k, path);
  if (!x.dense() && !x.repeats()) return run_move(as_move(loop, out, out_dtype, saturate));
  Writer writer(loop, k, none_needed, out, out_dtype);
  std::size_t out_item = item(out_dtype), size = x.itemsize();
  std::size_t block = block_elements(std::max(widest(path, size), out_item));
  if (x.dense() && path.count <= 1 && writer.in_place()) {
    parallel_for(loop.size, grain_of(Cost::cheap), [&](std::int64_t begin, std::int64_t end) {
      follow_to(path, x.at(begin), static_cast<std::size_t>(end - begin), size, writer.at(begin), nullptr, nullptr);
    });
    return;
  }
  parallel_for(loop.size, grain_of(Cost::cheap), [&](std::int64_t begin, std::int64_t end) {
    Buffer gathered, steps[2];
    for (std::int64_t p = begin; p < end;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
      const std::byte* from = x.dense() ? x.at(p) : x.gather(p, n, gathered.bytes);
      if (writer.in_place()) follow_to(path, from, n, size, writer.at(p), steps[0].bytes, steps[1].bytes);
      else k.stream(follow(path, from, n, steps[0].bytes, steps[1].bytes), writer.at(p), n * out_item);
      p += static_cast<std::int64_t>(n);
    }
    writer.finish();
  });
}

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
  Binary kernel =
      low == high ? k.binary[static_cast<std::size_t>(plain[which])][index(low)]
                  : k.compare[swapped ? mirrored[which] : which][low == Lane::i64 ? (high == Lane::u64 ? 0 : 1) : 2];
  std::size_t block = block_elements(8);
  parallel_for(loop.size, grain_of(Cost::cheap), [&](std::int64_t begin, std::int64_t end) {
    Buffer in_x[2], in_y[2], whole_x, whole_y;
    std::size_t most = std::min(block, static_cast<std::size_t>(end - begin));
    const std::byte* fixed_x = x.spread(in_x, whole_x, 8, most);
    const std::byte* fixed_y = y.spread(in_y, whole_y, 8, most);
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
