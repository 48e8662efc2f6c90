"""Say how much each known deviation names: ``python tools/broad_deviations.py REPORT.json...``.

Of each one that holds for the subject's version and this machine: the failures of the reports that
it explains first, and the cases that it names and that passed. One that is `sometimes` so may name
some of these; what names more of them than it explains, or explains nothing, is called broad, for
it could hide a new fault.
"""

from __future__ import annotations

import sys

from suanzi.conformance.reports import json as reports
from suanzi.conformance.reports.deviations import breadths, packaged


def main(paths: list[str]) -> None:
    """Read the reports of one subject, shards of a run or pieces of it, and say it."""
    runs = [reports.read(path) for path in paths]
    name, version = (str(runs[0].subject[fact]) for fact in ("name", "version"))
    results = {result.id: result for run in runs for result in run.results}
    broad = 0
    for one, explained, passed in breadths(results.values(), packaged(name), version):
        too_much = passed > explained or not explained
        broad += too_much
        mark = "broad" if too_much else ""
        print(f"{explained:5} explained {passed:5} passed  {mark:5}  {one.reason}")
    print(f"{broad} of them name more that passed than they explain, or explain nothing.")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit("python tools/broad_deviations.py REPORT.json...: reports of one subject.")
    main(sys.argv[1:])
