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
    "moe_gating": ("logits", "gates(logits, k, scoring, renormalize)[0]"),
    "grouped_matmul": ("x weight", "grouped(x, weight, group_sizes)"),
    "pixel_unshuffle": ("x", f"{_F}.pixel_unshuffle(x, downscale_factor)"),
    "causal_conv1d": (
        "x weight bias initial_state",
        "causal(x, weight, bias, initial_state, activation, return_state)"),
    "gated_delta_rule": (
        "q k v g beta initial_state",
        "delta_rule(q, k, v, g, beta, initial_state, scale, use_qk_l2norm, return_state)"),
}  # fmt: skip
"""What a function is called with, and the operands whose gradients its backward operator gives."""

MAPPING = model_table(FUNCTIONS)
del MAPPING["nn:one_hot_bwd"]
MAPPING["nn:moe_gating"] = "gates(logits, k, scoring, renormalize)"
MAPPING["nn:dynamic_quantize"] = "quantised(x, block_size, dtype)"
MAPPING["nn:scaled_linear"] = "scaled(x, weight, x_scale, weight_scale, bias, block_size, dtype)"
MAPPING["nn:moe_permutation"] = "permutation(indices, num_experts)"
MAPPING["nn:batch_norm_bwd"] = (
    "gradients(lambda x, weight, bias: batch_norm(x, running_mean, running_var, weight, bias, "
    "training, 0.1, eps, True, True), out_grad, x, weight, bias)"
)
MAPPING["nn:causal_conv1d_bwd"] = (
    "gradients(lambda x, weight, bias, initial_state: causal(x, weight, bias, initial_state, "
    "activation, final_state_grad is not None), out_grad if final_state_grad is None else "
    "(out_grad, final_state_grad), x, weight, bias, initial_state)"
)
MAPPING["nn:gated_delta_rule_bwd"] = (
    "gradients(lambda q, k, v, g, beta, initial_state: delta_rule(q, k, v, g, beta, initial_state, "
    "scale, use_qk_l2norm, final_state_grad is not None), out_grad if final_state_grad is None "
    "else (out_grad, final_state_grad), q, k, v, g.to(wide(v)), beta, "
    "None if initial_state is None else initial_state.to(wide(v)))"
)
MAPPING["nn:adamw"] = (
    "adamw_step(param, grad, exp_avg, exp_avg_sq, step, lr, (beta1, beta2), eps, weight_decay, "
    "max_exp_avg_sq, maximize)"
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


def gates(logits, k, scoring, renormalize):
    """Return the weights of the chosen experts and these, as routers of models compute them."""
    scores = torch.softmax(logits, -1) if scoring == "softmax" else torch.sigmoid(logits)
    weights, indices = torch.topk(scores, k, dim=-1)
    if renormalize:
        weights = weights / weights.sum(-1, keepdim=True)
    return weights, indices


def permutation(indices, num_experts):
    """Return the order of tokens by expert and back, as users write it."""
    flat = indices.long().flatten()
    order = torch.argsort(flat, stable=True)
    counts = torch.bincount(flat, minlength=num_experts)
    return counts, order, torch.argsort(order).reshape(indices.shape)


def grouped(x, weight, group_sizes):
    """Return products of rows by group; PyTorch takes their ends, and rows of 16 bytes each."""
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise Unsupported("PyTorch's grouped_mm takes float32 and floats of 16 bits")
    some, (inputs, outputs) = 16 // x.element_size(), weight.shape[1:]
    pad = torch.nn.functional.pad
    x = pad(x, (0, -inputs % some))
    weight = pad(weight, (0, -outputs % some, 0, -inputs % some))
    ends = torch.cumsum(group_sizes, 0).to(torch.int32)
    return torch.nn.functional.grouped_mm(x, weight, offs=ends)[:, :outputs]


def spread_blocks(scale, block_size, shape):
    """Return the scale of each element, from those of rows or blocks."""
    if block_size is None:
        return scale.expand(shape)
    rows, columns = (1, *block_size)[-2:]
    if rows > 1:
        scale = scale.repeat_interleave(rows, -2)[..., : shape[-2], :]
    scale = scale.repeat_interleave(columns, -1)[..., : shape[-1]]
    return scale.expand(shape)


def quantised(x, block_size, dtype):
    """Return rows or blocks divided by their scales, as users write it."""
    limit = 127.0 if dtype == torch.int8 else torch.finfo(dtype).max
    size = x.abs().float()
    if block_size is None:
        largest = size.amax(-1, keepdim=True) if x.shape[-1] else size.sum(-1, keepdim=True)
    else:
        rows, columns = (1, *block_size)[-2:]
        height = size.shape[-2] if rows > 1 else 0
        around = (0, -x.shape[-1] % columns, 0, -height % rows)
        parts = torch.nn.functional.pad(size, around[: 4 if rows > 1 else 2])
        parts = parts.unflatten(-1, (-1, columns)).amax(-1)
        largest = parts.unflatten(-2, (-1, rows)).amax(-2) if rows > 1 else parts
    scale = (largest / limit).clamp(min=2.0**-126)
    y = (x.float() / spread_blocks(scale, block_size, x.shape)).clamp(-limit, limit)
    return (y.round() if dtype == torch.int8 else y).to(dtype), scale


def scaled(x, weight, x_scale, weight_scale, bias, block_size, dtype):
    """Return a linear layer of quantised numbers; with blocks, PyTorch's users dequantise them."""
    rows, flat = x[None] if x.ndim < 2 else x.flatten(0, -2), (*x.shape[:-1], weight.shape[0])
    if block_size is not None:
        wide = x.float() * spread_blocks(x_scale, block_size[-1:], x.shape)
        y = wide @ (weight.float() * spread_blocks(weight_scale, block_size, weight.shape)).T
    else:
        # Copies: what has one column counts as contiguous with any stride, which PyTorch refuses.
        by_row = x_scale.expand(*x.shape[:-1], 1).flatten().clone()[:, None]
        by_column = weight_scale.expand(weight.shape[0], 1).flatten().clone()[None]
        if x.dtype != torch.int8:
            y = torch._scaled_mm(rows, weight.t(), by_row, by_column, out_dtype=torch.float32)
        else:
            y = torch._int_mm(rows, weight.t()) * by_row * by_column
    y = y.reshape(flat)
    return (y if bias is None else y + bias).to(dtype)


def causal(x, weight, bias, initial_state, activation, return_state):
    """Return a causal convolution by channel as model files write it, and its last columns."""
    reach = weight.shape[1] - 1
    past = x.new_zeros(*x.shape[:2], reach) if initial_state is None else initial_state
    seen = torch.cat([past, x], -1)
    y = torch.nn.functional.conv1d(seen, weight[:, None], bias, groups=x.shape[1])
    y = y if activation is None else torch.nn.functional.silu(y)
    return (y, seen[..., x.shape[-1] :]) if return_state else y


def adamw_step(param, grad, average, square, step, lr, betas, eps, weight_decay, most, maximize):
    """Return what a step of PyTorch's optimizer, with this state, makes of copies."""
    one = torch.nn.Parameter(param.clone())
    one.grad = grad.clone()
    optimizer = torch.optim.AdamW(
        [one], lr, betas, eps, weight_decay, amsgrad=most is not None, maximize=maximize
    )
    state = {"step": torch.tensor(float(step - 1)), "exp_avg": average, "exp_avg_sq": square}
    state = {**state, **({} if most is None else {"max_exp_avg_sq": most})}
    optimizer.state[one] = {name: x.clone() for name, x in state.items()}
    optimizer.step()
    return one.detach(), *(optimizer.state[one][name] for name in state if name != "step")


def wide(x):
    """Return the dtype that a state of these values is kept in."""
    return torch.float64 if x.dtype is torch.float64 else torch.float32


def delta_rule(q, k, v, g, beta, initial_state, scale, use_qk_l2norm, return_state):
    """Return the gated delta rule step by step, as model files write it, and the last state."""
    own = torch.promote_types(torch.result_type(q, k), torch.result_type(v, beta))
    kept, heads = wide(v), v.shape[2]
    if own.is_complex:
        raise TypeError("complex numbers would lose their imaginary parts")
    q, k, v, g, beta = (x.to(kept) for x in (q, k, v, g, beta))
    if use_qk_l2norm:
        q, k = (x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6) for x in (q, k))
    if k.shape[2] != heads:
        q, k = (x.repeat_interleave(heads // k.shape[2], 2) for x in (q, k))
    q = q * (max(k.shape[3], 1) ** -0.5 if scale is None else scale)
    state = v.new_zeros(v.shape[0], heads, k.shape[3], v.shape[3])
    state = state if initial_state is None else initial_state.to(kept)
    y = []
    for t in range(v.shape[1]):
        state = state * g[:, t].exp()[..., None, None]
        u = (v[:, t] - (state * k[:, t, ..., None]).sum(-2)) * beta[:, t, :, None]
        state = state + k[:, t, ..., None] * u[..., None, :]
        y.append((state * q[:, t, ..., None]).sum(-2))
    y = (torch.stack(y, 1) if y else v).to(own)
    return (y, state) if return_state else y
