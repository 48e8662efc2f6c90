"""Two runs of a program compared: where they part, which call explains it, and who is wrong."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

from suanzi.base.lang import say
from suanzi.truth.rounding import ROUNDED, unit_of
from suanzi.validate.blame.locations import shortened
from suanzi.validate.blame.runs import Run

Record = dict[str, Any]
Answer = Literal["the same", "rounding", "explained", "other programs"]
_NORMAL = 16.0
"""So many units of roundoff two right kernels may differ by, of the size of a result."""
_GROWTH = 8.0
"""A call whose results differ so many times as much as its inputs adds to the difference."""
_SHARED = 4
"""Two runs of one program have at least one call of so many in common."""
_MOST = 10


def compare(theirs: Run, ours: Run) -> dict[str, Any]:
    """Return what is to be said of two runs, as data; `ours` is the later one."""
    pairs, missing, extra = matched(theirs.calls, ours.calls)
    found = [_compared(a, b) for a, b in pairs]
    found.sort(key=lambda one: one["call"])
    explained = _explanation(found)
    layers = _layers(theirs.layers, ours.layers)
    parted = [one for one in found if one["results_differ"] != 0]
    answer: Answer = "the same"
    if len(found) * _SHARED < max(len(theirs.calls), len(ours.calls), 1):
        answer, explained = "other programs", None
    elif explained is not None:
        answer = "explained"
    elif parted or missing or extra or any(one["differs"] for one in layers):
        answer = "rounding"
    return {
        "answer": answer,
        "recorded": theirs.name,
        "here": ours.name,
        "matched": len(found),
        "same": len(found) - len(parted),
        "missing": _counted(missing),
        "extra": _counted(extra),
        "dropped": theirs.dropped,
        "explained_by": explained,
        "first_different": parted[0] if parted else None,
        "calls": sorted(parted, key=_size, reverse=True)[:_MOST],
        "layers": layers,
    }


def _size(one: Record) -> float:
    return math.inf if one["results_differ"] is None else float(one["results_differ"])


# ---- which calls belong together -----------------------------------------------------------------


def matched(
    theirs: Sequence[Record], ours: Sequence[Record]
) -> tuple[list[tuple[Record, Record]], list[Record], list[Record]]:
    """Match calls by step, layer, operator and order; return also those of one run alone."""
    groups: dict[Any, tuple[list[Record], list[Record]]] = defaultdict(lambda: ([], []))
    for which, calls in enumerate((theirs, ours)):
        for call in calls:
            groups[_group(call)][which].append(call)
    pairs: list[tuple[Record, Record]] = []
    missing: list[Record] = []
    extra: list[Record] = []
    for a, b in groups.values():
        one, other = ([str(call["op"]) for call in some] for some in (a, b))
        if one == other:
            pairs += zip(a, b, strict=True)
            continue
        for kind, i, j, k, m in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
            if kind == "equal" or (kind == "replace" and _alike(a[i:j], b[k:m])):
                pairs += zip(a[i:j], b[k:m], strict=True)
            else:
                missing += a[i:j]
                extra += b[k:m]
    return pairs, missing, extra


def _group(call: Record) -> tuple[Any, ...]:
    layer = str(call["layer"]).partition(".")[2]  # without the name of the model's class
    return call["step"], call["backward"], layer or call["function"]


def _alike(a: Sequence[Record], b: Sequence[Record]) -> bool:
    """Tell whether other operators give results of the same shapes, as those of other devices."""
    shapes = [[call["outputs"][:1] and call["outputs"][0]["shape"] for call in x] for x in (a, b)]
    return shapes[0] == shapes[1]


def _counted(calls: Sequence[Record]) -> dict[str, int]:
    return dict(Counter(call["op"] for call in calls).most_common())


# ---- how far they are apart ----------------------------------------------------------------------


def distance(a: Record, b: Record) -> float:
    """Return how far two tensors are apart, as a share of their size; infinite for other shapes."""
    if a["shape"] != b["shape"] or ("hash" in a) != ("hash" in b):
        return math.inf
    if a.get("hash") == b.get("hash") and a["dtype"] == b["dtype"]:
        return 0.0
    size = max(a.get("rms", 0.0), b.get("rms", 0.0), 1e-300)
    far = abs(a.get("rms", 0.0) - b.get("rms", 0.0)) / size
    if a.get("odd") != b.get("odd"):
        return math.inf
    for x, y in zip(a.get("values", ()), b.get("values", ()), strict=False):
        u, v = float(x), float(y)
        if u == v or (math.isnan(u) and math.isnan(v)):
            continue
        far = max(far, abs(u - v) / size) if math.isfinite(u) and math.isfinite(v) else math.inf
    # Elements differ that were not recorded: by as much as the last bit, for all that is known.
    return far or _unit(a["dtype"], b["dtype"])


def _unit(*dtypes: str) -> float:
    return max((unit_of(d) for d in dtypes if d in ROUNDED), default=2.0**-53)


def _all(a: Sequence[Record], b: Sequence[Record]) -> float:
    """Return how far the tensors of two calls are apart: the farthest of them."""
    return max((distance(x, y) for x, y in zip(a, b, strict=False)), default=0.0)


def _compared(theirs: Record, ours: Record) -> Record:
    given, made = _all(theirs["inputs"], ours["inputs"]), _all(theirs["outputs"], ours["outputs"])
    unit = max((_unit(x["dtype"]) for x in (*theirs["outputs"], *ours["outputs"])), default=0.0)
    return {
        "operator": ours["op"],
        "recorded_operator": theirs["op"],
        "layer": ours["layer"],
        "file": ours["file"],
        "line": ours["line"],
        "function": ours["function"],
        "backward": ours["backward"],
        "call": ours["call"],
        "recorded_call": theirs["call"],
        "random": ours["random"] or theirs["random"],
        "inputs_differ": None if math.isinf(given) else given,
        "results_differ": None if math.isinf(made) else made,
        "adds": bool(made > _NORMAL * unit and made > _GROWTH * given),
        "recorded_verdict": _verdict(theirs),
        "verdict": _verdict(ours),
    }


def _verdict(call: Record) -> Record | None:
    judged: Record | None = call["judged"]
    return judged


def _kind(verdict: Mapping[str, Any] | None) -> str:
    return "not judged" if verdict is None else str(verdict["kind"])


def _explanation(found: Sequence[Record]) -> Record | None:
    """Return the first call that a difference comes from: a wrong one, or else one that adds."""
    for one in found:
        is_wrong = "wrong" in (_kind(one["verdict"]), _kind(one["recorded_verdict"]))
        if is_wrong and one["results_differ"] != 0:
            return one
    return next((one for one in found if one["adds"]), None)


def _layers(theirs: Sequence[Record], ours: Sequence[Record]) -> list[Record]:
    """Return how far the results of layers are apart, in the order in which they return."""
    known: dict[Any, list[Record]] = defaultdict(list)
    for one in theirs:
        known[_named(one)].append(one)
    found: dict[str, float] = {}
    for one in ours:
        others = known[_named(one)]
        if others:
            far = _all(others.pop(0)["outputs"], one["outputs"])
            found[one["module"]] = max(found.get(one["module"], 0.0), far)
    return [
        {"layer": name, "differs": None if math.isinf(far) else far} for name, far in found.items()
    ]


def _named(one: Record) -> tuple[Any, ...]:
    return one["step"], str(one["module"]).partition(".")[2]


# ---- words ---------------------------------------------------------------------------------------


def blamed(data: Mapping[str, Any] | None) -> bool:
    """Tell whether a call that explains a difference is wrong on a side."""
    one = None if data is None else data["explained_by"]
    return one is not None and "wrong" in (_kind(one["verdict"]), _kind(one["recorded_verdict"]))


def comparison_lines(data: Mapping[str, Any]) -> list[str]:
    """Return what two runs are like, in lines."""
    head = say(
        f"compared with a recorded run ({data['recorded']}; here {data['here']}): "
        f"{data['matched']} calls matched, {data['same']} of them the same to the bit"
    )
    said = []
    if data["answer"] == "other programs":
        said.append(say("few calls of one have their like in the other: these are other programs"))
    for key, words in (("missing", "only in the recorded run"), ("extra", "only here")):
        if data[key]:
            said.append(f"{say(words)}: " + ", ".join(f"{n} {k}" for n, k in data[key].items()))
    if data["dropped"]:
        said.append(
            say(f"{data['dropped']} calls were not recorded: the file had its largest size")
        )
    if data["explained_by"] is not None:
        said += _explained(data["explained_by"])
    elif data["answer"] == "rounding" and data["first_different"] is not None:
        said.append(say(f"they differ as by rounding, first in {_title(data['first_different'])}"))
    layers = [one for one in data["layers"] if one["differs"] != 0]
    if layers and data["answer"] != "other programs":
        first = ", ".join(f"{one['layer']} {_far(one['differs'])}" for one in layers[:_MOST])
        first += say(f" and {len(layers) - _MOST} more") * (len(layers) > _MOST)
        said.append(say(f"layers that differ, in their order: {first}"))
    return [head, *(f"  {line}" for line in said)]


def _explained(one: Mapping[str, Any]) -> Iterator[str]:
    yield say(f"explained by {_title(one)}")
    given = one["inputs_differ"]
    before = say("the same") if given == 0 else say(f"{_far(given)} apart")
    yield "    " + say(
        f"its inputs are {before}, its results {_far(one['results_differ'])} apart; "
        f"here it is {_said(one['verdict'])}, in the recorded run {_said(one['recorded_verdict'])}"
    )
    if one["recorded_operator"] != one["operator"]:
        yield "    " + say(f"the recorded run calls {one['recorded_operator']}")
    if one["random"]:
        yield "    " + say(
            "it is random: give both runs the same random numbers, or switch dropout off"
        )


def _title(one: Mapping[str, Any]) -> str:
    gradient = say(", its gradient") * one["backward"]
    layer = f" ({one['layer']})" * bool(one["layer"])
    place = f"{shortened(one['file'])}:{one['line']}{say(' in ')}{one['function']}"
    return f"{one['operator']}  {place}{gradient}{layer}" + say(f", call {one['call']}")


def _far(x: float | None) -> str:
    return say("beyond comparison") if x is None else f"{x:.2g}"


def _said(verdict: Mapping[str, Any] | None) -> str:
    if verdict is None:
        return say("not judged")
    if verdict["kind"] == "right":
        return say("within the bound")
    share = verdict["share"]
    kind = say("WRONG" if verdict["kind"] == "wrong" else "inaccurate")
    much = "no error is allowed" if share is None else f"{share:.3g} times the bound"
    return f"{kind} ({say(much)})"
