"""The command ``site``: promotion, accuracy and conformance on a page."""

from __future__ import annotations

from suanzi.base.text import printable
from suanzi.front.cli.typed import Words


def site(folder: str, *, accuracy: Words = None, check: Words = None) -> int:
    """Write a page with promotion, accuracy, conformance and accuracy standards into a folder.

    It is one HTML file that works without a server and loads nothing, in English and Chinese.
    Your own results can be shown next to those of the project.

    ```
    suanzi site ~/suanzi-page
    suanzi site page --accuracy mine.json --check report.json
    ```

    Parameters
    ----------
    folder
        A new or empty folder; a page in it is replaced.
    accuracy
        Results of `suanzi accuracy --json FILE` to add.
    check
        Reports of `suanzi check --json FILE` to add.
    """
    from suanzi.front.site import write

    print(printable(str(write(folder, accuracy or (), check or ()))))
    return 0
