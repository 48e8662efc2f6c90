"""Questions about promotion, and what the engine answers, in the form that the page answers in."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import suanzi as sz
from suanzi.front.site.promotion import NUMBERS, NUMERIC
from suanzi.promote.operands import NUMBER_KINDS, typed_operand
from suanzi.promote.operators import OPERATORS, OUTSIDE, OperatorClass

DTYPES = [d.name for d in NUMERIC]
OPERANDS = [
    *DTYPES, *(f"0d:{name}" for name in DTYPES), *(f"py:{kind}" for kind in NUMBER_KINDS), *NUMBERS,
]  # fmt: skip
CLASSES = [one.title for one in OperatorClass]

LIKE = "torch"
"""The rule set whose dtype fixes keep."""

Question = tuple[list[str], str, str]


RARE = [
    (["int64", "uint64"], ("less", "logical_and")),
    (["uint8", "300"], ("add", "less")),
    (["uint1", "300"], ("add",)),
    (["true", "2.5"], ("add", "true division")),
    (["int8", "uint64", "int16"], ("add", "where")),
    (["float64", "float16", "bfloat16"], ("add", "concat")),
    (["complex64"], ("abs", "exp")),
    (["bool", "0d:bool"], ("reciprocal", "bitwise")),
    (["float32", "int64"], ("scatter", "matmul", "floordiv")),
]
"""Questions that reach what random ones seldom do; each is put to all rule sets."""


def questions(count: int, seed: int) -> list[Question]:
    """Return random questions, and the rare ones: operands, a rule set and an operator."""
    rare = [(xs, rules, op) for xs, ops in RARE for op in ops for rules in sz.rule_sets()]
    draw = random.Random(seed)
    named = [*OPERATORS, *OUTSIDE]
    return rare + [
        (
            [draw.choice(OPERANDS) for _ in range(draw.choice((1, 2, 2, 2, 3, 4, 5)))],
            draw.choice(sz.rule_sets()),
            draw.choice(CLASSES if draw.random() < 0.5 else named),
        )
        for _ in range(count)
    ]


def answer(question: Question) -> dict[str, Any]:
    """Return what suanzi explains; ``known`` is false where a rule set has no rule."""
    operands, rules, op = question
    return _answer(tuple(operands), rules, op)


@cache
def _answer(operands: tuple[str, ...], rules: str, op: str) -> dict[str, Any]:
    try:
        found = sz.explain(*map(typed_operand, operands), rules=rules, op=op, like=LIKE)
        fixes = [{"text": fix.text, "code": fix.code} for fix in found.fixes]
    except sz.InvalidArgument:
        return {"known": False}
    steps = [f"{step.layer.value}: {step.text}" for step in found.answer.decisions]
    return {
        "known": True,
        "dtype": found.dtype and found.dtype.name,
        "output": found.output and found.output.name,
        "layer": found.layer,
        "reason": found.reason,
        "steps": list(dict.fromkeys(steps)),
        "source": found.source,
        "exact": found.exact,
        "fixes": fixes,
        "lost": [
            {"operand": one.source.name if one.source else "number", "text": str(one)}
            for one in found.losses
        ],
    }


ASK = """(questions) => {
  const engine = promoter(DATA.promotion);
  const rules = Object.fromEntries(DATA.promotion.rules.map(one => [one.name, one]));
  return questions.map(([operands, name, op]) => {
    const asked = [operands.map(engine.typed), rules[name], engine.operator(op)];
    const found = engine.explain(...asked, rules.torch);
    delete found.rules;
    return found;
  });
}"""
"""A function in JavaScript that has the page answer questions."""
