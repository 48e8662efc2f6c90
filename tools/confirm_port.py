"""Hold what `suanzi port` says of recorded programs against live frameworks, call by call.

    python tools/confirm_port.py jax --python ~/envs/jax/bin/python calls.jsonl log.txt ...

Each different call that promotes, with operands that are not all alike, is made once in the
framework, in its own interpreter; the results are compared with the rules. A finding that is not
confirmed is a false alarm; a call that changes and was not reported is one that was missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from suanzi.port.opening import read_file
from suanzi.port.operators import known, operands
from suanzi.port.passes import Judge, written
from suanzi.port.report import targets
from suanzi.promote.library import rule_set
from suanzi.promote.operands import Operand, Role
from suanzi.recording.calls import Call, Taken

ASK = Path(__file__).parent / "confirming" / "ask.py"


def told(x: Taken) -> dict[str, Any]:
    """Return an operand as the other interpreter reads it."""
    o: Operand = x.operand
    if o.role is Role.NUMBER:
        value = x.greatest if x.greatest is not None else {"bool": True, "int": 1}.get(o.kind, 0.5)
        return {"number": o.kind, "value": value}
    assert o.dtype is not None
    return {"dtype": o.dtype.name, "zero_dim": o.role is Role.ZERO_DIM}


def questions(files: list[str], framework: str) -> dict[str, dict[str, Any]]:
    """Return the different calls of programs, what the rules say and whether it was reported."""
    (target,) = targets([framework])
    source = rule_set("torch")
    judge, found = Judge(source, target), dict[str, dict[str, Any]]()
    for file in files:
        calls = read_file(file)
        assert calls is not None, f"{file} has no calls"
        for call in calls.calls:
            one = question(call, judge)
            if one is not None and (one["backward"] is False or framework == "openvino"):
                key = json.dumps([one["op"], one["operands"], one["way"]], sort_keys=True)
                found.setdefault(key, one)
    return found


def question(call: Call, judge: Judge) -> dict[str, Any] | None:
    """Return a call that can be asked; None where it does not promote, or all have one dtype."""
    promotion = known().promotes.get(call.operator)
    taken = None if promotion is None else operands(call, promotion)
    if promotion is None or taken is None or call.argument("dtype") is not None:
        return None
    seen = [x.operand for x in taken]
    if len({(o.role, o.dtype) for o in seen}) < 2 or call.way == "out":
        return None
    into = seen[0].dtype if call.way else None
    if not all(rules.knows(promotion.operator) for rules in (judge.source, judge.target)):
        return None
    source, target = (judge.ask(r, promotion.operator, seen) for r in (judge.source, judge.target))
    if source.output is None:
        return None
    before = written(judge.source, call.way, source.output, into)
    after = None if target.output is None else written(judge.target, call.way, target.output, into)
    if before is None or (call.result is not None and before.dtype is not call.result):
        return None
    if target.output is not None and after is None:
        return None
    there = None if after is None else after.dtype
    was = None if before.dtype is None else judge.here(before.dtype)
    return {
        "op": call.operator, "suanzi": promotion.operator.name or "", "way": call.way,
        "operands": [told(x) for x in taken], "backward": call.backward,
        "expected": None if there is None else there.name,
        "was": None if was is None else was.name,
        "told": there is not was,
        "where": call.where and f"{call.where.file}:{call.where.line}",
    }  # fmt: skip


def main() -> int:
    """Ask, compare and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("framework")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--told", action="store_true", help="only reported calls, not the others")
    given = parser.parse_args()
    asked = list(questions(given.files, given.framework).values())
    asked = [one for one in asked if one["told"] or not given.told]
    done = subprocess.run(
        [given.python, str(ASK), given.framework], input=json.dumps(asked), text=True,
        stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    answers = json.loads(done.stdout.splitlines()[-1])
    counts: Counter[str] = Counter()
    for one, live in zip(asked, answers, strict=True):
        what = "changes" if one["told"] else "stays"
        if live.startswith("?"):
            verdict = "cannot be asked"
        elif live == "refused":
            verdict = "agrees" if one["expected"] is None else "DIFFERS"
        else:
            verdict = "agrees" if live == one["expected"] else "DIFFERS"
        counts[f"{what}: {verdict}"] += 1
        if verdict == "DIFFERS" or given.verbose:
            said = f"rules {one['expected']}, live {live}, reported {one['told']} ({one['where']})"
            print(f"{verdict}: {one['op']} {one['way'] or ''} {one['operands']} {said}")
    print(given.framework, len(asked), "calls;", dict(sorted(counts.items())))
    return 1 if any("DIFFERS" in key for key in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
