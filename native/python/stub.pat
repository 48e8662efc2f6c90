# What nanobind's stub generator cannot know: python -m nanobind.stubgen -p native/python/stub.pat
suanzi._core.__prefix__:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from suanzi.tensors.tensor import Tensor

suanzi._core.DTYPES:
    DTYPES: tuple[DType, ...]

suanzi._core.VERSION:
    VERSION: str

# Python has it from 3.12 on, for every type with a buffer.
suanzi._core.Storage.__buffer__:

# Those of every object, but for what they take.
suanzi._core.DType.__(lt|le|eq|ne|gt|ge|hash)__:
