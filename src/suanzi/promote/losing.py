"""LossWarning: what ``promotion(..., on_loss="warn")`` says of a conversion that loses values."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from suanzi.base.dtypes import DType

OnLoss: TypeAlias = Literal["ignore", "warn", "raise"]
ON_LOSS: tuple[OnLoss, ...] = ("ignore", "warn", "raise")


class LossWarning(UserWarning):
    """An operator converted an operand to a dtype that does not hold all of its values."""

    operator: str
    """Its name."""
    rules: str
    """The rule set in force."""
    dtypes: tuple[DType | None, ...]
    """Of the operands; None for a Python number."""
    dtype: DType
    """What they were converted to."""
    value: Any
    """A value that is lost."""
    becomes: Any
    own: bool
    """Whether this call had that value; if not, it is an example."""

    def __init__(
        self,
        message: str,
        operator: str = "",
        rules: str = "",
        dtypes: tuple[DType | None, ...] = (),
        lost: tuple[DType | None, Any, Any, bool] = (None, None, None, False),
    ) -> None:
        super().__init__(message)
        self.operator, self.rules, self.dtypes = operator, rules, dtypes
        into, self.value, self.becomes, self.own = lost
        if into is not None:
            self.dtype = into
