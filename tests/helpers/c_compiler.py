"""The C compiler of this machine, for tests that build a library."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from suanzi.conformance.header import write

HEADER = "t_ai_131_1.h"


def compiler(*names: str) -> str:
    """Return a compiler, or skip the test."""
    asked = os.environ.get("CC") if "cc" in names else None
    found = next((p for p in map(shutil.which, filter(None, (asked, *names))) if p), None)
    if found is None:
        pytest.skip(f"needs a compiler: {' or '.join(names)}")
    return found


def build(source: str, folder: Path, *flags: str, before: str = "") -> Path:
    """Return a shared library of a C source, which includes the header of the standard."""
    cc = compiler("cc", "gcc", "clang")
    write(folder / HEADER)
    (folder / "library.c").write_text(f'{before}#include "{HEADER}"\n{source}', encoding="utf-8")
    library = folder / "library.so"
    flags = ("-std=c99", "-Wall", "-Werror", "-fPIC", "-shared", *flags)
    command = [cc, *flags, "library.c", "-o", library]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return library
