"""One call of an operator, and the parts of it that are computed again.

Tensors are a framework's own, and stay where they are: only the elements of a sample are copied to
this machine's memory. A sample has the first and the last elements, the largest, those that are no
numbers, and others at random; the next call of the operator has other random ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Index = tuple[Array, ...]
ELEMENTS = 256
"""How many elements of a result are computed again, where each needs few numbers."""
TERMS = 1 << 15
"""How many terms the sums of one call have together, unless one sum alone has more."""
LONGEST = 1 << 20
"""The longest sum that is computed again."""
ROWS = 12
_SCANNED = 1 << 26
"""Elements up to which the largest of a result is looked for."""


class Unjudged(Exception):
    """Why a call is not judged."""


@dataclass
class Part:
    """Some elements of one result."""

    found: Array
    """Their numbers: float64, or integers as they are."""
    dtype: str
    label: Callable[[int], str]
    """Says which element of the result one of them is."""


@dataclass
class Piece:
    """A part of a call that is complete: `definition(**arguments)` is what `parts` should be."""

    definition: Callable[..., Any]
    arguments: dict[str, Any]
    parts: list[Part]
    exact: bool = False
    """Whether elements are moved or chosen, not computed: nothing may be off."""
    within: str = "float32"
    """The arithmetic that a right kernel may compute in."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Arguments that are numbers for tensors: kernels round them to one dtype or another."""
    ways: Sequence[Mapping[str, Any]] = ()
    """Other arguments, each with all that kernels may have instead: what fits best counts."""
    between: Callable[..., Any] | None = None
    """The same by another way that loses digits: what fits it is an inaccuracy, not a mistake."""
    between_is: str = "the kernel stores a sum in the dtype of the result and adds to it"
    """What that way is."""


def name_of(dtype: Any) -> str:
    """Return the name of a dtype without that of its framework."""
    return str(dtype).removeprefix("torch.")


def is_float(dtype: str) -> bool:
    """Tell whether a dtype is one of floats."""
    return dtype.startswith(("float", "bfloat"))


