"""7.2.1: a new tensor is on the device requested, by type and number (6.5), or is refused."""

from __future__ import annotations

from collections.abc import Iterator

from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases.statuses import VALID
from suanzi.conformance.model.case import Case, Check
from suanzi.standard import interfaces

_DEVICES = ("cpu", "cpu:1", "gpu", "gpu:1", "npu", "npu:1", "fpga", "asic")
_BECAUSE = "a new tensor is on the requested device (6.5), and one that does not exist is refused"

_MAKERS = tuple(
    op for op, facts in interfaces().items() if any(p.name == "device" for p in facts.parameters)
)


@cases_of(*_MAKERS)
def on_devices(op: str, wanted: Wanted) -> Iterator[Case]:
    """Request a tensor on devices of every type, and on a second one."""
    valid = VALID[op]()
    dtype = valid.get("dtype", "QT_SYM_INT16" if op == "create_quant_tensor" else "float32")
    if not wanted.wants("plain", dtype):
        return
    for device in _DEVICES:

        def expect(device: str = device) -> Check:
            return Check("on_device", {"device": device, "may_refuse": True})

        arguments = {**valid, "device": device}
        title = f"on {device.replace(':', ' number ')}"
        yield Case(
            op, "plain", dtype, title, arguments, expect, basis="normative", because=_BECAUSE
        )
