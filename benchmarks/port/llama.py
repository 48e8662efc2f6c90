"""Llama, bfloat16, SDPA: AdamW, clipped gradients, a schedule; options as a script has them."""

import argparse

import torch
from transformers import LlamaConfig, LlamaForCausalLM, get_cosine_schedule_with_warmup

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=2)
steps = parser.parse_args().steps
torch.manual_seed(0)
model = LlamaForCausalLM(
    LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                num_key_value_heads=2, vocab_size=256)
).to(torch.bfloat16)  # fmt: skip
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
schedule = get_cosine_schedule_with_warmup(optimizer, 1, 10)
ids, mask = torch.randint(0, 256, (2, 16)), torch.ones(2, 16, dtype=torch.int64)
mask[0, :4] = 0
for _ in range(steps):
    loss = model(input_ids=ids, attention_mask=mask, labels=ids).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
