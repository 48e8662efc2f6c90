"""Print which mistakes planted in the sample C library `suanzi check` notices, and how.

python tools/c_mutants.py                    all of them, in two processes
python tools/c_mutants.py --only NHWC,tail   those whose names have one of these words
python tools/c_mutants.py --log FILE         also the case that noticed each, as Markdown
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from helpers.c_mutants import Mutant, Outcome, build, objects, run, table


def outcome(folder: str, mutant: Mutant) -> Outcome:
    """Build and run one mutant."""
    return run(build(Path(folder), mutant), mutant.ops, mutant.dtypes)


def baseline(folder: str, ops: tuple[str, ...], dtypes: tuple[str, ...]) -> Outcome:
    """Run the library without a mistake."""
    return run(build(Path(folder)), ops, dtypes)


def main() -> int:
    """Run the mutants, and fail if one gets less than expected."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="words of names, with commas between")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--log", type=Path, help="a file for the table in Markdown")
    asked = parser.parse_args()
    words = [word for word in asked.only.split(",") if word]
    chosen = [m for m in table() if not words or any(word in m.name for word in words)]
    found: list[tuple[Mutant, Outcome]] = []
    with tempfile.TemporaryDirectory() as folder:
        objects(Path(folder))
        with ProcessPoolExecutor(asked.jobs) as pool:
            runs = pool.map(outcome, [folder] * len(chosen), chosen)
            for mutant, got in zip(chosen, runs, strict=True):
                found.append((mutant, got))
                mark = " " if got.level == mutant.expected else "!"
                print(
                    f"{mark} {got.level:9} {mutant.name}: {got.case} {got.problem[:90]}", flush=True
                )
    counts = Counter((m.expected, got.level) for m, got in found)
    for expected in ("level", "quality"):
        some = {level: n for (e, level), n in counts.items() if e == expected}
        print(f"{sum(some.values())} of which a {expected} is expected: {some}")
    if asked.log is not None:
        lines = ["| mistake | interfaces | noticed as | by |", "|---|---|---|---|"]
        lines += [f"| {m.name} | {', '.join(m.ops)} | {got.level} | `{got.case}` |"
                  for m, got in found]  # fmt: skip
        asked.log.write_text("\n".join(lines) + "\n", "utf-8")
    return int(any(got.level != m.expected for m, got in found))


if __name__ == "__main__":
    sys.exit(main())
