// native/ops/nn/experts.cpp: nn 11.2, 11.3: the order of a mixture of experts' tokens, each expert's after the other,
// and the products of those that have few.
//
// A counting sort on one thread: a few operations for each token, of which even a long batch has some ten thousands.
// It is stable, so that the order follows from the indices alone. Threads share columns of the experts' matrices.
#include "kernels/nn/experts.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "calls/arguments.h"
#include "core/own_memory.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/by_level.h"
#include "kernels/linear_algebra/products.h"
#include "ops/linear_algebra/provider.h"
#include "ops/nn/lanes.h"

namespace suanzi {

SUANZI_BY_LEVEL(ExpertKernels, expert_kernels)

namespace {

std::int64_t* numbers(nb::handle object) { return reinterpret_cast<std::int64_t*>(tensor_of(object.ptr())->data()); }

nb::object new_numbers(int ndim, const std::int64_t* dims) {
  return raise_or(new_dense_tensor(Dtype::int64, ndim, dims));
}

nb::object expert_order(nb::handle object, std::int64_t experts) {
  const Tensor* given = read_tensor(object.ptr());
  if (!given || !given->row_major || given->dtype != Dtype::int64 || experts < 0)
    throw nb::value_error("not indices of int64 in row-major order");
  const Tensor& indices = *given;
  const auto* at = reinterpret_cast<const volatile std::int64_t*>(indices.data());
  nb::object counts = new_numbers(1, &experts), starts = new_numbers(1, &experts);
  nb::object order = new_numbers(1, &indices.size), positions = new_numbers(indices.ndim(), indices.dims());
  std::int64_t *count = numbers(counts), *next = numbers(starts), *from = numbers(order), *to = numbers(positions);
  std::int64_t outside = -1;
  run_over(indices.size + experts, {&indices}, [&] {
    std::fill_n(count, experts, 0);
    // Each index is read once: another thread may change it meanwhile.
    for (std::int64_t i = 0; i < indices.size; ++i) {
      std::int64_t expert = at[i];
      if (expert < 0 || expert >= experts) return void(outside = i);
      ++count[to[i] = expert];
    }
    std::int64_t sum = 0;
    for (std::int64_t e = 0; e < experts; ++e) next[e] = sum, sum += count[e];
    for (std::int64_t i = 0; i < indices.size; ++i) from[to[i] = next[to[i]]++] = i;
  });
  if (outside >= 0) return nb::int_(outside);
  return nb::make_tuple(counts, order, positions);
}

// ---- products ------------------------------------------------------------------------------------

struct Group {
  std::int64_t matrix, start, end;
};

struct FewRowsOfGroups {
  const Tensor &x, &weight;  // (rows, k), dense, and (groups, k, columns), dense along columns
  const Tensor& out;
  const std::vector<Group>& groups;
  void (*multiply)(const FewRows&);
  std::int64_t k = x.dims()[1], columns = weight.dims()[2], wide = std::min(columns, widest());
  Lanes lanes{x.dtype};
  std::atomic<bool> failed{false};

  void run() {
    auto count = [&] { return static_cast<std::int64_t>(groups.size()) * parts(); };
    while (wide > 128 && count() < 4 * thread_count() && thread_count() > 1) wide = (wide / 2 + 63) / 64 * 64;
    double each = static_cast<double>(wide) * static_cast<double>(k + 1);
    parallel_for(count(), static_cast<std::int64_t>(std::max(1.0, grain / each)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end && !failed; ++i)
                     one(groups[static_cast<std::size_t>(i / parts())], i % parts() * wide);
                 });
  }

 private:
  // Eight rows of the matrix and the sums of four are to stay in the first-level cache.
  std::int64_t widest() const {
    for (const Group& group : groups)
      if (group.end - group.start > 4) return 512;
    return 1024;
  }
  std::int64_t parts() const { return (columns + wide - 1) / wide; }

