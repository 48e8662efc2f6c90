"""Devices: their names, who provides them, and that a provider is all a new device needs."""

from __future__ import annotations

import gc
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.standard_operators import REGISTRY
from suanzi import _core
from suanzi.base import device as device_module
from suanzi.base.device import DeviceProvider, DeviceTensor


class FakeTensor:
    """A tensor on a fake device: bytes that the host does not see."""

    def __init__(self, tensor: sz.Tensor, device: sz.Device) -> None:
        self._raw, self._order = bytes(tensor.storage.memory), tensor.layout.min2maj
        self.dtype, self.shape, self.device = tensor.dtype, tensor.shape, device

    def to_host(self) -> sz.Tensor:
        return sz.create_tensor(self.shape, self._raw, self.dtype, layout=self._order)

    def __suanzi_operator__(self, name: str, args: Any, kwargs: Any) -> Any:
        if name == "lu":
            return NotImplemented
        args = [_on_host(x) for x in args]
        result = getattr(sz, name)(*args, **{k: _on_host(x) for k, x in kwargs.items()})
        return FakeTensor(result, self.device) if isinstance(result, sz.Tensor) else result


def _on_host(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return [_on_host(one) for one in x]
    return x.to_host() if isinstance(x, FakeTensor) else x


class FakeProvider:
    """Two devices."""

    def __init__(self) -> None:
        self.uploads: list[tuple[Any, ...]] = []

    def count(self) -> int:
        return 2

    def upload(self, tensor: sz.Tensor, device: sz.Device) -> FakeTensor:
        self.uploads.append((tensor.dtype, tensor.shape, device))
        return FakeTensor(tensor, device)


@pytest.fixture(autouse=True)
def _no_provider_stays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Whether the cluster can be used depends on what else is installed.
    monkeypatch.setattr(device_module, "ENTRY_POINTS", "suanzi.devices.of.tests")
    device_module._announced.cache_clear()
    yield
    device_module._PROVIDERS.clear()
    device_module._announced.cache_clear()


@pytest.fixture
def npu() -> FakeProvider:
    provider = FakeProvider()
    sz.register_device("npu", provider)
    return provider


def test_the_fake_is_a_provider(npu: FakeProvider) -> None:
    provider: DeviceProvider = npu
    tensor: DeviceTensor = provider.upload(sz.tensor([1]), sz.Device("npu"))
    assert tensor.to_host().tolist() == [1]


# ---- names ---------------------------------------------------------------------------------------


def test_names() -> None:
    for given in ("npu:1", "NPU:1", sz.Device("npu", 1), sz.Device(sz.DeviceType.NPU, np.int64(1))):
        device = sz.Device(given)
        assert (device.type, device.id, str(device)) == (sz.DeviceType.NPU, 1, "npu:1")
        assert device == sz.Device("npu", 1)
        assert hash(device) == hash(sz.Device("npu", 1))
    assert [t.name for t in sz.DeviceType] == ["CPU", "GPU", "NPU", "FPGA", "ASIC", "CLUSTER"]
    assert [int(t) for t in sz.DeviceType] == [0, 1, 2, 3, 4, 5]
    assert sz.Device(sz.DeviceType.FPGA).id == 0


@pytest.mark.parametrize("wrong", ["", "tpu", "npu:x", "npu:-1", "npu:1:2", 7, None, 1.5, b"npu"])
def test_names_that_are_none(wrong: Any) -> None:
    with pytest.raises(sz.InvalidArgument, match=r"^Device: "):
        sz.Device(wrong)


@pytest.mark.parametrize("wrong", [-1, 1.5, "1", True, 2.0, [1]])
def test_numbers_that_are_none(wrong: Any) -> None:
    with pytest.raises(sz.InvalidArgument, match=r"^Device: write a type and a number"):
        sz.Device("npu", wrong)


# ---- who provides them ---------------------------------------------------------------------------


def test_without_a_provider() -> None:
    assert sz.devices() == (sz.Device("cpu"),)
    with pytest.raises(sz.InvalidArgument, match=r"^zeros \(7.2.1.3\): no provider for gpu is"):
        sz.zeros((2,), device="gpu")
    with pytest.raises(
        sz.InvalidArgument, match="there is no device cpu:1; the only CPU device is cpu"
    ):
        sz.zeros((2,), device="cpu:1")


def test_errors_name_those_that_have_one(npu: FakeProvider) -> None:
    sz.register_device(sz.DeviceType.ASIC, FakeProvider())
    with pytest.raises(sz.InvalidArgument, match="lists the devices. Install a package"):
        sz.empty((2,), device="gpu")
    with pytest.raises(sz.InvalidArgument, match="no device npu:2; there are npu, npu:1"):
        sz.empty((2,), device="npu:2")
    npu.count = lambda: 100  # type: ignore[method-assign]
    with pytest.raises(sz.InvalidArgument, match=r"npu:7, \.\.\.\.$"):
        sz.empty((2,), device="npu:100")
    assert not npu.uploads


def test_devices(npu: FakeProvider) -> None:
    assert sz.devices() == (sz.Device("cpu"), sz.Device("npu"), sz.Device("npu:1"))
    sz.register_device("npu", None)
    assert sz.devices() == (sz.Device("cpu"),)
    sz.register_device("npu", None)  # twice is no harm


@pytest.mark.parametrize("wrong", ["cpu", "npu:1", "tpu", sz.Device("gpu", 3), None, 3])
def test_types_that_cannot_be_registered(wrong: Any) -> None:
    with pytest.raises(sz.InvalidArgument):
        sz.register_device(wrong, FakeProvider())


@pytest.mark.parametrize("wrong", [object(), 3, "provider", type("Half", (), {"count": int})()])
def test_what_is_no_provider(wrong: Any) -> None:
    with pytest.raises(sz.TypeMismatch, match=r"is not a provider; it needs the methods count\(\)"):
        sz.register_device("npu", wrong)


# ---- creation ------------------------------------------------------------------------------------

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)
CREATIONS: dict[str, dict[str, Any]] = {
    "create_tensor": {"shape": (2, 3), "values": VALUES, "layout": (0, 1)},
    "wrap_tensor": {"shape": (2, 3)},
    "zeros": {"shape": (2, 3), "dtype": "bf16"},
    "full": {"shape": (2, 3), "value": 7, "dtype": sz.int4},
    "empty": {"shape": (2, 3), "dtype": sz.complex32},
    "rand_uniform": {"shape": (2, 3), "seed": 3, "layout": (0, 1)},
    "rand_normal": {"shape": (2, 3), "seed": 3},
    "randperm": {"len": 6, "seed": 3},
    "range": {"start": 1, "limit": 4, "step": 1},
    "linspace": {"start": 1, "stop": 4, "num": 3},
}
UNSET = ("empty", "wrap_tensor")


