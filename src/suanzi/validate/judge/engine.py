"""The engine: cases are put to a kernel, here or in another process, and its results are judged.

Truths are computed after the call. A case that would accept a wrong answer can refuse a kernel, but
does not count for it.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi.base.status import InvalidArgument, StatusError
from suanzi.conformance.judging.verdict import Answer
from suanzi.conformance.judging.verdict import verdict as verdict_of
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.numbers import FORMATS
from suanzi.conformance.running.process import Asked, Unanswered
from suanzi.conformance.subjects.wire import Data
from suanzi.promote.registry import function
from suanzi.tensors.make import tensor
from suanzi.truth import definitions
from suanzi.truth.bounds import Bound
from suanzi.validate.criteria import Criterion
from suanzi.validate.judge.arguments import (
    Request,
    every_gradient,
    forward_of,
    gradients_of,
    misfit,
    refuse_signature,
    request,
    without_defaults,
)
from suanzi.validate.judge.bounds import Property, numbers_as
from suanzi.validate.judge.cases import Trial, spread, trials, unnoticed
from suanzi.validate.judge.diagnosis import Result, diagnosed
from suanzi.validate.judge.filling import dtype_of
from suanzi.validate.judge.findings import CODES, Finding
from suanzi.validate.judge.inference import inferred
from suanzi.validate.judge.standards import rulings
from suanzi.validate.judge.verdict import CaseResult, Outcome, Verdict

_AGAIN = 3
"""How many cases are called twice, and in another batch."""
_STUCK = 3
"""After so many crashes a dtype is left, and after so many calls without an answer the kernel."""
_ARGUMENTS = re.compile(
    r"TypeError.*(required (positional|keyword)|unexpected keyword|positional arg)"
)
"""An error of Python for arguments that a function does not have."""
_INDICES = ("indices", "order", "positions", "counts")
_OUTCOMES = {"crashed": "JD002", "hung": "JD003", "broken": "JD102", "unsupported": "JD503"}


# ---- one case ------------------------------------------------------------------------------------


class Judging:
    """A kernel under judgement."""

    def __init__(
        self,
        asked: Asked,
        must: frozenset[str],
        criteria: Sequence[Criterion] = (),
        backward: bool = False,
        accumulate: str | None = None,
        fit: Callable[[Case], Case] = lambda case: case,
    ) -> None:
        """Take who answers; `fit` returns a case as it is put to the kernel."""
        self.fit = fit
        self.opaque = False
        """Whether nothing is known of the kernel's parameters: it takes any."""
        self.asked, self.must, self.backward = asked, must, backward
        self.criteria = criteria
        self.lower = accumulate in ("float16", "bfloat16", "tfloat32")
        self.earlier: dict[str, NDArray[np.float64]] = {}
        self.forms: set[tuple[int, bool, str] | None] = set()
        """Those of the calls that were answered."""
        self.lost = False
        """Whether the device is lost, and with it this process."""
        self.made: list[NDArray[np.float64]] = []
        """The outputs of the last call, if they have the right dtypes and shapes."""

    def judged(self, trial: Trial) -> CaseResult:
        """Put a case to the kernel."""
        case = trial.case
        answer = self._ask(case)
        try:
            due = trial.expect()
        except (ValueError, IndexError, ArithmeticError):  # a size that the operator does not take
            due = None
        if due is None:
            return CaseResult(case.id, "not taken", case=case)
        expected = [] if isinstance(due, Property) else due
        if self.pulls(case):
            key = case.op.removesuffix("_bwd")
            present = [n for n in every_gradient(key) if isinstance(case.arguments.get(n), Data)]
            asked_for = zip(present, expected, strict=True)
            expected = [bound for name, bound in asked_for if name in gradients_of(key)]
        if isinstance(due, Property):
            finding, share = self._found(case, answer, lambda found: _property(case, found, due))
        else:
            finding, share = self._found(
                case, answer, lambda found: self._compared(case, found, expected)
            )
        if (finding is None or finding.is_note) and _cannot_fail(
            case, answer, due, expected, self.lower
        ):
            return CaseResult(case.id, "cannot fail", case=case, expected=expected)
        said = rulings(self.criteria, case, _results(answer, expected), expected)
        if finding is None:
            return CaseResult(case.id, "right", None, share, case, expected, said)
        if case.group == "empty":
            finding = replace(finding, code="JD504", words=f"{finding.title}: {finding.words}")
        is_due = finding.code == "JD503" and case.dtype in self.must
        outcome: Outcome = "wrong" if is_due or not finding.is_note else "not taken"
        if finding.code == "JD003":
            outcome = "no answer"
        made = tuple(self.made) if len(self.made) == len(expected) else ()
        return CaseResult(case.id, outcome, finding, share, case, expected, said, made)

    def _ask(self, case: Case) -> Answer | Unanswered:
        """Make a call; a process that has lost its device is started again before the next one."""
        answer = self.asked.ask(self.fit(case))
        if isinstance(answer, Unanswered) and answer.words.startswith("JD004"):
            restart = getattr(self.asked, "restart", None)
            self.lost = restart is None
            if restart is not None:
                restart()
        return answer

    def pulls(self, case: Case) -> bool:
        """Tell whether a case asks for the gradient of the kernel, and not for its result."""
        return self.backward and case.op.endswith("_bwd")

    def _found(
        self,
        case: Case,
        answer: Answer | Unanswered,
        compared: Callable[[Answer], tuple[Finding | None, float | None]],
    ) -> tuple[Finding | None, float | None]:
        """Return what is wrong with an answer: that there is none, or what a comparison finds."""
        self.made.clear()
        if isinstance(answer, Unanswered):
            code, _, words = answer.words.partition(": ")
            if code not in CODES:
                code, words = _OUTCOMES.get(answer.outcome, "JD001"), answer.words
                if words.startswith("create: "):  # out of memory, for example
                    code = "JD001"
                if code == "JD003":
                    words += "; --timeout allows more"
            return Finding(code, words, case.id), None
        if answer.status != "SUCCESS":
            code = "JD505" if case.group == "broadcast" else "JD001"
            if case.dtype != "float32" and _is_of_dtype(answer.words):
                code = "JD503"
            elif (
                (self.opaque and _ARGUMENTS.search(answer.words))
                or (self.forms and _form(case) not in self.forms)
                or (case.group == "sizes" and _is_refused(case))
            ):
                code = "JD505"
            return Finding(code, answer.words, case.id), None
        self.forms.add(_form(case))
        return compared(answer)

    def _compared(
        self, case: Case, answer: Answer, expected: Sequence[Bound]
    ) -> tuple[Finding | None, float | None]:
        """Compare outputs with their bounds; more of them, as what a gradient needs, are free."""
        expected = _without_target(case, expected, len(answer.outputs))
        if len(answer.outputs) < len(expected):
            words = f"{len(answer.outputs)} instead of {len(expected)}"
            return Finding("JD101", words, case.id), None
        share, first = 0.0, None
        outputs = answer.outputs[: len(expected)]
        for i, (made, bound) in enumerate(zip(outputs, expected, strict=True)):
            if not isinstance(made, Data) or not is_like(made, bound, _is_index(case, i)):
                came = (
                    f"{made.dtype} of shape {made.shape}" if isinstance(made, Data) else f"{made!r}"
                )
                words = f"{came}, not {bound.dtype} of shape {bound.shape}"
                return Finding("JD103", words, case.id), None
            found = numbers_as(made)
            self.made.append(found)
            share = max(share, _share(bound, found))
            if bound.wrong(found).any() and first is None:
                first = diagnosed(Result(case, bound, found, dict(self.earlier)))
            self.earlier[case.id] = found
        return first, share

    # ---- calls that are compared with each other ----

    def notes(self, results: Sequence[CaseResult]) -> Iterator[Finding]:
        """Give what is worth knowing of a right kernel: determinism, and whether batches matter."""
        good = [r for r in results if r.outcome == "right" and r.case and r.elements]
        some = [r.case for r in sorted(good, key=lambda r: -r.elements)[:_AGAIN] if r.case]
        for case in some:
            first, second = self._ask(case), self._ask(case)
            if _raw(first) != _raw(second):
                yield Finding(
                    "JD501", "two calls with the same inputs differ in their bits", case.id
                )
                break
        for case in some:
            if (words := self._in_another_batch(case)) is not None:
                yield Finding("JD502", words, case.id)
                break

    def _in_another_batch(self, case: Case) -> str | None:
        """Compare the first row of a batch with the same row alone."""
        tensors = {n: x for n, x in case.arguments.items() if isinstance(x, Data)}
        first = next(iter(tensors.values()))
        whole = self._ask(case)
        if len(first.shape) < 2 or first.shape[0] < 2 or not isinstance(whole, Answer):
            return None
        count = first.shape[0]
        outputs = [x for x in whole.outputs if isinstance(x, Data) and x.shape[:1] == (count,)]
        axis = case.arguments.get("axis", -1)
        if not outputs or (isinstance(axis, int) and axis % len(first.shape) == 0):
            return None
        fewer = {
            n: _first_row(x) if x.shape[:1] == (count,) and len(x.shape) == len(first.shape) else x
            for n, x in tensors.items()
        }
        alone = self._ask(
            Case(
                case.op,
                case.group,
                case.dtype,
                case.title,
                {**case.arguments, **fewer},
                case.expect,
            )
        )
        if not isinstance(alone, Answer) or alone.status != "SUCCESS" or not alone.outputs:
            return None
        one = alone.outputs[0]
        if isinstance(one, Data) and one.raw != outputs[0].raw[: len(one.raw)]:
            return f"the first of {count} rows has other bits than the same row alone"
        return None


