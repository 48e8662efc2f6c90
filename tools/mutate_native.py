"""Changes native/ in many places, in one build, and runs the tests with one change awake at a time.

    python tools/mutate_native.py native/loops native/ops/reduction --most 60 --build FOLDER
    python tools/mutate_native.py --build FOLDER --only 17 23       # these again, without building

A change sleeps until it is chosen: `a < b` becomes `(mutant(7) ? a <= b : a < b)`, so that a
hundred of them cost one compilation, in a copy of the tree. What does not compile is taken out, and
the build continues. The copy's tests are collected once; for each change a fork of that process
runs those that concern its file, then the kit's cases of its category, until one fails. Changes
that no test sees are printed as survivors.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

HOME = Path(__file__).resolve().parents[1]

HEADER = """#pragma once
#include <cstdlib>
extern "C" {
inline int suanzi_mutant = std::getenv("NAME") ? std::atoi(std::getenv("NAME")) : 0;
}
static inline bool mutant(int number) noexcept { return suanzi_mutant == number; }
""".replace("NAME", "SUANZI_MUTANT")
CHOICE = """#include "core/mutant.h"
extern "C" __attribute__((visibility("default"))) void suanzi_choose(int number) {
  suanzi_mutant = number;
}
"""

EVERYWHERE = [
    "native/test_guards.py", "together/test_elementwise.py", "native/test_copies.py",
]  # fmt: skip
CONCERNED = {
    "loops/elementwise": [
        "together/test_trouble.py", "ops/test_arithmetic.py", "ops/test_comparison.py",
        "ops/test_logical.py", "ops/test_transformation_cast.py",
    ],
    "loops/copies": [
        "ops/test_transformation.py", "ops/test_transformation_views.py",
        "tensors/test_exchange.py",
    ],
    "loops/function_tables": ["native/test_function_tables.py"],
    "loops/": ["ops/test_transformation_cast.py", "ops/test_arithmetic.py"],
    "kernels/complex": ["ops/test_complex.py"],
    "ops/complex": ["ops/test_complex.py"],
    "ops/reduction/reduction.": ["ops/test_linear_algebra_norm.py"],
    "ops/creation/sparse": [
        "tensors/sparse/test_merging.py", "tensors/sparse/test_product.py",
        "tensors/sparse/test_reduction.py", "tensors/sparse/test_shapes.py",
        "tensors/sparse/test_tensor.py",
    ],
    "core/": ["together/test_storage.py", "tensors/test_tensor.py"],
    "ops/indexing": [
        "faces/array_api/test_many.py", "faces/array_api/test_sorting_and_sets.py",
    ],
}  # fmt: skip
"""Tests by the beginning of a file's name in native/; those of its category follow."""
KIT = "conformance/test_embedded.py"
"""Runs the cases of the kit, an operator at a time."""


def category_and_part(name: str) -> str:
    """Return what a file of native/ is about, written as its tests' names are.

    >>> category_and_part("ops/reduction/scan.cpp"), category_and_part("ops/signal/signal.cpp")
    ('reduction_scan', 'signal')
    >>> category_and_part("loops/copies.cpp")
    'copies'
    """
    path = Path(name)
    folder = path.parent.name
    return path.stem if path.stem == folder or len(path.parts) < 3 else f"{folder}_{path.stem}"


@dataclass(frozen=True)
class Mutant:
    """Another text for a part of a file, next to the first."""

    number: int
    file: str
    line: int
    start: int
    end: int
    text: str
    """What stands there then, both of them."""
    shown: str

    def concerned(self) -> list[str]:
        """Return the files of tests to run, the likeliest first."""
        name = self.file.removeprefix("native/")
        found = [
            test for start, tests in CONCERNED.items() if name.startswith(start) for test in tests
        ]
        words = category_and_part(name).split("_")
        for length in range(len(words), 0, -1):
            tests = (HOME / "tests" / "ops").glob(f"test_{'_'.join(words[:length])}*.py")
            found += [f"ops/{path.name}" for path in sorted(tests)]
        if name.startswith(("ops/nn/", "kernels/nn/")):
            last = words[-1].rstrip("s")
            own = sorted(HOME.glob("tests/ops/nn/test_*.py"), key=lambda p: last not in p.name)
            found = [f"ops/nn/{path.name}" for path in own] + found
        return list(dict.fromkeys([*found, *EVERYWHERE, KIT]))

    def concerns(self, item: Any) -> bool:
        """Tell whether a test of those files is to run: of the kit, what is of its category."""
        if not str(item.path).endswith(KIT):
            return True
        from suanzi.standard import interfaces

        op = item.callspec.params.get("op") if hasattr(item, "callspec") else None
        category = interfaces()[op].category.replace(" ", "_") if op else "none"
        name = category_and_part(self.file.removeprefix("native/"))
        return name.startswith(category) or op in ("cast", "contiguous")


