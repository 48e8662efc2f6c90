"""Mixtral, bfloat16: the loss of its router, and backward."""

import torch
from transformers import MixtralConfig, MixtralForCausalLM

torch.manual_seed(0)
model = MixtralForCausalLM(
    MixtralConfig(hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
                  num_key_value_heads=2, vocab_size=128, num_local_experts=4, num_experts_per_tok=2,
                  output_router_logits=True)
).to(torch.bfloat16)  # fmt: skip
ids = torch.randint(0, 128, (2, 12))
model(input_ids=ids, labels=ids).loss.backward()
