// native/ops/nn/ctc.cpp: nn 9: connectionist temporal classification and its gradient.
//
// The probability of a label is a sum over all its alignments, by the forward recursion over (time, position in the
// label with blanks between), in float64 logarithms. The gradient is the posterior of each class, by the backward one.
#include <cmath>
#include <limits>

#include "calls/arguments.h"
#include "core/scratch.h"
#include "core/status.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "ops/nn/lanes.h"

namespace suanzi {
namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

double log_of_sum(double a, double b, double c) {
  double most = std::max(a, std::max(b, c));
  if (most == nothing) return nothing;
  return most + std::log(std::exp(a - most) + std::exp(b - most) + std::exp(c - most));
}

// Logarithms (times, examples, classes) with labels (examples, longest).
struct Ctc {
  const Tensor& logs;
  std::int64_t times, examples, classes, longest, blank;
  const std::int64_t *labels, *input_lengths, *label_lengths;
  Lanes lanes;

  double log_at(std::int64_t t, std::int64_t n, std::int64_t c) const {
    return lanes.one(logs.data() + ((t * examples + n) * classes + c) * lanes.itemsize);
  }
  std::int64_t positions(std::int64_t n) const { return 2 * label_lengths[n] + 1; }
  std::int64_t class_at(std::int64_t n, std::int64_t s) const { return s % 2 ? labels[n * longest + s / 2] : blank; }
  // Whether a path may go from position s - 2 to s: there is a blank between, and the labels differ.
  bool may_skip(std::int64_t n, std::int64_t s) const {
    return s >= 2 && s % 2 && class_at(n, s) != class_at(n, s - 2);
  }

  // Fills rows of `pitch` logarithms, one for each time: of paths to a position, its own class included.
  void forward(std::int64_t n, double* alpha, std::int64_t pitch) const {
    std::int64_t count = positions(n);
    for (std::int64_t s = 0; s < count; ++s) alpha[s] = s < 2 ? log_at(0, n, class_at(n, s)) : nothing;
    for (std::int64_t t = 1; t < input_lengths[n]; ++t)
      for (std::int64_t s = 0; s < count; ++s) {
        const double* before = alpha + (t - 1) * pitch;
        double sum = log_of_sum(before[s], s ? before[s - 1] : nothing, may_skip(n, s) ? before[s - 2] : nothing);
        alpha[t * pitch + s] = sum + log_at(t, n, class_at(n, s));
      }
  }
  // The same of paths from a position to the end, its own class not included.
  void backward(std::int64_t n, double* beta, std::int64_t pitch) const {
    std::int64_t count = positions(n), last = input_lengths[n] - 1;
    for (std::int64_t s = 0; s < count; ++s) beta[last * pitch + s] = s >= count - 2 ? 0 : nothing;
    for (std::int64_t t = last - 1; t >= 0; --t) {
      const double* after = beta + (t + 1) * pitch;
      auto from = [&](std::int64_t s) { return after[s] + log_at(t + 1, n, class_at(n, s)); };
      for (std::int64_t s = 0; s < count; ++s)
        beta[t * pitch + s] = log_of_sum(from(s), s + 1 < count ? from(s + 1) : nothing,
                                         s + 2 < count && may_skip(n, s + 2) ? from(s + 2) : nothing);
    }
  }
  double loss(std::int64_t n, const double* alpha, std::int64_t pitch) const {
    if (!input_lengths[n]) return label_lengths[n] ? -nothing : 0;
    std::int64_t count = positions(n);
    const double* last = alpha + (input_lengths[n] - 1) * pitch;
    return -log_of_sum(last[count - 1], count > 1 ? last[count - 2] : nothing, nothing);
  }
};

const std::int64_t* integers(nb::handle object, std::int64_t size) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || !t->row_major || t->dtype != Dtype::int64 || t->size != size)
    throw nb::value_error("not what ctc_loss takes");
  return reinterpret_cast<const std::int64_t*>(t->data());
}

Ctc read(nb::handle logs, nb::handle labels, nb::handle input_lengths, nb::handle label_lengths, std::int64_t blank) {
  const Tensor *t = read_tensor(logs.ptr()), *l = read_tensor(labels.ptr());
  if (!t || !l || !t->row_major || t->ndim() != 3 || l->ndim() != 2 || !facts(t->dtype).is_float() || blank < 0 ||
      blank >= t->dims()[2])
    throw nb::value_error("not what ctc_loss takes");
  std::int64_t examples = t->dims()[1], longest = l->dims()[1];
  Ctc made{*t,
           t->dims()[0],
           examples,
           t->dims()[2],
           longest,
           blank,
           integers(labels, examples * longest),
           integers(input_lengths, examples),
           integers(label_lengths, examples),
           Lanes(t->dtype)};
  for (std::int64_t n = 0; n < examples; ++n) {
    bool fits = made.input_lengths[n] >= 0 && made.input_lengths[n] <= made.times && made.label_lengths[n] >= 0 &&
                made.label_lengths[n] <= longest;
    for (std::int64_t i = 0; fits && i < made.label_lengths[n]; ++i)
      fits = made.labels[n * longest + i] >= 0 && made.labels[n * longest + i] < made.classes;
    if (!fits) throw nb::value_error("not what ctc_loss takes");
  }
  return made;
}

