"""Cases of the kit with fresh random values, whose truth is exact."""

from __future__ import annotations

from functools import cache
from random import Random

from fuzzing.judging import Finding
from fuzzing.making import OPERATORS
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.running.process import Local
from suanzi.conformance.running.run import run_case
from suanzi.conformance.subjects.suanzi_adapter import Adapter
from suanzi.promote.registry import REGISTRY


def tried(seed: int, index: int, names: tuple[str, ...]) -> tuple[int, list[Finding]]:
    """Try an operator with random values in one dtype: how many cases, and which failed."""
    random = Random(f"{seed}/{index}/truth")
    op = random.choice([name for name in names if name in REGISTRY] or OPERATORS)
    dtypes = [d.name for d in REGISTRY[op].dtypes if d.kind != "quantized"]
    wanted = Wanted(
        frozenset({"random", "plain"}),
        dtypes=frozenset({random.choice(dtypes)}) if dtypes else None,
        seed=random.getrandbits(30),
    )
    results = [run_case(_subject(), case) for case in cases(op, wanted)]
    wrong = [r for r in results if r.outcome not in ("passed", "skipped")]
    return len(results), [
        Finding("truth", f"{r.id} --seed {wanted.seed}: {r.problem}"[:400]) for r in wrong
    ]


@cache
def _subject() -> Local:
    return Local(Adapter())
