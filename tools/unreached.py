"""Which lines of native/ were never run: what gcov read from the counters of a build.

    python tools/unreached.py BUILD

A line of a template or of an .inc file counts as run if any of its copies was.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]


def counted(build: Path) -> dict[str, dict[int, int]]:
    """Return how often each line of native/ was run, by file."""
    found: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for data in sorted(build.rglob("*.gcda")):
        done = subprocess.run(
            ["gcov", "--json-format", "--stdout", data], capture_output=True, check=True
        )
        for text in done.stdout.splitlines():
            if text.strip():
                _add(found, json.loads(text))
    return found


def _add(found: dict[str, dict[int, int]], read: dict[str, object]) -> None:
    cwd, files = str(read["current_working_directory"]), read["files"]
    assert isinstance(files, list)
    for file in files:
        path = (Path(cwd) / file["file"]).resolve()
        if not path.is_relative_to(HOME / "native"):
            continue
        lines = found[str(path.relative_to(HOME))]
        for line in file["lines"]:
            lines[line["line_number"]] += line["count"]


def main(words: list[str]) -> int:
    """Print the lines that were never run, then how many of each file."""
    if len(words) != 1:
        sys.exit(__doc__)
    found = counted(Path(words[0]).resolve())
    if not found:
        sys.exit(f"{words[0]} has no counters: build with SUANZI_COVERAGE and run something")
    missed: Counter[str] = Counter()
    for name in sorted(found):
        source = (HOME / name).read_text().splitlines()
        for number, count in sorted(found[name].items()):
            if count == 0 and number <= len(source):
                missed[name] += 1
                print(f"{name}:{number}: {source[number - 1].strip()}")
    total = sum(len(lines) for lines in found.values())
    print()
    for name, count in missed.most_common():
        print(f"{count:5} of {len(found[name]):5} {name}")
    print(f"{sum(missed.values()):5} of {total:5} lines were never run")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
