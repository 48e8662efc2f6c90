"""Write what is generated for the documentation.

``python tools/write_docs.py`` renews what the tree keeps: the parts of READMEs and of pages of
docs/ between marks `kept:`, and a line where a part is made with the site alone.
``python tools/write_docs.py FOLDER`` writes every page of the site, whole, in each language, with
its pictures; `.ci/site` builds it from build/docs.

A text without its Chinese is an error.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from docs_site.fragments import fill, shortened
from docs_site.operators import page_paths, pages
from docs_site.words import LANGUAGES, missing, speaking

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def kept() -> dict[Path, str]:
    """Return every page of the tree as it must be."""
    found = {page: shortened(page.read_text("utf-8")) for page in ROOT.glob("README*.md")}
    for language in LANGUAGES:
        with speaking(language):
            for page in _written(language):
                found[page] = shortened(page.read_text("utf-8"))
    return found


def made() -> dict[str, str]:
    """Return every page of the site by its path below docs/."""
    found: dict[str, str] = {}
    for language in LANGUAGES:
        with speaking(language):
            found |= {f"{language}/{path}": text for path, text in pages().items()}
            for page in _written(language):
                path = page.relative_to(DOCS)
                up = "../" * (len(path.parts) - 2)
                found[path.as_posix()] = fill(page.read_text("utf-8"), up)
    return found


def paths(language: str) -> list[str]:
    """Return the paths of the site's pages below the folder of their language."""
    written = (page.relative_to(DOCS / language).as_posix() for page in _written(language))
    return sorted({*page_paths(), *written})


def _written(language: str) -> Iterator[Path]:
    """Yield the pages that people write."""
    yield from sorted((DOCS / language).rglob("*.md"))


def write(folder: Path) -> None:
    """Write the pages of the site, and nothing else, into a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in made().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    for language in LANGUAGES:
        shutil.copytree(DOCS / language / "img", folder / language / "img")


def renew() -> None:
    """Write the pages of the tree that are out of date."""
    for page, text in kept().items():
        if page.read_text("utf-8") != text:
            page.write_text(text, "utf-8")


def main() -> int:
    """Write, and return 1 if a text has no Chinese."""
    if len(sys.argv) > 1:
        write(Path(sys.argv[1]))
    else:
        renew()
    for text in missing:
        print(
            f"no Chinese in tools/docs_site/zh or src/suanzi/base/lang: {text!r}", file=sys.stderr
        )
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