def _results(answer: Answer | Unanswered, expected: Sequence[Bound]) -> list[NDArray[Any]]:
    """Return the results as numbers, if all have the right dtype and shape."""
    if not isinstance(answer, Answer) or answer.status != "SUCCESS":
        return []
    made = [x for x in answer.outputs if isinstance(x, Data)]
    same = [(x.dtype, x.shape) for x in made[: len(expected)]]
    if same != [(b.dtype, b.shape) for b in expected]:
        return []
    return [numbers_as(x) for x in made[: len(expected)]]


def is_like(made: Data, bound: Bound, is_index: bool) -> bool:
    """Tell whether an output has its dtype and shape; indices may be of either usual dtype."""
    indices = ("int64", "int32")
    either = is_index and made.dtype in indices and bound.dtype in indices
    return (made.dtype == bound.dtype or either) and made.shape == bound.shape


def _is_index(case: Case, which: int) -> bool:
    """Tell whether an output counts positions, whatever the dtype of the operands is."""
    if case.op.startswith("own:") or case.op.endswith("_bwd"):
        return False
    names = case.interface.outputs
    return names[min(which, len(names) - 1)] in _INDICES


def _property(case: Case, answer: Answer, due: Property) -> tuple[Finding | None, float | None]:
    """Return what is wrong with outputs of which only a property is known."""
    problem = verdict_of(case, answer, False, due).problem
    return (None if problem is None else Finding("JD404", problem, case.id)), None


