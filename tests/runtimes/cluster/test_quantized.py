"""Quantised tensors of blocks: integers, scales and errors of one tensor."""

from __future__ import annotations

from pickle import dumps, loads
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.blocks import on_blocks, same, same_error

pytest.importorskip("dask.array", reason="tensors of blocks are Dask's")
cluster = pytest.importorskip("suanzi.cluster")

RNG = np.random.default_rng(7)
REAL = RNG.normal(size=(5, 7)).astype(np.float32)
INTEGERS = RNG.integers(-100, 100, (5, 7)).astype(np.int8)
CHANNELS = sz.quantize(REAL, sz.QT_CH_SYM_INT8)
ROWS = sz.quantize(REAL, sz.QT_CH_SYM_INT16, channel_axis=0)
ONE = sz.quantize(REAL, sz.QT_ASYM_UINT8)
FAR = sz.quantize(REAL + 9, sz.QT_ASYM_INT8)  # its zero point is none of the integers
LINE = sz.quantize(REAL[0], sz.QT_CH_SYM_INT8)
MASK = REAL > 0
INDEX = np.array([4, 0, 0, 3])
SCALES = [0.5, 0.25, 1.0, 2.0, 0.125, 0.75, 1.5]

QUANTIZED: dict[str, Any] = {
    "of all": lambda t: sz.quantize(t(REAL), sz.QT_SYM_INT8),
    "by equations": lambda t: sz.quantize(t(REAL), sz.QT_ASYM_UINT16),
    "limited": lambda t: sz.quantize(t(REAL + 3), sz.QT_ASYM_INT8, limited=True),
    "by channels": lambda t: sz.quantize(t(REAL), sz.QT_CH_SYM_INT8),
    "by rows": lambda t: sz.quantize(t(REAL), sz.QT_CH_SYM_INT16, channel_axis=0),
    "by a scale": lambda t: sz.quantize(t(REAL), sz.QT_ASYM_UINT8, scale=0.1, zero_point=7),
    "by scales": lambda t: sz.quantize(t(REAL), sz.QT_CH_SYM_INT8, scale=SCALES, rounding="floor"),
    "by a zero point": lambda t: sz.quantize(t(REAL), sz.QT_ASYM_UINT8, zero_point=100),
    "of integers": lambda t: sz.quantize(t(INTEGERS), sz.QT_ASYM_INT16),
    "of bools": lambda t: sz.quantize(t(MASK), sz.QT_SYM_INT8),
    "of bfloat16": lambda t: sz.quantize(sz.cast(t(REAL), sz.bfloat16), sz.QT_SYM_INT16),
    "of quantised ones": lambda t: sz.quantize(t(ONE), sz.QT_CH_SYM_INT8),
    "of none": lambda t: sz.quantize(t(REAL[:0]), sz.QT_CH_SYM_INT8),
    "of one number": lambda t: sz.quantize(t(np.float32(3)), sz.QT_SYM_INT8),
    "of equal ones": lambda t: sz.quantize(t(np.full((3, 4), 2.5)), sz.QT_ASYM_UINT8),
    "cast": lambda t: sz.cast(t(REAL), sz.QT_CH_SYM_INT8),
    "cast to another": lambda t: sz.cast(t(CHANNELS), sz.QT_ASYM_INT8),
    "cast to itself": lambda t: sz.cast(t(CHANNELS), sz.QT_CH_SYM_INT8),
    "cast of complex": lambda t: sz.cast(t(REAL + 1j), sz.QT_SYM_INT8),
    "cast to float64": lambda t: sz.cast(t(CHANNELS), sz.float64),
    "cast to int32": lambda t: sz.cast(t(ONE), sz.int32, saturate=True),
    "dequantize": lambda t: sz.dequantize(t(CHANNELS)),
    "dequantize to bfloat16": lambda t: sz.dequantize(t(ONE), sz.bfloat16),
    "create": lambda t: sz.create_quant_tensor(
        (5, 7), SCALES, sz.QT_CH_SYM_INT8, t(REAL).device, t(INTEGERS)
    ),
    "create of one scale": lambda t: sz.create_quant_tensor(
        (5, 7), 0.5, sz.QT_ASYM_INT8, t(REAL).device, t(INTEGERS), zero_point=3
    ),
    "create of integers": lambda t: sz.create_quant_tensor(
        (2, 3), 0.25, sz.QT_SYM_INT8, t(REAL).device, [[1, 2, 3], [4, 5, 6]]
    ),
    "integers": lambda t: t(CHANNELS).int_repr(),
}

