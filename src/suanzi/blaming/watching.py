"""Watches the operators that a PyTorch program calls, and judges them on their own inputs.

Every call passes through `Watcher.call`: it decides whether to judge, keeps copies of what the call
writes to, makes the call, and compares a sample of its results. What goes wrong with judging is
counted and never reaches the program. PyTorch's random numbers are not touched.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suanzi.blaming.capturing import CAPTURED, Captures
from suanzi.blaming.comparing import compare
from suanzi.blaming.entering import Hooks
from suanzi.blaming.judging import Judged
from suanzi.blaming.kinds import (
    TRACING,
    check_kinds,
    is_finite,
    key_of,
    quiet,
    same_bits,
    tensors_of,
    without_sign,
)  # fmt: skip
from suanzi.blaming.lists import chosen
from suanzi.blaming.operators import Operator, conversion, has_kernel
from suanzi.blaming.options import Options
from suanzi.blaming.places import Gradients, Place, Places
from suanzi.blaming.report import Report, Site
from suanzi.blaming.rules import judge_call
from suanzi.blaming.runs import Recorder, read_run
from suanzi.blaming.sampling import Call, Unjudged, name_of
from suanzi.blaming.saved import complete, copied, save_call
from suanzi.promote.live import NotInstalled

_RECORDED = ("", "random", "no truth")
"""The operators whose calls are recorded: those that compute something."""
_CALLS = 32
_FIRST = 10.0
"""The first call of each line, dtype and size is judged at once if a program may take so long."""
_AGAIN = 0.7
"""The share of the time that is left to calls of lines that were judged already."""
_OUTLIER = 1000.0
"""An element so many times larger than the root of the mean square is an outlier."""


class Watcher(Hooks):
    """Sees every operator while it is entered; `report` is filled as calls are judged."""

    def __init__(self, options: Options, report: Report) -> None:
        super().__init__()
        if importlib.util.find_spec("torch") is None:
            raise NotInstalled("blame: torch is not installed here.")
        self.torch: Any = importlib.import_module("torch")
        self.dispatch: Any = importlib.import_module("torch.utils._python_dispatch")
        self.options, self.report = options, report
        report.framework = f"torch {self.torch.__version__}"
        self.earlier = None if options.against is None else read_run(options.against)
        self.operators: dict[Any, Operator] = {}
        home = os.path.dirname(os.path.abspath(str(self.torch.__file__))) + os.sep
        self.places = Places(home)
        self.gradients = Gradients(self.torch)
        self.captures = Captures(self.torch)
        self.rng = np.random.default_rng(options.seed)
        self.sites: dict[Any, Site] = {}
        self.seen: set[Any] = set()
        self.costs: dict[str, float] = {}
        self.spent, self.judging, self.hidden = 0.0, 0.0, 0.0
        self.begun, self.step = 0.0, 0
        self.recorder = self._recorder()
        self.lock = threading.RLock()
        self.active = False
        self.pid = os.getpid()
        plain = {self.torch.Tensor, self.torch.nn.Parameter}
        self.plain = plain | {getattr(self.torch.nn, "Buffer", self.torch.Tensor)}

    # ---- entering ------------------------------------------------------------------------------

    def __enter__(self) -> Watcher:
        self.hidden = self._cost_of_a_mode()
        self.begun, self.active = time.perf_counter(), True
        self._hook()
        self.mode = self._new_mode()
        self.mode.__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        self.active = False
        self.mode.__exit__(*problem)
        self._unhook()
        self._finish(problem[1] if len(problem) > 1 else None)

    def _finish(self, error: BaseException | None) -> None:
        self.report.seconds = whole = time.perf_counter() - self.begun
        self.report.judging = min(self.spent + self.hidden * self.report.calls, 0.999 * whole)
        self.report.sites = list(self.sites.values())
        if self.recorder is not None:
            self.recorder.close(None if error is None else type(error).__name__)
            if self.earlier is not None:
                self.report.comparison = compare(self.earlier, self.recorder.run)

    def _recorder(self) -> Recorder | None:
        o = self.options
        if o.record is None and o.against is None:
            return None
        head = {"framework": self.report.framework}
        samples = o.samples if self.earlier is None else int(self.earlier.head["samples"])
        return Recorder(self.torch, head, o.record, samples, o.record_size, o.against is not None)

    def _cost_of_a_mode(self) -> float:
        """Return the seconds by which a mode that does nothing makes a call longer."""
        x = self.torch.zeros(1)

        def timed() -> float:
            start = time.perf_counter()
            for _ in range(_CALLS):
                x.detach()
            return time.perf_counter() - start

        timed()
        plain = min(timed(), timed())
        with self._new_mode():  # which is not active yet
            return max(min(timed(), timed()) - plain, 0.0) / _CALLS

    def _new_mode(self) -> Any:
        watcher = self

        def __torch_dispatch__(
            mode: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return watcher.call(mode, func, types, args, kwargs or {})

        kind = type(
            "Blame", (self.dispatch.TorchDispatchMode,), {"__torch_dispatch__": __torch_dispatch__}
        )
        return kind()

    # ---- a call --------------------------------------------------------------------------------

    def call(self, mode: Any, func: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Make a call, and judge it."""
        if not self.active or os.getpid() != self.pid:
            return func(*args, **kwargs)
        if not all(kind in self.plain for kind in types):
            if any(kind.__module__.startswith(TRACING) for kind in types):
                return func(*args, **kwargs)  # nothing is computed
            return NotImplemented  # a subclass: what it calls is seen
        operator = self.operators.get(func)
        if operator is None:
            operator = self.operators[func] = Operator(self.torch, func)
        args = operator.as_tensors(self.torch, args)
        if operator.composite and self._is_made_of_others(func, operator, args):
            with mode:
                found = func.decompose(*args, **kwargs)
            if found is not NotImplemented:
                return found
        start = time.perf_counter()
        node = self.gradients.current()
        if node is None:
            place = self.places.here(4)
            self.gradients.note(place)
        else:
            place = self.gradients.place(node) or self.places.here(4)
        self.places.inside += 1  # what judging itself calls is inside, too
        try:
            return self._make(func, operator, place, node is not None, args, kwargs, start)
        finally:
            self.places.inside -= 1

    def _is_made_of_others(self, func: Any, operator: Operator, args: Any) -> bool:
        """Tell whether a device has no kernel of an operator: what it is made of is seen then."""
        key = key_of(self.torch, args)
        if key not in operator.backends:
            operator.backends[key] = has_kernel(self.torch, func, key)
        return not operator.backends[key]

    def _make(
        self, func: Any, operator: Operator, place: Place, backward: bool, args: Any,
        kwargs: dict[str, Any], start: float,
    ) -> Any:  # fmt: skip
        site = due = before = None
        captured = self.captures.now()
        try:
            with self.lock:
                self.report.calls += 1
                number = self.report.calls
                arguments = operator.arguments(args, kwargs)
                site = self._site(operator, place, backward, arguments)
                if captured and not site.status:
                    raise Unjudged(CAPTURED)
                due = not captured and self._is_due(operator, site, arguments)
                if self.recorder is not None and not captured and site.status in _RECORDED:
                    inputs = tensors_of(self.torch, arguments.values())
                    with quiet(self.dispatch):
                        self.recorder.begin(
                            number, operator.title, operator.is_random, place, backward, self.step,
                            inputs,
                        )  # fmt: skip
                before = self._copies(operator, arguments) if due else {}
        except Unjudged as why:
            due = False
            if site is not None:
                site.unjudged[str(why)] += 1
        except Exception as error:
            self._fail(operator, error)
            site = None
        self.spent += time.perf_counter() - start
        result = func(*args, **kwargs)
        if site is None:
            return result
        start = time.perf_counter()
        judged = None
        try:
            if site.calls == 1:
                self._conversion(operator, site, arguments, result)
            if due:
                with self.lock, quiet(self.dispatch):
                    judged = self._after(
                        func, operator, site, place, arguments, before or {}, result, number
                    )
        except Unjudged as why:
            site.unjudged[str(why)] += 1
        except Exception as error:
            site.unjudged[f"{type(error).__name__} while judging"] += 1
            self._fail(operator, error)
        cost = time.perf_counter() - start
        if due:
            old = self.costs.get(operator.name, cost)
            self.costs[operator.name] = 0.5 * (old + cost)
            self.judging += cost
        if self.recorder is not None and not captured:
            self._record(operator, number, arguments, result, judged)
        self.spent += time.perf_counter() - start
        if self.options.progress is not None:
            self.options.progress(self.report, self.sites)
        return result

    def _record(
        self, operator: Operator, number: int, arguments: Mapping[str, Any], result: Any,
        judged: Judged | None,
    ) -> None:  # fmt: skip
        assert self.recorder is not None
        results = self._results(operator, arguments, result)
        try:
            with self.lock, quiet(self.dispatch):
                self.recorder.end(number, tensors_of(self.torch, results), judged)
        except Exception as error:
            self._fail(operator, error)

    def _returned(self, module: Any, result: Any) -> None:
        if self.recorder is None or not self.active or os.getpid() != self.pid:
            return
        if self.captures.now():
            return
        start = time.perf_counter()
        name = self.places.layer() or type(module).__name__
        given = list(result.values()) if isinstance(result, Mapping) else result
        given = given if isinstance(given, list | tuple) else [given]
        try:
            with self.lock, quiet(self.dispatch):
                self.recorder.layer(name, self.step, tensors_of(self.torch, given))
        except Exception as error:
            self.note(f"{name} not recorded: {type(error).__name__}: {str(error)[:160]}")
        self.spent += time.perf_counter() - start

    def _conversion(
        self, operator: Operator, site: Site, arguments: Mapping[str, Any], result: Any
    ) -> None:
        """Note how dtypes change that the program did not convert."""
        given = [name_of(x.dtype) for x in tensors_of(self.torch, arguments.values()) if x.ndim]
        if isinstance(result, self.torch.Tensor):
            site.conversion = conversion(operator.name, given, name_of(result.dtype))

    def _results(self, operator: Operator, arguments: Mapping[str, Any], result: Any) -> list[Any]:
        """Return the results of a call: what it returned, or what it wrote to."""
        results = list(result) if isinstance(result, list | tuple) else [result]
        if next(tensors_of(self.torch, results), None) is None:
            return [arguments[n] for n in operator.written]
        return results

    def launched(self, kernel: Any) -> None:
        """Note that a kernel of Triton runs that no operator of PyTorch calls: it is not judged."""
        if not self.active or os.getpid() != self.pid or self.places.inside:
            return
        with self.lock:
            name = getattr(kernel, "__name__", "?")
            place = self.places.here(3)
            key = name, place.file, place.line
            if key not in self.sites:
                title = f"Triton kernel {name}"
                self.sites[key] = Site(title, place, False, (), "no truth")
            self.sites[key].calls += 1
            self.report.calls += 1

    def _fail(self, operator: Operator, error: Exception) -> None:
        words = str(error).strip().splitlines() or [""]
        self.note(f"{operator.title} not judged: {type(error).__name__}: {words[0][:160]}")

    def _site(self, operator: Operator, place: Place, backward: bool, arguments: Any) -> Site:
        dtypes = tuple(dict.fromkeys(
            name_of(x.dtype) for x in tensors_of(self.torch, arguments.values())
        ))  # fmt: skip
        key = operator.title, place.file, place.line, backward, dtypes
        site = self.sites.get(key)
        if site is None:
            site = self.sites[key] = Site(
                operator.title, place, backward, dtypes, operator.status()
            )
        site.calls += 1
        if place.layer and len(site.layers) < 64:
            site.layers.setdefault(place.layer, site.calls)
        return site

    # ---- which calls ---------------------------------------------------------------------------

    def _is_due(self, operator: Operator, site: Site, arguments: dict[str, Any]) -> bool:
        """Tell whether a call is judged."""
        o = self.options
        if site.status:
            return False
        if o.ops is not None and operator.name not in o.ops:
            site.unjudged["not asked for"] += 1
            return False
        if o.every > 1 and max(self.step - 1, 0) % o.every:
            site.unjudged["another step"] += 1
            return False
        tensors = list(tensors_of(self.torch, arguments.values()))
        check_kinds(self.torch, tensors)
        if o.unusual and not self._is_unusual(tensors):
            site.unjudged["usual inputs"] += 1
            return False
        shapes = tuple(tuple(n.bit_length() for n in map(int, x.shape)) for x in tensors)
        key = id(site), shapes
        is_new = key not in self.seen
        if is_new and (o.overhead is None or o.overhead >= _FIRST):
            self.seen.add(key)
            return True
        if not is_new and o.share < 1 and self.rng.random() >= o.share:
            site.unjudged["not in the share"] += 1
            return False
        if o.overhead is None:
            return True
        hidden = self.hidden * self.report.calls
        plain = max(time.perf_counter() - self.begun - self.spent - hidden, 0.0)
        cost = self.costs.get(operator.name, 1e-3)
        share = 1.0 if is_new else _AGAIN
        if self.judging + cost > share * (o.overhead - 1) * plain:
            site.unjudged["no time left"] += 1
            return False
        self.seen.add(key)
        return True

    def _is_unusual(self, tensors: Sequence[Any]) -> bool:
        """Tell whether a tensor has NaN, infinities or outliers."""
        with quiet(self.dispatch):
            for x in tensors:
                if x.is_floating_point() and x.numel():
                    most = float(x.detach().abs().max())
                    mean = float(x.detach().float().square().mean().sqrt())
                    if not math.isfinite(most) or most > _OUTLIER * max(mean, 1e-30):
                        return True
        return False

    def _copies(self, operator: Operator, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return copies of what a call writes to, and of operands that share its memory.

        Of lists some tensors are copied; the others are None.
        """
        if not operator.written:
            return {}
        torch, room = self.torch, self.options.memory
        written = [x for x in map(arguments.get, operator.written) if x is not None]
        memory = _memory(torch, written)

        def copied(x: Any) -> Any:
            nonlocal room
            room -= x.numel() * x.element_size()
            if room < 0:
                raise Unjudged("copies that need more memory than allowed")
            return x.detach().clone()

        found: dict[str, Any] = {}
        some: list[int] | None = None
        with quiet(self.dispatch):
            for name, x in arguments.items():
                if name in operator.out:
                    continue
                if isinstance(x, torch.Tensor):
                    if name in operator.written or x.untyped_storage().data_ptr() in memory:
                        found[name] = copied(x)
                elif isinstance(x, list | tuple) and (
                    name in operator.written or memory & _memory(torch, x)
                ):
                    some = chosen(self.rng, len(x)) if some is None else some
                    found[name] = [
                        copied(y) if i in some and isinstance(y, torch.Tensor) else None
                        for i, y in enumerate(x)
                    ]
        return found

    # ---- judging -------------------------------------------------------------------------------

    def _after(
        self, func: Any, operator: Operator, site: Site, place: Place,
        arguments: dict[str, Any], before: dict[str, Any], result: Any, number: int,
    ) -> Judged:  # fmt: skip
        torch = self.torch
        results = self._results(operator, arguments, result)
        given = {n: without_sign(torch, x) for n, x in {**arguments, **before}.items()}
        after = {n: arguments[n] for n in before if n in operator.written}
        tensors = list(tensors_of(torch, results))
        check_kinds(torch, tensors)
        if not tensors or not any(x.numel() for x in tensors):
            raise Unjudged("empty tensors")
        call = Call(torch, operator.name, given, results, self.rng, after)
        call, found = judge_call(call, self.options.memory)
        if not found:
            raise Unjudged("no result to compare")
        site.judged += 1
        worst = max(found, key=lambda one: (one.share > 1 and not one.is_small, one.share))
        shapes = [list(map(int, x.shape)) for x in tensors_of(torch, given.values())]
        is_new = site.add(worst, number, shapes, place.layer)
        judged = [x for i, x in enumerate(results) if i not in call.padded]
        self._born(site, given, list(tensors_of(torch, judged)), worst, number)
        if self.options.twice and not operator.is_random:
            self._again(func, operator, site, given, results, after, number)
        if is_new and self.options.save is not None:
            self._save(func, operator, site, given, results, worst)
        return worst

    def _born(
        self, site: Site, given: Mapping[str, Any], results: Sequence[Any], worst: Judged,
        number: int,
    ) -> None:  # fmt: skip
        """Note where finite inputs give a NaN or an infinity."""
        torch = self.torch
        odd = next((x for x in results if not is_finite(torch, x)), None)
        if odd is None:
            return
        if not all(is_finite(torch, x) for x in tensors_of(torch, given.values())):
            return
        if any(isinstance(x, float) and not math.isfinite(x) for x in given.values()):
            return
        kind = "NaN" if bool(torch.isnan(odd).any()) else "infinity"
        site.birth(kind, number, worst.share > 1)

    def _again(
        self, func: Any, operator: Operator, site: Site, given: Mapping[str, Any],
        results: Sequence[Any], after: Mapping[str, Any], number: int,
    ) -> None:  # fmt: skip
        """Make a call again, and compare the bits."""
        torch, now = self.torch, "now "
        # Of lists that are written to some tensors were copied: the call is made of those alone.
        written = {now + n: x for n, x in after.items() if isinstance(x, list | tuple)}
        whole = complete({**given, **written})
        again = {n: copied(torch, x) if n in operator.written and x is not None else x
                 for n, x in whole.items() if not n.startswith(now)}  # fmt: skip
        made = func(**again)
        several = list(made) if isinstance(made, list | tuple) else [made]
        pairs = list(zip(results, several, strict=False))
        for n in written:
            pairs += zip(whole[n], again[n.removeprefix(now)], strict=True)
        for one, other in pairs:
            if isinstance(one, torch.Tensor) and not same_bits(torch, one, other):
                site.differs(number)

    def _save(
        self, func: Any, operator: Operator, site: Site, given: Mapping[str, Any],
        results: Sequence[Any], worst: Judged,
    ) -> None:  # fmt: skip
        assert self.options.save is not None
        size = sum(x.numel() * x.element_size() for x in tensors_of(self.torch, given.values()))
        if size > self.options.memory or self.report.saved >= self.options.saved:
            return
        path = self.options.save.format(self.report.saved)
        save_call(path, func, given, results, site, worst.words)
        self.report.saved += 1
        site.reproducer = path


def _memory(torch: Any, values: Any) -> set[int]:
    """Return where the tensors of some values are."""
    return {x.untyped_storage().data_ptr() for x in tensors_of(torch, values)}
