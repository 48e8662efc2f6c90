"""Write what is made into the READMEs and the pages of docs/: ``python tools/write_docs.py``."""

from __future__ import annotations

from pathlib import Path

from docs_site.fragments import fill
from docs_site.proposals import pages

ROOT = Path(__file__).parent.parent

if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, "utf-8")
    for page in (*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md")):
        page.write_text(fill(page.read_text("utf-8")), "utf-8")
