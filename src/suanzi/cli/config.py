"""``suanzi config``: what computes here, and where it is."""

from __future__ import annotations

from suanzi._lang import said
from suanzi._text import columns
from suanzi.cli.printing import show_json
from suanzi.cli.typed import Json
from suanzi.libraries import config as _config


def config(*, json: Json = False) -> int:
    """Say what computes here: processor, level, threads, BLAS, LAPACK, FFT and their files.

    ```
    suanzi config
    SUANZI_PROVIDER=openblas suanzi config --json
    ```
    """
    found = _config.config()
    if json:
        show_json(found)
    else:
        print(columns(said(_config.lines(found))))
    return 0
