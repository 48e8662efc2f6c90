"""A full disk or a read-only folder: a clear error, and what was there before is still there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIMIT = 1 << 10
"""Bytes that a file may have: writing more fails as it does where the disk is full."""
BEGIN = f"""
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({LIMIT}, {LIMIT}))
import suanzi as sz
x = sz.zeros((100_000,))
"""
CALLS = {
    "save": "sz.save('old', x)",
    "npy": "sz.npy.save('old', x)",
    "npz": "sz.npy.save('old', {'x': x})",
    "safetensors": "sz.safetensors.save('old', {'x': x})",
    "zarr": "from suanzi import cluster; cluster.to_zarr(sz.rand_uniform((100_000,)), 'old', "
    "overwrite=True)",
    "hdf5": "from suanzi import cluster; cluster.to_hdf5(x, 'old', overwrite=True)",
}
SMALL = "check --op argmax --group plain --jobs 1"
COMMANDS = {
    "json": f"{SMALL} --json old",
    "html": f"{SMALL} --report old",
    "junit": f"{SMALL} --junit old",
    "header": "header -o old",
    "port html": "port {root}/examples/port/block.jsonl --to cann --html old",
    "port sarif": "port {root}/examples/port/block.jsonl --to cann,paddle,jax --sarif old",
}
ROOT = Path(__file__).parents[2]


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BEGIN + code],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # it would be cut short, too
        capture_output=True,
        text=True,
        check=False,
    )


def intact(folder: Path) -> bool:
    """Tell whether the old file is as it was, and nothing else was left behind."""
    return [p.name for p in folder.iterdir()] == ["old"] and (folder / "old").read_text() == "old"


@pytest.mark.parametrize("name", [n for n in CALLS if n not in ("zarr", "hdf5")])
def test_tensors(name: str, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    done = run(CALLS[name], tmp_path)
    assert "OSError" in done.stderr, done.stderr
    assert intact(tmp_path)


@pytest.mark.parametrize(("name", "package"), [("zarr", "zarr"), ("hdf5", "h5py")])
def test_blocks(name: str, package: str, tmp_path: Path) -> None:
    pytest.importorskip("dask.array", reason="tensors of blocks are Dask's")
    pytest.importorskip(package, reason=f"files of {package}")
    write, read = f"cluster.to_{name}", f"cluster.from_{name}"
    begin = "import suanzi as sz; from suanzi import cluster; "
    small = f"{begin}{write}(sz.tensor([1.0, 2.0]), 'old')"
    subprocess.run([sys.executable, "-c", small], cwd=tmp_path, check=True)
    done = run(CALLS[name], tmp_path)
    assert "suanzi.status.InvalidArgument" in done.stderr, done.stderr
    after = f"{begin}print({read}('old').to_host().tolist())"
    shown = subprocess.run(
        [sys.executable, "-c", after], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert shown.stdout == "[1.0, 2.0]\n"
    assert [p.name for p in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("name", COMMANDS)
def test_reports(name: str, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    words = COMMANDS[name].format(root=ROOT).split()
    done = run(f"from suanzi.cli import main; sys.exit(main({words!r}))", tmp_path)
    assert done.returncode in (2, 3), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "File too large" in done.stderr
    assert intact(tmp_path)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    (tmp_path / "old").write_text("old")
    tmp_path.chmod(0o500)
    try:
        done = run(CALLS["save"], tmp_path)
        assert "PermissionError" in done.stderr
        assert intact(tmp_path)
    finally:
        tmp_path.chmod(0o700)
