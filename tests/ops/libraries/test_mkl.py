"""MKL as a provider: where it is looked for, which parts it is told to use, when it is refused.

The library itself is for x86-64; what loads it is tested with libraries that only have its names.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import suanzi as sz
from helpers.c_compiler import compiler
from suanzi import _core
from suanzi.ops.libraries import config, mkl, providers

MKL = providers.WITH_FILES["mkl"]


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    before = sz.get_provider()
    yield
    sz.set_provider(before)


def routines() -> list[str]:
    """Return the names of Fortran's routines that a provider must have, without the core's help."""
    same = "getrf getrs getri potrf geqrf trtrs trcon gesdd geev gemm".split()
    real, others = ["orgqr", "ormqr", "syevd"], ["ungqr", "unmqr", "heevd"]
    return [
        letter + one for letter in "sdcz" for one in same + (real if letter in "sd" else others)
    ]


def fake(folder: Path, number: int = 7, *, without: str = "", layer: str = "code") -> Path:
    """Build a library with MKL's names, and its parts; `layer` is what choosing threads answers."""
    folder.mkdir(parents=True, exist_ok=True)
    functions = "".join(f"void {one}_(void) {{}}\n" for one in routines() if one != without)
    source = folder / "fake.c"
    source.write_text(
        f"{functions}"
        "static int choices[2] = {-1, -1};\n"
        "int chosen(int which) { return choices[which]; }\n"
        "int MKL_Set_Interface_Layer(int code) { return choices[0] = code; }\n"
        f"int MKL_Set_Threading_Layer(int code) {{ choices[1] = code; return {layer}; }}\n"
        "int MKL_Get_Max_Threads(void) { return 1; }\n"
        "void MKL_Set_Num_Threads(int n) { (void)n; }\n"
    )
    library = folder / f"libmkl_rt.so.{number}"
    command = [compiler("cc", "gcc", "clang"), "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True)
    for part in mkl.PARTS:
        (folder / f"libmkl_{part}.so.{number}").touch()
    return library


def use(monkeypatch: pytest.MonkeyPatch, name: str, library: Path | None) -> None:
    """Have a provider of that name which is MKL in another place, on any machine."""
    one = replace(MKL, name=name, find=lambda: library, machines=())
    monkeypatch.setitem(providers.WITH_FILES, name, one)
    monkeypatch.setattr(providers, "NAMES", (*providers.NAMES, name))
    sz.set_provider(name)


# ---- which file ---------------------------------------------------------------------------------


def installed(folder: Path, *names: str) -> None:
    """Write what pip leaves of the package `mkl` in folder/site, its files in folder/lib."""
    about = folder / "site" / "mkl-2026.2.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mkl\nVersion: 2026.2.0\n")
    (about / "RECORD").write_text("".join(f"../lib/{name},,\n" for name in names))
    (folder / "lib").mkdir()
    for name in names:
        (folder / "lib" / name).touch()


def whole(number: int) -> list[str]:
    return [f"libmkl_{part}.so.{number}" for part in ("rt", *mkl.PARTS)]


def test_where_pip_has_put_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, *whole(3))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    assert mkl.file() == tmp_path / "lib" / "libmkl_rt.so.3"


def test_where_conda_has_put_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, *whole(12))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert mkl.file() == tmp_path / "lib" / "libmkl_rt.so.12"


def test_the_newest_that_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # libmkl_rt ends the process where one of its parts is missing.
    lacking = [name for name in whole(11) if "sequential" not in name]
    installed(tmp_path, *whole(2), *whole(10), *lacking)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert mkl.file() == tmp_path / "lib" / "libmkl_rt.so.10"


@pytest.mark.parametrize("missing", mkl.PARTS)
def test_a_part_is_missing(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, *(name for name in whole(3) if missing not in name))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert mkl.file() is None


# ---- refused ------------------------------------------------------------------------------------


def test_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(sz.InvalidArgument) as caught:
        sz.set_provider("mkl")
    assert str(caught.value) == (
        "the provider mkl is for x86_64 alone, not for riscv64; use openblas, or use scipy."
    )
    assert config.config()["providers"]["mkl"].startswith("for x86_64 alone, not for riscv64")


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(sz.InvalidArgument, match=r"pip install 'suanzi\[absent\]', or use scipy"):
        use(monkeypatch, "absent", None)


