// native/ops/nn/losses.cpp: nn 9: losses of pairs and of rows of classes, and their gradients.
//
// A row of logits is read block by block: where a block has a larger element, what was summed up is scaled down, so
// that nothing overflows and no tensor of logarithms is made. Threads share blocks of elements, or groups of 16 rows;
// the sums of these are added in an order that only the number of them decides.
#include "kernels/nn/losses.h"

#include <cmath>
#include <limits>

#include "calls/arguments.h"
#include "core/scratch.h"
#include "core/status.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/by_level.h"
#include "ops/nn/lanes.h"
#include "ops/nn/rows.h"

namespace suanzi {

SUANZI_BY_LEVEL(LossKernels, loss_kernels)

namespace {

constexpr std::int64_t block = static_cast<std::int64_t>(loss_block);

// A block of lanes.
struct alignas(64) Room {
  std::byte bytes[loss_block * sizeof(double)];
};

// Where partial sums go: there is one at least.
class Partials {
 public:
  explicit Partials(std::int64_t count) : room_(Dtype::float64, std::max<std::int64_t>(count, 1)), count_(count) {}
  explicit operator bool() const { return room_.data(); }
  double* data() const { return reinterpret_cast<double*>(room_.data()); }
  // The sum of all: of blocks, of blocks of those, and so on.
  double total(const LossKernels& loops) const {
    double* sums = data();
    for (std::int64_t left = count_; left > 1;) {
      std::int64_t next = 0;
      for (std::int64_t at = 0; at < left; at += block)
        sums[next++] = loops.sum[1](sums + at, static_cast<std::size_t>(std::min(block, left - at)));
      left = next;
    }
    return count_ ? sums[0] : 0;
  }

 private:
  Scratch room_;
  std::int64_t count_;
};

const Tensor* dense_or_none(nb::handle object, const Tensor* like, std::int64_t size) {
  if (object.is_none()) return nullptr;
  const Tensor* t = read_tensor(object.ptr());
  if (!t || !t->row_major || (like && t->dtype != like->dtype) || (size >= 0 && t->size != size))
    throw nb::value_error("not what a loss takes");
  return t;
}

const Tensor& dense(nb::handle object, const Tensor* like = nullptr, std::int64_t size = -1) {
  const Tensor* t = dense_or_none(object, like, size);
  if (!t || !facts(t->dtype).is_float()) throw nb::value_error("not what a loss takes");
  return *t;
}

nb::object new_like(const Tensor& t) { return raise_or(new_dense_tensor(t.dtype, t.ndim(), t.dims())); }

std::byte* data_of(const nb::object& made) { return tensor_of(made.ptr())->data(); }

// ---- pairs --------------------------------------------------------------------------------------

// The operands of a loss of pairs; weights that are not given are null.
struct Pairs {
  std::size_t kind;
  const Tensor &x, &target;
  const Tensor *weight, *positive;
  double parameter;
  const LossKernels& loops;
  Lanes lanes;

  Pairs(int kind_, nb::handle x_, nb::handle target_, nb::handle weight_, nb::handle positive_, double parameter_)
      : kind(static_cast<std::size_t>(kind_)), x(dense(x_)), target(dense(target_, &x, x.size)),
        weight(dense_or_none(weight_, &x, x.size)), positive(dense_or_none(positive_, &x, x.size)),
        parameter(parameter_), loops(loss_kernels()), lanes(x.dtype) {
    if (kind >= pair_loss_count) throw nb::value_error("no such loss");
  }

