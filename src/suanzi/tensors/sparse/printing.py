"""How a sparse tensor prints, as text and in a notebook: its places, and what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanzi.base.html import note, page, table
from suanzi.base.layout import LayoutType
from suanzi.base.numpy import np
from suanzi.tensors.html import LEFT_OUT
from suanzi.tensors.numerals import texts
from suanzi.tensors.parts import readable
from suanzi.tensors.print_options import in_force
from suanzi.tensors.printing import ends_of, with_facts
from suanzi.tensors.sparse.elements import take

if TYPE_CHECKING:
    from suanzi.tensors.sparse.tensor import SparseTensor


def describe_sparse(x: SparseTensor) -> str:
    """Return the text of a sparse tensor."""
    options = in_force()
    head = "SparseTensor({"
    entries = [
        "..." if entry is None else f"{entry[0][0] if len(entry[0]) == 1 else entry[0]}: {entry[1]}"
        for entry in entries_of(x)
    ]
    gap = ", "
    if sum(len(entry) + len(gap) for entry in entries) + len(head) > options.linewidth:
        gap = ",\n" + " " * len(head)
    facts = [f"shape={x.shape}", f"dtype={x.dtype}", f"layout={x.kind.name.lower()}"]
    if "..." in entries:
        facts.insert(1, f"nnz={x.nnz}")
    return with_facts(f"{head}{gap.join(entries)}}}", facts, len("SparseTensor("), options)


def sparse_page(x: SparseTensor) -> str:
    """Return a sparse tensor as HTML: the places it stores, and what is there."""
    facts = [
        f"SparseTensor of {x.dtype}",
        f"shape {x.shape}",
        f"layout {x.kind.name.lower()}",
        f"{x.nnz} stored",
        f"on {x.device}",
    ]
    rows = [
        [LEFT_OUT] * (x.ndim + 1) if entry is None else [*map(str, entry[0]), entry[1]]
        for entry in entries_of(x)
    ]
    names = ["row", "column"] if x.kind is LayoutType.CSR else [f"axis {i}" for i in range(x.ndim)]
    return page(note(" · ".join(facts)), table([*names, "value"], rows) if rows else "")


def entries_of(x: SparseTensor) -> list[tuple[tuple[int, ...], str] | None]:
    """Return the places that are printed, and the elements there; None stands for the others."""
    places = ends_of(x.nnz, in_force().edgeitems)
    kept = [i for i in places if i is not None]
    values = readable(take(x.values, np.array(kept, np.int64))).tolist()
    cells = iter(texts(values, x.dtype))
    return [None if i is None else (x.place(i), next(cells)) for i in places]
