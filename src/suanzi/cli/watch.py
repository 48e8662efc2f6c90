"""``suanzi check --watch``: what failed is run again whenever the file of the subject changes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from suanzi._text import printable
from suanzi.cli.render import for_a_person
from suanzi.promote.live import NotInstalled
from suanzi.status import InvalidArgument

if TYPE_CHECKING:
    from suanzi.conformance.model.results import Run
    from suanzi.conformance.running.process import Backend

_LOOK_SECONDS = 0.2
"""How often the file is looked at. A file that is still being written changes from look to look."""


def watched_file(backend: Backend) -> Path:
    """Return the file of a subject: a C library, or the module of an adapter.

    >>> from suanzi.conformance.running.backends import backend
    >>> watched_file(backend("suanzi.cli.watch:Adapter")).name
    'watch.py'
    """
    if "path" in backend.options:
        return Path(backend.options["path"])
    module = backend.adapter.partition(":")[0]
    if backend.title == backend.adapter:
        place = Path(*module.split("."))
        for folder in (os.getcwd(), *sys.path):
            for name in (place.with_suffix(".py"), place / "__init__.py"):
                if (path := Path(folder) / name).is_file():
                    return path
        raise InvalidArgument(f"check: --watch finds no file of the module {module!r}.")
    raise InvalidArgument(
        "check: --watch looks at the file of a C library or of an adapter of one's own; "
        f"{backend.title} has none."
    )


def watch(
    file: Path,
    run: Callable[[Sequence[str]], Run],
    show: Callable[[Run], int],
    asked: Sequence[str],
) -> int:
    """Run, show, and wait for the file to change, over and over; Ctrl-C ends it.

    `run` takes the ids of the only cases to run. What is run again is what failed; when all of that
    passes, the next change runs everything that was `asked`. The status is that of the last run.
    """
    # An adapter that changes twice in a second would be read from where Python keeps the first.
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    only, status = list(asked), 0
    try:
        while True:
            before = _look(file)
            _clear()
            try:
                found = run(only)
                status = show(found)
                if found.unfinished:  # Ctrl-C, while it ran
                    return status
                failed = [r.id for r in found.results if r.bad and r.known is None]
                said = _said(failed, narrowed=only != list(asked))
                only = failed or list(asked)
            except (InvalidArgument, NotInstalled) as error:
                # As of a library that does not load: the next one may.
                said = f"{printable(str(error))}\nThe next change tries again"
                status = 2
            print(f"\n{said}. Watching {file.name}; Ctrl-C ends this.", flush=True)
            _wait(file, before)
    except KeyboardInterrupt:
        print(flush=True)
        return status


def _said(failed: Sequence[str], narrowed: bool) -> str:
    if failed:
        return f"{len(failed)} case{'s' * (len(failed) != 1)} went wrong: a change runs them again"
    if narrowed:
        return "All that had failed passes: the next change runs everything again"
    return "Nothing went wrong: a change runs everything again"


def _look(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None  # as while a linker replaces it
    return found.st_mtime_ns, found.st_size, found.st_ino


def _wait(file: Path, before: tuple[int, int, int] | None) -> None:
    """Wait until a file is another than before, and does not change any more."""
    last = before
    while True:
        time.sleep(_LOOK_SECONDS)
        now = _look(file)
        if now is not None and now == last and now != before and now[1]:
            return
        last = now


def _clear() -> None:
    if for_a_person():
        print("\x1b[2J\x1b[3J\x1b[H", end="", flush=True)
    else:
        print(f"---- {time.strftime('%H:%M:%S')} ----", flush=True)
