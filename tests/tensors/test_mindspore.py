from __future__ import annotations

import pickle

import pytest

import suanzi as sz
from suanzi.promote import mindspore as ms

ALIASES = {
    "int8": "byte", "int16": "short", "int32": "intc", "int64": "intp", "uint8": "ubyte",
    "uint16": "ushort", "uint32": "uintc", "uint64": "uintp", "float16": "half",
    "float32": "single", "float64": "double",
}  # fmt: skip
OTHERS = """Tensor bool_ int_ uint float_ complex number list_ tuple_ function type_type type_none
    symbolic_key env_type""".split()


def test_every_name_of_the_document_is_there() -> None:
    for name, alias in ALIASES.items():
        assert getattr(ms, name) is getattr(ms, alias) is getattr(sz, name)
        assert sz.dtype(alias) is getattr(sz, name)
    for name in ("bfloat16", "complex64", "complex128"):
        assert getattr(ms, name) is getattr(sz, name)
    for name in OTHERS:
        assert name in ms.__all__
        assert isinstance(getattr(ms, name), ms.Type | sz.DType)
    assert all(hasattr(ms, name) for name in ms.__all__)


def types() -> list[object]:
    return [
        *(getattr(ms, name) for name in OTHERS),
        ms.list_[ms.int8, ms.float16],
        ms.list_[()],
        ms.tuple_[ms.list_[ms.bool_], ms.Tensor[ms.float32]],
        ms.function[[ms.int8, ms.number], ms.type_none],
        ms.function[[], ms.env_type],
    ]


def test_equality_hash_and_pickle() -> None:
    for i, a in enumerate(types()):
        for j, b in enumerate(types()):
            assert (a == b) == (i == j)
        again = pickle.loads(pickle.dumps(a))
        assert again == a
        assert hash(again) == hash(a)


def test_repr() -> None:
    assert repr(ms.tuple_[ms.int8, ms.list_[ms.half]]) == "Tuple[int8, List[float16]]"
    assert repr(ms.function[[ms.int8], ms.Tensor[ms.float32]]) == "Func[[int8], Tensor[float32]]"
    assert [repr(t) for t in (ms.int_, ms.number, ms.list_, ms.type_none)] == [
        "Int", "Number", "List", "TypeNone",
    ]  # fmt: skip


def test_number_is_above_the_numbers() -> None:
    for kind in (ms.int_, ms.uint, ms.float_, ms.complex, ms.bool_):
        assert ms.issubtype(kind, ms.number)
        assert not ms.issubtype(ms.number, kind)
        assert ms.issubtype(kind, kind)
    for member, kind in ((ms.int8, ms.int_), (ms.uintp, ms.uint), (ms.bfloat16, ms.float_)):
        assert ms.issubtype(member, kind)
        assert ms.issubtype(member, ms.number)
        assert not ms.issubtype(kind, member)
    assert not ms.issubtype(ms.uint8, ms.int_)
    assert not ms.issubtype(ms.int_, ms.float_)
    assert not ms.issubtype(ms.Tensor, ms.number)
    assert not ms.issubtype(ms.type_none, ms.number)


def test_subtypes_of_compound_types() -> None:
    assert ms.issubtype(ms.list_[ms.int8], ms.list_)
    assert not ms.issubtype(ms.list_, ms.list_[ms.int8])
    assert not ms.issubtype(ms.list_[ms.int8], ms.tuple_)
    assert ms.issubtype(ms.list_[ms.int8, ms.half], ms.list_[ms.int_, ms.float_])
    assert not ms.issubtype(ms.list_[ms.int8], ms.list_[ms.int_, ms.float_])
    assert ms.issubtype(ms.Tensor[ms.half], ms.Tensor[ms.float_])
    wide, narrow = ms.function[[ms.number], ms.int8], ms.function[[ms.int8], ms.number]
    assert ms.issubtype(wide, narrow)
    assert not ms.issubtype(narrow, wide)
    assert ms.issubtype(narrow, ms.function)
    assert not ms.issubtype(ms.function, narrow)


def test_python_types() -> None:
    found = [ms.type_of(x) for x in (bool, int, float, complex, list, tuple, None, type, "half")]
    assert found == [
        ms.bool_, ms.int_, ms.float_, ms.complex, ms.list_, ms.tuple_, ms.type_none, ms.type_type,
        ms.float16,
    ]  # fmt: skip
    assert ms.issubtype(int, ms.number)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: ms.list_["nonsense"],
        lambda: ms.list_[ms.int8][ms.int8],
        lambda: ms.Tensor[ms.int8, ms.int8],
        lambda: ms.function[ms.int8],
        lambda: ms.function[ms.int8, ms.int8],
        lambda: ms.function[[ms.int8], ms.int8][[ms.int8], ms.int8],
        lambda: ms.issubtype(object(), ms.number),
    ],
)
def test_bad_types(bad: object) -> None:
    with pytest.raises(sz.TypeMismatch):
        bad()  # type: ignore[operator]
