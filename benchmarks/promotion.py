"""Times promotion against NumPy and PyTorch in one run; ratios above 1 mean suanzi is faster.

    python benchmarks/promotion.py

The cases take turns, so that a busy machine slows all of them alike; the best of many rounds
counts.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
from measuring import Call, Group, Table, main, torch

import suanzi as sz


def cases() -> dict[str, dict[str, Call]]:
    """Return two dtypes, and a dtype with a number, as each library is asked."""
    dtypes, theirs = (sz.int32, sz.float32), (np.dtype("int32"), np.dtype("float32"))
    two: Call = (np.promote_types, theirs, {})
    found: dict[str, dict[str, Call]] = {
        "two dtypes": {"suanzi": (sz.promote_types, dtypes, {}), "NumPy": two},
        "two dtypes, rules='numpy'": {
            "suanzi": (sz.promote_types, dtypes, {"rules": "numpy"}),
            "NumPy": two,
        },
    }
    number: Call = (np.result_type, (np.ones(10, np.int32), 2.5), {})
    for case, keywords in (("a dtype and 2.5", {}), ("a dtype and 2.5, op='add'", {"op": "add"})):
        found[case] = {"suanzi": (sz.result_type, (sz.int32, 2.5), keywords), "NumPy": number}
    if torch is not None:
        ones = torch.ones(10, dtype=torch.int32)
        for case, calls in found.items():
            calls["PyTorch"] = (
                (torch.promote_types, (torch.int32, torch.float32), {})
                if case.startswith("two")
                else (torch.result_type, (ones, 2.5), {})
            )
    return found


def pairs(table: Table, threads: int) -> None:
    """What a question costs, once the native table has its answer."""
    table.title("promotion, ns", "1.0x both")
    for case, calls in cases().items():
        table.row(case, calls, faster=1, unit=1e9)


def imports(table: Table, threads: int) -> None:
    """Print what an import costs."""

    def run(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return (time.perf_counter() - start) * 1e3

    rounds = [[run(c) for c in ("pass", "import suanzi", "import numpy")] for _ in range(15)]
    bare, ours, theirs = (min(column) for column in zip(*rounds, strict=True))
    print(
        f"\nimport: suanzi {ours - bare:.0f} ms, NumPy {theirs - bare:.0f} ms, "
        f"{(ours - bare) / (theirs - bare):.2f} of it"
    )


GROUPS: dict[str, Group] = {"small": pairs, "import": imports}

if __name__ == "__main__":
    main(__doc__, GROUPS)
