// native/ops/linear_algebra/small.cpp: 7.2.17.3 to 7.2.17.9: shares small matrices among threads.
#include "ops/linear_algebra/small.h"

#include "kernels/by_level.h"

namespace suanzi {

SUANZI_BY_LEVEL(SmallTables, small_kernels)

namespace {

// Reports by a bit which items are good; `good` has a word for every `lanes` of them.
void run_small(std::int64_t count, std::int64_t lanes, double operations, std::uint32_t* good,
               FunctionRef<std::uint32_t(std::int64_t, std::size_t)> some) {
  constexpr double group = 400, worth_a_thread = 400000, worth_the_gil = 60000;  // operations, about 4 per ns
  std::int64_t groups = (count + lanes - 1) / lanes;
  auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g)
      good[g] = some(g * lanes, static_cast<std::size_t>(std::min(lanes, count - g * lanes)));
  };
  double each = operations + group;
  if (static_cast<double>(groups) * each < worth_the_gil) return run(0, groups);
  auto grain = std::max<std::int64_t>(1, static_cast<std::int64_t>(worth_a_thread / each));
  run_without_gil(nullptr, 0, [&] { parallel_for(groups, grain, run); });  // over memory that is kept
}

}  // namespace

bool for_each_small(Outcome& outcome, std::int64_t count, std::int64_t lanes, std::int64_t order, double operations,
                    std::size_t workspace, FunctionRef<std::uint32_t(std::int64_t, std::size_t)> some,
                    FunctionRef<Verdict(std::int64_t, std::byte*)> one) {
  std::int64_t groups = (count + lanes - 1) / lanes;
  std::uint32_t few[64];
  Scratch many;
  auto* good = groups <= 64 ? few : reinterpret_cast<std::uint32_t*>(many.take(Dtype::int32, groups));
  if (!good) return false;
  run_small(count, lanes, operations, good, some);
  std::int64_t bad = count;
  for (std::int64_t g = 0; g < groups; ++g) bad -= std::popcount(good[g]);
  if (!bad) return true;
  Scratch memory(Dtype::int64, bad);
  auto* left = reinterpret_cast<std::int64_t*>(memory.data());
  if (!left || !prepare_lapack(outcome)) return false;
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < count; ++i)
    if (!(good[i / lanes] >> (i % lanes) & 1)) left[found++] = i;
  bool answered = for_each_matrix(outcome, bad, order, operations, workspace,
                                  [&](std::int64_t i, std::byte* work) { return one(left[i], work); });
  outcome.translate([&](std::int64_t i, Reason) { return left[i]; });
  return answered;
}

}  // namespace suanzi