MOVED: dict[str, Any] = {
    "as it is": lambda x, t: x,
    "slices": lambda x, t: x[1:4, ::-2],
    "a row": lambda x, t: x[-1],
    "a column": lambda x, t: x[:, 3],
    "an element": lambda x, t: x[2, 2],
    "a new axis": lambda x, t: x[:, None],
    "transpose": lambda x, t: sz.transpose(x),
    "expand_dims": lambda x, t: sz.expand_dims(x, 0),
    "squeeze": lambda x, t: sz.squeeze(x[:1]),
    "flip": lambda x, t: sz.flip(x, (0, 1)),
    "slice": lambda x, t: sz.slice(x, (1, 2), (3, 5), (2, 2)),
    "crop": lambda x, t: sz.crop(x, (2, 3), (1, 1)),
    "expand": lambda x, t: sz.expand(x, (2, 5, 7)),
    "split": lambda x, t: sz.split(x, [3, 4], axis=1),
    "unstack": lambda x, t: sz.unstack(x, 1),
    "tile": lambda x, t: sz.tile(x, (2, 3)),
    "roll": lambda x, t: sz.roll(x, (2, -3), (0, 1)),
    "pad": lambda x, t: sz.pad(x, (1, 2, 0, 0)),
    "pad by mirror": lambda x, t: sz.pad(x, (2, 3, 4, 1), pad_mode="PAD_MIRROR"),
    "concat": lambda x, t: sz.concat([x, x[:, ::-1], x], 1),
    "concat of rows": lambda x, t: sz.concat([x, x[:2]], 0),
    "concat of unlike ones": lambda x, t: sz.concat([x, t(FAR)], 0),
    "stack": lambda x, t: sz.stack([x, x], 0),
    "grid": lambda x, t: sz.meshgrid([x[0, :3], t(INTEGERS)[0], t(ONE)[0], t(REAL)[1]]),
    "gather": lambda x, t: sz.gather(x, t(INDEX)),
    "gather of no channels": lambda x, t: sz.gather(x[:, 1], t(INDEX)),
    "scatter": lambda x, t: sz.scatter(x, t(np.array([3, 1])), x[:2]),
    "masked_select": lambda x, t: sz.masked_select(x[:, 1], t(MASK[:, 1])),
    "contiguous": lambda x, t: sz.contiguous(sz.transpose(x)),
    "duplicate": lambda x, t: sz.duplicate(x),
    "real": lambda x, t: sz.real(x),
    "imag": lambda x, t: sz.imag(x),
    "diag": lambda x, t: sz.diag(x[0]),
    "diag of channels": lambda x, t: sz.diag(t(LINE)),
    "sum": lambda x, t: x + t(REAL),
    "unlike ones": lambda x, t: x * t(FAR) - 1,
    "a row of another": lambda x, t: x + t(LINE),
    "comparison": lambda x, t: x >= t(ONE),
    "function": lambda x, t: sz.exp(x),
    "where": lambda x, t: sz.where(t(MASK), x, t(ROWS)),
    "is_finite": lambda x, t: sz.is_finite(x),
    "logical_not": lambda x, t: sz.logical_not(x),
    "clip": lambda x, t: sz.clip(x, -0.5, 0.5),
    "largest": lambda x, t: sz.reduce(x, "MAX", 0),
    "argmax": lambda x, t: sz.argmax(x, 1),
    "argsort": lambda x, t: sz.argsort(x, 1),
    "topk": lambda x, t: sz.topk(x, 2, 0),
    "nonzero": lambda x, t: sz.nonzero(x),
    "allclose": lambda x, t: sz.allclose(x, x + 1e-9),
    "shape": lambda x, t: sz.shape(x),
}  # fmt: skip


def host(x: Any) -> Any:
    return x if isinstance(x, sz.Tensor) else sz.tensor(x)


@pytest.mark.parametrize("size", [(2, 3), -1])
@pytest.mark.parametrize("name", QUANTIZED)
def test_to_and_from_real_numbers(name: str, size: Any) -> None:
    same(QUANTIZED[name](on_blocks(size)), QUANTIZED[name](host))


@pytest.mark.parametrize("x", [CHANNELS, ROWS, ONE, FAR], ids=["axis 1", "axis 0", "one", "far"])
@pytest.mark.parametrize("name", MOVED)
def test_what_operators_make_of_them(name: str, x: sz.Tensor) -> None:
    cut = on_blocks((2, 3))
    found, wanted = (_result(MOVED[name], *on) for on in ((cut(x), cut), (x, host)))
    if isinstance(wanted, str):
        assert found == wanted
    else:
        same(found, wanted)


def _result(call: Any, x: Any, made: Any) -> Any:
    """Return what a call makes, or what it says."""
    try:
        return call(x, made)
    except sz.StatusError as error:
        return f"{type(error).__name__}: {error}"


