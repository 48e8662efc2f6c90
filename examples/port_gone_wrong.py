"""A port that goes wrong without a word, and how `explain` finds it.

A rotary position embedding multiplies positions, which are int32, by frequencies. In the model the
frequencies were float32; somebody ported it with everything in bfloat16. Nothing fails, nothing
warns, and from position 257 on the model reads the wrong places.

    python examples/port_gone_wrong.py
"""

from __future__ import annotations

import suanzi as sz


def angles(positions: sz.Tensor, frequencies: sz.Tensor) -> sz.Tensor:
    """Return the angle of each position for each frequency."""
    return sz.expand_dims(positions, 1) * frequencies


def main() -> None:
    """Find the bug, and fix it."""
    positions = sz.tensor([0, 255, 256, 257, 1001], sz.int32)
    frequencies = sz.tensor([1.0, 0.5], sz.bfloat16)

    print("1. Under PyTorch's rules, the angles of positions 256 and 257 are the same:")
    with sz.promotion("torch"):
        print(angles(positions, frequencies))

    print("\n2. Why? Ask what becomes of the operands:")
    print(sz.explain(positions, frequencies, op="mul", rules="torch"))

    print("\n3. Would another framework have said something?")
    print(sz.explain_all(sz.int32, sz.bfloat16))

    print("\n4. Fixed: the product is computed in float32, and rounded once at the end if at all.")
    with sz.promotion("torch"):
        right = angles(positions, sz.cast(frequencies, sz.float32))
    print(right)

    print("\n5. In the tests of the port, `strict` refuses every silent promotion:")
    try:
        with sz.promotion("strict"):
            angles(positions, frequencies)
    except sz.TypeMismatch as error:
        print(f"TypeMismatch: {error}")

    print("\n6. What else changes on the way to Paddle, before the fix and after it:")
    for said, factor in (("before", frequencies), ("after", sz.cast(frequencies, sz.float32))):
        with sz.promotion("torch"), sz.record() as calls:
            angles(sz.cast(positions, factor.dtype) if said == "after" else positions, factor)
        found = sz.port.judge(calls, ["paddle"])
        print(f"{said}: {[f'{one.code}: {one.verdict.text}' for one in found]}")


if __name__ == "__main__":
    main()
