"""The faults that the kit must find can still be planted; whether it finds them is the tool's."""

from __future__ import annotations

import pytest

from planted_faults import FAULTS, HOME, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.words)
def test_a_fault_changes_its_file(fault: Fault) -> None:
    file = HOME / ("" if fault.file.startswith("src/") else "native") / fault.file
    text = file.read_text("utf-8")
    assert fault.changed(7, text) != text
