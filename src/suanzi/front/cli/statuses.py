"""The exit statuses of every command; `suanzi check` decides its own by the same numbers."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a command ends with."""

    ANSWER = 0
    DIFFERENCE = 1
    BAD_USAGE = 2
    FAILURE = 3


MEANINGS = {
    Exit.ANSWER: "An answer; nothing to report.",
    Exit.DIFFERENCE: "A refusal, a difference or a finding.",
    Exit.BAD_USAGE: "Bad usage, or nothing that could be judged.",
    Exit.FAILURE: "Interrupted, or a failure that is not the user's.",
}
"""What each says, in every command; the guides say what counts as a finding."""
