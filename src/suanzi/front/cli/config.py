"""``suanzi config``: what computes here, and where it is."""

from __future__ import annotations

from suanzi.base.lang import said
from suanzi.base.text import columns
from suanzi.front.cli.printing import show_json
from suanzi.front.cli.typed import Json
from suanzi.ops.libraries import config as _config


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
