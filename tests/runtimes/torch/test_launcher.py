"""The native launcher hands a driver what it is given: here the driver is a function of Python."""

from __future__ import annotations

import ctypes

import pytest

from suanzi import _core

U = ctypes.c_uint
ENTRY = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, U, U, U, U, U, U, U, ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p,
)  # fmt: skip


def test_values_grid_and_stream_arrive() -> None:
    seen = []

    def driver(function, gx, gy, gz, bx, by, bz, shared, stream, places, extra):  # type: ignore[no-untyped-def]
        kinds = (ctypes.c_uint64, ctypes.c_int32, ctypes.c_float, ctypes.c_double, ctypes.c_int64)
        read = [kind.from_address(places[i]).value for i, kind in enumerate(kinds)]
        seen.append((function, (gx, gy, gz), (bx, by, bz), shared, stream, read, extra))
        return 7

    entry = ENTRY(driver)
    address = ctypes.cast(entry, ctypes.c_void_p).value
    assert address is not None
    launcher = _core.Launcher(address, 123, 128, 4096, "Qqfdq")
    assert launcher(5, 2, 3, 77, 2**64 - 1, -5, 0.5, 0.1, -(2**63)) == 7
    assert seen == [
        (123, (5, 2, 3), (128, 1, 1), 4096, 77, [2**64 - 1, -5, 0.5, 0.1, -(2**63)], None)
    ]
    with pytest.raises(ValueError, match="another number of values"):
        launcher(1, 1, 1, 0, 1)
    with pytest.raises((TypeError, OverflowError)):
        launcher(1, 1, 1, 0, -1, 0, 0.0, 0.0, 0)
    with pytest.raises(ValueError, match="too many"):
        _core.Launcher(address, 0, 32, 0, "q" * 65)
