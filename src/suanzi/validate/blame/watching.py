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
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from suanzi.promote.live import NotInstalled
from suanzi.validate.blame.budget import Budget
from suanzi.validate.blame.calibrating import hidden_cost
from suanzi.validate.blame.capturing import CAPTURED, Captures
from suanzi.validate.blame.comparing import compare
from suanzi.validate.blame.copying import copies, is_unusual, sizes_of
from suanzi.validate.blame.hooks import UNWATCHED, Hooks
from suanzi.validate.blame.judging import Judged
from suanzi.validate.blame.locations import Gradients, Place, Places
from suanzi.validate.blame.operators import Operator, conversion, has_kernel
from suanzi.validate.blame.options import Options
from suanzi.validate.blame.report import Report, Site
from suanzi.validate.blame.rules import judge_call
from suanzi.validate.blame.runs import Recorder, read_run
from suanzi.validate.blame.sampling import Call, Unjudged, name_of
from suanzi.validate.blame.saved import complete, copied, save_call
from suanzi.validate.blame.tensors import (
    TRACING,
    check_kinds,
    dispatch_of,
    is_finite,
    key_of,
    listed,
    quiet,
    same_bits,
    tensors_of,
    without_sign,
)  # fmt: skip

_RECORDED = ("", "random", "no truth")
"""The operators whose calls are recorded: those that compute something."""
_FIRST = 10.0
"""The first call of each line, dtype and size is judged at once if a program may take so long."""
_SIZES = 1 << 16
"""How many sizes of calls are remembered at most."""


