"""The kernels of attention against its truth, within its bound, and against the CPU."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.helpers.attention import (
    EVERY_OPTION,
    RNG,
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

KEY = "nn:scaled_dot_product_attention"


def attended(device: str, *operands: Any, **options: Any) -> Any:
    """Return what a device computes of arrays, as float64."""
    there, options = moved_to(device, operands, options)
    return wide(nn.scaled_dot_product_attention(*there, **options))


def is_right(device: str, *operands: Any, **options: Any) -> None:
    """Assert results within the bound of the truth."""
    found = attended(device, *operands, **options)
    assert_within(found, truth.bound("scaled_dot_product_attention", *operands, **options))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks so small that few rows have several."""
    if HAS_KERNELS:
        from suanzi.runtimes.torch.triton import attention

        size = attention.Blocks(16, 16, 4, 2, "bf16x6")
        monkeypatch.setattr(attention, "blocks_of", lambda narrow, rows, width: size)
        monkeypatch.setattr(attention, "keys_of_part", lambda keys: 32)
        monkeypatch.setattr(attention, "_FEW", 4)


@without_kernels
def test_in_the_interpreter() -> None:
    assert_passes_in_the_interpreter(__file__)


@with_kernels
@EVERY_OPTION
def test_options(
    device: str, used: Counter[str], small: None, kind: str, options: dict[str, Any]
) -> None:
    q, k, v = numbers(kind, 18, 8), numbers(kind, 37, 8), numbers(kind, 37, 5)
    is_right(device, q, k, v, **options)
    assert used[KEY] == 1


@with_kernels
@KINDS
def test_masks_that_are_added_and_sinks(
    device: str, used: Counter[str], small: None, kind: str
) -> None:
    q, k, v = numbers(kind, 2, 7, 8), numbers(kind, 1, 20, 8), numbers(kind, 1, 20, 5)
    is_right(device, q, k, v, numbers(kind, 7, 20), sink=numbers(kind, 2))
    hidden = numbers(kind, 2, 1, 20)
    hidden[1] = -np.inf
    is_right(device, q, k, v, hidden)
    is_right(device, q, k, v, window=(0, 0), align="bottom_right", sink=numbers(kind, 2))
    assert used[KEY] == 3


@with_kernels
@KINDS
def test_few_queries_and_many_keys(device: str, used: Counter[str], small: None, kind: str) -> None:
    q, k, v = numbers(kind, 2, 2, 1, 8), numbers(kind, 2, 1, 70, 8), numbers(kind, 2, 1, 70, 3)
    is_right(device, q, k, v)
    two = numbers(kind, 2, 2, 8)
    options = {"causal": True, "align": "bottom_right", "window": (40, -1)}
    is_right(device, two, k[0], v[0], sink=numbers(kind, 2), **options)
    is_right(device, two, k[0], v[0], RNG.random((2, 2, 70)) > 0.9)
    assert used[KEY] == 3


@with_kernels
@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_hidden_values_take_no_part(
    device: str, used: Counter[str], small: None, kind: str
) -> None:
    q, k, v = numbers(kind, 2, 18, 8), numbers(kind, 2, 37, 8), numbers(kind, 2, 37, 5)
    v[0, 30, 1] = v[0, 12, 2] = k[0, 25, 0] = np.nan
    v[0, 3, 0] = v[1, 9, 1] = v[1, 10, 4] = np.inf
    v[1, 2, 3] = v[1, 12, 4] = -np.inf
    mask = RNG.random((18, 37)) > 0.4
    for options in ({"causal": True}, {"mask": mask}, {}):
        found, wanted = attended(device, q, k, v, **options), attended("cpu", q, k, v, **options)
        finite = np.isfinite(wanted)
        assert (np.isfinite(found) == finite).all()
        assert np.allclose(found, wanted, rtol=0.02, atol=0.02, equal_nan=True)
    assert used[KEY] == 3


