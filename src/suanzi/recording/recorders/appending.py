"""A file that is open only while something is added to it.

A program may write to any descriptor, close it, or put another file in its place: 3 to 19 are its
own as far as it knows, and a daemon closes all there are. So a recording has no descriptor that
lasts. Nothing here imports suanzi or a framework.
"""

import os


class Appended:
    """A file that is empty first; `write` adds to its end."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)  # the program may go to another folder
        with open(self.path, "wb"):
            pass

    def write(self, content: bytes) -> int:
        """Add bytes; how many they are."""
        with open(self.path, "ab", 0) as file:
            left = memoryview(content)
            while left:
                left = left[file.write(left) :]
        return len(content)

    def flush(self) -> None:
        """Do nothing: nothing waits to be written."""

    def close(self) -> None:
        """Do nothing: it is closed."""