  void one(const Group& group, std::int64_t j) {
    OwnMemory memory[2];
    std::int64_t n = group.end - group.start, some = std::min(wide, columns - j);
    auto* sums = reinterpret_cast<float*>(memory[0].take(2 * n * some * 4));
    std::byte* room = memory[1].take(lanes.is_narrow() ? n * k * 4 : 0);
    if (!sums || (!room && lanes.is_narrow())) return failed.store(true);
    const void* rows = lanes.read(x.data() + group.start * k * lanes.itemsize, room, static_cast<std::size_t>(n * k));
    const std::int64_t* strides = weight.strides();
    const std::byte* from = weight.data() + (group.matrix * strides[0] + j) * lanes.itemsize;
    multiply({static_cast<const float*>(rows), n, k, k, from, strides[1], some, sums, sums + n * some});
    for (std::int64_t r = 0; r < n; ++r)
      lanes.write(sums + r * some, out.data() + ((group.start + r) * columns + j) * lanes.itemsize,
                  static_cast<std::size_t>(some));
  }
};

// The kernel for rows of a dtype whose bits are those of products of many; null where there is none.
void (*few_rows_of(Dtype dtype))(const FewRows&) {
  const ProductKernels& own = *kernels().products;
  if (!own.tiles || (dtype == Dtype::bfloat16 && own.multiply_bf16)) return nullptr;
  Provider* chosen = provider();
  if (chosen && chosen->library != Library::scipy) return nullptr;
  int kind = dtype == Dtype::float32 ? 0 : dtype == Dtype::float16 ? 1 : dtype == Dtype::bfloat16 ? 2 : -1;
  return kind < 0 ? nullptr : expert_kernels().few_rows[kind];
}

bool few_rows(nb::handle x_, nb::handle weight_, const std::vector<Group>& groups, nb::handle out_) {
  const Tensor* x = read_tensor(x_.ptr());
  auto multiply = x ? few_rows_of(x->dtype) : nullptr;
  x = read_tensor(x_.ptr());  // which another thread may have destroyed
  const Tensor *weight = read_tensor(weight_.ptr()), *out = read_tensor(out_.ptr());
  bool fits = x && weight && out && multiply && x->row_major && out->row_major && x->ndim() == 2 && out->ndim() == 2 &&
              weight->ndim() == 3 && weight->strides()[2] == 1 && weight->dtype == x->dtype && out->dtype == x->dtype &&
              weight->dims()[1] == x->dims()[1] && out->dims()[0] == x->dims()[0] &&
              out->dims()[1] == weight->dims()[2];
  for (const Group& group : groups)
    fits = fits && group.matrix >= 0 && group.matrix < weight->dims()[0] && group.start >= 0 &&
           group.start <= group.end && group.end <= x->dims()[0];
  if (!fits) return false;
  FewRowsOfGroups product{*x, *weight, *out, groups, multiply};
  double rows = 0;
  for (const Group& group : groups) rows += static_cast<double>(group.end - group.start);
  double work = rows * static_cast<double>(weight->dims()[2]) * static_cast<double>(x->dims()[1] + 1);
  run_over(work < long_loop ? 0 : long_loop, {x, weight, out}, [&] { product.run(); });
  return !product.failed;
}

}  // namespace

void init_nn_experts(nb::module_& m) {
  define(
      m, "def nn_expert_order(indices: Any, experts: int) -> tuple[Tensor, Tensor, Tensor] | int",
      "How many of the indices of int64, in row-major order, are each number below `experts`; the positions of those "
      "of each number one after the other; and where each index is among them. Or the first position of one outside.",
      expert_order);
  define(
      m, "def nn_few_rows(x: Tensor, weight: Tensor, groups: list[tuple[int, int, int]], out: Tensor) -> bool",
      "The products of rows, dense, with matrices of the weight: of each group the number of its matrix, and where its "
      "rows begin and end. False where this machine, the dtype or the layout has no loop for few rows.",
      [](nb::handle x, nb::handle weight, const nb::list& given, nb::handle out) {
        std::vector<Group> groups;
        for (nb::handle one : given) {
          auto numbers = nb::cast<nb::tuple>(one);
          groups.push_back({nb::cast<std::int64_t>(numbers[0]), nb::cast<std::int64_t>(numbers[1]),
                            nb::cast<std::int64_t>(numbers[2])});
        }
        return few_rows(x, weight, groups, out);
      });
}

}  // namespace suanzi
