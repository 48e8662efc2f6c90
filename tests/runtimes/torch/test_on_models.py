"""sz.nn on a device against the CPU: gradients at special values, options, classes and lengths."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.ops import nn
from suanzi.promote.registry import REGISTRY, function
from suanzi.standard import record

RNG = np.random.default_rng(11)
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 3.0, -3.0, 6.0, 1e30, -1e-30]


def numbers(*shape: int, special: bool = False) -> sz.Tensor:
    made = RNG.standard_normal(shape).astype(np.float32) * 2
    if special:
        made.ravel()[: len(SPECIAL)] = SPECIAL
    return sz.tensor(made)


def moved(x: Any, device: str) -> Any:
    return x.to_device(device) if isinstance(x, sz.Tensor) else x


def same(function: Any, *args: Any, device: str, ulps: float = 16, **kwargs: Any) -> None:
    """Assert that results are the CPU's to a few ULP of float32, NaN and infinities included."""
    wanted = function(*args, **kwargs)
    there = {name: moved(x, device) for name, x in kwargs.items()}
    got = function(*[moved(x, device) for x in args], **there)
    pairs = zip(wanted, got, strict=True) if isinstance(wanted, tuple | list) else [(wanted, got)]
    for a, b in pairs:
        assert (b.dtype, b.shape) == (a.dtype, a.shape)
        x, y = (sz.cast(v, sz.float64).numpy() for v in (a, b.to_host()))
        largest = np.abs(np.where(np.isfinite(x), x, 0)).max(initial=0)
        limit = ulps * 2.0**-23 * np.maximum(np.abs(x), min(largest, 8) * 2.0**-4)
        with np.errstate(invalid="ignore"):
            close = (np.abs(x - y) <= limit) | (x == y) | (np.isnan(x) & np.isnan(y))
        assert close.all(), (function, x[~close], y[~close])


@pytest.mark.parametrize(
    "name",
    "relu relu6 hardtanh hardsigmoid hardswish leaky_relu elu selu celu softsign silu quick_gelu "
    "mish gelu".split(),
)
def test_gradients_at_special_values(device: str, name: str) -> None:
    x, g = numbers(5, 7, special=True), numbers(5, 7)
    same(getattr(nn, f"{name}_bwd"), g, x, device=device)
    same(getattr(nn, f"{name}_bwd"), x, g, device=device)


def test_gradients_of_products(device: str) -> None:
    x, g, up = numbers(5, 7, special=True), numbers(5, 7), numbers(5, 7)
    same(nn.swiglu_bwd, g, x, up, device=device)
    same(nn.geglu_bwd, g, x, up, device=device)
    same(nn.gelu_bwd, g, x, approximate="tanh", device=device)
    same(nn.prelu_bwd, g, x, numbers(7), device=device)
    same(nn.dropout_bwd, x, g, 0.25, seed=9, device=device)
    same(nn.dropout, x, 0.25, seed=9, device=device)
    same(nn.gumbel_softmax, g, seed=9, hard=True, device=device)
    same(nn.gumbel_softmax_bwd, up, g, seed=9, device=device)


def test_norms(device: str) -> None:
    x, g, w = numbers(4, 3, 5), numbers(4, 3, 5), numbers(3)
    mean, var = numbers(3), sz.tensor([0.5, 1.0, 2.0])
    same(nn.batch_norm, x, mean, var, w, w, eps=0.0, device=device)
    for unbiased in (True, False):
        same(nn.batch_norm, x, mean, var, w, training=True, unbiased=unbiased, device=device)
    same(nn.batch_norm, x, training=True, device=device)
    for training in (True, False):
        same(nn.batch_norm_bwd, g, x, mean, var, w, w, training, device=device, ulps=64)
    same(nn.rms_norm, numbers(5, 7, special=True), 7, numbers(7), device=device)
    same(nn.instance_norm, x, w, w, device=device)
    for joint in (True, False):
        same(nn.cosine_similarity, x, g, joint=joint, device=device)
        same(nn.cosine_similarity_bwd, numbers(4, 5), x, g, joint=joint, device=device)


@pytest.mark.parametrize(
    "options",
    [
        {"causal": True},
        {"causal": True, "align": "bottom_right", "softcap": 3.0},
        {"window": (2, 1), "masked_rows": "nan", "align": "bottom_right"},
        {"mask": sz.tensor(RNG.random((4, 9)) > 0.6), "masked_rows": "nan"},
        {"mask": numbers(4, 9), "sink": numbers(4), "scale": 0.3},
    ],
)
def test_attention(device: str, options: dict[str, Any]) -> None:
    q, k, v = numbers(2, 4, 4, 6) * 0.25, numbers(2, 2, 9, 6), numbers(2, 2, 9, 5)
    same(nn.scaled_dot_product_attention, q, k, v, device=device, ulps=64, **options)
    g = numbers(2, 4, 4, 5)
    same(nn.scaled_dot_product_attention_bwd, g, q, k, v, device=device, ulps=256, **options)
    for special in (np.nan, np.inf):  # of a key that some queries do not see
        v[0, 0, 3, 0] = special
        same(nn.scaled_dot_product_attention, q, k, v, device=device, ulps=64, **options)