# ---- what is changed ----------------------------------------------------------------------------

_RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_ENDS = re.compile(r"[;{}?,]|&&|\|\||(?<!:):(?!:)|(?<![=!<>])=(?!=)|<<|>>|\breturn\b|\bcase\b")


def _operand(code: str, at: int, step: int) -> int:
    """Return where the expression that ends, or begins, at a place begins, or ends."""
    depth = 0
    opening, closing = (")]", "([") if step < 0 else ("([", ")]")
    last = at
    while 0 <= at < len(code):
        char = code[at]
        if char in opening:
            depth += 1
        elif char in closing:
            depth -= 1
            if depth < 0:
                break
        elif depth == 0:
            word = code[max(at - 6, 0) : at + 1] if step < 0 else code[at : at + 6]
            found = _ENDS.search(code, max(at - 1, 0), at + 2)
            if (found and found.start() <= at < found.end()) or (
                word.endswith("return") if step < 0 else word == "return"
            ):
                break
        last = at
        at += step
    return last if step < 0 else last + 1


def changes(code: str) -> Iterator[tuple[int, int, str]]:
    """Give the changes of a line of C++: where, and both texts with `#` for the number.

    >>> for start, end, text in changes("  if (i + 4 <= n && met) met |= f(a, b);"):
    ...     print(text)
    (mutant(#) ? i + 4 < n : i + 4 <= n)
    (mutant(#) ? met = f(a, b) : met |= f(a, b))
    >>> for start, end, text in changes("  n = std::min(edge, rows - 1);"):
    ...     print(text)
    (mutant(#) ? std::max(edge, rows - 1) : std::min(edge, rows - 1))
    (mutant(#) ? 0 : 1)
    """
    for found in re.finditer(r" (<|<=|>|>=|==|!=) ", code):
        start, end = _operand(code, found.start(), -1), _operand(code, found.end(), 1)
        start += len(code[start:]) - len(code[start:].lstrip())
        end -= len(code[start:end]) - len(code[start:end].rstrip())
        left, right = code[start : found.start()], code[found.end() : end]
        if left and right:
            other = f"{left} {_RELATIONS[found[1]]} {right}"
            yield start, end, f"(mutant(#) ? {other} : {code[start:end]})"
    for found in re.finditer(r"([\w.\[\]>*-]+) (\+|\||&|-)= ", code):
        end = _operand(code, found.end(), 1)
        if re.match(r"\s*for \(", code) and code[end : end + 1] in (")", ","):
            continue  # a loop that never ends is seen by every test, late
        right = code[found.end() : end]
        yield (
            found.start(),
            end,
            f"(mutant(#) ? {found[1]} = {right} : {code[found.start() : end]})",
        )
    for found in re.finditer(r"std::(min|max)(<[\w:]+>)?\(", code):
        depth, end = 1, found.end()
        while end < len(code) and depth:
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        if depth == 0:
            was = code[found.start() : end]
            other = was.replace(found[1], "max" if found[1] == "min" else "min", 1)
            yield found.start(), end, f"(mutant(#) ? {other} : {was})"
    for found in re.finditer(r"(?<= [+-] )1(?=[;,)\] ])", code):
        yield found.start(), found.end(), "(mutant(#) ? 0 : 1)"
    for found in re.finditer(
        r"(?<=[(,=] )(true|false)(?=[;,)])|(?<=return )(true|false)(?=;)", code
    ):
        other = "false" if found[0] == "true" else "true"
        yield found.start(), found.end(), f"(mutant(#) ? {other} : {found[0]})"
    whole = re.fullmatch(r"(\s+)((?!return|throw|using|delete)[\w.>:-]+\(.*\));\s*", code)
    if whole:
        yield whole.start(2), whole.end(2) + 1, f"if (!mutant(#)) {whole[2]};"


def mutants_of(path: Path) -> Iterator[tuple[int, int, int, str, str]]:
    """Give line, start, end, text and a sentence for each change of a file."""
    position = 0
    for number, line in enumerate(path.read_text().splitlines(keepends=True), 1):
        code = re.sub(r'"(\\.|[^"\\])*"', lambda m: "_" * len(m[0]), line.split("//")[0])
        if not re.match(r"\s*(#|template|using|static_assert|(\w+ )?constexpr)", code):
            for start, end, text in changes(code.rstrip()):
                if "_" * 3 in code[start:end]:
                    continue
                shown = f"{line.strip()}\n      {text}"
                yield number, position + start, position + end, text, shown
        position += len(line)


