"""Frameworks on a device: how one is asked for, what is made there, and what happens to it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from suanzi.base.status import InvalidArgument
from suanzi.conformance.cases import cases
from suanzi.conformance.check import check
from suanzi.conformance.model.results import Result
from suanzi.conformance.model.titles import on_device, options_of
from suanzi.conformance.reports import deviations
from suanzi.conformance.running.backends import backend
from suanzi.conformance.running.process import Backend
from suanzi.conformance.running.reproduction import reproduction
from suanzi.conformance.running.run import facts_of
from suanzi.conformance.subjects import wire
from suanzi.front.cli import main
from suanzi.promote.live import NotInstalled, live

SUBJECTS = Path(wire.__file__).parent

FAKE = '''
import numpy as np
from frameworks.common import Framework
from wire import Data


class Adapter(Framework):
    """NumPy with a device of its own, which is lost by a sum of 13."""

    name, title, version, rules = "fake", "Fake", "1.0", "numpy"
    mapping = {"add": "plus(x, y)", "zeros": "made(shape, dtype, device)"}
    dtypes = {"float32": np.float32, "int32": np.int32}
    literal, spelled = "np.array({values}, {dtype})", "np.{dtype}"
    lost = ("device-side assert",)

    def __init__(self, device=""):
        self.names = {"plus": self.plus, "made": self.made}
        super().__init__(device)

    def placed(self, device):
        if device != "toy:0":
            raise self.without(device, RuntimeError("only toy:0. And more words"))
        self.placing = f"place({device!r})"
        return [f"On {device}."]

    def plus(self, x, y):
        if 13 in np.ravel(x + y):
            raise RuntimeError("device-side assert triggered")
        return x + y

    def made(self, shape, dtype, device):
        assert device == (self.device or "cpu").lower(), device
        return np.zeros(shape, dtype)

    def dense(self, data, dtype):
        return np.frombuffer(bytearray(data.raw), dtype).reshape(data.shape)

    def read(self, x):
        return Data(x.dtype.name, x.shape, x.tobytes())
'''


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Backend:
    (tmp_path / "fake_framework.py").write_text(FAKE)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{SUBJECTS}")
    return Backend("fake on toy:0", "fake_framework:Adapter", options={"device": "toy:0"})


def test_a_device_is_part_of_the_title() -> None:
    found = backend("PyTorch", "/envs/bin/python", " CUDA:1 ")
    assert (found.title, found.options) == ("torch on cuda:1", {"device": "cuda:1"})
    assert found.python == "/envs/bin/python"
    assert options_of(found.title) == ["--backend", "torch", "--device", "cuda:1"]
    assert options_of(on_device("suanzi", "cluster")) == ["--device", "cluster"]
    assert options_of("./made on /libx.so") == ["--backend", "./made on /libx.so"]
    assert backend("torch", device="cpu") == backend("torch")


@pytest.mark.parametrize(
    ("title", "device"),
    [("numpy", "cuda"), ("paddle", "cuda"), ("suanzi", "tpu"), ("package.module:Adapter", "cuda")],
)
def test_who_has_no_devices(title: str, device: str) -> None:
    said = f"{title} is not tested on a device '{device}'.*suanzi: cpu, cluster.*torch: cuda"
    with pytest.raises(InvalidArgument, match=said):
        backend(title, device=device)


def test_tensors_are_made_on_the_device_that_is_tested(fake: Backend) -> None:
    run = check(fake, ops=["zeros"], dtypes=["int32"], groups=["plain"])
    assert run.counts()["passed"] > 1
    assert run.counts()["failed"] == 0
    assert run.subject["device"] == "toy:0"
    assert "On toy:0." in run.subject["notes"]


def test_a_device_that_is_not_there_is_said(fake: Backend) -> None:
    wrong = Backend("fake on toy:1", fake.adapter, options={"device": "toy:1"})
    with pytest.raises(InvalidArgument) as error:
        facts_of(wrong)
    assert str(error.value).endswith("Fake 1.0 has no device 'toy:1' here: only toy:0.")
    with pytest.raises(InvalidArgument, match="NumPy is tested on the CPU alone, not on 'x'"):
        facts_of(Backend("numpy", "frameworks.numpy_adapter:Adapter", options={"device": "x"}))


def test_a_lost_device_is_a_crash_and_the_next_call_has_another_process(fake: Backend) -> None:
    run = check(fake, ops=["add"], dtypes=["int32"], groups=["plain", "special", "broadcast"])
    assert run.counts()["passed"] > 3
    crashed = [r for r in run.results if r.outcome == "crashed"]
    assert len(crashed) > 0
    assert all("70: RuntimeError: device-side assert" in (r.problem or "") for r in crashed)


def test_a_reproduction_begins_with_the_device(fake: Backend) -> None:
    facts = facts_of(fake)
    assert facts.literals["placing"] == "place('toy:0')"
    made = Backend("torch on cuda", "frameworks.torch_adapter:Adapter")
    facts = facts.__class__(**{
        **vars(facts), "mapping": {"zeros": "torch.zeros(shape, dtype=dtype, device=device)"}
    })  # fmt: skip
    case = next(c for c in cases("zeros") if c.dtype == "int32" and not c.steps)
    text = reproduction(case, made, facts)
    assert "place('toy:0')" in text
    assert "device = 'toy:0'" in text


def test_what_is_known_on_the_cpu_explains_failures_on_a_device() -> None:
    found = deviations.packaged("torch", device="cuda:1")
    from_the_cpu = [one for one in found if one.elsewhere]
    assert len(from_the_cpu) == len(deviations.packaged("torch"))
    assert all(one.holds_for("2.11.0") and one.sometimes for one in from_the_cpu)
    passed = Result("abs/plain/int8/x", "abs", "plain", "int8", "passed")
    assert deviations.apply([passed], from_the_cpu) == ([passed], [])
    assert not any(one.elsewhere for one in deviations.packaged("torch"))


@pytest.mark.parametrize(("framework", "name"), [("torch", "PyTorch"), ("jax", "JAX")])
def test_live_frameworks_say_which_device_was_looked_for(framework: str, name: str) -> None:
    python = os.environ.get(f"SUANZI_PYTHON_{framework.upper()}", sys.executable)
    try:
        facts = facts_of(backend(framework, python, "cpu:0"))
        assert facts.device == "cpu:0"
        with pytest.raises(InvalidArgument, match=f"{name} .* has no device 'odd' here: "):
            facts_of(backend(framework, python, "odd"))
        with pytest.raises(InvalidArgument, match=f"live: {name} .* has no device 'odd' here: "):
            live(framework, python=python, device="odd")
    except NotInstalled as reason:
        pytest.skip(str(reason))
    run = check(framework, python=python, device="cpu:0", ops=["zeros", "rand_uniform"], quick=True)
    plain = check(framework, python=python, ops=["zeros", "rand_uniform"], quick=True)
    assert [r.outcome for r in run.results] == [r.outcome for r in plain.results]


def test_live_on_a_device_is_for_some(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidArgument, match="numpy is asked on the CPU alone, not on 'cuda'"):
        live("numpy", device="cuda")
    assert main(["live", "numpy", "--results", "--device", "cuda"]) == 2
    assert "--device does not go with --dtypes or --results" in capsys.readouterr().err
