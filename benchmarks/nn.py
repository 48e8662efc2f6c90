"""The model operators at the shapes of real models, in one run with PyTorch's.

    python benchmarks/nn.py [activations rows attention ...] [--threads 1|all|both]

Each file of `nn/` is a group: its `rows()` gives a name, suanzi's call and PyTorch's, which is None
where it has none. Ratios above 1 mean suanzi is faster.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from measuring import Call, Group, Table, main

FOLDER = Path(__file__).parent / "nn"


def group(path: Path) -> Group:
    """Return what measures the rows of a file."""

    def measure(table: Table, threads: int) -> None:
        table.title(f"{path.stem}, {threads} threads, ms", "1.0x PyTorch")
        spec = importlib.util.spec_from_file_location(f"nn_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for case, ours, theirs in module.rows():
            calls: dict[str, Call] = {"suanzi": (ours, (), {})}
            if theirs is not None:
                calls["PyTorch"] = (theirs, (), {})
            table.row(case, calls, torch=1, unit=1e3, rounds=0.2)

    return measure


GROUPS: dict[str, Group] = {path.stem: group(path) for path in sorted(FOLDER.glob("*.py"))}

if __name__ == "__main__":
    main(__doc__, GROUPS, peers=("PyTorch",))
