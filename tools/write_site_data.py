"""Store what the explorer shows of reports: ``python tools/write_site_data.py report.json ...``.

Each report of ``suanzi check --backend NAME --json FILE`` and of ``suanzi accuracy --backend NAME
--json FILE`` becomes a small file of suanzi.front.site's data. What accuracy standards say of known
outputs, the other part of these data, ``python benchmarks/judge_criteria.py --write`` writes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import records
from suanzi.conformance.reports.json import read
from suanzi.front.site import DATA
from suanzi.front.site.accuracy import stored
from suanzi.front.site.conformance import condensed
from suanzi.validate.accuracy.report import from_dict, is_report


def store(file: Path) -> Path:
    """Store a report, and return the file that the explorer reads."""
    data = records.read(file)
    if is_report(data):
        found: dict[str, Any] = stored(from_dict(data, str(file)))
        subject = data["subject"]
        to = DATA / "accuracy" / f"{_name(subject, 'cpu')}.json"
    else:
        found = condensed(read(file))
        to = DATA / "conformance" / f"{_name(found)}.json"
    records.write(to, found)
    return to


def _name(subject: dict[str, Any], device: str = "") -> str:
    parts = (subject["name"], str(subject.get("device") or device).partition(":")[0])
    return "-".join(filter(None, parts)).lower()


if __name__ == "__main__":
    for given in sys.argv[1:]:
        print(store(Path(given)))
