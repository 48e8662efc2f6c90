"""Which subject a title names: suanzi, a framework, a C library, an adapter of one's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from suanzi.base.device import TORCH, TORCH_ALONE, Device
from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument
from suanzi.conformance.model.titles import on_device
from suanzi.conformance.running.process import Backend

FRAMEWORKS = ("numpy", "torch", "jax", "paddle", "mindspore", "openvino")
"""The frameworks that the kit has an adapter of."""
LIBRARIES = (".so", ".dylib", ".dll")
"""How the name of a C library ends."""

C_ADAPTER = "c_adapter:Adapter"
"""The kit's adapter of C libraries."""
_OTHER_NAMES = {"embedded": "suanzi", "pytorch": "torch", "np": "numpy"}


DEVICES = ("cpu", "cluster", "torch:cpu", "cuda")
"""Where suanzi itself can be tested against the standard; other devices of PyTorch likewise."""
ON_DEVICES = {"torch": "cuda, cuda:1, npu, xpu, mps", "jax": "cuda, cuda:1, tpu"}
"""The frameworks that can be tested on a device, and some of their devices."""


def backend(
    title: str, python: str | None = None, device: str | None = None, command: str = "check"
) -> Backend:
    """Return the subject that a title names, and how its process is started.

    The interpreter is the given one; for a framework, the one that an environment variable such as
    SUANZI_PYTHON_TORCH names; else this one. The framework itself knows which devices it has.

    >>> backend("numpy").adapter
    'frameworks.numpy_adapter:Adapter'
    >>> backend("torch", device="cuda:1").title
    'torch on cuda:1'
    >>> backend("package.module:Adapter", "python3.12").python
    'python3.12'
    """
    name = _OTHER_NAMES.get(title.strip().lower(), title.strip())
    if device not in (None, "cpu"):
        return _on_device(name, python, str(device).strip().lower(), command)
    if name == "suanzi":
        return Backend("suanzi", "suanzi_adapter:Adapter", python or sys.executable)
    if name.lower() in FRAMEWORKS:
        name = name.lower()
        named = os.environ.get(f"SUANZI_PYTHON_{name.upper()}")
        return Backend(
            name, f"frameworks.{name}_adapter:Adapter", python or named or sys.executable
        )
    if name.lower().endswith(LIBRARIES):
        return _library(title, python, command)
    if _is_adapter(name):
        return Backend(name, name, python or sys.executable)
    raise InvalidArgument(
        f"{command}: {title!r} is not a backend; use suanzi, {', '.join(FRAMEWORKS)}, the path of "
        f"a C library ({', '.join(LIBRARIES)}) or package.module:Adapter."
        + nearest(name, ("suanzi", *FRAMEWORKS, *_OTHER_NAMES))
    )


def _on_device(name: str, python: str | None, device: str, command: str) -> Backend:
    if name == "suanzi" and device == "cluster":
        return Backend(on_device(name, device), "cluster_adapter:Adapter", python or sys.executable)
    if name == "suanzi" and device.partition(":")[0] in (TORCH, *TORCH_ALONE):
        title, place = on_device(name, str(Device(device))), {"device": str(Device(device))}
        return Backend(title, "device_adapter:Adapter", python or sys.executable, place)
    if name.lower() in ON_DEVICES:
        subject = backend(name, python)
        title = on_device(subject.title, device)
        return Backend(title, subject.adapter, subject.python, {"device": device})
    known = {"suanzi": ", ".join(DEVICES), **ON_DEVICES}
    some = "; ".join(f"{one}: {devices}" for one, devices in known.items())
    raise InvalidArgument(
        f"{command}: {name} is not tested on a device {device!r}; --device is for {some}."
    )


def _library(title: str, python: str | None, command: str) -> Backend:
    path = Path(title.strip()).expanduser().absolute()
    if not path.is_file():
        there = [p.name for p in path.parent.glob("*") if p.name.endswith(LIBRARIES)]
        raise InvalidArgument(
            f"{command}: library {str(path)!r} does not exist.{nearest(path.name, there)}"
        )
    options = {"path": str(path)}
    return Backend(title.strip(), C_ADAPTER, python or sys.executable, options)


def _is_adapter(name: str) -> bool:
    module, mark, made = name.partition(":")
    return bool(mark) and all(part.isidentifier() for part in (*module.split("."), made))
