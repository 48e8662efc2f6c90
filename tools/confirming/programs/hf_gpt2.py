"""A GPT-2 of transformers from its configuration, bfloat16: a step of training, and sampling."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
model = GPT2LMHeadModel(
    GPT2Config(n_layer=2, n_head=4, n_embd=64, vocab_size=256, n_positions=64)
).to(torch.bfloat16)
ids = torch.randint(0, 256, (2, 16))
mask = torch.ones(2, 16, dtype=torch.int64)
mask[1, 10:] = 0
out = model(input_ids=ids, attention_mask=mask, labels=ids)
out.loss.backward()
with torch.no_grad():
    print(
        model.generate(
            ids, attention_mask=mask, max_new_tokens=3, do_sample=True, pad_token_id=0
        ).shape
    )
