"""A vendor's C library, from its first compile to a level of the standard.

It compiles examples/vendor_c and tests three of its functions, fixes the line that is wrong in
each, and tests them again. Then it compiles the whole library, with every function of the minimal
set, and tests that for the three dtypes it has: quick cases, or all that the level requires.

    python examples/vendor_fixed.py [--all]
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
DTYPES = ["bool", "int32", "float32"]
"""What the whole library has, as a chip might."""


def build(folder: Path, name: str = "libvendor") -> Path:
    """Compile a library and return its file."""
    target = f"build/{name}.so"
    suanzi = f"SUANZI={sys.executable} -m suanzi"
    subprocess.run(["make", "-s", target, "CFLAGS=-O1", suanzi], cwd=folder, check=True)
    return folder / target


def failures(library: Path) -> dict[str, int]:
    """Return how many cases of each function fail."""
    found = check(str(library), ops=OPS, dtypes=["float32"], quick=True, jobs=1)
    bad = [r.op for r in found.results if r.outcome in ("failed", "crashed", "hung")]
    return {name: bad.count(name) for name in OPS}


def level(library: Path, *, everything: bool) -> str:
    """Return how much of the minimal set conforms, and whether the level is reached."""
    less = {} if everything else {"quick": True, "dtypes": ["any", *DTYPES]}
    found = check(str(library), minimal=True, has=DTYPES, normative=True, **less)
    return f"{found.decision.levels[0]}. {found.decision.headline}"


def main(*, everything: bool = False) -> None:
    """Test, fix, test again, and test the whole library."""
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
        print("3. The whole library:", level(build(folder, "libminimal"), everything=everything))


if __name__ == "__main__":
    main(everything="--all" in sys.argv)
