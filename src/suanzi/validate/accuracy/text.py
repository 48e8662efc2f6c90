"""A row of a report as text."""

from __future__ import annotations

from suanzi.validate.accuracy.engine import Row
from suanzi.validate.accuracy.errors import At


def cells(row: Row) -> tuple[str, ...]:
    """Return a row of the table."""
    tally = row.tally
    return (
        row.name, row.dtype, row.coverage, digits(tally.worst), at_text(row, tally.worst_at),
        f"{tally.mean():.4f}", _share(tally.wrong, tally.count),
        _share(tally.above_one, tally.count),
        *(str(n) if n else "-" for n in (tally.special, tally.flushed, tally.order,
                                         tally.asymmetric)),
    )  # fmt: skip


def digits(worst: float) -> str:
    """Return an error with digits enough to show a wrong rounding: 0.50003, 0.974, 12.3.

    >>> digits(0.500031), digits(0.5), digits(0.97441), digits(123.456)
    ('0.50003', '0.5', '0.974', '123')
    """
    return f"{worst:.5g}" if 0.5 < worst < 0.501 else f"{worst:.3g}"


def _share(part: int, whole: int) -> str:
    """Return a share in per cent; a few of many as a count.

    >>> _share(0, 10), _share(3, 65536), _share(100, 1000)
    ('-', '3', '10.0 %')
    """
    if not part:
        return "-"
    return str(part) if part < 1000 and part < whole / 50 else f"{100 * part / whole:.1f} %"


def hexadecimal(x: float) -> str:
    """Return a number in hexadecimal, without zeros at the end.

    >>> hexadecimal(1.5), hexadecimal(float("inf"))
    ('0x1.8p+0', 'inf')
    """
    head, mark, exponent = x.hex().partition("p")
    if not mark:
        return head
    return f"{head.rstrip('0').rstrip('.') if '.' in head else head}p{exponent}"


def at_text(row: Row, at: At | None) -> str:
    """Return arguments in hexadecimal; of samples, their length and condition."""
    if at is None:
        return ""
    if row.coverage == "samples":
        return f"length {at[0]:g}, condition {at[1]:g}"
    return ", ".join(map(hexadecimal, at))
