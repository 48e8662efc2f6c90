"""The rule sets by name: the built-in ones, created on first use, and the user's."""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from importlib import import_module
from os.path import isfile, sep, splitext
from pickle import PicklingError

from suanzi.base.dtypes import DTypeLike, dtype, float32
from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument
from suanzi.promote.rules import RuleSet
from suanzi.promote.tables import TABULATED, table_text

DEFAULT = "cann"
"""The rule set in force until another is chosen."""

_COMPUTED = ("openvino", "strict", "lossless")
_ALSO = {"jax_x64": "jax"}
"""Second names, for those who want to say which one they mean."""
loaded: dict[str, RuleSet] = {}
BRINGS: dict[str, Callable[[], object]] = {}
"""What loads the operators that symbols stand for under a rule set: ``x ** y`` of the array API."""
registered: list[str] = []


def rule_set(rules: str | RuleSet) -> RuleSet:
    """Return a rule set by name; a rule set is returned as it is.

    OpenVINO's attributes are part of the name: ``openvino+unsafe+scalar+u64=i64``, and
    ``openvino+torch`` is what its PyTorch frontend does.

    >>> rule_set("torch")
    <rule set torch: PyTorch, 2.13.0>
    """
    if isinstance(rules, RuleSet):
        return rules
    if isinstance(rules, str):
        rules = _ALSO.get(rules, rules)
        made = loaded.get(rules) or _make(rules)
        if made is not None:
            return loaded.setdefault(made.name, made)
    raise InvalidArgument(
        f"rules: {rules!r} is not a rule set; available: {', '.join(rule_sets())}."
        + nearest(str(rules), rule_sets())
    )


def rule_sets() -> tuple[str, ...]:
    """Return the names of the rule sets, yours included.

    >>> rule_sets()[:3]
    ('cann', 'mindspore', 'paddle')
    """
    return (*TABULATED, *_COMPUTED, *registered)


def register_rules(rules: RuleSet) -> RuleSet:
    """Make a rule set of your own known by its name, and return it.

    The name of a built-in rule set is refused; one of your own is replaced.
    """
    if not isinstance(rules, RuleSet):
        raise InvalidArgument(
            f"register_rules: {rules!r} is a {type(rules).__name__}; it takes a RuleSet, made by "
            "RuleSet.from_text or RuleSet.from_function."
        )
    if rules.name.partition("+")[0] in (*TABULATED, *_COMPUTED, *_ALSO, "all"):
        raise InvalidArgument(f"register_rules: {rules.name!r} is a built-in name; choose another.")
    loaded[rules.name] = rules
    if rules.name not in registered:
        registered.append(rules.name)
    return rules


def rules_or_file(name: str) -> RuleSet:
    """Return a rule set by its name, or from a file."""
    name = name.strip()
    try:
        return rule_set(name)
    except InvalidArgument as error:
        if isfile(name) or sep in name or splitext(name)[1]:
            return RuleSet.from_file(name)
        raise InvalidArgument(f"{error} No file has that name, either.") from None


def learn_rules(text: str) -> RuleSet:
    """Register the rule set of a text under its name, as in the process that sent it."""
    rules = RuleSet.from_text(text)
    there = loaded.get(rules.name)
    return there if there is not None and there.text == text else register_rules(rules)


def text_for_others(rules: RuleSet) -> str | None:
    """Return the text by which another process learns a rule set; None where it knows the name.

    A rule set of your own is registered here, so that its name means it.
    """
    if loaded.get(rules.name) is not rules:
        register_rules(rules)
    if rules.name not in registered:
        return None
    if rules.text is None:
        raise InvalidArgument(
            f"rules: {rules.name!r} is made of functions, which cannot be sent to another process; "
            "write it as a text table."
        )
    return rules.text


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
    from suanzi.promote.openvino import check_target, openvino_name

    target = check_target(dtype(u64_integer_promotion_target))
    return rule_set(openvino_name(promote_unsafe, pytorch_scalar_promotion, target))


def _make(name: str) -> RuleSet | None:
    if name in TABULATED:
        return RuleSet.from_text(table_text(name))
    base, *attributes = name.split("+")
    if base in _COMPUTED:
        module = import_module(f"suanzi.promote.{base}")
        made: RuleSet | None = module.make(attributes)
        return made
    return None


def _reduce(rules: RuleSet) -> tuple[Callable[[str], RuleSet], tuple[str]]:
    """Take a rule set apart for pickle: its name is all there is, where this library knows it."""
    if loaded.get(rules.name) is not rules:
        raise PicklingError(
            f"rule set {rules.name!r} can be pickled only once register_rules() knows it."
        )
    if rules.name in registered and rules.text is not None:
        return learn_rules, (rules.text,)
    return rule_set, (rules.name,)


copyreg.pickle(RuleSet, _reduce)
