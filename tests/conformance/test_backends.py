"""Titles of subjects."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from suanzi.base.status import InvalidArgument
from suanzi.conformance.running.backends import backend
from suanzi.conformance.running.process import Backend


def test_suanzi_has_two_names() -> None:
    assert backend("suanzi") == backend("embedded")
    assert backend("suanzi").adapter == "suanzi_adapter:Adapter"


def test_a_framework_runs_in_the_interpreter_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUANZI_PYTHON_TORCH", raising=False)
    assert backend("torch").python == sys.executable
    monkeypatch.setenv("SUANZI_PYTHON_TORCH", "/envs/torch/bin/python")
    assert backend("PyTorch").python == "/envs/torch/bin/python"
    assert backend("torch", "/other/python").python == "/other/python"


def test_a_library_is_found_by_its_path(tmp_path: Path) -> None:
    library = tmp_path / "libvendor.so"
    library.write_bytes(b"")
    found = backend(str(library))
    assert (found.adapter, found.options) == ("c_adapter:Adapter", {"path": str(library)})
    with pytest.raises(InvalidArgument, match="Did you mean 'libvendor.so'"):
        backend(str(tmp_path / "libvendr.so"))


def test_an_adapter_of_ones_own() -> None:
    assert backend("package.module:Adapter") == Backend(
        "package.module:Adapter", "package.module:Adapter"
    )


@pytest.mark.parametrize(
    ("title", "hint"),
    [
        ("numpi", "numpy"),
        ("mindspor", "mindspore"),
        ("a b:Adapter", "is not a backend"),
        ("", "suanzi"),
    ],
)
def test_no_such_backend(title: str, hint: str) -> None:
    with pytest.raises(InvalidArgument, match=hint):
        backend(title)