  // Calls body(position, count, x, target, positive) for the blocks of [begin, end).
  template <class F>
  void each(std::int64_t begin, std::int64_t end, F&& body) const {
    Room rooms[3];
    for (std::int64_t b = begin; b < end; ++b) {
      std::int64_t at = b * block;
      auto n = static_cast<std::size_t>(std::min(block, x.size - at));
      auto lanes_of = [&](const Tensor* t, Room& room) {
        return t ? lanes.read(t->data() + at * lanes.itemsize, room.bytes, n) : nullptr;
      };
      body(at, n, lanes_of(&x, rooms[0]), lanes_of(&target, rooms[1]), lanes_of(positive, rooms[2]));
    }
  }
  std::int64_t blocks() const { return (x.size + block - 1) / block; }
  template <class F>
  void run(F&& body) const {
    run_over(x.size, {&x, &target, weight ? weight : &x, positive ? positive : &x},
             [&] { parallel_for(blocks(), 8, [&](std::int64_t begin, std::int64_t end) { body(begin, end); }); });
  }
  void weigh(void* values, std::int64_t at, std::size_t n) const {
    if (!weight) return;
    Room room;
    loops.multiply[lanes.lane](values, lanes.read(weight->data() + at * lanes.itemsize, room.bytes, n), n);
  }
};

// The losses of all pairs, or their sum by a divisor.
nb::object pair_loss(int kind, nb::handle x, nb::handle target, nb::handle weight, nb::handle positive,
                     double parameter, bool reduces, double divisor) {
  Pairs p(kind, x, target, weight, positive, parameter);
  std::size_t lane = p.lanes.lane;
  nb::object output = reduces ? raise_or(new_dense_tensor(p.x.dtype, 0, nullptr)) : new_like(p.x);
  std::byte* out = data_of(output);
  Partials partials(reduces ? p.blocks() : 0);
  if (!partials) return no_memory(), raise_or(nullptr);
  p.run([&](std::int64_t begin, std::int64_t end) {
    Room made;
    p.each(begin, end, [&](std::int64_t at, std::size_t n, const void* a, const void* b, const void* c) {
      std::byte* to = out + (reduces ? 0 : at * p.lanes.itemsize);
      void* values = reduces ? made.bytes : p.lanes.target(to, made.bytes);
      p.loops.value[p.kind][lane](a, b, c, p.parameter, values, n);
      p.weigh(values, at, n);
      if (reduces) partials.data()[at / block] = p.loops.sum[lane](values, n);
      else p.lanes.write(values, to, n);
    });
  });
  if (reduces) p.lanes.put(partials.total(p.loops) / divisor, out);
  return output;
}

// The gradients by x and by the target; out_grad is one number, or one for each pair.
nb::object pair_loss_bwd(int kind, nb::handle out_grad, nb::handle x, nb::handle target, nb::handle weight,
                         nb::handle positive, double parameter, double divisor) {
  Pairs p(kind, x, target, weight, positive, parameter);
  const Tensor& grad = dense(out_grad, &p.x);
  bool is_one = grad.ndim() == 0;
  if (!is_one && grad.size != p.x.size) throw nb::value_error("not what a loss takes");
  nb::object by_x = new_like(p.x), by_target = new_like(p.x);
  std::byte* outs[2] = {data_of(by_x), data_of(by_target)};
  std::size_t lane = p.lanes.lane;
  double factor = is_one ? p.lanes.one(grad.data()) / divisor : 1;
  Kept kept(grad);
  p.run([&](std::int64_t begin, std::int64_t end) {
    Room made[2], room;
    p.each(begin, end, [&](std::int64_t at, std::size_t n, const void* a, const void* b, const void* c) {
      std::int64_t offset = at * p.lanes.itemsize;
      void* values[2];
      for (int i = 0; i < 2; ++i) values[i] = p.lanes.target(outs[i] + offset, made[i].bytes);
      p.loops.derivatives[p.kind][lane](a, b, c, p.parameter, values[0], values[1], n);
      const void* factors = is_one ? nullptr : p.lanes.read(grad.data() + offset, room.bytes, n);
      for (int i = 0; i < 2; ++i) {
        p.weigh(values[i], at, n);
        if (is_one) p.loops.scale[lane](values[i], factor, n);
        else p.loops.multiply[lane](values[i], factors, n);
        p.lanes.write(values[i], outs[i] + offset, n);
      }
    });
  });
  return nb::make_tuple(by_x, by_target);
}

// ---- rows of classes ----------------------------------------------------------------------------

constexpr std::int64_t group = 16;  // rows

// The largest element of a row, the sum of exp(x - largest), its logarithm, and the sum without the largest element
// where that is the smaller part of it, else 0.
struct RowSum {
  double largest, sum, log, below;
};

// Logits or their logarithmic softmax, (rows, classes), with a class or probabilities for each row.
struct Rows {
  const Tensor& x;
  std::int64_t rows, classes;
  const Tensor *target, *weight;
  bool is_log;  // x has logarithms already
  std::int64_t ignore;
  double smoothing;
  const LossKernels& loops;
  Lanes lanes;
  std::size_t lane;
  bool widens;
  const RowLoops& rows_of;
  double weight_sum = 0;

