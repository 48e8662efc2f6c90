// native/loops/function_tables.cpp: makes tables of functions, and looks up in them.
//
// A table is a pointer that is set once. Threads that find none at the same time make the same, and one of them stays;
// no lock is held, so that a fork may happen at any time.
#include "loops/function_tables.h"

#include <cstdlib>

#include "core/rules.h"
#include "loops/blocks.h"

namespace suanzi {
namespace {

std::size_t argument_count(Dtype dtype) { return std::size_t{1} << (8 * item(dtype)); }

// Null if there is no memory.
std::byte* made_results(Unary kernel, Within within, Dtype dtype) {
  std::size_t count = argument_count(dtype), size = item(dtype);
  auto* results = static_cast<std::byte*>(std::malloc(count * size));
  if (!results) return nullptr;
  const Kernels& k = kernels();
  bool in_double = within == Within::float64;
  Path load = in_double ? load_path_in_double(k, dtype, dtype) : load_path(k, dtype, dtype);
  Path store = in_double ? store_path_from_double(k, dtype) : store_path(k, dtype, dtype);
  constexpr std::size_t block = block_elements(sizeof(double));
  Buffer in[2], computed[2];
  for (std::size_t begin = 0; begin < count; begin += block) {
    std::size_t n = std::min(block, count - begin);
    for (std::size_t i = 0; i < n; ++i) {
      auto bits = static_cast<std::uint16_t>(begin + i);
      std::memcpy(in[0].bytes + i * size, &bits, size);  // the lower byte comes first
    }
    kernel(follow(load, in[0].bytes, n, in[0].bytes, in[1].bytes), computed[0].bytes, n);
    follow_to(store, computed[0].bytes, n, size, results + begin * size, computed[0].bytes, computed[1].bytes);
  }
  return results;
}

}  // namespace

FunctionTable* function_table(std::size_t row, Dtype dtype) {
  const Kernels& k = kernels();
  const Layer& layer = layer_of(dtype);
  auto format = static_cast<std::size_t>(layer.narrow);
  if (!layer.is_narrow || layer.is_complex || !k.by_table[row][format]) return nullptr;
  bool saturates = dtype == Dtype::float8_e4m3fn && float8_saturates();
  return &k.function_tables->of[row][saturates ? saturating_format : format];
}

const std::byte* results_for(FunctionTable& table, std::int64_t elements, Unary kernel, Within within, Dtype dtype) {
  if (const std::byte* known = table.results.load(std::memory_order_acquire)) return known;
  // Threads may lose a count of each other's: it only decides when a table is made.
  std::int64_t computed = table.computed.load(std::memory_order_relaxed);
  if (elements < static_cast<std::int64_t>(argument_count(dtype)) - computed) {
    table.computed.store(computed + elements, std::memory_order_relaxed);
    return nullptr;
  }
  std::byte* made = made_results(kernel, within, dtype);
  const std::byte* found = nullptr;
  if (made && !table.results.compare_exchange_strong(found, made, std::memory_order_acq_rel)) {
    std::free(made);
    return found;
  }
  return made;
}

void run_lookup(const Loop& loop, const std::byte* results, std::byte* out) {
  const Kernels& k = kernels();
  Dtype dtype = loop.inputs[0].dtype;
  Path as_stored;
  Reader x(loop, loop.inputs[0], k, as_stored);
  Writer writer(loop, k, as_stored, out, dtype);
  auto look_up = k.look_up[layer_of(dtype).log2_size];
  std::size_t block = block_elements(item(dtype));
  bool direct = x.in_place() && writer.in_place();
  parallel_for(loop.size, grain, [&](std::int64_t begin, std::int64_t end) {
    if (direct) return look_up(results, x.at(begin), writer.at(begin), static_cast<std::size_t>(end - begin));
    Buffer in[2], found[2];
    for (std::int64_t p = begin; p < end;) {
      std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
      look_up(results, x.read(p, n, in), writer.target(p, found), x.repeats() ? 1 : n);
      writer.put(p, n, found, x.repeats());
      p += static_cast<std::int64_t>(n);
    }
    writer.finish();
  });
}

}  // namespace suanzi
