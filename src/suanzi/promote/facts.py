"""Everything about one rule set as data: what ``suanzi rules NAME`` and a notebook show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from suanzi.base.lang import say
from suanzi.promote.operators import OperatorClass
from suanzi.promote.zero_dim import AS_TENSOR

if TYPE_CHECKING:
    from suanzi.base.dtypes import DType
    from suanzi.promote.rules import RuleSet


def facts_of(rules: RuleSet) -> dict[str, Any]:
    """Return a rule set's name, version, source, dtypes, and what it has besides its tables.

    >>> from suanzi.promote.library import rule_set
    >>> facts_of(rule_set("torch"))["default float"]
    'float32'
    """
    return {
        "name": rules.name,
        "title": rules.title,
        "version": rules.version,
        "source": rules.source,
        **{f"{layer} source": source for layer, source in rules.sources.items()},
        "dtypes": [d.name for d in rules.dtypes],
        "0-d tensor": {
            _scope(key): rule.text
            for key, rule in ({OperatorClass.ANY: AS_TENSOR} | dict(rules.zero_dims)).items()
        },
        "made": {there.name: f"as {here}" for there, here in rules.made.items()},
        "cast": {to.name: f"gives {here}" for to, here in rules.casts.items()},
        "result": "has the dtype of the output that the caller gives; the table is what it is "
        "computed in"
        if rules.results == "caller"
        else "",
        "operators": {
            _scope(key): "; ".join(_turns(turned)) for key, turned in rules.turned.items()
        },
        "operands are rounded": {_scope(key): rule.text for key, rule in rules.rounded.items()},
        "written to": {way: rule.text for way, rule in rules.writes.items()},
        "numbers alone": {kind: d.name for kind, d in rules.alone.items()},
        "number that does not fit": "wraps" if rules.overflow == "wrap" else "is refused",
        "beyond float8_e4m3fn": "nan" if rules.float8_overflow == "nan" else "the largest number",
        "gates": {_scope(key): gate.text for key, gate in rules.gates.items()},
        "default float": rules.default_float.name,
        "notes": list(rules.notes),
        "deviations": list(rules.deviations),
    }


def _turns(turned: Mapping[DType, DType | None]) -> Iterator[str]:
    """Yield what an operator makes of dtypes: ``float16 bfloat16 become float32``."""
    for target in dict.fromkeys(turned.values()):
        names = " ".join(dt.name for dt, into in turned.items() if into is target)
        yield f"{names} become {target}" if target is not None else f"{names} are refused"


def _scope(key: OperatorClass | str) -> str:
    return key if isinstance(key, str) else "any operator" if not key else key.title


_SCOPES = {_scope(key) for key in OperatorClass}


def lines_of(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return facts as labelled lines; a list of sentences has a line for each.

    >>> lines_of({"a": 1, "notes": ["x", "y"], "dtypes": ["i8", "f16"], "none": None})
    [('a', '1'), ('notes', 'x'), ('notes', 'y'), ('dtypes', 'i8 f16')]
    """
    lines: list[tuple[str, str]] = []
    for key, value in facts.items():
        for item in value if isinstance(value, list) and key != "dtypes" else [value]:
            if isinstance(item, dict):
                item = "; ".join(
                    f"{say(k) if k in _SCOPES else k}: {say(v)}" for k, v in item.items()
                )
            elif isinstance(item, list):
                item = " ".join(item)
            if item:
                lines.append((key, str(item)))
    return lines
