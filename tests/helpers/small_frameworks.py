"""Small modules that stand for Paddle and MindSpore, and their programs, recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from suanzi.port import run_program
from suanzi.recording.calls import Calls

TENSOR = """
RANK = ["bool", "int32", "int64", "float16", "float32", "float64"]


class DType(str):
    def __str__(self):
        return "{prefix}" + self.{case}()


class Tensor:
    def __init__(self, dtype="float32", ndim=1):
        self.dtype, self.ndim = DType("".join(dtype)), ndim

    def __add__(self, other):
        return add(self, other)

    __radd__ = __add__

    def __lt__(self, other):
        return Tensor("bool", self.ndim)

    def exp(self):
        return Tensor(self.dtype, self.ndim)

    def __len__(self):
        return 3

    def _private(self):
        return Tensor()


def add(x, y, name=None):
    other = y.dtype if isinstance(y, Tensor) else "float32" if isinstance(y, float) else "bool"
    return Tensor(max(x.dtype, other, key=RANK.index), x.ndim)


def multiply(x, y):
    return add(x, y)


def mixed(x, y):
    return Tensor("float16")


def ones(shape, dtype="float32"):
    return Tensor(dtype, len(shape))


def numel(x):
    return Tensor("int64", 0)


def broken(x):
    raise RuntimeError("no kernel\\n  in some file")
"""
PADDLE = """
from types import ModuleType

from paddle.tensor import *

__version__ = "3.99"
nn = ModuleType("paddle.nn")
nn.functional, linalg, fft, signal, _C_ops = map(ModuleType, "abcde")


def add_(self, y):
    self.dtype = add(self, y).dtype
    return self


def composite(x, y):
    return _C_ops.multiply(x, y).exp()


_C_ops.multiply = multiply
Tensor.add_ = add_
Tensor.detach = lambda self: Tensor(self.dtype, self.ndim)
"""
MINDSPORE = """
from types import ModuleType

from mindspore.ops import *

__version__ = "2.99"
PYNATIVE_MODE, GRAPH_MODE = 1, 0
mode, said = GRAPH_MODE, []
mint, context, runtime = map(ModuleType, ["mint", "context", "runtime"])
mint.nn, mint.linalg, mint.special = map(ModuleType, "abc")
mint.nn.functional = ModuleType("d")
mint.add, runtime.launch_blocking = add, lambda: None


class Parameter(Tensor):
    pass


def set_context(mode=None, device=None):
    if mode is not None:
        globals()["mode"] = mode
    said.append(device)


def get_context(what):
    return mode


context.set_context = set_context
"""
PRIMITIVE = """
class Primitive:
    def __init__(self, name):
        self.name = name

    def __call__(self, x, y):
        import mindspore
        return mindspore.add(x, y)


class Special(Primitive):
    def __call__(self, x, y):
        return super().__call__(x, y)
"""


@pytest.fixture
def frameworks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Modules by the names of the frameworks, which the recorder finds first."""
    tensor = {
        "paddle": TENSOR.replace("{prefix}", "paddle.").replace("{case}", "lower"),
        "mindspore": TENSOR.replace("{prefix}", "").replace("{case}", "capitalize"),
    }
    files = {
        "paddle/__init__.py": PADDLE,
        "paddle/tensor.py": tensor["paddle"],
        "mindspore/__init__.py": MINDSPORE,
        "mindspore/ops/__init__.py": tensor["mindspore"],
        "mindspore/ops/primitive.py": PRIMITIVE,
    }
    for name, text in files.items():
        path = tmp_path / "env" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "env"))
    return tmp_path


def recorded(folder: Path, framework: str, text: str) -> Calls:
    program = folder / "program.py"
    program.write_text(text)
    return run_program(str(program), ["--n", "3"], framework=framework)
