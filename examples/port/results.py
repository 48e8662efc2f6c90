"""Operators whose results have other dtypes elsewhere, though no dtypes meet in most of them."""

import torch

u8 = torch.tensor([200, 200], dtype=torch.uint8)
a = u8.sum()
b = torch.full((2,), 7)
c = torch.nn.functional.one_hot(torch.tensor([0, 1]), 4)
d = torch.pow(torch.tensor([1, 2]), 0.5)
e = torch.tensor([2**20, 2**20], dtype=torch.int32).prod()
f = torch.tensor([2**30, 2**30], dtype=torch.int32).cumsum(0)
g = torch.randn(4).argsort()
h = torch.stack([torch.ones(2), torch.ones(2).half()])
i = torch.cat([torch.ones(2), torch.ones(2).half()])
j = torch.bincount(torch.tensor([0, 1]))
k = u8.cumsum(0)
l = torch.clamp(torch.tensor([1, 5]), max=3.5)  # noqa: E741
