"""Tensors of blocks: what they are, how they are made, gathered, printed and given away."""

from __future__ import annotations

from pickle import dumps, loads
from typing import Any

import numpy as np
import pytest

import suanzi as sz

da = pytest.importorskip("dask.array", reason="tensors of blocks are Dask's")
cluster = pytest.importorskip("suanzi.cluster")
from suanzi.runtimes.cluster.tasks import Hole, call_on_blocks  # noqa: E402 - where Dask is


def on_blocks(x: Any, size: Any, dtype: Any = None) -> Any:
    with cluster.blocks(size):
        return sz.tensor(x, dtype, device="cluster")


NUMBERS = np.arange(35, dtype=np.int16).reshape(5, 7)


@pytest.mark.parametrize("size", [(2, 3), (5, 7), (1, 1), ((1, 4), (3, 4)), -1, "20 B", 4])
def test_blocks_come_back(size: Any) -> None:
    x = on_blocks(NUMBERS, size)
    assert (x.shape, x.dtype, x.ndim, x.size) == ((5, 7), sz.int16, 2, 35)
    assert x.device == sz.Device("cluster")
    assert np.array_equal(x.numpy(), NUMBERS)
    y = x.reblock((3, 2))
    assert y.blocks == ((3, 2), (2, 2, 2, 1))
    assert np.array_equal(y.reblock(((1, 4), (7,))).numpy(), NUMBERS)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0, 2), (1, 1)])
def test_shapes_at_the_edge(shape: tuple[int, ...]) -> None:
    x = sz.zeros(shape, sz.bfloat16, device="cluster")
    assert x.shape == shape
    assert x.to_host().shape == shape  # type: ignore[attr-defined]
    assert (x + 1).tolist() == (sz.zeros(shape, sz.bfloat16) + 1).tolist()
    assert "bfloat16" in str(x)


@pytest.mark.parametrize("shape", [(2**50,), (2**60,), (2**40, 2**10)])
def test_more_blocks_than_a_graph_has_room_for(shape: tuple[int, ...]) -> None:
    said = r"^zeros \(7.2.1.3\): blocks: a tensor .* would have more than 4194304 blocks"
    with pytest.raises(sz.AllocFailed, match=said):
        sz.zeros(shape, device="cluster")


def test_more_blocks_of_nothing() -> None:
    with (
        cluster.blocks((1, 1)),
        pytest.raises(sz.AllocFailed, match="more than 4194304 blocks"),
    ):
        sz.zeros((0, 2**26), device="cluster")


def test_a_change_of_the_source_does_not_show() -> None:
    host = sz.tensor([1, 2, 3])
    there = host.to_device("cluster")
    host[0] = 7
    assert there.tolist() == [1, 2, 3]
    gathered = there.to_host()
    gathered[0] = 9
    assert there.tolist() == [1, 2, 3]
    with pytest.raises(sz.TypeMismatch, match="cannot be modified"):
        there[0] = 1


def test_arrays_of_dask_keep_their_chunks() -> None:
    array = da.from_array(NUMBERS, chunks=((2, 3), (4, 3)))
    x: Any = sz.tensor(array, device="cluster")
    assert x.blocks == array.chunks
    assert np.array_equal(x.numpy(), NUMBERS)
    back = (x + 1).to_dask()
    assert back.chunks == array.chunks
    assert np.array_equal(back.compute(), NUMBERS + 1)
    assert sz.tensor(array, sz.float16, device="cluster").dtype is sz.float16


def test_nothing_is_computed_before_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(block: Any) -> Any:
        asked.append(block.shape)
        return block

    array = da.from_array(NUMBERS, chunks=(1, 7)).map_blocks(counted, meta=NUMBERS[:0])
    x: Any = sz.tensor(array, device="cluster")
    y = sz.exp(x[1:3] * 2.0)
    assert asked == []
    y.to_host()
    assert asked == [(1, 7)] * 2
    del asked[:]
    with sz.printoptions(threshold=4, edgeitems=1):
        str(x)
    assert len(asked) == 2  # of the first and the last row alone


def test_a_chain_is_one_task_for_each_block() -> None:
    x = sz.zeros((8, 8), device="cluster").reblock((4, 4)).persist()  # type: ignore[attr-defined]
    y = sz.exp((x * 2 + 1).astype(sz.float16)) - x
    tasks = y.__dask_optimize__(y.__dask_graph__(), y.__dask_keys__())
    assert len(tasks) <= 2 * 4  # the kept blocks among them


def test_printing() -> None:
    x = on_blocks(NUMBERS, (2, 3))
    said = str(sz.tensor(NUMBERS)).replace("\n       ", "\n            ")
    assert str(x) == said.replace("Tensor(", "BlockTensor(")[:-1] + ", blocks=3 x 3)"
    assert repr(x) == "BlockTensor(shape=(5, 7), dtype=int16, blocks=3 x 3)"
    assert str(on_blocks(2.5, -1)) == "BlockTensor(2.5, dtype=float32, blocks=1)"


def test_an_operator_without_a_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(cluster.WAYS, "exp")
    with pytest.raises(sz.TypeMismatch, match=r"^exp \(7.2.12.1\): not available .*to_host"):
        sz.exp(on_blocks([1.0], -1))


