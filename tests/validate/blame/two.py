"""One of two processes that compute together with gloo, under blame; prints what it reports.

two.py FILE RANK
"""

from __future__ import annotations

import json
import sys

import torch
from torch import distributed

import suanzi as sz


def main(path: str, rank: int) -> None:
    """Sum a tensor over both processes."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=2)
    x = torch.arange(4.0)
    with sz.blame() as report:
        y = x.exp() * (rank + 1)
        distributed.all_reduce(y)
        y.sqrt()
    right = bool(torch.allclose(y, 3 * x.exp()))
    judged = sorted({s.operator for s in report.sites if s.judged})
    print(json.dumps([right, report.answer, judged, sorted(report.counted("no truth"))]))
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
