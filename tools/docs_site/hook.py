"""What mkdocs calls: it adds the reference, and links to it from what is made on written pages."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pygments.formatters import HtmlFormatter

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from docs_site import fragments, operators  # noqa: E402
from suanzi.site import html  # noqa: E402

COPIED = {"contributing.md": "CONTRIBUTING.md", "changes.md": "CHANGELOG.md"}
"""Pages that are files of the repository's root."""

PAGE = "explore/index.html"
"""The page of `suanzi site`."""

MORE = "Guides"
"""The section for pages that the navigation does not name."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put pages that the navigation does not name at the end of a section of it."""
    assert config.nav is not None
    named = set(_leaves(config.nav))
    folder = Path(config.docs_dir)
    found = sorted(str(page.relative_to(folder)) for page in folder.rglob("*.md"))
    section = next(entry[MORE] for entry in config.nav if MORE in entry)
    section += [page for page in found if page not in named]
    return config


def _leaves(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    inside = nav.values() if isinstance(nav, dict) else nav
    return [leaf for entry in inside for leaf in _leaves(entry)]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference, the copied pages, the page of `suanzi site` and the colours of code."""
    made = operators.pages() | {
        page: (ROOT / source).read_text("utf-8") for page, source in COPIED.items()
    }
    made[PAGE] = html()
    made["highlight.css"] = HtmlFormatter().get_style_defs(".codehilite")
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_post_build(config: MkDocsConfig) -> None:
    """Write the index of the search as a script, too, for pages that are read from the disc."""
    folder = Path(config.site_dir) / "search"
    data = (folder / "search_index.json").read_text("utf-8")
    (folder / "search_index.js").write_text(f"window.search_index = {data};\n", "utf-8")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Link interfaces and the explorer, and lead links out of docs/ to the copied pages."""
    up = "../" * page.file.src_uri.count("/")
    markdown = markdown.replace(f"`{PAGE}`", f"[`{PAGE}`]({up}{PAGE})")
    for path, source in COPIED.items():
        markdown = re.sub(rf"\]\((\.\./)+{re.escape(source)}", f"]({up}{path}", markdown)
    return fragments.MARK.sub(lambda part: operators.linked(part[0], up), markdown)
