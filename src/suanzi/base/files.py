"""Files that stay as they were until the new ones are whole."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import BinaryIO


def replace(path: str, write: Callable[[BinaryIO], object]) -> None:
    """Write a file that stays as it was until the new one is whole."""
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        # A pipe or a device is not replaced, and cannot be gone back in.
        whole = io.BytesIO()
        write(whole)
        with open(path, "wb") as file:
            file.write(whole.getbuffer())
        return
    beside = os.path.join(os.path.dirname(path), f".suanzi-{os.urandom(8).hex()}")
    with open(beside, "xb") as file:
        try:
            write(file)
            file.flush()
            if os.path.exists(path):
                os.chmod(beside, os.stat(path).st_mode & 0o7777)
            os.replace(beside, path)
        except BaseException:
            os.remove(beside)
            raise


def write_file(path: str | PathLike[str], text: str) -> None:
    """Write a text file that stays as it was until the new one is complete.

    What UTF-8 does not have, half of a surrogate pair, becomes an escape.
    """
    data = text.encode("utf-8", "backslashreplace")
    replace(os.fspath(path), lambda file: file.write(data))


def only_files(folder: Path) -> None:
    """Raise OSError if a folder that others made has a pipe or a device, on which reading waits."""
    for path in folder.rglob("*"):
        if path.exists() and not (path.is_file() or path.is_dir()):
            name = path.relative_to(folder).as_posix()
            raise OSError(f"{name!r} is a pipe or a device, not a file")


LONGEST_TEXT = 1 << 24
"""Bytes of a text file that somebody names; a table of rules has some thousand."""


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a file, or raise OSError: of /dev/zero, reading would not end."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise OSError(0, "it is a pipe or a device, not a file")
    with open(path, "rb") as file:
        data = file.read(LONGEST_TEXT + 1)
    if len(data) > LONGEST_TEXT:
        raise OSError(0, f"it has more than {LONGEST_TEXT:,} bytes")
    return io.TextIOWrapper(io.BytesIO(data), "utf-8").read()  # line ends as of a text file
