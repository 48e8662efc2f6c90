"""Mistakes planted in the sample C library, one at a time, and whether `suanzi check` notices them.

A mutant replaces one text in one source of examples/vendor_c. It is run with the interfaces and the
dtypes concerned, until a case fails a level. `tools/c_mutants.py` prints the table.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from suanzi.conformance.cases import Wanted
from suanzi.conformance.header import write
from suanzi.conformance.running.process import Backend, Subject
from suanzi.conformance.running.run import Job, results_of

SOURCES = Path(__file__).parents[2] / "examples" / "vendor_c"
FILES = ("tensors", "numbers", "elementwise", "reductions", "selecting")
FLAGS = "-std=c99 -fPIC -fwrapv -ffp-contract=off -O1 -w".split()
LEVELS = ("level", "quality", "extension", "unnoticed")
"""What a mutant may get: a level not reached; a failure that no level depends on; nothing."""


@dataclass(frozen=True)
class Mutant:
    """A mistake."""

    name: str
    file: str
    old: str | tuple[str, ...]
    new: str | tuple[str, ...]
    ops: tuple[str, ...]
    dtypes: tuple[str, ...]
    expected: str = "level"

    def source(self) -> str:
        """Return the source with the mistake."""
        text = (SOURCES / f"{self.file}.c").read_text("utf-8")
        both = [x if isinstance(x, tuple) else (x,) for x in (self.old, self.new)]
        for old, new in zip(*both, strict=True):
            assert text.count(old) == 1, f"{self.name}: {text.count(old)} times {old!r}"
            text = text.replace(old, new)
        return text


def compiler() -> str | None:
    """Return the C compiler of this machine."""
    return (
        os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    )


def objects(folder: Path) -> None:
    """Compile what mutants share: the header, and every source without a mistake."""
    write(folder / "t_ai_131_1.h")
    for name in FILES:
        _compile(folder, SOURCES / f"{name}.c", folder / f"{name}.o")


def _compile(folder: Path, source: Path, to: Path) -> None:
    command = [str(compiler()), *FLAGS, f"-I{SOURCES}", f"-I{folder}", "-c", str(source), "-o"]
    subprocess.run([*command, str(to)], check=True, capture_output=True, text=True)


def build(folder: Path, mutant: Mutant | None = None) -> Path:
    """Return the library with a mistake, or with none, from the objects in a folder."""
    name = "none" if mutant is None else mutant.name.replace(" ", "-").replace("/", "-")
    parts = {one: folder / f"{one}.o" for one in FILES}
    if mutant is not None:
        source = folder / f"{name}.c"
        source.write_text(mutant.source(), "utf-8")
        parts[mutant.file] = folder / f"{name}.o"
        _compile(folder, source, parts[mutant.file])
    library = folder / f"{name}.so"
    command = [str(compiler()), "-shared", *map(str, parts.values()), "-lm", "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return library


@dataclass(frozen=True)
class Outcome:
    """What a mutant got, and the case that says so."""

    level: str
    case: str = ""
    problem: str = ""
    cases: int = 0


def run(library: Path, ops: tuple[str, ...], dtypes: tuple[str, ...]) -> Outcome:
    """Run the cases of some interfaces and dtypes until one fails a level."""
    backend = Backend("mutant", "suanzi.conformance.subjects.c_adapter:Adapter",
                      options={"path": str(library)})  # fmt: skip
    found, cases = Outcome("unnoticed"), 0
    wanted = Wanted(dtypes=frozenset({*dtypes, "any"}) if dtypes else None, rules="strict")
    with Subject(backend, timeout=10) as subject:
        for op in ops:
            for result in results_of(subject, Job(op, wanted)):
                cases += 1
                if result.breaks:
                    return Outcome("level", result.id, result.problem or "", cases)
                if result.bad and found.level in ("unnoticed", "extension"):
                    kind = "extension" if result.extension else "quality"
                    found = Outcome(kind, result.id, result.problem or "")
    return Outcome(found.level, found.case, found.problem, cases)


@cache
def table() -> tuple[Mutant, ...]:
    """Return every mutant; no two have a name, or a change, in common."""
    from helpers.c_mutant_table import ROWS

    return tuple(Mutant(*row) for row in ROWS)
