"""Names that Appendix A prints: constants of A.1, modes, and op_ifft."""

from __future__ import annotations

import pytest

import suanzi as sz
from suanzi.faces import interface
from suanzi.faces.interface import Status, op_fft_c2c, op_ifft

X = sz.tensor([[1, 2, 3, 4], [0, -1, 5, 0.5]], sz.complex64)


def test_constants_are_the_numbers_of_a_1() -> None:
    assert [interface.kDense, interface.kCSR, interface.kCPU, interface.kGPU] == [0, 1, 0, 1]
    assert [interface.kInt, interface.kReal, interface.kComplex] == [2, 4, 5]
    for status in Status:
        assert getattr(interface, f"STATUS_{status.name}") is status


def test_they_can_be_given_where_they_belong() -> None:
    made = interface.op_zeros(
        dtype=interface.DataType(interface.kReal, 32),
        device=interface.Device(interface.kCPU, 0),
        shape=interface.Shape((2,), interface.Layout(interface.kDense, (0,))),
    )
    assert made[0] is interface.STATUS_SUCCESS
    status, y = interface.op_reduce(input=made[1], mode=interface.ReduceMode.MAX)
    assert (status, y.item()) == (interface.STATUS_SUCCESS, 0)
    assert interface.op_rint(x=made[1], mode=interface.RoundMode.UPWARD)[0] is Status.SUCCESS
    padded = interface.op_pad(
        input=made[1], pad_width=[1, 1], pad_mode=interface.PadMode.PAD_MIRROR
    )
    assert padded[0] is Status.SUCCESS


def test_op_ifft_is_the_inverse_of_op_fft_c2c() -> None:
    _, y = op_fft_c2c(X)
    status, back = op_ifft(y)
    assert status is Status.SUCCESS
    assert sz.allclose(back, X)
    _, real = op_ifft(y, [1, 2], 2, "C2R", [1, 1], 2)
    assert real.dtype is sz.float32
    assert sz.allclose(real, sz.real(X))
    half = sz.real(X)
    _, complex_ = op_ifft(half, transtype=interface.TransType.R2C)
    assert complex_.dtype is sz.complex64
    assert sz.allclose(op_ifft(half, transtype=3)[1], sz.real(complex_))
    assert op_ifft(sz.cast(half, sz.float64), transtype="R2R")[1].dtype is sz.float64


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"input": None}, Status.UNINITIALIZED_OBJECT),
        ({}, Status.INVALID_ARGUMENT),
        ({"input": X, "transtype": 4}, Status.INVALID_ARGUMENT),
        ({"input": X, "transtype": "c2c"}, Status.INVALID_ARGUMENT),
        ({"input": X, "transtype": "R2C"}, Status.TYPE_MISMATCH),
        ({"input": sz.real(X)}, Status.TYPE_MISMATCH),
        ({"input": X, "istride": [2, 1]}, Status.INVALID_ARGUMENT),
        ({"input": X, "ostride": [1, 1], "ostride_len": 3}, Status.INVALID_ARGUMENT),
    ],
)
def test_op_ifft_refuses(given: dict[str, object], status: Status) -> None:
    assert op_ifft(**given) == (status, None)
    assert "ifft" in str(interface.last_error()) or given.get("input", 0) is None
