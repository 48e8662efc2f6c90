"""Parts of error messages: the nearest known name, and a short form of the input received."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

_LONGEST, _MOST = 200, 10_000
"""Letters of a name, and names, that are compared: the time grows as the square of the letters."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"``, or nothing where no known name is near.

    >>> nearest("mindspor", ["mindspore", "torch"])
    " Did you mean 'mindspore'?"
    >>> nearest("zzz", ["mindspore", "torch"])
    ''
    """
    if len(name) > _LONGEST:
        return ""
    some = (candidate for candidate in islice(known, _MOST) if len(candidate) <= _LONGEST)
    by_lower = {candidate.lower(): candidate for candidate in some}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return f" Did you mean '{by_lower[near[0]]}'?" if near else ""


def cut(text: str, most: int) -> str:
    """Return a text without its middle if it is longer than `most`.

    >>> cut("a" * 50 + "b" * 50, 40)
    'aaaaaaaaaaaaaaaaaaaa (60 more characters) bbbbbbbbbbbbbbbbbbbb'
    """
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} ({len(text) - 2 * half:,} more characters) {text[-half:]}"


def way_to_the_host(x: object) -> str:
    """Return how a tensor with overridden operators becomes a dense one; "" for others."""
    if not hasattr(type(x), "__suanzi_operator__"):
        return ""
    if hasattr(x, "to_dense"):
        return "Make it dense first, with to_dense()."
    return "Bring it to the host first, with to_host()."


def shown(x: object) -> str:
    """Return a value as an error shows it: short, and whatever it is.

    >>> shown(2.5), shown(10**5000), shown([1] * 1000)
    ('2.5', 'an int', 'a list')
    """
    try:
        text = repr(x)
    except Exception:  # an int of thousands of digits, or an object that cannot say what it is
        text = ""
    kind = type(x).__name__
    article = "an" if kind[0] in "aeiouAEIOU" else "a"
    return text if 0 < len(text) <= 80 else f"{article} {kind}"
