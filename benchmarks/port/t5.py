"""T5, float16: a loss, and generation."""

import torch
from transformers import T5Config, T5ForConditionalGeneration

torch.manual_seed(0)
model = T5ForConditionalGeneration(
    T5Config(d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, vocab_size=128,
             decoder_start_token_id=0)
).to(torch.float16).eval()  # fmt: skip
ids, mask = torch.randint(1, 128, (2, 10)), torch.ones(2, 10, dtype=torch.int64)
mask[0, 7:] = 0
model(input_ids=ids, attention_mask=mask, labels=ids)
model.generate(ids, attention_mask=mask, max_new_tokens=4)
