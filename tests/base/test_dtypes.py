from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from suanzi.base import dtypes

# name: code, bits, bytes, kind; codes 0 to 5 are A.1's, the others are ours.
LIST = """
bool             1    8   1  bool
int4             2    4   1  int
int8             2    8   1  int
int16            2   16   2  int
int32            2   32   4  int
int64            2   64   8  int
uint1            3    1   1  uint
uint4            3    4   1  uint
uint8            3    8   1  uint
uint16           3   16   2  uint
uint32           3   32   4  uint
uint64           3   64   8  uint
float8_e4m3fn   11    8   1  float
float8_e5m2     12    8   1  float
float16          4   16   2  float
bfloat16        10   16   2  float
float32          4   32   4  float
float64          4   64   8  float
complex32        5   32   4  complex
complex64        5   64   8  complex
complex128       5  128  16  complex
char             0    8   1  char
QT_SYM_INT8      6    8   1  quantized
QT_SYM_INT16     6   16   2  quantized
QT_ASYM_UINT8    7    8   1  quantized
QT_ASYM_INT8     8    8   1  quantized
QT_ASYM_UINT16   7   16   2  quantized
QT_ASYM_INT16    8   16   2  quantized
QT_CH_SYM_INT8   9    8   1  quantized
QT_CH_SYM_INT16  9   16   2  quantized
"""


def test_the_list() -> None:
    rows = [line.split() for line in LIST.strip().splitlines()]
    seen = [[d.name, str(d.code), str(d.bits), str(d.itemsize), d.kind] for d in dtypes.DTYPES]
    assert seen == rows


@pytest.mark.parametrize("dt", dtypes.DTYPES, ids=str)
class TestEveryDtype:
    def test_is_a_public_name(self, dt: sz.DType) -> None:
        assert getattr(sz, dt.name) is dt
        assert dt.name in dir(sz)

    def test_is_a_singleton(self, dt: sz.DType) -> None:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(dt, protocol)) is dt
        assert copy.copy(dt) is dt
        assert copy.deepcopy([dt])[0] is dt
        assert sz.dtype(dt) is dt
        assert sz.dtype(dt.name) is dt
        assert sz.dtype(dt.name.upper()) is dt
        assert {dt: 1}[dt] == 1

    def test_has_no_order(self, dt: sz.DType) -> None:
        with pytest.raises(TypeError):
            dt < sz.float32  # type: ignore[operator]  # noqa: B015

    def test_cannot_be_changed_or_made(self, dt: sz.DType) -> None:
        with pytest.raises(AttributeError):
            dt.name = "other"  # type: ignore[misc]
        with pytest.raises(AttributeError):
            dt.color = "red"  # type: ignore[attr-defined]
        with pytest.raises(TypeError):
            sz.DType()

    def test_has_limits(self, dt: sz.DType) -> None:
        info = sz.finfo(dt) if dt.exponent_bits else sz.iinfo(dt)
        assert info.min <= 0 <= 1 <= info.max
        with pytest.raises(sz.TypeMismatch, match="use [fi]info"):
            sz.iinfo(dt) if dt.exponent_bits else sz.finfo(dt)

    def test_prints(self, dt: sz.DType) -> None:
        assert (str(dt), repr(dt)) == (dt.name, f"suanzi.{dt.name}")


