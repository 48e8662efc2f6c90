"""A C library whose tensors live on an accelerator: here, at addresses that mean nothing to others.

It is the sample library with encoded addresses of elements; only its own functions decode them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.test_breaches_c import source
from helpers.c_compiler import build
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.check import check
from suanzi.conformance.model.results import Result
from suanzi.conformance.subjects.c_adapter import Adapter
from suanzi.conformance.subjects.wire import Data

CODED = "((char *)((uintptr_t)(tensor)->storage->data ^ (uintptr_t)0x5a5a000000000000))"
DEVICE = "device.type != kNPU || device.id < 0 || device.id > 1"
TO_DEVICE = [
    ("((char *)(tensor)->storage->data)", CODED),
    (
        "made->storage->data = malloc(vendor_itemsize(dtype) * (size_t)size + 1);",
        "made->storage->data = malloc(vendor_itemsize(dtype) * (size_t)size + 1);\n"
        "        if (made->storage->data != NULL) made->storage->data = VENDOR_DATA(made);\n"
        "        made->storage->device.type = kNPU;",
    ),
    ("free(tensor->storage->data);",
     "free(tensor->storage->data == NULL ? NULL : VENDOR_DATA(tensor));"),
    ("((int32_t *)(*output)->storage->data)[i]", "((int32_t *)VENDOR_DATA(*output))[i]"),
    ("device.type != kCPU || device.id != 0", DEVICE),
    ("    Status status = vendor_new(dtype, shape.ndim, shape.dims, output);\n",
     "    Status status = vendor_new(dtype, shape.ndim, shape.dims, output);\n"
     "    if (status == STATUS_SUCCESS) (*output)->storage->device = device;\n"),
]  # fmt: skip
HOOKS = """
int op_library_has_device(const char *name, const Device device) {
    (void)name;
    return device.type == kNPU && device.id >= 0 && device.id <= 1;
}
Status op_library_write(const Tensor host, Tensor *output) {
    Status status = vendor_like(host, host->storage->dtype, output);
    if (status != STATUS_SUCCESS) return status;
    size_t item = vendor_itemsize(host->storage->dtype);
    for (int64_t k = 0; host->shape.layout.min2maj != NULL && k < host->shape.ndim; k++)
        (*output)->shape.layout.min2maj[k] = host->shape.layout.min2maj[k];
    memcpy(VENDOR_DATA(*output), (char *)host->storage->data + (size_t)host->offset * item,
           (size_t)host->size * item);
    return STATUS_SUCCESS;
}
Status op_library_read(const Tensor input, void *data) {
    size_t item = vendor_itemsize(input->storage->dtype);
    memcpy(data, VENDOR_DATA(input) + (size_t)input->offset * item, (size_t)input->size * item);
    return STATUS_SUCCESS;
}
"""
OPS = ["create_tensor", "zeros", "full", "empty", "duplicate", "reshape", "transpose", "shape"]


def library(folder: Path, hooks: str = HOOKS, *changes: tuple[str, str]) -> str:
    text = source()
    for old, new in (*TO_DEVICE, *changes):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return str(build(text + hooks, folder, "-O1"))


def results(made: str, *ops: str, groups: Sequence[str] = ()) -> list[Result]:
    run = check(made, ops=ops, dtypes=["float32", "any"], groups=groups, jobs=1, quick=True)
    return list(run.results)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    return library(tmp_path_factory.mktemp("device"))


def test_a_library_on_an_accelerator_is_tested_like_any_other(made: str) -> None:
    found = results(made, *OPS)
    assert not [(r.id, r.problem) for r in found if r.bad]
    passed = Counter(r.op for r in found if r.outcome == "passed")
    assert min(passed[op] for op in OPS) >= 5, passed
    unanswered = {r.group for r in found if r.unanswered}
    assert unanswered <= {"example"}, "the worked examples name the CPU, which it declines"


def test_its_tensors_are_made_where_it_has_devices(made: str) -> None:
    adapter = Adapter(made)
    _, zeros = adapter.call("zeros", {"shape": [2]})
    assert (zeros.device, zeros.raw) == ("npu:0", bytes(8))
    _, second = adapter.call("zeros", {"shape": [2], "device": "npu:1"})
    assert second.device == "npu:1"
    data = Data("float32", (2, 2), bytes(range(16)), layout="columns")
    _, copy = adapter.call("duplicate", {"input": data})
    assert (copy.device, copy.raw) == ("npu:0", bytes(range(16)))


WRONG = {
    "no hooks": ("", (), "the library has no op_library_read"),
    "another number": (
        HOOKS, [("(*output)->storage->device = device;", "(*output)->storage->device.id = 0;")],
        "device npu:0, not npu:1",
    ),
    "another type": (
        HOOKS.replace("device.type == kNPU &&", ""), [(f"{DEVICE} ||", "")],
        "which there is not|device npu:0, not gpu:0",
    ),
    "an input on the device is changed": (
        HOOKS, [("Status status = vendor_like(input, input->storage->dtype, output);",
                 "if (input->size) *VENDOR_DATA(input) ^= 1;\n    "
                 "Status status = vendor_like(input, input->storage->dtype, output);")],
        "the call changed the input input",
    ),
    "what is read is no success": (
        HOOKS.replace("void *data) {", "void *data) { if (input->size > 3) return "
                      "STATUS_INTERNAL_ERROR;"), (), "op_library_read of .* returned the status 7",
    ),
    "what is written is no success": (
        HOOKS.replace("Tensor *output) {", "Tensor *output) { if (host->size > 3) return "
                      "STATUS_INTERNAL_ERROR;"), (), "op_library_write of input returned",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_on_the_device_is_found(what: str, tmp_path: Path) -> None:
    hooks, changes, words = WRONG[what]
    if what == "another type":
        kept = ("(*output)->storage->device = device;", "(*output)->storage->device.type = kNPU;")
        changes = [*changes, kept]
    wrong = library(tmp_path, hooks, *changes)
    found = [r for r in results(wrong, "zeros", "duplicate", groups=["plain"]) if r.bad]
    assert any(re.search(words, r.problem or "") and r.breaks for r in found), [
        r.problem for r in found
    ]


def test_every_interface_with_a_device_is_asked_for_each_type() -> None:
    for op in ("zeros", "linspace", "create_quant_tensor"):
        titles = {
            c.title for c in cases(op, Wanted(frozenset({"plain"}))) if "device" in c.arguments
        }
        assert {"on cpu", "on cpu number 1", "on npu number 1", "on fpga", "on asic"} <= titles
