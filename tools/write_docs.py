"""Write what is generated into the READMEs and the pages of docs/: ``python tools/write_docs.py``.

In each language: the pages of the reference, and what stands between marks on other pages.
"""

from __future__ import annotations

from pathlib import Path

from docs_site.fragments import fill
from docs_site.operators import pages
from docs_site.words import LANGUAGES, missing, speaking

ROOT = Path(__file__).parent.parent


def written() -> dict[Path, str]:
    """Return every page as it must be."""
    alone = (*ROOT.glob("README*.md"), ROOT / "benchmarks" / "notes" / "slower.md")
    found = {page: fill(page.read_text("utf-8")) for page in alone}
    for language in LANGUAGES:
        folder = ROOT / "docs" / language
        with speaking(language):
            made = {folder / path: text for path, text in pages().items()}
            for page in sorted({*folder.rglob("*.md")} - {*made}):
                up = "../" * (len(page.relative_to(folder).parts) - 1)
                made[page] = fill(page.read_text("utf-8"), up)
        found |= made
    return found


if __name__ == "__main__":
    for page, text in written().items():
        page.parent.mkdir(parents=True, exist_ok=True)
        if not page.exists() or page.read_text("utf-8") != text:
            page.write_text(text, "utf-8")
    if missing:
        print(f"{len(missing)} texts have no Chinese; the first: {next(iter(missing))!r}")
