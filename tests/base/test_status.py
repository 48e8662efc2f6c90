from __future__ import annotations

import pytest

import suanzi as sz

# Table 1 in its printed order, then the code that two clauses use beyond it.
TABLE_1 = """SUCCESS TYPE_MISMATCH DIMENSIONS_MISMATCH UNINITIALIZED_OBJECT INVALID_ARGUMENT
    ALLOC_FAILED OUT_OF_RANGE INTERNAL_ERROR AXIS_ARGUMENT""".split()


def test_statuses_are_table_1_in_order() -> None:
    assert [(s.name, s.value) for s in sz.Status] == [(n, i) for i, n in enumerate(TABLE_1)]


@pytest.mark.parametrize(
    ("error", "status", "also"),
    [
        (sz.TypeMismatch, "TYPE_MISMATCH", TypeError),
        (sz.DimensionsMismatch, "DIMENSIONS_MISMATCH", ValueError),
        (sz.UninitializedObject, "UNINITIALIZED_OBJECT", ValueError),
        (sz.InvalidArgument, "INVALID_ARGUMENT", ValueError),
        (sz.AllocFailed, "ALLOC_FAILED", MemoryError),
        (sz.OutOfRange, "OUT_OF_RANGE", IndexError),
        (sz.InternalError, "INTERNAL_ERROR", RuntimeError),
        (sz.AxisArgument, "AXIS_ARGUMENT", IndexError),
    ],
)
def test_each_status_has_an_exception(
    error: type[sz.StatusError], status: str, also: type[Exception]
) -> None:
    with pytest.raises(also) as caught:
        raise error("why")
    assert isinstance(caught.value, sz.StatusError)
    assert caught.value.status is sz.Status[status]
    assert str(caught.value) == "why"
