"""The fast gait: batches of calls that must answer, and a search for the call that did not."""

from __future__ import annotations

import os
import select
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

import suanzi as sz
from fuzzing.batch import CALLS, Batch, digest, memory_of, oddities, pool
from fuzzing.devices import HOSTED, moved, use
from fuzzing.judging import Finding, is_pythons, verdict
from fuzzing.making import NAMES
from fuzzing.processes import Place, Tell, Worker, limited
from fuzzing.shrinking import as_python, in_child, shrunk
from fuzzing.soundness import unsound

SOUND_EVERY = 16
"""Calls between two answers that are looked at."""
COMPARED_EVERY = 4096
"""Calls between two that the careful gait makes, too."""
_INTERNAL = sz.Status.INTERNAL_ERROR
_COPIED = 1 << 20
"""Elements of a tensor that is moved to a device; a view may repeat one element for ever."""
_SEARCH = 40
"""Seconds to look for the calls that matter."""


class Storm:
    """Batches of calls."""

    counters = (
        "gives", *sorted(s.name for s in sz.Status), "TypeError", *(f"sz.{op}" for op in NAMES),
    )  # fmt: skip
    room = 2 << 30  # the threads of sixteen cores take addresses, too

    def __init__(self, seed: int, names: tuple[str, ...], device: str = "") -> None:
        self.seed, self.names, self.device = seed, names, device
        if device not in HOSTED:
            self.room = 0
        self._seen: set[tuple[str, str]] = set()
        pool(), oddities()  # once, before there are processes

    def begin(self) -> None:
        """Be quiet for all calls at once."""
        warnings.simplefilter("ignore")
        np.seterr(all="ignore")
        if self.device:
            use(self.device)
        self._pool = memory_of(given for given, _ in pool())
        self._before = digest(self._pool)

    def make(self, index: int, worker: Worker, tell: Tell) -> None:
        """Make the calls of a batch."""
        try:
            batch = Batch(self.seed, index, self.names)
        except MemoryError:  # of the limit that is set here; AllocFailed is one
            return
        counted = self.run(batch, index, range(CALLS), worker, tell)
        for name, n in counted.items():
            worker.count(name, n)

    def run(
        self, batch: Batch, index: int, numbers: Iterable[int], worker: Worker, tell: Tell
    ) -> Counter[str]:
        """Make some calls of a batch, and count the outcomes."""
        memory = memory_of(batch.operands())
        before = digest(memory)
        counted: Counter[str] = Counter()
        operators: Counter[str] = Counter()
        told: set[tuple[str, str]] = set()  # an operator says the same a hundred times
        chosen = sz.domain_errors(True) if batch.domain_errors else nullcontext()
        sz.set_num_threads(batch.threads)
        with sz.promotion(batch.rules), chosen:
            for number in numbers:
                worker.at[1] = number
                family, names, pairs = batch.drawn(number)
                operators[family.op] += 1
                if self.device:
                    try:
                        pairs = [(_there(given, self.device), written) for given, written in pairs]
                    except (sz.StatusError, MemoryError):  # a dtype that the device has not
                        counted["TypeError"] += 1
                        continue
                how, found = _outcome(family, names, pairs)
                if isinstance(found, Finding):
                    if (family.op, found.kind) not in told:
                        tell(Place(index, number), found)
                    told.add((family.op, found.kind))
                    continue
                counted[how] += 1
                if how == "gives" and number % SOUND_EVERY == 0 and not self.device:
                    wrong = unsound(family, names, [given for given, _ in pairs], found)
                    if wrong:
                        tell(Place(index, number), Finding("unsound", wrong))
        if (index * CALLS) % COMPARED_EVERY == 0 and not self.device:
            compared = verdict(batch.written(index % CALLS))
            if isinstance(compared, Finding):
                tell(Place(index, index % CALLS), compared)
        if digest(memory) != before or digest(self._pool) != self._before:
            tell(Place(index, -1), Finding("changed", "an operand has other elements"))
            pool.cache_clear()
            self.begin()
        counted.update({f"sz.{op}": n for op, n in operators.items()})
        return counted

    # ---- what was found --------------------------------------------------------------------------

    def everything(self, index: int) -> list[tuple[Place, Finding]]:
        """Make a batch again, in a process of its own, and return what is found."""
        return self._piece(index, range(CALLS))

    def explained(self, place: Place, found: Finding) -> str:
        """Return the call, or the calls that it takes, as Python to paste."""
        batch = Batch(self.seed, place.index, self.names)
        numbers = [place.call] if place.call >= 0 else self._culprits(place, found)
        call = batch.written(numbers[-1])
        if (call.op, found.kind) in self._seen:
            return f"# {call.op} again"
        self._seen.add((call.op, found.kind))
        again = in_child(call)
        if isinstance(again, Finding) and again.kind == found.kind:
            return as_python(shrunk(call, found.kind, 20))
        if found.kind == "unsound":
            return as_python(call)
        numbers = self._culprits(place, found)
        if not numbers:
            return f"# not again; in its place was\n{as_python(call)}"
        words = [f"# {len(numbers)} calls, in this order"]
        return "\n\n".join(words + [as_python(batch.written(n)) for n in numbers])

    def _culprits(self, place: Place, found: Finding) -> list[int]:
        """Return the calls of a batch that it takes, by leaving out what it does not take."""
        last = place.call if place.call >= 0 else CALLS - 1
        end = time.monotonic() + _SEARCH

        def happens(numbers: Sequence[int]) -> bool:
            return any(f.kind == found.kind for _, f in self._piece(place.index, numbers))

        return fewest(list(range(last + 1)), happens, lambda: time.monotonic() > end)

    def _piece(self, index: int, numbers: Sequence[int]) -> list[tuple[Place, Finding]]:
        """Make some calls of a batch in a process of its own, and return what is found."""
        worker = Worker(index, 1, self.counters)
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                limited(self.room)
                self.begin()

                def tell(place: Place, found: Finding) -> None:
                    words = f"{place.call}\t{found.kind}\t{found.said}".replace("\n", " ")
                    os.write(write, words.encode()[:3000] + b"\n")

                self.run(Batch(self.seed, index, self.names), index, numbers, worker, tell)
            finally:
                os._exit(0)
        os.close(write)
        said, code = _heard(child, read)
        lines = [line.split("\t", 2) for line in said.decode(errors="replace").splitlines()]
        findings = [(Place(index, int(n)), Finding(kind, words)) for n, kind, words in lines]
        if code is None:
            findings.append((Place(index, worker.at[1]), Finding("hang", "no answer")))
        elif code < 0:
            name = signal.Signals(-code).name
            findings.append((Place(index, worker.at[1]), Finding("crash", name)))
        return findings

    def summary(self, total: Counter[str]) -> str:
        """Return how often each outcome and each operator was seen, a few in a line."""
        lines = [
            f"{n:12} {name}" for name, n in total.most_common() if n and not name.startswith("sz.")
        ]
        words = [f"{name} {total[f'sz.{name}']}" for name in self.names]
        lines += ["", "calls of each operator:"]
        lines += [", ".join(words[i : i + 6]) for i in range(0, len(words), 6)]
        return "\n".join(lines)