def drawn(files: list[Path], most: int, seed: int) -> list[Mutant]:
    """Draw changes that do not overlap, of every file alike, or of some if there are more files."""
    random = Random(seed)
    random.shuffle(files)
    places = [[(path, m) for m in mutants_of(path)] for path in files]
    for of_file in places:
        random.shuffle(of_file)
    order = [
        of_file[i] for i in range(max(map(len, places))) for of_file in places if i < len(of_file)
    ]
    found: list[Mutant] = []
    taken: set[tuple[Path, int]] = set()
    for path, (line, start, end, text, shown) in order:
        if len(found) == most:
            break
        if (path, line) in taken or (path, line - 1) in taken or (path, line + 1) in taken:
            continue
        taken.add((path, line))
        name = str(path.relative_to(HOME))
        number = len(found) + 1
        found.append(Mutant(number, name, line, start, end, text.replace("#", str(number)), shown))
    return found


# ---- the build -----------------------------------------------------------------------------------


def plant(copy: Path, mutants: list[Mutant]) -> None:
    """Write the changed files into a copy of the tree; `before`, next to it, stays as it was."""
    native, before = copy / "native", copy.parent / "before"
    (native / "core" / "mutant.h").write_text(HEADER)
    cmake = (before / "CMakeLists.txt").read_text()
    (copy / "CMakeLists.txt").write_text(
        cmake.replace(
            "  native/core/dtypes.cpp\n", "  native/core/dtypes.cpp\n  native/core/mutant.cpp\n"
        )
    )
    (native / "core" / "mutant.cpp").write_text(CHOICE)
    for name in dict.fromkeys(m.file for m in mutants):
        text = (before / name).read_text()
        for m in sorted((m for m in mutants if m.file == name), key=lambda m: -m.start):
            text = text[: m.start] + m.text + text[m.end :]
        (copy / name).write_text(text)
    include = '#include "core/mutant.h"\n'
    for name in dict.fromkeys(m.file for m in mutants):
        users = [copy / name]
        if name.endswith(".inc"):  # inside of a namespace
            users = [
                p
                for p in (native / "kernels").rglob("*.cpp")
                if f'"{name.removeprefix("native/")}"' in p.read_text()
            ]
        for path in users:
            text = path.read_text()
            if include not in text:
                path.write_text(include + text)


def configured(copy: Path) -> dict[str, str]:
    """Configure a copy in `build/dev`; return the environment that shares the compiler cache."""
    command = ["cmake", "-S", ".", "-B", "build/dev", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    command += [f"-DPython_EXECUTABLE={sys.executable}"]
    if shutil.which("ccache"):
        command += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
    subprocess.run(command, check=True, capture_output=True, cwd=copy)
    return {**os.environ, "CCACHE_BASEDIR": str(copy), "CCACHE_NOHASHDIR": "1"}


def build(folder: Path, mutants: list[Mutant], jobs: int) -> list[Mutant]:
    """Build a copy with the changes; return those that compile."""
    copy = folder / "tree"
    shutil.rmtree(copy, ignore_errors=True)
    ignored = shutil.ignore_patterns(".git", "build", "dist", "__pycache__", ".*", "*.so")
    shutil.copytree(HOME, copy, ignore=ignored, symlinks=True)
    shutil.rmtree(folder / "before", ignore_errors=True)
    shutil.copytree(copy / "native", folder / "before" / "native")
    shutil.copy(copy / "CMakeLists.txt", folder / "before")
    plant(copy, mutants)
    environment = configured(copy)
    while True:
        command = ["cmake", "--build", "build/dev", "-j", str(jobs), "--", "-k", "0"]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=copy, env=environment, check=False
        )
        if done.returncode == 0:
            break
        # Lines keep their numbers but for the include; an error is within a line of its cause.
        bad = set()
        for name, line in re.findall(r"(native/[\w/.]+):(\d+):\d+: (?:fatal )?error:", done.stdout):
            near = [m for m in mutants if m.file == name]
            near = [m for m in near if abs(m.line + (not name.endswith(".inc")) - int(line)) <= 1]
            bad |= set(near)
        if not bad:
            sys.exit(done.stdout[-4000:])
        for m in bad:
            print(f"does not compile: {m.file}:{m.line}: {m.shown}", flush=True)
            shutil.copy(folder / "before" / m.file, copy / m.file)
        mutants = [m for m in mutants if m not in bad]
        plant(copy, mutants)
    for made in (copy / "build" / "dev").glob("_core*.so"):
        shutil.copy(made, copy / "src" / "suanzi")
    (folder / "mutants.json").write_text(json.dumps([asdict(m) for m in mutants], indent=1))
    return mutants


# ---- the run -------------------------------------------------------------------------------------


