"""``suanzi check --watch``: rerun failed cases whenever the file of the backend changes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from suanzi.base.lang import say
from suanzi.base.status import InvalidArgument
from suanzi.base.text import printable
from suanzi.front.cli.render import for_a_person
from suanzi.promote.live import NotInstalled

if TYPE_CHECKING:
    from suanzi.conformance.model.results import Run
    from suanzi.conformance.running.process import Backend

_LOOK_SECONDS = 0.2
"""How often the file is checked: one that is still being written changes each time."""


def watched_file(backend: Backend) -> Path:
    """Return the file of a backend: a C library, or the module of an adapter.

    >>> from suanzi.conformance.running.backends import backend
    >>> watched_file(backend("suanzi.front.cli.watch:Adapter")).name
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
        raise InvalidArgument(f"check: --watch cannot find the file of module {module!r}.")
    raise InvalidArgument(
        "check: --watch needs a C library or an adapter module; "
        f"{backend.title} has no file to watch."
    )


def watch(
    file: Path,
    run: Callable[[Sequence[str]], Run],
    show: Callable[[Run], int],
    asked: Sequence[str],
) -> int:
    """Run, show, and wait for the file to change, until Ctrl-C.

    `run` takes the ids of the cases to run. A change reruns what failed; when all of that passes,
    the next change reruns everything that was `asked` for. The status is that of the last run.
    """
    # Otherwise an adapter that changes twice in a second would be read from its stale cache.
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
                # For example a library that does not load yet.
                said = f"{printable(str(error))}\n{say('Waiting for the next change')}"
                status = 2
            watching = say(f". Watching {file.name}; Ctrl-C ends this.")
            print(f"\n{said}{watching}", flush=True)
            _wait(file, before)
    except KeyboardInterrupt:
        print(flush=True)
        return status


def _said(failed: Sequence[str], narrowed: bool) -> str:
    if failed:
        return say(f"{len(failed)} case{'s' * (len(failed) != 1)} failed: a change reruns them")
    if narrowed:
        return say("All failed cases pass now: the next change reruns everything")
    return say("No failures: a change reruns everything")


def _look(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None  # as while a linker replaces it
    return found.st_mtime_ns, found.st_size, found.st_ino


def _wait(file: Path, before: tuple[int, int, int] | None) -> None:
    """Wait until a file differs from before and has stopped changing."""
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