@pytest.mark.parametrize("name", CREATIONS)
@pytest.mark.parametrize("place", ["npu", "npu:1", sz.DeviceType.NPU, sz.Device("npu", 1)])
def test_creation_of_every_kind(npu: FakeProvider, name: str, place: Any) -> None:
    gc.collect()
    before = _core.pool_info()["storages"]
    made: Any = getattr(sz, name)(**CREATIONS[name], device=place)
    assert isinstance(made, FakeTensor)
    assert _core.pool_info()["storages"] <= before  # what was computed on the host is gone
    host = getattr(sz, name)(**CREATIONS[name])
    assert (made.dtype, made.shape, made.device) == (host.dtype, host.shape, sz.Device(place))
    assert npu.uploads == [(host.dtype, host.shape, sz.Device(place))]
    assert made.to_host().strides == host.strides
    if name not in UNSET:
        assert made.to_host().tolist() == host.tolist()
    assert host.device == host.storage.device == sz.Device("cpu")


def test_every_interface_with_a_device_is_tried() -> None:
    takes = {n for n, op in REGISTRY.items() if "device" in op.function.__code__.co_varnames}
    assert takes - {"create_sparse_tensor", "create_quant_tensor"} == set(CREATIONS)


def test_memory_of_the_host_cannot_be_shared(npu: FakeProvider) -> None:
    with pytest.raises(sz.InvalidArgument, match="on the cpu, and device is npu.*create_tensor"):
        sz.wrap_tensor((2, 3), device="npu", values=VALUES)
    assert not npu.uploads


def test_arguments_are_checked_first(npu: FakeProvider) -> None:
    for call in (
        lambda: sz.zeros((-1,), device="npu"),
        lambda: sz.full(value=1j, device="npu"),
        lambda: sz.create_tensor((2,), VALUES, device="npu"),
        lambda: sz.range(0, 1, 0, device="npu"),
        lambda: sz.zeros((2**60,), device="npu"),
    ):
        with pytest.raises(sz.StatusError):
            call()
    assert not npu.uploads