def test_tensors_of_this_machine_stay_apart() -> None:
    x = on_blocks([1, 2], -1)
    for call in (lambda: x + sz.tensor([1, 2]), lambda: sz.tensor([1, 2]) + x):
        with pytest.raises(sz.InvalidArgument, match="they must be on one device"):
            call()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: sz.add(x, on_blocks([1, 2, 3], -1)), sz.DimensionsMismatch),
        (lambda x: sz.bitwise_and(x, 1.5), sz.TypeMismatch),
        (lambda x: sz.exp(x, 3), TypeError),  # type: ignore[call-arg]
        (lambda x: x[5], sz.OutOfRange),
        (lambda x: x["a"], sz.TypeMismatch),
        (lambda x: x[::0], sz.InvalidArgument),
        (lambda x: on_blocks(NUMBERS, (2, 2, 2)), sz.InvalidArgument),
        (lambda x: on_blocks(NUMBERS, 0), sz.InvalidArgument),
    ],
)
def test_what_is_wrong_is_told_at_the_call(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(on_blocks(NUMBERS, (2, 3)))


def test_rules_and_domains_travel() -> None:
    x = on_blocks([-1.0, 4.0], 1, sz.float16)
    with sz.promotion("mindspore"):
        y = x + on_blocks([1, 2], 1, sz.int64)
        wanted = (sz.tensor([-1.0, 4.0], sz.float16) + sz.tensor([1, 2], sz.int64)).dtype
    assert y.dtype is wanted
    assert y.to_host().dtype is wanted
    with sz.domain_errors():
        root = sz.sqrt(x)
    with pytest.raises(sz.InvalidArgument, match="outside the domain x >= 0"):
        root.to_host()
    assert sz.sqrt(x).tolist()[1] == 2


def test_rules_of_ones_own_travel() -> None:
    rules = sz.RuleSet.from_text("name ours\nlike torch\ncell i32 bf16 -> f32")  # no name knows it
    with sz.promotion(rules):
        call = call_on_blocks("add", Hole(0), Hole(1))
        made = on_blocks([257], -1, sz.int32) + on_blocks([1.0], -1, sz.bfloat16)
    assert made.dtype is sz.float32
    assert made.tolist() == [258]
    for travelled in (loads(dumps(call)), loads(dumps(loads(dumps(call))))):
        found = travelled(sz.tensor([257], sz.int32), sz.tensor([1.0], sz.bfloat16))
        assert (found.dtype, found.tolist()) == (sz.float32, [258])
    assert loads(dumps(call_on_blocks("add"))).context.rules is sz.get_promotion()


def test_what_is_lost_is_told_at_the_call() -> None:
    x, y = on_blocks([257], -1, sz.int32), on_blocks([1.0], -1, sz.bfloat16)
    with sz.promotion("cann", on_loss="warn"), pytest.warns(sz.LossWarning, match="257 becomes"):
        made = x + y
    dumps(call_on_blocks("add"))
    assert made.tolist() == [256]  # 257 is rounded to bfloat16, and so is the sum
    with sz.promotion("cann", on_loss="raise"), pytest.raises(sz.TypeMismatch, match="257 becomes"):
        x + y


def test_a_fused_task_keeps_no_more_than_it_needs() -> None:
    from suanzi.runtimes.cluster.optimizing import Program

    x: Any = on_blocks(NUMBERS.astype(np.float32), (2, 3))
    y = sz.exp(x * 2 + x) - x * x  # x is needed by three steps
    want = sz.tensor(NUMBERS.astype(np.float32))
    assert y.to_host().tolist() == (sz.exp(want * 2 + want) - want * want).tolist()
    tasks = y.__dask_optimize__(y.__dask_graph__(), y.__dask_keys__())
    found = [getattr(task, "func", None) for task in tasks.values()]
    programs = [one for one in found if isinstance(one, Program)]
    assert len(programs) == 9
    for program in loads(dumps(programs)):
        kept = [one for _, _, done in program.steps for one in done]
        assert len(kept) == len(set(kept))
        assert program.last not in kept


def test_a_block_with_two_names_keeps_both_if_both_are_asked_for() -> None:
    spec = pytest.importorskip("dask._task_spec", reason="of a current Dask")
    from dask import get
    from dask.highlevelgraph import HighLevelGraph

    tasks = {
        "a": spec.Task("a", _said, 5),
        "b": spec.Alias("b", "a"),
        "c": spec.Task("c", _said, 7),
    }
    graph = HighLevelGraph.from_collections("all", tasks)
    for keys in (["a", "b", "c"], ["b", "c"]):
        made = cluster.BlockTensor.__dask_optimize__(graph, keys)
        assert [one.item() for one in get(made, keys)] == [1] * len(keys)


def _said(block: Any) -> Any:
    return sz.tensor([len(str(block))])


def test_print_options_travel() -> None:
    with sz.printoptions(precision=1):
        call = call_on_blocks(_said, Hole(0))
    x = sz.tensor([3.14159])
    with sz.printoptions(precision=1):
        short = len(str(x))
    assert short < len(str(x))
    assert loads(dumps(call))(x).item() == short