def test_each_block_has_the_scales_of_its_channels() -> None:
    x = on_blocks((2, 3))(CHANNELS)
    kept = x.persist()
    block = kept.graph.to_dict()[(kept.name, 1, 1)]
    block = getattr(block, "value", block)
    assert block.scale == x.scale[3:6]
    same(kept.reblock((5, 2)).persist() + 1, CHANNELS + 1)
    same(loads(dumps(kept.to_host())).to_device("cluster"), CHANNELS)


def test_no_elements_in_many_channels() -> None:
    with cluster.blocks(2**33):
        x = sz.full(sz.float32, "cluster", (2**33, 0), 0)
    with pytest.raises(sz.AllocFailed, match="not enough memory for 8589934592 scales"):
        sz.quantize(x, sz.QT_CH_SYM_INT16, channel_axis=0)


def test_exact_under_lossless() -> None:
    with sz.promotion("lossless"):
        same(sz.reduce(on_blocks((2, 3))(CHANNELS), "MAX"), sz.reduce(CHANNELS, "MAX"))


def test_sums_and_products() -> None:
    cut = on_blocks((2, 3))
    for x in (CHANNELS, FAR):
        found = sz.matmul(cut(x), sz.transpose(cut(x))).numpy()
        np.testing.assert_allclose(found, (x @ sz.transpose(x)).numpy(), rtol=1e-6)
        np.testing.assert_allclose(cut(x).sum(axis=0).numpy(), x.sum(axis=0).numpy(), rtol=1e-6)


def test_printing() -> None:
    x, y = on_blocks((2, 3))(CHANNELS), on_blocks((2, 3))(ONE)
    for there, here in ((x, CHANNELS), (y, ONE)):
        said = "".join(str(here).split()).removeprefix("Tensor(").removesuffix(")")
        assert "".join(str(there).split()) == f"BlockTensor({said},blocks=3x3)"


def test_without_values() -> None:
    with cluster.blocks((2, 3)):
        x: Any = sz.create_quant_tensor((5, 7), SCALES, sz.QT_CH_SYM_INT8, "cluster")
    assert (x.blocks, x.channel_axis) == (((2, 2, 1), (3, 3, 1)), 1)
    assert x.to_host().scale == x.scale


WRONG: list[Any] = [
    lambda t: sz.quantize(t(REAL), sz.float32),
    lambda t: sz.quantize(t(REAL), sz.QT_SYM_INT8, scale=-1),
    lambda t: sz.quantize(t(REAL), sz.QT_CH_SYM_INT8, scale=[1.0, 2.0]),
    lambda t: sz.quantize(t(REAL), sz.QT_CH_SYM_INT8, channel_axis=2),
    lambda t: sz.quantize(t(REAL), sz.QT_SYM_INT8, channel_axis=0),
    lambda t: sz.quantize(t(REAL), sz.QT_SYM_INT8, rounding="up"),  # type: ignore[arg-type]
    lambda t: sz.quantize(t(REAL / 0), sz.QT_SYM_INT8),
    lambda t: sz.quantize(t(REAL + 1j), sz.QT_SYM_INT8),
    lambda t: sz.cast(t(REAL / 0), sz.QT_ASYM_INT8),
    lambda t: sz.dequantize(t(REAL)),
    lambda t: sz.dequantize(t(ONE), sz.int8),
    lambda t: sz.bitwise_left_shift(t(ONE), 1),
    lambda t: sz.rand_bernoulli(t(ONE)),
    lambda t: sz.scatter(t(ONE), t(INDEX), t(FAR)[:4]),
    lambda t: sz.pad(t(CHANNELS), (1, 1, 0, 0), 3.0),
    lambda t: sz.pad(t(CHANNELS), (1, 1, 1, 0)),
    lambda t: sz.reshape(t(CHANNELS), (35,)),
    lambda t: sz.masked_select(t(CHANNELS), t(MASK)),
    lambda t: sz.concat([t(CHANNELS), t(CHANNELS)[0]], 0),
    lambda t: sz.stack([t(ONE), t(ONE)[1:]], 0),
    lambda t: sz.create_quant_tensor((5, 6), 1.0, sz.QT_SYM_INT8, t(REAL).device, t(INTEGERS)),
    lambda t: sz.create_quant_tensor((5, 7), 1.0, sz.QT_SYM_INT16, t(REAL).device, t(INTEGERS)),
    lambda t: t(REAL).int_repr(),
    lambda t: sz.tensor(t(INTEGERS).numpy(), sz.QT_SYM_INT8, device=t(REAL).device) + 1,
    lambda t: sz.exp(sz.tensor(INTEGERS, sz.QT_SYM_INT8, device=t(REAL).device)),
]  # fmt: skip


@pytest.mark.parametrize("call", WRONG)
def test_errors_are_those_of_one_tensor(call: Any) -> None:
    with np.errstate(all="ignore"):
        same_error(lambda: call(host), lambda: call(on_blocks((2, 3))))