def test_a_provider_that_creates_itself() -> None:
    class Own(FakeProvider):
        def __init__(self) -> None:
            super().__init__()
            self.asked: list[tuple[Any, ...]] = []

        def create(self, name: str, device: sz.Device, arguments: dict[str, Any]) -> Any:
            self.asked.append((name, device, arguments))
            if name not in ("zeros", "wrap_tensor"):
                return NotImplemented
            return FakeTensor(sz.zeros(arguments["shape"], arguments["dtype"]), device)

    own = Own()
    sz.register_device("npu", own)
    place = sz.Device("npu:1")
    made: Any = sz.zeros((2, 3), sz.int8, place, layout=(0, 1))
    assert own.asked == [("zeros", place, {"dtype": sz.int8, "shape": (2, 3), "min2maj": (0, 1)})]
    assert not own.uploads
    assert made.device == place
    buffer = bytearray(8)
    made = sz.wrap_tensor((2,), device=place, values=buffer)
    assert own.asked[-1][2]["values"] is buffer
    sz.full(shape=(2,), value=True, dtype=sz.int16, device=place)
    assert own.asked[-1][2]["value"] == 1
    sz.range(1, 4, 1, device=place)
    told = own.asked[-1][2]
    assert (told["shape"], told["start"], told["limit"], told["step"]) == ((4,), 1, 4, 1)
    assert len(own.uploads) == 2


# ---- moving and computing ------------------------------------------------------------------------


def test_moving(npu: FakeProvider) -> None:
    x = sz.tensor([[1, 2], [3, 4]], sz.float16)
    assert x.to_device("cpu") is x.to_device(sz.Device("cpu")) is x
    there = x.to_device("npu:1")
    assert (there.device, there.dtype, there.shape) == (sz.Device("npu:1"), x.dtype, (2, 2))
    assert there.to_host().tolist() == x.tolist()
    for wrong in ("gpu", "npu:2", "tpu", 3, None):
        with pytest.raises(sz.InvalidArgument):
            x.to_device(wrong)  # type: ignore[arg-type]
    sz.destroy(x)
    with pytest.raises(sz.UninitializedObject):
        x.to_device("npu")


def test_operators(npu: FakeProvider) -> None:
    x: Any = sz.tensor([1.5, 2]).to_device("npu")
    y: Any = sz.full(shape=(2,), value=2, device="npu")
    for result, wanted in (
        (sz.add(x, y), [3.5, 4]),
        (sz.mul(x, 2), [3, 4]),
        (sz.exp(sz.zeros((2,), device="npu")), [1, 1]),
        (sz.clip(x, low=1.75), [1.75, 2]),
        (sz.is_nan(x), [False, False]),
        (sz.where(sz.greater(x, y), x, y), [2, 2]),
        (sz.shape(x), [2]),
        (sz.duplicate(x), [1.5, 2]),
        (sz.rand_bernoulli(sz.zeros((2,), device="npu")), [0, 0]),
        (sz.create_tensor((2,), x, device="npu"), [1.5, 2]),
    ):
        assert result.device == sz.Device("npu")
        assert result.to_host().tolist() == wanted
    assert (sz.size(x), sz.rank(x), sz.is_contiguous(x)) == (2, 1, True)


def test_nothing_is_moved_unasked(npu: FakeProvider) -> None:
    host = sz.tensor([1.0, 2.0])
    zero: Any = host.to_device("npu")
    one: Any = host.to_device("npu:1")
    del npu.uploads[:]
    for call in (
        lambda: sz.add(host, zero),
        lambda: sz.add(zero, y=host),
        lambda: host + zero,
        lambda: host == zero,
        lambda: sz.where(host == host, zero, zero),
        lambda: sz.add(zero, sz.tensor(1.0)),
        lambda: sz.create_tensor((2,), zero),
        lambda: sz.create_tensor((2,), zero, device="cpu"),
    ):
        with pytest.raises(sz.InvalidArgument, match=r"arguments are on .*cpu.*must be on one dev"):
            call()
    with pytest.raises(sz.InvalidArgument, match=r"^add \(7.2.4.1\): .* on npu and npu:1; they"):
        sz.add(zero, one)
    assert not npu.uploads
    assert sz.add(zero, 1).to_host().tolist() == [2, 3]  # type: ignore[attr-defined]


# ---- providers that fail -------------------------------------------------------------------------


