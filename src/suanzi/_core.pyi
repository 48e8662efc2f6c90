"""The compiled core of suanzi."""

from typing import TypeVar


from typing import Any

VERSION: str

F = TypeVar("F")

class DType:
    """
    The type of a tensor's elements. Every dtype is one object: compare with ``is`` or ``==``.
    """

    def __init__(self) -> None: ...

    @property
    def name(self) -> str:
        """The name, such as 'float16'."""

    @property
    def kind(self) -> str:
        """'bool', 'int', 'uint', 'float', 'complex', 'char' or 'quantized'."""

    @property
    def code(self) -> int:
        """The TypeCode of A.1; with `bits` it names the dtype."""

    @property
    def bits(self) -> int:
        """Logical width in bits; complex dtypes count both parts."""

    @property
    def itemsize(self) -> int:
        """Bytes one element takes in storage."""

    @property
    def exponent_bits(self) -> int:
        """Exponent width of a float (or of one part of a complex); 0 for others."""

    @property
    def mantissa_bits(self) -> int:
        """
        Stored mantissa bits of a float (or of one part of a complex); 0 for others.
        """

    @property
    def has_infinity(self) -> bool:
        """Whether the format has infinities (float8_e4m3fn has none)."""

    @property
    def index(self) -> int:
        """Position in the dtype list."""

    def __repr__(self) -> str: ...

    def __str__(self) -> str: ...

    def __reduce__(self) -> tuple[object, ...]: ...

DTYPES: tuple[DType, ...]

class RuleTable:
    """The remembered answers of one rule set."""

    def __init__(self, gates_operators: bool, checks_integers: bool) -> None: ...

    def _remember(self, operator_class: int, a: int, b: int, answer: DType) -> None:
        """Remembers the engine's answer to a cell."""

ZERO_DIM_BASE: int = 30

NUMBER_BASE: int = 60

def use_rules(variable: object, by_name: dict[str, Any]) -> None:
    """
    Says where the rule set in force is found: a ContextVar, and the loaded rule sets.
    """

def rules_chosen() -> None:
    """To be called before the ContextVar gets its first value."""

def set_default_rules(rules: RuleTable) -> None:
    """The rule set in force where the ContextVar has no value."""

def accelerate_promote_types(function: F, /) -> F:
    """Puts the table lookup in front of the Python promote_types."""

def accelerate_result_type(function: F, /) -> F:
    """
    Puts the table lookup, for two operands, in front of the Python result_type.
    """

def use_zero_dim(type: type) -> None:
    """Says which type stands for a 0-d tensor."""

def use_operators(classes: dict[str, Any]) -> None:
    """Says which operator is of which class."""
