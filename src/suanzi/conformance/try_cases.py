"""Run the cases of some interfaces against the embedded implementation, in this process.

python -m suanzi.conformance.try_cases add sqrt --quick
"""

from __future__ import annotations

import sys
import time

from suanzi.conformance.answers import Answer, verdict
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.subjects import worker
from suanzi.conformance.subjects.suanzi_adapter import Adapter
from suanzi.conformance.subjects.wire import from_json, to_json


def main(names: list[str]) -> int:
    """Print what is wrong, and how long it took."""
    adapter, bad = Adapter(), 0
    chosen = [name.removeprefix("--rules=") for name in names if name.startswith("--rules=")]
    wanted = Wanted(quick="--quick" in names, rules=(chosen or ["cann"])[0])
    for op in (name for name in names if not name.startswith("--")):
        begun = time.perf_counter()
        found = [case for case in cases(op, wanted) if case.skip is None]
        made = time.perf_counter()
        judging, worst = 0.0, 0.0
        for case in found:
            arguments = {"dict": {k: to_json(v) for k, v in case.arguments.items()}}
            said = worker.answer(
                adapter, {"op": op, "arguments": arguments, "rules": case.rules or adapter.rules}
            )
            if "status" not in said:
                print(f"{case.id}: {said}")
                bad += 1
                continue
            at = time.perf_counter()
            answer = Answer(
                said["status"], from_json(said.get("outputs", [])), said.get("error", "")
            )
            result = verdict(case, answer, True)
            judging += time.perf_counter() - at
            worst = max([worst, *(j.ulp or 0.0 for j in result.judgements)])
            if result.problem is not None:
                print(f"{case.id}: {result.problem}")
                bad += 1
        total = time.perf_counter() - begun
        print(
            f"{op}: {len(found)} cases, {total:.2f} s (made in {made - begun:.2f}, truth and "
            f"judging {judging:.2f}), worst {worst:.3f} ULP"
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
