"""Subjects that do what none may: end the process, never answer, talk out of turn."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from typing import Any

from suanzi.conformance.subjects.suanzi_adapter import Adapter as Right


class Adapter(Right):
    """What happens depends on the operator."""

    name = "wrong"

    def call(self, op: str, arguments: dict[str, Any]) -> Any:
        if op == "sub":
            ctypes.string_at(0)
        if op == "mul":
            time.sleep(60)
        if op == "div":
            sys.exit(7)
        if op == "max":
            os.kill(os.getpid(), 9)
        if op == "min":
            raise SystemError("the driver is gone")
        if op == "abs":
            print('{"id": 1, "status": "SUCCESS", "outputs": []}', flush=True)
            os.write(1, b"noise on the way\n")
        if op == "reciprocal":
            return "SUCCESS", object()
        if op == "mod":
            return None
        return super().call(op, arguments)


class NotThere:
    """An adapter of something that is not installed."""

    def __init__(self) -> None:
        raise ImportError("No module named 'chip'")


class Broken:
    """An adapter that cannot be made."""

    def __init__(self) -> None:
        raise RuntimeError("the device is busy")


class Dying:
    """An adapter whose process ends while it is made."""

    def __init__(self) -> None:
        os.abort()


class Bare:
    """As little as an adapter can have: NumPy's addition, and no more."""

    name = "bare"

    def create(self, data: Any) -> Any:
        import numpy as np

        if data.dtype not in ("float32", "int32") or data.layout != "dense":
            raise self.unsupported(f"it has no {data.dtype} in the layout {data.layout}")
        return np.frombuffer(data.raw, data.dtype).reshape(data.shape)

    def read(self, x: Any) -> Any:
        from suanzi.conformance.subjects.wire import Data

        return Data(x.dtype.name, x.shape, x.tobytes())

    def call(self, op: str, arguments: dict[str, Any]) -> Any:
        if op != "add":
            raise self.unsupported(f"it has no {op}")
        return arguments["x"] + arguments["y"]

    def status(self, error: Exception) -> str:
        return "INVALID_ARGUMENT"

    def unsupported(self, why: str) -> Exception:
        from suanzi.conformance.subjects.wire import Unsupported

        return Unsupported(why)
