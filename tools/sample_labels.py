"""Draw required cases by a seed, to be read against their clauses.

``python tools/sample_labels.py SEED`` prints 60 drawn uniformly from all required cases, and one of
each of 60 interfaces. The same seed gives the same cases as long as the kit has the same ones. The
findings are in ``benchmarks/notes/labels.md``.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model.basis import REQUIRED, why
from suanzi.conformance.model.case import Case
from suanzi.standard import interfaces

UNIFORM = ALONE = 60
"""How many are drawn of all, and of how many interfaces one."""


def drawn(seed: int) -> Iterator[tuple[str, str]]:
    """Yield ids and labels: cases are drawn until enough of them are required."""
    dice = random.Random(seed)
    each = {op: cases(op, Wanted(rules="strict")) for op in interfaces()}
    every = sorted((case for some in each.values() for case in some), key=lambda case: case.id)
    dice.shuffle(every)
    yield from _required(every, UNIFORM)
    names = sorted(each)
    dice.shuffle(names)
    found = 0
    for op in names:
        some = sorted(each[op], key=lambda case: case.id)
        dice.shuffle(some)
        for row in _required(some, 1):
            yield row
            found += 1
        if found == ALONE:
            return


def _required(some: list[Case], count: int) -> Iterator[tuple[str, str]]:
    """Yield the first of these cases that are required, with their labels."""
    for case in some:
        if case.skip is None:
            reason = why(case, case.expect())
            if reason.basis in REQUIRED:
                yield case.id, str(reason)
                count -= 1
        if not count:
            return


if __name__ == "__main__":
    for number, (name, label) in enumerate(drawn(int(sys.argv[1])), 1):
        print(f"{number}\t{name}\t{label}", flush=True)
