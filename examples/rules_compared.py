"""One line of a model under the rules of each framework: dtypes, values, refusals.

python examples/rules_compared.py
"""

from __future__ import annotations

import suanzi as sz

RULES = ("cann", "mindspore", "paddle", "torch", "numpy", "jax", "strict", "lossless")


def scores(tokens: sz.Tensor, scale: sz.Tensor, mask: sz.Tensor) -> sz.Tensor:
    """Return (tokens * scale + mask) / 2."""
    return (tokens * scale + mask) / 2


def main() -> None:
    """Print what each rule set makes of it."""
    tokens = sz.tensor([1, 300, 70_000], sz.int32)
    scale = sz.tensor([0.1, 0.1, 0.1], sz.float16)
    mask = sz.tensor([0, 1, 0], sz.uint8)
    print("(tokens * scale + mask) / 2 with int32, float16 and uint8")
    for rules in RULES:
        with sz.promotion(rules):
            try:
                made = scores(tokens, scale, mask)
            except sz.TypeMismatch as refusal:
                print(f"  {rules:10} refused: {str(refusal).split(';')[0].split('. ')[0]}")
            else:
                print(f"  {rules:10} {made.dtype!s:9} {made.tolist()}")
    print("\nWhere CANN and PyTorch differ over all pairs of dtypes:")
    print(sz.diff("torch", "cann"))


if __name__ == "__main__":
    main()
