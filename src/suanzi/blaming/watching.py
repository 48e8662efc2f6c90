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
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from suanzi.blaming.judging import Judged, judge
from suanzi.blaming.operators import KEYS, Operator, has_kernel
from suanzi.blaming.options import Options
from suanzi.blaming.places import Gradients, Place, Places
from suanzi.blaming.report import Report, Site
from suanzi.blaming.rules import pieces
from suanzi.blaming.sampling import Call, Unjudged, name_of
from suanzi.blaming.saved import save_call
from suanzi.promote.live import NotInstalled

_OUTLIER = 1000.0
"""An element so many times larger than the root of the mean square is an outlier."""


class Watcher:
    """Sees every operator while it is entered; `report` is filled as calls are judged."""

    def __init__(self, options: Options, report: Report) -> None:
        if importlib.util.find_spec("torch") is None:
            raise NotInstalled("blame: torch is not installed here.")
        self.torch: Any = importlib.import_module("torch")
        self.dispatch: Any = importlib.import_module("torch.utils._python_dispatch")
        self.options, self.report = options, report
        self.operators: dict[Any, Operator] = {}
        home = os.path.dirname(os.path.abspath(str(self.torch.__file__))) + os.sep
        self.places = Places(home)
        self.gradients = Gradients(self.torch)
        self.rng = np.random.default_rng(options.seed)
        self.sites: dict[Any, Site] = {}
        self.seen: set[Any] = set()
        self.costs: dict[str, float] = {}
        self.spent, self.begun, self.step = 0.0, 0.0, 0
        self.lock = threading.RLock()
        self.undo: list[Callable[[], None]] = []
        self.active = False
        self.pid = os.getpid()
        plain = {self.torch.Tensor, self.torch.nn.Parameter}
        self.plain = plain | {getattr(self.torch.nn, "Buffer", self.torch.Tensor)}
        report.framework = f"torch {self.torch.__version__}"

    # ---- entering ------------------------------------------------------------------------------

    def __enter__(self) -> Watcher:
        self.begun, self.active = time.perf_counter(), True
        self._put(threading.Thread, "_bootstrap_inner", self._in_thread)
        self._put(self.torch.nn.Module, "__call__", self._in_module)
        self._run_eagerly()
        _follow_forks()
        _WATCHERS.add(self)
        self.mode = self._new_mode()
        self.mode.__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        self.active = False
        self.mode.__exit__(*problem)
        while self.undo:
            self.undo.pop()()
        self._finish()

    def _finish(self) -> None:
        whole = time.perf_counter() - self.begun
        self.report.seconds, self.report.judging = whole, self.spent
        self.report.sites = list(self.sites.values())

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

    def _put(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        before = vars(owner).get(name)
        setattr(owner, name, make(getattr(owner, name)))

        def back() -> None:
            if before is None:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

        self.undo.append(back)

    def _in_thread(self, original: Any) -> Any:
        def _bootstrap_inner(thread: Any) -> None:
            if not self.active or self.pid != os.getpid():
                original(thread)
                return
            with self._new_mode():
                original(thread)

        return _bootstrap_inner

    def _in_module(self, original: Any) -> Any:
        """Return how a module is called: the layers whose forward runs are known."""

        def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:
            layers = self.places.layers
            if not layers:
                self.step += 1
            layers.append(module)
            try:
                return original(module, *args, **kwargs)
            finally:
                layers.pop()

        return __call__

    def _run_eagerly(self) -> None:
        """Have compiled functions run as they are written: what is compiled calls nothing."""
        set_stance = getattr(getattr(self.torch, "compiler", None), "set_stance", None)
        compile_ = self.torch.compile
        eager = False

        def force() -> None:
            nonlocal eager
            self.report.notes.setdefault("compiled functions ran uncompiled, to be seen", 0)
            if set_stance is not None and not eager:
                eager = True
                set_stance("force_eager")
                self.undo.append(lambda: set_stance("default"))

        def suanzi_compile(*args: Any, **kwargs: Any) -> Any:
            found = compile_(*args, **kwargs)
            force()
            return found

        if "torch._dynamo" in sys.modules:
            force()
            del self.report.notes["compiled functions ran uncompiled, to be seen"]
        self.torch.compile = suanzi_compile

        def back() -> None:
            self.torch.compile = compile_

        self.undo.append(back)

    def forked(self) -> None:
        """Note that a process was started that is not judged."""
        if self.active:
            self.note("forked processes are not judged")

    def note(self, words: str) -> None:
        """Count something that the report has to say."""
        self.report.notes[words] = self.report.notes.get(words, 0) + 1

    # ---- a call --------------------------------------------------------------------------------

    def call(self, mode: Any, func: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Make a call, and judge it."""
        if not self.active or os.getpid() != self.pid:
            return func(*args, **kwargs)
        if not all(kind in self.plain for kind in types):
            return NotImplemented  # a subclass: what it calls is seen
        operator = self.operators.get(func)
        if operator is None:
            operator = self.operators[func] = Operator(self.torch, func)
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
        return self._make(func, operator, place, node is not None, args, kwargs, start)

    def _is_made_of_others(self, func: Any, operator: Operator, args: Any) -> bool:
        """Tell whether a device has no kernel of an operator: what it is made of is seen then."""
        device = next((x.device.type for x in _tensors(self.torch, args)), "cpu")
        if device not in operator.backends:
            key = KEYS.get(device, "PrivateUse1")
            operator.backends[device] = has_kernel(self.torch, func, key)
        return not operator.backends[device]

    def _make(
        self, func: Any, operator: Operator, place: Place, backward: bool, args: Any,
        kwargs: dict[str, Any], start: float,
    ) -> Any:  # fmt: skip
        site = due = before = None
        arguments: dict[str, Any] = {}
        try:
            with self.lock:
                self.report.calls += 1
                number = self.report.calls
                arguments = operator.arguments(args, kwargs)
                site = self._site(operator, place, backward, arguments)
                due = self._is_due(operator, site, arguments)
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
        try:
            with self.lock, quiet(self.dispatch):
                self._after(
                    func, operator, site, place, arguments, before or {}, result, due, number
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
        self.spent += cost
        if self.options.progress is not None:
            self.options.progress(self.report, self.sites)
        return result

    def _fail(self, operator: Operator, error: Exception) -> None:
        words = str(error).strip().splitlines() or [""]
        self.note(f"{operator.title} not judged: {type(error).__name__}: {words[0][:160]}")

    def _site(self, operator: Operator, place: Place, backward: bool, arguments: Any) -> Site:
        dtypes = tuple(dict.fromkeys(
            name_of(x.dtype) for x in _tensors(self.torch, arguments.values())
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
        tensors = list(_tensors(self.torch, arguments.values()))
        self._check_kinds(tensors)
        if o.unusual and not self._is_unusual(tensors):
            site.unjudged["usual inputs"] += 1
            return False
        shapes = tuple(tuple(n.bit_length() for n in map(int, x.shape)) for x in tensors)
        key = id(site), shapes
        if key not in self.seen:
            self.seen.add(key)
            return True
        if o.share < 1 and self.rng.random() >= o.share:
            site.unjudged["not in the share"] += 1
            return False
        if o.overhead is None:
            return True
        plain = time.perf_counter() - self.begun - self.spent
        cost = self.costs.get(operator.name, 1e-3)
        if self.spent + cost > (o.overhead - 1) * plain:
            site.unjudged["no time left"] += 1
            return False
        return True

    def _check_kinds(self, tensors: Sequence[Any]) -> None:
        torch = self.torch
        for x in tensors:
            if x.layout != torch.strided:
                raise Unjudged(f"{str(x.layout).removeprefix('torch.')} tensors")
            if x.is_nested or x.is_quantized or x.device.type == "meta":
                kind = "nested" if x.is_nested else "quantised" if x.is_quantized else "meta"
                raise Unjudged(f"{kind} tensors")
        on_gpu = any(x.device.type == "cuda" for x in tensors)
        if on_gpu and torch.cuda.is_current_stream_capturing():
            raise Unjudged("a CUDA graph is captured")

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
        """Return copies of what a call writes to."""
        found: dict[str, Any] = {}
        names = [n for n in operator.written if n not in operator.out]
        if not names:
            return found
        with quiet(self.dispatch):
            for name in names:
                x = arguments.get(name)
                if not isinstance(x, self.torch.Tensor):
                    if x is not None:
                        raise Unjudged("lists of tensors that are written to")
                    continue
                if x.numel() * x.element_size() > self.options.memory:
                    raise Unjudged("copies that need more memory than allowed")
                found[name] = x.detach().clone()
        return found

    # ---- judging -------------------------------------------------------------------------------

    def _after(
        self, func: Any, operator: Operator, site: Site, place: Place,
        arguments: dict[str, Any], before: dict[str, Any], result: Any, due: bool | None,
        number: int,
    ) -> None:  # fmt: skip
        torch = self.torch
        if not due:
            return
        results = list(result) if isinstance(result, list | tuple) else [result]
        if not any(isinstance(x, torch.Tensor) for x in results):
            results = [arguments[n] for n in operator.written]
        given = {**arguments, **before}
        after = {n: arguments[n] for n in before}
        tensors = [x for x in results if isinstance(x, torch.Tensor)]
        self._check_kinds(tensors)
        if not tensors or not any(x.numel() for x in tensors):
            raise Unjudged("empty tensors")
        call = Call(torch, operator.name, given, results, self.rng, after)
        found = [judge(piece) for piece in pieces(call)]
        if not found:
            raise Unjudged("no result to compare")
        site.judged += 1
        worst = max(found, key=lambda one: (one.share > 1 and not one.is_small, one.share))
        shapes = [list(map(int, x.shape)) for x in _tensors(torch, given.values())]
        is_new = site.add(worst, number, shapes, place.layer)
        self._born(site, given, tensors, worst, number)
        if self.options.twice and not operator.is_random:
            self._again(func, operator, site, given, results, number)
        if is_new and self.options.save is not None:
            self._save(func, operator, site, given, results, worst)

    def _born(
        self, site: Site, given: Mapping[str, Any], results: Sequence[Any], worst: Judged,
        number: int,
    ) -> None:  # fmt: skip
        """Note where finite inputs give a NaN or an infinity."""
        torch = self.torch
        odd = next((x for x in results if not _is_finite(torch, x)), None)
        if odd is None:
            return
        if not all(_is_finite(torch, x) for x in _tensors(torch, given.values())):
            return
        if any(isinstance(x, float) and not math.isfinite(x) for x in given.values()):
            return
        kind = "NaN" if bool(torch.isnan(odd).any()) else "infinity"
        site.birth(kind, number, worst.share > 1)

    def _again(
        self, func: Any, operator: Operator, site: Site, given: Mapping[str, Any],
        results: Sequence[Any], number: int,
    ) -> None:  # fmt: skip
        """Make a call again, and compare the bits."""
        torch = self.torch
        again = {
            name: x.clone() if name in operator.written and isinstance(x, torch.Tensor) else x
            for name, x in given.items()
        }
        made = func(**again)
        several = made if isinstance(made, list | tuple) else [made]
        for one, other in zip(results, several, strict=False):
            if isinstance(one, torch.Tensor) and not _same_bits(torch, one, other):
                site.differs(number)

    def _save(
        self, func: Any, operator: Operator, site: Site, given: Mapping[str, Any],
        results: Sequence[Any], worst: Judged,
    ) -> None:  # fmt: skip
        assert self.options.save is not None
        size = sum(x.numel() * x.element_size() for x in _tensors(self.torch, given.values()))
        if size > self.options.memory or self.report.saved >= self.options.saved:
            return
        path = self.options.save.format(self.report.saved)
        save_call(path, func, given, results, site, worst.words)
        self.report.saved += 1
        site.reproducer = path


_WATCHERS: weakref.WeakSet[Watcher] = weakref.WeakSet()


@cache
def _follow_forks() -> None:
    def forked() -> None:
        for watcher in list(_WATCHERS):
            watcher.forked()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_parent=forked)


@contextmanager
def quiet(dispatch: Any) -> Iterator[None]:
    """Let no mode see what is called."""
    with dispatch._disable_current_modes():
        yield


def _tensors(torch: Any, values: Any) -> Iterator[Any]:
    for x in values:
        if isinstance(x, torch.Tensor):
            yield x
        elif isinstance(x, list | tuple):
            yield from (one for one in x if isinstance(one, torch.Tensor))


def _is_finite(torch: Any, x: Any) -> bool:
    return not x.is_floating_point() or bool(torch.isfinite(x.detach()).all())


def _same_bits(torch: Any, x: Any, y: Any) -> bool:
    if x.dtype.is_floating_point:
        same = (x == y) | (torch.isnan(x) & torch.isnan(y))
        return bool(same.all())
    return bool(torch.equal(x, y))
