"""A Llama of transformers from its configuration, eager attention, in bfloat16."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
config = LlamaConfig(
    hidden_size=64,
    intermediate_size=128,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    vocab_size=256,
    attn_implementation="eager",
)
model = LlamaForCausalLM(config).to(torch.bfloat16)
ids = torch.randint(0, 256, (2, 16))
mask = torch.ones(2, 16, dtype=torch.int64)
mask[0, :4] = 0
out = model(input_ids=ids, attention_mask=mask, labels=ids)
out.loss.backward()
