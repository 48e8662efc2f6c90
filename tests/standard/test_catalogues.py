"""Catalogues of other packages: a broken one is named where it is used, and harms nothing else."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

import suanzi as sz
from suanzi.ops.calling.declare import operator
from suanzi.promote.registry import FUNCTIONS, REGISTRY
from suanzi.standard import catalogues as known
from suanzi.standard import interface
from suanzi.standard.catalogues import ENTRY_POINTS, STANDARD, Catalogue, catalogue, catalogues

HERE = Catalogue("here", __file__, "json", "a file, not a folder")
OTHER = Catalogue("other_name", ".", "json", "named otherwise than its entry point")


@pytest.mark.parametrize("value", ["no_such_module:X", "json:dumps", f"{__name__}:HERE",
                                   f"{__name__}:OTHER", f"{__name__}:nothing"])  # fmt: skip
def test_a_broken_package(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {"here": [EntryPoint("here", value, ENTRY_POINTS)]}
    monkeypatch.setattr(known, "_announced", lambda: entries)
    assert catalogues() == (STANDARD, "nn", "here")
    for use in (lambda: catalogue("here"), lambda: interface("here:relu")):
        with pytest.raises(sz.InvalidArgument, match=f"here = {value}"):
            use()
    assert not hasattr(sz, "here")
    assert not hasattr(sz, "nothing_like_it")
    with pytest.raises(sz.InvalidArgument, match="'nosuch' is not an interface"):
        interface("nosuch")


def test_two_packages_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [EntryPoint("here", f"{name}:C", ENTRY_POINTS) for name in ("one", "two")]
    monkeypatch.setattr(known, "_announced", lambda: {"here": entries})
    with pytest.raises(sz.InvalidArgument, match="here = one:C is also two:C"):
        catalogue("here")


@pytest.mark.parametrize("name", ["", "a-b", "class", "_own", "array_api"])
def test_names(name: str) -> None:
    with pytest.raises(sz.InvalidArgument, match="identifier"):
        Catalogue(name, ".", "json", "")


def test_the_standards_warnings_are_not_of_another_catalogue(
    recwarn: pytest.WarningsRecorder,
) -> None:
    sz.difference_warnings()
    try:

        @operator("1.1", catalogue="here")
        def cumsum(input: sz.Tensor, axis: int) -> sz.Tensor:
            return input

        cumsum(sz.zeros((2, 3)), -1)
    finally:
        sz.difference_warnings(False)
        del REGISTRY["here:cumsum"], FUNCTIONS["here:cumsum"]
    assert not recwarn
