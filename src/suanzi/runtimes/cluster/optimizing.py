"""How graphs become fewer tasks: as those of Dask's arrays, but each fused task knows its order.

Dask fuses a chain into one task with a graph of its own, and finds an order for that graph every
time the task runs, which takes longer than small blocks do. Here it is found once, where the graph
is made ready, and for all blocks of a tensor together. Chains of element-wise operators on blocks
that are there, the most frequent of graphs, need none of the other steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from graphlib import TopologicalSorter
from typing import Any

from dask.array.optimization import optimize as as_arrays
from dask.blockwise import Blockwise, optimize_blockwise
from dask.core import flatten
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

from suanzi.recording.recorders import private_parts
from suanzi.tensors.tensor import Tensor

_names = ("Alias", "DataNode", "Task", "TaskRef", "_execute_subgraph")
_parts: list[Any] = [private_parts.take(f"dask._task_spec.{name}") for name in _names]
if None in _parts:  # an older Dask, which fuses by nesting
    _parts = [None] * len(_names)
Alias, DataNode, Task, TaskRef, _execute_subgraph = _parts

Cache = dict[Any, Any]
Programs = dict[int, "Program"]
"""Programs by the address of their graph, which is that of all blocks of a layer."""


def optimize(graph: Any, keys: Any, **options: Any) -> Any:
    """Return a graph of fewer tasks that makes the same blocks."""
    asked = list(flatten(keys if isinstance(keys, list | set) else [keys]))
    if _execute_subgraph is not None and _is_plain(graph):
        return _of_blocks(graph, asked)
    made = as_arrays(graph, keys, **options)
    if _execute_subgraph is None or type(made) is not dict:
        return made
    known: Programs = {}
    return {key: _in_order(task, known) for key, task in _by_own_names(made, asked).items()}


def _by_own_names(tasks: dict[Any, Any], asked: list[Any]) -> dict[Any, Any]:
    """Return tasks without aliases of other tasks, which fusing leaves behind."""
    uses: dict[Any, int] = dict.fromkeys(asked, 1)
    for task in tasks.values():
        for one in task.dependencies:
            uses[one] = uses.get(one, 0) + 1
    made, gone = dict(tasks), set()
    for key, task in tasks.items():
        named: Any = tasks.get(task.target) if type(task) is Alias else None
        if type(named) is Task and uses[named.key] == 1:
            gone.add(named.key)
            made[key] = _task(key, named.func, *named.args, **named.kwargs)
    return {key: task for key, task in made.items() if key not in gone}


def _is_plain(graph: Any) -> bool:
    """Tell whether a graph has only element-wise operators, computed blocks and a last task."""
    if type(graph) is not HighLevelGraph:
        return False
    for layer in graph.layers.values():
        if type(layer) is Blockwise:
            continue
        tasks = layer.mapping.values() if type(layer) is MaterializedLayer else (None,)
        gathers = len(tasks) == 1 and all(type(task) is Task for task in tasks)
        if not gathers and not all(type(task) is Tensor for task in tasks):
            return False
    return True


def _of_blocks(graph: Any, keys: list[Any]) -> dict[Any, Any]:
    """Return the tasks of a plain graph; a block that one task needs is part of that task."""
    fused = optimize_blockwise(graph, keys=keys)
    apart = set(keys)
    layers = {key[0] for key in keys if type(key) is tuple}
    if len(keys) != sum(len(fused.layers[name]) for name in layers if name in fused.layers):
        fused = fused.cull(apart)  # some of the blocks are not requested
    left = fused.to_dict()
    known: Programs = {}
    used: set[Any] = set()
    for task in left.values():
        if type(task) is Task:
            operands = {one.key for one in task.args if type(one) is TaskRef}
            apart |= (task.dependencies - operands) | (used & operands)
            used |= operands
    inside = {key: x for key, x in left.items() if type(x) is Tensor and key not in apart}
    return {
        key: DataNode(key, x) if type(x) is Tensor else _holding(_in_order(x, known), inside)
        for key, x in left.items()
        if key not in inside
    }


def _holding(task: Any, inside: Mapping[Any, Tensor]) -> Any:
    """Return a task whose keys are replaced by their blocks."""
    if type(task) is not Task or task.kwargs or not task.dependencies & inside.keys():
        return task
    operands = [inside.get(one.key, one) if type(one) is TaskRef else one for one in task.args]
    return _task(task.key, task.func, *operands)


def _in_order(task: Any, known: Programs) -> Any:
    """Return a task with its own graph in order, if it has one."""
    if type(task) is not Task or task.func is not _execute_subgraph or task.kwargs:
        return task
    inner, last, given, *operands = task.args
    program = known.get(id(inner))
    if program is None:
        program = known[id(inner)] = Program(inner, last, given)
    return _task(task.key, program, *operands)


def _task(key: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    made: Any = Task
    return made(key, function, *args, **kwargs)


class Program:
    """What a fused task does: steps one after the other, of which each forgets what is done with.

    `graph` has the steps, `last` is the key of what is returned, and `given` those of operands.
    """

    def __init__(self, graph: Mapping[Any, Any], last: Any, given: tuple[Any, ...]) -> None:
        self.given = given
        self.last = last
        order = TopologicalSorter(
            {key: [one for one in node.dependencies if one in graph] for key, node in graph.items()}
        )
        keys = list(order.static_order())
        final = {one: key for key in keys for one in graph[key].dependencies}
        self.steps: list[tuple[Any, Callable[[Cache], Any], list[Any]]] = [
            (
                key,
                _step(_in_order(graph[key], {})),
                [one for one, end in final.items() if end == key],
            )
            for key in keys
        ]

    def __call__(self, *operands: Any) -> Any:
        """Return what the last step makes of operands."""
        cache = dict(zip(self.given, operands, strict=True))
        for key, step, done in self.steps:
            cache[key] = step(cache)
            for one in done:
                del cache[one]
        return cache[self.last]


def _step(node: Any) -> Callable[[Cache], Any]:
    if type(node) is Task and not node.kwargs and not any(map(_has_more, node.args)):
        return Step(node.func, tuple(a.key if type(a) is TaskRef else Held(a) for a in node.args))
    made: Callable[[Cache], Any] = node
    return made


def _has_more(argument: Any) -> bool:
    """Tell whether an argument is itself a task."""
    return callable(getattr(argument, "substitute", None))


class Held:
    """An argument that is itself, and not the key of another step."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Step:
    """A call of a function with results of other steps, by their keys, and with what is held."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.function = function
        self.args = args

    def __call__(self, cache: Cache) -> Any:
        """Return what the function makes of them."""
        return self.function(*[a.value if type(a) is Held else cache[a] for a in self.args])
