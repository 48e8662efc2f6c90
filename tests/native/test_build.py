"""What the compiler made of the core: no code for one instruction set may reach another's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("SUANZI_BUILD", Path(__file__).parents[2] / "build"))


def objects(pattern: str) -> list[Path]:
    return sorted(BUILD.glob(f"*/CMakeFiles/{pattern}"))


def output(tool: str, *arguments: str) -> str:
    return subprocess.run([tool, *arguments], capture_output=True, text=True, check=True).stdout


LEVELS = objects("kernels_*.dir/native/kernels/**/*.o")
COMMON = [
    *objects("_core.dir/native/**/*.o"),
    *objects("kernels_baseline.dir/native/kernels/**/*.o"),
]

# The same at every level: the address of a function, and how clang ends a process where something
# is thrown that must not be, which is two calls.
COMMON_TO_ALL = ("DW.ref.__gxx_personality_v0", "__clang_call_terminate")


@pytest.mark.skipif(not LEVELS or not shutil.which("nm"), reason="there is no build to look at")
def test_a_level_defines_nothing_that_another_could_use() -> None:
    # The linker keeps one of several weak definitions of a name, of whichever level it likes.
    text = output("nm", "--demangle", "--defined-only", "--print-file-name", *map(str, LEVELS))
    seen = set()
    for line in text.splitlines():
        file, _, symbol = line.partition(":")
        _, kind, name = symbol.split(" ", 2)
        if kind.islower() and kind not in "uvw":
            continue  # local to the file
        level = re.search(r"kernels_(baseline|avx2|avx512|armv82)\.dir", file)
        assert level, file
        own = name.startswith(f"suanzi::{level[1]}_") or f"xsimd_{level[1]}::" in name
        assert own or name in COMMON_TO_ALL, f"{name} is {kind} in {file}"
        seen.add(file)
    assert seen == set(map(str, LEVELS))


# What an instruction looks like that only a better level may have, by the processor.
BETTER = {
    "x86-64": "%[yz]mm",
    "aarch64": r"\b([us]dot\b|f(add|sub|mul|div|max|min)\b.*\.8h)",
}


ONLY_AVX512 = {"nn/experts.cpp.o"}
"""Whose other levels leave the work to products of matrices."""


def better(files: list[Path]) -> dict[str, int]:
    """Return how many instructions of object files a machine of the baseline could not run."""
    kind = output("objdump", "--file-headers", str(files[0]))
    pattern = next((BETTER[name] for name in BETTER if name in kind), None)
    if pattern is None:
        pytest.skip("a processor without levels")
    listing = 'objdump --disassemble --no-show-raw-insn "$@" | grep -E "file format|$PATTERN"'
    lines = subprocess.run(
        ["sh", "-c", listing, "sh", *map(str, files)],
        env={**os.environ, "PATTERN": pattern},
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    found: dict[str, int] = {}
    file, count = "", 0
    for line in lines:
        if "file format" in line:
            file, count = line.partition(":")[0], count + 1
        else:
            found[file] = found.get(file, 0) + 1
    assert count == len(files)
    return found


@pytest.mark.skipif(
    not COMMON or not shutil.which("objdump"), reason="there is no build to look at"
)
def test_what_runs_everywhere_needs_nothing_better() -> None:
    assert better(COMMON) == {}


@pytest.mark.skipif(
    not LEVELS or not shutil.which("objdump"), reason="there is no build to look at"
)
def test_the_levels_are_what_they_say() -> None:
    """Else the test above would pass for want of anything to find."""
    files = [
        file
        for file in LEVELS
        if "kernels_baseline.dir" not in file.parts
        and ("/".join(file.parts[-2:]) not in ONLY_AVX512 or "kernels_avx512.dir" in file.parts)
    ]
    if files:
        assert set(better(files)) == set(map(str, files))
