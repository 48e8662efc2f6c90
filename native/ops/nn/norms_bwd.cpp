// native/ops/nn/norms_bwd.cpp: gradients of layer_norm, rms_norm, group_norm and batch_norm.
//
// With d = x - mean and a row's factor f, x_grad = f (g w - mean(g w) - d f^2 mean(g w d)). The gradients of weights
// add up in float64, by groups of rows whose number follows from that of the rows alone.
#include "ops/nn/norms.h"

namespace suanzi {
namespace {

using namespace norms;

class Gradient {
 public:
  Gradient(const NormOperands& of, const Tensor& grad, bool centred, double eps, bool wants)
      : norm_(of.shape, *of.x, centred, eps), g_(grad.data()), weight_(of.weight), bias_(of.bias), wants_(wants) {
    if (of.fixed) norm_.fixed = reinterpret_cast<const double*>(of.fixed->data());
  }

  // False if there is no memory.
  bool run(double offset, std::byte* x_grad, double* weight_grad, double* bias_grad) {
    if (!wide_.take(weight_, offset)) return false;
    norm_.weight = wide_.data;
    return norm_.shape.by_element ? layers(x_grad, weight_grad, bias_grad) : pieces(x_grad, weight_grad, bias_grad);
  }

 private:
  struct Slopes {
    double mean, slope;
  };
  // Of given statistics no gradient goes back to the elements.
  Slopes slopes(const Row& of, double sum, double products) const {
    if (norm_.fixed) return {0, 0};
    auto n = static_cast<double>(norm_.shape.n());
    return {norm_.centred ? sum / n : 0, products / n * of.factor * of.factor};
  }

  bool layers(std::byte* x_grad, double* weight_grad, double* bias_grad) {
    constexpr std::int64_t most_groups = 64;
    std::int64_t n = norm_.shape.length, rows = norm_.shape.rows;
    std::int64_t each = (rows + most_groups - 1) / most_groups, groups = (rows + each - 1) / each;
    Scratch sums;
    if (wants_ && !sums.take(Dtype::float64, 2 * n * groups)) return false;
    auto* all = reinterpret_cast<double*>(sums.data());
    std::int64_t cost = std::max<std::int64_t>(n * each, 1);
    parallel_for(groups, std::max<std::int64_t>(grain / 4 / cost, 1), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t group = begin; group < end; ++group) {
        double* mine = wants_ ? all + 2 * n * group : nullptr;
        if (mine) std::fill_n(mine, 2 * n, 0.0);
        for (std::int64_t row = group * each; row < std::min(rows, (group + 1) * each); ++row) layer(row, x_grad, mine);
      }
    });
    for (std::int64_t group = 0; group < groups && wants_; ++group)
      for (std::int64_t i = 0; i < n; ++i) {
        const double* from = all + 2 * n * group;
        if (weight_grad) weight_grad[i] = group ? weight_grad[i] + from[i] : from[i];
        if (bias_grad) bias_grad[i] = group ? bias_grad[i] + from[n + i] : from[n + i];
      }
    return true;
  }
  void layer(std::int64_t row, std::byte* x_grad, double* sums) const {
    const Norm& k = norm_;
    Row of = k.statistics(row, nullptr);
    std::int64_t n = k.shape.length, from = k.at(row, 0);
    double sum = 0, products = 0;
    Blocks blocks{n};
    auto weights = [&](std::int64_t at) { return k.weight ? k.weight + at * k.lane : nullptr; };
    blocks.each([&](std::int64_t at, std::size_t size) {
      double both[2];
      std::int64_t here = from + at * k.item;
      k.loops.norm_sums(k.x + here, g_ + here, weights(at), of.mean, size, both);
      sum += both[0], products += both[1];
      double* gathered = sums ? sums + at : nullptr;
      if (sums)
        k.loops.norm_weights(k.x + here, g_ + here, of.mean, of.factor, weight_ ? gathered : nullptr,
                             bias_ ? gathered + n : nullptr, size);
    });
    Slopes by = slopes(of, sum, products);
    blocks.each([&](std::int64_t at, std::size_t size) {
      std::int64_t here = from + at * k.item;
      k.loops.norm_bwd(k.x + here, g_ + here, weights(at), 1, of.mean, of.factor, by.mean, by.slope, x_grad + here,
                       size);
    });
  }

