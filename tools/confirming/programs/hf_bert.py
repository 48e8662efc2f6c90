"""BERT, ViT, Whisper and Mixtral of transformers from configurations, in bfloat16."""

import torch
from transformers import (
    BertConfig,
    BertModel,
    MixtralConfig,
    MixtralForCausalLM,
    ViTConfig,
    ViTModel,
    WhisperConfig,
    WhisperModel,
)

torch.manual_seed(0)
ids = torch.randint(0, 128, (2, 12))
mask = torch.ones_like(ids)
mask[0, 8:] = 0
kind = torch.bfloat16
with torch.no_grad():
    bert = BertModel(
        BertConfig(
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            vocab_size=128,
        )
    ).to(kind)
    bert(input_ids=ids, attention_mask=mask)
    ViTModel(
        ViTConfig(
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            image_size=32,
            patch_size=8,
        )
    ).to(kind)(torch.rand(1, 3, 32, 32, dtype=kind))
    WhisperModel(
        WhisperConfig(
            d_model=64,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            vocab_size=128,
            num_mel_bins=8,
            max_source_positions=16,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=1,
        )
    ).to(kind)(input_features=torch.rand(1, 8, 32, dtype=kind), decoder_input_ids=ids[:1])
    MixtralForCausalLM(
        MixtralConfig(
            hidden_size=64,
            intermediate_size=64,
            num_hidden_layers=1,
            num_attention_heads=4,
            num_key_value_heads=2,
            num_local_experts=4,
            vocab_size=128,
        )
    ).to(kind)(input_ids=ids, attention_mask=mask)
