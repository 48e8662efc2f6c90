"""Kernels as tests of pytest: `judged`, one test for each case."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from suanzi.conformance.running.process import Local
from suanzi.conformance.subjects.kernel_adapter import Adapter
from suanzi.validate.judge.arguments import misfit, request, without_defaults
from suanzi.validate.judge.cases import Trial
from suanzi.validate.judge.cases import trials as trials_of
from suanzi.validate.judge.engine import Judging


def judged(
    op: str,
    *,
    dtypes: Sequence[Any] | str | None = None,
    shapes: Sequence[Any] | None = None,
    device: str | None = None,
    framework: str | None = None,
    accumulate: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Turn a function that returns a kernel into tests, one for each case; `-k` selects some.

    The function may take fixtures and parameters, as any test. The arguments are those of
    `sz.judge`::

        @sz.judged("rms_norm", dtypes="bfloat16")
        def test_rms_norm():
            return my_rms_norm
    """
    import pytest

    wanted = request(op, dtypes=dtypes, shapes=shapes, accumulate=accumulate, params=params)
    trials: dict[str, Trial] = {}
    for trial in trials_of(wanted):
        trials.setdefault(trial.case.id.partition("/")[2], trial)

    lost: list[str] = []

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        def run(suanzi_case: str, **given: Any) -> None:
            trial = trials[suanzi_case]
            if lost:
                pytest.skip(f"the device was lost in {lost[0]}")
            adapter = Adapter(function(**given), framework=framework, device=device)
            accepted = adapter.accepted()
            if why := misfit(trial.case, accepted, wanted.params):
                pytest.skip(f"the kernel does not fit this case: {why}")
            judging = Judging(
                Local(adapter), wanted.must, accumulate=wanted.accumulate,
                fit=lambda case: without_defaults(case, accepted, wanted.params),
            )  # fmt: skip
            found = judging.judged(trial)
            if judging.lost:
                lost.append(suanzi_case)
            if found.outcome == "wrong":
                pytest.fail(f"{op} is wrong: {found.finding}", pytrace=False)
            if found.outcome != "right":
                pytest.skip(str(found.finding or "the case accepts a wrong answer"))

        own = inspect.signature(function).parameters.values()
        case = inspect.Parameter("suanzi_case", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = inspect.Signature([*own, case])  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__module__ = function.__module__
        marked: Callable[..., None] = pytest.mark.parametrize("suanzi_case", list(trials))(run)
        marked.pytestmark += list(getattr(function, "pytestmark", ()))  # type: ignore[attr-defined]
        return marked

    return decorate