class Tried:
    """A plugin of pytest: the collected tests once for each change, each time in a fork."""

    def __init__(self, mutants: list[Mutant], tests: Path, seconds: float, processes: int) -> None:
        self.mutants, self.tests = mutants, tests
        self.seconds, self.processes = seconds, processes
        self.survivors: list[Mutant] = []
        self.caught_by: set[str] = set()
        self.failed = ""
        self.notes = Path(tempfile.mkdtemp())

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run them; nothing is left for pytest to do."""
        by_file: dict[str, list[Any]] = {}
        for item in session.items:
            by_file.setdefault(str(item.path.relative_to(self.tests)), []).append(item)
        waiting, running = self.mutants[::-1], dict[int, tuple[Mutant, float]]()
        while waiting or running:
            while waiting and len(running) < self.processes:
                mutant = waiting.pop()
                items = [item for name in mutant.concerned() for item in by_file.get(name, [])]
                items = [item for item in items if mutant.concerns(item)]
                pid = os.fork()
                if not pid:
                    self._child(mutant.number, items, session)
                running[pid] = mutant, time.monotonic()
            pid, how = os.wait()
            mutant, began = running.pop(pid)
            self._tell(mutant, os.waitstatus_to_exitcode(how), time.monotonic() - began)
        # A test that fails without any change has caught nothing.
        pid = os.fork()
        if not pid:
            self._child(0, [x for x in session.items if x.nodeid in self.caught_by], session)
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
            print("fails without a change:", (self.notes / "0").read_text() or "a crash")
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the first test that fails."""
        self.failed = self.failed or (report.nodeid if report.failed else "")

    def _tell(self, mutant: Mutant, code: int, took: float) -> None:
        said = f"caught ({'no end' if code == -signal.SIGXCPU else code})"
        if code == 0:
            said = "SURVIVES"
            self.survivors.append(mutant)
        else:
            by = (self.notes / str(mutant.number)).read_text() if code == 1 else ""
            self.caught_by.add(by)
            said += f" by {by}" if by else ""
        where = f"{mutant.file}:{mutant.line}"
        print(f"{mutant.number:3} {said}, {took:.0f} s\n    {where}: {mutant.shown}", flush=True)

    def _child(self, number: int, items: list[Any], session: Any) -> None:
        code = 3
        try:
            import suanzi._core

            spent = int(time.process_time())
            resource.setrlimit(
                resource.RLIMIT_CPU, (spent + int(self.seconds), spent + int(self.seconds) + 5)
            )
            os.environ["SUANZI_MUTANT"] = str(number)
            ctypes.CDLL(suanzi._core.__file__).suanzi_choose(number)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            code = 0
            for i, item in enumerate(items):
                after = items[i + 1] if i + 1 < len(items) else None
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                if self.failed:
                    (self.notes / str(number)).write_text(self.failed)
                    code = 1
                    break
        finally:
            os._exit(code)


def main(words: list[str] | None = None) -> int:
    """Plant, build, run; 1 if something survives."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, help="files or folders of native/")
    parser.add_argument("--build", type=Path, required=True, help="a folder to build in")
    parser.add_argument("--most", type=int, default=60, help="so many changes, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="*", help="these of the last build")
    parser.add_argument("--jobs", type=int, default=2, help="compilers, and then changes, at once")
    parser.add_argument(
        "--seconds", type=float, default=300, help="processor time for a change's tests"
    )
    args = parser.parse_args(words)
    folder = args.build.absolute()
    if args.files:
        files = [f.resolve() for f in args.files]
        files = [p for f in files for p in (sorted(f.rglob("*.cpp")) if f.is_dir() else [f])]
        mutants = build(folder, drawn(files, args.most, args.seed), args.jobs)
    else:
        mutants = [Mutant(**m) for m in json.loads((folder / "mutants.json").read_text())]
    if args.only:
        mutants = [m for m in mutants if m.number in args.only]
    sys.path.insert(0, str(folder / "tree" / "src"))
    os.environ["PYTHONPATH"] = str(folder / "tree" / "src")
    import pytest

    tests = dict.fromkeys(f"tests/{name}" for m in mutants for name in m.concerned())
    tried = Tried(mutants, folder / "tree" / "tests", args.seconds, args.jobs)
    os.chdir(folder / "tree")
    silent = ["-o", "addopts=--import-mode=importlib", "-p", "no:terminal", "--apart"]
    code = pytest.main([*silent, "-p", "no:cacheprovider", *tests], plugins=[tried])
    if code != pytest.ExitCode.OK:
        sys.exit(f"the tests could not be collected: {code}")
    print(f"{len(mutants)} changes, {len(mutants) - len(tried.survivors)} caught")
    return int(bool(tried.survivors))


if __name__ == "__main__":
    sys.exit(main())