def test_code_and_bits_name_a_dtype() -> None:
    assert len({(d.code, d.bits) for d in dtypes.DTYPES}) == len(dtypes.DTYPES)
    assert {d.code for d in dtypes.DTYPES} == set(sz.TypeCode)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("f16 F16 fp16 half f2 ACL_FLOAT16 float16 FLOAT16", sz.float16),
        ("bf16 bf ACL_BF16 BFLOAT16", sz.bfloat16),
        ("f32 fp32 single f4 ACL_FLOAT", sz.float32),
        ("f64 double f8 ACL_DOUBLE", sz.float64),
        ("s8 i8 i1 byte ACL_INT8", sz.int8),
        ("s16 i16 i2 short ACL_INT16", sz.int16),
        ("s32 i32 intc ACL_INT32", sz.int32),
        ("s64 i64 intp ACL_INT64", sz.int64),
        ("u8 ubyte ACL_UINT8", sz.uint8),
        ("u16 ushort ACL_UINT16", sz.uint16),
        ("u32 uintc ACL_UINT32", sz.uint32),
        ("u64 uintp ACL_UINT64", sz.uint64),
        ("i4 ACL_INT4", sz.int4),
        ("u4", sz.uint4),
        ("u1 ACL_UINT1", sz.uint1),
        ("f8e4m3 f8e4m3fn f8m4e3 ACL_FLOAT8_E4M3FN", sz.float8_e4m3fn),
        ("f8e5m2 f8m5e3 ACL_FLOAT8_E5M2", sz.float8_e5m2),
        ("c32 ACL_COMPLEX32", sz.complex32),
        ("c64 c4 ACL_COMPLEX64", sz.complex64),
        ("c128 c8 ACL_COMPLEX128", sz.complex128),
        ("bool bool_ boolean b1 ACL_BOOL", sz.bool),
        ("char string ACL_STRING", sz.char),
        ("qt_sym_int8 QT_SYM_INT8", sz.QT_SYM_INT8),
    ],
)
def test_names(names: str, expected: sz.DType) -> None:
    for name in names.split():
        assert sz.dtype(name) is expected, name


def test_names_of_one_document() -> None:
    paddle = {name: sz.dtype(name, document="paddle") for name in "u1 i1 i2 i4 i8 f8 c8".split()}
    assert list(paddle.values()) == [
        sz.uint8, sz.int8, sz.int16, sz.int32, sz.int64, sz.float64, sz.complex128,
    ]  # fmt: skip
    assert sz.dtype("c8", document="jax") is sz.complex64
    with pytest.raises(sz.InvalidArgument, match="is not a name of the cann document"):
        sz.dtype("i8", document="cann")
    with pytest.raises(sz.InvalidArgument, match="Did you mean 'paddle'"):
        sz.dtype("i8", document="padle")


def test_every_document_reads_what_it_writes() -> None:
    for document in dtypes.DOCUMENTS:
        for dt in dtypes.DTYPES:
            written = dtypes.document_name(dt, document)
            read = dtypes.read_as(written, document)
            assert read is dt or (read is None and written == dt.name)


