// native/ops/nn_experts.cpp: nn 11.2: the order of a mixture of experts' tokens, each expert's after the other.
//
// A counting sort on one thread: a few operations for each token, of which even a long batch has some ten thousands.
// It is stable, so that the order follows from the indices alone.
#include <algorithm>

#include "calls/arguments.h"
#include "core/without_gil.h"

namespace suanzi {
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

}  // namespace

void init_nn_experts(nb::module_& m) {
  define(
      m, "def nn_expert_order(indices: Any, experts: int) -> tuple[Tensor, Tensor, Tensor] | int",
      "How many of the indices of int64, in row-major order, are each number below `experts`; the positions of those "
      "of each number one after the other; and where each index is among them. Or the first position of one outside.",
      expert_order);
}

}  // namespace suanzi
