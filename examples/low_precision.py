"""What low precision does to a sum and to a softmax.

Adding numbers one after another in a narrow dtype stops where the next number is less than half a
unit of the sum. Adding in a wider dtype, and rounding once, does not. A softmax in bfloat16 is two
such steps: its sum, and its division.

    python examples/low_precision.py
"""

from __future__ import annotations

import suanzi as sz


def added_one_by_one(dtype: sz.DType, n: int) -> float:
    """Return the sum of n ones, rounded to a dtype after every addition."""
    one = total = sz.tensor(1, dtype)
    for _ in range(n - 1):
        total = total + one
    return float(total.item())


def naive_softmax(x: sz.Tensor) -> sz.Tensor:
    """Return a softmax of a row whose every step is rounded to the dtype of the row."""
    e = sz.exp(x - sz.reduce(x, "MAX"))
    total = sz.zeros((), x.dtype)
    for i in range(x.shape[0]):
        total = total + e[i]
    return e / total


def main() -> None:
    """Show both."""
    n = 1000
    print(f"1. {n} ones, added one by one, and by sz.reduce, which rounds once:")
    for dtype in (sz.float32, sz.float16, sz.bfloat16, sz.float8_e4m3fn, sz.float8_e5m2):
        ones = sz.full(shape=(n,), value=1, dtype=dtype)
        by_reduce = sz.reduce(ones, "SUM").item()
        print(f"   {dtype!s:13} {added_one_by_one(dtype, n):6g} {by_reduce:6g}")

    print("\n2. A softmax of equal numbers in bfloat16; its elements must add up to 1:")
    for length in (16, 256, 1024):
        row = sz.zeros((length,), sz.bfloat16)
        naive, right = naive_softmax(row), sz.nn.softmax(row)
        sums = [float(sz.reduce(sz.cast(y, sz.float32), "SUM").item()) for y in (naive, right)]
        print(f"   {length:5} elements: naive {sums[0]:g}, sz.nn.softmax {sums[1]:g}")

    print("\n3. The judge finds it, without a tolerance to choose:")
    row = sz.zeros((1024,), sz.bfloat16)
    try:
        sz.assert_right("softmax", row, naive_softmax(row))
    except AssertionError as error:
        print(f"   {str(error)[:100]}")
    sz.assert_right("softmax", row, sz.nn.softmax(row))


if __name__ == "__main__":
    main()
