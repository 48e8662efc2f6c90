"""A T5 of transformers from its configuration: relative positions in buckets, in float16."""

import torch
from transformers import T5Config, T5ForConditionalGeneration

torch.manual_seed(0)
model = (
    T5ForConditionalGeneration(
        T5Config(
            d_model=64,
            d_kv=16,
            d_ff=128,
            num_layers=2,
            num_heads=4,
            vocab_size=256,
            decoder_start_token_id=0,
        )
    )
    .to(torch.float16)
    .eval()
)
ids = torch.randint(0, 256, (2, 12))
with torch.no_grad():
    out = model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids)
