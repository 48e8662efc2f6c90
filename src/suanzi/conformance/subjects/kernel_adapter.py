"""A kernel as a subject: a Python function that takes tensors of some framework and returns some.

It runs in the interpreter of the framework, which need not have suanzi, or in the judge's own.
Every call is watched: its inputs must stay, its results must be tensors of their own memory, on the
right device, complete. What is wrong is said with the code of a finding, as in ``JD104: ...``.

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
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

if __package__:
    from suanzi.base import triton_interpreter
    from suanzi.conformance.subjects.kernel_tensors import FRAMEWORKS_BY_NAME
    from suanzi.conformance.subjects.wire import Broken, Data, Unsuitable, Unsupported
else:
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../base"))
    import triton_interpreter

    sys.path.pop()
    from kernel_tensors import FRAMEWORKS_BY_NAME
    from wire import Broken, Data, Unsuitable, Unsupported

FRAMEWORKS = ("torch", "jax", "cupy", "paddle", "mindspore", "suanzi", "numpy")
_ALSO = {"triton": "torch", "jaxlib": "jax", "flax": "jax", "torch_npu": "torch"}
_NOT_TENSORS = (str, bytes, dict, set)
_FAULTS = (
    "illegal memory access", "illegaladdress", "illegal_address", "misaligned address",
    "device-side assert", "unspecified launch failure", "an illegal instruction was encountered",
    "hardware stack error", "uncorrectable ecc", "cudaerrorlaunchfailure", "memory access fault",
    "aicore exception", "vector core exception",
)  # fmt: skip
"""What runtimes say of a fault after which the device refuses everything."""
_VIEWS = frozenset((
    "contiguous", "crop", "expand", "expand_dims", "flatten", "flip", "meshgrid", "reshape",
    "reverse", "slice", "split", "squeeze", "transpose", "unstack", "conj", "real", "imag",
    "nn:pixel_shuffle",
    "nn:pixel_unshuffle",
))  # fmt: skip
"""Operators that move no element or only choose some: a view of the input is a right result."""


_NUMBERS = ("size", "rank")
"""Operators whose result is a number of Python."""
_ABSENT = ("qr",)
"""Operators of which a mode has one output less: None is in its place."""


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


def names_of(accepted: list[str]) -> list[str]:
    """Return the names of a kernel's parameters without their marks."""
    return [one.rstrip("=/!") for one in accepted if not one.startswith("*")]


def count_in_order(tensors: list[str], accepted: list[str]) -> int:
    """Return how many tensors go by position: all but the last ones that are optional there.

    A tensor whose name is that of a parameter with a default, or by name alone, goes by its name.
    Where a kernel has the names of all tensors in another order, it gets them by these names.
    """
    free = [one.rstrip("=!") for one in accepted if "/" not in one and not one.startswith("*")]
    if set(tensors) <= set(free) and tensors != free[: len(tensors)]:
        same = [a == b for a, b in zip(tensors, free)]
        return same.index(False) if False in same else len(tensors)
    by_name = [one.rstrip("=/!") for one in accepted if "/" not in one and one[-1] in "=!"]
    count = len(tensors)
    while count and tensors[count - 1] in by_name:
        count -= 1
    return count


# ---- the adapter --------------------------------------------------------------------------------


