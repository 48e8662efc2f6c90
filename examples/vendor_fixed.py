"""A vendor's C library, from its first compile to interfaces that conform.

It compiles examples/vendor_c, tests three of its functions against the standard, fixes the line
that is wrong in each, and tests them again.

    python examples/vendor_fixed.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from suanzi.conformance.check import check

SOURCES = Path(__file__).parent / "vendor_c"
OPS = ["mul", "sub", "min"]
FIXES = {
    "(T)(x * y * (T)1.001)": "(T)(x * y)",
    "(T)(y - x)": "(T)(x - y)",
    "(y < x ? y : x)": "(y != y || y < x ? y : x)",
}
"""What is wrong in `mul` (too large), `sub` (swapped), `min` (a NaN is lost), and right."""


def build(folder: Path) -> Path:
    """Compile the library and return its file."""
    suanzi = f"{sys.executable} -m suanzi.cli"
    subprocess.run(["make", "-s", "CFLAGS=-O1", f"SUANZI={suanzi}"], cwd=folder, check=True)
    return folder / "build" / "libvendor.so"


def failures(library: Path) -> dict[str, int]:
    """Return how many cases of each function fail."""
    found = check(str(library), ops=OPS, dtypes=["float32"], quick=True, jobs=1)
    bad = [r.op for r in found.results if r.outcome in ("failed", "crashed", "hung")]
    return {name: bad.count(name) for name in OPS}


def main() -> None:
    """Test, fix and test again."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "vendor_c"
        shutil.copytree(SOURCES, folder)
        print("1. As it was written:", failures(build(folder)))
        wrong = folder / "wrong.c"
        text = wrong.read_text()
        for before, after in FIXES.items():
            assert before in text
            text = text.replace(before, after)
        wrong.write_text(text)
        print("2. Three lines later:", failures(build(folder)))


if __name__ == "__main__":
    main()
