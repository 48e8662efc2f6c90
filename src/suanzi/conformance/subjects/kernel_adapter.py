"""A kernel as a subject: a Python function that takes tensors of some framework and returns some.

It runs in the interpreter of the framework, which need not have suanzi, or beside the judge. Every
call is watched: its inputs must stay, its results must be tensors of their own memory, on the right
device, complete. What is wrong is said with the code of a finding, as in ``JD104: ...``.

Inputs of one shape and dtype use the same memory in every call, with other elements: a kernel that
caches its results by address gives stale ones. Memory that a result may be made of is filled with
NaN first.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

if __package__:
    from suanzi.conformance.subjects.wire import ITEMSIZE, Broken, Data, Unsupported
else:
    from wire import ITEMSIZE, Broken, Data, Unsupported

FRAMEWORKS = ("torch", "jax", "cupy", "paddle", "mindspore", "suanzi", "numpy")
_ALSO = {"triton": "torch", "jaxlib": "jax", "flax": "jax", "torch_npu": "torch"}
_NOT_TENSORS = (str, bytes, dict, set)


def framework_of(kernel: Any) -> str:
    """Return the framework of a kernel: that of its module, or of the modules that it names."""
    while isinstance(kernel, functools.partial):
        kernel = kernel.func
    kernel = inspect.unwrap(kernel) if callable(kernel) else kernel
    home = getattr(kernel, "__module__", None) or type(kernel).__module__
    found = _known(home)
    function = kernel if hasattr(kernel, "__code__") else vars(type(kernel)).get("__call__")
    names = getattr(function, "__globals__", {})
    used = getattr(getattr(function, "__code__", None), "co_names", ())
    some = [names[name] for name in used if name in names] + list(names.values())
    for value in some if found is None else ():
        module = getattr(value, "__name__", "") if inspect.ismodule(value) else None
        found = found or _known(module or getattr(value, "__module__", None) or "")
    if found is None and any(_known(c.__module__) for c in type(kernel).__mro__):
        found = next(filter(None, (_known(c.__module__) for c in type(kernel).__mro__)))
    return found or "numpy"


def framework_of_tensor(x: Any) -> str:
    """Return the framework of a tensor; a list or a number is NumPy's."""
    found = [_known(c.__module__) for c in type(x).__mro__]
    return next(filter(None, found), "numpy")


def _known(module: str) -> str | None:
    first = module.partition(".")[0]
    first = _ALSO.get(first, first)
    return first if first in FRAMEWORKS else None


# ---- tensors of frameworks ----------------------------------------------------------------------


def _array(data: Data) -> np.ndarray:
    if hasattr(np, data.dtype) or data.dtype == "bool":
        dtype = np.dtype(data.dtype)
    else:
        import ml_dtypes

        if not hasattr(ml_dtypes, data.dtype):
            raise Unsupported(f"NumPy has no {data.dtype}")
        dtype = np.dtype(getattr(ml_dtypes, data.dtype))
    return np.frombuffer(bytearray(data.raw), dtype).reshape(data.shape)


def _data(array: np.ndarray) -> Data:
    name = array.dtype.name
    if name not in ITEMSIZE:
        raise Broken(f"JD103: the result has dtype {name}, which has no counterpart here")
    return Data(name, tuple(array.shape), np.ascontiguousarray(array).tobytes())


class Numpy:
    """Arrays of NumPy and ml_dtypes; the other frameworks begin with it."""

    name = "numpy"

    def __init__(self, device: str | None = None) -> None:
        if device not in (None, "cpu"):
            raise Unsupported(f"{self.name} has no device {device!r} here")

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


class Torch(Numpy):
    name = "torch"

    def __init__(self, device: str | None = None) -> None:
        import torch

        self.torch, self.device = torch, torch.device(device or "cpu")

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


class Suanzi(Numpy):
    name = "suanzi"

    def __init__(self, device: str | None = None) -> None:
        super().__init__(device)
        import suanzi

        self.suanzi = suanzi

    def make(self, data: Data) -> Any:
        return self.suanzi.tensor(_array(data))

    def read(self, x: Any) -> Data:
        return Data(x.dtype.name, tuple(x.shape), np.ascontiguousarray(x.numpy()).tobytes())

    def kind(self) -> tuple[type, ...]:
        return (self.suanzi.Tensor,)

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


_CLASSES = {c.name: c for c in (Torch, Jax, Cupy, Paddle, Mindspore, Suanzi, Numpy)}


# ---- the adapter --------------------------------------------------------------------------------


