"""A C library says what it does not have: a layout that it takes or makes, and a device."""

from conformance.test_c_adapter import ask, rows
from helpers.c_compiler import build
from suanzi.conformance.subjects.c_adapter import Adapter
from suanzi.conformance.subjects.wire import Shaped

DECLINES = r"""
Status op_abs(const Tensor x, Tensor *y) { return STATUS_ALLOC_FAILED; }
Status op_zeros(const DataType dtype, const Device device, const Shape shape, Tensor *output) {
    return STATUS_ALLOC_FAILED;
}
int op_library_takes(const char *name, const Tensor input) {
    return input->shape.ndim < 2 || input->shape.layout.min2maj[0] == input->shape.ndim - 1;
}
int op_library_has_device(const char *name, const Device device) { return device.id == 0; }
"""


def test_a_library_declines_a_layout_and_a_device(tmp_path):
    adapter = Adapter(str(build(DECLINES, tmp_path)))
    assert ask(adapter, "abs", x=rows(2, 3))["status"] == "ALLOC_FAILED"
    said = ask(adapter, "abs", x=rows(2, 3, layout="columns"))
    assert said == {"unsupported": "the library says that op_abs takes no x like this"}
    assert ask(adapter, "zeros", shape=[2])["status"] == "ALLOC_FAILED"
    said = ask(adapter, "zeros", shape=Shaped((2, 3), (0, 1)))
    assert said == {"unsupported": "the library says that op_zeros takes no shape like this"}
    assert "on this device" in ask(adapter, "zeros", shape=[2], device="cpu:1")["unsupported"]