class Broken(FakeProvider):
    def __init__(self, answer: Any) -> None:
        super().__init__()
        self._answer = answer

    def upload(self, tensor: sz.Tensor, device: sz.Device) -> Any:
        if isinstance(self._answer, tuple):
            kind, text = self._answer
            raise kind(text)
        return self._answer(tensor, device) if callable(self._answer) else self._answer


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ((RuntimeError, "no power."), sz.InternalError, r"failed: RuntimeError: no power\.$"),
        ((KeyError, "x"), sz.InternalError, "provider of npu failed: KeyError: 'x'"),
        ((sz.AllocFailed, "the npu is full."), sz.AllocFailed, r"the npu is full\.$"),
        ((MemoryError, "full"), sz.AllocFailed, r"not enough memory on npu:1: full\.$"),
        ((sz.TypeMismatch, "the npu has no int8."), sz.TypeMismatch, "the npu has no int8"),
        (None, sz.InternalError, "failed: AttributeError"),
        (7, sz.InternalError, "failed: AttributeError"),
        (lambda t, d: t, sz.InternalError, "failed: AttributeError"),
        (lambda t, d: FakeTensor(t, sz.Device("npu")), sz.InternalError, "on npu; requested were"),
        (lambda t, d: FakeTensor(sz.zeros((3,)), d), sz.InternalError, r"shape \(3,\) on npu:1"),
    ],
)
def test_a_provider_that_fails(answer: Any, error: type[Exception], message: str) -> None:
    sz.register_device("npu", Broken(answer))
    gc.collect()
    before = _core.pool_info()["storages"]
    with pytest.raises(error, match=message) as e:
        sz.zeros((2,), sz.int8, "npu:1")
    assert str(e.value).startswith("zeros (7.2.1.3): ")
    with pytest.raises(error):
        sz.tensor([1]).to_device("npu:1")
    del e
    gc.collect()
    assert _core.pool_info()["storages"] <= before


@pytest.mark.parametrize("answer", [RuntimeError("dead"), "two", None, 1.5])
def test_a_provider_that_cannot_count(answer: Any) -> None:
    class Counting(FakeProvider):
        def count(self) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    sz.register_device("npu", Counting())
    with pytest.raises(sz.InternalError, match=r"^zeros \(7.2.1.3\): the provider of npu failed"):
        sz.zeros((2,), device="npu")
    assert sz.devices() == (sz.Device("cpu"),)


def test_a_provider_with_fewer_than_none() -> None:
    provider = FakeProvider()
    provider.count = lambda: -3  # type: ignore[method-assign]
    sz.register_device("npu", provider)
    assert sz.devices() == (sz.Device("cpu"),)
    with pytest.raises(sz.InvalidArgument, match="its provider has none"):
        sz.zeros((2,), device="npu")


def test_an_operator_the_device_does_not_have(npu: FakeProvider) -> None:
    class Shy(FakeTensor):
        def __suanzi_operator__(self, name: str, args: Any, kwargs: Any) -> Any:
            return NotImplemented

    with pytest.raises(sz.TypeMismatch, match="not supported for Shy"):
        sz.exp(Shy(sz.tensor([1.0]), sz.Device("npu")))  # type: ignore[arg-type]


# ---- packages that bring providers ---------------------------------------------------------------

PROVIDER = """
class Tensor: pass
class Provider:
    def count(self): return 3
    def upload(self, tensor, device): raise RuntimeError("not today")
ready = Provider()
def make(): return Provider()
"""


def _install(folder: Path, module: str, text: str, entries: str) -> None:
    (folder / f"{module}.py").write_text(text)
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[suanzi.devices.of.tests]\n{entries}\n")


@pytest.mark.parametrize("what", ["ready", "make", "Provider"])
def test_a_package_announces_its_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    module = f"provider_of_{what.lower()}"
    _install(tmp_path, module, PROVIDER, f"fpga = {module}:{what}\nasic = {module}_broken:x")
    monkeypatch.syspath_prepend(tmp_path)
    device_module._announced.cache_clear()
    sz.zeros((2,), device="cpu")
    with pytest.raises(sz.InvalidArgument, match="no provider for gpu is installed"):
        sz.zeros((2,), device="gpu")
    assert module not in sys.modules  # nobody asked for it
    with pytest.raises(sz.InternalError, match="not today"):
        sz.zeros((2,), device="fpga:2")
    assert module in sys.modules
    with pytest.raises(sz.InternalError, match="provider of asic failed: ModuleNotFoundError"):
        sz.zeros((2,), device="asic")
    assert sz.devices() == (sz.Device("cpu"), *(sz.Device("fpga", i) for i in range(3)))
    sz.register_device("fpga", FakeProvider())  # what is registered goes before
    assert len(sz.devices()) == 3
    importlib.invalidate_caches()


def test_import_asks_for_no_provider(tmp_path: Path) -> None:
    _install(tmp_path, "loud", "raise SystemExit('imported')", "npu = loud:provider")
    code = "import sys, suanzi; suanzi.zeros((2,)); print('loud' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )  # fmt: skip
    assert done.stdout.strip() == "False"
