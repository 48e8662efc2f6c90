"""The tables of the four documents, written down a second time, apart from the shipped ones.

Nothing here is read by suanzi: each table has its own legend and is parsed by the few lines below,
so that a slip in ``src/suanzi/promote/tables`` or in its reader cannot hide.
"""

from __future__ import annotations

import re

Table = dict[tuple[str, str], str | None]

CANN = """
| 数据类型  | f32  | f16  | f64  | bf16 |  s8  |  u8  | s16  | u16  | s32  | u32  | s64  | u64  | bool | c32  | c64  | c128 |
| :------: | :--: | :--: | :--: | :--: | :--: | :--: | :--: | :--: | :--: | :--: | :--: | :--: | :--: | :--: | :--: | :--: |
| **f32**  | f32  | f32  | f64  | f32  | f32  | f32  | f32  |  ×   | f32  |  ×   | f32  |  ×   | f32  | c64  | c64  | c128 |
| **f16**  | f32  | f16  | f64  | f32  | f16  | f16  | f16  |  ×   | f16  |  ×   | f16  |  ×   | f16  | c32  | c64  | c128 |
| **f64**  | f64  | f64  | f64  | f64  | f64  | f64  | f64  |  ×   | f64  |  ×   | f64  |  ×   | f64  | c128 | c128 | c128 |
| **bf16** | f32  | f32  | f64  | bf16 | bf16 | bf16 | bf16 |  ×   | bf16 |  ×   | bf16 |  ×   | bf16 | c32  | c64  | c128 |
|  **s8**  | f32  | f16  | f64  | bf16 |  s8  | s16  | s16  |  ×   | s32  |  ×   | s64  |  ×   |  s8  | c32  | c64  | c128 |
|  **u8**  | f32  | f16  | f64  | bf16 | s16  |  u8  | s16  |  ×   | s32  |  ×   | s64  |  ×   |  u8  | c32  | c64  | c128 |
| **s16**  | f32  | f16  | f64  | bf16 | s16  | s16  | s16  |  ×   | s32  |  ×   | s64  |  ×   | s16  | c32  | c64  | c128 |
| **u16**  |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   | u16  |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   |
| **s32**  | f32  | f16  | f64  | bf16 | s32  | s32  | s32  |  ×   | s32  |  ×   | s64  |  ×   | s32  | c32  | c64  | c128 |
| **u32**  |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   | u32  |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   |
| **s64**  | f32  | f16  | f64  | bf16 | s64  | s64  | s64  |  ×   | s64  |  ×   | s64  |  ×   | s64  | c32  | c64  | c128 |
| **u64**  |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   |  ×   | u64  |  ×   |  ×   |  ×   |  ×   |
| **bool** | f32  | f16  | f64  | bf16 |  s8  |  u8  | s16  |  ×   | s32  |  ×   | s64  |  ×   | bool | c32  | c64  | c128 |
| **c32**  | c64  | c32  | c128 | c32  | c32  | c32  | c32  |  ×   | c32  |  ×   | c32  |  ×   | c32  | c32  | c64  | c128 |
| **c64**  | c64  | c64  | c128 | c64  | c64  | c64  | c64  |  ×   | c64  |  ×   | c64  |  ×   | c64  | c64  | c64  | c128 |
| **c128** | c128 | c128 | c128 | c128 | c128 | c128 | c128 |  ×   | c128 |  ×   | c128 |  ×   | c128 | c128 | c128 | c128 |
"""

CANN_LEGEND = {
    "f32": "float32", "f16": "float16", "f64": "float64", "bf16": "bfloat16", "s8": "int8",
    "u8": "uint8", "s16": "int16", "u16": "uint16", "s32": "int32", "u32": "uint32",
    "s64": "int64", "u64": "uint64", "bool": "bool", "c32": "complex32", "c64": "complex64",
    "c128": "complex128", "×": None,
}  # fmt: skip

PADDLE = """
/*        u1  i1  i2  i4  i8  f2  f4  f8  c4  c8  b1  bf*/
/* u1 */ {u1, i2, i2, i4, i8, f2, f4, f8, c4, c8, u1, bf},
/* i1 */ {i2, i1, i2, i4, i8, f2, f4, f8, c4, c8, i1, bf},
/* i2 */ {i2, i2, i2, i4, i8, f2, f4, f8, c4, c8, i2, bf},
/* i4 */ {i4, i4, i4, i4, i8, f2, f4, f8, c4, c8, i4, bf},
/* i8 */ {i8, i8, i8, i8, i8, f2, f4, f8, c4, c8, i8, bf},
/* f2 */ {f2, f2, f2, f2, f2, f2, f4, f8, c4, c8, f2, f4},
/* f4 */ {f4, f4, f4, f4, f4, f4, f4, f8, c4, c8, f4, f4},
/* f8 */ {f8, f8, f8, f8, f8, f8, f8, f8, c8, c8, f8, f8},
/* c4 */ {c4, c4, c4, c4, c4, c4, c4, c8, c4, c8, c4, c4},
/* c8 */ {c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8},
/* b1 */ {u1, i1, i2, i4, i8, f2, f4, f8, c4, c8, b1, bf},
/* bf */ {bf, bf, bf, bf, bf, f4, f4, f8, c4, c8, bf, bf},
"""

