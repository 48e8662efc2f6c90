"""A small MLP in a long loop: what recording costs where operators are tiny."""

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=5000)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
model = model.to(torch.float16)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
x, y = torch.rand(16, 8).half(), torch.rand(16, 1).half()
scale = torch.ones(())
for _ in range(parser.parse_args().steps):
    loss = ((model(x) - y) ** 2 * scale).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
