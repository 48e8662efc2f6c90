"""The engine: cases are put to a kernel, here or in another process, and its results are judged.

Truths are computed after the call. A case that would accept a wrong answer is not used.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi._hints import nearest
from suanzi.conformance.judging.verdict import Answer
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.numbers import FORMATS
from suanzi.conformance.running.defaults import completed
from suanzi.conformance.running.process import Asked, Unanswered
from suanzi.conformance.subjects.wire import Data
from suanzi.criteria import Criterion
from suanzi.dtypes import dtype as dtype_named
from suanzi.judgement.cases import OWN_GRADIENTS, Bound, Trial, chosen, unnoticed
from suanzi.judgement.diagnosis import Result, diagnosed
from suanzi.judgement.filling import dtype_of, numbers_of
from suanzi.judgement.findings import CODES, Finding
from suanzi.judgement.inference import inferred
from suanzi.judgement.standards import criteria_named, rulings
from suanzi.judgement.verdict import CaseResult, Outcome, Verdict
from suanzi.registry import function
from suanzi.standard import interface, interfaces
from suanzi.standard.catalogues import catalogues, key_of
from suanzi.status import InvalidArgument, StatusError
from suanzi.tensors.make import tensor
from suanzi.truth import definitions

DTYPES = ("float32", "float16", "bfloat16")
_AGAIN = 3
"""How many cases are called twice, and in another batch."""
_OUTCOMES = {"crashed": "JD002", "hung": "JD003", "broken": "JD102", "unsupported": "JD503"}


def operator_key(name: str) -> str:
    """Return the key of an operator by its name; those with a definition of their own come first.

    >>> operator_key("softmax"), operator_key("add")
    ('nn:softmax', 'add')
    """
    known = definitions()
    for key in (name, *(key_of(of, name) for of in (*catalogues()[1:], "own"))):
        if key in known:
            return key
    try:
        return interface(name).key
    except InvalidArgument:
        every = {key.rpartition(":")[2] for key in known} | set(interfaces())
        raise InvalidArgument(
            f"judge: {name!r} is not an operator that has a truth here.{nearest(name, every)} "
            "Register your own with sz.judge.register."
        ) from None


def dtype_names(wanted: Iterable[Any] | str | None) -> tuple[str, ...]:
    """Return dtypes by suanzi's names; without any, float32, float16 and bfloat16."""
    if wanted is None:
        return DTYPES
    some = wanted.split(",") if isinstance(wanted, str) else wanted
    found = []
    for one in some:
        try:
            found.append(dtype_named(one.strip() if isinstance(one, str) else one).name)
        except StatusError as error:
            raise InvalidArgument(f"judge: {error}") from None
    other = [name for name in found if name not in FORMATS]
    if other:
        raise InvalidArgument(
            f"judge: {other[0]} is not a dtype of real floating-point numbers; "
            f"use {', '.join(FORMATS)}."
        )
    return tuple(dict.fromkeys(found))


def every_gradient(key: str) -> list[str]:
    """Return the inputs of an operator that its gradient is taken of, in order.

    >>> every_gradient("nn:mse_loss")
    ['x', 'target']
    """
    name, back = key.rpartition(":")[2], f"{key}_bwd"
    if back not in definitions():
        of = name.removesuffix("_bwd")
        words = f"is a gradient itself; name the operator, {of}" if of != name else "has none here"
        raise InvalidArgument(
            f"judge: with backward, the operator needs a gradient, and {name} {words}."
        )
    if key in OWN_GRADIENTS:
        return list(OWN_GRADIENTS[key])
    return [one.removesuffix("_grad") for one in interface(back).outputs]


def gradients_of(key: str) -> list[str]:
    """Return the inputs of an operator whose gradients are judged: not the target of a loss."""
    return [name for name in every_gradient(key) if name != "target"]


# ---- which cases a kernel can take ---------------------------------------------------------------


def defaults_of(op: str) -> Mapping[str, Any]:
    """Return the parameters of an operator that have a default, with it."""
    if op in definitions():
        parameters = inspect.signature(definitions()[op]).parameters.values()
        return {p.name: p.default for p in parameters if p.default is not p.empty}
    return completed(op, {})


