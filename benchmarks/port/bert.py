"""BERT under autocast of float16, with a scaler of gradients: two steps of AdamW."""

import torch
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
model = BertForSequenceClassification(
    BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
               vocab_size=128, num_labels=3)
)  # fmt: skip
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu")
ids, mask = torch.randint(0, 128, (2, 12)), torch.ones(2, 12, dtype=torch.int64)
mask[0, 8:] = 0
for _ in range(2):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = model(input_ids=ids, attention_mask=mask, labels=torch.tensor([0, 2])).loss
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
