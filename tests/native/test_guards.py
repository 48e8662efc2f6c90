"""The core checks again what Python has checked: a wrong call from inside is an error, not a crash.

Python's functions never make these calls, so that no other test reaches the lines that refuse them.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi import _core

x = sz.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
row = sz.tensor([1.0, 2.0, 3.0])
places = sz.tensor([0, 1], sz.int64)
pixels = sz.zeros((1, 1, 4, 4))
waves = sz.zeros((2, 4), sz.complex64)
sums = sz.tensor([0.5, 1.0], sz.float64)
four = sz.zeros((2, 4))

REFUSED: dict[str, Callable[[], Any]] = {
    "a fast path without a name": lambda: _core.accelerate(lambda: None),
    "a part that is no tensor": lambda: _core.make_complex(x, 1.0),
    "a part behind the end": lambda: _core.fill_sequence(sz.zeros((3,)), 0, 4, 0.0, 1.0, 0, False),
    "a part that ends before it begins": lambda: _core.fill_sequence(
        sz.zeros((3,)), 2, 1, 0.0, 1.0, 0, False
    ),
    "choices that are floats": lambda: _core.random_choices(sz.zeros((2,)), 0, sums, 1, 0),
    "choices of a row that is not there": lambda: _core.random_choices(
        sz.zeros((2, 2), sz.int64), 2, sums, 1, 0
    ),
    "the best along no axis": lambda: _core.find_best(x, 2, False, True, False),
    "the best complex number": lambda: _core.find_best(waves, 0, False, True, False),
    "an order along no axis": lambda: _core.order(x, -1, False, 1),
    "the first of more than there are": lambda: _core.order(x, 1, False, 4),
    "a gradient beside other indices": lambda: _core.unsort(x, places, 0),
    "a gradient of indices that are floats": lambda: _core.unsort(x, x, 0),
    "pixels without channels": lambda: _core.interpolate(x, [2], 0),
    "pixels in a fourth mode": lambda: _core.interpolate(pixels, [2, 2], 3),
    "pixels of another rank": lambda: _core.interpolate(pixels, [2], 0),
    "a bias of another length": lambda: _core.multiply(x, sz.zeros((3, 2)), sz.float32, row),
    "a product with a number": lambda: _core.multiply(sz.tensor(1.0), x, sz.float32),
    "a product by a number": lambda: _core.multiply(x, sz.tensor(1.0), sz.float32),
    "a norm of integers": lambda: _core.norm(places, 0, [0], False),
    "a norm of a part that is not there": lambda: _core.norm(x, 3, [0], False),
    "a reduction of nothing": lambda: _core.reduce(sz.zeros((0,)), 0, [0], False),
    "a reduction in no mode": lambda: _core.reduce(x, 99, [0], False),
    "a reduction along no axis": lambda: _core.reduce(x, 0, [2], False),
    "a transform of real numbers": lambda: _core.fourier(x, x, 0, True, 1.0),
    "a transform along no axis": lambda: _core.fourier(waves, waves, 2, True, 1.0),
    "a transform into nothing": lambda: _core.fourier_real(four, sz.zeros((0, 3)), 1, True, 1.0),
    "a transform of another length": lambda: _core.fourier_real(four, waves[:, :2], 1, True, 1.0),
    "real numbers along no axis": lambda: _core.fourier_real(four, waves, 2, True, 1.0),
    "a transform to fewer bits": lambda: _core.fourier_real(
        sz.zeros((2, 4), sz.float64), sz.zeros((2, 3), sz.complex64), 1, True, 1.0
    ),
    "a transform to a part": lambda: _core.fourier_real(
        four, sz.zeros((2, 2), sz.complex64), 1, True, 1.0
    ),
    "indices without strides": lambda: _core.index_offsets([places], [2], [], False),
    "indices of two shapes": lambda: _core.index_offsets(
        [places, sz.tensor([1], sz.int64)], [2, 2], [1, 1], False
    ),
    "indices that are floats": lambda: _core.index_offsets([row], [3], [1], False),
    "rows along no axis": lambda: _core.gather(x, 2, 1, places),
    "rows by 32 bits": lambda: _core.gather(x, 0, 1, sz.tensor([0], sz.int32)),
    "an offset behind the last row": lambda: _core.gather(x, 0, 1, sz.tensor([0, 4], sz.int64)),
    "an offset before the first row": lambda: _core.gather(x, 0, 1, sz.tensor([-1], sz.int64)),
    "an offset beyond all memory": lambda: _core.gather(x, 0, 2, sz.tensor([2**62], sz.int64)),
    "an offset behind a row that runs backwards": lambda: _core.gather(
        x[::-1], 0, 1, sz.tensor([1], sz.int64)
    ),
    "an offset into nothing": lambda: _core.gather(
        sz.zeros((0, 3)), 0, 1, sz.tensor([0], sz.int64)
    ),
    "updates behind the last row": lambda: _core.scatter(
        sz.zeros((2, 3)), 0, 1, sz.tensor([4, 0], sz.int64), sz.zeros((2, 3)), False
    ),
    "updates before the first row": lambda: _core.scatter(
        sz.zeros((2, 3)), 0, 1, sz.tensor([-1], sz.int64), sz.zeros((1, 3)), True
    ),
    "updates of nothing": lambda: _core.scatter(
        sz.zeros((0, 3)), 0, 1, sz.tensor([0], sz.int64), sz.zeros((1,)), False
    ),
    "sizes below 0": lambda: _core.index_offsets([places], [-(2**63)], [1], True),
    "rows by pointers that fall": lambda: _core.sum_rows(sz.tensor([0, 4, 3], sz.int64), row),
    "rows without pointers": lambda: _core.sum_rows(sz.zeros((0,), sz.int64), row),
    "as many rows as can be counted": lambda: _core.rows_in_order(
        places, places, sz.zeros((2,)), 2**63 - 1
    ),
    "a transform of nothing": lambda: _core.fourier(
        sz.zeros((0,), sz.complex64), sz.zeros((0,), sz.complex64), 0, True, 1.0
    ),
    "updates of another dtype": lambda: _core.scatter(
        sz.zeros((2, 3)), 0, 1, places, sz.zeros((2, 3), sz.int32), False
    ),
    "updates of another number": lambda: _core.scatter(
        sz.zeros((2, 3)), 0, 1, places, sz.zeros((3, 3)), False
    ),
    "padding of half an axis": lambda: _core.pad(x, [1, 1, 1], 0, 0),
    "padding in a fourth mode": lambda: _core.pad(x, [0, 0, 0, 0], 3, 0),
    "padding with a row": lambda: _core.pad(x, [0, 0, 0, 0], 0, row),
    "a mirror of nothing": lambda: _core.pad(sz.zeros((0, 2)), [1, 0, 0, 0], 2, 0),
    "repeats of half an axis": lambda: _core.tile(x, [2]),
    "repeats below 0": lambda: _core.tile(x, [2, -1]),
    "a shift of the whole size": lambda: _core.roll(x, [0, 3]),
    "a shift below 0": lambda: _core.roll(x, [-1, 0]),
    "a view whose strides cannot be counted": lambda: _core.view(x, 0, (3,), (2**62,)),
    "a view whose ends cannot be counted": lambda: _core.view(
        x, 0, (2, 2), (2**62 + 2**61, 2**62)
    ),
    "a view behind the end": lambda: _core.view(x, 0, (3, 3), (3, 1)),
    "tensors of two ranks": lambda: _core.join([x, row], 0, sz.float32, False),
    "tensors of two shapes": lambda: _core.join([x, sz.zeros((2, 2))], 0, sz.float32, False),
    "tensors along no axis": lambda: _core.join([x], 2, sz.float32, False),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_call_is_refused(name: str) -> None:
    before = x.tolist()
    with pytest.raises((ValueError, TypeError, IndexError)):
        REFUSED[name]()
    assert x.tolist() == before


def test_offsets_that_lead_somewhere() -> None:
    back, there = x[::-1], sz.tensor([-3, 0], sz.int64)
    assert _core.gather(back, 0, 1, there).tolist() == x.tolist()
    target = sz.zeros((2, 3))
    _core.scatter(target[::-1], 0, 1, there, x, False)
    assert target.tolist() == x.tolist()


def test_strides_of_others_that_are_not_those_of_memory() -> None:
    capsule = sz.tensor([[1.0, 2.0], [3.0, 4.0]]).__dlpack__(max_version=(1, 0))
    memory = ctypes.pythonapi.PyCapsule_GetPointer
    memory.restype, memory.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    start = memory(capsule, b"dltensor_versioned")
    # version, manager, deleter, flags; then data, device, ndim, dtype, shape and strides
    strides = ctypes.c_void_p.from_address(start + 32 + 8 + 8 + 4 + 4 + 8).value
    assert strides is not None
    both = (ctypes.c_int64 * 2).from_address(strides)
    assert list(both) == [2, 1]

    class Producer:
        def __dlpack__(self, **_: Any) -> Any:
            return capsule

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    for bad in ([2**63 - 1, 1], [2**63 - 1, 2**63 - 1], [-(2**63), -(2**63)]):
        both[0], both[1] = bad
        with pytest.raises(BufferError, match="strides"):
            sz.from_dlpack(Producer())
    both[0], both[1] = 2, 1
    assert sz.from_dlpack(Producer()).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_an_operand_of_promotion_without_a_dtype() -> None:
    broken = object.__new__(sz.ZeroDim)
    for _ in range(2):
        with pytest.raises((AttributeError, TypeError)):
            sz.result_type(broken, sz.float32)


# ---- libraries that load otherwise --------------------------------------------------------------

PROGRAM = """
import numpy as np
from scipy.linalg import cython_blas, cython_lapack
import suanzi as sz
from suanzi import _core
from suanzi.ops.libraries import providers
asked = []
blas, lapack = cython_blas.__pyx_capi__, cython_lapack.__pyx_capi__
def load():
{}
providers.load = load
if _core.products_in_tiles():
    _core.use_level("avx2")  # AVX-512 asks nobody for products of floats
