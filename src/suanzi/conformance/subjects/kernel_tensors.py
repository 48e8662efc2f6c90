"""Tensors of the frameworks that kernels are written for: made of data, read, and looked at.

It runs in the interpreter of the framework, which need not have suanzi.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

if __package__:
    from suanzi.conformance.subjects.wire import ITEMSIZE, Broken, Data, Unsuitable, Unsupported
else:
    from wire import ITEMSIZE, Broken, Data, Unsuitable, Unsupported


def _array(data: Data) -> np.ndarray:
    if data.dtype == "bool" or hasattr(np, data.dtype):
        dtype = np.dtype(data.dtype)
    else:
        import ml_dtypes

        if not hasattr(ml_dtypes, data.dtype):
            raise Unsupported(f"NumPy has no {data.dtype}")
        dtype = np.dtype(getattr(ml_dtypes, data.dtype))
    return np.frombuffer(bytearray(data.raw), dtype).reshape(data.shape)


def _forward(made: Any, kind: type, out_grad: Any) -> Any:
    """Return the first result of a kernel, to which a gradient is given."""
    first = made[0] if isinstance(made, (tuple, list)) and made else made
    if not isinstance(first, kind):
        raise Broken(f"JD102: the kernel returns a {type(first).__name__}, not a tensor")
    if tuple(first.shape) != tuple(out_grad.shape) or first.dtype != out_grad.dtype:
        came = f"{first.dtype} of shape {tuple(first.shape)}"
        raise Broken(
            f"JD103: the result is {came}, not {out_grad.dtype} of shape {tuple(out_grad.shape)}"
        )
    return first


def _data(array: np.ndarray) -> Data:
    name = array.dtype.name
    if name not in ITEMSIZE:
        raise Broken(f"JD103: the result has dtype {name}, which has no counterpart here")
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return Data(name, tuple(array.shape), np.ascontiguousarray(native).tobytes())


class Numpy:
    """Arrays of NumPy and ml_dtypes; the other frameworks begin with it."""

    name = "numpy"

    def __init__(self, device: str | None = None) -> None:
        if device not in (None, "cpu"):
            raise Unsuitable(f"{self.name} has no device {device!r}; its tensors are on the cpu")

    def make(self, data: Data) -> Any:
        return _array(data)

    def read(self, x: Any) -> Data:
        return _data(np.asarray(x))

    def kind(self) -> tuple[type, ...]:
        return (np.ndarray, np.generic)

    def write(self, x: Any, data: Data) -> bool:
        """Write other elements into a tensor; False if this framework's tensors cannot change."""
        x[...] = _array(data)
        return True

    def addresses(self, x: Any) -> tuple[int, int]:
        """Return where the memory of a tensor begins and ends; the same twice if unknown."""
        if not isinstance(x, np.ndarray) or not x.size:
            return 0, 0
        return (
            np.lib.array_utils.byte_bounds(x)
            if hasattr(np.lib, "array_utils")
            else np.byte_bounds(x)
        )

    def is_expanded(self, x: Any) -> bool:
        return any(s == 0 and n > 1 for s, n in zip(getattr(x, "strides", ()), x.shape))

    def device_of(self, x: Any) -> str:
        return "cpu"

    def poison(self, count: int) -> None:
        some = [np.full(count, 0xFF, np.uint8) for _ in range(2)]
        del some

    def synchronize(self) -> None:
        pass

    def works(self) -> bool:
        """Tell whether the device still computes: after a fault on it, nothing does."""
        try:
            self.poison(16)
            self.synchronize()
        except Exception:
            return False
        return True

    def gradients(
        self, call: Callable[..., Any], tensors: dict[str, Any], names: list[str], out_grad: Any
    ) -> tuple[Any, ...]:
        """Return the gradients of some tensors; `call` takes all of them by name."""
        raise Unsupported(
            f"JD110: {self.name} has no gradients here; torch and jax have. Judge a kernel that "
            "computes a gradient itself by the operator's name with _bwd"
        )