  Rows(nb::handle x_, nb::handle target_, nb::handle weight_, bool is_log_, std::int64_t ignore_, double smoothing_)
      : x(dense(x_)), rows(x.ndim() == 2 ? x.dims()[0] : -1), classes(rows < 0 ? 0 : x.dims()[1]),
        target(read_tensor(target_.ptr())), weight(dense_or_none(weight_, &x, classes)), is_log(is_log_),
        ignore(ignore_), smoothing(smoothing_), loops(loss_kernels()), lanes(x.dtype), lane(lanes.lane),
        widens(!row_loops(x.dtype)), rows_of(*row_loops(widens ? Dtype::float32 : x.dtype)) {
    bool fits = target && target->row_major && rows >= 0;
    if (!fits || !(is_class() ? target->size == rows : target->dtype == x.dtype && target->size == x.size && !is_log))
      throw nb::value_error("not what a loss takes");
    if (weight && smoothing)
      blocks([&](std::int64_t at, std::size_t n) {
        Room room;
        Shares all{nullptr, weights(at, n, room), 0, 1};
        weight_sum += loops.sum_of_shares[lane](all, n);
      });
    else weight_sum = static_cast<double>(classes);
  }

  bool is_class() const { return target->dtype == Dtype::int64; }
  // The class of a row; -1 where it is ignored.
  std::int64_t class_of(std::int64_t row) const {
    std::int64_t found = reinterpret_cast<const std::int64_t*>(target->data())[row];
    return found == ignore ? -1 : found;
  }
  double weight_of(std::int64_t number) const {
    return weight ? lanes.one(weight->data() + number * lanes.itemsize) : 1;
  }
  const std::byte* at(const Tensor& t, std::int64_t row, std::int64_t column) const {
    return t.data() + (row * classes + column) * lanes.itemsize;
  }
  const void* weights(std::int64_t column, std::size_t n, Room& room) const {
    return weight ? lanes.read(weight->data() + column * lanes.itemsize, room.bytes, n) : nullptr;
  }

  // Calls body(column, count) for the blocks of a row.
  template <class F>
  void blocks(F&& body) const {
    for (std::int64_t column = 0; column < classes; column += block)
      body(column, static_cast<std::size_t>(std::min(block, classes - column)));
  }
  // A block as the loops of rows take it: float8 is widened.
  const void* block_of(std::int64_t row, std::int64_t column, std::size_t n, Room& room) const {
    const std::byte* from = at(x, row, column);
    return widens ? lanes.read(from, room.bytes, n) : from;
  }
  RowSum sum_of(std::int64_t row) const {
    RowSum found{-std::numeric_limits<double>::infinity(), 0, 0, 0};
    Room room;
    blocks([&](std::int64_t column, std::size_t n) {
      const void* given = block_of(row, column, n, room);
      double most = rows_of.largest(given, n);
      if (most > found.largest) {
        found.sum *= std::exp(found.largest - most);
        found.largest = most;
      }
      double centre = found.largest == -std::numeric_limits<double>::infinity() ? 0 : found.largest;
      found.sum += rows_of.exponentials(given, centre, nullptr, n);
    });
    found.log = std::log(found.sum);
    if (!(found.sum < 2)) return found;
    // One element has most of the sum: the others alone have the digits of its logarithm.
    blocks([&](std::int64_t column, std::size_t n) {
      found.below += rows_of.exponentials_below(block_of(row, column, n, room), found.largest, n);
    });
    found.log = std::log1p(found.below);
    return found;
  }
  // Calls body(column, n, x, shares) for the blocks of a row.
  template <class F>
  void shared(std::int64_t row, double scale, double constant, F&& body) const {
    Room rooms[3];
    blocks([&](std::int64_t column, std::size_t n) {
      const void* given = lanes.read(at(x, row, column), rooms[0].bytes, n);
      const void* shares = is_class() ? nullptr : lanes.read(at(*target, row, column), rooms[1].bytes, n);
      body(column, n, given, Shares{shares, weights(column, n, rooms[2]), scale, constant});
    });
  }
  double evenly() const { return smoothing / static_cast<double>(classes); }

  // The loss of a row, and what it counts in a mean.
  double loss(std::int64_t row, double& counts) const {
    counts = 1;
    std::int64_t number = is_class() ? class_of(row) : 0;
    if (is_class()) counts = number < 0 ? 0 : weight_of(number);
    if (number < 0) return 0;
    if (is_log) return -lanes.one(at(x, row, number)) * counts;
    RowSum sum = sum_of(row);
    double log_sum = sum.log, found = 0;
    if (!is_class() || smoothing)
      shared(row, 1 - smoothing, evenly(), [&](std::int64_t, std::size_t n, const void* given, const Shares& shares) {
        found += loops.cross[lane](given, shares, sum.largest, log_sum, n);
      });
    if (is_class()) found += (1 - smoothing) * counts * ((sum.largest - lanes.one(at(x, row, number))) + log_sum);
    return found;
  }