x = np.arange(4096, dtype=np.float32).reshape(64, 64) % 7
wanted = x @ x
for _ in range(2):
    assert (sz.matmul(sz.tensor(x), sz.tensor(x)).numpy() == wanted).all()
    found = sz.solve(sz.tensor([[2.0, 0.0], [0.0, 4.0]]), sz.tensor([[2.0], [4.0]]), False)
    assert found.tolist() == [[1.0], [1.0]]
print(len(asked))
"""
ONCE, USED, AGAIN = range(3)
WAYS = {
    "threads limited by Python": (
        "    _core.use_capsules('one', blas, lapack, asked.append, None)", USED, ""
    ),
    "a limit that fails": (
        "    asked.append(1)\n    _core.use_capsules('one', blas, lapack, lambda on: 1 / 0, None)",
        ONCE, "ZeroDivisionError",
    ),
    "no limit at all": (
        "    asked.append(1)\n    _core.use_capsules('one', blas, lapack, None, None)", ONCE, ""
    ),
    "no functions": (
        "    asked.append(1)\n    _core.use_capsules('one', dict(), dict(), None, None)", ONCE, ""
    ),
    "functions of others": (
        "    asked.append(1)\n    no = dict.fromkeys([*blas, *lapack], 5)\n"
        "    _core.use_capsules('one', no, no, None, None)", ONCE, "",
    ),
    "nothing": ("    asked.append(1)", ONCE, ""),
    "an error": ("    asked.append(1)\n    raise RuntimeError('broken')", ONCE, "broken"),
    "no memory this time": ("    asked.append(1)\n    raise MemoryError", AGAIN, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_libraries_that_load_otherwise(name: str) -> None:
    """Our own kernels, and NumPy's and SciPy's functions, do what the core cannot ask for."""
    body, how, warning = WAYS[name]
    program = PROGRAM.format(body)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    asked = int(done.stdout)
    assert asked == 1 if how == ONCE else asked > 1 and (how == AGAIN or asked % 2 == 0)
    assert warning in done.stderr


def test_columns_of_more_rows_than_a_part_has() -> None:
    """On x86 the rows are cut into parts of 16,384 only where there are more of them."""
    values = np.arange(40_000 * 24, dtype=np.int32).reshape(40_000, 24) % 101
    for name in ("int32", "float32", "float64"):
        for mode, wanted in (("SUM", values.sum(0)), ("MAX", values.max(0))):
            made = sz.reduce(sz.tensor(values.astype(name)), mode, 0)
            assert made.tolist() == wanted.tolist()


def test_integers_are_drawn_into_integers() -> None:
    with pytest.raises(ValueError, match="not a tensor of integers"):
        _core.random_integers(sz.empty((48, 48), sz.complex128), 3, -1, 3)


def test_parts_whose_bytes_cannot_be_counted() -> None:
    x = sz.expand(sz.tensor([1.0], sz.bfloat16), (2**31, 2**31))
    with pytest.raises(ValueError, match="not as many bytes"):
        _core.reduce_partly(x, 0, True, [], sz.empty((0,), sz.uint8))
