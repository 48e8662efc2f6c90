"""GPT-2, float16: sampling, and beams."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(n_layer=2, n_head=4, n_embd=64, vocab_size=256, n_positions=64)
model = GPT2LMHeadModel(config).to(torch.float16).eval()
ids, mask = torch.randint(1, 255, (2, 8)), torch.ones(2, 8, dtype=torch.int64)
mask[1, :3] = 0
both = {"attention_mask": mask, "max_new_tokens": 6, "pad_token_id": 0}
model.generate(ids, do_sample=True, temperature=0.7, top_k=20, top_p=0.9,
               repetition_penalty=1.2, **both)  # fmt: skip
model.generate(ids, num_beams=3, length_penalty=0.8, no_repeat_ngram_size=2, **both)
