"""Kernels that Triton compiles are loaded and started as a driver expects; here a double of it."""

from __future__ import annotations

import ctypes
import os
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

import suanzi as sz

pytest.importorskip("torch", reason="devices of PyTorch")
pytest.importorskip("triton", reason="kernels of Triton")
if os.environ.get("TRITON_INTERPRET") == "1":
    pytest.skip("TRITON_INTERPRET=1 compiles no kernel", allow_module_level=True)

import torch

from suanzi.runtimes.torch import repeating, running
from suanzi.runtimes.torch.triton import driver, launching

U, P = ctypes.c_uint, ctypes.c_void_p
ENTRY = ctypes.CFUNCTYPE(ctypes.c_int, P, U, U, U, U, U, U, U, P, ctypes.POINTER(P), P)
Floats = ctypes.POINTER(ctypes.c_float)


class Driver:
    """Adds float32, whatever kernel it was given, and refuses the first start."""

    def __init__(self) -> None:
        self.images: list[bytes] = []
        self.starts: list[tuple[Any, ...]] = []
        self.number: int | None = None
        """Which operand is a number."""
        self.refused = 0
        """How many more starts are refused."""
        self.given: list[list[int]] | None = None
        """The first five values of each start, if these alone are wanted."""
        self.cuLaunchKernel = ENTRY(self.start)

    def cuModuleLoadData(self, module: Any, image: bytes) -> int:
        self.images.append(image)
        return 0

    def cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> int:
        function._obj.value = 4711
        return 0

    def cuDeviceGet(self, handle: Any, device: int) -> int:
        return 0

    cuDevicePrimaryCtxRetain = cuDeviceGet

    def cuCtxSetCurrent(self, context: Any) -> int:
        return 0

    def start(self, function: int, *given: Any) -> int:
        grid, threads, shared, stream, places, _ = given[:3], given[3:6], *given[6:]
        self.starts.append((function, grid, threads, shared, stream))
        if len(self.starts) == 1 or self.refused:
            self.refused = 0
            return 201  # no context in this thread
        if self.given is not None:
            self.given.append([ctypes.c_int64.from_address(places[i]).value for i in range(5)])
            return 0
        x, y, out = (P.from_address(places[i]).value for i in range(3))
        if self.number is not None:
            number = (ctypes.c_float * 8)(*[ctypes.c_float.from_address(places[self.number]).value])
            number[1] = number[2] = number[0]
            x, y = (P(y).value, ctypes.addressof(number)) if self.number == 0 else (
                P(x).value, ctypes.addressof(number))  # fmt: skip
        n = ctypes.c_int32.from_address(places[3]).value
        for i in range(n):
            a, b, made = (ctypes.cast(at, Floats) for at in (x, y, out))
            made[i] = a[i] + b[i]
        return 0


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made = Driver()
    monkeypatch.setattr(driver, "_library", lambda: made)
    monkeypatch.setattr(driver, "stream", lambda device: 77)
    monkeypatch.setattr("suanzi.runtimes.torch.triton.steps.stream", lambda device: 77)
    monkeypatch.setattr("suanzi.runtimes.torch.triton.steps.has_several", lambda: False)
    monkeypatch.setattr("suanzi.runtimes.torch.triton.launching._prepared", {})
    monkeypatch.setattr(running, "_failing", set())
    monkeypatch.setattr(driver, "has_several", lambda: False)
    monkeypatch.setattr(running, "usable", lambda kind: True)
    monkeypatch.setattr(running, "eager", lambda: True)
    repeating.plans.clear()
    monkeypatch.setattr(torch.cuda, "device", lambda device: nullcontext())
    query = SimpleNamespace(query=lambda: True)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: query)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda *device: (9, 0))
    return made