  template <class F>
  void run(F&& body) const {
    std::int64_t least = std::max<std::int64_t>(grain / 4 / (group * (is_log ? 1 : classes) + 1), 1);
    run_over(x.size, {&x, target, weight ? weight : &x}, [&] { parallel_for(groups(), least, body); });
  }
  std::int64_t groups() const { return (rows + group - 1) / group; }
};

enum Reduces : int { none_of_them, to_sum, to_mean };

double sum_of_few(const LossKernels& loops, const double* values, std::int64_t n) {
  return loops.sum[1](values, static_cast<std::size_t>(n));
}

// What all rows count together.
double counted(const Rows& r, Partials& partials) {
  if (!r.is_class()) return static_cast<double>(r.rows);
  for (std::int64_t g = 0; g < r.groups(); ++g) {
    double counts[group];
    std::int64_t n = std::min(group, r.rows - g * group);
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t number = r.class_of(g * group + i);
      counts[i] = number < 0 ? 0 : r.weight_of(number);
    }
    partials.data()[g] = sum_of_few(r.loops, counts, n);
  }
  return partials.total(r.loops);
}

// Whether a row counts at all.
bool counts_some(const Rows& r) {
  for (std::int64_t row = 0; row < r.rows; ++row)
    if (!r.is_class() || r.class_of(row) >= 0) return true;
  return false;
}

nb::object row_loss(nb::handle x, nb::handle target, nb::handle weight, bool is_log, std::int64_t ignore,
                    double smoothing, int reduces, double empty_mean) {
  Rows r(x, target, weight, is_log, ignore, smoothing);
  nb::object output = raise_or(new_dense_tensor(r.x.dtype, reduces ? 0 : 1, &r.rows));
  std::byte* out = data_of(output);
  Partials partials(reduces ? r.groups() : 0);
  if (!partials) return no_memory(), raise_or(nullptr);
  r.run([&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g) {
      double losses[group], counts;
      std::int64_t n = std::min(group, r.rows - g * group);
      for (std::int64_t i = 0; i < n; ++i) losses[i] = r.loss(g * group + i, counts);
      if (reduces) partials.data()[g] = sum_of_few(r.loops, losses, n);
      else
        for (std::int64_t i = 0; i < n; ++i) r.lanes.put(losses[i], out + (g * group + i) * r.lanes.itemsize);
    }
  });
  if (reduces) {
    double sum = partials.total(r.loops);
    if (reduces == to_mean) sum = counts_some(r) ? sum / counted(r, partials) : empty_mean;
    r.lanes.put(sum, out);
  }
  return output;
}

// The gradient of a row by x.
void row_gradient(const Rows& r, std::int64_t row, double g, std::byte* by_x) {
  std::int64_t number = r.is_class() ? r.class_of(row) : 0;
  if (number < 0 || r.is_log) std::memset(by_x, 0, static_cast<std::size_t>(r.classes * r.lanes.itemsize));
  if (number < 0) return;
  double picked = r.is_class() ? (1 - r.smoothing) * r.weight_of(number) : 0;
  if (r.is_log) return r.lanes.put(-g * picked, by_x + number * r.lanes.itemsize);
  double shares_sum = picked + (r.is_class() ? r.evenly() * r.weight_sum : 0);
  if (!r.is_class())
    r.shared(row, 1 - r.smoothing, r.evenly(), [&](std::int64_t, std::size_t n, const void*, const Shares& shares) {
      shares_sum += r.loops.sum_of_shares[r.lane](shares, n);
    });
  RowSum sum = r.sum_of(row);
  double factor = g * shares_sum / sum.sum;
  Room room, wide;
  auto block_of = [&](std::int64_t column, std::size_t n, const void*, const Shares& shares) {
    std::byte* to = by_x + column * r.lanes.itemsize;
    void* made = r.lanes.target(to, room.bytes);
    r.rows_of.exponentials(r.block_of(row, column, n, wide), sum.largest, made, n);
    r.loops.row_gradient[r.lane](made, shares, factor, n);
    if (r.is_class() && number >= column && number < column + static_cast<std::int64_t>(n)) {
      // Next to 1, the probability less 1 is what the other classes have.
      bool is_certain = !r.smoothing && sum.sum < 2 && r.lanes.one(r.at(r.x, row, number)) == sum.largest;
      double other = -g * picked * (sum.below / sum.sum);
      auto* to64 = static_cast<double*>(made) + (number - column);
      auto* to32 = static_cast<float*>(made) + (number - column);
      if (r.lane) *to64 = is_certain ? other : *to64 - g * picked;
      else *to32 = is_certain ? static_cast<float>(other) : *to32 - static_cast<float>(g * picked);
    }
    r.lanes.write(made, to, n);
  };
  r.shared(row, g * (1 - r.smoothing), g * r.evenly(), block_of);
}

