"""The rule sets by name: the built-in ones, made when first asked for, and those of the user."""

from __future__ import annotations

from importlib import import_module
from os import path

from suanzi._hints import nearest
from suanzi.dtypes import DType, DTypeLike, document_name, dtype, float32
from suanzi.promote.rules import RuleSet
from suanzi.status import InvalidArgument

DEFAULT = "cann"
"""The rule set in force until another is chosen."""

_TABULATED = (
    "cann", "mindspore", "paddle", "paddle_compare_fix", "paddle_table", "torch", "numpy", "jax",
)  # fmt: skip
_COMPUTED = ("openvino", "strict", "lossless")
loaded: dict[str, RuleSet] = {}
registered: list[str] = []


def known_as(name: str) -> RuleSet | None:
    """Return the rule set a name stands for, if it has been made."""
    return loaded.get(name)


def rule_set(rules: str | RuleSet) -> RuleSet:
    """Return a rule set by name; a rule set is returned as it is.

    OpenVINO's attributes are part of the name: ``openvino+unsafe+scalar+u64=i64``.

    >>> rule_set("torch")
    <rule set torch: PyTorch, 2.13.0>
    """
    if isinstance(rules, RuleSet):
        return rules
    if isinstance(rules, str):
        made = loaded.get(rules) or _make(rules)
        if made is not None:
            return loaded.setdefault(made.name, made)
    raise InvalidArgument(
        f"rules: {rules!r} is not a rule set; there are {', '.join(rule_sets())}."
        + nearest(str(rules), rule_sets())
    )


def rule_sets() -> tuple[str, ...]:
    """Return the names of the rule sets, yours included.

    >>> rule_sets()[:3]
    ('cann', 'mindspore', 'paddle')
    """
    return (*_TABULATED, *_COMPUTED, *registered)


def register_rules(rules: RuleSet) -> RuleSet:
    """Make a rule set of your own known by its name, and return it.

    The name of a built-in rule set is refused; one of your own is replaced.
    """
    if not isinstance(rules, RuleSet):
        raise InvalidArgument(
            f"register_rules: {rules!r} is a {type(rules).__name__}; it takes a RuleSet, made by "
            "RuleSet.from_text or RuleSet.from_function."
        )
    if rules.name.partition("+")[0] in (*_TABULATED, *_COMPUTED, "all"):
        raise InvalidArgument(f"register_rules: {rules.name!r} is a built-in name; choose another.")
    loaded[rules.name] = rules
    if rules.name not in registered:
        registered.append(rules.name)
    return rules


def openvino_rules(
    *,
    promote_unsafe: bool = False,
    pytorch_scalar_promotion: bool = False,
    u64_integer_promotion_target: DTypeLike = float32,
) -> RuleSet:
    """Return OpenVINO's rules for the attributes of ConvertPromoteTypes-14.

    Each choice of attributes is one rule set, and has a name of its own:

    >>> openvino_rules().name, openvino_rules(promote_unsafe=True).name
    ('openvino', 'openvino+unsafe')
    """
    from suanzi.promote.openvino import check_target

    target = check_target(dtype(u64_integer_promotion_target))
    return rule_set(openvino_name(promote_unsafe, pytorch_scalar_promotion, target))


def openvino_name(unsafe: bool, scalar: bool, target: DType) -> str:
    """Return the name of OpenVINO's rules for its attributes."""
    name = "openvino" + "+unsafe" * bool(unsafe) + "+scalar" * bool(scalar)
    return name if target is float32 else f"{name}+u64={document_name(target, 'openvino')}"


def table_text(name: str) -> str:
    """Return the text table of a built-in rule set."""
    if name not in _TABULATED:
        raise InvalidArgument(
            f"{name!r} is not a rule set with a text table; those are {', '.join(_TABULATED)}."
            + nearest(name, _TABULATED)
        )
    file = path.join(path.dirname(__file__), "tables", f"{name}.txt")
    with open(file, encoding="utf-8") as text:
        return text.read()


def _make(name: str) -> RuleSet | None:
    if name in _TABULATED:
        return RuleSet.from_text(table_text(name))
    base, *attributes = name.split("+")
    if base in _COMPUTED:
        module = import_module(f"suanzi.promote.{base}")
        made: RuleSet | None = module.make(attributes)
        return made
    return None
