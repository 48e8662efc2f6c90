// native/ops/indexing/digits.h: 7.2.14.3: sorts unsigned integers digit by digit, from the last.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

namespace suanzi {

// Up to how many a run is sorted by insertion, and up to how many digits are short.
inline constexpr std::int64_t by_insertion = 24, by_short_digits = 1 << 14;

// Sorts source(0), source(1), ... by `count` digits of their bits from `low` on, and gives each with its
// position to `sink`. In between they are in `a` and `b` in turn; `b` may be where they come from. Digits
// that are the same in all are passed over.
template <int digit_bits, int count, class U, class Source, class Sink>
void sort_digits(std::int64_t n, int low, U* a, U* b, const Source& source, const Sink& sink) {
  constexpr std::uint32_t radix = 1u << digit_bits, mask = radix - 1;
  std::uint32_t counts[count][radix];
  std::memset(counts, 0, sizeof counts);
  auto digit = [](U element, int shift) { return static_cast<std::uint32_t>(element >> shift) & mask; };
  for (std::int64_t i = 0; i < n; ++i) {
    U element = source(i);
    for (int d = 0; d < count; ++d) ++counts[d][digit(element, low + d * digit_bits)];
  }
  int digits[count], passes = 0;
  for (int d = 0; d < count; ++d)
    if (counts[d][digit(source(0), low + d * digit_bits)] != n) digits[passes++] = d;
  if (passes == 0)
    for (std::int64_t i = 0; i < n; ++i) sink(i, source(i));
  for (int pass = 0; pass < passes; ++pass) {
    std::uint32_t *next = counts[digits[pass]], total = 0;
    int shift = low + digits[pass] * digit_bits;
    for (std::uint32_t i = 0; i < radix; ++i) {
      std::uint32_t here = next[i];
      next[i] = total;
      total += here;
    }
    auto move = [&](const auto& from, const auto& to) {
      for (std::int64_t i = 0; i < n; ++i) {
        U element = from(i);
        to(next[digit(element, shift)]++, element);
      }
    };
    auto from_a = [a](std::int64_t i) { return a[i]; };
    bool first = pass == 0, last = pass + 1 == passes;
    if (first && last) move(source, sink);
    else if (first) move(source, [a](std::int64_t at, U element) { a[at] = element; });
    else if (last) move(from_a, sink);
    else {
      move(from_a, [b](std::int64_t at, U element) { b[at] = element; });
      std::swap(a, b);
    }
  }
}

}  // namespace suanzi
