"""The kernels of the gradients of attention against their truth, within its bound."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.helpers.attention import (
    EVERY_OPTION,
    assert_within,
    moved_to,
    numbers,
    tensor,
    wide,
)
from tests.helpers.devices import (
    HAS_KERNELS,
    KINDS,
    assert_passes_in_the_interpreter,
    with_kernels,
    without_kernels,
)

from suanzi import truth
from suanzi.ops import nn

KEY = "nn:scaled_dot_product_attention_bwd"


def gradients(device: str, *operands: Any, **options: Any) -> list[Any]:
    """Return what a device computes of arrays, as float64."""
    there, options = moved_to(device, operands, options)
    return [wide(x) for x in nn.scaled_dot_product_attention_bwd(*there, **options)]


def is_right(device: str, *operands: Any, **options: Any) -> None:
    """Assert gradients within the bounds of their truth."""
    found = gradients(device, *operands, **options)
    bounds = truth.bound("scaled_dot_product_attention_bwd", *operands, **options)
    assert len(found) == len(bounds)
    for name, one, bound in zip("qkvs", found, bounds, strict=False):
        assert_within(one, bound, name)


def operands(kind: str, heads: int = 1, shared: int = 1, queries: int = 18, keys: int = 37) -> Any:
    """Return out_grad, q, k and v."""
    return (numbers(kind, heads, queries, 5), numbers(kind, heads, queries, 8),
            numbers(kind, shared, keys, 8), numbers(kind, shared, keys, 5))  # fmt: skip


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks so small that few rows have several."""
    if HAS_KERNELS:
        from suanzi.runtimes.torch.triton import attention, attention_bwd

        size = attention.Blocks(16, 16, 4, 2, "bf16x6")
        monkeypatch.setattr(attention_bwd, "sizes_of", lambda narrow, width: (size,) * 3)


@without_kernels
def test_in_the_interpreter() -> None:
    assert_passes_in_the_interpreter(__file__)


@with_kernels
@EVERY_OPTION
def test_options(
    device: str, used: Counter[str], small: None, kind: str, options: dict[str, Any]
) -> None:
    is_right(device, *(x[0] for x in operands(kind)), **options)
    assert used[KEY] == 1


@with_kernels
@KINDS
def test_shared_heads_masks_that_are_added_and_sinks(
    device: str, used: Counter[str], small: None, kind: str
) -> None:
    given = operands(kind, 4, 2, 9, 20)
    is_right(device, *given, causal=True)
    is_right(device, *given, numbers(kind, 9, 20), sink=numbers(kind, 4))
    hidden = numbers(kind, 4, 1, 20)
    hidden[1] = -np.inf
    is_right(device, *given, hidden)
    is_right(device, *given, window=(0, 0), align="bottom_right", sink=numbers(kind, 4))
    assert used[KEY] == 4


@with_kernels
@KINDS
def test_a_batch_that_is_repeated(device: str, used: Counter[str], small: None, kind: str) -> None:
    g, q = numbers(kind, 3, 2, 7, 4), numbers(kind, 3, 2, 7, 6)
    k, v = numbers(kind, 1, 1, 18, 6), numbers(kind, 1, 1, 18, 4)
    is_right(device, g, q, k, v)
    many = numbers(kind, 3, 1, 18, 6), numbers(kind, 3, 1, 18, 4)
    is_right(device, g, numbers(kind, 1, 2, 7, 6), *many, causal=True)
    assert used[KEY] == 2


@with_kernels
@KINDS
def test_gradients_of_any_size(device: str, used: Counter[str], small: None, kind: str) -> None:
    g, q, k, v = (x[0] for x in operands(kind))
    for factor in (2.0**-12, 2.0**12):
        is_right(device, (g.astype(np.float32) * factor).astype(g.dtype), q, k, v)
    g[3], g[:, 2] = 0, 0
    is_right(device, g, q, k, v, causal=True)
    assert used[KEY] == 3


@with_kernels
@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_values_that_are_not_finite(
    device: str, used: Counter[str], small: None, kind: str
) -> None:
    g, q, k, v = operands(kind, 2, 2)
    v[0, 30, 1] = np.nan  # no query sees it
    assert all(np.isfinite(x).all() for x in gradients(device, g, q, k, v, causal=True))
    g[0, 3, 2], g[1, 5, 0] = np.nan, np.inf
    q[1, 17, 3] = np.nan
    found, wanted = (gradients(where, g, q, k, v) for where in (device, "cpu"))
    for one, other in zip(found, wanted, strict=True):
        finite = np.isfinite(other)
        assert (np.isfinite(one) == finite).all()
        assert np.allclose(one[finite], other[finite], rtol=0.02, atol=0.02)
    assert used[KEY] == 2


@with_kernels
def test_blocks_of_their_usual_sizes(device: str, used: Counter[str]) -> None:
    for kind, columns in (("float32", 72), ("bfloat16", 136), ("float16", 40)):
        shapes = ((1, 150, columns),) * 2 + ((1, 200, columns),) * 2
        is_right(device, *[numbers(kind, *shape) for shape in shapes], causal=True)
    assert used[KEY] == 3


@with_kernels
def test_strides_and_no_elements(device: str, used: Counter[str]) -> None:
    given = [numbers("float32", 2, 9, 3, 8) for _ in range(4)]
    laid = [np.ascontiguousarray(x.transpose(0, 2, 1, 3)) for x in given]
    turned = [tensor(x, device).transpose((0, 2, 1, 3)) for x in given]
    for one, wanted in zip(gradients(device, *turned), gradients("cpu", *laid), strict=True):
        assert np.allclose(one, wanted, rtol=1e-5, atol=1e-5)
    cut = [tensor(numbers("float32", 3, 9, 20), device)[..., 3:19:2] for _ in range(4)]
    same = [np.ascontiguousarray(wide(x).astype(np.float32)) for x in cut]
    for one, wanted in zip(gradients(device, *cut), gradients("cpu", *same), strict=True):
        assert np.allclose(one, wanted, rtol=1e-5, atol=1e-5)
    assert used[KEY] == 2
    for q, k, v in (((1, 0, 2), (1, 3, 2), (1, 3, 2)), ((1, 3, 2), (1, 0, 2), (1, 0, 2)),
                    ((1, 3, 0), (1, 3, 0), (1, 3, 2)), ((0, 3, 2), (0, 3, 2), (0, 3, 2)),
                    ((1, 3, 2), (1, 4, 2), (1, 4, 0))):  # fmt: skip
        arrays = [numbers("float32", *shape) for shape in ((*q[:-1], v[-1]), q, k, v)]
        found = gradients(device, *arrays)
        for one, wanted in zip(found, gradients("cpu", *arrays), strict=True):
            assert one.shape == wanted.shape
            assert np.allclose(one, wanted, atol=1e-6)


@with_kernels
def test_the_same_bits_in_every_run(device: str, small: None) -> None:
    given = operands("bfloat16", 4, 2, 33, 50)
    first, second = (gradients(device, *given, causal=True) for _ in range(2))
    assert all((x == y).all() for x, y in zip(first, second, strict=True))
