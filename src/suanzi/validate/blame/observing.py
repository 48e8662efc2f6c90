"""Judges the calls of frameworks that have no hook for operators, as far as they are seen."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from suanzi.validate.blame.host import HOST, Host
from suanzi.validate.blame.judging import judge
from suanzi.validate.blame.locations import Places
from suanzi.validate.blame.operators import conversion
from suanzi.validate.blame.options import Options
from suanzi.validate.blame.report import Report, Site
from suanzi.validate.blame.rules import RULES, pieces
from suanzi.validate.blame.sampling import Call, Unjudged

Adapted = tuple[str, dict[str, Any], Any]
"""A rule, its arguments by name, and the result, or several."""
_FIRST = 10.0


class Observer:
    """Sees calls after they were made; a framework's hook calls `see`."""

    def __init__(self, options: Options, report: Report, home: str) -> None:
        self.options, self.report, self.places = options, report, Places(home)
        self.rng = np.random.default_rng(options.seed)
        self.sites: dict[Any, Site] = {}
        self.seen: set[Any] = set()
        self.here = threading.local()
        self.spent, self.begun, self.pid = 0.0, 0.0, os.getpid()
        self.undo: list[Callable[[], None]] = []

    def __enter__(self) -> Observer:
        self.begun = time.perf_counter()
        self._hook()
        return self

    def __exit__(self, *problem: Any) -> None:
        while self.undo:
            self.undo.pop()()
        self.report.seconds = time.perf_counter() - self.begun
        self.report.judging = self.spent
        self.report.sites = list(self.sites.values())

    def _hook(self) -> None:
        raise NotImplementedError

    def _put(self, owner: Any, name: str, found: Any) -> None:
        before = vars(owner).get(name)
        setattr(owner, name, found)
        back = (lambda: delattr(owner, name)) if before is None else (
            lambda: setattr(owner, name, before)
        )  # fmt: skip
        self.undo.append(back)

    def _follow_layers(self, kind: Any) -> None:
        """Know which layers run, by how they are called."""
        original = kind.__call__

        def __call__(layer: Any, *args: Any, **kwargs: Any) -> Any:
            self.places.layers.append(layer)
            try:
                return original(layer, *args, **kwargs)
            finally:
                self.places.layers.pop()

        self._put(kind, "__call__", __call__)

    @property
    def is_busy(self) -> bool:
        """Whether a call is judged right now: what that calls is not the program's."""
        return bool(getattr(self.here, "busy", False)) or os.getpid() != self.pid

    # ---- a call --------------------------------------------------------------------------------

    def see(
        self, name: str, status: str, dtypes: Sequence[str], sizes: Iterable[Any],
        adapt: Callable[[], Adapted | None], depth: int = 3,
    ) -> None:  # fmt: skip
        """Judge a call that was made; `adapt` returns the rule, or None where there is none."""
        start = time.perf_counter()
        self.here.busy = True
        try:
            self._see(name, status, dtypes, sizes, adapt, depth + 1)
        finally:
            self.here.busy = False
            self.spent += time.perf_counter() - start

    def _see(
        self, name: str, status: str, dtypes: Sequence[str], sizes: Iterable[Any],
        adapt: Callable[[], Adapted | None], depth: int,
    ) -> None:  # fmt: skip
        self.report.calls += 1
        number, place = self.report.calls, self.places.here(depth)
        kinds = tuple(dict.fromkeys(dtypes))
        key = name, place.file, place.line, kinds
        site = self.sites.get(key)
        if site is None:
            site = self.sites[key] = Site(name, place, False, kinds, status)
        site.calls += 1
        if place.layer and len(site.layers) < 64:
            site.layers.setdefault(place.layer, site.calls)
        if site.status or not self._is_due(site, tuple(sizes)):
            return
        try:
            adapted = adapt()
            if adapted is None:
                site.status = "no truth"
                return
            self._judge(site, number, place.layer, *adapted)
        except Unjudged as why:
            site.unjudged[str(why)] += 1
        except Exception as error:
            site.unjudged[f"{type(error).__name__} while judging"] += 1
            self.fail(name, error)

    def fail(self, name: str, error: Exception) -> None:
        """Note that a call could not be judged; the program does not see the error."""
        words = str(error).strip().splitlines() or [""]
        note = f"{name} not judged: {type(error).__name__}: {words[0][:160]}"
        self.report.notes[note] = self.report.notes.get(note, 0) + 1

    def _is_due(self, site: Site, sizes: tuple[Any, ...]) -> bool:
        o = self.options
        if o.ops is not None and site.operator not in o.ops:
            site.unjudged["not asked for"] += 1
            return False
        key = id(site), sizes
        is_new = key not in self.seen
        if is_new and (o.overhead is None or o.overhead >= _FIRST):
            self.seen.add(key)
            return True
        if not is_new and o.share < 1 and self.rng.random() >= o.share:
            site.unjudged["not in the share"] += 1
            return False
        plain = time.perf_counter() - self.begun - self.spent
        if o.overhead is not None and self.spent > (o.overhead - 1) * plain:
            site.unjudged["no time left"] += 1
            return False
        self.seen.add(key)
        return True

    def _judge(
        self, site: Site, number: int, layer: str, rule: str, given: dict[str, Any], result: Any
    ) -> None:
        if rule not in RULES:
            site.status = "no truth"
            return
        results = list(result) if isinstance(result, list | tuple) else [result]
        tensors = [x for x in (*given.values(), *results) if isinstance(x, Host)]
        if any(x.is_complex() for x in tensors):
            raise Unjudged("complex numbers")
        if not results[0].numel():
            raise Unjudged("empty tensors")
        call = Call(HOST, rule, given, results, self.rng)
        found = [judge(piece) for piece in pieces(call)]
        if not found:
            raise Unjudged("no result to compare")
        site.judged += 1
        worst = max(found, key=lambda one: (one.share > 1 and not one.is_small, one.share))
        operands = [x for x in given.values() if isinstance(x, Host)]
        site.add(worst, number, [list(x.shape) for x in operands], layer)
        if site.calls == 1:
            wide = [x.dtype for x in operands if x.ndim]
            site.conversion = conversion(rule, wide, results[0].dtype)
        self._born(site, operands, given, results, worst.share > 1, number)

    def _born(
        self, site: Site, operands: Sequence[Host], given: Mapping[str, Any],
        results: Sequence[Host], is_wrong: bool, number: int,
    ) -> None:  # fmt: skip
        odd = next((x for x in results if not np.isfinite(x.data).all()), None)
        numbers = [x for x in given.values() if isinstance(x, float)]
        if odd is None or not all(np.isfinite(x.data).all() for x in operands):
            return
        if all(map(math.isfinite, numbers)):
            kind = "NaN" if np.isnan(odd.data).any() else "infinity"
            site.birth(kind, number, is_wrong)
