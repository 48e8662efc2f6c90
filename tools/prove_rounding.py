"""Proves that functions of dtypes of 16 bits and fewer are correctly rounded.

On every level of this machine: every argument of every function that `suanzi accuracy` measures;
every pair of float8 of `pow`, `div`, `atan2`, `hypot` and `logaddexp`. The exact results are
mpmath's. It takes minutes.

    python tools/prove_rounding.py
"""

from __future__ import annotations

import sys
from pathlib import Path

from suanzi import _core
from suanzi.validate.accuracy import FUNCTIONS, accuracy

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from helpers.narrow_pairs import OPERATORS, wrong_pairs

FUNCTIONS_OF_ONE = [
    name for name, f in FUNCTIONS.items() if not f.binary and not f.key.startswith("more:")
]
DTYPES = ("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16")


def main() -> int:
    """Return 1 if a result is not correctly rounded."""
    failures = 0
    for level in _core.levels():
        rows = accuracy(functions=FUNCTIONS_OF_ONE, dtypes=DTYPES, level=level).rows
        wrong = [
            r for r in rows if r.missing or r.tally.wrong or r.tally.special or r.tally.flushed
        ]
        for row in wrong:
            print(f"{level}: {row.function.name} of {row.dtype}: {row.missing or row.tally}")
        count = sum(row.tally.count for row in rows)
        print(f"{level}: {len(rows)} functions and dtypes, {count:,} results, {len(wrong)} wrong")
        failures += len(wrong)
    for name in OPERATORS:
        for dtype in DTYPES[:2]:
            pairs = wrong_pairs(name, dtype, slice(None))
            print(f"{name} of all pairs of {dtype}: {len(pairs)} wrong {pairs[:3] or ''}")
            failures += len(pairs)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