def load(file: str, name: str) -> Callable[..., Any]:
    """Return a function of a file, ``kernels.py::my_softmax``; a dotted name goes into classes."""
    folder, base = os.path.split(os.path.abspath(file))
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(os.path.splitext(base)[0], file)
    if spec is None or spec.loader is None:
        raise Unsuitable(f"{file} is not a file of Python; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except SystemExit as error:
        raise Unsuitable(f"{file} ends the interpreter when it is imported ({error})") from None
    except ImportError:
        raise
    except Exception as error:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
        at = getattr(error, "lineno", None) or (lines or ["?"])[-1]
        words = getattr(error, "msg", None) or error
        raise Unsuitable(
            f"{file}, line {at}, fails when it is imported: {type(error).__name__}: {words}"
        ) from None
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            known = sorted(n for n, v in vars(found).items() if callable(v) and n[:1] != "_")
            raise Unsuitable(f"{file} has no {part}; it has {', '.join(known) or 'no functions'}")
        found = getattr(found, part)
    if not callable(found):
        raise Unsuitable(f"{name} of {file} is of type {type(found).__name__}, not a function")
    return found


def _ending(code: int) -> str:
    """Say how a program ended; a shell adds 128 to the signal that ended one."""
    number = -code if code < 0 else code - 128
    if number in set(signal.Signals):
        return f"signal {signal.Signals(number).name}"
    return f"exit status {code}"


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
                words = done.stderr.strip()[-500:]
                raise RuntimeError(f"{_ending(done.returncode)}{': ' if words else ''}{words}")
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


def _limit_memory(most: int) -> None:
    """Let this process have so many bytes: an allocation without end fails, and nothing else."""
    try:
        import resource
    except ImportError:  # on Windows
        return
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _framework(name: str, device: str | None) -> Any:
    try:
        return FRAMEWORKS_BY_NAME[name](device)
    except (RuntimeError, AssertionError, ValueError, TypeError) as error:
        words = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise Unsuitable(f"{name} has no device {device!r} here: {words}") from None


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
        gradients: list[str] | None = None,
        memory: int | None = None,
    ) -> None:
        """Take a kernel, or load it; `gradients` are the inputs whose gradients are asked for."""
        self.gradients = gradients
        if memory is not None:
            _limit_memory(memory)
        if command is not None:
            kernel, framework = _command(command), "numpy"
        self.kernel = load(file, function) if kernel is None else kernel
        self.name = getattr(self.kernel, "__name__", type(self.kernel).__name__)
        chosen = framework or framework_of(self.kernel)
        if chosen not in FRAMEWORKS_BY_NAME:
            raise Unsuitable(
                f"{chosen!r} is not a framework; there are {', '.join(FRAMEWORKS_BY_NAME)}"
            )
        self.framework: Any = _framework(chosen, device)
        self.notes = [chosen, *self.accepted()]
        self._memory: dict[tuple[str, tuple[int, ...], int], Any] = {}
        self._taken: dict[tuple[str, tuple[int, ...]], int] = {}

    def accepted(self) -> list[str]:
        """Return the names of the parameters that the kernel takes; ``*`` and ``**`` for any.

        Marks follow a name: ``/`` by position alone, ``!`` by name alone, ``=`` with a default.
        """
        try:
            parameters = list(inspect.signature(self.kernel).parameters.values())
            forward = getattr(self.kernel, "forward", None)
            if callable(forward) and all(
                p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters
            ):
                parameters = list(inspect.signature(forward).parameters.values())  # torch.nn.Module
        except (TypeError, ValueError):
            return ["?"]
        marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        return [
            marks.get(p.kind, "") + ("" if p.kind in marks else p.name)
            + ("/" if p.kind is inspect.Parameter.POSITIONAL_ONLY else "")
            + ("!" if p.kind is inspect.Parameter.KEYWORD_ONLY else "")
            + ("=" if p.default is not inspect.Parameter.empty else "")
            for p in parameters
        ]  # fmt: skip

    def _placed(
        self, tensors: dict[str, Any], arguments: dict[str, Any]
    ) -> tuple[list[str], list[str]]:
        """Return the arguments that the kernel gets by position and by name."""
        own = self.notes[1:]
        in_order = list(tensors)[: count_in_order(list(tensors), own)]
        free = names_of(own)[len(in_order) :]
        return in_order, [n for n in arguments if n not in in_order and (n in free or "**" in own)]

    def create(self, data: Data) -> Any:
        """Make a tensor, in memory that was used before for another of its shape."""
        if data.sparse is not None or data.scale is not None or data.layout != "dense":
            raise Unsupported("the judge uses dense tensors")
        same = (data.dtype, data.shape)
        number = self._taken[same] = self._taken.get(same, 0) + 1
        kept = self._memory.get((*same, number))
        with self._watched():
            if kept is not None and self.framework.write(kept, data):
                return kept
            made = self.framework.make(data)
        self._memory[(*same, number)] = made
        return made

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Report a fault of the device as such: the process is of no use after it."""
        try:
            yield
        except (Broken, Unsupported, Unsuitable):
            raise
        except Exception as error:
            words = f"{type(error).__name__}: {error}"
            if any(part in words.lower() for part in _FAULTS) or not self.framework.works():
                raise Broken(f"JD004: {words[:1000]}") from error
            raise

    def read(self, x: Any) -> Data:
        """Read a tensor."""
        return x if isinstance(x, Data) else self.framework.read(x)

    def status(self, error: Exception) -> None:
        """A kernel has no status codes."""

    def call(self, op: str, arguments: dict[str, Any]) -> Any:
        """Call the kernel: tensors in order, then parameters by name; and watch it."""
        self._taken.clear()
        triton_interpreter.fix()
        with self._watched():
            if self.gradients is not None and op.endswith("_bwd"):
                return self._pulled(arguments)
            return self._forward(arguments, op in _VIEWS, op in _NUMBERS, op in _ABSENT)

    def _forward(self, arguments: dict[str, Any], views: bool, numbers: bool, absent: bool) -> Any:
        operands, tensors = self._operands(arguments)
        in_order, named = self._placed(operands, arguments)
        before = {name: self.framework.read(x).raw for name, x in tensors.items()}
        self.framework.poison(max([len(raw) for raw in before.values()] or [64]))
        made = self.kernel(*(operands[n] for n in in_order), **{n: arguments[n] for n in named})
        self.framework.synchronize()
        outputs = made if isinstance(made, (tuple, list)) else (made,)
        if numbers:
            outputs = [Data("int64", (), int(x).to_bytes(8, "little", signed=True))
                       if type(x) is int else x for x in outputs]  # fmt: skip
        found = tuple(
            x if isinstance(x, Data) or (x is None and absent) else self._checked(x, tensors, views)
            for x in outputs
        )
        for name, x in tensors.items():
            if self.framework.read(x).raw != before[name]:
                raise Broken(f"JD104: the kernel changes its input {name}")
        return found

    def _operands(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the tensors and lists of them, and all tensors by a name of their own."""
        kind, operands, tensors = self.framework.kind(), {}, {}
        for name, x in arguments.items():
            if isinstance(x, kind):
                operands[name] = tensors[name] = x
            elif isinstance(x, list) and x and isinstance(x[0], kind):
                operands[name] = x
                tensors.update({f"{name}[{i}]": one for i, one in enumerate(x)})
        return operands, tensors

    def _pulled(self, arguments: dict[str, Any]) -> Any:
        """Return the vector-Jacobian product of the kernel with `out_grad`."""
        given = {n: x for n, x in arguments.items() if n != "out_grad"}
        tensors = {n: x for n, x in given.items() if isinstance(x, self.framework.kind())}
        in_order, named = self._placed(tensors, given)
        names = [n for n in self.gradients or () if n in tensors]
        before = {n: self.framework.read(x).raw for n, x in tensors.items()}
        self.framework.poison(max([len(raw) for raw in before.values()] or [64]))

        def call(leaves: dict[str, Any]) -> Any:
            by_name = {n: leaves.get(n, given[n]) for n in named}
            return self.kernel(*(leaves[n] for n in in_order), **by_name)

        made = self.framework.gradients(call, tensors, names, arguments["out_grad"])
        self.framework.synchronize()
        for name, x in tensors.items():
            if self.framework.read(x).raw != before[name]:
                raise Broken(f"JD104: the kernel changes its input {name}")
        # A gradient may be out_grad itself, or expanded: that is how frameworks pass them on.
        return tuple(self.framework.read(x) for x in made)

    def _checked(self, x: Any, tensors: dict[str, Any], views: bool) -> Any:
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
        if views:
            return self.framework.read(x)
        first, last = self.framework.addresses(x)
        for name, t in tensors.items():
            start, end = self.framework.addresses(t)
            if first < end and start < last:
                raise Broken(f"JD107: the result uses the memory of the input {name}")
        if np.prod(x.shape) > 1 and self.framework.is_expanded(x):
            raise Broken("JD108: the result is expanded: one element in memory is several of it")
        return self.framework.read(x)
