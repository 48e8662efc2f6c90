"""Model operators at the limits: 64 axes, no memory, more elements than can be counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import suanzi as sz
from suanzi import _core

HUGE = 2**62
nn = sz.nn


def huge(*shape: int) -> sz.Tensor:
    """Return a tensor of one element, which is repeated."""
    return sz.expand(sz.full(shape=(1,) * len(shape), value=1), shape)


def ones(*shape: int, dtype: sz.DType = sz.float32) -> sz.Tensor:
    return _core.full(shape, dtype, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: nn.scaled_dot_product_attention(huge(1, 1, HUGE), huge(1, 1, HUGE), ones(1, 1, 1)),
        lambda: nn.scaled_dot_product_attention(*[huge(HUGE, 1, 1, 1)] * 3),
        lambda: nn.scaled_dot_product_attention(huge(HUGE, 1, 1, 1, 1), *[huge(HUGE, 1, 1, 1)] * 2),
        lambda: nn.cosine_similarity(huge(HUGE, 1), huge(1, HUGE)),
        lambda: nn.conv_transpose1d(huge(1, 1, HUGE), ones(1, 1, 1), stride=2**31 - 1),
        lambda: nn.conv1d(huge(1, HUGE, 1), huge(1, HUGE, 1)),
        lambda: nn.ctc_loss(huge(HUGE, 1, 1), [[0]], [1], [0]),
        lambda: nn.fold(huge(1, 1, HUGE), 2**31 - 1, 1, padding=2**31 - 1),
        lambda: nn.unfold(ones(1, 1, 2, 2), 1, padding=2**31 - 1),  # 2**64 positions
        lambda: nn.adaptive_max_pool3d(ones(1, 1, 1, 1), 2**20),
        lambda: nn.one_hot(sz.tensor([HUGE])),
        lambda: nn.softmax(huge(HUGE)),
        lambda: nn.dropout(huge(HUGE), seed=1),
    ],
)
def test_memory_that_nobody_has(call: Callable[[], Any]) -> None:
    with pytest.raises((sz.AllocFailed, sz.DimensionsMismatch), match=r"^nn\."):
        call()


def test_no_elements_take_no_time() -> None:
    none, labels = _core.empty((HUGE, 0, 2), sz.float32), _core.empty((0, HUGE), sz.int64)
    assert nn.ctc_loss(none, labels, [], [], reduction="sum").item() == 0
    assert nn.ctc_loss_bwd(ones(), none, labels, [], []).shape == (HUGE, 0, 2)
    assert nn.adaptive_max_pool1d(_core.empty((0, 1, 3), sz.float32), 2**31 - 1).shape[0] == 0
    table = _core.empty((HUGE, 0), sz.float32)
    assert nn.embedding_bwd(_core.empty((1, 0), sz.float32), table, sz.tensor([7])).shape == (
        HUGE,
        0,
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: nn.embedding(ones(1, 1), sz.cast(x - 1, sz.int64)), "indices has 64 axes"),
        (lambda x: nn.one_hot(sz.cast(x, sz.int64)), "indices has 64 axes"),
        (lambda x: nn.pixel_shuffle(x, 1), "x has 64 axes"),
        (lambda x: nn.pixel_shuffle_bwd(x, x, 1), "out_grad has 64 axes"),
    ],
)
def test_more_axes_than_a_tensor_has(call: Callable[[sz.Tensor], Any], words: str) -> None:
    with pytest.raises(sz.DimensionsMismatch, match=rf"^nn\.\w+ \(.*\): {words}; .* Reshape"):
        call(ones(*[1] * 64))


def test_64_axes() -> None:
    x = ones(*[1] * 64)
    for made in (
        nn.softmax(x), nn.layer_norm(x, 1), nn.group_norm(x, 1), nn.linear(x, ones(1, 1)),
        nn.scaled_dot_product_attention_bwd(x, x, x, x)[0], nn.gumbel_softmax(x, seed=1),
        nn.normalize_bwd(x, x), nn.mse_loss_bwd(ones(), x, x)[0], nn.dropout(x, seed=1),
    ):  # fmt: skip
        assert made.shape == x.shape
    assert nn.logsumexp(x).ndim == nn.cosine_similarity(x, x).ndim == 63


def test_gradients_of_a_table_are_rounded_once() -> None:
    """The sum is just above the middle of two numbers of bfloat16; as float32 it is the middle."""
    rows = sz.tensor([[1.0], [2.0**-8], [2.0**-40]], sz.bfloat16)
    found = nn.embedding_bwd(rows, ones(1, 1, dtype=sz.bfloat16), sz.tensor([0, 0, 0]))
    assert found.tolist() == [[1 + 2.0**-7]]