def _there(x: Any, device: str) -> Any:
    """Return an argument with its tensors on a device, if they are of a size to be copied."""
    if type(x) is sz.Tensor and x.size > _COPIED:
        raise sz.TypeMismatch("too large to be copied")
    return moved(x, device) if not isinstance(x, list) else [_there(one, device) for one in x]


def _outcome(family: Any, names: tuple[str, ...], pairs: list[Any]) -> tuple[str, Any]:
    """Make a call: return how it ended, and the answer or a finding."""
    placed = 0
    for name, parameter in zip(names, family.positional, strict=False):
        if name != parameter:
            break
        placed += 1
    args = [given for given, _ in pairs[:placed]]
    kwargs = {name: pair[0] for name, pair in zip(names[placed:], pairs[placed:], strict=True)}
    try:
        answer = family.function(*args, **kwargs)
    except sz.StatusError as error:
        status = error.status
        if status is _INTERNAL:
            return "", Finding("internal", str(error)[:400])
        return status.name, None
    except Exception as error:
        if is_pythons(error, family.form, args):
            return "TypeError", None
        return "", Finding("foreign", f"{type(error).__name__}: {error}"[:400])
    if family.form != "interface":
        try:
            sz.synchronize()
        except sz.StatusError as error:
            return error.status.name, None
        return "gives", answer
    status = answer[0]
    if status is sz.Status.SUCCESS:
        return "gives", answer[1:]
    if status is _INTERNAL:
        return "", Finding("internal", f"{sz.interface.last_error()}"[:400])
    return status.name, None


def _heard(child: int, read: int, seconds: float = 20) -> tuple[bytes, int | None]:
    """Return what a process says, and its end; None where it has none in time."""
    said, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([read], [], [], 0.1)[0]:
            some = os.read(read, 1 << 16)
            if not some:
                break
            said += some
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(read)
        return said, None
    os.close(read)
    return said, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fewest(
    numbers: list[int], happens: Callable[[Sequence[int]], bool], late: Callable[[], bool]
) -> list[int]:
    """Return few numbers, in their order, for which it still happens; none if it never does.

    >>> fewest(list(range(100)), lambda some: {7, 90} <= set(some), lambda: False)
    [7, 90]
    """
    if not happens(numbers):
        return []
    size = len(numbers) // 2
    while size and not late():
        start = 0
        while start < len(numbers) and not late():
            rest = numbers[:start] + numbers[start + size :]
            if rest and happens(rest):
                numbers = rest
            else:
                start += size
        size //= 2
    return numbers
