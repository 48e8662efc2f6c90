// native/ops/transformation/moves.h: 7.2.3: several moves into parts of one output.
#pragma once

#include "core/without_gil.h"
#include "loops/blocks.h"
#include "loops/copies.h"
#include "loops/row_copies.h"

namespace suanzi {

// Moves that are prepared while Python may not run, and carried out while it may.
class Moves {
 public:
  Moves() = default;
  Moves(const Moves&) = delete;
  Moves& operator=(const Moves&) = delete;
  ~Moves() {
    for (Storage* storage : kept_) release_storage(storage);
  }

  void keep(const Tensor& t) {
    kept_.push_back(t.storage);
    t.storage->retain();  // after what may throw
  }
  void add(const Move& move) {
    size_ += move.size();
    moves_.push_back(move);
  }
  void run() const {
    without_python([&] {
      for (const Move& move : moves_) run_move(move);
    });
  }
  // In turns of some indices along the first axis, which all moves have in common: each row of the output is written
  // as a whole, and what moves read in common is in the caches.
  void run_in_turns() const {
    std::int64_t rows = moves_.empty() ? 0 : moves_[0].dims[0], bytes = 0;
    for (const Move& move : moves_) bytes += move.size() * static_cast<std::int64_t>(item(move.to_dtype));
    std::int64_t at_once =
        std::max<std::int64_t>(turn_bytes / std::max<std::int64_t>(bytes / std::max<std::int64_t>(rows, 1), 1), 1);
    if (moves_.size() < 2 || at_once >= rows || bytes >= stream_from()) return run();
    std::vector<Rows> parts;
    if (read_rows(parts)) return run_row_by_row(parts);
    without_python([&] {
      parallel_for((rows + at_once - 1) / at_once, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin * at_once; row < std::min(end * at_once, rows); row += at_once)
          for (Move move : moves_) {
            move.dims[0] = std::min(at_once, rows - row);
            move.to += row * move.to_strides[0];
            move.from += row * move.from_strides[0];
            run_move(move);
          }
      });
    });
  }

 private:
  static constexpr std::int64_t turn_bytes = 1 << 17;

  // Rows of bytes that are dense on both sides.
  struct Rows {
    std::byte* to;
    const std::byte* from;
    std::int64_t count, bytes, to_step, from_step;
  };

  // The moves as rows, as many of each, long enough to be copied one by one; false if they are none.
  bool read_rows(std::vector<Rows>& found) const {
    constexpr std::int64_t shortest = 256;
    for (const Move& move : moves_) {
      auto size = static_cast<std::int64_t>(item(move.to_dtype)), bytes = size;
      if (move.to_dtype != move.from_dtype) return false;
      int rest = move.ndim;
      for (; rest > 0 && move.to_strides[rest - 1] == bytes && move.from_strides[rest - 1] == bytes; --rest)
        bytes *= move.dims[rest - 1];
      if (rest == 0 || bytes < shortest) return false;
      Rows rows{move.to, move.from, move.dims[rest - 1], bytes, move.to_strides[rest - 1], move.from_strides[rest - 1]};
      for (int d = rest - 1; d-- > 0; rows.count *= move.dims[d])
        if (move.to_strides[d] != rows.count * rows.to_step || move.from_strides[d] != rows.count * rows.from_step)
          return false;
      if (!found.empty() && found[0].count != rows.count) return false;
      found.push_back(rows);
    }
    return true;
  }

  // The output is written from its start to its end, which memory is fastest at.
  void run_row_by_row(const std::vector<Rows>& parts) const {
    std::int64_t bytes = 0;
    for (const Rows& part : parts) bytes += part.bytes;
    without_python([&] {
      parallel_for(parts[0].count, std::max<std::int64_t>(turn_bytes / bytes, 1),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row)
                       for (const Rows& part : parts)
                         copy_row(part.to + row * part.to_step, part.from + row * part.from_step,
                                  static_cast<std::size_t>(part.bytes));
                   });
    });
  }

  template <class Body>
  void without_python(Body&& body) const {
    PyThreadState* state = size_ < 1 << 15 ? nullptr : PyEval_SaveThread();
    body();
    if (state) take_gil(state);
  }

  std::vector<Move> moves_;
  std::vector<Storage*> kept_;
  std::int64_t size_ = 0;
};

}  // namespace suanzi
