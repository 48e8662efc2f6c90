"""Write what is made into the pages of docs/: ``python tools/write_docs.py``."""

from __future__ import annotations

from pathlib import Path

from docs_site.fragments import fill

DOCS = Path(__file__).parent.parent / "docs"

if __name__ == "__main__":
    for page in DOCS.rglob("*.md"):
        page.write_text(fill(page.read_text("utf-8")), "utf-8")