  bool pieces(std::byte* x_grad, double* weight_grad, double* bias_grad) {
    const Norm& k = norm_;
    std::int64_t rows = k.shape.rows, count = k.shape.pieces;
    Scratch memory;
    if (!memory.take(Dtype::float64, 2 * rows * count)) return false;
    auto* sums = reinterpret_cast<double*>(memory.data());
    k.each_row([&](std::int64_t row, double*) { piece(row, x_grad, sums + 2 * row * count); });
    if (!weight_grad && !bias_grad) return true;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t channel = k.shape.weight(row, i);
        const double* from = sums + 2 * (row * count + i);
        if (bias_grad) bias_grad[channel] += from[0];
        if (weight_grad) weight_grad[channel] += from[1];
      }
    return true;
  }
  // The sums of each piece: of g, and of g times what the weight is multiplied with.
  void piece(std::int64_t row, std::byte* x_grad, double* sums) const {
    const Norm& k = norm_;
    Row of = k.statistics(row, nullptr);
    double sum = 0, products = 0;
    for (std::int64_t i = 0; i < k.shape.pieces; ++i) {
      double* mine = sums + 2 * i;
      mine[0] = mine[1] = 0;
      Blocks{k.shape.length}.each([&](std::int64_t at, std::size_t size) {
        double both[2];
        std::int64_t here = k.at(row, i) + at * k.item;
        k.loops.norm_sums(k.x + here, g_ + here, nullptr, of.mean, size, both);
        mine[0] += both[0], mine[1] += both[1];
      });
      double weight = k.one(k.weight, k.shape.weight(row, i), 1);
      sum += weight * mine[0], products += weight * mine[1];
      mine[1] *= of.factor;
    }
    Slopes by = slopes(of, sum, products);
    for (std::int64_t i = 0; i < k.shape.pieces; ++i)
      Blocks{k.shape.length}.each([&](std::int64_t at, std::size_t size) {
        std::int64_t here = k.at(row, i) + at * k.item;
        k.loops.norm_bwd(k.x + here, g_ + here, nullptr, k.one(k.weight, k.shape.weight(row, i), 1), of.mean, of.factor,
                         by.mean, by.slope, x_grad + here, size);
      });
  }

  Norm norm_;
  const std::byte* g_;
  const Tensor *weight_, *bias_;
  WideWeights wide_;
  bool wants_;
};

// The gradients of x, of weight and of bias, the last two as float64, or None where there is no such operand.
nb::tuple gradients(const nb::tuple& tensors, nb::handle gradient, int kind, std::int64_t size, std::int64_t groups,
                    bool centred, double eps, double offset) {
  NormOperands of(tensors, kind, size, groups);
  const Tensor* grad = read_tensor(gradient.ptr());
  if (!is_dense(grad, of.x->dtype) || grad->size != of.x->size) throw nb::value_error("not the gradient of a norm");
  nb::object made = raise_or(new_dense_tensor(of.x->dtype, of.x->ndim(), of.x->dims()));
  nb::object others[2] = {nb::none(), nb::none()};
  double* sums[2] = {nullptr, nullptr};
  for (int i = 0; i < 2; ++i) {
    const Tensor* t = i ? of.bias : of.weight;
    if (!t) continue;
    others[i] = raise_or(new_dense_tensor(Dtype::float64, t->ndim(), t->dims()));
    sums[i] = reinterpret_cast<double*>(tensor_of(others[i].ptr())->data());
    std::fill_n(sums[i], t->size, 0.0);
  }
  bool enough = true;
  if (of.x->size) {
    Gradient work(of, *grad, centred, eps, of.weight || of.bias);
    std::byte* x_grad = tensor_of(made.ptr())->data();
    auto or_x = [&](const Tensor* other) { return other ? other : of.x; };
    run_over(of.x->size, {of.x, grad, or_x(of.weight), or_x(of.fixed)},
             [&] { enough = work.run(offset, x_grad, sums[0], sums[1]); });
  }
  if (!enough) raise_or(PyErr_NoMemory());
  return nb::make_tuple(made, others[0], others[1]);
}

}  // namespace

void init_nn_norms_bwd(nb::module_& m) {
  define(m,
         "def nn_norm_bwd(tensors: tuple[Any, ...], out_grad: Any, kind: int, size: int, groups: int, centred: bool, "
         "eps: float, offset: float) -> tuple[Tensor, Tensor | None, Tensor | None]",
         "The gradients of nn_norm: of x, and as float64 those of weight and bias.", gradients);
}

}  // namespace suanzi
