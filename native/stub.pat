# What nanobind's stub generator cannot know: python -m nanobind.stubgen -p native/stub.pat
suanzi._core.__prefix__:
    from collections.abc import Sequence
    from typing import Any

suanzi._core.DTYPES:
    DTYPES: tuple[DType, ...]

suanzi._core.VERSION:
    VERSION: str
