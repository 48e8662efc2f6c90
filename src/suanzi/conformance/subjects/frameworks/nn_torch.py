"""The model operators in PyTorch: an expression each, with the operands that have gradients.

What PyTorch has no function for is composed as its users do; each step is rounded then.
"""

import torch
from frameworks.common import model_table
from wire import Unsupported

_F = "torch.nn.functional"
_SAME = {
    "x": "relu relu6 selu silu softsign mish hardswish hardsigmoid",
    "x, negative_slope": "leaky_relu",
    "x, alpha": "elu celu",
    "x, approximate=approximate": "gelu",
    "x, beta, threshold": "softplus",
    "x, min_val, max_val": "hardtanh",
    "x, axis": "glu softmax log_softmax",
}
"""Functions of torch.nn.functional under the same name, by their arguments."""

FUNCTIONS = {
    **{name: ("x", f"{_F}.{name}({given})")
       for given, names in _SAME.items() for name in names.split()},
    "relu_squared": ("x", f"torch.square({_F}.relu(x))"),
    "quick_gelu": ("x", "x * torch.sigmoid(1.702 * x)"),
    "sigmoid": ("x", "torch.sigmoid(x)"),
    "log_sigmoid": ("x", f"{_F}.logsigmoid(x)"),
    "erf": ("x", "torch.erf(x)"),
    "erfc": ("x", "torch.erfc(x)"),
    "swiglu": ("gate up", f"{_F}.silu(gate) * up"),
    "geglu": ("gate up", f"{_F}.gelu(gate, approximate=approximate) * up"),
    "prelu": ("x weight", f"{_F}.prelu(x, weight)"),
    "logsumexp": ("x", "torch.logsumexp(x, axis, keep_dims)"),
    "layer_norm": (
        "x weight bias", f"{_F}.layer_norm(x, lengths(normalized_shape), weight, bias, eps)"),
    "rms_norm": (
        "x weight", f"{_F}.rms_norm(x, lengths(normalized_shape), shifted(weight, offset), eps)"),
    "group_norm": ("x weight bias", f"{_F}.group_norm(x, num_groups, weight, bias, eps)"),
    "instance_norm": ("x weight bias", f"{_F}.instance_norm(x, weight=weight, bias=bias, eps=eps)"),
    "normalize": ("x", f"{_F}.normalize(x, p, axis, eps)"),
    "linear": ("x weight bias", f"{_F}.linear(x, weight, bias)"),
    **{f"conv{n}d": ("x weight bias",
                     f"{_F}.conv{n}d(x, weight, bias, stride, padding, dilation, groups)")
       for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": (
        "x weight bias", f"{_F}.conv_transpose{n}d(x, weight, bias, stride, padding, "
        "output_padding, groups, dilation)") for n in (1, 2, 3)},
    "scaled_dot_product_attention": (
        "q k v", "attention(q, k, v, mask, causal, scale, softcap, window, sink, masked_rows, "
        "align)"),
    "cross_entropy": (
        "logits", f"{_F}.cross_entropy(torch.movedim(logits, axis, 1) if logits.dim() > 1 else "
        "logits, classes(target), weight, ignore_index=ignore_index, reduction=reduction, "
        "label_smoothing=label_smoothing)"),
    "nll_loss": (
        "x", f"{_F}.nll_loss(torch.movedim(x, axis, 1) if x.dim() > 1 else x, classes(target), "
        "weight, ignore_index=ignore_index, reduction=reduction)"),
    **{name: ("x target", f"{_F}.{name}(x, target, reduction=reduction)")
       for name in ("mse_loss", "l1_loss")},
    "smooth_l1_loss": (
        "x target", f"{_F}.smooth_l1_loss(x, target, reduction=reduction, beta=beta)"),
    "huber_loss": ("x target", f"{_F}.huber_loss(x, target, reduction=reduction, delta=delta)"),
    "kl_div": ("x target", f"{_F}.kl_div(x, target, reduction=reduction, log_target=log_target)"),
    "bce": ("x target", f"{_F}.binary_cross_entropy(x, target, weight, reduction=reduction)"),
    "bce_with_logits": (
        "x target", f"{_F}.binary_cross_entropy_with_logits(x, target, weight, "
        "reduction=reduction, pos_weight=pos_weight)"),
    "cosine_similarity": ("x1 x2", f"{_F}.cosine_similarity(x1, x2, axis, eps)"),
    "pixel_shuffle": ("x", f"{_F}.pixel_shuffle(x, upscale_factor)"),
    "pixel_unshuffle": ("x", f"{_F}.pixel_unshuffle(x, downscale_factor)"),
}  # fmt: skip
"""What a function is called with, and the operands whose gradients its backward operator gives."""

MAPPING = model_table(FUNCTIONS)


def gradients(function, grad, *operands):
    """Return the gradients of a function of operands; of those that are there, and are floats."""
    taken = [
        x.detach().requires_grad_() if isinstance(x, torch.Tensor) and x.is_floating_point() else x
        for x in operands
    ]
    wanted = [x for x in taken if isinstance(x, torch.Tensor) and x.requires_grad]
    found = torch.autograd.grad(function(*taken), wanted, grad)
    return found[0] if len(found) == 1 else tuple(found)


def lengths(shape):
    """Return the lengths of the axes that are normalised; one number stands for the last axis."""
    return [shape] if isinstance(shape, int) else list(shape)


def shifted(weight, offset):
    """Return a weight with what models add to it."""
    return weight if weight is None or not offset else weight + offset


def classes(target):
    """Return the indices of classes as PyTorch takes them; probabilities as they are."""
    return target if target.is_floating_point() else target.long()


def attention(q, k, v, mask, causal, scale, softcap, window, sink, masked_rows, align):
    """Return attention; PyTorch's has neither soft caps, windows nor sinks."""
    if softcap is not None or window is not None or sink is not None:
        raise Unsupported("PyTorch's attention has no softcap, window or sink")
    if causal and (mask is not None or align != "top_left"):
        raise Unsupported("PyTorch's attention takes a mask or is causal, from the first key on")
    shared = q.dim() > 3 and q.shape[-3] != k.shape[-3]
    return torch.nn.functional.scaled_dot_product_attention(
        q, k, v, mask, 0.0, causal, scale=scale, enable_gqa=shared
    )