nb::object row_loss_bwd(nb::handle out_grad, nb::handle x, nb::handle target, nb::handle weight, bool is_log,
                        std::int64_t ignore, double smoothing, int reduces) {
  Rows r(x, target, weight, is_log, ignore, smoothing);
  const Tensor& grad = dense(out_grad, &r.x, reduces ? 1 : r.rows);
  nb::object output = new_like(r.x);
  Partials partials(reduces == to_mean ? r.groups() : 0);
  if (!partials) return no_memory(), raise_or(nullptr);
  double one = reduces ? r.lanes.one(grad.data()) : 0;
  if (reduces == to_mean) one /= counted(r, partials);
  std::byte* out = data_of(output);
  std::int64_t bytes = r.classes * r.lanes.itemsize;
  Kept kept(grad);
  r.run([&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin * group; row < std::min(end * group, r.rows); ++row) {
      double g = reduces ? one : r.lanes.one(grad.data() + row * r.lanes.itemsize);
      row_gradient(r, row, g, out + row * bytes);
    }
  });
  return output;
}

// The first index that is neither a class nor ignored; -1: there is none.
std::int64_t bad_class(nb::handle target, std::int64_t classes, std::int64_t ignore) {
  const Tensor* t = read_tensor(target.ptr());
  if (!t || !t->row_major || t->dtype != Dtype::int64) throw nb::value_error("not what a loss takes");
  auto* numbers = reinterpret_cast<const std::int64_t*>(t->data());
  for (std::int64_t i = 0; i < t->size; ++i)
    if (numbers[i] != ignore && (numbers[i] < 0 || numbers[i] >= classes)) return i;
  return -1;
}

}  // namespace

void init_nn_losses(nb::module_& m) {
  using namespace nb::literals;
  m.def("nn_pair_loss", &pair_loss, "kind"_a, "x"_a, "target"_a, "weight"_a.none(), "positive"_a.none(), "parameter"_a,
        "reduces"_a, "divisor"_a,
        nb::sig("def nn_pair_loss(kind: int, x: Any, target: Any, weight: Any, positive: Any, parameter: float, "
                "reduces: bool, divisor: float) -> Tensor"),
        "The losses of pairs of dense tensors, or their sum by a divisor.");
  m.def("nn_pair_loss_bwd", &pair_loss_bwd, "kind"_a, "out_grad"_a, "x"_a, "target"_a, "weight"_a.none(),
        "positive"_a.none(), "parameter"_a, "divisor"_a,
        nb::sig("def nn_pair_loss_bwd(kind: int, out_grad: Any, x: Any, target: Any, weight: Any, positive: Any, "
                "parameter: float, divisor: float) -> tuple[Tensor, Tensor]"),
        "The gradients of losses of pairs by x and by the target.");
  m.def("nn_row_loss", &row_loss, "x"_a, "target"_a, "weight"_a.none(), "is_log"_a, "ignore"_a, "smoothing"_a,
        "reduces"_a, "empty_mean"_a,
        nb::sig("def nn_row_loss(x: Any, target: Any, weight: Any, is_log: bool, ignore: int, smoothing: float, "
                "reduces: int, empty_mean: float) -> Tensor"),
        "The losses of rows of classes: 0 as they are, 1 their sum, 2 their mean, or empty_mean where none counts.");
  m.def("nn_row_loss_bwd", &row_loss_bwd, "out_grad"_a, "x"_a, "target"_a, "weight"_a.none(), "is_log"_a, "ignore"_a,
        "smoothing"_a, "reduces"_a,
        nb::sig("def nn_row_loss_bwd(out_grad: Any, x: Any, target: Any, weight: Any, is_log: bool, ignore: int, "
                "smoothing: float, reduces: int) -> Tensor"),
        "The gradient of losses of rows by x.");
  define(m, "def nn_bad_class(target: Any, classes: int, ignore: int) -> int",
         "The first index that is neither a class nor ignored; -1: there is none.", bad_class);
}

}  // namespace suanzi
