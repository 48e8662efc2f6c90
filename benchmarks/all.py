"""Times every category against every installed peer, and writes what was measured to one file.

    python benchmarks/all.py                          # everything, on one thread and on all
    python benchmarks/all.py elementwise reduction    # some files
    python benchmarks/all.py elementwise/casts        # a group of one
    python benchmarks/all.py --without elementwise/functions-16M
    python benchmarks/all.py --threads 1 --cpu        # the processor's time: for a busy machine
    python benchmarks/all.py --seconds 0.05           # how long each call is tried, at most
    python benchmarks/all.py --fresh                  # rows that were measured before are dropped

The file is `results/<machine>.json`, which has the machine, the instruction-set level and all
versions; `python tools/write_docs.py` makes the tables of the README and of
docs/en/reference/speed.md from such files. What is measured again replaces what is there, the
rest stays, also of a run that is ended early. Each benchmark runs in a process of its own for
each number of threads, which OpenBLAS reads when it is loaded.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import suanzi as sz
from suanzi.ops.libraries.config import processor

sys.path.append(str(Path(__file__).parents[1] / "tools"))
import records

HERE = Path(__file__).parent
FILES = (
    "elementwise",
    "reduction",
    "indexing",
    "transformation",
    "creation",
    "quantized",
    "sparse",
    "signal_interpolation",
    "linear_algebra_products",
    "linear_algebra_decompositions",
    "promotion",
    "array_api",
    "array_api_along",
    "nn",
)
PEERS = ("numpy", "scipy", "torch")


def machine() -> dict[str, Any]:
    """Return what is known of this machine."""
    return {
        "name": processor(),
        "architecture": platform.machine(),
        "cores": os.cpu_count() or 1,
        "level": sz._core.level(),
    }


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions of what is compared; suanzi's is its commit where there is one."""
    commit = subprocess.run(
        ["git", "-C", str(HERE), "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True
    )
    found = {"suanzi": commit.stdout.strip() or sz.__version__, "python": platform.python_version()}
    return found | {name: version(name) for name in PEERS if importlib.util.find_spec(name)}


def measure(file: str, groups: list[str], threads: int, options: list[str]) -> list[dict[str, Any]]:
    """Run a benchmark and return its rows."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "rows.json"
        count = {name: str(threads) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
        count["OPENBLAS_THREAD_TIMEOUT"] = "21"  # its threads wait for a millisecond, not for 100
        command = [sys.executable, str(HERE / f"{file}.py"), *groups, "--threads", str(threads)]
        subprocess.run(
            [*command, "--json", str(found), *options], env={**os.environ, **count}, check=True
        )
        return [{"file": file, **row} for row in json.loads(found.read_text("utf-8"))]


def key(row: dict[str, Any]) -> tuple[str, ...]:
    """Return what distinguishes a row from the others."""
    return tuple(str(row[name]) for name in ("file", "group", "threads", "case"))


def best_peer(row: dict[str, Any]) -> float:
    """Return how many times as fast as the fastest peer suanzi is."""
    peers = [t for name, t in row["ns"].items() if name != "suanzi"]
    return min(peers, default=float("inf")) / row["ns"]["suanzi"]


def write(path: Path, rows: list[dict[str, Any]], clock: str) -> None:
    """Put rows into the file of a machine: a head, and a line for each row."""
    said = {"date": f"{datetime.date.today()}", "clock": clock, "versions": versions()}
    kept: dict[tuple[str, ...], dict[str, Any]] = {}
    runs: list[dict[str, Any]] = []
    if path.exists():
        old = records.read(path)
        if old["machine"] == machine():
            kept, runs = {key(row): row for row in old["rows"]}, old["runs"]
    runs.append(said)
    kept |= {key(row): {**row, "run": len(runs) - 1} for row in rows}
    used = sorted({row["run"] for row in kept.values()})
    for row in kept.values():
        row["run"] = used.index(row["run"])
    found = {"machine": machine(), "runs": [runs[i] for i in used], "rows": [*kept.values()]}
    records.write(path, found)


def main() -> None:
    """Measure, write, and say what is slower than a peer."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", metavar="file", help=f"of {', '.join(FILES)}")
    parser.add_argument("--without", action="append", default=[], metavar="file/group")
    parser.add_argument("--threads", choices=["1", "all", "both"], default="both")
    parser.add_argument("--seconds", type=float, help="of a call, at most")
    parser.add_argument("--cpu", action="store_true", help="measure the processor's time")
    parser.add_argument("--cases", help="a regular expression that is found in each")
    parser.add_argument("--fresh", action="store_true", help="drop what was measured before")
    parser.add_argument("--output", type=Path, help="another file than results/<machine>.json")
    chosen = parser.parse_args()
    wanted: dict[str, list[str]] = {}
    for name in chosen.files or FILES:
        file, _, group = name.partition("/")
        if file not in FILES:
            parser.error(f"{file}: there are {', '.join(FILES)}")
        wanted.setdefault(file, []).extend([group] if group else [])
    options = [f"--seconds={chosen.seconds}"] * bool(chosen.seconds) + ["--cpu"] * chosen.cpu
    options += [f"--cases={chosen.cases}"] * bool(chosen.cases)
    every = os.cpu_count() or 1
    print(", ".join(f"{name} {found}" for name, found in versions().items()))  # of when it begins
    facts = machine()
    name = f"{facts['name']}-{facts['architecture']}-{facts['cores']}".lower()
    path = chosen.output or records.HOME / f"{re.sub('[^a-z0-9]+', '-', name)}.json"
    if chosen.fresh:
        path.unlink(missing_ok=True)
    rows: list[dict[str, Any]] = []
    start = time.perf_counter()
    for threads in {"1": [1], "all": [every], "both": sorted({1, every})}[chosen.threads]:
        for file, groups in wanted.items():
            taken = time.perf_counter() - start
            print(f"\n#### {file}, {threads} threads, after {taken:.0f} s", flush=True)
            less = [
                f"--without={name.partition('/')[2]}"
                for name in chosen.without
                if name.startswith(f"{file}/")
            ]
            rows += measure(file, groups, threads, options + less)
            write(path, rows, "processor" if chosen.cpu else "wall")
    slow = [row for row in rows if best_peer(row) < 1]
    print(f"\n{len(rows)} rows in {time.perf_counter() - start:.0f} s, written to {path}")
    print(f"{len(slow)} slower than the fastest peer:")
    for row in slow:
        where = f"{row['file']}/{row['group']}, {row['threads']} threads"
        print(f"  {best_peer(row):.2f}  {where}: {row['case']}")


if __name__ == "__main__":
    main()
