"""What benchmarks/all.py writes, and the tables that are made of it."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import records
from docs_site import gpu, speed
from docs_site.words import speaking
from suanzi.front import site

ROOT = Path(__file__).parents[2]


@pytest.fixture
def runner() -> Any:
    spec = importlib.util.spec_from_file_location("runner", ROOT / "benchmarks" / "all.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("measuring")


def row(case: str, ours: float, threads: int = 1, group: str = "large", **peers: float) -> Any:
    times = {"suanzi": ours, **peers}
    return {"file": "reduction", "group": group, "threads": threads, "case": case, "ns": times}


def test_every_benchmark_with_rows_is_run(runner: Any) -> None:
    files = (ROOT / "benchmarks").glob("*.py")
    assert set(runner.FILES) == {p.stem for p in files if "GROUPS" in p.read_text("utf-8")}


def test_what_is_measured_again_replaces_what_was(runner: Any, tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    runner.write(path, [row("a", 1, NumPy=2), row("b", 1, NumPy=2)], "processor")
    runner.write(path, [row("b", 4, NumPy=2), row("b", 4, threads=2, NumPy=2)], "wall")
    found = json.loads(path.read_text("utf-8"))
    assert [(r["case"], r["threads"], r["ns"]["suanzi"], r["run"]) for r in found["rows"]] == [
        ("a", 1, 1, 0),
        ("b", 1, 4, 1),
        ("b", 2, 4, 1),
    ]
    assert [run["clock"] for run in found["runs"]] == ["processor", "wall"]
    runner.write(path, [row("a", 3, NumPy=2)], "wall")
    found = json.loads(path.read_text("utf-8"))
    assert [run["clock"] for run in found["runs"]] == ["wall", "wall"], "the first has no row left"
    assert [r["run"] for r in found["rows"]] == [1, 0, 0]


def test_cases_that_are_not_asked_for_are_not_measured(
    measuring: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    called: list[str] = []
    table = measuring.Table(seconds=0.001, cases="f32$")
    for case in ("add f32", "add f64"):
        table.row(case, {"suanzi": (called.append, (case,), {})})
    assert set(called) == {"add f32"}
    assert [r["case"] for r in table.rows] == ["add f32"]
    assert "f64" not in capsys.readouterr().out


def test_a_measurement_waits_for_threads_that_compute(
    measuring: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = time.perf_counter()
    monkeypatch.setattr(measuring, "others_compute", lambda: True)
    measuring.wait_for_quiet(most=0.02)
    assert time.perf_counter() - begin >= 0.02
    monkeypatch.setattr(measuring, "others_compute", lambda: False)
    measuring.wait_for_quiet(most=3600)


def test_a_thread_that_computes_is_seen(measuring: Any) -> None:
    busy = threading.Thread(target=lambda: hashlib.sha256(bytes(1 << 24)))  # without the GIL
    busy.start()
    seen = False
    while busy.is_alive():
        seen = seen or measuring.others_compute()
    busy.join()
    assert seen


def test_threads_are_awake_when_they_are_measured(
    measuring: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(measuring, "wait_for_quiet", lambda: done.append("quiet"))
    monkeypatch.setattr(measuring.sz, "get_num_threads", lambda: 2)
    calls = {name: (lambda name=name: done.append(name), (), {}) for name in ("suanzi", "NumPy")}
    measuring.best(calls, 0)
    turns = "".join(name[0] for name in done).split("q")[1:]
    assert len(turns) == 10
    assert all(len(turn) > 1 and len(set(turn)) == 1 for turn in turns)


def test_another_machine_keeps_nothing(runner: Any, tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    runner.write(path, [row("a", 1, NumPy=2)], "wall")
    text = path.read_text("utf-8").replace(f'"cores": {runner.machine()["cores"]}', '"cores": 9999')
    path.write_text(text, "utf-8")
    runner.write(path, [row("b", 1, NumPy=2)], "wall")
    assert [r["case"] for r in json.loads(path.read_text("utf-8"))["rows"]] == ["b"]


MACHINE = {"name": "Abacus", "architecture": "wood", "cores": 2, "level": "baseline"}
RUN = {"date": "2026-01-02", "clock": "processor", "versions": {"suanzi": "1", "numpy": "2"}}


def test_tables_are_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        row("fast", 10, NumPy=20, PyTorch=40),
        row("slow", 10, NumPy=80, PyTorch=5),
        row("fast", 10, threads=2, NumPy=30),
        row("alone", 10, threads=2),
    ]
    later = {**RUN, "versions": {**RUN["versions"], "suanzi": "3"}}
    found = {"machine": MACHINE, "runs": [RUN, later, RUN], "rows": rows}
    monkeypatch.setattr(speed, "results", lambda: [found])
    said = speed.summary()
    assert "**Abacus**, 2 cores, wood, level `baseline`" in said
    assert "2026-01-02, the processor's time: NumPy 2; suanzi 1, 3)" in said
    line = next(line for line in said.splitlines() if line.startswith("| reductions"))
    cells = ["2", "4 (2 to 8)", "1.4 (0.5 to 4)", "1", "3 (3 to 3)", "-", "0"]
    assert line.split(" | ")[1:] == [*cells[:-1], f"{cells[-1]} |"]
    assert "1.00 on 1 thread (2 rows), 3.00 on 2 threads (1 rows)" in said
    listed = [line for line in speed.slower().splitlines() if "`reduction/large`" in line]
    assert listed == ["| `reduction/large` | slow | 1 | 10 ns | 5 ns, PyTorch | 0.50 |"]
    with speaking("zh"):
        assert "规约" in speed.summary()


def test_reasons_are_by_machine() -> None:
    here = row("sum float32, all", 1)
    assert "float64" in speed.why(here, "aarch64")
    assert speed.why(here, "x86_64") != speed.why(here, "aarch64")
    assert speed.why(here, "riscv64") == "Not investigated"


@pytest.mark.parametrize("name", records.names())
def test_every_measured_row_has_a_category(name: str) -> None:
    rows = records.read(name).get("rows", [])  # others measure no times
    sorted_in = sum(len(speed.of(rows, pattern)) for pattern in speed.CATEGORIES)
    assert sorted_in == len(rows)


STORED = [*records.HOME.glob("*.json"), *site.DATA.rglob("*.json")]


@pytest.mark.parametrize("path", sorted(STORED), ids=lambda path: path.stem)
def test_results_have_one_record_in_a_line(path: Path) -> None:
    """Each file is what the one writer writes."""
    text = path.read_text("utf-8")
    assert text == records.text(json.loads(text)), f"{path}: write it with tools/records.py"


def test_results_are_in_one_folder_and_not_installed() -> None:
    others = [p for p in (ROOT / "benchmarks").rglob("*.json") if p.parent != records.HOME]
    assert not others
    text = (ROOT / "CMakeLists.txt").read_text("utf-8")
    installed = re.findall(r"^ *install\((.*?)\)", text, re.M | re.S)
    assert installed
    assert not [one for one in installed if re.search("benchmarks|docs|tests", one)]


@pytest.mark.parametrize("value", [1 / 3, [1 / 3, 2.0], {"a": {"b": 1e300, "c": None}}, {"a": []}])
def test_what_is_written_is_read(value: Any, tmp_path: Path) -> None:
    records.write(tmp_path / "x.json", {"found": value, "rows": [value, value]})
    found = records.read(tmp_path / "x.json")
    assert found == records.short({"found": value, "rows": [value, value]})


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_every_row_of_accelerators_runs(tmp_path: Path) -> None:
    """On PyTorch's CPU, whose results have no meaning; a library that is missing is left out."""
    out = tmp_path / "rows.json"
    words = ("--device", "cpu", "--quick", "--out", str(out))
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "accelerators.py", *words],
        capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    table = json.loads(out.read_text("utf-8"))["table"]
    for name, found in table.items():
        peers = [found.get(one) for one in ("suanzi", "torch")]
        assert all(isinstance(x, float) for x in peers[name.startswith("copy") :]), (name, found)
    assert len(table) > 90
    assert done.stdout.count("| suanzi / torch |") == 1
    assert len(done.stdout.splitlines()) == len(table) + 3


def test_tables_of_a_gpu_have_every_row_once() -> None:
    rows = gpu.rows()
    tables = "\n".join(map(gpu.accelerators, gpu.GROUPS)).splitlines()
    assert len(tables) == len(rows) + 2 * len(gpu.GROUPS)
    line = next(one for one in tables if one.startswith("| add int64 + int64 |"))
    assert line.split("|")[-3].strip() == ""  # JAX's, whose integers have 32 bits
    assert gpu.ratio({"unit": "us", "suanzi": 4.0, "torch": 2.0}) == 0.5
    assert gpu.ratio({"unit": "TB/s", "suanzi": 4.0, "torch": 2.0}) == 2.0
    slower = [one for one in rows.values() if (gpu.ratio(one) or 1) < 1 / 1.05]
    assert gpu.behind().count("(0.") == len(slower)
