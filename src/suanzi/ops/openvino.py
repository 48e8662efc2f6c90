"""ConvertPromoteTypes-14, OpenVINO's operation, as its document defines it."""

from __future__ import annotations

from suanzi import _core
from suanzi.base.dtypes import DTypeLike, float32
from suanzi.base.status import TypeMismatch, UninitializedObject
from suanzi.promote.engine import answer
from suanzi.promote.library import openvino_rules
from suanzi.promote.questions import refused
from suanzi.tensors.parts import is_destroyed
from suanzi.tensors.tensor import Tensor


def convert_promote_types(
    x: Tensor,
    y: Tensor,
    *,
    promote_unsafe: bool = False,
    pytorch_scalar_promotion: bool = False,
    u64_integer_promotion_target: DTypeLike = float32,
) -> tuple[Tensor, Tensor]:
    """Convert two tensors to the dtype they promote to in OpenVINO, and return both.

    What the document calls unsafe raises TypeMismatch unless `promote_unsafe`.

    >>> x, y = sz.tensor([1, 2], sz.int8), sz.tensor([200], sz.uint8)
    >>> sz.convert_promote_types(x, y, promote_unsafe=True)
    (Tensor([1, 2], dtype=int16), Tensor([200], dtype=int16))
    """
    for name, value in (("x", x), ("y", y)):
        if value is None:
            raise UninitializedObject(f"convert_promote_types: {name} is None.")
        if not isinstance(value, Tensor):
            raise TypeMismatch(
                f"convert_promote_types: {name} is a {type(value).__name__}; it takes a Tensor."
            )
        if is_destroyed(value):
            raise UninitializedObject(
                f"convert_promote_types: {name} is a tensor that was destroyed."
            )
        if value.dtype.kind == "quantized":
            raise TypeMismatch(
                f"convert_promote_types: {name} is {value.dtype}; it takes no quantised tensors."
            )
    rules = openvino_rules(
        promote_unsafe=promote_unsafe,
        pytorch_scalar_promotion=pytorch_scalar_promotion,
        u64_integer_promotion_target=u64_integer_promotion_target,
    )
    found = answer((x, y), rules)
    if found.dtype is None:
        raise refused(found, "convert_promote_types")
    return _core.cast(x, found.dtype, False), _core.cast(y, found.dtype, False)
