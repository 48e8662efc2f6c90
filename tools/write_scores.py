"""Store what the explorer shows of reports: ``python tools/write_scores.py report.json ...``.

The reports are those of ``suanzi check --backend NAME --json FILE``; each becomes a small file in
src/suanzi/site/scores.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from suanzi.conformance.reports.json import read
from suanzi.site.conformance import condensed

FOLDER = Path(__file__).parents[1] / "src" / "suanzi" / "site" / "scores"


def main() -> None:
    """Write a file for each report."""
    for file in sys.argv[1:]:
        found = condensed(read(file))
        name = "-".join(filter(None, (found["name"], found["device"].partition(":")[0])))
        text = json.dumps(found, ensure_ascii=False, indent=1)
        (FOLDER / f"{name.lower()}.json").write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main()
