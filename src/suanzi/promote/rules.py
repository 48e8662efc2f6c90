"""RuleSet: what one framework says about mixed dtypes, as data in layers.

A rule set has a tensor-tensor table, a rule for Python numbers, what a 0-d tensor counts as, a
gate per operator class, and the floating-point dtype that integers become where a function needs
one. The engine reads them; nothing here decides on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from os import path
from typing import TypeAlias

from suanzi import _core
from suanzi._hints import nearest
from suanzi.dtypes import DType, DTypeLike, complex64, document_name, dtype, float32, int64
from suanzi.dtypes import bool as bool_
from suanzi.promote.operands import NumberKind, Operand
from suanzi.promote.operators import OperatorClass
from suanzi.status import InvalidArgument

PythonNumber: TypeAlias = bool | int | float | complex

_KIND_RANKS = {"bool": 0, "int": 1, "uint": 1, "float": 2, "complex": 3}


def kind_rank(kind: str) -> int:
    """Return the place of a kind, of a dtype or of a number, in bool < int < float < complex."""
    return _KIND_RANKS[kind]


@dataclass(frozen=True, slots=True)
class Cell:
    """One answer of one layer: a dtype, or None for a refusal, and why."""

    dtype: DType | None
    reason: str


DEFAULT_CAST = "sz.cast({x}, sz.{dtype})"

PairRule: TypeAlias = Callable[[DType, DType], Cell]
NumberRule: TypeAlias = Callable[[DType, NumberKind], Cell]
JoinRule: TypeAlias = Callable[[Sequence[Operand]], Cell]
ZeroDimRule: TypeAlias = Callable[["RuleSet", DType, DType], Cell]
FloatRule: TypeAlias = Callable[[DType], DType | None]


@dataclass(frozen=True)
class Gate:
    """Which kinds of different dtypes an operator class lets meet; equal dtypes always pass."""

    pairs: frozenset[frozenset[str]]
    text: str
    """The gate as it is written: ``float+float, complex+any``."""

    @classmethod
    def parse(cls, text: str) -> Gate:
        """Read a gate such as ``float+float, complex+any``, ``open`` or ``equal``."""
        kinds = {"bool", "int", "float", "complex", "any"}
        pairs = set()
        if text == "equal":
            return cls(frozenset(), "equal dtypes only")
        for item in (text if text != "open" else "any+any").split(","):
            pair = [kind.strip() for kind in item.split("+")]
            if len(pair) != 2 or not kinds.issuperset(pair):
                raise InvalidArgument(
                    f"gate: {item.strip()!r} is not a pair of kinds such as float+float, nor "
                    f"'open' or 'equal'; the kinds are {', '.join(sorted(kinds))}."
                )
            pairs.add(frozenset(pair))
        return cls(frozenset(pairs), text)

    def admits(self, a: DType, b: DType) -> bool:
        """Tell whether two dtypes may meet.

        >>> from suanzi.dtypes import complex64, float32, int32
        >>> gate = Gate.parse("float+float, complex+any")
        >>> gate.admits(int32, float32), gate.admits(int32, complex64)
        (False, True)
        """
        kinds = {"int" if d.kind == "uint" else d.kind for d in (a, b)}
        return a is b or any(
            kinds == pair or ("any" in pair and (len(pair) == 1 or kinds & pair))
            for pair in self.pairs
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RuleSet(_core.RuleTable):
    """The rules of one framework. `rule_set(name)` gives the known ones.

    >>> cann = rule_set("cann")
    >>> cann.title, len(cann.dtypes), cann.default_float
    ('CANN aclnn', 16, suanzi.float32)
    """

    name: str
    title: str
    version: str
    source: str
    dtypes: tuple[DType, ...]
    """The dtypes the rules speak of, in the order of their document."""
    pair: PairRule
    """The tensor-tensor table: two different dtypes of `dtypes`."""
    number: NumberRule
    """A tensor dtype with a Python number."""
    alone: Mapping[NumberKind, DType]
    """What a Python number is when no tensor is there; a kind that is missing is refused."""
    numbers_are_zero_dim: bool = False
    """Whether a Python number is a 0-d tensor of the dtype in `alone`; `number` is not asked."""
    zero_dim: ZeroDimRule | None = None
    """A dimensioned dtype with a 0-d one; None: a 0-d tensor counts as any tensor."""
    zero_dim_text: str = "counts as a dimensioned tensor"
    gates: Mapping[OperatorClass | str, Gate] = field(default_factory=dict)
    """A gate per operator or class; that of ``OperatorClass.ANY`` where there is no other."""
    floats: Mapping[OperatorClass, FloatRule] = field(default_factory=dict)
    """What integers become in true division and in real functions, if not `default_float`."""
    default_float: DType = float32
    numbers_source: str = ""
    tabulated: bool = False
    """Whether `pair` reads a printed table, rather than computing."""
    names: str = "short"
    """The document whose dtype names the tables are printed in."""
    cast: str = DEFAULT_CAST
    """How one writes a cast there, with {x}, {dtype} and {name} (the document's) to fill in."""
    join: JoinRule | None = None
    """Answers all operands at once, by the values of numbers; it then stands for all the rest."""
    exact_comparison: bool = False
    """Whether comparison and logic need no common dtype, being exact as they are."""
    notes: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    """Where the live framework is known to differ from its document; the document wins."""
    drift: Mapping[tuple[OperatorClass, tuple[str, ...]], DType | None] = field(
        default_factory=dict
    )
    """The deviations that `suanzi live` meets: operator class and operands to the live answer."""

    def __post_init__(self) -> None:
        super().__init__(gates_operators=any(isinstance(key, str) for key in self.gates))

    def __repr__(self) -> str:
        return f"<rule set {self.name}: {self.title}, {self.version}>"

    def __reduce__(self) -> tuple[Callable[[str], RuleSet], tuple[str]]:
        return rule_set, (self.name,)

    def gate(self, operator: str, operator_class: OperatorClass) -> Gate | None:
        """Return the gate of an operator, or of its class, or None where every pair may meet."""
        for key in (operator, operator_class, OperatorClass.ANY):
            if key in self.gates:
                return self.gates[key]
        return None

    def float_for(self, operator_class: OperatorClass, dt: DType) -> DType | None:
        """Return what an integer dtype becomes where a floating-point one is needed."""
        rule = self.floats.get(operator_class)
        return rule(dt) if rule is not None else self.default_float

    @classmethod
    def from_text(cls, text: str) -> RuleSet:
        """Read a rule set from a text table; ``docs/promotion.md`` describes the format.

        >>> mine = RuleSet.from_text('''
        ... name    mine
        ... source  a note on my desk
        ... [tensors]
        ...       i8   f16
        ... i8    i8   f16
        ... f16   f16  f16
        ... ''')
        >>> mine.pair(dtype("i8"), dtype("f16"))
        Cell(dtype=suanzi.float16, reason='row i8, column f16')
        """
        from suanzi.promote.reading import read_rules

        return read_rules(text)

    @classmethod
    def from_function(
        cls,
        name: str,
        dtypes: Iterable[DTypeLike],
        function: Callable[[DType, DType], DTypeLike | None],
        *,
        number: Callable[[DType, NumberKind], DTypeLike | None] | None = None,
        title: str = "",
        version: str = "1",
        source: str = "a Python function",
        default_float: DTypeLike | None = None,
    ) -> RuleSet:
        """Make a rule set from a function of two dtypes; None is a refusal.

        It is asked once for every pair; the answer must be one of `dtypes` and must not depend on
        the order. Without `number`, a Python number of a kind the tensor can represent takes the
        tensor's dtype, a float makes integers `default_float` (float32, or your first
        floating-point dtype), anything else is refused.

        >>> widest = RuleSet.from_function(
        ...     "widest", ["f16", "f32"], lambda a, b: max(a, b, key=lambda d: d.bits))
        >>> widest.pair(dtype("f16"), dtype("f32")).dtype
        suanzi.float32
        """
        known = tuple(dict.fromkeys(dtype(d) for d in dtypes))
        table: dict[tuple[DType, DType], DType | None] = {}
        for a in known:
            for b in known:
                answer = function(a, b)
                table[a, b] = None if answer is None else dtype(answer)
        check_table(name, known, table)
        float_dtype = choose_float(known) if default_float is None else dtype(default_float)

        def pair(a: DType, b: DType) -> Cell:
            return Cell(table[a, b], f"{name}({a}, {b})")

        def number_rule(dt: DType, kind: NumberKind) -> Cell:
            if number is None:
                return weak_number(dt, kind, float_dtype)
            answer = number(dt, kind)
            return Cell(None if answer is None else dtype(answer), f"{name} with a Python {kind}")

        return cls(
            name=name,
            title=title or name,
            version=version,
            source=source,
            dtypes=known,
            pair=pair,
            number=number_rule,
            alone=default_alone(float_dtype),
            default_float=float_dtype,
        )


def choose_float(dtypes: tuple[DType, ...]) -> DType:
    """Return float32, or the first floating-point dtype of a set that lacks it."""
    floats = [d for d in dtypes if d.kind == "float"]
    return float32 if float32 in floats or not floats else floats[0]


def default_alone(default_float: DType) -> dict[NumberKind, DType]:
    """Return what Python numbers are on their own, given the default float."""
    return {"bool": bool_, "int": int64, "float": default_float, "complex": complex64}


def weak_number(dt: DType, kind: NumberKind, default_float: DType | None) -> Cell:
    """A Python number that takes the tensor's dtype where that can represent its kind.

    A float makes integers `default_float`, where one is given; every other higher kind is refused.
    """
    if kind_rank(dt.kind) >= kind_rank(kind):
        return Cell(dt, f"a Python {kind} takes the dtype of the tensor")
    if kind == "float" and default_float is not None:
        return Cell(default_float, f"a Python float makes integers {default_float}")
    if kind == "int" and default_float is not None:
        return Cell(int64, "a Python int makes bool int64")
    return Cell(None, f"a Python {kind} does not fit {dt}")


def by_category(rules: RuleSet, dim: DType, zero: DType) -> Cell:
    """PyTorch's rule: a 0-d tensor counts only if its category is higher than the tensor's."""
    if kind_rank(dim.kind) >= kind_rank(zero.kind):
        return Cell(dim, f"a 0-d {zero} is of no higher category than {dim}, so it does not count")
    higher = f"a 0-d {zero} is of a higher category than {dim}"
    if dim.kind == "float":
        return Cell(rules.number(dim, "complex").dtype, f"{higher}, and leaves its width")
    if zero.kind in ("float", "complex"):
        return Cell(zero, higher)
    cell = rules.pair(dim, zero)
    return Cell(cell.dtype, f"{higher}: {cell.reason}")


def by_kind(rules: RuleSet, dim: DType, zero: DType) -> Cell:
    """Paddle's rule: with a 0-d tensor of its own kind a tensor keeps its dtype; else the table."""
    if kind_rank(dim.kind) == kind_rank(zero.kind):
        return Cell(dim, f"a 0-d {zero} is of the kind of {dim}, so the tensor keeps its dtype")
    cell = rules.pair(dim, zero)
    return Cell(cell.dtype, f"a 0-d {zero} is of another kind than {dim}: {cell.reason}, no gate")


ZERO_DIM_RULES: dict[str, tuple[ZeroDimRule | None, str]] = {
    "tensor": (None, "counts as a dimensioned tensor"),
    "category": (by_category, "counts only if its category is higher"),
    "kind": (by_kind, "does not count beside a tensor of its kind, and passes the gate"),
}
"""What a 0-d tensor can count as, by the word a text table uses."""


def check_table(
    name: str, dtypes: tuple[DType, ...], table: Mapping[tuple[DType, DType], DType | None]
) -> None:
    """Raise InvalidArgument unless a table is closed, commutative and keeps equal dtypes."""
    for (a, b), answer in table.items():
        if answer is not None and answer not in dtypes:
            raise InvalidArgument(
                f"rule set {name!r}: the table is not closed: {a} with {b} gives {answer}, which "
                "has no row of its own."
            )
        if table[b, a] is not answer:
            raise InvalidArgument(
                f"rule set {name!r}: {a} with {b} gives {answer or 'a refusal'}, but {b} with {a} "
                f"gives {table[b, a] or 'a refusal'}; promotion must not depend on the order."
            )
        if a is b and answer is not a:
            raise InvalidArgument(
                f"rule set {name!r}: {a} with itself gives {answer or 'a refusal'}; equal dtypes "
                "need no promotion, so the diagonal must be the dtype itself."
            )


DEFAULT = "cann"
"""The rule set in force until another is chosen."""

_TABULATED = (
    "cann", "mindspore", "paddle", "paddle_compare_fix", "paddle_table", "torch", "numpy", "jax",
)  # fmt: skip
_COMPUTED = ("openvino", "strict", "lossless")
_loaded: dict[str, RuleSet] = {}
_registered: list[str] = []


def rule_set(rules: str | RuleSet) -> RuleSet:
    """Return a rule set by name; a rule set is returned as it is.

    OpenVINO's attributes are part of the name: ``openvino+unsafe+scalar+u64=i64``.

    >>> rule_set("torch")
    <rule set torch: PyTorch, 2.13.0>
    """
    if isinstance(rules, RuleSet):
        return rules
    if isinstance(rules, str):
        made = _loaded.get(rules) or _make(rules)
        if made is not None:
            return _loaded.setdefault(made.name, made)
    raise InvalidArgument(
        f"rules: {rules!r} is not a rule set; there are {', '.join(rule_sets())}."
        + nearest(str(rules), rule_sets())
    )


def rule_sets() -> tuple[str, ...]:
    """Return the names of the rule sets, yours included.

    >>> rule_sets()[:3]
    ('cann', 'mindspore', 'paddle')
    """
    return (*_TABULATED, *_COMPUTED, *_registered)


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
    _loaded[rules.name] = rules
    if rules.name not in _registered:
        _registered.append(rules.name)
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