def at_once(monkeypatch: pytest.MonkeyPatch, on: bool = True) -> list[Any]:
    """Let the core start kernels; return the tensors that it makes, in a list that grows."""
    made: list[Any] = []

    def empty(*given: Any) -> torch.Tensor:
        made.append(given)
        return torch.empty_strided(*given[:2], dtype=given[2])

    monkeypatch.setattr(driver, "is_quick", lambda place: on)
    monkeypatch.setattr(driver, "quick_empty", empty)
    return made


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.filterwarnings("error")
def test_a_call_is_compiled_loaded_and_started(
    double: Driver, quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = "torch:cpu"  # also where SUANZI_DEVICE is a GPU: the double reads the memory
    made_at_once = at_once(monkeypatch, quick)
    x, y = (sz.tensor([i, 2.5, 3], sz.float32, device=device) for i in range(2))
    for _ in range(3):
        made: Any = sz.add(x, y)
        assert made.tolist() == [1, 5, 6]
    assert sz.add(x[1:], y[1:]).tolist() == [5, 6]  # which are not aligned
    assert len(double.images) == 2
    assert double.images[0][:4] == b"\x7fELF"
    assert len(double.starts) == 5  # the refused one was repeated
    assert double.starts[-1] == (4711, (1, 1, 1), (128, 1, 1), 0, 77)
    assert made_at_once == [((3,), (1,), torch.float32)] * (2 * quick)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.filterwarnings("error")
def test_a_number_is_a_parameter(
    double: Driver, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_at_once = at_once(monkeypatch)
    double.number = number
    x = sz.tensor([1, 2.5, 3], sz.float32, device="torch:cpu")
    for value in (0.5, 0.5, 0.5, -2.0, -2.0):
        made: Any = sz.add(x, value) if number else sz.add(value, x)
        assert made.tolist() == [1 + value, 2.5 + value, 3 + value]
    assert len(double.starts) == 6  # the refused one was repeated
    assert len(made_at_once) == 3


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.filterwarnings("error")
def test_steps_are_started_with_addresses_and_sizes(
    double: Driver, quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_at_once = at_once(monkeypatch, quick)
    double.given = []
    x = sz.tensor([[1.0] * 32] * 3, sz.float32, device="torch:cpu")
    for _ in range(2):
        made: Any = sz.nn.softmax(x)
        places = [v.to_torch().data_ptr() for v in (x, made)]
        assert double.given[-1] == [*places, 3, 2, 2]
    assert len(double.starts) == 3
    assert len(made_at_once) == quick
    y: Any = sz.zeros((9000, 2), device="torch:cpu")
    for _ in range(2):
        found: Any = sz.reduce(y, "SUM", 0)
        (first, between, *_), (again, last, *_) = double.given[-2:]
        assert between == again
        assert y.to_torch().data_ptr() == first
        assert last == found.to_torch().data_ptr() != first
    assert len(made_at_once) == quick + 2 * quick  # the result, and what is between


@pytest.mark.filterwarnings("error")
def test_what_is_not_as_it_was_goes_the_long_way(
    double: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_at_once = at_once(monkeypatch)
    x, y = (sz.tensor([i, 2.5, 3], sz.float32, device="torch:cpu") for i in range(2))

    def known(call: Any) -> bool:
        """Return whether the core answers at once, with the right elements."""
        count = len(made_at_once)
        assert call().tolist() == [1, 5, 6]
        return len(made_at_once) > count

    call: Any = lambda: x + y  # noqa: E731
    assert [known(call) for _ in range(3)] == [False, True, True]
    assert known(lambda: sz.add(x, y))
    with sz.promotion("torch"):
        assert [known(call) for _ in range(2)] == [False, True]
    with sz.domain_errors():
        assert [known(call) for _ in range(2)] == [False, True]
    with sz.promotion("array_api"):  # whose function the symbol means
        assert not known(call)
        assert call().is_array_api
    assert known(call)
    assert not call().is_array_api
    wide = sz.tensor([9, 0, 2.5, 3], sz.float32, device="torch:cpu")
    for _ in range(2):
        assert not known(lambda: wide[1:] + y)  # which is alike, and not aligned
    assert len(double.images) == 2
    double.refused = 1
    assert known(call)  # and started again after it was refused
    with monkeypatch.context() as patch:
        patch.setattr(driver, "quick_empty", None)
        assert known(call)  # which is kept
    x.destroy()
    with pytest.raises(sz.UninitializedObject, match="x was destroyed"):
        call()
    with pytest.raises(sz.UninitializedObject, match="x was destroyed"):
        sz.add(x, y)


def test_memory_that_runs_out_is_named_by_the_long_way(
    double: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def empty(*given: Any) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    at_once(monkeypatch)
    monkeypatch.setattr(driver, "quick_empty", empty)
    x = sz.tensor([1, 2.5, 3], sz.float32, device="torch:cpu")
    for _ in range(3):  # the long way has memory
        made: Any = x + x
        assert made.tolist() == [2, 5, 6]
    monkeypatch.setattr("suanzi.runtimes.torch.triton.elements.empty", empty)
    with pytest.raises(sz.AllocFailed, match=r"add \(7.2.4.1\): not enough memory"):
        sz.add(x, x)


def test_products_and_sums_are_not_contracted_and_quotients_are_ieee() -> None:
    from suanzi.runtimes.torch.triton.kernel_text import Body, Operand, kernel_of, written
    from suanzi.runtimes.torch.triton.layouts import laid

    found = laid((4096,), [((4096,), (1,))] * 3)
    assert found is not None
    operands = (Operand(sz.float32, sz.float32),) * 3
    expression = "divided(a0 * a1 + a2, root(a1))"
    kernel = kernel_of(written(Body(operands, expression, sz.float32, sz.float32), found.pattern))
    seen = [("*fp32", True)] * 4 + [("i32", True)]
    made, types = launching.compiled(kernel, seen, dict(found.constants), (9, 0), 4)
    text = made.asm["ptx"]
    assert types == ["*fp32"] * 4 + ["i32"]
    assert "div.rn.f32" in text
    assert "sqrt.rn.f32" in text
    assert "ld.global.v4" in text
    assert "fma" not in text
    assert "approx" not in text
    assert "ftz" not in text


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize(("mode", "word"), [("MAX", "max"), ("MIN", "min")])
def test_extremes_of_columns_are_the_gpus_own(
    double: Driver, mode: str, word: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    compiled = launching.compiled

    def noted(*given: Any) -> tuple[Any, list[str]]:
        made = compiled(*given)
        texts.append(made[0].asm["ptx"])
        return made

    monkeypatch.setattr(launching, "compiled", noted)
    double.given = []
    x = sz.zeros((130, 64), kind, device="torch:cpu")
    sz.reduce(x, mode, 0)
    assert texts
    for text in texts:  # a NaN wins, +0 is above -0, subnormal numbers stay
        assert f"{word}.NaN.f32" in text
        assert "ftz" not in text
