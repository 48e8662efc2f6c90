"""A small Llama-like transformer in bfloat16, with a KV cache, on suanzi alone.

`make` writes a model with random weights to a file of safetensors; `Transformer` reads such a file
and continues a text of tokens, the likeliest token each time. The operators compute in float32 and
round once, and one rule set or another says what dtypes become: the tokens are the same here.

    python examples/transformer.py [model.safetensors]
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import suanzi as sz


@dataclass(frozen=True)
class Sizes:
    """The sizes of a model."""

    vocabulary: int = 512
    hidden: int = 256
    wide: int = 688
    layers: int = 4
    heads: int = 8
    shared: int = 2
    """Heads of keys and values; each serves several heads of queries."""
    columns: int = 32
    """Of a head."""


def make(path: Path, sizes: Sizes | None = None, dtype: sz.DType = sz.bfloat16) -> None:
    """Write a model with random weights."""
    size = sizes or Sizes()
    shapes = {"embedding": (size.vocabulary, size.hidden), "norm": (size.hidden,)}
    for i in range(size.layers):
        shapes |= {
            f"{i}.attention.norm": (size.hidden,),
            f"{i}.attention.q": (size.heads * size.columns, size.hidden),
            f"{i}.attention.k": (size.shared * size.columns, size.hidden),
            f"{i}.attention.v": (size.shared * size.columns, size.hidden),
            f"{i}.attention.out": (size.hidden, size.heads * size.columns),
            f"{i}.mlp.norm": (size.hidden,),
            f"{i}.mlp.gate": (size.wide, size.hidden),
            f"{i}.mlp.up": (size.wide, size.hidden),
            f"{i}.mlp.down": (size.hidden, size.wide),
        }
    weights = {}
    for seed, (name, shape) in enumerate(shapes.items()):
        spread = 0.1 if len(shape) == 1 else 1 / math.sqrt(shape[1])
        drawn = sz.rand_normal(shape, sz.float32, std=spread, seed=seed + 1)
        weights[name] = sz.cast(drawn + 1 if len(shape) == 1 else drawn, dtype)
    sz.safetensors.save(str(path), weights, {"sizes": json.dumps(asdict(size))})


class Cache:
    """The keys and values of the tokens so far, of each layer."""

    def __init__(self, size: Sizes, length: int, dtype: sz.DType) -> None:
        shape = (size.shared, length, size.columns)
        self.keys = [sz.zeros(shape, dtype) for _ in range(size.layers)]
        self.values = [sz.zeros(shape, dtype) for _ in range(size.layers)]
        self.used = 0

    def add(self, layer: int, k: sz.Tensor, v: sz.Tensor) -> tuple[sz.Tensor, sz.Tensor]:
        """Append keys and values of a layer, and return all of them."""
        end = self.used + k.shape[1]
        self.keys[layer][:, self.used : end] = k
        self.values[layer][:, self.used : end] = v
        return self.keys[layer][:, :end], self.values[layer][:, :end]


class Transformer:
    """A model of a file."""

    def __init__(self, path: Path, longest: int = 256) -> None:
        self.weights, words = sz.safetensors.load(str(path))
        self.size = Sizes(**json.loads(words["sizes"]))
        self.dtype = self.weights["embedding"].dtype
        self.longest = longest
        half = self.size.columns // 2
        speeds = sz.pow(10000.0, sz.linspace(0.0, 1 / half - 1, half))  # from 1 down
        angles = sz.linspace(0.0, longest - 1.0, longest).reshape(longest, 1) * speeds
        self.cos, self.sin = (sz.cast(f(angles), self.dtype) for f in (sz.cos, sz.sin))

    def new_cache(self) -> Cache:
        """Return a cache for a new text."""
        return Cache(self.size, self.longest, self.dtype)

    def logits(self, tokens: list[int], cache: Cache) -> sz.Tensor:
        """Return the scores of what follows each of some more tokens."""
        x = sz.nn.embedding(self.weights["embedding"], sz.tensor(tokens))
        for i in range(self.size.layers):
            x = x + self._attention(i, x, cache)
            x = x + self._mlp(i, x)
        cache.used += len(tokens)
        return sz.nn.linear(self._norm("norm", x), self.weights["embedding"])

    def _norm(self, name: str, x: sz.Tensor) -> sz.Tensor:
        return sz.nn.rms_norm(x, self.size.hidden, self.weights[name])

    def _attention(self, i: int, x: sz.Tensor, cache: Cache) -> sz.Tensor:
        normed, rows = self._norm(f"{i}.attention.norm", x), x.shape[0]
        end = cache.used + rows
        cos, sin = self.cos[cache.used : end], self.sin[cache.used : end]

        def heads(name: str) -> sz.Tensor:
            made = sz.nn.linear(normed, self.weights[f"{i}.attention.{name}"])
            return made.reshape(rows, -1, self.size.columns).permute(1, 0, 2)

        q = sz.nn.rotary_embedding(heads("q"), cos, sin)
        k, v = cache.add(i, sz.nn.rotary_embedding(heads("k"), cos, sin), heads("v"))
        seen = sz.nn.scaled_dot_product_attention(q, k, v, causal=True, align="bottom_right")
        joined = seen.permute(1, 0, 2).reshape(rows, self.size.heads * self.size.columns)
        return sz.nn.linear(joined, self.weights[f"{i}.attention.out"])

    def _mlp(self, i: int, x: sz.Tensor) -> sz.Tensor:
        normed = self._norm(f"{i}.mlp.norm", x)
        gate, up = (sz.nn.linear(normed, self.weights[f"{i}.mlp.{n}"]) for n in ("gate", "up"))
        return sz.nn.linear(sz.nn.swiglu(gate, up), self.weights[f"{i}.mlp.down"])

    def continued(self, tokens: list[int], count: int) -> list[int]:
        """Return `count` tokens that follow, the likeliest each time."""
        cache, found = self.new_cache(), list(tokens)
        last = self.logits(found, cache)
        for _ in range(count):
            found.append(int(sz.argmax(last[-1], 0).item()))
            last = self.logits(found[-1:], cache)
        return found[len(tokens) :]


def main(path: str | None = None) -> None:
    """Make a model unless there is one, and continue a text under two rule sets."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(path or Path(folder) / "model.safetensors")
        if not file.exists():
            make(file)
        model = Transformer(file)
    for rules in ("cann", "torch"):
        with sz.promotion(rules):
            start = time.perf_counter()
            tokens = model.continued(list(range(16)), 48)
            speed = 48 / (time.perf_counter() - start)
        print(f"{rules:5} {model.dtype}: {' '.join(map(str, tokens[:12]))} ...", end="")
        print(f" {speed:,.0f} tokens per second")


if __name__ == "__main__":
    main(*sys.argv[1:2])
