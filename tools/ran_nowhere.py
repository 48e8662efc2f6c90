"""Print the tests that ran in none of several environments.

    pytest --record build/alone.json          # in each environment
    python tools/ran_nowhere.py build/*.json

Each set of parameters counts as a test of its own. A test ran where it passed or failed. A file of
tests that a run does not collect is one that did not run. What needs a GPU or an NPU says so by the
reason it is skipped with, which begins with "needs a GPU" or "needs an NPU", and is listed apart;
`--without flag_gems` does the same with reasons that name what is not available on this machine.
The status is 1 where anything else ran nowhere.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
NEEDED = ("needs a GPU", "needs an NPU")
Record = Mapping[str, tuple[str, str]]
Left = dict[str, str]


def ran(record: Record) -> set[str]:
    """Return the tests of a record that ran."""
    return {test for test, (outcome, _) in record.items() if outcome != "skipped"}


def ran_nowhere(records: Iterable[Record], files: Iterable[str] = ()) -> Left:
    """Return the tests, and the files of `files`, that ran in none of them, with a reason of each.

    A file that was skipped as one counts where none of its tests ran elsewhere.
    """
    records = list(records)
    done = set().union(*(ran(one) for one in records))
    started = {test.partition("::")[0] for test in done}
    known = {test.partition("::")[0] for one in records for test in one}
    left: Left = dict.fromkeys(set(files) - known, "no environment collects it")
    for one in records:
        for test, (_, reason) in one.items():
            whole = "::" not in test
            if test not in done and not (whole and test in started):
                left.setdefault(test, reason)
    listed = {test.partition("::")[0] for test in left if "::" in test}
    return {test: why for test, why in sorted(left.items()) if test not in listed}


def is_excused(reason: str, without: Iterable[str]) -> bool:
    """Return whether a test need not run on a machine without accelerators.

    >>> is_excused("needs a GPU: FlagGems computes on one", []), is_excused("no GPU named", [])
    (True, False)
    """
    return reason.startswith(NEEDED) or any(name in reason for name in without)


def shown(title: str, left: Left) -> list[str]:
    """Return lines: the reasons, and the tests of each."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for test, reason in left.items():
        by_reason[reason].append(test)
    lines = [f"{title}: {len(left)}"] if left else []
    for reason, tests in by_reason.items():
        lines += [f"  {reason}", *(f"    {test}" for test in tests)]
    return lines


def main() -> None:
    """Read the records, and print what they leave."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", nargs="+", type=Path, help="what pytest --record wrote")
    parser.add_argument("--without", nargs="*", default=[], help="what is not available here")
    chosen = parser.parse_args()
    records = [json.loads(file.read_text()) for file in chosen.records]
    for file, record in zip(chosen.records, records, strict=True):
        counted = Counter(outcome for outcome, _ in record.values())
        print(f"{file.stem}: {', '.join(f'{n} {name}' for name, n in sorted(counted.items()))}")
    files = [file.relative_to(HOME).as_posix() for file in (HOME / "tests").rglob("test_*.py")]
    left = ran_nowhere(records, files)
    excused = {test: why for test, why in left.items() if is_excused(why, chosen.without)}
    rest = {test: why for test, why in left.items() if test not in excused}
    lines = [*shown("ran nowhere, and need what is not here", excused), *shown("ran nowhere", rest)]
    print("\n".join(lines) or "every test ran somewhere")
    sys.exit(bool(rest))


if __name__ == "__main__":
    main()
