"""``suanzi standards``: accuracy standards of others, how they differ, what they let through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from suanzi.base.lang import said, say
from suanzi.base.status import InvalidArgument
from suanzi.front.cli import render
from suanzi.front.cli.printing import show_json, show_rows
from suanzi.front.cli.typed import Json

if TYPE_CHECKING:
    from suanzi.validate.criteria import Criterion

DTYPES = ("float16", "bfloat16", "float32")

Name = Annotated[
    str, Parameter(help="A standard, or a TOML file of yours; `NAME+LEVEL` for a level.")
]
Operator = Annotated[str | None, Parameter(help="An operator, for standards that depend on it.")]

standards = App(
    name="standards",
    help="""Accuracy standards of other projects: list them, compare them, find their holes.

    Each is a small file with its source; one engine reads them.

    ```
    suanzi standards
    suanzi standards show ttk
    suanzi standards diff cann-mixed ttk
    suanzi standards holes ttk --op softmax
    ```""",
    help_format="markdown",
)


@standards.default
def listed(*, json: Json = False) -> int:
    """List the standards with their versions.

    ```
    suanzi standards
    suanzi standards --json
    ```
    """
    from suanzi.validate.criteria import every

    found = every()
    if json:
        show_json([one.to_dict() for one in found])
        return 0
    show_rows(
        said([("name", "version", "title")])[0],
        [(one.name, one.version, one.title) for one in found],
    )
    return 0


@standards.command
def show(name: Name, *, op: Operator = None, json: Json = False) -> int:
    """Show one standard: its rule for each dtype, its source and what is known of it.

    ```
    suanzi standards show ttk
    suanzi standards show webnn --op softmax
    ```
    """
    from suanzi.validate.criteria import criterion

    found = criterion(name)
    if json:
        show_json(found.to_dict())
    else:
        show_rows((), said(_lines(found, op)))
    return 0


def _lines(one: Criterion, op: str | None) -> Sequence[tuple[str, str]]:
    source = one.source
    rows = [
        ("name", one.name), ("title", one.title), ("version", one.version),
        ("summary", one.summary), ("levels", ", ".join(one.levels)),
        ("source", f"{source.repository}: {source.file}"), ("commit", source.commit),
        ("read", source.read + ("" if source.checked else ", not compared with the file itself")),
        ("compared with", f"the {one.reference} answer"),
    ]  # fmt: skip
    rows += [(dtype, rule) for dtype in DTYPES for rule in one.rules(dtype, op)]
    rows += [("note", note) for note in one.notes]
    return [row for row in rows if row[1]]


@standards.command
def diff(
    a: Name, b: Name, *, op: Operator = None, dtype: str = ",".join(DTYPES), json: Json = False
) -> int:
    """Compare two standards by dtype, with errors that one accepts and the other refuses.

    The exit status is 1 if they differ.

    ```
    suanzi standards diff cann-mixed ttk
    suanzi standards diff assert-close webnn --op softmax --dtype f16
    ```

    Parameters
    ----------
    dtype
        Floating-point dtypes, joined by commas.
    """
    from suanzi.validate.criteria import diff as compare

    found = compare(a, b, op=op, dtypes=_several(dtype))
    if json:
        show_json(found.to_dict())
    else:
        show_rows((), said(found.lines(), names=(0,)))
    return int(bool(found))


@standards.command
def holes(name: Name, *, op: str, dtype: str = "bfloat16", json: Json = False) -> int:
    """Show which wrong outputs a standard accepts, and which right ones it refuses.

    Zeros, 1/n, the mean, an unwritten tail, a stale tile, a shift by one, a neighbour's row and
    computations in too low a precision are tried at several lengths of the reduction, with uniform
    and with normal data. The exit status is 1 if there is a hole.

    ```
    suanzi standards holes ttk --op softmax
    suanzi standards holes assert-close --op matmul --dtype f32
    ```

    Parameters
    ----------
    op
        softmax, mean, rms_norm, layer_norm, gelu, matmul or attention.
    dtype
        Floating-point dtypes of the output, joined by commas.
    """
    from suanzi.validate.criteria import holes as holes_of

    with render.waiting(say(f"trying wrong outputs of {op}")):
        found = [holes_of(name, op, one) for one in _several(dtype)]
    if json:
        show_json([one.to_dict() for one in found] if len(found) > 1 else found[0].to_dict())
    elif render.for_a_person():
        for one in found:
            print(one.title)
            if one:
                render.rows((), said(one.lines()))
    else:
        print("\n".join(map(str, found)))
    return int(any(map(bool, found)))


def _several(dtypes: str) -> list[str]:
    found = [one.strip() for one in dtypes.split(",") if one.strip()]
    if not found:
        raise InvalidArgument("standards: --dtype is empty; give dtypes joined by commas: f16,bf16")
    return found
