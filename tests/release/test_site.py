"""The site as `.ci/site` builds it: whole, and read without the network."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from docs_site.words import LANGUAGES
from write_docs import paths

ROOT = Path(__file__).parents[2]


class Links(HTMLParser):
    """The links, the ids and what the browser would load of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = {name: value for name, value in attrs if value is not None}
        self.ids |= {facts[name] for name in ("id", "name") if name in facts}
        if tag == "a" and "href" in facts:
            self.links.append(facts["href"])
        if "src" in facts:
            self.loads.append(facts["src"])
        if tag == "link" and "href" in facts and facts.get("rel") != "canonical":
            self.loads.append(facts["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("zensical") is None:
        pytest.skip("Zensical is not installed: the extra `docs`")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([ROOT / ".ci" / "site", folder], capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return folder


def test_every_page_is_there_and_every_link_leads_somewhere(site: Path) -> None:
    parsed = {}
    for file in site.rglob("*.html"):
        parsed[file] = page = Links()
        page.feed(file.read_text("utf-8"))
    for language in LANGUAGES:
        for path in paths(language):
            assert site / language / Path(path).with_suffix(".html") in parsed
    for file, page in parsed.items():
        for target in (*page.links, *page.loads):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                assert target not in page.loads, f"{file.name} loads {target}"
                continue
            if file.name == "404.html" or parts.fragment.startswith("/"):
                continue  # links from the root of a server; the state of the explorer
            there = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            assert there.is_file(), f"{file.relative_to(site)}: {target}"
            if parts.fragment and there in parsed and there.parent.name != "explore":
                assert unquote(parts.fragment) in parsed[there].ids, f"{file.name}: {target}"


def test_styles_load_nothing_from_elsewhere(site: Path) -> None:
    for style in site.rglob("*.css"):
        found = re.search(r"(url\(|@import)[\"' (]*(https?:)?//", style.read_text("utf-8"))
        assert not found, style