class Watcher(Hooks):
    """Sees every operator while it is entered; `report` is filled as calls are judged."""

    def __init__(self, options: Options, report: Report) -> None:
        super().__init__()
        if importlib.util.find_spec("torch") is None:
            raise NotInstalled("blame: torch is not installed here.")
        self.torch: Any = importlib.import_module("torch")
        self.dispatch: Any = dispatch_of(self.torch)
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
        self.known: dict[Any, Site] = {}
        self.seen: set[Any] = set()
        self.sizes: set[Any] = set()
        self.budget = Budget(options.overhead)
        self.step = 0
        self.recorder = self._recorder()
        self.lock = threading.RLock()
        self.active = False
        self.pid, self.thread, self.depth = os.getpid(), threading.get_ident(), 0
        self.runs_eagerly = hasattr(getattr(self.torch, "compiler", None), "set_stance")
        plain = {self.torch.Tensor, self.torch.nn.Parameter}
        self.plain = plain | {getattr(self.torch.nn, "Buffer", self.torch.Tensor)}

    # ---- entering ------------------------------------------------------------------------------

    def __enter__(self) -> Watcher:
        self.budget.hidden = self._hidden_cost()
        self.active = True
        self._hook()
        self.mode = self._new_mode()
        self.mode.__enter__()
        self.budget.start()
        return self

    def __exit__(self, *problem: Any) -> None:
        self.active = False
        if not self.budget.is_off:
            self.mode.__exit__(*problem)
        self._unhook()
        self._finish(problem[1] if len(problem) > 1 else None)

    def _finish(self, error: BaseException | None) -> None:
        self.report.seconds = whole = self.budget.finish()
        self.report.judging = min(self.budget.own, 0.999 * whole)
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

    def _hidden_cost(self) -> float:
        """Return the seconds by which a watched call is longer in the program's own time."""
        other = Watcher(Options(ops=frozenset()), Report())
        other.active = True

        def watched(step: Callable[[], None]) -> tuple[float, int]:
            other.budget, other.report.calls = Budget(None), 0
            with other._new_mode():
                other.budget.start()
                step()
                other.budget.finish()
            return other.budget.plain, other.report.calls

        try:
            with quiet(self.dispatch):
                return hidden_cost(self.torch, watched, self.budget.clock)
        except Exception:  # in what the program has set up nothing of this may be possible
            return 0.0

    def _new_mode(self) -> Any:
        watcher = self

        def __torch_dispatch__(
            mode: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return watcher.call(mode, func, types, args, kwargs or {})

        kind: Any = type(
            "Blame", (self.dispatch.TorchDispatchMode,), {"__torch_dispatch__": __torch_dispatch__}
        )
        if self.runs_eagerly:  # nothing is compiled: what keeps a compiler out costs microseconds
            kind.__torch_dispatch__ = __torch_dispatch__
        return kind()

    def _new_step(self) -> None:
        """Begin a step: watch it if there is time, and note if it is not watched."""
        self.step += 1
        budget, every = self.budget, self.options.every
        if self.thread != threading.get_ident() or self.recorder is not None or not self.active:
            return
        depth = getattr(self.torch._C, "_len_torch_dispatch_stack", None)
        if os.getpid() != self.pid or depth is None or self.gradients.node is None:
            return
        if self.gradients.current() is not None:  # what is entered there is left at its end
            return
        wanted = budget.step()
        if budget.is_off and wanted and self.depth == depth() and not (self.step - 1) % every:
            self.mode.__enter__()
            budget.is_off = False
        elif not (budget.is_off or wanted) and (
            self.dispatch._get_current_dispatch_mode() is self.mode
        ):
            self.mode.__exit__(None, None, None)
            self.depth, budget.is_off = depth(), True
        if budget.is_off:
            self.note(UNWATCHED)

    # ---- a call --------------------------------------------------------------------------------

    def call(self, mode: Any, func: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Make a call, and judge it."""
        if not self.active or os.getpid() != self.pid:
            return func(*args, **kwargs)
        entered = self.budget.clock()
        for kind in types:
            if kind not in self.plain:
                if any(one.__module__.startswith(TRACING) for one in types):
                    return func(*args, **kwargs)  # nothing is computed
                return NotImplemented  # a subclass: what it calls is seen
        operator = self.operators.get(func)
        if operator is None:
            operator = self.operators[func] = Operator(self.torch, func)
        if operator.whole:
            args = operator.as_tensors(self.torch, args)
        if operator.composite and self._is_made_of_others(func, operator, args):
            with mode:
                found = func.decompose(*args, **kwargs)
            if found is not NotImplemented:
                return found
        places = self.places
        node = self.gradients.current()
        if node is None:
            place = places.here(3)
            self.gradients.note(place)
        else:
            place = self.gradients.place(node) or places.here(3)
        places.inside += 1  # what judging itself calls is inside, too
        try:
            return self._make(func, operator, place, node is not None, args, kwargs, entered)
        finally:
            places.inside -= 1
            self.budget.leave()

    def _is_made_of_others(self, func: Any, operator: Operator, args: Any) -> bool:
        """Tell whether a device has no kernel of an operator: what it is made of is seen then."""
        key = key_of(self.torch, args)
        if key not in operator.backends:
            operator.backends[key] = has_kernel(self.torch, func, key)
        return not operator.backends[key]

    def _make(
        self, func: Any, operator: Operator, place: Place, backward: bool, args: Any,
        kwargs: dict[str, Any], entered: float,
    ) -> Any:  # fmt: skip
        site = None
        due, before, arguments = False, {}, {}
        captured = self.captures.now()
        try:
            with self.lock:
                self.report.calls += 1
                number = self.report.calls
                tensors = listed(self.torch, args, kwargs)
                site = self._site(operator, place, backward, tensors)
                if site.calls == 1 or self.recorder is not None:
                    arguments = operator.arguments(args, kwargs)
                if not site.status:
                    if captured:
                        raise Unjudged(CAPTURED)
                    due = self._is_due(operator, site, tensors)
                if self.recorder is not None and not captured and site.status in _RECORDED:
                    with quiet(self.dispatch):
                        self.recorder.begin(
                            number, operator.title, operator.is_random, place, backward, self.step,
                            tensors_of(self.torch, arguments.values()),
                        )  # fmt: skip
                if due:
                    arguments = arguments or operator.arguments(args, kwargs)
                    before = copies(
                        self.torch,
                        self.dispatch,
                        self.rng,
                        self.options.memory,
                        operator,
                        arguments,
                    )
        except Unjudged as why:
            due = False
            if site is not None:
                site.unjudged[str(why)] += 1
        except Exception as error:
            self._fail(operator, error)
            site = None
        budget = self.budget
        began = budget.clock()
        result = func(*args, **kwargs)
        budget.made(operator.lap, entered, began, due)
        if site is None:
            return result
        judged = None
        try:
            if site.calls == 1:
                self._conversion(operator, site, arguments, result)
            if due:
                with self.lock, quiet(self.dispatch):
                    judged = self._after(
                        func, operator, site, place, arguments, before, result, number
                    )
        except Unjudged as why:
            site.unjudged[str(why)] += 1
        except Exception as error:
            site.unjudged[f"{type(error).__name__} while judging"] += 1
            self._fail(operator, error)
        if due:  # of copies before the call, too
            budget.judged(operator.name, budget.clock() - budget.left + began - entered)
        if self.recorder is not None and not captured:
            self._record(operator, number, arguments, result, judged)
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
        name = self.places.layer() or type(module).__name__
        given = list(result.values()) if isinstance(result, Mapping) else result
        given = given if isinstance(given, list | tuple) else [given]
        try:
            with self.lock, quiet(self.dispatch):
                self.recorder.layer(name, self.step, tensors_of(self.torch, given))
        except Exception as error:
            self.note(f"{name} not recorded: {type(error).__name__}: {str(error)[:160]}")

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

    def _site(self, operator: Operator, place: Place, backward: bool, tensors: list[Any]) -> Site:
        known = operator, place, backward, *[x.dtype for x in tensors]
        site = self.known.get(known)
        if site is None:
            dtypes = tuple(dict.fromkeys(name_of(x.dtype) for x in tensors))
            key = operator.title, place.file, place.line, backward, dtypes
            site = self.sites.get(key)
            if site is None:
                site = self.sites[key] = Site(
                    operator.title, place, backward, dtypes, operator.status()
                )
            self.known[known] = site
        site.calls += 1
        if place.layer and place.layer not in site.layers and len(site.layers) < 64:
            site.layers[place.layer] = site.calls
        return site

    # ---- which calls ---------------------------------------------------------------------------

    def _is_due(self, operator: Operator, site: Site, tensors: list[Any]) -> bool:
        """Tell whether a call is judged."""
        o = self.options
        if o.ops is not None and operator.name not in o.ops:
            site.unjudged["not asked for"] += 1
            return False
        if o.every > 1 and max(self.step - 1, 0) % o.every:
            site.unjudged["another step"] += 1
            return False
        is_new = self._is_new(site, tensors)
        if o.unusual:
            check_kinds(self.torch, tensors)
            if not is_unusual(self.torch, self.dispatch, tensors):
                site.unjudged["usual inputs"] += 1
                return False
        if not (is_new and (o.overhead is None or o.overhead >= _FIRST)):
            if not is_new and o.share < 1 and self.rng.random() >= o.share:
                site.unjudged["not in the share"] += 1
                return False
            if not self.budget.has_time(operator.name, is_new):
                site.unjudged["no time left"] += 1
                return False
        check_kinds(self.torch, tensors)
        if is_new:
            self.seen.add((id(site), sizes_of(tensors)))
        return True

    def _is_new(self, site: Site, tensors: list[Any]) -> bool:
        """Tell whether no call of a line was judged whose tensors are about as large."""
        try:
            exact = id(site), *[x.shape for x in tensors]
        except RuntimeError:  # nested tensors have none
            check_kinds(self.torch, tensors)
            raise
        if exact in self.sizes:
            return False
        if (id(site), sizes_of(tensors)) not in self.seen:
            return True
        if len(self.sizes) >= _SIZES:
            self.sizes.clear()
        self.sizes.add(exact)
        return False

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