def test_used_otherwise_already(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = fake(tmp_path, layer="0")  # NumPy of conda's with OpenMP, say
    with pytest.raises(sz.InvalidArgument) as caught:
        use(monkeypatch, "taken", library)
    assert str(caught.value) == (
        f"the provider taken could not be loaded: {library}: MKL_Set_Threading_Layer(1) answers 0, "
        "so another package uses it otherwise already."
    )
    assert not _core.use_provider_again("taken")


def test_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(sz.InvalidArgument, match="lacks functions of BLAS or LAPACK"):
        use(monkeypatch, "old", fake(tmp_path, without="zgesdd"))


def test_no_choice_of_layers(tmp_path: Path) -> None:
    library, choices = fake(tmp_path), (("MKL_Set_Nothing", 0),)
    with pytest.raises(ImportError, match=r"libmkl_rt\.so\.7 has no MKL_Set_Nothing"):
        _core.use_file("odd", str(library), "", "_", "a", "b", choices)


# ---- taken --------------------------------------------------------------------------------------


def test_layers_are_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ctypes

    library = fake(tmp_path)
    use(monkeypatch, "fake", library)
    assert _core.provider() == sz.get_provider() == "fake"
    chosen = ctypes.CDLL(str(library)).chosen
    assert [chosen(0), chosen(1)] == [0, 1]  # integers of 32 bits, no threads
    sz.set_provider("scipy")
    assert sz.get_provider() == "scipy"


# ---- MKL itself ---------------------------------------------------------------------------------

needs_mkl = pytest.mark.skipif(
    not providers.is_installed("mkl"), reason=f"MKL: {providers.what_is_missing('mkl')}"
)


@needs_mkl
def test_what_is_said_of_it() -> None:
    sz.set_provider("mkl")
    found = sz.show_config("dicts")["blas"]
    assert found["provider"] == "mkl"
    assert found["library"] == "MKL"
    assert found["version"].startswith("20")
    assert found["threads"] == 1
    assert os.path.samefile(found["file"], str(mkl.file()))


@needs_mkl
@pytest.mark.parametrize("dt", [sz.float32, sz.float64, sz.complex64, sz.complex128], ids=str)
def test_places_in_memory_change_nothing(dt: sz.DType) -> None:
    """MKL promises the same bits for data at the same distance from a multiple of 64 bytes only."""
    sz.set_provider("mkl")
    rng = np.random.default_rng(11)
    for m, n, k in [(70, 50, 90), (129, 257, 65), (300, 33, 517)]:
        a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
        found = set()
        for off in range(0, 9, 2):
            wide = [np.zeros((one.shape[0], one.shape[1] + off)) for one in (a, b)]
            for room, one in zip(wide, (a, b), strict=True):
                room[:, off:] = one
            x, y = (sz.cast(sz.tensor(room), dt)[:, off:] for room in wide)
            found.add((x @ y).numpy().tobytes())
        assert len(found) == 1, (m, n, k)


@needs_mkl
def test_beside_pytorch() -> None:
    """PyTorch has an MKL and an OpenMP of its own; neither minds the other."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    code = (
        "import numpy as np, {}\n"
        "import suanzi as sz, torch\n"
        "sz.set_provider('mkl')\n"
        "a = np.random.default_rng(1).standard_normal((300, 300)) + 20 * np.eye(300)\n"
        "x, t = sz.tensor(a), torch.from_numpy(a)\n"
        "for _ in range(3):\n"
        "    assert np.abs((x @ x).numpy() - (t @ t).numpy()).max() < 1e-10\n"
        "    assert np.abs(sz.inverse(x).numpy() - torch.linalg.inv(t).numpy()).max() < 1e-12\n"
        "print('both')"
    )
    for first in ("suanzi as sz; sz.set_provider('mkl')", "torch"):
        command = [sys.executable, "-c", code.format(first)]
        ran = subprocess.run(command, capture_output=True, text=True)
        assert ran.stdout.split() == ["both"], ran.stderr
