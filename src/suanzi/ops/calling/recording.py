"""record: the operators that a block of a program in suanzi calls, as `suanzi.port` reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from suanzi.promote.context import forgetting, get_promotion, promotion
from suanzi.promote.registry import Operator

if TYPE_CHECKING:
    from suanzi.ops.calling.own_calls import Recorder
    from suanzi.recording.calls import Calls

_recorder: ContextVar[Recorder | None] = ContextVar("suanzi.record", default=None)
on: list[Recorder] = []
"""The active recorders; without one, calls are not examined."""


@contextmanager
def record() -> Iterator[Calls]:
    """Record the operators that a ``with`` block calls, in this thread or task.

    What the block yields is filled when it ends, by an error too. `suanzi.port.judge` takes it, and
    says what other rule sets make of the same program: its source is the one in force where the
    block begins. Operators that promote are recorded, ``x += y`` too, and those without a native
    fast path; the array API's functions are not.

    >>> with sz.promotion("torch"), record() as calls:
    ...     x = sz.tensor([1, 2], sz.bfloat16) * sz.tensor(0.5)
    >>> [(call.operator, call.result, call.count) for call in calls.calls]
    [('mul', suanzi.bfloat16, 1)]
    >>> sz.port.judge(calls, ["cann"]).findings[0].code
    'SZ005'
    """
    from suanzi.ops.calling.own_calls import Recorder
    from suanzi.recording.calls import Calls  # which most programs never need

    rules = get_promotion()
    made = Calls("suanzi", f"under {rules.name}", (), rules=rules)
    recorder, raised = Recorder(), None
    token = _recorder.set(recorder)
    on.append(recorder)
    try:
        with promotion(forgetting(rules)):
            yield made
    except BaseException as error:
        raised = f"{type(error).__name__}: {error}"
        raise
    finally:
        on.remove(recorder)
        _recorder.reset(token)
        object.__setattr__(made, "calls", recorder.calls())
        object.__setattr__(made, "raised", raised)


def recorded(op: Operator, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Make a call, and note it where a block of this context records."""
    recorder = _recorder.get()
    if recorder is None or op.rules is not None:
        return function(*args, **kwargs)
    return recorder.run(op, function, args, kwargs)