NUMPY_NAMES = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64
    float16 float32 float64 complex64 complex128""".split()
ML_NAMES = "bfloat16 float8_e4m3fn float8_e5m2 int4 uint4".split()


def test_numpy_dtypes() -> None:
    for name in NUMPY_NAMES:
        expected = getattr(sz, name)
        assert sz.dtype(np.dtype(name)) is expected
        assert sz.dtype(np.dtype(name).type) is expected
        assert sz.dtype(np.dtype(name).newbyteorder()) is expected
    for name in ML_NAMES:
        scalar = getattr(ml_dtypes, name)
        assert sz.dtype(scalar) is sz.dtype(np.dtype(scalar)) is getattr(sz, name)


def test_python_types() -> None:
    found = [sz.dtype(t) for t in (bool, int, float, complex, str)]
    assert found == [sz.bool, sz.int64, sz.float64, sz.complex128, sz.char]


@pytest.mark.parametrize(
    ("module", "text", "expected"),
    [
        ("torch", "torch.bfloat16", sz.bfloat16),
        ("paddle", "paddle.float16", sz.float16),
        ("mindspore.common.dtype", "Float32", sz.float32),
    ],
)
def test_framework_dtypes_are_known_by_name(module: str, text: str, expected: sz.DType) -> None:
    made = type("dtype", (), {"__module__": module, "__str__": lambda self: text})()
    assert sz.dtype(made) is expected


def test_openvino_types_are_known_by_name() -> None:
    kind = type("Type", (), {"__module__": "openvino", "to_string": lambda self: "f8e4m3"})()
    assert sz.dtype(kind) is sz.float8_e4m3fn


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ("flot16", sz.InvalidArgument, "'flot16' is not a dtype. Did you mean 'float16'?"),
        ("", sz.InvalidArgument, "'' is not a dtype"),
        ("float", sz.InvalidArgument, "write float32 or float64"),
        ("int", sz.InvalidArgument, "write int32 or int64"),
        ("complex", sz.InvalidArgument, "write one of them"),
        (np.dtype("U3"), sz.InvalidArgument, "of numpy has no counterpart"),
        (np.dtype([("a", "i4")]), sz.InvalidArgument, "of numpy has no counterpart"),
        (ml_dtypes.int2, sz.InvalidArgument, "of ml_dtypes has no counterpart"),
        ([1], sz.TypeMismatch, "is a list"),
        (None, sz.TypeMismatch, "is a NoneType"),
        (object, sz.TypeMismatch, "is a type"),
        (1.5, sz.TypeMismatch, "is a float"),
        (SimpleNamespace(), sz.TypeMismatch, "is a SimpleNamespace"),
    ],
    ids=repr,
)
def test_bad_dtypes(bad: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        sz.dtype(bad)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo_against_numpy(name: str) -> None:
    _same_finfo(sz.finfo(name), np.finfo(name))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_finfo_against_ml_dtypes(name: str) -> None:
    _same_finfo(sz.finfo(name), ml_dtypes.finfo(name))


def _same_finfo(ours: sz.finfo, theirs: object) -> None:
    for key in ("bits", "eps", "max", "min", "smallest_normal", "smallest_subnormal"):
        assert getattr(ours, key) == float(getattr(theirs, key)), key
    assert ours.precision == -int(np.log2(ours.eps)) + 1
    assert 2**ours.max_exponent <= int(ours.max) < 2 ** (ours.max_exponent + 1)


def test_finfo_of_complex_is_that_of_a_part() -> None:
    for whole, part in ((sz.complex32, sz.float16), (sz.complex128, sz.float64)):
        assert sz.finfo(whole).max == sz.finfo(part).max
        assert sz.finfo(whole).bits == sz.finfo(part).bits


def test_iinfo_against_numpy() -> None:
    for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split():
        ours, theirs = sz.iinfo(name), np.iinfo(name)
        assert (ours.min, ours.max, ours.bits) == (theirs.min, theirs.max, theirs.bits)
    for name in ("int4", "uint4"):
        assert (sz.iinfo(name).min, sz.iinfo(name).max) == (
            int(ml_dtypes.iinfo(name).min),
            int(ml_dtypes.iinfo(name).max),
        )
    assert (sz.iinfo(sz.bool).max, sz.iinfo(sz.uint1).max) == (1, 1)
    assert (sz.iinfo(sz.QT_SYM_INT16).min, sz.iinfo(sz.QT_ASYM_UINT16).min) == (-(2**15), 0)


def test_isdtype() -> None:
    members = {
        "bool": "bool",
        "signed integer": "int4 int8 int16 int32 int64",
        "unsigned integer": "uint1 uint4 uint8 uint16 uint32 uint64",
        "real floating": "float8_e4m3fn float8_e5m2 float16 bfloat16 float32 float64",
        "complex floating": "complex32 complex64 complex128",
        "char": "char",
    }
    for kind, names in members.items():
        assert [d.name for d in dtypes.DTYPES if sz.isdtype(d, kind)] == names.split()
    assert sz.isdtype("i8", "integral")
    assert sz.isdtype("u8", "integral")
    assert sz.isdtype("c64", "numeric")
    assert not sz.isdtype(sz.QT_SYM_INT8, "numeric")
    assert sz.isdtype(sz.QT_SYM_INT8, "quantized")
    assert sz.isdtype("f16", (sz.int8, "real floating"))
    assert not sz.isdtype("f16", ())
    assert sz.isdtype("f16", "half")
    with pytest.raises(sz.InvalidArgument, match="Did you mean 'integral'"):
        sz.isdtype("f16", "integrl")


@pytest.mark.parametrize(
    "name", ["mindspore.int8", "MindSpore.Int8", "mindspore.dtype.int8", "torch.int8", "numpy.int8"]
)
def test_names_as_a_framework_prints_them(name: str) -> None:
    assert sz.dtype(name) is sz.int8
    for wrong in ("other.int8", "mindspore.", "mindspore.int9", "torch.i8"):
        with pytest.raises(sz.InvalidArgument, match="is not a dtype"):
            sz.dtype(wrong)
