"""What the compiler made of the core: no code for one instruction set may reach another's."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(__file__).parents[2] / "build"


def objects(pattern: str) -> list[Path]:
    return sorted(BUILD.glob(f"*/CMakeFiles/{pattern}"))


def output(tool: str, *arguments: str) -> str:
    return subprocess.run([tool, *arguments], capture_output=True, text=True, check=True).stdout


LEVELS = objects("kernels_*.dir/native/kernels/*.o")
COMMON = [*objects("_core.dir/native/*/*.o"), *objects("kernels_baseline.dir/native/kernels/*.o")]


# The same at every level: the address of a function, and how clang ends a process where something
# is thrown that must not be, which is two calls.
COMMON_TO_ALL = ("DW.ref.__gxx_personality_v0", "__clang_call_terminate")


@pytest.mark.skipif(not LEVELS or not shutil.which("nm"), reason="there is no build to look at")
@pytest.mark.parametrize("file", LEVELS, ids=lambda file: f"{file.parts[-4]} {file.name}")
def test_a_level_defines_nothing_that_another_could_use(file: Path) -> None:
    # The linker keeps one of several weak definitions of a name, of whichever level it likes.
    level = next(part for part in file.parts if part.startswith("kernels_"))
    level = level.removeprefix("kernels_").removesuffix(".dir")
    assert level in ("baseline", "avx2", "avx512", "armv82")
    seen = 0
    for line in output("nm", "--demangle", "--defined-only", str(file)).splitlines():
        _, kind, name = line.split(" ", 2)
        if kind.islower() and kind not in "uvw":
            continue  # local to the file
        seen += 1
        own = name.startswith(f"suanzi::{level}_") or f"xsimd_{level}::" in name
        assert own or name in COMMON_TO_ALL, f"{name} is {kind} in {file.name}"
    assert seen


# What an instruction looks like that only a better level may have, by the processor.
BETTER = {
    "x86-64": re.compile(r"%[yz]mm"),
    "aarch64": re.compile(r"\t([us]dot\t|f(add|sub|mul|div|max|min)\t.*\.8h)"),
}


def better(file: Path) -> list[str]:
    """Return the lines of an object file's code that a machine of the baseline could not run."""
    kind = output("objdump", "--file-headers", str(file))
    pattern = next((BETTER[name] for name in BETTER if name in kind), None)
    if pattern is None:
        pytest.skip("a processor without levels")
    with subprocess.Popen(
        ["objdump", "--disassemble", "--no-show-raw-insn", str(file)],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        return [line for line in process.stdout if pattern.search(line)]


@pytest.mark.skipif(
    not COMMON or not shutil.which("objdump"), reason="there is no build to look at"
)
@pytest.mark.parametrize("file", COMMON, ids=lambda file: file.name)
def test_what_runs_everywhere_needs_nothing_better(file: Path) -> None:
    found = better(file)
    assert not found, found[:3]


@pytest.mark.skipif(
    not LEVELS or not shutil.which("objdump"), reason="there is no build to look at"
)
def test_the_levels_are_what_they_say() -> None:
    """Else the test above would pass for want of anything to find."""
    for file in LEVELS:
        if "kernels_baseline.dir" not in file.parts:
            assert better(file), file