def load(file: str, name: str) -> Callable[..., Any]:
    """Return a function of a file, ``kernels.py::my_softmax``; a dotted name goes into classes."""
    folder, base = os.path.split(os.path.abspath(file))
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(os.path.splitext(base)[0], file)
    if spec is None or spec.loader is None:
        raise TypeError(f"{file} is not a file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except SystemExit as error:
        raise TypeError(f"{file} ends the interpreter when it is imported ({error})") from None
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            known = sorted(n for n, v in vars(found).items() if callable(v) and n[:1] != "_")
            raise TypeError(f"{file} has no {part}; it has {', '.join(known) or 'no functions'}")
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{name} of {file} is a {type(found).__name__}, not a function")
    return found


def _command(text: str) -> Callable[..., Any]:
    """Return a program as a kernel: it reads .npy files and writes one.

    Numbers that .npy files do not know, as bfloat16, are there as the integers of their bits.
    """

    def run(*arrays: np.ndarray) -> np.ndarray:
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for i, array in enumerate(arrays):
                files.append(os.path.join(folder, f"input{i}.npy"))
                np.save(files[-1], _as_bits(array))
            output = os.path.join(folder, "output.npy")
            words = text.replace("{inputs}", " ".join(map(shlex.quote, files)))
            words = words.replace("{output}", shlex.quote(output))
            done = subprocess.run(words, shell=True, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"exit status {done.returncode}: {done.stderr.strip()[-500:]}")
            if not os.path.exists(output):
                raise RuntimeError("the command wrote no output")
            made = np.load(output)
        first = arrays[0].dtype
        same = made.dtype != first and first.kind == "V" and made.dtype.itemsize == first.itemsize
        return made.view(first) if same else made

    return run


def _as_bits(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind != "V":
        return array
    return array.view({1: np.uint8, 2: np.uint16}[array.dtype.itemsize])


class Adapter:
    """A kernel."""

    version = ""
    rules = "strict"
    statuses = False

    def __init__(
        self,
        kernel: Callable[..., Any] | None = None,
        file: str = "",
        function: str = "",
        framework: str | None = None,
        device: str | None = None,
        command: str | None = None,
    ) -> None:
        if command is not None:
            kernel, framework = _command(command), "numpy"
        self.kernel = load(file, function) if kernel is None else kernel
        self.name = getattr(self.kernel, "__name__", type(self.kernel).__name__)
        chosen = framework or framework_of(self.kernel)
        if chosen not in _CLASSES:
            raise TypeError(f"{chosen} is not a framework; there are {', '.join(_CLASSES)}")
        self.framework: Any = _CLASSES[chosen](device)
        self.notes = [chosen, *self.accepted()]
        self._memory: dict[tuple[str, tuple[int, ...], int], Any] = {}
        self._taken: dict[tuple[str, tuple[int, ...]], int] = {}

    def accepted(self) -> list[str]:
        """Return the names of the parameters that the kernel takes; ``*`` and ``**`` for any."""
        try:
            parameters = inspect.signature(self.kernel).parameters.values()
        except (TypeError, ValueError):
            return ["?"]
        marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        return [
            marks.get(p.kind, "") + ("" if p.kind in marks else p.name)
            + ("/" if p.kind is inspect.Parameter.POSITIONAL_ONLY else "")
            + ("=" if p.default is not inspect.Parameter.empty else "")
            for p in parameters
        ]  # fmt: skip

    def _has(self, name: str, after: int) -> bool:
        """Tell whether the kernel takes a parameter by its name, behind so many tensors."""
        own = [one.rstrip("=/") for one in self.notes[1:]]
        return "**" in own or name in [n for n in own if not n.startswith("*")][after:]

    def create(self, data: Data) -> Any:
        """Make a tensor, in memory that was used before for another of its shape."""
        if data.sparse is not None or data.scale is not None or data.layout != "dense":
            raise Unsupported("the judge uses dense tensors")
        same = (data.dtype, data.shape)
        number = self._taken[same] = self._taken.get(same, 0) + 1
        kept = self._memory.get((*same, number))
        if kept is not None and self.framework.write(kept, data):
            return kept
        made = self.framework.make(data)
        self._memory[(*same, number)] = made
        return made

    def read(self, x: Any) -> Data:
        """Read a tensor."""
        return x if isinstance(x, Data) else self.framework.read(x)

    def status(self, error: Exception) -> None:
        """A kernel has no status codes."""

    def call(self, op: str, arguments: dict[str, Any]) -> Any:
        """Call the kernel: tensors in order, then parameters by name; and watch it."""
        self._taken.clear()
        tensors = {n: x for n, x in arguments.items() if isinstance(x, self.framework.kind())}
        named = {
            n: x for n, x in arguments.items() if n not in tensors and self._has(n, len(tensors))
        }
        before = {name: self.framework.read(x).raw for name, x in tensors.items()}
        self.framework.poison(max([len(raw) for raw in before.values()] or [64]))
        made = self.kernel(*tensors.values(), **named)
        self.framework.synchronize()
        outputs = made if isinstance(made, tuple) else (made,)
        found = tuple(self._checked(x, tensors) for x in outputs)
        for name, x in tensors.items():
            if self.framework.read(x).raw != before[name]:
                raise Broken(f"JD104: the kernel changes its input {name}")
        return found

    def _checked(self, x: Any, tensors: dict[str, Any]) -> Any:
        kind = self.framework.kind()
        if isinstance(x, (bool, int, float)) and not isinstance(x, np.generic):
            raise Broken(f"JD102: the kernel returns a {type(x).__name__}, not a tensor")
        if not isinstance(x, kind):
            words = f"{type(x).__name__}, not a tensor of {self.framework.name}"
            raise Broken(f"JD102: the kernel returns a {words}")
        plain = [c for c in kind if type(x) is c] or type(x).__name__ in ("Parameter", "ArrayImpl")
        if not plain and not isinstance(x, np.generic):
            raise Broken(f"JD106: a {type(x).__name__} is a subclass that may compute later")
        place = {self.framework.device_of(t) for t in tensors.values()}
        if place and self.framework.device_of(x) not in place:
            here = self.framework.device_of(x)
            raise Broken(f"JD105: the result is on {here}, the inputs on {', '.join(place)}")
        first, last = self.framework.addresses(x)
        for name, t in tensors.items():
            start, end = self.framework.addresses(t)
            if first < end and start < last:
                raise Broken(f"JD107: the result uses the memory of the input {name}")
        if np.prod(x.shape) > 1 and self.framework.is_expanded(x):
            raise Broken("JD108: the result is expanded: one element in memory is several of it")
        return self.framework.read(x)
