"""Where BLAS and LAPACK come from: chosen, refused, loaded late, right under each."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi import _core
from suanzi.ops.libraries import blas, config, providers

OPENBLAS = providers.WITH_FILES["openblas"]


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    before = sz.get_provider()
    yield
    sz.set_provider(before)


NAME = "import suanzi; print(suanzi.get_provider())"


def ran(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k != providers.VARIABLE}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=kept | environment, capture_output=True, text=True)


def file_of_scipy() -> str:
    """Return SciPy's OpenBLAS, which can be opened by its file, too."""
    sz.set_provider("scipy")
    found = blas.libraries()
    if len(found) != 1 or not Path(found[0].filepath).name.startswith("libscipy_openblas"):
        pytest.skip("SciPy has no OpenBLAS of its own")
    return str(found[0].filepath)


# ---- choosing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "mkl64", "SciPy", None, 3, ["scipy"]])
def test_no_such_provider(name: Any) -> None:
    with pytest.raises(sz.InvalidArgument, match=r"use one of scipy, openblas, mkl\.$"):
        sz.set_provider(name)


def test_one_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = replace(OPENBLAS, name="absent", module="there_is_no_such_module")
    monkeypatch.setitem(providers.WITH_FILES, "absent", absent)
    monkeypatch.setattr(providers, "NAMES", (*providers.NAMES, "absent"))
    before = sz.get_provider()
    with pytest.raises(sz.InvalidArgument) as caught:
        sz.set_provider("absent")
    assert str(caught.value) == (
        "the provider absent is not installed; pip install 'suanzi[absent]', or use scipy."
    )
    assert sz.get_provider() == before
    assert "pip install 'suanzi[absent]'" in config.config()["providers"]["absent"]


def test_every_provider_has_an_extra() -> None:
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    for one in providers.WITH_FILES.values():
        package = one.module.replace("_", "-")
        assert f'\n{one.name} = ["{package}' in text


def test_the_environment_chooses() -> None:
    found = ran(NAME, SUANZI_PROVIDER="scipy")
    assert found.stdout.split() == ["scipy"], found.stderr
    found = ran("import suanzi", SUANZI_PROVIDER="cublas")
    assert found.returncode == 1
    last = found.stderr.strip().splitlines()[-1]
    assert last.startswith(
        "suanzi.status.InvalidArgument: the environment variable SUANZI_PROVIDER"
    )
    assert last.endswith("use one of scipy, openblas, mkl.")


def test_nothing_is_loaded_before_it_is_needed() -> None:
    found = ran(
        "import sys, suanzi as sz; x = sz.full(shape=(20, 20), value=1.0)\n"
        "print(sz._core.provider(), 'scipy' in sys.modules, 'threadpoolctl' in sys.modules)\n"
        "sz.inverse(sz.tensor([[1.0, 2.0], [3.0, 4.0]]))  # small ones are the core's own\n"
        "print(sz._core.provider())\n"
        "sz.qr(x)\n"
        "print(sz._core.provider())"
    )
    assert found.stdout.split()[:4] == ["None", "False", "False", "None"], found.stderr
    assert found.stdout.split()[4:] == [ran(NAME).stdout.strip()]


# ---- files --------------------------------------------------------------------------------------


def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    file = tmp_path / "libnothing.so"
    file.write_text("nothing")
    with pytest.raises(ImportError, match="libnothing"):
        _core.use_file("nothing", str(file), "", "_", "get", "set")
    assert _core.provider() != "nothing"


def test_a_file_without_the_functions() -> None:
    file = file_of_scipy()
    with pytest.raises(ImportError, match="lacks functions of BLAS or LAPACK"):
        _core.use_file("without", file, "nobodys_", "_", "get", "set")
    assert not _core.use_provider_again("without")


def test_a_package_that_does_not_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "broken_blas"
    (package / "lib").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('it is not to be imported')")
    (package / "lib" / "libscipy_openblas.so").write_text("nothing")
    monkeypatch.syspath_prepend(tmp_path)
    broken = replace(OPENBLAS, name="broken", module="broken_blas")
    monkeypatch.setitem(providers.WITH_FILES, "broken", broken)
    monkeypatch.setattr(providers, "NAMES", (*providers.NAMES, "broken"))
    before = sz.get_provider()
    with pytest.raises(sz.InvalidArgument, match="the provider broken could not be loaded"):
        sz.set_provider("broken")
    assert sz.get_provider() == before


# ---- the same under each ------------------------------------------------------------------------


