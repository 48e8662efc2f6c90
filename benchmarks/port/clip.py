"""CLIP, float16: the contrastive loss, and backward."""

import torch
from transformers import CLIPConfig, CLIPModel

torch.manual_seed(0)
part = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 4}  # fmt: skip
config = CLIPConfig(
    text_config={**part, "vocab_size": 128, "max_position_embeddings": 16, "eos_token_id": 127},
    vision_config={**part, "image_size": 32, "patch_size": 8},
    projection_dim=32,
)
model = CLIPModel(config).to(torch.float16)
ids = torch.randint(0, 127, (2, 8))
ids[:, -1] = 127
pixels = torch.rand(2, 3, 32, 32).to(torch.float16)
model(input_ids=ids, pixel_values=pixels, return_loss=True).loss.backward()
