"""Run the cases of some interfaces against the embedded implementation, in this process.

python -m suanzi.conformance.try_cases add sqrt --quick --rules=torch
"""

from __future__ import annotations

import sys
import time

from suanzi.conformance.cases import Wanted
from suanzi.conformance.local import Local
from suanzi.conformance.running import Job, run_job
from suanzi.conformance.subjects.suanzi_adapter import Adapter


def main(names: list[str]) -> int:
    """Print what is wrong, and how long it took."""
    subject, bad = Local(Adapter()), 0
    rules = [name.removeprefix("--rules=") for name in names if name.startswith("--rules=")]
    wanted = Wanted(quick="--quick" in names, rules=(rules or ["cann"])[0])
    for op in (name for name in names if not name.startswith("--")):
        begun = time.perf_counter()
        found = run_job(subject, Job(op, wanted))
        wrong = [one for one in found if one.outcome not in ("passed", "skipped")]
        for one in wrong:
            print(f"{one.id}: {one.outcome}: {one.problem}")
        bad += len(wrong)
        worst = max((one.ulp / (one.bound or 1) for one in found if one.ulp), default=0.0)
        print(
            f"{op}: {len(found)} cases, {time.perf_counter() - begun:.2f} s, worst {worst:.3f} of "
            "its bound"
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
