"""`suanzi accuracy`: pairs, samples, ranges of float32, states, shards, comparisons and pages."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from docs_site import jax_table
from suanzi.base.status import InvalidArgument
from suanzi.conformance.running.process import Backend
from suanzi.front.cli import main
from suanzi.front.site import DATA
from suanzi.validate.accuracy import FUNCTIONS, Accuracy, accuracy, pairs, read, samples
from suanzi.validate.accuracy import report as report_module
from suanzi.validate.accuracy.compare import compare
from suanzi.validate.accuracy.engine import Task, measured
from suanzi.validate.accuracy.errors import Tally, judged, settle
from suanzi.validate.accuracy.merging import merge
from suanzi.validate.accuracy.pairs import every_pair, sampled_pairs
from suanzi.validate.accuracy.sweeper import Sweeper

ATLAS = DATA / "accuracy"
SCHEMA = json.loads(Path(report_module.__file__).with_name("report.schema.json").read_text())
FLAWED = '''
import numpy as np
from wire import Data, Unsupported


class Adapter:
    """NumPy in float64, rounded once; some results are wrong."""

    name, version, rules = "flawed", "1", "numpy"
    mapping = {name: "numpy" for name in
               "exp square div pow reduce nn:softmax dot more:hypot more:exp2".split()}

    def create(self, data):
        if data.dtype not in ("float16", "float32"):
            raise Unsupported("no such dtype")
        self.dtype = data.dtype
        return np.frombuffer(data.raw, data.dtype).reshape(data.shape).astype(np.float64)

    def read(self, x):
        return Data(self.dtype, x.shape, x.astype(self.dtype).tobytes())

    def call(self, op, given):
        x, *more = given.values()
        with np.errstate(all="ignore"):
            if op == "exp":  # three units too large, and NaN for a number
                y = np.exp(x)
                if self.dtype == "float32":
                    y = np.where(x == 1.5, y + 3 * 2.0**-21, y)
                    y = np.where(x == 1.25, np.nan, y)
                return y
            if op == "square":  # the end of a range is wrong
                return np.where(x == 2.0, 5.0, x * x)
            if op == "div":
                return x / more[0]
            if op == "pow":  # wrong for one pair, and infinite for another
                y = np.power(x, more[0])
                y = np.where((x == 1.5) & (more[0] == 2), y * (1 + 2.0**-8), y)
                return np.where((x == 2) & (more[0] == 2), np.inf, y)
            if op == "more:hypot":
                return np.sqrt(x * x + more[0] ** 2)
            if op == "reduce":  # a sum in float16, one by one
                total = np.zeros(x.shape[0])
                for column in x.T:
                    total = (total + column).astype(np.float16).astype(np.float64)
                return total
            if op == "dot":
                return np.asarray(np.dot(x, more[0]))
            if op == "nn:softmax":
                e = np.exp(x - x.max(-1, keepdims=True))
                return e / e.sum(-1, keepdims=True)
        raise Unsupported(f"no {op}")
'''


@pytest.fixture
def flawed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Backend]:
    """An adapter with flaws, and fewer pairs and rows."""
    monkeypatch.setitem(pairs.SAMPLES, 16, 1 << 12)
    monkeypatch.setattr(samples, "ROWS", {16: 8, 256: 4, 4096: 2})
    pairs._sampled.cache_clear()
    (tmp_path / "more_flaws.py").write_text(FLAWED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield Backend("flawed", "more_flaws:Adapter")
    pairs._sampled.cache_clear()


def tallies(found: Accuracy) -> dict[str, Tally]:
    return {row.name: row.tally for row in found.rows if not row.missing}


def test_flaws_of_pairs_and_samples(flawed: Backend) -> None:
    asked = ["div", "pow", "hypot", "atan2", "sum", "dot", "softmax"]
    found = accuracy(flawed, functions=asked, dtypes=["f16"], jobs=2)
    tally = tallies(found)
    assert (tally["div"].wrong, tally["div"].special) == (0, 0)
    assert tally["div"].worst == 0.5
    assert (tally["pow"].worst_at, round(tally["pow"].worst)) == ((1.5, 2.0), 4)
    assert (tally["pow"].special, tally["pow"].special_at) == (1, (2.0, 2.0))
    assert tally["hypot"].worst <= 0.5 + 1e-3
    assert [row.missing for row in found.rows if row.missing] == ["flawed has no atan2"]
    assert tally["softmax"].worst <= 0.501
    assert tally["dot"].wrong == 0
    by_length = {(one["length"], one["condition"]): one for one in tally["sum"].cases}
    assert by_length[4096, 1]["worst"] > 20 > by_length[16, 1]["worst"] > 0.5
    assert by_length[256, 1e6]["worst"] > by_length[256, 1]["worst"]
    assert sum(one["count"] for one in tally["sum"].cases) == tally["sum"].count
    assert "by length and condition" in str(found)


def test_subnormal_operands_that_become_zero() -> None:
    """Are apart from errors, unless the result is no result of zeros either."""
    f = FUNCTIONS["hypot"]
    x, y = np.array([2.0**-14] * 3), np.array([2.0**-15, 2.0**-15, 2.0**-14])
    found = np.array([2.0**-14, 3 * 2.0**-14, 2.0**-14])
    tally = judged(f, "float16", (x, y), found)
    assert (tally.flushed, tally.count, tally.wrong) == (1, 2, 2)
    due = judged(
        FUNCTIONS["div"], "float16", (np.ones(1), np.array([2.0**-24])), np.array([np.inf])
    )
    assert (due.flushed, due.special) == (0, 0)  # as it must be: 2**24 is out of range


def test_a_range_of_float32(flawed: Backend) -> None:
    first, last = (int(np.float32(x).view(np.uint32)) for x in (1.25, 1.5))
    with Sweeper(flawed) as sweeper:
        found = measured(sweeper, Task("exp", "float32", "all", last - 4096, last + 4096), 0)
        nan = measured(sweeper, Task("exp", "float32", "all", first, first + 8), 0)
        edge = measured(sweeper, Task("square", "float32", "all", (1 << 30) - 4, (1 << 30) + 1), 0)
    assert isinstance(found, Tally)
    assert isinstance(nan, Tally)
    assert isinstance(edge, Tally)
    assert (found.count, found.wrong) == (1 << 14, 1)
    assert (found.worst_at, round(found.worst)) == ((1.5,), 3)
    assert (nan.special, nan.special_at, nan.count) == (1, (1.25,), 2 * 8 - 1)
    assert (edge.worst_at, edge.count) == ((2.0,), 2 * 5)


def test_a_state_continues_and_is_refused(flawed: Backend, tmp_path: Path) -> None:
    file = str(tmp_path / "run.state")

    def stop(done: int, whole: int, what: str) -> None:
        raise KeyboardInterrupt

    given = {"functions": ["square", "div"], "dtypes": ["f16"], "jobs": 1, "resume": file}
    with pytest.raises(KeyboardInterrupt):
        accuracy(flawed, **given, progress=stop)  # type: ignore[arg-type]
    lines = Path(file).read_text().splitlines()
    assert [json.loads(line).get("task") for line in lines] == [None, "square float16 all 0"]
    Path(file).write_text("\n".join(lines) + '\n{"task": "div float16 pai')  # killed in a write
    seen: list[tuple[int, int, str]] = []
    found = accuracy(flawed, **given, progress=lambda *a: seen.append(a))  # type: ignore[arg-type]
    assert seen == [(2, 2, "div float16")]
    assert [row.tally for row in found.rows] == [
        row.tally
        for row in accuracy(flawed, **{**given, "resume": None}).rows  # type: ignore[arg-type]
    ]
    with pytest.raises(InvalidArgument, match="a run whose seed is 0; now it is 1. Name another"):
        accuracy(flawed, **given, seed=1)  # type: ignore[arg-type]
    Path(file).write_text("{}\n")
    with pytest.raises(InvalidArgument, match="is not a file of --resume; name a new one"):
        accuracy(flawed, **given)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="--resume '/none/at/all' cannot be used: No such"):
        accuracy(flawed, **{**given, "resume": "/none/at/all"})  # type: ignore[arg-type]


def test_shards_merge_into_the_whole(flawed: Backend) -> None:
    given = {"functions": ["square", "exp", "sum"], "dtypes": ["f16"], "jobs": 1}
    whole = accuracy(flawed, **given)  # type: ignore[arg-type]
    parts = [accuracy(flawed, **given, shard=f"{i}/3") for i in (1, 2, 3)]  # type: ignore[arg-type]
    merged = merge(parts[::-1])
    assert [row.name for row in merged.rows] == ["square", "exp", "sum"]
    assert {row.name: row.tally for row in merged.rows} == {
        row.name: row.tally for row in whole.rows
    }
    assert "shard" not in merged.settings
    with pytest.raises(InvalidArgument, match="merge: shard 2/3 missing"):
        merge([parts[0], parts[2]])
    with pytest.raises(InvalidArgument, match="report 1 is not of a shard; .*suanzi accuracy"):
        merge([whole])
    other = replace(parts[1], subject={**parts[1].subject, "version": "2"})
    with pytest.raises(InvalidArgument, match="version is '1' in shard 1 and '2' in shard 2"):
        merge([parts[0], other, parts[2]])
    with pytest.raises(InvalidArgument, match="3 tasks cannot be shared among 4 shards"):
        accuracy(flawed, **given, shard="1/4")  # type: ignore[arg-type]


def test_tasks_of_one_function_add_up(flawed: Backend) -> None:
    """As shards of all float32 arguments do."""
    first = int(np.float32(1.5).view(np.uint32))
    with Sweeper(flawed) as sweeper:
        parts = [measured(sweeper, Task("exp", "float32", "all", first + i, first + i + 8), 0)
                 for i in (-8, 0)]  # fmt: skip
        whole = measured(sweeper, Task("exp", "float32", "all", first - 8, first + 8), 0)
    total = Tally()
    for part in parts:
        assert isinstance(part, Tally)
        total.add(Tally.from_dict(json.loads(json.dumps(part.to_dict()))))
    assert isinstance(whole, Tally)
    assert total == replace(whole, total=total.total)
    assert abs(total.total - whole.total) < 1e-9


def test_reports_are_read_and_compared(
    flawed: Backend, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = accuracy(flawed, functions=["square", "exp2", "sum"], dtypes=["f16"], jobs=1)
    jsonschema.validate(found.to_dict(), SCHEMA)
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(found.to_json())
    assert read(str(before)).to_dict() == found.to_dict()
    data = json.loads(before.read_text())
    data["rows"][0]["worst"] += 1.0
    data["rows"][2] = {**data["rows"][2], "missing": "gone"}
    after.write_text(json.dumps(data))
    change = compare(read(str(before)), read(str(after)))
    assert [(one.name, one.dtype) for one in change.worse] == [("square", "float16")]
    assert [one.name for one in change.lost] == ["sum"]
    assert main(["compare", str(before), str(before)]) == 0
    assert "Nothing changed." in capsys.readouterr().out
    assert main(["compare", str(before), str(after)]) == 1
    assert "1 worse, 1 lost." in capsys.readouterr().out
    assert main(["compare", str(after), str(before), "--json"]) == 0
    assert [one["function"] for one in json.loads(capsys.readouterr().out)["better"]] == ["square"]
    data["rows"][0]["histogram"] = []
    after.write_text(json.dumps(data))
    with pytest.raises(InvalidArgument, match="is not a whole report: ValueError: a histogram"):
        read(str(after))
    after.write_text('{"schema": "suanzi-accuracy/9"}')
    with pytest.raises(InvalidArgument, match="its schema is 'suanzi-accuracy/9', not"):
        read(str(after))


def test_files_of_the_command(
    flawed: Backend, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    html, file = tmp_path / "a.html", tmp_path / "a.json"
    words = ["accuracy", "--backend", flawed.adapter, "--op", "square,sum,atan2", "--dtype", "f16",
             "--jobs", "1"]  # fmt: skip
    assert main([*words, "--html", str(html), "--json", str(file)]) == 0
    page = html.read_text()
    assert "Accuracy of flawed 1" in page
    assert "flawed has no atan2" in page
    assert "<path fill" in page
    assert "http" not in page.replace("http-equiv", "")  # no request leaves the page
    data = json.loads(file.read_text())
    assert data["settings"]["command"].startswith("suanzi")
    capsys.readouterr()
    for options, said in (
        (["--json", "a", "b"], "--json takes one file, not 2"),
        (["--html", str(tmp_path)], "cannot be written"),
        (["--html", str(file), "--json", str(file)], "are both"),
        (["--shard", "3/2"], "'3/2' is not a shard"),
        (["--level", "avx9"], "--level is for suanzi"),
    ):
        assert main([*words, *options]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("file", sorted(ATLAS.glob("*.json")), ids=lambda path: path.stem)
def test_the_atlas(file: Path) -> None:
    data = json.loads(file.read_text("utf-8"))
    assert data["command"].startswith("suanzi accuracy")
    assert data["machine"]
    rows = [dict(zip(data["columns"], row, strict=False)) for row in data["rows"]]
    assert len({(row["function"], row["dtype"]) for row in rows}) == len(rows)
    for row in rows:
        assert row["function"] in {*FUNCTIONS, *samples.SAMPLED}
        assert bool(row.get("missing")) == (not row["count"]), row
        assert sum(row.get("histogram") or []) <= row["count"]


def test_on_a_cluster() -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    given = {"functions": ["exp", "log"], "dtypes": ["float8_e5m2"]}
    there = accuracy(**given, cluster="local:1")  # type: ignore[arg-type]
    here = accuracy(**given, jobs=1)  # type: ignore[arg-type]
    assert [row.tally for row in there.rows] == [row.tally for row in here.rows]
    with pytest.raises(InvalidArgument, match="accuracy: 'nowhere' is no cluster"):
        accuracy(**given, cluster="nowhere")  # type: ignore[arg-type]


def test_the_table_of_jax() -> None:
    """Nearly all of JAX's own table is what was measured: an independent test of the command."""
    assert jax_table.bound(0.5) == 0.5
    assert jax_table.compared() > 180
    assert len(jax_table.differences()) < 0.25 * jax_table.compared()
    on_a_gpu = [one for one in jax_table.differences() if one[0] == "GPU"]
    assert len(on_a_gpu) <= 8


