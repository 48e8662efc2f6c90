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
    "cosine_similarity": ("x1 x2", "cosine(x1, x2, axis, eps, joint)"),
    "ctc_loss": (
        "log_probs", f"{_F}.ctc_loss(log_probs, *labels(targets, input_lengths, target_lengths), "
        "blank, reduction, zero_infinity)"),
    "embedding": ("weight", f"{_F}.embedding(indices.long(), weight, padding_idx)"),
    "one_hot": ("", f"{_F}.one_hot(indices.long(), num_classes).to(dtype)"),
    "dropout": ("x", "masked(x, p, mask)"),
    "rotary_embedding": ("x", "rotated(x, cos, sin, interleaved)"),
    **{f"max_pool{n}d": ("x", f"pooled({n}, x, kernel_size, stride, padding, dilation, ceil_mode)")
       for n in (1, 2, 3)},
    **{f"avg_pool{n}d": (
        "x", f"averaged({n}, x, kernel_size, stride, padding, ceil_mode, count_include_pad, "
        "divisor_override)") for n in (1, 2, 3)},
    **{f"adaptive_{kind}_pool{n}d": ("x", f"{_F}.adaptive_{kind}_pool{n}d(x, output_size)")
       for n in (1, 2, 3) for kind in ("avg", "max")},
    "grid_sample": (
        "x grid", f"{_F}.grid_sample(x, grid, mode, padding_mode, align_corners)"),
    "gumbel_softmax": ("x", "gumbel(x, tau, hard, axis, noise)"),
    "unfold": ("x", f"{_F}.unfold(x, kernel_size, dilation, padding, stride)"),
    "fold": ("x", f"{_F}.fold(x, output_size, kernel_size, dilation, padding, stride)"),
    "batch_norm": (
        "x weight bias", "batch_norm(x, running_mean, running_var, weight, bias, training, "
        "momentum, eps, unbiased)"),
    "pixel_shuffle": ("x", f"{_F}.pixel_shuffle(x, upscale_factor)"),
    "pixel_unshuffle": ("x", f"{_F}.pixel_unshuffle(x, downscale_factor)"),
}  # fmt: skip
"""What a function is called with, and the operands whose gradients its backward operator gives."""

MAPPING = model_table(FUNCTIONS)
del MAPPING["nn:one_hot_bwd"]
MAPPING["nn:batch_norm_bwd"] = (
    "gradients(lambda x, weight, bias: batch_norm(x, running_mean, running_var, weight, bias, "
    "training, 0.1, eps, True, True), out_grad, x, weight, bias)"
)
for _n in (1, 2, 3):  # which return indices as well, where that is asked for
    MAPPING[f"nn:max_pool{_n}d"] = (
        f"pooled({_n}, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)"
    )
    MAPPING[f"nn:adaptive_max_pool{_n}d"] = (
        f"{_F}.adaptive_max_pool{_n}d(x, output_size, return_indices)"
    )


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


def cosine(x1, x2, axis, eps, joint):
    """Return the cosine of the angle between vectors; PyTorch bounds each length by eps."""
    if joint:
        raise Unsupported("PyTorch bounds the lengths, not their product")
    return torch.nn.functional.cosine_similarity(x1, x2, axis, eps)


def labels(targets, *lengths):
    """Return labels and lengths as PyTorch takes them: tensors of integers."""
    return [x.long() if isinstance(x, torch.Tensor) else torch.tensor(x)
            for x in (targets, *lengths)]  # fmt: skip


def masked(x, p, mask):
    """Return what dropout keeps; PyTorch draws its own masks, so this is its formula."""
    if mask is None:
        raise Unsupported("PyTorch's dropout draws another mask from a seed")
    return x * mask * (1 / (1 - p))


def rotated(x, cos, sin, interleaved):
    """Return a rotary embedding as model files write it."""
    pairs = cos.shape[-1]
    part, rest = x[..., : 2 * pairs], x[..., 2 * pairs :]
    a, b = (part[..., ::2], part[..., 1::2]) if interleaved else part.chunk(2, -1)
    both = a * cos - b * sin, b * cos + a * sin
    found = torch.stack(both, -1).flatten(-2) if interleaved else torch.cat(both, -1)
    return torch.cat([found, rest], -1)


def pooled(n, x, kernel_size, stride, padding, dilation, ceil_mode, indices=False):
    """Return a maximum of windows, and where it is."""
    function = getattr(torch.nn.functional, f"max_pool{n}d")
    found = function(x, kernel_size, stride, padding, dilation, ceil_mode, indices)
    return tuple(found) if indices else found


def averaged(n, x, kernel_size, stride, padding, ceil_mode, counts, divisor):
    """Return a mean of windows; along one axis PyTorch has no other divisor."""
    function = getattr(torch.nn.functional, f"avg_pool{n}d")
    if n == 1:
        if divisor is not None:
            raise Unsupported("PyTorch's avg_pool1d has no divisor")
        return function(x, kernel_size, stride, padding, ceil_mode, counts)
    return function(x, kernel_size, stride, padding, ceil_mode, counts, divisor)


def batch_norm(x, mean, var, weight, bias, training, momentum, eps, unbiased, alone=False):
    """Return a batch norm and, in training, the new statistics, which PyTorch writes in place."""
    if training and not unbiased and not alone:
        raise Unsupported("PyTorch's running variance is unbiased")
    old = [None if one is None else one.clone() for one in (mean, var)]
    if training and not alone and old == [None, None]:
        raise Unsupported("PyTorch returns no statistics of a batch")
    y = torch.nn.functional.batch_norm(x, *old, weight, bias, training, momentum, eps)
    return (y, *old) if training and not alone else y


def gumbel(x, tau, hard, axis, noise):
    """Return a softmax with given noise; PyTorch draws its own, so this is its formula."""
    if noise is None or hard:
        raise Unsupported("PyTorch's gumbel_softmax draws its own noise")
    return torch.nn.functional.softmax((x + noise) / tau, axis)
