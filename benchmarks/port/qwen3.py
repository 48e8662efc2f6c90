"""Qwen3, float16, eager attention: generation with padding."""

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

torch.manual_seed(0)
model = Qwen3ForCausalLM(
    Qwen3Config(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                num_key_value_heads=2, head_dim=16, vocab_size=128, attn_implementation="eager")
).to(torch.float16).eval()  # fmt: skip
ids, mask = torch.randint(1, 127, (2, 8)), torch.ones(2, 8, dtype=torch.int64)
mask[0, :3] = 0
model.generate(ids, attention_mask=mask, max_new_tokens=4, do_sample=True, pad_token_id=0)
