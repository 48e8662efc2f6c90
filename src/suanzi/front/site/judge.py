"""What accuracy standards say of known outputs, as the page has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from suanzi.validate.criteria import criterion, names


def judge(file: Path) -> dict[str, Any]:
    """Return the standards, and what each says of the known outputs of a file."""
    found = json.loads(file.read_text("utf-8"))
    return {
        "outputs": [[one["name"], one["right"]] for one in found["outputs"]],
        "rows": [[row["name"], row["said"]] for row in found["rows"]],
        "softmax": found["softmax"],
        "standards": [_standard(name) for name in names()],
    }


def _standard(name: str) -> dict[str, Any]:
    one = criterion(name)
    return {
        "name": name,
        "title": one.title,
        "version": one.version,
        "summary": one.summary,
        "source": f"{one.source.repository}: {one.source.file}, {one.source.commit[:10]}",
        "rules": {dtype: one.rules(dtype, "matmul") for dtype in ("bfloat16", "float32")},
    }
