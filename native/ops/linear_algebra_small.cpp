// native/ops/linear_algebra_small.cpp: 7.2.17.3 to 7.2.17.9: shares small matrices among threads.
#include "ops/linear_algebra_small.h"

#include "kernels/by_level.h"

namespace suanzi {

SUANZI_BY_LEVEL(SmallTables, small_kernels)

void run_small(std::int64_t count, std::int64_t lanes, double operations, std::uint32_t* good,
               const std::function<std::uint32_t(std::int64_t, std::size_t)>& some) {
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

}  // namespace suanzi
