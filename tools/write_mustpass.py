"""Write a frozen list of required cases: ``python tools/write_mustpass.py 2025.1``.

A list that was published does not change; --check compares instead of writing.
"""

from __future__ import annotations

import hashlib
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.evidence import digest
from suanzi.conformance.model.basis import REQUIRED, why
from suanzi.conformance.model.case import GROUPS
from suanzi.conformance.mustpass import FOLDER
from suanzi.conformance.running.recording import content_of
from suanzi.standard import interfaces


def content(op: str) -> dict[str, Any]:
    """Return the number and the hash of the required cases of an interface."""
    lines = []
    for case in cases(op, Wanted(groups=frozenset(GROUPS) - {"promotion"})):
        if case.skip is not None:
            continue
        expected = case.expect()
        if why(case, expected).basis in REQUIRED:
            lines.append(f"{content_of(case, expected)}  {case.id}\n")
    return {"cases": len(lines), "sha256": digest(lines)}


def made(edition: str) -> dict[str, Any]:
    """Return the list of the cases as they are now."""
    with ProcessPoolExecutor() as pool:
        each = dict(zip(interfaces(), pool.map(content, interfaces()), strict=True))
    text = "".join(f"{one['sha256']}  {op}\n" for op, one in each.items())
    return {
        "list": edition,
        "standard": "T/AI 131.1-2025",
        "cases": sum(one["cases"] for one in each.values()),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "interfaces": each,
    }


def text_of(found: dict[str, Any]) -> str:
    """Return a list as its file has it: one line for each interface."""
    head = {name: value for name, value in found.items() if name != "interfaces"}
    rows = ",\n".join(
        f"  {json.dumps(op)}: {json.dumps(one)}" for op, one in found["interfaces"].items()
    )
    return f'{json.dumps(head, indent=1)[:-2]},\n "interfaces": {{\n{rows}\n }}\n}}\n'


if __name__ == "__main__":
    edition, text = sys.argv[1], text_of(made(sys.argv[1]))
    path = FOLDER / f"{edition}.json"
    if "--check" in sys.argv:
        sys.exit(
            0 if path.read_text("utf-8") == text else f"the cases are not those of {path.name}"
        )
    path.write_text(text, "utf-8")
