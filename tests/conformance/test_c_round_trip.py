"""Nothing of a case is lost on the way to C and back: suanzi, called as if it were a C library."""

from collections import Counter

import pytest

from helpers.c_compiler import build
from helpers.suanzi_in_c import function
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.subjects import worker
from suanzi.conformance.subjects.c_adapter import Adapter
from suanzi.conformance.subjects.wire import from_json, to_json
from suanzi.promote.context import promotion
from suanzi.standard import interfaces
from suanzi.standard.prototypes import prototypes


@pytest.fixture(scope="module")
def adapter(tmp_path_factory):
    """An adapter whose functions are Python's; the library only has their names."""
    empty = [f"{p} {{ return STATUS_SUCCESS; }}" for p in prototypes()]
    made = Adapter(str(build("\n".join(empty), tmp_path_factory.mktemp("names"))))
    made._functions = {op: function(op) for op in made._functions}
    made._destroy = None  # Outputs are in memory of Python.
    return made


@pytest.mark.parametrize("category", sorted({f.category for f in interfaces().values()}))
def test_what_passes_in_python_passes_through_c(adapter, category):
    wanted = Wanted(
        dtypes=frozenset({"any", "float32", "complex64"}),
        rules="strict",
        quick=True,
    )
    outcomes: Counter[str] = Counter()
    with promotion("strict"):
        for op, facts in interfaces().items():
            if facts.category != category or op == "destroy":
                continue
            for case in cases(op, wanted):
                if case.skip is not None:
                    continue
                given = {"dict": {name: to_json(v) for name, v in case.arguments.items()}}
                said = worker.answer(adapter, {"op": op, "arguments": given})
                if "unsupported" in said:
                    outcomes["unsupported"] += 1
                    continue
                assert "status" in said, (case.id, said)
                answer = Answer(said["status"], from_json(said.get("outputs", [])))
                assert verdict(case, answer, True).problem is None, case.id
                outcomes["passed"] += 1
    assert outcomes["passed"] > outcomes["unsupported"]
