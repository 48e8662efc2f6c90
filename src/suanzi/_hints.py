"""The nearest known name, for errors that end in a hint."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"``, or nothing where no known name is near.

    >>> nearest("mindspor", ["mindspore", "torch"])
    " Did you mean 'mindspore'?"
    >>> nearest("zzz", ["mindspore", "torch"])
    ''
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return f" Did you mean '{by_lower[near[0]]}'?" if near else ""
