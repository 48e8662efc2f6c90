"""Mistakes planted in the sample C library: all compile, and some are run in every session.

`python tools/c_mutants.py` runs all. Which ones are run here follows from the sources of the kit:
another change tries others.
"""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from helpers.c_mutants import FILES, FLAGS, SOURCES, Mutant, build, compiler, objects, run, table
from suanzi import conformance
from suanzi.conformance.header import write

RUN = 10


def chosen() -> list[Mutant]:
    """Return the mutants of this session, by a hash of the kit and of their names."""
    kit = hashlib.sha256()
    for path in sorted(Path(conformance.__file__).parent.rglob("*.py")):
        kit.update(path.read_bytes())

    def rank(mutant: Mutant) -> bytes:
        return hashlib.sha256(kit.digest() + mutant.name.encode()).digest()

    return sorted((m for m in table() if m.expected == "level"), key=rank)[:RUN]


def test_there_are_more_than_a_hundred_and_no_two_are_the_same() -> None:
    violations = [m for m in table() if m.expected == "level"]
    assert len(violations) >= 100
    assert len({m.name for m in table()}) == len(table())
    assert len({(m.file, m.source(), m.ops, m.dtypes) for m in table()}) == len(table())
    assert {m.file for m in table()} == set(FILES)
    assert len({op for m in table() for op in m.ops}) > 30


def test_all_of_them_compile_and_differ(tmp_path: Path) -> None:
    if compiler() is None:
        pytest.skip("needs a C compiler")
    write(tmp_path / "t_ai_131_1.h")
    sources = []
    for i, mutant in enumerate(table()):
        assert mutant.source() != (SOURCES / f"{mutant.file}.c").read_text("utf-8"), mutant.name
        sources.append(tmp_path / f"{i}.c")
        sources[-1].write_text(mutant.source(), "utf-8")
    folders = [f"-I{SOURCES}", f"-I{tmp_path}"]
    command = [str(compiler()), *FLAGS, "-fsyntax-only", *folders, *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if compiler() is None:
        pytest.skip("needs a C compiler")
    made = tmp_path_factory.mktemp("mutants")
    objects(made)
    return made


@pytest.mark.parametrize("mutant", chosen(), ids=lambda m: m.name.replace(" ", "-"))
def test_a_mutant_fails_a_level(mutant: Mutant, folder: Path) -> None:
    found = run(build(folder, mutant), mutant.ops, mutant.dtypes)
    assert found.level == "level", found


def test_the_library_without_a_mistake_passes(folder: Path) -> None:
    library = build(folder)
    for op in ("clip", "argmax"):
        assert run(library, (op,), ("float32",)).level == "unnoticed"
