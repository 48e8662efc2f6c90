"""Python's symbols on tensors that are not the core's: each stands for an operator."""

from __future__ import annotations

from typing import Any


def _symbol(name: str, reflected: bool = False) -> Any:
    """Return the method behind one of Python's symbols: the operator of a name."""

    def binary(self: Symbols, other: Any) -> Any:
        if not _may_be_operand(other):
            return NotImplemented  # another type may know
        if (
            type(other) is not type(self)
            and not reflected
            and getattr(other, "is_array_api", False)
        ):
            return NotImplemented  # the symbol means that namespace's function
        return self._of_symbol(name, (other, self) if reflected else (self, other))

    binary.operator = name  # type: ignore[attr-defined]
    return binary


def _unary(name: str) -> Any:
    def unary(self: Symbols) -> Any:
        return self._of_symbol(name, (self,))

    return unary


def _may_be_operand(x: Any) -> bool:
    known = ("__suanzi_operator__", "__array_interface__", "__dlpack__")
    return isinstance(x, int | float | complex) or any(hasattr(x, name) for name in known)


class Symbols:
    """What symbols do to a tensor that says how its operators are called."""

    __slots__ = ()

    def _of_symbol(self, name: str, operands: tuple[Any, ...]) -> Any:
        """Call the operator of a name."""
        raise NotImplementedError

    __add__, __radd__ = _symbol("add"), _symbol("add", reflected=True)
    __sub__, __rsub__ = _symbol("sub"), _symbol("sub", reflected=True)
    __mul__, __rmul__ = _symbol("mul"), _symbol("mul", reflected=True)
    __truediv__, __rtruediv__ = _symbol("true_divide"), _symbol("true_divide", reflected=True)
    __floordiv__, __rfloordiv__ = _symbol("floordiv"), _symbol("floordiv", reflected=True)
    __mod__, __rmod__ = _symbol("mod"), _symbol("mod", reflected=True)
    __pow__, __rpow__ = _symbol("pow"), _symbol("pow", reflected=True)
    __matmul__, __rmatmul__ = _symbol("matmul"), _symbol("matmul", reflected=True)
    __and__, __rand__ = _symbol("bitwise_and"), _symbol("bitwise_and", reflected=True)
    __or__, __ror__ = _symbol("bitwise_or"), _symbol("bitwise_or", reflected=True)
    __xor__, __rxor__ = _symbol("bitwise_xor"), _symbol("bitwise_xor", reflected=True)
    __lshift__ = _symbol("bitwise_left_shift")
    __rlshift__ = _symbol("bitwise_left_shift", reflected=True)
    __rshift__ = _symbol("bitwise_right_shift")
    __rrshift__ = _symbol("bitwise_right_shift", reflected=True)
    __eq__ = _symbol("equal")
    __ne__ = _symbol("not_equal")
    __lt__ = _symbol("less")
    __le__ = _symbol("less_equal")
    __gt__ = _symbol("greater")
    __ge__ = _symbol("greater_equal")
    __abs__ = _unary("abs")
    __invert__ = _unary("bitwise_not")
    __hash__ = object.__hash__

    def __pos__(self) -> Any:
        return self
