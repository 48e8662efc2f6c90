"""Whisper, bfloat16: a loss, and backward."""

import torch
from transformers import WhisperConfig, WhisperForConditionalGeneration

torch.manual_seed(0)
model = WhisperForConditionalGeneration(
    WhisperConfig(d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                  decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, vocab_size=128,
                  num_mel_bins=16, max_source_positions=32, pad_token_id=0, bos_token_id=1,
                  eos_token_id=2, decoder_start_token_id=1)
).to(torch.bfloat16)  # fmt: skip
sound = torch.rand(1, 16, 64).to(torch.bfloat16)
model(input_features=sound, labels=torch.tensor([[5, 6, 7, -100]])).loss.backward()
