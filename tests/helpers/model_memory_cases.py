"""A call of each model operator with tensors of n x n bfloat16, which are widened on the way."""

from __future__ import annotations

from typing import Any

import suanzi as sz
from helpers.every_operator import REGISTRY


def model_calls(n: int) -> dict[str, dict[str, Any]]:
    """Return the arguments by the key of the operator."""
    x = sz.full("bfloat16", "cpu", (n, n), 0.5)
    row, order = x[0], sz.randperm(n, sz.int64)
    found = _windows(n, x) | {
        "softmax": {}, "log_softmax": {}, "logsumexp_bwd": {"out_grad": row}, "logsumexp": {},
        "gumbel_softmax": {"seed": 1}, "normalize": {}, "dropout": {"seed": 1},
        "layer_norm": {"normalized_shape": n, "weight": row, "bias": row},
        "rms_norm": {"normalized_shape": n, "weight": row},
        "group_norm": {"num_groups": 1, "weight": row, "bias": row},
        "instance_norm": {"x": x.reshape(1, n, n)},
        "instance_norm_bwd": {"x": x.reshape(1, n, n), "out_grad": x.reshape(1, n, n)},
        "batch_norm": {"training": True},
        "cosine_similarity_bwd": {"out_grad": row},
        "linear": {"weight": x}, "embedding": {"indices": order}, "prelu": {"weight": row},
        "one_hot": {"indices": order, "num_classes": n},
        "pixel_shuffle": {"x": x.reshape(1, n, n), "upscale_factor": 1},
        "pixel_unshuffle": {"x": x.reshape(1, n, n), "downscale_factor": 1},
        "glu_bwd": {"out_grad": x, "x": sz.concat([x, x], 1)}, "glu": {"x": sz.concat([x, x], 1)},
        "scaled_dot_product_attention": {"mask": x},
        "rotary_embedding": {"cos": x[:, : n // 2], "sin": x[:, : n // 2]},
        "causal_conv1d": {"x": x.reshape(1, n, n), "weight": x[:, :4], "bias": row},
        **_delta_rule(n, x),
        "adamw": {"step": 1},
        "cross_entropy": {"target": order, "weight": row}, "nll_loss": {"target": order},
        "bce_with_logits": {"weight": row},
        "ctc_loss": {"log_probs": x.reshape(n, 1, n), "targets": order.reshape(1, n),
                     "input_lengths": [n], "target_lengths": [n // 2]},
        "moe_gating": {"k": 2}, "moe_gating_bwd": {"out_grad": x[:, :2]},
        "moe_permutation": {"indices": order, "num_experts": n},
        "grouped_matmul": {"weight": x.reshape(1, n, n), "group_sizes": [n]},
        "scaled_linear": _quantised(n),
    }  # fmt: skip
    return {key: _completed(op.name, found, x) for key, op in REGISTRY.items()
            if op.catalogue == "nn"}  # fmt: skip


def _delta_rule(n: int, x: sz.Tensor) -> dict[str, Any]:
    """Return n steps of a head whose state is n x n."""
    rows, gates = x.reshape(1, n, 1, n), x[:, :1].reshape(1, n, 1)
    given = {"q": rows, "k": rows, "v": rows, "g": gates, "beta": gates}
    return {"gated_delta_rule": given, "gated_delta_rule_bwd": {"out_grad": rows, **given}}


def _quantised(n: int) -> dict[str, Any]:
    """Return a layer of float8, which is widened on the way."""
    x, scale = sz.full("float8_e5m2", "cpu", (n, n), 0.5), sz.full("float32", "cpu", (n, 1), 1.0)
    return {"x": x, "weight": x, "x_scale": scale, "weight_scale": scale}


def _windows(n: int, x: sz.Tensor) -> dict[str, dict[str, Any]]:
    """Return what moves windows over n x n elements."""
    found: dict[str, dict[str, Any]] = {}
    for axes, shape in enumerate(((1, n, n), (1, 1, n, n), (1, 1, 1, n, n)), 1):
        image = x.reshape(*shape)
        side, around = ((3,), 1) if axes == 1 else ((1,) * (axes - 2) + (3, 3), (0, 1, 1)[-axes:])
        lead = (n, n) if axes == 1 else (1, 1)
        weight = sz.full("bfloat16", "cpu", (*lead, *side), 0.5)
        how = {"x": image, "kernel_size": side, "padding": around, "stride": 1}
        for name in ("max_pool", "avg_pool"):
            found[f"{name}{axes}d"] = how
        for name in ("adaptive_max_pool", "adaptive_avg_pool"):
            found[f"{name}{axes}d"] = {"x": image, "output_size": shape[2:]}
        for name in ("conv", "conv_transpose"):
            found[f"{name}{axes}d"] = {"x": image, "weight": weight, "padding": around}
    image, columns = x.reshape(1, 1, n, n), sz.full("bfloat16", "cpu", (1, 9, n * n), 0.5)
    how = {"kernel_size": 3, "padding": 1}
    grid = {"x": image, "grid": sz.full("bfloat16", "cpu", (1, n, n, 2), 0.5)}
    return found | {
        "grid_sample": grid,
        "unfold": {"x": image, **how}, "unfold_bwd": {"out_grad": columns, "x": image, **how},
        "fold": {"x": columns, "output_size": (n, n), **how},
        "fold_bwd": {"out_grad": image, "x": columns, "output_size": (n, n), **how},
    }  # fmt: skip


def _completed(name: str, found: dict[str, dict[str, Any]], x: sz.Tensor) -> dict[str, Any]:
    """Return arguments with those of the forward operator, and x for what is not given."""
    forward = name.removesuffix("_bwd")
    given = found.get(forward, {}) | found.get(name, {})
    reduced = {"reduction", "log_probs"}
    parameters = REGISTRY[f"nn:{name}"].record.parameters  # type: ignore[union-attr]
    names = {p.name for p in parameters}
    made = {}
    for p in parameters:
        if p.name in given:
            made[p.name] = given[p.name]
        elif p.name == "out_grad":
            made[p.name] = (
                sz.full("bfloat16", "cpu", (), 1.0) if reduced & names else given.get("x", x)
            )
        elif p.required:
            made[p.name] = x
    return made