class Torch(Numpy):
    name = "torch"

    def __init__(self, device: str | None = None) -> None:
        import torch

        self.torch, self.device = torch, torch.device(device or "cpu")
        torch.empty(1, device=self.device)  # or it does not exist

    def _dtype(self, name: str) -> Any:
        found = getattr(self.torch, name, None)
        if found is None:
            raise Unsupported(f"PyTorch has no {name}")
        return found

    def make(self, data: Data) -> Any:
        if not data.size:
            return self.torch.empty(data.shape, dtype=self._dtype(data.dtype), device=self.device)
        flat = self.torch.frombuffer(bytearray(data.raw), dtype=self.torch.uint8)
        return flat.view(self._dtype(data.dtype)).reshape(data.shape).clone().to(self.device)

    def read(self, x: Any) -> Data:
        name = str(x.dtype).partition(".")[2]
        if name not in ITEMSIZE:
            raise Broken(f"JD103: the result has dtype {x.dtype}, which has no counterpart here")
        plain = x.detach().cpu().contiguous().reshape(-1)
        raw = plain.view(self.torch.uint8).numpy().tobytes() if plain.numel() else b""
        return Data(name, tuple(x.shape), raw)

    def kind(self) -> tuple[type, ...]:
        return (self.torch.Tensor,)

    def write(self, x: Any, data: Data) -> bool:
        x.detach().copy_(self.make(data))
        return True

    def addresses(self, x: Any) -> tuple[int, int]:
        storage = x.untyped_storage()
        return storage.data_ptr(), storage.data_ptr() + storage.nbytes()

    def is_expanded(self, x: Any) -> bool:
        return any(s == 0 and n > 1 for s, n in zip(x.stride(), x.shape))

    def device_of(self, x: Any) -> str:
        return str(x.device.type)

    def poison(self, count: int) -> None:
        some = [
            self.torch.full((count,), 255, dtype=self.torch.uint8, device=self.device) for _ in "ab"
        ]
        del some

    def synchronize(self) -> None:
        kind = getattr(self.torch, self.device.type, None)
        if self.device.type != "cpu" and hasattr(kind, "synchronize"):
            kind.synchronize()

    def gradients(
        self, call: Callable[..., Any], tensors: dict[str, Any], names: list[str], out_grad: Any
    ) -> tuple[Any, ...]:
        # Leaves of the same memory: what is cached by address stays visible.
        leaves = {n: x.detach().requires_grad_(n in names) for n, x in tensors.items()}
        with self.torch.enable_grad():
            made = _forward(call(leaves), self.torch.Tensor, out_grad)
            if not made.requires_grad:
                raise Broken("JD110: the result does not depend on its inputs (it is detached)")
            wanted = [leaves[n] for n in names]
            found = self.torch.autograd.grad(made, wanted, out_grad, allow_unused=True)
        missing = [n for n, x in zip(names, found) if x is None]
        if missing:
            raise Broken(f"JD110: the result does not depend on {missing[0]} (it is detached)")
        return found


class Jax(Numpy):
    name = "jax"

    def __init__(self, device: str | None = None) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax, self.device = jax, jax.devices(device)[0] if device else jax.devices()[0]

    def make(self, data: Data) -> Any:
        return self.jax.device_put(_array(data), self.device)

    def kind(self) -> tuple[type, ...]:
        return (self.jax.Array, np.ndarray, np.generic)

    def write(self, x: Any, data: Data) -> bool:
        return False

    def addresses(self, x: Any) -> tuple[int, int]:
        return 0, 0  # arrays do not change: a result may share memory

    def is_expanded(self, x: Any) -> bool:
        return False

    def device_of(self, x: Any) -> str:
        return self.device.platform

    def poison(self, count: int) -> None:
        pass

    def works(self) -> bool:
        try:
            made = self.jax.device_put(np.ones(2, np.float32), self.device) + 1
            return float(made.sum()) == 4
        except Exception:
            return False

    def gradients(
        self, call: Callable[..., Any], tensors: dict[str, Any], names: list[str], out_grad: Any
    ) -> tuple[Any, ...]:
        def some(*wanted: Any) -> Any:
            made = call({**tensors, **dict(zip(names, wanted))})
            return _forward(made, self.jax.Array, out_grad)

        _, pull = self.jax.vjp(some, *(tensors[n] for n in names))
        return pull(out_grad)