def _cannot_fail(
    case: Case,
    answer: Answer | Unanswered,
    due: Property | Sequence[Bound],
    expected: Sequence[Bound],
    lower: bool,
) -> bool:
    """Tell whether a case would accept a wrong output, too."""
    if not isinstance(due, Property):
        return unnoticed(case, expected, lower) is not None
    if not isinstance(answer, Answer) or answer.status != "SUCCESS":
        return False
    zeros = [replace(x, raw=bytes(len(x.raw))) for x in answer.outputs if isinstance(x, Data)]
    return verdict_of(case, replace(answer, outputs=zeros), False, due).passed


def _first_row(x: Data) -> Data:
    return Data(x.dtype, (1, *x.shape[1:]), x.raw[: len(x.raw) // x.shape[0]])


def _raw(answer: Answer | Unanswered) -> Any:
    if not isinstance(answer, Answer):
        return None
    return [x.raw if isinstance(x, Data) else x for x in answer.outputs]


def _without_target(case: Case, expected: Sequence[Bound], count: int) -> Sequence[Bound]:
    """Return the gradients without that of a loss's target, if a kernel does not return it."""
    key = case.op.removesuffix("_bwd")
    if key == case.op or count >= len(expected) or case.op not in definitions():
        return expected
    return expected[:count] if every_gradient(key)[count:] == ["target"] else expected


def _form(case: Case) -> tuple[int, bool, str] | None:
    """Return what a kernel may be limited to: axes, heads of one width, classes as targets."""
    given = {n: x for n, x in case.arguments.items() if isinstance(x, Data)}
    widths = {given[n].shape[-1:] for n in ("q", "v") if n in given}
    target = given["target"].dtype if "target" in given else ""
    kind = "floats" if target in FORMATS else target
    return (len(next(iter(given.values())).shape), len(widths) < 2, kind) if given else None


def _is_refused(case: Case) -> bool:
    """Tell whether suanzi refuses a call, too: a size that the operator does not have."""
    tensors = {
        name: tensor(np.frombuffer(x.raw, dtype_of(x.dtype)).reshape(x.shape))
        if isinstance(x, Data)
        else x
        for name, x in case.arguments.items()
    }
    try:
        function(case.op)(**tensors)
    except (StatusError, KeyError, TypeError):
        return True
    return False


def _is_of_dtype(words: str) -> bool:
    lower = words.lower()
    return any(
        part in lower
        for part in ("dtype", "not implemented for", "unsupported", "notimplemented", "bfloat16")
    )


def _share(bound: Bound, found: NDArray[np.float64]) -> float:
    """Return the largest error as a multiple of what is allowed."""
    off = bound.errors(found)
    with np.errstate(all="ignore"):
        share = np.where(off == 0, 0.0, off / bound.error)
    return float(share[np.isfinite(share)].max(initial=0.0))


def _not_taken(results: Sequence[CaseResult], judged: set[str]) -> Iterator[Finding]:
    """Give the first of each kind of thing that the kernel does not take."""
    for r in reversed(results):
        dtype = r.id.split("/")[2]
        if (
            r.outcome == "not taken"
            and r.finding
            and (r.finding.code != "JD503" or dtype not in judged)
        ):
            yield replace(r.finding, words=f"{dtype}: {r.finding.words}")


def _stuck(result: CaseResult) -> Counter[str]:
    """Count what costs a start or a timeout: by its dtype, or as a call without an answer."""
    code = result.finding.code if result.finding else None
    dtype = result.id.split("/")[2]
    return Counter({"JD002": [dtype], "JD004": [dtype], "JD003": ["no answer"]}.get(str(code), []))


def _stopped(judging: Judging, stuck: Counter[str]) -> str | None:
    """Return why no more cases are put to a kernel; None if they are."""
    if judging.lost:
        return (
            "the device cannot be used any more by this process; `suanzi judge FILE::NAME` starts "
            "another one after such a case"
        )
    if stuck["no answer"] >= _STUCK:
        return f"no more cases after {_STUCK} without an answer"
    return None


# ---- the whole -----------------------------------------------------------------------------------


def judge_with(
    asked: Asked,
    kernel: str,
    op: str,
    *,
    seconds: float | None = None,
    progress: Any = None,
    **wanted: Any,
) -> Verdict:
    """Judge what answers calls, as an operator; the other arguments are those of `sz.judge`.

    With `backward`, its gradients are judged, too; the adapter has been given `gradients_of`.
    """
    return judge_request(asked, kernel, request(op, **wanted), seconds=seconds, progress=progress)


def judge_request(
    asked: Asked,
    kernel: str,
    wanted: Request,
    *,
    seconds: float | None = None,
    progress: Any = None,
) -> Verdict:
    """Judge what answers calls; `progress` is called with the result of each case.

    No more cases are put when `seconds` have passed since the first one was judged.
    """
    start = begun = time.perf_counter()
    backward = wanted.gradients is not None
    framework, accepted = "C", ["*", "**"]
    if asked.backend.adapter.endswith("kernel_adapter:Adapter"):
        framework, *accepted = asked.facts.notes
    if backward and framework not in ("torch", "jax"):
        raise InvalidArgument(
            f"judge: backward needs a kernel of torch or jax, which derive gradients; this one is "
            f"of {framework}. Judge a kernel that computes a gradient itself as "
            f"{wanted.key}_bwd."
        )
    judging = Judging(
        asked, wanted.must, wanted.criteria, backward, wanted.accumulate,
        lambda case: case if framework == "C" else without_defaults(case, accepted, wanted.params),
    )  # fmt: skip
    judging.opaque = framework != "C" and {"*", "**"} <= {*accepted}
    results: list[CaseResult] = []
    seen: set[str] = set()
    stuck: Counter[str] = Counter()
    notes: list[Finding] = []
    why = "no case has these dtypes"
    for trial in trials(wanted) if seconds is None else spread(list(trials(wanted))):
        if stuck[trial.case.dtype] >= _STUCK:
            continue
        called = forward_of(trial.case) if judging.pulls(trial.case) else trial.case
        if (unfit := misfit(called, accepted, wanted.params)) or trial.case.id in seen:
            why = unfit if unfit and not results else why
            continue
        seen.add(trial.case.id)
        results.append(judging.judged(trial))
        if progress is not None:
            progress(results[-1])
        stuck += _stuck(results[-1])
        if (words := _stopped(judging, stuck)) is not None:
            notes.append(Finding("JD506", words, trial.case.id))
            break
        if len(results) == 1:  # the first call imports and compiles
            begun = time.perf_counter()
        if seconds is not None and time.perf_counter() - begun > seconds:
            break
    if not results:
        raise refuse_signature(wanted.key, kernel, accepted, why)
    if wanted.shapes and all(r.finding is None and r.outcome == "not taken" for r in results):
        raise InvalidArgument(f"judge: {wanted.key} does not take the shapes {wanted.shapes}.")
    if wanted.accumulate is None and not judging.lost:
        results = inferred(results, judging.judged, wanted.params)
    if not stuck and all(r.outcome != "wrong" for r in results):
        notes += judging.notes(results)
    for dtype in [d for d in wanted.dtypes if stuck[d] >= _STUCK]:
        words = f"{dtype}: no more cases after {_STUCK} that ended the process or lost the device"
        notes.append(Finding("JD506", words))
    judged = {r.id.split("/")[2] for r in results if r.outcome in ("right", "wrong")}
    for one in {f.code: f for f in _not_taken(results, judged)}.values():
        notes.append(one)
    device = asked.backend.options.get("device") or "cpu"
    arithmetic = wanted.accumulate or "float32 (float64 for float64)"
    return Verdict(
        kernel, wanted.key, framework, device, arithmetic, tuple(results), tuple(notes),
        time.perf_counter() - start, backward,
    )  # fmt: skip