def test_pairs() -> None:
    x, y = next(every_pair("float8_e5m2"))
    assert len({(int(a), int(b)) for a, b in zip(x, y, strict=True)}) == 1 << 16
    blocks = list(sampled_pairs("pow", "float32", 3))
    assert sum(len(x) for x, _ in blocks) > 1_000_000
    again = next(sampled_pairs("pow", "float32", 3))
    assert all(np.array_equal(a, b) for a, b in zip(blocks[0], again, strict=True))


def test_a_wrong_reference_is_told(flawed: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    bad: Callable[..., object] = lambda x: x * x * 2  # noqa: E731
    monkeypatch.setitem(FUNCTIONS, "square", replace(FUNCTIONS["square"], exact=bad))
    found = accuracy(flawed, functions=["square"], dtypes=["f16"], jobs=1)
    assert "the reference is wrong at" in found.rows[0].missing


def test_on_a_device() -> None:
    """What PyTorch counts is what NumPy counts; its device is the CPU here."""
    python = os.environ.get("SUANZI_PYTHON_TORCH")
    if python is None:
        pytest.skip("SUANZI_PYTHON_TORCH names no interpreter that has PyTorch")
    subject = Backend("torch", "frameworks.torch_adapter:Adapter", python, {"device": "cpu"})
    with Sweeper(subject) as sweeper:
        for name, start in (("exp", 0x42AE0000), ("gelu", 0), ("asin", 0x3F700000)):
            f = FUNCTIONS[name]
            there = sweeper.on_device(f, "float32", start, start + (1 << 17))
            assert there is not None
            settle(f, "float32", there)
            sweeper._counts_here = True
            here = measured(sweeper, Task(name, "float32", "all", start, start + (1 << 17)), 0)
            sweeper._counts_here = False
            assert isinstance(here, Tally)
            skip = {"total": 0.0, "undecided": 0, "wrong": 0}
            assert replace(there, **skip) == replace(here, **skip)
            assert (there.wrong == here.wrong) or there.undecided