class Call:
    """A call of an operator: arguments by the names of its schema, as they were, and results."""

    def __init__(
        self, torch: Any, name: str, arguments: dict[str, Any], results: Sequence[Any],
        rng: np.random.Generator, after: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.torch, self.name, self.arguments, self.results = torch, name, arguments, results
        self.rng = rng
        self.after = after or {}
        """Arguments that the call wrote to, as they are now."""
        self.padded: tuple[int, ...] = ()
        """Results with elements that mean nothing: they may be infinite."""

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return an argument, or something else if it has none or None."""
        found = self.arguments.get(name)
        return default if found is None else found

    @property
    def out(self) -> Any:
        """The first result that there is."""
        return next(x for x in self.results if self.is_tensor(x))

    def on_host(self) -> Call:
        """Return the call with its tensors in this machine's memory."""

        def moved(x: Any) -> Any:
            if isinstance(x, list | tuple):
                return [moved(one) for one in x]
            return x.detach().cpu() if self.is_tensor(x) else x

        given = {name: moved(x) for name, x in self.arguments.items()}
        after = {name: moved(x) for name, x in self.after.items()}
        return Call(self.torch, self.name, given, moved(self.results), self.rng, after)

    def is_tensor(self, x: Any) -> bool:
        """Tell whether an argument is a tensor."""
        return isinstance(x, self.torch.Tensor)

    @property
    def within(self) -> str:
        """The arithmetic of the call: float64 if a tensor of several elements is."""
        some = [x for x in (*self.arguments.values(), *self.results) if self.is_tensor(x)]
        wide = any(x.dtype == self.torch.float64 and x.ndim for x in some)
        return "float64" if wide or self.out.dtype == self.torch.float64 else "float32"

    # ---- numbers -------------------------------------------------------------------------------

    def numbers(self, x: Any) -> Array:
        """Return the elements of a tensor as NumPy's float64, int64 or bool."""
        torch = self.torch
        x = x.detach()
        if x.is_complex():
            raise Unjudged("complex numbers")
        if x.is_floating_point():
            return np.asarray(x.cpu().to(torch.float64).numpy())
        x = x.resolve_neg() if x.is_neg() else x
        return np.asarray((x if x.dtype == torch.bool else x.to(torch.int64)).cpu().numpy())

    def take(self, x: Any, at: Index) -> Array:
        """Return elements of a tensor by their indices, which broadcast as the tensor would."""
        shape = tuple(x.shape)
        own = at[len(at) - len(shape) :] if shape else ()
        if not shape:
            return np.broadcast_to(self.numbers(x), at[0].shape if at else ())
        some = [i if n != 1 else np.zeros_like(i) for i, n in zip(own, shape, strict=True)]
        return self.numbers(x[tuple(self.index(i, x) for i in some)])

    def index(self, i: Array, x: Any) -> Any:
        """Return indices as a tensor where another one is."""
        return self.torch.as_tensor(np.ascontiguousarray(i), dtype=self.torch.int64).to(x.device)

    def part(self, x: Any, at: Index) -> Part:
        """Return elements of a result by their indices, of any shape."""
        flat = [i.ravel() for i in np.broadcast_arrays(*at)] if at else []

        name = self._name(x)

        def label(k: int) -> str:
            return f"{name}[{', '.join(str(int(i[k])) for i in flat)}]" if flat else name or "it"

        return Part(self.take(x, at), name_of(x.dtype), label)

    def _name(self, x: Any) -> str:
        """Return which result a tensor is, if there are several."""
        several = len(self.results) > 1
        which = [i for i, one in enumerate(self.results) if one is x]
        written = [name for name, one in self.after.items() if one is x]
        return f"result {which[0]} at " if several and which else "".join(written[:1])

    # ---- which ---------------------------------------------------------------------------------

    def along(self, n: int, count: int) -> Array:
        """Return some positions of an axis of n, in order: the first, the last, and others."""
        if n <= count:
            return np.arange(n)
        ends = [0, n - 1, n - 2] if count > 3 else [n - 1, 0][:count]
        some = self.rng.integers(0, n, max(count - len(ends), 0))
        return np.unique(np.concatenate([ends, some]).astype(np.int64))

    def flat(self, x: Any, count: int) -> Array:
        """Return some positions of the elements of a result in row-major order, in order."""
        n = x.numel()
        if n <= count:
            return np.arange(n)
        ends = [np.arange(count // 8), np.arange(n - max(count // 4, 1), n)]
        some = self.rng.integers(0, n, max(count // 2, 1))
        return np.unique(np.concatenate([*ends, some, self._remarkable(x)]).astype(np.int64))

    def _remarkable(self, x: Any) -> list[int]:
        """Return where a result is largest, and where it is no number."""
        if not x.is_floating_point() or not 0 < x.numel() <= _SCANNED:
            return []
        if "float8" in name_of(x.dtype):
            return []
        x = x.detach()
        largest, size = self._largest(x)
        if math.isfinite(size):
            return [largest] if largest >= 0 else []
        finite = self.torch.isfinite(x).reshape(-1)
        strange = self.torch.nonzero(~finite).reshape(-1)[:8].tolist()
        some = [*strange, self._largest(self.torch.where(finite, x.reshape(-1), 0))[0]]
        return [i for i in some if 0 <= i < x.numel()]

    def _largest(self, x: Any) -> tuple[int, float]:
        """Return where the largest magnitude is, and that; magnitudes of all would be a copy.

        The kernels may be those that are judged: an index that is none is left out, -1 if both are.
        """
        ends = [i for i in (int(x.argmax()), int(x.argmin())) if 0 <= i < x.numel()]
        sizes = [self._size(x, i) for i in ends]
        if any(map(math.isnan, sizes)) or not ends:
            return ends[0] if ends else -1, math.nan if ends else 0.0
        which = sizes.index(max(sizes))
        return ends[which], sizes[which]

    def _size(self, x: Any, i: int) -> float:
        at = tuple(int(k) for k in np.unravel_index(i, tuple(x.shape))) if x.ndim else ()
        return abs(float(x[at] if at else x))

    def elements(self, x: Any, count: int = ELEMENTS, by: Any = None) -> Index:
        """Return the indices of some elements of a result; none of one without axes.

        Where `by`, an operand of its shape, is least but not 0 is one of them.
        """
        if not x.ndim:
            return ()
        flat = self.flat(x, count)
        if by is not None and by.shape == x.shape and flat.size < x.numel():
            flat = np.union1d(flat, np.array(self._least(by), np.int64))
        return tuple(map(np.asarray, np.unravel_index(flat, tuple(x.shape))))

    def _least(self, x: Any) -> list[int]:
        """Return where a tensor is nearest to 0, but not 0."""
        if not x.is_floating_point() or x.numel() > _SCANNED >> 6 or "float8" in name_of(x.dtype):
            return []
        sizes = x.detach().reshape(-1).abs()
        least = int(self.torch.where(sizes == 0, math.inf, sizes).argmin())
        return [least] if 0 <= least < x.numel() else []

    # ---- rows ----------------------------------------------------------------------------------

    def rows(self, x: Any, axes: Sequence[int], batch: Index) -> Array:
        """Return rows of a tensor, (rows, elements): what `axes` have at indices of the others."""
        rest = [a for a in range(x.ndim) if a not in axes]
        turned = x.permute(*rest, *axes) if x.ndim else x
        found = turned[tuple(self.index(i, x) for i in batch)] if rest else turned[None]
        return self.numbers(found).reshape(len(batch[0]) if rest else 1, -1)

    def batch(self, x: Any, axes: Sequence[int], by: Any = None) -> Index:
        """Return the indices of some rows along `axes`, by the result with one element for each."""
        rest = [a for a in range(x.ndim) if a not in axes]
        length = math.prod(x.shape[a] for a in axes)
        if length > LONGEST:
            raise Unjudged(f"rows of more than {LONGEST} elements")
        if not x.numel():
            raise Unjudged("empty tensors")
        shape = tuple(x.shape[a] for a in rest)
        count = max(2, min(ROWS, TERMS // max(length, 1)))
        n = math.prod(shape)
        which = self.along(n, count)
        if by is not None and by.numel() and by.numel() % max(n, 1) == 0 and by.ndim == x.ndim:
            which = np.union1d(which, self._row_of(by, axes, rest))
        return tuple(map(np.asarray, np.unravel_index(which, shape))) if shape else ()

    def _row_of(self, x: Any, axes: Sequence[int], rest: Sequence[int]) -> Array:
        """Return the rows with the largest element, and with one that is no number."""
        flat = np.array(self._remarkable(x)[:2], np.int64)
        at = np.unravel_index(flat, tuple(x.shape))
        shape = tuple(x.shape[a] for a in rest)
        if not shape:
            return np.zeros(1, np.int64)
        return np.ravel_multi_index(tuple(at[a] for a in rest), shape)

    def row_part(self, x: Any, axes: Sequence[int], batch: Index, found: Array) -> Part:
        """Return rows of a result, of all of `axes`."""
        rest = [a for a in range(x.ndim) if a not in axes]
        inner = tuple(x.shape[a] for a in axes)
        name = self._name(x)

        def label(k: int) -> str:
            row, column = divmod(k, max(found.shape[-1], 1))
            at = np.zeros(x.ndim, int)
            at[rest] = [i[row] for i in batch]
            at[list(axes)] = np.unravel_index(column, inner) if inner else []
            return f"{name}[{', '.join(map(str, at))}]"

        return Part(found, name_of(x.dtype), label)

    def axes(self, dim: Any, ndim: int) -> list[int]:
        """Return axes as numbers from 0; all of them for None and for none."""
        if dim is None or (isinstance(dim, list | tuple) and not dim):
            return list(range(ndim))
        some = dim if isinstance(dim, list | tuple) else [dim]
        return sorted(d % max(ndim, 1) for d in some)


Rule = Callable[[Call], Iterator[Piece]]
