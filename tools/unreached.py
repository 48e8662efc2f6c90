"""Which lines of native/ were never run: what gcov read from the counters of a build.

    python tools/unreached.py BUILD [EXPLAINED]

A line of a template or of an .inc file counts as run if any of its copies was. What the compiler
left out, as lines for another architecture, is not counted, nor is the end of a block (`}`), which
only an exception on its way through would run. EXPLAINED names lines that no test can
reach: `file | part of the line | reason`. Ends with 1 if another line was never run.
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


def explained(path: Path) -> dict[tuple[str, str], str]:
    """Return the reasons, by file and part of a line.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w+") as file:
    ...     _ = file.write("# a comment\\nnative/a.cpp | return 1; | never seen\\n")
    ...     file.flush()
    ...     explained(Path(file.name))
    {('native/a.cpp', 'return 1;'): 'never seen'}
    """
    found = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            name, part, reason = (word.strip() for word in line.split(" | "))
            found[name, part] = reason
    return found


def main(words: list[str]) -> int:
    """Print the lines that were never run, then how many of each file."""
    if len(words) not in (1, 2):
        sys.exit(__doc__)
    found = counted(Path(words[0]).resolve())
    if not found:
        sys.exit(f"{words[0]} has no counters: build with SUANZI_COVERAGE and run something")
    reasons = explained(Path(words[1])) if len(words) == 2 else {}
    missed: Counter[str] = Counter()
    known: list[str] = []
    stale = set(reasons)
    for name in sorted(found):
        source = (HOME / name).read_text().splitlines()
        for number, count in sorted(found[name].items()):
            if count or number > len(source):
                continue
            line = source[number - 1].strip()
            if not line.strip("}),; "):
                continue
            matching = [key for key in reasons if key[0] == name and key[1] in line]
            stale.difference_update(matching)
            if matching:
                known.append(f"{name}:{number}: {line}\n    {reasons[matching[0]]}")
            else:
                missed[name] += 1
                print(f"{name}:{number}: {line}")
    print("\nnever run, and explained:", *known, sep="\n")
    for name, part in sorted(stale):
        print(f"{name} | {part}: explained, but run or gone")
    total = sum(len(lines) for lines in found.values())
    never = missed.total()
    print()
    for name, count in missed.most_common():
        print(f"{count:5} of {len(found[name]):5} {name}")
    print(f"{never:5} of {total:5} lines were never run and are not explained, {len(known)} are")
    print(f"{100 * (total - never - len(known)) / total:.2f} % of the lines were run")
    return int(never > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