def use(name: str) -> None:
    """Use a provider; `file` is SciPy's OpenBLAS opened by its file."""
    if name == "file":
        file, facts = file_of_scipy(), OPENBLAS
        if not _core.use_provider_again("file"):
            names = (facts.prefix, facts.suffix, facts.get_threads, facts.set_threads)
            _core.use_file("file", file, *names)
        return
    if not providers.is_installed(name):
        pytest.skip(f"{name} is not installed")
    sz.set_provider(name)


EACH = pytest.mark.parametrize("name", ["file", *providers.NAMES])


@EACH
@pytest.mark.parametrize("dt", [sz.float32, sz.float64, sz.complex64, sz.complex128], ids=str)
def test_linear_algebra(name: str, dt: sz.DType) -> None:
    use(name)
    assert _core.provider() == name
    rng = np.random.default_rng(3)
    values: Any = rng.standard_normal((70, 70)) + 9 * np.eye(70)
    if dt.kind == "complex":
        values = values + 1j * rng.standard_normal((70, 70))
    x = sz.cast(sz.tensor(values), dt)
    a, near = x.numpy(), 70 * 50 * float(sz.finfo(sz.real(x).dtype).eps)

    def close(found: sz.Tensor, expected: Any) -> bool:
        return bool(np.abs(found.numpy() - expected).max() <= near * np.abs(expected).max())

    assert close(x @ x, a.astype("c16") @ a.astype("c16"))
    assert close(sz.inverse(x) @ x, np.eye(70))
    assert close(x @ sz.solve(x, x, False), a)
    q, r = sz.qr(x, "reduced")
    assert close(q @ r, a)
    u, s, v = sz.svd(x)
    assert close(u @ s @ sz.conj(sz.transpose(v)), a)
    values, vectors = sz.eig(x)
    assert close(sz.cast(x, vectors.dtype) @ vectors, vectors.numpy() * np.diagonal(values.numpy())
                 if values.ndim == 2 else vectors.numpy() * values.numpy())  # fmt: skip
    hermitian = x @ sz.conj(sz.transpose(x))
    lower = sz.cholesky("L", hermitian)
    assert close(lower @ sz.conj(sz.transpose(lower)), hermitian.numpy())


@EACH
def test_threads_change_nothing(name: str) -> None:
    use(name)
    rng = np.random.default_rng(5)
    x, y = sz.tensor(rng.standard_normal((333, 1001))), sz.tensor(rng.standard_normal((1001, 517)))
    found, before = set(), sz.get_num_threads()
    try:
        for threads in (1, 2, 3):
            sz.set_num_threads(threads)
            found.add((x @ y).numpy().tobytes())
    finally:
        sz.set_num_threads(before)
    assert len(found) == 1


def test_changing_while_others_compute() -> None:
    file_of_scipy()
    x = sz.tensor(np.random.default_rng(1).standard_normal((90, 90)) + 9 * np.eye(90))
    expected, wrong, ends = x.numpy(), [], threading.Event()

    def compute() -> None:
        while not ends.is_set():
            found = (x @ sz.inverse(x) @ x).numpy()
            if np.abs(found - expected).max() > 1e-9:
                wrong.append(found)

    workers = [threading.Thread(target=compute) for _ in range(3)]
    for worker in workers:
        worker.start()
    for _ in range(100):
        use("file")
        use("scipy")
    ends.set()
    for worker in workers:
        worker.join()
    assert not wrong
    assert all(one.num_threads > 0 for one in blas.libraries())


# ---- reports ------------------------------------------------------------------------------------


def test_show_config(capsys: pytest.CaptureFixture[str]) -> None:
    sz.show_config()
    text, found = capsys.readouterr().out, sz.show_config("dicts")
    for known in (found["blas"]["provider"], _core.level(), found["processor"]["name"]):
        assert known in text
    if "file" in found["blas"]:
        assert Path(found["blas"]["file"]).is_file()
        assert found["blas"]["file"] in text
    with pytest.raises(sz.InvalidArgument, match="use 'text' or 'dicts'"):
        sz.show_config("json")  # type: ignore[call-overload]


def test_a_blas_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "libraries", lambda file=None: [])
    assert "an unknown library" in config.text(config.config())


@pytest.mark.skipif(not providers.is_installed("openblas"), reason="it is not installed")
def test_where_openblas_is() -> None:
    sz.set_provider("openblas")
    found = sz.show_config("dicts")["blas"]
    assert found["provider"] == "openblas"
    assert "scipy_openblas32" in found["file"]
