"""Count the lines and bytes of tracked files by kind: ``python tools/count_tracked.py [REVISION]``.

Two revisions are shown next to each other. What stands between marks on a page counts as generated.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
KINDS = {
    "results": r"(benchmarks|atlas|src/suanzi/(front/)?site/(scores|data))/.*\.json",
    "generated pages": r"docs/../reference/(operators|nn)/(?!index\.md|minimal-set\.md).*\.md",
    "pages": r"docs/.*\.md|[^/]*\.md",
    "notes": r"benchmarks/.*\.(md|txt)",
    "other of docs": r"docs/.*",
    "Python, src": r"src/.*\.pyi?",
    "Python, tests": r"tests/.*\.py",
    "Python, tools and benchmarks": r"(tools|benchmarks|examples)/.*\.py",
    "C++": r"native/.*",
    "data": r".*\.(toml|txt|json|jsonl)",
    "other": r".*",
}
"""What files are, by the first pattern that fits."""
MARKED = re.compile(rb"^<!-- (?:made|kept): .*?^<!-- end: [a-z-]+ -->$", re.M | re.S)
BEFORE = rb"docs/../reference/operators/(index|minimal-set)\.md"
Count = Counter[tuple[str, str]]


def git(*arguments: str, given: bytes | None = None) -> bytes:
    """Return what Git prints."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def files(revision: str) -> dict[str, bytes]:
    """Return every tracked file of a revision."""
    listed = git("ls-tree", "-r", "-z", revision).split(b"\0")[:-1]
    blobs = [line.split(b"\t") for line in listed if line.split()[1] == b"blob"]
    names = [path.decode() for _, path in blobs]
    data = git("cat-file", "--batch", given=b"\n".join(facts.split()[2] for facts, _ in blobs))
    found, at = {}, 0
    for name in names:
        end = data.index(b"\n", at)
        size = int(data[at:end].split()[2])
        found[name] = data[end + 1 : end + 1 + size]
        at = end + size + 2
    return found


def counted(revision: str) -> Count:
    """Return the lines and bytes of each kind."""
    found: Count = Counter()
    for name, content in files(revision).items():
        kind = next(kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, name))
        if kind == "pages":
            generated = MARKED.findall(content)
            if re.fullmatch(BEFORE, name.encode()) and not generated:
                kind = "generated pages"
            for part in generated:
                _add(found, "generated pages", part)
                content = content.replace(part, b"", 1)
        _add(found, kind, content)
    return found


def _add(found: Count, kind: str, content: bytes) -> None:
    for key in (kind, "all"):
        found[key, "lines"] += content.count(b"\n")
        found[key, "bytes"] += len(content)


def main() -> None:
    """Print a row for each kind."""
    revisions = sys.argv[1:] or ["HEAD"]
    columns = [counted(one) for one in revisions]
    print(f"{'':30}" + "".join(f"{one[:12] + ', lines':>22}{'bytes':>12}" for one in revisions))
    for kind in (*KINDS, "all"):
        cells = (f"{one[kind, 'lines']:>22,}{one[kind, 'bytes']:>12,}" for one in columns)
        print(f"{kind:30}" + "".join(cells))


if __name__ == "__main__":
    main()