// Room for some tables of (times, positions) and some numbers more, for each example; none if it cannot be counted.
std::byte* take_room(Scratch& room, const Ctc& c, std::int64_t tables, std::int64_t more) {
  std::int64_t each, all;
  if (__builtin_mul_overflow(tables * c.times, 2 * c.longest + 1, &each) || __builtin_add_overflow(each, more, &each) ||
      __builtin_mul_overflow(each, c.examples, &all))
    return nullptr;
  return room.take(Dtype::float64, std::max<std::int64_t>(all, 1));
}

// Runs body(n) for each example; `kept` is what it reads, which others may destroy meanwhile.
template <std::size_t count, class F>
void each_example(const Ctc& c, const Tensor* const (&kept)[count], F&& body) {
  std::int64_t work = c.times * (2 * c.longest + 1) + 1;  // its memory was allocated
  std::int64_t least = std::max<std::int64_t>(grain / 64 / work, 1);
  run_over(work < long_loop ? c.examples * work * 64 : long_loop, kept, [&] {
    parallel_for(c.examples, least, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) body(n);
    });
  });
}

// The losses of all examples, in float64.
nb::object ctc_loss(nb::handle logs, nb::handle labels, nb::handle input_lengths, nb::handle label_lengths,
                    std::int64_t blank) {
  Ctc c = read(logs, labels, input_lengths, label_lengths, blank);
  nb::object output = raise_or(new_dense_tensor(Dtype::float64, 1, &c.examples));
  if (!c.examples) return output;
  std::int64_t pitch = 2 * c.longest + 1;
  Scratch room;
  if (!take_room(room, c, 1, 0)) return no_memory(), raise_or(nullptr);
  auto* out = reinterpret_cast<double*>(tensor_of(output.ptr())->data());
  const Tensor* const kept[] = {&c.logs, tensor_of(labels.ptr()), tensor_of(input_lengths.ptr()),
                                tensor_of(label_lengths.ptr())};
  each_example(c, kept, [&](std::int64_t n) {
    double* alpha = reinterpret_cast<double*>(room.data()) + n * c.times * pitch;
    if (c.input_lengths[n]) c.forward(n, alpha, pitch);
    out[n] = c.loss(n, alpha, pitch);
  });
  return output;
}

// The gradient by the logarithms; `grads` are of the losses of examples, in float64.
nb::object ctc_loss_bwd(nb::handle grads, nb::handle logs, nb::handle labels, nb::handle input_lengths,
                        nb::handle label_lengths, std::int64_t blank, bool zero_infinity) {
  Ctc c = read(logs, labels, input_lengths, label_lengths, blank);
  const Tensor* g = read_tensor(grads.ptr());
  if (!g || !g->row_major || g->dtype != Dtype::float64 || g->size != c.examples)
    throw nb::value_error("not what ctc_loss takes");
  nb::object output = raise_or(new_dense_tensor(c.logs.dtype, 3, c.logs.dims()));
  if (!c.examples) return output;
  Scratch room;
  if (!take_room(room, c, 2, c.classes)) return no_memory(), raise_or(nullptr);
  std::int64_t pitch = 2 * c.longest + 1, each = c.times * pitch;
  std::byte* out = tensor_of(output.ptr())->data();
  const Tensor* const kept[] = {g, &c.logs, tensor_of(labels.ptr()), tensor_of(input_lengths.ptr()),
                                tensor_of(label_lengths.ptr())};
  each_example(c, kept, [&](std::int64_t n) {
    double* alpha = reinterpret_cast<double*>(room.data()) + n * (2 * each + c.classes);
    double *beta = alpha + each, *sums = beta + each, grad = reinterpret_cast<const double*>(g->data())[n];
    if (c.input_lengths[n]) c.forward(n, alpha, pitch), c.backward(n, beta, pitch);
    double loss = c.loss(n, alpha, pitch);
    for (std::int64_t t = 0; t < c.times; ++t) {
      std::fill_n(sums, c.classes, 0.0);
      bool counts = t < c.input_lengths[n] && !(zero_infinity && loss == -nothing);
      for (std::int64_t s = 0; counts && s < c.positions(n); ++s)
        sums[c.class_at(n, s)] += std::exp(alpha[t * pitch + s] + beta[t * pitch + s] + loss);
      for (std::int64_t k = 0; k < c.classes; ++k)
        c.lanes.put(sums[k] == 0 ? 0 : -grad * sums[k],
                    out + ((t * c.examples + n) * c.classes + k) * c.lanes.itemsize);
    }
  });
  return output;
}

}  // namespace

void init_nn_ctc(nb::module_& m) {
  define(m,
         "def nn_ctc_loss(log_probs: Any, labels: Any, input_lengths: Any, label_lengths: Any, blank: int) -> Tensor",
         "The losses of examples, in float64, of logarithms (times, examples, classes).", ctc_loss);
  define(m,
         "def nn_ctc_loss_bwd(grads: Any, log_probs: Any, labels: Any, input_lengths: Any, label_lengths: Any, "
         "blank: int, zero_infinity: bool) -> Tensor",
         "The gradient of nn_ctc_loss by the logarithms.", ctc_loss_bwd);
}

}  // namespace suanzi
