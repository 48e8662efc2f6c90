"""RuleSet: what one framework says about mixed dtypes, as data in layers.

A rule set has a tensor-tensor table, a rule for Python numbers, what a 0-d tensor counts as, a
gate per operator class, and the floating-point dtype that integers become where a function needs
one. The engine reads them; nothing here decides on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from os.path import abspath
from types import MappingProxyType
from typing import Any, Literal

from suanzi import _core
from suanzi.base.dtypes import DType, DTypeLike, dtype, float32
from suanzi.base.files import read_text
from suanzi.base.status import InvalidArgument
from suanzi.promote import layers
from suanzi.promote.losing import OnLoss
from suanzi.promote.operands import NumberKind
from suanzi.promote.operators import (
    OUTSIDE,
    Operator,
    OperatorClass,
    Scope,
    in_scope,
    is_tabulated,
    typed,
)
from suanzi.promote.results import results
from suanzi.promote.writing import WriteRule
from suanzi.promote.zero_dim import AS_TENSOR, ZeroDimRule


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RuleSet(_core.RuleTable):
    """The rules of one framework. `rule_set(name)` gives the known ones.

    >>> from suanzi import rule_set
    >>> cann = rule_set("cann")
    >>> cann.title, len(cann.dtypes), cann.default_float
    ('CANN aclnn', 16, suanzi.float32)
    """

    name: str
    title: str
    version: str
    source: str
    """Where the table comes from."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where other layers come from, if not from `source`: numbers, zero-d, gate, float."""
    dtypes: tuple[DType, ...]
    """The dtypes of the rules, in the order of their document."""
    pair: layers.PairRule
    """The tensor-tensor table: two different dtypes of `dtypes`."""
    pairs: Mapping[Scope, layers.PairRule] = field(default_factory=dict)
    """The tables of operators, or classes of them, that have one of their own."""
    number: layers.NumberRule
    """A tensor dtype with a Python number."""
    alone: Mapping[NumberKind, DType]
    """The dtype of a Python number without tensors; a kind that is missing is refused."""
    number_cells: Mapping[Scope, Mapping[tuple[DType, NumberKind], DType | None]] = field(
        default_factory=dict
    )
    """What operators, or classes of them, do otherwise with a Python number."""
    numbers_are_zero_dim: bool = False
    """Whether a Python number is a 0-d tensor of the dtype in `alone`; `number` is not used."""
    numbers_yield_in: frozenset[str] = frozenset()
    """Operators in which such a number yields to a 0-d tensor as to a dimensioned one."""
    weak_types: bool = False
    """Whether a tensor made of Python numbers alone counts as such a number."""
    overflow: Literal["wrap", "refuse"] = "wrap"
    """What becomes of a Python int that the integer dtype does not hold."""
    float8_overflow: Literal["nan", "largest"] = "nan"
    """What is beyond float8_e4m3fn, which has no infinity, becomes in every conversion to it."""
    zero_dims: Mapping[Scope, ZeroDimRule] = field(default_factory=dict)
    """What a 0-d tensor counts as, per operator or class."""
    gates: Mapping[Scope, layers.Gate] = field(default_factory=dict)
    """A gate per operator or class."""
    floats: Mapping[OperatorClass, layers.FloatRule] = field(default_factory=dict)
    """What integers become in true division and in real functions, if not `default_float`."""
    turned: Mapping[Scope, Mapping[DType, DType | None]] = field(default_factory=dict)
    """What else an operator makes of the dtype that was promoted to, per operator or class."""
    default_float: DType = float32
    made: Mapping[DType, DType] = field(default_factory=dict)
    """What a tensor is made as where the framework does not have its dtype."""
    casts: Mapping[DType, DType] = field(default_factory=dict)
    """Dtypes that a tensor cannot be cast to, and what a cast to them gives instead."""
    rounded: Mapping[Scope, layers.RoundingRule] = field(default_factory=dict)
    """When operands are rounded to the promoted dtype; empty: not known."""
    results: Literal["promoted", "caller"] = "promoted"
    """Who chooses the dtype of a result; with `caller`, the table says what it is computed in."""
    writes: Mapping[str, WriteRule] = field(default_factory=dict)
    """What ``in-place``, ``in-place method`` and ``out`` do; a way that is missing is not known."""
    join: layers.JoinRule | None = None
    """Answers all operands at once, by the values of numbers; it then stands for all the rest."""
    exact_comparison: Literal["never", "integers", "always"] = "never"
    """Which operands are compared value by value where no common dtype holds both."""
    clause_statuses: bool = False
    """Whether a refusal has a status of the clause's list, where TYPE_MISMATCH is not in it."""
    tabulated: bool = False
    """Whether `pair` reads a printed table, rather than computing."""
    names: str = "short"
    """The document whose dtype names the tables are printed in."""
    cast: str = layers.DEFAULT_CAST
    """How a cast is written there; {x}, {dtype}, {name} (the document's), {acl} are filled in."""
    notes: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    """Where the live framework is known to differ from its document; the document wins."""
    drift: Mapping[tuple[OperatorClass, tuple[str, ...]], DType | None] = field(
        default_factory=dict
    )
    """The deviations that `suanzi live` meets: operator class and operands to the live answer."""

    on_loss: OnLoss = "ignore"
    """What operators do where an operand loses values; `promotion` makes such a rule set."""
    forgets: bool = False
    """Whether nothing is remembered natively, so that every call can be recorded."""
    text: str | None = None
    """The text table that says it all, for another process; None where there is none."""
    file: str | None = None
    """The file that the text was read from."""

    answers: dict[Any, Any] = field(init=False, repr=False, compare=False)
    """What operators were answered, by operator and operands; kept for the next call."""

    def __post_init__(self) -> None:
        own = {key for key in self.scopes() if isinstance(key, str) and key not in OUTSIDE}
        equal = own & self.for_unequal
        super().__init__(
            own_rules=typed(own - equal),
            for_unequal=typed(equal),
            checks_integers=self.overflow == "refuse",
            saturates=self.float8_overflow == "largest",
        )
        strange = [d.name for d in self.dtypes if d.kind not in layers.NUMERIC_KINDS]
        if strange or not self.dtypes:
            raise InvalidArgument(
                f"rule set {self.name!r}: a table is about numeric dtypes, at least one of them; "
                f"{', '.join(strange) or 'it has none'}."
            )
        object.__setattr__(self, "answers", {})
        layers.check_cast(self.name, self.cast)
        # What was answered is remembered, so nothing the answers depend on may change.
        maps = "sources pairs alone zero_dims gates floats turned rounded drift made casts writes"
        for key in (*maps.split(), "number_cells"):
            object.__setattr__(self, key, MappingProxyType(dict(getattr(self, key))))

    def __repr__(self) -> str:
        return f"<rule set {self.name}: {self.title}, {self.version}>"

    def _repr_html_(self) -> str:
        from suanzi.base.html import page, table
        from suanzi.promote.facts import facts_of, lines_of

        return page(table((), lines_of(facts_of(self)), row_heads=True, caption=repr(self)))

    def __copy__(self) -> RuleSet:
        return self

    def __deepcopy__(self, memo: object) -> RuleSet:
        return self

    def scopes(self) -> Iterator[Scope]:
        """Yield the operators and classes that have rules of their own."""
        for rules in (self.gates, *self._others):
            yield from rules

    @property
    def _others(self) -> tuple[Iterable[Scope], ...]:
        """The rules of operators but gates, which equal dtypes always pass."""
        return self.zero_dims, self.pairs, self.turned, self.number_cells, self.numbers_yield_in

    @cached_property
    def for_unequal(self) -> frozenset[str]:
        """The operators whose only rule of their own is a gate, which equal dtypes always pass."""
        return frozenset(
            name
            for name, gate in self.gates.items()
            if isinstance(name, str)
            and not gate.first
            and all(name not in one for one in self._others)
        )

    def gate(self, op: Operator) -> layers.Gate | None:
        """Return the gate of an operator, or None where every pair may meet."""
        return in_scope(self.gates, op)

    def knows(self, op: Operator) -> bool:
        """Tell whether it has rules for an operator: one of models, or of the tables of results."""
        if is_tabulated(op.name):
            return results(self.name) is not None
        return op.name not in OUTSIDE or op.name in self.gates

    def zero_dim(self, op: Operator) -> ZeroDimRule:
        """Return what a 0-d tensor counts as for an operator."""
        return in_scope(self.zero_dims, op) or AS_TENSOR

    def float_for(self, operator_class: OperatorClass, dt: DType) -> DType | None:
        """Return what an integer dtype becomes where a floating-point one is needed."""
        rule = self.floats.get(operator_class)
        return rule(dt) if rule is not None else self.default_float

    @classmethod
    def from_text(cls, text: str) -> RuleSet:
        """Read a rule set from a text table, as ``docs/en/guides/extending/rules.md`` describes it.

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

        if not isinstance(text, str):
            raise InvalidArgument(
                f"RuleSet.from_text: {text!r} is a {type(text).__name__}; it takes the text of a "
                "table, and RuleSet.from_file the path of one."
            )
        return cls(**read_rules(text), text=text)

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> RuleSet:
        """Read a rule set from a file that holds a text table."""
        try:
            text = read_text(path)
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not text"
            raise InvalidArgument(f"rule set: {str(path)!r} cannot be read: {why}.") from None
        return replace(cls.from_text(text), file=abspath(path))

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
        layers.check_name(name)
        known = tuple(dict.fromkeys(dtype(d) for d in dtypes))
        table: dict[tuple[DType, DType], DType | None] = {}
        for a in known:
            for b in known:
                answer = function(a, b)
                table[a, b] = None if answer is None else dtype(answer)
        layers.check_table(name, known, table)
        float_dtype = layers.choose_float(known) if default_float is None else dtype(default_float)

        def pair(a: DType, b: DType) -> layers.Cell:
            return layers.Cell(table[a, b], f"{name}({a}, {b})")

        def number_rule(dt: DType, kind: NumberKind) -> layers.Cell:
            if number is None:
                return layers.weak_number(dt, kind, float_dtype)
            answer = number(dt, kind)
            return layers.Cell(
                None if answer is None else dtype(answer), f"{name} with a Python {kind}"
            )

        return cls(
            name=name,
            title=title or name,
            version=version,
            source=source,
            dtypes=known,
            pair=pair,
            number=number_rule,
            alone=layers.default_alone(float_dtype),
            default_float=float_dtype,
            text=layers.as_text(
                {"name": name, "title": title or name, "version": version, "source": source,
                 "float": float_dtype.name},
                known, pair, None if number is None else number_rule,
            ),
        )  # fmt: skip
