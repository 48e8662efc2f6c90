"""A report as SARIF 2.1.0, which GitHub and editors show at the line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from suanzi import _core
from suanzi.port.codes import CODES, PAGE
from suanzi.port.ignoring import fingerprint, source_line
from suanzi.port.report import Report


def to_sarif(report: Report) -> dict[str, Any]:
    """Return a report as the data of a SARIF file."""
    results = []
    for one in report.findings:
        where = one.call.where
        data = one.to_dict() | {"source_line": source_line(one)}
        result: dict[str, Any] = {
            "ruleId": one.code,
            "level": "error" if one.code == "SZ002" else "warning",
            "message": {"text": f"{one.rules}: {one.verdict.question}: " + "\n".join(one.lines())},
            "partialFingerprints": {"suanzi/1": "|".join(fingerprint(data))},
        }
        if where is not None:
            physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(where.file)}}
            location: dict[str, Any] = {"physicalLocation": physical}
            if where.line:
                physical["region"] = {"startLine": where.line}
            else:
                location["logicalLocations"] = [{"name": where.function}]
            result["locations"] = [location]
        results.append(result)
    driver = {
        "name": "suanzi port",
        "version": _core.VERSION or "0",
        "rules": [
            {"id": code, "shortDescription": {"text": text}, "help": {"text": f"See {PAGE}."}}
            for code, text in CODES.items()
        ],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _uri(file: str) -> str:
    """Return a file as SARIF names it: relative to where we are, or absolute."""
    if file.startswith("<"):
        return file.strip("<>")
    below = os.path.relpath(file)
    return Path(file).absolute().as_uri() if below.startswith("..") else Path(below).as_posix()