@with_kernels
def test_a_row_has_the_same_bits_whatever_is_in_others(device: str, small: None) -> None:
    q, k, v = (numbers("bfloat16", 2, 20, 8) for _ in range(3))
    wanted = attended(device, q, k, v, causal=True)
    q[0, 7:], v[0, 7:], k[1] = np.nan, np.inf, np.nan
    found = attended(device, q, k, v, causal=True)
    assert (found[0, :7] == wanted[0, :7]).all()
    assert np.isnan(found[1]).all()


@with_kernels
def test_blocks_of_their_usual_sizes(device: str, used: Counter[str]) -> None:
    for kind, columns in (("float32", 72), ("bfloat16", 136), ("float16", 40)):
        q, k, v = numbers(kind, 1, 150, columns), *(numbers(kind, 1, 200, columns) for _ in "kv")
        is_right(device, q, k, v, causal=True)
    assert used[KEY] == 3


@with_kernels
def test_strides_batches_and_no_elements(device: str, used: Counter[str]) -> None:
    q, k, v = (numbers("float32", 2, 9, 3, 8) for _ in range(3))
    wanted = attended("cpu", *(np.ascontiguousarray(x.transpose(0, 2, 1, 3)) for x in (q, k, v)))
    turned = [tensor(x, device).transpose((0, 2, 1, 3)) for x in (q, k, v)]
    assert np.allclose(attended(device, *turned), wanted, rtol=1e-5, atol=1e-5)
    cut = [tensor(numbers("float32", 3, 9, 20), device)[..., 3:19:2] for _ in range(3)]
    given = [np.ascontiguousarray(wide(x).astype(np.float32)) for x in cut]
    assert np.allclose(attended(device, *cut), attended("cpu", *given), rtol=1e-5, atol=1e-5)
    is_right(device, numbers("float32", 2, 1, 3, 2), *(numbers("float32", 1, 1, 4, 2),) * 2)
    for shapes in (((1, 0, 2), (1, 3, 2), (1, 3, 2)), ((1, 3, 2), (1, 0, 2), (1, 0, 2)),
                   ((1, 3, 0), (1, 3, 0), (1, 3, 2)), ((0, 3, 2), (0, 3, 2), (0, 3, 2)),
                   ((1, 3, 2), (1, 4, 2), (1, 4, 0))):  # fmt: skip
        operands = [numbers("float32", *shape) for shape in shapes]
        assert np.allclose(attended(device, *operands), attended("cpu", *operands), atol=1e-6)
    assert used[KEY] >= 5


@with_kernels
@KINDS
@pytest.mark.parametrize("interleaved", [False, True])
def test_rotary_embeddings(device: str, used: Counter[str], kind: str, interleaved: bool) -> None:
    shapes = [((2, 3, 8), (3, 4)), ((2, 2, 3, 7), (2, 1, 1, 2)), ((40,), (20,)), ((2, 3), (2, 0))]
    for shape, table in shapes:
        x, g, cos, sin = (numbers(kind, *s) for s in (shape, shape, table, table))
        there = [tensor(v, device) for v in (x, g, cos, sin)]
        for name, given in (("", (0, 2, 3)), ("_bwd", (1, 0, 2, 3))):
            function = getattr(nn, f"rotary_embedding{name}")
            found = wide(function(*(there[i] for i in given), interleaved=interleaved))
            arrays = [(x, g, cos, sin)[i] for i in given]
            bound = truth.bound(f"rotary_embedding{name}", *arrays, interleaved=interleaved)
            assert (np.abs(found - bound.value) <= bound.error).all()
    turned = tensor(numbers(kind, 3, 2, 8), device).transpose((1, 0, 2))
    table = tensor(numbers(kind, 3, 4), device)
    given = turned, table, table
    wanted = nn.rotary_embedding(*(x.to_device("cpu") for x in given), interleaved=interleaved)
    assert np.allclose(wide(nn.rotary_embedding(*given, interleaved=interleaved)), wide(wanted))
    assert used["nn:rotary_embedding"] == 5
    assert used["nn:rotary_embedding_bwd"] == 4
