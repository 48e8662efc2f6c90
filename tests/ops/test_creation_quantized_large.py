"""7.2.1.15: casts to and from quantised tensors of more elements than a block, in any layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz

ROWS, CHANNELS = 9001, 7
INTEGERS = (np.arange(ROWS * CHANNELS) % 251 - 125).reshape(ROWS, CHANNELS)
SCALES: dict[str, Any] = {
    "QT_SYM_INT8": 0.25,
    "QT_SYM_INT16": 0.25,
    "QT_CH_SYM_INT8": [2.0**-c for c in range(CHANNELS)],
}


def layouts(name: str) -> dict[str, sz.Tensor]:
    """Return the same numbers by rows, by columns, and with others between them."""
    given, scale = INTEGERS.tolist(), SCALES[name]
    twice = np.repeat(INTEGERS, 2, 0)
    return {
        "rows": sz.create_quant_tensor(INTEGERS.shape, scale, name, values=given),
        "columns": sz.create_quant_tensor(
            INTEGERS.shape, scale, name, values=given, layout=(0, 1)
        ),
        "every second row": sz.create_quant_tensor(
            twice.shape, scale, name, values=twice.tolist()
        )[::2],
    }  # fmt: skip


@pytest.mark.parametrize("name", SCALES)
def test_there_and_back(name: str) -> None:
    wanted = INTEGERS * np.array(SCALES[name])  # exact in every one of these dtypes
    for layout, x in layouts(name).items():
        for target in ("float32", "float64", "float16", "bfloat16"):
            real = sz.cast(x, target)
            assert (sz.cast(real, sz.float64).numpy() == wanted).all(), (layout, target)
            again = sz.quantize(real, name, scale=SCALES[name], channel_axis=x.channel_axis)
            assert (again.int_repr().numpy() == INTEGERS).all(), (layout, target)
