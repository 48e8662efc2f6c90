"""Kernels of Liger-Kernel and FlagGems by the names of operators, for `judge_triton.py`.

The packages are used as they are installed. The judge calls each function with the operands of an
operator in their order; what else a package needs is given here. A kernel that tunes itself
uses the smallest of its configurations: trying all of them takes a minute for each shape.
"""

# ruff: noqa: D103 - the names say it
import math

import torch
from triton.runtime.autotuner import Autotuner

_every = Autotuner.prune_configs


def _smallest(self, kwargs):
    def size(config):
        whole = [x for x in config.kwargs.values() if isinstance(x, int) and x > 0]
        return math.prod(whole) * config.num_stages

    return [min(_every(self, kwargs), key=size)]


Autotuner.prune_configs = _smallest

# ---- Liger-Kernel --------------------------------------------------------------------------------


def _liger():
    from liger_kernel.transformers import functional

    return functional


def liger_softmax(x):
    return _liger().liger_softmax(x)


def liger_layer_norm(x, weight, bias):
    return _liger().liger_layer_norm(x, weight, bias, 1e-5)


def liger_rms_norm(x, weight):
    return _liger().liger_rms_norm(x, weight, 1e-5, in_place=False)


def liger_rms_norm_gemma(x, weight):
    """With offset 1 and everything in float32, as Gemma has it."""
    return _liger().liger_rms_norm(x, weight, 1e-5, 1.0, "gemma", False)


def liger_group_norm(x, weight, bias, num_groups):
    return _liger().liger_group_norm(x, weight, bias, x.shape[1], num_groups, 1e-5)


def liger_swiglu(gate, up):
    return _liger().liger_swiglu(gate, up)


def liger_geglu(gate, up):
    return _liger().liger_geglu(gate, up)


def liger_relu_squared(x):
    return _liger().liger_relu_squared(x)


def liger_cross_entropy(logits, target):
    # The gradient is written over the logits, so that a copy is given.
    return _liger().liger_cross_entropy(logits.clone(), target)


def liger_kl_div(x, target):
    return _liger().liger_kl_div(x, target, reduction="mean")


def liger_embedding(weight, indices):
    from liger_kernel.ops.experimental.embedding import LigerEmbeddingFunction

    return LigerEmbeddingFunction.apply(weight, indices)


# ---- FlagGems ------------------------------------------------------------------------------------


def _gems():
    import flag_gems

    return flag_gems


def gems_softmax(x):
    return _gems().softmax(x, -1)


def gems_log_softmax(x):
    return _gems().log_softmax(x, -1)


def gems_layer_norm(x, weight, bias):
    return _gems().layer_norm(x, x.shape[-1:], weight, bias, 1e-5)[0]


def gems_rms_norm(x, weight):
    return _gems().rms_norm(x, x.shape[-1:], weight, 1e-5)


def gems_group_norm(x, weight, bias, num_groups):
    n, c = x.shape[:2]
    inner = x.numel() // max(n * c, 1)
    return _gems().group_norm(x, weight, bias, n, c, inner, num_groups, 1e-5)[0]


def gems_instance_norm(x, weight, bias):
    return _gems().instance_norm(x, weight, bias)


def gems_gelu(x):
    return _gems().gelu(x)


def gems_gelu_tanh(x):
    return _gems().gelu(x, approximate="tanh")


def gems_silu(x):
    return _gems().silu(x)


def gems_relu(x):
    return _gems().relu(x)


def gems_sigmoid(x):
    return _gems().sigmoid(x)


def gems_log_sigmoid(x):
    return _gems().log_sigmoid(x)


def gems_elu(x):
    return _gems().elu(x)


def gems_celu(x):
    return _gems().celu(x)


def gems_softplus(x):
    return _gems().softplus(x)


def gems_erf(x):
    return _gems().erf(x)


def gems_glu(x):
    return _gems().glu(x, -1)


def gems_hardsigmoid(x):
    return _gems().hardsigmoid(x)


def gems_silu_and_mul(gate, up):
    return _gems().silu_and_mul(gate, up)


def gems_gelu_and_mul(gate, up):
    return _gems().gelu_and_mul(gate, up)


def gems_mm(x, weight):
    """A linear layer without bias: the matrix product with the transposed weight."""
    lead = x.shape[:-1]
    return _gems().mm(x.reshape(-1, x.shape[-1]), weight.t()).reshape(*lead, -1)


def gems_addmm(x, weight, bias):
    lead = x.shape[:-1]
    found = _gems().addmm(bias, x.reshape(-1, x.shape[-1]), weight.t())
    return found.reshape(*lead, -1)


def gems_attention(q, k, v):
    return _gems().scaled_dot_product_attention(q, k, v)


def gems_mse_loss(x, target):
    return _gems().mse_loss(x, target)


def gems_cross_entropy(logits, target):
    return _gems().cross_entropy_loss(logits, target)


def gems_embedding(weight, indices):
    return _gems().embedding(weight, indices)


def gems_conv1d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _gems().conv1d(x, weight, bias, stride, padding, dilation, groups)


def gems_conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _gems().conv2d(x, weight, bias, stride, padding, dilation, groups)


def gems_pixel_unshuffle(x, downscale_factor):
    return _gems().pixel_unshuffle(x, downscale_factor)


def gems_add(x, y):
    return _gems().add(x, y)


def gems_mul(x, y):
    return _gems().mul(x, y)


def gems_exp(x):
    return _gems().exp(x)


def gems_tanh(x):
    return _gems().tanh(x)


def gems_rsqrt(x):
    return _gems().rsqrt(x)


# ---- PyTorch, for comparison ---------------------------------------------------------------------


def torch_softmax(x):
    return torch.softmax(x, -1)
