"""Writes native/kernels/creation/random_tables.inc: the layers of the ziggurat of rand_normal.

    python tools/random_tables.py > native/kernels/creation/random_tables.inc

The area under exp(-x^2/2), x > 0, is covered by 256 layers of one area: rectangles, and below them
one of the same area that continues into the tail. All is computed in 200 bits.
"""

from __future__ import annotations

from mpmath import findroot, mp, mpf

mp.prec = 200

LAYERS, BITS = 256, 53


def height(x: mpf) -> mpf:
    """Return the density, whose highest is 1."""
    return mp.exp(-x * x / 2)


def edges(tail: mpf) -> list[mpf]:
    """Return where the layers end, the lowest first, if the tail begins there.

    The last is left out: it is 0 for the right tail alone.
    """
    beyond = mp.sqrt(mp.pi / 2) * mp.erfc(tail / mp.sqrt(2))
    area = tail * height(tail) + beyond
    found = [area / height(tail), tail]
    while len(found) < LAYERS:
        top = height(found[-1]) + area / found[-1]
        found.append(mp.sqrt(-2 * mp.log(top)) if top < 1 else mpf(0))
    return found


def missing(tail: mpf) -> mpf:
    """Return what the uppermost layer lacks to the top of the density."""
    found = edges(tail)
    if found[-1] == 0:
        return -1
    area = found[0] * height(found[1])
    return 1 - height(found[-1]) - area / found[-1]


def table(kind: str, name: str, values: list[str]) -> str:
    """Return an array."""
    lines = [", ".join(values[i : i + 4]) for i in range(0, len(values), 4)]
    return f"constexpr {kind} {name}[] = {{\n    " + ",\n    ".join(lines) + "};"


def main() -> None:
    """Print the tables."""
    tail = findroot(missing, (mpf("3.654"), mpf("3.6542")), solver="bisect", tol=mpf(10) ** -50)
    x = [*edges(tail), mpf(0)]
    inside = [int(mp.floor(x[i + 1] / x[i] * mpf(2) ** BITS)) for i in range(LAYERS)]
    widths = [float(x[i] / mpf(2) ** BITS).hex() for i in range(LAYERS)]
    heights = [float(height(x[i])).hex() for i in range(LAYERS + 1)]
    print("// native/kernels/creation/random_tables.inc: made by tools/random_tables.py.")
    print(f"constexpr f64 tail_begin = {float(tail).hex()};")
    print("// An integer below this is inside the density, whatever the height.")
    print(table("u64", "inside", [f"{k:#x}" for k in inside]))
    print("// What an integer is multiplied by.")
    print(table("f64", "widths", widths))
    print("// The density where each layer ends; the lowest has none.")
    print(table("f64", "heights", heights))


if __name__ == "__main__":
    main()
