"""How graphs become fewer tasks: as those of Dask's arrays, but each fused task knows its order.

Dask fuses a chain into one task with a graph of its own, and finds an order for that graph every
time the task runs, which takes longer than small blocks do. Here it is found once, where the graph
is made ready.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from graphlib import TopologicalSorter
from typing import Any

from dask.array.optimization import optimize as as_arrays

try:
    from dask._task_spec import Task, TaskRef, _execute_subgraph
except ImportError:  # an older Dask, which fuses by nesting
    Task = TaskRef = _execute_subgraph = None

Cache = dict[Any, Any]


def optimize(graph: Any, keys: Any, **options: Any) -> Any:
    """Return a graph of fewer tasks that makes the same blocks."""
    made = as_arrays(graph, keys, **options)  # type: ignore[no-untyped-call, unused-ignore]
    if _execute_subgraph is None or type(made) is not dict:
        return made
    return {key: _in_order(task) for key, task in made.items()}


def _in_order(task: Any) -> Any:
    """Return a task with its own graph in order, if it has one."""
    if type(task) is not Task or task.func is not _execute_subgraph or task.kwargs:
        return task
    inner, last, given, *operands = task.args
    return Task(task.key, Program(inner, last, given), *operands)


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
            (key, _step(_in_order(graph[key])), [one for one, end in final.items() if end == key])
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
    """Tell whether an argument has to be computed by itself."""
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
