"""Hugging Face's Trainer with bf16=True: two steps, with workers that load data."""

import tempfile

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

if __name__ == "__main__":
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                    num_attention_heads=4, num_key_value_heads=2, vocab_size=64)
    )  # fmt: skip
    rows = [{"input_ids": (x := torch.randint(0, 64, (8,))), "labels": x} for _ in range(4)]
    with tempfile.TemporaryDirectory() as folder:
        options = TrainingArguments(
            folder, per_device_train_batch_size=2, max_steps=2, bf16=True, use_cpu=True,
            dataloader_num_workers=1, report_to=[], save_strategy="no", logging_steps=1,
        )  # fmt: skip
        Trainer(model, options, train_dataset=rows).train()
