"""HTML pages as a browser would see them."""

from __future__ import annotations

from html.parser import HTMLParser

_EMPTY = {"meta", "input", "br"}


class Page(HTMLParser):
    """What a browser would see: elements with their text, and whether they are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str], list[str]]] = []
        self.found: list[tuple[str, dict[str, str], str]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        made = {name: value or "" for name, value in attributes}
        if tag in _EMPTY:
            self.found.append((tag, made, ""))
        else:
            self.open.append((tag, made, []))

    def handle_endtag(self, tag: str) -> None:
        opened, attributes, text = self.open.pop()
        assert opened == tag
        self.found.append((tag, attributes, "".join(text)))

    def handle_data(self, data: str) -> None:
        for _, _, text in self.open:
            text.append(data)

    def all(self, tag: str, **wanted: str) -> list[tuple[dict[str, str], str]]:
        return [
            (attributes, text)
            for name, attributes, text in self.found
            if name == tag and all(attributes.get(k.rstrip("_")) == v for k, v in wanted.items())
        ]

    def cases(self) -> list[tuple[dict[str, str], str]]:
        return [found for found in self.all("article") if "case" in found[0]["class"].split()]