def forward_of(case: Case) -> Case:
    """Return the call of the kernel whose gradient a case asks for."""
    arguments = {n: x for n, x in case.arguments.items() if n != "out_grad"}
    return replace(case, op=case.op.removesuffix("_bwd"), arguments=arguments)


def fits(case: Case, accepted: Sequence[str], params: Mapping[str, Any]) -> bool:
    """Tell whether a kernel can be called as a case asks for.

    Tensors go in order; a parameter by its name, if the kernel has it. One that it has not must be
    the default, or what the caller says that the kernel does.
    """
    tensors = [n for n, x in case.arguments.items() if isinstance(x, Data)]
    if any(isinstance(x, list) and x and isinstance(x[0], Data) for x in case.arguments.values()):
        return False
    own = [name for name in accepted if not name.startswith("*")]
    names = [name.rstrip("=/") for name in own]
    if "?" in accepted:
        names, own = [], []
    elif "*" not in accepted and len(names) < len(tensors):
        return False
    named = {n: x for n, x in case.arguments.items() if n not in tensors}
    missing = [n for n in own[len(tensors) :] if "=" not in n and n.rstrip("/") not in named]
    if missing:
        return False
    defaults = defaults_of(case.op)
    first = next((x for x in case.arguments.values() if isinstance(x, Data)), None)
    for name, value in named.items():
        if name in names[len(tensors) :] or "**" in accepted:
            continue
        meant = params.get(name, defaults.get(name, value if name in params else _NOTHING))
        if not _same(name, value, meant, len(first.shape) if first else 0):
            return False
    return True


_NOTHING = object()


