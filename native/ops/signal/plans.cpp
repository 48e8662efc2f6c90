// native/ops/signal/plans.cpp: 7.2.16: roots of unity, and the plans made of them.
#include "ops/signal/plans.h"

#include <cmath>
#include <map>
#include <mutex>
#include <utility>

namespace suanzi {
namespace {

// exp(-2 pi i k / n), within little more than half a unit of the last place: the angle is at most an eighth of the
// circle, and has a second part.
Root root_of_unity(std::int64_t k, std::int64_t n) {
  std::int64_t at = 8 * (k % n), octant = at / n;
  bool mirrored = octant % 2;
  std::int64_t rest = mirrored ? (octant + 1) * n - at : at - octant * n;  // of 8 n
  double ratio = static_cast<double>(rest) / (4.0 * static_cast<double>(n));
  double more =
      -std::fma(ratio, 4.0 * static_cast<double>(n), -static_cast<double>(rest)) / (4.0 * static_cast<double>(n));
  constexpr double pi = 0x1.921fb54442d18p+1, pi_more = 0x1.1a62633145c07p-53;
  double angle = ratio * pi, angle_more = std::fma(ratio, pi, -angle) + ratio * pi_more + more * pi;
  double c = std::cos(angle), s = std::sin(angle);
  double re = c - angle_more * s, im = s + angle_more * c;
  switch (octant) {  // of the circle, counted against the clock, with the sign of the exponent last
    case 0: return {re, -im};
    case 1: return {im, -re};
    case 2: return {-im, -re};
    case 3: return {-re, -im};
    case 4: return {-re, im};
    case 5: return {-im, re};
    case 6: return {im, re};
    default: return {re, im};
  }
}

template <class T>
void append(std::vector<T>& to, Root w) {
  to.push_back(static_cast<T>(w.re));
  to.push_back(static_cast<T>(w.im));
}

// The factors of the passes: prime ones, and 4 and 8.
std::vector<int> factors_of(std::int64_t n) {
  std::vector<int> found;
  for (int r : {8, 4, 2})
    for (; n % r == 0 && !(r == 8 && n == 16); n /= r) found.push_back(r);
  for (int r = 3; n > 1; r += 2)
    for (; n % r == 0; n /= r) found.push_back(r);
  return found;
}

template <class T>
std::shared_ptr<const FourierPlan<T>> make_plan(std::int64_t n, std::size_t lanes) {
  auto plan = std::make_shared<FourierPlan<T>>();
  plan->n = n;
  plan->factors = factors_of(n);
  std::int64_t m = n;
  for (int r : plan->factors) {
    std::int64_t whole = m;
    m /= r;
    for (std::int64_t p = 0; p < m; ++p)
      for (int j = 1; j < r; ++j) append(plan->roots, root_of_unity(p * j, whole));
    if (plan->circles[r].empty())
      for (int j = 0; j < r; ++j) append(plan->circles[r], root_of_unity(j, r));
  }
  auto all = static_cast<std::int64_t>(lanes);
  for (std::int64_t k = 0; k < n; ++k)
    for (int part = 0; part < 2; ++part)
      for (std::int64_t l = 0; l < all; ++l) {
        Root w = root_of_unity(l * k, n * all);
        plan->lane_roots.push_back(static_cast<T>(part ? w.im : w.re));
      }
  return plan;
}

}  // namespace

bool has_plan(std::int64_t n) {
  while (n % 2 == 0) n /= 2;
  for (int r = 3; n > 1 && r <= largest_radix; r += 2) {
    if (n < r * r) return n <= largest_radix;  // it is prime
    while (n % r == 0) n /= r;
  }
  return n == 1;
}

template <class T>
std::shared_ptr<const FourierPlan<T>> plan_of(std::int64_t n, std::size_t lanes) {
  static std::mutex mutex;
  static std::map<std::pair<std::int64_t, std::size_t>, std::shared_ptr<const FourierPlan<T>>> kept;
  constexpr std::size_t most = 64;
  {
    std::lock_guard lock(mutex);
    auto found = kept.find({n, lanes});
    if (found != kept.end()) return found->second;
  }
  auto made = make_plan<T>(n, lanes);
  std::lock_guard lock(mutex);
  if (kept.size() >= most) kept.clear();
  kept[{n, lanes}] = made;
  return made;
}

template std::shared_ptr<const FourierPlan<float>> plan_of(std::int64_t n, std::size_t lanes);
template std::shared_ptr<const FourierPlan<double>> plan_of(std::int64_t n, std::size_t lanes);

template <class T>
std::shared_ptr<const std::vector<T>> quarter_of(std::int64_t n) {
  static std::mutex mutex;
  static std::int64_t kept_length = 0;
  static std::shared_ptr<const std::vector<T>> kept;
  std::lock_guard lock(mutex);
  if (kept_length != n) {
    auto made = std::make_shared<std::vector<T>>();
    for (std::int64_t k = 0; k <= n / 4; ++k) append(*made, root_of_unity(k, n));
    kept = made, kept_length = n;
  }
  return kept;
}

template std::shared_ptr<const std::vector<float>> quarter_of(std::int64_t n);
template std::shared_ptr<const std::vector<double>> quarter_of(std::int64_t n);

template <class T>
std::vector<T> chirp_of(std::int64_t n) {
  std::vector<T> made(static_cast<std::size_t>(2 * n));
  std::int64_t square = 0;  // k^2 modulo 2n
  for (std::int64_t k = 0; 2 * k <= n; ++k) {
    Root w = root_of_unity(square, 2 * n);
    double sign = n % 2 ? -1 : 1;  // (n - k)^2 is k^2 + n^2 modulo 2n
    T* here = made.data() + 2 * k;
    here[0] = static_cast<T>(w.re), here[1] = static_cast<T>(w.im);
    if (T* there = made.data() + 2 * (n - k); k > 0)
      there[0] = static_cast<T>(sign * w.re), there[1] = static_cast<T>(sign * w.im);
    square = (square + 2 * k + 1) % (2 * n);
  }
  return made;
}

template std::vector<float> chirp_of(std::int64_t n);
template std::vector<double> chirp_of(std::int64_t n);

std::int64_t convolution_length(std::int64_t n) {
  std::int64_t least = 2 * n - 1, best = 0;
  for (std::int64_t sevens = 16; sevens < 2 * least + 16 * 7; sevens *= 7)  // 16: every vector has lanes that divide it
    for (std::int64_t fives = sevens; fives < 2 * least + 16 * 5; fives *= 5)
      for (std::int64_t threes = fives; threes < 2 * least + 16 * 3; threes *= 3) {
        std::int64_t m = threes;
        while (m < least) m *= 2;
        if (!best || m < best) best = m;
      }
  return best;
}

RootTable::RootTable(std::int64_t n) : n_(n), step_(static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)))) {
  for (std::int64_t k = 0; k < step_; ++k) fine_.push_back(root_of_unity(k, n));
  for (std::int64_t k = 0; k < n; k += step_) coarse_.push_back(root_of_unity(k, n));
}

std::shared_ptr<const RootTable> RootTable::of(std::int64_t n) {
  static std::mutex mutex;
  static std::shared_ptr<const RootTable> kept;
  std::lock_guard lock(mutex);
  if (!kept || kept->n_ != n) kept = std::make_shared<const RootTable>(n);
  return kept;
}

}  // namespace suanzi