class Suanzi(Numpy):
    name = "suanzi"

    def __init__(self, device: str | None = None) -> None:
        super().__init__(device)
        from suanzi.tensors.make import tensor
        from suanzi.tensors.tensor import Tensor

        self.tensor, self.type = tensor, Tensor

    def make(self, data: Data) -> Any:
        return self.tensor(_array(data))

    def read(self, x: Any) -> Data:
        return Data(x.dtype.name, tuple(x.shape), np.ascontiguousarray(x.numpy()).tobytes())

    def kind(self) -> tuple[type, ...]:
        return (self.type,)

    def write(self, x: Any, data: Data) -> bool:
        return False

    def addresses(self, x: Any) -> tuple[int, int]:
        return super().addresses(x.numpy()) if x.size else (0, 0)

    def is_expanded(self, x: Any) -> bool:
        return any(s == 0 and n > 1 for s, n in zip(x.strides, x.shape))


class Cupy(Numpy):
    name = "cupy"

    def __init__(self, device: str | None = None) -> None:
        import cupy

        self.cupy = cupy

    def make(self, data: Data) -> Any:
        array = _array(data)
        if array.dtype.kind == "V" or array.dtype.name not in ("bool", *np.sctypeDict):
            raise Unsupported(f"CuPy has no {data.dtype}")
        return self.cupy.asarray(array)

    def read(self, x: Any) -> Data:
        return _data(self.cupy.asnumpy(x))

    def kind(self) -> tuple[type, ...]:
        return (self.cupy.ndarray,)

    def write(self, x: Any, data: Data) -> bool:
        x[...] = self.make(data)
        return True

    def addresses(self, x: Any) -> tuple[int, int]:
        return x.data.ptr, x.data.ptr + x.nbytes

    def device_of(self, x: Any) -> str:
        return "cuda"

    def poison(self, count: int) -> None:
        some = [self.cupy.full((count,), 255, dtype=np.uint8) for _ in "ab"]
        del some

    def synchronize(self) -> None:
        self.cupy.cuda.runtime.deviceSynchronize()


class _ByFloat32(Numpy):
    """A framework that takes bfloat16 from float32 only: the conversion is exact."""

    module: Any

    def __init__(self, device: str | None = None) -> None:
        self.module = importlib.import_module(self.name)

    def _tensor(self, array: np.ndarray) -> Any:
        raise NotImplementedError

    def make(self, data: Data) -> Any:
        array = _array(data)
        if data.dtype != "bfloat16":
            return self._tensor(array)
        return self._tensor(array.astype(np.float32)).astype(self.module.bfloat16)

    def read(self, x: Any) -> Data:
        name = str(x.dtype).rpartition(".")[2].lower()
        if name != "bfloat16":
            return _data(np.asarray(x.numpy() if self.name == "paddle" else x.asnumpy()))
        import ml_dtypes

        wide = x.astype(self.module.float32)
        array = wide.numpy() if self.name == "paddle" else wide.asnumpy()
        return _data(array.astype(ml_dtypes.bfloat16))

    def write(self, x: Any, data: Data) -> bool:
        return False

    def addresses(self, x: Any) -> tuple[int, int]:
        return 0, 0

    def is_expanded(self, x: Any) -> bool:
        return False

    def poison(self, count: int) -> None:
        pass


class Paddle(_ByFloat32):
    name = "paddle"

    def _tensor(self, array: np.ndarray) -> Any:
        return self.module.to_tensor(array)

    def kind(self) -> tuple[type, ...]:
        return (self.module.Tensor,)


class Mindspore(_ByFloat32):
    name = "mindspore"

    def _tensor(self, array: np.ndarray) -> Any:
        return self.module.Tensor(array)

    def kind(self) -> tuple[type, ...]:
        return (self.module.Tensor,)


FRAMEWORKS_BY_NAME = {c.name: c for c in (Torch, Jax, Cupy, Paddle, Mindspore, Suanzi, Numpy)}