def _same(name: str, a: Any, b: Any, ndim: int) -> bool:
    if name == "normalized_shape":  # the last axis, which no kernel asks for
        return isinstance(a, int) or len(a) == 1
    if name == "axis" and isinstance(a, int) and isinstance(b, int) and ndim:
        return a % ndim == b % ndim
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return list(a) == list(b)
    return bool(a == b)


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
    ) -> None:
        self.asked, self.must, self.backward = asked, must, backward
        self.criteria = criteria
        self.lower = accumulate in ("float16", "bfloat16", "tfloat32")
        self.earlier: dict[str, NDArray[np.float64]] = {}
        self.made: list[NDArray[np.float64]] = []
        """The outputs of the last call, if they have the right dtypes and shapes."""

    def judged(self, trial: Trial) -> CaseResult:
        """Put a case to the kernel."""
        case = trial.case
        answer = self.asked.ask(case)
        try:
            expected = trial.expect()
        except (ValueError, IndexError):  # a size that the operator does not take
            expected = None
        if expected is None:
            return CaseResult(case.id, "not taken", case=case)
        if self.pulls(case):
            key = case.op.removesuffix("_bwd")
            present = [n for n in every_gradient(key) if isinstance(case.arguments.get(n), Data)]
            asked_for = zip(present, expected, strict=False)
            expected = [bound for name, bound in asked_for if name in gradients_of(key)]
        if unnoticed(case, expected, self.lower) is not None:
            return CaseResult(case.id, "cannot fail", case=case, expected=expected)
        finding, share = self._finding(case, answer, expected)
        said = rulings(self.criteria, case, _results(answer, expected), expected)
        if finding is None:
            return CaseResult(case.id, "right", None, share, case, expected, said)
        if case.group == "empty":
            finding = replace(finding, code="JD504", words=f"{finding.title}: {finding.words}")
        is_due = finding.code == "JD503" and case.dtype in self.must
        outcome: Outcome = "wrong" if is_due or not finding.is_note else "not taken"
        made = tuple(self.made) if len(self.made) == len(expected) else ()
        return CaseResult(case.id, outcome, finding, share, case, expected, said, made)

    def pulls(self, case: Case) -> bool:
        """Tell whether a case asks for the gradient of the kernel, and not for its result."""
        return self.backward and case.op.endswith("_bwd")

    def _finding(
        self, case: Case, answer: Answer | Unanswered, expected: Sequence[Bound]
    ) -> tuple[Finding | None, float | None]:
        self.made.clear()
        if isinstance(answer, Unanswered):
            code, _, words = answer.words.partition(": ")
            if code not in CODES:
                code, words = _OUTCOMES.get(answer.outcome, "JD001"), answer.words
            return Finding(code, words, case.id), None
        if answer.status != "SUCCESS":
            code = "JD505" if case.group == "broadcast" else "JD001"
            if case.dtype != "float32" and _is_of_dtype(answer.words):
                code = "JD503"
            elif case.group == "sizes" and _is_refused(case):
                code = "JD505"
            return Finding(code, answer.words, case.id), None
        if len(answer.outputs) < len(expected):
            words = f"{len(answer.outputs)} instead of {len(expected)}"
            return Finding("JD101", words, case.id), None
        share, first = 0.0, None
        for made, bound in zip(answer.outputs, expected, strict=False):
            if not isinstance(made, Data) or (made.dtype, made.shape) != (bound.dtype, bound.shape):
                came = (
                    f"{made.dtype} of shape {made.shape}" if isinstance(made, Data) else f"{made!r}"
                )
                words = f"{came}, not {bound.dtype} of shape {bound.shape}"
                return Finding("JD103", words, case.id), None
            found = numbers_of(made)
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
            first, second = self.asked.ask(case), self.asked.ask(case)
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
        whole = self.asked.ask(case)
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
        alone = self.asked.ask(
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
    return [numbers_of(x) for x in made[: len(expected)]]


def _first_row(x: Data) -> Data:
    return Data(x.dtype, (1, *x.shape[1:]), x.raw[: len(x.raw) // x.shape[0]])


def _raw(answer: Answer | Unanswered) -> Any:
    if not isinstance(answer, Answer):
        return None
    return [x.raw if isinstance(x, Data) else x for x in answer.outputs]


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
        share = np.where(off == 0, 0.0, off / bound.allowed)
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


# ---- the whole -----------------------------------------------------------------------------------


def judge_with(
    asked: Asked,
    kernel: str,
    op: str,
    *,
    dtypes: Any = None,
    shapes: Sequence[Any] | None = None,
    accumulate: str | None = None,
    params: Mapping[str, Any] | None = None,
    standards: Sequence[str] | str = (),
    backward: bool = False,
    seconds: float | None = None,
    progress: Any = None,
) -> Verdict:
    """Judge what answers calls, as an operator; `dtypes` that are named must be taken.

    With `backward`, its gradients are judged, too; the adapter has been given `gradients_of`. No
    more cases are put after `seconds`.
    """
    start = time.perf_counter()
    key, names, fixed = operator_key(op), dtype_names(dtypes), dict(params or {})
    framework, accepted = "C", ["*", "**"]
    if asked.backend.adapter.endswith("kernel_adapter:Adapter"):
        framework, *accepted = asked.facts.notes
    if backward and framework not in ("torch", "jax"):
        raise InvalidArgument(
            f"judge: backward needs a kernel of torch or jax, which derive gradients; this one is "
            f"of {framework}. Judge a kernel that computes a gradient itself as {op}_bwd."
        )
    must = frozenset(() if dtypes is None else names)
    judging = Judging(asked, must, criteria_named(standards), backward, accumulate)
    keys = [key, f"{key}_bwd"] if backward else [key]
    results: list[CaseResult] = []
    seen: set[str] = set()
    stuck = 0
    for trial in (trial for one in keys for trial in chosen(one, names, shapes, accumulate, fixed)):
        called = forward_of(trial.case) if judging.pulls(trial.case) else trial.case
        if not fits(called, accepted, fixed) or trial.case.id in seen:
            continue
        seen.add(trial.case.id)
        results.append(judging.judged(trial))
        finding = results[-1].finding
        stuck += finding is not None and finding.code in ("JD002", "JD003")
        if progress is not None:
            progress(results[-1])
        if stuck >= 3:  # each costs a start, or a timeout
            break
        if seconds is not None and time.perf_counter() - start > seconds:
            break
    if accumulate is None:
        results = inferred(results, judging.judged, fixed)
    notes = list(judging.notes(results)) if all(r.outcome != "wrong" for r in results) else []
    judged = {r.id.split("/")[2] for r in results if r.outcome in ("right", "wrong")}
    for one in {f.code: f for f in _not_taken(results, judged)}.values():
        notes.append(one)
    device = asked.backend.options.get("device") or "cpu"
    arithmetic = accumulate or "float32 (float64 for float64)"
    return Verdict(
        kernel, key, framework, device, arithmetic, tuple(results), tuple(notes),
        time.perf_counter() - start, backward,
    )  # fmt: skip
