"""What a worker runs: an operator on blocks, under the rules in force where it was called.

The rule set, the choice of domain errors and the print options travel with each task. Before that
the operator is called here on stand-ins, small or without elements: it raises its own errors at
once, and the dtype of the result is known before anything is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from suanzi import _core
from suanzi.base.status import InternalError
from suanzi.ops.calling import domains
from suanzi.ops.calling.domains import domain_errors
from suanzi.promote import registry
from suanzi.promote.context import get_promotion, promotion
from suanzi.promote.library import loaded
from suanzi.promote.rules import RuleSet
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.tensors import print_options
from suanzi.tensors.parts import is_destroyed
from suanzi.tensors.print_options import PrintOptions
from suanzi.tensors.tensor import Tensor


@dataclass(frozen=True)
class Context:
    """What was in force where an operator was called."""

    rules: RuleSet
    domain_errors: bool | None
    options: PrintOptions

    def __getstate__(self) -> tuple[Any, ...]:
        """Return what is sent; a rule set that has no registered name is sent as text."""
        named = loaded.get(self.rules.name) is self.rules or self.rules.text is None
        return self.rules if named else self.rules.text, self.domain_errors, self.options

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        rules, domain_errors, options = state
        rules = _read(rules) if isinstance(rules, str) else rules
        given = {"rules": rules, "domain_errors": domain_errors, "options": options}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def run(self, function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> Any:
        """Call a function under it."""
        if self._is_in_force():  # as it nearly always is: a stack costs more than a small block
            return function(*args, **kwargs)
        with ExitStack() as stack:
            if get_promotion() is not self.rules:
                stack.enter_context(promotion(self.rules))
            if self.domain_errors is not None:
                stack.enter_context(domains.domain_errors(self.domain_errors))
            if print_options.in_force() != self.options:
                stack.enter_context(print_options.printoptions(**vars(self.options)))
            return function(*args, **kwargs)

    def _is_in_force(self) -> bool:
        wanted, options = self.domain_errors, print_options.in_force()
        return (
            get_promotion() is self.rules
            and (wanted is None or wanted == domains.chosen())
            and (options is self.options or options == self.options)
        )


@lru_cache(maxsize=32)
def _read(text: str) -> RuleSet:
    return RuleSet.from_text(text)


def in_force() -> Context:
    """Return the settings in force; losses of promotion are reported only at the call."""
    rules = get_promotion()
    if rules.on_loss != "ignore":
        known = loaded.get(rules.name)
        rules = known if known is not None else replace(rules, on_loss="ignore")
    return Context(rules, domains.chosen(), print_options.in_force())


@dataclass(frozen=True)
class Hole:
    """The position of a block among the arguments of a call, by its number."""

    number: int


@dataclass(frozen=True)
class Call:
    """A call on blocks: of an operator by name, or of any function that can be pickled."""

    function: str | Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    context: Context

    def __call__(self, *blocks: Any) -> Any:
        """Return what the function makes of blocks, under what was in force."""
        return self.context.run(self.here, blocks, {})

    def here(self, *blocks: Any) -> Any:
        """Return what the function makes of blocks, under what is in force here."""
        function = self.function
        if isinstance(function, str):
            function = registry.function(function)
        args = [blocks[x.number] if type(x) is Hole else filled(x, blocks) for x in self.args]
        kwargs = {name: filled(x, blocks) for name, x in self.kwargs.items()}
        result = function(*args, **kwargs)
        if type(result) is Tensor and is_destroyed(result):
            # It could not be sent to another worker, which would ask for it without end.
            raise InternalError(f"cluster: {self.function} returned a tensor that was destroyed.")
        return result


def call_on_blocks(function: str | Callable[..., Any], *args: Any, **kwargs: Any) -> Call:
    """Return a call under what is in force here; :class:`Hole` stands for a block."""
    return Call(function, args, kwargs, in_force())


def filled(x: Any, blocks: tuple[Any, ...]) -> Any:
    """Return an argument with blocks in its holes."""
    if isinstance(x, Hole):
        return blocks[x.number]
    if isinstance(x, list | tuple) and any(isinstance(one, Hole | list | tuple) for one in x):
        return [filled(one, blocks) for one in x]
    return x


def empty_like(x: BlockTensor) -> Tensor:
    """Return a tensor of the same dtype and number of axes without elements; of none, with one."""
    return _with_a_scale(x, _core.full((0,) * x.ndim, x.dtype, 1))


def large_like(x: BlockTensor) -> Tensor:
    """Return a tensor of the same dtype and shape, all of it one element of memory."""
    made = _core.view(_core.full((), x.dtype, 1), 0, x.shape, (0,) * x.ndim)
    return made if x.quantization is None else x.quantization.put_on(made)


def hollow_like(x: BlockTensor) -> Tensor:
    """Return a tensor of the same dtype that has axes of 1 where x has, and no elements else."""
    shape = tuple(1 if n == 1 else 0 for n in x.shape)
    return _with_a_scale(x, _core.full(shape, x.dtype, 1))


def small_like(x: BlockTensor) -> Tensor:
    """Return a tensor of the same dtype and rank with one element; of x's shape if it has none."""
    return _with_a_scale(x, _core.full((1,) * x.ndim if x.size else x.shape, x.dtype, 1))


def thin_like(x: BlockTensor, axes: Collection[int | None]) -> Tensor:
    """Return a tensor of the same dtype and rank that has all of some axes, and 1 of others.

    The axis of the channels must be one of them.
    """
    shape = (n if a in axes else min(n, 1) for a, n in enumerate(x.shape))
    made = _core.full(tuple(shape), x.dtype, 1)
    return made if x.quantization is None else x.quantization.put_on(made)


def _with_a_scale(x: BlockTensor, stand_in: Tensor) -> Tensor:
    """Return a stand-in for a quantised tensor with one scale: for how many does not matter."""
    if x.quantization is not None:
        _core.set_quantization(stand_in, [1.0], x.quantization.zero_point, -1)
    return stand_in


def result_of(call: Call, operands: list[Any]) -> Any:
    """Return what a call makes of stand-ins, where no number is outside a domain."""
    with domain_errors(False):
        return call.here(*operands)
