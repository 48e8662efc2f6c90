"""Help in another language: what cyclopts reads of docstrings is translated where it is printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cyclopts import App

from suanzi.base.lang import chosen, say


def paragraph(text: str) -> str:
    """Return a paragraph in one line, as the catalogue has it.

    >>> paragraph("One line,\\n    and another. ")
    'One line, and another.'
    """
    return " ".join(text.split())


def translated_text(text: str) -> str:
    """Return the paragraphs of a Markdown text in the chosen language; code stays as it is."""
    parts = re.split(r"(```.*?```|\n\s*\n)", text, flags=re.DOTALL)
    return "".join(
        part if not part.strip() or part.startswith("```") else say(paragraph(part))
        for part in parts
    )


@contextmanager
def translated_help(app: App) -> Iterator[None]:
    """Print help in the chosen language."""
    if chosen() == "en":
        yield
        return
    before, app.help_formatter = app.help_formatter, _formatter()
    try:
        yield
    finally:
        app.help_formatter = before


def _formatter() -> Any:
    from cyclopts.help import DefaultFormatter
    from cyclopts.help.inline_text import InlineText
    from rich.console import Group
    from rich.markdown import Markdown
    from rich.text import Text

    def translate(found: Any) -> Any:
        """Return what is to be printed, with every text in it translated."""
        if isinstance(found, str):
            return translated_text(found)
        if isinstance(found, Text):
            return Text(say(found.plain), style=found.style, end=found.end)
        if isinstance(found, Markdown):
            return Markdown(translated_text(found.markup))
        if isinstance(found, InlineText):
            again = InlineText(translate(found.primary_renderable),
                               force_empty_end=found.force_empty_end)  # fmt: skip
            for text in found.texts:
                again.append(translate(text))
            return again
        if isinstance(found, Group):
            return Group(*map(translate, found.renderables))
        return found

    class Translated(DefaultFormatter):
        def __call__(self, console: Any, options: Any, panel: Any) -> None:
            entries = [one.copy(description=translate(one.description)) for one in panel.entries]
            super().__call__(
                console, options, panel.copy(title=translate(panel.title), entries=entries)
            )

        def render_usage(self, console: Any, options: Any, usage: Any) -> None:
            console.print(Text(f"{say('Usage:')} {usage}", style="bold"))

        def render_description(self, console: Any, options: Any, description: Any) -> None:
            super().render_description(console, options, translate(description))

    return Translated()