def test_attention_in_blocks(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = pytest.importorskip("suanzi.runtimes.torch.nn_attention")
    monkeypatch.setattr(module, "_BLOCK", 100)
    q, k = numbers(2, 13, 6) * 0.25, numbers(2, 9, 6)  # float32 has small scores to more places
    for given in ({"causal": True}, {"mask": numbers(13, 9)}):
        same(nn.scaled_dot_product_attention, q, k, k, device=device, ulps=64, **given)
        same(nn.scaled_dot_product_attention_bwd, q, q, k, k, device=device, ulps=256, **given)


def test_losses(device: str) -> None:
    x, target, g = numbers(6, 5, special=True), sz.tensor([1, 4, -100, 0, 2, 2]), sz.tensor(2.0)
    logits, weight = numbers(6, 5), sz.tensor([1.0, 2.0, 0.5, 1.0, 3.0])
    for given in (logits, x):
        same(nn.cross_entropy, given, target, weight, label_smoothing=0.2, device=device)
        same(nn.cross_entropy_bwd, g, given, target, weight, label_smoothing=0.2, device=device)
        same(nn.nll_loss, given, target, weight, device=device)
        same(nn.nll_loss_bwd, g, given, target, weight, device=device)
    empty = sz.tensor([-100] * 6)
    same(nn.cross_entropy, logits, empty, empty_mean=0.0, device=device)
    p, q = sz.tensor([[0.0, 0.25, 1.0]]), sz.tensor([[0.0, 0.5, 1.0]])
    same(nn.bce_bwd, g, p, q, device=device)
    same(nn.kl_div_bwd, g, p, q, device=device)
    for loss in (nn.l1_loss_bwd, nn.smooth_l1_loss_bwd):
        same(loss, g, x, logits, device=device)


@pytest.mark.parametrize("scoring", ["softmax", "sigmoid"])
@pytest.mark.parametrize("renormalize", [False, True])
def test_gates(device: str, scoring: str, renormalize: bool) -> None:
    x, g = numbers(3, 5, 9), numbers(3, 5, 4)
    how = {"scoring": scoring, "renormalize": renormalize}
    same(nn.moe_gating, x, 4, **how, device=device)
    same(nn.moe_gating_bwd, g, x, 4, **how, device=device, ulps=64)
    ties = sz.tensor([[2.0, 5.0, 5.0, 5.0], [0.0, np.nan, 9.0, np.inf]])
    same(nn.moe_gating, ties, 3, **how, device=device)


def test_products_of_experts(device: str) -> None:
    tokens = sz.tensor(RNG.integers(0, 5, (7, 2)))
    same(nn.moe_permutation, tokens, 6, device=device)
    same(nn.moe_permutation, sz.zeros((0, 2), sz.int64), 3, device=device)
    x, weight, g = numbers(9, 5), numbers(4, 5, 3), numbers(9, 3)
    for sizes in (sz.tensor([4, 0, 5, 0]), sz.tensor([0, 0, 0, 9])):
        same(nn.grouped_matmul, x, weight, sizes, device=device, ulps=64)
        same(nn.grouped_matmul_bwd, g, x, weight, sizes, device=device, ulps=64)
    same(nn.grouped_matmul, numbers(0, 5), weight, sz.tensor([0] * 4), device=device)
    large = numbers(300, 40), numbers(3, 40, 60), sz.tensor([100, 0, 200])
    same(nn.grouped_matmul, *large, device=device, ulps=256)
    there = [moved(one, device) for one in (x, weight, sz.tensor([4, 0, 4, 0]))]
    with pytest.raises(sz.InvalidArgument, match="sum of group_sizes is 8"):
        nn.grouped_matmul(*there)
    nn.moe_permutation(moved(tokens, device), 2)
    with pytest.raises(sz.OutOfRange, match="out of range"):
        sz.synchronize()


@pytest.mark.parametrize("dtype", ["int8", "float8_e4m3fn", "float8_e5m2"])
def test_quantised_layers(device: str, dtype: str) -> None:
    x, weight, bias = numbers(2, 5, 70), numbers(9, 70), numbers(9)
    special = sz.tensor([[0.0, -0.0], [np.inf, 1.0], [np.nan, 1.0], [127.0, 2.5], [1e-40, 0]])
    for block in (None, 16, [4, 32]):
        same(nn.dynamic_quantize, x, block, dtype, device=device, ulps=1e-6)
        same(nn.dynamic_quantize, special, block, dtype, device=device, ulps=1e-6)
        rows = block if block is None else [1, np.atleast_1d(block)[-1].item()]
        q, scale = nn.dynamic_quantize(x, rows, dtype)
        w, w_scale = nn.dynamic_quantize(weight, block, dtype)
        for result in (sz.float32, sz.bfloat16):
            same(nn.scaled_linear, q, w, scale, w_scale, bias, block, result, device=device,
                 ulps=64)  # fmt: skip
    same(nn.dynamic_quantize, sz.zeros((2, 0)), None, dtype, device=device)
    same(nn.dynamic_quantize, sz.zeros((2, 0)), 4, dtype, device=device)


def test_classes_out_of_range_are_reported(device: str) -> None:
    x, table = moved(numbers(2, 3), device), moved(numbers(4, 2), device)
    bad = sz.tensor([0, 7], device=device)
    for call in (
        lambda: nn.cross_entropy(x, bad), lambda: nn.nll_loss(x, bad),
        lambda: nn.embedding(table, bad), lambda: nn.one_hot(bad, 3),
    ):  # fmt: skip
        call()
        with pytest.raises(sz.OutOfRange, match="out of range"):
            sz.synchronize()


@pytest.mark.parametrize("flat", [True, False])
def test_ctc_loss(device: str, flat: bool) -> None:
    logs = nn.log_softmax(numbers(7, 3, 4), 2)
    rows = [[1, 1, 3], [2, 3, 0], [0, 0, 0]]
    lengths = sz.tensor([3, 2, 0])
    targets = sz.tensor([1, 1, 3, 2, 3] if flat else rows)
    given = logs, targets, sz.tensor([7, 4, 2]), lengths
    for reduction in ("none", "sum", "mean"):
        same(nn.ctc_loss, *given, reduction=reduction, device=device)
        g = sz.tensor([1.0, 2.0, 3.0]) if reduction == "none" else sz.tensor(2.0)
        same(nn.ctc_loss_bwd, g, *given, reduction=reduction, device=device)
    short = logs, targets, sz.tensor([2, 4, 2]), lengths  # 1 1 needs a blank between
    same(nn.ctc_loss, *short, zero_infinity=True, device=device)
    same(nn.ctc_loss_bwd, sz.tensor(1.0), *short, zero_infinity=True, device=device)


def test_pooling(device: str) -> None:
    x = numbers(2, 3, 9, special=True)
    same(nn.avg_pool1d, numbers(2, 3, 9), 3, 2, 1, divisor_override=5, device=device)
    same(nn.avg_pool1d_bwd, numbers(2, 3, 5), x, 3, 2, 1, divisor_override=5, device=device)
    for size in (1, 4, 9):
        same(nn.adaptive_max_pool1d, x, size, return_indices=True, device=device)
        same(nn.adaptive_max_pool1d_bwd, numbers(2, 3, size), x, size, device=device)
    y, g = numbers(2, 2, 5, 4, 3, special=True), numbers(2, 2, 2, 4, 2)
    same(nn.adaptive_max_pool3d_bwd, g, y, (2, None, 2), device=device)


def of_one_operand() -> list[str]:
    """Return the operators of models that take one operand and nothing else, and gradients."""

    def needs(key: str) -> int:
        parameters = inspect.signature(REGISTRY[key].function).parameters.values()
        return sum(p.default is p.empty for p in parameters)

    models = {key: record(key).operands for key in REGISTRY if key.startswith("nn:")}
    one = {("x",), ("out_grad", "x")}
    return [key for key, of in models.items() if of in one and needs(key) == len(of)]


@pytest.mark.parametrize("rules", ["cann", "torch", "numpy"])
@pytest.mark.parametrize("key", of_one_operand())
def test_an_operand_of_bool_is_promoted_as_on_the_host(device: str, key: str, rules: str) -> None:
    """Only a mask stays bool; the others are numbers of the result's dtype."""
    x = sz.tensor([[True, False, True], [False, False, True]])
    up = [sz.tensor(np.linspace(-1, 1, 6).reshape(2, 3))] * (len(record(key).operands) - 1)
    with sz.promotion(rules):
        try:
            function(key)(*up, x)
        except sz.StatusError as error:
            with pytest.raises(type(error)):
                function(key)(*[moved(one, device) for one in (*up, x)])
        else:
            same(function(key), *up, x, device=device)