PADDLE_LEGEND = {
    "u1": "uint8", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "f2": "float16",
    "f4": "float32", "f8": "float64", "c4": "complex64", "c8": "complex128", "b1": "bool",
    "bf": "bfloat16",
}  # fmt: skip

MINDSPORE = """
Tensor      bool_       int8        int16       int32       int64       uint8       uint16      uint32      uint64      float16     bfloat16    float32     float64     complex64   complex128
bool_       bool_       int8        int16       int32       int64       uint8       uint16      uint32      uint64      float16     bfloat16    float32     float64     complex64   complex128
int8        int8        int8        int16       int32       int64       int16       -           -           -           float16     bfloat16    float32     float64     complex64   complex128
int16       int16       int16       int16       int32       int64       int16       -           -           -           float16     bfloat16    float32     float64     complex64   complex128
int32       int32       int32       int32       int32       int64       int32       -           -           -           float16     bfloat16    float32     float64     complex64   complex128
int64       int64       int64       int64       int64       int64       int64       -           -           -           float16     bfloat16    float32     float64     complex64   complex128
uint8       uint8       int16       int16       int32       int64       uint8       -           -           -           float16     bfloat16    float32     float64     complex64   complex128
uint16      uint16      -           -           -           -           -           uint16      -           -           -           -           -           -           -           -
uint32      uint32      -           -           -           -           -           -           uint32      -           -           -           -           -           -           -
uint64      uint64      -           -           -           -           -           -           -           uint64      -           -           -           -           -           -
float16     float16     float16     float16     float16     float16     float16     -           -           -           float16     float32     float32     float64     complex64   complex128
bfloat16    bfloat16    bfloat16    bfloat16    bfloat16    bfloat16    bfloat16    -           -           -           float32     bfloat16    float32     float64     complex64   complex128
float32     float32     float32     float32     float32     float32     float32     -           -           -           float32     float32     float32     float64     complex64   complex128
float64     float64     float64     float64     float64     float64     float64     -           -           -           float64     float64     float64     float64     complex128  complex128
complex64   complex64   complex64   complex64   complex64   complex64   complex64   -           -           -           complex64   complex64   complex64   complex128  complex64   complex128
complex128  complex128  complex128  complex128  complex128  complex128  complex128  -           -           -           complex128  complex128  complex128  complex128  complex128  complex128
"""

MINDSPORE_NUMBERS = """
Tensor      bool        int         float
bool_       bool_       int64       float32
int8        int8        int8        float32
int16       int16       int16       float32
int32       int32       int32       float32
int64       int64       int64       float32
uint8       uint8       uint8       float32
uint16      uint16      -           -
uint32      uint32      -           -
uint64      uint64      -           -
float16     float16     float16     float16
bfloat16    bfloat16    bfloat16    bfloat16
float32     float32     float32     float32
float64     float64     float64     float64
complex64   complex64   complex64   complex64
complex128  complex128  complex128  complex128
"""


def _grid(rows: list[list[str]], legend: dict[str, str | None]) -> Table:
    heads = rows[0][1:]
    assert [row[0] for row in rows[1:]] == heads
    return {
        (str(legend[row[0]]), str(legend[head])): legend[cell]
        for row in rows[1:]
        for head, cell in zip(heads, row[1:], strict=True)
    }


def cann() -> Table:
    lines = [line for line in CANN.strip().splitlines() if ":--:" not in line]
    rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines]
    return _grid(rows, CANN_LEGEND)


def paddle() -> Table:
    head, *lines = PADDLE.strip().splitlines()
    rows = [["", *head.strip("/* ").split()]]
    for line in lines:
        found = re.fullmatch(r"/\* (\w+) \*/ \{(.*)\},", line)
        assert found is not None, line
        rows.append([found[1], *(cell.strip() for cell in found[2].split(","))])
    return _grid(rows, {**PADDLE_LEGEND})


def paddle_gate(a: str, b: str, *, mended: bool = False) -> bool:
    """The condition of the document, and with the lines it proposes to add."""
    integers = {"uint8", "int8", "int16", "int32", "int64"}
    floats = {"float16", "float32", "float64", "bfloat16"}
    complexes = {"complex64", "complex128"}
    if a == b:
        return True
    if (a in floats and b in floats) or a in complexes or b in complexes:
        return True
    return mended and (
        (a in integers and b in integers)
        or (a in integers and b in floats)
        or (a in floats and b in integers)
    )


def mindspore() -> Table:
    rows = [line.split() for line in MINDSPORE.strip().splitlines()]
    legend: dict[str, str | None] = {name: name.rstrip("_") for name in rows[0]} | {"-": None}
    return _grid(rows, legend)


def mindspore_numbers() -> Table:
    head, *rows = [line.split() for line in MINDSPORE_NUMBERS.strip().splitlines()]
    return {
        (row[0].rstrip("_"), kind): None if cell == "-" else cell.rstrip("_")
        for row in rows
        for kind, cell in zip(head[1:], row[1:], strict=True)
    }
