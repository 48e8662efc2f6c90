"""A page to look things up: promotion, accuracy, conformance, and what accuracy standards accept.

One HTML file, made from the project's data, that needs no server and loads nothing.

``promotion``    rule sets, layer by layer, as the engine applies them
``accuracy``     results of `suanzi accuracy`
``conformance``  results of `suanzi check`
``judge``        accuracy standards of others
``words``        English and Chinese
``page/``        the template, the style and the scripts
``data/``        the results that it shows, as `tools/write_site_data.py` stores them
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from suanzi._core import VERSION
from suanzi.base.files import write_file
from suanzi.base.html import render
from suanzi.base.status import InvalidArgument
from suanzi.front.site.accuracy import accuracy
from suanzi.front.site.conformance import conformance
from suanzi.front.site.judge import judge
from suanzi.front.site.promotion import promotion
from suanzi.front.site.words import label, words

HOME = Path(__file__).parent
DATA = HOME / "data"
FILE = "index.html"
_SCRIPTS = ("promote.js", "parts.js", "promotion.js", "accuracy.js", "conformance.js", "judge.js",
            "main.js")  # fmt: skip


def html(
    results: Iterable[PathLike[str] | str] = (), reports: Iterable[PathLike[str] | str] = ()
) -> str:
    """Return the page; `results` of `suanzi accuracy` and `reports` of `suanzi check` are added."""
    from markupsafe import Markup

    data = {
        "version": VERSION,
        "words": words(),
        "promotion": promotion(),
        "accuracy": accuracy(_files("accuracy"), [Path(one) for one in results]),
        "conformance": conformance(_files("conformance"), [Path(one) for one in reports]),
        "judge": judge(DATA / "judge.json"),
    }
    facts = {
        "version": VERSION,
        "w": label,
        "data": Markup(_inside_script(data)),
        "scripts": Markup(
            "\n".join((HOME / "page" / name).read_text("utf-8") for name in _SCRIPTS)
        ),
    }
    return render(HOME / "page", "index.html.j2", facts)


def _files(folder: str) -> list[Path]:
    return sorted((DATA / folder).glob("*.json"))


def _inside_script(data: Any) -> str:
    """Return data as JSON that cannot end the element it is in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def write(
    folder: PathLike[str] | str,
    results: Iterable[PathLike[str] | str] = (),
    reports: Iterable[PathLike[str] | str] = (),
) -> Path:
    """Write the page into a folder, which is made; raise InvalidArgument where it cannot be."""
    home = Path(folder)
    if home.exists() and not home.is_dir():
        raise InvalidArgument(f"site: {str(folder)!r} is a file; give a folder.")
    try:
        if home.is_dir() and any(one.name != FILE for one in home.iterdir()):
            raise InvalidArgument(
                f"site: {str(folder)!r} has other files in it; give a new folder, or an empty one."
            )
        if home.is_dir() and not os.access(home, os.W_OK):
            raise PermissionError(13, "Permission denied")
        text = html(results, reports)
        home.mkdir(parents=True, exist_ok=True)
        write_file(home / FILE, text)
    except OSError as error:
        raise InvalidArgument(
            f"site: {str(folder)!r} cannot be written: {error.strerror}; give a folder of yours."
        ) from None
    return home / FILE
